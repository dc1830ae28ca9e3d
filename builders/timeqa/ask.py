"""Time-sensitive questions about one subject and relation, easy and hard.

A question is made only where its answer is beyond doubt: the answer set is worked out anew from
all segments of the pair, and where one of them, or a gap, may or may not hold at the time, the
question is dropped and counted. See `builders.timeqa.specifiers` for what a time selects.

After: TimeQA (paper 001), section 2.2 and figure 3; the settling of doubt is ours.
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from builders.cloze.templates import Relation
from builders.rows import Difficulty, Dropped, Specifier
from builders.store import row_id
from builders.timeqa import wording
from builders.timeqa.answers import Answers
from builders.timeqa.asked import Asked, Pair, Questions, Selected
from builders.timeqa.choose import Draws, Timeline, easy, hard, start, window
from builders.timeqa.specifiers import Time, Unit, select, touched

__all__ = ["STEP", "Asked", "Asker", "Pair", "Questions", "Selected", "ask_pair"]

STEP = "ask"
_MONTH = 31


def ask_pair(
    pair: Pair, relation: Relation, settings: Questions, seed: int
) -> tuple[list[Asked], list[Dropped]]:
    """The easy and hard questions of a pair, in the order of its segments.

    Dropped, one row a segment and specifier, with the reason of the last try: `in_doubt`,
    `ambiguous` (before and after have one answer; a hard `between` has the same answers with and
    without its two units), `gives_answer`, `after_snapshot`, `near_snapshot` (too few days are
    after it), `no_template` (no variant serves the specifier), `coarse_boundary` (easy, of a
    segment without a boundary that can be printed).
    """
    asker = Asker(pair, relation, settings, seed)
    for i in range(len(pair.segments)):
        asker.easy(i)
    for i in range(len(pair.segments)):
        asker.hard(i)
    asker.unanswerable()
    return asker.asked, asker.dropped


class Asker:
    """Asks about one pair: draws times, settles their answers, and keeps what is left."""

    def __init__(self, pair: Pair, relation: Relation, settings: Questions, seed: int) -> None:
        self.pair, self.relation, self.settings, self.seed = pair, relation, settings, seed
        self.line = Timeline(pair.segments, pair.gaps)
        self.pointwise = relation.mode == "pointwise"
        self.asked: list[Asked] = []
        self.dropped: list[Dropped] = []
        self.seen: set[Time] = set()
        self.hard_times = 0
        self.own_key = start(seed, pair.subject, pair.relation)
        self.keys = [self._key(i) for i in range(len(pair.segments))]
        self.answers = Answers(pair.segments)
        self.names = [wording.names(s.object_label, s.aliases) for s in pair.segments]
        words = frozenset(wording.tokens(pair.subject_label))
        self.subject_words = wording.significant(words)
        self.frames = [wording.frame(q.ask, pair.subject_label, words) for q in relation.questions]
        self.templates = [f"{relation.relation}/{n + 1}" for n in range(len(self.frames))]
        self.serving: dict[Specifier, list[int]] = {}
        for place, variant in enumerate(relation.questions):
            for time in variant.times:
                self.serving.setdefault(time, []).append(place)

    def easy(self, i: int) -> None:
        """One question whose time is the segment's own boundaries."""
        times = easy(self.line, i, self.pointwise, self.settings.short_months * _MONTH)
        why: str | None = "coarse_boundary"
        detail = None
        for time in times:
            if time in self.seen:
                return
            why = self.ask(time, i, "easy")
            if why is None:
                return
            detail = wording.specifier(time, True)
        self._drop(why, i, detail)

    def hard(self, i: int) -> None:
        """Up to `settings.hard` questions about moments inside the segment."""
        key = self.keys[i]
        kinds: list[Specifier] = ["in", "between", "before", "after"]
        order = Draws(key)
        made = 0
        while kinds and made < self.settings.hard:
            kind = kinds.pop(order.below(len(kinds)))
            draws = Draws(key ^ _PURPOSE[kind])
            why = last = None
            for _ in range(self.settings.tries):
                time = hard(self.line, i, kind, self.pointwise, draws)
                if time is None:
                    break
                if time in self.seen:
                    continue
                why, last = self.ask(time, i, "hard"), time
                if why is None:
                    made += 1
                    break
            if why and last:
                self._drop(why, i, wording.specifier(last, False))
        self.hard_times += made

    def unanswerable(self) -> None:
        """Hard questions about years near the pair's own in which nothing is known to hold."""
        share = self.settings.unanswerable
        wanted = self.hard_times * share / (1 - share)
        draws = Draws(self.own_key)
        count = int(wanted) + (draws.below(1 << 20) < wanted % 1 * (1 << 20))
        for _ in range(count):
            for _ in range(self.settings.tries):
                time = window(self.line, self.settings.window_years, draws)
                if time is None:
                    return
                if time not in self.seen and self.ask(time, None, "hard") is None:
                    break

    def ask(self, time: Time, i: int | None, difficulty: Difficulty) -> str | None:
        """Keep the questions of this time; else the reason why there is none.

        `i`: the segment that has to be among the answers; None: nothing may hold.
        """
        settled = self.settle(time, i, difficulty)
        if isinstance(settled, str):
            return settled
        variants = self.serving.get(time.specifier)
        if not variants:
            return "no_template"
        when = wording.specifier(time, difficulty == "easy")
        codes = _code(time.first), _code(time.last)
        at = 0
        if len(variants) > 1:
            key = self.own_key if i is None else self.keys[i]
            day = (time.first or time.last or _NO_UNIT).first
            at = Draws(key ^ _TEMPLATE[time.specifier] ^ day).below(len(variants))
        found = False
        for n in range(min(self.settings.variants, len(variants))):
            place = variants[(at + n) % len(variants)]
            text = self.frames[place].text(when)
            if self.gives_away(settled, place, when, text):
                continue
            found = True
            template = self.templates[place]
            named = self.pair.subject, self.relation.relation, template, time.specifier
            id_ = row_id(*named, *codes)
            self.asked.append(self.row(id_, text, template, time, settled, i, difficulty))
        self.seen.add(time)
        return None if found else "gives_answer"

    def settle(self, time: Time, i: int | None, difficulty: Difficulty) -> list[int] | str:
        """The segments that a time selects, or why they cannot be asked for."""
        for u in (time.first, time.last):
            if u and u.last > self.line.snapshot:
                return "after_snapshot"
        known_until = self.line.snapshot - self.settings.after_days
        if time.last is None and time.first and time.first.last > known_until:
            return "near_snapshot"
        found = select(time, self.line.spans, self.line.snapshot)
        if found is None or (i not in found if i is not None else found):
            return "in_doubt"
        if time.specifier == "between" and difficulty == "hard":
            held = touched(time, self.line.spans)
            if held != found:
                return "in_doubt" if held is None else "ambiguous"
        one_sided = time.first is None or time.last is None
        if one_sided and len({self.pair.segments[j].object for j in found}) > 1:
            return "ambiguous"
        return found

    def gives_away(self, chosen: Sequence[int], place: int, when: str, text: str) -> bool:
        """Whether a question holds the name of one of its answers, or a word of it."""
        words, time = self.frames[place].words, when.lower().split()
        names, subject = self.names, self.subject_words
        return any(names[j].given_away(subject, words, time, text) for j in chosen)

    def row(
        self,
        id_: str,
        text: str,
        template: str,
        time: Time,
        chosen: Sequence[int],
        i: int | None,
        difficulty: Difficulty,
        probe_of: str | None = None,
        probe: int | None = None,
    ) -> Asked:
        """A question with what answers it."""
        found = self.answers.of(tuple(chosen))
        first, last = time.days()
        return Asked(
            id_,
            text,
            found.objects,
            found.answerable,
            difficulty,
            time.specifier,
            first,
            last,
            self.pair.subject,
            self.pair.subject_label,
            self.relation.relation,
            self.relation.label,
            template,
            found.rules,
            found.selected,
            found.verification,
            found.page,
            found.revision,
            i,
            time,
            probe_of,
            probe,
        )

    def _key(self, i: int) -> int:
        # The seed, the pair and the segment, and nothing else.
        bounds = self.line.spans[i][:4]
        return start(self.own_key, self.pair.segments[i].object, *bounds)

    def _drop(self, reason: str | None, i: int, detail: str | None) -> None:
        segment = self.pair.segments[i]
        item = segment.statements[0] if segment.statements else segment.object
        pair = segment.subject, segment.relation
        self.dropped.append(Dropped(STEP, reason or "", item, *pair, None, None, detail))


_PURPOSE: dict[Specifier, int] = {
    "in": start("in"),
    "between": start("between"),
    "before": start("before"),
    "after": start("after"),
}
_NO_UNIT = Unit(0, 0, 0, 0)
_TEMPLATE = {kind: start("template", kind) for kind in _PURPOSE}


@lru_cache(1 << 16)
def _code(unit: Unit | None) -> str:
    """A unit for an id: 2005, 2005-05, 2005-05-03."""
    if unit is None:
        return ""
    return date.fromordinal(unit.first).isoformat()[: (10, 7, 4)[unit.grain]]
