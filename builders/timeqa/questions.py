"""Time-sensitive questions about one subject and relation, easy and hard.

A question is made only where its answer is beyond doubt. The answers are worked out anew from all
segments of the pair. A question is dropped and counted where a segment or a gap may or may not hold
at its time, and where the page does not prove one of the answers. `builders.timeqa.times` says
which segments a time selects.

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
# A date on the page counts as one of other holders if it lies more than this many days before the
# first day of the pair or after its last one. It is a year, because a page may name a whole year or
# season (`the 2003-04 season`) where the pair has exact days.
_SEASON = 366
# `after` is asked only if at least this many days lie between the unit that it names and the
# snapshot: a month, a guess. With fewer there is hardly any time left to ask about.
_AFTER = 30
# How often a time is drawn for a question before the question is given up.
_TRIES = 3
# For a window, a time at which nothing holds, it is `_TRIES` times this number: most pages state
# most years, and a stated time is not taken.
_WINDOWS = 8
# The greatest share of a page's words that may be left out of a context, so that what is left still
# reads as a page (SPEC 3).
_MOST_CUT = 0.25
# Paragraphs that stand for those with the answer have as many words as these, or differ by this
# share or by this number: no closer sum is to be found in most pages.
_CLOSE_SHARE, _CLOSE_WORDS = 0.15, 5
# The drop reasons of segments that the page does not prove.
_DROP_REASONS = ("not_found", "contradicted", "not_stated")
# The rules of the alignment, the surest first.
_RULES: dict[AlignmentRule, int] = {"link": 0, "name": 1, "similar": 2, "none": 3}
_TIERS: Sequence[EvidenceTier] = get_args(EvidenceTier)
_KINDS: tuple[HardKind, ...] = get_args(HardKind)
_MODES: tuple[Difficulty, ...] = get_args(Difficulty)
_NO_UNIT = TimeUnit(0, 0, 0, 0)
# Chances are drawn as whole numbers below this one, in steps of about a millionth.
_SHARES = 1 << 20


@dataclass(frozen=True)
class Pair:
    """One subject and relation with all its segments (undated ones too), its gaps, and its page.

    - `dates_near_evidence`: the dates and stretches of time in the sections that hold evidence.
    - `dates_for_windows`: those at which the page may say that something held, however loosely.
    - `departures`: the day by which each segment had ended as the page says, or None.
    - `other_dates`: the dates among them that stand beside other names than those of the objects.
    - `listed`: the dates of each entry of the lists and tables beside the evidence, by paragraph.
    - `names`: the words for the object of each segment.
    - `naming`: the paragraphs with these words, for each segment.
    - `lengths`: the number of words of each paragraph.
    - `life`: the first and the last day on which the subject certainly existed, or None.
    - `the`: whether the page says "the" before the subject's label; None where it does not show.
    - `name`: what questions call the subject; None: its label.
    """

    subject: str
    subject_label: str
    relation: str
    segments: tuple[ReleasedAlignedSegment, ...]
    gaps: tuple[Gap, ...] = ()
    dates_near_evidence: tuple[DayInterval, ...] = ()
    dates_for_windows: tuple[DayInterval, ...] = ()
    departures: tuple[date | None, ...] = ()
    other_dates: tuple[DayInterval, ...] = ()
    listed: Mapping[int, Sequence[DayInterval]] = field(default_factory=dict)
    names: tuple[ObjectWords, ...] = ()
    naming: tuple[frozenset[int], ...] = ()
    lengths: tuple[int, ...] = ()
    life: tuple[date | None, date | None] = (None, None)
    the: bool | None = None
    name: str | None = None

    def cut(self, chosen: Collection[int], time: Time) -> tuple[int, ...]:
        """The paragraphs to leave out so that the page names none of these segments' objects.

        The tuple is empty where nothing can be cut: where the page does not say which paragraphs
        name them, and where an entry beside the evidence would be left that has a date inside the
        time or goes on into it (`since 2003`).
        """
        cut_paragraphs = self._naming_any(chosen)
        for paragraph_number, days in self.listed.items():
            is_left = paragraph_number not in cut_paragraphs
            if is_left and any(_goes_on(time, *interval) for interval in days):
                return ()
        return tuple(sorted(cut_paragraphs))

    def _naming_any(self, chosen: Collection[int]) -> set[int]:
        naming_paragraphs: set[int] = set()
        for segment_index in chosen:
            if self.naming:
                naming_paragraphs |= self.naming[segment_index]
        return naming_paragraphs

    def words_of(self, paragraph_numbers: Collection[int]) -> int:
        """The number of words of some paragraphs."""
        return sum(self.lengths[paragraph_number] for paragraph_number in paragraph_numbers)

    def may_lose(self, word_count: int) -> bool:
        """Whether a context may be so many words shorter than its page."""
        return word_count <= _MOST_CUT * sum(self.lengths)

    def paragraphs_without_evidence(
        self, chosen: Collection[int], word_count: int, draws: RandomStream
    ) -> tuple[int, ...]:
        """Paragraphs of about so many words that may be left out with no harm to a question.

        They name none of the objects that answer it, and are no evidence of any segment of the
        pair. The tuple is empty where no such paragraphs have about so many words.
        """
        kept_paragraphs = self._naming_any(chosen)
        for segment in self.segments:
            if segment.paragraph is not None:
                kept_paragraphs.add(segment.paragraph)
        free_paragraphs: list[int] = []
        for paragraph_number, length in enumerate(self.lengths):
            if length and paragraph_number not in kept_paragraphs:
                free_paragraphs.append(paragraph_number)
        largest_gap = max(_CLOSE_WORDS, _CLOSE_SHARE * word_count)
        left_out: list[int] = []
        missing = word_count
        while free_paragraphs and missing > 0:
            # A paragraph that would not go too far, in a random order; else the end is reached.
            drawn = free_paragraphs.pop(draws.next_below(len(free_paragraphs)))
            if self.lengths[drawn] <= missing + largest_gap:
                left_out.append(drawn)
                missing -= self.lengths[drawn]
        return tuple(sorted(left_out)) if left_out and abs(missing) <= largest_gap else ()


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
    """The numbers of questions, and the kinds of times that they name."""

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
        default=1.0,
        ge=0,
        le=1,
        description=(
            "Greatest share of a pair's questions with several answers; 1: all of them, which are "
            "about as many as the original has"
        ),
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
    def _asks_something(cls, kind_weights: Mapping[HardKind, float]) -> Mapping[HardKind, float]:
        if not any(kind_weights.values()):
            raise ValueError("no kind of hard question has a weight")
        return kind_weights


@dataclass(slots=True)
class PairQuestion:
    """A question about a pair, without its page.

    `chosen` has the indexes of the segments that answer the question. `segment` is the index of the
    segment that it was made from, or None where the time is one at which nothing holds. `cut` has
    the paragraphs that the context leaves out: with `without_answer` those that name the answer,
    else as many words of others, so that the length of a context does not tell. A probe also has
    the id of the original question and its own number, from 1.
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
    without_answer: bool = False
    original: str | None = None
    number: int | None = None

    @property
    def chosen_segments(self) -> list[ReleasedAlignedSegment]:
        """The segments that answer it."""
        return [self.pair.segments[segment_index] for segment_index in self.chosen]

    @property
    def answers(self) -> list[AlignedSegment]:
        """The best aligned segment of each object that answers it, by id."""
        best_segments: dict[str, AlignedSegment] = {}
        for segment in sorted(self.chosen_segments, key=lambda segment: _RULES[segment.rule]):
            best_segments.setdefault(segment.object, segment)
        return sorted(
            best_segments.values(), key=lambda segment: (len(segment.object), segment.object)
        )

    @property
    def answerable(self) -> Answerable:
        """Whether its context answers it, and why not where it does not."""
        if not self.chosen:
            return "nothing_holds"
        in_page = any(segment.rule != "none" for segment in self.chosen_segments)
        return "yes" if in_page and not self.without_answer else "not_in_page"

    @property
    def evidence(self) -> EvidenceTier:
        """The number of boundaries of its segment that the page states."""
        return "none" if self.segment is None else self.pair.segments[self.segment].evidence

    @property
    def verification(self) -> Verification:
        """`human` where people checked all segments that answer it, else `automatic`.

        Where no segment answers it, people have to have checked all segments of the pair.
        """
        verifications = {
            segment.verification for segment in self.chosen_segments or self.pair.segments
        }
        return "human" if verifications <= {"human"} else "automatic"


class AskedPair(NamedTuple):
    """The questions about a pair, their probes, and the rows of what was dropped."""

    questions: list[PairQuestion]
    probes: list[PairQuestion]
    dropped: list[Dropped]


def ask_pair(pair: Pair, relation: QuestionTemplates, settings: Questions, seed: int) -> AskedPair:
    """Ask the easy and the hard questions about a pair, in the order of its segments, with probes.

    Drop reasons with one row for each segment:

    - `contradicted`: the page has other dates beside the mention.
    - `not_stated`: the page states fewer boundaries than the setting `evidence` asks for.
    - `not_found`: the page does not name the object.

    Drop reasons with one row for each segment and difficulty, from the last try:

    - `in_doubt`: a segment or a gap may or may not hold at the time.
    - `unproved`: another segment answers the question, and the page does not prove it.
    - `ambiguous`: `before` and `after` have to have one answer, and have several.
    - `others_stated`: the page may name others at that time.
    - `ended_in_page`: the page states that what answers had ended by then.
    - `gives_answer`: the question names an answer.
    - `after_snapshot`, `near_snapshot`: the time is after the snapshot, or too close before it.
    - `no_template`: no variant of the relation's questions serves the specifier.
    - `coarse_boundary`: an easy question has no boundary that can be printed.
    - `no_room`: a hard question has no moment inside the segment.

    Drop reasons with one row for each question:

    - `several_answers`: it is over the share of questions with several answers.
    - `context_too_short`: without its answer the page would lose more than a quarter of its words.

    Probes measure consistency (section 4.5): a model that knows the segment gives the same answer
    each time. A probe has the specifier, the template and the answers of the original question and
    another time inside its segment. All probes are hard, as they print no boundary. A question at
    whose time nothing holds has no probes, and one about a short segment has fewer.
    """
    asker = _Asker(pair, relation, settings, seed)
    proved_indexes = []
    for segment_index, unproved_reason in enumerate(asker.unproved):
        if unproved_reason is None:
            proved_indexes.append(segment_index)
        else:
            asker.drop(unproved_reason, segment_index, pair.segments[segment_index].mention)
    for segment_index in proved_indexes:
        asker.ask(easy_times(asker.timeline, segment_index, asker.pointwise), segment_index, "easy")
    for segment_index in proved_indexes:
        asker.ask(asker.hard_times(segment_index), segment_index, "hard")
    asker.limit_several()
    asker.make_unanswerable()
    probes = [probe for pair_question in asker.questions for probe in asker.probes(pair_question)]
    return AskedPair(asker.questions, probes, asker.dropped)


class _Asker:
    """Asks about one pair: draws times, finds their answers, and collects questions and drops."""

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
        # Draws depend on the seed, the pair and the segment, and on nothing else.
        self.own_key = seeded_hash(seed, pair.subject, pair.relation)
        self.keys = [
            seeded_hash(self.own_key, segment.object, *seed_numbers(span))
            for segment, span in zip(pair.segments, self.timeline.spans, strict=False)
        ]
        # The words that the page uses for an object are names of it, too, even a bare month name:
        # where a page calls March Engineering `March`, `in March 1985` would give the answer away.
        self.names = [
            object_names(
                segment.object_label,
                (*segment.aliases, segment.mention) if segment.mention else segment.aliases,
            )
            for segment in pair.segments
        ]
        self.subject_words = significant_words(word_tokens(pair.subject_label))
        self.serving: dict[Specifier, list[int]] = {}
        for variant_index, template in enumerate(relation.questions):
            for specifier in template.times:
                self.serving.setdefault(specifier, []).append(variant_index)

    def _unproved(self, segment: AlignedSegment) -> str | None:
        """The reason why the page does not prove a segment, or None where it or people do."""
        if segment.verification == "human":
            return None
        if segment.rule == "none":
            return "not_found"
        if self.settings.evidence != "none" and segment.contradicted:
            return "contradicted"
        is_less = _TIERS.index(segment.evidence) > _TIERS.index(self.settings.evidence)
        return "not_stated" if is_less else None

    def ask(
        self,
        times: Iterator[Time] | Sequence[Time],
        segment_index: int | None,
        difficulty: Difficulty,
    ) -> None:
        """Ask about the first of these times that can be asked about.

        The segment with the index has to be among the answers; with None nothing may hold.
        """
        drop_reason: str | None = "coarse_boundary" if difficulty == "easy" else "no_room"
        detail = None
        for time in times:
            if time in self.seen:
                drop_reason = None  # the segments with this time share its question
                continue
            outcome = self.question_or_reason(time, segment_index, difficulty)
            if isinstance(outcome, PairQuestion):
                self.questions.append(outcome)
                self.seen.add(time)
                return
            drop_reason, detail = outcome, time_text(time, difficulty == "easy")
        if segment_index is not None and drop_reason is not None:
            self.drop(drop_reason, segment_index, detail)

    def hard_times(self, segment_index: int) -> Iterator[Time]:
        """Draw moments inside a segment, of kinds that are drawn by the weights of the mix."""
        kind_order = RandomStream(self.keys[segment_index])
        weights: dict[HardKind, float] = {}
        for hard_kind in _KINDS:
            if weight := self.settings.mix.get(hard_kind, 0):
                weights[hard_kind] = weight
        while weights:
            hard_kind = _draw_kind(weights, kind_order)
            del weights[hard_kind]
            kind_draws = RandomStream(kind_order.next_bits())
            yield from self._hard_times(segment_index, hard_kind, kind_draws, _TRIES)

    def _hard_times(
        self, segment_index: int, hard_kind: HardKind, draws: RandomStream, tries: int
    ) -> Iterator[Time]:
        for _ in range(tries):
            time = hard_time(
                self.timeline, segment_index, hard_kind, self.pointwise, self.settings.months, draws
            )
            if time is None:
                return
            yield time

    def probes(self, original: PairQuestion) -> Iterator[PairQuestion]:
        """The question at other times inside the segment that it was made from."""
        segment_index = original.segment
        if segment_index is None:
            return
        probe_count, specifier = self.settings.probes, original.time.specifier
        draws = RandomStream(seeded_hash(self.seed, original.id, "probe"))
        seen_times = {original.time}
        for time in self._hard_times(segment_index, specifier, draws, probe_count * _TRIES):
            if len(seen_times) > probe_count:
                return
            if time in seen_times:
                continue
            probe = self.question_or_reason(time, segment_index, "hard", original)
            if not isinstance(probe, PairQuestion):
                continue
            if self.answer_objects(probe) == self.answer_objects(original):
                seen_times.add(time)
                probe.number, probe.original = len(seen_times) - 1, original.id
                probe.id, probe.cut = row_id(original.id, "probe", probe.number), original.cut
                probe.without_answer = original.without_answer
                yield probe

    def answer_objects(self, pair_question: PairQuestion) -> set[str]:
        """The ids of the objects that answer a question."""
        return {segment.object for segment in pair_question.chosen_segments}

    def _of_difficulty(self, difficulty: Difficulty) -> list[PairQuestion]:
        return [
            pair_question
            for pair_question in self.questions
            if pair_question.difficulty == difficulty
        ]

    def limit_several(self) -> None:
        """Leave out the questions with several answers that are over their share, by their hash."""
        if (max_share := self.settings.several) == 1:
            return
        for difficulty in _MODES:
            mode_questions = self._of_difficulty(difficulty)
            several_answers = [
                pair_question
                for pair_question in mode_questions
                if len(self.answer_objects(pair_question)) > 1
            ]
            single_count = len(mode_questions) - len(several_answers)
            kept_count = self._count(
                difficulty, "several", single_count * max_share / (1 - max_share)
            )
            several_answers.sort(key=lambda pair_question: seeded_hash(self.seed, pair_question.id))
            for pair_question in several_answers[kept_count:]:
                self._drop_question("several_answers", pair_question)

    def make_unanswerable(self) -> None:
        """Make as many questions unanswerable as the settings ask for.

        Some of the hard ones are new questions about windows, which are times at which nothing
        holds. All others are questions made before, whose answer is now cut out of the page.
        """
        for difficulty in _MODES:
            wanted_share = self.settings.unanswerable.get(difficulty, 0.0)
            if difficulty == "hard":
                window_share = wanted_share * self.settings.windows
                question_count = len(self._of_difficulty(difficulty))
                # Questions about windows are added to the others. With n others and a share s of
                # all, there are n * s / (1 - s) of them.
                wanted_windows = question_count * window_share / (1 - window_share)
                for _ in range(self._count(difficulty, "windows", wanted_windows)):
                    self.ask(self.window_times(), None, "hard")
            self._cut_answers(difficulty, wanted_share)
            self._cut_elsewhere(difficulty)

    def _cut_answers(self, difficulty: Difficulty, wanted_share: float) -> None:
        """Cut answers out of pages until the share of questions without an answer is reached.

        A question whose page would lose too much is dropped. One whose page has no other paragraphs
        of as many words keeps its answer, for the length of its context would tell.
        """
        mode_questions = self._of_difficulty(difficulty)
        wanted_count = self._count(difficulty, "cut", len(mode_questions) * wanted_share)
        for pair_question in mode_questions:
            wanted_count -= pair_question.answerable != "yes"
        most_drops = wanted_count
        mode_questions.sort(
            key=lambda pair_question: seeded_hash(self.seed, pair_question.id, "cut")
        )
        for pair_question in mode_questions:
            if wanted_count <= 0 or pair_question.answerable != "yes":
                continue
            cut = self.pair.cut(pair_question.chosen, pair_question.time)
            word_count = self.pair.words_of(cut)
            if not cut:
                continue
            if not self.pair.may_lose(word_count):
                if most_drops > 0:
                    most_drops -= 1
                    self._drop_question("context_too_short", pair_question)
            elif self._paragraphs_elsewhere(pair_question, word_count):
                pair_question.cut, pair_question.without_answer = cut, True
                wanted_count -= 1

    def _drop_question(self, reason: str, pair_question: PairQuestion) -> None:
        self.questions.remove(pair_question)
        assert pair_question.segment is not None
        is_easy = pair_question.difficulty == "easy"
        self.drop(reason, pair_question.segment, time_text(pair_question.time, is_easy))

    def _paragraphs_elsewhere(
        self, pair_question: PairQuestion, word_count: int
    ) -> tuple[int, ...]:
        draws = RandomStream(seeded_hash(self.seed, pair_question.id, "elsewhere"))
        return self.pair.paragraphs_without_evidence(pair_question.chosen, word_count, draws)

    def _cut_elsewhere(self, difficulty: Difficulty) -> None:
        """Leave paragraphs without evidence out of all other contexts: length must not tell.

        A question loses about as many words as it would without its answer; where it has none, or
        that is too much, as many as another question of the pair.
        """
        if not self.settings.unanswerable.get(difficulty, 0.0):
            return
        mode_questions = self._of_difficulty(difficulty)
        losses = self._likely_losses(mode_questions)
        for pair_question in mode_questions:
            if pair_question.without_answer or not losses:
                continue
            draws = RandomStream(seeded_hash(self.seed, pair_question.id, "shorter"))
            own_loss = self.pair.words_of(self.pair.cut(pair_question.chosen, pair_question.time))
            first_loss = own_loss if own_loss in losses else losses[draws.next_below(len(losses))]
            for word_count in (first_loss, *losses):
                if cut := self._paragraphs_elsewhere(pair_question, word_count):
                    pair_question.cut = cut
                    break

    def _likely_losses(self, mode_questions: Sequence[PairQuestion]) -> list[int]:
        """The numbers of words that questions of a pair lose, or would, without their answer."""
        losses: set[int] = set()
        for pair_question in mode_questions:
            word_count = self.pair.words_of(self.pair.cut(pair_question.chosen, pair_question.time))
            if word_count and self.pair.may_lose(word_count):
                losses.add(word_count)
        return sorted(losses)

    def window_times(self) -> Iterator[Time]:
        """Draw times near the pair's own at which nothing is known to hold.

        A time is passed over where the page states a date in it in the sections of the evidence, or
        between it and the year in which the pair ends. A date of that year itself tells the end.
        """
        draws = RandomStream(seeded_hash(self.own_key, "window", len(self.questions)))
        for _ in range(_TRIES * _WINDOWS):
            time = outside_time(self.timeline, self.settings.months, self.pair.life, draws)
            if time is None:
                return
            first_day, last_day = time.days()
            assert first_day and last_day  # `outside_time` draws `in` and `between` alone
            timeline_end = self.timeline.last
            if timeline_end is not None and first_day.toordinal() > timeline_end:
                next_year = date(date.fromordinal(timeline_end).year + 1, 1, 1)
                first_day = min(first_day, next_year)
            if not self._has_date_near_evidence(first_day, last_day):
                yield time

    def _has_date_near_evidence(self, first_day: date, last_day: date) -> bool:
        return any(
            begins <= last_day and first_day <= ends
            for begins, ends in (*self.pair.dates_near_evidence, *self.pair.dates_for_windows)
        )

    def _count(self, difficulty: Difficulty, purpose: str, wanted_count: float) -> int:
        """A whole number of questions; the fraction of the wanted one is a chance of one more.

        So 2.3 questions are 2 of them, and 3 with a chance of 0.3.
        """
        draws = RandomStream(seeded_hash(self.own_key, difficulty, purpose))
        return int(wanted_count) + (draws.next_below(_SHARES) < wanted_count % 1 * _SHARES)

    def question_or_reason(
        self,
        time: Time,
        segment_index: int | None,
        difficulty: Difficulty,
        original: PairQuestion | None = None,
    ) -> PairQuestion | str:
        """The question about a time, or the reason why there is none.

        A probe has the template of its `original` question; other questions draw one.
        """
        chosen = self.answering_segments(time, segment_index, difficulty)
        if isinstance(chosen, str):
            return chosen
        variants = self.serving.get(time.specifier)
        if not variants:
            return "no_template"
        if original is None:
            seed_key = self.own_key if segment_index is None else self.keys[segment_index]
            first_day = (time.first or time.last or _NO_UNIT).first
            variant_index = variants[RandomStream(seed_key ^ first_day).next_below(len(variants))]
        else:
            variant_index = int(original.template.rpartition("/")[2]) - 1
        has_article = self.pair.the
        subject_name = self.pair.name or self.pair.subject_label
        articles = self.relation.articles if has_article is None else {subject_name: has_article}
        question_pattern = self.relation.questions[variant_index].ask
        question_text = question(
            question_pattern, subject_name, time_text(time, difficulty == "easy"), articles
        )
        question_words = padded_words(word_tokens(question_text))
        for answer_index in chosen:
            if self.names[answer_index].given_away(self.subject_words, question_words):
                return "gives_answer"
        template_id = f"{self.relation.relation}/{variant_index + 1}"
        id_parts = self.pair.subject, self.relation.relation, template_id, time.specifier
        return PairQuestion(
            row_id(*id_parts, _code(time.first), _code(time.last)),
            question_text,
            difficulty,
            time,
            template_id,
            self.pair,
            tuple(chosen),
            segment_index,
        )

    def answering_segments(
        self, time: Time, segment_index: int | None, difficulty: Difficulty
    ) -> list[int] | str:
        """The segments that a time selects, or the reason why it cannot be asked about."""
        if reason := self._after_snapshot(time):
            return reason
        timeline = self.timeline
        selected_indexes = select(
            time, timeline.spans, timeline.snapshot, counts_touching=difficulty == "hard"
        )
        if selected_indexes is None:
            return "in_doubt"
        # A window may select nothing, and a segment's own time has to select the segment.
        if selected_indexes if segment_index is None else segment_index not in selected_indexes:
            return "in_doubt"
        if any(self.unproved[answer_index] for answer_index in selected_indexes):
            return "unproved"
        answer_objects = {self.pair.segments[index].object for index in selected_indexes}
        if time.specifier in ("before", "after") and len(answer_objects) > 1:
            return "ambiguous"
        if self._ended_before(time, selected_indexes):
            return "ended_in_page"
        return "others_stated" if self._states_others(time, difficulty) else selected_indexes

    def _ended_before(self, time: Time, selected_indexes: Sequence[int]) -> bool:
        """Whether the page states that what answers had ended when the time begins.

        `Left on 2 September` bars `after September`, and every later time.
        """
        first_day = time.days()[0]
        if first_day is None or not self.pair.departures:
            return False
        for answer_index in selected_indexes:
            departure = self.pair.departures[answer_index]
            if departure is not None and departure < first_day:
                return True
        return False

    def _after_snapshot(self, time: Time) -> str | None:
        """The reason why a time is too late to be asked about, or None where it is not."""
        snapshot = self.timeline.snapshot
        for time_unit in (time.first, time.last):
            if time_unit and time_unit.last > snapshot:
                return "after_snapshot"
        first_unit = time.first
        if time.specifier == "after" and first_unit and first_unit.last > snapshot - _AFTER:
            return "near_snapshot"
        return None

    def _states_others(self, time: Time, difficulty: Difficulty) -> bool:
        """Whether the page may name other objects for this time than those that the pair has.

        Wikidata may lack holders that the page names. A question whose time they may fall into is
        not asked, because a reader of the page would rightly answer with one of them. There are two
        signs of such holders:

        - For hard `before` questions, a date in the sections of the evidence that is more than a
          year before the pair; for hard `after` questions, one that is more than a year after it.
        - For all other specifiers, and only if the relation has points in time (`pointwise`): in a
          list or table beside the evidence, an entry that names no object of the pair and whose
          date lies inside the time.
        """
        specifier, first_unit, last_unit = time
        # For `before` and `after` each date near the evidence counts that is far outside the pair,
        # for the others only those in `other_dates`, which stand beside other names.
        timeline, stated_days = self.timeline, self.pair.dates_near_evidence
        if specifier == "before":
            day = timeline.first
            return (difficulty == "hard" and day is not None) and any(
                ends.toordinal() < day - _SEASON for _, ends in stated_days
            )
        if specifier == "after":
            day = timeline.last
            return (difficulty == "hard" and day is not None) and any(
                begins.toordinal() > day + _SEASON for begins, _ in stated_days
            )
        assert first_unit and last_unit
        days = ((begins.toordinal(), ends.toordinal()) for begins, ends in self.pair.other_dates)
        return self.pointwise and any(
            first_unit.first <= begins and ends <= last_unit.last for begins, ends in days
        )

    def drop(self, reason: str, segment_index: int, detail: str | None) -> None:
        """Record a segment that is not asked about, as a dropped row with its reason."""
        segment = self.pair.segments[segment_index]
        item_name = segment.statements[0] if segment.statements else segment.object
        subject_and_relation = segment.subject, segment.relation
        self.dropped.append(
            Dropped(STEP, reason, item_name, *subject_and_relation, None, None, detail)
        )


def _goes_on(time: Time, begins: date, ends: date) -> bool:
    """Whether a date lies inside a time, or a stretch without an end goes on into it.

    The units of `between` do not count as inside, as their days belong to the neighbours, too.
    """
    _, first_unit, last_unit = time
    first = first_unit and (first_unit.last if first_unit != last_unit else first_unit.first - 1)
    last = last_unit and (last_unit.first if first_unit != last_unit else last_unit.last + 1)
    if last and begins.toordinal() >= last:
        return False
    is_inside = (not first or begins.toordinal() > first) and (not last or ends.toordinal() < last)
    return ends == date.max or is_inside


@lru_cache(1 << 16)
def _code(time_unit: TimeUnit | None) -> str:
    """A unit in the id of a question: `2005`, `2005-05`, `2005-05-03`, `the early 1990s`."""
    if time_unit is None:
        return ""
    if time_unit.grain == PART:
        return unit_text(time_unit)
    return date.fromordinal(time_unit.first).isoformat()[: (10, 7, 4)[time_unit.grain]]


def _draw_kind(weights: Mapping[HardKind, float], draws: RandomStream) -> HardKind:
    """Draw a kind; the chance of each is its share of the weights."""
    threshold = draws.next_below(_SHARES) / _SHARES * sum(weights.values())
    for kind, weight in weights.items():
        threshold -= weight
        if threshold < 0:
            return kind
    return kind
