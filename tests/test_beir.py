"""A release as a corpus with queries and relevance judgments, and runs that are scored on it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.scoring.report import write_report
from factdrift.scoring.retrieval import RetrievalScores, score_run
from tests.conftest import ROOT, run_cli

FILES = ("corpus.jsonl", "queries.jsonl")


def records(path: Path) -> dict[str, Mapping[str, Any]]:
    lines = [json.loads(run_line) for run_line in path.read_text("utf-8").splitlines()]
    found_records = {record["_id"]: record for record in lines}
    assert len(found_records) == len(lines)
    return found_records


def judged(beir_folder: Path) -> list[tuple[str, str, int]]:
    rows = []
    for path in sorted((beir_folder / "qrels").glob("*.tsv")):
        head, *lines = path.read_text("utf-8").splitlines()
        assert head == "query-id\tcorpus-id\tscore"
        rows += [run_line.split("\t") for run_line in lines]
    return [(query, passage, int(judged_score)) for query, passage, judged_score in rows]


def names(passage: Mapping[str, Any], targets: list[str]) -> bool:
    return any(target.lower() in passage["text"].lower() for target in targets)


@pytest.fixture(scope="module")
def news(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    beir_folder = tmp_path_factory.mktemp("news")
    run_cli(
        "corpus", ROOT / "samples/news", "--until", "2020-12-31", "--out", beir_folder / "corpus"
    )
    release = sample / "releases/streamingqa/1.0.0"
    words = ("--format", "beir", "--corpus", beir_folder / "corpus", "--to")
    run_cli("export", release, *words, beir_folder / "beir")
    run_cli("export", release, *words, beir_folder / "again")
    for file_name in FILES:
        assert (beir_folder / "beir" / file_name).read_bytes() == (
            beir_folder / "again" / file_name
        ).read_bytes()
    return beir_folder / "beir"


@pytest.fixture(scope="module")
def pages(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    beir_folder = tmp_path_factory.mktemp("pages") / "beir"
    run_cli("export", sample / "releases/timeqa/1.0.0", "--format", "beir", "--to", beir_folder)
    return beir_folder


def test_news(news: Path) -> None:
    passages, queries = (records(news / file_name) for file_name in FILES)
    rows = judged(news)
    assert {query for query, _, _ in rows} == set(queries) and len(queries) > 200
    pairs = [
        (passages[passage_id], queries[query_id]["metadata"]["targets"])
        for query_id, passage_id, judged_score in rows
        if judged_score
    ]
    right = [names(*pair) for pair in pairs]
    # of three questions in a hundred the sentence names the answer otherwise: British
    assert sum(right) >= 0.97 * len(right)
    for query, passage, _ in rows:
        asked_day = queries[query]["metadata"]["day"]
        assert passages[passage]["metadata"]["day"] <= asked_day
        assert queries[query]["text"].startswith("Today is ")


def test_pages(pages: Path) -> None:
    passages, queries = (records(pages / file_name) for file_name in FILES)
    rows = judged(pages)
    assert len(queries) > 300
    stale = [
        run_line.split("\t")[:3]
        for run_line in (pages / "stale.tsv").read_text("utf-8").splitlines()[1:]
    ]
    assert len(stale) > 500
    for query, passage, judged_score in rows:
        assert names(passages[passage], queries[query]["metadata"]["targets"]) == bool(judged_score)
    assert {(query_id, passage_id) for query_id, passage_id, _ in stale} == {
        (query_id, passage_id) for query_id, passage_id, judged_score in rows if not judged_score
    }


def test_a_search_by_day_finds_nothing_later(news: Path, pages: Path, tmp_path: Path) -> None:
    passages, queries = (records(news / file_name) for file_name in FILES)
    means = {}
    for by in ("bm25", "day", "newest"):
        file = tmp_path / f"{by}.trec"
        run_cli("search", news, "--out", file, "--by", by)
        found_records = [run_line.split() for run_line in file.read_text("utf-8").splitlines()]
        later = sum(
            passages[passage]["metadata"]["day"] > queries[query]["metadata"]["day"]
            for query, _, passage, *_ in found_records
        )
        assert (later == 0) == (by != "bm25")
        (test,) = [record for record in score_run(news, file) if record.split == "test"]
        means[by] = test.measures["nDCG@10"].mean
    assert means["day"] > means["bm25"] > means["newest"]
    error_text = run_cli("search", pages, "--out", tmp_path / "x", "--by", "day", ok=False).stderr
    assert "its passages have no days" in error_text


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "q1\ta\t1", "q1\tb\t0", "q2\tc\t1", "q3\td\t1"]
    (tmp_path / "qrels/test.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def scored(beir_folder: Path, text: str) -> RetrievalScores:
    (beir_folder / "run.trec").write_text(text, "utf-8")
    (found_records,) = score_run(beir_folder, beir_folder / "run.trec")
    return found_records


def test_measures_by_hand(tiny: Path) -> None:
    """q1 second of two, q2 first, q3 has no results."""
    found_records = scored(tiny, "q1 Q0 b 1 9 x\nq1 Q0 a 2 8 x\nq2 Q0 c 1 1 x\nq2 Q0 a 2 0.5 x\n")
    means = {
        file_name: round(measure_interval.mean, 4)
        for file_name, measure_interval in found_records.measures.items()
    }
    assert found_records.queries == 3
    recall = {"recall@10": 0.6667, "recall@100": 0.6667}
    other_means = {"MRR": 0.5, "other@10": 0.1, "misled": 1.0}
    assert means == {"nDCG@10": round((0.6309 + 1) / 3, 4), **recall, **other_means}
    turned = scored(tiny, "q1 Q0 b 1 8 x\nq1 Q0 a 2 9 x\n")
    assert turned.measures["misled"].mean == 0


@pytest.mark.parametrize(
    ("text", "error_text"),
    [
        ("q1 Q0 a\n", "run.trec:1: no line of a run"),
        ("q1 Q0 a 1 high x\n", "run.trec:1: no line of a run"),
        ("q1 Q0 a 1 nan x\n", "run.trec:1: no number"),
        ("q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n", "run.trec:2: a passage twice"),
        ("q9 Q0 a 1 2 x\n", "the run has no query of this folder"),
    ],
)
def test_a_run_that_is_none(tiny: Path, text: str, error_text: str) -> None:
    with pytest.raises(UserError) as raised_error:
        scored(tiny, text)
    assert error_text in str(raised_error.value)


RUNS = {
    "best": "q1 Q0 a 1 9 x\nq2 Q0 c 1 1 x\nq3 Q0 d 1 1 x\n",
    "half": "q1 Q0 b 1 9 x\nq1 Q0 a 2 8 x\nq2 Q0 c 1 1 x\n",
}


def run_scores(beir_folder: Path, run_name: str, scores_folder: Path) -> Path:
    run_file = beir_folder / f"{run_name}.trec"
    run_file.write_text(RUNS[run_name], "utf-8")
    run_cli("score", beir_folder, "--run", run_file, "--out", scores_folder)
    return scores_folder


def test_a_report_compares_runs(tiny: Path, tmp_path: Path) -> None:
    """The difference by hand: (0.3691 + 0 + 1) / 3 in nDCG@10."""
    (tiny / "queries.jsonl").write_text(
        "".join(
            json.dumps({"_id": query_id, "text": "?", "metadata": {"kind": kind}}) + "\n"
            for query_id, kind in (("q1", "older"), ("q2", "newest"), ("q3", "newest"))
        ),
        "utf-8",
    )
    scored_folders = [run_scores(tiny, name, tmp_path / "scores" / name) for name in RUNS]
    page_name = run_cli("report", *scored_folders, "--to", tmp_path / "page").stdout.strip()
    page_text = Path(page_name).read_text("utf-8")
    for shown_text in ("Run against run", "other@10", "misled", "+45.6", "MRR", "older", "newest"):
        assert shown_text in page_text
    assert "half</span>: 1 of 3 queries have no results" in page_text
    again = write_report(scored_folders, tmp_path / "again")
    assert again.read_text("utf-8") == page_text
    query_scores = [json.loads(line) for line in (scored_folders[1] / "queries.jsonl").open()]
    assert [(score["query"], round(score["nDCG@10"], 4)) for score in query_scores] == [
        ("q1", 0.6309),
        ("q2", 1.0),
        ("q3", 0.0),
    ]


def test_runs_that_cannot_be_compared(tiny: Path, tmp_path: Path) -> None:
    best, half = (run_scores(tiny, name, tmp_path / "scores" / name) for name in RUNS)
    namesake = run_scores(tiny, "half", tmp_path / "more/best")
    (answers := tmp_path / "answers").mkdir()
    (answers / "scores.json").write_text("{}")
    (tiny / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n", "utf-8")
    other_judgments = run_scores(tiny, "half", tmp_path / "scores/other")
    incomplete = run_scores(tiny, "half", tmp_path / "scores/incomplete")
    (incomplete / "queries.jsonl").write_text("{}\n")
    (old := tmp_path / "scores/old").mkdir()
    (old / "retrieval.json").write_text('[{"split": "test", "queries": 3}]')
    for folders, error_text in (
        ([best, answers], "make a report of runs, and another one of answers"),
        ([best, namesake], "two runs named 'best'"),
        ([half, other_judgments], "half and other were scored against other judgments"),
        ([other_judgments, incomplete], "queries.jsonl:1: no scores of a query"),
        ([old], "no scores of a run, or of an older version"),
    ):
        with pytest.raises(UserError) as raised_error:
            write_report(folders, tmp_path / "page")
        assert error_text in str(raised_error.value)


def test_the_interval_of_a_single_query_is_not_made_up(tiny: Path, tmp_path: Path) -> None:
    (tiny / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n", "utf-8")
    scores_folder = run_scores(tiny, "half", tmp_path / "scores")
    (split_scores,) = json.loads((scores_folder / "retrieval.json").read_bytes())
    assert split_scores["measures"]["nDCG@10"]["low"] is None
    run_cli("report", scores_folder, "--to", tmp_path / "page")


def test_the_blocks_of_the_readme_run(sample: Path, tmp_path: Path) -> None:
    """What README shows of retrieval and memory, in a folder that has the sample's releases."""
    (tmp_path / "releases").symlink_to(sample / "releases")
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## Test my retrieval or memory\n")[2].partition("\n## ")[0]
    commands = [line.partition("#")[0].split() for line in section.splitlines()]
    shown_commands = [words[1:] for words in commands if words[:1] == ["factdrift"]]
    assert shown_commands[0] == ["release", "as-of"] and len(shown_commands) == 7
    for words in shown_commands[1:]:
        printed_text = run_cli(*words, cwd=tmp_path).stdout
    assert "abstain" in printed_text and "current" in printed_text


def test_what_an_export_lacks(sample: Path, tmp_path: Path) -> None:
    for file_name, message in (
        ("streamingqa", "the text of news is not in the release"),
        ("invariant-lama", "has nothing for the format beir"),
    ):
        words = (
            sample / "releases" / file_name / "1.0.0",
            "--format",
            "beir",
            "--to",
            tmp_path / "b",
        )
        assert message in run_cli("export", *words, ok=False).stderr
    error_text = run_cli("score", tmp_path, ok=False).stderr
    assert "give either --predictions FILE or --run FILE" in error_text


def test_passages_that_the_corpus_lacks(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = "".join(json.dumps({"_id": name, "text": "x"}) + "\n" for name in "abcd")
    (tiny / "corpus.jsonl").write_text("\ufeff" + corpus, "utf-8")
    score_run(tiny, written_run(tiny, "q1 Q0 a 1 9 x\nq2 Q0 d 2 8 x\n"))
    assert "not in the corpus" not in capsys.readouterr().err
    score_run(tiny, written_run(tiny, "q1 Q0 a 1 9 x\nq1 Q0 z 2 8 x\nq2 Q0 y 2 8 x\n"))
    assert "2 of 3 passages are not in the corpus: y, z\n" in capsys.readouterr().err
    ghosts = written_run(tiny, "".join(f"q1 Q0 ghost-{n} 1 {n} x\n" for n in range(9)))
    with pytest.raises(UserError, match=r"9 of 9 .*: ghost-0, ghost-1, .*…\n.*another corpus"):
        score_run(tiny, ghosts)


def written_run(beir_folder: Path, text: str) -> Path:
    run_file = beir_folder / "run.trec"
    run_file.write_text(text, "utf-8")
    return run_file
