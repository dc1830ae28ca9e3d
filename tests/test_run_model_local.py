"""What models on this machine say, against probabilities that are worked out by hand."""

from math import log
from pathlib import Path

import pytest

from factdrift.builders.generate.protocol import Usage
from factdrift.builders.generate.transformers_models import Transformers, kind_of, load

pytest.importorskip("torch")

from factdrift.scoring.local_models import PLL, Masked, TokenGap, Writing
from tests import known_models as known
from tests import tiny_model

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


def opened(folder: Path, batch: int = 3) -> tuple[Masked | Writing, Usage]:
    settings, usage = Transformers(model=str(folder)), Usage()
    loaded = load(settings, kind_of(settings))
    return (Masked if loaded.kind == "masked" else Writing)(loaded, batch, usage), usage


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Masked:
    model, _ = opened(known.masked(tmp_path_factory.mktemp("masked"), AT))
    assert isinstance(model, Masked)
    return model


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> Writing:
    model, _ = opened(known.bigrams(tmp_path_factory.mktemp("writing"), AFTER))
    assert isinstance(model, Writing) and model.kind == "causal"
    return model


FIRST, THIRD = TokenGap("", " leads Acme."), TokenGap("Ann leads ", " now.")


@pytest.mark.parametrize("how", ["original", "within_answer"])
@pytest.mark.parametrize(
    ("gap", "text", "expected"),
    [
        (FIRST, "Ann", log(0.5)),
        (FIRST, "Bo", log(0.25)),
        (FIRST, "Ann Lee", log(0.5) + log(0.75)),
        (FIRST, "Bo Ek", log(0.25) + log(0.25)),
        (THIRD, "Acme", log(0.5)),
        (THIRD, "Bo Lee", log(0.125) + log(0.25)),
        (TokenGap("Ann leads ", ""), "Acme Ek", log(0.5) + log(0.625)),
        (FIRST, "Zoe", None),
        (FIRST, "Ann Zoe", None),
        (FIRST, "", None),
    ],
)
def test_pseudo_log_likelihood(
    masked: Masked, gap: TokenGap, text: str, expected: float | None, how: PLL
) -> None:
    (found,) = masked.likelihoods([(gap, text)], how)
    assert found == (expected if expected is None else pytest.approx(expected, abs=1e-5))


def test_batches_do_not_change_what_is_told(masked: Masked, writing: Writing) -> None:
    asked = [(gap, text) for gap in (FIRST, THIRD) for text in ("Ann", "Bo Ek", "Acme", "Ann Lee")]
    alone = [masked.likelihoods([one])[0] for one in asked]
    assert masked.likelihoods(asked) == pytest.approx(alone, abs=1e-5)
    pairs = [(f, s) for f in ("Ann leads", "Answer:", "X X X X:") for s in (" Ann Lee", " Acme")]
    alone = [writing.likelihoods([one])[0] for one in pairs]
    assert writing.likelihoods(pairs) == pytest.approx(alone, abs=1e-5)


def test_masks_are_filled_from_the_left(masked: Masked) -> None:
    """At THIRD: Acme (0.5), then Ek (0.625); 3 and more places are all but nothing."""
    assert masked.fill([THIRD], 2) == [["Acme Ek", "Acme"]]  # means: log 0.559 and log 0.5
    assert masked.fill([FIRST, THIRD], 1) == [["Ann"], ["Acme"]]
    first, third = masked.fill([FIRST, THIRD], 4)
    # Ann Lee Acme (0.5, 0.75, 0.5), Ann Lee (0.5, 0.75), Ann Lee Acme Ek (…, 0.625), Ann (0.5)
    assert first == ["Ann Lee", "Ann Lee Acme Ek", "Ann Lee Acme", "Ann"]
    assert third[:2] == ["Acme Ek", "Acme"] and len(third) == 4


def test_words_are_ranked(masked: Masked) -> None:
    first, third = masked.rank([FIRST, THIRD], 3)
    assert set(first) == {"Ann", "Bo", "Lee"} and first[0] == "Ann"
    assert third[:2] == ["Acme", "Ann"] and third[2] in ("Bo", "leads")
    assert masked.rank([THIRD], 2) == [["Acme", "Ann"]]
    assert len(masked.rank([THIRD], 100)[0]) == len(known.WORDS)


def test_a_mask_in_a_text_is_no_gap(masked: Masked) -> None:
    gap = TokenGap("Ann <mask> leads ", " <mask>.")
    assert masked.fill([gap], 1) == masked.fill([TokenGap("Ann leads ", ".")], 1)
    (told,) = masked.likelihoods([(TokenGap("<mask>", "."), "Ann")])
    assert told == pytest.approx(log(0.5), abs=1e-5)


def test_what_has_no_room_is_cut_and_counted(tmp_path: Path) -> None:
    model, usage = opened(known.masked(tmp_path, AT))
    assert isinstance(model, Masked)
    before = "X " * 30
    assert model.fill([TokenGap(before, " now now now.")], 1)[0][0] in known.WORDS
    model.likelihoods([(TokenGap(before, ""), "Ann")])
    assert usage.cut == 2
    model.likelihoods([(TokenGap("", " X" * 30), "Ann Lee")])
    assert usage.cut == 3


@pytest.mark.parametrize(
    ("second", "expected"),
    [(" Ann", log(0.5)), (" Ann Lee", log(0.5 * 0.75)), (" Bo Ek", log(0.5)), ("", None)],
)
def test_log_likelihood(writing: Writing, second: str, expected: float | None) -> None:
    """Each word given the one before."""
    (found,) = writing.likelihoods([("X X Answer:", second)])
    assert found == (expected if expected is None else pytest.approx(expected, abs=1e-5))


def test_log_likelihood_of_what_another_model_writes(tmp_path: Path) -> None:
    """After its start 16 words are alike; after a word its own logit is log 5, of 15 others 0."""
    model, usage = opened(known.seq2seq(tmp_path, told=log(5)))
    assert isinstance(model, Writing) and model.kind == "seq2seq"
    asked = [("Ann leads X", text) for text in (" Ann", " Ann Ann", " Ann Bo Bo", "")]
    start, again, other = log(1 / 16), log(5 / 20), log(1 / 20)
    expected = [start, start + again, start + other + again]
    *found, nothing = model.likelihoods(asked)
    assert found == pytest.approx(expected, abs=1e-5) and nothing is None
    assert usage.tokens_read == 4 * 3 + 6
    told = Writing(load(Transformers(model=str(tmp_path))), 2, usage, blank="<mask>")
    (found_again,) = told.likelihoods([("Ann leads <mask>", " Ann Ann")])
    assert found_again == pytest.approx(other + again, abs=1e-5)  # it writes <mask> first


def test_what_texts_begin_with_is_read_once(tmp_path: Path) -> None:
    import torch

    model, usage = opened(tiny_model.causal(tmp_path, []))
    assert isinstance(model, Writing)
    head, answers = "Who did win the question ? Answer", [" the", " the article .", " what", ""]
    *found, nothing = model.likelihoods([(head, answer) for answer in answers])
    assert nothing is None
    for answer, likelihood in zip(answers, found, strict=False):
        before, ids = (model.tokenizer(t)["input_ids"] for t in (head, head + answer))
        with torch.inference_mode():
            told = model.model(torch.tensor([ids])).logits[0].log_softmax(dim=-1)
        whole = sum(float(told[p - 1, ids[p]]) for p in range(len(before), len(ids)))
        assert likelihood == pytest.approx(whole, abs=1e-4)
    assert usage.tokens_read < 2 * len(before) + 20


def test_a_statement_is_filled_in(tmp_path: Path) -> None:
    """The likelihood of all from the answer on; what begins a text follows on the first token."""
    model, usage = opened(known.bigrams(tmp_path, AFTER))
    assert isinstance(model, Writing)
    asked = [("Ann leads ", "Acme in now"), ("Ann leads ", "in Acme."), ("", "Ann Lee")]
    expected = [log(0.5 * 0.5 * 0.5), log(0.25 * 0.5 * 0.125), log(0.125 * 0.75)]
    assert model.likelihoods(asked) == pytest.approx(expected, abs=1e-5)
    assert usage.calls == 2 and usage.tokens_read == 5 + 5 + 3
    (cut,) = model.likelihoods([("X " * 30 + "leads", " Acme")])
    assert cut == pytest.approx(log(0.5), abs=1e-5) and usage.cut == 1


@pytest.mark.parametrize("kind", ["causal", "seq2seq", "masked"])
def test_the_kind_of_a_model_is_seen(tmp_path: Path, kind: str) -> None:
    tiny_model.KINDS[kind](tmp_path, [])
    assert kind_of(Transformers(model=str(tmp_path))) == kind
