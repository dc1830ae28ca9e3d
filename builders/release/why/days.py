"""Checks of what a row writes twice: its days, its period, the days in its texts, its place."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import Claims, day_of
from factdrift.builders.release.why.lookup import ReleasedRow, Values
from factdrift.builders.text.dates import MONTHS, dates_in, format_date
from factdrift.builders.wmt.lines import ARTICLE_ID
from factdrift.builders.wmt.passages import question_prefix

_ASKING_DAYS = ("question_day", "question_ts", "asked_on")
"""Columns with the day on which somebody asks, in the order in which a row may have them."""
_ARTICLE_DAYS = ("article_day", "evidence_ts")
_LATER = (
    ("article_day", "question_day"),
    ("evidence_ts", "question_ts"),
    ("as_of", "asked_on"),
    ("period_first", "period_last"),
)
"""Columns of which the second is no earlier day."""
_PLACE_COLUMNS = ("split", "subset", "recent_or_past", "difficulty")
"""Columns that say in which config or split a row stands."""
_VOCABULARIES: Sequence[frozenset[str]] = (
    frozenset(("train", "valid", "dev", "eval", "test")),
    frozenset(("unchanged", "updated", "new", "deleted")),
    frozenset(("recent", "past")),
    frozenset(("easy", "hard")),
)
"""Names of configs and splits of which a row stands in one alone."""
_TODAY = re.compile(r"Today is [^.]*\. ")
_DAY_IN_WORDS = re.compile(rf"\b[0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}}\b")
_TEXT_COLUMNS = ("question", "prompt", "rephrases", "rewordings")


def day_checks(row: ReleasedRow, claims: Claims, release_manifest: Manifest) -> Iterator[RowCheck]:
    """Yield the checks of days and places that a row writes twice."""
    yield from _article_days(row.values)
    yield from _order(row.values)
    yield from _periods(row, release_manifest)
    yield from _places(row)
    yield from _waits(row.values, release_manifest)
    yield from _today(row.values, claims)
    yield from _days_in_texts(row.values, claims)


def _article_days(row_values: Values) -> Iterator[RowCheck]:
    """Whether the day of an article is the one in its id."""
    article_id = row_values.get("evidence_id") or row_values.get("article")
    id_parts = ARTICLE_ID.fullmatch(article_id) if isinstance(article_id, str) else None
    if id_parts is None:
        return
    id_day = "-".join(id_parts.groups()[:3])
    for column in _ARTICLE_DAYS:
        stated_day = day_of(row_values.get(column))
        if stated_day is not None and stated_day.isoformat() != id_day:
            yield disagreement(f"the article is of {id_day}, `{column}` says {stated_day}")


def _order(row_values: Values) -> Iterator[RowCheck]:
    for first, second in _LATER:
        earlier, later = day_of(row_values.get(first)), day_of(row_values.get(second))
        if earlier is not None and later is not None and earlier > later:
            yield disagreement(f"`{second}` ({later}) lies before `{first}` ({earlier})")


def _periods(row: ReleasedRow, release_manifest: Manifest) -> Iterator[RowCheck]:
    """Whether a quarter or period is that of the row's days, and of the file that it is in."""
    row_values = row.values
    asking_day = next(filter(None, (day_of(row_values.get(name)) for name in _ASKING_DAYS)), None)
    quarter = row_values.get("quarter")
    if asking_day is not None and isinstance(quarter, str):
        asking_quarter = str(Period.of(asking_day, "quarter"))
        if quarter != asking_quarter:
            yield disagreement(f"{asking_day} lies in {asking_quarter}, `quarter` says {quarter}")
    period = _period(row_values.get("period"))
    if period is not None:
        for column, day in (("period_first", period.first), ("period_last", period.last)):
            stated_day = day_of(row_values.get(column))
            if stated_day is not None and stated_day != day:
                yield disagreement(f"`{column}` is {stated_day}, and {day} in {period}")
        as_of = day_of(row_values.get("as_of"))
        at_end = release_manifest.parameters.get("at") == "end"
        if as_of is not None and at_end and as_of != period.last:
            yield disagreement(f"`as_of` is {as_of}, and {period} ends on {period.last}")
    for column in ("period", "quarter"):
        own_period, file_period = _period(row_values.get(column)), _period(row.split.name)
        if own_period is None or file_period is None:
            continue
        if own_period.granularity == file_period.granularity and own_period != file_period:
            yield disagreement(f"`{column}` says {own_period}, the row stands in {row.place}")


def _places(row: ReleasedRow) -> Iterator[RowCheck]:
    """Whether a row stands where it says, in each config that has a row of its id."""
    for column in _PLACE_COLUMNS:
        place_name = row.values.get(column)
        if not isinstance(place_name, str):
            continue
        for place in (row.place, *row.other_places):
            contrary_names = {
                name
                for vocabulary in _VOCABULARIES
                if place_name in vocabulary
                for name in vocabulary.intersection(place.split("/"))
            }
            if contrary_names and place_name not in contrary_names:
                yield disagreement(f"`{column}` says {place_name}, the row stands in {place}")


def _waits(row_values: Values, release_manifest: Manifest) -> Iterator[RowCheck]:
    """Whether a question is asked as soon after its article as its subset allows."""
    subset = row_values.get("subset") or row_values.get("recent_or_past")
    article_day, asking_day = (
        next(filter(None, (day_of(row_values.get(name)) for name in columns)), None)
        for columns in (_ARTICLE_DAYS, _ASKING_DAYS)
    )
    longest_wait = max(_settings(release_manifest.parameters, f"{subset}_days"), default=None)
    if article_day is None or asking_day is None or longest_wait is None:
        return
    # a past article may be of any year before that of its question
    first_day = article_day
    if subset == "past":
        first_day = max(article_day, date(asking_day.year, 1, 1))
    if asking_day > first_day + timedelta(days=longest_wait):
        wait_words = f"more than {longest_wait} days after the article of {article_day}"
        yield disagreement(f"a question of `{subset}` is asked on {asking_day}, {wait_words}")
    earliest_wait = max(_settings(release_manifest.parameters, "recent_before"), default=None)
    if subset == "recent" and earliest_wait is not None:
        earliest_day = date(asking_day.year, 1, 1) - timedelta(days=earliest_wait)
        if article_day < earliest_day:
            yield disagreement(
                f"the article of {article_day} is too old for `recent` in {asking_day.year}"
            )


def _settings(parameters: Mapping[str, Any], name: str) -> Iterator[int]:
    """The numbers of days with a name among the parameters of a recipe, at any depth."""
    for key, value in parameters.items():
        if key == name and isinstance(value, int):
            yield value
        elif isinstance(value, dict):
            yield from _settings(value, name)


def _today(row_values: Values, claims: Claims) -> Iterator[RowCheck]:
    """Whether `Today is …` names the day on which the row is asked."""
    asking_day = next(filter(None, (day_of(row_values.get(name)) for name in _ASKING_DAYS)), None)
    today = _TODAY.match(claims.prompt)
    if today is None or asking_day is None:
        return
    if today[0].strip() != question_prefix(asking_day).strip():
        yield disagreement(f"the prompt says “{today[0].strip()}”, the row is of {asking_day}")


def _days_in_texts(row_values: Values, claims: Claims) -> Iterator[RowCheck]:
    """Whether a question about one day names this day, where it names any."""
    asked_time = claims.asked_time
    # the day of a question over several facts is that of one of them, and no day that it asks about
    of_facts = claims.pair is not None or "period" in row_values
    if not of_facts or row_values.get("family") not in (None, "chain"):
        return
    if asked_time is None or asked_time.first is None or not asked_time.is_one_day:
        return
    day_words = format_date(asked_time.first)
    columns = [column for column in _TEXT_COLUMNS if row_values.get(column)]
    # a prompt with the question in it may have a context with days of its own
    if isinstance(row_values.get("question"), str) and row_values["question"] in claims.prompt:
        columns = [column for column in columns if column != "prompt"]
    for column in columns:
        for text in _texts(row_values.get(column)):
            question_text = _TODAY.sub("", text, count=1)
            named_days = _DAY_IN_WORDS.findall(question_text)
            named_times = dates_in(question_text).written
            covers_day = any(
                mention.first <= asked_time.first <= mention.last for mention in named_times
            )
            if named_days and day_words not in named_days and not covers_day:
                names = ", ".join(named_days)
                yield disagreement(f"`{column}` names {names}, the row asks {asked_time.words}")
                return


def _texts(column_value: Any) -> list[str]:
    values = column_value if isinstance(column_value, list) else [column_value]
    return [value for value in values if isinstance(value, str)]


def _period(text: Any) -> Period | None:
    if not isinstance(text, str):
        return None
    try:
        return Period.parse(text)
    except UserError:
        return None
