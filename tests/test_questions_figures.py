"""What the card of generated questions shows."""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.streamingqa.card import plots


@pytest.mark.parametrize(
    ("lengths", "bars"),
    [
        ([1, 3, 3], {"1": 1, "3": 2}),
        ([24, 25, 26, 40, 90], {"24": 1, "25+": 4}),
    ],
)
def test_every_question_is_in_the_lengths(
    lengths: list[int], bars: dict[str, int], tmp_path: Path
) -> None:
    texts = [" ".join(["w"] * n) for n in lengths]
    draws = {"recent_or_past": "recent", "evidence_ts": 1, "split": "eval"}
    table = {"question": texts, "answers": [[text, "x"] for text in texts]}
    table |= {name: [value] * len(texts) for name, value in draws.items()}
    pq.write_table(pa.table(table), tmp_path / "questions.parquet")
    days: dict[str, Any] = {"split": "eval", "subset": "past", "day": date(2020, 1, 2)}
    days |= {"drawn": 1, "expected": 0.5}
    pq.write_table(pa.table({k: [v] for k, v in days.items()}), tmp_path / "article_days.parquet")
    first = plots(tmp_path / "questions.parquet", tmp_path)[0]
    for name in ("words in the question", "words in the answer"):
        shown = first.data[name]
        assert {bar: n for bar, n in shown.items() if n} == bars
        assert sum(shown.values()) == len(texts) and list(shown)[-1] == "25+"
