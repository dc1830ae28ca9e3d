"""Steps: what makes one anew, what is reused, what a killed one leaves for the next."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from factdrift.builders.ckl.clozes import CKLClozes
from factdrift.builders.ckl.easy import NewLAMAEasyClozes
from factdrift.builders.ckl.questions import CKLQuestions
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, RecipeInput, Run, Source
from factdrift.builders.core.steps import NOT_IN_KEY, Files, Step, Workspace
from factdrift.builders.generate import prompts
from factdrift.builders.rows import Gold
from factdrift.builders.streamingqa.dataset import StreamingQA
from tests.histories import parquet


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

    def make(self, out: Path, at: Workspace) -> None:
        (out / "numbers").write_text(" ".join(map(str, range(self.count))), "utf-8")


class Sum(Step):
    """Their sum."""

    name: ClassVar[str] = "sum"

    numbers: tuple[Numbers, ...]
    other: Numbers | None = None

    def make(self, out: Path, at: Workspace) -> None:
        found = [(at.folder(one) / "numbers").read_text("utf-8") for one in self.numbers]
        (out / "sum").write_text(str(sum(int(n) for text in found for n in text.split())), "utf-8")


class Stealing(Step):
    """A step that reads what it does not declare."""

    name: ClassVar[str] = "stealing"

    def make(self, out: Path, at: Workspace) -> None:
        at.folder(Numbers())


def test_a_copy_with_another_field_has_a_key_of_its_own() -> None:
    two = Numbers(count=2)
    total = Sum(numbers=(two,))
    assert (two.key, total.inputs) != (Numbers(count=3).key, (Numbers(count=3),))
    three = two.model_copy(update={"count": 3})
    assert three.key == Numbers(count=3).key != two.key
    assert total.model_copy(update={"numbers": (three,)}).inputs == (three,)


def workspace(folder: Path) -> tuple[Workspace, list[str]]:
    said: list[str] = []
    return Workspace(folder / "build", said.append), said


def test_a_step_is_made_once_with_its_inputs_first(tmp_path: Path) -> None:
    at, said = workspace(tmp_path)
    step = Sum(numbers=(Numbers(count=3), Numbers(count=4)))
    assert (at.folder(step) / "sum").read_text("utf-8") == "9"
    assert [line.split()[:2] for line in said] == [
        ["numbers:", "making"], ["numbers:", "making"], ["sum:", "making"],
    ]  # fmt: skip
    again, said = workspace(tmp_path)
    again.folder(step)
    again.folder(step)
    assert [line.split()[:2] for line in said] == [["sum:", "reused"]]  # said once


def test_only_declared_inputs_can_be_read(tmp_path: Path) -> None:
    at, _ = workspace(tmp_path)
    with pytest.raises(LookupError, match="stealing reads numbers"):
        at.folder(Stealing())
    assert not [p for p in at.root.iterdir() if not p.name.startswith(".")]


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
    others = [
        Numbers(),
        Numbers(count=3, settings=base.settings),
        Numbers(day=date(2020, 1, 3), settings=base.settings),
        Numbers(settings=Settings(words=words, most=4)),
        Numbers(settings=Settings(words=edited)),
    ]
    assert len({one.key for one in [base, *others]}) == len(others) + 1
    assert Sum(numbers=(base,)).key != Sum(numbers=(others[0],)).key
    assert Sum(numbers=(base, base)).key != Sum(numbers=(base,)).key
    assert Sum(numbers=(base,), other=base).inputs == (base,)
    with pytest.raises(UserError, match="none: no such file"):
        _ = Numbers(settings=Settings(words=tmp_path / "none")).key


@pytest.mark.parametrize(
    ("path", "sha", "same"), [("/b/x", "1", True), ("/a/y", "1", False), ("/a/x", "2", False)]
)
def test_files_count_by_name_and_content(path: str, sha: str, same: bool) -> None:
    keys = [Files((Path(p),), (s,)).key_data() for p, s in (("/a/x", "1"), (path, sha))]
    assert (keys[0] == keys[1]) is same


class Killed(Step):
    """A step that is killed when its folder is empty."""

    name: ClassVar[str] = "killed"

    def make(self, out: Path, at: Workspace) -> None:
        first = not any(out.iterdir())
        (out / "half").touch()
        if first:
            raise KeyboardInterrupt


class Resuming(Killed):
    """One that goes on from there."""

    resumes: ClassVar[bool] = True


def test_a_killed_step_begins_anew_or_goes_on(tmp_path: Path) -> None:
    at, _ = workspace(tmp_path)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            at.folder(Killed())
    with pytest.raises(KeyboardInterrupt):
        at.folder(Resuming())
    made = at.folder(Resuming())
    assert sorted(p.name for p in at.root.iterdir()) == [f".killed-{Killed().key}.tmp", made.name]


def a_run(folder: Path, say: Callable[[str], None], *layouts: str) -> Run:
    """Two days of news without a name, number, day or place to ask for, and gold about neither."""
    folder.mkdir(exist_ok=True)
    days = {"2020-05-04": "it rained.\nit was wet.", "2020-06-05": "it rained.\nit was very wet."}
    lines = [json.dumps({"date": day, "text": text}) + "\n" for day, text in days.items()]
    (folder / "news.jsonl").write_text("".join(lines), "utf-8")
    said = [Gold("a", layout, "d 1.0.0", "accepted", "{}", "{}", 1, 1) for layout in layouts]
    paths = {"news": folder / "news.jsonl"}
    if said:
        paths["gold"] = parquet(folder / "gold.parquet", Gold, said)
    inputs = {}
    for kind, path in paths.items():
        about = RecipeInput.model_validate({"kind": kind, "licence": "CC0-1.0"})
        inputs[kind] = Source(kind, (path,), ("0",), date(2021, 12, 31), about)
    return Run(folder / "recipe.yaml", inputs, folder, Workspace(folder / "build", say), 0)


def openai(folder: Path) -> dict[str, Any]:
    """A server that is never asked, with a prompt file of one's own."""
    own = shutil.copy(prompts.DEFAULT, folder / "mine.yaml")
    server = {"backend": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    return {**server, "prompts": own}


@pytest.mark.parametrize(
    ("step", "kind", "part"),
    [
        pytest.param("model-questions", StreamingQA, "generate", marks=pytest.mark.slow),
        ("ckl-questions", CKLQuestions, "generate"),
        ("ckl-clozes", CKLClozes, "predict"),
        ("new-lama-easy-clozes", NewLAMAEasyClozes, "decontextualise"),
    ],
)
def test_an_edited_file_of_prompts_makes_a_step_anew(
    step: str, kind: type[DatasetBuilder], part: str, tmp_path: Path
) -> None:
    said: list[str] = []
    run = a_run(tmp_path, said.append, *(() if kind is StreamingQA else kind.layouts))
    name = kind.model_fields["builder"].annotation.__args__[0]  # type: ignore[union-attr]
    more = {"filters": ()} if kind is StreamingQA else {}
    builder = kind.model_validate({"builder": name, part: {"backend": openai(tmp_path)}, **more})

    def made() -> list[str]:
        said.clear()
        builder.build(replace(run, workspace=Workspace(tmp_path / "build", said.append)))
        return [line.split()[1] for line in said if line.strip().startswith(f"{step}:")]

    assert made() == ["making"]
    assert made() == ["reused"]
    path = tmp_path / "mine.yaml"
    path.write_text(path.read_text("utf-8") + "# edited\n", "utf-8")
    assert made() == ["making"]
