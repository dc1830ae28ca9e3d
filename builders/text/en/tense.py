"""The tense of a question: all its verbs in the past, and whether it asks for a state."""

import re

from factdrift.builders.text.data import data, words
from factdrift.builders.text.en.verbs import past, past_of
from factdrift.builders.text.pipeline import Word, children, read

_LISTS = data("questions")
_STATES = words(_LISTS["states"])
_DISPOSED = words(_LISTS["disposed"])
_AUXILIARIES = {
    "is": "was", "'s": "was", "’s": "was", "am": "was", "are": "were", "'re": "were",
    "does": "did", "do": "did", "will": "would", "can": "could", "may": "might", "shall": "should",
    "wo": "would", "ca": "could", "'ll": "would",
}  # fmt: skip
_WITH_INFINITIVE = words("do does did will would can could may might shall should must")
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”")
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "PRP", "WP")


def in_past(question: str) -> str:
    """A question with every verb that is in the present, perfect or future put in the past.

    Infinitives, names and what stands in quotation marks stay.
    """
    found = read(question)
    quoted = [m.span() for m in _QUOTE.finditer(question)]
    changed: list[tuple[int, int, str]] = []
    for word in found:
        if any(a <= word.start < b for a, b in quoted):
            continue
        if word.tag in ("VBZ", "VBP", "MD") and not (word.at and word.text[0].isupper()):
            changed += _changed(found, word)
    for start, end, new in sorted(changed, reverse=True):
        if new and new == new.lower() and question[start:end][:1].isupper():
            new = new[0].upper() + new[1:]
        left = question[:start]
        if not new:
            left = left.rstrip()
        elif left and left[-1].isalnum():
            left += " "  # `Who's` is `Who was`
        question = left + new + question[end:]
    return question


def _changed(found: tuple[Word, ...], word: Word) -> list[tuple[int, int, str]]:
    """What to write for one finite verb: start, end, new text."""
    here = word.start, word.end
    head = found[word.head]
    if word.low in ("has", "have", "'ve", "’ve") and word.dep == "aux" and head.tag == "VBN":
        return _perfect(found, word, head)
    if word.low == "'s" and word.dep == "aux" and head.tag == "VBN":
        return _perfect(found, word, head)
    if word.low in _AUXILIARIES:
        return [(*here, _AUXILIARIES[word.low])]
    if word.tag == "MD" or _is_infinitive(found, word):
        return []
    return [(*here, past(word.lemma.lower()))]


def _is_infinitive(found: tuple[Word, ...], word: Word) -> bool:
    """Whether an auxiliary in front makes a verb an infinitive, whatever its tag: `did they agree`.

    The small pipeline takes many of them for the present tense.
    """
    if word.low != word.lemma.lower():
        return False
    if word.at and found[word.at - 1].low == "to":
        return True
    if any(w.low in _WITH_INFINITIVE and w.at < word.at for w in children(found, word.at)):
        return True
    finite = [w for w in found[: word.at] if w.tag in ("VBZ", "VBP", "VBD", "MD")]
    return bool(finite) and finite[-1].low in _WITH_INFINITIVE


def _perfect(found: tuple[Word, ...], has: Word, verb: Word) -> list[tuple[int, int, str]]:
    """`has led` is led, `has Obama flown` is did Obama fly, `has been shot` is was shot."""
    been = next((w for w in found[has.at : verb.at + 1] if w.low == "been"), None)
    between = found[has.at + 1 : (been or verb).at]
    inverted = any(w.tag in _NOUNS for w in between)
    if been:
        was = "were" if has.low == "have" else "was"
        return [(has.start, has.end, was), (been.start, been.end, "")]
    if inverted:
        return [(has.start, has.end, "did"), (verb.start, verb.end, verb.lemma)]
    simple = past_of(verb.low) or verb.low
    gap = found[has.at + 1].start
    return (
        [(has.start, gap, ""), (verb.start, verb.end, simple)]
        if gap < verb.start
        else [(has.start, verb.end, simple)]
    )


def asks_state(question: str) -> bool:
    """Whether a question asks how something was: who held an office, not who won or was shot.

    What is told in the present is a state, too: as it was on the article's day.
    """
    found = read(question)
    verbs = [w for w in found if w.tag in ("VBZ", "VBP", "VBD", "VB", "VBN", "VBG")]
    if not verbs:
        return False
    first = next((w for w in verbs if w.tag in ("VBZ", "VBP", "VBD")), verbs[0])
    main = found[first.head] if first.dep in ("aux", "auxpass") else first
    if first.tag in ("VBZ", "VBP"):
        return not (first.low in ("has", "have") and first.dep == "aux")
    if main.lemma == "be" or (main is first and first.low in ("was", "were")):
        if any(w.tag == "VBN" and w.lemma in _DISPOSED for w in found if w.at > first.at):
            return True
        passive = any(w.tag in ("VBN", "VBG") for w in children(found, first.at))
        return not passive and not any(w.tag == "VBN" and w.dep == "ROOT" for w in found)
    joined = [w for w in verbs if w.dep == "conj" and w.tag in ("VBD", "VBZ", "VBP")]
    return any(w.lemma in _STATES for w in (main, *joined))
