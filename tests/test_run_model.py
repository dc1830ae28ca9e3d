"""`factdrift run-model`: which rows are asked, how, and what a killed run keeps."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate import transformers_models
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.protocol import Result
from factdrift.builders.generate.transformers_models import Transformers
from factdrift.builders.rows.frames import Frames
from factdrift.scoring import run_model as module
from factdrift.scoring.predictions import prompt_hash, read_about
from factdrift.scoring.run_model import ModelOrder, run_model
from factdrift.scoring.views import PromptRow, RowPrompter
from tests import known_models as known
from tests import tiny_model
from tests.conftest import run_cli, run_process
from tests.json_server import Reply, chat_reply, serve_json
from tests.release_sample import BASE, PERIODS, Sample, cloze, publish

pytest.importorskip("torch")

KEY = "sk-secret-0123456789"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 rows: 10 unchanged, 2 updated, in two periods; of those before them one still holds."""
    stays = cloze(71).answers
    more = {"previous_answers": (*cloze(70).answers, *stays), "still_true": stays}
    updated = [cloze(n, "updated", p, **more) for n, p in ((7, PERIODS[0]), (8, PERIODS[1]))]
    rows = {**BASE, "updated": {p: [r for r in updated if r.period == p] for p in PERIODS}}
    return publish(tmp_path_factory.mktemp("releases"), Sample(rows)).folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    base = tmp_path_factory.mktemp("models")
    texts = [f"Person {n} plays for Club {n}." for n in range(9)]
    return {kind: make(base / kind, texts) for kind, make in tiny_model.KINDS.items()}


def ordered(release: Path, model: Path | str, base: Path, **more: Any) -> list[dict[str, Any]]:
    """Run a model of this machine; what is written."""
    local = {"model": str(model), "batch": 4, "new_tokens": 6, **more.pop("settings", {})}
    told: list[str] = []
    values = {"out": base / "out.jsonl", "build": base / "build", "say": told.append, **more}
    path = run_model(ModelOrder(release=release, settings=Transformers(**local), **values))
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert told[0].startswith(f"{len(rows)} predictions in ")
    return rows


@pytest.mark.parametrize(
    ("kind", "view", "field"),
    [(kind, None, "prediction") for kind in ("causal", "seq2seq")]
    + [("masked", view, "candidates") for view in (None, "rank")]
    + [(kind, "likelihood", "scores") for kind in ("causal", "seq2seq", "masked")],
)
def test_every_row_is_asked_once_and_again_from_what_is_kept(
    release: Path, models: Mapping[str, Path], kind: str, view: Any, field: str, tmp_path: Path
) -> None:
    rows = ordered(release, models[kind], tmp_path, view=view)
    assert len(rows) == 12
    assert {(r["config"], r["split"]) for r in rows} == {
        (c, p) for c in ("unchanged", "updated") for p in PERIODS
    }
    first = cloze(0)
    assert (rows[0]["id"], rows[0]["prompt_sha256"]) == (first.id, prompt_hash(first.prompt))
    assert all(field in row for row in rows)
    if field == "scores":
        # the label of the answer, those of before, and distractors of the relation
        assert list(rows[0]["scores"])[:1] == ["Club 0"]
        assert set(rows[-1]["scores"]) == {f"Club {n}" for n in (0, 1, 2, 3, 4, 7, 8, 70)}
        assert all(score < 0 for score in rows[0]["scores"].values())
    bytes_before = (tmp_path / "out.jsonl").read_bytes()
    again = ordered(release, models[kind], tmp_path, view=view, offline=True)
    assert again == rows and (tmp_path / "out.jsonl").read_bytes() == bytes_before
    beside = read_about(tmp_path / "out.jsonl")
    assert beside and (beside.model, beside.dataset, beside.version) == (kind, "sample", "1.0.0")
    assert str(models[kind].parent) not in (tmp_path / "out.json").read_text("utf-8")


def test_a_choice_of_rows(release: Path, models: Mapping[str, Path], tmp_path: Path) -> None:
    def ids(**more: Any) -> list[str]:
        found = ordered(release, models["causal"], tmp_path, **more)
        return [row["id"] for row in found]

    assert len(ids(configs=["updated"])) == 2
    assert len(ids(splits=[PERIODS[1]])) == 6
    few = ids(limit=3)
    assert len(few) == 3 + 2 and few == ids(limit=3) != ids(limit=3, seed=5)
    assert set(ids(limit=2)) < set(few)
    even = ordered(release, models["causal"], tmp_path, limit=4, configs=["unchanged"], seed=4)
    assert sorted(row["split"] for row in even) == [PERIODS[0]] * 2 + [PERIODS[1]] * 2


@pytest.mark.parametrize("shape", [None, "question"])  # a base model knows no schema
def test_what_a_base_model_of_a_server_is_sent(shape: Any) -> None:
    body = OpenAI(model="m", completion=True, stop=("\n",)).body("Q:", 0, shape)
    shared = {"model": "m", "max_tokens": 512, "temperature": 0.0, "seed": 0}
    assert body == {**shared, "prompt": "Q:", "stop": ["\n"]}  # it would go on for ever


@pytest.mark.parametrize(("end", "said"), [("</s>", "Ann Lee"), ("Bo", "Ann Lee Bo")])
def test_a_base_model_stops_where_it_is_told(
    release: Path, tmp_path: Path, end: str, said: str
) -> None:
    """A table of words that follow: Answer : Ann Lee, and then the text's end or Bo for ever."""
    table = {":": {"Ann": 1.0}, "Ann": {"Lee": 1.0}, "Lee": {end: 1.0}, "Bo": {"Bo": 1.0}}
    model = known.bigrams(tmp_path / "model", table)
    more: dict[str, Any] = {"configs": ["updated"], "settings": {"stop": ("Bo",)}}
    rows = ordered(release, model, tmp_path, **more)
    assert [row["prediction"] for row in rows] == [said] * 2


@pytest.mark.parametrize(
    ("said", "place"),
    [("B", 1), ("(b) no", 1), ("A. Rome", 0), ("the paris.", 1)]
    + [(said, None) for said in ("E.", "Oslo", "")],
)
def test_the_choice_that_a_server_names(said: str, place: int | None) -> None:
    asking = RowPrompter(view="choices", frames=Frames(), gaps=(), writes=True)
    row = PromptRow(id="a", config="c", split="s", prompt="?", choices=("Rome", "Paris"))
    found = asking.prediction(row, asking.question(row), said)
    assert found.choice_scores == [float(n == place) for n in range(2)]


@pytest.mark.parametrize(
    ("blank", "after", "option"),
    [(None, " is right.", "Rome"), ("____", "", " Rome")],
)
def test_a_statement_is_asked_whole_unless_its_gap_is_written(
    blank: str | None, after: str, option: str
) -> None:
    asking = RowPrompter(view="likelihood", frames=Frames(), gaps=("_X_",), blank=blank)
    told: dict[str, Any] = {"id": "a", "config": "c", "split": "s"}
    row = PromptRow(**told, prompt="I say _X_ is right.", candidates=("Rome",))
    asked = asking.question(row)
    assert (asked.after, asked.options) == (after, (option,))


@pytest.mark.parametrize(
    ("kind", "more", "said"),
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
    release: Path, models: Mapping[str, Path], kind: str, more: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=said):
        ordered(release, models[kind], tmp_path, **more)
    assert not (tmp_path / "out.jsonl").exists()


def test_without_torch_nothing_begins(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers_models, "find_spec", lambda name: None)
    words = ["run-model", release, "--model", "gpt2", "--build", tmp_path / "build"]
    done = run_cli(*words, ok=False)
    assert done.returncode == 1 and "pip install -e '.[lm]'" in done.stderr
    assert not (tmp_path / "build").exists()


def test_a_model_that_changed_is_asked_again(release: Path, tmp_path: Path) -> None:
    for name in ("Ann", "Bo"):
        model = known.bigrams(tmp_path / "model", {":": {name: 1.0}, name: {"</s>": 1.0}})
        rows = ordered(release, model, tmp_path, configs=["updated"])
        assert [row["prediction"] for row in rows] == [name] * 2


@pytest.mark.slow
def test_a_killed_run_goes_on(release: Path, models: Mapping[str, Path], tmp_path: Path) -> None:
    """Killed when some batches are kept: the next run asks the others, and writes the same."""
    words = ["run-model", release, "--model", models["masked"], "--batch", 1]
    whole = tmp_path / "whole.jsonl"
    run_cli(*words, "--build", tmp_path / "other", "--out", whole)
    words += ["--build", tmp_path / "build", "--out", tmp_path / "out.jsonl"]
    code = f"""
import os, signal, sys
from factdrift.builders.cli import main
from factdrift.builders.core.cache import AnswerCache
kept, keep = [], AnswerCache.keep
def until(self, key, text):
    found = keep(self, key, text)
    kept.append(1)
    if len(kept) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
AnswerCache.keep = until
sys.argv = {["factdrift", *map(str, words)]!r}
main()
"""
    done = run_process(sys.executable, "-c", code, cwd=tmp_path, ok=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    said = run_cli(*words).stderr
    assert ": 4 kept before; " in said, said
    assert (tmp_path / "out.jsonl").read_bytes() == whole.read_bytes()


@pytest.fixture(scope="module")
def calls() -> list[tuple[str | None, Any]]:
    """The key and the body of every call."""
    return []


@pytest.fixture(scope="module")
def server(calls: list[tuple[str | None, Any]]) -> Iterator[str]:
    def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
        text = body["messages"][0]["content"]
        calls.append((request.headers.get("Authorization"), body))
        if "/down/" in request.path and "Person 3 " in text:
            return 400, {"error": {"message": "no such person"}}
        if "/html/" in request.path:
            return 200, "<html>login</html>"
        known = "<think>Let me see.</think>\n\nClub 7, of course\nand more"
        said = known if "Person 7 plays for _X_" in text else "unknown"
        return 200, chat_reply(said, usage={"prompt_tokens": 11, "completion_tokens": 3})

    with serve_json(answer) as address:
        yield address


def asked(server: str, release: Path, base: Path, path: str = "ok") -> list[Any]:
    words: list[object] = ["run-model", release, "--backend", "openai", "--model", "org/m-1.5"]
    words += ["--base-url", f"{server}/{path}/v1", "--key-variable", "THE_KEY"]
    words += ["--build", base / "build", "--out", base / "out.jsonl", "--seed", 3]
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
    run_cli(*words, "--base-url", "http://localhost:1/v1", "--new-tokens", 5)
    (order,) = orders
    assert type(order.settings) is settings
    values = order.settings.model_dump()
    assert {name: values[name] for name in expected} == expected
    assert (values["model"], values["new_tokens"]) == ("m", 5)


def test_a_server_is_asked(
    server: str, calls: list[Any], release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    words = asked(server, release, tmp_path)
    done = run_cli(*words)
    assert "12 calls, 132 tokens read, 36 written" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    by_id = {row["id"]: row["prediction"] for row in rows}
    assert by_id[cloze(7).id] == "Club 7, of course"
    assert by_id[cloze(1).id] is None  # it said: unknown
    assert len(calls) == 12
    assert {key for key, _ in calls} == {f"Bearer {KEY}"}
    body = calls[-1][1]
    assert (body["model"], body["seed"], body["max_tokens"]) == ("org/m-1.5", 3, 16)
    assert "Each statement has a gap, _X_." in body["messages"][0]["content"]
    assert "12 kept before; 0 calls" in run_cli(*words).stderr
    assert len(calls) == 12
    beside = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert beside["model"] == "org/m-1.5" and beside["settings"]["base_url"].startswith(server)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert KEY not in done.stderr + done.stdout


def test_a_server_that_refuses_ends_the_run(server: str, release: Path, tmp_path: Path) -> None:
    done = run_cli(*asked(server, release, tmp_path, "down"), "--concurrency", 1, ok=False)
    assert done.returncode == 1 and "HTTP 400: no such person" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_what_is_no_answer_is_told_and_not_kept(server: str, release: Path, tmp_path: Path) -> None:
    told: list[str] = []
    settings = OpenAI(base_url=f"{server}/html/v1", model="m", retries=0)
    values: dict[str, Any] = {"configs": ["updated"], "build": tmp_path / "build"}
    values |= {"out": tmp_path / "out.jsonl", "say": told.append}
    order = ModelOrder(release=release, settings=settings, **values)
    for _ in range(2):
        run_model(order)
        assert "2 without a usable answer" in told[-1] and "0 kept before" in told[-2]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["prediction"] for row in rows] == [None, None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--view", "likelihood"], "a server has no view 'likelihood'"),
        (["--base-url", "http://me:pw@host/v1"], "--base-url: Value error, must be http"),
    ],
)
def test_mistakes_with_a_server(release: Path, tmp_path: Path, words: list[str], said: str) -> None:
    done = run_cli(*asked("http://127.0.0.1:9", release, tmp_path), *words, ok=False)
    assert done.returncode == 1 and said in done.stderr and "pw@" not in done.stderr


def test_rows_are_read_in_windows(
    release: Path, models: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    complete = CachedModel.complete

    def counted(model: CachedModel, texts: Sequence[str]) -> list[Result]:
        sizes.append(len(texts))
        return complete(model, texts)

    monkeypatch.setattr(module, "WINDOW", 5)
    monkeypatch.setattr(CachedModel, "complete", counted)
    ordered(release, models["masked"], tmp_path)
    assert sizes == [5, 5, 2]
