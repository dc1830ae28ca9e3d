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
        releases_folder = tmp_path_factory.mktemp("history")
        for version_name in versions.split():
            publish(
                releases_folder, ADDED if version_name[0] == "+" else SAME, version_name.lstrip("+")
            )
        return releases_folder

    return lambda versions, releases_folder: shutil.copytree(
        made(versions), releases_folder, dirs_exist_ok=True
    )


@pytest.mark.parametrize(
    ("earlier_versions", "sample_name", "version", "expected"), read_table("published_versions")
)
def test_version(
    history: History,
    tmp_path: Path,
    earlier_versions: str,
    sample_name: str,
    version: str,
    expected: str,
) -> None:
    history(earlier_versions, tmp_path)
    published_release = publish(tmp_path, SAMPLES[sample_name], version)
    assert f"{published_release.version} {published_release.level}" == expected
    assert published_release.folder == tmp_path / "sample" / published_release.version
    assert load_manifest(published_release.folder).version == published_release.version
    assert verify_release(published_release.folder) == []
    assert not (tmp_path / "sample" / STAGING).exists()


@pytest.mark.parametrize(
    ("earlier_versions", "sample_name", "version", "message"), read_table("refused_versions")
)
def test_refused(
    history: History,
    tmp_path: Path,
    earlier_versions: str,
    sample_name: str,
    version: str,
    message: str,
) -> None:
    history(earlier_versions, tmp_path)
    earlier_files = checksums(tmp_path)
    with pytest.raises(UserError, match=re.escape(message)):
        publish(tmp_path, SAMPLES[sample_name], version)
    assert checksums(tmp_path) == earlier_files


@pytest.mark.slow
def test_same_bytes_however_batched(tmp_path: Path) -> None:
    drawn_samples = Sample(BASE, pictures=True)
    first_release = publish(tmp_path / "a", drawn_samples).folder
    small_batches = dataset(drawn_samples)
    tables = tuple(
        replace(
            config_table,
            splits={
                split_name: from_rows(config_table.row, BASE[config_table.name][split_name], size=2)
                for split_name in config_table.splits
            },
        )
        for config_table in small_batches.tables
    )
    second_release = write_release(
        replace(small_batches, tables=tables), meta(SAME), tmp_path / "b"
    ).folder
    assert checksums(first_release) == checksums(second_release)
    third_release = publish(tmp_path / "c", Sample(BASE, drops=("a", "b"), pictures=True)).folder
    assert checksums(first_release) == checksums(third_release)  # drops are sorted


def test_manifest_names_no_machine(tmp_path: Path) -> None:
    releases_folder = publish(tmp_path).folder
    for sample_name in ("manifest.json", "README.md", "croissant.json"):
        text = (releases_folder / sample_name).read_text()
        assert str(tmp_path) not in text
        assert os.uname().nodename not in text
        assert str(Path.home()) + "/" not in text


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def stop() -> list[object]:
        raise KeyboardInterrupt

    whole_dataset = dataset(SAME)
    with pytest.raises(ValueError, match="not unique: 0000-2021Q3"):
        publish(tmp_path, changed({"unchanged/2021Q4": [{"n": 0, "id": "0000-2021Q3"}]}))
    broken_dataset = replace(
        whole_dataset, tables=(replace(whole_dataset.tables[0], splits={"a": stop}),)
    )
    with pytest.raises(KeyboardInterrupt):
        write_release(broken_dataset, meta(SAME), tmp_path)
    lacking_prose = replace(meta(SAME), prose=tmp_path / "data_cards" / "sample" / "prose.md")
    with pytest.raises(UserError, match=r"sample/prose.md: a card needs prose(.|\n)*## Motivation"):
        write_release(whole_dataset, lacking_prose, tmp_path)
    with pytest.raises(NothingLeftError, match=r"nothing is left for sample: 2 in_doubt\n  in_d"):
        publish(tmp_path, Sample({"unchanged": {"2021Q3": []}, "segments": BASE["segments"]}))
    assert checksums(tmp_path) == {}
    assert not (tmp_path / "sample" / STAGING).exists()


@pytest.mark.parametrize("sample_name", ["../evil", "a/b", "", ".hidden"])
def test_names_become_no_paths(tmp_path: Path, sample_name: str) -> None:
    out_folder = tmp_path / "out"
    with pytest.raises(UserError, match="not a dataset name"):
        write_release(dataset(SAME), replace(meta(SAME), dataset=sample_name), out_folder)
    with pytest.raises(UserError, match="not a config name"):
        publish(out_folder, Sample({sample_name: BASE["unchanged"]}))
    with pytest.raises(UserError, match="not a split name"):
        publish(out_folder, Sample({"unchanged": {sample_name: []}}))
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
    earlier_files = checksums(tmp_path)
    slow_command = [sys.executable, "-c", SLOW, str(tmp_path)]
    killed_run = subprocess.Popen(slow_command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline and killed_run.poll() is None
            time.sleep(0.02)
        with pytest.raises(UserError, match="another run is at work here"):
            publish(tmp_path, ADDED)
    finally:
        killed_run.send_signal(signal.SIGKILL)
        killed_run.wait()
    (tmp_path / "begun").unlink()
    assert (tmp_path / "sample" / STAGING).is_dir()
    assert {
        file_path: file_digest
        for file_path, file_digest in checksums(tmp_path).items()
        if STAGING not in file_path
    } == earlier_files
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


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "rows"), [(40_000, 3_000), (13_000, 6)])
def test_full_disk(tmp_path: Path, limit: int, rows: int) -> None:
    """A limit on file size plays the full disk, for Parquet and a document."""
    publish(tmp_path)
    earlier_files = checksums(tmp_path)
    error_text = run_process(sys.executable, "-c", FULL, tmp_path, limit, rows).stdout
    assert "UserError" in error_text and "could not be written: File too large" in error_text
    assert checksums(tmp_path) == earlier_files
    assert not (tmp_path / "sample" / STAGING).exists()
