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
    """Return the sentences after the headline that are news."""
    return [
        sentence for sentence in body_sentences(article) if boilerplate_kind(sentence.text) is None
    ]


def body_sentences(article: Article) -> list[Sentence]:
    """Return the sentences after the headline, also those that are no news.

    A line of the split text may hold several sentences.
    """
    sentences = []
    line_start = len(article.sentences[0]) + 1
    for line_index, line_text in enumerate(article.sentences[1:], 1):
        breaks = [0, *sentence_breaks(line_text, "news"), len(line_text)]
        for start, end in pairwise(breaks):
            sentence_text = line_text[start:end].rstrip()
            if sentence_text:
                sentences.append(Sentence(line_start + start, sentence_text, line_index))
        line_start += len(line_text) + 1
    return sentences


class EntityNames:
    """Labels and aliases of entities, in a table that spills to disk and is joined with articles.

    Countries have their adjectives too, since `the British prime minister` says whose it is.

    `ids`: a query for the item ids that count, one column; `entities`: an `entities.parquet`.
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, entities: Path, id_query: str) -> None:
        self._db = db
        db.execute("create table names (name varchar, id varchar)")
        entity_cursor = db.cursor().execute(
            f"select id, label, aliases from {duck.parquet(entities)} semi join ({id_query}) w(id)"  # noqa: S608
            " using (id) where label != ''"
        )
        while entity_batch := entity_cursor.fetchmany(_ROWS_AT_ONCE):
            name_pairs: set[tuple[str, str]] = set()
            for item_id, label, aliases in entity_batch:
                name_pairs.update((name, item_id) for name in _names_of(label, aliases or ()))
            names, item_ids = zip(*sorted(name_pairs), strict=True) if name_pairs else ((), ())
            name_table = pa.table(
                [pa.array(names, pa.string()), pa.array(item_ids, pa.string())],
                names=["name", "id"],
            )
            db.register("more", name_table)
            db.execute("insert into names select * from more")
            db.unregister("more")

    def find(
        self, articles: Sequence[Sequence[Sentence]], *, only_news: bool = False
    ) -> list[list[Mention]]:
        """Return the mentions in the sentences of each article, in order of their places.

        `only_news`: sentences that are no news have none. That is looked at last, because it takes
        longer than everything else, and most sentences name nothing.
        """
        span_columns: dict[str, list[int | str]] = {name: [] for name in _NAMES.names}
        for article_index, sentences in enumerate(articles):
            for sentence_index, sentence in enumerate(sentences):
                for span_start, span_end in _spans(sentence.text):
                    name = plain_marks(sentence.text[span_start:span_end])
                    span_place = article_index, sentence_index, span_start, span_end
                    span_values: tuple[int | str, ...] = (*span_place, name)
                    for column, value in zip(span_columns.values(), span_values, strict=True):
                        column.append(value)
        self._db.register("spans", pa.table(span_columns, schema=_NAMES))
        joined_rows = self._db.execute(
            'select article, sentence, start, "end", list_sort(list(distinct id))'
            " from spans join names using (name) group by all order by all"
        ).fetchall()
        self._db.unregister("spans")
        hits_by_sentence: list[dict[int, list[Hit]]] = [{} for _ in articles]
        for article_index, sentence_index, span_start, span_end, item_ids in joined_rows:
            sentence_hits = hits_by_sentence[article_index].setdefault(sentence_index, [])
            sentence_hits.append((span_start, span_end, tuple(item_ids)))
        mentions = []
        for sentences, article_hits in zip(articles, hits_by_sentence, strict=True):
            mentions.append(_standing_alone(sentences, article_hits, only_news))
        return mentions


def _names_of(label: str, aliases: Sequence[str]) -> Iterator[str]:
    for name in map(plain_marks, (label, *aliases)):
        if is_usable_name(name):
            yield name
    for country_adjective, country in ADJECTIVES:
        if label == country:
            yield country_adjective


def is_usable_name(name: str) -> bool:
    """Whether a name can be told from common words: its first and last words are capitalised."""
    if not _SHORTEST <= len(name) <= _LONGEST_TEXT or not name[0].isupper() or name in _NEVER:
        return False
    name_words = name.split()
    return len(name_words) <= _LONGEST and (
        name_words[-1][0].isupper() or name_words[-1][0].isdigit()
    )


def _spans(sentence_text: str) -> Iterator[Span]:
    """Every run of up to `_LONGEST` words that begins and ends as a name does."""
    tokens = list(_TOKEN.finditer(sentence_text))
    for first_index, first_token in enumerate(tokens):
        if not first_token[0][0].isupper():
            continue
        for index in range(first_index, min(first_index + _LONGEST, len(tokens))):
            word = tokens[index][0]
            if index > first_index and not _adjacent(
                sentence_text, tokens[index - 1].end(), tokens[index].start()
            ):
                break
            if word[0].isupper() or word[0].isdigit():
                end = tokens[index].end()
                yield first_token.start(), end
                if word.endswith(("'s", "’s")):
                    yield first_token.start(), end - 2
            elif word not in _JOINING:
                break


def _adjacent(text: str, first_end: int, second_start: int) -> bool:
    """Whether nothing but a blank or the mark of an initial stands between two words."""
    return (
        text[first_end:second_start].strip(" .&") == "" and second_start - first_end <= _WIDEST_GAP
    )


def _standing_alone(
    sentences: Sequence[Sentence], hits_by_sentence: Mapping[int, Sequence[Hit]], only_news: bool
) -> list[Mention]:
    """The longest hits that stand alone, and the last words that repeat them, in their order."""
    mentions: list[Mention] = []
    for sentence_index, sentence_hits in hits_by_sentence.items():
        longest_hits: list[Hit] = []
        for hit in sorted(sentence_hits, key=lambda hit: (hit[0], -hit[1])):
            if not longest_hits or hit[0] >= longest_hits[-1][1]:
                longest_hits.append(hit)
        name_edges: set[int] = set()
        for span_start, span_end, _ in longest_hits:
            name_edges.update((span_start, span_end))
        for span_start, span_end, item_ids in longest_hits:
            if _stands_alone(sentences[sentence_index].text, span_start, span_end, name_edges):
                mentions.append(Mention(sentence_index, span_start, span_end, item_ids))
    if only_news:
        mentions = _in_news(sentences, mentions)
    repeated_mentions = list(_by_last_word(sentences, mentions))
    if only_news:
        repeated_mentions = _in_news(sentences, repeated_mentions)
    mentions += repeated_mentions
    return sorted(mentions, key=lambda mention: (mention.sentence, mention.start))


def _in_news(sentences: Sequence[Sentence], mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions in sentences that are news."""
    is_news: dict[int, bool] = {}
    for sentence_index in {mention.sentence for mention in mentions}:
        is_news[sentence_index] = boilerplate_kind(sentences[sentence_index].text) is None
    return [mention for mention in mentions if is_news[mention.sentence]]


def _stands_alone(sentence_text: str, span_start: int, span_end: int, name_edges: set[int]) -> bool:
    """Whether no capitalised word beside a span makes a longer name of it."""
    token_before = list(_TOKEN.finditer(sentence_text, 0, span_start))[-1:]
    token_after = _TOKEN.search(sentence_text, span_end)
    is_beside = (
        token_after
        and _adjacent(sentence_text, span_end, token_after.start())
        and token_after.start() not in name_edges
    )
    if token_after and is_beside and token_after[0][0].isupper() and token_after[0] not in TITLES:
        return False
    if (
        token_before
        and _adjacent(sentence_text, token_before[0].end(), span_start)
        and token_before[0].end() not in name_edges
    ):
        word_before = token_before[0][0]
        opens_sentence = token_before[0].start() == 0 and word_before in COMMON
        no_name = opens_sentence or word_before in TITLES or word_before in DEMONYMS
        if word_before[0].isupper() and not no_name:
            return False
    return sentence_text[span_end : span_end + 1] != "-"  # `Chelsea-based` names no club


def _by_last_word(sentences: Sequence[Sentence], mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Single words that end exactly one of the names before them."""
    first_mentions = _first_by_last_word(sentences, mentions)
    by_sentence: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for sentence_index, sentence in enumerate(sentences):
        own_mentions = by_sentence.get(sentence_index, ())
        name_edges: set[int] = set()
        for mention in own_mentions:
            name_edges.update((mention.start, mention.end))
        for token in _TOKEN.finditer(sentence.text):
            word = token[0].removesuffix("'s").removesuffix("’s")
            full_name = first_mentions.get(word)
            word_start, word_end = token.start(), token.start() + len(word)
            if full_name is None or (sentence_index, word_start) <= (
                full_name.sentence,
                full_name.start,
            ):
                continue
            if _overlaps(own_mentions, word_start, word_end):
                continue
            if _stands_alone(sentence.text, word_start, word_end, name_edges):
                yield Mention(sentence_index, word_start, word_end, full_name.ids)


def _first_by_last_word(
    sentences: Sequence[Sentence], mentions: Sequence[Mention]
) -> dict[str, Mention]:
    """The first mention for each last word that no name of other items ends in."""
    first_mentions: dict[str, Mention] = {}
    shared_words: set[str] = set()
    for mention in mentions:
        name_words = sentences[mention.sentence].text[mention.start : mention.end].split()
        last_word = name_words[-1]
        if not 1 < len(name_words) <= _MOST_REPEATED or not all(
            word[0].isupper() for word in name_words
        ):
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
