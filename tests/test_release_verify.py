"""Every kind of damage to a release is found and named; what a stranger's tries is refused."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

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
def whole_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("whole"), Sample(BASE, pictures=True)).folder


@pytest.fixture
def release_folder(whole_release: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole_release, tmp_path / "release"))


def resign(damaged_folder: Path, file_name: str) -> None:
    """Make the manifest say what is there, as a careful forger would."""
    new_record = file_entry(damaged_folder, damaged_folder / file_name).model_dump()
    edit(
        damaged_folder,
        "files",
        lambda files: [
            new_record if file_record["path"] == file_name else file_record for file_record in files
        ],
    )


def flip(damaged_folder: Path) -> None:
    file_bytes = bytearray((damaged_folder / SPLIT).read_bytes())
    file_bytes[100] ^= 1
    (damaged_folder / SPLIT).write_bytes(file_bytes)


def changed(table_change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """Other rows or columns in a split, with a manifest that says so."""

    def damage(damaged_folder: Path) -> None:
        pq.write_table(table_change(pq.read_table(damaged_folder / SPLIT)), damaged_folder / SPLIT)
        resign(damaged_folder, SPLIT)

    return damage


def signed(path: str, source_file: bytes | None) -> Callable[[Path], None]:
    """Another content of a file (none: that of the split), with a manifest that says so."""

    def damage(damaged_folder: Path) -> None:
        (damaged_folder / path).write_bytes(
            (damaged_folder / SPLIT).read_bytes() if source_file is None else source_file
        )
        resign(damaged_folder, path)

    return damage


def linked(file_name: str, to: str | None = None) -> Callable[[Path], None]:
    """A link, to what lay there or to something else."""

    def damage(damaged_folder: Path) -> None:
        link_target = damaged_folder.parent / "elsewhere"
        (damaged_folder / file_name).rename(link_target)
        (damaged_folder / file_name).symlink_to(to or link_target)

    return damage


OTHER_ORDER = changed(lambda parquet_table: parquet_table.select(parquet_table.column_names[::-1]))
OTHER_COLUMNS = changed(
    lambda parquet_table: parquet_table.drop_columns(["views"]).append_column(
        "extra", parquet_table["id"]
    )
)
CASES: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda release_copy: None, []),
    (
        lambda release_copy: (release_copy / "plots/splits.png").unlink(),
        ["plots/splits.png: is missing"],
    ),
    (
        lambda release_copy: (release_copy / "x.txt").write_text("x"),
        ["x.txt: is not in the manifest"],
    ),
    (
        lambda release_copy: (release_copy / "x.pyc").write_text("x"),
        ["x.pyc: is not in the manifest (a harness"],
    ),
    (lambda release_copy: (release_copy / ".gitattributes").write_text("x"), []),
    (flip, [f"{SPLIT}: its SHA-256 is not the manifest's"]),
    (
        lambda release_copy: (release_copy / "recipe.yaml").write_text("x"),
        ["recipe.yaml: has 1 bytes"],
    ),
    (signed("recipe.yaml", b"x"), ["manifest.json: recipe_sha256: not that of recipe.yaml"]),
    (
        changed(lambda parquet_table: parquet_table.slice(1)),
        [f"{SPLIT}: has 4 rows, the manifest says 5"],
    ),
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
    (
        lambda release_copy: os.mkfifo(release_copy / "pipe"),
        ["pipe: is neither a file nor a folder"],
    ),
    (
        lambda release_copy: (release_copy / "manifest.json").unlink(),
        ["/manifest.json: cannot be read"],
    ),
    (
        lambda release_copy: (release_copy / "manifest.json").write_text("{"),
        ["broken manifest: the file: Inv"],
    ),
]


@pytest.mark.parametrize(("damage", "problems"), CASES)
def test_damage(
    release_folder: Path, damage: Callable[[Path], object], problems: list[str]
) -> None:
    damage(release_folder)
    found_problems = verify_release(release_folder)
    assert len(found_problems) == len(problems), found_problems
    for problem_line, path_start in zip(found_problems, problems, strict=True):
        assert path_start in problem_line, found_problems
        assert "\n" not in problem_line.split("\n  ")[0]


# --- What a stranger's release tries ------------------------------------------------------------

UP = "../../../escaped"
NAMES = (UP, "..", ".", "", "/tmp/escaped", "a/b", "a\\b", ".hidden", "-o", "a\n", "ä", "x" * 200)


@pytest.mark.parametrize("file_name", NAMES)
@pytest.mark.parametrize(
    "changed_place", ["dataset", "version", "configs.0.name", "configs.0.splits.0.name"]
)
def test_a_name_that_is_no_name(release_folder: Path, changed_place: str, file_name: str) -> None:
    edit(release_folder, changed_place, file_name)
    with pytest.raises(UserError, match=f"broken manifest: {changed_place}: "):
        load_manifest(release_folder)


@pytest.mark.parametrize(("changed_place", "value", "problem"), read_table("manifest_mistakes"))
def test_a_manifest_that_says_something_else(
    release_folder: Path, changed_place: str, value: str, problem: str
) -> None:
    edit(release_folder, changed_place, yaml.safe_load(value))
    (found_problems,) = verify_release(release_folder)
    assert re.search(problem, found_problems), found_problems


def test_a_manifest_that_lists_something_twice_or_not_at_all(release_folder: Path) -> None:
    edit(release_folder, "configs", lambda configs: [*configs, configs[2]])
    edit(release_folder, "files", lambda files: [*files[1:], files[1]])
    assert verify_release(release_folder) == [
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
@pytest.mark.parametrize("changed_place", ["dataset", "configs.0.name"])
def test_no_command_writes_outside_of_its_folder(
    release_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed_place: str,
    command: str,
) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b/c")
    edit(release_folder, changed_place, UP)
    files_before = set(tmp_path.rglob("*"))
    error_text = run_cli(*command.format(release_folder).split(), ok=False)
    assert "is not a name" in error_text.stdout + error_text.stderr
    assert set(tmp_path.rglob("*")) == files_before


@pytest.mark.parametrize("file_name", ["manifest.json", SPLIT, "data/unchanged"])
def test_a_link_is_not_followed(release_folder: Path, tmp_path: Path, file_name: str) -> None:
    link_target = tmp_path / "elsewhere"
    (release_folder / file_name).rename(link_target)
    (release_folder / file_name).symlink_to(link_target)
    error_text = run_cli(
        "score", release_folder, "--predictions", release_folder / "recipe.yaml", ok=False
    )
    assert "is a link, and links are not followed" in error_text.stderr


@pytest.mark.parametrize(
    "repo", ["mine", "../mine", "me/../mine", "me/mine/x", "me/--x", "a b/c", ""]
)
def test_a_bad_name_of_the_hub_is_refused_before_anything_is_asked(
    release_folder: Path, repo: str
) -> None:
    error_text = run_cli("push", release_folder, "--repo", repo, "--dry-run", ok=False)
    assert "not a name of the Hub" in error_text.stderr


@pytest.mark.parametrize("seed", range(10))
def test_no_command_has_a_traceback_for_a_damaged_table(
    release_folder: Path, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text('{"id": "0000-2021Q3", "prediction": "x"}\n')
    damaged_table = random.choice(sorted(release_folder.rglob("*.parquet")))
    damaged_bytes = bytearray(damaged_table.read_bytes())
    if seed % 3 == 0:
        del damaged_bytes[random.randrange(len(damaged_bytes)) :]
    for _ in range(20):
        damaged_bytes[random.randrange(len(damaged_bytes))] ^= 1 << random.randrange(8)
    damaged_table.write_bytes(damaged_bytes)
    for command in (
        *("score {0} --predictions {1} --partial --out {2}/score", "baselines {0} --out {2}/base"),
        *("tasks {0} --for inspect --out {2}/tasks", "diff {0} {0}"),
    ):
        command_words = command.format(release_folder, predictions, tmp_path).split()
        printed_errors = run_cli(*command_words, ok=False).stderr
        assert "Traceback" not in printed_errors, (command, damaged_table, printed_errors)
