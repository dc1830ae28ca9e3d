"""The prompts of models and their accepted answers: the columns `prompt` and `targets`.

The statement or question itself stays as it is. Where the answer depends on the time, the time
stands before it in words, in one fixed frame that fits whatever the grammar of the statement:

- a statement about the end of a period: `On 30 September 2021: …`; the right answers are those that
  held on that day;
- a statement about a period: `In the third quarter of 2021 (July to September 2021): …`,
  `In July 2021: …`, `In 2021: …`. The right answers are those that held in that period;
- a statement of a news article: `As of May 6, 2020: …`, with the day of the article.

A question of StreamingQA has the paper's prefix instead (`builders.wmt.passages.question_prefix`),
a question of TimeQA says its time itself, and a fact that does not change needs none.
"""

from collections.abc import Iterable
from datetime import date

from factdrift.builders.core.dates import Period
from factdrift.builders.text.dates import MONTHS, format_date

_QUARTERS = ("first", "second", "third", "fourth")


def in_period(statement: str, period: Period) -> str:
    """A statement with the period that it is asked about.

    >>> in_period("Cristiano Ronaldo plays for _X_.", Period.parse("2021Q3"))
    'In the third quarter of 2021 (July to September 2021): Cristiano Ronaldo plays for _X_.'
    """
    return f"In {period_in_words(period)}: {statement}"


def on_day(statement: str, day: date) -> str:
    """A statement with the day that it is asked about.

    >>> on_day("Cristiano Ronaldo plays for _X_.", date(2021, 9, 30))
    'On 30 September 2021: Cristiano Ronaldo plays for _X_.'
    """
    return f"On {format_date(day)}: {statement}"


def as_of_day(statement: str, day: date) -> str:
    """A statement with the day of the article that it is from.

    >>> as_of("The prime minister of Japan is _X_.", date(2020, 9, 16))
    'As of September 16, 2020: The prime minister of Japan is _X_.'
    """
    return f"As of {MONTHS[day.month - 1]} {day.day}, {day.year}: {statement}"


def period_in_words(period: Period) -> str:
    """`the third quarter of 2021 (July to September 2021)`, `July 2021` or `2021`."""
    first_day, last_day = period.first, period.last
    if period.granularity == "year":
        return str(first_day.year)
    if period.granularity == "month":
        return f"{MONTHS[first_day.month - 1]} {first_day.year}"
    month_range = f"{MONTHS[first_day.month - 1]} to {MONTHS[last_day.month - 1]} {first_day.year}"
    return (
        f"the {_QUARTERS[(first_day.month - 1) // 3]} quarter of {first_day.year} ({month_range})"
    )


def merge_targets(*answer_groups: Iterable[str]) -> tuple[str, ...]:
    """The accepted answers, each once: those of the first argument, then those of the next.

    Callers give labels before aliases, so that the best answer comes first. Empty texts are left
    out. Of answers that differ only in case, which score alike, the first one stays.

    >>> merge_targets(["Manchester United F.C."], ["Man Utd", "MAN UTD", "Manchester United F.C."])
    ('Manchester United F.C.', 'Man Utd')
    """
    accepted_forms: dict[str, str] = {}
    for answer_form in (
        answer_form for group in answer_groups for answer_form in group if answer_form.strip()
    ):
        accepted_forms.setdefault(answer_form.casefold(), answer_form)
    return tuple(accepted_forms.values())
