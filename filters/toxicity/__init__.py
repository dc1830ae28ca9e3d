"""Toxicity scorers; `AnyScorer` is the one list of them."""

from typing import Annotated, Any, get_args

from pydantic import Field

from factdrift.filters.toxicity.classifier import TransformersScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import ATTRIBUTES

AnyScorer = Annotated[Local | Perspective | TransformersScorer, Field(discriminator="scorer")]
"""The scorer of a recipe, with its thresholds."""

SCORERS: dict[str, type[Any]] = {
    one.model_fields["scorer"].default: one for one in get_args(get_args(AnyScorer)[0])
}
"""Every scorer by its name in a recipe."""

__all__ = ["ATTRIBUTES", "SCORERS", "AnyScorer"]
