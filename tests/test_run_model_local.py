"""What models on this machine say, against probabilities that are worked out by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.generate.transformers_models import Transformers, model_kind
from factdrift.scoring.local_models import GenerativeModel, LocalModel, MaskedModel
from factdrift.scoring.views import ModelQuestion, View
from tests import known_models as known
from tests import tiny_model

pytest.importorskip("torch")

AFTER = {
    "leads": {"Acme": 0.5, "Ann": 0.25, "in": 0.25},
    "Acme": {"in": 0.5, ".": 0.125, "now": 0.375},
    "in": {"Acme": 0.5, "now": 0.5},
    ":": {"Ann": 0.5, "Bo": 0.5},
    "Ann": {"Lee": 0.75, "Ek": 0.25},
    "Bo": {"Ek": 1.0},
    "</s>": {"Ann": 0.125, "Bo": 0.875},
    "<pad>": {"Ann": 0.125, "Bo": 0.875},
}
"""What follows a word in the writing models."""
AT = {
    0: {"Ann": 0.5, "Bo": 0.25, "Lee": 0.25},
    1: {"Lee": 0.75, "Ek": 0.25},
    2: {"Acme": 0.5, "Ann": 0.25, "Bo": 0.125, "leads": 0.125},
    3: {"Lee": 0.25, "Ek": 0.625, ".": 0.125},
}
"""What stands at a place in the masked model."""


def opened(folder: Path, view: View = "likelihood", **how: Any) -> LocalModel:
    settings = Transformers(model=str(folder), batch=3)
    kind = model_kind(settings)
    local_model = (MaskedModel if kind == "masked" else GenerativeModel)(
        settings, view, kind, **how
    )
    local_model.load()
    return local_model


def scores(
    local_model: LocalModel, asked_questions: ModelQuestion, *options: str
) -> list[float | None]:
    (found_scores,) = local_model.likelihoods([replace(asked_questions, options=options)])
    return found_scores


def near(expected_scores: Sequence[float | None]) -> Any:
    return [
        any_question if any_question is None else pytest.approx(any_question, abs=1e-5)
        for any_question in expected_scores
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return known.masked(tmp_path_factory.mktemp("masked"), AT)


@pytest.fixture(scope="module")
def masked(folder: Path) -> MaskedModel:
    local_model = opened(folder)
    assert isinstance(local_model, MaskedModel)
    return local_model


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    return opened(known.bigrams(tmp_path_factory.mktemp("writing"), AFTER))


FIRST, THIRD = ModelQuestion("", " leads Acme."), ModelQuestion("Ann leads ", " now.")


def test_pseudo_log_likelihood(folder: Path) -> None:
    local_model = opened(folder)
    first_gap: dict[str, float | None] = {
        "Ann": log(0.5),
        "Bo": log(0.25),
        "Ann Lee": log(0.5 * 0.75),
    }
    first_gap |= {"Bo Ek": log(0.25 * 0.25), "Zoe": None, "Ann Zoe": None, "": None}
    third_gap = {"Acme": log(0.5), "Bo Lee": log(0.125 * 0.25)}
    last = {"Acme Ek": log(0.5 * 0.625)}
    gaps = (FIRST, THIRD, ModelQuestion("Ann leads "))
    named_answers: Sequence[Mapping[str, float | None]] = (first_gap, third_gap, last)
    asked_questions = [
        replace(gap_question, options=tuple(named_scores))
        for gap_question, named_scores in zip(gaps, named_answers, strict=True)
    ]
    expected_scores = [near([*named_scores.values()]) for named_scores in named_answers]
    assert local_model.likelihoods(asked_questions) == expected_scores
    assert [
        local_model.likelihoods([any_question])[0] for any_question in asked_questions
    ] == expected_scores  # whatever stands beside it


def test_masks_are_filled_from_the_left(masked: MaskedModel) -> None:
    """At THIRD: Acme (0.5), then Ek (0.625); 3 and more places are all but nothing."""
    assert masked.fill([THIRD], 2) == [["Acme Ek", "Acme"]]  # means: log 0.559 and log 0.5
    assert masked.fill([FIRST, THIRD], 1) == [["Ann"], ["Acme"]]
    first_gap, third_gap = masked.fill([FIRST, THIRD], 4)
    # Ann Lee Acme (0.5, 0.75, 0.5), Ann Lee (0.5, 0.75), Ann Lee Acme Ek (…, 0.625), Ann (0.5)
    assert first_gap == ["Ann Lee", "Ann Lee Acme Ek", "Ann Lee Acme", "Ann"]
    assert third_gap[:2] == ["Acme Ek", "Acme"] and len(third_gap) == 4


def test_words_are_ranked(masked: MaskedModel) -> None:
    first_gap, third_gap = masked.rank([FIRST, THIRD], 3)
    assert set(first_gap) == {"Ann", "Bo", "Lee"} and first_gap[0] == "Ann"
    assert third_gap[:2] == ["Acme", "Ann"] and third_gap[2] in ("Bo", "leads")
    assert masked.rank([THIRD], 2) == [["Acme", "Ann"]]
    assert len(masked.rank([THIRD], 100)[0]) == len(known.WORDS)


def test_a_mask_in_a_text_is_no_gap(masked: MaskedModel) -> None:
    gap = ModelQuestion("Ann <mask> leads ", " <mask>.")
    assert masked.fill([gap], 1) == masked.fill([ModelQuestion("Ann leads ", ".")], 1)
    assert scores(masked, ModelQuestion("<mask>", "."), "Ann") == near([log(0.5)])


def test_what_has_no_room_is_cut_and_counted(folder: Path) -> None:
    local_model = opened(folder)
    assert isinstance(local_model, MaskedModel)
    tokens_before = "X " * 30
    assert local_model.fill([ModelQuestion(tokens_before, " now now now.")], 1)[0][0] in known.WORDS
    scores(local_model, ModelQuestion(tokens_before), "Ann")
    assert local_model.usage.cut == 2
    scores(local_model, ModelQuestion("", " X" * 30), "Ann Lee")
    assert local_model.usage.cut == 3


@pytest.mark.parametrize("tokens_before", ["Answer:", "X X Answer:", "X X X X:"])
def test_log_likelihood(writing: GenerativeModel, tokens_before: str) -> None:
    """Each word given the one before."""
    expected_scores = {" Ann": log(0.5), " Ann Lee": log(0.5 * 0.75), " Bo Ek": log(0.5), "": None}
    assert scores(writing, ModelQuestion(tokens_before), *expected_scores) == near(
        [*expected_scores.values()]
    )


def test_log_likelihood_of_what_another_model_writes(tmp_path: Path) -> None:
    """After its start 16 words are alike; after a word its own logit is log 5, of 15 others 0."""
    local_model = opened(known.seq2seq(tmp_path, logit=log(5)))
    first_word, second_word, other_word = log(1 / 16), log(5 / 20), log(1 / 20)
    expected_scores = {" Ann": first_word, " Ann Ann": first_word + second_word, "": None}
    expected_scores |= {" Ann Bo Bo": first_word + other_word + second_word}
    assert scores(local_model, ModelQuestion("Ann leads X"), *expected_scores) == near(
        [*expected_scores.values()]
    )
    assert local_model.usage.tokens_read == 3 * 3 + 6
    local_model = opened(tmp_path, blank="<mask>")  # it writes <mask> first
    assert scores(local_model, ModelQuestion("Ann leads <mask>"), " Ann Ann") == near(
        [other_word + second_word]
    )


def test_what_texts_begin_with_is_read_once(tmp_path: Path) -> None:
    import torch

    local_model = opened(tiny_model.causal(tmp_path, []))
    head, answers = "Who did win the question ? Answer", [" the", " the article .", " what", ""]
    *found_scores, nothing = scores(local_model, ModelQuestion(head), *answers)
    assert nothing is None
    for answer, likelihood in zip(answers, found_scores, strict=False):
        tokens_before, ids = (
            local_model.tokenizer(any_text)["input_ids"] for any_text in (head, head + answer)
        )
        with torch.inference_mode():
            all_scores = local_model.model(torch.tensor([ids])).logits[0].log_softmax(dim=-1)
        whole_length = sum(
            float(all_scores[token_place - 1, ids[token_place]])
            for token_place in range(len(tokens_before), len(ids))
        )
        assert likelihood == pytest.approx(whole_length, abs=1e-4)
    assert local_model.usage.tokens_read < 2 * len(tokens_before) + 20


def test_what_fills_up_a_batch_is_not_read(tmp_path: Path) -> None:
    local_model = opened(tiny_model.masked(tmp_path, []))
    long = ModelQuestion("when did the question and the answer ", " win?", ("the article",))
    asked_questions = [ModelQuestion("who did ", ".", ("win", "the")), long]
    single_likelihoods = [
        near(local_model.likelihoods([any_question])[0]) for any_question in asked_questions
    ]
    assert local_model.likelihoods(asked_questions) == single_likelihoods


def test_a_statement_is_filled_in(tmp_path: Path) -> None:
    """The likelihood of all from the answer on; what begins a text follows on the first token."""
    local_model = opened(known.bigrams(tmp_path, AFTER))
    expected_scores = near([log(0.5 * 0.5 * 0.5), log(0.25 * 0.5 * 0.125)])
    assert (
        scores(local_model, ModelQuestion("Ann leads "), "Acme in now", "in Acme.")
        == expected_scores
    )
    assert scores(local_model, ModelQuestion("", " Lee"), "Ann") == near([log(0.125 * 0.75)])
    assert local_model.usage.calls == 2 and local_model.usage.tokens_read == 5 + 5 + 3
    assert scores(local_model, ModelQuestion("X " * 30 + "leads"), " Acme") == near([log(0.5)])
    assert local_model.usage.cut == 1


@pytest.mark.parametrize("kind", tiny_model.KINDS)
def test_the_kind_of_a_model_is_seen(tmp_path: Path, kind: str) -> None:
    tiny_model.KINDS[kind](tmp_path, [])
    assert model_kind(Transformers(model=str(tmp_path))) == kind
