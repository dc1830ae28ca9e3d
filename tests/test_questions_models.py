"""The backend `transformers` on tiny random models, offline."""

import shutil
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate import prompt_files, replies
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
    return [Request(ARTICLE, candidate, date(2020, 1, 9)) for candidate in FINDER.find(ARTICLE)]


@pytest.fixture(scope="module", params=["causal", "seq2seq"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model_folder: Path = tmp_path_factory.mktemp(request.param)
    return getattr(tiny_model, request.param)(model_folder, [ARTICLE.text] * 3)  # type: ignore[no-any-return]


def backend(model: Path, **more: object) -> TransformersBackend:
    settings = Transformers.model_validate(
        {"model": str(model), "new_tokens": 8, "stop_after": 0, **more}
    )
    return TransformersBackend(settings, 5)


def raw(model_backend: TransformersBackend) -> list[str | None]:
    """Whatever a random model writes is no question; its text is in the detail."""
    return [
        model_result.text or model_result.detail
        for model_result in model_backend.generate(requests())
    ]


def test_it_runs_and_repeats_itself(model: Path) -> None:
    single_backend = backend(model, batch=1)
    model_results = single_backend.generate(requests())
    assert len(model_results) == len(requests())
    for model_result in model_results:
        assert model_result.reason in ("empty", "no_question")
    assert raw(single_backend) == raw(backend(model, batch=8)), "float32 leaves no doubt here"
    (answer,) = single_backend.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])
    assert answer.text is None or len(answer.text.split()) <= 8


def test_results_of_one_batch_size_serve_no_other(model: Path, tmp_path: Path) -> None:
    """Padding can decide between words that are about as likely; a sampled request is alone."""
    identities = {backend(model, batch=batch_size).identity for batch_size in (1, 2, 8)}
    assert len(identities) == 3 and backend(model, device="cpu").identity in identities
    sampled_identities = {
        backend(model, batch=batch_size, temperature=1.0).identity for batch_size in (1, 2, 8)
    }
    assert len(sampled_identities) == 1
    cached_model = CachedModel(backend(model, batch=2), tmp_path)
    cached_model.generate(requests()[:2])
    with pytest.raises(UserError, match="not in the cache"):
        CachedModel(backend(model, batch=1), tmp_path, offline=True).generate(requests()[:2])


def test_sampling_depends_on_the_seed_and_the_request_alone(model: Path) -> None:
    warm_backend = backend(model, temperature=1.0)
    assert raw(warm_backend) == raw(backend(model, temperature=1.0))
    assert [
        model_result.text or model_result.detail
        for model_result in warm_backend.generate(requests()[1:])
    ] == raw(warm_backend)[1:]
    other_seed = TransformersBackend(warm_backend.settings, 6)
    assert raw(other_seed) != raw(warm_backend) and other_seed.identity != warm_backend.identity


def test_results_are_kept(model: Path, tmp_path: Path) -> None:
    first_model = CachedModel(backend(model), tmp_path)
    model_results = first_model.generate(requests())
    offline_model = CachedModel(backend(Path(str(model))), tmp_path, offline=True)
    assert offline_model.generate(requests()) == model_results and offline_model.hits == len(
        requests()
    )
    with pytest.raises(UserError, match="not in the cache"):
        offline_model.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)


def test_a_chat_model_reads_its_own_template(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    model_folder = tiny_model.causal(tmp_path / "chat", [ARTICLE.text] * 3)
    load_tokenizer: Any = AutoTokenizer.from_pretrained
    tokenizer = load_tokenizer(model_folder)
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(model_folder)
    prompt_text = chat_prompt("Who?", load_tokenizer(model_folder), {"enable_thinking": False})
    assert prompt_text.startswith(
        "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>"
    )
    plain_backend, chat_backend = backend(model_folder), backend(model_folder, chat=True)
    quick_backend = backend(model_folder, chat=True, template={"enable_thinking": False})
    assert len({plain_backend.identity, chat_backend.identity, quick_backend.identity}) == 3
    assert raw(chat_backend) == raw(backend(model_folder, chat=True)) != raw(plain_backend)
    assert raw(quick_backend) != raw(chat_backend)
    with pytest.raises(UserError, match="none of the first 10 answers"):
        backend(model_folder, chat=True, stop_after=10).generate(requests() * 3)


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    first_folder = tiny_model.causal(tmp_path / "a/m", [ARTICLE.text] * 3)
    other_folder = tiny_model.causal(tmp_path / "b/m", ["something else"] * 3)
    moved_folder = tmp_path / "c/m"
    shutil.copytree(first_folder, moved_folder)
    assert (
        backend(first_folder).identity
        == backend(moved_folder).identity
        != backend(other_folder).identity
    )


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder"):
        backend(tmp_path / "none").generate(requests()[:1])


def test_prompt() -> None:
    prompt_text = prompt_files.question_prompt(p.load_prompts(None), requests()[0], 4000)
    assert prompt_text.endswith("Answer: Zoran Milanović\nQuestion:")
    assert "Article (Monday, 6 January 2020): " in prompt_text and "<" not in prompt_text


# a question has at most 300 characters
TOO_LONG = ("x" * 400 + "?", None, "too_long")


@pytest.mark.parametrize(("written", "text", "reason"), [*CASES["written"], TOO_LONG])
def test_what_a_model_wrote_as_a_result(written: str, text: str | None, reason: str | None) -> None:
    parsed_result = replies.parse_reply(written, p.load_prompts(None), question=True)
    assert (parsed_result.text, parsed_result.reason) == (text, reason)


@pytest.mark.parametrize(("written", "text"), CASES["answers"])
def test_answers(written: str, text: str) -> None:
    assert replies.parse_reply(written, p.load_prompts(None), question=False).text == text


@pytest.mark.parametrize(("written", "text"), CASES["verdicts"])
def test_verdicts(written: str, text: str | None) -> None:
    assert replies.parse_verdict(written).text == text


@pytest.mark.parametrize(("old", "new", "said"), CASES["prompt_mistakes"])
def test_mistakes_of_a_prompt_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    prompt_path = tmp_path / "mine.yaml"
    prompt_text = prompt_files.DEFAULT_PROMPTS.read_text("utf-8")
    assert old in prompt_text
    prompt_path.write_text(prompt_text.replace(old, new, 1), "utf-8")
    with pytest.raises(UserError, match=said):
        p.load_prompts(prompt_path)


def test_window() -> None:
    long_article = article(
        *(f"Sentence number {sentence_number}." for sentence_number in range(50))
    )
    excerpt = prompt_files.article_excerpt(long_article, 25, 100)
    assert len(excerpt) <= 100 and long_article.sentences[25] in excerpt
