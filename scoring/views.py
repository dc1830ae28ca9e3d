"""Views: how a model is asked about a row, and how its answer becomes a prediction.

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
from factdrift.builders.text.squad import normalize_answer, normalize_or_keep
from factdrift.scoring.predictions import Prediction, prompt_hash

View = Literal["generate", "mask", "rank", "likelihood", "choices"]
LOWEST = -1e9
"""The score of a choice that the model has no tokens for: below every log-likelihood, and a finite
number, which JSON can hold."""
# what models put around an answer
_QUOTES = "\"“”'` "


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """The parts of a row of a release that a model is asked about."""

    id: str
    config: str
    split: str
    prompt: str
    context: str = ""
    candidates: tuple[str, ...] = ()
    """The texts whose likelihood is asked: accepted answers, earlier answers and distractors."""
    choices: tuple[str, ...] = ()
    relation: str = ""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question to a model: to continue `text`, or how likely each option is in it.

    `after` is what follows the answer: all of the statement behind its gap, if it has one.
    """

    text: str
    after: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowPrompter:
    """Turns rows into questions, and the answers of a model into predictions.

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

    def question(self, row: ViewRow) -> ModelQuestion:
        """Return the question for a row; raise `UserError` if the view does not suit the row."""
        option_texts: tuple[str, ...] = ()
        if self.view == "choices":
            if not row.choices:
                raise _unsuited(row, "has no choices", "take a config that has some")
            option_texts = row.choices
        elif self.view == "likelihood":
            option_texts = row.candidates
        prompt_frame, gap = self.frames.frame_for(
            row.prompt, self.gaps, bool(row.context), row.relation
        )
        if self.masked:
            if gap is None:
                hint_text = "a masked model fills gaps: take configs with statements"
                raise _unsuited(row, "has no gap", hint_text)
            text_before, _, text_after = row.prompt.partition(gap)
            return ModelQuestion(text_before, text_after, option_texts)
        if self.writes and option_texts:
            return ModelQuestion(self._framed(row, gap, self.frames.choices, option_texts))
        text = self._framed(row, gap, prompt_frame)
        if not option_texts:
            return ModelQuestion(text)
        if prompt_frame == BARE_FRAME and gap is not None and self.blank is None:
            text_before, _, text_after = text.partition(gap)
            return ModelQuestion(text_before, text_after, option_texts)
        return ModelQuestion(text, "", tuple(f" {option}" for option in option_texts))

    def _framed(
        self, row: ViewRow, gap: str | None, prompt_frame: Frame, choice_texts: Sequence[str] = ()
    ) -> str:
        """Return the prompt of a row in its frame, with lettered choices if there are any.

        The `gap` in the row's prompt is replaced by the blank that the model is shown.
        """
        choice_lines = [
            f"{choice_letter}. {text}"
            for choice_letter, text in zip(_LETTERS, choice_texts, strict=False)
        ]
        blank_text = self.blank or gap or ""
        statement_text = row.prompt.replace(gap, blank_text) if gap else row.prompt
        return prompt_frame.text(
            {
                "prompt": statement_text,
                "context": row.context[: self.characters],
                "blank": blank_text,
                "choices": "\n".join(choice_lines),
            }
        )

    @property
    def as_text(self) -> bool:
        """Whether the model's answer is what it writes, and not words or numbers as JSON."""
        return self.writes or self.view == "generate"

    def prompt(self, question: ModelQuestion) -> str:
        """Return the text that is sent to the model for a question."""
        return question.text if self.as_text else msgspec.json.encode(question).decode()

    def prediction(self, row: ViewRow, question: ModelQuestion, answer: str | None) -> Prediction:
        """Return the prediction of a row from the answer of the model."""
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
            option_texts = [option.removeprefix(" ") for option in question.options]
            option_pairs = zip(option_texts, answer_values, strict=True)
            option_scores = [
                (
                    option_text,
                    LOWEST
                    if option_likelihood is None
                    else round(option_likelihood / len(option_text), 6),
                )
                for option_text, option_likelihood in option_pairs
            ]
            if self.view == "choices":
                return Prediction(
                    **row_identity, choice_scores=[score for _, score in option_scores]
                )
            return Prediction(**row_identity, scores=dict(option_scores))
        answer_text = self._read(answer or "")
        if self.view == "choices":
            place = chosen_place(answer_text or "", row.choices)
            choice_scores = [
                float(place == choice_place) for choice_place in range(len(row.choices))
            ]
            return Prediction(**row_identity, choice_scores=choice_scores)
        return Prediction(**row_identity, prediction=answer_text)

    def _read(self, model_text: str) -> str | None:
        """Return the first line after any thoughts, or None if the model gives no answer."""
        answer_lines = model_text.rpartition("</think>")[2].strip().splitlines()
        first_line = answer_lines[0].strip() if answer_lines else ""
        first_line = first_line.removeprefix("Answer:").strip(_QUOTES)
        no_answers = {
            normalize_answer(no_answer_phrase) for no_answer_phrase in self.frames.no_answer
        }
        return first_line if first_line and normalize_answer(first_line) not in no_answers else None


_LETTERS = string.ascii_uppercase


def chosen_place(answer_text: str, choice_texts: Sequence[str]) -> int | None:
    """Return the place of the choice that a text names by its letter or by its words.

    A text that is a letter, or begins with one as `(b)` and `B. Paris` do, names that choice; else
    it names the choice that it is equal to. None: it names no choice.

    >>> [chosen_place(text, ["Rome", "Paris"]) for text in ("(b)", "B. Lima", "paris", "Bonn")]
    [1, 1, 1, None]
    """
    letter_match = re.match(r"\W*([A-Za-z])\s*(?:[.):,]|$)", answer_text)
    place = _LETTERS.find(letter_match[1].upper()) if letter_match else -1
    if 0 <= place < len(choice_texts):
        return place
    return next(
        (
            choice_number
            for choice_number, choice in enumerate(choice_texts)
            if normalize_or_keep(choice) == normalize_or_keep(answer_text)
        ),
        None,
    )


def answer_names(answer_value: Any) -> list[str]:
    """Return the best names of gold answers, in any form that `builders.rows.roles` describes."""
    if answer_value is None:
        return []
    if isinstance(answer_value, str):
        return [answer_value]
    if isinstance(answer_value, Mapping):
        return answer_names(
            answer_value["label"] if "label" in answer_value else answer_value["text"]
        )
    return [answer_name for answer in answer_value for answer_name in answer_names(answer)]


def _unsuited(row: ViewRow, error_message: str, hint: str) -> UserError:
    return UserError(f"row {row.id} {error_message}", where=row.config, hint=hint)
