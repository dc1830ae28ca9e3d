"""Time-sensitive questions about one subject and relation, easy and hard.

A question is made only where its answer is beyond doubt: the answers are worked out anew from all
segments of the pair, and where one of them, or a gap, may or may not hold at the time, the
question is dropped and counted. See `builders.timeqa.times` for what a time selects.

After: TimeQA (paper 001), sections 2.2 (figure 3) and 4.5; the settling of doubt is ours.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field, field_validator

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import Draws, bits, row_id
from factdrift.builders.facts.relations import Ask, Relation
from factdrift.builders.rows import (
    AlignedSegment,
    AlignmentRule,
    Answer,
    Answerable,
    Difficulty,
    Dropped,
    Gap,
    Specifier,
    Verification,
)
from factdrift.builders.text.given_away import names, significant
from factdrift.builders.text.words import word_tokens
from factdrift.builders.timeqa.times import (
    FAR,
    PART,
    HardKind,
    Time,
    Timeline,
    TimeUnit,
    easy_times,
    hard_time,
    is_changeover,
    is_partial,
    outside_time,
    question_frame,
    select,
    select_touching,
    time_text,
    unit_text,
)
from factdrift.builders.timeqa.told import Told

STEP = "ask"
_SEASON = 366
"""Days by which what a page tells has to miss a pair to be of another one."""
_UNTOLD = Told()
_MONTH = 31
_RULES: dict[AlignmentRule, int] = {"link": 0, "name": 1, "similar": 2, "none": 3}
_KINDS: tuple[HardKind, ...] = get_args(HardKind)
_PURPOSE: dict[HardKind, int] = {kind: bits(kind) for kind in _KINDS}
_TEMPLATE = {kind: bits("template", kind) for kind in get_args(Specifier)}
_LEAST_PART = 4
"""Each of several answers to a `between` holds on one in so many of its days, or more."""
_WINDOWS = 8
"""Times as often a window is drawn as a moment: most pages tell of most years."""
_SHARES = 1 << 20
"""In what whole numbers chances are drawn."""
_NO_UNIT = TimeUnit(0, 0, 0, 0)


@dataclass(frozen=True)
class Pair:
    """What is known of one subject and relation: every segment, undated ones too, and gaps.

    `ids`: of the segments, as they are released; `told`: the stretches of days about which the page
    says something, so that it may answer where no segment does;
    `hinted`: the segments, by index, that the page does not name but may tell in other words;
    `misdated`: those whose evidence has dates of another time;
    `life`: first and last day on which the subject certainly was; None: not known;
    `the`: whether the page says "the" before the subject's label; None: it does not say.
    """

    subject: str
    subject_label: str
    relation: str
    segments: tuple[AlignedSegment, ...]
    gaps: tuple[Gap, ...] = ()
    ids: tuple[str, ...] = ()
    told: Told = _UNTOLD
    hinted: frozenset[int] = frozenset()
    misdated: frozenset[int] = frozenset()
    life: tuple[date | None, date | None] = (None, None)
    the: bool | None = None

    @property
    def days_of_life(self) -> tuple[int, int]:
        """Its ordinals; `FAR` days away where they are not known."""
        born, died = self.life
        return born.toordinal() if born else -FAR, died.toordinal() if died else FAR

    def is_told(self, time: Time, line_last: int) -> bool:
        """Whether the page may answer a question about this time, which lies beside the pair.

        It tells something of these days, or near the evidence what came after the pair's last day
        and before these days, which may have lasted (`in 2011 she married again`), or anywhere that
        others came, or something without a date that may have been then.
        """
        first, last = time.days()
        assert first and last
        days = (*self.told.anywhere, *self.told.undated, *self.told.since)
        return any(begins <= last and first <= ends for begins, ends in days) or any(
            line_last < begins.toordinal() and begins <= last for begins, _ in self.told.near
        )

    def is_listed(self, time: Time, answers: Collection[str]) -> bool:
        """Whether an entry beside the evidence names none of these objects for this time.

        Between two units, in days of neither, for who came before or after has the same years.
        """
        first, last = time.first, time.last
        begins, ends = first.first if first else -FAR, last.last if last else FAR
        if time.specifier == "between" and first and last and first.last + 1 < last.first:
            begins, ends = first.last + 1, last.first - 1
        if time.specifier == "before" and last:
            ends = last.first - 1
        if time.specifier == "after" and first:
            begins = first.last + 1
        return any(
            one.first.toordinal() <= ends and begins <= one.last.toordinal()
            for one in self.told.listed
            if not any(o in answers for o in one.objects)
        )

    def is_told_beyond(self, time: Time, first: int, last: int, named: bool) -> bool:
        """Whether the page may name others before the first day, or after the last, of a pair.

        Then a question about `before` or `after` a time has more answers than the pair's. Where the
        page does not name the pair's answer (`named` false), any date beyond may be of another. So
        may a statement without a date that stands before the pair's days, or after them.
        """
        days = self.told.near if named else self.told.anywhere
        undated = self.told.undated
        if time.specifier == "before":
            early = any(ends.toordinal() < first - _SEASON for _, ends in days)
            return early or any(ends.toordinal() < first for _, ends in undated)
        if time.specifier == "after":
            late = any(begins.toordinal() > last + _SEASON for begins, _ in days)
            return late or any(begins.toordinal() > last for begins, _ in undated)
        return False


class QuestionTemplates(Strict):
    """The fields of a relation's template that its questions are made from."""

    relation: str
    label: str
    mode: Literal["accumulate", "pointwise"]
    questions: tuple[Ask, ...]

    @property
    def wordings(self) -> tuple[str, ...]:
        """The texts whose words tell of the relation."""
        return (self.label, *(question.ask for question in self.questions))

    @classmethod
    def of(cls, relation: Relation) -> "QuestionTemplates":
        """The questions of a relation."""
        return cls(**{name: getattr(relation, name) for name in cls.model_fields})


class Questions(Strict):
    """How many questions are asked, and of which times."""

    variants: int = Field(default=1, ge=1, description="Templates that ask the same question")
    hard: int = Field(default=1, ge=1, le=4, description="Hard specifiers a segment, at most")
    tries: int = Field(default=3, ge=1, description="Times drawn before one is given up")
    short_months: int = Field(
        default=2, ge=0, description="A segment up to this long gives `in` its first month"
    )
    after_days: int = Field(
        default=30, ge=0, description="Least days from the time of `after` to the snapshot"
    )
    mix: Mapping[HardKind, Annotated[float, Field(ge=0)]] = Field(
        default={"between": 0.44, "in": 0.40, "before": 0.80, "after": 0.50, "decade": 0.15},
        description=(
            "Weights of what a hard question asks, of what has room: `before` of the first segment "
            "of a history alone, `after` of the last, `decade` where the part lies inside"
        ),
    )
    months: float = Field(
        default=0.97, ge=0, le=1, description="Share of the moments that are months, not years"
    )
    unanswerable: float = Field(
        default=0.15,
        ge=0,
        lt=1,
        description="Share of a pair's hard questions without an answer in the page",
    )
    window_years: int = Field(
        default=10, ge=1, description="How far from a pair's first or last day those may ask"
    )
    probes: int = Field(default=3, ge=0, description="Perturbations of a question's time")

    @field_validator("mix")
    @classmethod
    def _asks_something(cls, mix: Mapping[HardKind, float]) -> Mapping[HardKind, float]:
        if not any(mix.values()):
            raise ValueError("no kind of hard question has a weight")
        return mix


class AnswerSet(NamedTuple):
    """The answers of a question: some segments of its pair, by their indexes.

    `objects`: each once, by id; `rules`: the best rule that found each of them.
    """

    segments: tuple[int, ...]
    objects: tuple[Answer, ...]
    rules: tuple[AlignmentRule, ...]
    answerable: Answerable
    verification: Verification


@dataclass(slots=True)
class PairQuestion:
    """A question about a pair, without its page.

    `segment` is the index of the segment that it was made from (None: a time at which nothing
    holds). A perturbed question has the id of the original one and a number, from 1.
    """

    id: str
    text: str
    difficulty: Difficulty
    time: Time
    template: str
    answers: AnswerSet
    segment: int | None
    pair: Pair
    relation_label: str
    original: str | None = None
    number: int | None = None


def ask_pair(
    pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int
) -> tuple[list[PairQuestion], list[Dropped]]:
    """The easy and hard questions of a pair, in the order of its segments.

    Dropped, one row a segment and specifier, with the reason of the last try: `in_doubt`,
    `ambiguous` (before and after have one answer; a hard `between` has the same answers with and
    without its two units; of several objects one holds on few of its days; a day on which another
    object takes over), `gives_answer`, `after_snapshot`, `near_snapshot` (too few days are after
    it), `no_template` (no variant serves the specifier), `coarse_boundary` (easy, of a segment
    without a boundary that can be printed), `no_room` (hard, of a segment with no moment inside
    it), `told_otherwise` (the page does not name the answer, and may tell it in other words; or it
    may name others before or after the pair's), `others_named` (easy, the page names other answers
    and not the segment's own object).
    """
    asker = _Asker(pair, relation, settings, seed)
    for i in range(len(pair.segments)):
        asker.easy(i)
    for i in range(len(pair.segments)):
        asker.hard(i)
    asker.unanswerable()
    return asker.questions, asker.dropped


def perturbed(
    questions: Sequence[PairQuestion],
    pair: Pair,
    relation: QuestionTemplates,
    settings: Questions,
    seed: int,
) -> list[PairQuestion]:
    """Up to `settings.probes` questions for each one of a pair, about other times of its segment.

    They measure consistency (section 4.5): a model that knows the segment answers the same each
    time. They have the specifier, the template and the answers of the original question; they are
    hard, as no boundary is printed. Of questions at whose time nothing holds there are none, of
    short segments there are fewer.
    """
    asker = _Asker(pair, relation, settings, seed)
    return [moved for one in questions for moved in asker.perturbed(one)]


class _Asker:
    """Asks about one pair: draws times, settles their answers, and keeps what is left."""

    def __init__(
        self, pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int
    ) -> None:
        self.pair, self.relation, self.settings, self.seed = pair, relation, settings, seed
        self.line = Timeline(pair.segments, pair.gaps)
        self.pointwise = relation.mode == "pointwise"
        self.questions: list[PairQuestion] = []
        self.dropped: list[Dropped] = []
        self.seen: set[Time] = set()
        self.answered = self.not_in_page = 0
        # Of the seed, the pair and the segment, and nothing else.
        self.own_key = bits(seed, pair.subject, pair.relation)
        self.keys = [
            bits(self.own_key, s.object, *span[:4])
            for s, span in zip(pair.segments, self.line.spans, strict=False)
        ]
        self.unchecked = {i for i, s in enumerate(pair.segments) if s.verification != "human"}
        self.answer_sets: dict[tuple[int, ...], AnswerSet] = {}
        # The page's words for it are an answer too: `March` of March Engineering, in March 1985.
        self.names = [
            names(s.object_label, (*s.aliases, s.mention) if s.mention else s.aliases)
            for s in pair.segments
        ]
        words = frozenset(word_tokens(pair.subject_label))
        self.subject_words = significant(words)
        self.frames = [
            question_frame(q.ask, pair.subject_label, words, pair.the) for q in relation.questions
        ]
        self.templates = [f"{relation.relation}/{n + 1}" for n in range(len(self.frames))]
        self.serving: dict[Specifier, list[int]] = {}
        for variant, question in enumerate(relation.questions):
            for specifier in question.times:
                self.serving.setdefault(specifier, []).append(variant)

    def easy(self, i: int) -> None:
        """One question whose time is the segment's own boundaries."""
        times = easy_times(self.line, i, self.pointwise, self.settings.short_months * _MONTH)
        reason: str | None = "coarse_boundary"
        detail = None
        for time in times:
            if time in self.seen:
                return
            reason = self.ask(time, i, "easy")
            if reason is None:
                return
            detail = time_text(time, True)
        self._drop(reason, i, detail)

    def hard(self, i: int) -> None:
        """Up to `settings.hard` questions about moments inside the segment.

        What is asked is drawn by the weights of the mix, until something has room.
        """
        key = self.keys[i]
        settings = self.settings
        weights = {kind: weight for kind in _KINDS if (weight := settings.mix.get(kind, 0))}
        order = Draws(key)
        made, told = 0, False
        while weights and made < settings.hard:
            kind = _drawn(weights, order)
            del weights[kind]
            draws = Draws(key ^ _PURPOSE[kind])
            reason = last = None
            for _ in range(settings.tries):
                time = hard_time(self.line, i, kind, self.pointwise, settings.months, draws)
                if time is None:
                    break
                if time in self.seen:
                    told = True
                    continue
                reason, last = self.ask(time, i, "hard"), time
                if reason is None:
                    made += 1
                    break
            if reason and last:
                told = True
                self._drop(reason, i, time_text(last, False))
        if not made and not told:
            self._drop("no_room", i, None)

    def unanswerable(self) -> None:
        """Hard questions about years near the pair's own in which nothing is known to hold.

        Of times of which the page tells something near the pair's evidence there are none.
        """
        share = self.settings.unanswerable
        wanted = max(0.0, self.answered * share / (1 - share) - self.not_in_page)
        draws = Draws(self.own_key)
        count = int(wanted) + (draws.below(_SHARES) < wanted % 1 * _SHARES)
        for _ in range(count):
            for _ in range(self.settings.tries * _WINDOWS):
                time = outside_time(
                    self.line,
                    self.settings.window_years,
                    self.settings.months,
                    self.pair.days_of_life,
                    draws,
                )
                if time is None:
                    return
                if time in self.seen or self.pair.is_told(time, self.line.last):
                    continue
                if self.ask(time, None, "hard") is None:
                    break

    def ask(self, time: Time, i: int | None, difficulty: Difficulty) -> str | None:
        """Keep the questions about this time; else return the reason why there is none.

        `i`: the segment that has to be among the answers; None: nothing may hold.
        """
        settled = self.settle(time, i, difficulty)
        if isinstance(settled, str):
            return settled
        answerable = self.answers(settled).answerable
        ends = self.line.first, self.line.last
        if difficulty == "hard" and self.pair.is_told_beyond(time, *ends, answerable == "yes"):
            return "told_otherwise"
        if answerable == "not_in_page" and not self.pair.hinted.isdisjoint(settled):
            return "told_otherwise"
        if difficulty == "easy" and answerable == "yes" and i not in self.named(settled):
            return "others_named"
        variants = self.serving.get(time.specifier)
        if not variants:
            return "no_template"
        when = time_text(time, difficulty == "easy")
        codes = _code(time.first), _code(time.last)
        at = 0
        if len(variants) > 1:
            key = self.own_key if i is None else self.keys[i]
            day = (time.first or time.last or _NO_UNIT).first
            at = Draws(key ^ _TEMPLATE[time.specifier] ^ day).below(len(variants))
        reason: str | None = "gives_answer"
        for n in range(min(self.settings.variants, len(variants))):
            variant = variants[(at + n) % len(variants)]
            text = self.frames[variant].text(when)
            if self.gives_away(settled, variant, when, text):
                continue
            reason = None
            template = self.templates[variant]
            named = self.pair.subject, self.relation.relation, template, time.specifier
            self.questions.append(
                PairQuestion(
                    row_id(*named, *codes),
                    text,
                    difficulty,
                    time,
                    template,
                    self.answers(settled),
                    i,
                    self.pair,
                    self.relation.label,
                )
            )
        self.seen.add(time)
        if reason is None and difficulty == "hard":
            self.answered += answerable == "yes"
            self.not_in_page += answerable == "not_in_page"
        return reason

    def perturbed(self, original: PairQuestion) -> Iterator[PairQuestion]:
        """The question at other times inside the segment that it was made from."""
        i = original.segment
        if i is None:
            return
        kind, variant = original.time.specifier, self.templates.index(original.template)
        draws = Draws(bits(self.seed, original.id, "probe"))
        seen = {original.time}
        number = 0
        for _ in range(self.settings.probes * self.settings.tries):
            if number == self.settings.probes:
                return
            time = hard_time(self.line, i, kind, self.pointwise, self.settings.months, draws)
            if time is None or time in seen:
                continue
            seen.add(time)
            settled = self.settle(time, i, "hard")
            if isinstance(settled, str):
                continue
            when = time_text(time, False)
            text = self.frames[variant].text(when)
            answers = self.answers(settled)
            if self.gives_away(settled, variant, when, text):
                continue
            if [o.id for o in answers.objects] == [o.id for o in original.answers.objects]:
                number += 1
                yield PairQuestion(
                    row_id(original.id, "probe", number),
                    text,
                    "hard",
                    time,
                    original.template,
                    answers,
                    i,
                    self.pair,
                    self.relation.label,
                    original.id,
                    number,
                )

    def settle(self, time: Time, i: int | None, difficulty: Difficulty) -> list[int] | str:
        """The segments that a time selects, or the reason why it cannot be asked about."""
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
            touching = select_touching(time, self.line.spans)
            if touching != found:
                return "in_doubt" if touching is None else "ambiguous"
        one_sided = time.first is None or time.last is None
        if one_sided and len({self.pair.segments[j].object for j in found}) > 1:
            return "ambiguous"
        chosen = [self.line.spans[j] for j in found]
        objects = [self.pair.segments[j].object for j in found]
        if is_changeover(time, chosen, objects):
            return "ambiguous"
        if not self.pointwise and is_partial(time, chosen, objects, _LEAST_PART):
            return "ambiguous"
        if self.pair.is_listed(time, {self.pair.segments[j].object for j in found}):
            return "told_otherwise"
        if not self.pair.misdated.isdisjoint(found):
            return "told_otherwise"
        return found

    def named(self, chosen: Sequence[int]) -> set[int]:
        """Those of some segments whose objects the page names as an answer."""
        segments = self.pair.segments
        found = {segments[j].object for j in chosen if segments[j].rule != "none"}
        return {j for j in chosen if segments[j].object in found}

    def gives_away(self, chosen: Sequence[int], variant: int, when: str, text: str) -> bool:
        """Whether a question holds the name of one of its answers, or a word of it."""
        words, time = self.frames[variant].words, when.lower().split()
        subject = self.subject_words
        return any(self.names[j].given_away(subject, words, time, text) for j in chosen)

    def answers(self, chosen: Sequence[int]) -> AnswerSet:
        """The answers that some segments make; questions with the same ones share them."""
        key = tuple(chosen)
        if (known := self.answer_sets.get(key)) is not None:
            return known
        segments = self.pair.segments
        objects: list[Answer] = []
        rules: list[AlignmentRule] = []
        by_object = sorted(
            (segments[j] for j in chosen),
            key=lambda s: (len(s.object), s.object, _RULES[s.rule]),
        )
        for s in by_object:
            if not objects or objects[-1].id != s.object:
                objects.append(Answer(s.object, s.object_label, s.aliases))
                rules.append(s.rule)
        in_page = rules.count("none") < len(rules)
        checked = self.unchecked.isdisjoint(chosen or range(len(segments)))
        self.answer_sets[key] = found = AnswerSet(
            key,
            tuple(objects),
            tuple(rules),
            "yes" if in_page else "not_in_page" if chosen else "nothing_holds",
            "human" if checked else "automatic",
        )
        return found

    def _drop(self, reason: str | None, i: int, detail: str | None) -> None:
        segment = self.pair.segments[i]
        item = segment.statements[0] if segment.statements else segment.object
        pair = segment.subject, segment.relation
        self.dropped.append(Dropped(STEP, reason or "", item, *pair, None, None, detail))


@lru_cache(1 << 16)
def _code(unit: TimeUnit | None) -> str:
    """A unit for an id: 2005, 2005-05, 2005-05-03, the early 1990s."""
    if unit is None:
        return ""
    if unit.grain == PART:
        return unit_text(unit)
    return date.fromordinal(unit.first).isoformat()[: (10, 7, 4)[unit.grain]]


def _drawn(weights: Mapping[HardKind, float], draws: Draws) -> HardKind:
    """One of the kinds, each with a chance as great as its weight."""
    at = draws.below(_SHARES) / _SHARES * sum(weights.values())
    for kind, weight in weights.items():
        at -= weight
        if at < 0:
            return kind
    return kind
