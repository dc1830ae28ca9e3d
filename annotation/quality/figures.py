"""What a report tells of one layout's judgments, as plain numbers and texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any, get_args

from annotation.batch import Item
from annotation.layout import Layout
from annotation.matching import Edition, handed_in
from annotation.quality.agreement import Agreements, measure
from annotation.quality.flags import ACCEPTED_BATCH, FAILED_ATTENTION, REJECTED_BATCH, failures
from annotation.quality.values import said, truth
from annotation.texts import plain
from builders.rows import Decision, Gold, Judgment

_LEAST = 10
_SHORT = 160


@dataclass(frozen=True)
class Worker:
    """One worker. `percent` and `alpha` are against the others; `due` leaves out rejected work,
    and has of a HIT that was handed in piece by piece the part that was done.

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
class Least:
    """An item with little agreement: what was shown, and what each said where they differ."""

    item: str
    percent: float
    shown: tuple[tuple[str, str], ...]
    said: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Figures:
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
    workers: tuple[Worker, ...]
    due: Decimal
    least: tuple[Least, ...]


def gather(
    editions: Sequence[Edition],
    name: str,
    judgments: Sequence[Judgment],
    gold: Sequence[Gold],
) -> Figures:
    """Everything of a report but an expert's checks and what was refused.

    Agreement is of the last edition's batches: answers of others have other values.
    """
    judgments = sorted(judgments, key=lambda one: one.id)
    newest = editions[-1]
    layout = newest.layout
    latest = [one for one in judgments if one.batch in newest.pay]
    agreements = measure(layout, latest, newest.items)
    by_worker: dict[str, list[Judgment]] = {}
    for one in judgments:
        by_worker.setdefault(one.worker, []).append(one)
    workers = tuple(
        _worker(editions, who, found, agreements) for who, found in sorted(by_worker.items())
    )
    decisions = Counter(one.decision for one in gold)
    return Figures(
        layout=layout,
        name=name,
        batches=len({one.batch for one in judgments}),
        older=len({one.batch for one in judgments} - newest.pay.keys()),
        rows_sent=len({i.row for edition in editions for i in edition.items.values() if i.row}),
        submissions=sum(one.hits for one in workers),
        judgments=len(judgments),
        counted=sum(one.counted for one in judgments),
        flags=_flags(judgments),
        decisions={one: decisions[one] for one in get_args(Decision)},
        agreements=agreements,
        workers=workers,
        due=sum((one.due for one in workers), Decimal(0)),
        least=_least(layout, latest, newest.items, agreements),
    )


def _worker(
    editions: Sequence[Edition],
    name: str,
    found: Sequence[Judgment],
    agreements: Agreements,
) -> Worker:
    times = [one.seconds for one in found if one.seconds is not None]
    known = [one for one in found if not one.row]
    of = {batch: edition for edition in editions for batch in edition.pay}
    submissions: dict[tuple[str, ...], list[Judgment]] = {}
    for one in found:
        submissions.setdefault(handed_in(one), []).append(one)
    paid = [
        of[batch].pay[batch] * min(len(some), of[batch].sizes[hit]) / of[batch].sizes[hit]
        for (batch, hit, *_), some in submissions.items()
        if not any({FAILED_ATTENTION, REJECTED_BATCH}.intersection(one.flags) for one in some)
    ]
    share = agreements.by_worker.get(name)
    return Worker(
        name=name,
        platforms=tuple(sorted({one.platform for one in found})),
        hits=len(submissions),
        judgments=len(found),
        counted=sum(one.counted for one in found),
        percent=share.percent if share else None,
        alpha=agreements.alphas.get(name),
        seconds=median(times) if times else None,
        checks=len(known),
        passed=sum(not failures(of[one.batch].layout, one, of[one.batch].items) for one in known),
        flags=_flags(found),
        due=sum(paid, Decimal(0)),
    )


def _flags(found: Sequence[Judgment]) -> dict[str, int]:
    counts = Counter(f for one in found for f in one.flags if f != ACCEPTED_BATCH)
    return dict(sorted(counts.items()))


def _least(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    agreements: Agreements,
) -> tuple[Least, ...]:
    order = sorted(
        (share.percent, item)
        for item, share in agreements.by_item.items()
        if share.percent is not None and share.agreeing < share.pairs
    )
    found = []
    for percent, item in order[:_LEAST]:
        fields = items[item].fields
        shown = tuple(
            (field.label or name, _short(plain(fields.get(name))))
            for name, field in layout.fields.items()
            if fields.get(name) and field.kind != "spans"
        )
        here = (one for one in judgments if one.item == item and one.counted)
        about = sorted(here, key=lambda one: (one.worker, one.id))
        answers = [_said(layout, said(one)) for one in about]
        differing = [
            label
            for label in dict.fromkeys(label for one in answers for label in one)
            if len({one.get(label) for one in answers}) > 1
        ]
        lines = tuple(
            (one.worker, tuple((label, told[label]) for label in differing if label in told))
            for one, told in zip(about, answers, strict=True)
        )
        found.append(Least(item, percent or 0.0, shown, lines))
    return tuple(found)


def _said(layout: Layout, given: Mapping[str, Any]) -> dict[str, str]:
    """Answers in words, by label: a choice by its label, a span by its text."""
    found = {}
    for name, answer in layout.answers.items():
        if name in given:
            labels = {choice.value: choice.label for choice in answer.choices}
            if answer.kind == "flag":
                labels = {"true": "yes", "false": "no"}
            value = given[name]
            many = value if isinstance(value, list) else [value]
            text = "; ".join(labels.get(truth(one), truth(one)) or _entry(one) for one in many)
            found[answer.label] = _short(text)
    return found


def _entry(value: Any) -> str:
    """An entry of a group."""
    return " / ".join(map(plain, value.values())) if isinstance(value, Mapping) else ""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
