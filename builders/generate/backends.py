"""The backends that write questions and answer them: `MODELS` is the one list of language models.

Other packages offer models as entry points of the group `factdrift.backends`. What language models
write is kept by content, so that a rebuild asks only for what is not answered yet.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from pydantic import Field

from factdrift.builders.core.cache import AnswerCache
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.extensions import ExtensionPoint, OpenUnion
from factdrift.builders.core.hashing import digest
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.prompts import ModelSettings, ParseText, PromptedModel
from factdrift.builders.generate.protocol import WAITING, OnResult, Result, Shape
from factdrift.builders.generate.transformers_models import Transformers

MODELS: Mapping[str, type[ModelSettings]] = {
    "transformers": Transformers,
    "openai": OpenAI,
    "batch": BatchChat,
}
"""The settings of our language models by their names in a recipe."""


def _is_backend(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, ModelSettings)


MODEL_POINT: ExtensionPoint[type[ModelSettings]] = ExtensionPoint(
    kind="backend",
    ours=MODELS,
    accepts=_is_backend,
    expected="a backend (a subclass of factdrift.builders.generate.prompts.ModelSettings)",
)
"""Our language models and those of installed packages."""

AnyModel = Annotated[ModelSettings, OpenUnion(MODEL_POINT, "backend", tuple(MODELS.values()))]
"""Settings of every language model."""

AnyImmediateModel = Annotated[
    ModelSettings, OpenUnion(MODEL_POINT, "backend", (Transformers, OpenAI))
]
"""Settings of the language models that answer at once."""


class Parsed(Strict):
    """Questions by patterns over the parse of sentences that say their own time: few."""

    backend: Literal["parse"] = "parse"


_AfterFacts = Annotated[
    Parsed | ModelSettings, OpenUnion(MODEL_POINT, "backend", (Parsed, *MODELS.values()))
]


class Grounded(Strict):
    """Questions about the facts of a dump that sentences state.

    `share`: of the lines that could be asked about a relation has at most so much; `otherwise`: the
    backend for articles without such a sentence, and for all where there is no dump; none: they are
    not asked about.
    """

    backend: Literal["facts"] = "facts"
    share: float = Field(default=0.25, gt=0, le=1)
    otherwise: _AfterFacts | None = Parsed()


BACKENDS: Mapping[str, type[Grounded | Parsed | ModelSettings]] = {
    "facts": Grounded,
    "parse": Parsed,
    **MODELS,
}
"""Everything of ours that writes questions, by its name in a recipe."""

AnyBackend = Annotated[
    Grounded | Parsed | ModelSettings, OpenUnion(MODEL_POINT, "backend", tuple(BACKENDS.values()))
]
"""Settings of every backend; in a recipe `backend` names it."""


_TASKS = {
    "question": "writing",
    "answer": "answering",
    "verdict": "judging",
    None: "other",
}
"""What prompts of each form are for."""


class CachedModel(PromptedModel):
    """A model whose texts are kept in `folder` as they come and never asked for twice.

    A text is named by a hash of the model's identity, the form that it was asked for, and the
    prompt, and is on disk before the next one is taken (see `builders.core.cache`); of a server's
    answer nothing but the text is kept. Where two processes ask the same, the first answer stays.
    With `offline` the model is never called: a missing text is a `UserError`.

    Where `texts_only`, an answer without a text is not kept, and is asked for again by a later run.

    `prompt_counts` counts different prompts by their form, kept ones too; `on_answer` is called
    after each answer.
    """

    def __init__(
        self,
        model: PromptedModel,
        folder: Path,
        *,
        offline: bool = False,
        texts_only: bool = False,
    ) -> None:
        self.model, self.texts_only = model, texts_only
        self.name, self.identity = model.name, model.identity
        self.prompts, self.characters = model.prompts, model.characters
        self.usage, self.waits = model.usage, model.waits
        self.offline = offline
        self.prompt_counts: Counter[str] = Counter()
        self.hits = self.misses = 0
        self.on_answer: Callable[[], None] = lambda: None
        self.path = folder / f"{model.name.split(':')[0]}-{digest(model.identity)}.sqlite"
        self._cache = AnswerCache(self.path)

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: ParseText | None = None,
    ) -> list[Result]:
        """What the model writes after each text, from the cache where it is there."""
        keys = [digest([self.identity, shape, text]) for text in texts]
        results: dict[str, Result] = {}
        missing: dict[str, str] = {}
        for key, text in zip(keys, texts, strict=True):
            if key in results or key in missing:
                continue
            known = self._cache.get(key)
            if known:
                results[key] = msgspec.json.decode(known, type=Result)
            else:
                missing[key] = text
        self.prompt_counts[_TASKS[shape]] += len(results) + len(missing)
        self.hits += len(keys) - len(missing)
        self.misses += len(missing)
        if missing and self.offline:
            raise UserError(
                f"{len(missing):,} of {len(keys):,} results of {self.name} are not in the cache",
                where=self.path,
                hint="run once without `offline`, or bring the cache folder of the first run",
            )
        names = list(missing)

        def keep(n: int, result: Result) -> None:
            if result.text is not None or (result.reason != WAITING and not self.texts_only):
                text = self._cache.keep(names[n], msgspec.json.encode(result).decode())
                result = msgspec.json.decode(text, type=Result)
            results[names[n]] = result
            self.on_answer()

        if missing:
            self.model.complete(list(missing.values()), keep, shape=shape, parse=parse)
        return [results[key] for key in keys]

    def finish(self) -> None:
        """`UserError` where answers are still to come."""
        self.model.finish()


def open_model(
    settings: AnyModel, seed: int, answers: Path, *, offline: bool = False
) -> CachedModel:
    """The language model that the settings name, its texts kept in the folder `answers`.

    Its weights are loaded at the first request that is not kept.
    """
    return CachedModel(settings.open(seed), answers, offline=offline)
