"""Which names take "the", and which words "a" or "an": tables of patterns and exceptions.

A rule of thumb for English labels, not a grammar: it decides how an example sentence reads,
never which answer is right (a query's blank covers the article).
"""

import re
import unicodedata

from factdrift.builders.text.data import language_data

_LISTS = {name: "|".join(lines) for name, lines in language_data("articles").items()}
_THE = re.compile(_LISTS["the"])
_NO_THE = re.compile(_LISTS["no_the"])
_HEADS, _HEADS_OF, _TEAMS = (_LISTS[name] for name in ("heads", "heads_of", "teams"))
_PATTERNS = re.compile(
    r"(?!.* v\.? )(?:"  # a law case is named without it
    r"United (?:States|Nations|Kingdom)\b"
    r"|\d{4} .*\b(?:Games|Olympics|Paralympics|election|referendum)$"
    r"|[^,]*\b(?:Award|Medal|Prize)\b[^,]*? in \S"
    rf"|[^,]*\b(?:{_HEADS}|{_HEADS_OF})\b[^,]*? (?:of|for|on) \S"
    rf"|.*\b(?:{_HEADS})(?:, [^,]*)?$"
    rf"|\S.* (?:{_TEAMS})$"
    r"|Eurovision Song Contest\b"
    r"|(?:Airbus|Antonov|Boeing|Ilyushin|McDonnell Douglas|Tupolev) \S*\d"
    ")"
)

_SAYS = re.compile(r'["”’]?(?:,|;| \(| (?:is|was|are|were|has|had|or|refers)\b)')
"""What follows the whole name of a subject where a text begins with it."""
_PART_OF_PLACE = re.compile(rf"(?:{_LISTS['parts_of_places']}) of [^\Wa-z]")

_AN_H = re.compile(r"h(?:onest|onou?r|our|eir)", re.I)
_A_VOWEL = re.compile(
    r"eu|ewe|one(?!i)|once\b|u(?:ni(?!n|m|d)|nanim|nesco|efa|kr|[bcfghjkqrst][aeiou])", re.I
)
_SPELLED = re.compile(r"(?:[A-Z]{1,3}|[B-DF-HJ-NP-TV-Z]+)(?:s|'s)?(?![A-Za-z])")
_LETTER_AN = frozenset("AEFHILMNORSX")
_NUMBER_AN = re.compile(r"(?:8|1[18](?!\d))")


def takes_the(name: str) -> bool:
    """Whether running text says "the" before this name: the Labour Party, but Italy, The Hague."""
    if _THE.fullmatch(name):
        return True
    if _NO_THE.fullmatch(name) or name.lower().startswith("the "):
        return False
    # A label in lower case is a common noun or a brand; a name only as part of a place.
    name_pattern = _PART_OF_PLACE if name[:1].islower() else _PATTERNS
    return name_pattern.match(name) is not None


def opening_article(text: str, name: str) -> bool | None:
    """Whether a text that begins with this name says "the" before it; None: it does not say.

    `The London Fire Brigade (LFB) is ...` and `ThinkPad is ...` say it; a text that begins with a
    longer or another name does not, nor where the name has its own article.
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
    plain = unicodedata.normalize("NFKD", word).lstrip(" \"'“‘«(")
    if _SPELLED.match(plain):
        return "an" if plain[0] in _LETTER_AN else "a"
    if _NUMBER_AN.match(plain) or _AN_H.match(plain):
        return "an"
    if _A_VOWEL.match(plain):
        return "a"
    return "an" if plain[:1].lower() in tuple("aeiou") else "a"
