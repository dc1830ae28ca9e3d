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
    yield from _quarter(row.values)
    yield from _period_days(row.values, release_manifest)
    yield from _file_period(row)
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


def _quarter(row_values: Values) -> Iterator[RowCheck]:
    """Whether a quarter is that of the day on which the row is asked."""
    asking_day = _first_day(row_values, _ASKING_DAYS)
    quarter = row_values.get("quarter")
    if asking_day is None or not isinstance(quarter, str):
        return
    asking_quarter = str(Period.of(asking_day, "quarter"))
    if quarter != asking_quarter:
        yield disagreement(f"{asking_day} lies in {asking_quarter}, `quarter` says {quarter}")


def _period_days(row_values: Values, release_manifest: Manifest) -> Iterator[RowCheck]:
    """Whether the days that a row writes beside its period are those of it."""
    row_period = _period(row_values.get("period"))
    if row_period is None:
        return
    for column, period_day in (
        ("period_first", row_period.first),
        ("period_last", row_period.last),
    ):
        stated_day = day_of(row_values.get(column))
        if stated_day is not None and stated_day != period_day:
            yield disagreement(f"`{column}` is {stated_day}, and {period_day} in {row_period}")
    as_of = day_of(row_values.get("as_of"))
    at_end = release_manifest.parameters.get("at") == "end"
    if as_of is not None and at_end and as_of != row_period.last:
        yield disagreement(f"`as_of` is {as_of}, and {row_period} ends on {row_period.last}")


def _file_period(row: ReleasedRow) -> Iterator[RowCheck]:
    """Whether a row stands in the file of its period or quarter."""
    file_period = _period(row.split.name)
    for column in ("period", "quarter"):
        row_period = _period(row.values.get(column))
        if row_period is None or file_period is None:
            continue
        if row_period.granularity == file_period.granularity and row_period != file_period:
            yield disagreement(f"`{column}` says {row_period}, the row stands in {row.place}")


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
    article_day = _first_day(row_values, _ARTICLE_DAYS)
    asking_day = _first_day(row_values, _ASKING_DAYS)
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
    asking_day = _first_day(row_values, _ASKING_DAYS)
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
    for column, question_text in _question_texts(row_values, claims):
        strange_days = _strange_days(question_text, asked_time.first)
        if strange_days:
            day_names = ", ".join(strange_days)
            yield disagreement(f"`{column}` names {day_names}, the row asks {asked_time.words}")
            return


def _question_texts(row_values: Values, claims: Claims) -> Iterator[tuple[str, str]]:
    """The texts of a row that ask, each with its column and without `Today is …`."""
    question_text = row_values.get("question")
    # a prompt with the question in it may have a context with days of its own
    prompt_has_question = isinstance(question_text, str) and question_text in claims.prompt
    for column in _TEXT_COLUMNS:
        if not row_values.get(column) or (column == "prompt" and prompt_has_question):
            continue
        for column_text in _texts(row_values[column]):
            yield column, _TODAY.sub("", column_text, count=1)


def _strange_days(question_text: str, asked_day: date) -> list[str]:
    """The days that a text names, if it names neither the day asked about nor a time around it."""
    named_days = _DAY_IN_WORDS.findall(question_text)
    covers_day = any(
        mention.first <= asked_day <= mention.last for mention in dates_in(question_text).written
    )
    return [] if covers_day or format_date(asked_day) in named_days else named_days


def _texts(column_value: Any) -> list[str]:
    values = column_value if isinstance(column_value, list) else [column_value]
    return [value for value in values if isinstance(value, str)]


def _first_day(row_values: Values, column_names: Sequence[str]) -> date | None:
    """The day in the first of some columns that has one."""
    column_days = (day_of(row_values.get(column)) for column in column_names)
    return next(filter(None, column_days), None)


def _period(text: Any) -> Period | None:
    if not isinstance(text, str):
        return None
    try:
        return Period.parse(text)
    except UserError:
        return None
