"""CKL: tables of comma-separated values and answers by id, as Jang et al. 2022 read them."""

import re
from collections.abc import Callable, Iterator

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.schema import columns as columns_of
from factdrift.builders.rows import InvariantCloze, NewCloze, NewEasyCloze, UpdatedCloze
from factdrift.scoring.export.release import Release, Row, blank_of, dumps

SENTINEL = "<extra_id_0>"
"""What T5 fills in. Their code looks for it as a word by itself."""


def write(release: Release) -> None:
    """The table of what the release is: InvariantLAMA, UpdatedLAMA, NewLAMA or NewLAMA-Easy.

    Paths are below their folder `data`. Of the last three also the answers that count, by id.
    """
    names = {column.name for column in release.configs(*_KINDS)[0].columns}
    kind = next(row for row in _KINDS if names == {column.name for column in columns_of(row)})
    name, fields, answers = _KINDS[kind]
    blanks = (blank_of(release.manifest), BLANK)

    def rows() -> Iterator[Row]:
        for config in release.configs(kind):
            for split in config.splits:
                yield from release.rows(split)

    records = ({head: value(row, blanks) for head, value in fields.items()} for row in rows())
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


_Field = Callable[[Row, Blanks], object]


def _column(name: str) -> _Field:
    return lambda row, _: row[name]


def _statement(row: Row, blanks: Blanks) -> str:
    return masked(row["query"], blanks)


_ASKED: dict[str, _Field] = {
    "unique_id": _column("id"),
    "question": _column("question"),
    "statement": _statement,
}
_ANSWER: dict[str, _Field] = {"answer": _column("answer")}
_KINDS: dict[type, tuple[str, dict[str, _Field], str | None]] = {
    InvariantCloze: (
        "invariantLAMA.csv",
        {
            "id": _column("id"),
            "input": _statement,
            "output": lambda row, _: row["answer"]["label"],
            "relation": _column("relation"),
        },
        None,
    ),
    UpdatedCloze: (
        "updatedlama/updatedLAMA.csv",
        {**_ASKED, "old_answer": _column("old_answer"), "new_answer": _column("answer")},
        "updatedlama_val_answers.json",
    ),
    NewCloze: (
        "newlama/newLAMA.csv",
        {**_ASKED, **_ANSWER},
        "recentlama_h_val_answers.json",
    ),
    NewEasyCloze: (
        "newlama/newLAMA_easy.csv",
        {**_ASKED, "question": lambda row, _: row["questions"][0], **_ANSWER},
        "recentlama_val_answers.json",
    ),
}
"""Row type -> file, its columns, and the file of the answers that count."""
