"""Steps: what makes one anew, what is reused, what a killed one leaves for the next."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.annotation.items import TextSources
from factdrift.builders.ckl.clozes import CKLClozes
from factdrift.builders.ckl.easy import NewLAMAEasyClozes
from factdrift.builders.ckl.questions import CKLQuestions
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, RecipeInput, Run, Source
from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.core.steps import NOT_IN_KEY, Files, Step, Workspace
from factdrift.builders.generate import prompts
from factdrift.builders.rows import Article, Gold
from factdrift.builders.streamingqa.dataset import StreamingQA
from factdrift.filters.search_index import Index
from tests.test_filters_search import KilledError, article, dump, killed_after

FILTERS = [{"filter": "search"}]


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
    same = [
        Numbers(settings=Settings(words=words), offline=True),
        Numbers(settings=Settings(words=Path(moved))),
    ]
    assert {one.key for one in same} == {base.key}
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


def test_files_count_by_name_and_content() -> None:
    def key(path: str, sha: str) -> Any:
        return Files((Path(path),), (sha,)).key_data()

    assert key("/a/x", "1") == key("/b/x", "1")
    assert len({str(key(*one)) for one in (("/a/x", "1"), ("/a/y", "1"), ("/a/x", "2"))}) == 3


class IndexOf(Step):
    """An index of articles, whose making can be killed."""

    name: ClassVar[str] = "i"
    resumes: ClassVar[bool] = True
    articles: ClassVar[Callable[[], Iterator[Article]]]

    def make(self, out: Path, at: Workspace) -> None:
        Index.build(type(self).articles(), out / "index", every=10)


class AnotherIndexOf(IndexOf):
    """One that begins anew."""

    resumes: ClassVar[bool] = False


def indexed(at: Workspace, step: IndexOf, articles: Iterator[Article]) -> Path:
    type(step).articles = lambda: articles
    return at.folder(step)


def test_a_killed_step_goes_on(tmp_path: Path) -> None:
    at, _ = workspace(tmp_path)
    whole = Index.build(map(article, range(60)), tmp_path / "whole", every=25)
    with pytest.raises(KilledError):
        indexed(at, IndexOf(), killed_after(50))
    with pytest.raises(UserError, match="half-built"):  # it is there, and is gone on with
        indexed(at, IndexOf(), map(article, range(1, 100)))
    made = indexed(at, IndexOf(), map(article, range(60)))
    assert dump(Index(made / "index")) == dump(whole)
    assert sorted(p.name for p in at.root.iterdir()) == [made.name]


def test_another_step_begins_anew(tmp_path: Path) -> None:
    at, _ = workspace(tmp_path)
    with pytest.raises(KilledError):
        indexed(at, AnotherIndexOf(), killed_after(50))
    made = indexed(at, AnotherIndexOf(), map(article, range(1, 30)))
    assert Index(made / "index").articles == 29


def a_run(folder: Path, say: Callable[[str], None], *layouts: str) -> Run:
    """Two days of news without a name, number, day or place to ask for, and gold about neither."""
    folder.mkdir(exist_ok=True)
    news, gold = folder / "news.jsonl", folder / "gold.parquet"
    days = ("2020-05-04", "2020-06-05")
    rows = [
        {"date": day, "text": f"it rained.\nit was {'very ' * n}wet."} for n, day in enumerate(days)
    ]
    news.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    said = [Gold("a", layout, "d 1.0.0", "accepted", "{}", "{}", 1, 1) for layout in layouts]
    pq.write_table(pa.Table.from_batches(list(batches(Gold, said)), arrow_schema(Gold)), gold)
    inputs = {
        name: Source(name, (path,), ("0",), date(2021, 12, 31), about)
        for name, path, about in (
            ("news", news, RecipeInput(kind="news", licence="CC0-1.0")),
            ("gold", gold, RecipeInput(kind="gold", licence="CC0-1.0")),
        )
        if name == "news" or layouts
    }
    return Run(folder / "recipe.yaml", inputs, folder, Workspace(folder / "build", say), 0)


def openai(folder: Path) -> dict[str, Any]:
    """A server that is never asked, with a prompt file of one's own."""
    shutil.copy(prompts.DEFAULT, folder / "mine.yaml")
    return {
        "backend": "openai",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "prompts": folder / "mine.yaml",
    }


CASES: list[Any] = [
    pytest.param(
        "model-questions",
        StreamingQA,
        "mine.yaml",
        lambda f: {"filters": (), "generate": {"backend": openai(f)}},
        marks=pytest.mark.slow,
    ),
    ("ckl-questions", CKLQuestions, "mine.yaml", lambda f: {"generate": {"backend": openai(f)}}),
    ("ckl-clozes", CKLClozes, "mine.yaml", lambda f: {"predict": {"backend": openai(f)}}),
    (
        "new-lama-easy-clozes",
        NewLAMAEasyClozes,
        "mine.yaml",
        lambda f: {"decontextualise": {"backend": openai(f)}},
    ),
]


@pytest.mark.parametrize(("step", "kind", "file", "more"), CASES)
def test_an_edited_file_makes_a_step_anew(
    step: str,
    kind: type[DatasetBuilder],
    file: str,
    more: Callable[[Path], dict[str, Any]],
    tmp_path: Path,
) -> None:
    said: list[str] = []
    run = a_run(tmp_path, said.append, *(() if kind is StreamingQA else kind.layouts))
    name = kind.model_fields["builder"].annotation.__args__[0]  # type: ignore[union-attr]
    builder = kind.model_validate({"builder": name, **more(tmp_path)})

    def made() -> list[str]:
        said.clear()
        builder.build(replace(run, workspace=Workspace(tmp_path / "build", said.append)))
        return [line.split()[1] for line in said if line.strip().startswith(f"{step}:")]

    assert made() == ["making"]
    assert made() == ["reused"]
    text = (tmp_path / file).read_text("utf-8")
    (tmp_path / file).write_text(text + "# edited\n", "utf-8")
    assert made() == ["making"]


@pytest.mark.slow
def test_the_indexes_of_both_callers_go_on(tmp_path: Path) -> None:
    said: list[str] = []
    run = a_run(tmp_path, said.append)
    builder = StreamingQA.model_validate({"builder": "streamingqa", "filters": FILTERS})
    news = [str(path) for path in run.inputs["news"].files]
    hit = TextSources(news, None, None, run.workspace)

    def build() -> None:
        run.workspace.found.clear()
        builder.build(run)
        hit.find("search", ["wet"])

    build()
    done = sorted(p for p in run.workspace.root.iterdir() if "search-" in p.name)
    assert [p.name.rsplit("-", 1)[0] for p in done] == ["annotation-search", "search-index"]
    for asking in run.workspace.root.glob("*questions-*"):
        shutil.rmtree(asking)
    for folder in done:
        left = folder.with_name(f".{folder.name}.tmp")
        folder.rename(left)
        (left / "left").touch()
    build()
    assert all((folder / "left").exists() for folder in done)
