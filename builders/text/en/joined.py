"""Names that stand beside an answer: `Poland and the Czech Republic`, of which one is asked."""

import re

from factdrift.builders.text.data import words
from factdrift.builders.text.en.answers import names
from factdrift.builders.text.pipeline import Word, below, children, read

_KINDS = ("PERSON", "ORG", "GPE", "NORP", "LOC", "FAC", "")
_CIRCUMSTANCE = words("in on at over for during after before from to near")
"""What they open is often said of all the names, though it hangs on the last."""
_ONE_OF_MANY = re.compile(
    r"(?:[A-Z][a-z]+ )?(?:who|whom|where|(?:which|what) (?:other )?(?:country|nation|nationality|"
    r"city|town|state|province|company|firm|organi[sz]ation|agency|person|place)(?:['’]s|(?= )))\b",
    re.IGNORECASE,
)
"""Questions whose words do not say which of several names they mean: not `Which Greek bank`."""
_BEARER = re.compile(r"[Ww]ho(?:['’]s| is| was| are| were) (?:the\b|an?\b|[A-Z])")
"""Questions for the bearer of an office, which is told beside each name."""
_NAME = ("NNP", "NNPS")


def joined_name(question: str, sentence: str, start: int, end: int) -> str | None:
    """Another name that `and`, `or` or a comma joins to the answer, which a question leaves out.

    The answer is `sentence[start:end]`. None where the question says which of the names it means:
    by its own noun, an office, or words that stand with the answer alone; and where it has both.
    """
    if not _ONE_OF_MANY.match(question) or _BEARER.match(question):
        return None
    found = read(sentence)
    inside = {w.at for w in found if w.start < end and w.end > start}
    head = next((w for w in found if w.at in inside and w.head not in inside - {w.at}), None)
    if head is None or head.label not in _KINDS or head.tag not in _NAME:
        return None
    asked = {w.lemma.lower() for w in read(question) if w.tag[:2] in ("NN", "VB", "CD", "JJ")}
    own = below(found, head.at) - inside
    for child in children(found, head.at):
        if child.dep in ("conj", "cc", "punct") or child.low in _CIRCUMSTANCE:
            own -= below(found, child.at)
    if any(found[at].lemma.lower() in asked for at in own):
        return None
    for other in _beside(found, head):
        if other.at in inside or other.tag not in _NAME or not _alike(question, head, other):
            continue
        name = " ".join(w.text for w in found if w.at in _name(found, other))
        if not names(question, name):
            return name
    return None


def _alike(question: str, one: Word, other: Word) -> bool:
    """Whether two names can both be meant: of one kind, as far as the pipeline knows them.

    It takes towns for persons, and what a place stands beside is one.
    """
    if one.label == other.label or not (one.label and other.label):
        return True
    return other.label in _KINDS and question.lower().startswith("where")


def _beside(found: tuple[Word, ...], head: Word) -> list[Word]:
    """The heads of what is joined to a word, before it and after it."""
    first = head
    while first.dep == "conj":
        first = found[first.head]
    out, waiting = [first], [first]
    while waiting:
        more = [w for w in children(found, waiting.pop().at) if w.dep == "conj"]
        out += more
        waiting += more
    return out


def _name(found: tuple[Word, ...], head: Word) -> set[int]:
    """Places of the words of a name."""
    first = head.at
    while first and found[first - 1].label == head.label and found[first - 1].head == head.at:
        first -= 1
    return set(range(first, head.at + 1))
