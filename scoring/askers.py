"""The models that views ask: those that write, and those on this machine that give numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factdrift.builders.core.hashing import digest
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.prompts import PromptedModel, identity_of
from factdrift.builders.generate.protocol import Result, Usage
from factdrift.builders.generate.transformers_models import Kind, Transformers, as_chat, load
from factdrift.scoring.local_models import PLL, Masked, TokenGap, Writing
from factdrift.scoring.views import ModelAnswer, ModelQuestion, View

Done = Callable[[Mapping[int, ModelAnswer]], None]
"""Called with what is known, by the places of the questions, as soon as it is."""
_CALLS = 64
"""Calls of a server for each of those that run at a time, before the next rows are read."""


@dataclass(frozen=True, slots=True)
class Probing:
    """How a model that gives numbers is asked: the most masks of a gap, the tokens that are ranked,
    what a pseudo-log-likelihood masks, and what stands for the gap before one that writes."""

    masks: int = 5
    top: int = 100
    pll: PLL = "original"
    blank: str | None = None


class TextAsker:
    """A model that writes, here or on a server. What is no text at all is not handed on.

    `identity`: all that an answer depends on besides its question; `batch`: questions at a time,
    for answers may depend on which ones they are.
    """

    def __init__(self, settings: Transformers | OpenAI, seed: int) -> None:
        self._model: PromptedModel = settings.open(seed)
        self.usage = self._model.usage
        self.identity = identity_of(complete=self._model.identity, **_content(settings))
        self._whole = isinstance(settings, Transformers)
        if isinstance(settings, Transformers):
            self.batch = settings.batch
        else:
            self.batch = _CALLS * settings.concurrency

    def ask(self, questions: Sequence[ModelQuestion], done: Done) -> None:
        """Ask; answers of a model here are handed on together, for they were made together."""
        found: dict[int, ModelAnswer] = {}

        def take(place: int, result: Result) -> None:
            if result.text is not None and self._whole:
                found[place] = ModelAnswer(text=result.text)
            elif result.text is not None:
                done({place: ModelAnswer(text=result.text)})

        self._model.complete([question.text for question in questions], take)
        if found:
            done(found)


class LikelihoodAsker:
    """A model on this machine that gives numbers; its weights are loaded when it is asked first."""

    def __init__(self, settings: Transformers, view: View, kind: Kind, how: Probing) -> None:
        self.settings, self.view, self.kind, self.how = settings, view, kind, how
        self.batch = settings.batch
        self.usage = Usage()
        chosen = settings.model_dump(mode="json", include={"model", "revision", "dtype", "chat"})
        asked_by = {"rank": "top", "mask": "masks"}
        name = asked_by.get(view, "pll" if kind == "masked" else "blank")
        more = {name: getattr(how, name)}
        asked = "likelihood" if view == "choices" else view
        batch = settings.batch
        self.identity = identity_of(
            view=asked, kind=kind, batch=batch, **chosen, **more, **_content(settings)
        )
        self._model: Masked | Writing | None = None

    def ask(self, questions: Sequence[ModelQuestion], done: Done) -> None:
        """Ask; the answers are handed on together."""
        model = self._model = self._model or self._load()
        found = (
            self._of_masked(model, questions)
            if isinstance(model, Masked)
            else self._of_writing(model, questions)
        )
        done(dict(enumerate(found)))

    def _load(self) -> Masked | Writing:
        loaded = load(self.settings, self.kind)
        if self.kind == "masked":
            return Masked(loaded, self.batch, self.usage)
        return Writing(loaded, self.batch, self.usage, self.how.blank)

    def _of_masked(self, model: Masked, questions: Sequence[ModelQuestion]) -> list[ModelAnswer]:
        gaps = [TokenGap(question.text, question.after) for question in questions]
        if self.view == "rank":
            return [ModelAnswer(candidates=tuple(some)) for some in model.rank(gaps, self.how.top)]
        if self.view == "mask":
            return [
                ModelAnswer(candidates=tuple(some)) for some in model.fill(gaps, self.how.masks)
            ]
        pairs = [(g, o) for g, q in zip(gaps, questions, strict=True) for o in q.options]
        return _shared(questions, model.likelihoods(pairs, self.how.pll))

    def _of_writing(self, model: Writing, questions: Sequence[ModelQuestion]) -> list[ModelAnswer]:
        chat = self.settings.chat
        pairs = []
        for question in questions:
            text = as_chat(question.text, model.tokenizer) if chat else question.text
            for option in question.options:
                answer = option.lstrip() if chat else option
                pairs.append((text, answer + question.after))
        return _shared(questions, model.likelihoods(pairs, special=not chat))


Asker = TextAsker | LikelihoodAsker
"""A model, asked in one way."""


def _shared(
    questions: Sequence[ModelQuestion], scores: Sequence[float | None]
) -> list[ModelAnswer]:
    """Numbers in order as those of each question's options, to 6 decimals."""
    flow = iter(scores)
    return [
        ModelAnswer(scores=tuple(None if s is None else round(s, 6) for s in some))
        for some in ([next(flow) for _ in question.options] for question in questions)
    ]


def _content(settings: Transformers | OpenAI) -> dict[str, Any]:
    """What tells a model in a folder from another one that stands there later."""
    place = Path(settings.model)
    if isinstance(settings, OpenAI) or not place.exists():
        return {}
    every = sorted(place.iterdir()) if place.is_dir() else [place]
    stats = [(path.name, path.stat()) for path in every if path.is_file()]
    return {"files": digest([[name, s.st_size, s.st_mtime_ns] for name, s in stats])}
