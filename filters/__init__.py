"""Filters of generated questions; `FILTERS` is the one list of them."""

from typing import Annotated, Any

from pydantic import Field

from filters.answer_in_question import AnswerInQuestion
from filters.answer_not_in_article import AnswerNotInArticle
from filters.base import (
    KEEP,
    Answering,
    Context,
    EntityFinder,
    Filter,
    Hit,
    Item,
    Search,
    Verdict,
)
from filters.context_reference import ContextReference
from filters.duplicate_question import DuplicateQuestion
from filters.entity_required import EntityRequired, entities_of
from filters.length import Length
from filters.pronoun_without_antecedent import PronounWithoutAntecedent
from filters.question_mark import QuestionMark
from filters.round_trip import RoundTrip
from filters.run import Kept, Run, Tally, run
from filters.search import SearchFinds
from filters.toxicity_filter import Toxicity

FILTERS: dict[str, type[Any]] = {
    "answer_not_in_article": AnswerNotInArticle,
    "question_mark": QuestionMark,
    "length": Length,
    "answer_in_question": AnswerInQuestion,
    "context_reference": ContextReference,
    "pronoun_without_antecedent": PronounWithoutAntecedent,
    "entity_required": EntityRequired,
    "duplicate_question": DuplicateQuestion,
    "search": SearchFinds,
    "round_trip": RoundTrip,
    "toxicity": Toxicity,
}
"""Every filter by its name in a recipe, the cheap ones first: a good order for a recipe."""

AnyFilter = Annotated[
    AnswerNotInArticle
    | QuestionMark
    | Length
    | AnswerInQuestion
    | ContextReference
    | PronounWithoutAntecedent
    | EntityRequired
    | DuplicateQuestion
    | SearchFinds
    | RoundTrip
    | Toxicity,
    Field(discriminator="filter"),
]
"""One filter of a recipe: `filters: tuple[AnyFilter, ...]` in a recipe's model."""

__all__ = [
    "FILTERS",
    "KEEP",
    "Answering",
    "AnyFilter",
    "Context",
    "EntityFinder",
    "Filter",
    "Hit",
    "Item",
    "Kept",
    "Run",
    "Search",
    "Tally",
    "Verdict",
    "entities_of",
    "run",
]
