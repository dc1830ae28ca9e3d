"""The whole run, from the command line: bytes, reuse, kills, versions, mistakes."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT, run

DATASETS = ("dynamic-templama", "temporal-facts")


def checksums(folder: Path) -> dict[str, str]:
    """Every file below a folder, by relative path."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_same_bytes_in_another_folder_with_one_process(sample: Path, tmp_path: Path) -> None:
    run("release", "--out", tmp_path / "r", "--build", tmp_path / "b", "--jobs", 1)
    first, second = checksums(sample / "releases"), checksums(tmp_path / "r")
    assert first == second
    assert {Path(p).parts[0] for p in first} == set(DATASETS)


def test_a_second_run_reuses_everything_and_writes_nothing(sample: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (sample / "releases").rglob("*.*") if p.is_file()}
    done = run("release", "--out", sample / "releases", "--build", sample / "build")
    assert "making" not in done.stderr
    assert "nothing written" in done.stderr
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_editing_a_template_renders_anew_and_never_reads_the_dump(
    sample: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample / "releases", tmp_path / "r")
    shutil.copytree(sample / "build", tmp_path / "b")
    shutil.copytree(ROOT / "templates", tmp_path / "t")
    edited = tmp_path / "t" / "P6.yaml"
    text = edited.read_text("utf-8")
    edited.write_text(text.replace("leads the government of", "runs the government of"), "utf-8")
    words = ["release", ROOT / "builders/recipes/dynamic-templama.yaml", "--out", tmp_path / "r"]
    words += ["--build", tmp_path / "b", "--templates", tmp_path / "t"]

    refused = run(*words, "--version", "1.0.0", ok=False)
    assert refused.returncode == 1
    assert "VERSION=1.0.1" in refused.stderr  # rendered anew: a patch
    assert "mine: reused" in refused.stderr
    assert "deltas: reused" in refused.stderr
    assert "cloze: making" in refused.stderr

    assert "making" not in run(*words).stderr
    diff = run("diff", tmp_path / "r/dynamic-templama/1.0.0", tmp_path / "r/dynamic-templama/1.0.1")
    assert "rendered anew" in diff.stdout
    assert "edited" not in diff.stdout


@pytest.mark.parametrize("delay", [0.5, 2.0, 3.5, 5.0, 7.0])
def test_kill_at_any_moment_leaves_the_last_release(
    sample: Path, tmp_path: Path, delay: float
) -> None:
    shutil.copytree(sample / "releases", tmp_path / "r")
    before = checksums(tmp_path / "r")
    words = ["release", "--out", str(tmp_path / "r"), "--build", str(tmp_path / "b")]
    words += ["--version", "9.0.0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "builders", *words],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    after = checksums(tmp_path / "r")
    assert {p: after[p] for p in before} == before
    run(*words)
    for dataset in DATASETS:
        run("verify", tmp_path / "r" / dataset / "9.0.0")
    left = [p.name for p in (tmp_path / "r").rglob(".*")]
    assert [name for name in left if name != ".lock"] == []


def rows(sample: Path, config: str, period: str) -> list[dict[str, object]]:
    path = sample / f"releases/dynamic-templama/1.0.0/data/{config}/{period}.parquet"
    found: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return found


ANSWERS = [
    ("Cristiano Ronaldo", "P54", "2021Q2", "unchanged", ["Juventus F.C."]),
    ("Cristiano Ronaldo", "P54", "2021Q3", "updated", ["Juventus F.C.", "Manchester United F.C."]),
    ("Cristiano Ronaldo", "P54", "2021Q4", "updated", ["Manchester United F.C."]),
    ("Italy", "P6", "2020Q4", "unchanged", ["Giuseppe Conte"]),
    ("Italy", "P6", "2021Q1", "updated", ["Giuseppe Conte", "Mario Draghi"]),
    ("Italy", "P6", "2021Q2", "updated", ["Mario Draghi"]),
]


@pytest.mark.parametrize(("subject", "relation", "period", "split", "labels"), ANSWERS)
def test_the_examples_of_the_paper(
    sample: Path, subject: str, relation: str, period: str, split: str, labels: list[str]
) -> None:
    found = [
        row
        for row in rows(sample, split, period)
        if (row["subject_label"], row["relation"]) == (subject, relation)
    ]
    assert len(found) == 4  # one a template
    for row in found:
        answers = row["answers"]
        assert isinstance(answers, list)
        assert sorted(a["label"] for a in answers) == labels


def test_every_dropped_row_is_counted(sample: Path) -> None:
    for dataset in DATASETS:
        folder = sample / "releases" / dataset / "1.0.0"
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        counted = sum(drop["rows"] for drop in manifest["drops"])
        assert counted == pq.read_metadata(folder / "dropped.parquet").num_rows
        assert counted > 0


MISTAKES = [
    (["release", "no-such.yaml"], "no-such.yaml: no such file"),
    (["release", "{recipe}", "--dump", "nothing.json.gz"], "nothing.json.gz"),
    (["release", "{latest}"], "DUMP=path/to/the/file"),
    (["release", "{recipe}", "--version", "1.0"], "not a version"),
    (["mine", "--out", "{tmp}/o"], "give either dump files or --endpoint"),
    (["mine", "{dump}", "--out", "{tmp}/o", "--relations", "P45"], "P54"),
    (["mine", "{tmp}/undated.json", "--out", "{tmp}/o"], "--snapshot-date 2026-11-09"),
    (["mine", "--endpoint", "http://127.0.0.1:9/", "--out", "{tmp}/o"], "contact"),
    (["verify", "{tmp}"], "problem"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_clear_message(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "undated.json").write_text("[\n]\n")
    places = {
        "recipe": str(ROOT / "builders/recipes/dynamic-templama.yaml"),
        "latest": str(ROOT / "builders/recipes/dynamic-templama-latest.yaml"),
        "dump": str(ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"),
        "tmp": str(tmp_path),
    }
    words = [word.format(**places) for word in words]
    if words[0] == "release":
        words += ["--out", str(tmp_path / "r"), "--build", str(tmp_path / "b")]
    done = run(*words, ok=False)
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
