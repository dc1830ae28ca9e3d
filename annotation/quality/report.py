"""`report.html`: what came back for one layout, on one page without scripts or other files.

The same judgments give the same bytes: no clock, nothing of the machine.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from factdrift.annotation.batch import Item
from factdrift.annotation.checks import plain
from factdrift.annotation.layout import Layout
from factdrift.annotation.matching import LayoutVersion, submission_key
from factdrift.annotation.quality.agreement import (
    Agreements,
    answers_of,
    measure_agreement,
    value_text,
)
from factdrift.annotation.quality.appendix import Appendix, appendix, paid_submissions
from factdrift.annotation.quality.expert import WorkerBatch
from factdrift.annotation.quality.rules import ACCEPTED_BATCH, failed_answers
from factdrift.annotation.submission import decode
from factdrift.builders.core.files import resource
from factdrift.builders.rows import Decision, Gold, Judgment

REPORT, DATA = "report.html", "report.json"
_REFUSED_EXAMPLES = 20
_LOW_ITEMS = 10
_SHORT = 160
"""Characters of a text in the report."""


@dataclass(frozen=True)
class WorkerSummary:
    """One worker. `percent` and `alpha` are against the others; `due` leaves out rejected work,
    and has of a HIT that was handed in piece by piece the share that was done.

    `passed` of `checks` items with known answers were answered as known.
    """

    name: str
    platforms: tuple[str, ...]
    hits: int
    judgments: int
    counted: int
    percent: float | None
    alpha: float | None
    seconds: float | None
    checks: int
    passed: int
    flags: Mapping[str, int]
    due: Decimal


@dataclass(frozen=True)
class LowAgreementItem:
    """An item with little agreement: the fields shown, as (label, text), and where the workers
    differ what each `answered`, as (worker, (label, text) pairs)."""

    item: str
    percent: float
    shown: tuple[tuple[str, str], ...]
    answered: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class ReportData:
    """One layout. `older`: batches in which other values could be answered. `rows_sent` are
    rows in all its batches, `decisions` of those with judgments.
    """

    layout: Layout
    name: str
    batches: int
    older: int
    rows_sent: int
    submissions: int
    judgments: int
    counted: int
    flags: Mapping[str, int]
    decisions: Mapping[str, int]
    agreements: Agreements
    workers: tuple[WorkerSummary, ...]
    due: Decimal
    low_agreement: tuple[LowAgreementItem, ...]
    appendix: Appendix


@dataclass(frozen=True)
class RefusedCounts:
    """What the last import did not take: by reason, and the first few lines."""

    reasons: tuple[tuple[str, int], ...] = ()
    examples: tuple[dict[str, Any], ...] = ()


def read_refused(path: Path) -> RefusedCounts:
    """Counts of `refused.jsonl`; nothing where there is none."""
    reasons: Counter[str] = Counter()
    examples: list[dict[str, Any]] = []
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            for line in file:
                one = decode(line)
                reasons[one["reason"]] += 1
                if len(examples) < _REFUSED_EXAMPLES:
                    examples.append({**one, "file": Path(one["file"]).name})
    return RefusedCounts(tuple(sorted(reasons.items())), tuple(examples))


def render_report(data: ReportData, checked: Sequence[WorkerBatch], refused: RefusedCounts) -> str:
    environment = Environment(
        loader=FileSystemLoader(resource("annotation/quality")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": lambda value: f"{value:,}",
        "figure": _two_digits,
        "money": lambda value: f"{value:,.2f}",
        "percent": lambda value: "–" if value is None else f"{value:.0f} %",
    }
    lowest = min([a.low for a in data.agreements.answers if a.low is not None] + [0.0])
    left = min(-0.2, lowest)
    page = environment.get_template("report.html.j2").render(
        f=data,
        layout=data.layout,
        a=data.appendix,
        worker_batches=checked,
        checked=Counter(str(batch.accepted) for batch in checked),
        refused=refused,
        rule=_rule_in_words(data.layout),
        place=lambda value: f"{100 * (max(value, left) - left) / (1 - left):.2f}%",
        ticks=[-1, -0.5, 0, 0.5, 1] if left < -0.5 else [0, 0.25, 0.5, 0.75, 1],
        total=max(sum(data.decisions.values()), 1),
    )
    return page.rstrip() + "\n"


def _rule_in_words(layout: Layout) -> str:
    rule = layout.rule
    of = f" on “{layout.answers[rule.of].label}”" if rule.of else ""
    accept = f", {' or '.join(rule.accept)} accepts" if rule.accept else ""
    many = f"{layout.assignments} judgment{'s' if layout.assignments > 1 else ''} a row"
    words = {
        "majority": f"more than half agree{of}",
        "unanimous": f"all agree{of}",
        "any": f"every judgment is taken{of}",
        "sampled": f"{rule.sampled} items of each worker's batch go to an expert, "
        "the batch is accepted or rejected whole",
    }
    return f"{many}; {words[rule.by]}{accept}"


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def report_data(
    versions: Sequence[LayoutVersion],
    name: str,
    judgments: Sequence[Judgment],
    gold: Sequence[Gold],
    checked: Sequence[WorkerBatch] = (),
    days: tuple[str, str] | None = None,
) -> ReportData:
    """Everything of a report but what was refused; `checked`: the experts' checks.

    Agreement is of the batches of the last version: answers of others have other values.
    """
    judgments = sorted(judgments, key=lambda one: one.id)
    newest = versions[-1]
    latest = [one for one in judgments if one.batch in newest.pay]
    agreements = measure_agreement(newest.layout, latest, newest.items)
    by_worker: dict[str, list[Judgment]] = {}
    for one in judgments:
        by_worker.setdefault(one.worker, []).append(one)
    workers = tuple(
        _worker_summary(versions, who, found, agreements)
        for who, found in sorted(by_worker.items())
    )
    decisions = Counter(one.decision for one in gold)
    return ReportData(
        layout=newest.layout,
        name=name,
        batches=len({one.batch for one in judgments}),
        older=len({one.batch for one in judgments} - newest.pay.keys()),
        rows_sent=len({i.row for version in versions for i in version.items.values() if i.row}),
        submissions=sum(one.hits for one in workers),
        judgments=len(judgments),
        counted=sum(one.counted for one in judgments),
        flags=_flag_counts(judgments),
        decisions={one: decisions[one] for one in get_args(Decision)},
        agreements=agreements,
        workers=workers,
        due=sum((one.due for one in workers), Decimal(0)),
        low_agreement=_low_agreement(newest.layout, latest, newest.items, agreements),
        appendix=appendix(
            versions,
            name,
            judgments,
            rule=_rule_in_words(newest.layout),
            decisions={one: decisions[one] for one in get_args(Decision)},
            flags=_flag_counts(judgments),
            checked=checked,
            days=days,
        ),
    )


def _worker_summary(
    versions: Sequence[LayoutVersion],
    name: str,
    found: Sequence[Judgment],
    agreements: Agreements,
) -> WorkerSummary:
    times = [one.seconds for one in found if one.seconds is not None]
    known = [one for one in found if not one.row]
    of = {batch: version for version in versions for batch in version.pay}
    submissions = {submission_key(one) for one in found}
    failed = [failed_answers(of[one.batch].layout, one, of[one.batch].items) for one in known]
    counts = agreements.by_worker.get(name)
    return WorkerSummary(
        name=name,
        platforms=tuple(sorted({one.platform for one in found})),
        hits=len(submissions),
        judgments=len(found),
        counted=sum(one.counted for one in found),
        percent=counts.percent if counts else None,
        alpha=agreements.alphas.get(name),
        seconds=median(times) if times else None,
        checks=len(known),
        passed=sum(not names for names in failed),
        flags=_flag_counts(found),
        due=sum((one.due for one in paid_submissions(versions, found)), Decimal(0)),
    )


def _flag_counts(found: Sequence[Judgment]) -> dict[str, int]:
    counts = Counter(f for one in found for f in one.flags if f != ACCEPTED_BATCH)
    return dict(sorted(counts.items()))


def _low_agreement(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    agreements: Agreements,
) -> tuple[LowAgreementItem, ...]:
    order = sorted(
        (counts.percent or 0.0, item)
        for item, counts in agreements.by_item.items()
        if counts.agreeing < counts.pairs
    )
    found = []
    for percent, item in order[:_LOW_ITEMS]:
        fields = items[item].fields
        shown = tuple(
            (field.label or name, _short(plain(fields.get(name))))
            for name, field in layout.fields.items()
            if fields.get(name) and field.kind != "spans"
        )
        here = (one for one in judgments if one.item == item and one.counted)
        about = sorted(here, key=lambda one: (one.worker, one.id))
        answers = [_answers_in_words(layout, answers_of(one)) for one in about]
        differing = [
            label
            for label in dict.fromkeys(label for given in answers for label in given)
            if len({given.get(label) for given in answers}) > 1
        ]
        lines = tuple(
            (one.worker, tuple((label, given[label]) for label in differing if label in given))
            for one, given in zip(about, answers, strict=True)
        )
        found.append(LowAgreementItem(item, percent, shown, lines))
    return tuple(found)


def _answers_in_words(layout: Layout, given: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for name, answer in layout.answers.items():
        if name in given:
            labels = {choice.value: choice.label for choice in answer.choices}
            if answer.kind == "flag":
                labels = {"true": "yes", "false": "no"}
            value = given[name]
            many = value if isinstance(value, list) else [value]
            words = (labels.get(value_text(v), value_text(v)) or _group_entry(v) for v in many)
            found[answer.label] = _short("; ".join(words))
    return found


def _group_entry(value: Any) -> str:
    return " / ".join(map(plain, value.values())) if isinstance(value, Mapping) else ""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
