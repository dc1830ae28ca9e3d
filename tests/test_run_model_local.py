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
    model = (MaskedModel if kind == "masked" else GenerativeModel)(settings, view, kind, **how)
    model.load()
    return model


def scores(model: LocalModel, asked: ModelQuestion, *options: str) -> list[float | None]:
    (found,) = model.likelihoods([replace(asked, options=options)])
    return found


def near(expected: Sequence[float | None]) -> Any:
    return [one if one is None else pytest.approx(one, abs=1e-5) for one in expected]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return known.masked(tmp_path_factory.mktemp("masked"), AT)


@pytest.fixture(scope="module")
def masked(folder: Path) -> MaskedModel:
    model = opened(folder)
    assert isinstance(model, MaskedModel)
    return model


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    return opened(known.bigrams(tmp_path_factory.mktemp("writing"), AFTER))


FIRST, THIRD = ModelQuestion("", " leads Acme."), ModelQuestion("Ann leads ", " now.")


def test_pseudo_log_likelihood(folder: Path) -> None:
    model = opened(folder)
    first: dict[str, float | None] = {"Ann": log(0.5), "Bo": log(0.25), "Ann Lee": log(0.5 * 0.75)}
    first |= {"Bo Ek": log(0.25 * 0.25), "Zoe": None, "Ann Zoe": None, "": None}
    third = {"Acme": log(0.5), "Bo Lee": log(0.125 * 0.25)}
    last = {"Acme Ek": log(0.5 * 0.625)}
    gaps = (FIRST, THIRD, ModelQuestion("Ann leads "))
    named: Sequence[Mapping[str, float | None]] = (first, third, last)
    asked = [replace(g, options=tuple(some)) for g, some in zip(gaps, named, strict=True)]
    expected = [near([*some.values()]) for some in named]
    assert model.likelihoods(asked) == expected
    assert [model.likelihoods([one])[0] for one in asked] == expected  # whatever stands beside it


def test_masks_are_filled_from_the_left(masked: MaskedModel) -> None:
    """At THIRD: Acme (0.5), then Ek (0.625); 3 and more places are all but nothing."""
    assert masked.fill([THIRD], 2) == [["Acme Ek", "Acme"]]  # means: log 0.559 and log 0.5
    assert masked.fill([FIRST, THIRD], 1) == [["Ann"], ["Acme"]]
    first, third = masked.fill([FIRST, THIRD], 4)
    # Ann Lee Acme (0.5, 0.75, 0.5), Ann Lee (0.5, 0.75), Ann Lee Acme Ek (…, 0.625), Ann (0.5)
    assert first == ["Ann Lee", "Ann Lee Acme Ek", "Ann Lee Acme", "Ann"]
    assert third[:2] == ["Acme Ek", "Acme"] and len(third) == 4


def test_words_are_ranked(masked: MaskedModel) -> None:
    first, third = masked.rank([FIRST, THIRD], 3)
    assert set(first) == {"Ann", "Bo", "Lee"} and first[0] == "Ann"
    assert third[:2] == ["Acme", "Ann"] and third[2] in ("Bo", "leads")
    assert masked.rank([THIRD], 2) == [["Acme", "Ann"]]
    assert len(masked.rank([THIRD], 100)[0]) == len(known.WORDS)


def test_a_mask_in_a_text_is_no_gap(masked: MaskedModel) -> None:
    gap = ModelQuestion("Ann <mask> leads ", " <mask>.")
    assert masked.fill([gap], 1) == masked.fill([ModelQuestion("Ann leads ", ".")], 1)
    assert scores(masked, ModelQuestion("<mask>", "."), "Ann") == near([log(0.5)])


def test_what_has_no_room_is_cut_and_counted(folder: Path) -> None:
    model = opened(folder)
    assert isinstance(model, MaskedModel)
    before = "X " * 30
    assert model.fill([ModelQuestion(before, " now now now.")], 1)[0][0] in known.WORDS
    scores(model, ModelQuestion(before), "Ann")
    assert model.usage.cut == 2
    scores(model, ModelQuestion("", " X" * 30), "Ann Lee")
    assert model.usage.cut == 3


@pytest.mark.parametrize("before", ["Answer:", "X X Answer:", "X X X X:"])
def test_log_likelihood(writing: GenerativeModel, before: str) -> None:
    """Each word given the one before."""
    expected = {" Ann": log(0.5), " Ann Lee": log(0.5 * 0.75), " Bo Ek": log(0.5), "": None}
    assert scores(writing, ModelQuestion(before), *expected) == near([*expected.values()])


def test_log_likelihood_of_what_another_model_writes(tmp_path: Path) -> None:
    """After its start 16 words are alike; after a word its own logit is log 5, of 15 others 0."""
    model = opened(known.seq2seq(tmp_path, logit=log(5)))
    start, again, other = log(1 / 16), log(5 / 20), log(1 / 20)
    expected = {" Ann": start, " Ann Ann": start + again, "": None}
    expected |= {" Ann Bo Bo": start + other + again}
    assert scores(model, ModelQuestion("Ann leads X"), *expected) == near([*expected.values()])
    assert model.usage.tokens_read == 3 * 3 + 6
    model = opened(tmp_path, blank="<mask>")  # it writes <mask> first
    assert scores(model, ModelQuestion("Ann leads <mask>"), " Ann Ann") == near([other + again])


def test_what_texts_begin_with_is_read_once(tmp_path: Path) -> None:
    import torch

    model = opened(tiny_model.causal(tmp_path, []))
    head, answers = "Who did win the question ? Answer", [" the", " the article .", " what", ""]
    *found, nothing = scores(model, ModelQuestion(head), *answers)
    assert nothing is None
    for answer, likelihood in zip(answers, found, strict=False):
        before, ids = (model.tokenizer(t)["input_ids"] for t in (head, head + answer))
        with torch.inference_mode():
            all_scores = model.model(torch.tensor([ids])).logits[0].log_softmax(dim=-1)
        whole = sum(float(all_scores[p - 1, ids[p]]) for p in range(len(before), len(ids)))
        assert likelihood == pytest.approx(whole, abs=1e-4)
    assert model.usage.tokens_read < 2 * len(before) + 20


def test_what_fills_up_a_batch_is_not_read(tmp_path: Path) -> None:
    model = opened(tiny_model.masked(tmp_path, []))
    long = ModelQuestion("when did the question and the answer ", " win?", ("the article",))
    asked = [ModelQuestion("who did ", ".", ("win", "the")), long]
    alone = [near(model.likelihoods([one])[0]) for one in asked]
    assert model.likelihoods(asked) == alone


def test_a_statement_is_filled_in(tmp_path: Path) -> None:
    """The likelihood of all from the answer on; what begins a text follows on the first token."""
    model = opened(known.bigrams(tmp_path, AFTER))
    expected = near([log(0.5 * 0.5 * 0.5), log(0.25 * 0.5 * 0.125)])
    assert scores(model, ModelQuestion("Ann leads "), "Acme in now", "in Acme.") == expected
    assert scores(model, ModelQuestion("", " Lee"), "Ann") == near([log(0.125 * 0.75)])
    assert model.usage.calls == 2 and model.usage.tokens_read == 5 + 5 + 3
    assert scores(model, ModelQuestion("X " * 30 + "leads"), " Acme") == near([log(0.5)])
    assert model.usage.cut == 1


@pytest.mark.parametrize("kind", tiny_model.KINDS)
def test_the_kind_of_a_model_is_seen(tmp_path: Path, kind: str) -> None:
    tiny_model.KINDS[kind](tmp_path, [])
    assert model_kind(Transformers(model=str(tmp_path))) == kind
