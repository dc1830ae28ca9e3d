"""Drop a question about a phrase that names nothing: it is too generic."""

from typing import ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.filters.base import FilterContext, Items, Need, Verdicts, drop_if, missing_resource


class EntityRequired(Strict):
    """The answer is a phrase and the question holds no named entity (appendix A.4, iv).

    Entities are what the run's spaCy pipeline finds in the question.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"names"})
    filter: Literal["entity_required"] = "entity_required"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop a question without an entity where the answer's type asks for one."""
        if context.names is None:
            raise missing_resource("names", "a pipeline that finds names", self.filter)
        asked = [item for item in items if item.question.answer.type == "phrase"]
        found = context.names.names([item.question.question for item in asked])
        without = {item.question.id for item, names in zip(asked, found, strict=True) if not names}
        return [drop_if("no_entity" if i.question.id in without else None) for i in items]
