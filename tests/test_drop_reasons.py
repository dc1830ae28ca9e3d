"""The vocabulary of drop reasons: each word that the samples have is in the one table."""

import re
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.release.card import drop_reasons
from factdrift.filters import FILTERS
from factdrift.filters.toxicity.scores import ATTRIBUTES

DROP_REASONS = drop_reasons()
for _filter in FILTERS.values():
    DROP_REASONS |= dict(_filter.reasons)
WORD = re.compile(r"[a-z]+(_[a-z0-9]+)*")


def test_every_reason_of_the_samples_is_explained(sample: Path) -> None:
    files = [str(path) for path in sorted((sample / "releases").glob("*/*/dropped.parquet"))]
    rows = duck.query("SELECT DISTINCT reason FROM read_parquet(?)", [files])
    assert len(rows) > 15
    assert {reason for (reason,) in rows} <= DROP_REASONS.keys()


def test_the_table_is_words_and_sentences() -> None:
    for word, text in DROP_REASONS.items():
        assert WORD.fullmatch(word)
        assert text[0].isupper() and text.endswith(".") and len(text) < 90
    assert {f"toxic_{name}" for name in ATTRIBUTES} <= DROP_REASONS.keys()
