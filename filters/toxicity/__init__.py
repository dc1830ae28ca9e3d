"""Toxicity scorers; `AnyScorer` is the one list of them."""

from typing import Annotated

from pydantic import Field

from factdrift.filters.toxicity.classifier import TransformersScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.perspective import Perspective

AnyScorer = Annotated[Local | Perspective | TransformersScorer, Field(discriminator="scorer")]
"""The scorer of a recipe, with its thresholds."""
