"""An edit with all that is asked about it, as the formats of editors take it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from factdrift.reasoning.edits.rows import KnowledgeEdit
from factdrift.scoring.export.release import Release, Row

JOIN = " and "
"""Between the names of several objects that one edit writes."""
ASKED = ("rephrases", "portability", "reverse", "locality")


class EditRecord(NamedTuple):
    """An edit of a release and its questions by their config."""

    edit: Row
    questions: Mapping[str, Sequence[Row]]
    answer_before: str | None
    """What the model said before, where predictions are given."""

    @property
    def target_new(self) -> str:
        """The names of the objects that an edit writes: those that are new."""
        still_true = {answer["id"] for answer in self.edit["still_true"]}
        return joined_labels(
            [answer for answer in self.edit["answers"] if answer["id"] not in still_true]
        )

    @property
    def ground_truth(self) -> str | None:
        """The names of the objects that held before and do not any more; None: there are none."""
        removed_ids = set(self.edit["removed"])
        removed = [
            answer for answer in self.edit["previous_answers"] if answer["id"] in removed_ids
        ]
        return joined_labels(removed) or None

    @property
    def common_fields(self) -> dict[str, Any]:
        """What records have beside the fields of a format, which loaders pass over."""
        fields: dict[str, Any] = {
            "row": self.edit["id"],
            "sequence": self.edit["sequence"],
            "period": self.edit["period"],
        }
        if self.answer_before is not None:
            fields["answer_before"] = self.answer_before
        return fields


def joined_labels(answers: Sequence[Mapping[str, Any]]) -> str:
    """The labels of answers as one text: `Saskia Esken and Norbert Walter-Borjans`."""
    return JOIN.join(dict.fromkeys(answer["label"] for answer in answers))


def edit_records(release: Release) -> Iterator[EditRecord]:
    """Yield the edits of a release in order, each with its questions.

    Rows stand in the order of the sequence in every config, so that few are in memory at a time.
    `UserError`: the release has no edits.
    """
    configs = release.configs(KnowledgeEdit)
    question_configs = {
        config.name: config for config in release.manifest.configs if config.name in ASKED
    }
    waiting_rows = {
        name: _ByEdit(row for split in config.splits if split.rows for row in release.rows(split))
        for name, config in question_configs.items()
    }
    for config in configs:
        for split in config.splits:
            for edit in release.rows(split):
                questions = {name: rows.of(edit["sequence"]) for name, rows in waiting_rows.items()}
                yield EditRecord(edit, questions, release.answers_before.get(edit["id"]))


class _ByEdit:
    """Rows of a config that are read as the sequence of edits goes on."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next: Row | None = next(rows, None)

    def of(self, sequence: int) -> list[Row]:
        """Return the rows of an edit, whose place is after that of the one before."""
        own_rows: list[Row] = []
        while self._next is not None and self._next["sequence"] <= sequence:
            if self._next["sequence"] == sequence:
                own_rows.append(self._next)
            self._next = next(self._rows, None)
        return own_rows
