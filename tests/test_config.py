"""The YAML loader: what it takes as meant, and each mistake with its line."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationInfo, field_validator, model_validator

from factdrift.builders.core.config import Strict, did_you_mean, load, mistakes, shown
from factdrift.builders.core.errors import UserError


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
        if found := [((i,), f"{n} is not wanted") for i, n in enumerate(names) if n == "x"]:
            raise mistakes(found)
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


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("label: No", "label", "No"),
        ("label: true", "label", "true"),
        ("label: 2019", "label", "2019"),
        ("label: 007", "label", "007"),
        ("label: 2019-02-01", "label", "2019-02-01"),
        ("label: 1.10", "label", "1.10"),
        ("label: 1e3", "label", "1e3"),
        ("label: 'null'", "label", "null"),
        ("label: stem", "label", "a"),
        ("\ufefflabel: marked", "label", "marked"),
        ("names: [2019, no, 1.0]", "names", ("2019", "no", "1.0")),
        ("either: 5", "either", 5),
        ("either: '5'", "either", "5"),
        ("size: 5", "size", 5),
        ("ratio: 1", "ratio", 1.0),
        ("ratio: 2.5e-1", "ratio", 0.25),
        ("keep: true", "keep", True),
        ("keep: no", "keep", False),
        ("day: 2019-02-01", "day", date(2019, 2, 1)),
        ("inner:", "inner", None),
        ("inner: ~", "inner", None),
        ("inner: {name: 3}", "inner", Inner(name="3")),
        ("by_name: {2019: {name: a}}", "by_name", {"2019": Inner(name="a")}),
        ("steps:\n- {use: cut, length: 3}", "steps", (Cut(use="cut", length=3),)),
        ("steps:\n- {use: join, parts: [1]}", "steps", (Join(use="join", parts=("1",)),)),
    ],
)
def test_what_is_meant(here: Path, text: str, field: str, value: object) -> None:
    assert getattr(load(written(here, text), Outer), field) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size: 1\nlables: x", "a.yaml:2: lables: unknown field, did you mean 'label'?"),
        (
            "inner:\n  name: a\n  zzzz: 1",
            "a.yaml:3: inner.zzzz: unknown field, the fields are name, count",
        ),
        ("inner:\n  count: 1", "a.yaml:1: inner.name: missing"),
        ("many:\n- name: a\n- count: 1", "a.yaml:3: many[1].name: missing"),
        # one slip, one line: the field that was meant is not also missing
        ("inner:\n  nam: a", "a.yaml:2: inner.nam: unknown field, did you mean 'name'?"),
        (
            "\nby_name:\n  name:\n    count: 1\n    name: a\n    cuont: 2",
            "a.yaml:6: by_name.name.cuont: unknown field, did you mean 'count'?",
        ),
        (
            "steps:\n- use: cut\n  lenght: 3",
            "a.yaml:3: steps[0].lenght: unknown field, did you mean 'length'?",
        ),
        (
            "steps:\n- use: cut\n  length: 1\n  parts: [a]",
            "a.yaml:4: steps[0].parts: unknown field, the fields are use, length",
        ),
        ("label: [a]", "a.yaml:1: label: should be text, not a list"),
        ("label:\n  a: b", "a.yaml:1: label: should be text, not a mapping"),
        ("label:", "a.yaml:1: label: should be text, not nothing"),
        ("size: many", "a.yaml:1: size: should be a valid integer"),
        # a number as text does not hide another mistake
        ("label: 2019\nsize: b", "a.yaml:2: size: should be a valid integer"),
        ("names: a", "a.yaml:1: names: should be a list, not 'a'"),
        ("inner: [a]", "a.yaml:1: inner: should be a mapping, not a list"),
        ("by_name: 4", "a.yaml:1: by_name: should be a mapping, not 4"),
        ("three: [a]", "a.yaml:1: three: should have at least 3 items, not 1"),
        # an item that is wrong is not also an item too few
        ("three:\n- a\n- b\n- [c]", "a.yaml:4: three[2]: should be text, not a list"),
        ("mode: three", "a.yaml:1: mode: should be 'one' or 'two', not 'three'"),
        ("keep: maybe", "a.yaml:1: keep: should be a valid boolean"),
        ("names:\n- a\n- x\n- x", "a.yaml:3: names[1]: x is not wanted\na.yaml:4: names[2]: x is"),
        ("label: a\nsize: -1", "a.yaml:1: the size is negative"),
        ("- a", "a.yaml:1: should be a mapping, not a list"),
        ("just text", "a.yaml:1: should be a mapping, not 'just text'"),
        ("2019", "a.yaml:1: should be a mapping, not 2019"),
        ("", "a.yaml:1: the file is empty"),
        ("# nothing\n", "a.yaml:1: the file is empty"),
        ("label: a\nlabel: b", "a.yaml:2: label: given twice, first on line 1"),
        ("inner:\n  name: a\n  name: b", "a.yaml:3: inner.name: given twice, first on line 2"),
        ("size: 1\nlabel: !!python/name:os.system", "a.yaml:2: tags such as tag:yaml.org,2002:pyt"),
        ("label: !!str 5", "a.yaml:1: tags such as"),
        ("label: &x a\nnames: [*x]", "a.yaml:2: aliases are not allowed here"),
        ("? [a]\n: b", "a.yaml:1: a key must be plain text"),
        ("label: a\n  size: 1", "a.yaml:2: not valid YAML: mapping values are not allowed in this"),
        ("names: [a", "a.yaml:2: not valid YAML"),
        ("label: 'a", "a.yaml:1: not valid YAML"),
        ("label: a\n---\nlabel: b", "a.yaml:2: not valid YAML"),
        ("label: \x07", "a.yaml: not valid YAML"),
        ("<<: {label: a}", "a.yaml:1: <<: unknown field"),
    ],
)
def test_mistakes(here: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as e:
        load(written(here, text), Outer)
    assert str(e.value).startswith(message), str(e.value)
    assert str(e.value).count("\n") == message.count("\n")


def test_several_mistakes_stand_together_in_the_order_of_the_file(here: Path) -> None:
    text = "many:\n- count: a\nsize: b\nlabl: c\n"
    with pytest.raises(UserError) as e:
        load(written(here, text), Outer)
    starts = [line.split(": ")[0:2] for line in str(e.value).splitlines()]
    assert starts == [
        ["a.yaml:2", "many[0].name"],
        ["a.yaml:2", "many[0].count"],
        ["a.yaml:3", "size"],
        ["a.yaml:4", "labl"],
    ]


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
        ("a", [], None),
    ],
)
def test_did_you_mean(word: str, choices: list[str], expected: str | None, here: Path) -> None:
    assert did_you_mean(word, choices) == expected
    assert shown(here / "a" / "b.yaml") == shown(Path("a/b.yaml")) == "a/b.yaml"
    assert shown(here.parent / "c.yaml") == str(here.parent / "c.yaml")
