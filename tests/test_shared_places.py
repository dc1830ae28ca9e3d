"""Two who held a place long at the same time share it; who only follow one another do not."""

from datetime import date

import ibis
import pytest

from factdrift.builders.facts.terms import OBJECTS_OF_PAIR, shared_places

NOW = date(2024, 1, 1)
CASES = {
    "for years": ("Q1 2000 2004; Q2 2003 2008", True),
    "a handover": ("Q1 2000 2003; Q2 2004 2008", False),
    "the one comes back": ("Q1 2000 2001; Q2 2003 2004; Q1 2006 2009", False),
    "a short term of the one between": ("Q1 2000 2009; Q1 2001 2001; Q2 2005 2006", True),
    "a third holder between": ("Q1 2000 2009; Q3 2010 2011; Q2 2005 2006", True),
    "an open term": ("Q1 2000 -; Q2 2005 2006", True),
    "two open terms": ("Q1 2000 -; Q2 2005 -", False),
    "two terms of one holder": ("Q1 2000 2004; Q1 2003 2008", False),
}
"""Terms as a holder and the years from whose first until whose last day they last."""


@pytest.fixture(scope="module")
def shared_pairs() -> set[str]:
    """The pairs of all cases that are shared, found at once; the case is the subject."""
    term_rows = []
    for name, (terms, _) in CASES.items():
        for term in terms.split("; "):
            holder, first_year, last_year = term.split()
            is_open = last_year == "-"
            term_ends = NOW if is_open else date(int(last_year), 12, 31)
            term_rows.append(
                {
                    "subject": name,
                    "relation": "P6",
                    "object": holder,
                    "start_last": date(int(first_year), 1, 1),
                    "term_ends": term_ends,
                    "term_open": is_open,
                }
            )
    shared = shared_places(ibis.memtable(term_rows), OBJECTS_OF_PAIR)
    return set(shared.to_pyarrow()["subject"].to_pylist())


@pytest.mark.parametrize("name", CASES)
def test_who_shares_a_place(name: str, shared_pairs: set[str]) -> None:
    assert (name in shared_pairs) == CASES[name][1]
