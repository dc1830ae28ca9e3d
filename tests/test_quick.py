"""The last quarters from an endpoint, in one command: the same rows as from the dump."""

import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.recipes.recipe import read_recipe
from factdrift.scoring.quick import (
    QuickOrder,
    QuickResult,
    _mine,
    _write_recipe,
    knowledge_sentence,
    window_periods,
)
from factdrift.scoring.score import Scores
from tests.conftest import ROOT, run_cli, start_process
from tests.json_server import model_reply, serve_json
from tests.sparql_server import TSV, Server, serve
from tests.tables import column_of
from tests.test_sparql_mine import AGENT

DAY = date(2026, 2, 2)
SAMPLE = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("4 quarters", "2025Q1 2025Q4"),
        ("1 quarter", "2025Q4 2025Q4"),
        ("12 months", "2025M02 2026M01"),
        ("2 years", "2024 2025"),
        ("2024Q3 2025Q1", "2024Q3 2025Q1"),
        ("2024M07 2024M07", "2024M07 2024M07"),
    ],
)
def test_a_window_is_of_full_periods(window: str, expected: str) -> None:
    first_word, last_word = window.split()
    periods = window_periods((first_word, last_word), DAY)
    assert " ".join(map(str, periods)) == expected


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("4 moons", r"not a window: 4 moons\n.*write --window 4 quarters"),
        ("four quarters", "not a window: four quarters"),
        ("-1 quarters", "not a window"),
        ("0 quarters", "0 periods; 1 to 400"),
        ("401 quarters", "401 periods; 1 to 400"),
        ("2025Q2 2025Q1", "2025Q2 does not come before 2025Q1"),
        ("2025Q2 2025", "2025Q2 does not come before 2025"),
        ("2025Q2 2026Q1", "2026Q1 had not ended on 2026-02-02"),
    ],
)
def test_another_window_is_refused(window: str, message: str) -> None:
    first_word, last_word = window.split()
    with pytest.raises(UserError, match=message):
        window_periods((first_word, last_word), DAY)


def quick_order(out: Path, endpoint: str) -> QuickOrder:
    return QuickOrder(
        endpoint=endpoint,
        user_agent=AGENT,
        relations=("P286", "P54-club"),
        periods=window_periods(("2", "quarters"), DAY),
        road="whole",
        minutes=10,
        snapshot=None,
        settings=None,
        limit=20,
        out=out,
        templates=ROOT / "templates",
        jobs=1,
        memory="600MB",
        say=lambda text: None,
    )


def test_the_recipe_says_the_window_and_no_password(tmp_path: Path) -> None:
    order = quick_order(tmp_path, "https://me:hunter2@example.org/a?b=#c")
    recipe_file, is_new = _write_recipe(order)
    assert (recipe_file, is_new) == (tmp_path / "2025Q4-2-quarters/recipe.yaml", True)
    recipe = read_recipe(recipe_file)
    assert recipe.build.model_dump()["window"] == {
        "granularity": "quarter",
        "first": "2025Q2",
        "last": "2025Q4",
        "latest": None,
    }
    assert str(recipe.inputs["dump"].homepage).startswith("https://example.org/a")
    assert "hunter2" not in recipe_file.read_text()
    assert _write_recipe(order) == (recipe_file, False)


def test_another_window_has_names_of_its_own_and_other_relations_are_told(tmp_path: Path) -> None:
    """Both in the same folder: neither may take the place of the other without a word."""
    told: list[str] = []
    order = replace(quick_order(tmp_path, "https://example.org"), say=told.append)
    names = {}
    for window in ("4 quarters", "1 quarter", "12 months", "2024Q4 2025Q4"):
        first_word, last_word = window.split()
        periods = window_periods((first_word, last_word), DAY)
        recipe_file, is_new = _write_recipe(replace(order, periods=periods))
        assert is_new
        names[recipe_file.parent.name] = read_recipe(recipe_file).dataset
    assert names == {
        "2025Q4": "dynamic-templama-quick",
        "2025Q4-1-quarter": "dynamic-templama-quick-1-quarter",
        "2026M01-12-months": "dynamic-templama-quick-12-months",
        "2025Q4-5-quarters": "dynamic-templama-quick-5-quarters",
    }
    assert told == []
    _write_recipe(order)
    _write_recipe(replace(order, relations=("P6",)))
    (warning,) = told
    assert "2025Q4-2-quarters was made otherwise" in warning and "--out FOLDER" in warning


def test_without_a_network_the_sample_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_out_of_reach(*_: object, **more: object) -> None:
        raise UserError("still out of reach", where="http://127.0.0.1:9/")

    monkeypatch.setattr("factdrift.scoring.quick.mine_sparql", is_out_of_reach)
    order = quick_order(tmp_path, "http://127.0.0.1:9/")
    with pytest.raises(UserError, match=r"out of reach\n.*factdrift quick --sample"):
        _mine(order, "http://127.0.0.1:9/", is_new=True)
    (order.folder / "answers").mkdir(parents=True)
    (order.folder / "answers/1.json").write_text("{}")
    with pytest.raises(UserError, match=r"out of reach$"):
        _mine(order, "http://127.0.0.1:9/", is_new=True)


def test_it_is_said_why_there_is_no_curve() -> None:
    result = QuickResult(Path("r"), Path("report.html"), None, {"m": "these answers"})
    assert any("no curve" in line and "--window" in line for line in result.lines())
    assert not any("no curve" in line for line in result._replace(curve=Path("c.png")).lines())


def test_what_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    options = ["--out", tmp_path / "quick", "--endpoint", "http://127.0.0.1:9/"]
    for more_words, message in (
        (["--base-url", "http://127.0.0.1:9/v1"], "name it: --model NAME"),
        (["--day", "yesterday"], "--day: not a day"),
        (["--relations", "P7777"], "P7777: no template"),
        (["--user-agent", "me"], "only with a User-Agent that holds a contact"),
        ([], "--user-agent 'my-project/1.0"),
        (["--window", "quarter"], "--window needs 2 values"),
        (["--window", "0 quarters"], "--window: 0 periods; 1 to 400"),
        (["--window=0 quarters"], "--window: 0 periods; 1 to 400"),
        (["--model", "m", "--base-url", "http://127.0.0.1:9/v1"], "server does not answer"),
    ):
        assert message in run_cli("quick", *options, *more_words, ok=False).stderr
    assert not (tmp_path / "quick").exists()


@pytest.mark.slow
def test_the_whole_way_with_the_bundled_sample(tmp_path: Path) -> None:
    """What a stranger could not try without an endpoint: release, report and curve."""
    out = tmp_path / "quick"
    words = ["--sample", "--relations", "P286,P488", "--window", "3", "quarters"]
    printed = run_cli("quick", *words, "--out", out)
    assert printed.stdout == f"{out / 'releases/dynamic-templama-sample-3-quarters/1.0.0'}\n"
    card = (out / "releases/dynamic-templama-sample-3-quarters/1.0.0/README.md").read_text("utf-8")
    assert "From the bundled sample." in card
    assert "not those of Wikidata" in card
    assert (out / "sample-2025Q4-3-quarters/report/report.html").is_file()
    assert (out / "releases/dynamic-templama-sample-3-quarters/1.0.0/data/updated").is_dir()


def test_the_sentence_about_knowledge() -> None:
    stop = {"last_known": "2024Q4", "first_unknown": "2025Q1", "n": 1234}
    stop |= {"low": "2024Q3", "high": "2025Q1"}
    scores = Scores(Path(), {"knowledge": stop}, ())
    bracket = "95 % interval 2024Q3 to 2025Q1, from 1,234 answers about what changes"
    expected = f"knowledge stops in 2024Q4 ({bracket})"
    assert knowledge_sentence(scores) == expected
    assert "do not show" in knowledge_sentence(Scores(Path(), {"knowledge": None}, ()))


# --- The sample, served by oxigraph ---------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The RDF of the sample's dump, as Wikidata's query service has it."""
    served_relations = ("P286", "P54", "P279", "P569", "P570", "P571", "P576")
    with serve(SAMPLE, flavour="wdqs", relations=served_relations) as running:
        yield running


def release_rows(releases: Path) -> dict[str, list[object]]:
    """The rows of every table of the one release in a folder, without the counts of facts.

    A dump tells all facts of a subject, an endpoint those of the relations that it was asked for.
    """
    (folder,) = releases.glob("*/*")
    rows: dict[str, list[object]] = {}
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(path)
        kept_columns = [name for name in table.column_names if name != "subject_facts"]
        rows[str(path.relative_to(folder))] = table.select(kept_columns).to_pylist()
    figures = json.loads((folder / "manifest.json").read_bytes())["figures"]
    rows["learned"] = [figure for figure in figures if figure["name"] == "learned_times"]
    return rows


@pytest.mark.slow
def test_the_rows_are_those_of_the_dump_after_two_kills(server: Server, tmp_path: Path) -> None:
    """Nothing is asked twice but what was under way, and nothing at all when it is there."""
    out, endpoint = tmp_path / "quick", server.endpoint
    words = ["quick", "--endpoint", endpoint, "--road", "whole", "--user-agent", AGENT]
    words += ["--relations", "P286,P54-club", "--window", "2", "quarters", "--day", str(DAY)]
    words += ["--limit", "20", "--out", str(out)]
    # the 4th request, of a whole relation, is cut off, and the 6th, of a part, is refused
    server.reset(*[{"kind": "pass"}] * 3, {"kind": "cut"}, {"kind": "pass"}, {"kind": "429"})
    server.delay = 0.3
    for request_count in (7, 12):
        with start_process(sys.executable, "-m", "factdrift", *words) as run:
            while len(server.log) < request_count and run.poll() is None:
                time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
    assert not (out / "2025Q4-2-quarters/mined/mined.json").exists()
    server.delay = 0.0
    with serve_json(lambda _, body: model_reply(body, lambda prompt: "Leeds United")) as address:
        printed = run_cli(*words, "--model", "m", "--base-url", f"{address}/v1")
    queries = column_of(server.log, "query")
    # the day, two counts, P286 in a whole and in ten parts, P54, names, more names, subclasses
    assert len(set(queries)) <= 1 + 2 + 11 + 1 + 1 + 3 + 1
    assert len(queries) - len(set(queries)) <= 2 + 1  # what was under way, and what was refused
    assert column_of(server.log, "accept").count(TSV) >= 12
    told_lines = r"\nreport: .*report.html\ncurve: .*\.png\nm: (knowledge stops|these)"
    assert re.search(told_lines, printed.stderr)
    assert printed.stdout == f"{out / 'releases/dynamic-templama-quick-2-quarters/1.0.0'}\n"

    recipe = out / "2025Q4-2-quarters/recipe.yaml"
    dump_words = ["--dump", SAMPLE, "--out", tmp_path / "releases", "--build", tmp_path / "build"]
    run_cli("release", recipe, *dump_words)
    assert release_rows(out / "releases") == release_rows(tmp_path / "releases")
    assert release_rows(out / "releases")["learned"]

    server.reset()
    _mine(quick_order(out, endpoint), endpoint, is_new=False)
    assert server.log == []
