"""The report: figures, tables and rows to read, with nothing in it that runs."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.scoring.metrics import VERDICTS
from factdrift.scoring.report import _figures, write_report
from factdrift.scoring.score import Mean, ScoreOptions, Scores, score_predictions
from factdrift.scoring.summary import summary_lines
from samples.quarters.simulated import predict, stops_on
from tests.browser import SIZES, Browser, browser
from tests.conftest import ROOT, run_cli
from tests.release_sample import BASE, PERIODS, Sample, publish

__all__ = ["browser"]
SORTING = (ROOT / "scoring/sortable.js").read_text("utf-8")
EVIL = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">'


STOPS = date(2022, 2, 10)


def scored(
    release_folder: Path, file: Path, out: Path, model_name: str, **further_words: Any
) -> Path:
    values = {
        "release": release_folder,
        "file": file,
        "out": out,
        "model": model_name,
        **further_words,
    }
    score_predictions(ScoreOptions(say=lambda line: None, **values))
    return out


@pytest.fixture(scope="module")
def report_folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a model whose knowledge stops, and of one that answers with markup."""
    release_folder = sample / "releases/dynamic-templama/1.0.0"
    scores_folder = tmp_path_factory.mktemp("report")
    old_rows = stops_on(release_folder, STOPS)

    def says(row: Any) -> str:
        return old_rows(row) if int(row["id"], 16) % 3 else EVIL

    configs = ("updated", "new")
    models = {"stale": old_rows, f"evil {EVIL}": says}
    for number, (name, model_name) in enumerate(models.items()):
        file = predict(release_folder, scores_folder / f"{number}.jsonl", model_name, configs)
        scored(
            release_folder,
            file,
            scores_folder / f"scores{number}",
            name,
            configs=configs,
            cutoff=STOPS,
        )
    page_file = scores_folder / "page/report.html"
    said_answers = run_cli(
        "report", scores_folder / "scores0", scores_folder / "scores1", "--to", page_file.parent
    ).stdout
    assert said_answers == f"{page_file}\n"
    return page_file


@pytest.mark.slow
def test_the_page_stands_alone(report_folder: Path) -> None:
    text = report_folder.read_text("utf-8")
    assert EVIL not in text
    assert html.escape(EVIL, quote=False).replace('"', "&#34;") in text
    assert not re.search(r"<img src=x|https?://", text)
    assert re.findall(r"<script.*?</script>", text, re.S) == [f"<script>{SORTING}</script>"]
    assert f"script-src 'sha256-{b64encode(sha256(SORTING.encode()).digest()).decode()}'" in text
    key = re.findall(r'<li><i class="(\w+)">', text)
    assert key == list(VERDICTS)
    assert [
        verdict for verdict in key if f".{verdict} {{ background: var(--{verdict})" not in text
    ] == []
    names = {path.name for path in report_folder.parent.iterdir()}
    figure_names = ("period", "outdated", "began", "lag", "relation")
    assert names == {
        "report.html",
        *(
            f"{folder_number}{size_suffix}.png"
            for folder_number in figure_names
            for size_suffix in ("", "-phone")
        ),
    }
    for title in ("Verdicts", "Model against model", "When knowledge stops", "Rows to read"):
        assert title in text


def test_the_same_scores_give_the_same_page(report_folder: Path, tmp_path: Path) -> None:
    folders = [report_folder.parents[1] / f"scores{folder_number}" for folder_number in (0, 1)]
    second_report = write_report(folders, tmp_path / "page")
    assert second_report.read_bytes() == report_folder.read_bytes()


@pytest.mark.parametrize("size", SIZES)
def test_nothing_runs_and_nothing_is_cut_off(
    report_folder: Path, browser: Browser, size: str
) -> None:
    browser.size(size)
    browser.go(report_folder.as_uri())
    assert browser.js("return document.title") == "dynamic-templama 1.0.0: scores"
    assert browser.js("return document.scripts.length") == 1
    page_width = "return document.documentElement.scrollWidth - window.innerWidth"
    assert browser.js(page_width) <= 0
    loaded_addresses = "return [...document.images].every(i => i.complete && i.naturalWidth > 0)"
    assert browser.js(loaded_addresses)
    assert browser.messages() == []


SORTED_TABLE = """<table class=sortable><thead><tr><th>model<th>score</thead><tbody>
<tr class=first><td>b<td data-sort=9.5>9.5 [1, 10]<tr><td>a10<td><tr><td>a9<td data-sort=10>10
</tbody></table><script>{script}</script>"""


def test_a_click_on_a_head_sorts_a_table(browser: Browser) -> None:
    """Numbers as numbers, the highest first, and empty cells last either way."""
    browser.size("wide")
    browser.open(SORTED_TABLE.format(script=SORTING))
    orders = []
    for head in ("score", "score", "model"):
        browser.press(head)
        orders.append(browser.texts("td:first-child"))
    assert orders == [["a9", "b", "a10"], ["b", "a9", "a10"], ["a9", "a10", "b"]]


def test_figures_of_a_guess_that_is_told_what_was_before_are_empty(tmp_path: Path) -> None:
    """It has unchanged rows right by what they are; of updated ones its score says something."""
    release_folder = publish(tmp_path / "r").folder
    guess_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: "C1")
    description = {"model": "before", "dataset": "sample", "guess": "answers before"}
    guess_file.with_suffix(".json").write_text(json.dumps(description))
    scores = Scores.read(scored(release_folder, guess_file, tmp_path / "scores", "before"))
    assert [scores.is_solved(config) for config in (None, "unchanged", "updated")] == [
        True,
        True,
        False,
    ]
    assert scores.means("period", "exact_match", None) == {} and scores.stop is None
    lines = [line.split() for line in summary_lines(scores)]
    assert [line[2] == "-" for line in lines[1:4]] == [True, False, True]
    text = write_report([tmp_path / "scores"], tmp_path / "page").read_text("utf-8")
    together = re.search(r"<td data-label=\"config\">together</td>.*?</tr>", text, re.S)
    assert together and re.findall(r'data-label="exact match"([^<]*)<', together[0]) == [">"]


def test_guesses_are_not_in_the_curve_of_what_models_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guess has a handful of such answers, all right by chance: a line at 100 per cent."""
    times = ("2025Q1", "2025Q2")

    def began_of(name: str, guess: str | None) -> Scores:
        means = tuple(
            Mean("d", "updated", None, "began", time, "stale", 20, 0.2, 0.1, 0.3) for time in times
        )
        summary: dict[str, Any] = {
            "model": name,
            "guess": guess,
            "relations": {},
            "knowledge": None,
        }
        return Scores(tmp_path, summary, means)

    drawn_names: list[list[str]] = []

    def drawn(series: Any, value_names: Any, picture_file: Path, **_: object) -> None:
        picture_file.write_bytes(b"")
        drawn_names.append([name for name, means in series.items() if means])

    monkeypatch.setattr("factdrift.scoring.report.line_figure", drawn)
    model, guess = began_of("m", None), began_of("knows nothing", "most frequent")
    for models, expected_names in (([model, guess], ["m"]), ([guess], ["knows nothing"])):
        drawn_names.clear()
        (drawing,) = _figures(models, tmp_path)
        assert drawn_names == [expected_names] * 2
        assert ("Guesses, which know nothing, are left out" in drawing.caption) is (model in models)


def scores_of(release_folder: Path, scores_folder: Path, names: Sequence[str]) -> list[Path]:
    file = predict(release_folder, scores_folder / "p.jsonl", lambda row: "C1")
    return [scored(release_folder, file, scores_folder / name, name) for name in names]


def test_other_rows_under_the_same_name_and_version_are_refused(tmp_path: Path) -> None:
    """Two folders of `factdrift quick` both make a version 1.0.0, of other windows."""
    fewer_rows = {**BASE, "unchanged": {PERIODS[0]: BASE["unchanged"][PERIODS[0]]}}
    scores_by_name = {}
    for name, rows in (("all", BASE), ("again", BASE), ("fewer", fewer_rows)):
        release_folder = publish(tmp_path / "releases" / name, Sample(rows)).folder
        (scores_by_name[name],) = scores_of(release_folder, tmp_path / "scores", [name])
    write_report([scores_by_name["all"], scores_by_name["again"]], tmp_path / "page")
    with pytest.raises(UserError) as refused:
        write_report(list(scores_by_name.values()), tmp_path / "page")
    folders_and_rows = r"\S*/all: sample 1.0.0 with rows \w{7}, \S*/fewer: sample 1.0.0 with rows"
    assert re.search(folders_and_rows, str(refused.value))
    assert "score all against the same folder" in str(refused.value)


def test_what_cannot_be_shown_together_is_told(tmp_path: Path) -> None:
    release_folder = publish(tmp_path / "r").folder
    first_scores, second_scores = scores_of(release_folder, tmp_path, ["a", "b"])
    summary = json.loads((second_scores / "scores.json").read_text())
    (second_scores / "scores.json").write_text(json.dumps(summary | {"version": "2.0.0"}))
    for folders, error_text in (
        ([first_scores, first_scores], "two models named 'a'"),
        ([first_scores] * 7, "at most 6"),
        ([first_scores, second_scores], "scores of different releases"),
        ([tmp_path / "none"], "there is no such folder"),
    ):
        with pytest.raises(UserError, match=error_text):
            write_report(folders, tmp_path / "page")
    for broken_scores in ("{", "[]", '{"model": 1}', "[" * 100_000):
        (second_scores / "scores.json").write_text(broken_scores)
        with pytest.raises(UserError, match="no scores"):
            write_report([second_scores], tmp_path / "page")
