"""The vocabulary of drop reasons: every word that the code can give is explained, and no other."""

import re
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.release.card import drop_reasons
from factdrift.filters import FILTERS
from factdrift.filters.toxicity.scores import ATTRIBUTES
from tests.drop_reasons import Reasons

DROP_REASONS = drop_reasons()
for _filter in FILTERS.values():
    DROP_REASONS |= dict(_filter.reasons)
NEVER_DROPPED = {"waiting"}
"""Results of models that wait for a batch are asked for again: no row of them is written."""
WORD = re.compile(r"[a-z]+(_[a-z0-9]+)*")


def test_every_reason_of_the_samples_is_explained(sample: Path) -> None:
    dropped_files = [
        str(path) for path in sorted((sample / "releases").glob("*/*/dropped.parquet"))
    ]
    reason_rows = duck.query("SELECT DISTINCT reason FROM read_parquet(?)", [dropped_files])
    assert len(reason_rows) > 15
    assert {reason for (reason,) in reason_rows} <= DROP_REASONS.keys()


def test_every_reason_of_the_code_is_explained_and_no_other() -> None:
    reasons = Reasons()
    assert reasons.unknown == [], "name what these may be in a constant `_DROP_REASONS`"
    given_reasons = {
        reason: place for reason, place in reasons.found.items() if reason not in NEVER_DROPPED
    }
    assert {r: place for r, place in given_reasons.items() if r not in DROP_REASONS} == {}
    assert DROP_REASONS.keys() - given_reasons.keys() == set()


def test_the_table_is_words_and_sentences() -> None:
    for word, text in DROP_REASONS.items():
        assert WORD.fullmatch(word)
        assert text[0].isupper() and text.endswith(".") and len(text) < 90
    assert {f"toxic_{name}" for name in ATTRIBUTES} <= DROP_REASONS.keys()
