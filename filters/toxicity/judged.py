"""What a scorer gets wrong: false positives and missed toxic questions of one judged table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from factdrift.builders.core.config import Strict, load
from factdrift.builders.core.files import resource
from factdrift.filters.toxicity.scores import Scoring, Thresholds

EXAMPLES = 3


class JudgedTable(Strict):
    """Harmless and toxic questions by kind."""

    clean: Mapping[str, tuple[str, ...]]
    toxic: Mapping[str, tuple[str, ...]]


class Mistakes(NamedTuple):
    """How a scorer at its thresholds fares with one kind of questions."""

    toxic: Annotated[bool, "whether they should be removed"]
    kind: str
    questions: int
    wrong: Annotated[int, "harmless ones removed, or toxic ones kept"]
    examples: Annotated[tuple[str, ...], "the first few that it gets wrong"]


def judged_table(path: Path | None = None) -> JudgedTable:
    """The project's table, or that of a file; `UserError` says what is wrong with it."""
    return load(path or resource("filters/toxicity/judged.yaml"), JudgedTable)


def mistakes(scoring: Scoring, thresholds: Thresholds) -> list[Mistakes]:
    """The scorer's mistakes with each kind of the project's table, harmless kinds first."""
    table, found = judged_table(), []
    for toxic, kinds in ((False, table.clean), (True, table.toxic)):
        for kind, questions in kinds.items():
            scores = scoring.score(questions)
            gone = [thresholds.over(one) is not None for one in scores]
            wrong = [q for q, removed in zip(questions, gone, strict=True) if removed != toxic]
            found.append(Mistakes(toxic, kind, len(questions), len(wrong), tuple(wrong[:EXAMPLES])))
    return found
