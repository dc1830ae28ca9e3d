"""Runs with nothing to do: when they say so at once, and what lets them make everything anew."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import locked
from factdrift.builders.core.steps import Workspace
from factdrift.builders.release.outcome import Outcome
from factdrift.builders.release.unchanged import OWN_FOLDERS, AskedRun, Say, outcomes
from tests.conftest import ROOT, run_process
from tests.release_sample import BASE, Sample
from tests.test_command_line import outcome_of

WARNING = "warning: other is left out: nothing is left"


class MadeAnewError(Exception):
    """Something would be made again."""


def make_anew(say: Say) -> list[Outcome]:
    raise MadeAnewError


@dataclass
class Place:
    """A folder with templates, an input, releases and the note of the run that made them."""

    folder: Path
    asked_run: AskedRun
    release: Path


def make(say: Say) -> list[Outcome]:
    """Publish the sample, and say what a run could say."""
    say("sample: recipe.yaml")
    say(WARNING)
    outcome = outcome_of(Path("releases"), Sample(BASE))
    for line in outcome.lines():
        say(line)
    return [outcome]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """What was made once, as it is kept beside the place in which tests change it."""
    folder = tmp_path_factory.mktemp("unchanged") / "place"
    for place, text in (("templates/P54.yaml", "template"), ("news/news-2020.jsonl", "article")):
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text(text)
    asked_run = AskedRun(
        recipes=("wmt-question-dates",),
        given={"news": [f"{folder / 'news'}@2020-12-31"]},
        out=Path("releases"),
        build=Path("build"),
        templates=folder / "templates",
        corrections=None,
        options={"version": None, "limit": 3},
    )
    with contextlib.chdir(folder):
        outcomes(asked_run, make)
    shutil.copytree(folder, folder.with_name("kept"))
    return Place(folder, asked_run, folder / "releases" / "sample" / "1.0.0")


@pytest.fixture
def place(made: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same as it was, as the working directory."""
    shutil.rmtree(made.folder)
    shutil.copytree(made.folder.with_name("kept"), made.folder)  # with the times of its files
    monkeypatch.chdir(made.folder)
    return replace(made)


def flip(path: Path) -> None:
    """Change one bit of a file, and neither its size nor its time."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_what_has_not_changed_is_told_and_not_made(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    (outcome,) = outcomes(place.asked_run, make_anew)
    again_lines = capsys.readouterr().err.splitlines()
    (made_outcome,) = make(print)
    made_lines = capsys.readouterr().out.splitlines()
    assert replace(outcome, seconds=1.25) == made_outcome  # which found its content there, too
    assert again_lines[:3] == [
        "sample: nothing that it is made from has changed",
        "  1.0.0 holds this very content already: nothing written",
        "  verified: releases/sample/1.0.0",
    ]
    *table_lines, warning_line = again_lines[3:]
    assert warning_line == WARNING
    assert [line for line in table_lines if "seconds" not in line] == [
        line for line in made_lines[2:] if "seconds" not in line
    ]


Change = Callable[[Place], object]
CHANGES: dict[str, Change] = {
    "a template": lambda place: flip(place.folder / "templates" / "P54.yaml"),
    "a template of its own": lambda place: (place.folder / "templates" / "P39.yaml").touch(),
    "corrections": lambda place: (place.folder / "corrections.yaml").write_text("[]"),
    "an input's time": lambda place: os.utime(place.folder / "news" / "news-2020.jsonl", (1, 1)),
    "another input file": lambda place: (place.folder / "news" / "news-2021.jsonl").touch(),
    "no input": lambda place: shutil.rmtree(place.folder / "news"),
    "rows": lambda place: flip(place.release / "data" / "updated" / "2021Q3.parquet"),
    "a card": lambda place: (place.release / "README.md").unlink(),
    "the manifest": lambda place: flip(place.release / "manifest.json"),
    "a file that is no release's": lambda place: (place.release / ".hidden").touch(),
    "a link": lambda place: linked(place.release / "README.md"),
    "the release": lambda place: shutil.rmtree(place.folder / "releases"),
    "another version": lambda place: shutil.copytree(
        place.release, place.release.with_name("1.1.0")
    ),
    "the note": lambda place: flip(place.asked_run.note_path()),
    "half of the note": lambda place: os.truncate(place.asked_run.note_path(), 100),
    "the build folder": lambda place: shutil.rmtree(place.folder / "build"),
    "an option": lambda place: setattr(
        place, "asked_run", replace(place.asked_run, options={"version": None, "limit": 4})
    ),
    "another recipe": lambda place: setattr(
        place, "asked_run", replace(place.asked_run, recipes=("timeqa",))
    ),
    "a recipe of this name": lambda place: (place.folder / "wmt-question-dates").touch(),
}


def linked(path: Path) -> None:
    """Put a link in the place of a file, to the same content."""
    path.rename(path.parents[2] / path.name)
    path.symlink_to(path.parents[2] / path.name)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_has_changed_is_made_anew(change: Change, place: Place) -> None:
    change(place)
    with pytest.raises(MadeAnewError):
        outcomes(place.asked_run, make_anew)


def test_an_input_is_believed_as_long_as_its_size_and_time_are_the_same(place: Place) -> None:
    """The rule of `Workspace.checksum`, for dumps of 100 GB are read once."""
    input_file = place.folder / "news" / "news-2020.jsonl"
    workspace = Workspace(place.folder / "build", print)
    checksum = workspace.checksum(input_file)
    flip(input_file)
    assert workspace.checksum(input_file) == checksum
    outcomes(place.asked_run, make_anew)


@pytest.mark.parametrize(
    "changed",
    [
        {"given": {"dump": ["https://localhost/dump.json.gz"]}},
        {"given": {"dump": ["latest"]}},
        {"given": {"news": ["news/*.jsonl"]}},
        {"recipes": ("builders/recipes/wmt-question-dates.yaml",)},
        {"recipes": ("two-hop",)},
    ],
)
def test_what_may_change_elsewhere_has_no_note(
    changed: dict[str, Sequence[str]], place: Place
) -> None:
    place.asked_run = replace(place.asked_run, **changed)  # type: ignore[arg-type]
    outcomes(place.asked_run, make)
    with pytest.raises(MadeAnewError):
        outcomes(place.asked_run, make_anew)


def test_installed_packages_count(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    info_folder = place.folder / "libraries" / "thing-1.0.dist-info"
    info_folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(info_folder.parent)
    states = [place.asked_run.state()]
    for version in ("1.0", "1.1", "1.0"):
        (info_folder / "METADATA").write_text(f"Name: thing\nVersion: {version}\n")
        states.append(place.asked_run.state())
    assert None not in states
    assert states[1] == states[3] and len(set(states)) == 3
    entry_points = "[factdrift.datasets]\nthing = thing:Thing\n"
    (info_folder / "entry_points.txt").write_text(entry_points)
    assert place.asked_run.state() is None


def test_what_is_edited_while_it_is_made_is_made_anew(place: Place) -> None:
    template = place.folder / "templates" / "P54.yaml"

    def make_and_edit(say: Say) -> list[Outcome]:
        made_outcomes = make(say)
        template.write_text("edited")
        return made_outcomes

    template.write_text("another")
    outcomes(place.asked_run, make_and_edit)
    template.write_text("another")
    with pytest.raises(MadeAnewError):
        outcomes(place.asked_run, make_anew)


def test_another_run_is_waited_for(place: Place) -> None:
    with locked(place.folder / "build"), pytest.raises(UserError, match="another run is at work"):
        outcomes(place.asked_run, make_anew)


STATES = """
import sys
from pathlib import Path
from factdrift.builders.release.unchanged import AskedRun
from tests.test_unchanged import flip

home = Path(sys.argv[1])
asked_run = AskedRun((), {}, Path("r"), Path("b"), home / "templates", None)
state = asked_run.state()
for place in sys.argv[2:]:
    flip(home / place)
    assert asked_run.state() != state, place
    flip(home / place)
    assert asked_run.state() == state, place
print(state is not None)
"""


@pytest.mark.slow
def test_a_byte_of_the_projects_own_files_is_seen(tmp_path: Path) -> None:
    """In a copy of the checkout, whose files are changed one after the other."""
    for name in (*OWN_FOLDERS, "factdrift"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignored)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    places = [
        "builders/recipes/timeqa.yaml",
        "builders/core/dates.py",
        "factdrift/__init__.py",
        "reasoning/states.py",
        "samples/wikidata/wikidata-20260202-all.json.gz",
        "templates/P54.yaml",
        "data_cards/papers.bib",
        "data_cards/timeqa/prose.md",
    ]
    completed = run_process(
        *(sys.executable, "-c", STATES, tmp_path, *places),
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert completed.stdout == "True\n"


MODULES = """
import sys
from factdrift.__main__ import main

try:
    main()
finally:
    heavy = ("duckdb", "ibis", "pyarrow", "spacy", "matplotlib", "numpy")
    print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.slow
def test_a_run_with_nothing_to_do_imports_no_library_of_tables(tmp_path: Path) -> None:
    words = ("release", "wmt-question-dates", "--json")
    runs = [run_process(sys.executable, "-c", MODULES, *words, cwd=tmp_path) for _ in range(2)]
    assert "making" in runs[0].stderr and "making" not in runs[1].stderr
    assert runs[1].stdout.splitlines()[-1] == "[]" != runs[0].stdout.splitlines()[-1]
    shutil.rmtree(tmp_path / "build" / "used" / "runs")
    long_way = run_process(sys.executable, "-c", MODULES, *words, cwd=tmp_path)
    for name in ("level", "summary", "folder", "configs", "dropped", "next"):
        printed = [line for line in runs[1].stdout.splitlines() if f'"{name}"' in line]
        assert printed == [line for line in long_way.stdout.splitlines() if f'"{name}"' in line]
