"""When a model's knowledge stops: which changes of the world its answers still follow.

A row's answer *began* in the first period of its fact's history in which it is accepted. A model
that knows the world up to some day is right where the answer began before that day, and outdated
where it began after it; whether a row asks about 2020 or 2024 says less, as most facts do not
change. So answers are counted by when they began, and the day is the cut that explains best which
of them are right and which outdated.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.dates import Period
from factdrift.scoring.asked import NO_DAY, Asked, Config, Lists, Stratum
from factdrift.scoring.intervals import Floats
from factdrift.scoring.metrics import OUTDATED, RIGHT, Scorer
from factdrift.scoring.words import Ints, distinct

LEAST = 10.0
"""Twice the gain in log-likelihood from which a cut is believed (about 1 in 600 by chance)."""


class Stop(NamedTuple):
    """The last period whose changes a model follows, and the first one whose it does not.

    `low`, `high`: the interval of `last_known` (95 %, by subject). `n`: answers that it rests on.
    """

    last_known: str
    first_unknown: str
    low: str
    high: str
    n: int


def began(asked: Asked, changed: NDArray[np.bool_]) -> Ints:
    """The last day of the period in which each row's answer began; `NO_DAY`: before, or unknown.

    Looked for where a fact has rows that are `changed`: they had another answer before. Of several
    accepted answers the one that began first counts, for who knows it is right. Rows with a past
    answer of their own, and no history, say that the answer began at their time.
    """
    days = np.full(len(asked), NO_DAY, np.int32)
    alone = (asked.history < 0) & (asked.previous.sizes > 0)
    days[alone] = asked.day[alone]
    dated = np.zeros(len(asked), bool)
    for config in asked.configs:
        dated[config.rows] = config.asking.period is not None
    dated &= asked.day != NO_DAY
    of_changed = np.zeros(int(asked.history.max(initial=-1)) + 2, bool)
    of_changed[asked.history[changed]] = True
    of_changed[-1] = False  # where history is -1
    dated &= of_changed[asked.history]
    for rows in asked.facts(dated):
        days[rows] = _began(asked, rows)
    return days


def _began(asked: Asked, chosen: Ints) -> Ints:
    """`began` for the chosen rows: all dated ones of some facts that change."""
    history = asked.history[chosen].astype(np.int64)
    different, place = np.unique(asked.day[chosen], return_inverse=True)
    when = history * len(different) + place
    times = distinct(when)
    width = max(len(asked.keys), 1)

    def named(lists: Lists) -> tuple[Ints, Ints]:
        """Numbers of (history, name) in a list, and the place of each one's row in `chosen`."""
        owners, codes = lists.of(chosen)
        return history[owners] * width + asked.key[codes], owners

    facts, rows = named(asked.targets)
    every, size = distinct(facts), len(times)
    held = np.searchsorted(every, facts) * size + np.searchsorted(times, when[rows])
    # the times of a history are neighbours in `times`: a name holds on as long as they are
    sorted_held = distinct(held)
    starts = np.ones(len(sorted_held), bool)
    starts[1:] = (np.diff(sorted_held) != 1) | (sorted_held[1:] % size == 0)
    first = sorted_held[starts]
    begin = different[times[first % size] % len(different)]
    before = distinct(_places(named(asked.previous), every, times, when))
    begin[np.isin(first, before, assume_unique=True)] = NO_DAY
    of_held = begin[np.cumsum(starts) - 1][np.searchsorted(sorted_held, held)]
    earliest = np.full(len(chosen), np.iinfo(np.int32).max, np.int32)
    np.minimum.at(earliest, rows, of_held)
    return np.where(earliest < np.iinfo(np.int32).max, earliest, NO_DAY)


def _places(given: tuple[Ints, Ints], every: Ints, times: Ints, when: Ints) -> Ints:
    """Where past answers stand among what is held: a name that is there did not begin then."""
    facts, rows = given
    at = np.searchsorted(every, facts)
    known = at < len(every)
    known[known] = every[at[known]] == facts[known]
    places: Ints = at[known] * len(times) + np.searchsorted(times, when[rows[known]])
    return places


def labels(asked: Asked) -> Mapping[int, str]:
    """What the period that ends on a day is called: as the rows say, else its quarter."""
    found: dict[int, str] = {}
    for config in asked.configs:
        for stratum in config.strata:
            if stratum.name == config.asking.period:
                days = asked.day[config.rows][stratum.lists.rows]
                different, first = np.unique(days, return_index=True)
                for day, n in zip(different.tolist(), first.tolist(), strict=True):
                    found.setdefault(day, stratum.values[int(stratum.lists.codes[n])])
    return found


def label_of(day: int, named: Mapping[int, str]) -> str:
    """The name of the period that ends on a day, else of the quarter that holds it."""
    date = np.datetime64(day, "D").astype(object)
    return named.get(day) or str(Period.of(date, "quarter"))


def began_stratum(asked: Asked, config: Config, days: Ints) -> list[Stratum]:
    """The stratum `began` of a config; none where no row says when its answer began."""
    mine = days[config.rows]
    there = mine != NO_DAY
    if not there.any():
        return []
    named = labels(asked)
    different = distinct(mine[there])
    texts = [label_of(day, named) for day in different.tolist()]
    values = tuple(sorted(set(texts)))
    place = np.array([values.index(text) for text in texts], np.int64)
    codes = place[np.searchsorted(different, mine[there])]
    starts = np.concatenate(([0], np.cumsum(there)))
    return [Stratum("began", values, Lists(starts, codes))]


def knowledge_stop(
    asked: Asked, scorer: Scorer, days: Ints, bundle: Ints, drawn: Floats
) -> Stop | None:
    """Where a model's knowledge stops; None where its answers do not say.

    `days` as of `began`, `bundle` and `drawn` as of `scoring.intervals`.
    """
    told = np.isin(scorer.verdicts, (RIGHT, OUTDATED)) & scorer.could_be_outdated & (days != NO_DAY)
    if not told.any():
        return None
    different, place = np.unique(days[told], return_inverse=True)
    if len(different) < 2:
        return None
    count = drawn.shape[1]
    cell = bundle[told] * len(different) + place
    shape = (count, len(different))
    every = np.bincount(cell, minlength=count * len(different)).reshape(shape)
    right = np.bincount(
        cell, weights=scorer.verdicts[told] == RIGHT, minlength=count * len(different)
    ).reshape(shape)
    cut, gain = _cuts(right.sum(0)[None], every.sum(0)[None])
    if 2 * gain[0] < LEAST:
        return None
    again, _ = _cuts(drawn @ right, drawn @ every)
    again.sort()
    outside = round(len(again) * 0.025)
    named = labels(asked)
    low, high = again[outside], again[-1 - outside]
    last, first, low, high = (
        label_of(int(different[n]), named) for n in (cut[0] - 1, cut[0], low - 1, high - 1)
    )
    return Stop(last, first, low, high, int(told.sum()))


def _cuts(right: Floats, every: Floats) -> tuple[Ints, Floats]:
    """The best cut of each row of counts, from 1, and what it gains over no cut."""
    whole_right, whole = right.sum(1, keepdims=True), every.sum(1, keepdims=True)
    before_right, before = np.cumsum(right, 1)[:, :-1], np.cumsum(every, 1)[:, :-1]
    after_right, after = whole_right - before_right, whole - before
    gains = _fit(before_right, before) + _fit(after_right, after) - _fit(whole_right, whole)
    falls = before_right * after > after_right * before
    gains = np.where(falls, gains, 0.0)
    best = gains.argmax(1)
    return best + 1, gains[np.arange(len(gains)), best]


def _fit(right: Floats, every: Floats) -> Floats:
    """The log-likelihood of so many right of so many at the rate that fits best."""
    return _entropy(right) + _entropy(every - right) - _entropy(every)


def _entropy(count: Floats) -> Floats:
    return count * np.log(np.maximum(count, 1))
