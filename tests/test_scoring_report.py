"""The report: figures, tables and rows to read, with nothing in it that runs."""

import html
import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.scoring.report import write_report
from factdrift.scoring.score import ScoreOptions, score_predictions
from samples.quarters.simulated import predict, stops_on
from tests.browser import SIZES, Browser, browser
from tests.conftest import run_cli
from tests.release_sample import publish

__all__ = ["browser"]
EVIL = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">'


STOPS = date(2022, 2, 10)


def scored(release: Path, file: Path, out: Path, model: str, **more: Any) -> Path:
    values = {"release": release, "file": file, "out": out, "model": model, **more}
    score_predictions(ScoreOptions(say=lambda line: None, **values))
    return out


@pytest.fixture(scope="module")
def made(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a model whose knowledge stops, and of one that answers with markup."""
    release = sample / "releases/dynamic-templama/1.0.0"
    folder = tmp_path_factory.mktemp("report")
    old = stops_on(release, STOPS)

    def says(row: Any) -> str:
        return old(row) if int(row["id"], 16) % 3 else EVIL

    configs = ("updated", "new")
    models = {"stale": old, f"evil {EVIL}": says}
    for number, (name, model) in enumerate(models.items()):
        file = predict(release, folder / f"{number}.jsonl", model, configs)
        scored(release, file, folder / f"scores{number}", name, configs=configs, cutoff=STOPS)
    page = folder / "page/report.html"
    said = run_cli("report", folder / "scores0", folder / "scores1", "--to", page.parent).stdout
    assert said == f"open {page}\n"
    return page


def test_the_page_stands_alone(made: Path) -> None:
    text = made.read_text("utf-8")
    assert EVIL not in text
    assert html.escape(EVIL, quote=False).replace('"', "&#34;") in text
    assert not re.search(r"<script|<img src=x|https?://", text)
    names = {path.name for path in made.parent.iterdir()}
    every = ("period", "outdated", "began", "lag", "relation")
    assert names == {"report.html", *(f"{n}{s}.png" for n in every for s in ("", "-phone"))}
    for title in ("Verdicts", "Model against model", "When knowledge stops", "Rows to read"):
        assert title in text


def test_the_same_scores_give_the_same_page(made: Path, tmp_path: Path) -> None:
    folders = [made.parents[1] / f"scores{n}" for n in (0, 1)]
    again = write_report(folders, tmp_path / "page")
    assert again.read_bytes() == made.read_bytes()


@pytest.mark.parametrize("size", SIZES)
def test_nothing_runs_and_nothing_is_cut_off(made: Path, browser: Browser, size: str) -> None:
    browser.size(size)
    browser.go(made.as_uri())
    assert browser.js("return document.title") == "dynamic-templama 1.0.0: scores"
    assert browser.js("return document.scripts.length") == 0
    wide = "return document.documentElement.scrollWidth - window.innerWidth"
    assert browser.js(wide) <= 0
    loaded = "return [...document.images].every(i => i.complete && i.naturalWidth > 0)"
    assert browser.js(loaded)
    assert browser.messages() == []


def scores_of(release: Path, folder: Path, names: Sequence[str]) -> list[Path]:
    file = predict(release, folder / "p.jsonl", lambda row: "C1")
    return [scored(release, file, folder / name, name) for name in names]


def test_what_cannot_be_shown_together_is_told(tmp_path: Path) -> None:
    release = publish(tmp_path / "r").folder
    first, second = scores_of(release, tmp_path, ["a", "b"])
    summary = json.loads((second / "scores.json").read_text())
    (second / "scores.json").write_text(json.dumps(summary | {"version": "2.0.0"}))
    for folders, message in (
        ([first, first], "two scores of a model named 'a'"),
        ([first] * 7, "at most 6"),
        ([first, second], "scores of different releases"),
        ([tmp_path / "none"], "there is no such folder"),
    ):
        with pytest.raises(UserError, match=message):
            write_report(folders, tmp_path / "page")
    for broken in ("{", "[]", '{"model": 1}', "[" * 100_000):
        (second / "scores.json").write_text(broken)
        with pytest.raises(UserError, match="no scores"):
            write_report([second], tmp_path / "page")
