"""Toxicity: the filter, thresholds, bands, the local scorer and its false positives."""

import re
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from factdrift.annotation.bands import JudgedBand, band_number, rows_to_judge, threshold_by_bands
from factdrift.annotation.order import BandRule
from factdrift.builders.core.files import resource
from factdrift.filters.base import FilterContext
from factdrift.filters.toxicity import AnyScorer
from factdrift.filters.toxicity.classifier import TransformersScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import (
    ATTRIBUTES,
    PAPER_THRESHOLDS,
    Thresholds,
    ToxicityScores,
)
from factdrift.filters.toxicity_filter import Toxicity
from tests.conftest import ROOT
from tests.tables import read_table
from tests.test_filters_run import item
from tests.test_toxicity_perspective import serve

CALIBRATION = yaml.safe_load(resource("filters/toxicity/calibration.yaml").read_text("utf-8"))
"""The project's own table: 88 questions of one writer, judged by that writer alone."""
CASES = read_table("toxicity_cases")
HARMLESS, TOXIC = CASES["harmless"], CASES["toxic"]


def dropped(scorer: Local, texts: list[str]) -> list[str]:
    scores = scorer.start(None, print)(texts)
    scored_texts = zip(texts, scores, strict=True)
    return [text for text, score in scored_texts if scorer.thresholds.over(score)]


def test_local_false_positives() -> None:
    """Held out: of 26 harmless ones none goes, 3 do without the neutral words; the toxic all go."""
    assert dropped(Local(), TOXIC) == TOXIC
    assert dropped(Local(), HARMLESS) == []
    assert len(dropped(Local(neutral=()), HARMLESS)) == 3


def test_the_local_threshold_and_what_the_rule_finds() -> None:
    toxic_texts, clean_texts = CALIBRATION["toxic"], CALIBRATION["clean"]
    assert (len(toxic_texts), len(clean_texts)) == (40, 48)
    assert not {*toxic_texts, *clean_texts} & {*HARMLESS, *TOXIC}, "what is held out is not judged"

    def profanity(texts: list[str]) -> list[float]:
        return [scores.profanity or 0 for scores in Local().start(None, print)(texts)]

    def rule(ordinary: list[float]) -> tuple[float | None, tuple[JudgedBand, ...]]:
        table_scores = enumerate([*profanity([*toxic_texts, *clean_texts]), *ordinary])
        return threshold_by_bands(
            ((score, index < len(toxic_texts)) for index, score in table_scores), BandRule()
        )

    news_scores = profanity(news())
    threshold, bands = rule(news_scores)
    assert threshold == 0.65, "in bands of a few rows: the default stays lower"
    assert Local().thresholds.profanity == 0.5
    assert all(band.judged < 50 for band in bands if band.low >= 0.5), "too few rows"
    assert rule([])[0] == 0.1, "half of the table is toxic, so alone it ends too low"
    assert len(dropped(Local(), toxic_texts)) == 33 and len(dropped(Local(), clean_texts)) == 2
    assert sum(score >= 0.5 for score in news_scores) == 19, "of 5,621: man-made hell, bone cancer"


def news() -> list[str]:
    """Every sentence of the sample news: it reports crimes and insults, and none is toxic."""
    texts = [
        text_path.read_text("utf-8")
        for text_path in sorted((ROOT / "samples/news/text").glob("*.txt"))
    ]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("==")]


def test_what_the_local_scorer_gets_wrong() -> None:
    """False positives by kind, and hate that it cannot see, of 80 judged questions."""
    judged = read_table("toxicity_judged")
    dropped_counts = {
        kind: len(dropped(Local(), kind_texts)) for kind, kind_texts in judged["clean"].items()
    }
    false_positives = {
        kind: text_count for kind, text_count in dropped_counts.items() if text_count
    }
    assert false_positives == {"words_with_two_senses": 2, "reported_insults": 1}
    missed_counts = {
        kind: len(kind_texts) - len(dropped(Local(), kind_texts))
        for kind, kind_texts in judged["toxic"].items()
    }
    assert (missed_counts["hate"], missed_counts["threats"]) == (6, 5)


def test_names_are_no_insults() -> None:
    """Names by kind: places, bands and works stay; an insult before a name or as a noun goes."""
    assert dropped(Local(), CASES["names"]) == []
    assert dropped(Local(), CASES["insults_with_capitals"]) == CASES["insults_with_capitals"]


def test_the_local_scorer_says_what_it_finds() -> None:
    said_lines: list[str] = []
    Local().start(None, said_lines.append)
    assert len(said_lines) == 1 and "profanity alone" in said_lines[0]


def test_local_fills_one_score() -> None:
    (score,) = Local().start(None, print)(["Who leads Italy?"])
    assert score.profanity is not None and score.insult is None and not score.empty
    assert Local().start(None, print)([]) == []


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier with two labels, made here: `insult` reads the first token's vector."""
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    model_folder = tmp_path_factory.mktemp("tiny")
    words = sorted({word.strip("?").lower() for text in HARMLESS + TOXIC for word in text.split()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "?", *words]
    (model_folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    BertTokenizer(str(model_folder / "vocab.txt")).save_pretrained(model_folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, id2label={0: "Insult", 1: "obscene"},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(model_folder)
    return model_folder


def test_transformers(tiny: Path) -> None:
    half_threshold = Thresholds(insult=0.5)
    labels = {"insult": "insult", "profanity": "obscene"}
    scorer = TransformersScorer(model=str(tiny), labels=labels, thresholds=half_threshold, batch=4)
    score_whole = scorer.model_copy(update={"batch": 100}).start(None, print)
    scores = scorer.start(None, print)(HARMLESS)
    assert len(scores) == len(HARMLESS) and all(
        0 < (text_scores.insult or 0) < 1 for text_scores in scores
    )
    for text_scores in scores:
        assert text_scores.threat is None and text_scores.profanity is not None
    for batch_scores, whole_scores in zip(scores, score_whole(HARMLESS), strict=True):
        assert batch_scores.insult == pytest.approx(whole_scores.insult, abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "expected_text"),
    [
        ({"labels": {"insult": "rude"}}, "no label 'rude', it has Insult, obscene"),
        ({"labels": {"insults": "insult"}}, "did you mean 'insult'"),
        ({"thresholds": {"threat": 0.5}}, "'threat' has no label"),
        ({"thresholds": {}}, "at least one"),
        ({"thresholds": {"insult": 1.5}}, "less than or equal"),
        ({"model": "/nowhere/at/all"}, "cannot be loaded"),
    ],
)
def test_transformers_mistakes(tiny: Path, settings: dict[str, object], expected_text: str) -> None:
    valid_settings = {
        "model": str(tiny),
        "labels": {"insult": "insult"},
        "thresholds": {"insult": 0.5},
    }
    with pytest.raises(Exception, match=expected_text):
        TransformersScorer.model_validate(valid_settings | settings).start(None, print)


def test_presets(tmp_path: Path) -> None:
    """The paper's thresholds, Detoxify's labels, and a copy of the model in a folder."""
    recipe: TypeAdapter[AnyScorer] = TypeAdapter(AnyScorer)
    assert recipe.validate_python({"scorer": "perspective"}).thresholds == PAPER_THRESHOLDS
    with pytest.raises(ValidationError):
        recipe.validate_python({"scorer": "transformers", "model": "x", "labels": {}})
    preset_settings = {
        "scorer": "transformers",
        "preset": "detoxify",
        "thresholds": {"insult": 0.5},
    }
    hub_scorer = recipe.validate_python(preset_settings)
    assert isinstance(hub_scorer, TransformersScorer) and hub_scorer.model == "unitary/toxic-bert"
    assert len(hub_scorer.revision or "") == 40 and hub_scorer.labels["profanity"] == "obscene"
    assert set(hub_scorer.labels) == set(ATTRIBUTES) - {"sexually_explicit"}
    local_scorer = recipe.validate_python(preset_settings | {"model": str(tmp_path)})
    assert isinstance(local_scorer, TransformersScorer) and local_scorer.revision is None
    unbiased_scorer = recipe.validate_python(preset_settings | {"preset": "detoxify-unbiased"})
    assert isinstance(unbiased_scorer, TransformersScorer) and set(unbiased_scorer.labels) == set(
        ATTRIBUTES
    )


@pytest.mark.parametrize(("scores", "over"), CASES["over"])
def test_thresholds(scores: dict[str, float], over: str | None) -> None:
    assert PAPER_THRESHOLDS.over(ToxicityScores(**scores)) == over


def test_filter_keeps_scores() -> None:
    with serve() as service:
        toxicity_filter = Toxicity(scorer=Perspective(endpoint=service.url, rate=1000))
        said_lines: list[str] = []
        items = [item(), item("Which idiot won?"), item(" "), item(answer="idiot")]
        fine, bad_verdict, none, answer = toxicity_filter.judge(
            items, FilterContext(say=said_lines.append)
        )
    assert (fine.keep, bad_verdict.reason, bad_verdict.score) == (True, "toxic_insult", 0.95)
    assert none.reason == "no_scores" and answer.keep
    assert bad_verdict.detail and "insult=0.95" in bad_verdict.detail
    assert fine.scores and fine.scores.insult == 0.05 and bad_verdict.scores
    assert len(said_lines) == 1 and "31 December 2026" in said_lines[0]


@pytest.mark.parametrize(("judgments", "threshold"), CASES["bands"])
def test_threshold_by_bands(judgments: str, threshold: float | None) -> None:
    bands = re.findall(r"([0-9.]+) (\d+)/(\d+)", judgments)
    judged = []
    for low, toxic, row_count in bands:
        for row_number in range(int(row_count)):
            judged.append((float(low), row_number < int(toxic)))
    band_threshold, judged_bands = threshold_by_bands(judged, BandRule())
    assert (band_threshold, len(judged_bands)) == (threshold, len(bands))
    assert threshold_by_bands(judged[::-1], BandRule()) == (band_threshold, judged_bands)


def test_band_places_and_samples() -> None:
    scores = (1.0, 0.95, 0.9499, 0.15, 0.3, 0.05, 0.0)
    assert [band_number(score, 0.05) for score in scores] == [19, 19, 18, 3, 6, 1, 0]
    rows = [(f"r{row_number}", row_number / 1000) for row_number in range(1001)]
    chosen_rows = rows_to_judge(rows, 1, BandRule())
    assert next(iter(chosen_rows)) == 0.95 and len(chosen_rows) == 20
    for ids in chosen_rows.values():
        assert len(ids) == 50
    assert (
        rows_to_judge(rows[::-1], 1, BandRule())
        == chosen_rows
        != rows_to_judge(rows, 2, BandRule())
    )
    assert len(rows_to_judge(rows, 1, BandRule(rows=100))[0.95]) == 51
