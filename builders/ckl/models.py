"""Steps that need a language model: filling masks, making sentences stand alone, translating.

A recipe may leave each of them out. It is then skipped, and the run and the card say so.
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

# A slot of a prompt: `<cloze>` matches, `<Cloze>` and `<extra_id_0>` do not.
_SLOT = re.compile(r"<(cloze|article|sentence|text)>")


class PromptedStep(Strict):
    """A step in which a model continues a prompt.

    `prompt` has the slots of the step: `<cloze>`, or `<sentence>` and `<article>`, or `<text>`.
    By default it is the project's few-shot prompt. A model that is made for one purpose, such as
    T5 for masks or Marian for translation, takes the bare slot. `blank` stands for the mask in
    a prompt, as `<extra_id_0>` does for T5.
    """

    backend: AnyImmediateModel
    prompt: str | None = None
    blank: str = BLANK


class Translation(Strict):
    """The models of a back-translation, out of English and back into it."""

    forward: PromptedStep
    back: PromptedStep


class ModelStep(GoldStep):
    """A step over gold rows that may ask models; `offline`: only answers in the cache are used."""

    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def model(self, step: PromptedStep, workspace: Workspace) -> CachedModel:
        """The model of a step."""
        return open_model(step.backend, self.seed, workspace.work("answers"), offline=self.offline)


def default_prompt(name: str) -> str:
    """Return the project's own prompt of a step: predict, decontextualise, forward or back."""
    return str(read_texts(resource("builders/ckl/prompts.yaml"))[name])


def continue_prompts(
    model: CachedModel, step: PromptedStep, prompt_name: str, slots: Iterable[Mapping[str, str]]
) -> list[str | None]:
    """Return a model's continuation of the prompt for each filling of its slots, or None.

    `prompt_name` is the project's prompt that is taken where the step has none of its own. Texts
    are put in unchanged, whatever they hold; articles are cut to the backend's length.
    """
    prompt, character_limit = step.prompt or default_prompt(prompt_name), step.backend.characters
    return [
        result.text
        for result in model.write(
            [fill_slots(prompt, filling, character_limit) for filling in slots]
        )
    ]


def fill_slots(prompt: str, slots: Mapping[str, str], character_limit: int) -> str:
    """Fill the slots of a prompt once, from left to right; cut an article at the limit."""

    def put(slot: re.Match[str]) -> str:
        text = slots.get(slot[1], "")
        return text[:character_limit] if slot[1] == "article" else text

    return _SLOT.sub(put, prompt)


def report_skipped(run: Run, steps: Mapping[str, PromptedStep | Translation | None]) -> None:
    """Print the steps that are skipped because the recipe names no backend for them."""
    for step_name, settings in steps.items():
        if settings is None:
            run.workspace.say(f"  {step_name}: skipped (the recipe names no backend for it)")
