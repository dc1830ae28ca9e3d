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
    question_texts = [" ".join(["w"] * word_count) for word_count in lengths]
    draw_values = {"recent_or_past": "recent", "evidence_ts": 1, "split": "eval"}
    question_columns = {
        "question": question_texts,
        "answers": [[text, "x"] for text in question_texts],
    }
    question_columns |= {name: [value] * len(question_texts) for name, value in draw_values.items()}
    pq.write_table(pa.table(question_columns), tmp_path / "questions.parquet")
    day_columns: dict[str, Any] = {"split": "eval", "subset": "past", "day": date(2020, 1, 2)}
    day_columns |= {"drawn": 1, "expected": 0.5}
    pq.write_table(
        pa.table({name: [value] for name, value in day_columns.items()}),
        tmp_path / "article_days.parquet",
    )
    length_plot = plots(tmp_path / "questions.parquet", tmp_path)[0]
    for name in ("words in the question", "words in the answer"):
        plotted_bars = length_plot.data[name]
        assert {bar: word_count for bar, word_count in plotted_bars.items() if word_count} == bars
        assert sum(plotted_bars.values()) == len(question_texts) and list(plotted_bars)[-1] == "25+"
