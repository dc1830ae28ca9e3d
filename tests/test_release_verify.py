"""Every kind of damage to a release is found and named."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
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


def table(edit: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """Other rows or columns in a split, with a manifest that says so."""

    def damage(folder: Path) -> None:
        pq.write_table(edit(pq.read_table(folder / SPLIT)), folder / SPLIT)
        resign(folder, SPLIT)

    return damage


def signed(path: str, source: bytes | None) -> Callable[[Path], None]:
    """Another content of a file (none: that of the split), with a manifest that says so."""

    def damage(folder: Path) -> None:
        (folder / path).write_bytes((folder / SPLIT).read_bytes() if source is None else source)
        resign(folder, path)

    return damage


def linked(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        target = folder.parent / "elsewhere"
        (folder / name).rename(target)
        (folder / name).symlink_to(target)

    return damage


def said(**values: object) -> Callable[[Path], None]:
    return lambda folder: change(folder, lambda m: m.update(values))


def first(part: str, **values: object) -> Callable[[Path], None]:
    return lambda folder: change(folder, lambda m: m[part][0].update(values))


def another_file(folder: Path) -> None:
    change(folder, lambda m: m["configs"][0]["splits"][0].update(file="x.parquet"))


BROKEN = "broken manifest: "
OTHER_ORDER = table(lambda t: t.select(t.column_names[::-1]))
OTHER_COLUMNS = table(lambda t: t.drop_columns(["views"]).append_column("extra", t["id"]))
CASES: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda f: None, []),
    (lambda f: (f / "plots/splits.png").unlink(), ["plots/splits.png: is missing"]),
    (lambda f: (f / "x.txt").write_text("x"), ["x.txt: is not in the manifest"]),
    (lambda f: (f / "x.pyc").write_text("x"), ["x.pyc: is not in the manifest (a harness"]),
    (lambda f: (f / ".gitattributes").write_text("x"), []),
    (flip, [f"{SPLIT}: its SHA-256 is not the manifest's"]),
    (lambda f: (f / "recipe.yaml").write_text("x"), ["recipe.yaml: has 1 bytes"]),
    (signed("recipe.yaml", b"x"), ["manifest.json: recipe_sha256: not that of recipe.yaml"]),
    (table(lambda t: t.slice(1)), [f"{SPLIT}: has 4 rows, the manifest says 5"]),
    (
        OTHER_COLUMNS,
        [
            f"{SPLIT}: column extra is not in the manifest",
            f"{SPLIT}: column views is missing or not list<string>",
        ],
    ),
    (OTHER_ORDER, [f"{SPLIT}: columns in another order"]),
    (
        signed("data/unchanged/2021Q4.parquet", None),
        ["unchanged: ids that are not unique: 0000-2021Q3,"],
    ),
    (signed(SPLIT, b"PAR1 no"), [f"{SPLIT}: is not Parquet"]),
    (signed("dropped.parquet", b"PAR1 no"), ["dropped.parquet: cannot be read"]),
    (linked(SPLIT), [f"{SPLIT}: is a link", f"{SPLIT}: is missing"]),
    (linked("data"), [*["data/"] * 5, "data: is a link"]),
    (linked("manifest.json"), ["is a link, and links are not followed"]),
    (lambda f: os.mkfifo(f / "pipe"), ["pipe: is neither a file nor a folder"]),
    (lambda f: (f / "manifest.json").unlink(), ["/manifest.json: cannot be read"]),
    (lambda f: (f / "manifest.json").write_text("{"), [f"{BROKEN}the file: Inv"]),
    (first("files", path="../../etc/passwd"), [f"{BROKEN}files.0.path: "]),
    (first("files", path="data//x"), [f"{BROKEN}files.0.path: "]),
    (said(seed="x"), [f"{BROKEN}seed: "]),
    (said(x=1), [f"{BROKEN}x: Extra"]),
    (first("inputs", x=1), [f"{BROKEN}inputs.0.x: Unexpected"]),
    (said(version="v1"), [f"{BROKEN}version: not"]),
    (said(canary="x"), ["manifest.json: canary"]),
    (first("drops", rows=9), ["dropped.parquet: diff: in_doubt: 2 rows, the manifest says 9"]),
    (
        lambda f: change(f, lambda m: m["files"].append(m["files"][0])),
        ["manifest.json: files: a path is listed twice"],
    ),
    (
        lambda f: change(f, lambda m: m["configs"].append(m["configs"][2])),
        ["manifest.json: configs: a name is there twice"],
    ),
    (
        lambda f: change(f, lambda m: m.update(files=m["files"][1:])),
        [
            "CITATION.cff: is not in the manifest",
        ],
    ),
    (another_file, ["x.parquet: is the file of a split, but"]),
]


@pytest.mark.parametrize(("damage", "problems"), CASES)
def test_damage(release: Path, damage: Callable[[Path], object], problems: list[str]) -> None:
    damage(release)
    found = verify_release(release)
    assert len(found) == len(problems), found
    for line, start in zip(found, problems, strict=True):
        assert start in line, found
        assert "\n" not in line.split("\n  ")[0]


def test_a_link_is_a_problem_before_it_is_opened(release: Path) -> None:
    (release / SPLIT).unlink()
    (release / SPLIT).symlink_to("/dev/zero")
    assert f"{SPLIT}: is a link, and links are not followed" in verify_release(release)
