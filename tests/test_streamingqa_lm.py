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
from tests.tables import column_of

NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")


ANSWERS = {
    "date": re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b"),
    "phrase": re.compile(r"\b\d+ [a-z]{4,}\b"),
    "entity": NAME,
}
"""What the model asks for in a line, the rarest first."""


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
        if prompt.endswith("pairs.\nJSON:"):
            return json.dumps({"pairs": list(self.pairs(prompt))})
        if prompt.endswith("\nJSON:"):
            return '{"reason": "It is.", "new": true, "unique": true}'
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

    def pairs(self, prompt: str) -> Iterator[dict[str, str]]:
        """A pair for each line with an answer and other names: a name, a number, a date."""
        article = prompt.rpartition("Article of ")[2].rpartition("\n\nAsked on ")[0]
        for line in article.split("\n")[2:]:
            for answer_type, pattern in ANSWERS.items():
                answer = pattern.search(line)
                if answer is None or not NAME.search(line.replace(answer[0], "")):
                    continue
                yield {
                    "event": "it happened",
                    "event_day": "",
                    "sentence": line,
                    "question": self.question(line, answer[0]),
                    "answer": answer[0],
                    "answer_type": answer_type,
                }
                break

    def question(self, article: str, answer: str) -> str:
        sentence = next(
            sentence_text
            for sentence_text in re.split(r"(?<=[.!?]) ", article)
            if answer in sentence_text
        )
        names = [
            name for name in NAME.findall(sentence) if name not in answer and answer not in name
        ]
        names = [name for name in names if not set(name.split()) & set(WEEKDAYS)]
        question_text = f"Which words did Reuters print beside {' and '.join(names[:4])}?"
        self.asked[question_text] = answer
        return question_text


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[str, Model]]:
    server_model = Model()
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    with serve_json(
        lambda _, body: (200, chat_reply(server_model.say(body), usage=usage))
    ) as address:
        yield f"{address}/v1", server_model


def recipe(folder: Path, backend: dict[str, Any], **build: Any) -> Path:
    """The bundled recipe with another model, beside its own prompt file."""
    recipe_data = yaml.safe_load((ROOT / "builders/recipes/streamingqa-lm.yaml").read_text("utf-8"))
    recipe_data["inputs"] = {
        "news": {"kind": "news", "path": str(ROOT / "samples/news"), "licence": "CC0"}
    }
    recipe_data["build"]["generate"]["backend"] = backend
    numbers = {"recent": 6, "past": 6}
    recipe_data["build"]["dates"] = {"most_draws": 1} | dict.fromkeys(
        ("eval", "train", "valid"), numbers
    )
    recipe_data["build"] |= build
    path = folder / "mine.yaml"
    folder.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(json.loads(json.dumps(recipe_data))), "utf-8")
    prompts = (ROOT / "builders/generate/prompts/default.yaml").read_text("utf-8")
    (folder / "mine-prompts.yaml").write_text(prompts.replace("one short", "one VERY short"))
    return path


def manifest(release: Path) -> Any:
    return json.loads((release / "manifest.json").read_text("utf-8"))


def figure(release: Path, name: str) -> Any:
    return next(
        figure_table.rows
        for figure_table in load_manifest(release).figures
        if figure_table.name == name
    )


@pytest.mark.slow
def test_the_whole_way(model: tuple[str, Model], tmp_path: Path) -> None:
    address, server_model = model
    backend = {
        "backend": "openai",
        "base_url": address,
        "model": "m-1",
        "prompts": "mine-prompts.yaml",
    }
    path = recipe(tmp_path / "r", backend)
    cli_words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out"]
    limited_run = run_cli("release", path, *cli_words, "--limit", 8)
    assert "the whole recipe, " in limited_run.stderr and "tokens read" in limited_run.stderr
    limited_release = tmp_path / "out/streamingqa-lm-limit-8/1.0.0"
    assert len(config_rows(limited_release, "all")) == 8
    assert "--limit 8" in manifest(limited_release)["rebuild"]
    calls_before = len(server_model.calls)
    assert calls_before < 2 * 8 * (1 + 4 * 2), "two draws a row, and two filters that ask"
    run_cli("release", path, *cli_words)
    whole_release = tmp_path / "out/streamingqa-lm/1.0.0"
    rows = config_rows(whole_release, "all")
    calls = {row["calls"]: row for row in figure(whole_release, "calls")}
    assert len(rows) > 50
    assert calls["all"]["for each row kept"] <= 4
    assert calls["all"]["number"] >= len(server_model.calls) - calls_before, (
        "kept answers are not asked again"
    )
    assert set(column_of(rows, "answer_type")) >= {"entity", "phrase"}
    card = (whole_release / "README.md").read_text("utf-8")
    assert "m-1" in card and "one VERY short" in card and "mine-prompts.yaml" in card
    card_head = card.partition("## The recipe")[0]
    assert not re.search(r"\b(by|of) rules\b|the rules", card_head), "none wrote"
    assert str(tmp_path) not in card + (whole_release / "manifest.json").read_text("utf-8")
    # the same bytes from the kept answers alone, and nothing is asked
    calls_before = len(server_model.calls)
    second_folder = tmp_path / "again"
    recipe_data = yaml.safe_load(path.read_text("utf-8"))
    recipe_data["build"]["offline"] = True
    (tmp_path / "build/work").rename(tmp_path / "work")
    second_folder.mkdir()
    (second_folder / "build").mkdir()
    (tmp_path / "work").rename(second_folder / "build/work")
    offline = recipe(tmp_path / "r", backend, offline=True)
    run_cli("release", offline, "--build", second_folder / "build", "--out", second_folder / "out")
    assert len(server_model.calls) == calls_before
    data = sorted(
        data_path.relative_to(whole_release)
        for data_path in (whole_release / "data").rglob("*.parquet")
    )
    offline_release = second_folder / "out/streamingqa-lm/1.0.0"
    assert data and all(
        (whole_release / data_path).read_bytes() == (offline_release / data_path).read_bytes()
        for data_path in data
    )
    assert figure(offline_release, "calls") == figure(whole_release, "calls")


def test_batch_files(model: tuple[str, Model], tmp_path: Path) -> None:
    _, server_model = model
    backend: dict[str, Any] = {"backend": "batch", "model": "m-1", "folder": "batches"}
    backend["request"] = {"max_completion_tokens": 900}
    path = recipe(tmp_path / "r", backend)
    cli_words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out", "--limit", 6]
    batch_folder = tmp_path / "r/batches"
    for turn in range(6):
        cli_run = run_cli("release", path, *cli_words, ok=False)
        if cli_run.returncode == 0:
            break
        assert "calls wait for their results: " in cli_run.stderr, cli_run.stderr
        result_lines = []
        for line in (batch_folder / "requests-001.jsonl").read_text("utf-8").splitlines():
            call = json.loads(line)
            assert call["url"] == "/v1/chat/completions"
            assert call["body"]["max_completion_tokens"] == 900
            body = {"choices": [{"message": {"content": server_model.say(call["body"])}}]}
            response = {"status_code": 200, "body": body}
            result_lines.append(json.dumps({"custom_id": call["custom_id"], "response": response}))
        assert result_lines
        (batch_folder / f"results-{turn}.jsonl").write_text("\n".join(result_lines) + "\n", "utf-8")
    assert cli_run.returncode == 0 and 1 < turn < 5
    assert len(config_rows(tmp_path / "out/streamingqa-lm-limit-6/1.0.0", "all")) == 6


@pytest.mark.parametrize(
    ("backend", "expected_text"),
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
    tmp_path: Path, backend: dict[str, Any], expected_text: str
) -> None:
    path = recipe(tmp_path / "r", backend)
    cli_run = run_cli(
        "release", path, "--build", tmp_path / "build", "--out", tmp_path / "out", ok=False
    )
    assert cli_run.returncode == 1 and expected_text in cli_run.stderr, cli_run.stderr
    assert "making" not in cli_run.stderr


def test_other_models_answer_and_judge(model: tuple[str, Model], tmp_path: Path) -> None:
    address, server_model = model
    writer_settings = {"backend": "openai", "base_url": address, "model": "m-1"}
    filters = [
        {"filter": "round_trip", "backend": writer_settings | {"model": "m-2"}},
        {"filter": "lm_judge", "backend": writer_settings | {"model": "m-3"}},
    ]
    path = recipe(tmp_path / "r", writer_settings, filters=filters)
    calls_before = len(server_model.calls)
    cli_words: list[Any] = ["--build", tmp_path / "build", "--out", tmp_path / "out", "--limit", 4]
    run_cli("release", path, *cli_words)
    release = tmp_path / "out/streamingqa-lm-limit-4/1.0.0"
    assert len(config_rows(release, "all")) == 4
    assert set(column_of(server_model.calls[calls_before:], "model")) == {"m-1", "m-2", "m-3"}
    assert column_of(figure(release, "models"), "model") == ["m-1", "m-2", "m-3"]
    assert set(column_of(figure(release, "calls"), "calls")) == {
        "all",
        "answering",
        "judging",
        "writing",
    }
