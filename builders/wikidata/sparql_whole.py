"""Whole relations from a SPARQL endpoint: one streamed answer each, of any length.

An answer is written to a file as it arrives. DuckDB then sorts it by statement, on disk where it
does not fit into memory, so that the engine need not: engines stream what they need not sort. An
engine that cannot manage a relation in one answer is asked for ten parts, by the last digit of the
subject's id.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import zstandard

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import clear_place
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.http import CutShortError, RetryPolicy, retry
from factdrift.builders.core.progress import progress
from factdrift.builders.wikidata.sparql_client import Row, SparqlClient, SparqlTerm, is_short
from factdrift.builders.wikidata.sparql_rows import PROPERTY, STATEMENT_COLUMNS, relation_query

_DIGITS = "0123456789"
_STATEMENTS_A_CHUNK = 5_000
"""Statements in memory at a time, about 30 MB of rows."""
_ROWS_A_FETCH = 10_000


class StatementChunk(NamedTuple):
    """Some statements: the IRI of each with that of its subject, and the rows about them."""

    subjects: dict[str, str]
    rows: list[Row]


class WholeAnswers:
    """Asks an endpoint for whole relations; every answer is kept in a folder, as `Pager` does."""

    def __init__(
        self, client: SparqlClient, folder: Path, policy: RetryPolicy, spill: Path, memory: str
    ) -> None:
        self.client, self._folder, self._policy = client, folder, policy
        self._spill, self._memory = spill, memory

    def chunks(self, relation: str, expected_count: int) -> Iterator[StatementChunk]:
        """Yield the statements of a relation, some at a time, each whole.

        `UserError` where there are far fewer than `expected_count`, the number that was counted.
        """
        statement_count = 0
        answer_files = self._answers(relation)
        with progress(expected_count, "statements", relation) as progress_bar:
            for answer_file in answer_files:
                for chunk in self._sorted_chunks(relation, answer_file):
                    statement_count += len(chunk.subjects)
                    progress_bar.advance(len(chunk.subjects))
                    yield chunk
        if is_short(statement_count, expected_count):
            for answer_file in answer_files:
                answer_file.unlink()
            raise UserError(
                f"{self.client.address} gave {statement_count} of {expected_count} statements of "
                f"{relation}",
                hint="run it again, with --road pages; if that does not help, use a dump",
            )

    def _answers(self, relation: str) -> list[Path]:
        """Return the files of a relation's answers, one or ten; ask for those that are missing."""
        whole_file = self._path(relation, "")
        part_files = {digit: self._path(relation, digit) for digit in _DIGITS}
        is_divided = any(path.is_file() for path in part_files.values())
        if whole_file.is_file() or (not is_divided and self._ask(relation, "", whole_file)):
            return [whole_file]
        for digit, part_file in part_files.items():
            if not part_file.is_file():
                self._ask(relation, digit, part_file)
        return list(part_files.values())

    def _path(self, relation: str, last_digit: str) -> Path:
        query = relation_query(relation, last_digit)
        question = text_sha256(f"{self.client.address} {query.text}")[:32]
        return self._folder / f"{query.name}-{question}.tsv.zst"

    def _ask(self, relation: str, last_digit: str, path: Path) -> bool:
        """Write an answer to its file; return False where the whole relation is too much."""

        def call(_: int) -> bool:
            try:
                self._write(relation, last_digit, path)
            except CutShortError:
                if last_digit:
                    raise
                return False
            return True

        return retry(
            call,
            self._policy,
            where=self.client.address,
            hint="run it again later: it goes on from what it has; or ask with --road pages",
        )

    def _write(self, relation: str, last_digit: str, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        query_text = relation_query(relation, last_digit).text
        temporary_path = clear_place(path.with_name(f"{path.name}.{os.getpid()}.part"))
        label = f"{relation}, part {last_digit}" if last_digit else relation
        try:
            with (
                temporary_path.open("wb") as answer_file,
                zstandard.ZstdCompressor(1).stream_writer(answer_file) as packed_file,
                progress(None, "B", label) as progress_bar,
            ):
                for piece in self.client.tsv_pieces(query_text, STATEMENT_COLUMNS):
                    packed_file.write(piece)
                    progress_bar.advance(len(piece))
            temporary_path.replace(path)
        finally:
            temporary_path.unlink(missing_ok=True)

    def _sorted_chunks(self, relation: str, answer_file: Path) -> Iterator[StatementChunk]:
        subject_predicate = f"{PROPERTY}{relation}"
        subjects: dict[str, str] = {}
        rows: list[Row] = []
        for _, lines in groupby(self._sorted(answer_file), key=lambda line: line[0]):
            if len(subjects) >= _STATEMENTS_A_CHUNK:
                yield StatementChunk(subjects, rows)
                subjects, rows = {}, []
            for line in lines:
                row = {
                    column: read_term(term)
                    for column, term in zip(STATEMENT_COLUMNS, line, strict=True)
                    if term
                }
                if row["predicate"].value == subject_predicate:
                    subjects[row["statement"].value] = row["value"].value
                else:
                    rows.append(row)
        yield StatementChunk(subjects, rows)

    def _sorted(self, answer_file: Path) -> Iterator[Sequence[str | None]]:
        """The lines of an answer by statement, as terms; those without a value are None."""
        columns = ", ".join(f"{duck.text(column)}: 'VARCHAR'" for column in STATEMENT_COLUMNS)
        self._spill.mkdir(parents=True, exist_ok=True)
        with duck.connect(self._spill, self._memory, 2, ordered=False) as connection:
            lines = connection.execute(f"""
                FROM read_csv({duck.text(duck.escape_globs(answer_file))}, columns = {{{columns}}},
                    auto_detect = false, header = true, delim = '\\t', quote = '', escape = '',
                    compression = 'zstd')
                ORDER BY statement, predicate, value
            """)
            while fetched_lines := lines.fetchmany(_ROWS_A_FETCH):
                yield from fetched_lines


def read_term(text: str) -> SparqlTerm:
    """Read a term of tab-separated values: an IRI, a blank node, a text, or a bare number.

    Escapes in texts are left: what statements say in texts is not read, but for times.
    """
    if text.startswith("<"):
        return SparqlTerm("uri", text[1:-1])
    if text.startswith("_:"):
        return SparqlTerm("bnode", text[2:])
    if text.startswith('"'):
        return SparqlTerm("literal", text[1 : text.rindex('"')])
    return SparqlTerm("literal", text)
