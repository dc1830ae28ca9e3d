"""Passages of articles, each with its day in words, as a search index holds them."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.dates import MONTHS, WEEKDAYS
from builders.errors import UserError
from builders.rows import Article, Passage
from builders.schema import arrow_schema, batches, regrouped
from builders.wmt.archive import BLOCK, Form, Paths, find_archives
from builders.wmt.lines import KEY, decode
from builders.wmt.read import Listed, other_archive
from builders.wmt.spread import Place, over_blocks

SENTENCES = 6
"""Sentences of a passage (StreamingQA, section 2.1)."""
_ROWS = 65_536


def in_words(day: date) -> str:
    """`Thursday, February 7, 2019`: English, whatever the locale.

    The day is that of UTC. The original's code takes the day of the machine's time zone, which
    west of UTC is the day before; its released data was made at UTC.
    """
    return f"{WEEKDAYS[day.weekday()]}, {MONTHS[day.month - 1]} {day.day}, {day.year}"


def passage_prefix(day: date) -> str:
    """What stands before the text of a passage: `Thursday, February 7, 2019. `."""
    return f"{in_words(day)}. "


def question_prefix(day: date) -> str:
    """What stands before a question: `Today is Wednesday, May 6, 2020. `."""
    return f"Today is {in_words(day)}. "


def texts(article: Article, size: int = SENTENCES) -> Iterator[tuple[str, str]]:
    """Id and text of an article's chunks of `size` sentences, the last one shorter; from 0."""
    prefix = passage_prefix(article.day)
    for number, start in enumerate(range(0, len(article.sentences), size)):
        yield f"{article.id}_{number}", prefix + " ".join(article.sentences[start : start + size])


def passages(article: Article, size: int = SENTENCES) -> Iterator[Passage]:
    """An article's passages; `UserError` where its id holds no sha256."""
    sha256 = sha256_of(article.id)
    for number, (name, text) in enumerate(texts(article, size)):
        yield Passage(name, article.id, number, article.day, text, sha256)


def sha256_of(article: str) -> str:
    """The sha256 that an article's id holds; `UserError` where it is no id."""
    found = KEY.fullmatch(article)
    if not found:
        raise UserError(f"not an article's id: {article!r}")
    return found[4]


@dataclass(frozen=True)
class Corpus:
    """The tables of a corpus, and what was counted: the content of `corpus.json`."""

    passages: Path
    articles: Path
    dropped: Path
    summary: Path
    counts: Mapping[str, Any]


def write_passages(
    paths: Paths,
    out: Path,
    *,
    articles: Path | None = None,
    until: date | None = None,
    keep: Path | None = None,
    near_duplicates: bool | float = False,
    size: int = SENTENCES,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK,
    say: Callable[[str], None] = lambda text: None,
) -> Corpus:
    """Write `passages.parquet` (`rows.Passage`, in the order of the archive) into `out`.

    `articles`: a table that `index` made of the same archive; without it `out` gets one first,
    with `until`, `keep` and `near_duplicates` as `index` takes them, so that a corpus of all
    articles up to a day is `until` that day. `size`: sentences of a passage. Also writes
    `corpus.json`. The bytes are the same for any number of jobs. `UserError`: see `index`.
    """
    if size < 1:
        raise UserError(f"a passage has 1 sentence or more, not {size}")
    if articles is not None and (until or keep or near_duplicates):
        raise ValueError("until, keep and near_duplicates belong to the table that is given")
    files = find_archives(paths)
    if articles is None:
        from builders.wmt.index import index  # heavy, and not for processes that make passages

        made = index(
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
        articles = made.articles
    scratch = out / ".passages"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        scratch.mkdir(parents=True)
        counts = _write(files, articles, scratch / "passages.parquet", size, jobs, block)
        text = json.dumps(counts, indent=1, sort_keys=True)
        (scratch / "corpus.json").write_text(text + "\n", "utf-8")
        for name in ("passages.parquet", "corpus.json"):
            (scratch / name).replace(out / name)
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    say(f"{counts['passages']:,} passages of {counts['articles']:,} articles")
    dropped = articles.with_name("dropped.parquet")
    return Corpus(out / "passages.parquet", articles, dropped, out / "corpus.json", counts)


def _write(
    files: list[Path], articles: Path, path: Path, size: int, jobs: int, block: int
) -> dict[str, int]:
    places = Listed(articles, files)
    counts = {"articles": 0, "passages": 0, "sentences_of_a_passage": size}

    def about(place: Place, found: Any) -> Any:
        lines = places.in_block(place, found)
        return (lines, size) if lines else None

    def flow() -> Iterator[pa.RecordBatch]:
        found = over_blocks(
            files, _passages, about, jobs=jobs, block=block, label="making passages"
        )
        for place, (number, batch, wrong) in found:
            if wrong is not None:
                raise other_archive(files[place.file], place.first + wrong + 1)
            counts["articles"] += number
            counts["passages"] += batch.num_rows
            yield batch

    with pq.ParquetWriter(path, arrow_schema(Passage), compression="zstd") as writer:
        for group in regrouped(flow(), _ROWS):
            writer.write_table(group, row_group_size=_ROWS)
    return counts


def _passages(
    data: bytes, form: Form, given: tuple[Any, int]
) -> tuple[int, pa.RecordBatch, int | None]:
    """The passages of the wanted lines of one block."""
    lines, size = given
    articles, wrong = decode(data, form, lines)
    rows = [p for article in articles for p in passages(article, size)]
    schema = arrow_schema(Passage)
    empty = pa.RecordBatch.from_pylist([], schema=schema)
    return len(articles), next(batches(Passage, rows, max(len(rows), 1)), empty), wrong
