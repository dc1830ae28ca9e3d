"""Checks of a question over a corpus: what each passage is worth is judged anew."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import get_args

import duckdb

from factdrift.builders.release.manifest import Manifest, locate_file
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import Claims
from factdrift.builders.release.why.histories import MOST_ROWS, FactHistory
from factdrift.builders.release.why.lookup import ReleasedRow, Values, matching_rows
from factdrift.reasoning.as_of.judgments import Grade, judge
from factdrift.reasoning.as_of.rows import PassageFact

_GRADE_COLUMNS: Mapping[Grade, str] = {
    "proves": "evidence",
    "supports": "supporting",
    "unjudged": "unjudged",
    "stale": "stale",
}
"""The column with the passages of each grade."""
_COLUMNS = {"as_of", "asked_on", "answer_ids", "statements", "kind", *_GRADE_COLUMNS.values()}
_FACT_COLUMNS = tuple(PassageFact.__dataclass_fields__)


def passage_checks(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    release_manifest: Manifest,
    row: ReleasedRow,
    claims: Claims,
    histories: Sequence[FactHistory],
) -> Iterator[RowCheck]:
    """Whether the passages of a row are worth what it says, and nothing newer is told of it."""
    row_values = row.values
    as_of, asked_on = row_values.get("as_of"), row_values.get("asked_on")
    if not row_values.keys() >= _COLUMNS or claims.pair is None:
        return
    if not (isinstance(as_of, date) and isinstance(asked_on, date)):
        return
    table_path = _stated_table(release_folder, release_manifest, row)
    if table_path is None:
        return
    history_facts = [
        (history, _told_facts(db, table_path, history, asked_on)) for history in histories
    ]
    passage_grades = _judged_anew(row_values, claims, history_facts, as_of)
    yield from _graded(row_values, passage_grades)
    yield from _abstained(row_values, passage_grades)
    newer_facts = [
        told_fact
        for history, told_facts in history_facts
        if history.pair == claims.pair
        for told_fact in told_facts
        if told_fact.object not in row_values["answer_ids"] and told_fact.since > as_of
    ]
    yield from _superseded(row_values, newer_facts, asked_on)


def _told_facts(
    db: duckdb.DuckDBPyConnection, table_path: Path, history: FactHistory, asked_on: date
) -> list[PassageFact]:
    """What passages up to the day of asking state of a pair."""
    sql_test = "subject = ? AND relation = ? AND day <= ?"
    parameters = [*history.pair, asked_on]
    return [
        PassageFact(**{name: fact_values[name] for name in _FACT_COLUMNS})
        for fact_values in matching_rows(db, table_path, sql_test, parameters, MOST_ROWS)
    ]


def _judged_anew(
    row_values: Values,
    claims: Claims,
    history_facts: Sequence[tuple[FactHistory, Sequence[PassageFact]]],
    as_of: date,
) -> dict[str, Grade]:
    """The grade of each passage: the best one of what it states."""
    passage_grades: dict[str, Grade] = {}
    for history, told_facts in history_facts:
        hop_answers = _answers(row_values, claims, history)
        for told_fact in told_facts:
            fact_grade = judge(told_fact, hop_answers, claims.statements, as_of)
            passage_grades[told_fact.passage] = min(
                fact_grade,
                passage_grades.get(told_fact.passage, fact_grade),
                key=get_args(Grade).index,
            )
    return passage_grades


def _abstained(row_values: Values, passage_grades: Mapping[str, Grade]) -> Iterator[RowCheck]:
    """Whether no passage may say the answer of a question that is said to have none."""
    telling_ids = [name for name, grade in passage_grades.items() if grade != "stale"]
    if row_values["kind"] == "abstain" and telling_ids:
        yield disagreement(f"passage {_short(telling_ids)} may say it, and the row has no answer")


def _superseded(
    row_values: Values, newer_facts: Sequence[PassageFact], asked_on: date
) -> Iterator[RowCheck]:
    """Whether a row says rightly that passages tell of a newer object, or that none does."""
    superseded = row_values.get("superseded")
    if superseded in ("yes", "no") and superseded != ("yes" if newer_facts else "no"):
        told_words = "a newer object is told" if newer_facts else "no newer object is told"
        yield disagreement(f"`superseded` says {superseded}: {told_words} by {asked_on}")


def _graded(row_values: Values, grades: dict[str, Grade]) -> Iterator[RowCheck]:
    has_disagreed = False
    for grade, column in _GRADE_COLUMNS.items():
        row_ids = set(row_values[column] or ())
        judged_ids = {name for name, own_grade in grades.items() if own_grade == grade}
        for extra_id in sorted(row_ids - judged_ids):
            has_disagreed = True
            own_grade = grades.get(extra_id)
            judged = f"is `{_GRADE_COLUMNS[own_grade]}`" if own_grade else "states nothing of it"
            yield disagreement(f"passage {_short([extra_id])} stands in `{column}`, and {judged}")
        row_has = {name for other in _GRADE_COLUMNS.values() for name in row_values[other] or ()}
        lacking_ids = sorted(judged_ids - row_has)
        if lacking_ids:
            has_disagreed = True
            yield disagreement(f"passage {_short(lacking_ids)} is `{column}`, and the row lacks it")
    if not has_disagreed:
        yield RowCheck(True, "each passage is worth what the row says, judged anew")


def _answers(row_values: Values, claims: Claims, history: FactHistory) -> list[str]:
    """The answers of a hop: those of the row for the last one, else what its statements state."""
    if history.pair == claims.pair:
        return list(row_values["answer_ids"])
    named_ids = {*claims.statements}
    return [term.object for term in history.terms if not named_ids.isdisjoint(term.statements)]


def _stated_table(
    release_folder: Path, release_manifest: Manifest, row: ReleasedRow
) -> Path | None:
    """The table of what passages state, of the corpus that the config of a row is about."""
    corpus = row.config.name.rpartition("questions")[0]
    for config in release_manifest.configs:
        is_stated = {column.name for column in config.columns} >= {*_FACT_COLUMNS}
        if is_stated and config.name == f"{corpus}stated":
            return locate_file(release_folder, config.splits[0].file)
    return None


def _short(passage_ids: Sequence[str]) -> str:
    """Ids of passages, those of articles without most of their sha256."""
    shown = [name if len(name) < 30 else f"{name[:16]}…" for name in passage_ids[:3]]
    return ", ".join(shown) + " and more" * (len(passage_ids) > len(shown))
