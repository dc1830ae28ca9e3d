"""A stream: dated passages and questions in one order of days, for systems that keep a memory."""

from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, StatedFact
from factdrift.scoring.export.beir import dated_passages
from factdrift.scoring.export.release import Release, Row

STREAM = "stream.jsonl"
_ORDER = """
    SELECT * FROM (
        SELECT 'passage' AS kind, p.id, p.day, text, subject, relation, object_label AS object,
            since, NULL::date AS as_of
        FROM {passages} p JOIN stated s ON s.passage = p.id UNION ALL BY NAME
        SELECT 'question' AS kind, id, asked_on AS day, question AS text, subject, relation, as_of
        FROM asked
    ) ORDER BY day, kind, id
"""


def write(release: Release) -> None:
    """`stream.jsonl`: a passage or a question a line, a question after the passages of its day.

    What may be known at a question is what stands before it; no line has an answer to a question.
    Passages say which fact they state (`subject`, `relation`, `object`, `since`), for memories that
    do not read; predictions are lines of `id` and `prediction` for `factdrift score`.
    """
    configs_by_name = {
        "passages": release.configs(DatedPassage),
        "asked": release.configs(AsOfQuestion),
        "stated": release.configs(StatedFact),
    }
    with release.query(
        _ORDER.format(passages=dated_passages(release)), configs_by_name
    ) as fact_rows:
        release.json_lines(STREAM, map(_line, fact_rows))


def _line(fact_row: Row) -> Row:
    return {
        column_name: cell_value.isoformat() if hasattr(cell_value, "isoformat") else cell_value
        for column_name, cell_value in fact_row.items()
        if cell_value is not None
    }
