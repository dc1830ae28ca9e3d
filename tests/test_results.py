"""Results that are shared: the folder, what is refused of one, and the reference results."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from docs import shared_results
from factdrift.builders.core.limits import LARGEST_SHARED_FILE
from factdrift.builders.release.manifest import load_manifest, locate_file
from factdrift.scoring.results import (
    ANSWERS,
    FILE,
    check_results,
    read_results,
    rows_sha256,
)
from tests.conftest import ROOT, run_cli
from tests.release_sample import PERIODS, cloze, edited, publish
from tests.tables import read_table

REFERENCE = sorted(path.parent for path in (ROOT / "docs/results").glob("*/*/results.json"))


@pytest.fixture
def release_folder(tmp_path: Path) -> Path:
    return publish(tmp_path / "releases").folder


@pytest.fixture
def shared_folder(release_folder: Path, tmp_path: Path) -> Path:
    """A folder of results: of ten answers five are right."""
    rows = [
        {
            "id": f"{number:04}-{period}",
            "prediction": f"Club {number}" if period == PERIODS[0] else "no\n",
        }
        for number in range(5)
        for period in PERIODS
    ]
    file = tmp_path / "p.jsonl"
    file.write_text("\n\n".join(json.dumps(row | {"logprob": -1}) for row in rows))
    settings = {"threads": 1, "base_url": "http://10.0.0.7:8000/v1"}
    description = {"model": "acme/m-1", "view": "generate", "limit": 5, "settings": settings}
    description |= {"dataset": "sample", "version": "1.0.0", "code_version": "0.1.9"}
    file.with_suffix(".json").write_text(json.dumps(description))
    words = ["--partial", "--out", tmp_path / "scores", "--share", tmp_path / "shared"]
    run_cli("score", release_folder, "--predictions", file, *words)
    return tmp_path / "shared/sample-1.0.0/acme-m-1"


def test_what_is_shared_fits(shared_folder: Path, release_folder: Path) -> None:
    results = check_results(shared_folder, release_folder)
    assert (results.model, results.code_version) == ("acme/m-1", "0.1.9")
    assert results.asked == {"view": "generate", "limit": 5, "settings": {"threads": 1}}
    means = {
        (mean_line.config, mean_line.stratum, mean_line.value): mean_line
        for mean_line in results.table
        if mean_line.metric == "exact_match"
    }
    assert means[None, "all", "all"].mean == 0.5
    assert [means[None, "period", period].mean for period in PERIODS] == [1.0, 0.0]
    assert ("unchanged", "period", PERIODS[0]) not in means
    assert b"logprob" not in (shared_folder / ANSWERS).read_bytes()
    completed_run = run_cli("results", release_folder, shared_folder)
    assert completed_run.stdout == "acme/m-1: sample 1.0.0, knows what changed until –: fits\n"
    written = [(shared_folder / name).read_bytes() for name in (FILE, ANSWERS)]
    words = [
        "--partial",
        "--out",
        shared_folder.parents[2] / "scores",
        "--share",
        shared_folder.parents[1],
    ]
    run_cli("score", release_folder, "--predictions", shared_folder.parents[2] / "p.jsonl", *words)
    assert written == [(shared_folder / name).read_bytes() for name in (FILE, ANSWERS)]


def test_a_server_s_key_beside_the_answers_is_not_shared(
    release_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": "0000-2021Q3", "prediction": "sk-abcdefghijklmnop1234"}')
    words = ["--partial", "--out", tmp_path / "scores", "--share", tmp_path / "shared"]
    completed_run = run_cli("score", release_folder, "--predictions", file, *words, ok=False)
    assert "p.jsonl:1: a key is in 'sk-abcdefghijklmnop1234'" in completed_run.stderr
    assert not (tmp_path / "shared").exists()


MISTAKES = read_table("shared_mistakes")


def refused(release_folder: Path, shared_folder: Path, error_text: str) -> None:
    completed_run = run_cli("results", release_folder, shared_folder, ok=False)
    assert (
        completed_run.returncode == 1
        and error_text in completed_run.stderr
        and "Traceback" not in completed_run.stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_what_is_refused(
    shared_folder: Path, release_folder: Path, mistake: dict[str, Any]
) -> None:
    results = json.loads((shared_folder / FILE).read_text("utf-8"))
    results |= mistake.get("results", {})
    results["asked"] |= mistake.get("asked", {})
    (shared_folder / FILE).write_text(json.dumps(results))
    old, new = mistake.get("answers", ("", ""))
    answers = (shared_folder / ANSWERS).read_text("utf-8")
    assert old in answers
    (shared_folder / ANSWERS).write_text(answers.replace(old, new, 1))
    refused(release_folder, shared_folder, mistake["message"])


def linked(results_folder: Path) -> None:
    (results_folder / ANSWERS).rename(results_folder.parent / "elsewhere")
    (results_folder / ANSWERS).symlink_to(results_folder.parent / "elsewhere")


def figure_changed(results_folder: Path) -> None:
    results = json.loads((results_folder / FILE).read_text("utf-8"))
    results["table"][0][7] = 0.6
    (results_folder / FILE).write_text(json.dumps(results))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "error_text"),
    [
        (figure_changed, "table: the answers give Mean("),
        (
            lambda results_folder: (results_folder / "run.sh").touch(),
            "here are answers.jsonl, results.json, run",
        ),
        (lambda results_folder: (results_folder / ANSWERS).unlink(), "here are results.json"),
        (linked, "not a file"),
        (
            lambda results_folder: (results_folder / FILE).write_bytes(
                b" " * (LARGEST_SHARED_FILE + 1)
            ),
            "not a file of at most",
        ),
        (lambda results_folder: (results_folder / FILE).write_text("{"), "the file: Invalid JSON"),
    ],
)
def test_files_that_are_refused(
    shared_folder: Path, release_folder: Path, edit: Callable[[Path], object], error_text: str
) -> None:
    edit(shared_folder)
    refused(release_folder, shared_folder, error_text)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        *[({}, True), ({"sitelinks": 99}, True)],
        *[({"prompt": "Who?"}, False), ({"targets": ("Club",)}, False)],
    ],
)
def test_the_fingerprint_is_of_what_is_asked(
    change: dict[str, Any], same: bool, release_folder: Path, tmp_path: Path
) -> None:
    row = cloze(7, "updated", **change)
    other_release = publish(tmp_path / "other", edited("updated", PERIODS[0], [row])).folder
    assert (rows_sha256(other_release) == rows_sha256(release_folder)) is same


@pytest.mark.slow
@pytest.mark.parametrize(
    "results_folder", REFERENCE, ids=lambda results_folder: results_folder.name
)
def test_the_reference_results_fit_the_samples(results_folder: Path, sample: Path) -> None:
    results = read_results(results_folder)
    release_folder = sample / "releases" / results.dataset / results.version
    if release_folder.is_dir() or results.dataset in ("dynamic-templama", "invariant-lama"):
        check_results(results_folder, release_folder)
    assert results_folder == ROOT / "docs/results" / results.name


def test_the_reference_results_are_few_and_small() -> None:
    assert len(REFERENCE) >= 6
    assert sum((results_folder / ANSWERS).stat().st_size for results_folder in REFERENCE) < 200_000


def test_answers_that_know_nothing(sample: Path, tmp_path: Path) -> None:
    """Scored as predictions, the guesses have the figures that `baselines` prints."""
    release_folder = sample / "releases/dynamic-templama/1.0.0"
    printed = run_cli("baselines", release_folder, "--out", tmp_path)
    lines = printed.stdout.splitlines()
    # of a guess whose figures a report shows
    assert printed.stderr.endswith(f"--predictions {tmp_path / 'most-frequent.jsonl'}\n")
    updated = next(line.split() for line in lines if line.startswith("updated "))
    for stratum_place, guess in ((2, "longest-held"), (3, "most-frequent")):
        words = ["--config", "updated", "--partial", "--out", tmp_path / guess]
        run_cli("score", release_folder, "--predictions", tmp_path / f"{guess}.jsonl", *words)
        scores = json.loads((tmp_path / guess / "scores.json").read_text())["table"]
        means = {
            (score_line["stratum"], score_line["metric"], score_line["split"]): score_line["mean"]
            for score_line in scores
        }
        assert f"{100 * means['all', 'exact_match', None]:.1f}" == updated[stratum_place]


def test_a_limit_writes_the_answers_of_as_many_rows_of_each_config(
    sample: Path, tmp_path: Path
) -> None:
    """Without a limit those of all rows; with one those that `run-model --limit` asks."""
    release_folder = sample / "releases/dynamic-templama/1.0.0"
    written: list[set[str]] = []
    for options in ((), ("--limit", 3)):
        run_cli("baselines", release_folder, "--out", tmp_path, *options)
        lines = (tmp_path / "longest-held.jsonl").read_text("utf-8").splitlines()
        written.append({json.loads(line)["id"] for line in lines})
    every_id, few_ids = written
    configs = ("unchanged", "updated", "new", "deleted")
    rows = [config for config in load_manifest(release_folder).configs if config.name in configs]
    ids_by_config = []
    for config in rows:
        files = [locate_file(release_folder, split.file) for split in config.splits]
        ids_by_config.append(
            {answer_id for file in files for answer_id in pq.read_table(file)["id"].to_pylist()}
        )
    assert every_id == set().union(*ids_by_config)
    assert [len(few_ids & ids) for ids in ids_by_config] == [3] * len(configs)
    assert len(few_ids) == 3 * len(configs)


def test_the_page_shows_every_folder(shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_results, "FOLDER", shared_folder.parents[1])
    text = shared_results.page()
    answers_place = "results/sample-1.0.0/acme-m-1/answers.jsonl"
    settings_text = "10 rows, view generate, limit 5, factdrift 0.1.9"
    assert f'<td><a href="{answers_place}">answers</a>: {settings_text}</td>' in text
    assert '<td>acme/m-1</td><td class="number" data-sort="0.5">50.0 <small>' in text
    cells = [f'<td>{period}</td><td class="number">5</td>' for period in PERIODS]
    assert [cell for cell in cells if cell not in text] == []
    pictures = dict(shared_results.pictures())
    assert list(pictures) == ["results/sample-1.0.0-wide.png", "results/sample-1.0.0-phone.png"]
    assert [path for path in pictures if f'"{path}"' not in text] == []
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())


def test_the_page_leaves_cells_of_what_a_guess_solves_empty(
    shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rows that did not change there is nothing to say: no cell, no period, no curve."""
    results = json.loads((shared_folder / FILE).read_text("utf-8"))
    results["asked"] = {"guess": "answers before"}
    (shared_folder / FILE).write_text(json.dumps(results))
    monkeypatch.setattr(shared_results, "FOLDER", shared_folder.parents[1])
    text = shared_results.page()
    (row,) = re.findall(r"<tr><td>acme/m-1</td>.*</tr>", text)
    assert "data-sort" not in row and "10 rows" in row
    assert PERIODS[0] not in text and dict(shared_results.pictures()) == {}


def test_texts_of_a_folder_are_escaped(shared_folder: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    results = read_results(shared_folder)
    run_settings = {**results.asked, "view": evil}
    changed = results.model_copy(
        update={"model": evil, "code_version": evil, "asked": run_settings}
    )
    lines = shared_results._metric_part([(shared_folder, changed)], shared_results.WRITTEN)
    assert evil not in "".join(lines) and "".join(lines).count("&lt;img src=x") >= 3


def test_a_curve_of_many_periods_is_of_years(shared_folder: Path) -> None:
    results = read_results(shared_folder)
    (year,) = shared_results._curve_of(results, "exact_match", True).values()
    assert (year.value, year.n, year.mean, year.low) == ("2021", 10, 0.5, None)
    quarters = shared_results._curve_of(results, "exact_match", False)
    assert [quarters[period].mean for period in PERIODS] == [1.0, 0.0]
