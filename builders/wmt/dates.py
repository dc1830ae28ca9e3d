"""The dates at which questions are asked: of which article, and on which day.

A draw is a number. Everything about it, days and article, comes from hashes of the seed, the
part, the subset and that number, so that any division of the work gives the same draws. For an
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
their articles are of the same year, so that more question days fall behind its end.) Which part
may draw an article is decided by a hash of the article's text alone, in the proportions of
`shares`; an article too late for a training question belongs to the evaluation. So no article is
in two parts.

Source: StreamingQA (arXiv 2205.11388) section 3.1.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.errors import UserError
from builders.rows import Part, Subset
from builders.schema import arrow_schema
from builders.wmt.drawn import Group, write_draws, write_dropped
from builders.wmt.evenness import ArticleDay, article_days, window
from builders.wmt.pool import (
    Columns,
    Numbers,
    Pool,
    below,
    hashed,
    joined,
    load_pools,
    occurrence,
    some,
    stream,
)
from builders.wmt.settings import Amount, DateSettings

_BATCH = 1 << 17
_DAY = "datetime64[D]"


@dataclass(frozen=True)
class Drawn:
    """The tables of draws, and what was counted: the content of `draws.json`."""

    draws: Path
    dropped: Path
    days: Path
    summary: Path
    counts: Mapping[str, Any]


def draws(
    articles: Path,
    out: Path,
    settings: DateSettings,
    seed: int,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> Drawn:
    """Draw question dates for an `articles.parquet` (`rows.ArticleRef`, as `index` makes it).

    Writes into `out`: `draws.parquet` (`rows.Draw`, by id), `draws_dropped.parquet`
    (`rows.Dropped` of step `draw`, reasons question_day_outside and article_used_up),
    `article_days.parquet` (`evenness.ArticleDay`, by part, subset and day) and `draws.json`
    (asked, drawn and dropped, by part and subset). Where the articles do not
    suffice a part is short, and `draws.json` and `say` tell it. `UserError`: no such table.
    """
    shares: dict[Part, float] = {
        "eval": settings.shares.eval,
        "train": settings.shares.train,
        "valid": settings.shares.valid,
    }
    pools = load_pools(articles, shares, date(settings.year - 1, 12, 31), seed)
    kept: list[Group] = []
    gone: list[Group] = []
    days: list[dict[str, Any]] = []
    counts: dict[str, dict[str, Any]] = {}
    for part in shares:
        size = int(pools[part].rows.max(initial=-1)) + 1
        used = np.zeros(size if settings.most_draws else 0, np.int32)
        amount: Amount = getattr(settings, part)
        subsets: tuple[tuple[Subset, int], ...] = (
            ("recent", amount.recent),
            ("past", amount.past),
        )
        for subset, asked in subsets:
            found, outside, again = _draw(pools[part], settings, seed, part, subset, asked, used)
            days.append(article_days(pools[part], settings, part, subset, (found, outside, again)))
            kept.append(Group(part, subset, found))
            lost = {"question_day_outside": outside, "article_used_up": again}
            gone += [Group(part, subset, columns, why) for why, columns in lost.items()]
            n = len(found.number)
            dropped = {why: len(columns.number) for why, columns in lost.items()}
            counts.setdefault(part, {"articles": len(pools[part].rows)})
            counts[part][subset] = {"asked": asked, "drawn": n, "dropped": dropped}
            if n < asked:
                say(f"only {n:,} of {asked:,} {subset} draws of {part}: too few articles")
    return _write(articles, out, settings.dataset, kept, gone, days, counts)


def _draw(
    pool: Pool,
    settings: DateSettings,
    seed: int,
    part: Part,
    subset: Subset,
    asked: int,
    used: Numbers,
) -> tuple[Columns, Columns, Columns]:
    """The first `asked` draws that hold; those outside their year; those of used-up articles."""
    names = (seed, "question dates", part, subset)
    start = [stream(*names, what) for what in ("year", "day", "article", "wait")]
    collected: tuple[list[Columns], ...] = ([], [], [])
    at = have = 0
    limit = asked * settings.tries + 1000 if asked else 0
    while have < asked and at < limit and len(pool.rows):
        number = np.arange(at, min(at + _BATCH, limit))
        at += len(number)
        bits = [hashed(s, number) for s in start]
        columns, outside = _days(pool, settings, part, subset, number, bits)
        fits = ~outside
        again = np.zeros_like(outside)
        if settings.most_draws:
            places = np.flatnonzero(fits)
            rows = columns.row[places]
            too_many = used[rows] + occurrence(rows) >= settings.most_draws
            again[places[too_many]] = True
            fits &= ~again
        end = len(fits)
        if have + int(fits.sum()) >= asked:
            end = int(np.flatnonzero(fits)[asked - have - 1]) + 1
        for into, mask in zip(collected, (fits, outside, again), strict=True):
            into.append(some(columns, np.flatnonzero(mask[:end])))
        have += len(collected[0][-1].number)
        if settings.most_draws:
            np.add.at(used, collected[0][-1].row, 1)
    kept, outside_all, again_all = (joined(c) for c in collected)
    return kept, outside_all, again_all


def _days(
    pool: Pool,
    settings: DateSettings,
    part: Part,
    subset: Subset,
    number: Numbers,
    bits: list[Numbers],
) -> tuple[Columns, Numbers]:
    """Article and days of some numbers, and where the question day is not in its year."""
    first_year = settings.first_day.year
    year = np.full(len(number), settings.year)
    if part != "eval":
        year = first_year + below(bits[0], settings.year - first_year)
    low, high, new_year, year_end = window(pool, settings, subset, year)
    there = high > low  # a window without any article gives no draw: not even one to drop
    low, high, new_year, year_end = low[there], high[there], new_year[there], year_end[there]
    place = low + below(bits[1][there], high - low)
    start = pool.starts[place]
    row = pool.rows[start + below(bits[2][there], pool.starts[place + 1] - start)]
    day = pool.days[place]
    wait = settings.recent_days if subset == "recent" else settings.past_days
    asked_from = day if subset == "recent" else np.maximum(day, new_year)
    asked = asked_from + below(bits[3][there], wait + 1)
    outside = (asked < new_year) | (asked > year_end)
    days = day.astype(np.int32), asked.astype(np.int32)
    return Columns(number[there], row, *days), outside


def _write(
    articles: Path,
    out: Path,
    dataset: str,
    kept: list[Group],
    gone: list[Group],
    days: list[dict[str, Any]],
    counts: dict[str, dict[str, Any]],
) -> Drawn:
    scratch = out / ".draws"
    shutil.rmtree(scratch, ignore_errors=True)
    schema = arrow_schema(ArticleDay)
    names = ("draws.parquet", "draws_dropped.parquet", "article_days.parquet", "draws.json")
    try:
        scratch.mkdir(parents=True)
        write_draws(scratch / names[0], dataset, kept, articles)
        write_dropped(scratch / names[1], dataset, gone)
        whole_days = pa.concat_tables(pa.table(columns, schema) for columns in days)
        pq.write_table(whole_days, scratch / names[2], compression="zstd")
        (scratch / names[3]).write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
        for name in names:
            (scratch / name).replace(out / name)
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kept_draws, dropped_draws, days_table, summary = (out / name for name in names)
    return Drawn(kept_draws, dropped_draws, days_table, summary, counts)
