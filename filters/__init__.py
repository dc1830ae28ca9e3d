"""Filters of generated questions. `AnyFilter` is the one list of them.

A new filter of the wording alone is a class in `filters.wording`, which is in the list as a whole;
another one is a file here and a line there. Each drop reason has a sentence in
`data_cards/drop_reasons.yaml`.
"""

if __name__ != "factdrift.filters":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.filters")


from typing import Annotated, Any, get_args

from pydantic import Field

from factdrift.filters.duplicate_question import DuplicateQuestion
from factdrift.filters.entity_required import EntityRequired
from factdrift.filters.lm_judge import LMJudge
from factdrift.filters.round_trip import RoundTrip
from factdrift.filters.search import SearchFinds
from factdrift.filters.toxicity_filter import Toxicity
from factdrift.filters.wording import WordingFilter

AnyFilter = Annotated[
    WordingFilter
    | EntityRequired
    | DuplicateQuestion
    | SearchFinds
    | RoundTrip
    | LMJudge
    | Toxicity,
    Field(discriminator="filter"),
]
"""One filter of a recipe, the cheap ones first: a good order for a recipe."""

FILTERS: dict[str, type[Any]] = {
    one.model_fields["filter"].default: one for one in get_args(get_args(AnyFilter)[0])
}
"""Every filter by its name in a recipe."""
