"""Time-sensitive questions about one subject and relation, easy and hard.

A question is made only where its answer is beyond doubt: the answers are worked out anew from all
segments of the pair, and where one of them, or a gap, may or may not hold at the time, or the page
does not prove one of the answers, the question is dropped and counted. See
`builders.timeqa.times` for what a time selects.

After: TimeQA (paper 001), sections 2.2 (figure 3) and 4.5; the settling of doubt is ours.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field, field_validator

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import RandomStream, row_id, seeded_hash
from factdrift.builders.facts.relations import QuestionTemplate, Relation
from factdrift.builders.rows import (
    AlignedSegment,
    AlignmentRule,
    Answerable,
    Difficulty,
    Dropped,
    EvidenceTier,
    Gap,
    ReleasedAlignedSegment,
    Specifier,
    Verification,
)
from factdrift.builders.text.dates import DayInterval
from factdrift.builders.text.given_away import object_names, padded_words, significant_words
from factdrift.builders.text.render import question
from factdrift.builders.text.words import word_tokens
from factdrift.builders.timeqa.evidence import ObjectWords
from factdrift.builders.timeqa.times import (
    PART,
    HardKind,
    Time,
    Timeline,
    TimeUnit,
    easy_times,
    hard_time,
    outside_time,
    seed_numbers,
    select,
    time_text,
    unit_text,
)

STEP = "ask"
_SEASON = 366
"""Days by which what a page states has to miss a pair to be of others."""
_AFTER = 30
"""Least days from the time of `after` to the snapshot."""
_TRIES = 3
"""Times drawn before one is given up."""
_WINDOWS = 8
"""Times as often a window is drawn as a moment: most pages state most years."""
_KEPT = 0.5
"""Share of a page's words that a context at least has whose answer is cut out."""
_DROP_REASONS = ("not_found", "contradicted", "not_stated")
"""The drop reasons of segments that the page does not prove."""
_RULES: dict[AlignmentRule, int] = {"link": 0, "name": 1, "similar": 2, "none": 3}
_TIERS: Sequence[EvidenceTier] = get_args(EvidenceTier)
_KINDS: tuple[HardKind, ...] = get_args(HardKind)
_MODES: tuple[Difficulty, ...] = get_args(Difficulty)
_NO_UNIT = TimeUnit(0, 0, 0, 0)
_SHARES = 1 << 20
"""In what whole numbers chances are drawn."""


@dataclass(frozen=True)
class Pair:
    """What is known of one subject and relation: every segment, undated ones too, and gaps.

    `dates_near_evidence`: the dates and stretches of time in the sections that hold evidence;
    `other_dates`: those of them beside things that are no objects of the pair; `listed`: those of
    each entry of lists and tables; `names`: the words for each segment's object; `naming`: the
    paragraphs with these words; `lengths`: the number of words of each paragraph; `life`: the first
    and the last day on which the subject certainly was, None where not known; `the`: whether the
    page says "the" before the subject's label, None where it does not say.
    """

    subject: str
    subject_label: str
    relation: str
    segments: tuple[ReleasedAlignedSegment, ...]
    gaps: tuple[Gap, ...] = ()
    dates_near_evidence: tuple[DayInterval, ...] = ()
    other_dates: tuple[DayInterval, ...] = ()
    listed: Mapping[int, Sequence[DayInterval]] = field(default_factory=dict)
    names: tuple[ObjectWords, ...] = ()
    naming: tuple[frozenset[int], ...] = ()
    lengths: tuple[int, ...] = ()
    life: tuple[date | None, date | None] = (None, None)
    the: bool | None = None

    def cut(self, chosen: Collection[int], time: Time) -> tuple[int, ...]:
        """The paragraphs to leave out so that the page names none of these segments' objects.

        None, where too little of the page would be left, or an entry beside the evidence that has
        a date inside the time, or goes on from before it (`since 2003`).
        """
        cut_paragraphs = frozenset[int]().union(
            *(self.naming[segment_index] for segment_index in chosen if self.naming)
        )
        for number, days in self.listed.items():
            if number not in cut_paragraphs and any(_goes_on(time, *interval) for interval in days):
                return ()
        kept_words = sum(number for i, number in enumerate(self.lengths) if i not in cut_paragraphs)
        return tuple(sorted(cut_paragraphs)) if kept_words >= _KEPT * sum(self.lengths) else ()


class QuestionTemplates(Strict):
    """The fields of a relation's template that its questions are made from."""

    relation: str
    label: str
    mode: Literal["accumulate", "pointwise"]
    questions: tuple[QuestionTemplate, ...]
    articles: Mapping[str, bool] = {}

    @classmethod
    def of(cls, relation: Relation) -> "QuestionTemplates":
        """The questions of a relation."""
        return cls(**{name: getattr(relation, name) for name in cls.model_fields})


class Questions(Strict):
    """How many questions are asked, and of which times."""

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
            "Boundaries of a segment that the page has to state near its mention to prove it: "
            "both, one (at least), or none"
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
    probes: int = Field(default=3, ge=0, description="Perturbations of a question's time")

    @field_validator("mix")
    @classmethod
    def _asks_something(cls, mix: Mapping[HardKind, float]) -> Mapping[HardKind, float]:
        if not any(mix.values()):
            raise ValueError("no kind of hard question has a weight")
        return mix


@dataclass(slots=True)
class PairQuestion:
    """A question about a pair, without its page.

    `chosen`: the indexes of the segments that answer it; `segment`: that of the one that it was
    made from (None: a time at which nothing holds). `cut`: the paragraphs that its context leaves
    out, so that the answer is not there. A probe has the id of the original question and a number,
    from 1.
    """

    id: str
    text: str
    difficulty: Difficulty
    time: Time
    template: str
    pair: Pair
    chosen: tuple[int, ...]
    segment: int | None
    cut: tuple[int, ...] = ()
    original: str | None = None
    number: int | None = None

    @property
    def answers(self) -> list[AlignedSegment]:
        """The best aligned segment of each object that answers it, by id."""
        best: dict[str, AlignedSegment] = {}
        segments = self.pair.segments
        for segment in sorted(
            (segments[segment_index] for segment_index in self.chosen),
            key=lambda segment: _RULES[segment.rule],
        ):
            best.setdefault(segment.object, segment)
        return sorted(best.values(), key=lambda segment: (len(segment.object), segment.object))

    @property
    def answerable(self) -> Answerable:
        """What answers it in its context."""
        in_page = any(
            self.pair.segments[segment_index].rule != "none" for segment_index in self.chosen
        )
        if in_page and not self.cut:
            return "yes"
        return "not_in_page" if self.chosen else "nothing_holds"

    @property
    def evidence(self) -> EvidenceTier:
        """What the page states of the boundaries of its segment."""
        return "none" if self.segment is None else self.pair.segments[self.segment].evidence

    @property
    def verification(self) -> Verification:
        """Human, where people checked all segments that answer it (of none: all of the pair)."""
        judged = [
            self.pair.segments[segment_index] for segment_index in self.chosen
        ] or self.pair.segments
        return (
            "human" if all(segment.verification == "human" for segment in judged) else "automatic"
        )


class AskedPair(NamedTuple):
    """The questions about a pair, their probes, and what was left out."""

    questions: list[PairQuestion]
    probes: list[PairQuestion]
    dropped: list[Dropped]


def ask_pair(pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int) -> AskedPair:
    """The easy and hard questions of a pair, in the order of its segments, and their probes.

    Dropped, one row a segment: `contradicted` (the page has other dates beside the mention),
    `not_stated` (it states less of the boundaries than `evidence` asks for), `not_found` (it does
    not name the object). One row a segment and mode, with the reason of the last try: `in_doubt`,
    `unproved` (another segment that answers is not proved), `ambiguous` (before and after have one
    answer), `others_stated` (the page may name others at that time), `gives_answer`,
    `after_snapshot`, `near_snapshot` (too few days are after it), `no_template` (no variant serves
    the specifier), `coarse_boundary` (easy, of a segment without a boundary that can be printed),
    `no_room` (hard, of a segment with no moment inside it). One a question: `several_answers`
    (over their share).

    Probes measure consistency (section 4.5): a model that knows the segment answers the same each
    time. They have the specifier, the template and the answers of the original question, at other
    times of its segment; they are hard, as no boundary is printed. Of questions at whose time
    nothing holds there are none, of short segments there are fewer.
    """
    asker = _Asker(pair, relation, settings, seed)
    asked_indexes = [
        segment_index for segment_index, reason in enumerate(asker.unproved) if reason is None
    ]
    for segment_index, reason in enumerate(asker.unproved):
        if reason is not None:
            asker.drop(reason, segment_index, pair.segments[segment_index].mention)
    for segment_index in asked_indexes:
        asker.ask(easy_times(asker.timeline, segment_index, asker.pointwise), segment_index, "easy")
    for segment_index in asked_indexes:
        asker.ask(asker.hard_times(segment_index), segment_index, "hard")
    asker.limit_several()
    asker.make_unanswerable()
    probes = [probe for pair_question in asker.questions for probe in asker.probes(pair_question)]
    return AskedPair(asker.questions, probes, asker.dropped)


class _Asker:
    """Asks about one pair: draws times, settles their answers, and keeps what is left."""

    def __init__(
        self, pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int
    ) -> None:
        self.pair, self.relation, self.settings, self.seed = pair, relation, settings, seed
        self.timeline = Timeline(pair.segments, pair.gaps)
        self.pointwise = relation.mode == "pointwise"
        self.unproved = [self._unproved(segment) for segment in pair.segments]
        self.questions: list[PairQuestion] = []
        self.dropped: list[Dropped] = []
        self.seen: set[Time] = set()
        # Of the seed, the pair and the segment, and nothing else.
        self.own_key = seeded_hash(seed, pair.subject, pair.relation)
        self.keys = [
            seeded_hash(self.own_key, segment.object, *seed_numbers(span))
            for segment, span in zip(pair.segments, self.timeline.spans, strict=False)
        ]
        # The page's words for it are an answer too: `March` of March Engineering, in March 1985.
        self.names = [
            object_names(
                segment.object_label,
                (*segment.aliases, segment.mention) if segment.mention else segment.aliases,
            )
            for segment in pair.segments
        ]
        self.subject_words = significant_words(word_tokens(pair.subject_label))
        self.serving: dict[Specifier, list[int]] = {}
        for variant, asks in enumerate(relation.questions):
            for specifier in asks.times:
                self.serving.setdefault(specifier, []).append(variant)

    def _unproved(self, segment: AlignedSegment) -> str | None:
        """Why the page does not prove a segment; None: it does, or people checked it."""
        if segment.verification == "human":
            return None
        if segment.rule == "none":
            return "not_found"
        if self.settings.evidence != "none" and segment.contradicted:
            return "contradicted"
        is_less = _TIERS.index(segment.evidence) > _TIERS.index(self.settings.evidence)
        return "not_stated" if is_less else None

    def ask(
        self, times: Iterator[Time] | Sequence[Time], segment_index: int | None, mode: Difficulty
    ) -> None:
        """Ask about the first of these times that can be asked about.

        `i`: the segment that has to be among the answers; None: nothing may hold.
        """
        reason: str | None = "coarse_boundary" if mode == "easy" else "no_room"
        detail = None
        for time in times:
            if time in self.seen:
                reason = None  # the segments with this time share its question
                continue
            outcome = self.question_or_reason(time, segment_index, mode)
            if isinstance(outcome, PairQuestion):
                self.questions.append(outcome)
                self.seen.add(time)
                return
            reason, detail = outcome, time_text(time, mode == "easy")
        if segment_index is not None and reason is not None:
            self.drop(reason, segment_index, detail)

    def hard_times(self, segment_index: int) -> Iterator[Time]:
        """Moments inside a segment; what they ask is drawn by the weights of the mix."""
        weights = {kind: weight for kind in _KINDS if (weight := self.settings.mix.get(kind, 0))}
        order = RandomStream(self.keys[segment_index])
        while weights:
            kind = _draw_kind(weights, order)
            del weights[kind]
            yield from self._hard_times(
                segment_index, kind, RandomStream(order.next_bits()), _TRIES
            )

    def _hard_times(
        self, segment_index: int, kind: HardKind, draws: RandomStream, tries: int
    ) -> Iterator[Time]:
        for _ in range(tries):
            time = hard_time(
                self.timeline, segment_index, kind, self.pointwise, self.settings.months, draws
            )
            if time is None:
                return
            yield time

    def probes(self, original: PairQuestion) -> Iterator[PairQuestion]:
        """The question at other times inside the segment that it was made from."""
        segment_index = original.segment
        if segment_index is None:
            return
        probe_count, kind = self.settings.probes, original.time.specifier
        draws = RandomStream(seeded_hash(self.seed, original.id, "probe"))
        seen = {original.time}
        for time in self._hard_times(segment_index, kind, draws, probe_count * _TRIES):
            if len(seen) > probe_count:
                return
            probe = (
                None
                if time in seen
                else self.question_or_reason(time, segment_index, "hard", original)
            )
            if not isinstance(probe, PairQuestion):
                continue
            if self.answer_objects(probe) == self.answer_objects(original):
                seen.add(time)
                probe.number, probe.original = len(seen) - 1, original.id
                probe.id, probe.cut = row_id(original.id, "probe", probe.number), original.cut
                yield probe

    def answer_objects(self, pair_question: PairQuestion) -> set[str]:
        """The ids of the objects that answer a question."""
        return {self.pair.segments[segment_index].object for segment_index in pair_question.chosen}

    def limit_several(self) -> None:
        """Leave out questions with several answers that are over their share, by their hash."""
        if (share := self.settings.several) == 1:
            return
        for mode in _MODES:
            mode_questions = [
                pair_question
                for pair_question in self.questions
                if pair_question.difficulty == mode
            ]
            several = [
                pair_question
                for pair_question in mode_questions
                if len(self.answer_objects(pair_question)) > 1
            ]
            count = self._count(
                mode, "several", (len(mode_questions) - len(several)) * share / (1 - share)
            )
            for pair_question in sorted(
                several, key=lambda pair_question: seeded_hash(self.seed, pair_question.id)
            )[count:]:
                self.questions.remove(pair_question)
                assert pair_question.segment is not None
                self.drop(
                    "several_answers",
                    pair_question.segment,
                    time_text(pair_question.time, mode == "easy"),
                )

    def make_unanswerable(self) -> None:
        """Make the share of questions without an answer: of windows, and by cutting answers out."""
        for mode in _MODES:
            share = self.settings.unanswerable.get(mode, 0.0)
            question_count = sum(
                pair_question.difficulty == mode for pair_question in self.questions
            )
            if mode == "hard":
                windows = share * self.settings.windows
                for _ in range(
                    self._count(mode, "windows", question_count * windows / (1 - windows))
                ):
                    self.ask(self.window_times(), None, "hard")
            mode_questions = [
                pair_question
                for pair_question in self.questions
                if pair_question.difficulty == mode
            ]
            without = sum(pair_question.answerable != "yes" for pair_question in mode_questions)
            cut_count = max(0, self._count(mode, "cut", len(mode_questions) * share) - without)
            for pair_question in sorted(
                mode_questions,
                key=lambda pair_question: seeded_hash(self.seed, pair_question.id, "cut"),
            ):
                if cut_count and pair_question.answerable == "yes":
                    pair_question.cut = self.pair.cut(pair_question.chosen, pair_question.time)
                    cut_count -= bool(pair_question.cut)

    def window_times(self) -> Iterator[Time]:
        """Times near the pair's own in which nothing is known to hold.

        None, where the page states a date there in the sections of the evidence, or one between
        there and the year in which the pair ends: what a page says of this year tells its end.
        """
        draws = RandomStream(seeded_hash(self.own_key, "window", len(self.questions)))
        for _ in range(_TRIES * _WINDOWS):
            time = outside_time(self.timeline, self.settings.months, self.pair.life, draws)
            if time is None:
                return
            first, last = (day for day in time.days() if day)
            timeline_end = self.timeline.last
            if timeline_end is not None and first.toordinal() > timeline_end:
                first = min(first, date(date.fromordinal(timeline_end).year + 1, 1, 1))
            if not any(
                begins <= last and first <= ends for begins, ends in self.pair.dates_near_evidence
            ):
                yield time

    def _count(self, mode: Difficulty, purpose: str, wanted_count: float) -> int:
        """A number of questions: the wanted one, whose fraction is a chance of one more."""
        draws = RandomStream(seeded_hash(self.own_key, mode, purpose))
        return int(wanted_count) + (draws.next_below(_SHARES) < wanted_count % 1 * _SHARES)

    def question_or_reason(
        self,
        time: Time,
        segment_index: int | None,
        mode: Difficulty,
        like: PairQuestion | None = None,
    ) -> PairQuestion | str:
        """The question about a time, or the reason why there is none; `like`: of its template."""
        chosen = self.answering_segments(time, segment_index, mode)
        if isinstance(chosen, str):
            return chosen
        variants = self.serving.get(time.specifier)
        if not variants:
            return "no_template"
        if like is None:
            key = self.own_key if segment_index is None else self.keys[segment_index]
            day = (time.first or time.last or _NO_UNIT).first
            variant = variants[RandomStream(key ^ day).next_below(len(variants))]
        else:
            variant = int(like.template.rpartition("/")[2]) - 1
        label, has_article = self.pair.subject_label, self.pair.the
        articles = self.relation.articles if has_article is None else {label: has_article}
        ask = self.relation.questions[variant].ask
        question_text = question(ask, label, time_text(time, mode == "easy"), articles)
        question_words = padded_words(word_tokens(question_text))
        for answer_index in chosen:
            if self.names[answer_index].given_away(self.subject_words, question_words):
                return "gives_answer"
        template = f"{self.relation.relation}/{variant + 1}"
        id_parts = self.pair.subject, self.relation.relation, template, time.specifier
        return PairQuestion(
            row_id(*id_parts, _code(time.first), _code(time.last)),
            question_text,
            mode,
            time,
            template,
            self.pair,
            tuple(chosen),
            segment_index,
        )

    def answering_segments(
        self, time: Time, segment_index: int | None, mode: Difficulty
    ) -> list[int] | str:
        """The segments that a time selects, or the reason why it cannot be asked about."""
        if reason := self._after_snapshot(time):
            return reason
        timeline = self.timeline
        selected = select(time, timeline.spans, timeline.snapshot, touching=mode == "hard")
        # Of a window nothing may be selected, of a segment's own time the segment has to be.
        if selected is None or (
            segment_index not in selected if segment_index is not None else selected
        ):
            return "in_doubt"
        if any(self.unproved[answer_index] for answer_index in selected):
            return "unproved"
        objects = {self.pair.segments[answer_index].object for answer_index in selected}
        if time.specifier in ("before", "after") and len(objects) > 1:
            return "ambiguous"
        return "others_stated" if self._states_others(time, mode) else selected

    def _after_snapshot(self, time: Time) -> str | None:
        """The reason why a time is too late to be asked about; None: it is not."""
        snapshot = self.timeline.snapshot
        for time_unit in (time.first, time.last):
            if time_unit and time_unit.last > snapshot:
                return "after_snapshot"
        first_unit = time.first
        if time.specifier == "after" and first_unit and first_unit.last > snapshot - _AFTER:
            return "near_snapshot"
        return None

    def _states_others(self, time: Time, mode: Difficulty) -> bool:
        """Whether the page may name others of the kind of the pair's objects at this time.

        `before` and `after`: it has dates before the first day of the pair, or after the last, in
        the sections of the evidence. Else, of what happens at one time, it has an entry that names
        no object of the pair, in a list or table beside the evidence, with a date inside the time.
        """
        kind, first_unit, last_unit = time
        timeline, stated_days = self.timeline, self.pair.dates_near_evidence
        if kind == "before":
            day = timeline.first
            return (mode == "hard" and day is not None) and any(
                ends.toordinal() < day - _SEASON for _, ends in stated_days
            )
        if kind == "after":
            day = timeline.last
            return (mode == "hard" and day is not None) and any(
                begins.toordinal() > day + _SEASON for begins, _ in stated_days
            )
        assert first_unit and last_unit
        days = ((begins.toordinal(), ends.toordinal()) for begins, ends in self.pair.other_dates)
        return self.pointwise and any(
            first_unit.first <= begins and ends <= last_unit.last for begins, ends in days
        )

    def drop(self, reason: str, segment_index: int, detail: str | None) -> None:
        """Count a segment that is not asked about."""
        segment = self.pair.segments[segment_index]
        item = segment.statements[0] if segment.statements else segment.object
        pair = segment.subject, segment.relation
        self.dropped.append(Dropped(STEP, reason, item, *pair, None, None, detail))


def _goes_on(time: Time, begins: date, ends: date) -> bool:
    """Whether a date lies inside a time, or a stretch without an end goes on in it."""
    _, first_unit, last_unit = time
    first = first_unit and (first_unit.last if first_unit != last_unit else first_unit.first - 1)
    last = last_unit and (last_unit.first if first_unit != last_unit else last_unit.last + 1)
    if last and begins.toordinal() >= last:
        return False
    is_inside = (not first or begins.toordinal() > first) and (not last or ends.toordinal() < last)
    return ends == date.max or is_inside


@lru_cache(1 << 16)
def _code(unit: TimeUnit | None) -> str:
    """A unit for an id: 2005, 2005-05, 2005-05-03, the early 1990s."""
    if unit is None:
        return ""
    if unit.grain == PART:
        return unit_text(unit)
    return date.fromordinal(unit.first).isoformat()[: (10, 7, 4)[unit.grain]]


def _draw_kind(weights: Mapping[HardKind, float], draws: RandomStream) -> HardKind:
    """One of the kinds, each with a chance as great as its weight."""
    threshold = draws.next_below(_SHARES) / _SHARES * sum(weights.values())
    for kind, weight in weights.items():
        threshold -= weight
        if threshold < 0:
            return kind
    return kind
