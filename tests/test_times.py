"""Wikidata time values against the days they may mean."""

from datetime import date

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.times import point, rdf_point
from tests.dumps import GREGORIAN, JULIAN

T = "T00:00:00Z"
TIMES = """
G +2019-07-24        11  2019-07-24
G +2019-07-24        14  2019-07-24
G +2019-07-00        10  2019-07-01/2019-07-31
G +2019-07-24        10  2019-07-01/2019-07-31
G +2020-02-00        10  2020-02-01/2020-02-29
G +1900-02-00        10  1900-02-01/1900-02-28
G +2019-00-00        9   2019-01-01/2019-12-31
G +2019-01-01        9   2019-01-01/2019-12-31
G +2019-13-45        9   2019-01-01/2019-12-31
G +2010-00-00        8   2010-01-01/2019-12-31
G +2015-00-00        8   2010-01-01/2019-12-31
G +2019-00-00        11  2019-01-01/2019-12-31
G +2019-07-00        11  2019-07-01/2019-07-31
G +00000002013-01-02 11  2013-01-02
G +0005-00-00        8   0001-01-01/0009-12-31
G +0000-00-00        9   0001-01-01
G -0044-03-15        11  0001-01-01
G -0500-00-00        8   0001-01-01
G -13798000000-00-00 9   0001-01-01
G +9999-12-31        11  9999-12-31
G +9990-00-00        8   9990-01-01/9999-12-31
G +12000-01-01       11  9999-12-31
G +1900-00-00        7   none
G +2000-00-00        6   none
G -13798000000-00-00 3   none
G +2019-02-30        11  none
G +2019-02-29        11  none
G +1900-02-29        11  none
G +2019-04-31        11  none
G +2019-13-01        11  none
G +2019-13-00        10  none
G +2019-00-17        99  2019-01-01/2019-12-31
G 2019               9   none
# the day after Thursday 4 October 1582 was Friday 15 October
J +1582-10-05        11  1582-10-15
J +1752-09-02        11  1752-09-13
# Julian years that 100 divides are leap years
J +1700-02-29        11  1700-03-11
J +1917-10-25        11  1917-11-07
# what is coarser than a day keeps its name
J +1385-00-00        9   1385-01-01/1385-12-31
J +1500-02-00        10  1500-02-01/1500-02-28
J +1500-02-00        11  1500-02-01/1500-02-28
J +1500-00-00        8   1500-01-01/1509-12-31
# the third century is where both calendars agree
J +0250-06-01        11  0250-06-01
J +0001-01-01        11  0001-01-01
J +9999-12-31        11  9999-12-31
R 2019-07-24         11  2019-07-24
R 2019-07-01         10  2019-07-01/2019-07-31
R 2019-01-01         9   2019-01-01/2019-12-31
R 2010-01-01         8   2010-01-01/2019-12-31
R +2019-01-01        9   2019-01-01/2019-12-31
# days are converted already
R 1752-09-13         11  1752-09-13
R 1500-01-01         9   1500-01-01/1500-12-31
# year 0 is 1 BCE
R 0000-01-01         9   0001-01-01
R -0043-03-13        11  0001-01-01
"""
"""Gregorian and Julian values of the JSON model, those of RDF; precision; the days they mean."""


def days_of(text: str) -> PartialDate | None:
    first, _, last = text.partition("/")
    if first == "none":
        return None
    return PartialDate(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize("row", [r for r in TIMES.strip().splitlines() if r[0] != "#"])
def test_a_value(row: str) -> None:
    form, time, precision, days = row.split()
    calendar = {"G": GREGORIAN, "J": JULIAN, "R": ""}[form]
    read = rdf_point(time + T, int(precision))
    made = read if form == "R" else point(time + T, int(precision), calendar)
    assert made == days_of(days)


@pytest.mark.parametrize("time", ["", "last summer", "+" + "9" * 5000 + "-01-01"])
def test_no_date(time: str) -> None:
    assert point(time + T, 9, GREGORIAN) is None
