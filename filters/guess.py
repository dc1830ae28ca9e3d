"""Drop a question that a language model guesses without the article."""

from collections.abc import Mapping
from datetime import date
from typing import ClassVar, Literal

from factdrift.builders.generate.protocol import WAITING, Result
from factdrift.filters.base import (
    KEEP,
    SKIPPED,
    FilterContext,
    FilterVerdict,
    Items,
    ModelFilter,
    QuestionItem,
    Verdicts,
    queries_of,
)
from factdrift.filters.round_trip import agreement
from factdrift.filters.toxicity.scores import Share


class Guess(ModelFilter):
    """A language model answers the question without its article, and is right.

    What can be guessed is background: a holder of an office, something planned, a likely number.
    Only a model that has not read the news can show that, so it is asked only about articles later
    than the `cutoff` of its settings; the others, and all where no cutoff is said, are skipped. By
    default it is the model that wrote the question; its prompt is `guess` of the prompt file.

    `overlap`: the share of words from which a guessed phrase is right.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "guessed": "A model that had not read the news gave the answer.",
    }

    filter: Literal["guess"] = "guess"
    # as for the round trip
    overlap: Share = 0.40

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the model guesses; `detail` has its guess."""
        guessing_model = self.open_model(context)
        cutoff = guessing_model.cutoff
        self._say_skips(items, cutoff, guessing_model.name, context)
        later_items = [item for item in items if _is_later(item, cutoff)]
        results = guessing_model.guess(queries_of(later_items)) if later_items else []
        guesses = {
            item.question.id: result for item, result in zip(later_items, results, strict=True)
        }
        return [
            self._verdict(item, guesses[item.question.id]) if _is_later(item, cutoff) else SKIPPED
            for item in items
        ]

    def _verdict(self, item: QuestionItem, result: Result) -> FilterVerdict:
        answer = item.question.answer
        if result.reason == WAITING:
            return KEEP
        score = agreement(answer.text, result.text, answer.type)
        if score > 0 and score >= (self.overlap if answer.type == "phrase" else 1.0):
            detail = f"{result.text!r} for {answer.text!r}: {item.question.question}"
            return FilterVerdict(False, "guessed", score, detail)
        return FilterVerdict(True, "", score)

    def _say_skips(
        self, items: Items, cutoff: date | None, model_name: str, context: FilterContext
    ) -> None:
        """Say once which questions are not judged, and why."""
        skips_all = cutoff is None
        if "skips said" in context.memory or not (
            skips_all or any(not _is_later(item, cutoff) for item in items)
        ):
            return
        context.memory["skips said"] = True
        if skips_all:
            context.say(
                f"  guess: skipped, since nothing says when the knowledge of {model_name} ends; "
                "give its backend a `cutoff: YYYY-MM-DD`"
            )
        else:
            context.say(f"  guess: articles up to {cutoff} are skipped: {model_name} knows them")


def _is_later(item: QuestionItem, cutoff: date | None) -> bool:
    return cutoff is not None and item.question.draw.article_day > cutoff
