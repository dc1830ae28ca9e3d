"""Results that are shared: the folder, what is refused of one, and the reference results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs import shared_results
from factdrift.scoring.results import ANSWERS, FILE, LARGEST, check, read, rows_sha256
from tests.conftest import ROOT, run
from tests.release_sample import PERIODS, cloze, edited, publish

REFERENCE = sorted(path.parent for path in (ROOT / "docs/results").glob("*/*/results.json"))


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return publish(tmp_path / "releases").folder


@pytest.fixture
def shared(release: Path, tmp_path: Path) -> Path:
    """A folder of results: of ten answers five are right."""
    rows = [
        {"id": f"{n:04}-{period}", "prediction": f"Club {n}" if period == PERIODS[0] else "no\n"}
        for n in range(5)
        for period in PERIODS
    ]
    file = tmp_path / "p.jsonl"
    file.write_text("\n\n".join(json.dumps(row | {"logprob": -1}) for row in rows))
    settings = {"threads": 1, "base_url": "http://10.0.0.7:8000/v1"}
    about = {"model": "acme/m-1", "view": "generate", "limit": 5, "settings": settings}
    about |= {"dataset": "sample", "version": "1.0.0", "code_version": "0.1.9"}
    file.with_suffix(".json").write_text(json.dumps(about))
    words = ["--partial", "--out", tmp_path / "scores", "--share", tmp_path / "shared"]
    run("score", release, "--predictions", file, *words)
    return tmp_path / "shared/sample-1.0.0/acme-m-1"


def test_what_is_shared_fits(shared: Path, release: Path) -> None:
    results = check(shared, release)
    assert (results.model, results.code_version) == ("acme/m-1", "0.1.9")
    assert results.asked == {"view": "generate", "limit": 5, "settings": {"threads": 1}}
    means = {(m.config, m.stratum, m.value): m for m in results.table if m.metric == "exact_match"}
    assert means[None, "all", "all"].mean == 0.5
    assert [means[None, "period", period].mean for period in PERIODS] == [1.0, 0.0]
    assert ("unchanged", "period", PERIODS[0]) not in means
    assert b"logprob" not in (shared / ANSWERS).read_bytes()
    done = run("results", release, shared)
    assert done.stdout == "acme/m-1: sample 1.0.0, knows what changed until –: fits\n"
    written = [(shared / name).read_bytes() for name in (FILE, ANSWERS)]
    words = ["--partial", "--out", shared.parents[2] / "scores", "--share", shared.parents[1]]
    run("score", release, "--predictions", shared.parents[2] / "p.jsonl", *words)
    assert written == [(shared / name).read_bytes() for name in (FILE, ANSWERS)]


def test_a_server_s_key_beside_the_answers_is_not_shared(release: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": "0000-2021Q3", "prediction": "sk-abcdefghijklmnop1234"}')
    words = ["--partial", "--out", tmp_path / "scores", "--share", tmp_path / "shared"]
    done = run("score", release, "--predictions", file, *words, ok=False)
    assert "p.jsonl:1: a key is in 'sk-abcdefghijklmnop1234'" in done.stderr
    assert not (tmp_path / "shared").exists()


def changed(change: Callable[[Any], object]) -> Callable[[Path], object]:
    """An edit of `results.json`."""

    def edit(folder: Path) -> None:
        value = json.loads((folder / FILE).read_text("utf-8"))
        change(value)
        (folder / FILE).write_text(json.dumps(value))

    return edit


def said(name: str, value: object) -> Callable[[Path], object]:
    """An edit of how the model was asked."""
    return changed(lambda one: one["asked"].update({name: value}))


def linked(folder: Path) -> None:
    (folder / ANSWERS).rename(folder.parent / "elsewhere")
    (folder / ANSWERS).symlink_to(folder.parent / "elsewhere")


def answered(old: str, new: str) -> Callable[[Path], object]:
    """An edit of `answers.jsonl`."""

    def edit(folder: Path) -> None:
        text = (folder / ANSWERS).read_text("utf-8")
        assert old in text
        (folder / ANSWERS).write_text(text.replace(old, new, 1))

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (changed(lambda one: one["table"][0].__setitem__(7, 0.6)), "table: the answers give Mean("),
        (changed(lambda one: one["table"].pop()), "table: the answers give"),
        (changed(lambda one: one.update(knowledge={"last_known": "2021Q3"})), "knowledge: the"),
        (changed(lambda one: one.update(version="1.0.1")), "the release is sample 1.0.0"),
        (changed(lambda one: one.update(dataset="other")), "results are of other 1.0.0"),
        (changed(lambda one: one.update(rows_sha256="0" * 64)), "on other rows"),
        (changed(lambda one: one.update(model="[m](javascript:x)")), "model: "),
        (changed(lambda one: one.update(more=1)), "more: Extra inputs"),
        (said("note", "see http://example.org"), "an address is in"),
        (said("note", "ann@example.org"), "an address is in"),
        (said("note", "on 10.1.2.3"), "an address is in"),
        (said("model", "/home/ann/m"), "a path is in"),
        (said("model", "C:\\models\\m"), "a path is in"),
        (said("../m", 1), "a path is in"),
        (said("key", "hf_abcdefghijklmnopqrst"), "a key is in"),
        (said("key", "AKIAABCDEFGHIJKLMNOP"), "a key is in"),
        (said("deep", [{"x": "\x1b[31mred"}]), "a control character is in '\\x1b[31mred'"),
        (said("deep", "\u202egnp"), "a control character is in"),
        (answered("Club 1", "Club 2"), "table: the answers give"),
        (answered("0001-2021Q3", "0009-2021Q3"), "1 answers are of unknown rows"),
        (answered("Club 1", "\\u001b[2J"), f"{ANSWERS}:3: a control character"),
        (answered("Club 1", "sk-abcdefghijklmnop1234"), f"{ANSWERS}:3: a key"),
        (answered('{"id"', '{"extra": 1, "id"'), f"{ANSWERS}:1: not as"),
        (answered("\n", "\n\n"), f"{ANSWERS}:3: not as"),
        (lambda folder: (folder / "run.sh").touch(), "here are answers.jsonl, results.json, run"),
        (lambda folder: (folder / ANSWERS).unlink(), "here are results.json"),
        (linked, "not a file"),
        (lambda folder: (folder / FILE).write_bytes(b" " * (LARGEST + 1)), "not a file of at most"),
        (lambda folder: (folder / FILE).write_text("{"), "the file: Invalid JSON"),
    ],
)
def test_what_is_refused(
    shared: Path, release: Path, edit: Callable[[Path], object], message: str
) -> None:
    edit(shared)
    done = run("results", release, shared, ok=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("change", "same"),
    [
        *[({}, True), ({"sitelinks": 99}, True)],
        *[({"prompt": "Who?"}, False), ({"targets": ("Club",)}, False)],
    ],
)
def test_the_fingerprint_is_of_what_is_asked(
    change: dict[str, Any], same: bool, release: Path, tmp_path: Path
) -> None:
    row = cloze(7, "updated", **change)
    other = publish(tmp_path / "other", edited("updated", PERIODS[0], [row])).folder
    assert (rows_sha256(other) == rows_sha256(release)) is same


@pytest.mark.parametrize("folder", REFERENCE, ids=lambda folder: folder.name)
def test_the_reference_results_fit_the_samples(folder: Path, sample: Path) -> None:
    results = read(folder)
    release = sample / "releases" / results.dataset / results.version
    if release.is_dir() or results.dataset in ("dynamic-templama", "invariant-lama"):
        check(folder, release)
    assert folder == ROOT / "docs/results" / results.name


def test_the_reference_results_are_few_and_small() -> None:
    assert len(REFERENCE) >= 6
    assert sum((folder / ANSWERS).stat().st_size for folder in REFERENCE) < 200_000


def test_answers_that_know_nothing(sample: Path, tmp_path: Path) -> None:
    """Scored as predictions, the guesses have the figures that `baselines` prints."""
    release = sample / "releases/dynamic-templama/1.0.0"
    lines = run("baselines", release, "--out", tmp_path).stdout.splitlines()
    updated = next(line.split() for line in lines if line.startswith("updated "))
    for place, guess in ((3, "longest-held"), (4, "most-frequent")):
        words = ["--config", "updated", "--partial", "--out", tmp_path / guess]
        run("score", release, "--predictions", tmp_path / f"{guess}.jsonl", *words)
        table = json.loads((tmp_path / guess / "scores.json").read_text())["table"]
        means = {(o["stratum"], o["metric"], o["split"]): o["mean"] for o in table}
        assert f"{100 * means['all', 'exact_match', None]:.1f}" == updated[place]


def test_the_page_shows_every_folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_results, "FOLDER", shared.parents[1])
    text = shared_results.page()
    place = "results/sample-1.0.0/acme-m-1/answers.jsonl"
    how = "10 rows, view generate, limit 5, factdrift 0.1.9"
    assert f"| acme/m-1 | [answers]({place}): {how} | 50.0<br>[" in text
    assert "![Exact match by period](results/sample-1.0.0.png)" in text
    ((path, picture),) = shared_results.pictures()
    assert path == "results/sample-1.0.0.png"
    assert picture.startswith(b"\x89PNG")


def test_a_curve_of_many_periods_is_of_years(shared: Path) -> None:
    results = read(shared)
    assert shared_results._curve_of(results, "exact_match", True) == {"2021": (0.5, None, None)}
    quarters = shared_results._curve_of(results, "exact_match", False)
    assert [quarters[period].mean for period in PERIODS] == [1.0, 0.0]
