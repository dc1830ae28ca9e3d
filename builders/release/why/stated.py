"""Checks of what a row says of statements: it is compared with what the dumps state."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import Claims
from factdrift.builders.release.why.histories import DumpStatement, FactHistory, Term
from factdrift.builders.release.why.lookup import Values

_CHANGE_COLUMNS = set(arrow_schema(rows.FactChange).names)


def statement_checks(
    row_values: Values,
    claims: Claims,
    histories: Sequence[FactHistory],
    mended_ids: frozenset[str],
) -> Iterator[RowCheck]:
    """Whether the dumps have what the row names, and say of it what the row does.

    `mended_ids` are statements of which corrections, and not the dumps, say the object or the days.
    """
    stated = [statement for history in histories for statement in history.statements]
    if claims.statements:
        stated_ids = {statement.statement for statement in stated}
        lacking_ids = [name for name in claims.statements if name not in stated_ids]
        if lacking_ids:
            yield disagreement(f"the dump has no statement {', '.join(lacking_ids)} on this")
        else:
            yield RowCheck(True, "the dump has every statement that the row names")
    yield from _stated_answers(row_values, claims, histories)
    if mended_ids.isdisjoint(claims.statements):
        yield from _own_objects(row_values, claims, stated)
        yield from _own_days(row_values, stated)
        yield from _sides(row_values, stated)
    elif row_values.get("statement") in mended_ids:
        yield RowCheck(True, "the statement of the row is as a correction has it")
    yield from _terms(claims, histories, mended_ids)


def _stated_answers(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether the answers of a row without times are stated, as those of invariant facts are."""
    if claims.asked_time is not None or claims.pair is None or "specifier" in row_values:
        return
    for history in histories:
        if history.pair != claims.pair or history.terms or not history.statements:
            continue
        stated_items = {statement.object for statement in history.statements}
        for claimed_item in claims.answers:
            item_name = f"“{claimed_item.label}” ({claimed_item.item})"
            if claimed_item.item in stated_items:
                yield RowCheck(True, f"the dump states {item_name}")
            else:
                stated_names = _object_names(history.statements)
                yield disagreement(f"the dump does not state {item_name}, but {stated_names}")


def _own_objects(
    row_values: Values, claims: Claims, stated: Sequence[DumpStatement]
) -> Iterator[RowCheck]:
    """Whether the statements of a row that is a fact or a term are of its subject and object."""
    if not {"subject", "object"} <= row_values.keys():
        return
    for statement in stated:
        if statement.statement not in claims.statements:
            continue
        if statement.subject != row_values["subject"]:
            yield disagreement(f"{statement.statement} is a statement of {statement.subject}")
        elif statement.object != row_values["object"]:
            yield disagreement(
                f"{statement.statement} states {_object_names([statement])}, "
                f"the row {row_values.get('object_label')} ({row_values['object']})"
            )


def _own_days(row_values: Values, stated: Sequence[DumpStatement]) -> Iterator[RowCheck]:
    """Whether a row that is one statement has its days, in the dumps that it names."""
    # a relation of single times turns what was seen on a day into a point
    if not {"statement", *DATES} <= row_values.keys() or row_values.get("point"):
        return
    columns = ("statement", "object", *DATES, "end_open")
    row_content = [row_values.get(name) for name in columns]
    # each dump may state it in another way, and a statement may have several intervals
    same_content = [
        statement
        for statement in stated
        if row_content == [getattr(statement, name) for name in columns]
    ]
    if not same_content:
        yield disagreement("the row has another object or other days than its statement")
        return
    yield RowCheck(True, "the row has the object and the days of its statement")
    snapshots = {day for statement in stated for day in statement.snapshots}
    own_snapshots = {day for statement in same_content for day in statement.snapshots}
    for column in ("first_seen", "last_seen"):
        seen_day = row_values.get(column)
        if seen_day in snapshots and seen_day not in own_snapshots:
            yield disagreement(f"`{column}`: the dump of {seen_day} does not state it so")


def _sides(row_values: Values, stated: Sequence[DumpStatement]) -> Iterator[RowCheck]:
    """Whether each side of a change is as its dump states it."""
    if not row_values.keys() >= _CHANGE_COLUMNS:
        return
    for side in ("old", "new"):
        side_ids = row_values[f"{side}_statements"] or []
        snapshot = row_values[f"{side}_snapshot"]
        side_stated = [
            statement
            for statement in stated
            if statement.statement in side_ids and snapshot in statement.snapshots
        ]
        if not side_ids or not side_stated:
            continue
        yield from _boundaries(
            f"the {side} dump",
            [row_values[f"{side}_{name}"] for name in DATES],
            bool(row_values[f"{side}_end_open"]),
            side_stated,
        )


def _terms(
    claims: Claims, histories: Sequence[FactHistory], mended_ids: frozenset[str]
) -> Iterator[RowCheck]:
    """Whether the terms of a history begin and end as the statements that they are made of."""
    has_disagreed = False
    for history in histories:
        for term in history.terms:
            term_stated = [
                statement
                for statement in history.statements
                if statement.statement in term.statements
                and term.snapshot in (None, *statement.snapshots)
            ]
            if not term_stated or not mended_ids.isdisjoint(term.statements):
                continue
            for check in _term(term, term_stated):
                has_disagreed = True
                yield check
    has_both = any(history.terms and history.statements for history in histories)
    if has_both and not has_disagreed and claims.pair is not None:
        yield RowCheck(True, "the terms begin and end as their statements do")


def _term(term: Term, term_stated: Sequence[DumpStatement]) -> Iterator[RowCheck]:
    term_name = f"the term of “{term.object_label}” ({term.object})"
    if all(statement.object != term.object for statement in term_stated):
        yield disagreement(f"{term_name} is made of statements of {_object_names(term_stated)}")
        return
    boundary_days = [term.start_first, term.start_last, term.end_first, term.end_last]
    is_other_end = term.end_inferred or term.stale_until is not None
    yield from _boundaries(
        term_name, boundary_days, term.end_open, term_stated, compares_end=not is_other_end
    )


def _boundaries(
    stretch_name: str,
    boundary_days: Sequence[date | None],
    end_open: bool,
    stated: Sequence[DumpStatement],
    *,
    compares_end: bool = True,
) -> Iterator[RowCheck]:
    """Whether days may be those of one of some statements: neither earlier nor later than it."""
    stated_starts = [(statement.start_first, statement.start_last) for statement in stated]
    if not any(
        _meets(boundary_days[0], boundary_days[1], *stated_start) for stated_start in stated_starts
    ):
        begin_words = f"{stretch_name} begins {_days(boundary_days[0], boundary_days[1])}"
        yield disagreement(f"{begin_words}, its statement {_either(stated_starts)}")
    if not compares_end:
        return
    is_open_stated = any(statement.end_open for statement in stated)
    stated_ends = [
        (statement.end_first, statement.end_last) for statement in stated if not statement.end_open
    ]
    if end_open:
        if not is_open_stated:
            yield disagreement(
                f"{stretch_name} has no end, its statement ends {_either(stated_ends)}"
            )
    elif not is_open_stated and not any(
        _meets(boundary_days[2], boundary_days[3], *stated_end) for stated_end in stated_ends
    ):
        end_words = f"{stretch_name} ends {_days(boundary_days[2], boundary_days[3])}"
        yield disagreement(f"{end_words}, its statement {_either(stated_ends)}")


def _meets(
    first_day: date | None,
    last_day: date | None,
    stated_first: date | None,
    stated_last: date | None,
) -> bool:
    """Whether two boundaries may be the same day; other statements may make one narrower."""
    begins_by = first_day is None or stated_last is None or first_day <= stated_last
    return begins_by and (last_day is None or stated_first is None or stated_first <= last_day)


def _either(boundaries: Sequence[tuple[date | None, date | None]]) -> str:
    return " or ".join(dict.fromkeys(_days(*boundary) for boundary in boundaries))


def _days(first_day: date | None, last_day: date | None) -> str:
    if first_day == last_day:
        return f"on {first_day}" if first_day else "on an unknown day"
    return f"from {first_day or 'an unknown day'} to {last_day or 'an unknown day'}"


def _object_names(stated: Sequence[DumpStatement]) -> str:
    names = {statement.object: statement.object_label for statement in stated}
    return ", ".join(
        f"“{label}” ({item})" if item else "an unknown value" for item, label in names.items()
    )


def changed_days(row_values: Values) -> Iterator[RowCheck]:
    """Whether what a row says of two dumps is what their days say."""
    if not row_values.keys() >= _CHANGE_COLUMNS:
        return
    is_open = row_values["old_end_open"], row_values["new_end_open"]
    compared = DATES if not any(is_open) else DATES[:2]
    same_days = is_open[0] == is_open[1] and all(
        row_values[f"old_{name}"] == row_values[f"new_{name}"] for name in compared
    )
    agreements: dict[str, Any] = {
        "static": same_days,
        "obsolete": is_open[1] is not True,
        "new": is_open[0] is None,
        "added": is_open[0] is None,
        "removed": is_open[1] is None,
        "corrected": bool(row_values.get("differs")),
    }
    change = row_values["change"]
    if agreements.get(change, True):
        yield RowCheck(True, f"the days of both dumps are those of a change called `{change}`")
    else:
        yield disagreement(f"the days do not fit `{change}`")
