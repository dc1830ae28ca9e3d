"""Questions over pages: as TimeQA (Chen et al. 2021) and SQuAD 2.0 (Rajpurkar et al. 2018)."""

from collections import Counter
from collections.abc import Iterator

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import ConfigEntry, SplitEntry
from factdrift.builders.rows import ParaphrasedQuestion, TimeProbe, TimeQuestion
from factdrift.scoring.export.release import Release, Row, dumps

_NO_TEXT = "questions left out: no text of their page"
_ARTICLES = """
    SELECT title, list({context: context, qas: qas} ORDER BY context_sha256) AS paragraphs FROM (
        SELECT title, context_sha256, any_value(context) AS context, list({
            id: id, question: question,
            answers: list_transform(list_zip(answers.text, answers.answer_start),
                lambda one: {text: one[1], answer_start: one[2]}),
            is_impossible: len(answers.text) = 0} ORDER BY id) AS qas
        FROM asked WHERE context != '' GROUP BY title, context_sha256
    ) GROUP BY title ORDER BY title
"""


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
    _check_text(release)


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


def write_squad(release: Release) -> None:
    """`<config>-<split>.json`, each page once; `UserError`: pages without text."""
    for config in release.configs(TimeQuestion, TimeProbe, ParaphrasedQuestion):
        for split in config.splits:
            if split.rows:
                name = f"{config.name}-{split.name}.json"
                written = release.files[name] = _write_document(release, name, config, split)
                if written < split.rows:
                    release.notes[_NO_TEXT] += split.rows - written
    _check_text(release)


def _write_document(release: Release, name: str, config: ConfigEntry, split: SplitEntry) -> int:
    """One document, an article a line; how many questions are in it."""
    single_split = config.model_copy(update={"splits": (split,)})
    version = f"{release.manifest.dataset} {release.manifest.version}"
    count = 0
    with release.query(_ARTICLES, {"asked": [single_split]}) as rows, release.text(name) as file:
        file.write(f'{{"version": {dumps(version)}, "data": [')
        for place, article in enumerate(rows):
            file.write(",\n" if place else "\n")
            file.write(dumps(article))
            count += sum(len(part["qas"]) for part in article["paragraphs"])
        file.write("\n]}\n")
    return count


def _check_text(release: Release) -> None:
    if not any(release.files.values()):
        hint = "make it with `text: true`, or join the pages by context_sha256"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint)
