"""Steps that a model does: predictions for masks, sentences made to stand alone, translations.

Each may be absent from a recipe: then it is skipped, and the run and the card say so.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from factdrift.builders.ckl.common import GoldStep
from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.config import Strict
from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import NOT_IN_KEY, Workspace
from factdrift.builders.generate.backends import AnyImmediateModel, CachedModel, open_model

_SLOT = re.compile(r"<(cloze|article|sentence|text)>")


class PromptedStep(Strict):
    """A step that a model does: it continues a prompt.

    `prompt`: with the slots of the step (<cloze>, or <sentence> and <article>, or <text>); the
    project's few-shot prompt by default. A model that is made for one thing, such as T5 for
    masks or Marian for translation, takes the bare slot. `blank`: what stands for the mask in a
    prompt, `<extra_id_0>` for T5.
    """

    backend: AnyImmediateModel
    prompt: str | None = None
    blank: str = BLANK


class Translation(Strict):
    """The models of a back-translation, out of English and back into it."""

    forward: PromptedStep
    back: PromptedStep


class ModelStep(GoldStep):
    """A step over gold rows that may ask models; `offline`: nothing that is not in the cache."""

    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def model(self, step: PromptedStep, workspace: Workspace) -> CachedModel:
        """The model of a step."""
        return open_model(step.backend, self.seed, workspace.work("answers"), offline=self.offline)


def default_prompt(name: str) -> str:
    """The project's own prompt of a step: predict, decontextualise, forward or back."""
    return str(read_texts(resource("builders/ckl/prompts.yaml"))[name])


def continue_prompts(
    model: CachedModel, step: PromptedStep, default: str, slots: Iterable[Mapping[str, str]]
) -> list[str | None]:
    """What a model writes after a prompt, for each filling of its slots; None: nothing.

    `default`: the name of the project's prompt, where the step has none of its own. Texts are put
    in as they are, whatever they hold; articles are cut to the backend's length.
    """
    prompt, most = step.prompt or default_prompt(default), step.backend.characters
    return [result.text for result in model.write([fill_slots(prompt, one, most) for one in slots])]


def fill_slots(prompt: str, slots: Mapping[str, str], most: int) -> str:
    """A prompt with its slots filled once, from left to right; an article is cut after `most`."""

    def put(found: re.Match[str]) -> str:
        text = slots.get(found[1], "")
        return text[:most] if found[1] == "article" else text

    return _SLOT.sub(put, prompt)


def report_skipped(run: Run, steps: Mapping[str, PromptedStep | Translation | None]) -> None:
    """Say which steps have no backend."""
    for name, settings in steps.items():
        if settings is None:
            run.workspace.say(f"  {name}: skipped (the recipe names no backend for it)")
