"""The tasks of a release run in a harness: verify tells ours from others, push refuses others."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

import factdrift
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.publish import file_entry
from factdrift.builders.release.task_code import TABLE, compare_code, module_checksums
from tests.conftest import ROOT, run_cli
from tests.release_sample import edit, publish
from tests.tables import names_of

MODULES = {
    "after.py": "builders/release/harness/after.py",
    "ask.py": "builders/release/harness/ask.py",
    "judge.py": "builders/release/harness/judge.py",
    "squad.py": "builders/text/squad.py",
}
EVIL = b"import os\nos.system('id')\n"


@pytest.fixture(scope="module")
def whole_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("whole")).folder


@pytest.fixture
def release_folder(whole_release: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole_release, tmp_path / "release"))


def forge(release_folder: Path, file_name: str, content: bytes) -> None:
    """Write a file and make the manifest agree, as a careful forger would."""
    path = release_folder / file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    entry = file_entry(release_folder, path).model_dump()
    edit(
        release_folder,
        "files",
        lambda entries: [
            *(old_entry for old_entry in entries if old_entry["path"] != file_name),
            entry,
        ],
    )


def test_the_table_has_the_modules_of_this_version(request: pytest.FixtureRequest) -> None:
    """Releases of this version will be compared with what it writes: `make golden` adds it."""
    present = {
        name: sha256((ROOT / place).read_bytes()).hexdigest() for name, place in MODULES.items()
    }
    table = {version: dict(modules) for version, modules in module_checksums().items()}
    if request.config.getoption("--golden"):
        for name, checksum in present.items():
            checksums = table.setdefault(factdrift.__version__, {}).setdefault(name, [])
            if checksum not in checksums:
                checksums.append(checksum)
        TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    for name, checksum in present.items():
        known_sums = table.get(factdrift.__version__, {}).get(name, [])
        assert checksum in known_sums, f"{name} was edited: read the change, then `make golden`"


def test_every_module_that_releases_carry_is_in_the_table(whole_release: Path) -> None:
    carried = set(names_of((whole_release / "tasks").rglob("*.py")))
    harness = set(names_of(files("factdrift.builders.release.harness").iterdir()))
    assert (
        carried
        <= set(MODULES)
        >= {name for name in harness if name.endswith(".py")} - {"__init__.py"}
    )


def test_a_release_of_ours_agrees_with_its_manifest(release_folder: Path) -> None:
    assert compare_code(release_folder).sentences() == []
    printed_text = run_cli("verify", release_folder).stdout
    assert (
        "agrees with its manifest" in printed_text and "code" not in printed_text.split(": ", 1)[1]
    )


def test_a_release_of_0_2_has_no_code_of_its_own(tmp_path: Path) -> None:
    """Its modules are those of the table. Its tasks are worded as that version did."""
    shutil.unpack_archive(ROOT / "tests/releases_0_2/release.tar.xz", tmp_path)
    assert load_manifest(tmp_path).code_version == "0.2.0"
    compared = compare_code(tmp_path)
    assert compared.own == ()
    assert not [path for path in compared.unknown if path.endswith(".py")]


FORGERIES: dict[str, Callable[[Path], None]] = {
    "tasks/inspect/ask.py": lambda folder: forge(folder, "tasks/inspect/ask.py", EVIL),
    "tasks/lm-eval/squad.py": lambda folder: forge(
        folder,
        "tasks/lm-eval/squad.py",
        (folder / "tasks/lm-eval/squad.py").read_bytes() + b"\n# one line more\n",
    ),
    "tasks/lm-eval/evil.py": lambda folder: forge(folder, "tasks/lm-eval/evil.py", EVIL),
    "tasks/inspect/datasets.py": lambda folder: forge(folder, "tasks/inspect/datasets.py", EVIL),
    "tasks/inspect/squad.cpython-311.so": lambda folder: forge(
        folder, "tasks/inspect/squad.cpython-311.so", b"\x7fELF"
    ),
    "tasks/lm-eval/_unchanged_yaml": lambda folder: forge(
        folder, "tasks/lm-eval/_unchanged_yaml", b"process_docs: !function evil.run\n"
    ),
    "tasks/lm-eval/sample.yaml": lambda folder: forge(
        folder, "tasks/lm-eval/sample.yaml", b"task: x\ndataset_path: me/script\n"
    ),
    "tasks/inspect/tasks.json": lambda folder: forge(
        folder,
        "tasks/inspect/tasks.json",
        (folder / "tasks/inspect/tasks.json").read_bytes().replace(b"../..", b"hf://datasets/a/b"),
    ),
    "sample.py": lambda folder: forge(folder, "sample.py", EVIL),
    "data/conftest.PY": lambda folder: forge(folder, "data/conftest.PY", EVIL),
    "plots/x.ipynb": lambda folder: forge(folder, "plots/x.ipynb", b"{}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("file_name", FORGERIES)
def test_code_of_its_own_is_told_and_not_pushed(release_folder: Path, file_name: str) -> None:
    FORGERIES[file_name](release_folder)
    refusal = run_cli("verify", release_folder, ok=False)
    assert refusal.returncode == 1
    assert "agrees with its manifest" in refusal.stdout
    assert f"has code of its own: {file_name}" in refusal.stdout
    pushing = ("push", release_folder, "--repo", "me/mine", "--dry-run")
    assert f"has code of its own: {file_name}" in run_cli(*pushing, ok=False).stderr
    assert "would push" in run_cli(*pushing, "--own-code").stderr


def test_the_code_of_an_unknown_version_cannot_be_compared(release_folder: Path) -> None:
    forge(release_folder, "tasks/inspect/ask.py", EVIL)
    edit(release_folder, "code_version", "99.0.0")
    printed_text = run_cli("verify", release_folder).stdout
    assert "agrees with its manifest" in printed_text
    assert "its code cannot be compared: tasks/" in printed_text and "99.0.0" in printed_text
    pushing = ("push", release_folder, "--repo", "me/mine", "--dry-run")
    assert "cannot be compared" in run_cli(*pushing, ok=False).stderr


@pytest.mark.parametrize("version", ["0.2.0\n", "../x", "", "\x1b[2J"])
def test_a_version_that_is_none_prints_nothing_odd(release_folder: Path, version: str) -> None:
    edit(release_folder, "code_version", version)
    verify_run = run_cli("verify", release_folder)
    assert "cannot be compared" in verify_run.stdout
    assert "\x1b" not in verify_run.stdout + verify_run.stderr
