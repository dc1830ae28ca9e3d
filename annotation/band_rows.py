"""Rows with toxicity scores: those of a release, and those that its filter dropped."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from annotation.dataset import Dataset, open_dataset, row_name
from annotation.draw import require
from builders.errors import UserError
from builders.release import card, manifest
from builders.schema import reading
from filters.toxicity import ATTRIBUTES, SCORERS

Text = tuple[str, tuple[str, ...]]
"""What is shown of a row: its question and its answers."""
_DETAIL = re.compile(rf"((?:(?:{'|'.join(ATTRIBUTES)})=[01]\.\d\d ?)+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Rows:
    """A dataset, and the folder of its release, where it is one."""

    dataset: Dataset
    folder: Path | None

    def scores(self, name: str) -> Iterator[tuple[str, float]]:
        """Row id and score of one attribute; `UserError` for a score that is not from 0 to 1."""
        column = f"toxicity_{name}"
        for _, row in self.dataset.rows(["id", column]):
            score = row.get(column)
            if score is not None:
                if not isinstance(score, int | float) or not 0 <= score <= 1:
                    text = f"{column} of row {row_name(row)} is not from 0 to 1"
                    raise UserError(text, where=self.dataset.name)
                yield row_name(row), score
        for lost, scores, _ in self._lost():
            if name in scores:
                yield lost, scores[name]

    def texts(self, wanted: set[str]) -> dict[str, Text]:
        """Question and answers of these rows; one that was dropped has no answers."""
        require(self.dataset, ["id", "question"])
        found: dict[str, Text] = {}
        for _, row in self.dataset.rows(["id", "question", "answers"]):
            if row_name(row) in wanted:
                answers = tuple(map(str, row.get("answers") or ()))
                found[row_name(row)] = str(row.get("question") or ""), answers
        found.update((row, (question, ())) for row, _, question in self._lost() if row in wanted)
        return found

    def _lost(self) -> Iterator[tuple[str, dict[str, float], str]]:
        """Id, scores and question of the rows that the filter dropped."""
        for row in self._dropped():
            match = _DETAIL.fullmatch(row["detail"] or "")
            if row["step"] == "toxicity" and match:
                pairs = (pair.split("=") for pair in match[1].split())
                scores = {name: float(score) for name, score in pairs}
                over = row["reason"].removeprefix("toxic: ")
                if over in scores and row["score"] is not None:
                    scores[over] = row["score"]
                yield row["item"], scores, match[2]

    def _dropped(self) -> Iterator[dict[str, Any]]:
        path = self.folder / card.DROPPED if self.folder else None
        if path is None or not path.is_file():
            return
        with reading(path) as file:
            for batch in file.iter_batches(columns=["step", "item", "reason", "score", "detail"]):
                yield from batch.to_pylist()


def open_rows(given: str, releases: Path, config: str | None) -> Rows:
    """The rows of a release (all splits of a config), or of a Parquet or JSONL file."""
    released = not Path(given).is_file()
    dataset = open_dataset(given, releases, config=config if released else None)
    return Rows(dataset, dataset.files[0].parents[2] if released else None)


def recipe_of(rows: Rows, thresholds: Mapping[str, float]) -> str:
    """The filter of a recipe with these thresholds, its scorer as the release had it, as YAML."""
    built: Any = manifest.load(rows.folder).parameters.get("filters") if rows.folder else None
    value: Any = {"thresholds": dict(thresholds)}
    for one in built or ():
        if one.get("filter") == "toxicity":
            name = one["scorer"]["scorer"]
            kept = SCORERS[name].model_validate(one["scorer"])
            own = kept.model_dump(
                mode="json", exclude_defaults=True, exclude={"scorer", "thresholds"}
            )
            scorer = {"scorer": name, **own, **value}
            value = [{"filter": "toxicity", "scorer": scorer, "text": one["text"]}]
            break
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=96)
