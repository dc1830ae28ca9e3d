"""Whether a text names an answer: by whole words, with the capitals that tell May from may."""

import re
from functools import cache

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.words import DETERMINERS, SMALL_WORDS, fold, folded_tokens

_LISTS = language_data("questions")
TITLES = word_set(_LISTS["titles"])
"""What stands before a name and is no part of it."""
_NUMBERS = {w: str(n) for n, w in enumerate(_LISTS["numbers"].split())}
_TENS = {w: 10 * n for n, w in enumerate(_LISTS["tens"].split(), 2)}
_UNITS = word_set(
    "second minute hour day week month year decade century dollar euro pound mile point"
)
_LEGAL = word_set(language_data("words")["added_to_names"])
_LONGEST_FIRST = sorted((re.escape(title) for title in TITLES), key=lambda t: (-len(t), t))
_TITLE = re.compile(rf"^(?:{'|'.join(_LONGEST_FIRST)})\.?\s+(?=[A-Z])")
_ODD_FIRST = word_set(
    "who whom whose what which when where why how may will can is are was were did does do has "
    "have it us march turkey polish mark bill hope"
)
"""First words that are mostly no names, for all their capital."""
_PIECES = re.compile(r"(?<=[\s\-–—/(\"“])")


def numbers_in_digits(found: tuple[str, ...]) -> tuple[str, ...]:
    """Folded words with numbers in digits and units in the singular: `five years` is 5, year."""
    out: list[str] = []
    for word in found:
        if out and out[-1] in _TENS and word in _NUMBERS:
            out[-1] = str(_TENS[out[-1]] + int(_NUMBERS[word]))
        else:
            out.append(_NUMBERS.get(word, word) if word != "one" else word)
    out = [str(_TENS[w]) if w in _TENS else w for w in out]
    return tuple(w[:-1] if w[:-1] in _UNITS else w for w in out)


def bare_answer(answer: str) -> str:
    """An answer without the title before a name and the legal form behind it."""
    plain = _TITLE.sub("", answer.strip())
    parts = plain.split()
    while len(parts) > 1 and parts[-1].strip(".,").casefold() in _LEGAL:
        parts.pop()
    return " ".join(parts).rstrip(",")


def _spans(text: str, *, unknown: bool) -> list[tuple[str, bool]]:
    """The folded words of a text, numbers in digits, and whether each is written with a capital.

    Where numbers of several words became one, nobody knows of any: `unknown` stands for all.
    """
    found = [
        (word, any(c.isupper() for c in piece))
        for piece in _PIECES.split(text.replace("’", "'"))
        for word in folded_tokens(piece, DETERMINERS)
    ]
    words = numbers_in_digits(tuple(word for word, _ in found))
    if len(words) < len(found):
        return [(word, unknown) for word in words]
    return [(word, capital) for word, (_, capital) in zip(words, found, strict=True)]


def names_answer(text: str, answer: str, *, small: bool = False) -> bool:
    """Whether the words of an answer stand in a text side by side.

    Determiners are ignored; numbers in words are numbers. An answer that is written with capitals
    is not named by words without: `US` is not in `told us`, nor `May` in `may vote`; a text that
    has no capitals but its first says nothing about that. `small`: prepositions at the ends of the
    answer are ignored, too, so that `in London` is named by `London buses`.
    """
    wanted = _spans(answer, unknown=False)
    if small and folded_tokens(answer, SMALL_WORDS):
        content = [at for at, (word, _) in enumerate(wanted) if word not in SMALL_WORDS]
        wanted = wanted[content[0] : content[-1] + 1]
    there = _spans(text, unknown=True)
    if there and there[0][0] in _ODD_FIRST and text.startswith(there[0][0].capitalize()):
        there[0] = (there[0][0], False)  # the capital of a head says nothing
    cased = text.strip()[:1].isupper()
    return bool(wanted) and any(
        all(
            word == own and (capital or not named or not cased)
            for (word, capital), (own, named) in zip(there[at:], wanted, strict=False)
        )
        for at in range(len(there) - len(wanted) + 1)
    )


@cache
def _peoples() -> dict[str, frozenset[str]]:
    """What the people of a country are called, by the country's folded words."""
    found: dict[str, set[str]] = {}
    for entry in _LISTS["countries_of"].split():
        people, _, country = entry.replace("_", " ").partition(":")
        found.setdefault(" ".join(folded_tokens(country)), set()).add(people)
    return {country: frozenset(called) for country, called in found.items()}


def gives_answer_away(question: str, answer: str) -> bool:
    """Whether a question tells its own answer: whole, bare, or a country by its people."""
    if any(names_answer(question, one, small=True) for one in {answer, bare_answer(answer)}):
        return True
    peoples = _peoples().get(" ".join(folded_tokens(answer, SMALL_WORDS)), ())
    return any(re.search(rf"\b{people}\b", question) for people in peoples)


def answer_key(answer: str) -> str:
    """What equal answers share, so that they can be looked up: the last word of the bare answer."""
    found = numbers_in_digits(folded_tokens(bare_answer(answer)))
    content = [w for w in found if w not in SMALL_WORDS] or list(found)
    return content[-1] if content else fold(answer)
