"""Scores of a language model, by a rubric: one call a question, one JSON answer of six numbers."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from factdrift.builders.core.config import Strict, load
from factdrift.builders.core.files import RecipePath, resource
from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.protocol import Result
from factdrift.builders.generate.replies import first_json, strip_reasoning
from factdrift.filters.toxicity.scores import ATTRIBUTES, Thresholds, ToxicityScores

_SLOT = "<question>"
_DEFAULT = resource("filters/toxicity/rubric.yaml")


class Rubric(Strict):
    """The prompt of the scorer `model`, with the number of its wording."""

    version: int = Field(ge=1)
    prompt: str

    @field_validator("prompt")
    @classmethod
    def _slot(cls, prompt: str) -> str:
        if prompt.count(_SLOT) != 1:
            raise ValueError(f"the slot {_SLOT} has to stand in it once")
        return prompt


class ModelScorer(Strict):
    """A language model gives the six scores by a rubric (`rubric.yaml`).

    Its answers are cached like those of the writer, counted in the estimate, and can be recorded.
    The default thresholds are the rubric's own: from 0.5 a careful editor would not print it;
    `factdrift bands` sets them on your own rows.

    `backend`: the model that scores, by default the one that writes the questions; `rubric`: a
    file like `rubric.yaml`, relative to the recipe.
    """

    scorer: Literal["model"] = "model"
    backend: AnyModel | None = None
    rubric: RecipePath | None = None
    thresholds: Thresholds = Thresholds(**dict.fromkeys(ATTRIBUTES, 0.5))

    def score(
        self, model: CachedModel, texts: Sequence[str]
    ) -> list[tuple[ToxicityScores, Result]]:
        """Return the scores of each text, empty ones where the model gave none, and its reply."""
        rubric = load(self.rubric or _DEFAULT, Rubric)
        prompt_texts = [rubric.prompt.replace(_SLOT, " ".join(text.split())) for text in texts]
        replies = model.complete(prompt_texts, shape="toxicity", parse=_as_result)
        return [(parse_scores(reply.text or ""), reply) for reply in replies]


def parse_scores(model_text: str) -> ToxicityScores:
    """Return the scores in a model's text; empty ones where one of the six is not from 0 to 1."""
    scores = first_json(strip_reasoning(model_text))
    if not isinstance(scores, dict):
        return ToxicityScores()
    numbers: dict[str, Any] = {name: scores.get(name) for name in ATTRIBUTES}
    for number in numbers.values():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not 0 <= number <= 1:
            return ToxicityScores()
    return ToxicityScores(**{name: float(number) for name, number in numbers.items()})


def _as_result(model_text: str) -> Result:
    """Say whether a model's text is of use: runs whose first answers are all of none end."""
    if parse_scores(model_text).empty:
        return Result(None, "no_scores", model_text[:80] or None)
    return Result(model_text)
