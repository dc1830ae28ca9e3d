"""Figures and pictures for the card of time-sensitive questions."""

from pathlib import Path
from typing import Any

import duckdb

from builders.dataset import Figure, Plot, Scalar

_PAPER = "The paper has about 20,000 questions a mode over 70 relations, 12 % unanswerable."


def tables(asked: Path, aligned: Path) -> tuple[Figure, ...]:
    """Questions by mode and what answers them, specifiers, alignment rules, stated dates."""
    questions, segments = asked / "questions.parquet", aligned / "segments.parquet"
    return (
        _shares(questions, ("difficulty", "answerable"), "answerable", "What answers them", _PAPER),
        _shares(questions, ("difficulty", "specifier"), "specifiers", "Time specifiers", ""),
        _shares(
            segments,
            ("rule",),
            "rules",
            "How segments were found in the page",
            "Of the segments of kept histories. `link`: the object is linked; `name`: a name of it "
            "stands in the text; `similar`: a passage is similar (TF-IDF); `none`: not found.",
        ),
        _shares(
            segments,
            ("start_stated", "end_stated"),
            "stated",
            "Whether the mention states the boundaries",
            "Null: the segment has no such boundary, or no mention.",
        ),
    )


def plots(asked: Path) -> tuple[Plot, ...]:
    """Questions by relation and mode."""
    query = """
        select relation_label, difficulty, count(*) from read_parquet(?)
        group by 1, 2 order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    data: dict[str, dict[str, int]] = {}
    found = duckdb.execute(query, [str(asked / "questions.parquet")]).fetchall()
    for label, difficulty, n in found:
        data.setdefault(label, {"easy": 0, "hard": 0})[difficulty] = n
    about = "How many questions each relation has, easy and hard."
    return (Plot("relations", "bars", "Questions by relation", about, data),)


def _shares(path: Path, by: tuple[str, ...], name: str, title: str, caption: str) -> Figure:
    columns = ", ".join(by)
    query = f"select {columns}, count(*) from read_parquet(?) group by all order by all"  # noqa: S608
    found: list[tuple[Any, ...]] = duckdb.execute(query, [str(path)]).fetchall()
    whole: dict[Any, int] = {}
    for row in found:
        whole[row[0] if len(by) > 1 else None] = (
            whole.get(row[0] if len(by) > 1 else None, 0) + row[-1]
        )
    rows: list[dict[str, Scalar]] = []
    for *values, n in found:
        shown = {
            b: "null" if v is None else str(v).lower() for b, v in zip(by, values, strict=True)
        }
        total = whole[values[0] if len(by) > 1 else None]
        rows.append({**shown, "rows": n, "share": n / total})
    return Figure(name, title, rows, caption)
