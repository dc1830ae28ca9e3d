"""Statistics of the people whose judgments a release contains, from their reports.

`factdrift judgments` writes `report.json` beside `gold.parquet`. Gold rows of an older version have
no report, and then the card has no statistics of their annotators.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Scalar, Statistics
from factdrift.builders.core.errors import UserError

REPORT, FORMAT = "report.json", "factdrift-report/1"


def people_statistics(gold_files: Iterable[Path]) -> tuple[Statistics, ...]:
    """Return the card's tables on the annotators: who they were, agreement, pay and instructions.

    `gold_files` are the gold tables that a release is made with. Raises `UserError` if a report
    cannot be read.
    """
    report_paths = sorted({report_path.with_name(REPORT) for report_path in gold_files})
    judgment_reports = [_read(report_path) for report_path in report_paths if report_path.is_file()]
    if not judgment_reports:
        return ()
    work_table = Statistics(
        "people",
        "Who did the work",
        [_layout_work(judgment_report) for judgment_report in judgment_reports],
        "Annotators are counted by the salted hash of their id. Alpha is Krippendorff's, with a "
        "95 % interval, and AC1 is Gwet's, both of the judgments that count; the hourly wage is "
        "the median of what was paid for the time on the items.",
    )
    instruction_rows = [
        {
            "work": judgment_report["layout"],
            "instructions": " ".join(judgment_report["instructions"]),
        }
        for judgment_report in judgment_reports
    ]
    return work_table, Statistics(
        "people_instructions", "What annotators were told", instruction_rows
    )


def _layout_work(judgment_report: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return the card's row about the work on one layout: people, judgments, agreement and pay."""
    paid_workers = judgment_report["paid_workers"]
    # Three quartiles, of which the card shows the median; null if no time was recorded.
    hourly_quartiles = paid_workers["hourly"]
    work_days = judgment_report["days"]
    return {
        "work": judgment_report["layout"],
        "rule": judgment_report["rule"],
        "platform": ", ".join(judgment_report["platforms"]),
        "days": " to ".join(work_days) if work_days else "not recorded",
        "annotators": judgment_report["workers"],
        "experts": judgment_report["experts"],
        "judgments": judgment_report["judgments"],
        "counted": judgment_report["counted"],
        "agreement": _agreement(judgment_report),
        "paid": f"{float(paid_workers['due']):.2f} {judgment_report['currency']}",
        "hourly wage": f"{hourly_quartiles[1]:.2f} {judgment_report['currency']}"
        if hourly_quartiles
        else "not recorded",
    }


def _agreement(judgment_report: Mapping[str, Any]) -> str:
    coefficients = (
        coefficient["after"]
        for coefficient in judgment_report["agreement"]
        if coefficient["answer"] == judgment_report["main"]
    )
    main_coefficient: Mapping[str, Any] = next(coefficients, {})
    # A report of an older version has no AC1.
    alpha, ac1 = main_coefficient.get("alpha"), main_coefficient.get("ac1")
    if alpha is None and ac1 is None:
        return "one judgment a row, or none that differ"
    figure_texts = []
    if alpha is not None:
        interval_low, interval_high = main_coefficient["low"], main_coefficient["high"]
        interval_text = (
            f" ({interval_low:.2f} to {interval_high:.2f})" if interval_low is not None else ""
        )
        figure_texts.append(f"alpha {alpha:.2f}{interval_text}")
    if ac1 is not None:
        figure_texts.append(f"AC1 {ac1:.2f}")
    return ", ".join([*figure_texts, f"{main_coefficient['percent']:.0f} % of pairs"])


def _read(report_path: Path) -> dict[str, Any]:
    try:
        judgment_report = json.loads(report_path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(report_path)) from None
    if not isinstance(judgment_report, dict) or judgment_report.get("format") != FORMAT:
        hint_text = "factdrift judgments, without results, writes it anew"
        raise UserError(
            "not a report of judgments", where=display_path(report_path), hint=hint_text
        )
    return judgment_report
