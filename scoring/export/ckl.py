"""CKL: tables of comma-separated values and answers by id, as Jang et al. 2022 read them."""

import re
from collections.abc import Iterator

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.schema import columns as columns_of
from factdrift.builders.rows import InvariantCloze, NewCloze, NewEasyCloze, UpdatedCloze
from factdrift.scoring.export.release import Release, Row, dumps, release_blank

SENTINEL = "<extra_id_0>"
"""What T5 fills in. Their code looks for it as a word by itself."""


def write(release: Release) -> None:
    """The table of what the release is: InvariantLAMA, UpdatedLAMA, NewLAMA or NewLAMA-Easy.

    Paths are below their folder `data`. Of the last three also the answers that count, by id.
    """
    names = {column.name for column in release.configs(*_KINDS)[0].columns}
    kind = next(row for row in _KINDS if names == {column.name for column in columns_of(row)})
    name, fields, answers = _KINDS[kind]
    blanks = (release_blank(release.manifest), BLANK)

    def rows() -> Iterator[Row]:
        for config in release.configs(kind):
            for split in config.splits:
                yield from release.rows(split)

    records = (
        {head: _cell(row, column, blanks) for head, column in fields.items()} for row in rows()
    )
    release.table(name, tuple(fields), records)
    if answers:
        by_id = {row["id"]: list(row["targets"]) for row in rows()}
        with release.text(answers) as file:
            file.write(dumps(by_id) + "\n")
        release.files[answers] = len(by_id)


Blanks = tuple[str, ...]


def masked(text: str, blanks: Blanks) -> str:
    """A query with the blank as a word by itself: `… is <extra_id_0> .`"""
    for blank in blanks:
        text = text.replace(blank, f" {SENTINEL} ")
    return re.sub(rf" *{SENTINEL} *", f" {SENTINEL} ", text).strip()


def _cell(row: Row, column: str, blanks: Blanks) -> object:
    """A column of a row as a text: a query masked, the label of an item, the first of several."""
    value = row[column]
    if column == "query":
        return masked(value, blanks)
    if isinstance(value, dict):
        return value["label"]
    return value[0] if isinstance(value, list) else value


_ASKED = {"unique_id": "id", "question": "question", "statement": "query"}
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
"""Row type -> file, its columns with those of the row, and the file of the answers that count."""
