"""Every kind of damage to a release is found and named; what a stranger's tries is refused."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.publish import file_entry
from factdrift.builders.release.verify import verify_release
from tests.conftest import run_cli
from tests.release_sample import BASE, Sample, edit, publish
from tests.tables import read_table

SPLIT = "data/unchanged/2021Q3.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("whole"), Sample(BASE, pictures=True)).folder


@pytest.fixture
def release(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "release"))


def resign(folder: Path, name: str) -> None:
    """Make the manifest say what is there, as a careful forger would."""
    new = file_entry(folder, folder / name).model_dump()
    edit(folder, "files", lambda files: [new if one["path"] == name else one for one in files])


def flip(folder: Path) -> None:
    data = bytearray((folder / SPLIT).read_bytes())
    data[100] ^= 1
    (folder / SPLIT).write_bytes(data)


def changed(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """Other rows or columns in a split, with a manifest that says so."""

    def damage(folder: Path) -> None:
        pq.write_table(change(pq.read_table(folder / SPLIT)), folder / SPLIT)
        resign(folder, SPLIT)

    return damage


def signed(path: str, source: bytes | None) -> Callable[[Path], None]:
    """Another content of a file (none: that of the split), with a manifest that says so."""

    def damage(folder: Path) -> None:
        (folder / path).write_bytes((folder / SPLIT).read_bytes() if source is None else source)
        resign(folder, path)

    return damage


def linked(name: str, to: str | None = None) -> Callable[[Path], None]:
    """A link, to what lay there or to something else."""

    def damage(folder: Path) -> None:
        target = folder.parent / "elsewhere"
        (folder / name).rename(target)
        (folder / name).symlink_to(to or target)

    return damage


OTHER_ORDER = changed(lambda t: t.select(t.column_names[::-1]))
OTHER_COLUMNS = changed(lambda t: t.drop_columns(["views"]).append_column("extra", t["id"]))
CASES: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda f: None, []),
    (lambda f: (f / "plots/splits.png").unlink(), ["plots/splits.png: is missing"]),
    (lambda f: (f / "x.txt").write_text("x"), ["x.txt: is not in the manifest"]),
    (lambda f: (f / "x.pyc").write_text("x"), ["x.pyc: is not in the manifest (a harness"]),
    (lambda f: (f / ".gitattributes").write_text("x"), []),
    (flip, [f"{SPLIT}: its SHA-256 is not the manifest's"]),
    (lambda f: (f / "recipe.yaml").write_text("x"), ["recipe.yaml: has 1 bytes"]),
    (signed("recipe.yaml", b"x"), ["manifest.json: recipe_sha256: not that of recipe.yaml"]),
    (changed(lambda t: t.slice(1)), [f"{SPLIT}: has 4 rows, the manifest says 5"]),
    (
        OTHER_COLUMNS,
        [
            f"{SPLIT}: not as the manifest says: column extra added",
            f"{SPLIT}: not as the manifest says: column views removed",
        ],
    ),
    (OTHER_ORDER, [f"{SPLIT}: not as the manifest says: columns in another order"]),
    (
        signed("data/unchanged/2021Q4.parquet", None),
        ["unchanged: ids that are not unique: 0000-2021Q3,"],
    ),
    (signed(SPLIT, b"PAR1 no"), [f"{SPLIT}: is not Parquet"]),
    (linked(SPLIT, "/dev/zero"), [f"{SPLIT}: is a link", f"{SPLIT}: is missing"]),
    (linked("data"), [*["data/"] * 5, "data: is a link"]),
    (linked("manifest.json"), ["is a link, and links are not followed"]),
    (lambda f: os.mkfifo(f / "pipe"), ["pipe: is neither a file nor a folder"]),
    (lambda f: (f / "manifest.json").unlink(), ["/manifest.json: cannot be read"]),
    (lambda f: (f / "manifest.json").write_text("{"), ["broken manifest: the file: Inv"]),
]


@pytest.mark.parametrize(("damage", "problems"), CASES)
def test_damage(release: Path, damage: Callable[[Path], object], problems: list[str]) -> None:
    damage(release)
    found = verify_release(release)
    assert len(found) == len(problems), found
    for line, start in zip(found, problems, strict=True):
        assert start in line, found
        assert "\n" not in line.split("\n  ")[0]


# --- What a stranger's release tries ------------------------------------------------------------

UP = "../../../escaped"
NAMES = (UP, "..", ".", "", "/tmp/escaped", "a/b", "a\\b", ".hidden", "-o", "a\n", "ä", "x" * 200)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "place", ["dataset", "version", "configs.0.name", "configs.0.splits.0.name"]
)
def test_a_name_that_is_no_name(release: Path, place: str, name: str) -> None:
    edit(release, place, name)
    with pytest.raises(UserError, match=f"broken manifest: {place}: "):
        load_manifest(release)


@pytest.mark.parametrize(("place", "value", "problem"), read_table("manifest_mistakes"))
def test_a_manifest_that_says_something_else(
    release: Path, place: str, value: str, problem: str
) -> None:
    edit(release, place, yaml.safe_load(value))
    (found,) = verify_release(release)
    assert re.search(problem, found), found


def test_a_manifest_that_lists_something_twice_or_not_at_all(release: Path) -> None:
    edit(release, "configs", lambda configs: [*configs, configs[2]])
    edit(release, "files", lambda files: [*files[1:], files[1]])
    assert verify_release(release) == [
        "CITATION.cff: is not in the manifest",
        "manifest.json: configs: a name is there twice",
        "manifest.json: files: a path is listed twice",
    ]


COMMANDS = [
    *("verify {0}", "export {0} --format templama", "score {0} --predictions {0}/recipe.yaml"),
    *("rebuild {0}", "diff {0} {0}", "tasks {0} --for lm-eval"),
    *("push {0} --repo me/mine --dry-run", "corpus pages.jsonl --release {0} --out corpus"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["dataset", "configs.0.name"])
def test_no_command_writes_outside_of_its_folder(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, command: str
) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b/c")
    edit(release, place, UP)
    before = set(tmp_path.rglob("*"))
    said = run_cli(*command.format(release).split(), ok=False)
    assert "is not a name" in said.stdout + said.stderr
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["manifest.json", SPLIT, "data/unchanged"])
def test_a_link_is_not_followed(release: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "elsewhere"
    (release / name).rename(target)
    (release / name).symlink_to(target)
    said = run_cli("score", release, "--predictions", release / "recipe.yaml", ok=False)
    assert "is a link, and links are not followed" in said.stderr


@pytest.mark.parametrize(
    "repo", ["mine", "../mine", "me/../mine", "me/mine/x", "me/--x", "a b/c", ""]
)
def test_a_bad_name_of_the_hub_is_refused_before_anything_is_asked(
    release: Path, repo: str
) -> None:
    said = run_cli("push", release, "--repo", repo, "--dry-run", ok=False)
    assert "not a name of the Hub" in said.stderr
