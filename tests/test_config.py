"""The YAML loader: what it takes as meant, and each mistake with its line."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationInfo, field_validator, model_validator

from factdrift.builders.core.config import Strict, did_you_mean, display_path, load, mistakes
from factdrift.builders.core.errors import UserError
from tests.tables import read_table


class Inner(Strict):
    name: str
    count: int = 0


class Cut(Strict):
    use: Literal["cut"]
    length: int


class Join(Strict):
    use: Literal["join"]
    parts: tuple[str, ...]


class Outer(Strict):
    label: str = ""
    size: int = 0
    ratio: float = 0.0
    keep: bool = False
    day: date = date(2000, 1, 1)
    names: tuple[str, ...] = ()
    either: int | str = 0
    mode: Literal["one", "two"] = "one"
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    by_name: dict[str, Inner] = Field(default_factory=dict)
    three: tuple[str, ...] = Field(default=("a", "b", "c"), min_length=3)
    steps: tuple[Annotated[Cut | Join, Field(discriminator="use")], ...] = ()

    @field_validator("names")
    @classmethod
    def _no_x(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unwanted_names := [
            ((i,), f"{n} is not wanted") for i, n in enumerate(names) if n == "x"
        ]:
            raise mistakes(unwanted_names)
        return names

    @model_validator(mode="after")
    def _size(self) -> "Outer":
        if self.size < 0:
            raise ValueError("the size is negative")
        return self

    @field_validator("label")
    @classmethod
    def _of_this_file(cls, label: str, info: ValidationInfo) -> str:
        assert info.context is not None
        return str(info.context["path"].stem) if label == "stem" else label


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, text: str, name: str = "a.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "field", "value"), read_table("config_meant"))
def test_what_is_meant(here: Path, text: str, field: str, value: str) -> None:
    assert repr(getattr(load(written(here, text), Outer), field)) == value


@pytest.mark.parametrize(("text", "message"), read_table("config_mistakes"))
def test_mistakes(here: Path, text: str, message: str) -> None:
    """Each on its line, in the order of the file; one slip is one line."""
    with pytest.raises(UserError) as raised_error:
        load(written(here, text), Outer)
    lines = zip(str(raised_error.value).splitlines(), message.splitlines(), strict=True)
    assert [
        mistake_line for mistake_line, start in lines if not mistake_line.startswith(start)
    ] == []


def test_files_that_cannot_be_read(here: Path) -> None:
    written(here, "label: a", "P54.yaml")
    with pytest.raises(UserError, match=r"^P45.yaml: no such file\n  did you mean P54.yaml\?$"):
        load(here / "P45.yaml", Outer)
    with pytest.raises(UserError, match=r"^none/at.yaml: no such file$"):
        load(Path("none/at.yaml"), Outer)
    (here / "latin.yaml").write_bytes("label: Besançon".encode("latin-1"))
    with pytest.raises(UserError, match=r"^latin.yaml: cannot be read: 'utf-8' codec"):
        load(here / "latin.yaml", Outer)
    with pytest.raises(UserError, match=r"^\.: cannot be read"):
        load(here, Outer)


@pytest.mark.parametrize(
    ("word", "choices", "expected"),
    [
        ("clozes", ["cloze", "label"], "cloze"),
        ("LABEL", ["cloze", "label"], "label"),
        ("p54", ["P54", "P39"], "P54"),
        ("weather", ["cloze", "label"], None),
        ("zsre", ["stream", "ckl"], None),
        ("a", [], None),
    ],
)
def test_did_you_mean(word: str, choices: list[str], expected: str | None, here: Path) -> None:
    assert did_you_mean(word, choices) == expected
    assert display_path(here / "a" / "b.yaml") == display_path(Path("a/b.yaml")) == "a/b.yaml"
    assert display_path(here.parent / "c.yaml") == str(here.parent / "c.yaml")
