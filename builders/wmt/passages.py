"""Passages of articles, each with its day in words, as a search index holds them."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.schema import arrow_schema, batches, regrouped
from factdrift.builders.rows import Article, Passage
from factdrift.builders.text.dates import written
from factdrift.builders.wmt.archive import BLOCK, Form, Paths, find_archives, over_blocks
from factdrift.builders.wmt.lines import KEY, WantedLines, article_of, decode, decode_as
from factdrift.builders.wmt.read import Places, other_archive
from factdrift.builders.wmt.tables import ROW_GROUP, writing_tables

SENTENCES = 6
"""Sentences of a passage (StreamingQA, section 2.1)."""
_STOP = ". "
_WHITE = " \t\n\r\v\f"
"""White space of ASCII, which alone the original strips."""


def in_words(day: date) -> str:
    """`Thursday, February 7, 2019`: English, whatever the locale.

    The day is that of UTC. The original's code takes the day of the machine's time zone, which
    west of UTC is the day before; its released data was made at UTC.
    """
    return written(day, "day_of_week")


def passage_prefix(day: date) -> str:
    """The beginning of a passage: `Thursday, February 7, 2019. `."""
    return f"{in_words(day)}. "


def shown_id(passage: str) -> str:
    """The id of a passage as annotators' items hold it: no control characters.

    `passage` is an article's id, `_` and a number.
    """
    key, _, number = passage.rpartition("_")
    return f"{key[:8]}-{key[22:86]}_{number}"


def question_prefix(day: date) -> str:
    """The beginning of a question: `Today is Wednesday, May 6, 2020. `."""
    return f"Today is {in_words(day)}. "


def texts(article: Article) -> Iterator[tuple[str, str]]:
    """Id (numbers count from 0) and text of an article's chunks of six sentences or fewer."""
    prefix = passage_prefix(article.day)
    for number, start in enumerate(range(0, len(article.sentences), SENTENCES)):
        chunk = article.sentences[start : start + SENTENCES]
        yield f"{article.id}_{number}", prefix + " ".join(chunk)


def original_passages(day: int, digest: bytes, text: str) -> list[Passage]:
    """An article's passages as the code that came with StreamingQA makes them, to the letter.

    It takes a full stop before a space or a line end for the end of a sentence, so that a headline
    without one stays with the sentence after it, and so does one that ends in a question mark,
    while `Mr. Lee` is cut; and it puts a full stop behind each chunk. The arguments are those of
    `article_of`.
    """
    article = article_of(day, digest, text)
    ended = f"{text} ".replace(".\n", _STOP)
    found = [part.strip(_WHITE) for part in ended.split(_STOP)]
    sentences = [part for part in found if part]
    return [
        Passage(
            f"{article.id}_{number}",
            article.id,
            number,
            article.day,
            f"{_STOP.join([in_words(article.day), *sentences[at : at + SENTENCES]])}.",
            digest.hex(),
        )
        for number, at in enumerate(range(0, len(sentences), SENTENCES))
    ]


def passages(article: Article) -> Iterator[Passage]:
    """An article's passages."""
    key = KEY.fullmatch(article.id)
    assert key is not None
    for number, (name, text) in enumerate(texts(article)):
        yield Passage(name, article.id, number, article.day, text, key[4])


def write_passages(
    paths: Paths,
    out: Path,
    *,
    until: date | None = None,
    keep: Path | None = None,
    near_duplicates: float = 0,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK,
    original: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, int]:
    """Write `passages.parquet` (`rows.Passage`, in the order of the archive) into `out`.

    Beside it go the tables of `index`, which takes the same parameters, and `corpus.json`: a
    corpus of all articles up to a day is `until` that day. `original`: passages of the same ids and
    texts as those of StreamingQA's own code (see `original_passages`); by default a passage is six
    lines of the split text, which are whole sentences more often. The bytes are the same for any
    number of jobs. Returns the content of `corpus.json`: counts. `UserError`: see `index`.
    """
    from factdrift.builders.wmt.index import (
        index,  # heavy, and not for processes that make passages
    )

    files = find_archives(paths)
    index(
        paths,
        out,
        keep=keep,
        near_duplicates=near_duplicates,
        until=until,
        jobs=jobs,
        memory=memory,
        block=block,
        say=say,
    )
    with writing_tables(out, ("passages.parquet", "corpus.json")) as scratch:
        table, path = out / "articles.parquet", scratch / "passages.parquet"
        counts = _write(files, table, path, jobs, block, _original if original else _passages)
        counts |= {"as_the_original": 1} if original else {}
        text = json.dumps(counts, indent=1, sort_keys=True)
        (scratch / "corpus.json").write_text(text + "\n", "utf-8")
    say(f"{counts['passages']:,} passages of {counts['articles']:,} articles")
    return counts


Made = tuple[int, pa.RecordBatch, int | None]
"""The articles of a block, their passages, and the first line with another article."""


def _write(
    files: list[Path],
    articles: Path,
    path: Path,
    jobs: int,
    block: int,
    work: Callable[[bytes, Form, WantedLines], Made],
) -> dict[str, int]:
    places = Places.of_table(articles, files)
    counts = {"articles": 0, "passages": 0, "sentences_of_a_passage": SENTENCES}

    def flow() -> Iterator[pa.RecordBatch]:
        found = over_blocks(
            files, work, places.in_block, jobs=jobs, block=block, label="making passages"
        )
        for place, (number, batch, wrong) in found:
            if wrong is not None:
                raise other_archive(files[place.file], place.first + wrong + 1)
            counts["articles"] += number
            counts["passages"] += batch.num_rows
            yield batch

    with pq.ParquetWriter(path, arrow_schema(Passage), compression="zstd") as writer:
        for group in regrouped(flow(), ROW_GROUP):
            writer.write_table(group, row_group_size=ROW_GROUP)
    return counts


def _passages(data: bytes, form: Form, lines: WantedLines) -> Made:
    """The passages of the wanted lines of one block."""
    articles, wrong = decode(data, form, lines)
    return _batch([list(passages(article)) for article in articles], wrong)


def _original(data: bytes, form: Form, lines: WantedLines) -> Made:
    """The same with the original's passages."""
    return _batch(*decode_as(data, form, lines, original_passages))


def _batch(found: list[list[Passage]], wrong: int | None) -> Made:
    rows = [passage for mine in found for passage in mine]
    empty = pa.RecordBatch.from_pylist([], schema=arrow_schema(Passage))
    return len(found), next(batches(Passage, rows, max(len(rows), 1)), empty), wrong
