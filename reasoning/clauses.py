"""Word the second clause of a question so that it does not repeat what the first one names.

A person who is named twice is left out (`before becoming the mayor of Rome`), so is what two people
become (`before Bo Ek did`), a club is `the team` and a country `it`. No pronoun stands for a
person, as the dump does not tell which. Functions return templates, whose names are filled in
later.
"""

import re
from typing import Literal, NamedTuple

from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.text.render import Placeholder, parse_phrase

Role = Literal["subject", "object"]
_NO_PRONOUN = ("person", "office")
"""What nobody calls `it`."""
_OWN_NOUNS = {
    "team": "the team",
    "national_team": "the team",
    "party": "the party",
    "school": "the institution",
    "league": "the league",
}
"""What stands for the name of an item beside any other, for no owner is one of these."""
_NOUNS = _OWN_NOUNS | {"organization": "the organization"}
"""What stands for the name of an item, by the first of its kinds; `it` for all others."""
# It matches `which party did <subject>` and `which group was <the subject>`, whose subject is the
# grammatical one, but not `who was the head coach of <the subject>`.
_ACTIVE_SUBJECT = re.compile(r"\b(?:did|was) <(?:the )?subject>")
# It matches `How many people were ` in `How many people were head of state of <the subject>`.
_PEOPLE = re.compile(r"^How many people (were )?")

# It matches the end of `<object> held the office of `.
_OFFICE_OF = re.compile(r"the office of $")


class Clause(NamedTuple):
    """One clause of a question: the words of a relation, and the items that it names.

    `object` is None where the clause asks for it.
    """

    wording: RelationWording
    subject: str
    object: str | None

    @property
    def agent_role(self) -> Role:
        """The role of who does something: the first name of an event."""
        return _first_role(self.wording.event or self.wording.was or "")

    @property
    def agent(self) -> str | None:
        """The item that does something."""
        return self.subject if self.agent_role == "subject" else self.object

    @property
    def target(self) -> str | None:
        """The item that something is done to: of a head coach the team."""
        return self.object if self.agent_role == "subject" else self.subject

    @property
    def target_role(self) -> Role:
        """The role of the item that something is done to."""
        return "object" if self.agent_role == "subject" else "subject"

    def kind(self, role: Role) -> str:
        """Return what the item of a role is: a person, a team."""
        return self.wording.subject_is if role == "subject" else self.wording.object_is

    @property
    def has_person(self) -> bool:
        """Whether a person does something, so that `it` can only mean the other item."""
        return self.kind(self.agent_role) == "person"

    @property
    def target_kind(self) -> str:
        """What the item is that something is done to."""
        return self.kind(self.target_role)


def all_holders(wording: RelationWording) -> str:
    """Return the question for everybody who is counted: `who was head of state of <the subject>`.

    It has no article, as two may hold an office at a time.
    """
    counted, count = _PEOPLE.subn(
        lambda match: "who was " if match[1] else "who ", wording.count or ""
    )
    return counted if count else wording.ask or ""


def second_event(first: Clause, second: Clause) -> str:
    """Return an event that stands behind `Did …` of another event and `before` or `after`."""
    event = second.wording.event or ""
    # An event of two, such as a wedding, has no phrase without who does it.
    if first.wording.becoming and second.wording.becoming:
        if first.agent == second.agent:
            return second.wording.becoming
        if first.target == second.target and _alike(first, second):
            return f"{_agent_mark(event)} did"
    return _pointing_back(event, first, second)


def event_of_join(asked_clause: Clause, event_clause: Clause, *, is_first: bool) -> str:
    """Return the event of a question about something else at its time.

    `is_first` says whether it stands before what is asked; if so, that has the pronoun.
    """
    text = event_clause.wording.event or ""
    is_active = _ACTIVE_SUBJECT.search(asked_clause.wording.ask or "")
    if event_clause.wording.becoming and is_active and event_clause.agent == asked_clause.subject:
        return event_clause.wording.becoming
    if event_clause.target == asked_clause.subject and not is_first:
        return _with_pronoun(
            text, event_clause.target_role, asked_clause.kind("subject"), event_clause.target_kind
        )
    return text


def ask_after_event(asked_clause: Clause, event_clause: Clause) -> str:
    """Return what is asked after the event at whose time it was so."""
    text = asked_clause.wording.ask or ""
    if event_clause.target == asked_clause.subject:
        kinds = asked_clause.kind("subject"), event_clause.target_kind
        return _with_pronoun(text, "subject", *kinds, is_clear=event_clause.has_person)
    return text


def second_state(first: Clause, second: Clause) -> tuple[str, bool]:
    """Return a state beside another one, and whether only `and` may join them.

    `<subject> was too` follows `Ana Lu was a member of the Labour Party`.
    """
    state = second.wording.was or ""
    if first.agent == second.agent and state.startswith(f"{_agent_mark(state)} "):
        doing = state.partition("> ")[2]
        return doing.removeprefix("was ") if _has_was(first) else doing, True
    if first.target == second.target and _alike(first, second):
        return f"{_agent_mark(state)} {'was' if _has_was(first) else 'did'} too", True
    return _pointing_back(state, first, second), False


def states_of_both(first: Clause, second: Clause) -> tuple[str, str] | None:
    """Return two states of one agent in words that both share, or None where they share none.

    `<subject> played for both <the object>` and `<the object>` are joined by `and`. Two offices
    share the words of the first: `<subject> was both <object>` and `<subject>`.
    """
    first_words, second_words = (_words_before_target(clause) for clause in (first, second))
    if first.agent != second.agent or not first_words or not second_words:
        return None
    both_offices = first.target_kind == second.target_kind == "office"
    if not both_offices and first_words.partition("> ")[2] != second_words.partition("> ")[2]:
        return None
    plural_words = _OFFICE_OF.sub("the offices of ", first_words)
    if plural_words == first_words:
        plural_words = f"{first_words}both "
    first_mark, second_mark = (
        (clause.wording.was or "").removeprefix(state_words)
        for clause, state_words in ((first, first_words), (second, second_words))
    )
    return f"{plural_words}{first_mark}", second_mark


def _words_before_target(clause: Clause) -> str:
    """Return the words of a state before its target, if that ends it; else an empty text."""
    state_text = clause.wording.was or ""
    return state_text.rpartition("<")[0] if state_text.endswith(f"{clause.target_role}>") else ""


def have_one_state(first: Clause, second: Clause) -> bool:
    """Whether two people do the same, in words that fit both: `Ana Lu and Bo Ek both coached`."""
    plain_names = "<the " not in _agent_mark(first.wording.was or "")
    return (
        first.target == second.target
        and first.wording == second.wording
        and plain_names
        and not _has_was(first)
    )


def _has_was(clause: Clause) -> bool:
    return (clause.wording.was or "").partition("> ")[2].startswith("was ")


def _alike(first: Clause, second: Clause) -> bool:
    """Whether two events with the same target are of one kind: both take an office."""
    both_offices = first.target_kind == second.target_kind == "office"
    return first.wording == second.wording or both_offices


def _pointing_back(text: str, first: Clause, second: Clause) -> str:
    if first.target == second.target:
        kinds = first.target_kind, second.target_kind
        return _with_pronoun(text, second.target_role, *kinds, is_clear=first.has_person)
    agent_kinds = {first.target_kind, second.kind(second.agent_role)}
    # As a person stands before it, `it` is the club or company that the first clause ends in.
    if first.target == second.agent and first.has_person and agent_kinds.isdisjoint(_NO_PRONOUN):
        return text.replace(_agent_mark(text), "it", 1)
    return text


def _with_pronoun(text: str, role: Role, *kinds: str, is_clear: bool = True) -> str:
    """Return a template with `its head coach` for `the head coach of <the subject>`.

    Where no such noun stands before it, an item is called by its kind. The two relations that it
    stands in may say different ones: a club is an organization that has a chair. Where it is not
    clear what `it` means, because something else that is no person is named as well, an item with a
    noun of its own is called by that: `the chairperson of the team`.
    """
    if not set(kinds).isdisjoint(_NO_PRONOUN):
        return text
    if not is_clear:
        own_noun = next((noun for kind, noun in _OWN_NOUNS.items() if kind in kinds), None)
        return re.sub(rf"<(?:the )?{role}>", own_noun, text) if own_noun else text
    noun = next((noun for kind, noun in _NOUNS.items() if kind in kinds), "it")
    text = re.sub(rf"\bthe ([a-z-]+(?: [a-z-]+)*) of <(?:the )?{role}>", r"its \1", text)
    return re.sub(rf"<(?:the )?{role}>", noun, text)


def _first_role(text: str) -> Role:
    placeholders = [part for part in parse_phrase(text) if isinstance(part, Placeholder)]
    return "object" if placeholders[0].role == "object" else "subject"


def _agent_mark(text: str) -> str:
    """Return the first placeholder of a template as it is written: `<the object>`."""
    return text[text.index("<") : text.index(">") + 1]
