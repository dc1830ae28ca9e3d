"""`factdrift run-model`: which rows are asked, how, and what a killed run keeps."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core import hints
from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.protocol import Result
from factdrift.builders.generate.transformers_models import Transformers
from factdrift.builders.rows.frames import Frames
from factdrift.scoring import run_model as module
from factdrift.scoring.predictions import prompt_hash, read_about
from factdrift.scoring.run_model import ModelOrder, run_model
from factdrift.scoring.views import RowPrompter, ViewRow
from tests import known_models as known_answer
from tests import tiny_model
from tests.conftest import run_cli, run_process
from tests.json_server import Reply, chat_reply, serve_json
from tests.release_sample import BASE, PERIODS, Sample, cloze, publish
from tests.tables import column_of, columns_of

pytest.importorskip("torch")

KEY = "sk-secret-0123456789"


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 rows: 10 unchanged, 2 updated, in two periods; of those before them one still holds."""
    kept_rows = cloze(71).answers
    more_options = {"previous_answers": (*cloze(70).answers, *kept_rows), "still_true": kept_rows}
    updated = [
        cloze(club_number, "updated", period_name, **more_options)
        for club_number, period_name in ((7, PERIODS[0]), (8, PERIODS[1]))
    ]
    release_rows = {
        **BASE,
        "updated": {
            period_name: [
                prediction_row for prediction_row in updated if prediction_row.period == period_name
            ]
            for period_name in PERIODS
        },
    }
    return publish(tmp_path_factory.mktemp("releases"), Sample(release_rows)).folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    base_address = tmp_path_factory.mktemp("models")
    training_texts = [
        f"Person {person_number} plays for Club {person_number}." for person_number in range(9)
    ]
    return {
        model_kind: make(base_address / model_kind, training_texts)
        for model_kind, make in tiny_model.KINDS.items()
    }


def ordered(
    release_folder: Path, model: Path | str, base_address: Path, **more_options: Any
) -> list[dict[str, Any]]:
    """Run a model of this machine; what is written."""
    local = {"model": str(model), "batch": 4, "new_tokens": 6, **more_options.pop("settings", {})}
    told_lines: list[str] = []
    values = {
        "out": base_address / "out.jsonl",
        "build": base_address / "build",
        "say": told_lines.append,
        **more_options,
    }
    file = run_model(ModelOrder(release=release_folder, settings=Transformers(**local), **values))
    rows = [json.loads(output_line) for output_line in file.read_text("utf-8").splitlines()]
    assert told_lines[0].startswith(f"{len(rows)} predictions in ")
    return rows


@pytest.mark.parametrize(
    ("model_kind", "view", "field"),
    [(model_kind, None, "prediction") for model_kind in ("causal", "seq2seq")]
    + [("masked", view, "candidates") for view in (None, "rank")]
    + [(model_kind, "likelihood", "scores") for model_kind in ("causal", "seq2seq", "masked")],
)
def test_every_row_is_asked_once_and_again_from_what_is_kept(
    release_folder: Path,
    models: Mapping[str, Path],
    model_kind: str,
    view: Any,
    field: str,
    tmp_path: Path,
) -> None:
    rows = ordered(release_folder, models[model_kind], tmp_path, view=view)
    assert len(rows) == 12
    assert set(columns_of(rows, "config", "split")) == {
        (config_name, period_name)
        for config_name in ("unchanged", "updated")
        for period_name in PERIODS
    }
    first = cloze(0)
    assert (rows[0]["id"], rows[0]["prompt_sha256"]) == (first.id, prompt_hash(first.prompt))
    for row in rows:
        assert field in row
    if field == "scores":
        # the label of the answer, those of before, and distractors of the relation
        assert list(rows[0]["scores"])[:1] == ["Club 0"]
        assert set(rows[-1]["scores"]) == {
            f"Club {club_number}" for club_number in (0, 1, 2, 3, 4, 7, 8, 70)
        }
        for score in rows[0]["scores"].values():
            assert score < 0
    bytes_before = (tmp_path / "out.jsonl").read_bytes()
    asked_again = ordered(release_folder, models[model_kind], tmp_path, view=view, offline=True)
    assert asked_again == rows and (tmp_path / "out.jsonl").read_bytes() == bytes_before
    about_run = read_about(tmp_path / "out.jsonl")
    assert about_run and (about_run.model, about_run.dataset, about_run.version) == (
        model_kind,
        "sample",
        "1.0.0",
    )
    assert str(models[model_kind].parent) not in (tmp_path / "out.json").read_text("utf-8")


def test_a_choice_of_rows(release_folder: Path, models: Mapping[str, Path], tmp_path: Path) -> None:
    def ids(**more_options: Any) -> list[str]:
        found_prediction = ordered(release_folder, models["causal"], tmp_path, **more_options)
        return column_of(found_prediction, "id")

    assert len(ids(configs=["updated"])) == 2
    assert len(ids(splits=[PERIODS[1]])) == 6
    few_rows = ids(limit=3)
    assert len(few_rows) == 3 + 2 and few_rows == ids(limit=3) != ids(limit=3, seed=5)
    assert set(ids(limit=2)) < set(few_rows)
    even = ordered(
        release_folder, models["causal"], tmp_path, limit=4, configs=["unchanged"], seed=4
    )
    assert sorted(column_of(even, "split")) == [PERIODS[0]] * 2 + [PERIODS[1]] * 2


@pytest.mark.parametrize("shape", [None, "question"])  # a base model knows no schema
def test_what_a_base_model_of_a_server_is_sent(shape: Any) -> None:
    request_body = OpenAI(model="m", completion=True, stop=("\n",)).body("Q:", 0, shape)
    shared = {"model": "m", "max_tokens": 2000, "temperature": 0.0, "seed": 0}
    assert request_body == {**shared, "prompt": "Q:", "stop": ["\n"]}  # it would go on for ever


@pytest.mark.parametrize(("end", "server_text"), [("</s>", "Ann Lee"), ("Bo", "Ann Lee Bo")])
def test_a_base_model_stops_where_it_is_told(
    release_folder: Path, tmp_path: Path, end: str, server_text: str
) -> None:
    """A table of words that follow: Answer : Ann Lee, and then the text's end or Bo for ever."""
    table = {":": {"Ann": 1.0}, "Ann": {"Lee": 1.0}, "Lee": {end: 1.0}, "Bo": {"Bo": 1.0}}
    model = known_answer.bigrams(tmp_path / "model", table)
    more_options: dict[str, Any] = {"configs": ["updated"], "settings": {"stop": ("Bo",)}}
    rows = ordered(release_folder, model, tmp_path, **more_options)
    assert column_of(rows, "prediction") == [server_text] * 2


@pytest.mark.parametrize(
    ("server_text", "place"),
    [("B", 1), ("(b) no", 1), ("A. Rome", 0), ("the paris.", 1)]
    + [(server_text, None) for server_text in ("E.", "Oslo", "")],
)
def test_the_choice_that_a_server_names(server_text: str, place: int | None) -> None:
    asking = RowPrompter(view="choices", frames=Frames(), gaps=(), writes=True)
    row = ViewRow(id="a", config="c", split="s", prompt="?", choices=("Rome", "Paris"))
    found_prediction = asking.prediction(row, asking.question(row), server_text)
    assert found_prediction.choice_scores == [
        float(choice_index == place) for choice_index in range(2)
    ]


@pytest.mark.parametrize(
    ("blank", "after", "option"), [(None, " is right.", "Rome"), ("____", "", " Rome")]
)
def test_a_statement_is_asked_whole_unless_its_gap_is_written(
    blank: str | None, after: str, option: str
) -> None:
    asking = RowPrompter(view="likelihood", frames=Frames(), gaps=("_X_",), blank=blank)
    told_lines: dict[str, Any] = {"id": "a", "config": "c", "split": "s"}
    row = ViewRow(**told_lines, prompt="I say _X_ is right.", candidates=("Rome",))
    asked_words = asking.question(row)
    assert (asked_words.after, asked_words.options) == (after, (option,))


@pytest.mark.parametrize(
    ("model_kind", "more_options", "server_text"),
    [
        ("causal", {"view": "mask"}, "a causal model has no view 'mask'"),
        ("masked", {"view": "generate"}, "a masked model has no view 'generate'"),
        ("causal", {"view": "choices"}, "no config for the view 'choices'"),
        ("causal", {"view": "choices"}, "its configs suit the view 'generate'"),
        ("causal", {"configs": ["updates"]}, "did you mean updated"),
        ("causal", {"configs": ["segments"]}, "no config 'segments' that asks"),
        ("causal", {"splits": ["2021Q9"]}, "no split '2021Q9'"),
        ("causal", {"offline": True}, "results of transformers:causal are not in the cache"),
        ("causal", {"prompts": "nothing.yaml"}, "no such file"),
        ("causal", {"settings": {"model": "no/such-model"}}, "cannot be loaded"),
        ("causal", {"settings": {"model": "./missing"}}, "missing: there is no such folder"),
        ("causal", {"settings": {"model": "missing.gguf"}}, "missing.gguf: there is no such"),
    ],
)
def test_mistakes_are_told(
    release_folder: Path,
    models: Mapping[str, Path],
    model_kind: str,
    more_options: Any,
    server_text: str,
    tmp_path: Path,
) -> None:
    with pytest.raises(UserError, match=server_text):
        ordered(release_folder, models[model_kind], tmp_path, **more_options)
    assert not (tmp_path / "out.jsonl").exists()


def test_without_torch_nothing_begins(
    release_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "find_spec", lambda name: None)
    words = ["run-model", release_folder, "--model", "gpt2", "--build", tmp_path / "build"]
    completed_run = run_cli(*words, ok=False)
    assert completed_run.returncode == 1 and "pip install -e '.[lm]'" in completed_run.stderr
    assert not (tmp_path / "build").exists()


def test_a_model_that_changed_is_asked_again(release_folder: Path, tmp_path: Path) -> None:
    for name in ("Ann", "Bo"):
        model = known_answer.bigrams(tmp_path / "model", {":": {name: 1.0}, name: {"</s>": 1.0}})
        rows = ordered(release_folder, model, tmp_path, configs=["updated"])
        assert column_of(rows, "prediction") == [name] * 2


@pytest.mark.slow
def test_a_killed_run_goes_on(
    release_folder: Path, models: Mapping[str, Path], tmp_path: Path
) -> None:
    """Killed when some batches are kept: the next run asks the others, and writes the same."""
    words = ["run-model", release_folder, "--model", models["masked"], "--batch", 1]
    whole_rows = tmp_path / "whole.jsonl"
    run_cli(*words, "--build", tmp_path / "other", "--out", whole_rows)
    words += ["--build", tmp_path / "build", "--out", tmp_path / "out.jsonl"]
    code = f"""
import os, signal, sys
from factdrift.builders.cli import main
from factdrift.builders.core.cache import AnswerCache
kept, keep = [], AnswerCache.keep
def until(self, key, text):
    found = keep(self, key, text)
    kept.append(1)
    if len(kept) == 8:  # an answer and what it cost, of each of four
        os.kill(os.getpid(), signal.SIGKILL)
    return found
AnswerCache.keep = until
sys.argv = {["factdrift", *map(str, words)]!r}
main()
"""
    completed_run = run_process(sys.executable, "-c", code, cwd=tmp_path, ok=False)
    assert completed_run.returncode == -signal.SIGKILL, completed_run.stderr
    assert not (tmp_path / "out.jsonl").exists()
    server_text = run_cli(*words).stderr
    assert ": 4 kept before; " in server_text, server_text
    assert (tmp_path / "out.jsonl").read_bytes() == whole_rows.read_bytes()


@pytest.fixture(scope="module")
def calls() -> list[tuple[str | None, Any]]:
    """The key and the body of every call."""
    return []


@pytest.fixture(scope="module")
def server(calls: list[tuple[str | None, Any]]) -> Iterator[str]:
    def answer(request: BaseHTTPRequestHandler, request_body: Any) -> Reply:
        text = request_body["messages"][0]["content"]
        calls.append((request.headers.get("Authorization"), request_body))
        if "/down/" in request.path and "Person 3 " in text:
            return 400, {"error": {"message": "no such person"}}
        if "/html/" in request.path:
            return 200, "<html>login</html>"
        if "/short/" in request.path:
            choice = {"message": {"content": ""}, "finish_reason": "length"}
            return 200, {"choices": [choice]}
        known_answer = "<think>Let me see.</think>\n\nClub 7, of course\nand more"
        server_text = known_answer if "Person 7 plays for _X_" in text else "unknown"
        return 200, chat_reply(server_text, usage={"prompt_tokens": 11, "completion_tokens": 3})

    with serve_json(answer) as address:
        yield address


def asked_words(
    server: str, release_folder: Path, base_address: Path, file: str = "ok"
) -> list[Any]:
    words: list[object] = [
        "run-model",
        release_folder,
        "--backend",
        "openai",
        "--model",
        "org/m-1.5",
    ]
    words += ["--base-url", f"{server}/{file}/v1", "--key-variable", "THE_KEY"]
    words += ["--build", base_address / "build", "--out", base_address / "out.jsonl", "--seed", 3]
    return words


BACKEND_OPTIONS = [
    (
        "openai",
        "--concurrency 3 --completion --key-variable NO_KEY",
        OpenAI,
        {"concurrency": 3, "completion": True, "base_url": "http://localhost:1/v1"},
    ),
    (
        "transformers",
        "--revision abc --batch 2 --dtype bfloat16 --device mps --chat --threads 1",
        Transformers,
        {"batch": 2, "dtype": "bfloat16", "device": "mps", "chat": True, "threads": 1},
    ),
]


@pytest.mark.parametrize(("backend", "options", "settings", "expected"), BACKEND_OPTIONS)
def test_options_reach_the_settings_of_their_backend(
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    options: str,
    settings: type,
    expected: dict[str, object],
) -> None:
    """The order as the command line makes it; no model is asked."""
    orders: list[ModelOrder] = []
    monkeypatch.setattr(module, "run_model", orders.append)
    words = ["run-model", "releases/x", "--model", "m", "--backend", backend, *options.split()]
    if backend == "openai":
        words += ["--base-url", "http://localhost:1/v1"]
    run_cli(*words, "--new-tokens", 5)
    (order,) = orders
    assert type(order.settings) is settings
    values = order.settings.model_dump()
    assert {name: values[name] for name in expected} == expected
    assert (values["model"], values["new_tokens"]) == ("m", 5)


def test_a_server_is_asked(
    server: str,
    calls: list[Any],
    release_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    words = asked_words(server, release_folder, tmp_path)
    completed_run = run_cli(*words)
    assert "12 calls, 132 tokens read, 36 written" in completed_run.stderr
    rows = [
        json.loads(output_line) for output_line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    by_id = {row["id"]: row["prediction"] for row in rows}
    assert by_id[cloze(7).id] == "Club 7, of course"
    assert by_id[cloze(1).id] is None  # it said: unknown
    assert len(calls) == 12
    assert {key for key, _ in calls} == {f"Bearer {KEY}"}
    request_body = calls[-1][1]
    assert (request_body["model"], request_body["seed"], request_body["max_tokens"]) == (
        "org/m-1.5",
        3,
        16,
    )
    assert "Each statement has a gap, _X_." in request_body["messages"][0]["content"]
    assert "12 kept before; 0 calls" in run_cli(*words).stderr
    assert len(calls) == 12
    about_run = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert about_run["model"] == "org/m-1.5" and about_run["settings"]["base_url"].startswith(
        server
    )
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) >= 3
    for file in files:
        assert KEY.encode() not in file.read_bytes()
    assert KEY not in completed_run.stderr + completed_run.stdout


def test_a_server_that_refuses_ends_the_run(
    server: str, release_folder: Path, tmp_path: Path
) -> None:
    completed_run = run_cli(
        *asked_words(server, release_folder, tmp_path, "down"), "--concurrency", 1, ok=False
    )
    assert completed_run.returncode == 1 and "HTTP 400: no such person" in completed_run.stderr
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("server_path", "told"),
    [
        ("html", "2 without a usable answer (html): run it again"),
        ("short", "2 without a usable answer (cut_off): raise --new-tokens"),
    ],
)
def test_what_is_no_answer_is_told_and_not_kept(
    server: str, release_folder: Path, tmp_path: Path, server_path: str, told: str
) -> None:
    told_lines: list[str] = []
    settings = OpenAI(base_url=f"{server}/{server_path}/v1", model="m", retries=0)
    values: dict[str, Any] = {"configs": ["updated"], "build": tmp_path / "build"}
    values |= {"out": tmp_path / "out.jsonl", "say": told_lines.append}
    order = ModelOrder(release=release_folder, settings=settings, **values)
    for _ in range(2):
        run_model(order)
        assert told in told_lines[-1]
        assert "0 kept before" in told_lines[-2]
    rows = [
        json.loads(output_line) for output_line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert column_of(rows, "prediction") == [None, None]


@pytest.mark.parametrize(
    ("server", "words", "server_text"),
    [
        ("http://127.0.0.1:9", ["--view", "likelihood"], "a server has no view 'likelihood'"),
        ("http://me:pw@host", [], "--base-url: Value error, must be http"),
    ],
)
def test_mistakes_with_a_server(
    release_folder: Path, tmp_path: Path, server: str, words: list[str], server_text: str
) -> None:
    completed_run = run_cli(*asked_words(server, release_folder, tmp_path), *words, ok=False)
    assert (
        completed_run.returncode == 1
        and server_text in completed_run.stderr
        and "pw@" not in completed_run.stderr
    )


def test_rows_are_read_in_windows(
    release_folder: Path,
    models: Mapping[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    complete = CachedModel.complete

    def counted(model: CachedModel, texts: Sequence[str]) -> list[Result]:
        sizes.append(len(texts))
        return complete(model, texts)

    monkeypatch.setattr(module, "WINDOW", 5)
    monkeypatch.setattr(CachedModel, "complete", counted)
    ordered(release_folder, models["masked"], tmp_path)
    assert sizes == [5, 5, 2]
