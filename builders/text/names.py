"""How names are spelt: the names of a thing, and the pattern that finds one in folded text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.words import compose_accents, fold_in_place, name_words, squeeze

_LISTS = language_data("words")
NAME_AFFIXES = word_set(_LISTS["added_to_names"])
"""What companies and clubs add to a name, folded, without full stops."""
BEFORE_NAMES = word_set(_LISTS["before_names"])
"""Words that a sentence may begin with: capitalised, they are no part of a name."""
GENERIC_WORDS = word_set(_LISTS["generic_in_names"])
"""The last word of a name that pages leave out."""
FUNCTION_WORDS = word_set(_LISTS["function"])
"""Words that weigh nothing where two names are compared."""
_STEM = 5
"""Letters from which on a word that begins another one is the same (`Democrat`, `Democratic`)."""
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")


def without_bracket(text: str) -> str:
    """`Paris (Texas)` as `Paris`."""
    return _BRACKET.sub("", text)


@dataclass(frozen=True)
class Name:
    """One name that is looked for.

    `weak`: without what companies and clubs add, as linked, or another form (`other_forms`).
    """

    text: str
    weak: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Folded words; `F.C.` is one."""
        return name_words(self.text)


def all_names(label: str, aliases: Iterable[str], title: str | None) -> list[Name]:
    """Every name of an object, the strong ones first, none twice."""
    strong = [label, *aliases, *([title] if title else [])]
    strong += [short for n in strong if (short := without_bracket(n)) != n]
    found: dict[tuple[str, ...], Name] = {}
    for text in strong:
        if name_words(text) and any(c.isalpha() for c in text):
            found.setdefault(name_words(text), Name(text))
    for name in list(found.values()):
        if shorter := _shorter(name.text):
            found.setdefault(name_words(shorter), Name(shorter, weak=True))
    return list(found.values())


def _shorter(text: str) -> str | None:
    """The name without `The` and without what companies and clubs add at either end."""
    parts = text.split()
    shorter = parts[1:] if parts[0] == "The" and len(parts) > 2 else parts
    while len(shorter) > 1 and NAME_AFFIXES.issuperset(name_words(shorter[-1])):
        shorter = [*shorter[:-2], shorter[-2].rstrip(",")]
    while len(shorter) > 1 and (first := name_words(shorter[0])) and NAME_AFFIXES.issuperset(first):
        shorter = shorter[1:]
    short = " ".join(shorter)
    return short if short != text and sum(map(str.isalpha, short)) > 3 else None


def other_forms(names: Iterable[Name]) -> list[Name]:
    """Forms that pages use in place of a name: its initials, and without its generic part."""
    names = list(names)
    known = {name.words for name in names}
    found: dict[tuple[str, ...], Name] = {}
    for name in names:
        for form in (_without_generic(name.text), initials(name.text)):
            if form and name_words(form) not in known:
                found.setdefault(name_words(form), Name(form, weak=True))
    return list(found.values())


def _without_generic(text: str) -> str | None:
    """`Berlin Philharmonic Orchestra` as `Berlin Philharmonic`: two words or more are left."""
    *parts, last = text.split()
    short = len(parts) > 1 and name_words(last) and GENERIC_WORDS.issuperset(name_words(last))
    return " ".join(parts) if short and parts[-1][0].isupper() else None


def initials(text: str) -> str | None:
    """The initials of a name of three capitalised words or more, small function words left out.

    `Centrum Wiskunde & Informatica` has `CWI`; None where it has none.
    """
    parts = [p for p in text.replace("-", " ").split() if p[0].isalpha()]
    content = [p for p in parts if not FUNCTION_WORDS.issuperset(name_words(p))]
    if len(content) < 3 or not all(p[0].isupper() for p in content):
        return None
    return "".join(p[0] for p in content)


def is_name(shown: str, names: Iterable[Name]) -> bool:
    """Whether the words of a link are a name of the thing with these names.

    They are one of the names or its initials, or share a word with one, which is capitalised where
    it is in the name, and all their other words are capitalised: `Leeds` of Leeds United, `King
    Charles`, `Democrat` of a Democratic Party, but not `his deputy`, `the university` or `Leeds
    manager`.
    """
    words_shown = name_words(shown)
    if not words_shown:
        return False
    known: dict[str, bool] = {}
    for name in names:
        if name.words == words_shown or squeeze(fold_in_place(name.text)) == "".join(words_shown):
            return True
        for part in name.text.split():
            for word in name_words(part):
                if word not in FUNCTION_WORDS:
                    known[word] = known.get(word, True) and part[0].isupper()
    parts = [p for p in re.split(r"[\s/-]+", shown.strip("'\"() ")) if name_words(p)]
    content = [p for p in parts if not FUNCTION_WORDS.issuperset(name_words(p))]
    if not all(
        p[0].isupper() or p[0].isdigit() or known.get(name_words(p)[0]) is False for p in content
    ):
        return False
    own = {w for p in content for w in name_words(p) if w not in NAME_AFFIXES}
    if not own.isdisjoint(known):
        return True
    long = [w for w in known if len(w) >= _STEM]
    return any(w[:_STEM] == k[:_STEM] and (k in w or w in k) for w in own for k in long)


def same_case(name: Name, found: str) -> bool:
    """Whether the letters' case of what was found is near enough to the name's."""
    letters = [c for c in name.text if c.isalpha()]
    if len(letters) <= 4 or all(c.isupper() for c in letters):
        return [c.isupper() for c in found if c.isalpha()] == [c.isupper() for c in letters]
    if len(name.words) == 1 and letters[0].isupper():
        return found[:1].isupper()
    return True


@lru_cache(maxsize=16384)
def name_pattern(name: str) -> re.Pattern[str]:
    """What finds a name in folded text.

    Between words may stand what stands between them in the name, and up to three spaces, hyphens,
    apostrophes or slashes; after a word of up to four letters a full stop (`St. Louis`).
    """
    plain = fold_in_place(compose_accents(name))
    parts = name_words(name)
    pieces = [_piece(parts[0], name)]
    place = 0
    for before, word in pairwise(parts):
        left = max(place, plain.find(before, place) + len(before))
        right = plain.find(word, left)
        between = set(plain[left:right]) if right >= 0 else set()
        place = left
        also = {c for c in between if c in '.,:;"!/+()'}
        also |= {"."} if len(before) <= 4 else set()
        also |= {","} if word in NAME_AFFIXES or word in ("jr", "sr") else set()
        pieces.append(rf"[ '\-/{re.escape(''.join(sorted(also)))}]{{0,3}}" + _piece(word, name))
    return re.compile(rf"(?<![^\W_]){''.join(pieces)}(?![^\W_])")


def _piece(word: str, name: str) -> str:
    """A word; one made of initials with or without their full stops."""
    if word == "and":
        return "(?:and|&)"
    dotted = r"\.\s?".join(re.escape(c) for c in word)
    short = 2 <= len(word) <= 4 and word.isalpha()
    if short and (word.upper() in name.split() or re.search(dotted, name, re.IGNORECASE)):
        return r"(?:\.? ?)".join(word) + r"\.?"
    return re.escape(word)
