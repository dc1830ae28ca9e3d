"""Publication: versions, the same bytes, nothing half-written."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load
from factdrift.builders.release.publish import STAGING, NothingLeftError, write_release
from factdrift.builders.release.verify import verify_release
from factdrift.builders.rows import Cloze
from tests.conftest import ROOT, alone, checksums
from tests.release_sample import BASE, Sample, cloze, dataset, edited, from_rows, meta, publish

rows: list[Cloze] = list(BASE["unchanged"]["2021Q3"])
ADDED = edited("unchanged", "2021Q3", [*rows, cloze(9)])
EDITED = edited("unchanged", "2021Q3", [replace(rows[0], added=("Q9",)), *rows[1:]])
RENDERED = edited("unchanged", "2021Q3", [replace(rows[0], query="?"), *rows[1:]])
ASKED = edited("unchanged", "2021Q3", [replace(rows[0], prompt="?"), *rows[1:]])
ACCEPTED = edited("unchanged", "2021Q3", [replace(rows[0], targets=("Club 0",)), *rows[1:]])
SAME = Sample(BASE)
History = Callable[[str, Path], object]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Puts releases into a folder, those with `+` of one row more; each history is made once."""

    @cache
    def made(versions: str) -> Path:
        folder = tmp_path_factory.mktemp("history")
        for one in versions.split():
            publish(folder, ADDED if one[0] == "+" else SAME, one.lstrip("+"))
        return folder

    return lambda versions, folder: shutil.copytree(made(versions), folder, dirs_exist_ok=True)


@pytest.mark.parametrize(
    ("earlier", "sample", "version", "expected"),
    [
        ("", SAME, "auto", "1.0.0 first"),
        ("", SAME, "0.3.0", "0.3.0 first"),
        ("1.0.0", SAME, "auto", "1.0.0 none"),
        ("1.0.0", SAME, "1.0.0", "1.0.0 none"),
        ("1.0.0", RENDERED, "auto", "1.0.1 patch"),
        ("1.0.0", ASKED, "auto", "1.0.1 patch"),
        ("1.0.0", ACCEPTED, "auto", "1.0.1 patch"),
        ("1.0.0", ADDED, "auto", "1.1.0 minor"),
        ("1.0.0", EDITED, "auto", "2.0.0 major"),
        ("1.0.0", ADDED, "1.1.0", "1.1.0 minor"),
        ("1.0.0", ADDED, "4.0.0", "4.0.0 minor"),
        ("1.0.0", SAME, "1.0.1", "1.0.1 patch"),
        ("1.9.0 1.10.0", ADDED, "auto", "1.11.0 minor"),
        ("1.0.0 3.0.0", ADDED, "1.1.0", "1.1.0 minor"),
        ("1.0.0", SAME, "0.9.0", "0.9.0 first"),
    ],
)
def test_version(
    history: History, tmp_path: Path, earlier: str, sample: Sample, version: str, expected: str
) -> None:
    history(earlier, tmp_path)
    found = publish(tmp_path, sample, version)
    assert f"{found.version} {found.level}" == expected
    assert found.written == (found.level != "none")
    assert found.folder == tmp_path / "sample" / found.version
    assert load(found.folder).version == found.version
    assert verify_release(found.folder) == []
    assert not (tmp_path / "sample" / STAGING).exists()


PATCH = "the same rows in other files .*--version 1.0.1"


@pytest.mark.parametrize(
    ("earlier", "sample", "version", "message"),
    [
        ("1.0.0", EDITED, "1.0.0", "1 row edited; use --version 2.0.0"),
        ("1.0.0", ADDED, "1.0.0", "1 row added; use --version 1.1.0"),
        ("1.0.0", RENDERED, "1.0.0", "1 row rendered anew; use --version 1.0.1"),
        ("1.0.0", Sample(BASE, title="T"), "1.0.0", PATCH),
        ("1.0.0", EDITED, "1.4.0", "a major change; use --version 2.0.0"),
        ("1.0.0", ADDED, "1.0.7", "a minor change; use --version 1.1.0"),
        ("1.0.0 2.0.0", ADDED, "1.0.0", "1 row added; use --version 2.1.0"),
        ("1.0.0 +1.1.0", ADDED, "1.0.0", r"it is the content of 1\.1\.0"),
        ("", SAME, "v1.0", "not a version: 'v1.0'"),
        ("", SAME, "1.0.0-rc1", "not a version"),
    ],
)
def test_refused(
    history: History, tmp_path: Path, earlier: str, sample: Sample, version: str, message: str
) -> None:
    history(earlier, tmp_path)
    before = checksums(tmp_path)
    with pytest.raises(UserError, match=message):
        publish(tmp_path, sample, version)
    assert checksums(tmp_path) == before


def test_same_bytes_however_batched(tmp_path: Path) -> None:
    drawn = Sample(BASE, pictures=True)
    first = publish(tmp_path / "a", drawn).folder
    small = dataset(drawn)
    tables = tuple(
        replace(t, splits={s: from_rows(t.row, BASE[t.name][s], size=2) for s in t.splits})
        for t in small.tables
    )
    second = write_release(replace(small, tables=tables), meta(SAME), tmp_path / "b").folder
    assert checksums(first) == checksums(second)
    third = publish(tmp_path / "c", Sample(BASE, drops=("a", "b"), pictures=True)).folder
    assert checksums(first) == checksums(third)  # drops are sorted


def test_manifest_names_no_machine(tmp_path: Path) -> None:
    folder = publish(tmp_path).folder
    for name in ("manifest.json", "README.md", "croissant.json"):
        text = (folder / name).read_text()
        assert str(tmp_path) not in text
        assert os.uname().nodename not in text
        assert str(Path.home()) + "/" not in text


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def stop() -> list[object]:
        raise KeyboardInterrupt

    whole = dataset(SAME)
    with pytest.raises(ValueError, match="not unique: 0000-2021Q3"):
        publish(tmp_path, edited("unchanged", "2021Q4", [rows[0]]))
    broken = replace(whole, tables=(replace(whole.tables[0], splits={"a": stop}),))
    with pytest.raises(KeyboardInterrupt):
        write_release(broken, meta(SAME), tmp_path)
    lacking = replace(meta(SAME), prose=tmp_path / "data_cards" / "sample" / "prose.md")
    with pytest.raises(UserError, match=r"sample/prose.md: a card needs prose(.|\n)*## Motivation"):
        write_release(whole, lacking, tmp_path)
    with pytest.raises(NothingLeftError, match=r"nothing is left for sample: 2 in_doubt\n  in_d"):
        publish(tmp_path, Sample({"unchanged": {"2021Q3": []}, "segments": BASE["segments"]}))
    assert checksums(tmp_path) == {}
    assert not (tmp_path / "sample" / STAGING).exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden"])
def test_names_become_no_paths(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(UserError, match="not a dataset name"):
        write_release(dataset(SAME), replace(meta(SAME), dataset=name), out)
    with pytest.raises(UserError, match="not a config name"):
        publish(out, Sample({name: BASE["unchanged"]}))
    with pytest.raises(UserError, match="not a split name"):
        publish(out, Sample({"unchanged": {name: []}}))
    assert list(tmp_path.iterdir()) == []


SLOW = """
import sys, time
from pathlib import Path
from dataclasses import replace
from tests.release_sample import *

def slow():
    yield from batches(Cloze, [cloze(1)])
    Path(sys.argv[1], "begun").touch()
    time.sleep(60)

table = Table("slow", Cloze, "Slow.", {"2021Q3": slow})
sample = Sample(BASE)
write_release(replace(dataset(sample), tables=(table,)), meta(sample), Path(sys.argv[1]))
"""


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """A killed run leaves the earlier release whole; the next run clears up and succeeds."""
    publish(tmp_path)
    before = checksums(tmp_path)
    command = [sys.executable, "-c", SLOW, str(tmp_path)]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.02)
        with pytest.raises(UserError, match="another run is at work here"):
            publish(tmp_path, ADDED)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    (tmp_path / "begun").unlink()
    assert (tmp_path / "sample" / STAGING).is_dir()
    assert {k: v for k, v in checksums(tmp_path).items() if STAGING not in k} == before
    assert publish(tmp_path, ADDED).version == "1.1.0"
    assert not (tmp_path / "sample" / STAGING).exists()
    assert verify_release(tmp_path / "sample" / "1.0.0") == []


FULL = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from tests.release_sample import *

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    rows = [cloze(n) for n in range(int(sys.argv[3]))]
    sample = edited("unchanged", "2021Q3", rows)
    publish(Path(sys.argv[1]), replace(sample, pictures=sys.argv[4] == "True"))
except Exception as error:
    print(type(error).__name__, error, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("limit", "rows", "pictures"),
    [
        (40_000, 3_000, False),
        pytest.param(13_000, 6, True, marks=pytest.mark.slow),
        (13_000, 6, False),
    ],
)
def test_full_disk(tmp_path: Path, limit: int, rows: int, pictures: bool) -> None:
    """A limit on file size plays the full disk, for Parquet, a picture and a document."""
    publish(tmp_path)
    before = checksums(tmp_path)
    run = alone(sys.executable, "-c", FULL, tmp_path, limit, rows, pictures)
    assert "UserError" in run.stderr, run.stderr
    assert "could not be written: File too large" in run.stderr
    assert checksums(tmp_path) == before
    assert not (tmp_path / "sample" / STAGING).exists()
