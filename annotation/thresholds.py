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
    """The state of one attribute, with its judged bands of scores from the highest down.

    `rows` maps the lower end of a band to the number of its rows that were shown to people. Either
    `threshold` is found, or `next_band` is the band to judge next, and `lacking` are the ids of its
    rows that lack judgments.
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
            lacking_count = len(self.lacking)
            yield f"{self.name}: from {self.next_band:.2f}: {lacking_count} rows to be judged"
        else:
            yield f"{self.name}: threshold {self.threshold:.2f}"
            fewest_judgments = BandRule().rows
            thin_bands = [band for band in self.bands if band.judged < fewest_judgments]
            if thin_bands:
                listed_bands = ", ".join(f"{band.low:.2f} ({band.judged})" for band in thin_bands)
                fewer_than = f"of fewer than {fewest_judgments} judgments"
                yield f"{self.name}: {fewer_than}, too few: {listed_bands}"


@dataclass(frozen=True)
class ThresholdReport:
    """The outcome of a run.

    `batch` is the new batch, `sent` the number of rows that were sent earlier and still lack
    judgments, and `snippet` the file with the thresholds if all were found.
    """

    attributes: tuple[AttributeBands, ...]
    batch: tuple[Path, BatchManifest] | None
    sent: int
    snippet: Path | None

    def lines(self) -> list[str]:
        """The report as lines of text."""
        report_lines: list[str] = []
        for attribute in self.attributes:
            report_lines += attribute.lines()
        if self.sent:
            report_lines.append(
                f"{self.sent} rows are sent and not judged enough; --again sends them anew"
            )
        return report_lines


def find_thresholds(order: BatchOrder, rule: BandRule) -> ThresholdReport:
    """Find each attribute's toxicity threshold from human judgments of bands of scores.

    A band is a range of scores, such as 0.90 to 0.95. If judgments of a band are missing, the
    function makes the next batch of rows to judge instead. One judgment covers all attributes, so
    a row that was judged for one attribute is not sent again for another.

    `order.dataset` names a release of StreamingQA, or a file with its columns. The rows are those
    of the release and those that its filter `toxicity` dropped; of the latter `dropped.parquet`
    holds the score to two digits, and no answers. Raises `UserError` if no row has a score.
    """
    layout = load_layout(order.layout)
    is_release = not Path(order.dataset or "").is_file()
    config_name = layout.config if is_release else None
    dataset = open_dataset(order.dataset or "", order.releases, config=config_name)
    release_folder = dataset.files[0].parents[2] if is_release else None
    bands_by_attribute = _draw_bands(layout, dataset, release_folder, order.seed, rule)
    text_by_row = _texts_of_drawn_rows(dataset, release_folder, bands_by_attribute)
    answers_by_text = _judged_answers(order.judgments / order.layout, text_by_row)
    all_bands = tuple(
        _judge_bands(attribute_name, rows_by_band, text_by_row, answers_by_text, layout, rule)
        for attribute_name, rows_by_band in bands_by_attribute.items()
        if rows_by_band
    )
    lacking_rows = {row_id for attribute in all_bands for row_id in attribute.lacking}
    # rows that show the same text are judged once, by the one with the smallest id
    row_by_text = {text_by_row[row_id]: row_id for row_id in sorted(lacking_rows, reverse=True)}
    to_send = _unsent_rows(order, text_by_row, row_by_text)
    sent_batch = (
        _send(order, dataset, {row_id: text_by_row[row_id] for row_id in to_send})
        if to_send
        else None
    )
    snippet_path = None
    if all(attribute.threshold is not None for attribute in all_bands):
        snippet_path = _write_snippet(order, rule, dataset.name, release_folder, all_bands)
    return ThresholdReport(all_bands, sent_batch, len(row_by_text) - len(to_send), snippet_path)


def _draw_bands(
    layout: Layout,
    dataset: DatasetRows,
    release_folder: Path | None,
    seed: int,
    rule: BandRule,
) -> dict[str, dict[float, list[str]]]:
    """Map each attribute that the layout asks for to the row ids to judge in each band."""
    scores_by_attribute: dict[str, list[tuple[str, float]]] = {}
    for attribute_name in ATTRIBUTES:
        if attribute_name in layout.answers:
            scores_by_attribute[attribute_name] = []
    for row_id, row_scores, _ in _scored_rows(dataset, release_folder):
        for attribute_name in row_scores.keys() & scores_by_attribute:
            scores_by_attribute[attribute_name].append((row_id, row_scores[attribute_name]))
    return {
        attribute_name: rows_to_judge(scored_rows, seed, rule)
        for attribute_name, scored_rows in scores_by_attribute.items()
    }


def _texts_of_drawn_rows(
    dataset: DatasetRows,
    release_folder: Path | None,
    bands_by_attribute: Mapping[str, Mapping[float, Sequence[str]]],
) -> dict[str, ShownText]:
    """Return the question and answers of every row that was drawn for a band, by row id.

    Raises `UserError` if no row was drawn.
    """
    drawn_ids: set[str] = set()
    for rows_by_band in bands_by_attribute.values():
        drawn_ids.update(*rows_by_band.values())
    if not drawn_ids:
        hint_text = "a recipe with the filter `toxicity` keeps its scores"
        raise UserError(f"no row of {dataset.name} has a score", hint=hint_text)
    scored_rows = _scored_rows(dataset, release_folder)
    return {row_id: shown_text for row_id, _, shown_text in scored_rows if row_id in drawn_ids}


def _unsent_rows(
    order: BatchOrder,
    text_by_row: Mapping[str, ShownText],
    row_by_text: Mapping[ShownText, str],
) -> list[str]:
    """Return the rows whose text no earlier batch sent, or all rows with `order.again`."""
    if order.again:
        return sorted(row_by_text.values())
    sent_rows = sent_ledger(order.out / order.layout).rows
    sent_texts = {text_by_row[row_id] for row_id in sent_rows if row_id in text_by_row}
    return sorted(
        row_id for shown_text, row_id in row_by_text.items() if shown_text not in sent_texts
    )


def _judge_bands(
    attribute_name: str,
    rows_by_band: Mapping[float, Sequence[str]],
    text_by_row: Mapping[str, ShownText],
    answers_by_text: Mapping[ShownText, Sequence[Mapping[str, Any]]],
    layout: Layout,
    rule: BandRule,
) -> AttributeBands:
    """Go down the bands of an attribute until the rule is met or a band lacks judgments."""
    row_counts = {band_low: len(band_rows) for band_low, band_rows in rows_by_band.items()}
    threshold, judged_bands = threshold_by_bands((), rule)
    band_votes: list[tuple[float, bool]] = []
    for band_low, band_rows in rows_by_band.items():
        lacking_rows = [
            row_id
            for row_id in band_rows
            if len(answers_by_text.get(text_by_row[row_id], ())) < layout.assignments
        ]
        if lacking_rows:
            return AttributeBands(
                attribute_name,
                judged_bands,
                row_counts,
                next_band=band_low,
                lacking=tuple(lacking_rows),
            )
        for row_id in band_rows:
            band_votes += [
                (band_low, bool(row_answers.get(attribute_name)))
                for row_answers in answers_by_text[text_by_row[row_id]]
            ]
        threshold, judged_bands = threshold_by_bands(band_votes, rule)
        if threshold is not None:
            break
    if threshold is None:  # every band is judged, and the last one is toxic, too
        threshold = judged_bands[-1].low
    return AttributeBands(attribute_name, judged_bands, row_counts, threshold)


def _judged_answers(
    judgments_folder: Path, text_by_row: Mapping[str, ShownText]
) -> dict[ShownText, list[Mapping[str, Any]]]:
    """The answers of all judgments that count, by the text that was judged."""
    answers_by_text: dict[ShownText, list[Mapping[str, Any]]] = {}
    judgment_by_id = JudgmentTable(judgments_folder).by_id
    for judgment_id in sorted(judgment_by_id):
        counted_judgment = judgment_by_id[judgment_id]
        if counted_judgment.counted and counted_judgment.row in text_by_row:
            row_answers = judgment_answers(counted_judgment)
            answers_by_text.setdefault(text_by_row[counted_judgment.row], []).append(row_answers)
    return answers_by_text


def _send(
    order: BatchOrder, dataset: DatasetRows, text_by_row: Mapping[str, ShownText]
) -> tuple[Path, BatchManifest]:
    dataset_name = dataset.name.replace(" ", "-").split("/")[-1].removesuffix(".parquet")
    rows_path = order.build / "bands" / f"{dataset_name}.jsonl"
    with (
        replacing(rows_path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as rows_file,
    ):
        for row_id, (question_text, answer_texts) in text_by_row.items():
            rows_file.write(
                json.dumps({"id": row_id, "question": question_text, "answers": answer_texts})
                + "\n"
            )
    return make_batch(replace(order, dataset=str(rows_path), number=len(text_by_row)))


def _write_snippet(
    order: BatchOrder,
    rule: BandRule,
    dataset_name: str,
    release_folder: Path | None,
    all_bands: Sequence[AttributeBands],
) -> Path:
    """Write `thresholds.yaml`, the filter for a recipe with the report as a comment above it."""
    report_comment = (
        f"# By the band rule on {dataset_name}: up to {rule.rows} rows a band of "
        f"{rule.width}, until two neighbours\n# have less than {rule.share:.0%} toxic. "
        "For this scorer alone.\n"
    )
    threshold_by_attribute: dict[str, float] = {}
    for attribute in all_bands:
        report_comment += "".join(f"# {report_line}\n" for report_line in attribute.lines())
        if attribute.threshold is not None:
            threshold_by_attribute[attribute.name] = attribute.threshold
    snippet_path = order.judgments / order.layout / SNIPPET
    with replacing(snippet_path) as temporary:
        snippet_text = report_comment + recipe_filter(release_folder, threshold_by_attribute)
        temporary.write_text(snippet_text, "utf-8", newline="\n")
    return snippet_path


# The id of a row, its scores by attribute, and its text.
ScoredRow = tuple[str, dict[str, float], ShownText]


def _scored_rows(dataset: DatasetRows, release_folder: Path | None) -> Iterator[ScoredRow]:
    """Yield the rows of a dataset that have toxicity scores, then those that the filter dropped.

    `release_folder` is the folder of the release, where the dataset is one. `UserError`: a score
    is not from 0 to 1.
    """
    require_columns(dataset, ["id", "question"])
    attribute_by_column = {
        f"toxicity_{attribute_name}": attribute_name for attribute_name in ATTRIBUTES
    }
    for _, row in dataset.rows(["id", "question", "answers", *attribute_by_column]):
        row_scores: dict[str, float] = {}
        for score_column, attribute_name in attribute_by_column.items():
            attribute_score = row.get(score_column)
            if attribute_score is None:
                continue
            if not isinstance(attribute_score, int | float) or not 0 <= attribute_score <= 1:
                error_text = f"{score_column} of row {row_id_of(row)} is not from 0 to 1"
                raise UserError(error_text, where=dataset.name)
            row_scores[attribute_name] = attribute_score
        answer_texts = tuple(map(str, row.get("answers") or ()))
        yield (
            row_id_of(row),
            row_scores,
            (str(row.get("question") or ""), answer_texts),
        )
    if release_folder is not None and (release_folder / card.DROPPED).is_file():
        yield from _dropped_rows(release_folder / card.DROPPED)


def _dropped_rows(dropped_path: Path) -> Iterator[ScoredRow]:
    """Yield the rows that the filter `toxicity` dropped, with their question and no answers."""
    with reading(dropped_path) as file:
        for batch in file.iter_batches(columns=["step", "item", "reason", "score", "detail"]):
            for row in batch.to_pylist():
                detail_match = _DETAIL.fullmatch(row["detail"] or "")
                if row["step"] != "toxicity" or detail_match is None:
                    continue
                row_scores: dict[str, float] = {}
                for score_pair in detail_match[1].split():
                    attribute_name, attribute_score = score_pair.split("=")
                    row_scores[attribute_name] = float(attribute_score)
                # `detail` rounds scores to two digits; the one that dropped the row is in `score`
                over_threshold = row["reason"].removeprefix("toxic_")
                if over_threshold in row_scores and row["score"] is not None:
                    row_scores[over_threshold] = row["score"]
                yield row["item"], row_scores, (detail_match[2], ())


def recipe_filter(release_folder: Path | None, threshold_by_attribute: Mapping[str, float]) -> str:
    """The filter of a recipe with these thresholds as YAML, its scorer as the release had it."""
    filter_settings: Any = None
    if release_folder is not None:
        filter_settings = manifest.load_manifest(release_folder).parameters.get("filters")
    filter_value: Any = {"thresholds": dict(threshold_by_attribute)}
    for one_filter in filter_settings or ():
        if one_filter.get("filter") == "toxicity":
            filter_scorer = Toxicity.model_validate(one_filter).scorer
            scorer_settings = filter_scorer.model_dump(
                mode="json", exclude_defaults=True, exclude={"scorer", "thresholds"}
            )
            scorer_value = {"scorer": filter_scorer.scorer, **scorer_settings, **filter_value}
            filter_value = [{"filter": "toxicity", "scorer": scorer_value}]
            break
    return yaml.safe_dump(filter_value, sort_keys=False, allow_unicode=True, width=96)
