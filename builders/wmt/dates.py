"""Question dates: the article that a question is about, and the day on which it is asked.

A draw is a number. Everything about it, days and article, comes from hashes of the seed, the
split, the subset and that number, so that any division of the work gives the same draws. For an
evaluation year Y:

- recent: the article's day is uniform from 1 December Y-1 to 31 December Y, the question is asked
  0 to 30 days later;
- past: the article's day is uniform from 1 January 2007 to 31 December Y, the question is asked 0
  to 365 days after that day or 1 January Y, whichever is later;
- a draw whose question day is not in Y is dropped, and the next number is drawn.

Days are drawn uniformly over the calendar window and a day without articles is drawn again; that
is, uniformly over the days that have articles, which is how it is computed. Then an article is
drawn uniformly among those of the day, so that years with more articles are not favoured.

Train and validation have the same shape: for each draw a year from the first one to Y-1 is drawn
uniformly and takes the place of Y. (The first years end up with fewer past questions: more of
their articles are of the same year, so that more question days fall behind its end.) Which split
may draw an article is decided by a hash of the article's text alone, in the proportions of
`shares`; an article too late for a training question belongs to the evaluation. So no article is
in two splits.

Source: StreamingQA (arXiv 2205.11388) section 3.1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from math import ceil
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, model_validator

from factdrift.builders.core import duck
from factdrift.builders.core.config import Strict
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.hashing import GOLDEN, seeded_hash
from factdrift.builders.core.schema import ROW_GROUP, reading
from factdrift.builders.rows import Draw, Dropped, NewsSplit, Subset
from factdrift.builders.wmt.minhash import mix_bits
from factdrift.builders.wmt.tables import write_rows

_U = np.uint64
Numbers = Any
"""A numpy array of whole numbers."""
_EPOCH = date(1970, 1, 1).toordinal()
# Numbers that are drawn at a time; the result does not depend on it.
_BATCH = 1 << 17
_DAY = "datetime64[D]"


class Amount(Strict):
    """The number of draws of each subset for one split; the paper has equal numbers of both.

    `recent`: draws for questions about recent news; `past`: those about past news.
    """

    recent: int = Field(ge=0)
    past: int = Field(ge=0)


class Shares(Strict):
    """The share of the articles that each split may draw; only the proportions count.

    `eval`, `train`, `valid`: the proportion of this split, above 0.
    """

    eval: float = Field(default=0.3, gt=0)
    train: float = Field(default=0.6, gt=0)
    valid: float = Field(default=0.1, gt=0)


class DateSettings(Strict):
    """The bounds of the draws; those of the paper by default.

    `dataset`: the name that ids of the draws begin from. `year`: the evaluation year Y.
    `first_day`: the earliest day of an article; its year is the first one of training questions.
    `recent_before`: days before 1 January from which an article is recent. `recent_days`: the
    longest time from a recent article to its question, in days; `past_days`: the same of a past
    one; `eval`, `train`, `valid`: the number of draws of this split; `shares`: which part of the
    articles each split draws from. `most_draws`: how often one article is drawn in one split (1:
    without replacement); null: no bound. `tries`: numbers drawn for each draw that is wanted,
    before a split is left short.
    """

    dataset: str = "streamingqa"
    year: int = Field(default=2020, ge=1900, le=2200)
    first_day: date = date(2007, 1, 1)
    recent_before: int = Field(default=31, ge=0)
    recent_days: int = Field(default=30, ge=0)
    past_days: int = Field(default=365, ge=0)
    eval: Amount = Amount(recent=18_200, past=18_200)
    train: Amount = Amount(recent=49_700, past=49_700)
    valid: Amount = Amount(recent=5_000, past=5_000)
    shares: Shares = Shares()
    most_draws: int | None = Field(default=None, ge=1)
    tries: int = Field(default=20, ge=1)

    def scaled(self, draw_count: float) -> Self:
        """Return the same dates with about so many draws, in the same proportions.

        No split or subset that has draws is left without one.
        """
        amounts = {name: getattr(self, name) for name in ("eval", "train", "valid")}
        factor = draw_count / sum(amount.recent + amount.past for amount in amounts.values())
        scaled_amounts = {
            name: Amount(recent=ceil(amount.recent * factor), past=ceil(amount.past * factor))
            for name, amount in amounts.items()
        }
        return self.model_copy(update=scaled_amounts)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first_day.year >= self.year:
            raise ValueError(f"first_day has to be before the evaluation year {self.year}")
        return self


# --- The articles that draws are made from --------------------------------------------------------


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - _EPOCH


def stream_start(*names: object) -> np.uint64:
    """The state at which the random numbers of one purpose begin: a hash of the seed and names."""
    return _U(seeded_hash(*names))


def random_bits(start: np.uint64, numbers: Numbers) -> Numbers:
    """64 random bits for each number n: the n-th of the stream (SplitMix64)."""
    return mix_bits(start + (numbers.astype(_U) + _U(1)) * _U(GOLDEN))


def random_below(bits: Numbers, limits: Numbers) -> Numbers:
    """Uniform whole numbers from 0 to `limits` - 1, from random bits.

    The odds of two numbers differ by less than one in 2^32 / limit.
    """
    return (((bits >> _U(32)) * np.asarray(limits).astype(_U)) >> _U(32)).astype(np.int64)


class ArticlePool(NamedTuple):
    """The articles that one split may draw, by day.

    `days`: the days that have articles, ascending, since 1970; the articles of `days[i]` are
    `rows[starts[i]:starts[i + 1]]`, which count rows of the table of articles.
    """

    days: Numbers
    starts: Numbers
    rows: Numbers


def load_pools(articles: Path, settings: DateSettings, seed: int) -> dict[NewsSplit, ArticlePool]:
    """The articles of an `articles.parquet`, each in the pool of one split.

    The split depends on seed, sha256 and day of the article alone. The table is read in pieces;
    12 bytes an article are kept.
    """
    split_names: tuple[NewsSplit, ...] = ("eval", "train", "valid")
    share_edges = np.cumsum([getattr(settings.shares, name) for name in split_names])
    share_edges = (share_edges / share_edges[-1] * 2.0**32).astype(np.int64)
    split_stream = stream_start(seed, "part of an article")
    days: list[Numbers] = [np.empty(0, np.int32)]
    splits: list[Numbers] = [np.empty(0, np.int8)]
    with reading(articles) as file:
        for article_batch in file.iter_batches(65_536, columns=["day", "sha256"]):
            article_day = np.from_dlpack(article_batch.column("day").cast(pa.int32()))
            digests = bytes.fromhex("".join(article_batch.column("sha256").to_pylist()))
            drawn_bits = random_bits(split_stream, np.frombuffer(digests, ">u8")[::4]) >> _U(32)
            split = np.searchsorted(share_edges, drawn_bits.astype(np.int64), "right").astype(
                np.int8
            )
            split[article_day >= day_number(date(settings.year, 1, 1))] = 0
            days.append(article_day)
            splits.append(split)
    article_day, split = np.concatenate(days), np.concatenate(splits)
    return {
        name: _pool(article_day, np.flatnonzero(split == index))
        for index, name in enumerate(split_names)
    }


def _pool(article_days: Numbers, article_rows: Numbers) -> ArticlePool:
    article_rows = article_rows[np.argsort(article_days[article_rows], kind="stable")]
    days, starts = np.unique(article_days[article_rows], return_index=True)
    return ArticlePool(
        days.astype(np.int64), np.append(starts, len(article_rows)), article_rows.astype(np.int32)
    )


class DrawnDays(NamedTuple):
    """Draws, or what became none, of one split and subset: 20 bytes each, in columns."""

    number: Numbers
    row: Annotated[Numbers, "of the table of articles"]
    article_day: Annotated[Numbers, "days since 1970"]
    question_day: Annotated[Numbers, "days since 1970"]


def earlier_occurrences(rows: Numbers) -> Numbers:
    """The number of equal values before each place: `[7, 7, 8, 7]` gives `[0, 1, 0, 2]`."""
    row_order = np.argsort(rows, kind="stable")
    sorted_rows = rows[row_order]
    place = np.arange(len(rows))
    first_of_row = np.ones(len(rows), bool)
    first_of_row[1:] = sorted_rows[1:] != sorted_rows[:-1]
    counts_before = np.empty(len(rows), np.int64)
    counts_before[row_order] = place - np.maximum.accumulate(np.where(first_of_row, place, 0))
    return counts_before


# --- Draws --------------------------------------------------------------------------------------


def draw_question_dates(
    articles: Path,
    out: Path,
    settings: DateSettings,
    seed: int,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Draw question dates for an `articles.parquet` (`rows.ArticleRef`, as `index` makes it).

    Writes into the folder `out`: `draws.parquet` (`rows.Draw`, by id), `draws_dropped.parquet`
    (`rows.Dropped` of step `draw`, reasons question_day_outside and article_used_up) and
    `article_days.parquet` (see `_Drawer.article_days`). Where the articles do not suffice
    a split is short, and `say` tells it.
    """
    pools = load_pools(articles, settings, seed)
    drawn_tables: list[pa.Table] = []
    day_tables: list[pa.Table] = []
    for split, pool in pools.items():
        times_drawn = np.zeros(int(pool.rows.max(initial=-1)) + 1, np.int32)
        amount: Amount = getattr(settings, split)
        amounts: dict[Subset, int] = {"recent": amount.recent, "past": amount.past}
        for subset, wanted_count in amounts.items():
            drawer = _Drawer(pool, settings, seed, split, subset)
            drawn = drawer.draw(wanted_count, times_drawn)
            day_tables.append(drawer.article_days(drawn.values()))
            for reason, reason_draws in drawn.items():
                names = {"split": split, "subset": subset, "reason": reason}
                fixed = {
                    name: pa.repeat(text, len(reason_draws.row)) for name, text in names.items()
                }
                drawn_tables.append(pa.table(fixed | reason_draws._asdict()))
            if (drawn_count := len(drawn[""].row)) < wanted_count:
                say(
                    f"only {drawn_count:,} of {wanted_count:,} {subset} draws of {split}: "
                    "too few articles"
                )
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        with duck.connect() as con:
            con.register("drawn", pa.concat_tables(drawn_tables))
            articles_table = duck.text(duck.escape_globs(articles))
            con.execute(_NAMED.format(articles=articles_table, dataset=duck.text(settings.dataset)))
            for name, kind, query in _QUERIES:
                write_rows(out / name, kind, con.sql(query).to_arrow_reader(ROW_GROUP))
        pq.write_table(
            pa.concat_tables(day_tables), out / "article_days.parquet", compression="zstd"
        )


_DROP_REASONS = ("question_day_outside", "article_used_up")
"""The drop reasons of draws that are not used."""
_NAMED = """
    CREATE VIEW articles AS
    SELECT id AS article, file_row_number AS row
    FROM read_parquet({articles}, file_row_number = true);
    CREATE VIEW named AS
    SELECT sha256(concat_ws(chr(9), {dataset}, split, subset, number))[1:16] AS id,
        DATE '1970-01-01' + article_day AS article_day,
        DATE '1970-01-01' + question_day AS question_day, split, subset, reason, row
    FROM drawn
"""
"""An id is the `row_id` of dataset, split, subset and number."""
_QUERIES = (
    (
        "draws.parquet",
        Draw,
        """
        SELECT id, article, split, subset, article_day, question_day,
            year(question_day) || 'Q' || quarter(question_day) AS quarter
        FROM named JOIN articles USING (row) WHERE reason = '' ORDER BY id
        """,
    ),
    (
        "draws_dropped.parquet",
        Dropped,
        """
        SELECT 'draw' AS step, reason, id AS item, NULL AS subject, NULL AS relation,
            NULL AS period, NULL AS score,
            'article ' || article_day || ', question ' || question_day AS detail
        FROM named WHERE reason != '' ORDER BY id
        """,
    ),
)


class _Window(NamedTuple):
    """The article days that may be drawn for some years, as places in a pool: from, and up to."""

    low: Numbers
    high: Numbers
    new_year: Annotated[Numbers, "1 January of each year"]
    year_end: Annotated[Numbers, "31 December of each year"]


@dataclass(frozen=True)
class _Drawer:
    """Draws the article days, articles and question days of one split and subset."""

    pool: ArticlePool
    settings: DateSettings
    seed: int
    split: NewsSplit
    subset: Subset

    def draw(self, wanted_count: int, times_drawn: Numbers) -> dict[str, DrawnDays]:
        """Return draws by what became of them: kept ones under "", others under their drop reason.

        The first `wanted_count` draws that can be kept are taken, and those dropped on the way to
        them are returned, too. `times_drawn` counts how often each article was drawn for this
        split; the draws that are kept are added to it in place.
        """
        settings, pool = self.settings, self.pool
        stream_names = (self.seed, "question dates", self.split, self.subset)
        stream_starts = [
            stream_start(*stream_names, what) for what in ("year", "day", "article", "wait")
        ]
        no_draws = DrawnDays(np.empty(0, np.int64), *[np.empty(0, np.int32)] * 3)
        batches_by_reason = {
            "": [no_draws],
            "question_day_outside": [no_draws],
            "article_used_up": [no_draws],
        }
        next_number = drawn_count = 0
        number_limit = wanted_count * settings.tries + 1000 if wanted_count else 0
        while drawn_count < wanted_count and next_number < number_limit and len(pool.rows):
            draw_numbers = np.arange(next_number, min(next_number + _BATCH, number_limit))
            next_number += len(draw_numbers)
            drawn, outside_year = self._days(
                draw_numbers, [random_bits(start, draw_numbers) for start in stream_starts]
            )
            fits = ~outside_year
            if settings.most_draws:
                places = np.flatnonzero(fits)
                rows = drawn.row[places]
                fits[
                    places[times_drawn[rows] + earlier_occurrences(rows) >= settings.most_draws]
                ] = False
            batch_end = len(fits)
            if drawn_count + int(fits.sum()) >= wanted_count:
                batch_end = int(np.flatnonzero(fits)[wanted_count - drawn_count - 1]) + 1
            for into, column_mask in zip(
                batches_by_reason.values(), (fits, outside_year, ~fits & ~outside_year), strict=True
            ):
                into.append(
                    DrawnDays(*(column[:batch_end][column_mask[:batch_end]] for column in drawn))
                )
            kept_rows = batches_by_reason[""][-1].row
            drawn_count += len(kept_rows)
            np.add.at(times_drawn, kept_rows, 1)
        return {
            reason: DrawnDays(*map(np.concatenate, zip(*reason_batches, strict=True)))
            for reason, reason_batches in batches_by_reason.items()
        }

    def _days(
        self, draw_numbers: Numbers, random_columns: list[Numbers]
    ) -> tuple[DrawnDays, Numbers]:
        """Article and days of some numbers, and where the question day is not in its year."""
        settings, pool = self.settings, self.pool
        first_year = settings.first_day.year
        question_year = np.full(len(draw_numbers), settings.year)
        if self.split != "eval":
            question_year = first_year + random_below(random_columns[0], settings.year - first_year)
        window = self._window(question_year)
        inside = window.high > window.low  # without any article there is not even a draw to drop
        low, high, new_year, year_end = (column[inside] for column in window)
        day_index = low + random_below(random_columns[1][inside], high - low)
        first_article = pool.starts[day_index]
        row = pool.rows[
            first_article
            + random_below(random_columns[2][inside], pool.starts[day_index + 1] - first_article)
        ]
        article_day = pool.days[day_index]
        if self.subset == "recent":
            longest_wait, earliest_day = settings.recent_days, article_day
        else:
            longest_wait, earliest_day = settings.past_days, np.maximum(article_day, new_year)
        question_day = earliest_day + random_below(random_columns[3][inside], longest_wait + 1)
        outside_year = (question_day < new_year) | (question_day > year_end)
        days = article_day.astype(np.int32), question_day.astype(np.int32)
        return DrawnDays(draw_numbers[inside], row, *days), outside_year

    def _window(self, year: Numbers) -> _Window:
        """Return the windows of article days for questions that are asked in these years."""
        new_year = (year - 1970).astype("datetime64[Y]").astype(_DAY).astype(np.int64)
        year_end = (year - 1969).astype("datetime64[Y]").astype(_DAY).astype(np.int64) - 1
        earliest_day = np.full(len(year), day_number(self.settings.first_day))
        if self.subset == "recent":
            earliest_day = np.maximum(earliest_day, new_year - self.settings.recent_before)
        first_place = np.searchsorted(self.pool.days, earliest_day)
        end_place = np.searchsorted(self.pool.days, year_end, "right")
        return _Window(first_place, end_place, new_year, year_end)

    def article_days(self, drawn: Iterable[DrawnDays]) -> pa.Table:
        """Return a table with the drawn and the expected number of draws of each day with articles.

        `expected` is the number of draws that a day would have if every day of a question's window
        were equally likely. Draws that were dropped because of their question's day are counted,
        too: only the draw is uniform, and dropping removes more of the last days of a year.
        """
        pool, settings = self.pool, self.settings
        first_year = settings.first_day.year
        years = [settings.year] if self.split == "eval" else range(first_year, settings.year)
        low, high, *_ = self._window(np.array(years))
        low, high = low[high > low], high[high > low]
        odds_steps = np.zeros(len(pool.days) + 1)
        np.add.at(odds_steps, low, 1 / (high - low))
        np.add.at(odds_steps, high, -1 / (high - low))
        odds = np.cumsum(odds_steps)[:-1] / max(len(low), 1)
        day_indices = [np.searchsorted(pool.days, draws.article_day) for draws in drawn]
        counts = np.bincount(np.concatenate(day_indices), minlength=len(pool.days))
        possible = odds > 1e-12  # sums of differences leave tiny odds where there are none
        day_count = int(possible.sum())
        columns = {
            "split": pa.repeat(self.split, day_count),
            "subset": pa.repeat(self.subset, day_count),
            "day": pool.days[possible].astype(_DAY),
            "drawn": counts[possible],
            "expected": odds[possible] * counts.sum(),
        }
        return pa.table(columns)
