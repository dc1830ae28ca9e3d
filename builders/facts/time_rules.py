"""The rules of time that a relation's template has, as timelines use them."""

from collections.abc import Mapping
from typing import Literal

from factdrift.builders.core.config import Strict


class TimeRule(Strict):
    """The rules for time in a relation's template; see `builders.facts.relations.Relation`.

    `learned_days` is the time that `open_for: learned` stands for; None: none was learned.
    """

    exclusive: bool = False
    ends_with: tuple[Literal["subject", "object"], ...] = ("subject", "object")
    undated: Literal["keep", "drop", "doubt"] = "drop"
    usually: Literal["one"] | None = None
    seat: Literal["one"] | None = None
    open_for: int | Literal["learned"] | None = None
    learned_days: int | None = None

    @property
    def learned_share(self) -> float:
        """The share of a relation's terms that had ended after its learned time.

        Where there is usually one object at a time, the next one mostly ends a term, so that a
        shorter time finds what nobody closed.
        """
        return 0.8 if self.usually == "one" else 0.95


Rules = Mapping[str, TimeRule]
"""Rules by property id; a relation that is not named has the defaults of `TimeRule`."""


def learning(rules: Rules) -> dict[str, TimeRule]:
    """The rules of the relations that ask for a learned time."""
    return {relation_id: rule for relation_id, rule in rules.items() if rule.open_for == "learned"}


def with_learned(rules: Rules, days_by_relation: Mapping[str, int]) -> dict[str, TimeRule]:
    """The rules with the learned times of the relations that ask for one."""
    timed_rules = {
        relation_id: rule.model_copy(update={"learned_days": days_by_relation.get(relation_id)})
        for relation_id, rule in learning(rules).items()
    }
    return {**rules, **timed_rules}
