"""Publication: versions, the same bytes, nothing half-written."""

import os
import re
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
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.publish import STAGING, NothingLeftError, write_release
from factdrift.builders.release.verify import verify_release
from tests.conftest import ROOT, checksums, run_process
from tests.release_sample import BASE, Sample, changed, dataset, from_rows, meta, publish
from tests.tables import read_table

SAME = Sample(BASE)
OTHERS = [1, 2, 3, 4]
ADDED = changed({"unchanged/2021Q3": [0, *OTHERS, 9]})
SAMPLES = {
    "same": SAME,
    "retitled": Sample(BASE, title="T"),
    "added": ADDED,
    "edited": changed({"unchanged/2021Q3": [{"n": 0, "added": ["Q9"]}, *OTHERS]}),
    "rendered": changed({"unchanged/2021Q3": [{"n": 0, "query": "?"}, *OTHERS]}),
}
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
    ("earlier", "name", "version", "expected"), read_table("published_versions")
)
def test_version(
    history: History, tmp_path: Path, earlier: str, name: str, version: str, expected: str
) -> None:
    history(earlier, tmp_path)
    found = publish(tmp_path, SAMPLES[name], version)
    assert f"{found.version} {found.level}" == expected
    assert found.folder == tmp_path / "sample" / found.version
    assert load_manifest(found.folder).version == found.version
    assert verify_release(found.folder) == []
    assert not (tmp_path / "sample" / STAGING).exists()


@pytest.mark.parametrize(("earlier", "name", "version", "message"), read_table("refused_versions"))
def test_refused(
    history: History, tmp_path: Path, earlier: str, name: str, version: str, message: str
) -> None:
    history(earlier, tmp_path)
    before = checksums(tmp_path)
    with pytest.raises(UserError, match=re.escape(message)):
        publish(tmp_path, SAMPLES[name], version)
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
        publish(tmp_path, changed({"unchanged/2021Q4": [{"n": 0, "id": "0000-2021Q3"}]}))
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
from pathlib import Path
from tests.release_sample import *

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    publish(Path(sys.argv[1]), changed({"unchanged/2021Q3": range(int(sys.argv[3]))}))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(("limit", "rows"), [(40_000, 3_000), (13_000, 6)])
def test_full_disk(tmp_path: Path, limit: int, rows: int) -> None:
    """A limit on file size plays the full disk, for Parquet and a document."""
    publish(tmp_path)
    before = checksums(tmp_path)
    said = run_process(sys.executable, "-c", FULL, tmp_path, limit, rows).stdout
    assert "UserError" in said and "could not be written: File too large" in said
    assert checksums(tmp_path) == before
    assert not (tmp_path / "sample" / STAGING).exists()
