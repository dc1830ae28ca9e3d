"""What answers the questions of one pair: its objects, and where the page says so."""

from collections.abc import Sequence
from typing import NamedTuple

from builders.rows import AlignedSegment, AlignmentRule, Answer, Answerable, Verification
from builders.timeqa.asked import Selected

_RULES: dict[AlignmentRule, int] = {"link": 0, "name": 1, "similar": 2, "none": 3}


class Found(NamedTuple):
    """The answers of a question, as fields of `Asked`."""

    objects: tuple[Answer, ...]
    rules: tuple[AlignmentRule, ...]
    selected: tuple[Selected, ...]
    answerable: Answerable
    verification: Verification
    page: int
    revision: int


class Answers:
    """The answers that a pair's segments make; questions of the same ones share them."""

    def __init__(self, segments: Sequence[AlignedSegment]) -> None:
        self._segments = segments
        self._unchecked = {i for i, s in enumerate(segments) if s.verification != "human"}
        self._known: dict[tuple[int, ...], Found] = {}

    def of(self, chosen: tuple[int, ...]) -> Found:
        """Each object of some segments once, by the best rule that found it."""
        if (known := self._known.get(chosen)) is not None:
            return known
        objects: list[Answer] = []
        rules: list[AlignmentRule] = []
        for j in sorted(chosen, key=self._place) if len(chosen) > 1 else chosen:
            s = self._segments[j]
            if objects and objects[-1].id == s.object:
                continue
            objects.append(Answer(s.object, s.object_label, s.aliases))
            rules.append(s.rule)
        there = rules.count("none") < len(rules)
        behind = chosen or range(len(self._segments))
        checked = not self._unchecked or self._unchecked.isdisjoint(behind)
        first = self._segments[behind[0]]
        self._known[chosen] = found = Found(
            tuple(objects),
            tuple(rules),
            tuple([self._selected(j) for j in chosen]),
            "yes" if there else "not_in_page" if chosen else "nothing_holds",
            "human" if checked else "automatic",
            first.page,
            first.revision,
        )
        return found

    def _selected(self, j: int) -> Selected:
        s = self._segments[j]
        return Selected(j, s.object, s.rule, s.paragraph, s.start, s.end, s.mention)

    def _place(self, j: int) -> tuple[int, str, int]:
        s = self._segments[j]
        return len(s.object), s.object, _RULES[s.rule]
