"""The events of a stream, in one order of days: what an export writes and the card's memories hear.

In SQL they are made of the tables `passages` (with text), `stated` and `questions` of one corpus.
"""

from factdrift.reasoning.as_of.memories import Event, Memory, can_forget

# Of what a later passage corrects, the first passage is deleted as well in half of the cases: in
# the other half a memory has to take it back by itself. What is wrong is said by no statement.
DELETIONS = """
    SELECT wrong.passage AS id, min(correction.day) AS day
    FROM stated wrong JOIN stated correction USING (subject, relation, object)
    WHERE len(wrong.statements) = 0 AND len(correction.statements) > 0
        AND correction.day > wrong.day AND ascii(right(wrong.passage, 1)) % 2 = 0
    GROUP BY wrong.passage
"""
"""A query for the passages that are deleted, and the day of each deletion."""
EVENT_ORDER = "ORDER BY day, kind, id"
"""Of one day deletions come first, then passages, then questions; of equals by id."""
EVENTS = f"""
    SELECT * FROM (
        SELECT 'deletion' AS kind, id, day FROM ({DELETIONS}) UNION ALL BY NAME
        SELECT 'passage' AS kind, id, day,
            CASE WHEN title = '' THEN text ELSE title || chr(10) || text END AS text
        FROM {{passages}} UNION ALL BY NAME
        SELECT 'question' AS kind, id, asked_on AS day, question AS text, prompt FROM questions
    ) {EVENT_ORDER}
"""  # noqa: S608 - ours
"""A query for all events; `{passages}` stands for the passages with their text."""


def send(memory: Memory, event: Event) -> str | None:
    """Send an event to a memory; return its answer to a question, None for another event.

    A deletion is sent to a memory that `can_forget`, and to no other.
    """
    if event["kind"] == "question":
        return memory.answer(event)
    if event["kind"] == "passage":
        memory.hear(event)
    elif can_forget(memory):
        memory.forget(event)
    return None
