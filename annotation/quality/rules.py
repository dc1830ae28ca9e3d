"""What the judgments of a row come to, by the rule of its layout."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.batch import Item
from annotation.layout import Answer, Layout
from annotation.quality.expert import agree
from annotation.quality.values import Stretch, compared, how, said, same, stretches, truth
from builders.errors import UserError
from builders.rows import Decision, Gold, Judgment


def gold(
    layout: Layout,
    row: str,
    found: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    settled: bool = False,
) -> Gold:
    """The gold row of a row's judgments, set aside or not (`found` is not empty).

    `open` where fewer than `assignments` count, unless `settled`: they are an expert's, or their
    batch has passed an expert. `majority`: more than half agree with one judgment, and they
    decide. `unanimous`: each agrees with each. `any`: all are taken, and one value of `accept`
    accepts. An agreed value outside of `accept` rejects the row.
    """
    counted = sorted((one for one in found if one.counted), key=lambda one: one.id)
    agreeing = _side(layout, counted)
    decision: Decision = "open"
    if counted and (settled or len(counted) >= layout.assignments):
        decision = _decision(layout, counted, agreeing)
    whole = decision in ("open", "disputed") or layout.rule.by == "any"
    taken = counted if whole else agreeing
    seen = (agreeing or counted or list(found))[0].item
    if seen not in items:
        hint = "bring its folder back into hits/, or take its judgments out"
        raise UserError(f"the batch of item {seen} is not there any more", hint=hint)
    fields = items[seen].fields
    return Gold(
        row=row,
        layout=found[0].layout,
        dataset=found[0].dataset,
        decision=decision,
        answers=_json(_answers(layout, taken, items)),
        shown=_json(fields),
        judgments=len(counted),
        agreeing=len(agreeing),
    )


def _side(layout: Layout, counted: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that agree with the one that most agree with; ties by their answers."""
    sides = [
        [one, *(o for o in counted if o is not one and agree(layout, one, o))] for one in counted
    ]
    return min(sides, key=lambda side: (-len(side), side[0].answers, side[0].id), default=[])


def _decision(layout: Layout, counted: Sequence[Judgment], agreeing: list[Judgment]) -> Decision:
    rule = layout.rule
    if rule.by == "any":
        return "accepted" if any(_accepts(layout, one) for one in counted) else "rejected"
    if rule.by == "unanimous":
        pairs = ((one, other) for i, one in enumerate(counted) for other in counted[:i])
        if not all(agree(layout, *pair) for pair in pairs):
            return "disputed"
    elif len(agreeing) * 2 <= len(counted):
        return "disputed"
    return "accepted" if _accepts(layout, agreeing[0]) else "rejected"


def _accepts(layout: Layout, one: Judgment) -> bool:
    rule = layout.rule
    if not rule.of or not rule.accept:
        return True
    return truth(said(one).get(rule.of)) in rule.accept


def _answers(
    layout: Layout, taken: Sequence[Judgment], items: Mapping[str, Item]
) -> dict[str, Any]:
    """Of a compared answer the agreed value; of one on which they differ, and of a free one, a
    list with an entry for each judgment, null where it gave none. What nobody gave is absent."""
    found: dict[str, Any] = {}
    given = [(said(one), items[one.item].fields if one.item in items else {}) for one in taken]
    asked = compared(layout)
    for name, answer in layout.answers.items():
        values = [(one.get(name), fields) for one, fields in given]
        plain = [value for value, _ in values]
        if all(value is None for value in plain):
            continue
        alike = all(same(answer, one, other) for one in plain for other in plain)
        found[name] = _one_of(answer, values) if name in asked and alike else plain
    return found


def _one_of(answer: Answer, values: Sequence[tuple[Any, Mapping[str, Any]]]) -> Any:
    """One of some values that agree: the most frequent spelling; of spans the one that has the
    most in common with all, then the shorter."""
    if how(answer) == "span":
        marked = [stretches(answer, value, fields) for value, fields in values]
        order = [
            (-sum(_common(one, other) for other in marked), sum(e - s for s, e in one), one, n)
            for n, one in enumerate(marked)
        ]
        return values[min(order)[-1]][0]
    written = [_json(value) for value, _ in values]
    counts = Counter(written)
    best = min(counts, key=lambda text: (-counts[text], text))
    return next(v for (v, _), text in zip(values, written, strict=True) if text == best)


def _common(one: Sequence[Stretch], other: Sequence[Stretch]) -> float:
    """Shared characters of all that either marks."""
    both = sum(max(0, min(a.end, b.end) - max(a.start, b.start)) for a in one for b in other)
    union = sum(e - s for s, e in one) + sum(e - s for s, e in other) - both
    return both / union if union else 0.0


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
