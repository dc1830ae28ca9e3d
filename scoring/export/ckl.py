"""CKL: tables of comma-separated values and answers by id, as Jang et al. 2022 read them."""

import re
from collections.abc import Iterator

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.schema import columns as columns_of
from factdrift.builders.rows import InvariantCloze, NewCloze, NewEasyCloze, UpdatedCloze
from factdrift.scoring.export.release import Release, Row, dumps, release_blank

SENTINEL = "<extra_id_0>"
"""The gap that T5 fills in. The code of CKL looks for it as a word by itself."""


def write(release: Release) -> None:
    """The table of what the release is: InvariantLAMA, UpdatedLAMA, NewLAMA or NewLAMA-Easy.

    Paths are below their folder `data`. Of the last three also the answers that count, by id.
    """
    column_names = {column_name.name for column_name in release.configs(*_KINDS)[0].columns}
    row_type = next(
        row
        for row in _KINDS
        if column_names == {column_name.name for column_name in columns_of(row)}
    )
    table_name, source_columns, answers_file = _KINDS[row_type]
    blank_texts = (release_blank(release.manifest), BLANK)

    def rows() -> Iterator[Row]:
        for config in release.configs(row_type):
            for split in config.splits:
                yield from release.rows(split)

    table_records = (
        {
            column_head: _cell(row, column_name, blank_texts)
            for column_head, column_name in source_columns.items()
        }
        for row in rows()
    )
    release.table(table_name, tuple(source_columns), table_records)
    if answers_file:
        by_id = {row["id"]: list(row["targets"]) for row in rows()}
        with release.text(answers_file) as file:
            file.write(dumps(by_id) + "\n")
        release.files[answers_file] = len(by_id)


Blanks = tuple[str, ...]


def masked(masked_text: str, blank_texts: Blanks) -> str:
    """A query with the blank as a word by itself: `… is <extra_id_0> .`"""
    for blank_text in blank_texts:
        masked_text = masked_text.replace(blank_text, f" {SENTINEL} ")
    return re.sub(rf" *{SENTINEL} *", f" {SENTINEL} ", masked_text).strip()


def _cell(row: Row, column_name: str, blank_texts: Blanks) -> object:
    """A column of a row as a text: a query masked, the label of an item, the first of several."""
    cell_value = row[column_name]
    if column_name == "query":
        return masked(cell_value, blank_texts)
    if isinstance(cell_value, dict):
        return cell_value["label"]
    return cell_value[0] if isinstance(cell_value, list) else cell_value


_ASKED = {"unique_id": "id", "question": "question", "statement": "query"}
# Row type -> the file to write, {its column: column of the row}, the file of accepted answers.
_KINDS: dict[type, tuple[str, dict[str, str], str | None]] = {
    InvariantCloze: (
        "invariantLAMA.csv",
        {"id": "id", "input": "query", "output": "answer", "relation": "relation"},
        None,
    ),
    UpdatedCloze: (
        "updatedlama/updatedLAMA.csv",
        {**_ASKED, "old_answer": "old_answer", "new_answer": "answer"},
        "updatedlama_val_answers.json",
    ),
    NewCloze: (
        "newlama/newLAMA.csv",
        {**_ASKED, "answer": "answer"},
        "recentlama_h_val_answers.json",
    ),
    NewEasyCloze: (
        "newlama/newLAMA_easy.csv",
        {**_ASKED, "question": "questions", "answer": "answer"},
        "recentlama_val_answers.json",
    ),
}
