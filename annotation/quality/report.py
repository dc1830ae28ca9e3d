"""`report.html` and `report.json`: what came back for one layout, for people and for programs.

It is what a paper's appendix says of work by people: who, how far they agree, what they were paid;
the card of a release reads `report.json`. The page has no scripts and no other files. The same
judgments give the same bytes: no clock, nothing of the machine. Times are those on the items: what
a worker reads before the first item is not in them.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any, get_args

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from factdrift.annotation.batch import Item, attention_kind
from factdrift.annotation.checks import value_as_text
from factdrift.annotation.layout import Layout
from factdrift.annotation.matching import LayoutVersion, is_repeat, submission_key
from factdrift.annotation.quality.agreement import (
    Agreements,
    Figures,
    judgment_answers,
    measure_agreement,
    percent_agreeing,
    rule_value,
)
from factdrift.annotation.quality.expert import WorkerBatch, checked_share
from factdrift.annotation.quality.rules import (
    ACCEPTED_BATCH,
    EXPERT,
    FAILED_ATTENTION,
    REJECTED_BATCH,
    failed_answers,
)
from factdrift.annotation.submission import decode_json
from factdrift.builders.core.files import resource
from factdrift.builders.release.people import FORMAT
from factdrift.builders.rows import Decision, Gold, Judgment

# Refused entries that the page lists.
_REFUSED_EXAMPLES = 20
# Items with low agreement that the page lists: about as many as a person reads through.
_LOW_ITEMS = 10
# Where the axis of alpha begins at most: left of 0, so that intervals around 0 can be seen.
_AXIS_START = -0.2
# Characters of a text in the report.
_SHORT = 160


def make_report(
    versions: Sequence[LayoutVersion],
    name: str,
    judgments: Sequence[Judgment],
    gold: Sequence[Gold],
    checked: Sequence[WorkerBatch] = (),
    days: tuple[str, str] | None = None,
) -> Figures:
    """Every figure that is reported about one layout; `checked` holds the experts' checks.

    `days` are the first and the last day on which a server took answers. `older` counts batches
    in which other values could be answered. Agreement is measured on the batches of the last
    version only, since the answers of others have other values: `before` over all judgments
    except repeated ones, `after` over those that count. The function is long because it is one
    table of figures, in the order of `report.json`; nothing in it decides anything.
    """
    judgments = sorted(judgments, key=lambda judgment: judgment.id)
    newest = versions[-1]
    layout = newest.layout
    latest = [judgment for judgment in judgments if judgment.batch in newest.pay]
    before = measure_agreement(layout, latest, newest.items, excluded=True)
    after = measure_agreement(layout, latest, newest.items)
    version_by_batch: dict[str, LayoutVersion] = {}
    rows_sent: set[str] = set()
    for version in versions:
        version_by_batch.update(dict.fromkeys(version.pay, version))
        rows_sent.update(item.row for item in version.items.values() if item.row)
    paid = _paid_submissions(version_by_batch, judgments)
    known_items = [*_known_items(version_by_batch, judgments)]
    people = _people_figures(judgments, after, paid, known_items)
    experts = {judgment.worker for judgment in judgments if EXPERT in judgment.flags}
    decisions = Counter(row.decision for row in gold)
    return {
        "format": FORMAT,
        "layout": name,
        "title": layout.title,
        "instructions": layout.instructions,
        "platforms": sorted({judgment.platform for judgment in judgments}),
        "days": days,
        "datasets": sorted({judgment.dataset for judgment in judgments}),
        "older": len({judgment.batch for judgment in judgments} - newest.pay.keys()),
        "rows_sent": len(rows_sent),
        "workers": len(people) - len(experts),
        "experts": len(experts),
        "submissions": sum(figures["hits"] for figures in people),
        "judgments": len(judgments),
        "counted": sum(judgment.counted for judgment in judgments),
        "currency": layout.pay.currency,
        "per_hit": layout.pay.per_hit,
        "planned_hourly": layout.pay.hourly,
        "due": sum((submission.due for submission in paid), Decimal(0)),
        "rule": _rule_in_words(layout),
        "main": after.main,
        "decisions": {decision: decisions[decision] for decision in get_args(Decision)},
        "flags": _flag_counts(judgments),
        "agreement": _agreement_figures(layout, before, after),
        "paid_workers": _pay_figures([submission for submission in paid if not submission.expert]),
        "paid_experts": _pay_figures([submission for submission in paid if submission.expert]),
        "checks": [*_check_figures(known_items)],
        "sample": asdict(checked_share(checked)) if layout.rule.by == "sampled" else None,
        "people": people,
        "low_agreement": [*_low_agreement(layout, latest, newest.items, after)],
    }


def _agreement_figures(layout: Layout, before: Agreements, after: Agreements) -> list[Figures]:
    return [
        {
            "answer": name,
            "label": layout.answers[name].label,
            "before": before.answers[name],
            "after": figures,
        }
        for name, figures in after.answers.items()
    ]


def _people_figures(
    judgments: Sequence[Judgment],
    agreements: Agreements,
    paid: Sequence["_PaidSubmission"],
    known_items: Sequence["_KnownItem"],
) -> list[Figures]:
    """The figures of every worker, sorted by the hash of the worker's id."""
    by_worker = defaultdict[str, list[Judgment]](list)
    for judgment in judgments:
        by_worker[judgment.worker].append(judgment)
    due = defaultdict[str, Decimal](Decimal)
    for submission in paid:
        due[submission.worker] += submission.due
    checks = defaultdict[str, list[bool]](list)
    for judgment, _, has_passed in known_items:
        checks[judgment.worker].append(has_passed)
    return [
        _worker_figures(worker, worker_judgments, agreements, checks[worker], due[worker])
        for worker, worker_judgments in sorted(by_worker.items())
    ]


def report_json(report: Figures) -> str:
    """The text of `report.json`."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def render_report(
    report: Figures, layout: Layout, checked: Sequence[WorkerBatch], refused: Path
) -> str:
    """The page of a report; `refused` is the file of entries that the last import refused."""
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
    lows = [figures["after"]["low"] or 0.0 for figures in report["agreement"]]
    axis_start = min(_AXIS_START, *lows, 0.0)
    lines = refused.read_text("utf-8").splitlines() if refused.is_file() else []
    entries = [decode_json(line) for line in lines]
    examples = [
        {**entry, "file": Path(entry["file"]).name} for entry in entries[:_REFUSED_EXAMPLES]
    ]

    def axis_place(value: float) -> str:
        """Where a value of alpha stands on the axis, which ends at 1."""
        return f"{100 * (max(value, axis_start) - axis_start) / (1 - axis_start):.2f}%"

    page = environment.get_template("report.html.j2").render(
        f=report,
        layout=layout,
        worker_batches=checked,
        checked=Counter(str(batch.accepted) for batch in checked),
        reasons=sorted(Counter(entry["reason"] for entry in entries).items()),
        examples=examples,
        place=axis_place,
        ticks=[-1, -0.5, 0, 0.5, 1] if axis_start < -0.5 else [0, 0.25, 0.5, 0.75, 1],
        total=max(sum(report["decisions"].values()), 1),
    )
    return page.rstrip() + "\n"


def _rule_in_words(layout: Layout) -> str:
    rule = layout.rule
    on_answer = f" on “{layout.answers[rule.of].label}”" if rule.of else ""
    accept = f", {' or '.join(rule.accept)} accepts" if rule.accept else ""
    plural = "s" if layout.assignments > 1 else ""
    words = {
        "majority": f"more than half agree{on_answer}",
        "unanimous": f"all agree{on_answer}",
        "any": f"every judgment is taken{on_answer}",
        "sampled": f"{rule.sampled} items of each worker's batch go to an expert, "
        "the batch is accepted or rejected whole",
    }
    return f"{layout.assignments} judgment{plural} a row; {words[rule.by]}{accept}"


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


@dataclass(frozen=True)
class _PaidSubmission:
    """What one submission is due, and the seconds on its items; None: not all are known."""

    worker: str
    expert: bool
    due: Decimal
    seconds: float | None


def _paid_submissions(
    version_by_batch: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> list[_PaidSubmission]:
    """The submissions that are paid: those not rejected, and a HIT only once to a worker.

    A HIT that was handed in piece by piece is paid by the share of its items that was done.
    """
    submissions: dict[tuple[str, ...], list[Judgment]] = {}
    for judgment in judgments:
        if not is_repeat(judgment):
            submissions.setdefault(submission_key(judgment), []).append(judgment)
    paid = []
    for (batch, hit, worker, *_), submission in sorted(submissions.items()):
        flags = {flag for judgment in submission for flag in judgment.flags}
        if flags & {FAILED_ATTENTION, REJECTED_BATCH}:
            continue
        version = version_by_batch[batch]
        hit_size = version.sizes[hit]
        due = version.pay[batch] * min(len(submission), hit_size) / hit_size
        times = [judgment.seconds for judgment in submission if judgment.seconds is not None]
        seconds = sum(times) if len(times) == len(submission) else None
        paid.append(_PaidSubmission(worker, EXPERT in flags, due, seconds))
    return paid


def _pay_figures(paid: Sequence[_PaidSubmission]) -> Figures:
    """Figures of paid submissions; `hourly` are the quartiles of pay for an hour on the items."""
    rates = [
        float(submission.due) * 3600 / submission.seconds
        for submission in paid
        if submission.seconds
    ]
    return {
        "workers": len({submission.worker for submission in paid}),
        "hits": len(paid),
        "due": sum((submission.due for submission in paid), Decimal(0)),
        "hourly": np.quantile(rates, (0.25, 0.5, 0.75)).round(2).tolist() if rates else None,
    }


# A judgment of an item with a known answer, and whether it is as known.
_KnownItem = tuple[Judgment, LayoutVersion, bool]


def _known_items(
    version_by_batch: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> Iterator[_KnownItem]:
    for judgment in judgments:
        if not judgment.row:
            version = version_by_batch[judgment.batch]
            failed = failed_answers(version.layout, judgment, version.items)
            yield judgment, version, not failed


def _check_figures(known_items: Sequence[_KnownItem]) -> Iterator[Figures]:
    """For each item with known answers, how often it was asked, and answered as known."""
    by_item: dict[str, list[_KnownItem]] = {}
    for known_item in known_items:
        by_item.setdefault(known_item[0].item, []).append(known_item)
    for name, answered in sorted(by_item.items()):
        _, version, _ = answered[-1]
        layout, item = version.layout, version.items[name]
        texts = [value_as_text(value) for _, value in sorted(item.fields.items())]
        yield {
            "item": name,
            "kind": attention_kind(layout, item),
            "text": _shorten(" ".join(texts)),
            "asked": len(answered),
            "passed": sum(has_passed for *_, has_passed in answered),
        }


def _worker_figures(
    name: str,
    judgments: Sequence[Judgment],
    agreements: Agreements,
    checks: Sequence[bool],
    due: Decimal,
) -> Figures:
    """The figures of one worker.

    `percent` and `alpha` compare the worker with the others; `checks` is the number of answered
    items with known answers, and `passed` of them were answered as known.
    """
    times = [judgment.seconds for judgment in judgments if judgment.seconds is not None]
    return {
        "name": name,
        "platforms": sorted({judgment.platform for judgment in judgments}),
        "hits": len({submission_key(judgment) for judgment in judgments}),
        "judgments": len(judgments),
        "counted": sum(judgment.counted for judgment in judgments),
        "percent": percent_agreeing(agreements.by_worker.get(name, ())),
        "alpha": agreements.alphas.get(name),
        "seconds": median(times) if times else None,
        "checks": len(checks),
        "passed": sum(checks),
        "flags": _flag_counts(judgments),
        "due": due,
    }


def _flag_counts(judgments: Sequence[Judgment]) -> dict[str, int]:
    counts = Counter[str]()
    for judgment in judgments:
        counts.update(flag for flag in judgment.flags if flag != ACCEPTED_BATCH)
    return dict(sorted(counts.items()))


def _low_agreement(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    agreements: Agreements,
) -> Iterator[Figures]:
    """Yield the items with the least agreement: the fields that workers saw, and their answers.

    `shown` holds (label, text) pairs. `answered` has for each worker the (label, text) pairs of
    the answers on which the workers differ.
    """
    order = sorted(
        (percent_agreeing(agreeing) or 0.0, item)
        for item, agreeing in agreements.by_item.items()
        if not all(agreeing)
    )
    for agreeing_percent, item in order[:_LOW_ITEMS]:
        counted = [judgment for judgment in judgments if judgment.item == item and judgment.counted]
        counted.sort(key=lambda judgment: (judgment.worker, judgment.id))
        yield {
            "item": item,
            "percent": agreeing_percent,
            "shown": _fields_in_words(layout, items[item]),
            "answered": _differing_answers(layout, counted),
        }


# The label of a field or an answer, and its text.
LabelledText = tuple[str, str]


def _fields_in_words(layout: Layout, item: Item) -> list[LabelledText]:
    labelled = []
    for name, field in layout.fields.items():
        value = item.fields.get(name)
        if value and field.kind != "spans":
            labelled.append((field.label or name, _shorten(value_as_text(value))))
    return labelled


def _differing_answers(
    layout: Layout, judgments: Sequence[Judgment]
) -> list[tuple[str, list[LabelledText]]]:
    """For each judgment its worker, and the answers on which the judgments differ."""
    answers_in_words = [
        _answers_in_words(layout, judgment_answers(judgment)) for judgment in judgments
    ]
    lines = []
    labels: list[str] = []
    for answers in answers_in_words:
        labels += [label for label in answers if label not in labels]
    differing = [
        label for label in labels if len({answers.get(label) for answers in answers_in_words}) > 1
    ]
    for judgment, answers in zip(judgments, answers_in_words, strict=True):
        pairs = [(label, answers[label]) for label in differing if label in answers]
        lines.append((judgment.worker, pairs))
    return lines


def _answers_in_words(layout: Layout, answers: Mapping[str, Any]) -> dict[str, str]:
    """The answers of a judgment as text, by their labels in the layout's order."""
    texts = {}
    for name, answer in layout.answers.items():
        if name in answers:
            labels = {choice.value: choice.label for choice in answer.choices}
            if answer.kind == "flag":
                labels = {"true": "yes", "false": "no"}
            words = []
            for value in answers[name] if isinstance(answers[name], list) else [answers[name]]:
                text = rule_value(value)
                words.append(labels.get(text, text) or _group_entry(value))
            texts[answer.label] = _shorten("; ".join(words))
    return texts


def _group_entry(value: Any) -> str:
    return " / ".join(map(value_as_text, value.values())) if isinstance(value, Mapping) else ""


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
