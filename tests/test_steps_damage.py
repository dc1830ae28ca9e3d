"""A build folder that was changed behind the program's back is not believed."""

import json
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest

from factdrift.builders.core.files import replacing
from factdrift.builders.core.seals import CHECKSUMS
from factdrift.builders.core.steps import Step, Workspace
from torture.damage import damage_file

CONTENT = {"table": b"some rows" * 50, "deep/summary.json": b'{"rows": 3}'}


class Table(Step):
    """A step that writes two files, one in a folder of its own."""

    name: ClassVar[str] = "table"

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write the files."""
        for place, content in CONTENT.items():
            path = out / place
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)


def make_step(root: Path) -> tuple[Path, list[str]]:
    """The step's folder after a run, and what the run said."""
    messages: list[str] = []
    return Workspace(root, messages.append).folder(Table()), messages


def test_a_whole_folder_is_reused(tmp_path: Path) -> None:
    folder, _ = make_step(tmp_path)
    inode = (folder / "table").stat().st_ino
    _, messages = make_step(tmp_path)
    assert messages == [f"  table: reused ({folder.name})"]
    assert (folder / "table").stat().st_ino == inode


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_or_a_cut_makes_the_step_anew(tmp_path: Path, seed: int) -> None:
    folder, _ = make_step(tmp_path)
    random = Random(seed)
    path = folder / random.choice([*CONTENT, CHECKSUMS])
    damage_file(path, random)
    _, messages = make_step(tmp_path)
    assert "made anew" in messages[0]
    assert {place: (folder / place).read_bytes() for place in CONTENT} == CONTENT


@pytest.mark.parametrize("change", ["missing", "further", "linked", "without checksums"])
def test_other_files_make_the_step_anew(tmp_path: Path, change: str) -> None:
    folder, _ = make_step(tmp_path)
    path = folder / "table"
    if change == "missing":
        path.unlink()
    elif change == "further":
        (folder / "further").write_text("a file of somebody's")
    elif change == "linked":
        path.unlink()
        path.symlink_to("/etc/hostname")
    else:
        (folder / CHECKSUMS).unlink()
    _, messages = make_step(tmp_path)
    assert "made anew" in messages[0]
    assert path.read_bytes() == CONTENT["table"]
    assert not (folder / "further").exists()


def test_planted_links_are_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".checksums.json.tmp").symlink_to(victim)
    with replacing(tmp_path / "checksums.json") as unfinished:
        unfinished.write_text("{}")
    (tmp_path / "elsewhere").mkdir()
    build = tmp_path / "build"
    build.mkdir()
    name = f"{Table.name}-{Table().key}"
    (build / f".{name}.tmp").symlink_to(tmp_path / "elsewhere")
    make_step(build)
    assert victim.read_text() == "mine"
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_damaged_checksum_of_an_input_is_computed_again(tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.write_bytes(b"rows")
    workspace = Workspace(tmp_path / "build", print)
    workspace.root.mkdir()
    checksum = workspace.checksum(source)
    remembered = workspace.root / "checksums.json"
    (identity, entry), *_ = json.loads(remembered.read_text()).items()
    other_digit = "0" if entry[0] != "0" else "1"
    remembered.write_text(json.dumps({identity: other_digit + entry[1:]}))
    assert workspace.checksum(source) == checksum
    remembered.write_text("[1, 2]")
    assert workspace.checksum(source) == checksum
