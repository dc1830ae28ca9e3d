"""The table of backends: what writes questions and answers them."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from builders.config import Strict
from builders.questions.cache import Cached
from builders.questions.candidates import Finder
from builders.questions.local_models import Transformers
from builders.questions.protocol import Backend
from builders.questions.rules.backend import Rules
from builders.questions.servers import OpenAI

BACKENDS: dict[str, type[Strict]] = {
    "rules": Rules,
    "transformers": Transformers,
    "openai": OpenAI,
}
"""Name in a recipe -> its settings, whose `open` gives the backend."""

BackendSettings = Annotated[Rules | Transformers | OpenAI, Field(discriminator="backend")]


def open_backend(
    settings: Rules | Transformers | OpenAI,
    seed: int,
    finder: Finder,
    answers: Path,
    *,
    offline: bool = False,
) -> Backend:
    """The backend that the settings name; what a model says is kept in the folder `answers`.

    `offline`: only what is kept there. The rules say the same each time, for less than it costs
    to look it up: nothing of theirs is kept.
    """
    backend = settings.open(seed, finder)
    if isinstance(settings, Rules):
        return backend
    return Cached(backend, answers, offline=offline)
