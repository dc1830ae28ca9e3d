"""What a row claims, read from the columns that rows share: its time, its answers, its subject."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.why.histories import AskedTime, FactPair
from factdrift.builders.release.why.lookup import ReleasedRow, Values

Part = Literal["answer", "before", "still true", "also accepted", "seen"]
"""What a row says of an item: an answer, or right before, or still; `seen` when it was left out."""
_ITEM_COLUMNS: Mapping[str, Part] = {
    "answers": "answer",
    "answer": "answer",
    "objects": "answer",
    "previous_answers": "before",
    "still_true": "still true",
    "possible_answers": "also accepted",
}
"""Columns with items, labels and aliases (`rows.Answer`), and what they say."""
_STATEMENT_COLUMNS = ("statement", "statements", "old_statements", "new_statements")


@dataclass(frozen=True)
class ClaimedItem:
    """An item that a row names; the label is empty where the row has the id alone."""

    item: str
    label: str
    part: Part


@dataclass(frozen=True)
class Claims:
    """What a row says, as far as its columns are those that rows share."""

    prompt: str
    targets: tuple[str, ...]
    items: tuple[ClaimedItem, ...]
    pair: FactPair | None
    statements: tuple[str, ...]
    asked_time: AskedTime | None
    time_before: AskedTime | None
    """The period before, of a row that compares two."""
    named_object: ClaimedItem | None = None
    """Of a row that names the object and asks for its subject: the object."""

    @property
    def answers(self) -> list[ClaimedItem]:
        """The items that are the answers."""
        return [claimed_item for claimed_item in self.items if claimed_item.part == "answer"]

    @property
    def held_objects(self) -> list[ClaimedItem]:
        """The items that are said to have held: the answers, or the object that is named."""
        return self.answers if self.named_object is None else [self.named_object]


def claims_of(row: ReleasedRow, release_manifest: Manifest) -> Claims:
    """Read what a row claims."""
    row_values = row.values
    subject, relation = row_values.get("subject"), row_values.get("relation")
    roles = row.config.roles
    has_pair = all(isinstance(name, str) and name for name in (subject, relation))
    prompt = row_values.get(roles.prompt) if roles else None
    targets = row_values.get(roles.targets) if roles else None
    asked_time, time_before = _asked_times(row, release_manifest)
    is_reverse = row_values.get("kind") == "reverse"
    named_object = ClaimedItem(str(subject), str(row_values.get("subject_label")), "answer")
    return Claims(
        prompt=str(prompt or ""),
        targets=tuple(map(str, targets)) if isinstance(targets, list) else (),
        items=tuple(_items(row_values)),
        pair=FactPair(str(subject), str(relation)) if has_pair and not is_reverse else None,
        statements=tuple(dict.fromkeys(_statement_ids(row_values))),
        asked_time=asked_time,
        time_before=time_before,
        named_object=named_object if is_reverse else None,
    )


def labels_of(row_values: Values) -> dict[str, str]:
    """Return the labels of items that a row has beside their ids."""
    labels = {
        claimed_item.item: claimed_item.label
        for claimed_item in _items(row_values)
        if claimed_item.label
    }
    for role in ("subject", "object"):
        label = row_values.get(f"{role}_label")
        if isinstance(row_values.get(role), str) and isinstance(label, str):
            labels[row_values[role]] = label
    return labels


def named_aliases(row_values: Values) -> Iterator[tuple[str, list[str]]]:
    """Yield each item of a row with its aliases."""
    for column_name in _ITEM_COLUMNS:
        for item in _entries(row_values, column_name):
            if isinstance(item, dict) and {"id", "aliases"} <= item.keys():
                yield str(item["id"]), [str(alias) for alias in item["aliases"] or ()]


def _items(row_values: Values) -> Iterator[ClaimedItem]:
    # what was so before the update is among the answers of a row, and no accepted answer
    still_true = {
        item.get("id") for item in _entries(row_values, "still_true") if isinstance(item, dict)
    }
    for column_name, part in _ITEM_COLUMNS.items():
        for item in _entries(row_values, column_name):
            if not (isinstance(item, dict) and {"id", "label"} <= item.keys()):
                continue
            if part != "answer" or item["id"] not in still_true:
                yield ClaimedItem(str(item["id"]), str(item["label"]), part)
    for item_id in _entries(row_values, "answer_ids"):
        yield ClaimedItem(str(item_id), "", "answer")


def _entries(row_values: Values, column_name: str) -> list[Any]:
    """The entries of a column, which may be a list, one value, or nothing."""
    column_value = row_values.get(column_name)
    if isinstance(column_value, list):
        return column_value
    return [] if column_value is None else [column_value]


def _statement_ids(row_values: Values) -> Iterator[str]:
    """The statement ids of a row; in some rows `statements` is a number."""
    for column_name in _STATEMENT_COLUMNS:
        for statement in _entries(row_values, column_name):
            if isinstance(statement, str):
                yield statement


def _asked_times(
    row: ReleasedRow, release_manifest: Manifest
) -> tuple[AskedTime | None, AskedTime | None]:
    """Return the time that a row asks about, and the period before it where it compares two."""
    row_values = row.values
    if row_values.get("period") and "period_last" in row_values:
        try:
            period = Period.parse(row_values["period"])
        except UserError:  # a row of somebody else's dataset
            return _time_of_roles(row), None
        # with `at: end` what holds on the last day of a period counts, else what does on any
        at_end = release_manifest.parameters.get("at") == "end"
        times = [_time_of_period(one_period, at_end) for one_period in (period, period + -1)]
        return (
            (times[1], times[0]) if row_values.get("split") == "deleted" else (times[0], times[1])
        )
    first_day, last_day = row_values.get("time_first"), row_values.get("time_last")
    if (
        isinstance(first_day, date | None)
        and isinstance(last_day, date | None)
        and (first_day or last_day)
    ):
        return AskedTime(first_day, last_day, _stretch_words(first_day, last_day)), None
    return _time_of_roles(row), None


def period_times(period_text: str | None, at_end: bool) -> list[AskedTime]:
    """Return the time of a dropped comparison's period and of the one before it."""
    try:
        period = Period.parse(period_text or "")
    except UserError:
        return []
    return [_time_of_period(one_period, at_end) for one_period in (period, period + -1)]


def _time_of_period(period: Period, at_end: bool) -> AskedTime:
    if at_end:
        return AskedTime(period.last, period.last, f"on {period.last}, the end of {period}")
    return AskedTime(period.first, period.last, f"in {period}")


def _stretch_words(first_day: date | None, last_day: date | None) -> str:
    """`on 2021-09-30`, `from 1986-03-01 to 1986-03-31`, `before 2003-01-01`."""
    if first_day == last_day:
        return f"on {first_day}" if first_day else "at any time"
    if first_day is None or last_day is None:
        return f"until {last_day}" if last_day else f"from {first_day} on"
    return f"from {first_day} to {last_day}"


def _time_of_roles(row: ReleasedRow) -> AskedTime | None:
    """The day that the roles of a config name as the time of its rows."""
    for column_name in row.config.roles.time if row.config.roles else ():
        day = day_of(_inner(row.values, column_name.split(".")))
        if day is not None:
            return AskedTime(day, day, f"on {day}")
    return None


def _inner(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def day_of(value: Any) -> date | None:
    """Return a day, or the day of a number of seconds since 1970; None of anything else."""
    if isinstance(value, date):
        return value
    if isinstance(value, int) and not isinstance(value, bool):  # as StreamingQA has days
        with suppress(OverflowError, ValueError, OSError):
            return datetime.fromtimestamp(value, UTC).date()
    return None
