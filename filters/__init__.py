"""Filters of generated questions. `FILTERS` is the one list of ours.

A new filter of the wording alone is a class in `filters.wording`; another one is a file here. Each
gets a line in `FILTERS` and a table of cases in `tests/filter_cases`. Other packages offer filters
as entry points of the group `factdrift.filters`.
"""

if __name__ != "factdrift.filters":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.filters")


from collections.abc import Mapping
from typing import Annotated

from factdrift.builders.core.extensions import ExtensionPoint, OpenUnion
from factdrift.filters.base import Filter
from factdrift.filters.duplicate_question import DuplicateQuestion
from factdrift.filters.entity_required import EntityRequired
from factdrift.filters.fact_check import FactCheck
from factdrift.filters.guess import Guess
from factdrift.filters.known_before import KnownBefore
from factdrift.filters.lm_judge import LMJudge, NewsAndUnique
from factdrift.filters.news_wording import BlankQuestion, BoundedNumber, RoleHolder
from factdrift.filters.round_trip import RoundTrip
from factdrift.filters.search import SearchFinds
from factdrift.filters.toxicity_filter import Toxicity
from factdrift.filters.wording import (
    AnswerInQuestion,
    AnswerNotInArticle,
    Boilerplate,
    ContextReference,
    Length,
    PronounWithoutAntecedent,
    QuestionMark,
)

FILTERS: Mapping[str, type[Filter]] = {
    "answer_not_in_article": AnswerNotInArticle,
    "question_mark": QuestionMark,
    "length": Length,
    "answer_in_question": AnswerInQuestion,
    "context_reference": ContextReference,
    "pronoun_without_antecedent": PronounWithoutAntecedent,
    "boilerplate": Boilerplate,
    "blank_question": BlankQuestion,
    "role_holder": RoleHolder,
    "bounded_number": BoundedNumber,
    "entity_required": EntityRequired,
    "duplicate_question": DuplicateQuestion,
    "fact_check": FactCheck,
    "search": SearchFinds,
    "known_before": KnownBefore,
    "news_and_unique": NewsAndUnique,
    "guess": Guess,
    "round_trip": RoundTrip,
    "lm_judge": LMJudge,
    "toxicity": Toxicity,
}
"""Our filters by their names in a recipe, the cheap ones first: a good order for a recipe."""

FILTER_POINT: ExtensionPoint[type[Filter]] = ExtensionPoint(
    kind="filter",
    ours=FILTERS,
    accepts=lambda value: isinstance(value, type) and issubclass(value, Filter),
    expected="a Filter (a subclass of factdrift.filters.base.Filter)",
)
"""Our filters and those of installed packages."""

AnyFilter = Annotated[Filter, OpenUnion(FILTER_POINT, "filter", tuple(FILTERS.values()))]
"""One filter of a recipe, chosen by its name."""
