"""Check a question and its answer against the timelines of a dump beside the news."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.generate.fact_check import AnswerFacts
from factdrift.filters.base import (
    KEEP,
    SKIPPED,
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    QuestionItem,
    Verdicts,
)


class FactCheck(Filter):
    """A timeline of the dump says that the question has other answers, or another one by now.

    Checked are questions that name one side of a fact and a word of its relation, and whose answer
    is the other side and certain on the article's day. What is kept so is given the other names of
    its answer as further answers. Without a dump every question is skipped.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"facts"})
    reasons: ClassVar[Mapping[str, str]] = {
        "not_unique": "Another answer is or may be right, too.",
        "changed_since": "The answer changed between the article's day and the question's.",
    }

    filter: Literal["fact_check"] = "fact_check"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the timelines contradict; `detail` has the other answers."""
        if context.facts is None:
            if "skips said" not in context.memory:
                context.memory["skips said"] = True
                context.say(
                    "  fact_check: skipped, since no dump is given beside the news (--dump)"
                )
            return [SKIPPED] * len(items)
        if not items:
            return []
        answer_facts = context.facts.look_up([item.question for item in items])
        return [
            self._verdict(item, known_facts)
            for item, known_facts in zip(items, answer_facts, strict=True)
        ]

    def _verdict(self, item: QuestionItem, known_facts: AnswerFacts | None) -> FilterVerdict:
        question = item.question
        if known_facts is None or question.grounding is not None:
            return KEEP
        if known_facts.others:
            detail = f"also {', '.join(known_facts.others[:3])}: {question.question}"
            return FilterVerdict(False, "not_unique", detail=detail)
        if known_facts.has_changed and question.draw.subset == "recent":
            return FilterVerdict(False, "changed_since", detail=question.question)
        return FilterVerdict(True, "", aliases=known_facts.aliases)
