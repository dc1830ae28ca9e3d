"""CKL: tables of comma-separated values and answers by id, as Jang et al. 2022 read them."""

import re
from collections.abc import Callable, Iterator

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.schema import columns as columns_of
from factdrift.builders.rows import InvariantCloze, NewCloze, NewEasyCloze, UpdatedCloze
from factdrift.scoring.export.release import Exported, Release, Row, blank_of, dumps

SENTINEL = "<extra_id_0>"
"""What T5 fills in. Their code looks for it as a word by itself."""


def write(release: Release) -> Exported:
    """The table of what the release is: InvariantLAMA, UpdatedLAMA, NewLAMA or NewLAMA-Easy.

    Paths are below their folder `data`. Of the last three also the answers that count, by id.
    """
    names = {column.name for column in release.configs(*_KINDS)[0].columns}
    kind = next(row for row in _KINDS if names == {column.name for column in columns_of(row)})
    name, heads, record, answers = _KINDS[kind]
    blanks = (blank_of(release.manifest), BLANK)

    def rows() -> Iterator[Row]:
        for config in release.configs(kind):
            for split in config.splits:
                yield from release.rows(split)

    files = {name: release.table(name, heads, (record(row, blanks) for row in rows()))}
    if answers:
        by_id = {row["id"]: list(row["targets"]) for row in rows()}
        with release.text(answers) as file:
            file.write(dumps(by_id) + "\n")
        files[answers] = len(by_id)
    return Exported(files)


Blanks = tuple[str, ...]


def masked(text: str, blanks: Blanks) -> str:
    """A query with the blank as a word by itself: `… is <extra_id_0> .`"""
    for blank in blanks:
        text = text.replace(blank, f" {SENTINEL} ")
    return re.sub(rf" *{SENTINEL} *", f" {SENTINEL} ", text).strip()


def _invariant(row: Row, blanks: Blanks) -> Row:
    return {
        "id": row["id"],
        "input": masked(row["query"], blanks),
        "output": row["answer"]["label"],
        "relation": row["relation"],
    }


def _updated(row: Row, blanks: Blanks) -> Row:
    return {
        "unique_id": row["id"],
        "question": row["question"],
        "statement": masked(row["query"], blanks),
        "old_answer": row["old_answer"],
        "new_answer": row["answer"],
    }


def _new(row: Row, blanks: Blanks) -> Row:
    return {
        "unique_id": row["id"],
        "question": row["question"],
        "statement": masked(row["query"], blanks),
        "answer": row["answer"],
    }


def _easy(row: Row, blanks: Blanks) -> Row:
    return {
        "unique_id": row["id"],
        "question": row["questions"][0],
        "statement": masked(row["query"], blanks),
        "answer": row["answer"],
    }


_Kind = tuple[str, tuple[str, ...], Callable[[Row, Blanks], Row], str | None]
_KINDS: dict[type, _Kind] = {
    InvariantCloze: (
        "invariantLAMA.csv",
        ("id", "input", "output", "relation"),
        _invariant,
        None,
    ),
    UpdatedCloze: (
        "updatedlama/updatedLAMA.csv",
        ("unique_id", "question", "statement", "old_answer", "new_answer"),
        _updated,
        "updatedlama_val_answers.json",
    ),
    NewCloze: (
        "newlama/newLAMA.csv",
        ("unique_id", "question", "statement", "answer"),
        _new,
        "recentlama_h_val_answers.json",
    ),
    NewEasyCloze: (
        "newlama/newLAMA_easy.csv",
        ("unique_id", "question", "statement", "answer"),
        _easy,
        "recentlama_val_answers.json",
    ),
}
