"""Whether a question can be understood alone, without its article, its day or other sentences."""

import re

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import date_pattern
from factdrift.builders.text.quotations import replace_quotations

_LISTS = language_data("questions")
_OWN_TEXTS, _OWN_PEOPLE = (
    "|".join(sorted(word_set(_LISTS[name]))) for name in ("of_journalism", "journalists")
)
# `the article that exposed …` and `the interview with Oprah Winfrey` say which one they mean;
# `the article` and `the article says` do not.
_SAYS_WHICH_TEXT = (
    r"(?! (?:of|who|whom|whose|which|about|on|by|into|called|named|titled|between)\b)"
    r"(?! [a-z]+ing\b)(?! (?:in|with) (?:the |an? )?[A-Z])(?! [A-Z])"
)
# A word that points is not matched where it has a capital, as in the title `The Other Guys`.
_OWN_ARTICLE = re.compile(
    # `the interview`, `this opinion column on Brexit`, but not `the Chilcot report`
    rf"\bthis (?:[a-z]+ )?(?:{_OWN_TEXTS}|{_OWN_PEOPLE})\b"
    rf"|\b(?:the|that) (?:{_OWN_TEXTS})(?:'s|’s)?\b(?! that\b){_SAYS_WHICH_TEXT}"
    rf"|\b(?:the|that) (?:{_OWN_PEOPLE})(?:'s|’s)?\b{_SAYS_WHICH_TEXT}"
    rf"|\baccording to (?:the|this) (?:[a-z]+ )?(?:text|story|author)\b{_SAYS_WHICH_TEXT}"
    r"|\b(?:in|of|from) (?:the|this) (?:story|text)\s*(?:\?|,|$)"
    # `reported here`; `is quoted as saying`, but not `is quoted in The Times`
    r"|\b(?:mentioned|described|stated|discussed|quoted|reported|shown) (?:above|below|here)\b"
    r"|\b(?:is|are) (?:quoted|cited|mentioned|interviewed|profiled|pictured)\b"
    r"(?! (?:in|by|on) (?:the |an? )?[A-Z])"
    # `said this in Paris`, `said that?`, but not `said this week` or `said that Iran …`
    r"|\bthis(?= (?:in|to|on|at|about|after|before|during|when|while|as)\b|[?,]|$)|\bthat(?=\?)",
)
_CONTEXT = re.compile(
    # `that plan`, but not `said that people` or `said that victims`
    r"\b(?:the|this|that(?! (?:\w+s|men|women|people|children|police)\b)|these|those|such an?)"
    r"(?: (?:other|local|new|whole))? "
    r"(?![A-Z]\w*['’]s [A-Z])"
    rf"(?i:{'|'.join(sorted(word_set(_LISTS['of_the_article'])))})(?:'s|’s)?"
    r"(?! (?:of|who|whom|whose|that|which|called|named|between|against|from|to|known|on|at|by|into)"
    r"\b)(?! [A-Z])(?! \w+ (?:of|who|called|named|between)\b)\b"
    # `the previous day`, but not `the previous name of Eswatini`
    r"|\bthe (?:aforementioned|above|previous|following|latter|other)\b(?! [\w-]+ of\b)"
    r"|\b(?:who else|that year|that night|at the time"
    r"|(?:died|from|was|were|happened|live|work) there(?! in [A-Z]))\b"
)
# `this plan`, `the other plan`, `the report`, which no name in the question stands for
_POINTS_AT_NOTHING = re.compile(
    r"^(?:(?!the\b)|the (?:other|previous|above|following|latter|report)\b)"
)
# `did the company …`
_ASKED_ABOUT = re.compile(r"\b(?:did|does|do|has|have|had|was|were|is|are|will|would) $")
# `the suspect arrested after …`, `the court system`, `of the vote did …`, not `the suspect in …`
_SAID_WHICH = re.compile(r" (?!(?:in|at|on|for|with|during|after|before|as|when)\b)[a-z]")
_SAME = re.compile(r"\bthe same\b(?!-)")
# What the question itself compares: `two clubs share the same …`, `the same mass as Venus`, but
# not `the same day as Nokia's chief`, which no one knows without the day.
_COMPARED = re.compile(
    # the first such word is enough: a later one need not be tried
    r"^(?>.*?\b(?:shares?|shared|both|two|three)\b).*\bthe same\b"
    r"|\bthe same (?!day|night|week|month|year|time)[\w-]+ as\b"
)
# `Last Night in Soho` inside a question is a title, and `last night` is none.
_TITLE_OF_TIME = re.compile(r"(?<!^)\b(?:Last|Next|Past|Coming|Previous)(?= [A-Z])")
_ON_THE_DAY = re.compile(
    r"\b(?:now|currently|recently|lately|nowadays|presently|current|recent|upcoming|"
    r"(?:on|last|next|this) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b(?!,? \d)"
)
_FIRST = re.compile(
    r"\b(?:we|me|my|our|ours|us|you|your|yours)\b|(?:^|\b[a-z]+ )I\b(?=['’]|\s[a-z])"
)
_PRONOUN = re.compile(
    r"\b(?:he|him|his|himself|she|her|hers|herself|they|them|their|theirs|it|its|itself)\b"
)
_EMPTY_IT = re.compile(
    r"\b(?:did|does|do|is|was|will|would|has|had) it\b|\bit (?:\w+ ){0,2}(?:that|to|for|like)\b"
)
_NAME = re.compile(r"(?<!^)\b(?:[A-Z][\w'’.-]*|[a-z]+[A-Z]\w*)")
_WHO_DID = re.compile(
    r"^(?:Who |Which (?:\w+ )+?)(?!(?:did|do|does|has|have|had|will|would|was|were|is|are)\b)\w+"
    r"|^Who (?:was|is) \w+ |^How many \w+ \w+"
)
"""Openings that name who did something, so that a later pronoun has an antecedent."""
_NOUN = word_set("""
    man woman person player company team country party club people group city film book minister
    president mayor actor singer author driver miners firm airline
""")


def unresolved_pronoun(question: str) -> tuple[str | None, str | None]:
    """The reason why a pronoun cannot be resolved in the question, and the pronoun.

    The reason is `first_person`, or `pronoun_without_antecedent` where neither a name nor one of
    the commonest nouns stands before the pronoun or after the comma that ends its opening clause.
    Returns `(None, None)` where every pronoun can be resolved.
    """
    unquoted_text = replace_quotations(question.strip(), lambda quotation: "Casablanca")
    if first_person := _FIRST.search(unquoted_text):
        return "first_person", first_person[0]
    for pronoun_match in _PRONOUN.finditer(unquoted_text):
        if pronoun_match[0] == "it" and _EMPTY_IT.search(unquoted_text):
            continue
        text_before, _, clause_after = (
            unquoted_text[: pronoun_match.start()],
            *unquoted_text[pronoun_match.end() :].partition(",")[1:],
        )
        named_by_opening = _WHO_DID.match(text_before)
        has_antecedent = (
            named_by_opening
            or _NAME.search(text_before)
            or _NAME.search(f", {clause_after}" if clause_after else "")
        )
        if not has_antecedent and not any(word in _NOUN for word in text_before.lower().split()):
            return "pronoun_without_antecedent", pronoun_match[0]
    return None, None


def outside_reference(
    question: str, *, relative: bool, nouns: bool = True
) -> tuple[str | None, str | None]:
    """The reason why a question needs its article or its day, and the words that show it.

    With `relative`, words such as `last week` count too; with `nouns`, so do nouns such as `the
    company` that the question does not name. Quotations are not searched. Returns `(None, None)`
    where the question stands alone.
    """
    unquoted_text = replace_quotations(question, lambda quotation: "Title")
    # in small letters, so that the first word may point at something, as any other may
    lowered_text = unquoted_text[:1].lower() + unquoted_text[1:]
    reference_kinds = [
        (_OWN_ARTICLE, lowered_text, "refers_to_context"),
        (date_pattern("undated"), unquoted_text, "undated_day"),
        (_ON_THE_DAY, unquoted_text, "undated_day"),
    ]
    if nouns:
        reference_kinds.append((_CONTEXT, lowered_text, "refers_to_context"))
    if not _COMPARED.search(lowered_text):
        reference_kinds.append((_SAME, lowered_text, "refers_to_context"))
    if relative:
        dated_text = _TITLE_OF_TIME.sub("Title", unquoted_text)
        reference_kinds.append((date_pattern("relative"), dated_text, "relative_day"))
    for reference_pattern, searched_text, reason in reference_kinds:
        for reference in reference_pattern.finditer(searched_text):
            if reference_pattern is _CONTEXT and _is_named(searched_text, reference):
                continue
            return reason, reference[0]
    return None, None


def _is_named(question: str, reference: re.Match[str]) -> bool:
    """Whether a question names what a definite noun in it may stand for.

    `under the city's settlement` stands for a city that the question names before it; where it is
    named behind, the noun has words that say which one it is (`the suspect arrested in Boston`).
    """
    if _POINTS_AT_NOTHING.match(reference[0]):
        return False
    text_before = question[: reference.start()]
    if _NAME.search(text_before):
        return True
    if _ASKED_ABOUT.search(text_before):
        return False
    text_behind = question[reference.end() :]
    return bool(_SAID_WHICH.match(text_behind) and _NAME.search(text_behind))
