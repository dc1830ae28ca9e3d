"""Reads results files (JSON, JSON lines, CSV) as a stream: what is broken is `Refused`.

How entries are read, `builders.core.text_files` says.
"""

from collections.abc import Iterator
from pathlib import Path

from factdrift.annotation.submission import Refused, decode_json
from factdrift.builders.core import text_files
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.text_files import Entry as Entry
from factdrift.builders.core.text_files import is_table as is_table
from factdrift.builders.core.text_files import read_head as read_head

Entries = Iterator[Entry | Refused]


def json_documents(file_path: Path) -> Entries:
    """The objects of a JSON array, of JSON lines, or the one object of a file."""
    return _refused(file_path, text_files.json_entries(file_path, decode_json))


def csv_rows(file_path: Path) -> Entries:
    """The rows of a CSV file with a header; commas, semicolons or tabs, as the header has them."""
    return _refused(file_path, text_files.table_rows(file_path))


def require_entries(entries: Entries) -> Iterator[Entry]:
    """Yield the entries of a file that is no platform's; `UserError` for one that is broken."""
    for entry in entries:
        if isinstance(entry, Refused):
            text = f"{entry.reason}: {entry.detail}".rstrip(": ")
            raise UserError(text, where=entry.where, line=entry.line)
        yield entry


def _refused(file_path: Path, entries: text_files.Entries) -> Entries:
    where = display_path(file_path)
    for entry in entries:
        yield entry if isinstance(entry, Entry) else Refused(where, *entry)
