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

_REFUSED_EXAMPLES = 20
_LOW_ITEMS = 10
_SHORT = 160
"""Characters of a text in the report."""


def make_report(
    versions: Sequence[LayoutVersion],
    name: str,
    judgments: Sequence[Judgment],
    gold: Sequence[Gold],
    checked: Sequence[WorkerBatch] = (),
    days: tuple[str, str] | None = None,
) -> Figures:
    """Everything that is reported of one layout; `checked`: the experts' checks.

    `days` are the first and the last on which a server took answers; `older`: batches in which
    other values could be answered. Agreement is of the batches of the last version: answers of
    others have other values. It is of all judgments but repeated ones (`before`) and of those that
    count (`after`).
    """
    judgments = sorted(judgments, key=lambda one: one.id)
    newest = versions[-1]
    layout = newest.layout
    latest = [one for one in judgments if one.batch in newest.pay]
    before = measure_agreement(layout, latest, newest.items, excluded=True)
    after = measure_agreement(layout, latest, newest.items)
    of = {batch: version for version in versions for batch in version.pay}
    paid = _paid_submissions(of, judgments)
    known = [*_known_items(of, judgments)]
    experts = {one.worker for one in judgments if EXPERT in one.flags}
    by_worker: dict[str, list[Judgment]] = {}
    for one in judgments:
        by_worker.setdefault(one.worker, []).append(one)
    due = defaultdict[str, Decimal](Decimal)
    for submission in paid:
        due[submission.worker] += submission.due
    passed = defaultdict[str, list[bool]](list)
    for one, _, as_known in known:
        passed[one.worker].append(as_known)
    people = [
        _worker_figures(who, found, after, passed[who], due[who])
        for who, found in sorted(by_worker.items())
    ]
    decisions = Counter(one.decision for one in gold)
    return {
        "format": FORMAT,
        "layout": name,
        "title": layout.title,
        "instructions": layout.instructions,
        "platforms": sorted({one.platform for one in judgments}),
        "days": days,
        "datasets": sorted({one.dataset for one in judgments}),
        "older": len({one.batch for one in judgments} - newest.pay.keys()),
        "rows_sent": len({i.row for v in versions for i in v.items.values() if i.row}),
        "workers": len(by_worker.keys() - experts),
        "experts": len(experts),
        "submissions": sum(one["hits"] for one in people),
        "judgments": len(judgments),
        "counted": sum(one.counted for one in judgments),
        "currency": layout.pay.currency,
        "per_hit": layout.pay.per_hit,
        "planned_hourly": layout.pay.hourly,
        "due": sum((one.due for one in paid), Decimal(0)),
        "rule": _rule_in_words(layout),
        "main": after.main,
        "decisions": {one: decisions[one] for one in get_args(Decision)},
        "flags": _flag_counts(judgments),
        "agreement": [
            {
                "answer": answer,
                "label": layout.answers[answer].label,
                "before": before.answers[answer],
                "after": found,
            }
            for answer, found in after.answers.items()
        ],
        "paid_workers": _pay_figures([one for one in paid if not one.expert]),
        "paid_experts": _pay_figures([one for one in paid if one.expert]),
        "checks": [*_check_figures(known)],
        "sample": asdict(checked_share(checked)) if layout.rule.by == "sampled" else None,
        "people": people,
        "low_agreement": [*_low_agreement(layout, latest, newest.items, after)],
    }


def report_json(report: Figures) -> str:
    """The text of `report.json`."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def render_report(
    report: Figures, layout: Layout, checked: Sequence[WorkerBatch], refused: Path
) -> str:
    """The page; `refused`: the file of what the last import did not take."""
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
    left = min(-0.2, *(one["after"]["low"] or 0.0 for one in report["agreement"]), 0.0)
    lines = refused.read_text("utf-8").splitlines() if refused.is_file() else []
    entries = [decode_json(line) for line in lines]
    page = environment.get_template("report.html.j2").render(
        f=report,
        layout=layout,
        worker_batches=checked,
        checked=Counter(str(batch.accepted) for batch in checked),
        reasons=sorted(Counter(one["reason"] for one in entries).items()),
        examples=[{**one, "file": Path(one["file"]).name} for one in entries[:_REFUSED_EXAMPLES]],
        place=lambda value: f"{100 * (max(value, left) - left) / (1 - left):.2f}%",
        ticks=[-1, -0.5, 0, 0.5, 1] if left < -0.5 else [0, 0.25, 0.5, 0.75, 1],
        total=max(sum(report["decisions"].values()), 1),
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


@dataclass(frozen=True)
class _PaidSubmission:
    """What one submission is due, and the seconds on its items; None: not all are known."""

    worker: str
    expert: bool
    due: Decimal
    seconds: float | None


def _paid_submissions(
    of: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> list[_PaidSubmission]:
    """The submissions that are paid: not rejected ones, and a HIT once to a worker.

    Of a HIT that was handed in piece by piece the share that was done; `of`: versions by batch.
    """
    submissions: dict[tuple[str, ...], list[Judgment]] = {}
    for one in judgments:
        submissions.setdefault(submission_key(one), []).append(one)
    found = []
    for (batch, hit, worker, *_), every in sorted(submissions.items()):
        own = [one for one in every if not is_repeat(one)]
        if not own or any({FAILED_ATTENTION, REJECTED_BATCH}.intersection(o.flags) for o in own):
            continue
        size = of[batch].sizes[hit]
        times = [one.seconds for one in own if one.seconds is not None]
        due = of[batch].pay[batch] * min(len(own), size) / size
        is_expert = any(EXPERT in one.flags for one in own)
        seconds = sum(times) if len(times) == len(own) else None
        found.append(_PaidSubmission(worker, is_expert, due, seconds))
    return found


def _pay_figures(paid: Sequence[_PaidSubmission]) -> Figures:
    """Of submissions that are paid; `hourly`: quartiles of what an hour on the items came to."""
    rates = [float(one.due) * 3600 / one.seconds for one in paid if one.seconds]
    return {
        "workers": len({one.worker for one in paid}),
        "hits": len(paid),
        "due": sum((one.due for one in paid), Decimal(0)),
        "hourly": np.quantile(rates, (0.25, 0.5, 0.75)).round(2).tolist() if rates else None,
    }


_KnownItem = tuple[Judgment, LayoutVersion, bool]
"""A judgment of an item with a known answer, and whether it is as known."""


def _known_items(
    of: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> Iterator[_KnownItem]:
    for one in judgments:
        if not one.row:
            version = of[one.batch]
            yield one, version, not failed_answers(version.layout, one, version.items)


def _check_figures(known: Sequence[_KnownItem]) -> Iterator[Figures]:
    """Of items with known answers: how often each was asked, and answered as known."""
    by_item: dict[str, list[_KnownItem]] = {}
    for one in known:
        by_item.setdefault(one[0].item, []).append(one)
    for name, asked in sorted(by_item.items()):
        _, version, _ = asked[-1]
        layout, item = version.layout, version.items[name]
        yield {
            "item": name,
            "kind": attention_kind(layout, item),
            "text": _shorten(
                " ".join(value_as_text(value) for _, value in sorted(item.fields.items()))
            ),
            "asked": len(asked),
            "passed": sum(passed for *_, passed in asked),
        }


def _worker_figures(
    name: str,
    found: Sequence[Judgment],
    agreements: Agreements,
    checks: Sequence[bool],
    due: Decimal,
) -> Figures:
    """Of one worker. `percent` and `alpha` are against the others; `passed` of `checks` items with
    known answers were answered as known."""
    times = [one.seconds for one in found if one.seconds is not None]
    return {
        "name": name,
        "platforms": sorted({one.platform for one in found}),
        "hits": len({submission_key(one) for one in found}),
        "judgments": len(found),
        "counted": sum(one.counted for one in found),
        "percent": percent_agreeing(agreements.by_worker.get(name, ())),
        "alpha": agreements.alphas.get(name),
        "seconds": median(times) if times else None,
        "checks": len(checks),
        "passed": sum(checks),
        "flags": _flag_counts(found),
        "due": due,
    }


def _flag_counts(found: Sequence[Judgment]) -> dict[str, int]:
    counts = Counter(f for one in found for f in one.flags if f != ACCEPTED_BATCH)
    return dict(sorted(counts.items()))


def _low_agreement(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    agreements: Agreements,
) -> Iterator[Figures]:
    """The items with the least agreement: the fields shown, as (label, text), and where the workers
    differ what each answered, as (worker, (label, text) pairs)."""
    order = sorted(
        (percent_agreeing(agreeing) or 0.0, item)
        for item, agreeing in agreements.by_item.items()
        if not all(agreeing)
    )
    for agreeing, item in order[:_LOW_ITEMS]:
        fields = items[item].fields
        shown = [
            (field.label or name, _shorten(value_as_text(fields.get(name))))
            for name, field in layout.fields.items()
            if fields.get(name) and field.kind != "spans"
        ]
        here = (one for one in judgments if one.item == item and one.counted)
        about = sorted(here, key=lambda one: (one.worker, one.id))
        answers = [_answers_in_words(layout, judgment_answers(one)) for one in about]
        differing = [
            label
            for label in dict.fromkeys(label for given in answers for label in given)
            if len({given.get(label) for given in answers}) > 1
        ]
        lines = [
            (one.worker, [(label, given[label]) for label in differing if label in given])
            for one, given in zip(about, answers, strict=True)
        ]
        yield {"item": item, "percent": agreeing, "shown": shown, "answered": lines}


def _answers_in_words(layout: Layout, given: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for name, answer in layout.answers.items():
        if name in given:
            labels = {choice.value: choice.label for choice in answer.choices}
            if answer.kind == "flag":
                labels = {"true": "yes", "false": "no"}
            value = given[name]
            many = value if isinstance(value, list) else [value]
            words = (labels.get(rule_value(v), rule_value(v)) or _group_entry(v) for v in many)
            found[answer.label] = _shorten("; ".join(words))
    return found


def _group_entry(value: Any) -> str:
    return " / ".join(map(value_as_text, value.values())) if isinstance(value, Mapping) else ""


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
