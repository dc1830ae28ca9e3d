"""The locks that `make` installs from: complete, pinned with hashes, without addresses."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

LOCKS = sorted(path for path in (ROOT / "locks").glob("*.txt"))
SETUP = re.findall(r"^SETUP = (.*)$", (ROOT / "locks/write.py").read_text("utf-8"), re.M)[0]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = {"run": [*PROJECT["dependencies"]]}
"""What each lock has to hold; that of `make setup` has some extras, too."""
for _extra, _requirements in PROJECT["optional-dependencies"].items():
    _lock = "run" if f'"{_extra}"' in SETUP else _extra
    EXTRAS[_lock] = [*EXTRAS.get(_lock, ()), *_requirements]


def pins(name: str) -> dict[str, str]:
    """Version by canonical name of a lock, and of the lock that it adds to."""
    text = (ROOT / "locks" / f"{name}.txt").read_text("utf-8")
    listed_pins = pins("run") if text.startswith("-r run.txt\n") else {}
    for line in re.findall(r"^[A-Za-z0-9].*", text, re.MULTILINE):
        requirement = Requirement(line.removesuffix("\\"))
        (pin,) = requirement.specifier
        assert pin.operator == "==", line
        listed_pins[canonicalize_name(requirement.name)] = pin.version
    return listed_pins


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_requirement_has_hashes_and_no_address(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "://" not in text
    blocks = re.split(r"\n(?=\S)", text.removeprefix("-r run.txt\n").strip())
    unpinned = [block for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)]
    assert not unpinned


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_lock_has_what_pyproject_asks_for(extra: str) -> None:
    locked = pins(extra)
    for line in EXTRAS[extra]:
        requirement = Requirement(line)
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{line} is not in locks/{extra}.txt: make lock"
        assert requirement.specifier.contains(version, prereleases=True), f"{line}: {version}"


def test_locks_have_the_versions_of_the_constraints() -> None:
    constraints: dict[str, str] = {}
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        name, _, version = line.partition("==")
        constraints[canonicalize_name(name)] = version
    for lock in EXTRAS:
        for name, version in pins(lock).items():
            assert constraints.get(name, version) == version, f"locks/{lock}.txt: {name}"
