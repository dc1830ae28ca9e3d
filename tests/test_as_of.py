"""`as-of`: every question against a walk over the segments, its passages, its exports, memories."""

import csv
import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.testing import check_dataset
from tests.conftest import ROOT, Completed, run_cli
from tests.histories import timelines_with
from tests.reasoning_oracle import worlds

Rows = list[dict[str, Any]]
RELEASE = "releases/as-of/1.0.0"


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exports of the sample's release."""
    folder = tmp_path_factory.mktemp("as-of")
    for name in ("beir", "dpr", "mteb", "stream"):
        run_cli("export", sample / RELEASE, "--format", name, "--to", folder / name)
    return folder


def release(
    folder: Path, *more_lines: str, dropped_word: str = "nothing", ok: bool = True
) -> Completed:
    """Run the recipe with lines more, and without those that hold a word."""
    text = (ROOT / "builders/recipes/as-of.yaml").read_text("utf-8").replace("../../", f"{ROOT}/")
    kept_lines = [line for line in text.splitlines() if dropped_word not in line]
    recipe = folder / "mine.yaml"
    recipe.write_text(
        "\n".join([*kept_lines, *(f"  {line}" for line in more_lines)]) + "\n", "utf-8"
    )
    return run_cli("release", recipe, "--out", folder / "out", "--build", folder / "b", ok=ok)


def rows(folder: Path, name: str) -> Rows:
    (path,) = folder.glob(name)
    table_rows: Rows = pq.read_table(path).to_pylist()
    return table_rows


@pytest.fixture(scope="module")
def questions(sample: Path) -> Rows:
    return rows(sample, f"{RELEASE}/data/questions/*.parquet")


@pytest.fixture(scope="module")
def passages(sample: Path) -> dict[str, dict[str, Any]]:
    return {
        passage["id"]: passage for passage in rows(sample, f"{RELEASE}/data/passages/*.parquet")
    }


@pytest.fixture(scope="module")
def stated(sample: Path) -> dict[str, list[dict[str, Any]]]:
    facts: dict[str, list[dict[str, Any]]] = {}
    for fact in rows(sample, f"{RELEASE}/data/stated/*.parquet"):
        facts.setdefault(fact["passage"], []).append(fact)
    return facts


def test_answers_are_what_holds_under_every_reading(sample: Path, questions: Rows) -> None:
    stated = {statement for question in questions for statement in question["statements"]}
    relations = {question["relation"] for question in questions}
    for world in worlds(*timelines_with(sample / "build", relations, stated), 0):
        for question in questions:
            held = world.on(question["subject"], question["relation"], question["as_of"])
            assert held == set(question["answer_ids"]), question


def test_evidence_is_of_the_same_pair(
    questions: Rows, stated: dict[str, list[dict[str, Any]]]
) -> None:
    for question in questions:
        same_pair = question["subject"], question["relation"]
        assert question["evidence"] and question["asked_on"] >= question["as_of"]
        for passage_id in (*question["evidence"], *question["stale"]):
            facts = stated[passage_id]
            assert same_pair in {(fact["subject"], fact["relation"]) for fact in facts}
            assert all(fact["day"] <= question["asked_on"] for fact in facts)
        assert not set(question["targets"]) & {*question["earlier"], *question["later"]}
    kinds = [question["superseded"] for question in questions]
    assert kinds.count("yes") == kinds.count("no") == len(kinds) / 2 > 200


def lines(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_stream_is_in_order_and_gives_nothing_away(folder: Path, questions: Rows) -> None:
    stream = lines(folder / "stream/stream.jsonl")
    order = [(event["day"], event["kind"], event["id"]) for event in stream]
    assert order == sorted(order)
    before: set[str] = set()
    by_id = {question["id"]: question for question in questions}
    for event in stream:
        if event["kind"] == "passage":
            before.add(event["id"])
        else:
            question = by_id.pop(event["id"])
            assert set(question["evidence"]) <= before
            assert event.keys() == {"kind", "id", "day", "text", "subject", "relation", "as_of"}
    assert not by_id


def test_the_same_judgments_in_every_format(folder: Path, questions: Rows) -> None:
    with (folder / "beir/qrels/test.tsv").open(encoding="utf-8") as file:
        judged = [tuple(row.values()) for row in csv.DictReader(file, delimiter="\t")]
    expected_judgments = {
        (question["id"], passage_id, "1")
        for question in questions
        for passage_id in question["evidence"]
    }
    expected_judgments |= {
        (question["id"], passage_id, "0")
        for question in questions
        for passage_id in question["stale"]
    }
    assert set(judged) == expected_judgments and len(judged) == len(expected_judgments)
    dpr = json.loads((folder / "dpr/test.json").read_text("utf-8"))
    for lists, score in (("positive_ctxs", "1"), ("hard_negative_ctxs", "0")):
        dpr_judgments = {
            (question["id"], passage_id["passage_id"], score)
            for question in dpr
            for passage_id in question[lists]
        }
        assert dpr_judgments == {
            judgment for judgment in expected_judgments if judgment[2] == score
        }
    compile((folder / "mteb/mteb_task.py").read_text("utf-8"), "mteb_task.py", "exec")
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        assert (folder / "mteb" / name).read_bytes() == (folder / "beir" / name).read_bytes()


def searched(folder: Path, out: Path, *search_options: object) -> dict[str, float]:
    """The measures of a search."""
    out.mkdir(exist_ok=True)
    run_cli("search", folder / "beir", *search_options, "--out", out / "run.trec")
    run_cli("score", folder / "beir", "--run", out / "run.trec", "--out", out)
    (search_scores,) = json.loads((out / "retrieval.json").read_text("utf-8"))
    return {name: measure["mean"] for name, measure in search_scores["measures"].items()}


def test_a_day_filter_is_misled_less(folder: Path, tmp_path: Path) -> None:
    means = {by: searched(folder, tmp_path / by, "--by", by) for by in ("bm25", "day", "newest")}
    assert means["day"]["nDCG@10"] > means["bm25"]["nDCG@10"] > 0.4
    assert means["newest"]["misled"] < means["day"]["misled"] < means["bm25"]["misled"]


def test_the_memory_that_keeps_validity_wins(sample: Path, folder: Path, tmp_path: Path) -> None:
    script = ROOT / "samples/memories/memories.py"
    words: list[str | Path] = [sys.executable, script, folder / "stream/stream.jsonl", tmp_path]
    subprocess.run(words, check=True)
    means: dict[tuple[str, str, str], float] = {}
    for memory in ("last", "validity"):
        out = tmp_path / memory
        run_cli("score", sample / RELEASE, "--predictions", f"{out}.jsonl", "--out", out)
        for mean in json.loads((out / "scores.json").read_text("utf-8"))["table"]:
            if mean["stratum"] == "superseded" and mean["config"] == "questions":
                means[memory, mean["value"], mean["metric"]] = mean["mean"]
    assert means["last", "yes", "early"] > 0.85 > 0.1 > means["last", "yes", "exact_match"]
    assert 0.98 > means["last", "no", "exact_match"] > 0.9
    for superseded in ("yes", "no"):
        assert means["validity", superseded, "exact_match"] > 0.97
        assert means["validity", superseded, "early"] == 0


def test_the_text_of_news_stays_out_and_is_put_back(folder: Path, tmp_path: Path) -> None:
    release(tmp_path, "text: false")
    release_folder = tmp_path / "out/as-of/1.0.0"
    passage_rows = rows(release_folder, "data/passages/*.parquet")
    assert {not passage["text"] for passage in passage_rows if passage["source"] == "news"} == {
        True
    }
    assert all(passage["text"] for passage in passage_rows if passage["source"] != "news")
    run_cli("corpus", ROOT / "samples/news", "--out", tmp_path / "all")
    run_cli("corpus", ROOT / "samples/news", "--out", tmp_path / "few", "--until", "2015-12-31")
    for name, file in (("beir", "corpus.jsonl"), ("stream", "stream.jsonl")):
        export_command = ("export", release_folder, "--format", name, "--to", tmp_path / name)
        assert "--corpus FOLDER" in run_cli(*export_command, ok=False).stderr
        assert "it lacks" in run_cli(*export_command, "--corpus", tmp_path / "few", ok=False).stderr
        run_cli(*export_command, "--corpus", tmp_path / "all")
        assert (tmp_path / name / file).read_bytes() == (folder / name / file).read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("relations: [P27]", "no phrases to ask P27 with"),
        ("first: 2025-06-01\n  last: 2025-01-01", "do not lie before the dump's"),
    ],
)
def test_mistakes_of_a_recipe(tmp_path: Path, line: str, message: str) -> None:
    key = line.partition(":")[0] + ":"
    assert message in release(tmp_path, line, dropped_word=f"  {key}", ok=False).stderr


def test_without_news_there_are_none(tmp_path: Path) -> None:
    release(tmp_path, "late: 0", dropped_word="news:")
    passage_rows = rows(tmp_path, "out/as-of/1.0.0/data/passages/*.parquet")
    assert {passage["source"] for passage in passage_rows} == {"statement", "page"}
    assert min(passage["day"] for passage in passage_rows) > date(1900, 1, 1)


@pytest.mark.slow
def test_the_kit(tmp_path: Path) -> None:
    assert check_dataset(ROOT / "builders/recipes/as-of.yaml", tmp_path).configs


@pytest.mark.slow
def test_embeddings(folder: Path, tmp_path: Path) -> None:
    """The small sentence model that comes as a package finds more than BM25 does."""
    package = pytest.importorskip("all_minilm_l6_v2")
    pytest.importorskip("torch")
    words = ("--by", "embedding", "--model", package.extract_model(str(tmp_path)))
    assert searched(folder, tmp_path / "scores", *words)["nDCG@10"] > 0.6
