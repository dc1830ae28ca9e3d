"""What a paper's appendix says of work by people: who, how far they agree, what they were paid.

`report.json` holds all of it; the card of a release reads `report.json`.
Times are those on the items: what a worker reads before the first item is not in them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from statistics import median

import numpy as np

from factdrift.annotation.batch import Item, check_kind
from factdrift.annotation.checks import plain
from factdrift.annotation.layout import Layout
from factdrift.annotation.matching import DUPLICATE, LayoutVersion, is_further, submission_key
from factdrift.annotation.quality.agreement import (
    Agreement,
    answers_of,
    compared_answers,
    comparison,
    comparison_key,
    measure_agreement,
)
from factdrift.annotation.quality.expert import WorkerBatch, checked_share
from factdrift.annotation.quality.kappa import (
    FleissKappa,
    Rating,
    cohen_kappas,
    dawid_skene,
    fleiss_kappa,
    majority,
)
from factdrift.annotation.quality.rules import (
    EXPERT,
    FAILED_ATTENTION,
    REJECTED_BATCH,
    failed_answers,
)
from factdrift.annotation.quality.sampling import ErrorBound
from factdrift.builders.rows import Judgment

FORMAT = "factdrift-report/1"
_FEWEST_COMMON = 5
"""Items that two workers have in common for a Cohen's kappa of theirs."""
_DIFFERING = 20
_SHORT = 80


@dataclass(frozen=True)
class Kappas:
    """Of one answer; Cohen's are of the pairs of workers with enough items in common."""

    fleiss: FleissKappa
    pairs: int
    cohen_median: float | None
    cohen_low: float | None
    cohen_high: float | None


@dataclass(frozen=True)
class AnswerAgreement:
    """One answer, with all judgments but repeated ones (`before`) and with those that count."""

    answer: str
    label: str
    before: Agreement
    after: Agreement
    kappas_before: Kappas
    kappas_after: Kappas


@dataclass(frozen=True)
class Estimate:
    """Values by Dawid and Skene beside those of the majority, of the judgments that count.

    `same` of `items` are the same; in `ties` the majority has none. `differing`: a few of the
    others, as (item, majority, estimate, its probability).
    """

    answer: str
    label: str
    items: int
    same: int
    ties: int
    differing: tuple[tuple[str, str, str, float], ...]


@dataclass(frozen=True)
class PaidWork:
    """Submissions that are paid, and what an hour on the items came to (`hourly`, quartiles)."""

    workers: int
    hits: int
    due: Decimal
    timed: int
    hourly: tuple[float, float, float] | None


@dataclass(frozen=True)
class CheckResult:
    """An item with a known answer: how often it was asked, and answered as known."""

    item: str
    kind: str
    text: str
    asked: int
    passed: int


@dataclass(frozen=True)
class Appendix:
    """One layout; `days` are the first and the last on which a server took answers."""

    layout: str
    title: str
    instructions: tuple[str, ...]
    platforms: tuple[str, ...]
    days: tuple[str, str] | None
    datasets: tuple[str, ...]
    workers: int
    experts: int
    judgments: int
    counted: int
    currency: str
    per_hit: Decimal
    planned_hourly: Decimal
    rule: str
    main: str | None
    decisions: Mapping[str, int]
    flags: Mapping[str, int]
    agreement: tuple[AnswerAgreement, ...]
    estimates: tuple[Estimate, ...]
    paid_workers: PaidWork
    paid_experts: PaidWork
    checks: tuple[CheckResult, ...]
    sample: ErrorBound | None

    def json(self) -> str:
        """The text of `report.json`."""
        found = {"format": FORMAT, **asdict(self)}
        return json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


@dataclass(frozen=True)
class PaidSubmission:
    """What one submission is due, and the seconds on its items; None: not all are known."""

    worker: str
    expert: bool
    due: Decimal
    seconds: float | None


def paid_submissions(
    versions: Sequence[LayoutVersion], judgments: Sequence[Judgment]
) -> list[PaidSubmission]:
    """The submissions that are paid: not rejected ones, and a HIT once to a worker.

    Of a HIT that was handed in piece by piece the share that was done.
    """
    of = {batch: version for version in versions for batch in version.pay}
    submissions: dict[tuple[str, ...], list[Judgment]] = {}
    for one in judgments:
        submissions.setdefault(submission_key(one), []).append(one)
    found = []
    for (batch, hit, worker, *_), every in sorted(submissions.items()):
        own = [one for one in every if not is_further(one)]
        if not own or any({FAILED_ATTENTION, REJECTED_BATCH}.intersection(o.flags) for o in own):
            continue
        size = of[batch].sizes[hit]
        times = [one.seconds for one in own if one.seconds is not None]
        due = of[batch].pay[batch] * min(len(own), size) / size
        is_expert = any(EXPERT in one.flags for one in own)
        seconds = sum(times) if len(times) == len(own) else None
        found.append(PaidSubmission(worker, is_expert, due, seconds))
    return found


def appendix(
    versions: Sequence[LayoutVersion],
    name: str,
    judgments: Sequence[Judgment],
    *,
    rule: str,
    decisions: Mapping[str, int],
    flags: Mapping[str, int],
    checked: Sequence[WorkerBatch] = (),
    days: tuple[str, str] | None = None,
) -> Appendix:
    """Everything that can be told of one layout; agreement is of the newest version's batches."""
    newest = versions[-1]
    layout = newest.layout
    latest = [one for one in judgments if one.batch in newest.pay]
    paid = paid_submissions(versions, judgments)
    experts = {one.worker for one in judgments if EXPERT in one.flags}
    main = layout.rule.of if layout.rule.of in compared_answers(layout) else None
    return Appendix(
        layout=name,
        title=layout.title,
        instructions=layout.instructions,
        platforms=tuple(sorted({one.platform for one in judgments})),
        days=days,
        datasets=tuple(sorted({one.dataset for one in judgments})),
        workers=len({one.worker for one in judgments} - experts),
        experts=len(experts),
        judgments=len(judgments),
        counted=sum(one.counted for one in judgments),
        currency=layout.pay.currency,
        per_hit=layout.pay.per_hit,
        planned_hourly=layout.pay.hourly,
        rule=rule,
        main=main,
        decisions=dict(decisions),
        flags=dict(flags),
        agreement=tuple(_agreement(layout, latest, newest.items)),
        estimates=tuple(_estimates(layout, latest)),
        paid_workers=_paid_work([one for one in paid if not one.expert]),
        paid_experts=_paid_work([one for one in paid if one.expert]),
        checks=tuple(_checks(versions, judgments)),
        sample=checked_share(checked) if layout.rule.by == "sampled" else None,
    )


def _agreement(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> Iterator[AnswerAgreement]:
    before = measure_agreement(layout, judgments, items, excluded=True)
    after = measure_agreement(layout, judgments, items)
    for first, second in zip(before.answers, after.answers, strict=True):
        every = _ratings(layout, first.answer, judgments, excluded=True)
        counted = _ratings(layout, first.answer, judgments)
        yield AnswerAgreement(
            first.answer, first.label, first, second, _kappas(every), _kappas(counted)
        )


def _ratings(
    layout: Layout, name: str, judgments: Sequence[Judgment], *, excluded: bool = False
) -> list[Rating]:
    """The values of an answer; none where it is marked text."""
    answer = layout.answers[name]
    if comparison(answer) == "span":
        return []
    found = []
    for one in sorted(judgments, key=lambda one: one.id):
        kept = DUPLICATE not in one.flags if excluded else one.counted
        given = answers_of(one) if one.row and kept else {}
        if name in given:
            found.append(Rating(one.item, one.worker, comparison_key(answer, given[name])))
    return found


def _kappas(ratings: Sequence[Rating]) -> Kappas:
    pairs = [one for one in cohen_kappas(ratings, _FEWEST_COMMON) if one.kappa is not None]
    values = [one.kappa for one in pairs if one.kappa is not None]
    return Kappas(
        fleiss=fleiss_kappa(ratings),
        pairs=len(pairs),
        cohen_median=median(values) if values else None,
        cohen_low=min(values, default=None),
        cohen_high=max(values, default=None),
    )


def _estimates(layout: Layout, judgments: Sequence[Judgment]) -> Iterator[Estimate]:
    """Of the answers with a few values, on items that two or more have judged."""
    for name, answer in compared_answers(layout).items():
        if answer.kind not in ("choice", "flag") or comparison(answer) != "value" or answer.field:
            continue
        ratings = _ratings(layout, name, judgments)
        votes = majority(ratings)
        counts = Counter(one.item for one in ratings)
        items = sorted(item for item in votes if counts[item] > 1)
        if not items:
            continue
        best = dawid_skene(ratings).values
        differing = [
            (item, _value(vote), _value(best[item][0]), round(best[item][1], 4))
            for item in items
            if (vote := votes[item]) is not None and vote != best[item][0]
        ]
        ties = sum(votes[item] is None for item in items)
        same = len(items) - ties - len(differing)
        yield Estimate(name, answer.label, len(items), same, ties, tuple(differing[:_DIFFERING]))


def _value(key: str) -> str:
    found = json.loads(key)
    return found if isinstance(found, str) else key


def _paid_work(paid: Sequence[PaidSubmission]) -> PaidWork:
    rates = [float(one.due) * 3600 / one.seconds for one in paid if one.seconds]
    low, middle, high = np.quantile(rates, (0.25, 0.5, 0.75)) if rates else (0.0, 0.0, 0.0)
    return PaidWork(
        workers=len({one.worker for one in paid}),
        hits=len(paid),
        due=sum((one.due for one in paid), Decimal(0)),
        timed=len(rates),
        hourly=(round(low, 2), round(middle, 2), round(high, 2)) if rates else None,
    )


def _checks(
    versions: Sequence[LayoutVersion], judgments: Sequence[Judgment]
) -> Iterator[CheckResult]:
    of = {batch: version for version in versions for batch in version.pay}
    counts: dict[str, list[int]] = {}
    last: dict[str, LayoutVersion] = {}
    for one in judgments:
        version = of[one.batch]
        if not one.row and one.item in version.items:
            failed = failed_answers(version.layout, one, version.items)
            seen = counts.setdefault(one.item, [0, 0])
            seen[0] += 1
            seen[1] += not failed
            last[one.item] = version
    for item, (asked, passed) in sorted(counts.items()):
        version = last[item]
        fields = version.items[item].fields
        text = " ".join(plain(value) for _, value in sorted(fields.items()))
        flat = " ".join(text.split())
        short = flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
        kind = check_kind(version.layout, version.items[item])
        yield CheckResult(item, kind, short, asked, passed)
