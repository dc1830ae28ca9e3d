"""The gold part of a release: facts that annotators checked, questions about them, paraphrases.

Gold rows of the layout `verify_facts` become verdicts about segments (`read_verdicts`), which
correct the segments of a history (`revise`); histories that were checked whole are asked about
anew. Gold rows of the layout `paraphrase` become rewordings of questions (`Paraphrases`).

After: TimeQA (paper 001), section 2.1 (human verification).
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import pyarrow.compute as pc
import pyarrow.dataset as ds

from factdrift.builders import rows
from factdrift.builders.core.hashing import row_id, text_sha256
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.rows.gold import gold_answers, read_gold
from factdrift.builders.text.given_away import names, side_by_side
from factdrift.builders.text.words import word_tokens
from factdrift.builders.timeqa.evidence import evidence_columns
from factdrift.builders.timeqa.in_order import RowsInOrder
from factdrift.builders.timeqa.mentions import PageMention, PageText
from factdrift.builders.timeqa.question_tables import (
    LINE_END,
    AskSettings,
    QuestionSources,
    write_questions,
)

FACTS_LAYOUT, PARAPHRASE_LAYOUT = "verify_facts", "paraphrase"
STEP, _ASK = "human", "ask_human"
SUMMARY = "summary.json"
FACTS, SEGMENTS = "facts.parquet", "segments.parquet"
ASKED, PARAPHRASED = "asked", "paraphrased.parquet"
_QUESTIONS = 64
"""Rows read at a time: each may hold a page."""
_SEEN = ("subject", "relation", "valid_from", "valid_to", "suggested", "mention")
_OBJECT = ("object", "object_label", "aliases")
_RELEASED = tuple(f.name for f in fields(rows.ReleasedAlignedSegment))
_NOWHERE = {
    "rule": "none", "paragraph": None, "start": None, "end": None, "mention": None, "score": None,
    "start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False,
}  # fmt: skip
_KEPT = tuple(
    f.name for f in fields(rows.TimeQuestion) if f.name not in ("id", "prompt", "question")
)
"""What a paraphrased question has in common with the original one."""


def write_checked(
    gold: Sequence[Path],
    timelines: Path,
    sources: QuestionSources,
    questions: Path,
    out: Path,
    asking: AskSettings,
) -> None:
    """Write all that follows from gold tables into the folder `out`.

    `timelines`: the released segments (`rows.ReleasedAlignedSegment`) that annotators saw;
    `sources`: what the questions about them are made from, whose segments are replaced here;
    `questions`: the automatic ones, which may have been paraphrased. Written: `facts.parquet`
    (`rows.VerifiedSegment`), `segments.parquet` (`rows.ReleasedAlignedSegment`, of histories that
    were checked whole), the folder `asked` of their questions, `paraphrased.parquet`,
    `dropped.parquet`, and `summary.json` with what became of the gold rows. `UserError`: the
    tables hold no rows of these layouts.
    """
    counts: dict[str, Counter[str]] = {FACTS_LAYOUT: Counter(), PARAPHRASE_LAYOUT: Counter()}
    outcomes = counts[FACTS_LAYOUT]
    paraphrases = Paraphrases(counts[PARAPHRASE_LAYOUT])
    verdicts, lost = read_verdicts(_of_segments(gold, paraphrases))
    outcomes += lost
    revised: Counter[str] = Counter()
    known = 0
    with ExitStack() as stack:
        facts = stack.enter_context(writing(out / FACTS, rows.VerifiedSegment))
        asked = stack.enter_context(writing(out / SEGMENTS, rows.ReleasedAlignedSegment))
        dropped = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        in_order = RowsInOrder(sources.pages, rows.Page, "item", batch=16)
        flow = typed_rows(timelines, rows.ReleasedAlignedSegment, 4096)
        for (subject, _), some in groupby(flow, key=attrgetter("subject", "relation")):
            history = list(some)
            seen = sum(s.id in verdicts for s in history)
            if not seen:
                continue
            known += seen
            for row in _checked(history, verdicts, in_order.at(subject)[0], outcomes, revised):
                if isinstance(row, rows.Dropped):
                    dropped.append(row)
                    continue
                facts.append(row)
                if row.complete:
                    asked.append(row)
    outcomes["no_such_row"] += len(verdicts) - known
    checked = replace(sources, segments=out / SEGMENTS)
    (out / ASKED).mkdir()
    unperturbed = asking.questions.model_copy(update={"probes": 0})
    asking = asking.model_copy(update={"questions": unperturbed})
    write_questions(checked, out / ASKED, asking, _ASK)
    with writing(out / PARAPHRASED, rows.ParaphrasedQuestion, _QUESTIONS) as into:
        for question in paraphrases.of([out / ASKED / "questions.parquet", questions]):
            into.append(question)
    summary = {"gold": {name: dict(sorted(n.items())) for name, n in counts.items()}}
    (out / SUMMARY).write_text(json.dumps(summary | {"revised": dict(revised)}, indent=1), "utf-8")


def _of_segments(gold: Sequence[Path], paraphrases: "Paraphrases") -> Iterator[rows.Gold]:
    """The gold rows of segments; those of paraphrases are put aside on the way."""
    for row in read_gold(gold, FACTS_LAYOUT, PARAPHRASE_LAYOUT):
        if row.layout == PARAPHRASE_LAYOUT:
            paraphrases.add(row)
        else:
            yield row


def _checked(
    history: Sequence[rows.ReleasedAlignedSegment],
    verdicts: Mapping[str, "FactVerdict"],
    page: rows.Page,
    outcomes: Counter[str],
    revised: Counter[str],
) -> Iterable[rows.VerifiedSegment | rows.Dropped]:
    """The verified segments of a history, and what was left out; nothing where none was checked.

    `outcomes` counts what became of the verdicts, `revised` the segments that were changed.
    """
    found = revise(history, verdicts, page)
    taken = 0
    for segment, revision in zip(history, found, strict=True):
        if revision is None:
            continue
        if revision.reason is not None:
            outcomes[revision.reason] += 1
            yield _dropped(segment, revision.reason, segment.id, None)
            continue
        taken += 1
        outcomes["taken"] += 1
        revised["segments"] += 1
        revised["any"] += bool(revision.segments[0].revisions)
        revised.update({kind for s in revision.segments for kind in s.revisions})
        yield from revision.segments
    if taken < len(history) and any(found):
        item = f"{history[0].subject}/{history[0].relation}"
        detail = f"{taken} of {len(history)} segments are verified"
        yield _dropped(history[0], "not_all_verified", item, detail)


def _dropped(
    segment: rows.ReleasedAlignedSegment, reason: str, item: str, detail: str | None
) -> rows.Dropped:
    return rows.Dropped(STEP, reason, item, segment.subject, segment.relation, None, None, detail)


class MarkedSpan(NamedTuple):
    """Words that an annotator marked in a page: `paragraphs[paragraph].text[start:end]`."""

    paragraph: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """What annotators answered about one segment, whose id is `row`.

    `correct`: the page states the object. `other`: it states what is `marked`. `unanswerable`: it
    states none. `timed`: the page gives the time. `seen` are the fields that the annotators saw
    (`_SEEN`), and `page` is the sha256 of the page's text.
    """

    row: str
    verdict: Literal["correct", "other", "unanswerable"]
    marked: tuple[MarkedSpan, ...]
    timed: bool
    seen: tuple[str | None, ...]
    page: str


def read_verdicts(flow: Iterable[rows.Gold]) -> tuple[dict[str, FactVerdict], Counter[str]]:
    """The verdicts by row id, and how many rows were left out by reason.

    Left out: what is not `accepted` (by its decision), `not_understood` (answers that the layout
    cannot give), `contradictory` (rows of one segment that differ). The verdicts are small: of a
    page only the checksum is kept.
    """
    found: dict[str, FactVerdict] = {}
    lost: Counter[str] = Counter()
    contradictory: set[str] = set()
    for gold in flow:
        if gold.decision != "accepted":
            lost[gold.decision] += 1
            continue
        verdict = _verdict(gold)
        if verdict is None:
            lost["not_understood"] += 1
        elif gold.row in contradictory or found.get(gold.row, verdict) != verdict:
            contradictory.add(gold.row)
            lost["contradictory"] += 1 + (found.pop(gold.row, None) is not None)
        else:
            found[gold.row] = verdict
    return found, lost


def _verdict(gold: rows.Gold) -> FactVerdict | None:
    """The verdict of a gold row; None where it is not what the layout gives."""
    both = gold_answers(gold)
    if both is None:
        return None
    answers, shown = both
    verdict, time = answers.get("verdict"), answers.get("time")
    page = shown.get("page")
    if verdict not in ("correct", "other", "unanswerable") or not isinstance(page, list):
        return None
    if verdict != "unanswerable" and time not in ("known", "unknown"):
        return None
    marked = _marked(answers.get("objects")) if verdict == "other" else ()
    if marked is None or (verdict == "other" and not marked):
        return None
    texts = [p.get("text") if isinstance(p, Mapping) else p for p in page]
    if not all(isinstance(text, str) for text in texts):
        return None
    seen = tuple(shown.get(name) or None for name in _SEEN)
    if not all(value is None or isinstance(value, str) for value in seen):
        return None
    return FactVerdict(gold.row, verdict, marked, time == "known", seen, _page_sha256(texts))


def _marked(value: object) -> tuple[MarkedSpan, ...] | None:
    """Spans in order of place, each place once; None where one is no span."""
    if not isinstance(value, list):
        return None
    found = set()
    for one in value:
        if not isinstance(one, Mapping) or not {*MarkedSpan._fields} <= one.keys():
            return None
        marked = MarkedSpan(**{name: one[name] for name in MarkedSpan._fields})
        numbers = marked[:3]
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
            return None
        if not isinstance(marked.text, str):
            return None
        found.add(marked)
    return tuple(sorted(found))


def _page_sha256(texts: Sequence[Any]) -> str:
    return text_sha256(LINE_END.join(texts))


def _seen(row: rows.ReleasedAlignedSegment) -> tuple[str | None, ...]:
    """The fields of a segment that annotators see."""
    own = {"subject": "subject_label", "relation": "relation_label", "suggested": "object_label"}
    return tuple(getattr(row, own.get(name, name)) or None for name in _SEEN)


@dataclass(frozen=True, slots=True)
class RevisedSegment:
    """What a verdict made of one segment: a row for each object, or why it was not taken."""

    segments: tuple[rows.VerifiedSegment, ...]
    reason: str | None = None


def revise(
    history: Sequence[rows.ReleasedAlignedSegment],
    verdicts: Mapping[str, FactVerdict],
    page: rows.Page,
) -> list[RevisedSegment | None]:
    """What each segment of one history became; None: there is no verdict about it.

    Reasons: `changed` (annotators saw another segment or page than these), `no_words` (said to be
    right, though neither alignment nor annotators found words for it), `not_in_page` (what is
    marked is not in the page).
    """
    given = [verdicts.get(segment.id) for segment in history]
    if not any(given):
        return [None] * len(given)
    reviser = _Reviser(history, page)
    pairs = zip(history, given, strict=True)
    found = [reviser.revised(segment, verdict) if verdict else None for segment, verdict in pairs]
    if all(one and one.reason is None for one in found):
        complete = [one.segments for one in found if one]
        return [
            RevisedSegment(tuple(replace(s, complete=True) for s in segments))
            for segments in complete
        ]
    return found


class _Reviser:
    """Revises the segments of one history by the words that are marked in its page."""

    def __init__(self, history: Sequence[rows.ReleasedAlignedSegment], page: rows.Page) -> None:
        self._history = history
        self._page = page
        self._texts = [p.text for p in page.paragraphs]
        self._sha256 = _page_sha256(self._texts)

    @cached_property
    def _page_text(self) -> PageText:
        return PageText(self._page)

    def revised(self, segment: rows.ReleasedAlignedSegment, verdict: FactVerdict) -> RevisedSegment:
        if verdict.seen != _seen(segment) or verdict.page != self._sha256:
            return RevisedSegment((), "changed")
        untimed: tuple[rows.Revision, ...] = () if verdict.timed else ("time",)
        if verdict.verdict == "unanswerable":
            what: tuple[rows.Revision, ...] = () if segment.rule == "none" else ("unanswerable",)
            return RevisedSegment((_verified(segment, what, _NOWHERE),))
        if verdict.verdict == "correct":
            if segment.rule == "none" and verdict.timed:
                return RevisedSegment((), "no_words")
            return RevisedSegment((_verified(segment, untimed, _NOWHERE if untimed else {}),))
        if not all(self._is_in_page(m) for m in verdict.marked):
            return RevisedSegment((), "not_in_page")
        made: dict[str, rows.VerifiedSegment] = {}
        for marked in verdict.marked:
            object_ = self._object(segment, marked)
            changes = object_ | (_NOWHERE if untimed else self._mention(segment, marked))
            changed = _revision(segment, object_["object"], marked) + untimed
            made.setdefault(object_["object"], _verified(segment, changed, changes))
        return RevisedSegment(tuple(made.values()))

    def _is_in_page(self, marked: MarkedSpan) -> bool:
        if marked.paragraph >= len(self._texts) or not word_tokens(marked.text):
            return False
        return self._texts[marked.paragraph][marked.start : marked.end] == marked.text

    def _object(self, segment: rows.ReleasedAlignedSegment, marked: MarkedSpan) -> dict[str, Any]:
        """What the words name: the segment's object, another one of the history, or a new one."""
        words = word_tokens(marked.text)
        for other in (segment, *self._history):
            if any(word_tokens(name) == words for name in (other.object_label, *other.aliases)):
                return {name: getattr(other, name) for name in _OBJECT}
        id_ = f"text-{row_id(segment.subject, *words)}"
        return {"object": id_, "object_label": marked.text.strip(), "aliases": ()}

    def _mention(self, segment: rows.ReleasedAlignedSegment, marked: MarkedSpan) -> dict[str, Any]:
        paragraph, start, end, text = marked
        evidence = evidence_columns(self._page_text, PageMention(paragraph, start, end), segment)
        place = {"paragraph": paragraph, "start": start, "end": end, "mention": text}
        return {"rule": "name", "score": None, **place, **evidence}


def _verified(
    segment: rows.ReleasedAlignedSegment,
    revisions: tuple[rows.Revision, ...],
    changes: Mapping[str, Any],
) -> rows.VerifiedSegment:
    values = {name: getattr(segment, name) for name in _RELEASED} | dict(changes)
    values["id"] = row_id(segment.id, values["object"])
    values["verification"] = "human"
    return rows.VerifiedSegment(
        **values,
        segment=segment.id,
        revisions=revisions,
        suggested=segment.object_label,
        complete=False,
    )


def _revision(
    segment: rows.ReleasedAlignedSegment, object_: str, marked: MarkedSpan
) -> tuple[rows.Revision, ...]:
    """How marked words change a segment, its time aside."""
    if object_ != segment.object:
        return ("object",)
    if segment.rule == "none":
        return ("span",)
    is_known = marked[:3] == (segment.paragraph, segment.start, segment.end)
    return () if is_known else ("place",)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """One rewording of a question, the question that the annotator saw, and its dataset."""

    text: str
    question: str
    dataset: str


class Paraphrases:
    """Paraphrases by the id of their question; `counts` takes what becomes of them.

    Counted: `taken`, a decision other than `accepted`, `not_understood`, `no_such_row`, `changed`
    (annotators saw another text under this id), `same_text`, `gives_answer`.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._of: dict[str, list[Paraphrase]] = {}

    def add(self, gold: rows.Gold) -> None:
        """Take the paraphrases of a gold row."""
        if gold.decision != "accepted":
            self._counts[gold.decision] += 1
            return
        answers, shown = gold_answers(gold) or ({}, {})
        given = answers.get("paraphrase")
        texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        question = shown.get("question")
        clean = [" ".join(t.split()) for t in texts if isinstance(t, str) and t.strip()]
        if not clean or len(clean) < len(texts) or not isinstance(question, str):
            self._counts["not_understood"] += 1
            return
        known = self._of.setdefault(gold.row, [])
        known += [Paraphrase(t, question, gold.dataset) for t in dict.fromkeys(clean)]

    def of(self, tables: Sequence[Path]) -> Iterator[rows.ParaphrasedQuestion]:
        """Paraphrased questions; a question is looked up in the first table that has its id.

        Memory holds a few questions with their pages.
        """
        waiting = {row: tuple(dict.fromkeys(given)) for row, given in self._of.items()}
        for path in tables:
            if not waiting:
                return
            chosen = pc.field("id").isin(sorted(waiting))
            scanner = ds.dataset(path, format="parquet").scanner(
                filter=chosen, batch_size=_QUESTIONS, batch_readahead=1, fragment_readahead=1
            )
            for batch in scanner.to_batches():
                for row in batch.to_pylist():
                    yield from self._paraphrased(row, waiting.pop(row["id"], ()))
        self._counts["no_such_row"] += sum(map(len, waiting.values()))

    def _paraphrased(
        self, row: dict[str, Any], given: Sequence[Paraphrase]
    ) -> Iterator[rows.ParaphrasedQuestion]:
        """The question in each of the given wordings that can be taken."""
        texts = {row["question"]}
        for one in given:
            outcome = "taken"
            if one.question != row["question"]:
                outcome = "changed"
            elif one.text in texts:
                outcome = "same_text"
            elif _gives_away(row, one.text):
                outcome = "gives_answer"
            self._counts[outcome] += 1
            texts.add(one.text)
            if outcome == "taken":
                yield _paraphrased_row(row, one)


def _paraphrased_row(row: dict[str, Any], one: Paraphrase) -> rows.ParaphrasedQuestion:
    values = {name: row[name] for name in _KEPT}
    values |= {
        "id": row_id(row["id"], "paraphrase", one.text),
        "prompt": one.text,
        "question": one.text,
        "paraphrase_of": row["id"],
        "templated": row["question"],
        "shown_from": one.dataset,
    }
    return msgspec.convert(values, rows.ParaphrasedQuestion)


def _gives_away(row: dict[str, Any], text: str) -> bool:
    """Whether a paraphrase has the name of an answer that the question did not have."""
    now, before = (side_by_side(word_tokens(t)) for t in (text, row["question"]))
    return any(
        span in now and span not in before
        for o in row["objects"]
        for span in names(o["label"], tuple(o["aliases"])).spans
    )
