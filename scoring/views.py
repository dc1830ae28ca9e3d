"""Views: what is asked of a model about a row, and what its answer says of the row.

`generate`: the model writes an answer. `mask`: a masked model fills 1 to 5 masks from left to
right. `rank`: it ranks single tokens. `likelihood`: which is likeliest of the accepted answers,
those that were right before, and distractors: other answers of the relation. `choices`: which of
the row's choices is, or which letter a server writes. Log-likelihoods are divided by the
characters of the text, as lm-eval's `acc_norm` is, so that short names are not likely for that.
The masked ones are the three views of Margatina et al. (2023), section 3.3.
"""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows.frames import BARE_FRAME, Frame, Frames
from factdrift.builders.text.squad import normalize_answer
from factdrift.scoring.predictions import Prediction, prompt_hash

View = Literal["generate", "mask", "rank", "likelihood", "choices"]
LOWEST = -1e9
"""The score of a choice that the model has no words for."""
_QUOTES = "\"“”'` "


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """Of a row of a release what a model is asked."""

    id: str
    config: str
    split: str
    prompt: str
    context: str = ""
    candidates: tuple[str, ...] = ()
    """What the likelihood is asked of: accepted answers, those of before, and distractors."""
    choices: tuple[str, ...] = ()
    relation: str = ""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """What one model is asked: to go on from `text`, or about each option in it.

    `after` is what follows the answer: all of the statement behind its gap, if it has one.
    """

    text: str
    after: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowPrompter:
    """How rows become questions, and what a model says becomes predictions.

    `gaps` are what may stand for the answer in a statement; `blank` what is put there for a model
    that writes, such as `<extra_id_0>`; `characters`: how much of a text is shown.
    """

    view: View
    frames: Frames
    gaps: tuple[str, ...]
    blank: str | None = None
    characters: int = 4000
    masked: bool = False
    writes: bool = False
    """Whether the model can only write, so that it is asked for the letter of a choice."""

    def question(self, row: PromptRow) -> ModelQuestion:
        """What the model is asked about a row. `UserError` where the view does not suit it."""
        options: tuple[str, ...] = ()
        if self.view == "choices":
            if not row.choices:
                raise _unsuited(row, "has no choices", "take a config that has some")
            options = row.choices
        elif self.view == "likelihood":
            options = row.candidates
        frame, gap = self.frames.frame_for(row.prompt, self.gaps, bool(row.context), row.relation)
        if self.masked:
            if gap is None:
                hint = "a masked model fills gaps: take configs with statements"
                raise _unsuited(row, "has no gap", hint)
            before, _, after = row.prompt.partition(gap)
            return ModelQuestion(before, after, options)
        if self.writes and options:
            return ModelQuestion(self._framed(row, gap, self.frames.choices, options))
        text = self._framed(row, gap, frame)
        if not options:
            return ModelQuestion(text)
        if frame == BARE_FRAME and gap is not None and self.blank is None:
            before, _, after = text.partition(gap)
            return ModelQuestion(before, after, options)
        return ModelQuestion(text, "", tuple(f" {option}" for option in options))

    def _framed(
        self, row: PromptRow, gap: str | None, frame: Frame, choices: Sequence[str] = ()
    ) -> str:
        lines = [f"{letter}. {text}" for letter, text in zip(_LETTERS, choices, strict=False)]
        blank = self.blank or gap or ""
        prompt = row.prompt.replace(gap, blank) if gap else row.prompt
        return frame.text(
            {
                "prompt": prompt,
                "context": row.context[: self.characters],
                "blank": blank,
                "choices": "\n".join(lines),
            }
        )

    @property
    def as_text(self) -> bool:
        """Whether the model's answer is what it writes, and not words or numbers as JSON."""
        return self.writes or self.view == "generate"

    def prompt(self, question: ModelQuestion) -> str:
        """A question as the model gets it."""
        return question.text if self.as_text else msgspec.json.encode(question).decode()

    def prediction(self, row: PromptRow, question: ModelQuestion, answer: str | None) -> Prediction:
        """What the model said, as a prediction of the row."""
        row_identity: dict[str, Any] = {
            "id": row.id,
            "config": row.config,
            "split": row.split,
            "prompt_sha256": prompt_hash(row.prompt),
        }
        if not self.as_text:
            answer_values = msgspec.json.decode(answer or "[]")
            if self.view in ("mask", "rank"):
                return Prediction(**row_identity, candidates=answer_values)
            texts = [option.removeprefix(" ") for option in question.options]
            pairs = zip(texts, answer_values, strict=True)
            option_scores = [
                (
                    option_text,
                    LOWEST if likelihood is None else round(likelihood / len(option_text), 6),
                )
                for option_text, likelihood in pairs
            ]
            if self.view == "choices":
                return Prediction(
                    **row_identity, choice_scores=[score for _, score in option_scores]
                )
            return Prediction(**row_identity, scores=dict(option_scores))
        text = self._read(answer or "")
        if self.view == "choices":
            place = chosen_place(text or "", row.choices)
            numbers = [float(place == choice_place) for choice_place in range(len(row.choices))]
            return Prediction(**row_identity, choice_scores=numbers)
        return Prediction(**row_identity, prediction=text)

    def _read(self, written: str) -> str | None:
        """The first line of what a model wrote, after any thoughts; None where it gives none."""
        lines = written.rpartition("</think>")[2].strip().splitlines()
        line = lines[0].strip() if lines else ""
        line = line.removeprefix("Answer:").strip(_QUOTES)
        nothing = {normalize_answer(phrase) for phrase in self.frames.no_answer}
        return line if line and normalize_answer(line) not in nothing else None


_LETTERS = string.ascii_uppercase


def chosen_place(text: str, choices: Sequence[str]) -> int | None:
    """The place of the choice whose letter a text is or begins with, `B`, `(b)` or `B. Paris`.

    Else of the choice that it is itself; None where it is none.
    """
    letter_match = re.match(r"\W*([A-Za-z])\s*(?:[.):,]|$)", text)
    place = _LETTERS.find(letter_match[1].upper()) if letter_match else -1
    if 0 <= place < len(choices):
        return place
    return next(
        (
            choice_number
            for choice_number, choice in enumerate(choices)
            if normalize_answer(choice) == normalize_answer(text)
        ),
        None,
    )


def answer_names(value: Any) -> list[str]:
    """The best names of gold answers in any of their forms (see `builders.rows.roles`)."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return answer_names(value["label"] if "label" in value else value["text"])
    return [name for answer in value for name in answer_names(answer)]


def _unsuited(row: PromptRow, message: str, hint: str) -> UserError:
    return UserError(f"row {row.id} {message}", where=row.config, hint=hint)
