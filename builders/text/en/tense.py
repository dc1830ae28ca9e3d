"""The tense of a question: all its verbs in the past, and whether it asks for a state."""

import re
from typing import Any

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.pipeline import parse_text

_STATES = word_set(language_data("questions")["states"])
_VERBS = language_data("verbs")
_ROWS = [row.split() for row in _VERBS["irregular"].split(";")]
_PAST: dict[str, str] = {base: past for base, past, _ in _ROWS}
_OF_PARTICIPLE: dict[str, str] = {participle: past for _, past, participle in _ROWS}
_SHORT = re.compile(r"[^aeiou]*[aeiou][bdglmnprt]")
_DOUBLED = word_set(_VERBS["doubled"])
_AUXILIARIES = {
    "is": "was", "'s": "was", "’s": "was", "am": "was", "are": "were", "'re": "were",
    "does": "did", "do": "did", "will": "would", "can": "could", "may": "might", "shall": "should",
    "wo": "would", "ca": "could", "'ll": "would",
}  # fmt: skip
_WITH_INFINITIVE = word_set("do does did will would can could may might shall should must")
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”")
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "PRP", "WP")
_FINITE = ("VBZ", "VBP", "VBD")

Edit = tuple[int, int, str]
"""Start, end and what is written there."""


def simple_past(base: str) -> str:
    """The simple past of a verb: take, took; ban, banned; try, tried."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + (base[-1] if _SHORT.fullmatch(base) or base in _DOUBLED else "") + "ed"


def to_past_tense(question: str) -> str:
    """A question with every verb that is in the present, perfect or future put in the past.

    Infinitives, names and what stands in quotation marks stay.
    """
    quoted_spans = [quotation.span() for quotation in _QUOTE.finditer(question)]
    edits: list[Edit] = []
    for word in parse_text(question):
        outside_quotes = not any(
            quote_start <= word.idx < quote_end for quote_start, quote_end in quoted_spans
        )
        is_name = word.i > 0 and word.text[0].isupper()
        if outside_quotes and not is_name and word.tag_ in ("VBZ", "VBP", "MD"):
            edits += _changed(word)
    for start, end, replacement in sorted(edits, reverse=True):
        text_before = question[:start]
        if replacement and replacement == replacement.lower() and question[start:end][:1].isupper():
            replacement = replacement[0].upper() + replacement[1:]
        if not replacement:
            text_before = text_before.rstrip()
        elif text_before and text_before[-1].isalnum():
            text_before += " "  # `Who's` is `Who was`
        question = text_before + replacement + question[end:]
    return question


def _changed(word: Any) -> list[Edit]:
    """What to write for one finite verb."""
    low, head = word.lower_, word.head
    if low in ("has", "have", "'ve", "’ve", "'s") and word.dep_ == "aux" and head.tag_ == "VBN":
        return _perfect(word, head)
    if low in _AUXILIARIES:
        return [(*_span(word), _AUXILIARIES[low])]
    if word.tag_ == "MD" or _is_infinitive(word):
        return []
    return [(*_span(word), simple_past(word.lemma_.lower()))]


def _span(word: Any) -> tuple[int, int]:
    return word.idx, word.idx + len(word)


def _is_infinitive(word: Any) -> bool:
    """Whether an auxiliary in front makes a verb an infinitive, whatever its tag: `did they agree`.

    The small pipeline takes many of them for the present tense.
    """
    if word.lower_ != word.lemma_.lower():
        return False
    tokens_before = word.doc[: word.i]
    finite_verbs = [token for token in tokens_before if token.tag_ in (*_FINITE, "MD")]
    return (len(tokens_before) > 0 and tokens_before[-1].lower_ == "to") or (
        bool(finite_verbs) and finite_verbs[-1].lower_ in _WITH_INFINITIVE
    )


def _perfect(has: Any, verb: Any) -> list[Edit]:
    """`has led` is led, `has Obama flown` is did Obama fly, `has been shot` is was shot."""
    between = has.doc[has.i + 1 : verb.i]
    been = next((token for token in between if token.lower_ == "been"), None)
    if been:
        was = "were" if has.lower_ == "have" else "was"
        return [(*_span(has), was), (*_span(been), "")]
    if any(token.tag_ in _NOUNS for token in between):
        return [(*_span(has), "did"), (*_span(verb), verb.lemma_)]
    simple = _OF_PARTICIPLE.get(verb.lower_, verb.lower_)
    return [(has.idx, has.nbor().idx, ""), (*_span(verb), f" {simple}")]


def asks_state(question: str) -> bool:
    """Whether a question asks how something was: who held an office, not who won or was shot.

    What is told in the present is a state, too: as it was on the article's day.
    """
    finite_verb = next((token for token in parse_text(question) if token.tag_ in _FINITE), None)
    if finite_verb is None:
        return False
    if finite_verb.tag_ != "VBD":
        return not (finite_verb.lemma_ == "have" and finite_verb.dep_ == "aux")
    main_verb = finite_verb.head if finite_verb.dep_ in ("aux", "auxpass") else finite_verb
    return main_verb.lemma_ == "be" or main_verb.lemma_ in _STATES
