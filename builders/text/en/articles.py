"""Which names take "the", and which words "a" or "an": tables of patterns and exceptions.

A rule of thumb for English labels, not a grammar: it decides how an example sentence reads,
never which answer is right (a query's blank covers the article).
"""

import re
import unicodedata
from functools import lru_cache

from factdrift.builders.text.data import language_data

_LISTS = {name: "|".join(lines) for name, lines in language_data("articles").items()}
_THE = re.compile(_LISTS["the"])
_NO_THE = re.compile(_LISTS["no_the"])
_HEADS, _HEADS_OF, _TEAMS = (_LISTS[name] for name in ("heads", "heads_of", "teams"))
_PATTERNS = re.compile(
    r"(?!.* v\.? )(?:"  # a law case is named without it
    r"United (?:States|Nations|Kingdom)\b"
    r"|\d{4} .*\b(?:Games|Olympics|Paralympics|election|referendum)$"
    # the first such word decides (`?>`): where no `of` is behind it, none is behind a later one
    r"|(?>[^,]*?\b(?:Award|Medal|Prize)\b)[^,]*? in \S"
    rf"|(?>[^,]*?\b(?:{_HEADS}|{_HEADS_OF})\b)[^,]*? (?:of|for|on) \S"
    rf"|.*\b(?:{_HEADS})(?:, [^,]*)?$"
    rf"|\S.* (?:{_TEAMS})$"
    r"|Eurovision Song Contest\b"
    r"|(?:Airbus|Antonov|Boeing|Ilyushin|McDonnell Douglas|Tupolev) \S*\d"
    ")"
)

_SAYS = re.compile(r'["”’]?(?:,|;| \(| (?:is|was|are|were|has|had|or|refers)\b)')
"""The marks and verbs that may follow the whole name of a subject at the start of a text."""
_PART_OF_PLACE = re.compile(rf"(?:{_LISTS['parts_of_places']}) of [^\Wa-z]")

_AN_H = re.compile(r"h(?:onest|onou?r|our|eir)", re.I)
_A_VOWEL = re.compile(
    r"eu|ewe|one(?!i)|once\b|u(?:ni(?!n|m|d)|nanim|nesco|efa|kr|[bcfghjkqrst][aeiou])", re.I
)
# Abbreviations that are read letter by letter: `MP`, `FBI`, but not `Mp` or `NATO`.
_SPELLED = re.compile(r"(?:[A-Z]{1,3}|[B-DF-HJ-NP-TV-Z]+)(?:s|'s)?(?![A-Za-z])")
_LETTER_AN = frozenset("AEFHILMNORSX")
# Numbers that begin with a vowel sound: 8, 11, 18, 80, but not 1 or 118.
_NUMBER_AN = re.compile(r"(?:8|1[18](?!\d))")


@lru_cache(1 << 16)
def takes_the(name: str) -> bool:
    """Whether running text puts "the" before this name: the Labour Party, but Italy, The Hague."""
    if _THE.fullmatch(name):
        return True
    if _NO_THE.fullmatch(name) or name.lower().startswith("the "):
        return False
    # A label in lower case is a common noun or a brand; a name only as part of a place.
    name_pattern = _PART_OF_PLACE if name[:1].islower() else _PATTERNS
    return name_pattern.match(name) is not None


def opening_article(text: str, name: str) -> bool | None:
    """Whether a text that begins with this name has "the" before it; None where it is unclear.

    It is clear for `The London Fire Brigade (LFB) is ...` and for `ThinkPad is ...`. It is unclear
    where the text begins with a longer or another name, or the name has an article of its own.
    """
    if not name or name.lower().startswith("the "):
        return None
    rest = text.removeprefix("The ")
    openings = rest[:1].lower() + rest[1:], name[:1].lower() + name[1:]
    if not openings[0].startswith(openings[1]) or not _SAYS.match(rest, len(name)):
        return None
    return rest != text


def a_or_an(word: str) -> str:
    """The indefinite article by sound: an actor, a university teacher, an MP, an 8-bit computer."""
    plain_word = unicodedata.normalize("NFKD", word).lstrip(" \"'“‘«(")
    if _SPELLED.match(plain_word):
        return "an" if plain_word[0] in _LETTER_AN else "a"
    if _NUMBER_AN.match(plain_word) or _AN_H.match(plain_word):
        return "an"
    if _A_VOWEL.match(plain_word):
        return "a"
    return "an" if plain_word[:1].lower() in tuple("aeiou") else "a"
