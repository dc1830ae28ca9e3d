"""What a later run takes up was perhaps changed meanwhile: it is made anew, or refused."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.remote import local
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.wikidata import mine as mining
from factdrift.builders.wikidata.finish import TABLES, mined_damage
from factdrift.builders.wikidata.reader import Share, Tuning
from factdrift.builders.wikipedia.read import read_pages
from tests.conftest import checksums, run_cli
from tests.dumps import array, world
from tests.file_server import ServedFiles, serve_files
from tests.test_pages_read import MAKE, TARGETS, WANTED, digests
from torture.damage import damage_file

POLICY = RetryPolicy(timeout=5.0, attempts=2, first_wait=0.01, longest_wait=0.05)
# 10 MB, so that a fetch is stopped between pieces
DATA = bytes(range(256)) * 40_000
NAME = "/dump/a.json.gz"
SEEDS = range(12)
# several blocks of a dump of some entities
TUNING = Tuning(block=4000, blocks=2)


@pytest.fixture
def served() -> Iterator[ServedFiles]:
    with serve_files() as table_files:
        table_files.files = {NAME: DATA}
        yield table_files


def fetch(served: ServedFiles, folder: Path, messages: list[str]) -> bytes:
    (path,) = local(
        [served.url + NAME], folder, lambda name: True, say=messages.append, policy=POLICY
    )
    return Path(path).read_bytes()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fetched_input_that_was_changed_is_fetched_anew(
    served: ServedFiles, tmp_path: Path, seed: int
) -> None:
    random, messages = Random(seed), [""]
    assert fetch(served, tmp_path, messages) == DATA
    table_files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(table_files) == 2  # the file and its note
    damage_file(random.choice(table_files), random)
    messages.clear()
    assert fetch(served, tmp_path, messages) == DATA
    assert "fetched" in messages[0]
    messages.clear()
    assert (fetch(served, tmp_path, messages), messages) == (DATA, [])


@pytest.mark.parametrize("seed", SEEDS)
def test_half_of_a_fetch_that_was_changed_is_not_gone_on_with(
    served: ServedFiles, tmp_path: Path, seed: int
) -> None:
    random, messages = Random(seed), [""]
    served.faults[NAME] = ["ok", "cut", 404]
    with pytest.raises(UserError, match="no such file"):
        fetch(served, tmp_path, messages)
    table_files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(table_files) == 3  # half of the file, its note, and that of the version
    damage_file(random.choice(table_files), random)
    assert fetch(served, tmp_path, messages) == DATA


def test_a_note_of_an_earlier_version_is_believed(served: ServedFiles, tmp_path: Path) -> None:
    fetch(served, tmp_path, [])
    (note,) = tmp_path.rglob(".*.json")
    note.write_text(json.dumps({"version": json.loads(note.read_text())["version"]}))
    messages: list[str] = []
    assert (fetch(served, tmp_path, messages), messages) == (DATA, [])


# --- Dumps ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dump")
    path = folder / "20220103.json"
    path.write_bytes(array(world()))
    return path


def mine(dump: Path, out: Path, messages: list[str] | None = None) -> dict[str, str]:
    mining.mine(dump, out, tuning=TUNING, say=(messages if messages is not None else []).append)
    return checksums(out)


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_a_dump_that_were_changed_are_read_again(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    whole_tables = mine(dump, tmp_path / "whole")

    def stop(*words: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mining, "_tables", stop)
    with pytest.raises(UserError, match="stopped"):
        mine(dump, tmp_path / "out")
    monkeypatch.undo()
    table_files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    table_files = [path for path in table_files if path.stat().st_size]
    assert len(table_files) > 9
    damage_file(random.choice(table_files), random)
    assert mine(dump, tmp_path / "out") == whole_tables


@pytest.mark.parametrize("place", ["share.json", "part.json", "statements.json.zst"])
def test_a_share_that_was_changed_is_refused(dump: Path, tmp_path: Path, place: str) -> None:
    shares = [tmp_path / "0", tmp_path / "1"]
    for share_number, share in enumerate(shares):
        mining.mine_share(dump, share, Share(share_number, 2), tuning=TUNING)
    mining.merge_shares(shares, tmp_path / "out")
    path = next(iter(sorted(shares[1].rglob(place))))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match="was changed since it was"):
        mining.merge_shares(shares, tmp_path / "other")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mined_folder_that_was_changed_is_refused(dump: Path, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    mine(dump, tmp_path / "mined")
    assert mined_damage(tmp_path / "mined") is None
    damage_file(tmp_path / "mined" / random.choice(TABLES), random)
    damage = mined_damage(tmp_path / "mined")
    assert damage and "is not what was" in damage


def test_a_run_names_the_mined_folder_that_was_changed(sample: Path, tmp_path: Path) -> None:
    """The folder of the step `mine` is what `factdrift mine` writes."""
    folder = next(path for path in sorted((sample / "build").glob("mine-*")))
    mined = tmp_path / "my mined folder"
    shutil.copytree(folder, mined)
    places = ("--build", tmp_path / "build", "--out", tmp_path / "releases")
    table = mined / "statements.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 4
    table.write_bytes(content)
    words = ("release", "temporal-facts", "--dump", mined, "--older", mined, *places)
    refusal = run_cli(*words, ok=False).stderr
    assert "my mined folder" in refusal and "Traceback" not in refusal
    assert "statements.parquet is not what was mined" in refusal


# --- Pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_pages_that_were_changed_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    path = MAKE["streams cut anywhere"](tmp_path)
    read_pages(path, WANTED, tmp_path / "whole", targets=TARGETS)

    def stop(*words: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("factdrift.builders.wikipedia.read._finish", stop)
    with pytest.raises(UserError, match="stopped"):
        read_pages(path, WANTED, tmp_path / "out", targets=TARGETS, work=tmp_path / "work")
    monkeypatch.undo()
    table_files = [path for path in (tmp_path / "work").iterdir() if path.stat().st_size]
    damage_file(random.choice(table_files), random)
    read_pages(path, WANTED, tmp_path / "out", targets=TARGETS, work=tmp_path / "work")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


# --- A table that is changed while it is in use ---------------------------------------------------


class Table(Step):
    """A step with a table."""

    name: ClassVar[str] = "table"

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write it."""
        import pyarrow as pa

        pq.write_table(pa.table({"text": ["a word"] * 5000}), out / "table.parquet")


class Reader(Step):
    """A step that reads it, while somebody changes it."""

    name: ClassVar[str] = "reader"
    table: Table
    changes: bool

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read it."""
        path = workspace.folder(self.table) / "table.parquet"
        if self.changes:
            with path.open("r+b") as file:
                file.write(b"\xff" * 200)
            pq.read_table(path)
        raise KeyError("a bug")


def test_a_table_that_is_changed_in_use_is_told_with_its_folder(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, lambda text: None)
    with pytest.raises(UserError, match=r"table-\w{16}: was changed while it was in use"):
        workspace.folder(Reader(table=Table(), changes=True))
    with pytest.raises(KeyError, match="a bug"):
        Workspace(tmp_path, lambda text: None).folder(Reader(table=Table(), changes=False))
