"""A stream: dated passages and questions in one order of days, for systems that keep a memory."""

from collections import Counter
from collections.abc import Iterable, Iterator

from factdrift.reasoning.as_of.stream_events import EVENT_ORDER, EVENTS
from factdrift.scoring.export.dated import DatedTables
from factdrift.scoring.export.release import Release, Row

_EVENT_NOTES = {
    "question": "questions, each with a `prompt` that says what an answer is to be",
    "deletion": "deletions: they take a passage back, and go to a memory's method `forget`",
}
"""Kinds of events -> what an export says of their number."""
STREAM, STATED = "stream.jsonl", "stated.jsonl"
_FACTS = f"""
    SELECT * FROM (
        SELECT 'passage' AS kind, passage AS id, any_value(day) AS day, list({{
            subject: subject, relation: relation, object: object_label, since: since::VARCHAR
            }} ORDER BY subject, relation, since, object_label) AS facts
        FROM stated GROUP BY passage UNION ALL BY NAME
        SELECT 'question' AS kind, id, asked_on AS day, subject, relation, as_of FROM questions
    ) {EVENT_ORDER}
"""  # noqa: S608 - ours


def write(release: Release) -> None:
    """`stream.jsonl`: an event a line, and `stated.jsonl`: what passages and questions are about.

    What may be known at a question is what stands before it. A line has its `kind`, `id`, `day` and
    `text`; a question also has its `prompt`, the text that asks a language model and says what an
    answer is to be. No line has an answer. A `deletion` has the id of the passage that is taken
    back, and no text. `stated.jsonl` has, in the same order, the facts of passages that
    state any (`subject`, `relation`, `object`, `since`), and the keys of questions, for memories
    that do not read. It is no part of what a memory that reads may see. Predictions are lines of
    `id` and `prediction` for `factdrift score`.
    """
    tables = DatedTables.of(release)
    with tables.query(EVENTS) as event_rows:
        release.json_lines(STREAM, map(_line, _counted(event_rows, release.notes)))
    with tables.query(_FACTS) as fact_rows:
        release.json_lines(STATED, map(_line, fact_rows))


def _counted(event_rows: Iterable[Row], notes: Counter[str]) -> Iterator[Row]:
    """Yield events, and count in the notes those of which a user has to know."""
    for event_row in event_rows:
        if note := _EVENT_NOTES.get(event_row["kind"]):
            notes[note] += 1
        yield event_row


def _line(event_row: Row) -> Row:
    return {
        column_name: cell_value.isoformat() if hasattr(cell_value, "isoformat") else cell_value
        for column_name, cell_value in event_row.items()
        if cell_value is not None
    }
