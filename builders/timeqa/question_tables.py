"""From tables of aligned segments and pages to tables of released questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import seeded_fraction, text_sha256
from factdrift.builders.core.schema import PAGE_ROW_GROUP, typed_rows, writing
from factdrift.builders.facts.namesakes import names_by_pair
from factdrift.builders.text.en.articles import opening_article
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.evidence import ObjectWords, PageStates
from factdrift.builders.timeqa.mentions import PageText
from factdrift.builders.timeqa.pool import Pool
from factdrift.builders.timeqa.questions import (
    STEP,
    Pair,
    PairQuestion,
    Questions,
    QuestionTemplates,
    ask_pair,
)
from factdrift.builders.timeqa.sorted_rows import SortedRows

SPLITS = ("train", "dev", "test")
LINE_END = "\n"
"""The text between the paragraphs of a context."""


def split_of(subject: str, seed: int) -> str:
    """The split of a subject and of all its questions, by the hash of the subject.

    Of 100 subjects 70 are in `train`, 15 in `dev` and 15 in `test`.
    """
    split_chance = seeded_fraction(seed, "split", subject)
    return "train" if split_chance < 0.70 else "dev" if split_chance < 0.85 else "test"


class AskSettings(Strict):
    """The settings of the questions of a release.

    `relations` has the questions of each relation by its property id. `text` tells whether rows
    hold the text of their page. `pool` is the number of paragraphs of other pages in a context.
    """

    relations: Mapping[str, QuestionTemplates]
    questions: Questions
    text: bool
    seed: int
    pool: int = 0


@dataclass(frozen=True)
class QuestionSources:
    """The tables that questions are made from, sorted by subject (pages by item).

    `segments` are rows of `rows.ReleasedAlignedSegment`, `names` rows of `rows.SubjectName`.
    """

    segments: Path
    gaps: Path
    subjects: Path
    pages: Path
    names: Path


def write_questions(
    sources: QuestionSources, out: Path, asking: AskSettings, step: str = STEP
) -> None:
    """Write `questions.parquet` (`rows.TimeQuestion`), `probes.parquet`, `dropped.parquet`.

    The rows are in the order of the subjects, then of the relations, then of the asking. The
    dropped rows name `step`. Memory holds one subject, its page and a few hundred questions.
    """
    settings, seed = asking.questions, asking.seed
    with ExitStack() as stack:
        question_rows = stack.enter_context(
            writing(out / "questions.parquet", rows.TimeQuestion, PAGE_ROW_GROUP)
        )
        probe_rows = stack.enter_context(
            writing(out / "probes.parquet", rows.TimeProbe, PAGE_ROW_GROUP)
        )
        dropped_rows = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        pool = None
        if asking.pool:
            pool = Pool(sources.pages, Path(stack.enter_context(TemporaryDirectory())))
        for pairs, page in _pairs(sources):
            context = PageContext(page, asking.text, pool, asking.pool)
            subject_split = split_of(page.item, seed)
            for pair in pairs:
                relation = asking.relations[pair.relation]
                asked_pair = ask_pair(pair, relation, settings, seed)
                for pair_question in asked_pair.questions:
                    column_values = context.values(pair_question, relation.label, subject_split)
                    question_rows.append(rows.TimeQuestion(**column_values))
                for pair_question in asked_pair.probes:
                    assert pair_question.original is not None and pair_question.number is not None
                    column_values = context.values(pair_question, relation.label, subject_split)
                    probe_rows.append(
                        rows.TimeProbe(
                            **column_values,
                            probe_of=pair_question.original,
                            probe=pair_question.number,
                        )
                    )
                for dropped_row in asked_pair.dropped:
                    dropped_rows.append(
                        dropped_row if step == STEP else replace(dropped_row, step=step)
                    )


def _pairs(sources: QuestionSources) -> Iterator[tuple[list[Pair], rows.Page]]:
    """Yield the pairs of every subject, and its page.

    Subjects without a page were dropped with their segments by the alignment.
    """
    gap_rows = SortedRows(sources.gaps, rows.Gap, "subject")
    subject_rows = SortedRows(sources.subjects, rows.PageSubject, "subject")
    page_rows = SortedRows(sources.pages, rows.Page, "item", batch=16)
    names = names_by_pair(sources.names)
    all_segments = typed_rows(sources.segments, rows.ReleasedAlignedSegment, 4096)
    for subject, segments in groupby(all_segments, key=attrgetter("subject")):
        page_subject = subject_rows.with_key(subject)[0]
        page = page_rows.with_key(subject)[0]
        subject_gaps = gap_rows.with_key(subject)
        page_text = PageText(page)
        page_states = PageStates(page_text)
        opening_text = page_text.texts[page_text.opening[0]] if page_text.texts else ""
        pairs = []
        for relation, history in groupby(segments, key=attrgetter("relation")):
            pair_segments = tuple(history)
            object_words = tuple(
                ObjectWords(segment, page_subject.label) for segment in pair_segments
            )
            pairs.append(
                Pair(
                    subject,
                    page_subject.label,
                    relation,
                    pair_segments,
                    tuple(gap for gap in subject_gaps if gap.relation == relation),
                    page_states.dates_near_evidence(pair_segments),
                    page_states.dates_for_windows(pair_segments, object_words),
                    tuple(map(page_states.departure, pair_segments)),
                    page_states.other_dates(pair_segments, object_words),
                    page_states.listed(pair_segments),
                    object_words,
                    tuple(map(page_states.naming, object_words)),
                    page_states.lengths,
                    (page_subject.began, page_subject.ended),
                    opening_article(opening_text, page_subject.label),
                    names.get((subject, relation), page_subject.label),
                )
            )
        yield pairs, page


class PageContext:
    """The context of the questions about a page: the text of its paragraphs, joined by line ends.

    Without `text` the rows have its offsets and its checksum, and the text itself is left out.
    """

    def __init__(
        self, page: rows.Page, has_text: bool, pool: Pool | None = None, added_count: int = 0
    ) -> None:
        self._page = page
        self._has_text = has_text
        self._pool, self._size = pool, added_count
        self._made: dict[tuple[int, ...], tuple[str, str]] = {}

    def _context(self, cut_paragraphs: tuple[int, ...]) -> tuple[str, str]:
        """The context without these paragraphs (empty if rows hold no text), and its checksum."""
        if cut_paragraphs not in self._made:
            cut_numbers = frozenset(cut_paragraphs)
            kept_texts = (
                paragraph.text
                for paragraph_number, paragraph in enumerate(self._page.paragraphs)
                if paragraph_number not in cut_numbers
            )
            context_text = LINE_END.join(kept_texts)
            self._made[cut_paragraphs] = (
                context_text if self._has_text else "",
                text_sha256(context_text),
            )
        return self._made[cut_paragraphs]

    def _starts(self, cut_paragraphs: tuple[int, ...]) -> list[int]:
        """The place in a context at which each paragraph of the page starts, or would."""
        cut_numbers = frozenset(cut_paragraphs)
        lengths = (
            0 if paragraph_number in cut_numbers else len(paragraph.text) + len(LINE_END)
            for paragraph_number, paragraph in enumerate(self._page.paragraphs)
        )
        return list(accumulate(lengths, initial=0))

    def _added(self, pair_question: PairQuestion) -> tuple[rows.AddedParagraph, ...]:
        """Paragraphs of other pages for a context; none names an object of the question's pair."""
        if self._pool is None:
            return ()

        def is_wanted(item: str, text: str) -> bool:
            text_words = frozenset(name_words(text))
            return item != self._page.item and not any(
                object_words.may_be_in(text_words) for object_words in pair_question.pair.names
            )

        return self._pool.search(pair_question.text, self._size, is_wanted)

    def values(
        self, pair_question: PairQuestion, relation_label: str, split: str
    ) -> dict[str, Any]:
        """The columns of a question (`rows.TimeQuestion`)."""
        first_day, last_day = pair_question.time.days()
        added_paragraphs = self._added(pair_question)
        context_text, context_sha256 = self._context(pair_question.cut)
        if added_paragraphs:
            context_text = LINE_END.join(
                (context_text, *(place.text for place in added_paragraphs))
            )
            context_sha256 = text_sha256(context_text)
        answer_segments, pair_segments = pair_question.answers, pair_question.pair.segments
        answer_places = () if pair_question.without_answer else places_of(pair_question)
        page_words = tuple(place.words for place in answer_places)
        paragraph_starts = self._starts(pair_question.cut) if answer_places else []
        context_starts = tuple(
            paragraph_starts[place.paragraph] + place.start for place in answer_places
        )
        return {
            "id": pair_question.id,
            "prompt": pair_question.text,
            "targets": _targets(pair_question, page_words),
            "title": self._page.title,
            "context": context_text,
            "question": pair_question.text,
            "answers": rows.Spans(page_words, context_starts),
            "objects": tuple(
                rows.Answer(segment.object, segment.object_label, segment.aliases)
                for segment in answer_segments
            ),
            "answerable": pair_question.answerable,
            "evidence": pair_question.evidence,
            "context_cut": pair_question.without_answer,
            "split": split,
            "difficulty": pair_question.difficulty,
            "specifier": pair_question.time.specifier,
            "time_first": first_day,
            "time_last": last_day,
            "subject": pair_question.pair.subject,
            "subject_label": pair_question.pair.subject_label,
            "relation": pair_question.pair.relation,
            "relation_label": relation_label,
            "template": pair_question.template,
            "rules": tuple(segment.rule for segment in answer_segments),
            "paragraphs": tuple(place.paragraph for place in answer_places),
            "segment": None
            if pair_question.segment is None
            else pair_segments[pair_question.segment].id,
            "segments": tuple(
                pair_segments[segment_index].id for segment_index in pair_question.chosen
            ),
            "verification": pair_question.verification,
            "page": self._page.page,
            "revision": self._page.revision,
            "left_out": pair_question.cut,
            "added": added_paragraphs,
            "context_sha256": context_sha256,
        }


class Place(NamedTuple):
    """The place at which a page names an object, and its words for the object."""

    paragraph: int
    start: int
    words: str


def places_of(pair_question: PairQuestion) -> tuple[Place, ...]:
    """The places at which the page names answers of a question.

    The places of the segment that it was made from come first, the others in the page's order.
    """
    ranked_places: list[tuple[bool, Place]] = []
    for segment_index in pair_question.chosen:
        segment = pair_question.pair.segments[segment_index]
        if segment.paragraph is not None and segment.start is not None and segment.mention:
            ranked_places.append(
                (
                    segment_index != pair_question.segment,
                    Place(segment.paragraph, segment.start, segment.mention),
                )
            )
    return tuple(dict.fromkeys(place for _, place in sorted(ranked_places)))


def _targets(pair_question: PairQuestion, page_words: Sequence[str]) -> tuple[str, ...]:
    """The accepted answers; there are none where the page does not answer the question.

    The object that the question was made from is first, and those that the page does not name are
    last.
    """
    if pair_question.answerable != "yes":
        return ()
    own_object = (
        None
        if pair_question.segment is None
        else pair_question.pair.segments[pair_question.segment].object
    )
    ranked_segments = sorted(
        pair_question.answers,
        key=lambda segment: (segment.rule == "none", segment.object != own_object),
    )
    return merge_targets(
        [segment.object_label for segment in ranked_segments],
        page_words,
        *(segment.aliases for segment in ranked_segments),
    )
