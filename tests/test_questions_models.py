"""The backend `transformers` on tiny random models, offline."""

import shutil
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.protocol import Query, Request
from factdrift.builders.generate.transformers_models import (
    Transformers,
    TransformersBackend,
    chat_prompt,
)
from tests import tiny_model
from tests.filter_cases import FINDER
from tests.tables import read_table
from tests.test_questions_candidates import article

CASES = read_table("question_cases")

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
ARTICLE = article(
    "Zoran Milanović won the presidential election in Croatia on Sunday.",
    "Andrej Plenković is the prime minister of Croatia.",
)


@cache
def requests() -> list[Request]:
    return [Request(ARTICLE, c, date(2020, 1, 9)) for c in FINDER.find(ARTICLE)]


@pytest.fixture(scope="module", params=["causal", "seq2seq"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp(request.param)
    return getattr(tiny_model, request.param)(folder, [ARTICLE.text] * 3)  # type: ignore[no-any-return]


def backend(model: Path, **more: object) -> TransformersBackend:
    settings = Transformers.model_validate(
        {"model": str(model), "new_tokens": 8, "stop_after": 0, **more}
    )
    return TransformersBackend(settings, 5)


def raw(b: TransformersBackend) -> list[str | None]:
    """Whatever a random model writes is no question; its text is in the detail."""
    return [r.text or r.detail for r in b.generate(requests())]


def test_it_runs_and_repeats_itself(model: Path) -> None:
    one = backend(model, batch=1)
    results = one.generate(requests())
    assert len(results) == len(requests())
    assert all(r.reason in ("empty", "no_question") for r in results)
    assert raw(one) == raw(backend(model, batch=8)), "float32 leaves no doubt here"
    (answer,) = one.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])
    assert answer.text is None or len(answer.text.split()) <= 8


def test_results_of_one_batch_size_serve_no_other(model: Path, tmp_path: Path) -> None:
    """Padding can decide between words that are about as likely; a sampled request is alone."""
    names = {backend(model, batch=n).identity for n in (1, 2, 8)}
    assert len(names) == 3 and backend(model, device="cpu").identity in names
    sampled = {backend(model, batch=n, temperature=1.0).identity for n in (1, 2, 8)}
    assert len(sampled) == 1
    two = CachedModel(backend(model, batch=2), tmp_path)
    two.generate(requests()[:2])
    with pytest.raises(UserError, match="not in the cache"):
        CachedModel(backend(model, batch=1), tmp_path, offline=True).generate(requests()[:2])


def test_sampling_depends_on_the_seed_and_the_request_alone(model: Path) -> None:
    warm = backend(model, temperature=1.0)
    assert raw(warm) == raw(backend(model, temperature=1.0))
    assert [r.text or r.detail for r in warm.generate(requests()[1:])] == raw(warm)[1:]
    other = TransformersBackend(warm.settings, 6)
    assert raw(other) != raw(warm) and other.identity != warm.identity


def test_results_are_kept(model: Path, tmp_path: Path) -> None:
    first = CachedModel(backend(model), tmp_path)
    results = first.generate(requests())
    offline = CachedModel(backend(Path(str(model))), tmp_path, offline=True)
    assert offline.generate(requests()) == results and offline.hits == len(requests())
    with pytest.raises(UserError, match="not in the cache"):
        offline.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)


def test_a_chat_model_reads_its_own_template(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = tiny_model.causal(tmp_path / "chat", [ARTICLE.text] * 3)
    load: Any = AutoTokenizer.from_pretrained
    tokenizer = load(folder)
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(folder)
    told = chat_prompt("Who?", load(folder), {"enable_thinking": False})
    assert told.startswith("<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>")
    plain, chat = backend(folder), backend(folder, chat=True)
    quick = backend(folder, chat=True, template={"enable_thinking": False})
    assert len({plain.identity, chat.identity, quick.identity}) == 3
    assert raw(chat) == raw(backend(folder, chat=True)) != raw(plain)
    assert raw(quick) != raw(chat)
    with pytest.raises(UserError, match="none of the first 10 answers"):
        backend(folder, chat=True, stop_after=10).generate(requests() * 3)


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    one = tiny_model.causal(tmp_path / "a/m", [ARTICLE.text] * 3)
    other = tiny_model.causal(tmp_path / "b/m", ["something else"] * 3)
    moved = tmp_path / "c/m"
    shutil.copytree(one, moved)
    assert backend(one).identity == backend(moved).identity != backend(other).identity


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder"):
        backend(tmp_path / "none").generate(requests()[:1])


def test_prompt() -> None:
    text = p.question_prompt(p.load_prompts(None), requests()[0], 4000)
    assert text.endswith("Answer: Zoran Milanović\nQuestion:")
    assert "Article (Monday, 6 January 2020): " in text and "<" not in text


TOO_LONG = ("x" * 400 + "?", None, "too_long")


@pytest.mark.parametrize(("written", "text", "reason"), [*CASES["written"], TOO_LONG])
def test_what_a_model_wrote_as_a_result(written: str, text: str | None, reason: str | None) -> None:
    result = p.parse_reply(written, p.load_prompts(None), question=True)
    assert (result.text, result.reason) == (text, reason)


@pytest.mark.parametrize(("written", "text"), CASES["answers"])
def test_answers(written: str, text: str) -> None:
    assert p.parse_reply(written, p.load_prompts(None), question=False).text == text


@pytest.mark.parametrize(("written", "text"), CASES["verdicts"])
def test_verdicts(written: str, text: str | None) -> None:
    assert p.parse_verdict(written).text == text


@pytest.mark.parametrize(("old", "new", "said"), CASES["prompt_mistakes"])
def test_mistakes_of_a_prompt_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    bad = tmp_path / "mine.yaml"
    text = p.DEFAULT_PROMPTS.read_text("utf-8")
    assert old in text
    bad.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(UserError, match=said):
        p.load_prompts(bad)


def test_window() -> None:
    long = article(*(f"Sentence number {n}." for n in range(50)))
    shown = p.article_excerpt(long, 25, 100)
    assert len(shown) <= 100 and long.sentences[25] in shown
