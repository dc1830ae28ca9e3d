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
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.text.en.articles import opening_article
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.evidence import Naming, PageStates
from factdrift.builders.timeqa.in_order import RowsInOrder
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

SPLITS = ("train", "dev", "test")
GROUP = 256
"""Questions of a row group: each carries its page."""
LINE_END = "\n"
"""What stands between the paragraphs of a context."""


def split_of(subject: str, seed: int) -> str:
    """The split of a subject, with all its questions: 70, 15 and 15 of 100, by its own hash."""
    chance = seeded_fraction(seed, "split", subject)
    return "train" if chance < 0.70 else "dev" if chance < 0.85 else "test"


class AskSettings(Strict):
    """How the questions of a release are asked; `text`: whether rows hold the text of their page.

    `relations`: the questions of each, by property id; `pool`: paragraphs of other pages that a
    context has.
    """

    relations: Mapping[str, QuestionTemplates]
    questions: Questions
    text: bool
    seed: int
    pool: int = 0


@dataclass(frozen=True)
class QuestionSources:
    """The tables that questions are made from, sorted by subject (pages by item).

    `segments` are rows of `rows.ReleasedAlignedSegment`.
    """

    segments: Path
    gaps: Path
    subjects: Path
    pages: Path


def write_questions(
    sources: QuestionSources, out: Path, asking: AskSettings, step: str = STEP
) -> None:
    """Write `questions.parquet` (`rows.TimeQuestion`), `probes.parquet`, `dropped.parquet`.

    The order is that of the subjects, then of the relations, then of the asking. `step` is what
    the dropped rows name. Memory holds one subject, its page and a few hundred questions.
    """
    settings, seed = asking.questions, asking.seed
    with ExitStack() as stack:
        asked = stack.enter_context(writing(out / "questions.parquet", rows.TimeQuestion, GROUP))
        moved = stack.enter_context(writing(out / "probes.parquet", rows.TimeProbe, GROUP))
        dropped = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        pool = None
        if asking.pool:
            pool = Pool(sources.pages, Path(stack.enter_context(TemporaryDirectory())))
        for pairs, page in _pairs(sources):
            context = PageContext(page, asking.text, pool, asking.pool)
            split = split_of(page.item, seed)
            for pair in pairs:
                relation = asking.relations[pair.relation]
                found = ask_pair(pair, relation, settings, seed)
                for one in found.questions:
                    values = context.values(one, relation.label, split)
                    asked.append(rows.TimeQuestion(**values))
                for one in found.probes:
                    assert one.original is not None and one.number is not None
                    values = context.values(one, relation.label, split)
                    moved.append(rows.TimeProbe(**values, probe_of=one.original, probe=one.number))
                for drop in found.dropped:
                    dropped.append(drop if step == STEP else replace(drop, step=step))


def _pairs(sources: QuestionSources) -> Iterator[tuple[list[Pair], rows.Page]]:
    """Every subject's pairs with its page; subjects without a page have no segments by now."""
    gaps = RowsInOrder(sources.gaps, rows.Gap, "subject")
    subjects = RowsInOrder(sources.subjects, rows.PageSubject, "subject")
    pages = RowsInOrder(sources.pages, rows.Page, "item", batch=16)
    flow = typed_rows(sources.segments, rows.ReleasedAlignedSegment, 4096)
    for subject, segments in groupby(flow, key=attrgetter("subject")):
        about = subjects.at(subject)[0]
        page = pages.at(subject)[0]
        unnamed = gaps.at(subject)
        text = PageText(page)
        states = PageStates(text)
        opening = text.texts[text.opening[0]] if text.texts else ""
        pairs = []
        for relation, history in groupby(segments, key=attrgetter("relation")):
            own = tuple(history)
            names = tuple(Naming(s, about.label) for s in own)
            pairs.append(
                Pair(
                    subject,
                    about.label,
                    relation,
                    own,
                    tuple(gap for gap in unnamed if gap.relation == relation),
                    states.near_evidence(own),
                    states.of_others(own, names),
                    states.listed(own),
                    names,
                    tuple(map(states.naming, names)),
                    states.lengths,
                    (about.began, about.ended),
                    opening_article(opening, about.label),
                )
            )
        yield pairs, page


class PageContext:
    """The context of the questions about a page: the text of its paragraphs, joined by line ends.

    Without `text` the rows have its offsets and its checksum, and the text itself is left out.
    """

    def __init__(
        self, page: rows.Page, text: bool, pool: Pool | None = None, size: int = 0
    ) -> None:
        self._page = page
        self._has_text = text
        self._pool, self._size = pool, size
        self._made: dict[tuple[int, ...], tuple[str, str]] = {}
        lengths = (len(p.text) + len(LINE_END) for p in page.paragraphs)
        self._starts = list(accumulate(lengths, initial=0))

    def _context(self, cut: tuple[int, ...]) -> tuple[str, str]:
        """The text without these paragraphs, and its checksum."""
        if cut not in self._made:
            left_out = frozenset(cut)
            kept = (p.text for n, p in enumerate(self._page.paragraphs) if n not in left_out)
            text = LINE_END.join(kept)
            self._made[cut] = text if self._has_text else "", text_sha256(text)
        return self._made[cut]

    def _added(self, one: PairQuestion) -> tuple[rows.AddedParagraph, ...]:
        """The paragraphs of other pages in the context of a question.

        None of them may name an object of its history.
        """
        if self._pool is None:
            return ()

        def is_wanted(item: str, text: str) -> bool:
            words = frozenset(name_words(text))
            return item != self._page.item and not any(n.may_be_in(words) for n in one.pair.names)

        return self._pool.search(one.text, self._size, is_wanted)

    def values(self, one: PairQuestion, relation_label: str, split: str) -> dict[str, Any]:
        """The columns of a question (`rows.TimeQuestion`)."""
        first, last = one.time.days()
        added = self._added(one)
        context, sha256 = self._context(one.cut)
        if added:
            context = LINE_END.join((context, *(p.text for p in added)))
            sha256 = text_sha256(context)
        answers, own = one.answers, one.pair.segments
        places = () if one.cut else places_of(one)
        words = tuple(p.words for p in places)
        starts = tuple(self._starts[p.paragraph] + p.start for p in places)
        return {
            "id": one.id,
            "prompt": one.text,
            "targets": _targets(one, words),
            "title": self._page.title,
            "context": context,
            "question": one.text,
            "answers": rows.Spans(words, starts),
            "objects": tuple(rows.Answer(s.object, s.object_label, s.aliases) for s in answers),
            "answerable": one.answerable,
            "evidence": one.evidence,
            "context_cut": bool(one.cut),
            "split": split,
            "difficulty": one.difficulty,
            "specifier": one.time.specifier,
            "time_first": first,
            "time_last": last,
            "subject": one.pair.subject,
            "subject_label": one.pair.subject_label,
            "relation": one.pair.relation,
            "relation_label": relation_label,
            "template": one.template,
            "rules": tuple(s.rule for s in answers),
            "paragraphs": tuple(p.paragraph for p in places),
            "segment": None if one.segment is None else own[one.segment].id,
            "segments": tuple(own[j].id for j in one.chosen),
            "verification": one.verification,
            "page": self._page.page,
            "revision": self._page.revision,
            "left_out": one.cut,
            "added": added,
            "context_sha256": sha256,
        }


class Place(NamedTuple):
    """Where a page names an object, and its words for it."""

    paragraph: int
    start: int
    words: str


def places_of(one: PairQuestion) -> tuple[Place, ...]:
    """Where the page names what answers a question: for its own segment, then in order."""
    found: list[tuple[bool, Place]] = []
    for j in one.chosen:
        s = one.pair.segments[j]
        if s.paragraph is not None and s.start is not None and s.mention:
            found.append((j != one.segment, Place(s.paragraph, s.start, s.mention)))
    return tuple(dict.fromkeys(place for _, place in sorted(found)))


def _targets(one: PairQuestion, words: Sequence[str]) -> tuple[str, ...]:
    """The accepted answers: none where the page does not answer the question.

    First the object that it was made from, last those that the page does not name.
    """
    if one.answerable != "yes":
        return ()
    own = None if one.segment is None else one.pair.segments[one.segment].object
    ranked = sorted(one.answers, key=lambda s: (s.rule == "none", s.object != own))
    return merge_targets([s.object_label for s in ranked], words, *(s.aliases for s in ranked))
