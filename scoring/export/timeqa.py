"""TimeQA: a file of JSON lines a split and difficulty, as Chen et al. 2021 publish it."""

from collections import Counter
from collections.abc import Iterator

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import ParaphrasedQuestion, TimeQuestion
from factdrift.scoring.export.release import Release, Row

_NO_TEXT = "questions left out: no text of their page"


def write(release: Release) -> None:
    """`<split>.<easy or hard>.json.gzip`; questions in people's words as `human_<split>.…`.

    Targets are the answers' spans of the page, with `from` and `end` in its characters; of an
    unanswerable question `['']`. `idx` is the row's id. `UserError`: pages without text.
    """
    for config in release.configs(TimeQuestion, ParaphrasedQuestion):
        people = "paraphrase_of" in {column.name for column in config.columns}
        for split in config.splits:
            levels = ("easy", "hard") if people else (config.name,)
            for level in levels if split.rows else ():
                rows = (row for row in release.rows(split) if row["difficulty"] == level)
                name = f"{'human_' * people}{split.name}.{level}.json.gzip"
                release.json_lines(name, _records(rows, release.notes))
    if not any(release.files.values()):
        hint = "make it with `text: true`, or join the pages by context_sha256"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint)


def _records(rows: Iterator[Row], notes: Counter[str]) -> Iterator[Row]:
    for row in rows:
        if not row["context"]:
            notes[_NO_TEXT] += 1
            continue
        texts, starts = row["answers"]["text"], row["answers"]["answer_start"]
        ends = [start + len(text) for text, start in zip(texts, starts, strict=True)]
        yield {
            "idx": row["id"],
            "question": row["question"],
            "context": row["context"],
            "targets": texts or [""],
            "paragraphs": [
                {"title": row["title"], "text": text} for text in row["context"].split("\n")
            ],
            "level": row["difficulty"],
            "from": starts or [0],
            "end": ends or [0],
        }
