"""The command line as a user meets it: what a build says, what stdout has, and how it ends."""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import typer

from docs.hooks import commands as commands_page
from factdrift.builders.cli import EXIT_STATUSES, app
from factdrift.builders.core.progress import echo_json, is_verbose, say, set_loudness
from factdrift.builders.core.run import DatasetBuilder
from factdrift.builders.recipes.datasets import BUILDERS, DATASETS
from factdrift.builders.recipes.new import next_step
from factdrift.builders.release.judging import judge_outcome
from factdrift.builders.release.outcome import Outcome, overview_lines
from factdrift.builders.release.publish import write_release
from tests import dumps
from tests.conftest import ROOT, run_cli, run_process
from tests.release_sample import BASE, Sample, changed, cloze, dataset, meta, publish


class SampleBuilder(DatasetBuilder):
    """What a builder of the sample would say of it."""

    changing_configs: ClassVar[Mapping[str, tuple[str, ...]]] = {"updated": ()}
    next_commands: ClassVar[Mapping[str, str]] = {
        "deleted": "export {release} --format lama",
        "updated": "hits quick --dataset {release} {news}",
    }

    builder: Literal["sample"] = "sample"


def outcome_of(out: Path, sample: Sample, news: tuple[str, ...] = ()) -> Outcome:
    sample_dataset = dataset(sample)
    published = write_release(sample_dataset, meta(sample), out)
    return judge_outcome(published, sample_dataset, SampleBuilder(), news, 1.25)


def test_a_build_ends_with_what_it_made(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path / "my releases", Sample(BASE), ("my news.jsonl@2026-01-01",))
    *lines, next_line = outcome.lines()
    assert [line.split() for line in lines] == [
        ["config", "split", "rows"],
        ["unchanged", "2021Q3", "5"],
        ["unchanged", "2021Q4", "5"],
        ["updated", "2021Q3", "1"],
        ["updated", "2021Q4", "0"],
        ["segments", "all_time", "4"],
        "dropped: 2, all in dropped.parquet".split(),
        lines[7].split(),
        ["seconds:", "1.2"],
        "warning: sample 1.0.0: updated has no row in 2021Q4".split(),
    ]
    assert re.match(r"    2 in_doubt: \w+ .+\.", lines[7])
    next_words = shlex.split(next_line.removeprefix("  next: "))
    assert next_words[-6:] == [
        *("hits", "quick", "--dataset", str(outcome.folder)),
        *("--news", "my news.jsonl@2026-01-01"),
    ]
    assert "seconds" not in (outcome.folder / "manifest.json").read_text("utf-8")
    assert json.loads(json.dumps(outcome.data(), default=str))["configs"]["segments"] == {
        "all_time": 4
    }
    overview = [line.split() for line in overview_lines([outcome, outcome])]
    assert overview[2] == ["sample", "1.0.0", "15", "2", "1.2", "1"]


def test_a_build_warns_where_nothing_changed_and_where_a_period_is_empty(tmp_path: Path) -> None:
    rows = {**BASE, "updated": {"2021Q3": [], "2021Q4": []}}
    assert [
        warning.partition(":")[0] for warning in outcome_of(tmp_path / "a", Sample(rows)).warnings
    ] == ["nothing changed"]
    rows = {
        "unchanged": {"2021Q3": [cloze(1)], "2021Q4": []},
        "updated": {"2021Q3": [cloze(2, "updated")], "2021Q4": []},
    }
    assert outcome_of(tmp_path / "b", Sample(rows)).warnings == ("2021Q4 has no row in any config",)
    lone_sample = changed({"updated": None, "segments/other": []})
    assert outcome_of(tmp_path / "c", lone_sample).warnings == ("segments has no row in other",)


def test_periods_that_a_year_hides_are_told(tmp_path: Path) -> None:
    """More than thirty splits are merged into years, whose rows may be of some quarters alone."""
    quarters = [f"{year}Q{quarter}" for year in range(2010, 2019) for quarter in range(1, 5)]
    periods = {p: [cloze(n, period=p)] for n, p in enumerate(quarters) if p != "2012Q2"}
    rows = {"unchanged": dict.fromkeys(quarters, ()) | periods}
    outcome = outcome_of(tmp_path, Sample(rows))
    assert [*outcome.configs["unchanged"]] == [str(year) for year in range(2010, 2019)]
    assert outcome.warnings == ("2012Q2 has no row in any config",)
    assert "2010 to 2018, 9 splits" in "\n".join(outcome.lines())
    assert len([*outcome.lines(every_split=True)]) == len([*outcome.lines()]) + 8


@pytest.mark.slow
def test_a_release_of_two_like_dumps_says_that_nothing_changed(tmp_path: Path) -> None:
    """From the command line to the command that it ends with, which works as it is printed."""
    paths = []
    for day in ("20250101", "20260101"):
        dump_path = tmp_path / f"a dump-{day}-all.json.gz"
        paths.append(dumps.compressed(dumps.array(dumps.world(3)), dump_path))
    release_run = run_cli(
        *("release", "temporal-facts-latest", "--older", paths[0], "--dump", paths[1]),
        *("--out", "a b"),
        cwd=tmp_path,
    )
    assert release_run.stdout == "a b/temporal-facts-latest/1.0.0\n"
    assert "nothing changed: no row of changes says so" in release_run.stderr
    (next_line,) = re.findall(r"^  next: (.+)$", release_run.stderr, re.M)
    program_end = next_line.index("verify ")
    verify_run = run_cli(*shlex.split(next_line[program_end:]), cwd=tmp_path)
    assert "whole and unchanged" in verify_run.stdout
    again_words = ["release", "temporal-facts-latest", "--older", paths[0], "--dump", paths[1]]
    again_run = run_cli(*again_words, "--out", "a b", "-q", "--json", cwd=tmp_path)
    (outcome,) = json.loads(again_run.stdout)
    assert outcome["level"] == "none" and set(outcome["configs"]) == {
        "facts",
        "timelines",
        "changes",
    }
    assert again_run.stderr.splitlines() == [
        f"warning: temporal-facts-latest 1.0.0: {warning}" for warning in outcome["warnings"]
    ]


@pytest.mark.parametrize("name", sorted(DATASETS.names()))
def test_what_a_builder_names_is_there(name: str) -> None:
    """Commands to type next have these options, and configs are named as they are."""
    builder = DATASETS.find(name)
    group: Any = typer.main.get_command(app)
    for command in builder.next_commands.values():
        words = command.replace("{release}", "r").replace("{news}", "--news n").split()
        group.commands[words[0]].make_context(words[0], words[1:])
    assert name not in BUILDERS or builder.tasks


@pytest.fixture(scope="module")
def sample_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that tests read, and do not change."""
    return publish(tmp_path_factory.mktemp("released")).folder


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("tasks {release} --for lm-eval --out t", "t/lm-eval"),
        ("export {release} --format dynamic-templama", "exports/dynamic-templama/sample-1.0.0"),
        ("new filter no-acronyms", "no-acronyms"),
        ("mine {dump} --out m", "m"),
        ("corpus {news} --out c", "c"),
        ("templates --import {table} --out own", "own"),
        pytest.param("report {scores} --to page", "page/report.html", marks=pytest.mark.slow),
    ],
)
def test_stdout_has_what_was_made_alone(
    command: str, made: str, tmp_path: Path, sample_release: Path
) -> None:
    (tmp_path / "table.csv").write_text(
        "Wikidata ID,Relation,Template\nP9999,x,<subject> has <object>.\n"
    )
    places = {
        "release": sample_release,
        "dump": dumps.compressed(
            dumps.array(dumps.world(2)), tmp_path / "wikidata-20260101-all.json.gz"
        ),
        "news": ROOT / "samples/news",
        "table": tmp_path / "table.csv",
        "scores": tmp_path / "scores",
    }
    if command.startswith("report"):
        predictions = tmp_path / "p.jsonl"
        predictions.write_text(json.dumps({"id": "0000-2021Q3", "prediction": "x"}) + "\n")
        score_words = ["--predictions", predictions, "--partial", "--out", "scores"]
        run_cli("score", sample_release, *score_words, cwd=tmp_path)
    run = run_cli(*command.format(**places).split(), cwd=tmp_path)
    assert run.stdout == f"{made}\n"
    assert (tmp_path / made).exists()
    if command.startswith("tasks"):
        assert run_cli("-q", *command.format(**places).split(), cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("verify {release}", {"release", "whole", "problems", "own_code", "unknown_code"}),
        (
            "diff {release} {release}",
            {"old", "new", "rows", "columns", "layout", "documents", "level"},
        ),
        ("clean --build {build}", {"removed", "kept", "dry_run", "entries"}),
        ("score {release} --predictions {predictions} --partial", {"folder", "dataset", "table"}),
    ],
)
def test_json_is_a_document_with_the_result(
    command: str, keys: set[str], tmp_path: Path, sample_release: Path
) -> None:
    (tmp_path / "build" / "work").mkdir(parents=True)
    predictions = tmp_path / "p.jsonl"
    predictions.write_text(json.dumps({"id": "0000-2021Q3", "prediction": "x"}) + "\n")
    places = {"release": sample_release, "build": tmp_path / "build", "predictions": predictions}
    run = run_cli(*command.format(**places).split(), "--json", cwd=tmp_path)
    assert keys <= set(json.loads(run.stdout))


def test_json_of_a_release_that_is_not_whole_is_printed_before_the_error(tmp_path: Path) -> None:
    release_folder = publish(tmp_path).folder
    (release_folder / "recipe.yaml").write_text("other")
    run = run_cli("verify", release_folder, "--json", ok=False)
    document = json.loads(run.stdout)
    assert (document["whole"], len(document["problems"])) == (False, 1)
    assert run.returncode == 1 and run.stderr.startswith("error: ")


def test_json_escapes_what_would_tell_a_terminal_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "\x1b[2J\x7f\x9b\u202eé\udc80"
    echo_json({"text": text})
    printed_text = capsys.readouterr().out
    assert printed_text.replace("\n", "").isprintable() and printed_text.isascii()
    assert json.loads(printed_text) == {"text": text}


def test_quiet_says_warnings_errors_and_questions(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  mine: reused", "warning: no row", "  error: none", "  go on (1.20 USD)? [y/N] "]
    try:
        set_loudness("quiet")
        for line in lines:
            say(line)
        assert capsys.readouterr().err.splitlines() == lines[1:]
        set_loudness("verbose")
        say("a step")
        assert is_verbose() and re.fullmatch(r" *\d+\.\d s  a step\n", capsys.readouterr().err)
    finally:
        set_loudness("usual")


def test_verbose_says_where_an_error_comes_from() -> None:
    run = run_cli("verify", "nowhere", "-v", ok=False)
    assert run.returncode == 1 and "from commands.py:" in run.stderr
    assert "from commands.py:" not in run_cli("verify", "nowhere", ok=False).stderr


@pytest.mark.parametrize(
    ("command", "first_line", "second_line"),
    [
        ("release --bogus", "--bogus: there is no such option", "factdrift release --help"),
        ("release --memry 2GB", "--memry: there is no such option", "did you mean --memory?"),
        ("release --limit x", "--limit: should be a valid integer", "release --help lists all"),
        ("release --limit 0", "--limit: should be greater than or equal to 1", "release --help"),
        ("release --limit", "--limit needs a value", "factdrift release --help"),
        (
            "score r --predictions a --predictions b",
            "--predictions: takes one value",
            "score --help",
        ),
        ("release --memory 2", "--memory: write a size: 600MB, 2GB", "release --help"),
        ("release -q -v", "--quiet and --verbose exclude each other", "release --help"),
        ("score", "RELEASE is missing", "score --help lists all"),
        ("export r", "--format is missing", "export --help lists all"),
        ("export r --format berr", "--format: 'berr' is not one of", "did you mean beir?"),
        ("verify a b", "Got unexpected extra argument", "verify --help"),
        ("relaese", "No such command 'relaese'.", "--help lists all"),
    ],
)
def test_what_is_wrong_with_this_option_is_said_first(
    command: str, first_line: str, second_line: str
) -> None:
    run = run_cli(*command.split(), ok=False)
    assert run.returncode == 2 and run.stdout == ""
    error_line, hint_line = run.stderr.splitlines()
    assert error_line.startswith(f"error: {first_line}")
    assert second_line in hint_line


def test_exit_statuses_are_as_documented(tmp_path: Path) -> None:
    """130 is in test_core_parallel.py::test_ctrl_c_is_one_line, 2 above."""
    page_text = commands_page()
    for status in EXIT_STATUSES:
        assert f"| {status} | " in page_text
    assert set(EXIT_STATUSES) == {0, 1, 2, 130}
    release_folder = publish(tmp_path).folder
    statuses = {
        ("--version",): 0,
        ("-h",): 0,
        ("release", "-h"): 0,
        (): 2,
        ("verify", release_folder): 0,
        ("verify", tmp_path): 1,
        ("templates", "--templates", tmp_path / "nowhere"): 1,
    }
    for words, status in statuses.items():
        assert run_cli(*words, ok=False).returncode == status, words
    (release_folder / "manifest.json").write_text("{}")
    assert run_cli("verify", release_folder, ok=False).returncode == 1


def test_help_shows_flags_without_a_type() -> None:
    for words in ([], ["release"], ["clean"], ["people"], ["run-model"]):
        help_text = run_cli(*words, "-h").stdout
        assert "--quiet" in help_text and "bool" not in help_text.casefold()


def test_paths_in_a_command_to_type_are_quoted() -> None:
    assert "pip install -e 'my folder/x', then" in next_step("filter", Path("my folder/x"))


@pytest.mark.parametrize(("typed", "completed"), [("rel", "release"), ("clean --dr", "--dry-run")])
def test_the_shell_completes(typed: str, completed: str) -> None:
    completion = {
        "_FACTDRIFT_COMPLETE": "complete_bash",
        "COMP_WORDS": f"factdrift {typed}",
        "COMP_CWORD": str(len(typed.split())),
    }
    program = (
        "import sys; sys.argv[0] = 'factdrift'; from factdrift.builders.cli import main; main()"
    )
    run = run_process(sys.executable, "-c", program, env=completion)
    assert completed in run.stdout.split()


@pytest.mark.parametrize(
    ("yaml_text", "origin"),
    [("model: 3\n", r"from fuar\.py:\d+, in series_scores"), ("[", r"from fuar\.py:\d+, in \w+")],
)
def test_a_mistake_has_one_line_of_its_origin_and_no_traceback(
    yaml_text: str, origin: str, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(yaml_text)
    words = ("fuar", file)
    told = run_cli(*words, "-v", ok=False).stderr
    assert re.search(origin, told) and "Traceback" not in told
    assert "error: " in told
    assert " in series_scores" not in run_cli(*words, ok=False).stderr
