"""Rows out of candidates: the question, its choices, and its facts in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from factdrift.builders.core.hashing import bits, row_id
from factdrift.builders.facts.relations import Phrases
from factdrift.builders.rows import Dropped
from factdrift.builders.text.dates import MONTHS
from factdrift.builders.text.prompts import targets
from factdrift.builders.text.render import phrase
from factdrift.builders.text.squad import normal_or_all
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.rows import ReasoningQuestion

_FACTS = "Facts:\n{}\n\nQuestion: {}"
_INTRODUCTION = "Answer the question with a name, a number, yes or no."


@dataclass(frozen=True)
class Names:
    """The names of items and the phrases of relations; a family's `Speaker`."""

    labels: Mapping[str, str]
    aliases: Mapping[str, Sequence[str]]
    phrases: Mapping[str, Phrases]

    def name(self, item: str) -> str:
        """The label of an item."""
        return self.labels[item]

    def phrase(self, kind: str, relation: str, subject: str, thing: str = "") -> str:
        """A phrase of a relation with its names."""
        return phrase(getattr(self.phrases[relation], kind), subject, thing)

    def day(self, day: date) -> str:
        """`30 June 2023`."""
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@dataclass(frozen=True)
class Term:
    """One segment of a timeline, as a sentence needs it."""

    subject: str
    relation: str
    object: str
    start: tuple[date | None, date | None]
    end: tuple[date | None, date | None]
    open: bool
    statements: tuple[str, ...]

    def sentence(self, names: Names) -> str:
        """The fact with its dates, at the precision that they have."""
        was = names.phrase("was", self.relation, names.name(self.subject), names.name(self.object))
        start = written(names, *self.start) or "an unknown day"
        end = "now" if self.open else written(names, *self.end) or "an unknown day"
        return f"{was[0].upper()}{was[1:]} (from {start} to {end})."


def written(names: Names, first: date | None, last: date | None) -> str:
    """A boundary at its precision; empty where nothing is known of it."""
    if first is None or last is None:
        known = first or last
        side = "at the earliest" if first else "at the latest"
        return f"{names.day(known)} {side}" if known else ""
    if first == last:
        return names.day(first)
    ends_month = (last + timedelta(days=1)).day == 1 if last < date.max else True
    if first.day == 1 and ends_month and first.year == last.year:
        if (first.month, last.month) == (1, 12):
            return str(first.year)
        if first.month == last.month:
            return f"{MONTHS[first.month - 1]} {first.year}"
    return f"a day between {names.day(first)} and {names.day(last)}"


@dataclass(frozen=True)
class Writer:
    """Writes the rows of one release.

    `pool`: answers of other rows, by relation; `terms`: the segments of every pair that a row
    needs, by statement; `recent`: the first day that counts for `changed_since`.
    """

    names: Names
    sitelinks: Mapping[str, int]
    pool: Mapping[str, Sequence[str]]
    terms: Mapping[str, Term]
    recent: date
    seed: int
    size: int

    def question(self, row: Mapping[str, Any]) -> ReasoningQuestion | Dropped:
        """The question of a candidate, or why it is not asked."""
        text = FAMILIES[row["family"]].question(row, self.names)
        labels = [self.names.labels[item] for item in row["answers"]] or [row["answer"]]
        accepted = targets(labels, *(self.names.aliases[item] for item in row["answers"]))
        shortcuts = {
            name: self.names.labels.get(row[name] or "")
            for name in ("newest", "longest", "first_hop")
        }
        facts = self._facts(row)
        right = {normal_or_all(name) for name in accepted}
        asked = normal_or_all(text)
        if row["answers"] and row["wording"] != "longer" and any(one in asked for one in right):
            return _drop(row, "answer_in_question", text)
        if self._alike(row, facts):
            return _drop(row, "one_name", text)
        if row["wording"] != "longer" and right & {
            normal_or_all(s) for s in shortcuts.values() if s
        }:
            return _drop(row, "shortcut", text)
        wrong = self._wrong(row, right)
        if len(wrong) < (1 if row["answer"] in ("yes", "no") or row["wording"] == "longer" else 3):
            return _drop(row, "few_choices", text)
        if not facts:
            return _drop(row, "no_sentence", text)
        choices = sorted([labels[0], *wrong], key=lambda c: bits(self.seed, row["id"], c))
        return ReasoningQuestion(
            id=row["id"],
            prompt=f"{_INTRODUCTION}\n{text}",
            targets=accepted,
            question=text,
            question_id=row["id"],
            context="",
            family=row["family"],
            hops=row["hops"],
            wording=row["wording"],
            subject=row["subject"],
            subject_label=self.names.labels[row["subject"]],
            relation=row["relation"],
            path=row["path"],
            as_of=row["as_of"],
            answer_kind=_kind(row),
            answer_ids=tuple(row["answers"]),
            choices=tuple(choices),
            answer_index=choices.index(labels[0]),
            statements=tuple(row["statements"]),
            evidence=tuple(one.sentence(self.names) for one in facts),
            shortcut_newest=shortcuts["newest"],
            shortcut_longest=shortcuts["longest"],
            shortcut_first_hop=shortcuts["first_hop"],
            changed=row["changed"],
            changed_since=row["changed"] >= self.recent,
            sitelinks=self.sitelinks[row["subject"]],
        )

    def in_context(
        self, row: Mapping[str, Any], asked: ReasoningQuestion
    ) -> ReasoningQuestion | Dropped:
        """The same question behind facts: those that it needs, of the same timelines, of others."""
        lines = dict.fromkeys(asked.evidence)
        if len(lines) > self.size:
            return _drop(row, "many_facts", asked.question)
        for one in self._more(row):
            if len(lines) == self.size:
                break
            lines.setdefault(one.sentence(self.names))
        shuffled = sorted(lines, key=lambda line: bits(self.seed, "context", asked.id, line))
        context = "\n".join(f"- {line}" for line in shuffled)
        return replace(
            asked,
            id=row_id("context", asked.id),
            prompt=f"{_INTRODUCTION}\n\n{_FACTS.format(context, asked.question)}",
            context=context,
        )

    def _alike(self, row: Mapping[str, Any], facts: Sequence[Term]) -> bool:
        """Whether two items of the question, or of a chain's facts, share a name: Yahoo, Yahoo!
        Inc.; in a chain it is enough that one's holds the other's."""
        items = set(row["items"])
        if row["family"] == "chain":
            items |= {item for one in facts for item in (one.subject, one.object)}
        forms = sorted(normal_or_all(self.names.labels[item]) for item in items)
        if row["family"] != "chain":
            return len(set(forms)) < len(forms)
        pairs = ((a, b) for a in forms for b in forms if a is not b)
        return any(f" {a} " in f" {b} " for a, b in pairs)

    def _facts(self, row: Mapping[str, Any]) -> list[Term]:
        """The terms that the answer follows from; none where one of them has no sentence."""
        found = {self.terms[s] for s in row["statements"] if s in self.terms}
        whole = all(statement in self.terms for statement in row["statements"])
        order = [_place(row, one) for one in found]
        return (
            [t for _, t in sorted(zip(order, found, strict=True), key=lambda x: x[0])]
            if whole
            else []
        )

    def _more(self, row: Mapping[str, Any]) -> Iterator[Term]:
        """Other facts, those of the same timelines first, each group in a drawn order."""
        needed = {self.terms[s] for s in row["statements"]}
        pairs = {(one.subject, one.relation) for one in needed}

        def order(one: Term) -> tuple[bool, int]:
            return (one.subject, one.relation) not in pairs, bits(
                self.seed, row["id"], *one.statements
            )

        yield from sorted(set(self.terms.values()) - needed, key=order)

    def _wrong(self, row: Mapping[str, Any], right: set[str]) -> list[str]:
        """Up to three wrong choices: of the same timeline, then of others of the relation."""
        if row["answer"] in ("yes", "no"):
            return ["no" if row["answer"] == "yes" else "yes"]
        if row["answer"]:
            number = int(row["answer"])
            near = [number + n for n in (-1, 1, 2, -2, 3) if number + n > 0]
            return [str(n) for n in sorted(near, key=lambda n: bits(self.seed, row["id"], n))[:3]]
        drawn = sorted(row["others"], key=lambda item: bits(self.seed, row["id"], item))
        pool = () if row["wording"] == "longer" else self.pool[row["relation"]]
        drawn += sorted(set(pool) - set(drawn), key=lambda item: bits(self.seed, row["id"], item))
        found: dict[str, str] = {}
        for item in drawn:
            label = self.names.labels.get(item)
            if item in row["answers"] or item in row["items"][:1] or label is None:
                continue
            if (form := normal_or_all(label)) not in right:
                found.setdefault(form, label)
        return list(found.values())[: 1 if row["wording"] == "longer" else 3]


def _place(row: Mapping[str, Any], one: Term) -> tuple[int, date, str]:
    path = list(row["relations"])
    place = path.index(one.relation) if one.relation in path else len(path)
    return place, one.start[1] or date.min, one.object


def _kind(row: Mapping[str, Any]) -> Any:
    return "item" if row["answers"] else "yes_no" if row["answer"] in ("yes", "no") else "number"


def _drop(row: Mapping[str, Any], reason: str, detail: str) -> Dropped:
    return Dropped(
        step="reasoning",
        reason=reason,
        item=row["id"],
        subject=row["subject"],
        relation=row["relation"],
        period=None,
        score=None,
        detail=detail,
    )
