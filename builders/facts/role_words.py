"""Whether a sentence says of a name that it has a role, whatever the role is in.

`builders.facts.text_evidence` asks whether a word joins two names of one sentence. News often
names the club or country in one sentence and the coach or the prime minister in another, so that
the words have to join the role to one name alone: `Chairman Ann Lee`, `Ann Lee, an engineer who has
been mayor since 2004`, `Lee's side`, `a goal by Ann Lee`. What the role is in is the caller's task.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.text_evidence import OTHER_RELATION, Span
from factdrift.builders.text.dates import MONTHS, WEEKDAYS
from factdrift.builders.text.en.lexicon import COMMON, DEMONYMS, TITLES
from factdrift.builders.text.quotations import quotation_spans

_LEAD = 40
"""Characters before a role's word in which `former` or `deputy` make another role of it."""
_LOWER_WORD = r"[^\W\d_A-Z][\w'’-]*"
"""A word without a capital: `stays`, `42-year-old`, not `Lee`."""
# Matches what follows a name before a role: `, 61, an engineer who has been `, ` is again `.
_BEHIND_NAME = (
    r"(?:"
    rf",(?: \d\d,)? (?:{_LOWER_WORD} ){{0,6}}?"
    r"| (?:of (?:the )?(?:[A-Z][\w'’-]* ?)+)?"
    r"(?:is|was|as|remains?|stays?|becomes?|became|has been|had been|serves? as|served as) "
    rf"(?:{_LOWER_WORD} ){{0,4}}?"
    r")"
)
# Matches what stands between a role and the name that has it: ` `, `, `, ` of the board `.
_BEFORE_NAME = rf"(?: of (?:the|its|his|her) {_LOWER_WORD})?,? (?:Sir |Dame |Dr\.? )?"
# Matches the few words between an act and who did it: ` by `, ` with a late `.
_NEAR = rf"(?:['’]s)?,? (?:{_LOWER_WORD},? ){{0,5}}?"
_CAPITAL_RUN = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
"""Words with a capital in a row: `Ann Lee`."""
_PLACE_BEFORE = re.compile(r"\b(?:in|at|from|near|to|of|for|on|the|outside|between)\s+$")
"""Words before a name that is a place or a thing rather than a person: `in `."""
_NO_MORE = re.compile(
    r"\b(?:not|no|never|without|fallen|ousted|deposed|dismissed|sacked|retired|defeated|until|till)\b"
)
"""Words that take a role away: `is no longer coach`, `the fallen prime minister`."""
_NEXT_NAME = re.compile(r",? [A-Z]")
"""A name right behind a role, whose role it is: ` Bob Ray`."""
_OF_PLACE = re.compile(r" (?:of|at) (?:the )?(?P<place>[A-Z])")
"""What a role is in, by name: ` of Leeds`."""
_SOMEBODY_ELSE = re.compile(r"\b(?:by|to|from|with|of|for) $")
"""A word before the role of somebody else than the one who is named: `chosen by `."""
_UNDER = re.compile(r"\b(?P<role>[Uu]nder) $")
"""A word right before who leads: `under `."""
_BESIDE = 25
"""Characters before a name and its role that may say that it is new: `the newly elected`."""
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))


class Role(NamedTuple):
    """The word by which a sentence gives a name a role, and whether it has only just begun."""

    word: str
    is_change: bool


def role_of(
    text: str, name: Span, wording: NewsWording, *, is_member: bool, places: Sequence[Span] = ()
) -> Role | None:
    """The role that a sentence gives to a name in it, or None.

    `wording` has the words of the role. `is_member`: the role is to play for, work for or belong to
    something, which acts tell as well (`scored`); any other role is an office. `places` are the
    spans of names of what a role may be in.
    """
    sentence = _RoleSentence(text, name, wording, places)
    finders = [sentence.word_before, sentence.word_behind]
    finders.append(sentence.act_near if is_member else sentence.definite_role)
    finders.append(sentence.what_belongs)
    for find in finders:
        role = find()
        if role is not None:
            return Role("" if find == sentence.what_belongs else role["role"], sentence.began(role))
    return None


@cache
def _pattern(words: tuple[str, ...], form: str) -> re.Pattern[str]:
    """A pattern of a form around one of these words; of the bare words with an empty form."""
    alternatives = "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)"
    role = rf"(?<![\w-])(?P<role>(?i:{alternatives}))(?![\w-])"
    return re.compile(form.replace("<role>", role) if form else role)


class _RoleSentence(NamedTuple):
    """A sentence with the span of one name in it, and the spans of what a role may be in."""

    text: str
    name: Span
    wording: NewsWording
    places: Sequence[Span]

    def word_before(self) -> re.Match[str] | None:
        """The role that stands as a title before the name: `coach Ann Lee`, `chair, Ann Lee`."""
        pattern = _pattern(self.wording.cues, rf"<role>{_BEFORE_NAME}$")
        return self._own(pattern.search(self.text, 0, self.name[0]), self.name[0])

    def word_behind(self) -> re.Match[str] | None:
        """The role that follows the name: `Ann Lee, its chairman`, `Ann Lee stays mayor`."""
        pattern = _pattern(self.wording.cues, rf"{_BEHIND_NAME}<role>")
        return self._own(pattern.match(self.text, self.name[1]))

    def act_near(self) -> re.Match[str] | None:
        """The act or role of a member near the name: `a goal by Ann Lee`, `Ann Lee, who scored`."""
        # A beginning that is near may be one that failed, or of somewhere else.
        acts = tuple(word for word in self.wording.cues if word not in self.wording.changes)
        behind = self._own(_pattern(acts, rf"{_NEAR}<role>").match(self.text, self.name[1]))
        if behind:
            return behind
        before = _pattern(acts, rf"<role>{_NEAR}$").search(self.text, 0, self.name[0])
        return self._own(before, self.name[0])

    def what_belongs(self) -> re.Match[str] | None:
        """What a holder of the role has: `Lee's young side`, `under Ann Lee`."""
        possessions = self.wording.possessions
        if not possessions:
            return None
        form = rf"['’]s (?:{_LOWER_WORD} ){{0,2}}?<role>"
        behind = _pattern(possessions, form).match(self.text, self.name[1])
        return behind or _UNDER.search(self.text, 0, self.name[0])

    def definite_role(self) -> re.Match[str] | None:
        """A role elsewhere in the sentence of a lone name: `the prime minister`."""
        if not self._is_alone():
            return None
        form = rf"\b(?:[Tt]he|[Ii]ts|[Hh]is|[Hh]er) (?:{_LOWER_WORD} )?<role>"
        quotations = list(quotation_spans(self.text))
        for role in _pattern(self.wording.cues, form).finditer(self.text):
            is_outside = role.end() <= self.name[0] or self.name[1] <= role.start()
            is_outside &= _SOMEBODY_ELSE.search(self.text, 0, role.start()) is None
            is_quoted = any(start <= role.start() < end for start, end in quotations)
            if is_outside and not is_quoted and self._own(role, is_apart=True):
                return role
        return None

    def began(self, role: re.Match[str]) -> bool:
        """Whether words at the name or its role say that the role has just begun."""
        first = min(self.name[0], role.start())
        last = max(self.name[1], role.end())
        region = re.split(r"[;:.]", self.text[max(0, first - _BESIDE) : first])[-1]
        changes = _pattern(self.wording.changes, "")
        return changes.search(f"{region}{self.text[first:last]}") is not None

    def _own(
        self,
        role: re.Match[str] | None,
        name_start: int | None = None,
        *,
        is_apart: bool = False,
    ) -> re.Match[str] | None:
        """The role, unless it is another one or somebody else's.

        `name_start` is the place of the name where the role stands right before it, and `is_apart`
        says that the two stand in different parts of the sentence.
        """
        if role is None:
            return None
        start, end = role.span("role")
        lead = " ".join(self.text[max(0, start - _LEAD) : start].split()[-3:])
        # From the name to a role behind it all words count, however many.
        is_behind = self.name[1] <= start and not is_apart
        between = self.text[self.name[1] : start] if is_behind else ""
        if OTHER_RELATION.search(lead) or _NO_MORE.search(f"{between} {lead}"):
            return None
        if name_start is None and _NEXT_NAME.match(self.text, end):
            return None
        place = _OF_PLACE.match(self.text, end)
        if place and not any(
            first < place.end() and place.start("place") < last for first, last in self.places
        ):
            return None
        return role

    def _is_alone(self) -> bool:
        """Whether no other person seems to be named in the sentence."""
        for run in _CAPITAL_RUN.finditer(self.text):
            if any(
                start < run.end() and run.start() < end for start, end in (self.name, *self.places)
            ):
                continue
            words = [word for word in run[0].split() if word not in _NO_PERSONS]
            opens_sentence = run.start() == 0 and len(run[0].split()) == 1
            if words and not opens_sentence and not _PLACE_BEFORE.search(self.text[: run.start()]):
                return False
        return True


_NO_PERSONS = COMMON | DEMONYMS | TITLES | _CALENDAR
"""Words with a capital that name nobody: `Monday`, `French`, `President`."""
