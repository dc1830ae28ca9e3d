"""Odd files as people hand them in: exports of stores and spreadsheets, older headers, encodings.

Each is read, or refused in one line that says what to do.
"""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.platforms import find_platform
from factdrift.annotation.platforms.prolific import read_participants
from factdrift.annotation.platforms.static import named_batch
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import handed_in

BATCH = "0123456789abcdef"
ANN, BOB = (
    handed_in(BATCH, "h", worker_id, {"i": {"note": "naïve – café"}})
    for worker_id in ("ann", "bob")
)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(*values: Any) -> str:
    return "".join(_json(value) + "\n" for value in values)


def _cells(*rows: Sequence[str], **dialect: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", **dialect).writerows(rows)
    return text.getvalue()


def _workbook() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
    return packed.getvalue()


FORM = [["time", "body"], ["1", _json(ANN)], ["2", _json(BOB)]]
RESULTS: dict[str, tuple[str, bytes, int, str]] = {
    # what it is: file name, content, how many submissions, and what is said of the rest
    "a browser's storage": (
        "r.json",
        _json({f"factdrift:made:{BATCH}": json.dumps([17, _json(ANN)]), "theme": "dark"}).encode(),
        1,
        "",
    ),
    "a store of objects": ("r.json", _json({"answers": {"-N1": ANN, "-N2": BOB}}).encode(), 2, ""),
    "pairs of key and value": (
        "r.json",
        _json([{"key": "a", "value": _json(ANN)}, {"key": "b", "value": _json(BOB)}]).encode(),
        2,
        "",
    ),
    "requests by line": (
        "r.jsonl",
        _lines({"id": 1, "body": ANN}, {"id": 2, "body": _json(BOB)}, {"id": 3}).encode(),
        2,
        "not a submission",
    ),
    "JSON written twice": ("r.csv", _cells(["body"], [json.dumps(_json(ANN))]).encode(), 1, ""),
    "sep=, first": ("r.csv", ("sep=,\n" + _cells(*FORM)).encode(), 2, ""),
    "sep=; first": ("r.csv", ("sep=;\r\n" + _cells(*FORM, delimiter=";")).encode(), 2, ""),
    "tabs": ("r.tsv", _cells(*FORM, delimiter="\t").encode(), 2, ""),
    "marks of joined files": ("r.jsonl", ("\ufeff\ufeff" + _lines(ANN)).encode(), 1, ""),
    "record separators": ("r.jsonl", f"\x1e{_lines(ANN)}\x1e{_lines(BOB)}".encode(), 2, ""),
    "UTF-16 lines": ("r.jsonl", _lines(ANN).encode("utf-16"), 0, "this is UTF-16: iconv -f UTF-16"),
    "UTF-16 cells": ("r.csv", _cells(*FORM).encode("utf-16"), 0, "this is UTF-16: iconv -f UTF-16"),
    "cp1252 lines": ("r.jsonl", _lines(ANN).encode("cp1252"), 0, "iconv -f WINDOWS-1252 -t UTF-8"),
    "cp1252 cells": ("r.csv", _cells(*FORM).encode("cp1252"), 0, "iconv -f WINDOWS-1252 -t UTF-8"),
    "a workbook": ("r.xlsx", _workbook(), 0, "save the sheet as “CSV UTF-8”"),
    "a workbook by another name": ("r.csv", _workbook(), 0, "save the sheet as “CSV UTF-8”"),
    "gzip": ("r.jsonl", b"\x1f\x8b\x08\0\0\0\0\0", 0, "unpack it: gunzip FILE"),
    "another's key": ("r.jsonl", _lines({"_id": 1, **ANN}).encode(), 0, "unknown field `_id`"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_many_kinds(tmp_path: Path, name: str) -> None:
    file_name, content, expected_count, expected_text = RESULTS[name]
    results_path = tmp_path / file_name
    results_path.write_bytes(content)
    try:
        entries = [*find_platform("static").read(results_path)]
        said = "\n".join(
            f"{entry.reason}: {entry.detail}" for entry in entries if isinstance(entry, Refused)
        )
    except UserError as error:
        entries, said = [], str(error)
    assert sum(isinstance(entry, Submission) for entry in entries) == expected_count
    assert expected_text in said and bool(said) == bool(expected_text)
    if expected_count:
        assert named_batch(results_path) == BATCH


PERSON, SESSION = "5f1d2c3b4a5f1d2c3b4a5f1d", "64f0a1b2c3d4e5f60718293a"
TODAY = [["Submission id", "Participant id", "Status", "Name"], [SESSION, PERSON, "APPROVED", "é"]]
EARLIER = [
    ["session_id", "participant_id", "status", "started_datetime", "entered_code"],
    [SESSION, PERSON, "APPROVED", "2021-03-01 10:00:00", "C0DE"],
]
LISTS: dict[str, tuple[bytes, str]] = {
    "as it is today": (_cells(*TODAY).encode(), ""),
    "with a mark, as Excel saves it": (_cells(*TODAY).encode("utf-8-sig"), ""),
    "with semicolons": (_cells(*TODAY, delimiter=";").encode(), ""),
    "sep=; first": (("sep=;\n" + _cells(*TODAY, delimiter=";")).encode(), ""),
    "with Windows lines": (_cells(*TODAY).replace("\n", "\r\n").encode(), ""),
    "an earlier header": (_cells(*EARLIER).encode(), ""),
    "ids in capitals": (_cells(*EARLIER).replace(PERSON, PERSON.upper()).encode(), ""),
    "a blank row at its end": ((_cells(*TODAY) + ",,,\n").encode(), ""),
    "cp1252": (_cells(*TODAY).encode("cp1252"), "iconv -f WINDOWS-1252 -t UTF-8"),
    "UTF-16": (_cells(*TODAY).encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
    "a workbook": (_workbook(), "save the sheet as “CSV UTF-8”"),
    "a page that asks to sign in": (b"<html><body>Sign in</body></html>", "Participant id"),
    "a list of something else": (b"Email\nann@example.org\n", "take the file as Prolific exports"),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_participants(tmp_path: Path, name: str) -> None:
    content, expected_text = LISTS[name]
    list_path = tmp_path / "prolific_export.csv"
    list_path.write_bytes(content)
    if not expected_text:
        assert read_participants(list_path) == {PERSON: {SESSION: "APPROVED"}}
        return
    with pytest.raises(UserError) as error:
        read_participants(list_path)
    assert expected_text in str(error.value) and len(str(error.value).splitlines()) <= 2
