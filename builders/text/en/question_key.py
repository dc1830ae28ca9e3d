"""What a question asks, in words that its wordings share: `the 2019 Tour`, `the Tour in 2019`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import DayInterval, dates_in
from factdrift.builders.text.en.same_answer import full_name_words, plain_amounts
from factdrift.builders.text.en.verbs import past_of_participle
from factdrift.builders.text.words import SMALL_WORDS, folded_tokens

_LISTS = language_data("questions")
_KINDS = word_set(_LISTS["kinds_asked_for"])
_SAME_VERBS = {verb: group.split()[0] for group in _LISTS["same_verbs"] for verb in group.split()}
_QUESTION_WORDS = frozenset("who whom which what where when".split())
_AUXILIARIES = frozenset("do does did has have had is are was were be been".split())
_WEAK = frozenset("in at of on".split())
"""Prepositions of a place or a part, which another wording puts before the noun: `the attack in
Nice`, `the Nice attack`."""
_LEGAL = frozenset("inc ltd plc llc corp".split())
# `in ` before a date and `'s` behind it, which go with it; not `at the ` before `2020 Oscars`
_BEFORE_DATE = re.compile(r"\b(?:in|on|of|during|at|by)\s+$", re.IGNORECASE)
_BEHIND_DATE = re.compile(r"(?:['’]s\b)?\s*,?")
# `What is the name of the company that`, which asks `Which company`
_NAME_OF = re.compile(
    r"^What (?:is|was|are|were) the names? of the ([\w-]+)(?: (?:that|which|who))?\b", re.IGNORECASE
)


class QuestionKey(NamedTuple):
    """The words of a question in one order and one spelling, and the times that it states."""

    words: str
    times: tuple[DayInterval, ...]

    def has_same_time(self, times: Sequence[DayInterval]) -> bool:
        """Whether the times are the same, or one of two is more exact than the other."""
        if not self.times or not times:
            return not self.times and not times
        return all(
            any(_is_within(time, other) or _is_within(other, time) for other in times)
            for time in self.times
        )


def question_key(question: str) -> QuestionKey:
    """Return what a question asks: its times apart, its passive active, its prepositions turned.

    Who is asked for and in which words (who, which company) does not count: two questions are
    compared where their answers agree.
    """
    text, times = _without_times(_NAME_OF.sub(r"Which \1", plain_amounts(question.strip())))
    tokens = [*folded_tokens(_with_full_names(text))]
    asked_by = tokens[:1] == ["by"]
    tokens = _without_question_word(tokens)
    words = [
        past_of_participle(token)
        for token in tokens
        if token not in _AUXILIARIES and token not in _LEGAL
    ]
    words = _in_active_voice(words, asked_by=asked_by)
    words = [_SAME_VERBS.get(word, word) for word in words]
    return QuestionKey(" ".join(_with_turned_prepositions(words)), times)


def _without_times(text: str) -> tuple[str, tuple[DayInterval, ...]]:
    """The text without the dates that it states, and their days, the most exact ones alone."""
    mentions = dates_in(text).written
    times = {(mention.first, mention.last) for mention in mentions}
    for mention in reversed(mentions):
        before = _BEFORE_DATE.sub("", text[: mention.start])
        behind = _BEHIND_DATE.match(text, mention.end)
        text = f"{before} {text[behind.end() if behind else mention.end :]}"
    exact_times = [
        time
        for time in sorted(times)
        if not any(other != time and _is_within(other, time) for other in times)
    ]
    return text, tuple(exact_times)


def _is_within(time: DayInterval, other_time: DayInterval) -> bool:
    return other_time[0] <= time[0] and time[1] <= other_time[1]


# `US` and `U.K.`, not `us`
_SHORT_NAME = re.compile(r"\b(?:[A-Z]{2,5}|(?:[A-Z]\.){2,})(?!\w)")


def _with_full_names(text: str) -> str:
    return _SHORT_NAME.sub(lambda short: " ".join(full_name_words(short[0])), text)


def _without_question_word(tokens: Sequence[str]) -> list[str]:
    """The words without what asks: `in which city`, `who`, `which company`; `how many` stays."""
    for index, token in enumerate(tokens):
        if token in _QUESTION_WORDS:
            before = [] if index == 1 and tokens[0] in SMALL_WORDS else tokens[:index]
            rest = tokens[index + 1 :]
            return [*before, *(rest[1:] if rest and rest[0] in _KINDS else rest)]
    return [*tokens]


def _in_active_voice(words: list[str], *, asked_by: bool) -> list[str]:
    """`slack bought by`, asked for who did it, is `bought slack`; other words stay."""
    ends_by = next(
        (
            index
            for index, word in enumerate(words)
            if word == "by" and (index + 1 == len(words) or words[index + 1] in SMALL_WORDS)
        ),
        None,
    )
    if ends_by is not None and ends_by > 0:
        verb_index = ends_by - 1
        words = [*words[:ends_by], *words[ends_by + 1 :]]
    elif asked_by:
        verb_index = next(
            (index for index, word in enumerate(words) if index and _is_past(word)), len(words) - 1
        )
    else:
        return words
    if not words:
        return words
    return [words[verb_index], *words[:verb_index], *words[verb_index + 1 :]]


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in _PAST_FORMS


_PAST_FORMS = frozenset(row.split()[1] for row in language_data("verbs")["irregular"].split(";"))


def _with_turned_prepositions(words: Sequence[str]) -> list[str]:
    """The words behind the first one, with what stands behind `in`, `at`, `of` and `on` in front.

    Other prepositions stay where they are: from Paris to Rome is not from Rome to Paris.
    """
    turned_words: list[str] = [*words[:1]]
    groups: list[list[str]] = [[]]
    for word in words[1:]:
        if word in _WEAK:
            groups.append([])
        elif word in SMALL_WORDS:
            turned_words += [part for group in reversed(groups) for part in group]
            turned_words.append(word)
            groups = [[]]
        else:
            groups[-1].append(word)
    return turned_words + [part for group in reversed(groups) for part in group]
