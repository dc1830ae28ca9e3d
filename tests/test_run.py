"""The whole run, from the command line: bytes, reuse, kills, versions, mistakes."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.progress import echo, say
from factdrift.builders.templama.dataset import Window
from tests.conftest import ROOT, checksums, run_cli
from tests.release_sample import SAMPLED
from tests.tables import column_of, names_of, read_table

TEMPLAMA = ROOT / "builders/recipes/dynamic-templama.yaml"
NEWS = ROOT / "builders/recipes/streamingqa.yaml"
DUMP = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"


@pytest.mark.parametrize(
    "datasets",
    [("wmt-question-dates",), pytest.param(SAMPLED, marks=pytest.mark.slow)],
    ids=["one", "all"],
)
def test_same_bytes_in_another_folder_with_two_processes(
    sample: Path, tmp_path: Path, datasets: tuple[str, ...]
) -> None:
    recipes = () if datasets == SAMPLED else datasets
    run_cli("release", *recipes, "--out", tmp_path / "r", "--build", tmp_path / "b", "--jobs", 2)
    first_sums, second_sums = checksums(sample / "releases"), checksums(tmp_path / "r")
    assert {Path(path).parts[0] for path in first_sums} == set(SAMPLED)
    assert {
        release_path: sum_
        for release_path, sum_ in first_sums.items()
        if Path(release_path).parts[0] in datasets
    } == second_sums


@pytest.mark.parametrize("has_note", [True, False])
@pytest.mark.parametrize(
    "datasets", [("wmt-question-dates",), pytest.param((), marks=pytest.mark.slow)]
)
def test_a_second_run_reuses_everything_and_writes_nothing(
    sample: Path, datasets: tuple[str, ...], has_note: bool
) -> None:
    """With the note of the first run at once, and without it step by step."""
    if not has_note:
        shutil.rmtree(sample / "build" / "used" / "runs", ignore_errors=True)
    times_before = {
        release_file: release_file.stat().st_mtime_ns
        for release_file in (sample / "releases").rglob("*.*")
        if release_file.is_file()
    }
    second_run = run_cli(
        "release", *datasets, "--out", sample / "releases", "--build", sample / "build"
    )
    assert "making" not in second_run.stderr
    assert "nothing written" in second_run.stderr
    assert second_run.stdout.splitlines() == [
        f"{sample / 'releases' / dataset / '1.0.0'}" for dataset in datasets or SAMPLED
    ]
    assert {
        release_file: release_file.stat().st_mtime_ns for release_file in times_before
    } == times_before


@pytest.mark.slow
def test_editing_a_template_renders_anew_and_never_reads_the_dump(
    sample: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample / "releases", tmp_path / "r")
    shutil.copytree(sample / "build", tmp_path / "b")
    shutil.copytree(ROOT / "templates", tmp_path / "t")
    edited = tmp_path / "t" / "P6.yaml"
    text = edited.read_text("utf-8")
    edited.write_text(text.replace("leads the government of", "runs the government of"), "utf-8")
    command_words = ["release", TEMPLAMA, "--out", tmp_path / "r"]
    command_words += ["--build", tmp_path / "b", "--templates", tmp_path / "t"]

    planned = run_cli("steps", TEMPLAMA, *command_words[4:]).stdout
    assert re.findall(r"there +([a-z]+)-", planned) == [
        "mine",
        "facts",
        "learned",
        "timelines",
        "deltas",
        "told",
    ]
    assert re.findall(r"to make +([a-z]+)-", planned) == ["cloze", "examples"]
    refused_run = run_cli(*command_words, "--version", "1.0.0", ok=False)
    assert refused_run.returncode == 1
    assert "--version 1.0.1" in refused_run.stderr  # rendered anew: a patch
    assert "mine: making" not in refused_run.stderr
    assert "deltas: reused" in refused_run.stderr
    assert "cloze: making" in refused_run.stderr

    assert "making" not in run_cli(*command_words).stderr
    diff = run_cli(
        "diff", tmp_path / "r/dynamic-templama/1.0.0", tmp_path / "r/dynamic-templama/1.0.1"
    )
    assert "rendered anew" in diff.stdout
    assert "edited" not in diff.stdout


@pytest.mark.parametrize(
    ("subject", "relation", "period", "split", "label"),
    [
        ("Cristiano Ronaldo", "P54-club", "2021Q2", "unchanged", "Juventus F.C."),
        ("Cristiano Ronaldo", "P54-club", "2021Q3", "updated", "Manchester United F.C."),
        ("Cristiano Ronaldo", "P54-club", "2021Q4", "unchanged", "Manchester United F.C."),
        ("Italy", "P6", "2020Q4", "unchanged", "Giuseppe Conte"),
        ("Italy", "P6", "2021Q1", "updated", "Mario Draghi"),
        ("Italy", "P6", "2021Q2", "unchanged", "Mario Draghi"),
    ],
)
def test_the_examples_of_the_paper_at_the_end_of_a_quarter(
    sample: Path, subject: str, relation: str, period: str, split: str, label: str
) -> None:
    path = sample / f"releases/dynamic-templama/1.0.0/data/{split}/{period}.parquet"
    row_filter = [("subject_label", "=", subject), ("relation", "=", relation)]
    (row,) = pq.read_table(path, filters=row_filter).to_pylist()
    assert column_of(row["answers"], "label") == [label]
    assert row["prompt"].startswith("On 3")


@pytest.mark.parametrize(("command", "said"), read_table("command_mistakes"))
def test_a_mistake_is_one_clear_message(command: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "undated.json").write_text("[\n]\n")
    recipe, latest = (
        ROOT / f"builders/recipes/dynamic-templama{name_end}.yaml" for name_end in ("", "-latest")
    )
    command_words = command.format(recipe=recipe, latest=latest, dump=DUMP, tmp=tmp_path).split()
    if command_words[0] == "release":
        for option in {"--out", "--build"} - {*command_words}:
            command_words += [option, str(tmp_path / option)]
    refused_run = run_cli(*command_words, ok=False)
    assert refused_run.returncode == 1 + (said == "write a size"), refused_run.stderr
    assert said in refused_run.stderr
    assert "Traceback" not in refused_run.stderr and "making" not in refused_run.stderr


@pytest.mark.slow
def test_the_rules_rebuild_offline_with_nothing_kept(sample: Path, tmp_path: Path) -> None:
    kept_answers = set(names_of((sample / "build").glob("work/answers/*")))
    assert kept_answers <= {"begun.json", "rates.json"}, "rates of calls, and no answer"
    recipe = tmp_path / "streamingqa.yaml"
    text = NEWS.read_text("utf-8").replace("../../samples", str(ROOT / "samples"))
    recipe.write_text(text + "  offline: true\n", "utf-8")
    run_cli("release", recipe, "--out", tmp_path / "r", "--build", tmp_path / "b")
    old_data, new_data = (
        releases_folder / "streamingqa/1.0.0/data"
        for releases_folder in (sample / "releases", tmp_path / "r")
    )
    assert checksums(old_data) == checksums(new_data)


def test_questions_of_the_sample_news(sample: Path) -> None:
    folder = sample / "releases/streamingqa/1.0.0/data/all"
    found_rows = [
        row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    assert len(found_rows) >= 150
    parts: dict[str, set[str]] = {}
    for row in found_rows:
        parts.setdefault(row["split"], set()).add(row["evidence_id"])
        assert row["question"].endswith("?")
        assert row["evidence_ts"] <= row["question_ts"]
        assert row["evidence_ts"] % 86400 == row["question_ts"] % 86400 == 0
        if row["recent_or_past"] == "recent":
            assert row["question_ts"] - row["evidence_ts"] <= 30 * 86400
            assert row["time_spec"] != "relative"
    assert sum(map(len, parts.values())) == len(set[str]().union(*parts.values()))


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"granularity": "month", "first": "2019Q1"}, "2019Q1 is not a month"),
        ({"latest": 3, "first": "2019Q1"}, "give either latest or first"),
        ({"last": "2019Q1"}, "give either latest or first"),
        ({"first": "2025Q4", "last": "2019Q1"}, "ends before it begins"),
        ({"first": "2019Q5"}, "not a period"),
    ],
)
def test_windows_that_contradict_themselves(window: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Window.model_validate(window)


def test_a_mined_folder_says_how_much_and_is_checked_for_relations(tmp_path: Path) -> None:
    refused_run = run_cli(
        "mine", DUMP, "--out", tmp_path / "m", "--relations", " P6, P39,", ok=False
    )
    assert "a dump is mined for every relation" in refused_run.stderr
    mining_run = run_cli("mine", DUMP, "--out", tmp_path / "m")
    summary_path = tmp_path / "m/mined.json"
    known_summary = json.loads(summary_path.read_text())
    counted = f"{known_summary['counts']['statements']:,} statements of 2026-02-02"
    assert counted in mining_run.stdout + mining_run.stderr
    command_words = ["release", TEMPLAMA, "--dump", tmp_path / "m"]
    command_words += ["--build", tmp_path / "b", "--out", tmp_path / "r"]
    # as an endpoint is mined; a change on purpose takes the checksums out
    for checksum in ("sha256", "seal"):
        del known_summary[checksum]
    summary_path.write_text(json.dumps({**known_summary, "asked": ["P6", "P39"]}))
    printed_errors = run_cli(*command_words, ok=False).stderr
    assert "error: " in printed_errors
    assert "it was not mined for P102, P108, " in printed_errors
    summary_path.write_text("{}")
    assert "not what mining writes" in run_cli(*command_words, ok=False).stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone\x1b]0;title\x07", r"\x1b[2Jgone\x1b]0;title\x07"),
        ("a\rb\x9bc", r"a\rb\x9bc"),
        ("a\u202eb", r"a\u202eb"),
        ("a\udc80", r"a\udc80"),
        ("a\tb\nc d é\u00a0\u200c中", "a\tb\nc d é\u00a0\u200c中"),
    ],
)
def test_text_from_outside_does_not_steer_the_terminal(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say(text)
    echo(text)
    assert capsys.readouterr() == (f"{shown}\n", f"{shown}\n")
