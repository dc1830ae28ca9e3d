"""Learned times: how long an open statement of a relation is trusted, read from all terms of it.

A relation whose template says `open_for: learned` is trusted for the time by which most of its
terms had ended: 80 % of them where there is usually one object at a time, else 95 %. The terms that
are still open have not ended yet, and count for as long as they last (Kaplan-Meier): closed terms
alone are the short ones, and would put everybody in doubt who holds for long. Only terms whose
start and end are known to the year or finer are counted, each from the middle of its start to the
middle of its end. With fewer than `LEAST_TERMS` closed ones nothing is learned.

The times stand in the manifest of a release, under `learned_times`. Another recipe takes them from
there (the input `learned`), so that two dumps, or a dump and an endpoint, are read alike.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import ibis
import ibis.expr.types as ir
import msgspec

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.time_rules import Rules, learning

LEAST_TERMS = 50
"""Closed terms of a relation from which on a time is learned: fewer say little of its tail."""
LONGEST_YEAR = 366
"""Days of a point in time that is known to the year."""
FIGURES = "learned_times"
"""The name of the table of learned times in a manifest."""

# Products of thousands of shares differ from the exact ones in the last digits.
_ROUNDING = 1e-9


class LearnedTime(msgspec.Struct, frozen=True):
    """What was learned of one relation; `days` is None where nothing was."""

    relation: str
    days: Annotated[int, msgspec.Meta(ge=1)] | None
    share: float
    closed: int
    open: int


class TermCount(NamedTuple):
    """The number of closed and of open terms that lasted for this number of days."""

    days: int
    closed: int
    open: int


def as_json(times: Iterable[LearnedTime]) -> str:
    """The text of a file of learned times."""
    return msgspec.json.format(msgspec.json.encode(list(times)), indent=1).decode() + "\n"


def read_times(path: Path) -> list[LearnedTime]:
    """Read a file that was written so."""
    return msgspec.json.decode(path.read_bytes(), type=list[LearnedTime])


def learned_times(
    engine: Engine, facts: ir.Table, entities: ir.Table, rules: Rules
) -> Iterator[LearnedTime]:
    """Yield what the facts of a snapshot (`rows.Fact`) tell of the relations that learn a time."""
    learning_rules = learning(rules)
    counts: dict[str, list[TermCount]] = {relation_id: [] for relation_id in learning_rules}
    for row in engine.rows(_lengths(facts, entities, learning_rules)):
        counts[row["relation"]].append(
            TermCount(*(int(row[column]) for column in ("days", "closed", "still")))
        )
    for relation_id, rule in sorted(learning_rules.items()):
        closed = sum(count.closed for count in counts[relation_id])
        yield LearnedTime(
            relation_id,
            days_until_ended(counts[relation_id], rule.learned_share)
            if closed >= LEAST_TERMS
            else None,
            rule.learned_share,
            closed,
            sum(count.open for count in counts[relation_id]),
        )


def days_until_ended(counts: Sequence[TermCount], share: float) -> int | None:
    """Return the days after which this share of all terms had ended; None: after no time yet.

    After: Kaplan and Meier 1958, the product-limit estimate; of terms that are open and closed
    after the same time, the closed ones ended first.
    """
    at_risk = sum(count.closed + count.open for count in counts)
    still_lasting = 1.0
    for count in sorted(counts):
        if at_risk:
            still_lasting *= 1 - count.closed / at_risk
        if count.closed and 1 - still_lasting >= share - _ROUNDING:
            return max(count.days, 1)
        at_risk -= count.closed + count.open
    return None


def times_of_file(path: Path, rules: Rules) -> list[LearnedTime]:
    """Return the times of a file for the relations that learn one.

    Raises `UserError` if the file is neither a manifest with learned times nor a list of them.
    """
    hint_text = "give the manifest.json of a release whose card has learned times"
    try:
        document: Any = msgspec.json.decode(path.read_bytes())
        if isinstance(document, dict):
            document = next(
                figures["rows"] for figures in document["figures"] if figures["name"] == FIGURES
            )
        listed = msgspec.convert(document, list[LearnedTime])
    except msgspec.ValidationError as error:
        raise UserError(f"no learned times: {error}", where=path, hint=hint_text) from error
    except (msgspec.DecodeError, KeyError, StopIteration, TypeError) as error:
        raise UserError("no learned times", where=path, hint=hint_text) from error
    learning_rules = learning(rules)
    return [time for time in listed if time.relation in learning_rules]


def _lengths(facts: ir.Table, entities: ir.Table, learning_rules: Rules) -> ir.Table:
    """Count the terms of these relations by length in days: `closed` and `still` open.

    Open terms are those of the living: nothing that ends them has ended.
    """
    is_term = ~facts.point & ~facts.sighting & facts.relation.isin(sorted(learning_rules))
    terms = facts.filter(is_term, facts.start_first <= facts.snapshot)
    ended = entities.filter(entities.ended_first.notnull() | entities.ended_last.notnull())
    for role in ("subject", "object"):
        outlived = sorted(
            relation_id
            for relation_id, rule in learning_rules.items()
            if role not in rule.ends_with
        )
        ended_items = ended.select(**{f"ended_{role}": "id"})
        terms = terms.left_join(ended_items, terms[role] == ended_items[f"ended_{role}"])
        has_ended = terms[f"ended_{role}"].notnull() & ~terms.relation.isin(outlived)
        terms = terms.filter(~(terms.end_open & has_ended))
    width = {
        boundary: terms[f"{boundary}_last"].delta(terms[f"{boundary}_first"], unit="day")
        for boundary in ("start", "end")
    }
    is_clear = (width["start"] < LONGEST_YEAR) & (
        terms.end_open | (width["end"] < LONGEST_YEAR).fill_null(False)
    )
    # The middles are half days apart at most; twice the length is a whole number.
    end_sum = ibis.ifelse(
        terms.end_open,
        terms.snapshot.delta(terms.start_first, unit="day") * 2,
        terms.end_first.delta(terms.start_first, unit="day")
        + terms.end_last.delta(terms.start_first, unit="day"),
    )
    terms = terms.mutate(clear=is_clear.fill_null(False), days=(end_sum - width["start"]) // 2)
    terms = terms.filter(terms.clear)
    terms = terms.mutate(days=ibis.greatest(terms.days, 0))
    return terms.group_by(["relation", "days"]).agg(
        closed=(~terms.end_open).sum().cast("int64"), still=terms.end_open.sum().cast("int64")
    )
