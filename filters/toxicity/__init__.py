"""Toxicity scorers; `AnyScorer` is the one list of them."""

from typing import Annotated

from pydantic import Field

from factdrift.filters.toxicity.classifier import TransformersScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.moderation import Moderation
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.rubric import ModelScorer

AnyScorer = Annotated[
    Local | ModelScorer | Moderation | Perspective | TransformersScorer,
    Field(discriminator="scorer"),
]
"""The scorer of a recipe, with its thresholds."""
