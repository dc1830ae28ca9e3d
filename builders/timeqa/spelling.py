"""How names are spelt: folding for comparison, and the pattern that finds a name in folded text."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

ADDED = frozenset(
    "fc afc cf sc ac as bc bk fk sk if sv cd ud rc rcd aff inc incorporated ltd limited llc plc "
    "corp corporation co company gmbh ag sa nv bv oy ab spa jsc kk llp".split()
)
"""What companies and clubs add to a name, folded, without full stops."""

_ODD = str.maketrans("łŁøØđĐıſ‐‑‒–—−’‘`´“”ʼ\u00a0\u2009\u202f", "llooddis------''''\"\"'   ")
_MARK = re.compile("[\u0300-\u036f]")
_WORD = re.compile(r"[^\W_]+|&")
_APART = re.compile(r"[\W_]+")
_INITIALS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]\.\s?){2,}|(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])"
)
_PLACED = re.compile(r"([^\W\d_][^,]*), ([^\W\d_][^,]*)")
_JOINING = frozenset("and for of".split())
"""In `University of California, Berkeley` and `Minister for Health, Wales` the name before the
comma is another thing's, and in `Minister for Health, Labour and Sport` there is no place."""
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    plain = unicodedata.normalize("NFKD", char.translate(_ODD))[0].lower()
    return plain if len(plain) == 1 else char


def fold(text: str) -> str:
    """The text for comparing, of the same length: small letters without accents, plain marks."""
    if text.isascii():
        return text.lower()
    return "".join([c if c < "\x80" else _folded(c) for c in text]).lower()


def fold_without_marks(text: str) -> tuple[str, list[int] | None]:
    """`fold`, accents that are characters of their own left out; and where each character was.

    The places are None where every character stays where it is.
    """
    if text.isascii() or not _MARK.search(text):
        return fold(text), None
    places = [n for n, c in enumerate(text) if not "\u0300" <= c <= "\u036f"]
    return fold("".join(text[n] for n in places)), [*places, len(text)]


def squeeze(folded: str) -> str:
    """Letters and digits alone: what holds a name holds its words, joined, in this."""
    return _APART.sub("", folded.replace("&", "and"))


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a name; initials with full stops are one word, `&` is `and`."""
    composed = _MARK.sub("", unicodedata.normalize("NFC", text))
    whole = _INITIALS.sub(lambda m: re.sub(r"[.\s]", "", m[0]) + " ", composed)
    return tuple("and" if w == "&" else w for w in _WORD.findall(fold(whole)))


def without_bracket(text: str) -> str:
    """`Paris (Texas)` as `Paris`."""
    return _BRACKET.sub("", text)


@dataclass(frozen=True)
class Name:
    """One name that is looked for.

    `weak`: without what companies and clubs add, without its place, or as linked; `place`: what
    it is without (`Oxford`).
    """

    text: str
    weak: bool = False
    place: str = ""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Folded words; `F.C.` is one."""
        return words(self.text)


def names_of(label: str, aliases: Iterable[str], title: str | None) -> list[Name]:
    """Every name of an object, the strong ones first, none twice."""
    strong = [label, *aliases, *([title] if title else [])]
    strong += [short for n in strong if (short := without_bracket(n)) != n]
    found: dict[tuple[str, ...], Name] = {}
    for text in strong:
        if words(text) and any(c.isalpha() for c in text):
            found.setdefault(words(text), Name(text))
    for name in list(found.values()):
        if shorter := _shorter(name.text):
            found.setdefault(words(shorter), Name(shorter, weak=True))
        if at := _PLACED.fullmatch(name.text):
            plain, place = at[1], at[2]
            capitals = plain[0].isupper() and place[0].isupper()
            if capitals and len(words(plain)) > 1 and _JOINING.isdisjoint(name.words):
                found.setdefault(words(plain), Name(plain, weak=True, place=place))
    return list(found.values())


def _shorter(text: str) -> str | None:
    """The name without `The` and without what companies and clubs add at either end."""
    parts = text.split()
    shorter = parts[1:] if parts[0] == "The" and len(parts) > 2 else parts
    while len(shorter) > 1 and all(w in ADDED for w in words(shorter[-1])):
        shorter = [*shorter[:-2], shorter[-2].rstrip(",")]
    while len(shorter) > 1 and words(shorter[0]) and all(w in ADDED for w in words(shorter[0])):
        shorter = shorter[1:]
    short = " ".join(shorter)
    return short if short != text and sum(map(str.isalpha, short)) > 3 else None


def same_case(name: Name, found: str) -> bool:
    """Whether the letters' case of what was found is near enough to the name's."""
    letters = [c for c in name.text if c.isalpha()]
    if len(letters) <= 4 or all(c.isupper() for c in letters):
        return [c.isupper() for c in found if c.isalpha()] == [c.isupper() for c in letters]
    if len(name.words) == 1 and letters[0].isupper():
        return found[:1].isupper()
    return True


@lru_cache(maxsize=16384)
def pattern(name: str) -> re.Pattern[str]:
    """What finds a name in folded text.

    Between words may stand what stands between them in the name, and up to three spaces, hyphens,
    apostrophes or slashes; after a word of up to four letters a full stop (`St. Louis`).
    """
    plain = fold(_MARK.sub("", unicodedata.normalize("NFC", name)))
    parts = words(name)
    pieces = [_piece(parts[0], name)]
    place = 0
    for before, word in pairwise(parts):
        left = max(place, plain.find(before, place) + len(before))
        right = plain.find(word, left)
        between = set(plain[left:right]) if right >= 0 else set()
        place = left
        also = {c for c in between if c in '.,:;"!/+()'}
        also |= {"."} if len(before) <= 4 else set()
        also |= {","} if word in ADDED or word in ("jr", "sr") else set()
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
