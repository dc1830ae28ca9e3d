"""A stream: dated passages and questions in one order of days, for systems that keep a memory."""

from factdrift.scoring.export.dated import DatedTables
from factdrift.scoring.export.release import Release, Row

STREAM, STATED = "stream.jsonl", "stated.jsonl"
# of one day deletions come first, then passages, then questions; of equals by id
_ORDER = "ORDER BY day, kind, id"
# Of what a later passage corrects, the first passage is deleted as well in half of the cases: in
# the other half a memory has to take it back by itself. What is wrong is said by no statement.
_DELETED = """
    SELECT wrong.passage AS id, min(correction.day) AS day
    FROM stated wrong JOIN stated correction USING (subject, relation, object)
    WHERE len(wrong.statements) = 0 AND len(correction.statements) > 0
        AND correction.day > wrong.day AND ascii(right(wrong.passage, 1)) % 2 = 0
    GROUP BY wrong.passage
"""
_EVENTS = f"""
    SELECT * FROM (
        SELECT 'deletion' AS kind, id, day FROM ({_DELETED}) UNION ALL BY NAME
        SELECT 'passage' AS kind, id, day,
            CASE WHEN title = '' THEN text ELSE title || chr(10) || text END AS text
        FROM {{passages}} UNION ALL BY NAME
        SELECT 'question' AS kind, id, asked_on AS day, question AS text FROM questions
    ) {_ORDER}
"""  # noqa: S608 - ours
_FACTS = f"""
    SELECT * FROM (
        SELECT 'passage' AS kind, passage AS id, any_value(day) AS day, list({{
            subject: subject, relation: relation, object: object_label, since: since::VARCHAR
            }} ORDER BY subject, relation, since, object_label) AS facts
        FROM stated GROUP BY passage UNION ALL BY NAME
        SELECT 'question' AS kind, id, asked_on AS day, subject, relation, as_of FROM questions
    ) {_ORDER}
"""  # noqa: S608 - ours


def write(release: Release) -> None:
    """`stream.jsonl`: a passage or a question a line, and `stated.jsonl`: what they are about.

    What may be known at a question is what stands before it. A line has its kind, id, day and text
    alone; no line has an answer. A `deletion` has the id of the passage that is taken back, and no
    text. `stated.jsonl` has, in the same order, the facts of passages that
    state any (`subject`, `relation`, `object`, `since`), and the keys of questions, for memories
    that do not read. It is no part of what a memory that reads may see. Predictions are lines of
    `id` and `prediction` for `factdrift score`.
    """
    tables = DatedTables.of(release)
    for file_name, events_sql in ((STREAM, _EVENTS), (STATED, _FACTS)):
        with tables.query(events_sql) as event_rows:
            release.json_lines(file_name, map(_line, event_rows))


def _line(event_row: Row) -> Row:
    return {
        column_name: cell_value.isoformat() if hasattr(cell_value, "isoformat") else cell_value
        for column_name, cell_value in event_row.items()
        if cell_value is not None
    }
