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
    unanswerable question `['']`. `idx` is the original's: page, property and a number within the
    file (`/wiki/Ann_Lee#P54#0`); `id` is the row's, by which predictions are scored. `UserError`:
    pages without text.
    """
    for config in release.configs(TimeQuestion, ParaphrasedQuestion):
        human_config = "paraphrase_of" in {level_column.name for level_column in config.columns}
        for split in config.splits:
            level_names = ("easy", "hard") if human_config else (config.name,)
            for level_name in level_names if split.rows else ():
                rows = (row for row in release.rows(split) if row["difficulty"] == level_name)
                file_name = f"{'human_' * human_config}{split.name}.{level_name}.json.gzip"
                release.json_lines(file_name, _records(rows, release.notes))
    _check_text(release)


def _records(rows: Iterator[Row], export_notes: Counter[str]) -> Iterator[Row]:
    questions_of_page: Counter[str] = Counter()
    for row in rows:
        if not row["context"]:
            export_notes[_NO_TEXT] += 1
            continue
        answer_texts, answer_starts = (row["answers"]["text"], row["answers"]["answer_start"])
        answer_ends = [
            answer_start + len(page_text)
            for page_text, answer_start in zip(answer_texts, answer_starts, strict=True)
        ]
        page_path = row["title"].replace(" ", "_")
        # A relation of some classes of objects is its property in the original: `P54-club`.
        property_id = row["relation"].partition("-")[0]
        page_and_property = f"/wiki/{page_path}#{property_id}"
        question_number = questions_of_page[page_and_property]
        questions_of_page[page_and_property] += 1
        yield {
            "idx": f"{page_and_property}#{question_number}",
            "id": row["id"],
            "question": row["question"],
            "context": row["context"],
            "targets": answer_texts or [""],
            "paragraphs": [
                {"title": row["title"], "text": page_text}
                for page_text in row["context"].split("\n")
            ],
            "level": row["difficulty"],
            "from": answer_starts or [0],
            "end": answer_ends or [0],
        }


def write_squad(release: Release) -> None:
    """`<config>-<split>.json`, each page once; `UserError`: pages without text."""
    for config in release.configs(TimeQuestion, TimeProbe, ParaphrasedQuestion):
        for split in config.splits:
            if split.rows:
                file_name = f"{config.name}-{split.name}.json"
                written_ids = release.files[file_name] = _write_document(
                    release, file_name, config, split
                )
                if written_ids < split.rows:
                    release.notes[_NO_TEXT] += split.rows - written_ids
    _check_text(release)


def _write_document(
    release: Release, file_name: str, config: ConfigEntry, split: SplitEntry
) -> int:
    """One document, an article a line; how many questions are in it."""
    single_split = config.model_copy(update={"splits": (split,)})
    squad_version = f"{release.manifest.dataset} {release.manifest.version}"
    question_count = 0
    with (
        release.query(_ARTICLES, {"asked": [single_split]}) as rows,
        release.text(file_name) as file,
    ):
        file.write(f'{{"version": {dumps(squad_version)}, "data": [')
        for article_number, article in enumerate(rows):
            file.write(",\n" if article_number else "\n")
            file.write(dumps(article))
            question_count += sum(
                len(article_part["qas"]) for article_part in article["paragraphs"]
            )
        file.write("\n]}\n")
    return question_count


def _check_text(release: Release) -> None:
    if not any(release.files.values()):
        hint_text = "make it with `text: true`, or join the pages by context_sha256"
        raise UserError("a release without the text of pages", where=release.folder, hint=hint_text)
