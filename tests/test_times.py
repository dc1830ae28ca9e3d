"""Wikidata time values against the days they may mean."""

from datetime import date

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.times import possible_days, rdf_possible_days
from tests.dumps import GREGORIAN, JULIAN
from tests.tables import read_table

MIDNIGHT = "T00:00:00Z"


def days_of(days_text: str) -> PartialDate | None:
    first, _, last = days_text.partition("/")
    if first == "none":
        return None
    return PartialDate(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(("form", "time", "precision", "days"), read_table("time_values"))
def test_a_value(form: str, time: str, precision: str, days: str) -> None:
    calendar = {"G": GREGORIAN, "J": JULIAN, "R": ""}[form]
    read_days = rdf_possible_days(time + MIDNIGHT, int(precision))
    possible_range = (
        read_days if form == "R" else possible_days(time + MIDNIGHT, int(precision), calendar)
    )
    assert possible_range == days_of(days)


@pytest.mark.parametrize("time", ["", "last summer", "+" + "9" * 5000 + "-01-01"])
def test_no_date(time: str) -> None:
    assert possible_days(time + MIDNIGHT, 9, GREGORIAN) is None
