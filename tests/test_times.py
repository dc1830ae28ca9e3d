"""Wikidata time values against the days they may mean."""

from datetime import date

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.times import point, rdf_point
from tests.dumps import GREGORIAN, JULIAN

T = "T00:00:00Z"


@pytest.mark.parametrize(
    ("time", "precision", "first", "last"),
    [
        ("+2019-07-24", 11, "2019-07-24", "2019-07-24"),
        ("+2019-07-24", 14, "2019-07-24", "2019-07-24"),
        ("+2019-07-00", 10, "2019-07-01", "2019-07-31"),
        ("+2019-07-24", 10, "2019-07-01", "2019-07-31"),
        ("+2020-02-00", 10, "2020-02-01", "2020-02-29"),
        ("+1900-02-00", 10, "1900-02-01", "1900-02-28"),
        ("+2019-00-00", 9, "2019-01-01", "2019-12-31"),
        ("+2019-01-01", 9, "2019-01-01", "2019-12-31"),
        ("+2019-13-45", 9, "2019-01-01", "2019-12-31"),
        ("+2010-00-00", 8, "2010-01-01", "2019-12-31"),
        ("+2015-00-00", 8, "2010-01-01", "2019-12-31"),
        ("+2019-00-00", 11, "2019-01-01", "2019-12-31"),
        ("+2019-07-00", 11, "2019-07-01", "2019-07-31"),
        ("+00000002013-01-02", 11, "2013-01-02", "2013-01-02"),
        ("+0005-00-00", 8, "0001-01-01", "0009-12-31"),
        ("+0000-00-00", 9, "0001-01-01", "0001-01-01"),
        ("-0044-03-15", 11, "0001-01-01", "0001-01-01"),
        ("-0500-00-00", 8, "0001-01-01", "0001-01-01"),
        ("-13798000000-00-00", 9, "0001-01-01", "0001-01-01"),
        ("+9999-12-31", 11, "9999-12-31", "9999-12-31"),
        ("+9990-00-00", 8, "9990-01-01", "9999-12-31"),
        ("+12000-01-01", 11, "9999-12-31", "9999-12-31"),
    ],
)
def test_a_gregorian_value(time: str, precision: int, first: str, last: str) -> None:
    days = PartialDate(date.fromisoformat(first), date.fromisoformat(last))
    assert point(time + T, precision, GREGORIAN) == days


@pytest.mark.parametrize(
    ("time", "precision"),
    [
        ("+1900-00-00", 7),
        ("+2000-00-00", 6),
        ("-13798000000-00-00", 3),
        ("+2019-02-30", 11),
        ("+2019-02-29", 11),
        ("+1900-02-29", 11),
        ("+2019-04-31", 11),
        ("+2019-13-01", 11),
        ("+2019-13-00", 10),
        ("+2019-00-17", 99),
        ("", 11),
        ("2019", 9),
        ("last summer", 9),
        ("+" + "9" * 5000 + "-01-01", 9),
    ],
)
def test_a_value_that_is_no_date_or_too_coarse(time: str, precision: int) -> None:
    found = point(time + T, precision, GREGORIAN)
    assert found is None or found == PartialDate(date(2019, 1, 1), date(2019, 12, 31))
    assert (found is None) == (time != "+2019-00-17")


@pytest.mark.parametrize(
    ("time", "precision", "first", "last"),
    [
        # the day after Thursday 4 October 1582 was Friday 15 October
        ("+1582-10-05", 11, "1582-10-15", "1582-10-15"),
        ("+1752-09-02", 11, "1752-09-13", "1752-09-13"),
        # Julian years that 100 divides are leap years
        ("+1700-02-29", 11, "1700-03-11", "1700-03-11"),
        ("+1917-10-25", 11, "1917-11-07", "1917-11-07"),
        # what is coarser than a day keeps its name
        ("+1385-00-00", 9, "1385-01-01", "1385-12-31"),
        ("+1500-02-00", 10, "1500-02-01", "1500-02-28"),
        ("+1500-02-00", 11, "1500-02-01", "1500-02-28"),
        ("+1500-00-00", 8, "1500-01-01", "1509-12-31"),
        # the third century is where both calendars agree
        ("+0250-06-01", 11, "0250-06-01", "0250-06-01"),
        ("+0001-01-01", 11, "0001-01-01", "0001-01-01"),
        ("+9999-12-31", 11, "9999-12-31", "9999-12-31"),
    ],
)
def test_a_julian_value_is_converted(time: str, precision: int, first: str, last: str) -> None:
    days = PartialDate(date.fromisoformat(first), date.fromisoformat(last))
    assert point(time + T, precision, JULIAN) == days


@pytest.mark.parametrize(
    ("time", "precision", "first", "last"),
    [
        ("2019-07-24", 11, "2019-07-24", "2019-07-24"),
        ("2019-07-01", 10, "2019-07-01", "2019-07-31"),
        ("2019-01-01", 9, "2019-01-01", "2019-12-31"),
        ("2010-01-01", 8, "2010-01-01", "2019-12-31"),
        ("+2019-01-01", 9, "2019-01-01", "2019-12-31"),
        # days are converted already
        ("1752-09-13", 11, "1752-09-13", "1752-09-13"),
        ("1500-01-01", 9, "1500-01-01", "1500-12-31"),
        # year 0 is 1 BCE
        ("0000-01-01", 9, "0001-01-01", "0001-01-01"),
        ("-0043-03-13", 11, "0001-01-01", "0001-01-01"),
    ],
)
def test_an_rdf_value(time: str, precision: int, first: str, last: str) -> None:
    days = PartialDate(date.fromisoformat(first), date.fromisoformat(last))
    assert rdf_point(time + T, precision) == days
