"""Drop a question about a phrase that names nothing: it is too generic."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from factdrift.filters.base import (
    Filter,
    FilterContext,
    Items,
    Need,
    QuestionItem,
    Verdicts,
    drop_if,
    missing_resource,
)


class EntityRequired(Filter):
    """The answer is a phrase and the question holds no named entity (appendix A.4, iv).

    Entities are what the run's spaCy pipeline finds in the question.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"names"})
    cheap: ClassVar[bool] = True
    reasons: ClassVar[Mapping[str, str]] = {
        "no_entity": "The question names nobody and nothing.",
    }

    filter: Literal["entity_required"] = "entity_required"

    def expect(self, items: Items, context: FilterContext) -> None:
        """Find the names of all the questions together, in a third of the time."""
        context.memory["expected"] = self._names_by_text(items, context)

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop a question without an entity where the answer's type asks for one."""
        expected: dict[str, Sequence[str]] = context.memory.get("expected", {})
        unexpected = [item for item in items if item.question.question not in expected]
        names = ChainMap(expected, self._names_by_text(unexpected, context))
        verdicts = []
        for item in items:
            is_nameless = _asks_phrase(item) and not names[item.question.question]
            verdicts.append(drop_if("no_entity" if is_nameless else None))
        return verdicts

    def _names_by_text(self, items: Items, context: FilterContext) -> dict[str, Sequence[str]]:
        """The names in the questions whose answers are phrases, by their texts."""
        if context.names is None:
            raise missing_resource("names", "a pipeline that finds names", self.filter)
        texts = [item.question.question for item in items if _asks_phrase(item)]
        return dict(zip(texts, context.names.names(texts), strict=True))


def _asks_phrase(item: QuestionItem) -> bool:
    return item.question.answer.type == "phrase"
