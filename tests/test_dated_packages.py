"""Layouts of dated passages in the packages that they are for; each test needs its package."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factdrift.scoring.export import export_release
from factdrift.scoring.retrieval import RetrievalScores, score_run
from factdrift.scoring.search_baselines import search_passages
from tests.conftest import ROOT
from tests.dated_release import dated_release

Results = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    export_release(dated_release(folder), "mteb", folder / "mteb", lambda text: None)
    return folder / "mteb"


def results_of(run: Path) -> Results:
    results: Results = {}
    for line in run.read_text("utf-8").splitlines():
        query_id, _, passage_id, _, score, _ = line.split()
        results.setdefault(query_id, {})[passage_id] = float(score)
    return results


def our_scores(folder: Path, run: Path) -> RetrievalScores:
    (scores,) = score_run(folder, run)
    return scores


def test_beir_gives_the_same_scores(folder: Path, tmp_path: Path) -> None:
    loader = pytest.importorskip("beir.datasets.data_loader")
    evaluation = pytest.importorskip("beir.retrieval.evaluation")
    _, queries, qrels = loader.GenericDataLoader(str(folder)).load(split="test")
    assert queries.keys() == qrels.keys() == {"q1", "q2", "q3"}
    run = tmp_path / "run.trec"
    search_passages(folder, run)
    ndcg, _, recall, _ = evaluation.EvaluateRetrieval.evaluate(qrels, results_of(run), [10, 100])
    ours = our_scores(folder, run).measures
    assert round(ours["nDCG@10"].mean, 4) == round(ndcg["NDCG@10"], 4) < 1
    assert round(ours["recall@100"].mean, 4) == round(recall["Recall@100"], 4)


class WordCounts:
    """A model of MTEB that counts words: nothing to download, and the same numbers everywhere."""

    def __init__(self, description: Any) -> None:
        self.mteb_model_meta = description

    def encode(self, inputs: Iterator[dict[str, Any]], **options: Any) -> Any:
        import numpy as np

        vectors = []
        for batch in inputs:
            for text in batch["text"]:
                vector = np.zeros(64)
                for word in text.lower().split():
                    vector[sum(map(ord, word)) % len(vector)] += 1
                vectors.append(vector / np.linalg.norm(vector))
        return np.array(vectors)

    def similarity(self, queries: Any, passages: Any) -> Any:
        return queries @ passages.T

    def similarity_pairwise(self, queries: Any, passages: Any) -> Any:
        return (queries * passages).sum(1)


def test_mteb_searches_what_was_published_and_gives_the_same_scores(
    folder: Path, tmp_path: Path
) -> None:
    mteb = pytest.importorskip("mteb")
    described_file = importlib.util.spec_from_file_location("mteb_task", folder / "mteb_task.py")
    assert described_file and described_file.loader
    module = importlib.util.module_from_spec(described_file)
    described_file.loader.exec_module(module)
    model = WordCounts(mteb.models.ModelMeta.create_empty())
    evaluated = mteb.evaluate(
        model, [module.Task()], prediction_folder=tmp_path, cache=None, overwrite_strategy="always"
    )
    (scores,) = evaluated.task_results[0].scores["test"]
    (file,) = (path for path in tmp_path.rglob("*.json") if "predictions" in path.name)
    results: Results = json.loads(file.read_text("utf-8"))["default"]["test"]
    run = tmp_path / "run.trec"
    with run.open("w", encoding="utf-8") as run_file:
        for query_id, passages in results.items():
            for passage_id, score in passages.items():
                run_file.write(f"{query_id} Q0 {passage_id} 1 {score} mteb\n")
    ours = our_scores(folder, run).measures
    assert ours["later@10"].mean == 0
    assert round(ours["nDCG@10"].mean, 4) == round(scores["ndcg_at_10"], 4)
    assert round(ours["recall@100"].mean, 4) == round(scores["recall_at_100"], 4)


def documented_code(heading: str) -> str:
    """The Python of a section of the page about memories."""
    page = (ROOT / "docs/memories.md").read_text("utf-8")
    return page.partition(f"## {heading}\n")[2].partition("```python\n")[2].partition("```")[0]


def test_llama_index_hears_a_stream_as_the_page_shows(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = pytest.importorskip("llama_index.core")
    embeddings = pytest.importorskip("llama_index.core.embeddings")
    models = pytest.importorskip("llama_index.core.llms")
    # a model that writes the same words each time, and an embedding that knows nothing
    core.Settings.llm = models.MockLLM(max_tokens=2)
    core.Settings.embed_model = embeddings.MockEmbedding(embed_dim=8)
    export_release(folder.parent / "as-of/1.0.0", "stream", tmp_path / "stream", lambda text: None)
    monkeypatch.chdir(tmp_path)
    exec(compile(documented_code("LlamaIndex"), "memories.md", "exec"), {})  # noqa: S102
    answers = [json.loads(line) for line in Path("answers.jsonl").read_text("utf-8").splitlines()]
    assert [answer["id"] for answer in answers] == ["q4", "q1", "q2", "q3"]
    assert {answer["prediction"] for answer in answers} == {"text text"}


@pytest.mark.parametrize("heading", ["LlamaIndex", "mem0", "Graphiti"])
def test_the_code_of_the_page_is_short_and_compiles(heading: str) -> None:
    code = documented_code(heading)
    compile(code, heading, "exec")
    assert len([line for line in code.splitlines() if line.strip()]) <= 24
