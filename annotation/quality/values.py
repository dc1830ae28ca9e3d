"""When two workers' values are the same, by the `agree` of their answer."""

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from annotation.batch import Json
from annotation.layout import Answer, Layout
from annotation.texts import paragraphs, plain
from builders.questions.squad import normal_or_all
from builders.rows import Judgment

How = Literal["value", "text", "span", "none"]
_BY_KIND: dict[str, How] = {
    "choice": "value",
    "choices": "value",
    "flag": "value",
    "text": "text",
    "span": "span",
    "spans": "span",
    "group": "none",
}


class Stretch(NamedTuple):
    """Marked characters of a field, `start` to `end`; paragraphs counted as one after another."""

    start: int
    end: int


def how(answer: Answer) -> How:
    """How values of an answer are compared: as its layout says, else by its kind."""
    return answer.agree or _BY_KIND[answer.kind]


def compared(layout: Layout) -> dict[str, Answer]:
    """The answers that are compared at all, in the layout's order."""
    return {name: one for name, one in layout.answers.items() if how(one) != "none"}


def said(judgment: Judgment) -> dict[str, Any]:
    """The answers of a judgment; one that was not asked, by its `when`, is absent."""
    found: dict[str, Any] = json.loads(judgment.answers)
    return found


def key(answer: Answer, value: Json) -> str:
    """What is equal for values that count as one; of a span its text.

    A value as JSON (of `choices` in any order), a text after SQuAD normalisation.
    """
    if how(answer) in ("text", "span"):
        return normal_or_all(plain(value))
    if answer.kind == "choices" and isinstance(value, Sequence):
        value = sorted(map(str, value))
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same(answer: Answer, one: Json, other: Json) -> bool:
    """Whether two values agree; one that is absent agrees with an absent one alone.

    Spans agree where they share a character; lists of spans where each span of either shares one
    with a span of the other.
    """
    if one is None or other is None:
        return one is other
    if how(answer) != "span":
        return key(answer, one) == key(answer, other)
    first, second = _places(one), _places(other)
    return _covered(first, second) and _covered(second, first)


def truth(value: Json) -> str:
    """A value as `accept` and `when` have it: `true` and `false` for flags."""
    return str(value).lower() if isinstance(value, bool) else plain(value)


def stretches(answer: Answer, value: Json, fields: Mapping[str, Json]) -> list[Stretch]:
    """The marked characters of a field, merged and sorted."""
    starts = [0, *accumulate(map(len, paragraphs(fields.get(answer.field or ""))))]
    found: list[Stretch] = []
    for paragraph, start, end in sorted(_places(value)):
        base = starts[min(paragraph, len(starts) - 1)]
        one = Stretch(base + start, base + end)
        if found and one.start <= found[-1].end:
            one = Stretch(found[-1].start, max(found.pop().end, one.end))
        found.append(one)
    return found


def length(answer: Answer, fields: Mapping[str, Json]) -> int:
    """Characters of the field that spans of an answer are marked in."""
    return sum(map(len, paragraphs(fields.get(answer.field or ""))))


def _places(value: Json) -> list[tuple[int, int, int]]:
    many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [
        (_whole(one.get("paragraph")), _whole(one.get("start")), _whole(one.get("end")))
        for one in many
        if isinstance(one, Mapping)
    ]


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _covered(some: list[tuple[int, int, int]], by: list[tuple[int, int, int]]) -> bool:
    return all(
        any(p == q and start < to and begin < end for q, begin, to in by) for p, start, end in some
    )
