"""The steps of an audit: what the table says, what the dump has of it, and the verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import ROW_GROUP, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.intervals import DATES, row_interval
from factdrift.builders.facts.steps import Timelines
from factdrift.builders.wikidata.documents import DEPRECATED
from factdrift.builders.wikidata.finish import LOOKED_UP
from factdrift.builders.wikidata.steps import MineWithLookup
from factdrift.scoring.audit.forms import ChosenColumns, ColumnChoice, TableForm, form_of
from factdrift.scoring.audit.rows import (
    Holder,
    JudgedFact,
    LookedUpId,
    TableAnswer,
    TableFact,
)
from factdrift.scoring.audit.tables import TableRow, read_table
from factdrift.scoring.audit.verdicts import AuditVerdict, PairHistory, Stretch, judge

ASKED, IDS, JUDGED = "asked.parquet", "ids.parquet", "judged.parquet"
_FETCHED = 2048
"""Rows that a query hands over at a time."""


class AskedFacts(Step):
    """What the rows of a table hold to be true, and the ids that they name.

    `table`: the file; `suffix`: the end of its name, which says what it is; `columns`: those of a
    table of no known form; `properties`: normalized names of properties -> ids.
    """

    name: ClassVar[str] = "asked-facts"

    table: Path
    suffix: str
    columns: ColumnChoice | None
    properties: Mapping[str, str]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the table once. `UserError`: a broken row, or columns of no known form."""
        with writing(out / ASKED, TableFact) as file:
            for row in read_table(self.table):
                form = table_form(self.columns, row, self.table)
                for place, claim in enumerate(form.claims(row.record, self.properties)):
                    days = claim.days or (None, None)
                    fact = TableFact(
                        row=row.number,
                        place=place,
                        line=row.line,
                        subject=claim.subject,
                        relation=claim.relation,
                        first_day=days[0],
                        last_day=days[1],
                        answers=claim.answers,
                        unlinked=claim.unlinked,
                    )
                    file.append(fact)
        with duck.connect(workspace.root, workspace.memory, workspace.jobs) as connection:
            asked_table = duck.parquet(out / ASKED)
            ids = connection.execute(f"""
                SELECT id FROM (SELECT subject AS id FROM {asked_table} WHERE unlinked IS NULL UNION
                SELECT answer.id FROM (
                    SELECT unnest(answers) AS answer FROM {asked_table} WHERE unlinked IS NULL))
                WHERE id IS NOT NULL ORDER BY length(id), id
            """)  # noqa: S608
            with writing(out / IDS, LookedUpId) as id_file:
                for (name,) in _fetched_rows(ids):
                    id_file.append(LookedUpId(name))


def table_form(columns: ColumnChoice | None, row: TableRow, path: Path) -> TableForm:
    """The form of a row. `UserError`: none is known, or a named column is missing."""
    if columns is None:
        form = form_of(row.record)
        if form is not None:
            return form
        names = ", ".join(list(row.record)[:12]) or "none"
        raise UserError(
            f"columns of no known form: {names}",
            where=display_path(path),
            line=row.line,
            hint="say them: --subject COLUMN --relation COLUMN --answers COLUMN",
        )
    for option, column in (("subject", columns.subject), ("answers", columns.answers)):
        if column not in row.record:
            names = ", ".join(list(row.record)[:12]) or "none"
            error_text = f"no column {column!r}, which --{option} names; there are {names}"
            raise UserError(error_text, where=display_path(path), line=row.line)
    return ChosenColumns(columns)


def asked_properties(folder: Path) -> list[str]:
    """The properties of the rows that can be linked."""
    asked_table = duck.parquet(folder / ASKED)
    properties = duck.query(f"""
        SELECT relation FROM {asked_table} WHERE unlinked IS NULL GROUP BY 1
        ORDER BY length(relation), relation
    """)  # noqa: S608
    return [relation for (relation,) in properties]


class JudgedFacts(Step):
    """The verdict on each fact of a table, as of a day or of the row's own date.

    `keeps_undated`: the relations whose undated statements are facts; `as_of`: None: the row's own
    date, else the day of the dump.
    """

    name: ClassVar[str] = "judged-facts"

    table_facts: AskedFacts
    mined: MineWithLookup
    timelines: Timelines
    keeps_undated: tuple[str, ...]
    as_of: date | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Judge the facts pair by pair, and sort the verdicts by row."""
        unsorted_file = out / "unsorted.parquet"
        with duck.connect(workspace.root, workspace.memory, workspace.jobs) as connection:
            self._views(connection, workspace)
            with writing(unsorted_file, JudgedFact) as file:
                for judged_fact in self._judged(connection):
                    file.append(judged_fact)
            connection.execute(f"""
                COPY (FROM {duck.parquet(unsorted_file)} ORDER BY row, place)
                TO {duck.text(str(out / JUDGED))}
                (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})
            """)
        unsorted_file.unlink()

    def _views(self, connection: duckdb.DuckDBPyConnection, workspace: Workspace) -> None:
        """The tables by name: those of the mined dump, of the timelines, and of the table."""
        mined, timelines = workspace.folder(self.mined), workspace.folder(self.timelines)
        facts = workspace.folder(self.timelines.facts)
        files = {
            "asked": workspace.folder(self.table_facts) / ASKED,
            "looked_up": mined / LOOKED_UP,
            "dropped": facts / "dropped.parquet",
            "entities": mined / "entities.parquet",
            "segments": timelines / "timelines.parquet",
            "gaps": timelines / "gaps.parquet",
            "facts": facts / "facts.parquet",
            "stated_gaps": facts / "gaps.parquet",
        }
        for name, path in files.items():
            connection.execute(f"CREATE VIEW {name} AS FROM {duck.parquet(path)}")
        days = ", ".join(DATES)
        connection.execute(f"""
            CREATE TABLE pairs AS SELECT DISTINCT l.target AS subject, a.relation
            FROM asked a JOIN looked_up l ON a.subject = l.id WHERE a.unlinked IS NULL;
            CREATE VIEW stated AS
            SELECT subject, relation, object AS item, {days}, rival AS doubtful, CASE
                WHEN stale_until IS NOT NULL THEN 'stale' WHEN rival THEN 'rival' ELSE '' END
                AS cause, false AS preferred, stated_first
            FROM segments SEMI JOIN pairs USING (subject, relation) LEFT JOIN (
                SELECT subject, relation, object, min(start_first) AS stated_first
                FROM facts SEMI JOIN pairs USING (subject, relation) GROUP BY ALL
            ) USING (subject, relation, object)
            UNION ALL
            SELECT subject, relation, object, {days}, true, reason, "rank" = 'preferred', NULL
            FROM gaps SEMI JOIN pairs USING (subject, relation)
            WHERE object IS NOT NULL OR reason <> 'undated'
            UNION ALL -- timelines leave out which object without a name is undated
            SELECT subject, relation, object, NULL, NULL, NULL, NULL, true, reason,
                "rank" = 'preferred', NULL
            FROM stated_gaps SEMI JOIN pairs USING (subject, relation) WHERE reason = 'undated'
            UNION ALL
            SELECT coalesce(s.target, d.subject), d.relation, coalesce(o.target, d.item),
                NULL, NULL, NULL, NULL, true, d.reason, false, NULL
            FROM (SELECT * REPLACE (split_part(detail, ' ', 1) AS item) FROM dropped) d
            LEFT JOIN looked_up s ON s.id = d.subject LEFT JOIN looked_up o ON o.id = d.item
            SEMI JOIN pairs p ON p.subject = coalesce(s.target, d.subject)
                AND p.relation = d.relation
            WHERE d.reason IN ({duck.text(DEPRECATED)}, 'unlabelled_subject');
        """)  # noqa: S608

    def _judged(self, connection: duckdb.DuckDBPyConnection) -> Iterator[JudgedFact]:
        """The verdicts, pair by pair: facts of the table and statements run side by side."""
        lost_ids = dict(
            connection.execute(
                "SELECT id, CASE WHEN present THEN target END FROM looked_up "
                "WHERE NOT present OR target <> id"
            ).fetchall()
        )
        snapshot = self.mined.dump.snapshot
        with ExitStack() as stack:
            asking, stating = (stack.enter_context(connection.cursor()) for _ in range(2))
            table_rows = _dictionaries(
                asking.execute("""
                    SELECT a.* EXCLUDE (subject), a.subject AS named, l.present,
                        coalesce(l.target, a.subject) AS subject
                    FROM asked a LEFT JOIN looked_up l ON a.subject = l.id
                    ORDER BY length(l.target), l.target, length(relation), relation, row, place
                """)
            )
            histories = _PairHistories(
                stating.execute("""
                    SELECT s.*, coalesce(nullif(e.label, ''), l.label) AS label,
                        coalesce(e.aliases, l.aliases, []) AS aliases
                    FROM stated s LEFT JOIN entities e ON e.id = s.item
                    LEFT JOIN looked_up l ON l.id = s.item
                    ORDER BY length(subject), subject, length(relation), relation,
                        length(item), item, start_first, start_last, end_first, end_last, cause
                """),
                frozenset(self.keeps_undated),
            )
            for pair, pair_facts in groupby(table_rows, key=_pair):
                history = histories.history(pair)
                for fact in pair_facts:
                    yield self._judge(fact, history, lost_ids, snapshot)

    def _judge(
        self,
        fact: Mapping[str, Any],
        history: PairHistory,
        lost_ids: Mapping[str, str | None],
        snapshot: date,
    ) -> JudgedFact:
        """The verdict on one fact."""
        answers = [_resolved(answer, lost_ids) for answer in fact["answers"]]
        first_day, last_day = fact["first_day"], fact["last_day"]
        if self.as_of or first_day is None:
            first_day = last_day = self.as_of or snapshot
        judgment = _verdict(fact, history, answers, first_day, min(last_day, snapshot), lost_ids)
        gone = [
            history.names[item].label if item in history.names else item for item in judgment.gone
        ]
        return JudgedFact(
            row=fact["row"],
            place=fact["place"],
            line=fact["line"],
            subject=fact["named"],
            relation=fact["relation"],
            answers=tuple((*answer.names, answer.id or "")[0] for answer in answers),
            verdict=judgment.verdict,
            reason=judgment.reason,
            first_day=first_day,
            last_day=last_day,
            until_first=judgment.until_first,
            until_last=judgment.until_last,
            from_year=judgment.from_year,
            row_year=fact["first_day"].year if fact["first_day"] else None,
            now=tuple(judgment.holders),
            gone=tuple(gone),
        )


def _verdict(
    fact: Mapping[str, Any],
    history: PairHistory,
    answers: Sequence[TableAnswer],
    first_day: date,
    last_day: date,
    lost_ids: Mapping[str, str | None],
) -> AuditVerdict:
    if fact["unlinked"]:
        return AuditVerdict("not linked", fact["unlinked"])
    if not fact["present"]:
        return AuditVerdict("not in the dump", "no such subject")
    if first_day > last_day:
        return AuditVerdict("in doubt", "after the day of the dump")
    return judge(
        history, answers, first_day, last_day, lambda item: lost_ids.get(item, item) is not None
    )


def _resolved(answer: Mapping[str, Any], lost_ids: Mapping[str, str | None]) -> TableAnswer:
    """An answer with the id to which its own leads over redirects."""
    answer_id = answer["id"]
    return TableAnswer(lost_ids.get(answer_id) or answer_id, tuple(answer["names"]))


class _PairHistories:
    """The statements of pairs, in the order of the pairs, one pair in memory at a time."""

    def __init__(self, result: duckdb.DuckDBPyConnection, keeps_undated: frozenset[str]) -> None:
        self._groups = groupby(_dictionaries(result), key=_pair)
        self._keeps_undated = keeps_undated
        self._pair: tuple[Any, ...] | None = None
        self._rows: list[dict[str, Any]] = []

    def history(self, pair: tuple[Any, ...]) -> PairHistory:
        """What is stated of a pair, which comes after those that were asked for before."""
        while self._pair is None or self._pair < pair:
            next_pair, rows = next(self._groups, (None, iter(())))
            if next_pair is None:
                self._pair, self._rows = (float("inf"),), []
                break
            self._pair, self._rows = next_pair, list(rows)
        is_stated = self._pair == pair
        return _history(self._rows if is_stated else [], pair[-1] in self._keeps_undated)


def _history(rows: Sequence[Mapping[str, Any]], keeps_undated: bool) -> PairHistory:
    stretches = [
        Stretch(
            row["item"],
            row_interval(row, row["doubtful"]),
            row["cause"],
            row["preferred"],
            row["stated_first"],
        )
        for row in rows
        if row["cause"] != DEPRECATED
    ]
    names = {
        row["item"]: Holder(row["item"], row["label"], tuple(row["aliases"]))
        for row in rows
        if row["item"] and row["label"]
    }
    deprecated = {row["item"] for row in rows if row["cause"] == DEPRECATED}
    return PairHistory(stretches, deprecated, names, keeps_undated)


def _pair(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The pair of a row, by which both tables are sorted: ids by their length, then their text."""
    subject, relation = row["subject"] or "", row["relation"] or ""
    return len(subject), subject, len(relation), relation


def _fetched_rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(_FETCHED):
        yield from rows


def _dictionaries(result: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    columns = [column[0] for column in result.description or ()]
    for row in _fetched_rows(result):
        yield dict(zip(columns, row, strict=True))


def property_names(labels: Mapping[str, str]) -> dict[str, str]:
    """Normalized names of properties -> ids; a name of two properties is of neither."""
    ids: dict[str, set[str]] = {}
    for relation_id, label in labels.items():
        ids.setdefault(label.casefold(), set()).add(relation_id)
    return {name: min(names) for name, names in ids.items() if len(names) == 1}
