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
from factdrift.builders.timeqa.mentions import PageMention, PageText
from factdrift.builders.timeqa.question_tables import (
    LINE_END,
    AskSettings,
    QuestionSources,
    write_questions,
)
from factdrift.builders.timeqa.sorted_rows import SortedRows

FACTS_LAYOUT, PARAPHRASE_LAYOUT = _LAYOUTS = "verify_facts", "paraphrase"
STEP, _ASK = "human", "ask_human"
SUMMARY = "summary.json"
FACTS, SEGMENTS = "facts.parquet", "segments.parquet"
ASKED, PARAPHRASED = "asked", "paraphrased.parquet"
# Rows read at a time: each may hold a page.
_QUESTIONS = 64
# The drop reasons of answers that cannot be taken.
_DROP_REASONS = ("changed", "no_words", "not_in_page", "same_text", "gives_answer")
_OBJECT = ("object", "object_label", "aliases")
_RELEASED = tuple(column.name for column in fields(rows.ReleasedAlignedSegment))
_NOWHERE = {
    "rule": "none", "paragraph": None, "start": None, "end": None, "mention": None, "score": None,
    "start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False,
}  # fmt: skip
# What a paraphrased question has not in common with the original one.
_OWN = ("id", "prompt", "question")


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
    revision_counts: Counter[str] = Counter()
    known_segments = 0
    with ExitStack() as stack:
        fact_rows = stack.enter_context(writing(out / FACTS, rows.VerifiedSegment))
        asked_segments = stack.enter_context(writing(out / SEGMENTS, rows.ReleasedAlignedSegment))
        dropped_rows = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        page_rows = SortedRows(sources.pages, rows.Page, "item", batch=16)
        all_segments = typed_rows(timelines, rows.ReleasedAlignedSegment, 4096)
        for (subject, relation), pair_segments in groupby(
            all_segments, key=attrgetter("subject", "relation")
        ):
            history = list(pair_segments)
            if not any(revised_segment.id in verdicts for revised_segment in history):
                continue
            taken_count = 0
            for original_segment, revised_segments in zip(
                history, revise(history, verdicts, page_rows.with_key(subject)[0]), strict=True
            ):
                known_segments += revised_segments is not None
                if isinstance(revised_segments, str):
                    outcomes[revised_segments] += 1
                    dropped_rows.append(
                        rows.Dropped(STEP, revised_segments, original_segment.id, subject, relation)
                    )
                elif revised_segments is not None:
                    taken_count += 1
                    revision_counts["any"] += bool(revised_segments[0].revisions)
                    revision_counts.update(
                        {
                            revision_kind
                            for revised_segment in revised_segments
                            for revision_kind in revised_segment.revisions
                        }
                    )
                    for revised_row in revised_segments:
                        fact_rows.append(revised_row)
                        if revised_row.complete:
                            asked_segments.append(revised_row)
            outcomes["taken"] += taken_count
            revision_counts["segments"] += taken_count
            if taken_count < len(history):
                item, detail = (
                    f"{subject}/{relation}",
                    f"{taken_count} of {len(history)} are verified",
                )
                dropped_pair = rows.Dropped(STEP, "not_all_verified", item, subject, relation)
                dropped_rows.append(replace(dropped_pair, detail=detail))
    outcomes["no_such_row"] += len(verdicts) - known_segments
    (out / ASKED).mkdir()
    unperturbed = asking.questions.model_copy(update={"probes": 0})
    asking = asking.model_copy(update={"questions": unperturbed})
    write_questions(replace(sources, segments=out / SEGMENTS), out / ASKED, asking, _ASK)
    with writing(out / PARAPHRASED, rows.ParaphrasedQuestion, _QUESTIONS) as paraphrased_rows:
        for question in paraphrases.of([out / ASKED / "questions.parquet", questions]):
            paraphrased_rows.append(question)
    counts = {FACTS_LAYOUT: outcomes, PARAPHRASE_LAYOUT: paraphrases.outcomes}
    summary = {
        "gold": {
            layout: dict(sorted(counts_by_outcome.items()))
            for layout, counts_by_outcome in counts.items()
        }
    }
    (out / SUMMARY).write_text(
        json.dumps(summary | {"revised": dict(revision_counts)}, indent=1), "utf-8"
    )


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


def read_verdicts(gold_rows: Iterable[rows.Gold]) -> tuple[dict[str, FactVerdict], Counter[str]]:
    """The verdicts by row id, and how many rows were left out by reason.

    Left out: what is not `accepted` (by its decision), `not_understood` (answers that the layout
    cannot give), `contradictory` (rows of one segment that differ). The verdicts are small: of a
    page only the checksum is kept.
    """
    verdicts: dict[str, FactVerdict] = {}
    lost_counts: Counter[str] = Counter()
    contradictory_rows: set[str] = set()
    for gold_row in gold_rows:
        if gold_row.decision != "accepted":
            lost_counts[gold_row.decision] += 1
            continue
        verdict = _verdict(gold_row)
        if verdict is None:
            lost_counts["not_understood"] += 1
        elif gold_row.row in contradictory_rows or verdicts.get(gold_row.row, verdict) != verdict:
            contradictory_rows.add(gold_row.row)
            lost_counts["contradictory"] += 1 + (verdicts.pop(gold_row.row, None) is not None)
        else:
            verdicts[gold_row.row] = verdict
    return verdicts, lost_counts


def _verdict(gold_row: rows.Gold) -> FactVerdict | None:
    """The verdict of a gold row; None where it is not what the layout gives."""
    try:
        raw_answers, raw_payload = gold_answers(gold_row)
        answers, seen_fields = (
            msgspec.convert(raw_answers, _Answers),
            msgspec.convert(raw_payload, _Shown),
        )
    except msgspec.ValidationError:
        return None
    if answers.verdict != "unanswerable" and answers.time is None:
        return None
    marked_spans = tuple(sorted(set(answers.objects))) if answers.verdict == "other" else ()
    if answers.verdict == "other" and not marked_spans:
        return None
    paragraph_texts = [
        paragraph if isinstance(paragraph, str) else paragraph.text
        for paragraph in seen_fields.page
    ]
    return FactVerdict(
        answers.verdict, marked_spans, answers.time == "known", _seen(seen_fields, paragraph_texts)
    )


def _seen(source: Any, paragraph_texts: Sequence[str]) -> str:
    """A checksum of the fields that annotators see, and of the page's text."""
    column_by_field = {
        "subject": "subject_label",
        "relation": "relation_label",
        "suggested": "object_label",
    }
    field_names = _Shown.__struct_fields__[1:]
    field_values = (
        getattr(
            source,
            field_name
            if isinstance(source, _Shown)
            else column_by_field.get(field_name, field_name),
        )
        for field_name in field_names
    )
    return text_sha256(
        LINE_END.join((*(field_value or "" for field_value in field_values), *paragraph_texts))
    )


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
    segments_and_verdicts = ((segment, verdicts.get(segment.id)) for segment in history)
    outcomes = [
        verdict and reviser.revised(segment, verdict) for segment, verdict in segments_and_verdicts
    ]
    revised_segments = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    if len(revised_segments) < len(outcomes):
        return outcomes
    return [
        tuple(replace(segment, complete=True) for segment in outcome)
        for outcome in revised_segments
    ]


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
            unanswerable: tuple[rows.Revision, ...] = () if is_unfound else ("unanswerable",)
            return (_verified(segment, unanswerable, _NOWHERE),)
        if verdict.verdict == "correct":
            if is_unfound and verdict.timed:
                return "no_words"
            return (_verified(segment, untimed, _NOWHERE if untimed else {}),)
        revised_by_object: dict[str, rows.VerifiedSegment] = {}
        for marked_span in verdict.marked:
            texts = self._page.texts[marked_span.paragraph : marked_span.paragraph + 1]
            is_there = [marked_span.text] == [
                text[marked_span.start : marked_span.end] for text in texts
            ]
            if not is_there or not word_tokens(marked_span.text):
                return "not_in_page"
            object_columns = self._object(segment, marked_span)
            place_columns = _NOWHERE if untimed else self._mention(segment, marked_span)
            revisions = _revision(segment, object_columns["object"], marked_span) + untimed
            revised_row = _verified(segment, revisions, object_columns | place_columns)
            revised_by_object.setdefault(object_columns["object"], revised_row)
        return tuple(revised_by_object.values())

    def _object(
        self, segment: rows.ReleasedAlignedSegment, marked_span: MarkedSpan
    ) -> dict[str, Any]:
        """What the words name: the segment's object, another one of the history, or a new one."""
        marked_words = word_tokens(marked_span.text)
        for known_segment in (segment, *self._history):
            if any(
                word_tokens(object_name) == marked_words
                for object_name in (known_segment.object_label, *known_segment.aliases)
            ):
                return {object_name: getattr(known_segment, object_name) for object_name in _OBJECT}
        object_id = f"text-{row_id(segment.subject, *marked_words)}"
        return {"object": object_id, "object_label": marked_span.text.strip(), "aliases": ()}

    def _mention(
        self, segment: rows.ReleasedAlignedSegment, marked_span: MarkedSpan
    ) -> dict[str, Any]:
        mention = PageMention(marked_span.paragraph, marked_span.start, marked_span.end)
        place_columns = mention._asdict() | {"rule": "name", "mention": marked_span.text}
        place_columns |= evidence_columns(self._page, mention, segment)
        return {column: place_columns[column] for column in _NOWHERE}


def _verified(
    segment: rows.ReleasedAlignedSegment,
    revisions: tuple[rows.Revision, ...],
    changed_columns: Mapping[str, Any],
) -> rows.VerifiedSegment:
    column_values = {column: getattr(segment, column) for column in _RELEASED} | dict(
        changed_columns
    )
    column_values["id"] = row_id(segment.id, column_values["object"])
    column_values["verification"] = "human"
    return rows.VerifiedSegment(
        **column_values,
        segment=segment.id,
        revisions=revisions,
        suggested=segment.object_label,
        complete=False,
    )


def _revision(
    segment: rows.ReleasedAlignedSegment, object_id: str, marked_span: MarkedSpan
) -> tuple[rows.Revision, ...]:
    """How marked words change a segment, its time aside."""
    if object_id != segment.object:
        return ("object",)
    if segment.rule == "none":
        return ("span",)
    known_span = segment.paragraph, segment.start, segment.end
    return (
        ()
        if known_span == (marked_span.paragraph, marked_span.start, marked_span.end)
        else ("place",)
    )


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

    def apart(self, gold_rows: Iterable[rows.Gold]) -> Iterator[rows.Gold]:
        """The gold rows of other layouts; those of paraphrases are taken on the way."""
        for gold_row in gold_rows:
            if gold_row.layout == PARAPHRASE_LAYOUT:
                self._add(gold_row)
            else:
                yield gold_row

    def _add(self, gold_row: rows.Gold) -> None:
        if gold_row.decision != "accepted":
            self.outcomes[gold_row.decision] += 1
            return
        answers, payload = gold_answers(gold_row)
        paraphrases = answers.get("paraphrase")
        texts = (
            [paraphrases]
            if isinstance(paraphrases, str)
            else paraphrases
            if isinstance(paraphrases, list)
            else []
        )
        original_question = payload.get("question")
        clean_texts = [
            " ".join(text.split()) for text in texts if isinstance(text, str) and text.strip()
        ]
        if (
            not clean_texts
            or len(clean_texts) < len(texts)
            or not isinstance(original_question, str)
        ):
            self.outcomes["not_understood"] += 1
            return
        rewordings = (Paraphrase(text, original_question, gold_row.dataset) for text in clean_texts)
        self._of.setdefault(gold_row.row, {}).update(dict.fromkeys(rewordings))

    def of(self, tables: Sequence[Path]) -> Iterator[rows.ParaphrasedQuestion]:
        """Paraphrased questions; a question is looked up in the first table that has its id.

        Memory holds a few questions with their pages.
        """
        by_question = dict(self._of)
        for table_path in tables:
            if not by_question:
                return
            is_wanted = pc.field("id").isin(sorted(by_question))
            scanner = ds.dataset(table_path, format="parquet").scanner(
                filter=is_wanted, batch_size=_QUESTIONS, batch_readahead=1, fragment_readahead=1
            )
            for batch in scanner.to_batches():
                for question_row in batch.to_pylist():
                    yield from self._paraphrased(
                        question_row, by_question.pop(question_row["id"], {})
                    )
        self.outcomes["no_such_row"] += sum(map(len, by_question.values()))

    def _paraphrased(
        self, question_row: dict[str, Any], paraphrases: Iterable[Paraphrase]
    ) -> Iterator[rows.ParaphrasedQuestion]:
        """The question in each of the given wordings that can be taken."""
        known_texts = {question_row["question"]}
        for paraphrase in paraphrases:
            outcome = "taken"
            if paraphrase.question != question_row["question"]:
                outcome = "changed"
            elif paraphrase.text in known_texts:
                outcome = "same_text"
            elif _gives_away(question_row, paraphrase.text):
                outcome = "gives_answer"
            self.outcomes[outcome] += 1
            known_texts.add(paraphrase.text)
            if outcome == "taken":
                new_columns = {
                    **dict.fromkeys(_OWN, paraphrase.text),
                    "id": row_id(question_row["id"], "paraphrase", paraphrase.text),
                    "paraphrase_of": question_row["id"],
                    "templated": question_row["question"],
                    "shown_from": paraphrase.dataset,
                }
                yield msgspec.convert(question_row | new_columns, rows.ParaphrasedQuestion)


def _gives_away(question_row: dict[str, Any], paraphrase_text: str) -> bool:
    """Whether a paraphrase has the name of an answer that the question did not have."""
    new_words, old_words = (
        padded_words(word_tokens(question_text))
        for question_text in (paraphrase_text, question_row["question"])
    )
    return any(
        name_span in new_words and name_span not in old_words
        for answer in question_row["objects"]
        for name_span in object_names(answer["label"], tuple(answer["aliases"])).spans
    )
