"""Hostile results: nothing is run, nothing is lost, nothing is written outside of `out`."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of, hand_in, refusals, submission, take
from tests.conftest import run_process
from tests.tables import read_table

EVIL = (
    "=cmd|'/C calc'!A0 @SUM(1) +1 -1 <script>alert(1)</script> ${x} {{7*7}} '; DROP TABLE x; -- "
    '"quoted" \U0001f600 \u202ertl \u2028 \ufeff \x7f $(touch pwned) `id` %s %n \\u0000 &amp;'
)


def line(hit_batch: HitBatch, worker_id: str, **more_values: Any) -> bytes:
    return json.dumps(submission(hit_batch, worker_id, **more_values)).encode()


def cell(text: str) -> str:
    """A quoted cell of a CSV file."""
    return '"' + text.replace('"', '""') + '"'


def files(folder: Path) -> set[str]:
    return {file_path.relative_to(folder).as_posix() for file_path in folder.rglob("*")}


def test_answers_come_back_unharmed_and_are_never_run(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    sent_submission = submission(hit_batch, EVIL, assignment="../../" + EVIL)
    for item in sent_submission["answers"].values():
        item["note"] = EVIL
    file_path = tmp_path / "evil.jsonl"
    file_path.write_text(json.dumps(sent_submission, ensure_ascii=False) + "\n", "utf-8")
    earlier_bytes = files(tmp_path)
    assert take(tmp_path, file_path).new == 1
    assert refusals(tmp_path) == []
    table_rows = pq.read_table(tmp_path / "judgments" / "quick" / "judgments.parquet").to_pylist()
    assert {json.loads(row["answers"])["note"] for row in table_rows} == {EVIL}
    tables = "judgments.parquet gold.parquet report.html report.json".split()
    assert files(tmp_path) - earlier_bytes == {
        *("hits/.salt", "judgments", "judgments/.salt-check", "judgments/refused.jsonl"),
        *("judgments/sources.jsonl", "judgments/golds.jsonl"),
        *("judgments/quick", *(f"judgments/quick/{name}" for name in tables)),
    }


CASES = [
    *read_table("annotation_platforms")["results_files"],
    ("a bomb of brackets", "r.jsonl", "[" * 10**6 + "\nA\n", 1, [[1, "not valid JSON"]]),
]


@pytest.mark.parametrize(
    ("name", "content", "taken_count", "refused"),
    [test_case[1:] for test_case in CASES],
    ids=[test_case[0] for test_case in CASES],
)
def test_broken_files(
    name: str, content: str, taken_count: int, refused: list[list[Any]], tmp_path: Path
) -> None:
    hit_batch = batch_of(tmp_path)
    first_line, second_line = (line(hit_batch, worker_id).decode() for worker_id in ("w1", "w2"))
    good_submission = (
        {"C": cell(first_line), "D": cell(second_line)}
        if name == "r.csv"
        else {"A": first_line, "B": second_line}
    )
    for sign, text in good_submission.items():
        content = content.replace(sign, text)
    file_path = tmp_path / name
    file_path.write_bytes(content.encode("latin-1"))
    import_report = take(tmp_path, file_path)
    refused_lines = [[line_number, reason] for _, line_number, reason, _ in refusals(tmp_path)]
    assert (import_report.new + import_report.known, refused_lines) == (taken_count, refused)
    assert len({*import_report.lines()}) >= len(refused)


@pytest.mark.parametrize("order", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.csv"])
def test_utf_16(order: str, name: str, tmp_path: Path) -> None:
    """It is refused, and not guessed; of a table, what to do is said."""
    hit_batch = batch_of(tmp_path)
    first_line, second_line = (
        line(hit_batch, worker_id).decode() for worker_id in ("w\U0001f600", "w2")
    )
    text = f"{first_line}\n{second_line}\n"
    if name.endswith("csv"):
        text = f"a\n{cell(first_line)}\n{cell(second_line)}\n"
    file_path = tmp_path / name
    file_path.write_bytes(text.encode(order))
    if name.endswith("csv"):
        with pytest.raises(UserError, match="iconv -f UTF-16"):
            take(tmp_path, file_path)
        return
    import_report = take(tmp_path, file_path)
    assert import_report.new == 0
    assert sum(import_report.refused.values()) >= 1


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/passwd", "..", ".", "\0", "a/b", "C:\\x", "~"]
)
def test_ids_that_are_paths(name: str, tmp_path: Path) -> None:
    inner_folder = tmp_path / "deep" / "er"
    inner_folder.mkdir(parents=True)
    hit_batch = batch_of(inner_folder)
    good_submission = submission(hit_batch, "w1")
    item = next(iter(good_submission["answers"]))
    sent_submission = [
        good_submission | {"worker": name, "assignment": name},
        good_submission | {"batch": name},
        good_submission | {"hit": name},
        good_submission
        | {"answers": good_submission["answers"] | {name: good_submission["answers"][item]}},
        good_submission | {"item_seconds": {name: 1}},
        good_submission | {name: name},
        good_submission | {"layout": name},
    ]
    file_path = hand_in(inner_folder, sent_submission)
    earlier_bytes = files(tmp_path) | {"deep/er/hits/.salt"}
    import_report = take(inner_folder, file_path)
    assert import_report.new == 1
    unknown = ["unknown batch", "unknown HIT", "unknown item", "unknown item"]
    assert [refusal[2] for refusal in refusals(inner_folder)] == [
        *unknown,
        *["not a submission"] * 2,
    ]
    for new_file in files(tmp_path) - earlier_bytes:
        assert new_file.startswith("deep/er/judgments")


def test_terminals_are_not_told_what_to_do(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    sent_submission = submission(hit_batch, "w1") | {"hit": "\x1b]0;owned\x07\x1b[2J\u202e"}
    printed_text = "\n".join(take(tmp_path, hand_in(tmp_path, [sent_submission])).lines())
    assert "unknown HIT" in printed_text
    assert not set(printed_text) & set("\x1b\x07\u202e")


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
# far more than the reader may hold, so that a part of it in memory shows
SIZE = 200 << 20


def _big(kind: str, file_path: Path, good_submission: bytes) -> None:
    """200 MB: one line of NULs, many broken lines, an object or a cell that never ends."""
    begin, piece, end = {
        "sparse line": (good_submission + b"\n", b"", b"\n" + good_submission + b"\n"),
        "lines": (good_submission + b"\n", b'{"a": "' + b"x" * 100_000 + b"\n", good_submission),
        "object": (
            b"[" + good_submission + b", {",
            b'"a": {"b": "' + b"x" * 100_000 + b'"}, ',
            b"",
        ),
        "cell": (b'a,b\nx,"', b"some text and more " * 5_000 + b"\n", b""),
    }[kind]
    with file_path.open("wb") as file:
        file.write(begin)
        if not piece:
            file.seek(SIZE)
        while piece and file.tell() < SIZE:
            file.write(piece)
        file.write(end)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("kind", "name", "taken_count", "refused"),
    [
        ("sparse line", "r.jsonl", 2, range(1, 2)),
        ("lines", "r.jsonl", 2, range(2000, 2200)),
        ("object", "r.json", 1, range(1, 2)),
        ("cell", "r.csv", 0, range(2000, 2300)),
    ],
)
def test_200_megabytes(
    kind: str, name: str, taken_count: int, refused: range, tmp_path: Path
) -> None:
    hit_batch = batch_of(tmp_path)
    good_submission = line(hit_batch, "w1")
    (tmp_path / "small.jsonl").write_bytes(good_submission)
    file_path = tmp_path / name
    _big(kind, file_path, good_submission)
    assert file_path.stat().st_size >= SIZE
    import_report = run_process(sys.executable, "-c", BIG, tmp_path, file_path)
    earlier_bytes, memory_after, came, out, took = map(int, import_report.stdout.split())
    print(f"{kind}: {memory_after} MB at most, {earlier_bytes} MB for one line, {took} s")
    file_path.unlink()
    assert (came, out in refused) == (taken_count, True)
    assert memory_after - earlier_bytes < 100
