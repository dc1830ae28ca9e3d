"""Whether a question can be understood alone, without its article, its day or other sentences."""

import re

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import date_pattern
from factdrift.builders.text.quotations import replace_quotations

_SOURCE = re.compile(
    r"\baccording to (?:the|this) (?:\w+ )?(?:text|story|source|piece|author|writer|article|"
    r"passage)\b|\b(?:mentioned|described|stated|discussed|quoted) (?:above|below|here)\b|"
    r"\b(?:the|this|that) (?:article|passage|excerpt|snippet|paragraph|headline)\b"
    r"(?! (?:about|on|in|by|of)\b)|\b(?:in|of|from) (?:the|this) (?:story|text)\s*(?:\?|,|$)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    rf"\b(?:the|this|that|these|those|such an?)(?: (?:other|local|new|whole))? "
    r"(?!(?-i:[A-Z]\w*['’]s [A-Z]))"
    rf"(?:{'|'.join(word_set(language_data('questions')['of_the_article']))})(?:'s|’s)?"
    r"(?! (?:of|who|whom|whose|that|which|called|named|between|against|from|to|known|on|at|by)\b)"
    r"(?! (?-i:[A-Z]))(?! \w+ (?:of|who|called|named|between)\b)\b"
    r"|\b(?:the (?:aforementioned|above|previous|same|following|latter|other)|who else|that year|"
    r"that night|at the time|(?:died|from|was|were|happened|live|work) there(?! in (?-i:[A-Z])))\b",
    re.IGNORECASE,
)
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


def outside_reference(question: str, *, relative: bool) -> tuple[str | None, str | None]:
    """The reason why a question needs its article or its day, and the words that show it.

    With `relative`, words such as `last week` count too. Quotations are not searched. Returns
    `(None, None)` where the question stands alone.
    """
    unquoted_text = replace_quotations(question, lambda quotation: " ")
    reference_kinds = [
        (_SOURCE, "refers_to_context"),
        (date_pattern("undated"), "undated_day"),
        (_ON_THE_DAY, "undated_day"),
        (_CONTEXT, "refers_to_context"),
    ]
    if relative:
        reference_kinds.append((date_pattern("relative"), "relative_day"))
    for reference_pattern, reason in reference_kinds:
        if reference := reference_pattern.search(unquoted_text):
            return reason, reference[0]
    return None, None
