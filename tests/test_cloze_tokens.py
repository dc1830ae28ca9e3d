"""Token counts as they stand in a sentence, for tokenizers of several kinds, and the views."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from factdrift.builders.core.errors import UserError
from factdrift.builders.text.tokens import TokenCounter, load_tokenizer
from factdrift.builders.text.views import ViewSettings, row_views, view_statistics
from tests.conftest import ROOT, example_count
from tests.tables import columns_of

SAMPLE = ROOT / "samples" / "tokenizer"


@pytest.fixture(scope="module")
def sample() -> TokenCounter:
    return load_tokenizer(str(SAMPLE))


@pytest.mark.parametrize(
    ("label", "count"),
    [
        ("Germany", 1),
        ("politician", 1),
        ("London", 1),
        ("United States", 2),
        ("University of Oxford", 3),
        ("Prime Minister of Italy", 4),
        # the label is counted after a space, where " Germany" is one token and "Germany" is not
        ("Germany Germany", 2),
        # bytes: three for each of these letters, none of them unknown
        ("日本", 7),
    ],
)
def test_the_sample_tokenizer(sample: TokenCounter, label: str, count: int) -> None:
    assert sample.counts([label]) == [count]


def test_the_sample_tokenizer_is_what_make_makes() -> None:
    train = runpy.run_path(str(SAMPLE / "make.py"))["train"]
    committed = SAMPLE / "tokenizer.json"
    assert json.loads(train(SAMPLE / "corpus.yaml")) == json.loads(committed.read_bytes())
    assert committed.stat().st_size < 200_000


UNKNOWN = {"unk_token": "[UNK]"}


def wordpiece() -> Tokenizer:
    vocabulary_words = [
        "is",
        "actor",
        "act",
        "##ress",
        "germany",
        "the",
        "##s",
        "[UNK]",
        "[CLS]",
        "[SEP]",
    ]
    tokenizer = Tokenizer(
        models.WordPiece(
            {word: token_id for token_id, word in enumerate(vocabulary_words)}, **UNKNOWN
        )
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def unigram() -> Tokenizer:
    word_scores = {"[UNK]": -9.0, "▁is": -1.0, "▁Germany": -2.0, "▁France": -2.0, "▁": -8.0}
    tokenizer = Tokenizer(models.Unigram(list(word_scores.items()), unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


@pytest.mark.parametrize("layout", ["file", "folder", "transformers"])
@pytest.mark.parametrize(
    ("make_tokenizer", "counts"),
    [
        # an unknown token can never be the answer: 0
        (wordpiece, {"Actor": 1, "actress": 2, "Germany": 1, "Łódź": 0, "the actors": 3}),
        (unigram, {"Germany": 1, "France": 1, "Germany France": 2, "Łódź": 0}),
    ],
)
def test_kinds_and_layouts(
    tmp_path: Path, layout: str, make_tokenizer: Callable[[], Tokenizer], counts: dict[str, int]
) -> None:
    tokenizer = make_tokenizer()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    tokenizer_path = tmp_path
    if layout == "transformers":
        fast_tokenizer: Any = PreTrainedTokenizerFast
        fast_tokenizer(tokenizer_object=tokenizer, **UNKNOWN).save_pretrained(tmp_path)
        assert (tmp_path / "tokenizer_config.json").exists()
    else:
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        tokenizer_path = tmp_path / "tokenizer.json" if layout == "file" else tmp_path
    assert load_tokenizer(str(tokenizer_path)).counts(counts) == list(counts.values())


def test_each_label_is_split_once() -> None:
    seen_labels: list[str] = []

    def encode(texts: list[str]) -> list[list[int]]:
        seen_labels.extend(texts)
        return [list(range(len(text.split()))) for text in texts]

    counter = TokenCounter(encode, None)
    assert counter.counts(["b b", "a", "b b"]) == [2, 1, 2]
    assert counter.counts(["a", "c c c"]) == [1, 3]
    assert seen_labels == ["is", "is a", "is b b", "is c c c"]
    assert counter.counts([]) == []


@settings(max_examples=example_count(100))
@given(st.lists(st.text(min_size=1), max_size=20))
def test_a_label_counts_the_same_in_any_company(labels: list[str]) -> None:
    counter = load_tokenizer(str(SAMPLE / "tokenizer.json"))
    single_counts = [
        load_tokenizer(str(SAMPLE / "tokenizer.json")).counts([single_label])[0]
        for single_label in labels[:2]
    ]
    token_counts = counter.counts(labels)
    assert token_counts[:2] == single_counts
    assert min(token_counts, default=1) >= 1


def test_a_name_without_a_network_says_what_to_do() -> None:
    with pytest.raises(UserError) as error:  # all tests run with HF_HUB_OFFLINE=1
        load_tokenizer("some-org/no-such-model")
    error_text = str(error.value)
    assert error_text.startswith(
        "some-org/no-such-model: the tokenizer is no folder here and cannot"
    )
    assert "give a folder that `save_pretrained`" in error_text


@pytest.mark.parametrize("source", ["./none", "/none/at/all", "none/tokenizer.json", "~/none"])
def test_a_path_is_never_asked_of_the_hub(source: str) -> None:
    with pytest.raises(UserError, match=r"no such tokenizer\n  give a folder"):
        load_tokenizer(source)


def test_what_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the tokenizer cannot be loaded"):
        load_tokenizer(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match=r"tokenizer\.json: not a tokenizer: "):
        load_tokenizer(str(tmp_path))


SHORT = ("single_token", "single_token_any")


def both(token_count: int) -> tuple[str, str]:
    """The names of the view of at most n tokens, by both rules."""
    return (f"max_tokens_{token_count}", f"max_tokens_{token_count}_any")


@pytest.mark.parametrize(
    ("counts", "max_tokens", "expected"),
    [
        ([1], 5, {*both(5), *SHORT}),
        ([1, 1], 5, {*both(5), *SHORT}),
        ([1, 2], 5, {*both(5), "single_token_any"}),
        ([5, 5], 5, {*both(5)}),
        # all answers are short enough, or any: never the same figure
        ([1, 6], 5, {"max_tokens_5_any", "single_token_any"}),
        ([2, 6], 5, {"max_tokens_5_any"}),
        ([3], 3, {*both(3)}),
        # an answer that cannot be written is never short
        ([0], 5, set()),
        ([1, 0], 5, {"max_tokens_5_any", "single_token_any"}),
        ([], 5, set()),
    ],
)
def test_views(counts: list[int], max_tokens: int, expected: set[str]) -> None:
    row_view = row_views(counts, max_tokens)
    assert len(row_view) == len(set(row_view))
    assert set(row_view) == {"multi_token", *expected}


def test_the_columns_of_a_row(sample: TokenCounter) -> None:
    settings = ViewSettings(tokenizer=SAMPLE, revision=None, max_tokens=2)
    assert settings.columns(sample, ["Germany", "University of Oxford"]) == {
        "answer_tokens": (1, 3),
        "views": ("multi_token", "max_tokens_2_any", "single_token_any"),
    }
    assert settings.single_answer_columns(sample, "Germany")["answer_tokens"] == 1
    assert settings.single_answer_columns(None, "Germany") == {
        "answer_tokens": None,
        "views": ("multi_token",),
    }
    assert settings.counter() is not None
    assert ViewSettings(tokenizer=None, revision=None, max_tokens=2).counter() is None


def test_a_figure_says_its_rule(tmp_path: Path) -> None:
    view_rows = [{"views": list(row_views(token_counts, 2))} for token_counts in ([1], [1, 3], [3])]
    pq.write_table(pa.Table.from_pylist(view_rows), tmp_path / "cloze.parquet")
    statistics = view_statistics(tmp_path / "cloze.parquet", "The paper's is any.")
    assert columns_of(statistics.rows, "view", "answers", "rows") == [
        ("multi_token", "of any length", 3),
        ("max_tokens_2_any", "any", 2),
        ("single_token_any", "any", 2),
        ("max_tokens_2", "all", 1),
        ("single_token", "all", 1),
    ]
    assert statistics.rows[1]["share lost"] == pytest.approx(1 / 3)
    assert "`all` or `any`" in statistics.caption
    assert statistics.caption.endswith("The paper's is any.")
