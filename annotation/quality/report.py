"""`report.html` and `report.json`: what came back for one layout, for people and for programs.

It is what a paper's appendix says of work by people: who, how far they agree, what they were paid;
the card of a release reads `report.json`. The page has no scripts and no other files. The same
judgments give the same bytes: no clock, nothing of the machine. The wage is that of the time on the
items and of what a worker reads before the first one, where the page told it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any, get_args

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from factdrift.annotation.batch import Item, attention_kind
from factdrift.annotation.checks import value_as_text
from factdrift.annotation.layout import Layout, Rule
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
from factdrift.annotation.quality.rules import ACCEPTED_BATCH, EXPERT, failed_answers
from factdrift.annotation.quality.sampling import (
    WRONG_SHARES,
    AcceptancePlan,
    refusal_chance,
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
    gold_rows: Sequence[Gold],
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
    newest_version = versions[-1]
    layout = newest_version.layout
    latest_judgments = [judgment for judgment in judgments if judgment.batch in newest_version.pay]
    agreements_before = measure_agreement(
        layout, latest_judgments, newest_version.items, excluded=True
    )
    agreements_after = measure_agreement(layout, latest_judgments, newest_version.items)
    version_by_batch: dict[str, LayoutVersion] = {}
    rows_sent: set[str] = set()
    for version in versions:
        version_by_batch.update(dict.fromkeys(version.pay, version))
        rows_sent.update(item.row for item in version.items.values() if item.row)
    paid_submissions = _paid_submissions(version_by_batch, judgments)
    known_items = [*_known_items(version_by_batch, judgments)]
    people_figures = _people_figures(judgments, agreements_after, paid_submissions, known_items)
    expert_workers = {judgment.worker for judgment in judgments if EXPERT in judgment.flags}
    decision_counts = Counter(gold_row.decision for gold_row in gold_rows)
    return {
        "format": FORMAT,
        "layout": name,
        "title": layout.title,
        "instructions": layout.instructions,
        "platforms": sorted({judgment.platform for judgment in judgments}),
        "days": days,
        "datasets": sorted({judgment.dataset for judgment in judgments}),
        "older": len({judgment.batch for judgment in judgments} - newest_version.pay.keys()),
        "rows_sent": len(rows_sent),
        "workers": len(people_figures) - len(expert_workers),
        "experts": len(expert_workers),
        "submissions": sum(worker_figures["hits"] for worker_figures in people_figures),
        "judgments": len(judgments),
        "counted": sum(judgment.counted for judgment in judgments),
        "set_aside": all_set_aside(judgments),
        "paid": sum(judgment.paid for judgment in judgments),
        "currency": layout.pay.currency,
        "per_hit": layout.pay.per_hit,
        "planned_hourly": layout.pay.hourly,
        "due": sum((paid_submission.due for paid_submission in paid_submissions), Decimal(0)),
        "rule": _rule_in_words(layout),
        "main": agreements_after.main,
        "decisions": {
            decision_name: decision_counts[decision_name] for decision_name in get_args(Decision)
        },
        "flags": _flag_counts(judgments),
        "agreement": _agreement_figures(layout, agreements_before, agreements_after),
        "paid_workers": _pay_figures(
            [paid_submission for paid_submission in paid_submissions if not paid_submission.expert]
        ),
        "paid_experts": _pay_figures(
            [paid_submission for paid_submission in paid_submissions if paid_submission.expert]
        ),
        "checks": [*_check_figures(known_items)],
        "sample": asdict(checked_share(checked)) if layout.rule.by == "sampled" else None,
        "plans": _plan_figures(checked),
        "people": people_figures,
        "low_agreement": [
            *_low_agreement(layout, latest_judgments, newest_version.items, agreements_after)
        ],
    }


def all_set_aside(judgments: Collection[Judgment]) -> str | None:
    """Say that no judgment counts, and by which flags; None where one does, or none is there."""
    if not judgments or any(judgment.counted for judgment in judgments):
        return None
    flag_texts = [f"{name} {count:,}" for name, count in _flag_counts(judgments).items()]
    flags_text = f" (flags: {', '.join(flag_texts)})" if flag_texts else ""
    return (
        f"Every one of the {len(judgments):,} judgments was set aside{flags_text}: "
        "there is no agreement to measure, and they decide no row."
    )


def _agreement_figures(
    layout: Layout, agreements_before: Agreements, agreements_after: Agreements
) -> list[Figures]:
    return [
        {
            "answer": answer_name,
            "label": layout.answers[answer_name].label,
            "before": agreements_before.answers[answer_name],
            "after": answer_figures,
        }
        for answer_name, answer_figures in agreements_after.answers.items()
    ]


def _people_figures(
    judgments: Sequence[Judgment],
    agreements: Agreements,
    paid_submissions: Sequence["_PaidSubmission"],
    known_items: Sequence["_KnownItem"],
) -> list[Figures]:
    """The figures of every worker, sorted by the hash of the worker's id."""
    by_worker = defaultdict[str, list[Judgment]](list)
    for judgment in judgments:
        by_worker[judgment.worker].append(judgment)
    due_by_worker = defaultdict[str, Decimal](Decimal)
    for paid_submission in paid_submissions:
        due_by_worker[paid_submission.worker] += paid_submission.due
    checks_by_worker = defaultdict[str, list[bool]](list)
    for judgment, _, has_passed in known_items:
        checks_by_worker[judgment.worker].append(has_passed)
    return [
        _worker_figures(
            worker_hash,
            worker_judgments,
            agreements,
            checks_by_worker[worker_hash],
            due_by_worker[worker_hash],
        )
        for worker_hash, worker_judgments in sorted(by_worker.items())
    ]


def report_json(report: Figures) -> str:
    """The text of `report.json`."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def render_report(
    report: Figures, layout: Layout, checked: Sequence[WorkerBatch], refused_path: Path
) -> str:
    """The page of a report; `refused_path` is the file of entries that the last import refused."""
    template_environment = Environment(
        loader=FileSystemLoader(resource("annotation/quality")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template_environment.filters |= {
        "count": lambda value: f"{value:,}",
        "figure": _two_digits,
        "money": lambda value: f"{value:,.2f}",
        "percent": lambda value: "–" if value is None else f"{value:.0f} %",
    }
    interval_lows = [
        answer_figures["after"]["low"] or 0.0 for answer_figures in report["agreement"]
    ]
    axis_start = min(_AXIS_START, *interval_lows, 0.0)
    refused_lines = refused_path.read_text("utf-8").splitlines() if refused_path.is_file() else []
    refused_entries = [decode_json(refused_line) for refused_line in refused_lines]
    refused_examples = [
        {**refused_entry, "file": Path(refused_entry["file"]).name}
        for refused_entry in refused_entries[:_REFUSED_EXAMPLES]
    ]

    def axis_place(value: float) -> str:
        """Return the place of a value of alpha on the axis, which ends at 1."""
        return f"{100 * (max(value, axis_start) - axis_start) / (1 - axis_start):.2f}%"

    page_html = template_environment.get_template("report.html.j2").render(
        f=report,
        layout=layout,
        worker_batches=checked,
        checked=Counter(str(batch.accepted) for batch in checked),
        reasons=sorted(
            Counter(refused_entry["reason"] for refused_entry in refused_entries).items()
        ),
        examples=refused_examples,
        place=axis_place,
        ticks=[-1, -0.5, 0, 0.5, 1] if axis_start < -0.5 else [0, 0.25, 0.5, 0.75, 1],
        total=max(sum(report["decisions"].values()), 1),
    )
    return page_html.rstrip() + "\n"


def _rule_in_words(layout: Layout) -> str:
    rule = layout.rule
    on_answer = f" on “{layout.answers[rule.of].label}”" if rule.of else ""
    accept_text = f", {' or '.join(rule.accept)} accepts" if rule.accept else ""
    plural_ending = "s" if layout.assignments > 1 else ""
    words_by_rule = {
        "majority": f"more than half agree{on_answer}",
        "unanimous": f"all agree{on_answer}",
        "any": f"every judgment is taken{on_answer}",
        "sampled": f"{_sample_in_words(rule)} of each worker's batch go to an expert, "
        "the batch is accepted or rejected whole",
    }
    return (
        f"{layout.assignments} judgment{plural_ending} a row; {words_by_rule[rule.by]}{accept_text}"
    )


def _sample_in_words(rule: Rule) -> str:
    sample = rule.sampled if rule.sample is None else rule.sample
    return f"{sample:g} items" if sample >= 1 else f"{100 * sample:g} % of the items"


def _plan_figures(checked: Sequence[WorkerBatch]) -> list[Figures]:
    """The plans by which workers' batches are judged, with how many there are of each.

    `refused` is, for shares of wrong judgments, the chance that the plan refuses such a worker.
    """
    batch_counts = Counter(
        AcceptancePlan(len(batch.sampled), batch.errors) for batch in checked if batch.sampled
    )
    return [
        {
            "sample": plan.sample,
            "errors": plan.errors,
            "batches": batch_count,
            "refused": {
                f"{wrong_share:.2f}": refusal_chance(plan, wrong_share)
                for wrong_share in WRONG_SHARES
            },
        }
        for plan, batch_count in sorted(batch_counts.items(), reverse=True)
    ]


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


@dataclass(frozen=True)
class _PaidSubmission:
    """The pay that is due for a submission, and the seconds that it took if they are known."""

    worker: str
    expert: bool
    due: Decimal
    seconds: float | None


def _paid_submissions(
    version_by_batch: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> list[_PaidSubmission]:
    """The submissions that are paid, by the column `paid` of their judgments.

    A HIT that was handed in piece by piece is paid by the share of its items that was done. Its
    seconds are those on the items and those before the first item, where a page told them.
    """
    judgments_by_submission: dict[tuple[str, ...], list[Judgment]] = {}
    for judgment in judgments:
        if judgment.paid and not is_repeat(judgment):
            judgments_by_submission.setdefault(submission_key(judgment), []).append(judgment)
    paid_submissions = []
    for (batch, hit_id, worker_hash, *_), submission in sorted(judgments_by_submission.items()):
        submission_flags = {flag for judgment in submission for flag in judgment.flags}
        version = version_by_batch[batch]
        hit_size = version.sizes[hit_id]
        due_amount = version.pay[batch] * min(len(submission), hit_size) / hit_size
        known_times = [judgment.seconds for judgment in submission if judgment.seconds is not None]
        total_seconds = sum(known_times) if len(known_times) == len(submission) else None
        if total_seconds is not None:
            total_seconds += submission[0].reading or 0.0
        paid_submissions.append(
            _PaidSubmission(worker_hash, EXPERT in submission_flags, due_amount, total_seconds)
        )
    return paid_submissions


def _pay_figures(paid_submissions: Sequence[_PaidSubmission]) -> Figures:
    """Figures of paid submissions; `hourly` are the quartiles of pay for an hour on the items."""
    hourly_rates = [
        float(paid_submission.due) * 3600 / paid_submission.seconds
        for paid_submission in paid_submissions
        if paid_submission.seconds
    ]
    return {
        "workers": len({paid_submission.worker for paid_submission in paid_submissions}),
        "hits": len(paid_submissions),
        "due": sum((paid_submission.due for paid_submission in paid_submissions), Decimal(0)),
        "hourly": np.quantile(hourly_rates, (0.25, 0.5, 0.75)).round(2).tolist()
        if hourly_rates
        else None,
    }


# A judgment of an item with a known answer, and whether it is as known.
_KnownItem = tuple[Judgment, LayoutVersion, bool]


def _known_items(
    version_by_batch: Mapping[str, LayoutVersion], judgments: Sequence[Judgment]
) -> Iterator[_KnownItem]:
    for judgment in judgments:
        if not judgment.row:
            version = version_by_batch[judgment.batch]
            wrong_answers = failed_answers(version.layout, judgment, version.items)
            yield judgment, version, not wrong_answers


def _check_figures(known_items: Sequence[_KnownItem]) -> Iterator[Figures]:
    """For each item with known answers, how often it was asked, and answered as known."""
    by_item: dict[str, list[_KnownItem]] = {}
    for known_item in known_items:
        by_item.setdefault(known_item[0].item, []).append(known_item)
    for item_id, answered_items in sorted(by_item.items()):
        _, version, _ = answered_items[-1]
        layout, known_content = version.layout, version.items[item_id]
        field_texts = [
            value_as_text(field_value) for _, field_value in sorted(known_content.fields.items())
        ]
        yield {
            "item": item_id,
            "kind": attention_kind(layout, known_content),
            "text": _shorten(" ".join(field_texts)),
            "asked": len(answered_items),
            "passed": sum(has_passed for *_, has_passed in answered_items),
        }


def _worker_figures(
    worker_hash: str,
    judgments: Sequence[Judgment],
    agreements: Agreements,
    passed_checks: Sequence[bool],
    due_amount: Decimal,
) -> Figures:
    """The figures of one worker.

    `percent` and `alpha` compare the worker with the others. `checks` is the number of answered
    items with known answers, and `passed` of them were answered as known.
    """
    known_times = [judgment.seconds for judgment in judgments if judgment.seconds is not None]
    return {
        "name": worker_hash,
        "platforms": sorted({judgment.platform for judgment in judgments}),
        "hits": len({submission_key(judgment) for judgment in judgments}),
        "judgments": len(judgments),
        "counted": sum(judgment.counted for judgment in judgments),
        "paid": sum(judgment.paid for judgment in judgments),
        "percent": percent_agreeing(agreements.by_worker.get(worker_hash, ())),
        "alpha": agreements.alphas.get(worker_hash),
        "seconds": median(known_times) if known_times else None,
        "checks": len(passed_checks),
        "passed": sum(passed_checks),
        "flags": _flag_counts(judgments),
        "due": due_amount,
    }


def _flag_counts(judgments: Iterable[Judgment]) -> dict[str, int]:
    flag_counts = Counter[str]()
    for judgment in judgments:
        flag_counts.update(flag for flag in judgment.flags if flag != ACCEPTED_BATCH)
    return dict(sorted(flag_counts.items()))


def _low_agreement(
    layout: Layout,
    judgments: Sequence[Judgment],
    item_by_id: Mapping[str, Item],
    agreements: Agreements,
) -> Iterator[Figures]:
    """Yield the items with the least agreement: the fields that workers saw, and their answers.

    `shown` holds (label, text) pairs. `answered` has for each worker the (label, text) pairs of
    the answers on which the workers differ.
    """
    least_agreeing = sorted(
        (percent_agreeing(agreeing_pairs) or 0.0, item_id)
        for item_id, agreeing_pairs in agreements.by_item.items()
        if not all(agreeing_pairs)
    )
    for agreeing_percent, item_id in least_agreeing[:_LOW_ITEMS]:
        counted_judgments = [
            judgment for judgment in judgments if judgment.item == item_id and judgment.counted
        ]
        counted_judgments.sort(key=lambda judgment: (judgment.worker, judgment.id))
        yield {
            "item": item_id,
            "percent": agreeing_percent,
            "shown": _fields_in_words(layout, item_by_id[item_id]),
            "answered": _differing_answers(layout, counted_judgments),
        }


# The label of a field or an answer, and its text.
LabelledText = tuple[str, str]


def _fields_in_words(layout: Layout, item: Item) -> list[LabelledText]:
    labelled_texts = []
    for field_name, field in layout.fields.items():
        field_value = item.fields.get(field_name)
        if field_value and field.kind != "spans":
            labelled_texts.append((field.label or field_name, _shorten(value_as_text(field_value))))
    return labelled_texts


def _differing_answers(
    layout: Layout, judgments: Sequence[Judgment]
) -> list[tuple[str, list[LabelledText]]]:
    """For each judgment its worker, and the answers on which the judgments differ."""
    answers_in_words = [
        _answers_in_words(layout, judgment_answers(judgment)) for judgment in judgments
    ]
    answers_by_worker = []
    answer_labels: list[str] = []
    for answer_texts in answers_in_words:
        answer_labels += [
            answer_label for answer_label in answer_texts if answer_label not in answer_labels
        ]
    differing_labels = [
        answer_label
        for answer_label in answer_labels
        if len({answer_texts.get(answer_label) for answer_texts in answers_in_words}) > 1
    ]
    for judgment, answer_texts in zip(judgments, answers_in_words, strict=True):
        labelled_texts = [
            (answer_label, answer_texts[answer_label])
            for answer_label in differing_labels
            if answer_label in answer_texts
        ]
        answers_by_worker.append((judgment.worker, labelled_texts))
    return answers_by_worker


def _answers_in_words(layout: Layout, given_answers: Mapping[str, Any]) -> dict[str, str]:
    """The answers of a judgment as text, by their labels in the layout's order."""
    text_by_label = {}
    for answer_name, answer in layout.answers.items():
        if answer_name in given_answers:
            label_by_value = {choice.value: choice.label for choice in answer.choices}
            if answer.kind == "flag":
                label_by_value = {"true": "yes", "false": "no"}
            value_texts = []
            for answer_value in (
                given_answers[answer_name]
                if isinstance(given_answers[answer_name], list)
                else [given_answers[answer_name]]
            ):
                value_text = rule_value(answer_value)
                value_texts.append(
                    label_by_value.get(value_text, value_text) or _group_entry(answer_value)
                )
            text_by_label[answer.label] = _shorten("; ".join(value_texts))
    return text_by_label


def _group_entry(entry_value: Any) -> str:
    return (
        " / ".join(map(value_as_text, entry_value.values()))
        if isinstance(entry_value, Mapping)
        else ""
    )


def _shorten(long_text: str) -> str:
    single_line = " ".join(long_text.split())
    return single_line if len(single_line) <= _SHORT else single_line[: _SHORT - 1] + "…"
