"""Every kind of damage to a release is found and named."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.release.publish import file_entry
from factdrift.builders.release.verify import verify_release
from tests.release_sample import BASE, Sample, publish

SPLIT = "data/unchanged/2021Q3.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("whole"), Sample(BASE, pictures=True)).folder


@pytest.fixture
def release(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "release"))


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the manifest."""
    path = folder / "manifest.json"
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value))


def resign(folder: Path, *names: str) -> None:
    """Make the manifest say what is there, as a careful forger would."""
    new = {name: file_entry(folder, folder / name).model_dump() for name in names}
    change(
        folder,
        lambda m: m.update(files=[new.get(entry["path"], entry) for entry in m["files"]]),
    )


def flip(folder: Path) -> None:
    data = bytearray((folder / SPLIT).read_bytes())
    data[100] ^= 1
    (folder / SPLIT).write_bytes(data)


def other_rows(folder: Path) -> None:
    table = pq.read_table(folder / SPLIT)
    pq.write_table(table.slice(1), folder / SPLIT)
    resign(folder, SPLIT)


def other_columns(folder: Path) -> None:
    table = pq.read_table(folder / SPLIT).drop_columns(["views"])
    pq.write_table(table.append_column("extra", table["id"]), folder / SPLIT)
    resign(folder, SPLIT)


def other_order(folder: Path) -> None:
    table = pq.read_table(folder / SPLIT)
    pq.write_table(table.select(table.column_names[::-1]), folder / SPLIT)
    resign(folder, SPLIT)


def same_ids(folder: Path) -> None:
    other = "data/unchanged/2021Q4.parquet"
    shutil.copy(folder / SPLIT, folder / other)
    resign(folder, other)


def no_parquet(folder: Path) -> None:
    (folder / SPLIT).write_bytes(b"PAR1 no")
    resign(folder, SPLIT)


def card_without_a_split(folder: Path) -> None:
    card = folder / "README.md"
    line = "  - split: 2021Q4\n    path: data/unchanged/2021Q4.parquet\n"
    assert line in card.read_text()
    card.write_text(card.read_text().replace(line, ""))
    resign(folder, "README.md")


def card_without_yaml(folder: Path) -> None:
    (folder / "README.md").write_text("# A card\n")
    resign(folder, "README.md")


def croissant_of_others(folder: Path) -> None:
    path = folder / "croissant.json"
    digest = file_entry(folder, folder / SPLIT).sha256
    path.write_text(path.read_text().replace(digest, "0" * 64))
    resign(folder, "croissant.json")


def broken_croissant(folder: Path) -> None:
    (folder / "croissant.json").write_text("[1")
    resign(folder, "croissant.json")


def linked(folder: Path) -> None:
    target = folder.parent / "elsewhere.parquet"
    (folder / SPLIT).rename(target)
    (folder / SPLIT).symlink_to(target)


def linked_folder(folder: Path) -> None:
    target = folder.parent / "elsewhere"
    (folder / "data").rename(target)
    (folder / "data").symlink_to(target)


def first_file(path: str) -> Callable[[Path], None]:
    return lambda folder: change(folder, lambda m: m["files"][0].update(path=path))


CASES: list[tuple[str, Callable[[Path], object], list[str]]] = [
    ("untouched", lambda folder: None, []),
    ("missing", lambda f: (f / "plots/splits.png").unlink(), ["plots/splits.png: is missing"]),
    ("extra", lambda f: (f / "x.txt").write_text("x"), ["x.txt: is not in the manifest"]),
    ("hub", lambda f: (f / ".gitattributes").write_text("x"), []),
    ("one bit", flip, [f"{SPLIT}: its SHA-256 is not the manifest's"]),
    ("longer", lambda f: (f / "recipe.yaml").write_text("x"), ["recipe.yaml: has 1 bytes"]),
    (
        "other rows",
        other_rows,
        ["croissant.json: data", f"{SPLIT}: has 4 rows, the manifest says 5"],
    ),
    (
        "other columns",
        other_columns,
        [
            f"croissant.json: {SPLIT}: another",
            f"{SPLIT}: column extra is not in the manifest",
            f"{SPLIT}: column views is missing or not list<string>",
        ],
    ),
    (
        "column order",
        other_order,
        [f"croissant.json: {SPLIT}", f"{SPLIT}: columns in another order"],
    ),
    ("ids", same_ids, ["croissant.json: data", "unchanged: ids that are not unique: 0000-2021Q3,"]),
    ("no Parquet", no_parquet, ["croissant.json: data", f"{SPLIT}: is not Parquet"]),
    (
        "card lists less",
        card_without_a_split,
        ["README.md: its YAML does not list unchanged/2021Q4 as data/unchanged/2021Q4.parquet"],
    ),
    ("card without YAML", card_without_yaml, ["README.md: its YAML does not list"] * 5),
    ("croissant", croissant_of_others, [f"croissant.json: {SPLIT}: another SHA-256"]),
    ("no croissant", broken_croissant, ["croissant.json: has no readable distribution"]),
    ("link", linked, [f"{SPLIT}: is a link", f"{SPLIT}: is missing"]),
    ("linked folder", linked_folder, [*["data/"] * 5, "data: is a link"]),
    ("pipe", lambda f: os.mkfifo(f / "pipe"), ["pipe: is neither a file nor a folder"]),
    ("no manifest", lambda f: (f / "manifest.json").unlink(), ["/manifest.json: cannot be read"]),
    (
        "no JSON",
        lambda f: (f / "manifest.json").write_text("{"),
        ["broken manifest: the file: Inv"],
    ),
    ("climbs", first_file("../../etc/passwd"), ["broken manifest: files.0.path: "]),
    ("absolute", first_file("/etc/passwd"), ["broken manifest: files.0.path: "]),
    ("backslash", first_file("..\\x"), ["broken manifest: files.0.path: "]),
    ("not plain", first_file("data//x"), ["broken manifest: files.0.path: "]),
    ("not a string", lambda f: change(f, lambda m: m.update(seed="x")), ["manifest: seed: "]),
    ("unknown key", lambda f: change(f, lambda m: m.update(x=1)), ["broken manifest: x: Extra"]),
    ("canary", lambda f: change(f, lambda m: m.update(canary="x")), ["manifest.json: canary"]),
    (
        "version",
        lambda f: change(f, lambda m: m.update(version="v1")),
        ["broken manifest: version: not"],
    ),
    (
        "drops",
        lambda f: change(f, lambda m: m["drops"][0].update(rows=9)),
        ["dropped.parquet: diff: in_doubt: 2 rows, the manifest says 9"],
    ),
    (
        "listed twice",
        lambda f: change(f, lambda m: m["files"].append(m["files"][0])),
        ["manifest.json: files: a path is listed twice"],
    ),
    (
        "split of no file",
        lambda f: change(f, lambda m: m["configs"][0]["splits"][0].update(file="x.parquet")),
        ["README.md: its YAML", "README.md: its YAML", "x.parquet: is the file of a split, but"],
    ),
]


@pytest.mark.parametrize(("damage", "problems"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_damage(release: Path, damage: Callable[[Path], object], problems: list[str]) -> None:
    damage(release)
    found = verify_release(release)
    assert len(found) == len(problems), found
    for line, start in zip(found, problems, strict=True):
        assert start in line, found
        assert "\n" not in line.split("\n  ")[0]


def test_never_followed(release: Path) -> None:
    """A link to something that must not be read is a problem before it is opened."""
    (release / SPLIT).unlink()
    (release / SPLIT).symlink_to("/dev/zero")
    (release / "manifest.json").rename(release / "real.json")
    (release / "manifest.json").symlink_to("real.json")
    assert "is a link, and links are not followed" in verify_release(release)[0]
    (release / "manifest.json").unlink()
    (release / "real.json").rename(release / "manifest.json")
    assert f"{SPLIT}: is a link, and links are not followed" in verify_release(release)
