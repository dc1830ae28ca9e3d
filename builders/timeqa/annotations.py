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
# Rows read at a time: few, as each may hold a page.
_QUESTIONS = 64
# The drop reasons of answers that cannot be taken; `data_cards/drop_reasons.yaml` explains them.
_DROP_REASONS = ("changed", "no_words", "not_in_page", "same_text", "gives_answer")
_OBJECT = ("object", "object_label", "aliases")
_RELEASED = tuple(column.name for column in fields(rows.ReleasedAlignedSegment))
# The columns of a segment that the page does not name.
_NOWHERE = {
    "rule": "none", "paragraph": None, "start": None, "end": None, "mention": None, "score": None,
    "start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False,
}  # fmt: skip
# The columns in which a paraphrased question has its own text or id.
_OWN = ("id", "prompt", "question")


def write_checked(
    gold: Sequence[Path],
    timelines: Path,
    sources: QuestionSources,
    questions: Path,
    out: Path,
    asking: AskSettings,
) -> None:
    """Write the rows that follow from gold tables into the folder `out`.

    `timelines` has the released segments (`rows.ReleasedAlignedSegment`) that annotators saw.
    `sources` are the tables that questions are made from; their segments are replaced here.
    `questions` has the automatic questions, which people may have paraphrased. The files are:

    - `facts.parquet` (`rows.VerifiedSegment`): the segments as people left them.
    - `segments.parquet` (`rows.ReleasedAlignedSegment`): those of histories that were checked
      whole; the folder `asked` has the questions about them.
    - `paraphrased.parquet` and `dropped.parquet`.
    - `summary.json`: how many gold rows were taken, and how many were not, by reason; and how many
      of them an expert saw.

    Raises `UserError` where the tables hold no rows of these layouts.
    """
    paraphrases = Paraphrases()
    seen_counts: Counter[str] = Counter()
    gold_rows = _counted(read_gold(gold, *_LAYOUTS), seen_counts)
    verdicts, outcomes = read_verdicts(paraphrases.apart(gold_rows))
    revision_counts = _write_revised(timelines, sources.pages, verdicts, outcomes, out)
    (out / ASKED).mkdir()
    # Probes measure models on the automatic questions; those of people are asked without.
    unperturbed = asking.questions.model_copy(update={"probes": 0})
    asking = asking.model_copy(update={"questions": unperturbed})
    write_questions(replace(sources, segments=out / SEGMENTS), out / ASKED, asking, _ASK)
    with writing(out / PARAPHRASED, rows.ParaphrasedQuestion, _QUESTIONS) as paraphrased_rows:
        for question in paraphrases.of([out / ASKED / "questions.parquet", questions]):
            paraphrased_rows.append(question)
    gold_counts: dict[str, dict[str, int]] = {}
    for layout, counts in zip(_LAYOUTS, (outcomes, paraphrases.outcomes), strict=True):
        gold_counts[layout] = dict(sorted(counts.items()))
    summary = {
        "gold": gold_counts,
        "revised": dict(revision_counts),
        "expert": {
            layout: seen_counts[layout] for layout in _LAYOUTS if any(gold_counts[layout].values())
        },
    }
    (out / SUMMARY).write_text(json.dumps(summary, indent=1), "utf-8")


def _counted(gold_rows: Iterable[rows.Gold], seen_counts: Counter[str]) -> Iterator[rows.Gold]:
    """Pass gold rows on, and count those that an expert saw by their layout."""
    for gold_row in gold_rows:
        seen_counts[gold_row.layout] += gold_row.expert_saw
        yield gold_row


# An offset in a page; a negative one would count from the end.
_Place = Annotated[int, msgspec.Meta(ge=0)]


class MarkedSpan(msgspec.Struct, frozen=True, order=True):
    """Words that an annotator marked in a page: `paragraphs[paragraph].text[start:end]`."""

    paragraph: _Place
    start: _Place
    end: _Place
    text: str


class _Answers(msgspec.Struct):
    """The answers about one segment, as the layout `verify_facts` gives them."""

    verdict: Literal["correct", "other", "unanswerable"]
    time: Literal["known", "unknown"] | None = None
    objects: list[MarkedSpan] = []


class _ShownParagraph(msgspec.Struct):
    text: str


class _Shown(msgspec.Struct):
    """The fields of a segment and its page that annotators saw."""

    page: list[str | _ShownParagraph]
    subject: str | None = None
    relation: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    suggested: str | None = None
    mention: str | None = None


class FactVerdict(NamedTuple):
    """The answers of annotators about one segment.

    The verdict is `correct` where the page states the object, `other` where it states what is
    `marked` instead, and `unanswerable` where it states no object. `timed` tells that the page
    gives the time. `seen` is a checksum of the fields that the annotators saw.
    """

    verdict: Literal["correct", "other", "unanswerable"]
    marked: tuple[MarkedSpan, ...]
    timed: bool
    seen: str


def read_verdicts(gold_rows: Iterable[rows.Gold]) -> tuple[dict[str, FactVerdict], Counter[str]]:
    """The verdicts by row id, and how many gold rows were left out, by reason.

    Rows that are not `accepted` are left out and counted by their decision. `not_understood` are
    answers that the layout cannot give, and `contradictory` are rows of one segment that differ.
    Memory holds all verdicts. They are small, as only the checksum of a page is kept.
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
    """The verdict of a gold row, or None where the layout cannot give such answers."""
    try:
        raw_answers, raw_payload = gold_answers(gold_row)
        answers = msgspec.convert(raw_answers, _Answers)
        seen_fields = msgspec.convert(raw_payload, _Shown)
    except msgspec.ValidationError:
        return None
    if answers.verdict != "unanswerable" and answers.time is None:
        return None
    marked_spans = tuple(sorted(set(answers.objects))) if answers.verdict == "other" else ()
    if answers.verdict == "other" and not marked_spans:
        return None
    paragraph_texts = []
    for paragraph in seen_fields.page:
        # Batches show a paragraph as its text or as an object that has it.
        paragraph_texts.append(paragraph if isinstance(paragraph, str) else paragraph.text)
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
    field_values: list[str] = []
    for field_name in _Shown.__struct_fields__[1:]:  # without `page`
        is_seen = isinstance(source, _Shown)
        column = field_name if is_seen else column_by_field.get(field_name, field_name)
        field_values.append(getattr(source, column) or "")
    return text_sha256(LINE_END.join((*field_values, *paragraph_texts)))


Became = tuple[rows.VerifiedSegment, ...] | str | None
"""The rows that a segment became, one for each object, or the reason why it was dropped.

None stands for a segment without a verdict.
"""


def revise(
    history: Sequence[rows.ReleasedAlignedSegment],
    verdicts: Mapping[str, FactVerdict],
    page: rows.Page,
) -> list[Became]:
    """Revise the segments of one history by their verdicts.

    A segment is dropped with one of these reasons:

    - `changed`: the annotators saw another segment or page than these.
    - `no_words`: it is called correct, though neither the alignment nor the annotators found words
      for it in the page.
    - `not_in_page`: the marked words are not in the page.
    """
    reviser = _Reviser(history, page)
    outcomes: list[Became] = []
    for segment in history:
        verdict = verdicts.get(segment.id)
        outcomes.append(reviser.revised(segment, verdict) if verdict else None)
    # Questions need all that holds at a time, so only whole histories are asked about anew.
    whole_history: list[Became] = []
    for outcome in outcomes:
        if not isinstance(outcome, tuple):
            return outcomes
        whole_history.append(tuple(replace(revised, complete=True) for revised in outcome))
    return whole_history


class _Reviser:
    """Revises the segments of one history by the words that are marked in its page."""

    def __init__(self, history: Sequence[rows.ReleasedAlignedSegment], page: rows.Page) -> None:
        self._history, self._page = history, PageText(page)

    def revised(self, segment: rows.ReleasedAlignedSegment, verdict: FactVerdict) -> Became:
        """Return the verified segments that a verdict makes of a segment, or why it makes none.

        A verdict is not used if the annotators saw another page text or segment (`changed`), if
        they call a segment correct for which the page was found to have no words (`no_words`), or
        if a marked span is not in the page (`not_in_page`). If they marked several objects, each
        becomes a segment of its own.
        """
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
            if not self._is_in_page(marked_span) or not word_tokens(marked_span.text):
                return "not_in_page"
            object_columns = self._object(segment, marked_span)
            place_columns = _NOWHERE if untimed else self._mention(segment, marked_span)
            revisions = _revision(segment, object_columns["object"], marked_span) + untimed
            revised_row = _verified(segment, revisions, object_columns | place_columns)
            revised_by_object.setdefault(object_columns["object"], revised_row)
        return tuple(revised_by_object.values())

    def _is_in_page(self, marked_span: MarkedSpan) -> bool:
        if marked_span.paragraph >= len(self._page.texts):
            return False
        paragraph_text = self._page.texts[marked_span.paragraph]
        return paragraph_text[marked_span.start : marked_span.end] == marked_span.text

    def _object(
        self, segment: rows.ReleasedAlignedSegment, marked_span: MarkedSpan
    ) -> dict[str, Any]:
        """The columns of the object that the words name.

        It is the segment's object, another object of the history, or a new one.
        """
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
    """Return a segment as annotators verified it, with the columns that they changed."""
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
    """The revisions of a segment by marked words, apart from those of its time."""
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


def _write_revised(
    timelines: Path,
    pages: Path,
    verdicts: Mapping[str, FactVerdict],
    outcomes: Counter[str],
    out: Path,
) -> Counter[str]:
    """Write the revised segments, those to ask about, and the dropped ones; count revisions.

    What became of the verdicts is counted in `outcomes`.
    """
    revision_counts: Counter[str] = Counter()
    known_segments = 0
    with ExitStack() as stack:
        fact_rows = stack.enter_context(writing(out / FACTS, rows.VerifiedSegment))
        asked_segments = stack.enter_context(writing(out / SEGMENTS, rows.ReleasedAlignedSegment))
        dropped_rows = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        page_rows = SortedRows(pages, rows.Page, "item", batch=16)
        for (subject, relation), history in _judged_histories(timelines, verdicts):
            taken_count = 0
            outcomes_of_segments = revise(history, verdicts, page_rows.with_key(subject)[0])
            for segment, outcome in zip(history, outcomes_of_segments, strict=True):
                known_segments += outcome is not None
                if isinstance(outcome, str):
                    outcomes[outcome] += 1
                    drop = rows.Dropped(STEP, outcome, segment.id, subject, relation)
                    dropped_rows.append(drop)
                elif outcome is not None:
                    taken_count += 1
                    revision_counts["any"] += bool(outcome[0].revisions)
                    revision_counts.update(_revision_kinds(outcome))
                    for revised_row in outcome:
                        fact_rows.append(revised_row)
                        if revised_row.complete:
                            asked_segments.append(revised_row)
            outcomes["taken"] += taken_count
            revision_counts["segments"] += taken_count
            if taken_count < len(history):
                pair = f"{subject}/{relation}"
                drop = rows.Dropped(STEP, "not_all_verified", pair, subject, relation)
                detail = f"{taken_count} of {len(history)} are verified"
                dropped_rows.append(replace(drop, detail=detail))
    outcomes["no_such_row"] += len(verdicts) - known_segments
    return revision_counts


def _judged_histories(
    timelines: Path, verdicts: Mapping[str, FactVerdict]
) -> Iterator[tuple[tuple[str, str], list[rows.ReleasedAlignedSegment]]]:
    """The histories with a verdict about a segment, by subject and relation."""
    all_segments = typed_rows(timelines, rows.ReleasedAlignedSegment, 4096)
    for pair, pair_segments in groupby(all_segments, key=attrgetter("subject", "relation")):
        history = list(pair_segments)
        if any(segment.id in verdicts for segment in history):
            yield pair, history


def _revision_kinds(revised_rows: Sequence[rows.VerifiedSegment]) -> set[str]:
    """The kinds of revision of a segment that several rows may have come of."""
    kinds: set[str] = set()
    for revised_row in revised_rows:
        kinds.update(revised_row.revisions)
    return kinds


class Paraphrase(NamedTuple):
    """A rewording of a question, with the question that the annotator saw and its dataset."""

    text: str
    question: str
    dataset: str


class Paraphrases:
    """Paraphrases by the id of their question, with counts of their outcomes.

    `outcomes` counts rows by a decision other than `accepted`, and as `taken`, `not_understood`,
    `no_such_row`, `changed` (annotators saw another text under this id), `same_text`, or
    `gives_answer`.
    """

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self._of: dict[str, dict[Paraphrase, None]] = {}

    def apart(self, gold_rows: Iterable[rows.Gold]) -> Iterator[rows.Gold]:
        """Yield the gold rows of other layouts, and add those of paraphrases here."""
        for gold_row in gold_rows:
            if gold_row.layout == PARAPHRASE_LAYOUT:
                self._add(gold_row)
            else:
                yield gold_row

    def _add(self, gold_row: rows.Gold) -> None:
        """Keep the paraphrases of a gold row, or count why it is not used."""
        if gold_row.decision != "accepted":
            self.outcomes[gold_row.decision] += 1
            return
        answers, payload = gold_answers(gold_row)
        paraphrases = answers.get("paraphrase")
        if isinstance(paraphrases, str):
            paraphrases = [paraphrases]
        texts = paraphrases if isinstance(paraphrases, list) else []
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
        """Yield a row for each paraphrase that can be taken, with the rest of its question's row.

        If several tables have the id of a question, the first of them counts. Only a few rows are
        in memory at once, because each has the text of a page.
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
        """Yield the question in each of these wordings that can be taken."""
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
