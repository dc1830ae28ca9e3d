"""What a release says of the people whose judgments are in it, from their reports.

`factdrift judgments` writes `report.json` beside `gold.parquet`. Gold rows without one, as from an
older version, say nothing more on the card than before.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Scalar, Statistics
from factdrift.builders.core.errors import UserError

REPORT, FORMAT = "report.json", "factdrift-report/1"


def people_statistics(gold: Iterable[Path]) -> tuple[Statistics, ...]:
    """Tables for the card: who worked on each layout, how far they agree, pay, days, instructions.

    `gold`: the gold tables that a release is made with. `UserError`: a report cannot be read.
    """
    paths = sorted({path.with_name(REPORT) for path in gold})
    reports = [_read(path) for path in paths if path.is_file()]
    if not reports:
        return ()
    work = Statistics(
        "people",
        "Who did the work",
        [_work(report) for report in reports],
        "Annotators are counted by the salted hash of their id. Alpha is Krippendorff's, of the "
        "judgments that count, with a 95 % interval; the hourly wage is the median of what was "
        "paid for the time on the items.",
    )
    instructions = [
        {"work": report["layout"], "instructions": " ".join(report["instructions"])}
        for report in reports
    ]
    return work, Statistics("people_instructions", "What annotators were told", instructions)


def _work(report: Mapping[str, Any]) -> dict[str, Scalar]:
    paid = report["paid_workers"]
    hourly = paid["hourly"]
    days = report["days"]
    return {
        "work": report["layout"],
        "rule": report["rule"],
        "platform": ", ".join(report["platforms"]),
        "days": " to ".join(days) if days else "not recorded",
        "annotators": report["workers"],
        "experts": report["experts"],
        "judgments": report["judgments"],
        "counted": report["counted"],
        "agreement": _agreement(report),
        "paid": f"{float(paid['due']):.2f} {report['currency']}",
        "hourly wage": f"{hourly[1]:.2f} {report['currency']}" if hourly else "not recorded",
    }


def _agreement(report: Mapping[str, Any]) -> str:
    coefficients = (
        coefficient["after"]
        for coefficient in report["agreement"]
        if coefficient["answer"] == report["main"]
    )
    value = next(coefficients, {"alpha": None})
    if value["alpha"] is None:
        return "one judgment a row, or none that differ"
    interval = f" ({value['low']:.2f} to {value['high']:.2f})" if value["low"] is not None else ""
    return f"alpha {value['alpha']:.2f}{interval}, {value['percent']:.0f} % of pairs"


def _read(path: Path) -> dict[str, Any]:
    try:
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(path)) from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        hint = "factdrift judgments, without results, writes it anew"
        raise UserError("not a report of judgments", where=display_path(path), hint=hint)
    return report
