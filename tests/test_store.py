"""Steps: what makes one anew, what is reused, what a killed one leaves for the next."""

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.joins import Sources
from builders.ckl.clozes import CKLClozes
from builders.ckl.easy_clozes import NewLAMAEasyClozes
from builders.ckl.questions import CKLQuestions
from builders.errors import UserError
from builders.questions import prompts
from builders.questions.streamingqa import StreamingQA
from builders.rows import Article, Gold
from builders.run import DatasetBuilder, Input, Run, Source
from builders.schema import arrow_schema, batches
from builders.store import Store, code_digest, files_sha256
from filters.search_index import Index
from tests.test_filters_search import KilledError, article, dump, killed_after

FILTERS = [{"filter": "search"}]


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("written_here", path)
    assert spec
    return importlib.util.module_from_spec(spec)


@pytest.mark.parametrize(
    ("edited", "anew"),
    [("__init__.py", True), ("deep/data.yaml", True), ("deep/b.py", True), ("notes.txt", False)],
)
def test_the_code_of_a_package(tmp_path: Path, edited: str, anew: bool) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("__init__.py", "deep/data.yaml", "deep/b.py", "notes.txt"):
        (tmp_path / name).write_text("a: 1\n", "utf-8")
    package = imported(tmp_path / "__init__.py")
    before = code_digest(package)
    (tmp_path / edited).write_text("a: 2\n", "utf-8")
    assert (code_digest(package) != before) == anew


def test_files_that_settings_name(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name, "utf-8")
    a, b, c = (tmp_path / name for name in "abc")
    found = files_sha256({"z": a, "y": ({"x": b}, None, "c"), "w": [c], "v": 3})
    assert [sha[:6] for sha in found] == ["2e7d2c", "3e23e8", "ca9781"]  # w, y, z: c, b, a
    with pytest.raises(UserError, match="none: cannot be read"):
        files_sha256([tmp_path / "none"])


@pytest.mark.parametrize(("version", "anew"), [("digest of others", True), (1, False)])
def test_the_module_of_make_is_part_of_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | int, anew: bool
) -> None:
    path = tmp_path / "steps_written_here.py"
    path.write_text("def make(out):\n    (out / 'x').touch()\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import steps_written_here  # type: ignore[import-not-found]

    store = Store(tmp_path / "build", lambda _: None)

    def key() -> str:
        made = store.step("s", steps_written_here.make, version=version, parameters={})
        return made.key

    before = key()
    assert key() == before
    path.write_text("def make(out):\n    (out / 'y').touch()\n", "utf-8")
    assert (key() != before) == anew


def builds(store: Store, articles: Iterable[Article], resumes: bool) -> Path:
    def make(out: Path) -> None:
        Index.build(articles, out / "index", every=10)

    return store.step("i", make, version=1, parameters={}, resumes=resumes).path


def test_a_killed_index_goes_on_within_its_step(tmp_path: Path) -> None:
    store = Store(tmp_path / "build", lambda _: None)
    whole = Index.build(map(article, range(60)), tmp_path / "whole", every=25)
    with pytest.raises(KilledError):
        builds(store, killed_after(50), True)
    with pytest.raises(UserError, match="half-built"):  # it is there, and is gone on with
        builds(store, map(article, range(1, 100)), True)
    made = builds(store, map(article, range(60)), True)
    assert dump(Index(made / "index")) == dump(whole)
    assert sorted(p.name for p in store.root.iterdir()) == [made.name]


def test_another_step_begins_anew(tmp_path: Path) -> None:
    store = Store(tmp_path / "build", lambda _: None)
    with pytest.raises(KilledError):
        builds(store, killed_after(50), False)
    made = builds(store, map(article, range(1, 30)), False)
    assert Index(made / "index").articles == 29


def a_run(folder: Path, say: Callable[[str], None], *layouts: str) -> Run:
    """Two days of news in which no name, day or place can be asked for, and gold about neither."""
    folder.mkdir(exist_ok=True)
    news, gold = folder / "news.jsonl", folder / "gold.parquet"
    days = ("2020-05-04", "2020-06-05")
    rows = [
        {"date": day, "text": f"it rained.\nit was wet {n} times."} for n, day in enumerate(days)
    ]
    news.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    said = [Gold("a", layout, "d 1.0.0", "accepted", "{}", "{}", 1, 1) for layout in layouts]
    pq.write_table(pa.Table.from_batches(list(batches(Gold, said)), arrow_schema(Gold)), gold)
    inputs = {
        name: Source(name, (path,), ("0",), date(2021, 12, 31), about)
        for name, path, about in (
            ("news", news, Input(kind="news", licence="CC0-1.0")),
            ("gold", gold, Input(kind="gold", licence="CC0-1.0")),
        )
        if name == "news" or layouts
    }
    store = Store(folder / "build", say)
    return Run(folder / "recipe.yaml", inputs, folder, store, "duckdb", 1, "1GB", 0)


def openai(folder: Path) -> dict[str, Any]:
    """A server that is never asked, with a prompt file of one's own."""
    shutil.copy(prompts.DEFAULT, folder / "mine.yaml")
    return {
        "backend": "openai",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "prompts": folder / "mine.yaml",
    }


def entities(folder: Path, label: str) -> Path:
    table = {"id": ["Q1", "P54"], "label": [label, "member of"], "aliases": [[], []]}
    pq.write_table(pa.table(table), folder / "entities.parquet")
    return folder / "entities.parquet"


CASES: list[tuple[str, type[DatasetBuilder], str, Callable[[Path], dict[str, Any]]]] = [
    (
        "questions",
        StreamingQA,
        "mine.yaml",
        lambda f: {"filters": (), "generate": {"backend": openai(f)}},
    ),
    (
        "questions",
        StreamingQA,
        "entities.parquet",
        lambda f: {"filters": (), "generate": {"candidates": {"entities": entities(f, "A B")}}},
    ),
    ("ckl-questions", CKLQuestions, "mine.yaml", lambda f: {"generate": {"backend": openai(f)}}),
    (
        "ckl-questions",
        CKLQuestions,
        "entities.parquet",
        lambda f: {"generate": {"candidates": {"entities": entities(f, "A B")}}},
    ),
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
        builder.build(run)
        return [line.split()[1] for line in said if line.strip().startswith(f"{step}:")]

    assert made() == ["making"]
    assert made() == ["reused"]
    if file == "mine.yaml":
        text = (tmp_path / file).read_text("utf-8")
        (tmp_path / file).write_text(text + "# edited\n", "utf-8")
    else:
        entities(tmp_path, "C D")
    assert made() == ["making"]


def test_the_indexes_of_both_callers_go_on(tmp_path: Path) -> None:
    said: list[str] = []
    run = a_run(tmp_path, said.append)
    builder = StreamingQA.model_validate({"builder": "streamingqa", "filters": FILTERS})
    news = [str(path) for path in run.inputs["news"].files]
    hit = Sources(news, None, None, run.store)

    def build() -> None:
        builder.build(run)
        hit.find("search", ["wet"])

    build()
    done = sorted(p for p in run.store.root.iterdir() if "search-" in p.name)
    assert [p.name.rsplit("-", 1)[0] for p in done] == ["annotation-search", "search-index"]
    for folder in done:
        left = folder.with_name(f".{folder.name}.tmp")
        folder.rename(left)
        (left / "left").touch()
    build()
    assert all((folder / "left").exists() for folder in done)
