"""Texts that a model writes: predictions for gaps, sentences that stand alone, translations.

Every step may be absent from a recipe: then it is skipped, and the run and the card say so.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from builders.ckl.settings import Translation, Writing
from builders.questions.cache import CachedWriter
from builders.questions.local_models import Transformers, TransformersBackend
from builders.questions.protocol import Result, Writer
from builders.questions.servers import OpenAIBackend
from builders.run import Run

_SLOT = re.compile(r"<(cloze|article|sentence|text)>")


def writer(settings: Writing, run: Run, offline: bool) -> CachedWriter:
    """The model that the settings name, with what it wrote before; nothing is loaded yet."""
    chosen = settings.backend
    made: Writer = (
        TransformersBackend(chosen, run.seed)
        if isinstance(chosen, Transformers)
        else OpenAIBackend(chosen, run.seed)
    )
    return CachedWriter(made, run.store.work("answers"), offline=offline)


def write(
    by: CachedWriter, prompt: str, slots: Iterable[Mapping[str, str]], most: int
) -> list[Result]:
    """What a model writes after the prompt, for each filling of its slots.

    Texts are put in as they are, whatever they hold; an article is cut after `most` characters.
    """
    return by.write([filled(prompt, one, most) for one in slots])


def filled(prompt: str, slots: Mapping[str, str], most: int) -> str:
    """A prompt with its slots filled once, from left to right."""

    def put(found: re.Match[str]) -> str:
        text = slots.get(found[1], "")
        return text[:most] if found[1] == "article" else text

    return _SLOT.sub(put, prompt)


def skipped(run: Run, steps: Mapping[str, Writing | Translation | None]) -> None:
    """Say which steps have no backend."""
    for name, settings in steps.items():
        if settings is None:
            run.store.say(f"  {name}: skipped (the recipe names no backend for it)")


def figure_rows(steps: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Each step and what did it, for the card."""
    return [
        {"step": name, "done by": ", ".join(names) or "skipped: no backend"}
        for name, names in steps.items()
    ]
