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
from dataclasses import fields, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import pyarrow.compute as pc
import pyarrow.dataset as ds

from factdrift.builders import rows
from factdrift.builders.core.hashing import row_id, text_sha256
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.rows.gold import gold_answers, read_gold
from factdrift.builders.text.given_away import object_names, padded_words
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

FACTS_LAYOUT, PARAPHRASE_LAYOUT = _LAYOUTS = "verify_facts", "paraphrase"
STEP, _ASK = "human", "ask_human"
SUMMARY = "summary.json"
FACTS, SEGMENTS = "facts.parquet", "segments.parquet"
ASKED, PARAPHRASED = "asked", "paraphrased.parquet"
_QUESTIONS = 64
"""Rows read at a time: each may hold a page."""
_OBJECT = ("object", "object_label", "aliases")
_RELEASED = tuple(f.name for f in fields(rows.ReleasedAlignedSegment))
_NOWHERE = {
    "rule": "none", "paragraph": None, "start": None, "end": None, "mention": None, "score": None,
    "start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False,
}  # fmt: skip
_OWN = ("id", "prompt", "question")
"""What a paraphrased question has not in common with the original one."""


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
    paraphrases = Paraphrases()
    verdicts, outcomes = read_verdicts(paraphrases.apart(read_gold(gold, *_LAYOUTS)))
    revised: Counter[str] = Counter()
    known = 0
    with ExitStack() as stack:
        facts = stack.enter_context(writing(out / FACTS, rows.VerifiedSegment))
        asked = stack.enter_context(writing(out / SEGMENTS, rows.ReleasedAlignedSegment))
        dropped = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        in_order = RowsInOrder(sources.pages, rows.Page, "item", batch=16)
        flow = typed_rows(timelines, rows.ReleasedAlignedSegment, 4096)
        for (subject, relation), some in groupby(flow, key=attrgetter("subject", "relation")):
            history = list(some)
            if not any(s.id in verdicts for s in history):
                continue
            taken = 0
            for segment, became in zip(
                history, revise(history, verdicts, in_order.at(subject)[0]), strict=True
            ):
                known += became is not None
                if isinstance(became, str):
                    outcomes[became] += 1
                    dropped.append(rows.Dropped(STEP, became, segment.id, subject, relation))
                elif became is not None:
                    taken += 1
                    revised["any"] += bool(became[0].revisions)
                    revised.update({kind for s in became for kind in s.revisions})
                    for row in became:
                        facts.append(row)
                        if row.complete:
                            asked.append(row)
            outcomes["taken"] += taken
            revised["segments"] += taken
            if taken < len(history):
                item, detail = f"{subject}/{relation}", f"{taken} of {len(history)} are verified"
                drop = rows.Dropped(STEP, "not_all_verified", item, subject, relation)
                dropped.append(replace(drop, detail=detail))
    outcomes["no_such_row"] += len(verdicts) - known
    (out / ASKED).mkdir()
    unperturbed = asking.questions.model_copy(update={"probes": 0})
    asking = asking.model_copy(update={"questions": unperturbed})
    write_questions(replace(sources, segments=out / SEGMENTS), out / ASKED, asking, _ASK)
    with writing(out / PARAPHRASED, rows.ParaphrasedQuestion, _QUESTIONS) as into:
        for question in paraphrases.of([out / ASKED / "questions.parquet", questions]):
            into.append(question)
    counts = {FACTS_LAYOUT: outcomes, PARAPHRASE_LAYOUT: paraphrases.outcomes}
    summary = {"gold": {name: dict(sorted(n.items())) for name, n in counts.items()}}
    (out / SUMMARY).write_text(json.dumps(summary | {"revised": dict(revised)}, indent=1), "utf-8")


_Place = Annotated[int, msgspec.Meta(ge=0)]


class MarkedSpan(msgspec.Struct, frozen=True, order=True):
    """Words that an annotator marked in a page: `paragraphs[paragraph].text[start:end]`."""

    paragraph: _Place
    start: _Place
    end: _Place
    text: str


class _Answers(msgspec.Struct):
    """What the layout `verify_facts` gives of a segment."""

    verdict: Literal["correct", "other", "unanswerable"]
    time: Literal["known", "unknown"] | None = None
    objects: list[MarkedSpan] = []


class _ShownParagraph(msgspec.Struct):
    text: str


class _Shown(msgspec.Struct):
    """What annotators saw of a segment and its page."""

    page: list[str | _ShownParagraph]
    subject: str | None = None
    relation: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    suggested: str | None = None
    mention: str | None = None


class FactVerdict(NamedTuple):
    """What annotators answered about one segment.

    `correct`: the page states the object. `other`: it states what is `marked`. `unanswerable`: it
    states none. `timed`: the page gives the time. `seen`: a checksum of what the annotators saw.
    """

    verdict: Literal["correct", "other", "unanswerable"]
    marked: tuple[MarkedSpan, ...]
    timed: bool
    seen: str


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
    try:
        given, shown = gold_answers(gold)
        answers, seen = msgspec.convert(given, _Answers), msgspec.convert(shown, _Shown)
    except msgspec.ValidationError:
        return None
    if answers.verdict != "unanswerable" and answers.time is None:
        return None
    marked = tuple(sorted(set(answers.objects))) if answers.verdict == "other" else ()
    if answers.verdict == "other" and not marked:
        return None
    texts = [p if isinstance(p, str) else p.text for p in seen.page]
    return FactVerdict(answers.verdict, marked, answers.time == "known", _seen(seen, texts))


def _seen(of: Any, texts: Sequence[str]) -> str:
    """A checksum of the fields that annotators see, and of the page's text."""
    label = {"subject": "subject_label", "relation": "relation_label", "suggested": "object_label"}
    names = _Shown.__struct_fields__[1:]
    own = (getattr(of, name if isinstance(of, _Shown) else label.get(name, name)) for name in names)
    return text_sha256(LINE_END.join((*(value or "" for value in own), *texts)))


Became = tuple[rows.VerifiedSegment, ...] | str | None
"""What a verdict made of a segment: a row for each object, or why not; None: there is none."""


def revise(
    history: Sequence[rows.ReleasedAlignedSegment],
    verdicts: Mapping[str, FactVerdict],
    page: rows.Page,
) -> list[Became]:
    """What each segment of one history became.

    Reasons: `changed` (annotators saw another segment or page than these), `no_words` (said to be
    right, though neither alignment nor annotators found words for it), `not_in_page` (what is
    marked is not in the page).
    """
    reviser = _Reviser(history, page)
    given = ((segment, verdicts.get(segment.id)) for segment in history)
    found = [verdict and reviser.revised(segment, verdict) for segment, verdict in given]
    whole = [became for became in found if isinstance(became, tuple)]
    if len(whole) < len(found):
        return found
    return [tuple(replace(s, complete=True) for s in became) for became in whole]


class _Reviser:
    """Revises the segments of one history by the words that are marked in its page."""

    def __init__(self, history: Sequence[rows.ReleasedAlignedSegment], page: rows.Page) -> None:
        self._history, self._page = history, PageText(page)

    def revised(self, segment: rows.ReleasedAlignedSegment, verdict: FactVerdict) -> Became:
        if verdict.seen != _seen(segment, self._page.texts):
            return "changed"
        is_unfound = segment.rule == "none"
        untimed: tuple[rows.Revision, ...] = () if verdict.timed else ("time",)
        if verdict.verdict == "unanswerable":
            what: tuple[rows.Revision, ...] = () if is_unfound else ("unanswerable",)
            return (_verified(segment, what, _NOWHERE),)
        if verdict.verdict == "correct":
            if is_unfound and verdict.timed:
                return "no_words"
            return (_verified(segment, untimed, _NOWHERE if untimed else {}),)
        made: dict[str, rows.VerifiedSegment] = {}
        for marked in verdict.marked:
            texts = self._page.texts[marked.paragraph : marked.paragraph + 1]
            is_there = [marked.text] == [text[marked.start : marked.end] for text in texts]
            if not is_there or not word_tokens(marked.text):
                return "not_in_page"
            object_ = self._object(segment, marked)
            place = _NOWHERE if untimed else self._mention(segment, marked)
            changes = _revision(segment, object_["object"], marked) + untimed
            verified = _verified(segment, changes, object_ | place)
            made.setdefault(object_["object"], verified)
        return tuple(made.values())

    def _object(self, segment: rows.ReleasedAlignedSegment, marked: MarkedSpan) -> dict[str, Any]:
        """What the words name: the segment's object, another one of the history, or a new one."""
        words = word_tokens(marked.text)
        for other in (segment, *self._history):
            if any(word_tokens(name) == words for name in (other.object_label, *other.aliases)):
                return {name: getattr(other, name) for name in _OBJECT}
        id_ = f"text-{row_id(segment.subject, *words)}"
        return {"object": id_, "object_label": marked.text.strip(), "aliases": ()}

    def _mention(self, segment: rows.ReleasedAlignedSegment, marked: MarkedSpan) -> dict[str, Any]:
        mention = PageMention(marked.paragraph, marked.start, marked.end)
        place = mention._asdict() | {"rule": "name", "mention": marked.text}
        place |= evidence_columns(self._page, mention, segment)
        return {name: place[name] for name in _NOWHERE}


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
    known = segment.paragraph, segment.start, segment.end
    return () if known == (marked.paragraph, marked.start, marked.end) else ("place",)


class Paraphrase(NamedTuple):
    """One rewording of a question, the question that the annotator saw, and its dataset."""

    text: str
    question: str
    dataset: str


class Paraphrases:
    """Paraphrases by the id of their question; `outcomes` counts what becomes of them.

    Counted: `taken`, a decision other than `accepted`, `not_understood`, `no_such_row`, `changed`
    (annotators saw another text under this id), `same_text`, `gives_answer`.
    """

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self._of: dict[str, dict[Paraphrase, None]] = {}

    def apart(self, flow: Iterable[rows.Gold]) -> Iterator[rows.Gold]:
        """The gold rows of other layouts; those of paraphrases are taken on the way."""
        for gold in flow:
            if gold.layout == PARAPHRASE_LAYOUT:
                self._add(gold)
            else:
                yield gold

    def _add(self, gold: rows.Gold) -> None:
        if gold.decision != "accepted":
            self.outcomes[gold.decision] += 1
            return
        answers, shown = gold_answers(gold)
        given = answers.get("paraphrase")
        texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        question = shown.get("question")
        clean = [" ".join(t.split()) for t in texts if isinstance(t, str) and t.strip()]
        if not clean or len(clean) < len(texts) or not isinstance(question, str):
            self.outcomes["not_understood"] += 1
            return
        rewordings = (Paraphrase(text, question, gold.dataset) for text in clean)
        self._of.setdefault(gold.row, {}).update(dict.fromkeys(rewordings))

    def of(self, tables: Sequence[Path]) -> Iterator[rows.ParaphrasedQuestion]:
        """Paraphrased questions; a question is looked up in the first table that has its id.

        Memory holds a few questions with their pages.
        """
        waiting = dict(self._of)
        for path in tables:
            if not waiting:
                return
            chosen = pc.field("id").isin(sorted(waiting))
            scanner = ds.dataset(path, format="parquet").scanner(
                filter=chosen, batch_size=_QUESTIONS, batch_readahead=1, fragment_readahead=1
            )
            for batch in scanner.to_batches():
                for row in batch.to_pylist():
                    yield from self._paraphrased(row, waiting.pop(row["id"], {}))
        self.outcomes["no_such_row"] += sum(map(len, waiting.values()))

    def _paraphrased(
        self, row: dict[str, Any], given: Iterable[Paraphrase]
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
            self.outcomes[outcome] += 1
            texts.add(one.text)
            if outcome == "taken":
                own = {
                    **dict.fromkeys(_OWN, one.text),
                    "id": row_id(row["id"], "paraphrase", one.text),
                    "paraphrase_of": row["id"],
                    "templated": row["question"],
                    "shown_from": one.dataset,
                }
                yield msgspec.convert(row | own, rows.ParaphrasedQuestion)


def _gives_away(row: dict[str, Any], text: str) -> bool:
    """Whether a paraphrase has the name of an answer that the question did not have."""
    now, before = (padded_words(word_tokens(t)) for t in (text, row["question"]))
    return any(
        span in now and span not in before
        for o in row["objects"]
        for span in object_names(o["label"], tuple(o["aliases"])).spans
    )
