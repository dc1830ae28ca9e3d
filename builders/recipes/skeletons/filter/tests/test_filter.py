"""Questions, and the reason for which each is dropped; None: it is kept."""

from my_filter.filter import MyFilter

from factdrift.testing import check_filter

CASES = {
    "Who won?": "too_short",
    "Who won the World Cup in 2018?": None,
}


def test_cases() -> None:
    check_filter(MyFilter(), CASES)
