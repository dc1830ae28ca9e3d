"""Parses of articles: tokens, tags, dependencies, lemmas and entities of the small pipeline.

A parse is what the pipeline decided, never how sure it was: nothing after it sees a float. The
sentences of one article are one batch, whatever stands around it, so that how the work is cut up
cannot change what is computed.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.schema import reading, writing
from factdrift.builders.rows import Article, Parse
from factdrift.builders.text.pipeline import NAME, VERSION, pipeline

IDENTITY = f"{NAME} {VERSION}"
"""What a parse depends on besides the text."""
_GROUP = 32
"""Articles that a process is given at a time, and that stand in one row group of a table."""
_GROUPS = 8
"""Row groups in memory at a time."""
_KEPT = 256
"""Articles that are not in the table and whose parses are in memory at a time."""


def parse(article: Article) -> Parse:
    """The parse of an article; the headline has no tokens, for it is no sentence."""
    return parse_texts(article.sentences[1:], len(article.sentences[0]) + 1, article.id)


def parse_texts(sentences: Sequence[str], offset: int = 0, name: str = "") -> Parse:
    """The parse of sentences that a line end parts; the first one starts at `offset`."""
    nlp = pipeline()
    starts, ends, heads, first = list[int](), list[int](), list[int](), list[int]()
    tags, deps, lemmas, ents = list[str](), list[str](), list[str](), list[str]()
    with nlp.memory_zone():
        for doc in nlp.pipe(sentences):
            base = len(starts)
            first.append(base)
            for token in doc:
                starts.append(offset + token.idx)
                ends.append(offset + token.idx + len(token))
                heads.append(base + token.head.i)
                tags.append(token.tag_)
                deps.append(token.dep_)
                lemmas.append(token.lemma_)
                iob = token.ent_iob_
                ents.append(f"{iob}-{token.ent_type_}" if iob in "BI" and iob else "")
            offset += len(doc.text) + 1
    numbers = (tuple(first), tuple(starts), tuple(ends), tuple(heads))
    return Parse(name, *numbers, tuple(tags), tuple(deps), tuple(lemmas), tuple(ents))


class Parser(Protocol):
    """Gives the parse of an article."""

    def __call__(self, article: Article) -> Parse:
        """The parse of one article."""


class Live:
    """Parses what it is asked for, and remembers the last articles."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Parse] = OrderedDict()

    def __call__(self, article: Article) -> Parse:
        """The parse of one article."""
        key = article.id, article.text
        if key not in self._kept:
            self._kept[key] = parse(article)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


class Stored:
    """Looks parses up in a table that `write` made; what it does not hold is parsed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._live = Live()
        self._groups: OrderedDict[int, dict[str, Parse]] = OrderedDict()
        self._places: dict[str, int] = {}
        with reading(path) as file:
            for n in range(file.num_row_groups):
                for name in file.read_row_group(n, columns=["article"])["article"].to_pylist():
                    self._places[name] = n

    def __call__(self, article: Article) -> Parse:
        """The parse of one article."""
        place = self._places.get(article.id)
        if place is None:
            return self._live(article)
        if place not in self._groups:
            with reading(self.path) as file:
                rows = list(_group(file, place))
            self._groups[place] = {row.article: row for row in rows}
            if len(self._groups) > _GROUPS:
                self._groups.popitem(last=False)
        return self._groups[place][article.id]


def _group(file: Any, number: int) -> list[Parse]:
    """The rows of one row group."""
    return msgspec.convert(file.read_row_group(number).to_pylist(), list[Parse])


def write(articles: Iterable[Article], path: Path, *, jobs: int = 1) -> Iterator[int]:
    """Parse articles into a table, in their order; yields how many were done, group by group.

    The bytes are the same for any number of processes.
    """
    with writing(path, Parse, size=_GROUP) as out:
        for parses in ordered_map(_parse_all, _groups(articles), jobs=jobs):
            for one in parses:
                out.append(one)
            yield len(parses)


def _groups(articles: Iterable[Article]) -> Iterator[list[Article]]:
    group: list[Article] = []
    for article in articles:
        group.append(article)
        if len(group) == _GROUP:
            yield group
            group = []
    if group:
        yield group


def _parse_all(articles: Sequence[Article]) -> list[Parse]:
    return [parse(article) for article in articles]
