"""A release whose bytes were changed is never called whole: flipped bits, cuts, additions."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from factdrift.builders.release.manifest import FILE, load_manifest, own_sha256
from factdrift.builders.release.verify import _COVERED_FIELDS, not_covered, verify_release
from tests.conftest import run_cli
from tests.release_sample import BASE, Sample, publish

# few in the quick test: each turn verifies the whole release
QUICK, ALL = 40, 300


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("flips"), Sample(BASE, pictures=True)).folder


def damaged(file_bytes: bytes, random_source: random.Random) -> bytes:
    """The bytes of a file with a bit flipped, an end cut off, or a byte more."""
    place = random_source.randrange(len(file_bytes))
    match random_source.randrange(10):
        case 0:
            return file_bytes[:place]
        case 1:
            return file_bytes[:place] + bytes([random_source.randrange(256)]) + file_bytes[place:]
        case _:
            flipped = file_bytes[place] ^ (1 << random_source.randrange(8))
            return file_bytes[:place] + bytes([flipped]) + file_bytes[place + 1 :]


@pytest.mark.parametrize(
    ("first", "last"), [(0, QUICK), pytest.param(QUICK, ALL, marks=pytest.mark.slow)]
)
def test_every_flip_is_seen(release_folder: Path, first: int, last: int) -> None:
    """In every file of a release by turns, and in every second turn in its manifest."""
    assert verify_release(release_folder) == []
    uncovered_text = not_covered(release_folder)
    assert uncovered_text is not None and "not checked: CHANGELOG.md, which" in uncovered_text
    release_files = sorted(
        path
        for path in release_folder.rglob("*")
        if path.is_file() and path != release_folder / "CHANGELOG.md"
    )
    seen_problems: Counter[str] = Counter()
    for flip_number in range(first, last):
        path = (
            release_files[flip_number // 2 % len(release_files)]
            if flip_number % 2
            else release_folder / FILE
        )
        whole_bytes = path.read_bytes()
        path.write_bytes(damaged(whole_bytes, random.Random(flip_number)))
        problems = verify_release(release_folder)
        path.write_bytes(whole_bytes)
        assert problems, f"flip {flip_number} in {path.name} was not seen"
        for problem in problems:
            assert len(problem) < 1000
        seen_problems[path.name] += 1
    print(f"{sum(seen_problems.values())} of {last - first} seen: {dict(seen_problems)}")
    assert verify_release(release_folder) == []


@pytest.mark.slow
def test_every_byte_of_a_manifest_is_covered(release_folder: Path, tmp_path: Path) -> None:
    """Two bits of bytes all over: one that changes the letter, and one that changes its case."""
    release_copy = Path(shutil.copytree(release_folder, tmp_path / "release"))
    stated_sha256 = load_manifest(release_copy).manifest_sha256
    whole_bytes = (release_copy / FILE).read_bytes()
    for place in range(0, len(whole_bytes), 31):
        for bit in (1, 32):
            flipped = bytes([whole_bytes[place] ^ bit])
            changed_bytes = whole_bytes[:place] + flipped + whole_bytes[place + 1 :]
            (release_copy / FILE).write_bytes(changed_bytes)
            assert own_sha256(release_copy) != stated_sha256 or (
                # a flip in the checksum itself
                f'"manifest_sha256": "{stated_sha256}"'.encode() not in changed_bytes
            )


def test_a_manifest_of_an_older_version_says_what_is_not_covered(
    release_folder: Path, tmp_path: Path
) -> None:
    release_copy = Path(shutil.copytree(release_folder, tmp_path / "release"))
    lines = (release_copy / FILE).read_text("utf-8").splitlines(keepends=True)
    older_lines = [line for line in lines if '"manifest_sha256"' not in line]
    (release_copy / FILE).write_text("".join(older_lines), "utf-8")
    printed_text = run_cli("verify", release_copy).stdout
    assert "whole and unchanged" in printed_text
    assert "not checked in it: builder, code_version, configs, corrections" in printed_text
    assert own_sha256(release_copy) == own_sha256(release_folder)
    assert set(type(load_manifest(release_copy)).model_fields) > _COVERED_FIELDS


@pytest.mark.parametrize(
    "name", ["x\nrelease: whole and unchanged", "\x1b[2J\x1b]0;x\x07", "\u202egnp.exe", "a\rb"]
)
def test_a_name_cannot_say_that_a_release_is_whole(
    release_folder: Path, tmp_path: Path, name: str
) -> None:
    release_copy = Path(shutil.copytree(release_folder, tmp_path / "release"))
    (release_copy / name).write_text("x", "utf-8")
    printed_text = run_cli("verify", release_copy, ok=False)
    text = printed_text.stdout + printed_text.stderr
    assert len(text.splitlines()) == 2
    for line in text.splitlines():
        assert line.isprintable()
    manifest_text = (release_copy / FILE).read_text("utf-8")
    key = name.encode("unicode_escape").decode().replace("\\x", "\\u00")
    (release_copy / FILE).write_text(manifest_text.replace("{", f'{{"{key}": 1,', 1), "utf-8")
    printed_text = run_cli("verify", release_copy, ok=False)
    text = printed_text.stdout + printed_text.stderr
    assert len(text.splitlines()) == 2
    for line in text.splitlines():
        assert line.isprintable()
