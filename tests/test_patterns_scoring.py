"""Each regular expression of scoring and releases, with a text it finds and one it does not."""

import doctest
import re
from importlib import import_module

import pytest

from factdrift.scoring import score, views

EXAMPLES = [
    # module, pattern, a text in which it is found, a text in which it is not
    ("builders.release.card", "_SPECIAL", "a*b", "a-b"),
    ("builders.release.card", "_SPECIAL", "_a", "snake_case"),
    ("builders.release.card", "_REORDERING", "a\u202eb", "ab"),
    ("builders.release.card", "_BLOCK_START", "- a", "a - b"),
    ("builders.release.card", "_BLOCK_START", "1. a", "10 people"),
    ("scoring.results", "_CONTROL", "\x1b[2J", "é\n"),
    ("scoring.results", "_CONTROL", "a\u202eb", "a b"),
    ("scoring.results", "_SECRET", "sk-" + "0" * 16, "sk-learn"),
    ("scoring.results", "_ADDRESS", "http://host", "acme/m-1"),
    ("scoring.results", "_ADDRESS", "a@b.org", "p@1"),
    ("scoring.results", "_ADDRESS", "10.0.0.1", "1.5"),
    ("scoring.results", "_PATH", "/home/me", "acme/m-1"),
    ("scoring.results", "_PATH", "C:\\me", "Answer:"),
    ("scoring.metrics", "_ROUGE_WORD", "The 2nd", "É!"),
    ("reasoning.as_of.text_names", "_NAME", "met Ruud van Nistelrooy", "met the 2nd man"),
    ("reasoning.as_of.text_names", "_NAME", "S.L. Benfica", "benfica"),
    ("reasoning.as_of.text_names", "_POSSESSIVE", "Lima's", "Limas"),
    ("reasoning.as_of.text_names", "_SENTENCE_END", "It fell. Bob left.", "It fell, e.g. here"),
    ("builders.core.records", "HALF_CHARACTERS", "a\udce9", "é"),
]
WHOLE_EXAMPLES = [
    # module, pattern, a text that it is, a text that it is not
    (
        "scoring.harness_logs",
        "_SAMPLES",
        "samples_a-b-2021_2026-11-27T07-14-05.648.jsonl",
        "results_2026-11-27T07-14-05.648.json",
    ),
    ("builders.core.text_files", "_SEPARATOR_LINE", '"sep=;"\r\n', "sep=;;"),
    ("builders.release.publish", "_SPLIT", "2021Q3", "all-time"),
    ("builders.release.publish", "_PERIOD", "2021M07", "test"),
    ("builders.release.version", "_VERSION", "2.10.3", "v1.0.0"),
    ("builders.release.version", "_VERSION", "1.0.0", "01.0.0"),
]


@pytest.mark.parametrize(("module", "name", "match", "other_text"), EXAMPLES)
def test_a_pattern_is_found(module: str, name: str, match: str, other_text: str) -> None:
    pattern: re.Pattern[str] = getattr(import_module(f"factdrift.{module}"), name)
    assert pattern.search(match)
    assert not pattern.search(other_text)


@pytest.mark.parametrize(("module", "name", "match", "other_text"), WHOLE_EXAMPLES)
def test_a_pattern_is_a_whole_text(module: str, name: str, match: str, other_text: str) -> None:
    pattern: re.Pattern[str] = getattr(import_module(f"factdrift.{module}"), name)
    assert pattern.fullmatch(match)
    assert not pattern.fullmatch(other_text)


def test_the_examples_of_scores_hold() -> None:
    assert doctest.testmod(score).failed == doctest.testmod(views).failed == 0
