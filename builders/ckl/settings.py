"""What the CKL recipes share."""

from datetime import date
from typing import Annotated, Self

from pydantic import Field, model_validator

from builders.ckl.texts import BLANK
from builders.config import Strict
from builders.questions.local_models import Transformers
from builders.questions.servers import OpenAI


class Periods(Strict):
    """The two corpora, parts of one input; the paper's days by default.

    `old_until`: the last day of the old corpus (D0), which experts search; `first` and `last`:
    the days of the recent one (D1), which questions are about.
    """

    old_until: date = date(2020, 4, 30)
    first: date = date(2020, 5, 1)
    last: date = date(2021, 4, 30)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.old_until < self.first <= self.last:
            raise ValueError("old_until has to be before first, and first not after last")
        return self


class Writing(Strict):
    """A model that goes on from a prompt.

    `prompt`: with the slots of the step (<cloze>, or <sentence> and <article>, or <text>); the
    project's few-shot prompt by default. A model that is made for one thing, such as T5 for gaps
    or Marian for translation, wants the bare slot. `blank`: what stands for the gap in a prompt,
    `<extra_id_0>` for T5.
    """

    backend: Annotated[Transformers | OpenAI, Field(discriminator="backend")]
    prompt: str | None = None
    blank: str = BLANK


class Translation(Strict):
    """The models of a back-translation, out of English and back into it."""

    there: Writing
    back: Writing
