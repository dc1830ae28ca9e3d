"""Filters of how news is asked about: gaps, holders of posts, numbers that nobody stands for."""

import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.text.en.questions import asks_permanent_fact
from factdrift.builders.text.quotations import replace_quotations
from factdrift.filters.base import FilterVerdict, ItemFilter, QuestionItem, drop_if

_WH = r"(?:who|whom|whose|what|which|where|when|why|how)"
# how a question begins: `Who won?`, `To which town …`, `Did …`, `In March 2013 who …`,
# not `The town sold it to whom?`
_BEGINS = re.compile(
    rf"^(?:(?:[a-z]+ ){{0,3}}{_WH}\b"
    r"|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b"
    r"|(?:in|on|at|during|after|before|by|when|while|as|following|according to|under|for|with|of"
    r"|since|until|among|amid|despite|from|to|if|because|upon|between|against)\b)",
    re.IGNORECASE,
)
# the gap at the end of a statement: `… never be a hurricane what?`, not `… tour with The Who?`
_ENDS_IN_GAP = re.compile(rf"\s{_WH}(?: (?:many|much|long|far|often|old))?\s*\?$")
_POST = (
    r"(?:president|vice[- ]president|prime minister|premier|chancellor|governor|mayor"
    r"|chief executive|CEO|chairman|chairwoman|chairperson|chair|head coach|coach|manager|captain"
    r"|leader|speaker|commissioner|ambassador|secretary|minister|director|chief|head|king|queen|commander|principal"
    r"|editor|dean|bishop|archbishop|attorney general|treasurer|superintendent|sheriff)"
)
# a post that one person has: `Which spokesman said …`, `Which coach of Chelsea …`,
# `Who is the mayor of Lima?`, not `Which minister resigned …`
_ASKS_HOLDER = re.compile(
    rf"^(?:(?:which|what) (?:\S+ ){{0,4}}?(?:spokes\w+|{_POST} (?:of|for)\b)"
    rf"|who (?:is|was|were|are) (?:the |an? )?(?:\S+ ){{0,4}}?(?:spokes\w+|{_POST})\b)",
    re.IGNORECASE,
)
# what makes the holder news: `appointed`, not `applauded`
_TAKES_POST = re.compile(
    r"\b(?:appoint|named|elect|hired|chose|select|sworn|succe|replac|becom|becam|nominat|promot"
    r"|take over|took over|crown|inaugurat|re-elect|new\b)\w*\b",
    re.IGNORECASE,
)
_BOUNDS = (
    r"at least|at most|more than|less than|fewer than|no (?:more|less|fewer) than|over|under|above"
    r"|below|about|around|up to|nearly|almost|some|approximately|roughly|as (?:many|much|few) as"
    r"|close to|well over|just (?:over|under)|upwards of|an? estimated|estimated|circa"
)
# a question for the bound itself: `What maximum fine`, `What is the most that`, not `Which most`
_ASKS_BOUND = re.compile(
    r"\b(?:maximum|minimum|limit|ceiling|cap|highest|lowest|(?:at|the) (?:most|least)|up to)\b",
    re.IGNORECASE,
)
# words before a number that bound it: `at least `, `up to $`, not `at last `
_BOUND_BEFORE = re.compile(rf"\b(?:{_BOUNDS})(?: the| an?)? [$€£¥]?$", re.IGNORECASE)
# such words in an answer itself: `about 40`, `40 or more`, not `the man about town`
_BOUND_WITHIN = re.compile(rf"^(?:{_BOUNDS}) |\bor (?:more|so|less)$", re.IGNORECASE)
# words behind it: ` or more`, not ` or he`
_BOUND_BEHIND = re.compile(r"^ ?(?:or (?:more|so|less|fewer)|-plus|\+|-odd)\b", re.IGNORECASE)
# a number: `40`, `twelve`, not `often`
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|dozens?|hundreds?|thousands?|millions?|billions?"
    r"|half|quarter|third)\b",
    re.IGNORECASE,
)
# who gives the number: `According to the Red Cross`, `did police in Lima say`, not `did it cost`
_SOURCE = re.compile(
    r"\baccording to (?!reports\b)\w"
    r"|\b(?:say|said|says|report(?:ed)?|estimated?|claim(?:ed)?|announced?|put|counted)\b",
    re.IGNORECASE,
)


class BlankQuestion(ItemFilter):
    """A statement with a question word for a gap: `The storm would never be a hurricane what?`

    A question begins with its question word or its verb, perhaps behind a time or a place. What
    stands in quotation marks is not looked at.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "asks_blank": "The question is a statement with a gap.",
    }

    filter: Literal["blank_question"] = "blank_question"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where a question begins as a statement, or ends in its gap."""
        question = item.question.question
        unquoted_text = replace_quotations(question.strip(), lambda quotation: "Title")
        is_gap = _ENDS_IN_GAP.search(unquoted_text) or not _BEGINS.search(unquoted_text)
        return drop_if("asks_blank" if is_gap else None)


class RoleHolder(ItemFilter):
    """The question asks for the one who holds a post: `Which spokesman for the police said …?`

    The holder was known before the news. Who was appointed, elected or named is asked for.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "role_holder": "The question asks who holds a post, which was known before.",
    }

    filter: Literal["role_holder"] = "role_holder"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop a question for the holder of a post that one person has; `detail` has the words."""
        question = item.question.question
        holder = _ASKS_HOLDER.match(question)
        if holder is None or _TAKES_POST.search(question) or asks_permanent_fact(question):
            return drop_if(None)
        return drop_if("role_holder", f"{holder[0]!r} in {question!r}")


class BoundedNumber(ItemFilter):
    """The article bounds the number or date that is the answer (`at least 40`, `up to $3m`), and
    the question neither says who gave it nor asks for the bound itself (`What maximum fine …?`).

    Other sources, or the same one a day later, give another number.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "bounded_number": "The number is only a bound or about right, and nobody is named for it.",
    }

    filter: Literal["bounded_number"] = "bounded_number"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where words around or in the answer bound it; `detail` has them."""
        question, answer = item.question.question, item.question.answer
        if not _NUMBER.search(answer.text):
            return drop_if(None)
        if _SOURCE.search(question) or _ASKS_BOUND.search(question):
            return drop_if(None)
        text = item.article.text
        bound = (
            _BOUND_WITHIN.search(answer.text)
            or _BOUND_BEFORE.search(text[max(0, answer.start - _BOUND_LENGTH) : answer.start])
            or _BOUND_BEHIND.search(text[answer.end : answer.end + _BOUND_LENGTH])
        )
        return drop_if(
            "bounded_number" if bound else None, f"{bound[0]!r} {answer.text!r}" if bound else None
        )


_BOUND_LENGTH = 30
"""Characters beside an answer in which a bound is looked for: the longest one has 22."""
