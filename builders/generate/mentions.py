"""Where an article names entities that a dump knows: one pass over capitalised words, then a join.

A name counts where it stands alone: a capitalised word beside it that belongs to no other name
(Chelsea Clinton for Chelsea) makes another name of it. A name of several words may be repeated by
its last word further down (Obama), where no other name of the article ends in that word.
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

# Initials with their dots, or a word with the marks inside it:
# `F.C.`, `O'Neill` and `Jean-Luc` are one token each, `…` is none.
_TOKEN = re.compile(r"(?:[^\W_]\.)+[^\W_]\.?|[^\W_]+(?:[.'’‑-][^\W_]+)*")
_JOINING = frozenset(
    "of the and for in de la le van von der den del di da al el y & du des".split()
)
"""Words in small letters that stand inside names: Bank of England, Charles de Gaulle."""
_LONGEST = 8
"""Tokens of a name at most: a guess; news seldom writes longer names in full."""
_MOST_REPEATED = 3
"""Tokens of a name at most whose last word may stand for it: names of people seldom have more,
those of offices and events do."""
_SHORTEST = 3
"""Characters of a name or a last word at least: shorter ones are initials and abbreviations."""
_LONGEST_TEXT = 100
"""Characters of a name at most: a guess; longer aliases are descriptions."""
_WIDEST_GAP = 3
"""Characters between two words of one name at most: ` & ` has three."""
_ROWS_AT_ONCE = 20_000
"""Entities that are read at a time: a few megabytes."""
_NEVER = COMMON | DEMONYMS | frozenset((*WEEKDAYS, *MONTHS))
"""Capitalised words that are no name by themselves: they begin sentences, or name days."""
_NAMES = pa.schema(
    [
        pa.field("article", pa.int32()),
        pa.field("sentence", pa.int32()),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("name", pa.string()),
    ]
)
"""The spans of a batch of articles that may be names, as they are joined with the known names."""


Item = TypeVar("Item")
Span = tuple[int, int]
Hit = tuple[int, int, tuple[str, ...]]
"""Start and end of a span in its sentence, and the item ids that it may name."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an article; `start` is its first character in the article's text."""

    start: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a sentence that may name each of `ids` (item ids, sorted).

    `sentence` is the index of the sentence; `start` and `end` count from its first character.
    """

    sentence: int
    start: int
    end: int
    ids: tuple[str, ...]


def news_sentences(article: Article) -> list[Sentence]:
    """Return the sentences after the headline that are news.

    A line of the split text may hold several sentences.
    """
    sentences = []
    line_start = len(article.sentences[0]) + 1
    for line, line_text in enumerate(article.sentences[1:], 1):
        breaks = [0, *sentence_breaks(line_text, "news"), len(line_text)]
        for start, end in pairwise(breaks):
            sentence_text = line_text[start:end].rstrip()
            if sentence_text and boilerplate_kind(sentence_text) is None:
                sentences.append(Sentence(line_start + start, sentence_text, line))
        line_start += len(line_text) + 1
    return sentences


class EntityNames:
    """Labels and aliases of entities, in a table that spills to disk and is joined with articles.

    Countries have their adjectives too, since `the British prime minister` says whose it is.

    `ids`: a query for the item ids that count, one column; `entities`: an `entities.parquet`.
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, entities: Path, ids: str) -> None:
        self._db = db
        db.execute("create table names (name varchar, id varchar)")
        cursor = db.cursor().execute(
            f"select id, label, aliases from {duck.parquet(entities)} semi join ({ids}) w(id)"  # noqa: S608
            " using (id) where label != ''"
        )
        while batch := cursor.fetchmany(_ROWS_AT_ONCE):
            pairs: set[tuple[str, str]] = set()
            for item_id, label, aliases in batch:
                pairs.update((name, item_id) for name in _names_of(label, aliases or ()))
            names, item_ids = zip(*sorted(pairs), strict=True) if pairs else ((), ())
            table = pa.table(
                [pa.array(names, pa.string()), pa.array(item_ids, pa.string())],
                names=["name", "id"],
            )
            db.register("more", table)
            db.execute("insert into names select * from more")
            db.unregister("more")

    def find(self, articles: Sequence[tuple[Article, Sequence[Sentence]]]) -> list[list[Mention]]:
        """Return the mentions of each article, in order of their places."""
        columns: dict[str, list[int | str]] = {name: [] for name in _NAMES.names}
        for article_index, (_, sentences) in enumerate(articles):
            for sentence_index, sentence in enumerate(sentences):
                for start, end in _spans(sentence.text):
                    name = plain_marks(sentence.text[start:end])
                    place = article_index, sentence_index, start, end
                    values: tuple[int | str, ...] = (*place, name)
                    for column, value in zip(columns.values(), values, strict=True):
                        column.append(value)
        self._db.register("spans", pa.table(columns, schema=_NAMES))
        joined_rows = self._db.execute(
            'select article, sentence, start, "end", list_sort(list(distinct id))'
            " from spans join names using (name) group by all order by all"
        ).fetchall()
        self._db.unregister("spans")
        hits: list[dict[int, list[Hit]]] = [{} for _ in articles]
        for article_index, sentence_index, start, end, item_ids in joined_rows:
            sentence_hits = hits[article_index].setdefault(sentence_index, [])
            sentence_hits.append((start, end, tuple(item_ids)))
        mentions = []
        for (_, sentences), article_hits in zip(articles, hits, strict=True):
            mentions.append(_standing_alone(sentences, article_hits))
        return mentions


def _names_of(label: str, aliases: Sequence[str]) -> Iterator[str]:
    for name in map(plain_marks, (label, *aliases)):
        if is_usable_name(name):
            yield name
    for adjective, country in ADJECTIVES:
        if label == country:
            yield adjective


def is_usable_name(name: str) -> bool:
    """Whether a name can be told from common words: its first and last words are capitalised."""
    if not _SHORTEST <= len(name) <= _LONGEST_TEXT or not name[0].isupper() or name in _NEVER:
        return False
    words = name.split()
    return len(words) <= _LONGEST and (words[-1][0].isupper() or words[-1][0].isdigit())


def _spans(text: str) -> Iterator[Span]:
    """Every run of up to `_LONGEST` words that begins and ends as a name does."""
    tokens = list(_TOKEN.finditer(text))
    for first_index, first_token in enumerate(tokens):
        if not first_token[0][0].isupper():
            continue
        for index in range(first_index, min(first_index + _LONGEST, len(tokens))):
            word = tokens[index][0]
            if index > first_index and not _adjacent(
                text, tokens[index - 1].end(), tokens[index].start()
            ):
                break
            if word[0].isupper() or word[0].isdigit():
                end = tokens[index].end()
                yield first_token.start(), end
                if word.endswith(("'s", "’s")):
                    yield first_token.start(), end - 2
            elif word not in _JOINING:
                break


def _adjacent(text: str, end: int, start: int) -> bool:
    """Whether nothing but a blank or the mark of an initial stands between two words."""
    return text[end:start].strip(" .&") == "" and start - end <= _WIDEST_GAP


def _standing_alone(
    sentences: Sequence[Sentence], hits: Mapping[int, Sequence[Hit]]
) -> list[Mention]:
    """The longest hits that stand alone, and the last words that repeat them, in their order."""
    mentions: list[Mention] = []
    for sentence_index, sentence_hits in hits.items():
        longest: list[Hit] = []
        for hit in sorted(sentence_hits, key=lambda hit: (hit[0], -hit[1])):
            if not longest or hit[0] >= longest[-1][1]:
                longest.append(hit)
        edges: set[int] = set()
        for start, end, _ in longest:
            edges.update((start, end))
        for start, end, item_ids in longest:
            if _stands_alone(sentences[sentence_index].text, start, end, edges):
                mentions.append(Mention(sentence_index, start, end, item_ids))
    mentions += _by_last_word(sentences, mentions)
    return sorted(mentions, key=lambda mention: (mention.sentence, mention.start))


def _stands_alone(text: str, start: int, end: int, edges: set[int]) -> bool:
    """Whether no capitalised word beside a span makes a longer name of it."""
    before = list(_TOKEN.finditer(text, 0, start))[-1:]
    after = _TOKEN.search(text, end)
    beside = after and _adjacent(text, end, after.start()) and after.start() not in edges
    if after and beside and after[0][0].isupper() and after[0] not in TITLES:
        return False
    if before and _adjacent(text, before[0].end(), start) and before[0].end() not in edges:
        word = before[0][0]
        opens_sentence = before[0].start() == 0 and word in COMMON
        no_name = opens_sentence or word in TITLES or word in DEMONYMS
        if word[0].isupper() and not no_name:
            return False
    return text[end : end + 1] != "-"  # `Chelsea-based` names no club


def _by_last_word(sentences: Sequence[Sentence], mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Single words that end exactly one of the names before them."""
    first_mentions = _first_by_last_word(sentences, mentions)
    by_sentence: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for sentence_index, sentence in enumerate(sentences):
        own_mentions = by_sentence.get(sentence_index, ())
        edges: set[int] = set()
        for mention in own_mentions:
            edges.update((mention.start, mention.end))
        for token in _TOKEN.finditer(sentence.text):
            word = token[0].removesuffix("'s").removesuffix("’s")
            full_name = first_mentions.get(word)
            start, end = token.start(), token.start() + len(word)
            if full_name is None or (sentence_index, start) <= (
                full_name.sentence,
                full_name.start,
            ):
                continue
            if _overlaps(own_mentions, start, end):
                continue
            if _stands_alone(sentence.text, start, end, edges):
                yield Mention(sentence_index, start, end, full_name.ids)


def _first_by_last_word(
    sentences: Sequence[Sentence], mentions: Sequence[Mention]
) -> dict[str, Mention]:
    """The first mention for each last word that no name of other items ends in."""
    first_mentions: dict[str, Mention] = {}
    shared_words: set[str] = set()
    for mention in mentions:
        words = sentences[mention.sentence].text[mention.start : mention.end].split()
        last_word = words[-1]
        if not 1 < len(words) <= _MOST_REPEATED or not all(word[0].isupper() for word in words):
            continue
        if _is_common_word(last_word):
            continue
        if first_mentions.setdefault(last_word, mention).ids != mention.ids:
            shared_words.add(last_word)
    for word in shared_words:
        del first_mentions[word]
    return first_mentions


def _is_common_word(word: str) -> bool:
    """Whether a last word stands for nobody: `City`, `Monday`, `Jr`."""
    generic = word in GENERIC_WORDS or word.lower() in GENERIC_WORDS
    return generic or word in _NEVER or len(word) < _SHORTEST


def _overlaps(mentions: Sequence[Mention], start: int, end: int) -> bool:
    return any(mention.start < end and start < mention.end for mention in mentions)


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of `size` items; the last list has the items that remain."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
