"""Drop a question about a phrase that names nothing: it is too generic."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.filters.base import (
    Filter,
    FilterContext,
    Items,
    Need,
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

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop a question without an entity where the answer's type asks for one."""
        if context.names is None:
            raise missing_resource("names", "a pipeline that finds names", self.filter)
        phrase_items = [item for item in items if item.question.answer.type == "phrase"]
        names_by_question = context.names.names([item.question.question for item in phrase_items])
        nameless_ids = set()
        for item, question_names in zip(phrase_items, names_by_question, strict=True):
            if not question_names:
                nameless_ids.add(item.question.id)
        return [
            drop_if("no_entity" if item.question.id in nameless_ids else None) for item in items
        ]
