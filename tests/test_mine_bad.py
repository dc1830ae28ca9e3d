"""Bad lines are rows that say where; bad files are messages that say what to do."""

import json
import re
import shutil
import subprocess
import sys
import tracemalloc
from datetime import date
from pathlib import Path
from random import Random

import pytest
from isal import igzip

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import RecipeInput, Run, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts import steps
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.facts.steps import Facts, facts_step
from factdrift.builders.wikidata.reader import TO_LINES, Tuning
from factdrift.builders.wikidata.steps import Mine
from tests.conftest import ROOT, checksums, run_process
from tests.dumps import array, compressed, lines, rows, world
from tests.tables import case_lists, column_of
from tests.test_mine import SMALL, run

SLOW = pytest.mark.slow
BAD = {
    **{
        str(line_and_reason.values[0]).encode("latin-1"): "malformed_line"
        for line_and_reason in case_lists("dump_lines")["no_entity"]
    },
    b'{"id":"Q7","x":' + b"[" * 50_000: "malformed_line",
    b'{"id":"Q7","x":"' + b"x" * 100_000 + b'"}': "line_too_long",
}


@pytest.mark.parametrize("jobs", [1, 2])
def test_bad_lines_are_dropped_rows_that_name_their_place(jobs: int, tmp_path: Path) -> None:
    good = lines(world())
    given_lines = [b"[", *(good_line + b"," for good_line in good)]
    places = {}
    for line_number, (line, reason) in enumerate(BAD.items()):
        place = 10 + 4 * line_number
        given_lines.insert(place, line + b",\r")
        places[f"dump.json.gz:{place + 1}"] = reason
    path = compressed(b"\n".join([*given_lines, b"]"]), tmp_path / "dump.json.gz")
    mined_tables = run(path, tmp_path / "out", jobs=jobs, tuning=SMALL)
    dropped_lines = {
        dropped_row["item"]: dropped_row["reason"] for dropped_row in rows(mined_tables.dropped)
    }
    assert dropped_lines == places
    assert set(column_of(rows(mined_tables.dropped), "step")) == {"read"}
    for dropped_row in rows(mined_tables.dropped):
        assert "bytes" in dropped_row["detail"]
    assert mined_tables.counts["counts"]["lines"] == len(given_lines) + 1
    assert mined_tables.counts["counts"]["malformed_line"] == len(BAD) - 1
    run(compressed(array(world()), tmp_path / "good.json"), tmp_path / "good")
    for table_name in ("statements.parquet", "entities.parquet"):
        assert checksums(tmp_path / "out")[table_name] == checksums(tmp_path / "good")[table_name]


def test_a_line_of_any_length_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "dump.json.gz"
    # noise that is packed, but not to less than a 300th: such files are refused
    line_piece = Random(1).randbytes(10_000).hex().encode() * 50
    with igzip.open(path, "wb", compresslevel=1) as file:  # type: ignore[no-untyped-call]
        file.write(b"[\n" + lines(world(2))[1] + b',\n{"id":"Q7","x":"')
        for _ in range(200):
            file.write(line_piece)
        file.write(b'"},\n' + b",\n".join(lines(world(2))) + b"\n]\n")
    tracemalloc.start()
    mined_tables = run(path, tmp_path / "out", tuning=Tuning(block=1 << 20, longest=4 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    [dropped_line] = rows(mined_tables.dropped)
    assert (dropped_line["reason"], dropped_line["item"]) == ("line_too_long", "dump.json.gz:3")
    assert "200,000,0" in dropped_line["detail"]
    assert mined_tables.counts["counts"]["statements"] == 6
    assert peak < 100_000_000


@pytest.mark.parametrize(("content", "message", "jobs"), case_lists("no_dumps")["files"])
def test_a_file_that_is_no_dump(content: str, message: str, jobs: int, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError, match=message) as error:
        run(path, tmp_path / "out", jobs=jobs)
    assert "dump.json" in str(error.value)
    assert not (tmp_path / "out" / "mined.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "jobs"),
    [
        ("gz", 2),
        ("bz2", 1),
        ("zst", 1),
        *(pytest.param(*case, marks=SLOW) for case in [("gz", 1), ("bz2", 2), ("zst", 2)]),
    ],
)
def test_a_truncated_file_is_an_error_and_what_was_read_is_kept(
    form: str, jobs: int, tmp_path: Path
) -> None:
    lines = [{**entity, "padding": "x" * 8000} for entity in world(900)]
    path = compressed(array(lines), tmp_path / f"dump.json.{form}")
    whole_bytes = path.read_bytes()
    tuning = Tuning(block=1 << 18, longest=1 << 18, blocks=4)
    run(path, tmp_path / "whole", tuning=tuning)
    path.write_bytes(whole_bytes[: len(whole_bytes) * 3 // 4])
    with pytest.raises(UserError, match="cut short or damaged after"):
        run(path, tmp_path / "out", jobs=jobs, tuning=tuning, checksums=["same"])
    assert not (tmp_path / "out" / "mined.json").exists()
    assert list((tmp_path / "out" / "build").glob("parts-*/0*/part.json"))
    path.write_bytes(whole_bytes)
    said_lines: list[str] = []
    run(path, tmp_path / "out", jobs=jobs, tuning=tuning, checksums=["same"], say=said_lines.append)
    assert said_lines[0].startswith("going on: ")
    assert checksums(tmp_path / "out") == checksums(tmp_path / "whole")


def run_of(path: Path, templates: Path, said: list[str]) -> Run:
    """A run over one dump file, in a folder beside it."""
    store = Workspace(path.with_name("build"), said.append)
    description = RecipeInput(licence="CC0-1.0")
    dump = Source("dump", (path,), (store.checksum(path),), date(2026, 1, 1), description)
    return Run(path, {"dump": dump}, templates, store, 0)


def test_a_release_says_that_an_array_has_no_end(tmp_path: Path) -> None:
    path = compressed(b"[\n" + b",\n".join(lines(world(3))) + b",\n", tmp_path / "dump.json")
    said_lines: list[str] = []
    given_run = run_of(path, ROOT / "templates", said_lines)
    mining_step = facts_step(given_run, "dump", load_relations(ROOT / "templates")).mined
    assert isinstance(mining_step, Mine)
    given_run.folder(mining_step)
    assert "dump.json: the array has no end: the file may be cut" in said_lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "jobs"),
    [(300, 1), (3000, 2), *(pytest.param(*case, marks=SLOW) for case in [(300, 2), (3000, 1)])],
)
def test_a_full_disk_is_a_message(limit: int, jobs: int, tmp_path: Path) -> None:
    """By a limit on the size of files, which fails as a full disk does, only earlier."""
    path = compressed(array(world(600)), tmp_path / "20260101.json")
    program_text = (
        "import resource, sys; from pathlib import Path\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from factdrift.builders.core.errors import UserError\n"
        "from factdrift.builders.wikidata.mine import mine\n"
        "try:\n"
        f"    mine({str(path)!r}, Path({str(tmp_path / 'out')!r}),"
        f" jobs={jobs})\n"
        "except UserError as error:\n"
        "    sys.exit(f'UserError: {error}')\n"
    )
    ended_process = run_process(sys.executable, "-c", program_text, ok=False)
    assert ended_process.returncode == 1, ended_process.stderr
    assert ended_process.stderr.startswith("UserError: "), ended_process.stderr
    assert "File too large" in ended_process.stderr
    assert "Traceback" not in ended_process.stderr
    assert not (tmp_path / "out" / "mined.json").exists()


@pytest.mark.slow
def test_a_new_relation_reads_no_dump_again_unless_it_keeps_undated_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_WORTH_SAYING", 0)
    path = compressed(array(world(3)), tmp_path / "dump.json")
    templates = tmp_path / "templates"
    shutil.copytree(ROOT / "templates", templates)
    said_lines: list[str] = []
    lines = run_of(path, templates, said_lines)

    def asked() -> Facts:
        return facts_step(lines, "dump", {"P54": load_relations(templates)["P54"]})

    asked_first = asked()
    lines.folder(asked_first)
    assert said_lines[0].startswith("  dump: 0.0 GB are read, about 0 minutes")
    text = (templates / "P54.yaml").read_text("utf-8")
    for name, undated in (("P99998", "drop"), ("P99999", "keep")):
        new_text = text.replace("relation: P54", f"relation: {name}")
        new_text = re.sub("undated: [a-z]+", f"undated: {undated}", new_text)
        (templates / f"{name}.yaml").write_text(new_text, "utf-8")
        said_lines.clear()
        asked_again = asked()
        assert (asked_again.key == asked_first.key) is (undated == "drop")
    assert said_lines[0].endswith("again, for the undated statements of P99999")


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("form", ["entity data", "list", "indented list"])
def test_a_document_of_entities_becomes_a_dump_as_the_message_says(
    form: str, tmp_path: Path
) -> None:
    """Whoever has the JSON of `Special:EntityData`, or a list on one line, is told what to type."""
    entities = world(3)
    document = {"entities": {entity["id"]: entity for entity in entities}}
    (tmp_path / "FILE").write_text(
        json.dumps(
            document if form == "entity data" else entities,
            indent=1 if form == "indented list" else None,
        ),
        "utf-8",
    )
    with pytest.raises(UserError, match=re.escape(TO_LINES)):
        run(tmp_path / "FILE", tmp_path / "refused")
    subprocess.run(TO_LINES, shell=True, cwd=tmp_path, check=True)  # noqa: S602 - as users type it
    run(tmp_path / "dump.jsonl", tmp_path / "converted")
    run(compressed(array(entities), tmp_path / "dump.json"), tmp_path / "array")
    for table_name in ("statements.parquet", "entities.parquet"):
        assert (
            checksums(tmp_path / "converted")[table_name]
            == checksums(tmp_path / "array")[table_name]
        )
