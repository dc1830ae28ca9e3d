"""The `my-dataset` dataset: a question a line of a file of facts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from factdrift.kit import (
    RENDERED,
    ColumnRoles,
    Dataset,
    DatasetBuilder,
    Dropped,
    FromParquet,
    Run,
    Source,
    Step,
    Table,
    UserError,
    Workspace,
    row_id,
    writing,
)


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question about one subject on one day."""

    roles: ClassVar = ColumnRoles(subject="subject", time=("day",), strata=("relation",))
    """What the columns are for: scores and harness tasks read it."""

    id: Annotated[str, "content hash of subject, relation and day"]
    prompt: Annotated[str, "what a model is asked: the day, and the statement", RENDERED]
    targets: Annotated[tuple[str, ...], "accepted answers, the best first", RENDERED]
    subject: Annotated[str, "name of the subject"]
    relation: Annotated[str, "name of the relation"]
    day: Annotated[date, "day that is asked about"]


class FactQuestions(Step):
    """`questions.parquet`: a `FactQuestion` a fact, sorted by id; `dropped.parquet`."""

    name: ClassVar[str] = "my-dataset-questions"

    facts: Source

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the facts; one without an answer is left out, and said."""
        rows: dict[str, FactQuestion] = {}
        with writing(out / "dropped.parquet", Dropped) as dropped:
            for place, fact in _facts(self.facts.files):
                if not fact["answers"]:
                    dropped.append(Dropped(step="read", reason="no_answer", item=place))
                    continue
                day = date.fromisoformat(fact["day"])
                row = FactQuestion(
                    id=row_id(fact["subject"], fact["relation"], fact["day"]),
                    prompt=f"On {day.isoformat()}: {fact['subject']} {fact['relation']} _X_.",
                    targets=tuple(fact["answers"]),
                    subject=fact["subject"],
                    relation=fact["relation"],
                    day=day,
                )
                rows[row.id] = row
        with writing(out / "questions.parquet", FactQuestion) as questions:
            for _, row in sorted(rows.items()):
                questions.append(row)


class MyDataset(DatasetBuilder):
    """A question a fact of the input `facts`: JSON lines of subject, relation, day and answers."""

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ()

    builder: Literal["my-dataset"]

    def build(self, run: Run) -> Dataset:
        """One step; its table is the config `all`."""
        step_folder = run.folder(FactQuestions(facts=run.inputs["facts"]))
        questions = {"test": FromParquet(step_folder / "questions.parquet")}
        return Dataset(
            tables=(Table("all", FactQuestion, "A question a fact.", questions),),
            dropped=(FromParquet(step_folder / "dropped.parquet"),),
        )


def _facts(files: tuple[Path, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """The facts, each with `file:line`. `UserError`: a line is no fact."""
    for path in files:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    fact = json.loads(line)
                    fact["subject"], fact["relation"], date.fromisoformat(fact["day"])
                    fact["answers"] = [str(answer) for answer in fact["answers"]]
                except (ValueError, KeyError, TypeError) as error:
                    hint_text = (
                        'write {"subject": …, "relation": …, "day": "2024-12-31", "answers": […]}'
                    )
                    text = f"not a fact: {error}"
                    raise UserError(text, where=path, line=number, hint=hint_text) from None
                yield f"{path.name}:{number}", fact
