"""Language models: their settings in a recipe, and the tasks that they are given as prompts."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import ClassVar

from pydantic import Field

from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath
from factdrift.builders.generate.prompt_files import (
    Prompts,
    Task,
    article_prompt,
    query_prompt,
    question_prompt,
)
from factdrift.builders.generate.prompt_files import load_prompts as load_prompts
from factdrift.builders.generate.protocol import (
    ArticleRequest,
    Kind,
    OnResult,
    Query,
    Request,
    Result,
    Shape,
    Usage,
    WrittenPairs,
)
from factdrift.builders.generate.replies import (
    NEWS_VERDICTS,
    parse_pairs,
    parse_reply,
    parse_verdict,
    read_pairs,
)


class ModelSettings(Strict, ABC):
    """The settings of a language model, as a recipe gives them: the base of every backend.

    A subclass gives its name as `backend: Literal["my-server"] = "my-server"`, declares what else
    its users set, and writes `open`.
    """

    libraries: ClassVar[tuple[str, ...]] = ()
    """Optional distributions that it imports, whose versions results depend on."""
    only_writes: ClassVar[bool] = True
    """Whether the model gives texts alone. Only subclasses of `Transformers` give probabilities of
    words, which the views `mask`, `rank` and `likelihood` of `run-model` need."""

    cached: ClassVar[bool] = True
    """Whether answers are kept in the build folder; not those that lie in a file anyway."""

    backend: str
    """Its name in the recipe."""
    model: str
    """The model's name, as the backend knows it."""
    characters: int = Field(default=4000, ge=200, description="most of an article that is shown")
    prompts: RecipePath | None = Field(
        default=None, description="prompt file, relative to the recipe; the project's by default"
    )
    cutoff: date | None = Field(
        default=None,
        description="last day of the texts that it was trained on: the filter `guess` asks it "
        "about later articles only",
    )
    temperature: float = Field(default=0.0, ge=0, description="0: the likeliest text")
    stop: tuple[str, ...] = Field(
        default=(), description="texts that end what a base model writes; a chat ends by itself"
    )
    stop_after: int = Field(
        default=10, ge=0, description="useless answers that end a run which had no other; 0: never"
    )

    def check(self, *, offline: bool = False) -> None:
        """Raise a `UserError` for what would end a run later: prompt file, missing libraries.

        With `offline` the model itself is not needed, for only kept answers are used.
        """
        load_prompts(self.prompts)

    def kind(self) -> Kind:
        """Return the kind of the model; a model of a server is taken to continue texts."""
        return "causal"

    @abstractmethod
    def open(self, seed: int) -> "PromptedModel":
        """Return the model. Nothing is loaded or called before its first request."""


ParseText = Callable[[str], Result]
"""Turns a model's text into a result, which may say that the text is of no use."""


class PromptedModel(ABC):
    """The base of all models: requests become prompts with `characters` of an article at most.

    A subclass says how prompts are run. `identity` is all that a text depends on besides its
    prompt: backend, model, parameters and seed.
    """

    name: str
    identity: str
    prompts: Prompts
    characters: int
    waits: bool = False
    """Whether answers come with a later run, so that few rounds are worth more than few calls."""
    usage: Usage

    @abstractmethod
    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: ParseText | None = None,
    ) -> list[Result]:
        """Return what the model writes after each text; hand each to `on_result` at once.

        `shape` asks for that form where the model can be held to one. `parse` says what is of use:
        where nothing of a run's beginning is, the run ends with a `UserError`.
        """

    def finish(self) -> None:  # noqa: B027 - most models have nothing to do then
        """Called after the last request of a step; `UserError` where answers are still to come."""

    def generate(self, requests: Sequence[Request]) -> list[Result]:
        """Return a question for each request."""
        prompt_texts = [
            question_prompt(self.prompts, request, self.characters) for request in requests
        ]
        return self._read(
            prompt_texts,
            "question",
            lambda model_text: parse_reply(model_text, self.prompts, question=True),
        )

    def write_pairs(self, requests: Sequence[ArticleRequest]) -> list[WrittenPairs]:
        """Return the questions about each article, with their answers."""
        prompt_texts = [
            article_prompt(self.prompts, request, self.characters) for request in requests
        ]
        results = self._read(prompt_texts, "pairs", partial(parse_pairs, prompts=self.prompts))
        written: list[WrittenPairs] = []
        for result in results:
            if result.text is None:
                written.append(WrittenPairs((), result.reason or "none", result.detail))
            else:
                written.append(WrittenPairs(read_pairs(result.text)))
        return written

    def answer(self, queries: Sequence[Query]) -> list[Result]:
        """Return an answer for each query, from its article."""
        return self._read(self._query_prompts("answer", queries), "answer", self._parse_answer)

    def guess(self, queries: Sequence[Query]) -> list[Result]:
        """Return an answer for each query from what the model knows, without the article."""
        return self._read(self._query_prompts("guess", queries), "guess", self._parse_answer)

    def judge(self, queries: Sequence[Query]) -> list[Result]:
        """Return `yes` or `no: …` for each question (see `parse_verdict`)."""
        return self._read(self._query_prompts("judge", queries), "verdict", parse_verdict)

    def judge_news(self, queries: Sequence[Query]) -> list[Result]:
        """Return `yes`, `no: new` or `no: unique` for each question."""
        parse_news = partial(parse_verdict, points=NEWS_VERDICTS)
        return self._read(self._query_prompts("news_and_unique", queries), "news", parse_news)

    def _query_prompts(self, task: Task, queries: Sequence[Query]) -> list[str]:
        return [query_prompt(self.prompts, task, query, self.characters) for query in queries]

    def _parse_answer(self, model_text: str) -> Result:
        return parse_reply(model_text, self.prompts, question=False)

    def write(self, texts: Sequence[str]) -> list[Result]:
        """Return the first line that the model writes after each text."""
        return self._read(texts, None, self._parse_answer)

    def _read(
        self, prompt_texts: Sequence[str], shape: Shape | None, parse_text: ParseText
    ) -> list[Result]:
        replies = self.complete(prompt_texts, shape=shape, parse=parse_text)
        return [reply if reply.text is None else parse_text(reply.text) for reply in replies]


class FirstAnswers:
    """Ends a run whose first `patience` answers are of no use, before the rest is paid for.

    Useless answers are held back until one answer is of use, so that the cache keeps nothing of a
    run with wrong settings.
    """

    def __init__(self, patience: int, where: str) -> None:
        self.patience, self.where = patience, where
        self.worked = False
        self._held: list[Callable[[], None]] = []
        self._seen: list[Result] = []

    def see(self, reply: Result, parse: ParseText, hand_on: Callable[[], None]) -> None:
        """Take an answer; `UserError` where `patience` answers were of no use and none was."""
        if self.patience and not self.worked:
            result = reply if reply.text is None else parse(reply.text)
            if result.text is None:
                self._held.append(hand_on)
                self._seen.append(result)
                if len(self._seen) >= self.patience:
                    self._stop()
                return
        self.worked = True
        self._release()
        hand_on()

    def end(self) -> None:
        """End a round: hand on the answers held back, unless the server refused them all."""
        if self._seen and all(result.reason == "server_refused" for result in self._seen):
            self._stop()
        self._release()

    def _release(self) -> None:
        for hand_on in self._held:
            hand_on()
        self._held.clear()

    def _stop(self) -> None:
        last_result = self._seen[-1]
        text = f"none of the first {len(self._seen)} answers is of use ({last_result.reason})"
        if len(self._seen) == 1:
            text = f"no answer is of use ({last_result.reason})"
        last_detail = last_result.detail or "it said nothing"
        hint_text = "mend the model's settings or its prompts; nothing of this was kept"
        raise UserError(f"{text}; the last one: {last_detail}", where=self.where, hint=hint_text)


def model_identity(**values: object) -> str:
    """Return a model's identity, made from everything that its results depend on."""
    return json.dumps(values, sort_keys=True, default=str)
