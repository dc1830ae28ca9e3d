"""A release as a corpus with queries and relevance judgments, and runs that are scored on it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.scoring.retrieval import RetrievalScores, score_run
from tests.conftest import ROOT, run_cli

FILES = ("corpus.jsonl", "queries.jsonl")


def records(path: Path) -> dict[str, Mapping[str, Any]]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = {one["_id"]: one for one in lines}
    assert len(found) == len(lines)
    return found


def judged(folder: Path) -> list[tuple[str, str, int]]:
    rows = []
    for path in sorted((folder / "qrels").glob("*.tsv")):
        head, *lines = path.read_text("utf-8").splitlines()
        assert head == "query-id\tcorpus-id\tscore"
        rows += [line.split("\t") for line in lines]
    return [(query, passage, int(score)) for query, passage, score in rows]


def names(passage: Mapping[str, Any], targets: list[str]) -> bool:
    return any(target.lower() in passage["text"].lower() for target in targets)


@pytest.fixture(scope="module")
def news(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("news")
    run_cli("corpus", ROOT / "samples/news", "--until", "2020-12-31", "--out", folder / "corpus")
    release = sample / "releases/streamingqa/1.0.0"
    words = ("--format", "beir", "--corpus", folder / "corpus", "--to")
    run_cli("export", release, *words, folder / "beir")
    run_cli("export", release, *words, folder / "again")
    for name in FILES:
        assert (folder / "beir" / name).read_bytes() == (folder / "again" / name).read_bytes()
    return folder / "beir"


@pytest.fixture(scope="module")
def pages(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "beir"
    run_cli("export", sample / "releases/timeqa/1.0.0", "--format", "beir", "--to", folder)
    return folder


def test_news(news: Path) -> None:
    passages, queries = (records(news / name) for name in FILES)
    rows = judged(news)
    assert {query for query, _, _ in rows} == set(queries) and len(queries) > 200
    pairs = [(passages[p], queries[q]["metadata"]["targets"]) for q, p, score in rows if score]
    right = [names(*pair) for pair in pairs]
    # of three questions in a hundred the sentence names the answer otherwise: British
    assert sum(right) >= 0.97 * len(right)
    for query, passage, _ in rows:
        asked = queries[query]["metadata"]["day"]
        assert passages[passage]["metadata"]["day"] <= asked
        assert queries[query]["text"].startswith("Today is ")


def test_pages(pages: Path) -> None:
    passages, queries = (records(pages / name) for name in FILES)
    rows = judged(pages)
    assert len(queries) > 300
    stale = [line.split("\t") for line in (pages / "stale.tsv").read_text("utf-8").splitlines()[1:]]
    assert len(stale) > 500
    for query, passage, score in rows:
        assert names(passages[passage], queries[query]["metadata"]["targets"]) == bool(score)
    assert {(q, p) for q, p, _ in stale} == {(q, p) for q, p, score in rows if not score}


def test_a_search_by_day_finds_nothing_later(news: Path, pages: Path, tmp_path: Path) -> None:
    passages, queries = (records(news / name) for name in FILES)
    means = {}
    for by in ("bm25", "day", "newest"):
        file = tmp_path / f"{by}.trec"
        run_cli("search", news, "--out", file, "--by", by)
        found = [line.split() for line in file.read_text("utf-8").splitlines()]
        later = sum(
            passages[passage]["metadata"]["day"] > queries[query]["metadata"]["day"]
            for query, _, passage, *_ in found
        )
        assert (later == 0) == (by != "bm25")
        (test,) = [one for one in score_run(news, file) if one.split == "test"]
        means[by] = test.measures["nDCG@10"].mean
    assert means["day"] > means["bm25"] > means["newest"]
    said = run_cli("search", pages, "--out", tmp_path / "x", "--by", "day", ok=False).stderr
    assert "its passages have no days" in said


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "q1\ta\t1", "q1\tb\t0", "q2\tc\t1", "q3\td\t1"]
    (tmp_path / "qrels/test.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def scored(folder: Path, text: str) -> RetrievalScores:
    (folder / "run.trec").write_text(text, "utf-8")
    (found,) = score_run(folder, folder / "run.trec")
    return found


def test_measures_by_hand(tiny: Path) -> None:
    """q1 second of two, q2 first, q3 has no results."""
    found = scored(tiny, "q1 Q0 b 1 9 x\nq1 Q0 a 2 8 x\nq2 Q0 c 1 1 x\nq2 Q0 a 2 0.5 x\n")
    means = {name: round(of.mean, 4) for name, of in found.measures.items()}
    assert found.queries == 3
    recall = {"recall@10": 0.6667, "recall@100": 0.6667}
    others = {"MRR": 0.5, "stale@10": 0.1, "misled": 1.0}
    assert means == {"nDCG@10": round((0.6309 + 1) / 3, 4), **recall, **others}
    turned = scored(tiny, "q1 Q0 b 1 8 x\nq1 Q0 a 2 9 x\n")
    assert turned.measures["misled"].mean == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 a\n", "run.trec:1: no line of a run"),
        ("q1 Q0 a 1 high x\n", "run.trec:1: no line of a run"),
        ("q1 Q0 a 1 nan x\n", "run.trec:1: no number"),
        ("q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n", "run.trec:2: a passage twice"),
        ("q9 Q0 a 1 2 x\n", "the run has no query of this folder"),
    ],
)
def test_a_run_that_is_none(tiny: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as e:
        scored(tiny, text)
    assert said in str(e.value)


def test_what_an_export_lacks(sample: Path, tmp_path: Path) -> None:
    for name, message in (
        ("streamingqa", "the text of news is not in the release"),
        ("invariant-lama", "has nothing for the format beir"),
    ):
        words = (sample / "releases" / name / "1.0.0", "--format", "beir", "--to", tmp_path / "b")
        assert message in run_cli("export", *words, ok=False).stderr
    said = run_cli("score", tmp_path, ok=False).stderr
    assert "give either --predictions FILE or --run FILE" in said
