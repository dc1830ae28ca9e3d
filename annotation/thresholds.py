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
ShownText = tuple[str, tuple[str, ...]]
"""What is shown of a row: its question and its answers."""
_DETAIL = re.compile(rf"((?:(?:{'|'.join(ATTRIBUTES)})=[01]\.\d\d ?)+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class AttributeBands:
    """Where one attribute stands. `bands` are judged, from the highest down; `rows`: shown of each.

    Either `threshold` is found, or `next_band` is to be judged, and of it the rows `lacking`.
    """

    name: str
    bands: tuple[JudgedBand, ...]
    rows: Mapping[float, int]
    threshold: float | None = None
    next_band: float | None = None
    lacking: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
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
            if thin := [f"{b.low:.2f} ({b.judged})" for b in self.bands if b.judged < few]:
                yield f"{self.name}: of fewer than {few} judgments, too few: {', '.join(thin)}"


@dataclass(frozen=True)
class ThresholdReport:
    """What a run came to. `sent`: rows that are out and not judged enough yet."""

    attributes: tuple[AttributeBands, ...]
    batch: tuple[Path, BatchManifest] | None
    sent: int
    snippet: Path | None

    def lines(self) -> list[str]:
        out = [line for attribute in self.attributes for line in attribute.lines()]
        if self.sent:
            out.append(f"{self.sent} rows are sent and not judged enough; --again sends them anew")
        return out + ([f"thresholds: {display_path(self.snippet)}"] if self.snippet else [])


def next_bands(order: BatchOrder, rule: BandRule) -> ThresholdReport:
    """Where every attribute stands; makes a batch where one has unsent rows to be judged.

    `order.dataset` names a release of StreamingQA, or a file with its columns. Rows are those of
    it and those that its filter `toxicity` dropped: these have two digits of a score in
    `dropped.parquet`, and no answer. Each attribute has rows of its own, a judgment tells of all:
    what was judged for another attribute is not asked again. `UserError`: no row has a score.
    """
    layout = load_layout(order.layout)
    released = not Path(order.dataset or "").is_file()
    config = layout.config if released else None
    dataset = open_dataset(order.dataset or "", order.releases, config=config)
    folder = dataset.files[0].parents[2] if released else None
    asked = [name for name in ATTRIBUTES if name in layout.answers]
    scores: dict[str, list[tuple[str, float]]] = {name: [] for name in asked}
    for row, own, _ in _scored_rows(dataset, folder):
        for name in own.keys() & scores:
            scores[name].append((row, own[name]))
    bands_of = {name: rows_to_judge(found, order.seed, rule) for name, found in scores.items()}
    wanted = {row for bands in bands_of.values() for ids in bands.values() for row in ids}
    if not wanted:
        hint = "a recipe with the filter `toxicity` keeps its scores"
        raise UserError(f"no row of {dataset.name} has a score", hint=hint)
    texts = {row: text for row, _, text in _scored_rows(dataset, folder) if row in wanted}
    judged = _judged_answers(order.judgments / order.layout, texts)
    found = tuple(
        _judge_bands(name, bands, texts, judged, layout, rule)
        for name, bands in bands_of.items()
        if bands
    )
    lacking = {row for attribute in found for row in attribute.lacking}
    sent = sent_ledger(order.out / order.layout).rows
    sent_texts = {texts[row] for row in sent if row in texts}
    fresh = {texts[row]: row for row in sorted(lacking, reverse=True)}
    send = sorted(row for text, row in fresh.items() if order.again or text not in sent_texts)
    batch = _send(order, dataset, {row: texts[row] for row in send}) if send else None
    settled = all(attribute.threshold is not None for attribute in found)
    snippet = _write_snippet(order, rule, dataset.name, folder, found) if settled else None
    return ThresholdReport(found, batch, len(fresh) - len(send), snippet)


def _judge_bands(
    name: str,
    rows_of: Mapping[float, Sequence[str]],
    texts: Mapping[str, ShownText],
    judged: Mapping[ShownText, Sequence[Mapping[str, Any]]],
    layout: Layout,
    rule: BandRule,
) -> AttributeBands:
    row_counts = {low: len(rows) for low, rows in rows_of.items()}
    threshold, bands = threshold_by_bands((), rule)
    votes: list[tuple[float, bool]] = []
    for low, rows in rows_of.items():
        lacking = tuple(r for r in rows if len(judged.get(texts[r], ())) < layout.assignments)
        if lacking:
            return AttributeBands(name, bands, row_counts, next_band=low, lacking=lacking)
        votes += [(low, bool(a.get(name))) for row in rows for a in judged[texts[row]]]
        threshold, bands = threshold_by_bands(votes, rule)
        if threshold is not None:
            break
    return AttributeBands(
        name, bands, row_counts, bands[-1].low if threshold is None else threshold
    )


def _judged_answers(
    folder: Path, texts: Mapping[str, ShownText]
) -> dict[ShownText, list[Mapping[str, Any]]]:
    found: dict[ShownText, list[Mapping[str, Any]]] = {}
    for one in sorted(JudgmentTable(folder).by_id.values(), key=lambda one: one.id):
        if one.counted and one.row in texts:
            found.setdefault(texts[one.row], []).append(judgment_answers(one))
    return found


def _send(
    order: BatchOrder, dataset: DatasetRows, rows: Mapping[str, ShownText]
) -> tuple[Path, BatchManifest]:
    name = dataset.name.replace(" ", "-").split("/")[-1].removesuffix(".parquet")
    path = order.build / "bands" / f"{name}.jsonl"
    table = [{"id": row, "question": q, "answers": a} for row, (q, a) in rows.items()]
    with replacing(path) as temporary:
        lines = "".join(json.dumps(one) + "\n" for one in table)
        temporary.write_text(lines, "utf-8", newline="\n")
    return make_batch(replace(order, dataset=str(path), number=len(rows)))


def _write_snippet(
    order: BatchOrder,
    rule: BandRule,
    dataset: str,
    folder: Path | None,
    found: Sequence[AttributeBands],
) -> Path:
    head = (
        f"# By the band rule on {dataset}: up to {rule.rows} rows a band of "
        f"{rule.width}, until two neighbours\n# have less than {rule.share:.0%} toxic. "
        "For this scorer alone.\n"
    )
    head += "".join(f"# {line}\n" for attribute in found for line in attribute.lines())
    thresholds = {one.name: one.threshold for one in found if one.threshold is not None}
    path = order.judgments / order.layout / SNIPPET
    with replacing(path) as temporary:
        text = head + recipe_filter(folder, thresholds)
        temporary.write_text(text, "utf-8", newline="\n")
    return path


def _scored_rows(
    dataset: DatasetRows, folder: Path | None
) -> Iterator[tuple[str, dict[str, float], ShownText]]:
    """Rows with toxicity scores: those of a dataset, and those that its release's filter dropped.

    `folder`: that of the release, where it is one. `UserError`: a score is not from 0 to 1.
    """
    require_columns(dataset, ["id", "question"])
    columns = [f"toxicity_{name}" for name in ATTRIBUTES]
    for _, row in dataset.rows(["id", "question", "answers", *columns]):
        found = zip(ATTRIBUTES, map(row.get, columns), strict=True)
        scores = {name: score for name, score in found if score is not None}
        for name, score in scores.items():
            if not isinstance(score, int | float) or not 0 <= score <= 1:
                text = f"toxicity_{name} of row {row_id_of(row)} is not from 0 to 1"
                raise UserError(text, where=dataset.name)
        answers = tuple(map(str, row.get("answers") or ()))
        yield row_id_of(row), scores, (str(row.get("question") or ""), answers)
    path = folder / card.DROPPED if folder else None
    if path is None or not path.is_file():
        return
    with reading(path) as file:
        for batch in file.iter_batches(columns=["step", "item", "reason", "score", "detail"]):
            for row in batch.to_pylist():
                match = _DETAIL.fullmatch(row["detail"] or "")
                if row["step"] == "toxicity" and match:
                    pairs = (pair.split("=") for pair in match[1].split())
                    scores = {name: float(score) for name, score in pairs}
                    over = row["reason"].removeprefix("toxic_")
                    if over in scores and row["score"] is not None:
                        scores[over] = row["score"]
                    yield row["item"], scores, (match[2], ())


def recipe_filter(folder: Path | None, thresholds: Mapping[str, float]) -> str:
    """The filter of a recipe with these thresholds, its scorer as the release had it, as YAML."""
    built: Any = manifest.load_manifest(folder).parameters.get("filters") if folder else None
    value: Any = {"thresholds": dict(thresholds)}
    for given in built or ():
        if given.get("filter") == "toxicity":
            scorer = Toxicity.model_validate(given).scorer
            own = scorer.model_dump(
                mode="json", exclude_defaults=True, exclude={"scorer", "thresholds"}
            )
            value = [{"filter": "toxicity", "scorer": {"scorer": scorer.scorer, **own, **value}}]
            break
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=96)
