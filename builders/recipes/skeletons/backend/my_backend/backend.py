"""The backend `my-backend`: replace `_ask` by a call of your model."""

from collections.abc import Sequence
from typing import Literal

from factdrift.kit import (
    ModelSettings,
    OnResult,
    ParseText,
    PromptedModel,
    Result,
    Shape,
    Usage,
    load_prompts,
    model_identity,
)


class MyBackend(ModelSettings):
    """What a recipe says of the model, beside the fields that every model has.

    `answer`: what this stand-in answers to everything.
    """

    backend: Literal["my-backend"] = "my-backend"
    model: str = "stand-in"
    answer: str = "unanswerable"

    def open(self, seed: int) -> PromptedModel:
        """Return the model; nothing is loaded or called before its first prompt."""
        return MyBackendModel(self, seed)


class MyBackendModel(PromptedModel):
    """The model; factdrift keeps its answers, so that no prompt is asked twice."""

    def __init__(self, settings: MyBackend, seed: int) -> None:
        self.settings = settings
        self.name = f"my-backend:{settings.model}"
        # All that an answer depends on besides its prompt: kept answers are found by it.
        self.identity = model_identity(
            backend="my-backend", model=settings.model, answer=settings.answer, seed=seed
        )
        self.prompts = load_prompts(settings.prompts)
        self.characters = settings.characters
        self.usage = Usage()

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: ParseText | None = None,
    ) -> list[Result]:
        """Return what the model writes after each prompt; hand over each as soon as it is there."""
        results: list[Result] = []
        for text in texts:
            result = Result(self._ask(text))
            self.usage.add(calls=1)
            results.append(result)
            if on_result:
                on_result(len(results) - 1, result)
        return results

    def _ask(self, prompt: str) -> str:
        return self.settings.answer
