"""Which of workers' statements tell their answer."""

from datetime import date

import pytest

from factdrift.builders.ckl.clozes import checked_clozes
from factdrift.builders.ckl.common import row_of
from factdrift.builders.rows import Article, NewsCloze

TEXT = "Donald Trump leads. Donald J. Trump spoke to The The."


@pytest.mark.parametrize(
    ("cloze", "answer", "told"),
    [
        ("Donald [BLANK] Trump spoke.", "Donald Trump", False),
        ("Donald Trump is [BLANK].", "Donald Trump", True),
        ("[BLANK] is the Donald  Trump!", "Donald Trump", True),
        ("Trump [BLANK] Donald", "Donald Trump", False),
        ("[BLANK] spoke.", "The The", False),
    ],
)
def test_a_statement_tells_its_answer_on_one_side_of_the_gap(
    cloze: str, answer: str, told: bool
) -> None:
    article = Article("a", date(2020, 1, 1), (TEXT,), TEXT)
    start = TEXT.index(answer)
    said = {
        "cloze": cloze,
        "answer": {"start": start, "end": start + len(answer), "text": answer},
        "question": "Who?",
        "edited": "Who is it?",
    }
    (found,) = checked_clozes({row_of("a"): [said]}, [article])
    reason = None if isinstance(found, NewsCloze) else found.reason
    assert reason == ("answer_in_cloze" if told else None)
