"""`factdrift bands`: thresholds of a toxicity scorer from people's judgments of score bands.

StreamingQA, section 7: from 1.0 down in bands of 0.05, two people judge 50 rows a band, until two
neighbouring bands have less than 30 % toxic (`annotation.bands`). The same command is run
again and again: it reads what was judged, and makes the next batch or says the thresholds.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from factdrift.annotation.bands import JudgedBand, rows_to_judge, threshold_by_bands
from factdrift.annotation.batch import BatchManifest, sent_ledger
from factdrift.annotation.dataset import DatasetRows, open_dataset, require_columns, row_id_of
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import Layout, load_layout
from factdrift.annotation.order import BandRule, BatchOrder
from factdrift.annotation.quality.agreement import judgment_answers
from factdrift.annotation.results import JudgmentTable
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import reading
from factdrift.builders.release import card, manifest
from factdrift.filters.toxicity.scores import ATTRIBUTES
from factdrift.filters.toxicity_filter import Toxicity

LAYOUT, SNIPPET = "judge_toxicity", "thresholds.yaml"
# The question and the answers of a row, as annotators see them.
ShownText = tuple[str, tuple[str, ...]]
# The detail of a dropped row: scores, then the question, as `toxicity=0.91 insult=0.40: Who?`;
# `toxicity: Who?` has no score and does not match.
_DETAIL = re.compile(rf"((?:(?:{'|'.join(ATTRIBUTES)})=[01]\.\d\d ?)+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class AttributeBands:
    """The state of one attribute: its judged bands from the highest down.

    `rows` counts the rows that were shown of each band, by the band's lower end. Either
    `threshold` is found, or `next_band` is to be judged, and its rows `lacking` are to be sent.
    """

    name: str
    bands: tuple[JudgedBand, ...]
    rows: Mapping[float, int]
    threshold: float | None = None
    next_band: float | None = None
    lacking: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The report on the attribute as lines of text."""
        for band in self.bands:
            yield (
                f"{self.name}: from {band.low:.2f}: {self.rows[band.low]} rows, {band.toxic} of "
                f"{band.judged} judgments say toxic ({100 * band.share:.0f} %)"
            )
        if self.threshold is None:
            count = len(self.lacking)
            yield f"{self.name}: from {self.next_band:.2f}: {count} rows to be judged"
        else:
            yield f"{self.name}: threshold {self.threshold:.2f}"
            few = BandRule().rows
            thin = [band for band in self.bands if band.judged < few]
            if thin:
                listed = ", ".join(f"{band.low:.2f} ({band.judged})" for band in thin)
                yield f"{self.name}: of fewer than {few} judgments, too few: {listed}"


@dataclass(frozen=True)
class ThresholdReport:
    """The outcome of a run. `sent` counts the rows that were sent and lack judgments still."""

    attributes: tuple[AttributeBands, ...]
    batch: tuple[Path, BatchManifest] | None
    sent: int
    snippet: Path | None

    def lines(self) -> list[str]:
        """The report as lines of text."""
        out: list[str] = []
        for attribute in self.attributes:
            out += attribute.lines()
        if self.sent:
            out.append(f"{self.sent} rows are sent and not judged enough; --again sends them anew")
        return out + ([f"thresholds: {display_path(self.snippet)}"] if self.snippet else [])


def next_bands(order: BatchOrder, rule: BandRule) -> ThresholdReport:
    """Find the threshold of every attribute, or make the batch of rows that it still needs.

    `order.dataset` names a release of StreamingQA, or a file with its columns. Rows come from it
    and from those that its filter `toxicity` dropped; for the latter `dropped.parquet` holds the
    score to two digits, and no answers. One judgment covers all attributes; rows judged for one
    are not sent again. `UserError`: no row has a score.
    """
    layout = load_layout(order.layout)
    is_release = not Path(order.dataset or "").is_file()
    config = layout.config if is_release else None
    dataset = open_dataset(order.dataset or "", order.releases, config=config)
    release_folder = dataset.files[0].parents[2] if is_release else None
    bands_by_attribute = _draw_bands(layout, dataset, release_folder, order.seed, rule)
    texts = _texts_of_drawn_rows(dataset, release_folder, bands_by_attribute)
    judged = _judged_answers(order.judgments / order.layout, texts)
    attributes = tuple(
        _judge_bands(name, rows_by_band, texts, judged, layout, rule)
        for name, rows_by_band in bands_by_attribute.items()
        if rows_by_band
    )
    lacking_rows = {row for attribute in attributes for row in attribute.lacking}
    # rows that show the same text are judged once, by the one with the smallest id
    row_by_text = {texts[row]: row for row in sorted(lacking_rows, reverse=True)}
    to_send = _unsent_rows(order, texts, row_by_text)
    batch = _send(order, dataset, {row: texts[row] for row in to_send}) if to_send else None
    snippet = None
    if all(attribute.threshold is not None for attribute in attributes):
        snippet = _write_snippet(order, rule, dataset.name, release_folder, attributes)
    return ThresholdReport(attributes, batch, len(row_by_text) - len(to_send), snippet)


def _draw_bands(
    layout: Layout, dataset: DatasetRows, release_folder: Path | None, seed: int, rule: BandRule
) -> dict[str, dict[float, list[str]]]:
    """For each attribute that the layout asks for, the row ids to judge in each band of scores."""
    scores: dict[str, list[tuple[str, float]]] = {}
    for name in ATTRIBUTES:
        if name in layout.answers:
            scores[name] = []
    for row, row_scores, _ in _scored_rows(dataset, release_folder):
        for name in row_scores.keys() & scores:
            scores[name].append((row, row_scores[name]))
    return {name: rows_to_judge(pairs, seed, rule) for name, pairs in scores.items()}


def _texts_of_drawn_rows(
    dataset: DatasetRows,
    release_folder: Path | None,
    bands_by_attribute: Mapping[str, Mapping[float, Sequence[str]]],
) -> dict[str, ShownText]:
    """The question and answers of every row drawn for a band; `UserError` where none was drawn."""
    drawn: set[str] = set()
    for rows_by_band in bands_by_attribute.values():
        drawn.update(*rows_by_band.values())
    if not drawn:
        hint = "a recipe with the filter `toxicity` keeps its scores"
        raise UserError(f"no row of {dataset.name} has a score", hint=hint)
    rows = _scored_rows(dataset, release_folder)
    return {row: text for row, _, text in rows if row in drawn}


def _unsent_rows(
    order: BatchOrder, texts: Mapping[str, ShownText], row_by_text: Mapping[ShownText, str]
) -> list[str]:
    """The rows whose text no earlier batch sent; all of them with `order.again`."""
    if order.again:
        return sorted(row_by_text.values())
    sent_rows = sent_ledger(order.out / order.layout).rows
    sent_texts = {texts[row] for row in sent_rows if row in texts}
    return sorted(row for text, row in row_by_text.items() if text not in sent_texts)


def _judge_bands(
    name: str,
    rows_by_band: Mapping[float, Sequence[str]],
    texts: Mapping[str, ShownText],
    judged: Mapping[ShownText, Sequence[Mapping[str, Any]]],
    layout: Layout,
    rule: BandRule,
) -> AttributeBands:
    """Go down the bands of an attribute until the rule is met or a band lacks judgments."""
    row_counts = {low: len(rows) for low, rows in rows_by_band.items()}
    threshold, bands = threshold_by_bands((), rule)
    votes: list[tuple[float, bool]] = []
    for low, rows in rows_by_band.items():
        lacking = [row for row in rows if len(judged.get(texts[row], ())) < layout.assignments]
        if lacking:
            return AttributeBands(name, bands, row_counts, next_band=low, lacking=tuple(lacking))
        for row in rows:
            votes += [(low, bool(answers.get(name))) for answers in judged[texts[row]]]
        threshold, bands = threshold_by_bands(votes, rule)
        if threshold is not None:
            break
    if threshold is None:  # every band is judged, and the last one is toxic, too
        threshold = bands[-1].low
    return AttributeBands(name, bands, row_counts, threshold)


def _judged_answers(
    folder: Path, texts: Mapping[str, ShownText]
) -> dict[ShownText, list[Mapping[str, Any]]]:
    """The answers of all judgments that count, by the text that was judged."""
    answers_by_text: dict[ShownText, list[Mapping[str, Any]]] = {}
    judgments = JudgmentTable(folder).by_id
    for judgment_id in sorted(judgments):
        judgment = judgments[judgment_id]
        if judgment.counted and judgment.row in texts:
            answers = judgment_answers(judgment)
            answers_by_text.setdefault(texts[judgment.row], []).append(answers)
    return answers_by_text


def _send(
    order: BatchOrder, dataset: DatasetRows, rows: Mapping[str, ShownText]
) -> tuple[Path, BatchManifest]:
    name = dataset.name.replace(" ", "-").split("/")[-1].removesuffix(".parquet")
    path = order.build / "bands" / f"{name}.jsonl"
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for row, (question, answers) in rows.items():
            file.write(json.dumps({"id": row, "question": question, "answers": answers}) + "\n")
    return make_batch(replace(order, dataset=str(path), number=len(rows)))


def _write_snippet(
    order: BatchOrder,
    rule: BandRule,
    dataset: str,
    release_folder: Path | None,
    attributes: Sequence[AttributeBands],
) -> Path:
    """Write `thresholds.yaml`, the filter for a recipe with the report as a comment above it."""
    head = (
        f"# By the band rule on {dataset}: up to {rule.rows} rows a band of "
        f"{rule.width}, until two neighbours\n# have less than {rule.share:.0%} toxic. "
        "For this scorer alone.\n"
    )
    thresholds: dict[str, float] = {}
    for attribute in attributes:
        head += "".join(f"# {line}\n" for line in attribute.lines())
        if attribute.threshold is not None:
            thresholds[attribute.name] = attribute.threshold
    path = order.judgments / order.layout / SNIPPET
    with replacing(path) as temporary:
        text = head + recipe_filter(release_folder, thresholds)
        temporary.write_text(text, "utf-8", newline="\n")
    return path


# The id of a row, its scores by attribute, and its text.
ScoredRow = tuple[str, dict[str, float], ShownText]


def _scored_rows(dataset: DatasetRows, release_folder: Path | None) -> Iterator[ScoredRow]:
    """Yield the rows of a dataset that have toxicity scores, then those that the filter dropped.

    `release_folder` is the folder of the release, where the dataset is one. `UserError`: a score
    is not from 0 to 1.
    """
    require_columns(dataset, ["id", "question"])
    columns = {f"toxicity_{name}": name for name in ATTRIBUTES}
    for _, row in dataset.rows(["id", "question", "answers", *columns]):
        scores: dict[str, float] = {}
        for column, name in columns.items():
            score = row.get(column)
            if score is None:
                continue
            if not isinstance(score, int | float) or not 0 <= score <= 1:
                text = f"{column} of row {row_id_of(row)} is not from 0 to 1"
                raise UserError(text, where=dataset.name)
            scores[name] = score
        answers = tuple(map(str, row.get("answers") or ()))
        yield row_id_of(row), scores, (str(row.get("question") or ""), answers)
    if release_folder is not None and (release_folder / card.DROPPED).is_file():
        yield from _dropped_rows(release_folder / card.DROPPED)


def _dropped_rows(path: Path) -> Iterator[ScoredRow]:
    """Yield the rows that the filter `toxicity` dropped, with their question and no answers."""
    with reading(path) as file:
        for batch in file.iter_batches(columns=["step", "item", "reason", "score", "detail"]):
            for row in batch.to_pylist():
                match = _DETAIL.fullmatch(row["detail"] or "")
                if row["step"] != "toxicity" or match is None:
                    continue
                scores: dict[str, float] = {}
                for pair in match[1].split():
                    name, score = pair.split("=")
                    scores[name] = float(score)
                # the detail has two digits; the score that dropped the row is stored in full
                over_threshold = row["reason"].removeprefix("toxic_")
                if over_threshold in scores and row["score"] is not None:
                    scores[over_threshold] = row["score"]
                yield row["item"], scores, (match[2], ())


def recipe_filter(release_folder: Path | None, thresholds: Mapping[str, float]) -> str:
    """The filter of a recipe with these thresholds as YAML, its scorer as the release had it."""
    filters: Any = None
    if release_folder is not None:
        filters = manifest.load_manifest(release_folder).parameters.get("filters")
    value: Any = {"thresholds": dict(thresholds)}
    for settings in filters or ():
        if settings.get("filter") == "toxicity":
            scorer = Toxicity.model_validate(settings).scorer
            scorer_settings = scorer.model_dump(
                mode="json", exclude_defaults=True, exclude={"scorer", "thresholds"}
            )
            scorer_value = {"scorer": scorer.scorer, **scorer_settings, **value}
            value = [{"filter": "toxicity", "scorer": scorer_value}]
            break
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=96)
