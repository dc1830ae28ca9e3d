"""The backends that write questions and answer them: `MODELS` is the one list of language models.

Other packages offer models as entry points of the group `factdrift.backends`. Texts of language
models are cached by content, so that a rebuild sends only the prompts without an answer.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
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
from factdrift.builders.generate.costs import Price, Terms, current_terms
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.prompts import ModelSettings, ParseText, PromptedModel
from factdrift.builders.generate.protocol import WAITING, OnResult, Result, Shape
from factdrift.builders.generate.recorded import Recorded
from factdrift.builders.generate.transformers_models import Transformers

MODELS: Mapping[str, type[ModelSettings]] = {
    "transformers": Transformers,
    "openai": OpenAI,
    "batch": BatchChat,
    "recorded": Recorded,
}
"""The settings of our language models by their names in a recipe."""


def _is_backend(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, ModelSettings)


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


class Grounded(Strict):
    """Questions about the events of a dump's facts that sentences report, without a model.

    They are few: on real news about one article in 300 gives one. `share`: the most of a relation,
    as a share of the lines that could be asked about; `otherwise`: a model for the articles without
    such a sentence; with none, they get no questions.
    """

    backend: Literal["facts"] = "facts"
    # so that four relations share the questions, where as many are there
    share: float = Field(default=0.25, gt=0, le=1)
    otherwise: AnyModel | None = None


BACKENDS: Mapping[str, type[Grounded | ModelSettings]] = {"facts": Grounded, **MODELS}
"""Our backends that write questions, by their names in a recipe."""

AnyBackend = Annotated[
    Grounded | ModelSettings, OpenUnion(MODEL_POINT, "backend", tuple(BACKENDS.values()))
]
"""Settings of every backend; in a recipe `backend` names it."""


_TASKS: Mapping[Shape | None, str] = {
    "question": "writing",
    "pairs": "writing",
    "answer": "answering",
    "guess": "guessing",
    "verdict": "judging",
    "news": "judging",
    "toxicity": "scoring",
    None: "other",
}
"""The task of the prompts of each form, as cards count them."""


class CachedModel(PromptedModel):
    """A model whose texts are cached in `folder` as they come, so that none is paid for twice.

    The key of a text is a hash of the model's identity, the requested form and the prompt; the text
    is on disk before the next one is taken (see `builders.core.cache`). Of a server's answer only
    the text is kept. Where two processes send the same prompt, the first answer stays. With
    `offline` the model is never called: a missing text is a `UserError`.

    Without a folder the texts are kept while the model is in use.

    With `texts_only` an answer without a text is not kept, and a later run sends its prompt again.

    `cutoff` is the last day of what the model has read, where its settings say one.

    `prompt_counts` counts the different prompts by their task, cached ones too; `on_answer` is
    called after each answer, and `on_cached` with the number of those that were there. `costs` has
    the tokens of this run by task, `earlier_costs` those of earlier runs with the same folder. With
    `terms` each answer is charged at `price`, and the run ends at the budget.
    """

    def __init__(
        self,
        model: PromptedModel,
        folder: Path | None,
        *,
        offline: bool = False,
        texts_only: bool = False,
        cutoff: date | None = None,
    ) -> None:
        self.model, self.texts_only = model, texts_only
        self.name, self.identity = model.name, model.identity
        self.prompts, self.characters = model.prompts, model.characters
        self.usage, self.waits = model.usage, model.waits
        self.cutoff = cutoff
        self.offline = offline
        self.prompt_counts: Counter[str] = Counter()
        self.hits = self.misses = 0
        self.on_answer: Callable[[], None] = lambda: None
        self.on_cached: Callable[[int], None] = lambda count: None
        self.costs: dict[str, TaskCost] = {}
        self.price: Price | None = None
        self.terms: Terms | None = None
        self.concurrency = 1
        file_name = f"{model.name.split(':')[0]}-{digest(model.identity)}.sqlite"
        self.path = (folder or Path()) / file_name
        self._cache = AnswerCache(self.path if folder else None)
        self._ledger = AnswerCache(self.path if folder else None, "usage")
        self.earlier_costs = _task_costs(self._ledger)
        self._charged = (0, 0)

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: ParseText | None = None,
    ) -> list[Result]:
        """Return what the model writes after each text, from the cache where it is there."""
        keys = [digest([self.identity, shape, text]) for text in texts]
        results: dict[str, Result] = {}
        missing: dict[str, str] = {}
        for key, text in zip(keys, texts, strict=True):
            if key in results or key in missing:
                continue
            cached_result = self._cache.get(key)
            if cached_result:
                results[key] = msgspec.json.decode(cached_result, type=Result)
            else:
                missing[key] = text
        self.prompt_counts[_TASKS[shape]] += len(results) + len(missing)
        self.hits += len(keys) - len(missing)
        self.on_cached(len(results))
        self.misses += len(missing)
        if missing and self.offline:
            raise UserError(
                f"{len(missing):,} of {len(keys):,} results of {self.name} are not in the cache",
                where=self.path,
                hint="run once without `offline`, or bring the cache folder of the first run",
            )
        missing_keys = list(missing)

        def keep(index: int, result: Result) -> None:
            # what waits in a batch file has no answer yet
            if result.text is not None or (result.reason != WAITING and not self.texts_only):
                stored_result = self._cache.keep(
                    missing_keys[index], msgspec.json.encode(result).decode()
                )
                result = msgspec.json.decode(stored_result, type=Result)
            results[missing_keys[index]] = result
            self.on_answer()
            if result.reason != WAITING:
                self._charge(missing_keys[index], _TASKS[shape])

        if missing:
            written = self.model.complete(list(missing.values()), keep, shape=shape, parse=parse)
            # A package's model may have handed over nothing; then its answers are kept here.
            for index, key in enumerate(missing_keys):
                if key not in results:
                    keep(index, written[index])
        return [results[key] for key in keys]

    def _charge(self, key: str, task: str) -> None:
        """Count the tokens since the last answer; `UserError` where the budget is reached.

        Answers of calls that ran at the same time may change their tokens; the sum stays right.
        """
        usage = self.usage
        read, written = (
            usage.tokens_read - self._charged[0],
            usage.tokens_written - self._charged[1],
        )
        self._charged = usage.tokens_read, usage.tokens_written
        self._ledger.keep(key, f"{task} {read} {written}")
        self.costs.setdefault(task, TaskCost()).add(read, written)
        if self.terms is not None and self.price is not None:
            self.terms.spend(self.price.of(read, written), self.concurrency)

    def cost(self) -> float | None:
        """Return what this run has cost so far in USD, or None where the price is not known."""
        if self.price is None:
            return None
        return self.price.of(self.usage.tokens_read, self.usage.tokens_written)

    def finish(self) -> None:
        """Raise a `UserError` where answers are still to come."""
        self.model.finish()


@dataclass
class TaskCost:
    """The calls of one task, and their tokens."""

    calls: int = 0
    tokens_read: int = 0
    tokens_written: int = 0

    def add(self, read: int, written: int) -> None:
        """Count one call."""
        self.calls += 1
        self.tokens_read += read
        self.tokens_written += written


def _task_costs(ledger: AnswerCache) -> dict[str, TaskCost]:
    """Sum the tokens of all answers that are kept, by task."""
    costs: dict[str, TaskCost] = {}
    for entry in ledger.texts():
        task, read, written = entry.split(" ")
        costs.setdefault(task, TaskCost()).add(int(read), int(written))
    return costs


def open_model(
    settings: AnyModel, seed: int, answers: Path, *, offline: bool = False
) -> CachedModel:
    """Open the language model of the settings; its texts are cached in the folder `answers`.

    Its weights are loaded at the first request that is not in the cache.
    """
    folder = answers if settings.cached else None
    # what is not cached has its answers at hand, as a recording has: nothing is asked of anybody
    offline = offline and settings.cached
    model = CachedModel(settings.open(seed), folder, offline=offline, cutoff=settings.cutoff)
    model.terms = current_terms()
    if model.terms is not None:
        base_url = getattr(settings, "base_url", None)
        model.price = model.terms.prices.of(settings.model, settings.backend, base_url)
        model.concurrency = getattr(settings, "concurrency", 1)
    return model
