"""Hostile results: nothing is run, nothing is lost, nothing is written outside of `out`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch
from tests.annotation_workers import batch_of, refusals, submission, take
from tests.conftest import ROOT

EVIL = (
    "=cmd|'/C calc'!A0 @SUM(1) +1 -1 <script>alert(1)</script> ${x} {{7*7}} '; DROP TABLE x; -- "
    '"quoted" \U0001f600 \u202ertl \u2028 \ufeff \x7f $(touch pwned) `id` %s %n \\u0000 &amp;'
)


def line(batch: HitBatch, worker: str, **more: Any) -> bytes:
    return json.dumps(submission(batch, worker, **more)).encode()


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*")}


def test_answers_come_back_unharmed_and_are_never_run(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    given = submission(batch, EVIL, assignment="../../" + EVIL)
    for item in given["answers"].values():
        item["note"] = EVIL
    path = tmp_path / "evil.jsonl"
    path.write_text(json.dumps(given, ensure_ascii=False) + "\n", "utf-8")
    before = files(tmp_path)
    assert take(tmp_path, path).new == 1
    assert refusals(tmp_path) == []
    rows = pq.read_table(tmp_path / "judgments" / "quick" / "judgments.parquet").to_pylist()
    assert {json.loads(row["answers"])["note"] for row in rows} == {EVIL}
    assert files(tmp_path) - before == {
        "hits/.salt",
        "judgments",
        "judgments/.salt-check",
        "judgments/refused.jsonl",
        "judgments/quick",
        "judgments/quick/judgments.parquet",
        "judgments/quick/gold.parquet",
        "judgments/quick/report.html",
        "judgments/quick/report.json",
    }


BAD = "not valid JSON"
NOT = "not a submission"

CASES: list[tuple[str, str, bytes, int, list[tuple[int, str]]]] = [
    # what it is, file name, content with A and B for good submissions, taken, refused
    ("the end of a line is missing", "r.jsonl", b"A\nB", 2, []),
    ("a file that ends within a line", "r.jsonl", b'A\n{"format": "fact', 1, [(2, BAD)]),
    ("Windows lines and a mark", "r.jsonl", b"\xef\xbb\xbfA\r\n\r\nB\r\n", 2, []),
    ("broken lines between", "r.jsonl", b"{\nA\n}\n\nnull\nB\n]", 2,
     [(1, BAD), (3, BAD), (5, NOT), (7, BAD)]),
    ("two on a line", "r.jsonl", b"A B\nA\n", 1, [(1, BAD)]),
    ("NUL bytes", "r.jsonl", b"\0\0\nA\n{\"a\": \"\0\"}\n", 1, [(1, BAD), (3, BAD)]),
    ("latin-1", "r.jsonl", b'A\n{"a": "\xe9"}\nB\n', 2, [(2, "not UTF-8")]),
    ("an encoded surrogate", "r.jsonl", b'A\n{"a": "\xed\xa0\x80"}\n', 1, [(2, "not UTF-8")]),
    ("an escaped surrogate", "r.jsonl", b'{"a": "\\ud800"}\nA\n', 1, [(1, BAD)]),
    ("a bomb of brackets", "r.jsonl", b"[" * 10**6 + b"\nA\n", 1, [(1, BAD)]),
    ("lines in a file of another name", "r.json", b'{"format":\nA\nB\n', 2, [(1, BAD)]),
    ("an array", "r.json", b"[A,\n B\n]\n", 2, []),
    ("side by side", "r.json", b"A\n\n B", 2, []),
    ("an array that is cut", "r.json", b'[A,\nB,\n{"format": "fa', 2, [(3, BAD)]),
    ("text around", "r.json", b"[A,\n\noops B]", 1, [(3, BAD)]),
    ("a string that is never closed", "r.json", b'[A,\n"B]', 1, [(2, NOT), (2, BAD)]),
    ("only text", "r.json", b"hello\nA\n", 0, [(1, BAD)]),
    ("an object of others", "r.json", b'{"data":\n [A]}', 0, [(1, NOT)]),
    ("nothing", "r.json", b"", 0, [(0, "no submissions in it")]),
    ("blanks", "r.jsonl", b"\n  \n", 0, [(0, "no submissions in it")]),
    ("an empty array", "r.json", b"[]", 0, [(0, "no submissions in it")]),
    ("a page of an error", "r.json", b"<html>\n<script>{}</script>", 0, [(1, BAD)]),
    ("a spreadsheet", "r.json", b"PK\x03\x04\x14\x00\xff\xfe", 0, [(1, BAD)]),
    ("cells", "r.csv", b"a,b\nx,C\ny,D\n", 2, []),
    ("formula cells", "r.csv", b"a,b\n=cmd|'/K calc'!A0,C\n@x,+1\n", 1, [(3, NOT)]),
    ("a quote that is never closed", "r.csv", b'a,b\nx,"oops\ny,C\nz,D\n', 1,
     [(2, "not a CSV row")]),
    ("a quote too many", "r.csv", b'a,b\nx,"oo"ps"\ny,C\n', 1, [(2, "not a CSV row")]),
    ("rows cut short", "r.csv", b"a,b\nx\ny,C\nz,D,E\n", 1,
     [(2, "not a CSV row"), (4, "not a CSV row")]),
    ("a file that ends within a cell", "r.csv", b'a,b\nx,C\ny,"{""format"": ', 1,
     [(3, "not a CSV row")]),
    ("two in a row", "r.csv", b"a,b\nC,D\n", 0, [(2, NOT)]),
    ("names twice", "r.csv", b"a,a\nx,C\n", 0, [(1, "no CSV header")]),
    ("no names", "r.csv", b"\nx,C\n", 0, [(1, "no CSV header")]),
    ("latin-1 cells", "r.csv", b"a;b\n\xe9;x\ny;C\n", 1, [(2, "not UTF-8")]),
    ("NUL cells", "r.csv", b"a\tb\n\0\tx\ny\tC\n", 1, [(2, NOT)]),
    ("no rows", "r.csv", b"a,b\n", 0, [(0, "no submissions in it")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "taken", "refused"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_broken_files(
    name: str, content: bytes, taken: int, refused: list[tuple[int, str]], tmp_path: Path
) -> None:
    batch = batch_of(tmp_path)
    good = {b"A": line(batch, "w1"), b"B": line(batch, "w2")}
    cells = {b"C": good[b"A"], b"D": good[b"B"]}
    if name == "r.csv":
        good = {sign: b'"' + text.replace(b'"', b'""') + b'"' for sign, text in cells.items()}
    for sign, text in good.items():
        content = content.replace(sign, text)
    path = tmp_path / name
    path.write_bytes(content)
    done = take(tmp_path, path)
    found = [(at, reason) for _, at, reason, _ in refusals(tmp_path)]
    assert (done.new + done.known, found) == (taken, refused)
    assert len({*done.lines()}) >= len(refused)


@pytest.mark.parametrize("order", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.csv"])
def test_utf_16(order: str, name: str, tmp_path: Path) -> None:
    """With its mark it is read; without, it is refused line by line, not guessed."""
    batch = batch_of(tmp_path)
    one, two = (line(batch, w).decode() for w in ("w\U0001f600", "w2"))
    text = f"{one}\n{two}\n"
    if name.endswith("csv"):
        text = "a\n" + "".join('"' + x.replace('"', '""') + '"\n' for x in (one, two))
    path = tmp_path / name
    path.write_bytes(text.encode(order))
    done = take(tmp_path, path)
    if order == "utf-16":
        assert (done.new, done.refused) == (2, {})
        path.write_bytes(text.encode(order)[:-1])
        assert take(tmp_path, path).known >= 1
        assert "broken encoding" in {r[2] for r in refusals(tmp_path)}
    else:
        assert done.new == 0
        assert sum(done.refused.values()) >= 1


def test_half_characters_in_utf_16_cost_their_line_only(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    lines = [line(batch, "w1").decode(), '{"a": "\ud800"}', line(batch, "w2").decode()]
    path = tmp_path / "r.jsonl"
    text = "\n".join(lines)
    path.write_bytes(b"\xff\xfe" + text.encode("utf-16-le", "surrogatepass"))
    assert take(tmp_path, path).new == 2
    assert [r[1:3] for r in refusals(tmp_path)] == [(2, "not UTF-8")]


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/passwd", "..", ".", "\0", "a/b", "C:\\x", "~"]
)
def test_ids_that_are_paths(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    batch = batch_of(inside)
    good = submission(batch, "w1")
    item = next(iter(good["answers"]))
    given = [
        good | {"worker": name, "assignment": name},
        good | {"batch": name},
        good | {"hit": name},
        good | {"answers": good["answers"] | {name: good["answers"][item]}},
        good | {"item_seconds": {name: 1}},
        good | {name: name},
        good | {"layout": name},
    ]
    path = inside / "r.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in given), "utf-8")
    before = files(tmp_path) | {"deep/er/hits/.salt"}
    done = take(inside, path)
    assert done.new == 1
    assert [r[2] for r in refusals(inside)] == [
        "unknown batch",
        "unknown HIT",
        "unknown item",
        "unknown item",
        NOT,
        NOT,
    ]
    assert all(new.startswith("deep/er/judgments") for new in files(tmp_path) - before)


def test_terminals_are_not_told_what_to_do(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    given = submission(batch, "w1") | {"hit": "\x1b]0;owned\x07\x1b[2J\u202e"}
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(given) + "\n", "utf-8")
    said = "\n".join(take(tmp_path, path).lines())
    assert "unknown HIT" in said
    assert not set(said) & set("\x1b\x07\u202e")


BIG = """
import sys
import time
from pathlib import Path
from tests.annotation_workers import take

def peak():
    with open("/proc/self/status") as status:
        return next(int(text.split()[1]) for text in status if text.startswith("VmHWM")) // 1024

tmp = Path(sys.argv[1])
take(tmp, tmp / "small.jsonl", out="before")
before, start = peak(), time.monotonic()
done = take(tmp, *map(Path, sys.argv[2:]))
took = round(time.monotonic() - start)
print(before, peak(), done.new + done.known, sum(done.refused.values()), took)
"""
SIZE = 200 << 20


def _big(kind: str, path: Path, good: bytes) -> None:
    """200 MB: one line of NULs, many broken lines, an object or a cell that never ends."""
    begin, piece, end = {
        "sparse line": (good + b"\n", b"", b"\n" + good + b"\n"),
        "lines": (good + b"\n", b'{"a": "' + b"x" * 100_000 + b"\n", good),
        "object": (b"[" + good + b", {", b'"a": {"b": "' + b"x" * 100_000 + b'"}, ', b""),
        "cell": (b'a,b\nx,"', b"some text and more " * 5_000 + b"\n", b""),
    }[kind]
    with path.open("wb") as file:
        file.write(begin)
        if not piece:
            file.seek(SIZE)
        while piece and file.tell() < SIZE:
            file.write(piece)
        file.write(end)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("kind", "name", "taken", "refused"),
    [
        pytest.param("sparse line", "r.jsonl", 2, range(1, 2), marks=pytest.mark.slow),
        pytest.param("lines", "r.jsonl", 2, range(2000, 2200), marks=pytest.mark.slow),
        pytest.param("object", "r.json", 1, range(1, 2), marks=pytest.mark.slow),
        pytest.param("cell", "r.csv", 0, range(2000, 2300), marks=pytest.mark.slow),
    ],
)
def test_200_megabytes(kind: str, name: str, taken: int, refused: range, tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    good = line(batch, "w1")
    (tmp_path / "small.jsonl").write_bytes(good)
    path = tmp_path / name
    _big(kind, path, good)
    assert path.stat().st_size >= SIZE
    command = [sys.executable, "-c", BIG, str(tmp_path), str(path)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    before, after, came, out, took = map(int, done.stdout.split())
    print(f"{kind}: {after} MB at most, {before} MB for one line, {took} s")
    path.unlink()
    assert (came, out in refused) == (taken, True)
    assert after - before < 100
