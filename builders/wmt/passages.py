"""Passages of articles, each with its day in words, as a search index holds them."""

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq

from factdrift.builders.core.schema import batches
from factdrift.builders.rows import Article, Passage
from factdrift.builders.text.dates import format_date
from factdrift.builders.wmt.archive import BLOCK_SIZE, Paths, find_archives
from factdrift.builders.wmt.lines import make_article
from factdrift.builders.wmt.read import articles_at
from factdrift.builders.wmt.tables import write_rows, writing_tables

SENTENCES = 6
"""Sentences of a passage (StreamingQA, section 2.1)."""
_STOP = ". "
_WHITE = " \t\n\r\v\f"
"""The white space of ASCII; the original code strips no other."""


def day_in_words(day: date) -> str:
    """`Thursday, February 7, 2019`: English, whatever the locale.

    The day is that of UTC. The original's code takes the day of the machine's time zone, which
    west of UTC is the day before; its released data was made at UTC.
    """
    return format_date(day, "day_of_week")


def passage_prefix(day: date) -> str:
    """The beginning of a passage: `Thursday, February 7, 2019. `."""
    return f"{day_in_words(day)}. "


def printable_id(passage: str) -> str:
    """The id of a passage as annotators' items hold it: no control characters.

    `passage` is an article's id, `_` and a number.
    """
    article_id, _, number = passage.rpartition("_")
    return f"{article_id[:8]}-{article_id[22:86]}_{number}"


def question_prefix(day: date) -> str:
    """The beginning of a question: `Today is Wednesday, May 6, 2020. `."""
    return f"Today is {day_in_words(day)}. "


def passage_texts(article: Article) -> Iterator[tuple[str, str]]:
    """The id and text of each chunk of six sentences or fewer; chunks are numbered from 0."""
    prefix = passage_prefix(article.day)
    for chunk_number, start in enumerate(range(0, len(article.sentences), SENTENCES)):
        chunk_sentences = article.sentences[start : start + SENTENCES]
        yield f"{article.id}_{chunk_number}", prefix + " ".join(chunk_sentences)


def original_article_passages(day: int, text_digest: bytes, split_text: str) -> list[Passage]:
    """An article's passages exactly as the code that came with StreamingQA makes them.

    It takes a full stop before a space or a line end for the end of a sentence, so that a headline
    without one stays with the sentence after it, and so does one that ends in a question mark,
    while `Mr. Lee` is cut; and it puts a full stop behind each chunk. The arguments are those of
    `make_article`.
    """
    article = make_article(day, text_digest, split_text)
    ended_text = f"{split_text} ".replace(".\n", _STOP)
    parts = [part.strip(_WHITE) for part in ended_text.split(_STOP)]
    sentences = [part for part in parts if part]
    return [
        Passage(
            f"{article.id}_{number}",
            article.id,
            number,
            article.day,
            f"{_STOP.join([day_in_words(article.day), *sentences[start : start + SENTENCES]])}.",
            text_digest.hex(),
        )
        for number, start in enumerate(range(0, len(sentences), SENTENCES))
    ]


def article_passages(day: int, text_digest: bytes, split_text: str) -> list[Passage]:
    """An article's passages; the arguments are those of `make_article`."""
    article = make_article(day, text_digest, split_text)
    return [
        Passage(name, article.id, number, article.day, chunk, text_digest.hex())
        for number, (name, chunk) in enumerate(passage_texts(article))
    ]


def write_passages(
    paths: Paths,
    out: Path,
    *,
    until: date | None = None,
    keep: Path | None = None,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK_SIZE,
    original: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Write `passages.parquet` (`rows.Passage`, in the order of the archive) into `out`.

    The tables of `index_archive` are written beside it, and the parameters are those of
    `index_archive`. A corpus of all articles up to a day is made with `until` that day. With
    `original`, passages have the ids and texts that StreamingQA's own code gives them (see
    `original_article_passages`). By default a passage is six lines of the split text, which are
    whole sentences more often. The bytes are the same for any number of jobs. `UserError`:
    see `index_archive`.
    """
    from factdrift.builders.wmt.index import index_archive  # heavy, and not for working processes

    archive_paths = find_archives(paths)
    index_archive(
        paths,
        out,
        keep=keep,
        until=until,
        jobs=jobs,
        memory=memory,
        block=block,
        say=say,
    )
    make_passages = original_article_passages if original else article_passages
    passage_lists = articles_at(
        archive_paths, out / "articles.parquet", make_passages, jobs=jobs, block=block
    )
    with writing_tables(out, ("passages.parquet",)) as scratch:
        passage_batches = batches(Passage, chain.from_iterable(passage_lists))
        write_rows(scratch / "passages.parquet", Passage, passage_batches)
    say(f"{pq.read_metadata(out / 'passages.parquet').num_rows:,} passages in {out}")
