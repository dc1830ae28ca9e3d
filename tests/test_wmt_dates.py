"""Question dates: bounds, splits, and the distributions, at a significance of 0.001."""

import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError
from scipy.stats import chisquare

from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import ArticleRef
from factdrift.builders.wmt import card
from factdrift.builders.wmt.dates import (
    Amount,
    DateSettings,
    draw_question_dates,
    earlier_occurrences,
)
from factdrift.builders.wmt.lines import sorting_key
from tests.tables import column_of, keyed_by_id

NONE = Amount(recent=0, past=0)
SEED = 2205


def uniform(observed: list[int]) -> bool:
    """Whether numbers may be of draws that are equally likely, by chi-square."""
    return bool(chisquare(observed).pvalue > 0.001)


def articles(path: Path, days: dict[date, int]) -> Path:
    """A table of articles: so many of each day."""
    rng = np.random.default_rng(1)
    rows: list[tuple[Any, ...]] = []
    for day in sorted(days):
        for sha in sorted(rng.bytes(32) for _ in range(days[day])):
            rows.append((sorting_key(day, sha), day, 0, "f", len(rows) + 1, 5, sha.hex()))
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.Table.from_arrays(
        [pa.array(column) for column in columns], schema=arrow_schema(ArticleRef)
    )
    pq.write_table(table, path)
    return path


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2007 to 2020, every third day without articles, later years with up to 20 times more."""
    first, last = date(2007, 1, 1), date(2020, 12, 31)
    days = [first + timedelta(index) for index in range((last - first).days + 1)]
    counts = {day: 2 + (day.year - 2007) * 3 for index, day in enumerate(days) if index % 3}
    return articles(tmp_path_factory.mktemp("uneven") / "articles.parquet", counts)


class DrawnDates(NamedTuple):
    """A folder that `draws` wrote, and its draws."""

    folder: Path
    table: pa.Table


def run(table: Path, out: Path, seed: int, **settings: Any) -> DrawnDates:
    draw_question_dates(table, out, DateSettings(**settings), seed)
    return DrawnDates(out, pq.read_table(out / "draws.parquet"))


def days_of(table: pa.Table, name: str, **where: str) -> Any:
    for column, value in where.items():
        table = table.filter(pc.equal(table[column], value))
    return table[name].to_numpy().astype("datetime64[D]")


@pytest.fixture(scope="module")
def drawn_dates(uneven: Path, tmp_path_factory: pytest.TempPathFactory) -> DrawnDates:
    amounts = {"eval": Amount(recent=100_000, past=100_000), "train": Amount(recent=9, past=9)}
    return run(uneven, tmp_path_factory.mktemp("many"), SEED, **amounts, valid=NONE)


def test_article_days_are_uniform_over_the_days_available(
    drawn_dates: DrawnDates, uneven: Path
) -> None:
    """Before 2020 no question day is outside; every day but those without articles is as likely."""
    days = days_of(drawn_dates.table, "article_day", split="eval", subset="past")
    drawn = Counter(days[days < np.datetime64("2020-01-01")].tolist())
    available = {day for day in pq.read_table(uneven)["day"].to_pylist() if day.year < 2020}
    usable = available & drawn.keys()
    assert drawn.keys() <= available
    assert len(available - usable) < 0.12 * len(available)  # days whose articles are all train's
    assert sum(drawn.values()) > 90_000
    assert uniform([drawn[day] for day in usable])


def test_the_card_shows_the_draws_beside_what_is_expected(drawn_dates: DrawnDates) -> None:
    past, recent = card.day_plots(drawn_dates.folder)
    assert len(past.data["eval, past"]) == 56 and len(recent.data["eval, recent"]) == 13
    outside = pq.read_table(drawn_dates.folder / "draws_dropped.parquet")["item"].to_pylist()
    lost = len(
        {row_id("streamingqa", "eval", "past", draw_number) for draw_number in range(200_000)}
        & {*outside}
    )
    assert sum(past.data["eval, past"].values()) == 100_000 + lost > 100_000
    for plot, series in ((past, "eval, past"), (recent, "eval, recent")):
        total = sum(plot.data[series].values())
        assert sum(plot.expected[series].values()) == pytest.approx(total)
        for period, draw_number in plot.data[series].items():
            assert draw_number == pytest.approx(
                plot.expected[series][period], abs=5 * draw_number**0.5
            )


def test_recent_questions_wait_uniformly_from_0_to_30_days(drawn_dates: DrawnDates) -> None:
    """Articles from January to November: none of their questions is outside the year."""
    article = days_of(drawn_dates.table, "article_day", split="eval", subset="recent")
    question = days_of(drawn_dates.table, "question_day", split="eval", subset="recent")
    inside_year = (article >= np.datetime64("2020-01-01")) & (
        article <= np.datetime64("2020-12-01")
    )
    waits = Counter((question - article)[inside_year].astype(int).tolist())
    assert sorted(waits) == list(range(31))
    assert sum(waits.values()) > 80_000
    assert uniform(list(waits.values()))


def test_articles_of_a_day_are_equally_likely(tmp_path: Path) -> None:
    table = articles(tmp_path / "articles.parquet", {date(2020, 3, 1): 50})
    amounts = {"eval": Amount(recent=100_000, past=0), "train": NONE, "valid": NONE}
    draw_counts = Counter(run(table, tmp_path, SEED, **amounts).table["article"].to_pylist())
    assert len(draw_counts) == 50
    assert uniform(list(draw_counts.values()))


def test_bounds_of_every_split(uneven: Path, tmp_path: Path) -> None:
    amounts = {part: Amount(recent=4000, past=4000) for part in ("eval", "train", "valid")}
    table = run(uneven, tmp_path, SEED, **amounts).table
    rows = table.to_pylist()
    ids_by_part: dict[str, set[str]] = {"eval": set(), "train": set(), "valid": set()}
    for row in rows:
        d_c, d_q = row["article_day"], row["question_day"]
        ids_by_part[row["split"]].add(row["article"])
        assert date(2007, 1, 1) <= d_c <= d_q
        assert row["quarter"] == f"{d_q.year}Q{(d_q.month + 2) // 3}"
        assert row["article"].startswith(f"{d_c:%Y%m%d}")
        assert d_q.year == 2020 if row["split"] == "eval" else 2007 <= d_q.year <= 2019
        if row["subset"] == "recent":
            assert d_q - d_c <= timedelta(30)
            assert d_c >= date(d_q.year - 1, 12, 1)
        else:
            assert d_q - max(d_c, date(d_q.year, 1, 1)) <= timedelta(365)
    assert not ids_by_part["eval"] & ids_by_part["train"]
    assert not ids_by_part["eval"] & ids_by_part["valid"]
    assert not ids_by_part["train"] & ids_by_part["valid"]
    assert column_of(rows, "id") == sorted(set(column_of(rows, "id")))
    assert row_id("streamingqa", "eval", "past", 0) in {
        *table["id"].to_pylist(),
        *pq.read_table(tmp_path / "draws_dropped.parquet")["item"].to_pylist(),
    }


def test_a_draw_does_not_depend_on_how_many_there_are(uneven: Path, tmp_path: Path) -> None:
    few = {"eval": Amount(recent=50, past=50), "train": NONE, "valid": NONE}
    larger_amounts = {"eval": Amount(recent=900, past=70), "train": few["eval"], "valid": NONE}
    small = keyed_by_id(run(uneven, tmp_path / "a", SEED, **few).table.to_pylist())
    large = keyed_by_id(run(uneven, tmp_path / "b", SEED, **larger_amounts).table.to_pylist())
    for name, row in small.items():
        assert large[name] == row
    other_rows = keyed_by_id(run(uneven, tmp_path / "c", SEED + 1, **few).table.to_pylist())
    assert small != other_rows


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_draws_of_an_article(tmp_path: Path, most: int) -> None:
    table = articles(tmp_path / "articles.parquet", {date(2020, 3, 1): 20, date(2020, 3, 2): 5})
    printed_text: list[str] = []
    settings = DateSettings(
        eval=Amount(recent=60, past=60), train=NONE, valid=NONE, most_draws=most
    )
    draw_question_dates(table, tmp_path, settings, SEED, say=printed_text.append)
    draw_counts = Counter(pq.read_table(tmp_path / "draws.parquet")["article"].to_pylist())
    assert max(draw_counts.values()) == most
    assert sum(draw_counts.values()) == min(25 * most, 120)
    assert re.fullmatch(r"only \d+ of 60 past draws of eval: too few articles", printed_text[-1])
    reasons = Counter(pq.read_table(tmp_path / "draws_dropped.parquet")["reason"].to_pylist())
    assert reasons["article_used_up"] > 0


def test_occurrence() -> None:
    assert earlier_occurrences(np.array([7, 7, 8, 7, 8])).tolist() == [0, 1, 0, 2, 1]
    assert earlier_occurrences(np.array([], int)).tolist() == []


def test_mistakes() -> None:
    with pytest.raises(ValidationError, match="before the evaluation year"):
        DateSettings(year=2007)
    with pytest.raises(ValidationError, match="extra"):
        DateSettings.model_validate({"yera": 2020})
