"""Where an article names entities that a dump knows: one pass over capitalised words, then a join.

A name counts where it stands alone: a capitalised word beside it that belongs to no other name
(Chelsea Clinton for Chelsea) makes another name of it. A name of several words may be told by its
last word further down (Obama), where no other name of the article ends in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.rows import Article
from factdrift.builders.text.dates import MONTHS, WEEKDAYS
from factdrift.builders.text.en.boilerplate import boilerplate_kind
from factdrift.builders.text.en.lexicon import ADJECTIVES, COMMON, DEMONYMS, TITLES
from factdrift.builders.text.names import GENERIC_WORDS
from factdrift.builders.text.sentences import sentence_breaks
from factdrift.builders.text.words import plain_marks

_TOKEN = re.compile(r"(?:[^\W_]\.)+[^\W_]\.?|[^\W_]+(?:[.'’‑-][^\W_]+)*")
_JOINING = frozenset(
    "of the and for in de la le van von der den del di da al el y & du des".split()
)
_LONGEST = 8
"""Tokens of a name."""
_PARTS = 3
"""Tokens of a name of which the last may stand for all."""
_NEVER = COMMON | DEMONYMS | frozenset((*WEEKDAYS, *MONTHS))
_NAMES = pa.schema(
    [
        pa.field(name, pa.string() if name == "name" else pa.int32())
        for name in ("article", "sentence", "start", "end", "name")
    ]
)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an article; `start` is its first character in the article's text."""

    start: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of an article's text that may name each of `ids` (item ids, sorted)."""

    sentence: int
    start: int
    end: int
    ids: tuple[str, ...]


def news_sentences(article: Article) -> list[Sentence]:
    """The sentences after the headline that are news; a line of the split text may hold several."""
    found = []
    at = len(article.sentences[0]) + 1
    for line, text in enumerate(article.sentences[1:], 1):
        starts = [0, *sentence_breaks(text, "news"), len(text)]
        for a, b in pairwise(starts):
            one = text[a:b].rstrip()
            if one and boilerplate_kind(one) is None:
                found.append(Sentence(at + a, one, line))
        at += len(text) + 1
    return found


class EntityNames:
    """Labels and aliases of entities in a table that spills to disk, to be met with articles.

    Countries have their adjectives too: what stands beside an office says whose it is.

    `ids`: a query for the item ids that count, one column; `entities`: an `entities.parquet`.
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, entities: Path, ids: str) -> None:
        self._db = db
        db.execute("create table names (name varchar, id varchar)")
        cursor = db.cursor().execute(
            f"select id, label, aliases from {duck.parquet(entities)} semi join ({ids}) w(id)"  # noqa: S608
            " using (id) where label != ''"
        )
        while batch := cursor.fetchmany(20_000):
            pairs = sorted(
                {
                    (name, id_)
                    for id_, label, aliases in batch
                    for name in map(plain_marks, (label, *(aliases or ())))
                    if is_usable_name(name)
                }
                | {
                    (adjective, id_)
                    for id_, label, _ in batch
                    for adjective, country in ADJECTIVES
                    if label == country
                }
            )
            table = pa.table([[p[0] for p in pairs], [p[1] for p in pairs]], names=["name", "id"])
            db.register("more", table)
            db.execute("insert into names select * from more")
            db.unregister("more")

    def find(self, articles: Sequence[tuple[Article, Sequence[Sentence]]]) -> list[list[Mention]]:
        """The mentions of each article, in order of their places."""
        found_spans: list[tuple[int, int, int, int, str]] = []
        for n, (_, parts) in enumerate(articles):
            for s, sentence in enumerate(parts):
                for start, end in _spans(sentence.text):
                    name = plain_marks(sentence.text[start:end])
                    found_spans.append((n, s, start, end, name))
        columns = list(zip(*found_spans, strict=True)) or [()] * len(_NAMES)
        self._db.register("spans", pa.table([list(one) for one in columns], schema=_NAMES))
        hits = self._db.execute(
            'select article, sentence, start, "end", list_sort(list(distinct id))'
            " from spans join names using (name) group by all order by all"
        ).fetchall()
        self._db.unregister("spans")
        found: list[dict[int, list[tuple[int, int, tuple[str, ...]]]]] = [{} for _ in articles]
        for n, s, start, end, ids in hits:
            found[n].setdefault(s, []).append((start, end, tuple(ids)))
        return [
            list(_standing(parts, mine)) for (_, parts), mine in zip(articles, found, strict=True)
        ]


def is_usable_name(name: str) -> bool:
    """Whether a name can be told from common words: its first and last words are capitalised."""
    if not 3 <= len(name) <= 100 or not name[0].isupper() or name in _NEVER:
        return False
    parts = name.split()
    return len(parts) <= _LONGEST and (parts[-1][0].isupper() or parts[-1][0].isdigit())


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Every run of up to `_LONGEST` words that begins and ends as a name does."""
    tokens = list(_TOKEN.finditer(text))
    for i, first in enumerate(tokens):
        if not first[0][0].isupper():
            continue
        for j in range(i, min(i + _LONGEST, len(tokens))):
            word = tokens[j][0]
            if j > i and not _adjacent(text, tokens[j - 1].end(), tokens[j].start()):
                break
            if word[0].isupper() or word[0].isdigit():
                end = tokens[j].end()
                yield first.start(), end
                if word.endswith(("'s", "’s")):
                    yield first.start(), end - 2
            elif word not in _JOINING:
                break


def _adjacent(text: str, end: int, start: int) -> bool:
    """Whether nothing but a blank or the mark of an initial stands between two words."""
    return text[end:start].strip(" .&") == "" and start - end <= 3


def _standing(
    parts: Sequence[Sentence], hits: Mapping[int, Sequence[tuple[int, int, tuple[str, ...]]]]
) -> Iterator[Mention]:
    """The longest hits that stand alone, and the last words that stand for them."""
    kept: list[Mention] = []
    for s, found in hits.items():
        longest: list[tuple[int, int, tuple[str, ...]]] = []
        for start, end, ids in sorted(found, key=lambda h: (h[0], -h[1])):
            if not longest or start >= longest[-1][1]:
                longest.append((start, end, ids))
        edges = {edge for start, end, _ in longest for edge in (start, end)}
        for start, end, ids in longest:
            if _alone(parts[s].text, start, end, edges):
                kept.append(Mention(s, start, end, ids))
    yield from sorted([*kept, *_by_last_word(parts, kept)], key=lambda m: (m.sentence, m.start))


def _alone(text: str, start: int, end: int, edges: set[int]) -> bool:
    """Whether no capitalised word beside a span makes a longer name of it."""
    before = list(_TOKEN.finditer(text, 0, start))[-1:]
    after = _TOKEN.search(text, end)
    beside = after and _adjacent(text, end, after.start()) and after.start() not in edges
    if after and beside and after[0][0].isupper() and after[0] not in TITLES:
        return False
    if before and _adjacent(text, before[0].end(), start) and before[0].end() not in edges:
        word = before[0][0]
        opens = before[0].start() == 0 and word in COMMON
        if word[0].isupper() and not opens and word not in TITLES and word not in DEMONYMS:
            return False
    return text[end : end + 1] != "-"


def _by_last_word(parts: Sequence[Sentence], kept: Sequence[Mention]) -> Iterator[Mention]:
    """Single words that end exactly one of the names before them."""
    first: dict[str, tuple[int, int, tuple[str, ...]]] = {}
    shared: set[str] = set()
    taken: dict[int, list[Mention]] = {}
    for m in kept:
        taken.setdefault(m.sentence, []).append(m)
        name = parts[m.sentence].text[m.start : m.end].split()
        last = name[-1]
        if not 1 < len(name) <= _PARTS or not all(w[0].isupper() for w in name):
            continue
        if (
            last in _NEVER
            or last in GENERIC_WORDS
            or last.lower() in GENERIC_WORDS
            or len(last) < 3
        ):
            continue
        if first.setdefault(last, (m.sentence, m.start, m.ids))[2] != m.ids:
            shared.add(last)
    for s, sentence in enumerate(parts):
        for token in _TOKEN.finditer(sentence.text):
            word = token[0].removesuffix("'s").removesuffix("’s")
            known = first.get(word)
            if known is None or word in shared or (s, token.start()) <= known[:2]:
                continue
            start, end = token.start(), token.start() + len(word)
            mine = taken.get(s, ())
            if any(m.start < end and start < m.end for m in mine):
                continue
            if _alone(sentence.text, start, end, {e for m in mine for e in (m.start, m.end)}):
                yield Mention(s, start, end, known[2])


def batches(found: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size`, the last one of what is left."""
    left = iter(found)
    while group := list(islice(left, size)):
        yield group
