"""Filters of generated questions; `FILTERS` is the one list of them."""

from filters.base import (
    KEEP,
    Answering,
    AnswerRequest,
    Context,
    EntityFinder,
    Filter,
    Hit,
    Item,
    Search,
    Verdict,
)
from filters.run import Kept, Run, Tally, run

__all__ = [
    "KEEP",
    "AnswerRequest",
    "Answering",
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
    "run",
]
