"""Segments as people left them: corrected, given words of the page, or taken from it.

After: TimeQA (paper 001), section 2.1 (human verification).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from builders import rows
from builders.store import row_id
from builders.timeqa.mentions import Mention, PageText
from builders.timeqa.nearest import stated
from builders.timeqa.verdicts import Marked, Verdict, page_sha256, seen_of
from builders.timeqa.wording import tokens

_RELEASED = tuple(f.name for f in fields(rows.ReleasedAlignedSegment))
_NOWHERE = {
    "rule": "none", "paragraph": None, "start": None, "end": None, "mention": None, "score": None,
    "start_stated": None, "end_stated": None,
}  # fmt: skip
_OBJECT = ("object", "object_label", "aliases")


@dataclass(frozen=True, slots=True)
class Revised:
    """What people's word made of one segment: one row an object, or why it was not taken."""

    segments: tuple[rows.VerifiedSegment, ...]
    reason: str | None = None


def revise(
    history: Sequence[rows.ReleasedAlignedSegment],
    verdicts: Mapping[str, Verdict],
    page: rows.Page,
) -> list[Revised | None]:
    """What each segment of one history became; None: nobody was asked about it.

    Reasons: `changed` (people saw another segment or page than these), `no_words` (said to be
    right, though neither alignment nor people found words for it), `not_in_page` (what is
    marked is not in the page).
    """
    given = [verdicts.get(one.id) for one in history]
    if not any(given):
        return [None] * len(given)
    reader = _Reader(history, page)
    pairs = zip(history, given, strict=True)
    found = [reader.revised(one, said) if said else None for one, said in pairs]
    if all(one and one.reason is None for one in found):
        whole = [one.segments for one in found if one]
        return [Revised(tuple(replace(s, complete=True) for s in some)) for some in whole]
    return found


class _Reader:
    """One history and its page, read at most once."""

    def __init__(self, history: Sequence[rows.ReleasedAlignedSegment], page: rows.Page) -> None:
        self._history = history
        self._page = page
        self._texts = [p.text for p in page.paragraphs]
        self._sha256 = page_sha256(self._texts)
        self._words: PageText | None = None

    def revised(self, one: rows.ReleasedAlignedSegment, verdict: Verdict) -> Revised:
        if verdict.seen != seen_of(one) or verdict.page != self._sha256:
            return Revised((), "changed")
        late: tuple[rows.Revision, ...] = () if verdict.timed else ("time",)
        if verdict.verdict == "unanswerable":
            what: tuple[rows.Revision, ...] = () if one.rule == "none" else ("unanswerable",)
            return Revised((self._made(one, what, _NOWHERE),))
        if verdict.verdict == "correct":
            if one.rule == "none" and verdict.timed:
                return Revised((), "no_words")
            return Revised((self._made(one, late, _NOWHERE if late else {}),))
        if not all(self._stands(m) for m in verdict.marked):
            return Revised((), "not_in_page")
        made: dict[str, rows.VerifiedSegment] = {}
        for marked in verdict.marked:
            named = self._named(one, marked)
            words = self._at(one, marked)
            moved = _kind(one, str(named["object"]), marked)
            changes = named | (_NOWHERE if late else words)
            made.setdefault(str(named["object"]), self._made(one, moved + late, changes))
        return Revised(tuple(made.values()))

    def _stands(self, marked: Marked) -> bool:
        if marked.paragraph >= len(self._texts) or not tokens(marked.text):
            return False
        return self._texts[marked.paragraph][marked.start : marked.end] == marked.text

    def _named(self, one: rows.ReleasedAlignedSegment, marked: Marked) -> dict[str, object]:
        """Whom the words name: the segment's object, another one of the history, or a new one."""
        words = tokens(marked.text)
        for other in (one, *self._history):
            if any(tokens(name) == words for name in (other.object_label, *other.aliases)):
                return {name: getattr(other, name) for name in _OBJECT}
        named = f"text-{row_id(one.subject, *words)}"
        return {"object": named, "object_label": marked.text.strip(), "aliases": ()}

    def _at(self, one: rows.ReleasedAlignedSegment, marked: Marked) -> dict[str, object]:
        self._words = self._words or PageText(self._page)
        mention = Mention(marked.paragraph, marked.start, marked.end)
        begun, ended = stated(self._words, mention, one)
        place = {"paragraph": marked.paragraph, "start": marked.start, "end": marked.end}
        dates = {"start_stated": begun, "end_stated": ended}
        return {"rule": "name", "mention": marked.text, "score": None, **place, **dates}

    def _made(
        self,
        one: rows.ReleasedAlignedSegment,
        revisions: tuple[rows.Revision, ...],
        changes: Mapping[str, object],
    ) -> rows.VerifiedSegment:
        values = {name: getattr(one, name) for name in _RELEASED} | dict(changes)
        values["id"] = row_id(one.id, values["object"])
        values["verification"] = "human"
        return rows.VerifiedSegment(
            **values,
            segment=one.id,
            revisions=revisions,
            suggested=one.object_label,
            complete=False,
        )


def _kind(
    one: rows.ReleasedAlignedSegment, object_: str, marked: Marked
) -> tuple[rows.Revision, ...]:
    if object_ != one.object:
        return ("object",)
    if one.rule == "none":
        return ("span",)
    return () if marked[:3] == (one.paragraph, one.start, one.end) else ("place",)
