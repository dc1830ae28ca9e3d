"""`streamingqa-lm` from the sample news, by a server that always answers well."""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
import yaml

from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.text.dates import WEEKDAYS
from tests.conftest import ROOT, run_cli
from tests.gold_rows import config_rows
from tests.json_server import chat_reply, serve_json

NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")


class Model:
    """Asks for the answer by the other names of its sentence, and knows what it asked."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.asked: dict[str, str] = {}
        self.lock = Lock()

    def say(self, body: dict[str, Any]) -> str:
        with self.lock:
            self.calls.append(body)
        prompt = body["messages"][0]["content"]
        article, _, rest = (
            prompt.rpartition("Article (")[2]
            .rpartition("\n")[0]
            .partition(": ")[2]
            .partition("\nAnswer: ")
        )
        if "\nGood:" in prompt:
            return '{"answerable": true, "one_answer": true, "stands_alone": true}'
        if "\nQuestion: " in article:
            question = article.rpartition("\nQuestion: ")[2]
            return json.dumps({"answer": self.asked.get(question, "unknown")})
        return json.dumps({"question": self.question(article, rest)})

    def question(self, article: str, answer: str) -> str:
        sentence = next(s for s in re.split(r"(?<=[.!?]) ", article) if answer in s)
        names = [n for n in NAME.findall(sentence) if n not in answer and answer not in n]
        names = [n for n in names if not set(n.split()) & set(WEEKDAYS)]
        asked = f"Which words did Reuters print beside {' and '.join(names[:4])}?"
        self.asked[asked] = answer
        return asked


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[str, Model]]:
    known = Model()
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    with serve_json(lambda _, body: (200, chat_reply(known.say(body), usage=usage))) as address:
        yield f"{address}/v1", known


def recipe(folder: Path, backend: dict[str, Any], **build: Any) -> Path:
    """The bundled recipe with another model, beside its own prompt file."""
    made = yaml.safe_load((ROOT / "builders/recipes/streamingqa-lm.yaml").read_text("utf-8"))
    made["inputs"] = {
        "news": {"kind": "news", "path": str(ROOT / "samples/news"), "licence": "CC0"}
    }
    made["build"]["generate"]["backend"] = backend
    numbers = {"recent": 6, "past": 6}
    made["build"]["dates"] = {"most_draws": 1} | dict.fromkeys(("eval", "train", "valid"), numbers)
    made["build"] |= build
    path = folder / "mine.yaml"
    folder.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(json.loads(json.dumps(made))), "utf-8")
    prompts = (ROOT / "builders/generate/prompts/default.yaml").read_text("utf-8")
    (folder / "mine-prompts.yaml").write_text(prompts.replace("one short", "one VERY short"))
    return path


def manifest(release: Path) -> Any:
    return json.loads((release / "manifest.json").read_text("utf-8"))


def figure(release: Path, name: str) -> Any:
    return next(one.rows for one in load_manifest(release).figures if one.name == name)


@pytest.mark.slow
def test_the_whole_way(model: tuple[str, Model], tmp_path: Path) -> None:
    address, known = model
    backend = {
        "backend": "openai",
        "base_url": address,
        "model": "m-1",
        "prompts": "mine-prompts.yaml",
    }
    path = recipe(tmp_path / "r", backend)
    words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out"]
    few = run_cli("release", path, *words, "--limit", 8)
    assert "the whole recipe, " in few.stderr and "tokens read" in few.stderr
    limited = tmp_path / "out/streamingqa-lm-limit-8/1.0.0"
    assert len(config_rows(limited, "all")) == 8
    assert "--limit 8" in manifest(limited)["rebuild"]
    before = len(known.calls)
    assert before < 8 * 6
    run_cli("release", path, *words)
    whole = tmp_path / "out/streamingqa-lm/1.0.0"
    rows = config_rows(whole, "all")
    calls = {row["calls"]: row for row in figure(whole, "calls")}
    assert len(rows) > 50
    assert calls["all"]["for each row kept"] <= 3
    assert calls["all"]["number"] >= len(known.calls) - before, "kept answers are not asked again"
    assert {row["answer_type"] for row in rows} == {"entity", "phrase", "date"}
    card = (whole / "README.md").read_text("utf-8")
    assert "m-1" in card and "one VERY short" in card and "mine-prompts.yaml" in card
    told = card.partition("## The recipe")[0]
    assert not re.search(r"\b(by|of) rules\b|the rules", told), "none wrote"
    assert str(tmp_path) not in card + (whole / "manifest.json").read_text("utf-8")
    # the same bytes from the kept answers alone, and nothing is asked
    before = len(known.calls)
    again = tmp_path / "again"
    made = yaml.safe_load(path.read_text("utf-8"))
    made["build"]["offline"] = True
    (tmp_path / "build/work").rename(tmp_path / "work")
    again.mkdir()
    (again / "build").mkdir()
    (tmp_path / "work").rename(again / "build/work")
    offline = recipe(tmp_path / "r", backend, offline=True)
    run_cli("release", offline, "--build", again / "build", "--out", again / "out")
    assert len(known.calls) == before
    data = sorted(p.relative_to(whole) for p in (whole / "data").rglob("*.parquet"))
    other = again / "out/streamingqa-lm/1.0.0"
    assert data and all((whole / p).read_bytes() == (other / p).read_bytes() for p in data)
    assert figure(other, "calls") == figure(whole, "calls")


def test_batch_files(model: tuple[str, Model], tmp_path: Path) -> None:
    _, known = model
    backend: dict[str, Any] = {"backend": "batch", "model": "m-1", "folder": "batches"}
    backend["request"] = {"max_completion_tokens": 900}
    path = recipe(tmp_path / "r", backend)
    words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out", "--limit", 6]
    folder = tmp_path / "r/batches"
    for turn in range(6):
        done = run_cli("release", path, *words, ok=False)
        if done.returncode == 0:
            break
        assert "calls wait for their results: " in done.stderr, done.stderr
        results = []
        for line in (folder / "requests-001.jsonl").read_text("utf-8").splitlines():
            call = json.loads(line)
            assert call["url"] == "/v1/chat/completions"
            assert call["body"]["max_completion_tokens"] == 900
            body = {"choices": [{"message": {"content": known.say(call["body"])}}]}
            response = {"status_code": 200, "body": body}
            results.append(json.dumps({"custom_id": call["custom_id"], "response": response}))
        assert results
        (folder / f"results-{turn}.jsonl").write_text("\n".join(results) + "\n", "utf-8")
    assert done.returncode == 0 and 1 < turn < 5
    assert len(config_rows(tmp_path / "out/streamingqa-lm-limit-6/1.0.0", "all")) == 6


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ({"backend": "openai", "model": "m", "prompts": "mine-prompt.yaml"}, "mine-prompts.yaml"),
        ({"backend": "openai", "model": "m", "key_variable": "NO_SUCH"}, "NO_SUCH holds no key"),
        pytest.param(
            {"backend": "transformers", "model": "no/such-model"},
            "cannot be loaded",
            marks=pytest.mark.skipif(find_spec("torch") is None, reason="needs torch"),
        ),
        ({"backend": "openai", "model": "m", "request": 3}, "request: should be a mapping"),
    ],
)
def test_mistakes_are_told_before_any_work(
    tmp_path: Path, backend: dict[str, Any], said: str
) -> None:
    path = recipe(tmp_path / "r", backend)
    done = run_cli(
        "release", path, "--build", tmp_path / "build", "--out", tmp_path / "out", ok=False
    )
    assert done.returncode == 1 and said in done.stderr, done.stderr
    assert "making" not in done.stderr


def test_other_models_answer_and_judge(model: tuple[str, Model], tmp_path: Path) -> None:
    address, known = model
    one = {"backend": "openai", "base_url": address, "model": "m-1"}
    filters = [
        {"filter": "round_trip", "backend": one | {"model": "m-2"}},
        {"filter": "lm_judge", "backend": one | {"model": "m-3"}},
    ]
    path = recipe(tmp_path / "r", one, filters=filters)
    at = len(known.calls)
    words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out", "--limit", 4]
    run_cli("release", path, *words)
    release = tmp_path / "out/streamingqa-lm-limit-4/1.0.0"
    assert len(config_rows(release, "all")) == 4
    assert {call["model"] for call in known.calls[at:]} == {"m-1", "m-2", "m-3"}
    assert [row["model"] for row in figure(release, "models")] == ["m-1", "m-2", "m-3"]
    assert {row["calls"] for row in figure(release, "calls")} == {
        "all",
        "answering",
        "judging",
        "writing",
    }
