"""Steps: what makes one anew, what is reused, what a killed one leaves for the next."""

import shutil
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import RecipeInput, Source
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.generate import prompt_files
from factdrift.builders.generate.openai_servers import OpenAI
from tests.tables import names_of


class Settings(Strict):
    """Settings with a file."""

    words: Path | None = None
    most: int = 3


class Numbers(Step):
    """Some numbers."""

    name: ClassVar[str] = "numbers"

    count: int = 2
    day: date = date(2020, 1, 2)
    settings: Settings = Settings()
    offline: Annotated[bool, NOT_IN_KEY] = False

    def make(self, out: Path, workspace: Workspace) -> None:
        (out / "numbers").write_text(" ".join(map(str, range(self.count))), "utf-8")


class Sum(Step):
    """Their sum."""

    name: ClassVar[str] = "sum"

    numbers: tuple[Numbers, ...]
    other: Numbers | None = None

    def make(self, out: Path, workspace: Workspace) -> None:
        found_texts = [
            (workspace.folder(number_step) / "numbers").read_text("utf-8")
            for number_step in self.numbers
        ]
        (out / "sum").write_text(
            str(sum(int(number_text) for text in found_texts for number_text in text.split())),
            "utf-8",
        )


class Stealing(Step):
    """A step that reads what it does not declare."""

    name: ClassVar[str] = "stealing"

    def make(self, out: Path, workspace: Workspace) -> None:
        workspace.folder(Numbers())


def test_a_copy_with_another_field_has_a_key_of_its_own() -> None:
    two = Numbers(count=2)
    total = Sum(numbers=(two,))
    assert (two.key, total.inputs) != (Numbers(count=3).key, (Numbers(count=3),))
    three = two.model_copy(update={"count": 3})
    assert three.key == Numbers(count=3).key != two.key
    assert total.model_copy(update={"numbers": (three,)}).inputs == (three,)


def open_workspace(folder: Path) -> tuple[Workspace, list[str]]:
    printed_text: list[str] = []
    return Workspace(folder / "build", printed_text.append), printed_text


def test_a_step_is_made_once_with_its_inputs_first(tmp_path: Path) -> None:
    workspace, printed_text = open_workspace(tmp_path)
    step = Sum(numbers=(Numbers(count=3), Numbers(count=4)))
    assert (workspace.folder(step) / "sum").read_text("utf-8") == "9"
    assert [line.split()[:2] for line in printed_text] == [
        ["numbers:", "making"], ["numbers:", "making"], ["sum:", "making"],
    ]  # fmt: skip
    same_workspace, printed_text = open_workspace(tmp_path)
    same_workspace.folder(step)
    same_workspace.folder(step)
    assert [line.split()[:2] for line in printed_text] == [["sum:", "reused"]]  # said once


def test_only_declared_inputs_can_be_read(tmp_path: Path) -> None:
    workspace, _ = open_workspace(tmp_path)
    with pytest.raises(LookupError, match="stealing reads numbers"):
        workspace.folder(Stealing())
    assert not [
        step_folder
        for step_folder in workspace.root.iterdir()
        if not step_folder.name.startswith((".", "scratch"))
    ]


def test_what_a_key_holds(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("a", "utf-8")
    base = Numbers(settings=Settings(words=words))
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.copy(words, tmp_path / "elsewhere" / "other-name")
    assert Numbers(settings=Settings(words=words), offline=True).key == base.key
    assert Numbers(settings=Settings(words=Path(moved))).key == base.key
    edited = tmp_path / "edited"
    edited.write_text("b", "utf-8")
    other_steps = [
        Numbers(),
        Numbers(count=3, settings=base.settings),
        Numbers(day=date(2020, 1, 3), settings=base.settings),
        Numbers(settings=Settings(words=words, most=4)),
        Numbers(settings=Settings(words=edited)),
    ]
    assert len({any_step.key for any_step in [base, *other_steps]}) == len(other_steps) + 1
    assert Sum(numbers=(base,)).key != Sum(numbers=(other_steps[0],)).key
    assert Sum(numbers=(base, base)).key != Sum(numbers=(base,)).key
    assert Sum(numbers=(base,), other=base).inputs == (base,)
    with pytest.raises(UserError, match="none: no such file"):
        _ = Numbers(settings=Settings(words=tmp_path / "none")).key


@pytest.mark.parametrize(
    ("path", "sha", "same"), [("/b/x", "1", True), ("/a/y", "1", False), ("/a/x", "2", False)]
)
def test_files_count_by_name_and_content(path: str, sha: str, same: bool) -> None:
    about = RecipeInput(licence="CC0-1.0")
    first_sum, second_sum = (
        Source("news", (Path(file_path),), (file_sha,), date(2026, 1, 1), about).key_data()
        for file_path, file_sha in (("/a/x", "1"), (path, sha))
    )
    assert (first_sum == second_sum) is same


class Killed(Step):
    """A step that is killed when its folder is empty."""

    name: ClassVar[str] = "killed"

    def make(self, out: Path, workspace: Workspace) -> None:
        first = not any(out.iterdir())
        (out / "half").touch()
        if first:
            raise KeyboardInterrupt


def test_a_killed_step_begins_anew(tmp_path: Path) -> None:
    workspace, _ = open_workspace(tmp_path)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            workspace.folder(Killed())
    assert names_of(workspace.root.iterdir()) == [f".killed-{Killed().key}.tmp", "scratch"]


class Asking(Numbers):
    """A step that asks a model."""

    backend: OpenAI


def test_an_edited_file_of_prompts_is_another_key(tmp_path: Path) -> None:
    own = Path(shutil.copy(prompt_files.DEFAULT_PROMPTS, tmp_path / "mine.yaml"))
    model = OpenAI(base_url="http://127.0.0.1:9/v1", model="m", prompts=own)
    key_before = Asking(backend=model).key
    assert Asking(backend=model).key == key_before
    own.write_text(own.read_text("utf-8") + "# edited\n", "utf-8")
    assert Asking(backend=model).key != key_before
