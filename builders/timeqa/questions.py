"""Time-sensitive questions about one subject and relation, easy and hard.

A question is made only where its answer is beyond doubt: the answers are worked out anew from all
segments of the pair, and where one of them, or a gap, may or may not hold at the time, the
question is dropped and counted. See `builders.timeqa.times` for what a time selects.

After: TimeQA (paper 001), sections 2.2 (figure 3) and 4.5; the settling of doubt is ours.
"""

from collections import Counter
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
    EvidenceTier,
    Gap,
    Specifier,
    Verification,
)
from factdrift.builders.text.dates import DayInterval
from factdrift.builders.text.given_away import names, significant
from factdrift.builders.text.render import question
from factdrift.builders.text.words import word_tokens
from factdrift.builders.timeqa.stated import is_stated
from factdrift.builders.timeqa.times import (
    FAR,
    PART,
    HardKind,
    Time,
    Timeline,
    TimeUnit,
    easy_times,
    hard_time,
    outside_time,
    select,
    select_touching,
    time_text,
    unit_text,
)

STEP = "ask"
_MONTH = 31
_SEASON = 366
"""Days by which what a page states has to miss a pair to be of others."""
_RULES: dict[AlignmentRule, int] = {"link": 0, "name": 1, "similar": 2, "none": 3}
_TIERS: Sequence[EvidenceTier] = get_args(EvidenceTier)
_KINDS: tuple[HardKind, ...] = get_args(HardKind)
_MODES: tuple[Difficulty, ...] = get_args(Difficulty)
_PURPOSE: dict[HardKind, int] = {kind: bits(kind) for kind in _KINDS}
_TEMPLATE = {kind: bits("template", kind) for kind in get_args(Specifier)}
_LEAST_PART = 4
"""Each of several answers to a `between` holds on one in so many of its days, or more."""
_WINDOWS = 8
"""Times as often a window is drawn as a moment: most pages state most years."""
_KEPT = 0.5
"""Share of a page's words that a context at least has whose answer is cut out."""
_SHARES = 1 << 20
"""In what whole numbers chances are drawn."""
_NO_UNIT = TimeUnit(0, 0, 0, 0)


@dataclass(frozen=True)
class Pair:
    """What is known of one subject and relation: every segment, undated ones too, and gaps.

    `ids`: of the segments, as they are released; `near_evidence`: the dates and stretches that the
    page states in the sections of the evidence; `naming`:
    for each segment the paragraphs that may name its object; `lengths`: words of each paragraph;
    `life`: first and last day on which the subject certainly was; None: not known;
    `the`: whether the page says "the" before the subject's label; None: it does not say.
    """

    subject: str
    subject_label: str
    relation: str
    segments: tuple[AlignedSegment, ...]
    gaps: tuple[Gap, ...] = ()
    ids: tuple[str, ...] = ()
    near_evidence: tuple[DayInterval, ...] = ()
    naming: tuple[frozenset[int], ...] = ()
    lengths: tuple[int, ...] = ()
    life: tuple[date | None, date | None] = (None, None)
    the: bool | None = None

    @property
    def days_of_life(self) -> tuple[int, int]:
        """Its ordinals; `FAR` days away where they are not known."""
        born, died = self.life
        return born.toordinal() if born else -FAR, died.toordinal() if died else FAR

    def may_have_others(self, time: Time, first: int, last: int) -> bool:
        """Whether the page may name others before the first day, or after the last, of the pair.

        Then a question about `before` or `after` a time has more answers than the pair's.
        """
        if time.specifier == "before":
            return any(ends.toordinal() < first - _SEASON for _, ends in self.near_evidence)
        if time.specifier == "after":
            return any(begins.toordinal() > last + _SEASON for begins, _ in self.near_evidence)
        return False

    def cut(self, chosen: Collection[int]) -> tuple[int, ...]:
        """The paragraphs to leave out so that the page names none of these segments' objects.

        None, where too little of the page would be left.
        """
        found = frozenset[int]().union(*(self.naming[j] for j in chosen if self.naming))
        kept = sum(n for i, n in enumerate(self.lengths) if i not in found)
        return tuple(sorted(found)) if kept >= _KEPT * sum(self.lengths) else ()


class QuestionTemplates(Strict):
    """The fields of a relation's template that its questions are made from."""

    relation: str
    label: str
    mode: Literal["accumulate", "pointwise"]
    questions: tuple[Ask, ...]
    articles: Mapping[str, bool] = {}

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
        default={"between": 0.48, "in": 0.42, "before": 0.60, "after": 0.44, "decade": 0.18},
        description=(
            "Weights of what a hard question asks, of what has room: `before` of the first segment "
            "of a history alone, `after` of the last, `decade` where the part lies inside"
        ),
    )
    months: float = Field(
        default=0.97, ge=0, le=1, description="Share of the moments that are months, not years"
    )
    evidence: EvidenceTier = Field(
        default="one",
        description=(
            "Boundaries of the segment that the page has to state near its mention: both, one (at "
            "least), or none"
        ),
    )
    several: float = Field(
        default=0.10,
        ge=0,
        le=1,
        description="Greatest share of a pair's questions with several answers",
    )
    unanswerable: Mapping[Difficulty, Annotated[float, Field(ge=0, lt=1)]] = Field(
        default={"easy": 0.13, "hard": 0.15},
        description="Shares of a pair's questions without an answer in their context",
    )
    windows: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description=(
            "Share of the unanswerable hard ones about years beside the pair's own, in which "
            "nothing holds; the others have their answer cut out of the page"
        ),
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
    holds). `cut`: the paragraphs that its context leaves out, so that the answer is not there. A
    perturbed question has the id of the original one and a number, from 1.
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
    cut: tuple[int, ...] = ()
    original: str | None = None
    number: int | None = None

    @property
    def answerable(self) -> Answerable:
        """What answers it in its context."""
        return "not_in_page" if self.cut else self.answers.answerable

    @property
    def evidence(self) -> EvidenceTier:
        """What the page states of the boundaries of its segment."""
        return "none" if self.segment is None else self.pair.segments[self.segment].evidence


def ask_pair(
    pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int
) -> tuple[list[PairQuestion], list[Dropped]]:
    """The easy and hard questions of a pair, in the order of its segments.

    Dropped, one row a segment: `contradicted` (the page has other dates beside the mention),
    `not_stated` (it states less of the boundaries than `evidence` asks for), `not_found` (it does
    not name the object). One row a segment and specifier, with the reason of the last try:
    `in_doubt`, `ambiguous` (before and after have one answer; of several objects one holds on few
    days of a `between`), `gives_answer`, `after_snapshot`, `near_snapshot` (too few days are after
    it), `no_template` (no variant serves the specifier), `coarse_boundary` (easy, of a segment
    without a boundary that can be printed), `no_room` (hard, of a segment with no moment inside
    it), `others_stated` (the page may name others before or after the pair's). One a question:
    `several_answers` (over their share).
    """
    asker = _Asker(pair, relation, settings, seed)
    asked = [i for i in range(len(pair.segments)) if asker.is_proved(i)]
    for i in asked:
        asker.easy(i)
    for i in asked:
        asker.hard(i)
    asker.limit_several()
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
        self.subject_words = significant(word_tokens(pair.subject_label))
        self.templates = [f"{relation.relation}/{n + 1}" for n in range(len(relation.questions))]
        self.serving: dict[Specifier, list[int]] = {}
        for variant, asks in enumerate(relation.questions):
            for specifier in asks.times:
                self.serving.setdefault(specifier, []).append(variant)

    def is_proved(self, i: int) -> bool:
        """Whether the page proves a segment, or people checked it; else it is dropped."""
        s = self.pair.segments[i]
        if s.verification == "human":
            return True
        reason = None
        if s.rule == "none":
            reason = "not_found"
        elif self.settings.evidence != "none":
            if s.contradicted:
                reason = "contradicted"
            elif _TIERS.index(s.evidence) > _TIERS.index(self.settings.evidence):
                reason = "not_stated"
        if reason:
            self._drop(reason, i, s.mention)
        return reason is None

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
        made, is_counted = 0, False
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
                    is_counted = True
                    continue
                reason, last = self.ask(time, i, "hard"), time
                if reason is None:
                    made += 1
                    break
            if reason and last:
                is_counted = True
                self._drop(reason, i, time_text(last, False))
        if not made and not is_counted:
            self._drop("no_room", i, None)

    def limit_several(self) -> None:
        """Leave out questions with several answers that are over their share, by their hash."""
        if (share := self.settings.several) == 1:
            return
        left_out: set[str] = set()
        for mode in _MODES:
            own = [q for q in self.questions if q.difficulty == mode]
            several = [q for q in own if len(q.answers.objects) > 1]
            count = self._count(mode, "several", (len(own) - len(several)) * share / (1 - share))
            for one in sorted(several, key=lambda q: bits(self.seed, q.id))[count:]:
                left_out.add(one.id)
                assert one.segment is not None
                self._drop("several_answers", one.segment, time_text(one.time, mode == "easy"))
        self.questions = [q for q in self.questions if q.id not in left_out]

    def unanswerable(self) -> None:
        """Make the share of questions without an answer: of windows, and by cutting answers out."""
        for mode in _MODES:
            share = self.settings.unanswerable.get(mode, 0.0)
            own = [q for q in self.questions if q.difficulty == mode]
            if mode == "hard":
                windows = share * self.settings.windows
                for _ in range(self._count(mode, "windows", len(own) * windows / (1 - windows))):
                    self._window()
                own = [q for q in self.questions if q.difficulty == mode]
            without = sum(q.answerable != "yes" for q in own)
            count = max(0, self._count(mode, "cut", len(own) * share) - without)
            for one in sorted(own, key=lambda q: bits(self.seed, q.id, "cut")):
                if count and one.answerable == "yes":
                    one.cut = self.pair.cut(one.answers.segments)
                    count -= bool(one.cut)

    def _window(self) -> None:
        """One hard question about years near the pair's own in which nothing is known to hold.

        None, where the page states a date there in the sections of the evidence, or one between
        there and the year in which the pair ends: what a page says of this year tells its end.
        """
        draws = Draws(bits(self.own_key, "window", len(self.questions)))
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
            first, last = (d.toordinal() for d in time.days() if d)
            if first > self.line.last:
                new_year = date(date.fromordinal(self.line.last).year + 1, 1, 1).toordinal()
                first = min(first, new_year)
            begin = date.fromordinal(first)
            if time in self.seen or is_stated(
                self.pair.near_evidence, begin, date.fromordinal(last)
            ):
                continue
            if self.ask(time, None, "hard") is None:
                return

    def _count(self, mode: Difficulty, purpose: str, wanted: float) -> int:
        """A number of questions: the wanted one, whose fraction is a chance of one more."""
        draws = Draws(bits(self.own_key, mode, purpose))
        return int(wanted) + (draws.below(_SHARES) < wanted % 1 * _SHARES)

    def ask(self, time: Time, i: int | None, difficulty: Difficulty) -> str | None:
        """Keep the questions about this time; else return the reason why there is none.

        `i`: the segment that has to be among the answers; None: nothing may hold.
        """
        settled = self.settle(time, i, difficulty)
        if isinstance(settled, str):
            return settled
        if difficulty == "hard" and self.pair.may_have_others(
            time, self.line.first, self.line.last
        ):
            return "others_stated"
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
            text = self.text(variant, when)
            if self.gives_away(settled, text):
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
            text = self.text(variant, when)
            answers = self.answers(settled)
            if self.gives_away(settled, text):
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
                    original.cut,
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
        if time.specifier == "between" and difficulty == "hard":
            found = select_touching(time, self.line.spans)
        else:
            found = select(time, self.line.spans, self.line.snapshot)
        if found is None or (i not in found if i is not None else found):
            return "in_doubt"
        one_sided = time.first is None or time.last is None
        if one_sided and len({self.pair.segments[j].object for j in found}) > 1:
            return "ambiguous"
        if time.specifier == "between" and not self.pointwise and self.is_partial(time, found):
            return "ambiguous"
        return found

    def is_partial(self, time: Time, chosen: Sequence[int]) -> bool:
        """Whether one of several objects may hold on few days of a stretch of time alone."""
        first, last = (d.toordinal() for d in time.days() if d)
        held: Counter[str] = Counter()
        for j in chosen:
            span = self.line.spans[j]
            days = min(last, span.end_last) - max(first, span.start_first) + 1
            held[self.pair.segments[j].object] += days
        return len(held) > 1 and min(held.values()) * _LEAST_PART < last - first + 1

    def text(self, variant: int, when: str) -> str:
        """The question of a template at a time."""
        ask = self.relation.questions[variant].ask
        label, the = self.pair.subject_label, self.pair.the
        articles = self.relation.articles if the is None else {label: the}
        return question(ask, label, when, articles)

    def gives_away(self, chosen: Sequence[int], text: str) -> bool:
        """Whether a question holds the name of one of its answers, or a word of it."""
        words = frozenset(word_tokens(text))
        return any(self.names[j].given_away(self.subject_words, words, (), text) for j in chosen)

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
