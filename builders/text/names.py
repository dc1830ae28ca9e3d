"""How names are spelt: the names of a thing, and the pattern that finds one in folded text."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.words import compose_accents, fold_in_place, name_words, squeeze

_LISTS = language_data("words")
NAME_AFFIXES = word_set(_LISTS["added_to_names"])
"""Words that companies and clubs add to a name (`inc`, `fc`), folded and without full stops."""
BEFORE_NAMES = word_set(_LISTS["before_names"])
"""Words that often begin a sentence: their capital there does not make them part of a name."""
GENERIC_WORDS = word_set(_LISTS["generic_in_names"])
"""Last words of names that pages leave out (`Orchestra`)."""
FUNCTION_WORDS = word_set(_LISTS["function"])
"""Function words, which do not count where two names are compared."""
_STEM = 5
"""Letters that two words have to share to count as one: `Democrat` and `Democratic`, not `cat`."""


def without_bracket(text: str) -> str:
    """A title without the bracket at its end: `Paris` for `Paris (Texas)`, not for `… (Texas) FC`.

    It is written without a pattern, which would try every one of a million spaces as a beginning.
    """
    title = text.rstrip()
    opening = title.rfind("(")
    if opening < 0 or not title.endswith(")") or ")" in title[opening:-1]:
        return text
    return title[:opening].rstrip()


@dataclass(frozen=True)
class Name:
    """One name to look for in a text.

    A weak name is a shortened one: without `NAME_AFFIXES`, as a link writes it, or from
    `other_forms`.
    """

    text: str
    weak: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The folded words of the name; initials such as `F.C.` are one word."""
        return name_words(self.text)


def all_names(label: str, aliases: Iterable[str], title: str | None) -> list[Name]:
    """Every name of an object once; the strong names come before the weak ones."""
    strong_names = [label, *aliases, *([title] if title else [])]
    strong_names += [
        short_name
        for full_name in strong_names
        if (short_name := without_bracket(full_name)) != full_name
    ]
    names_by_words: dict[tuple[str, ...], Name] = {}
    for text in strong_names:
        if name_words(text) and any(letter.isalpha() for letter in text):
            names_by_words.setdefault(name_words(text), Name(text))
    for name in list(names_by_words.values()):
        if shorter_name := _shorter(name.text):
            names_by_words.setdefault(name_words(shorter_name), Name(shorter_name, weak=True))
    return list(names_by_words.values())


def _shorter(text: str) -> str | None:
    """The name without `The` and without `NAME_AFFIXES` at either end; None where nothing goes.

    A rest of three letters or fewer is too short to be a name.
    """
    all_words = text.split()
    kept_words = all_words[1:] if all_words[0] == "The" and len(all_words) > 2 else all_words
    while len(kept_words) > 1 and NAME_AFFIXES.issuperset(name_words(kept_words[-1])):
        kept_words = [*kept_words[:-2], kept_words[-2].rstrip(",")]
    while (
        len(kept_words) > 1
        and (first_words := name_words(kept_words[0]))
        and NAME_AFFIXES.issuperset(first_words)
    ):
        kept_words = kept_words[1:]
    short_name = " ".join(kept_words)
    return short_name if short_name != text and sum(map(str.isalpha, short_name)) > 3 else None


def other_forms(names: Iterable[Name]) -> list[Name]:
    """Forms that pages use instead of a name: its initials, and the name without a generic end."""
    names = list(names)
    known_words = {name.words for name in names}
    forms_by_words: dict[tuple[str, ...], Name] = {}
    for name in names:
        for name_form in (_without_generic(name.text), initials(name.text)):
            if name_form and name_words(name_form) not in known_words:
                forms_by_words.setdefault(name_words(name_form), Name(name_form, weak=True))
    return list(forms_by_words.values())


def _without_generic(text: str) -> str | None:
    """`Berlin Philharmonic` for `Berlin Philharmonic Orchestra`; None for names of two words."""
    *words_before, last_word = text.split()
    is_generic = (
        len(words_before) > 1
        and name_words(last_word)
        and GENERIC_WORDS.issuperset(name_words(last_word))
    )
    return " ".join(words_before) if is_generic and words_before[-1][0].isupper() else None


def initials(text: str) -> str | None:
    """The initials of a name of three capitalised words or more, without its function words.

    `Centrum Wiskunde & Informatica` gives `CWI`. Returns None for other names.
    """
    parts = [part for part in text.replace("-", " ").split() if part[0].isalpha()]
    content_words = [part for part in parts if not FUNCTION_WORDS.issuperset(name_words(part))]
    if len(content_words) < 3 or not all(part[0].isupper() for part in content_words):
        return None
    return "".join(part[0] for part in content_words)


def is_name(text: str, names: Iterable[Name]) -> bool:
    """Whether the words of a link are a name of the thing with these names.

    They are where they are one of the names or its initials. They also are where they share a word
    with a name, and every word has a capital that has one in the name. So `Leeds` names Leeds
    United, `King Charles` Charles III and `Democrat` a Democratic Party, but `his deputy`, `the
    university` and `Leeds manager` name nothing.
    """
    text_words = name_words(text)
    if not text_words:
        return False
    names = list(names)
    joined_words = "".join(text_words)
    for name in names:
        if name.words == text_words or squeeze(fold_in_place(name.text)) == joined_words:
            return True
    capitals = _capitals_by_word(names)
    text_parts = [part for part in re.split(r"[\s/-]+", text.strip("'\"() ")) if name_words(part)]
    content_parts = [part for part in text_parts if not FUNCTION_WORDS.issuperset(name_words(part))]
    if not all(_may_be_in_name(part, capitals) for part in content_parts):
        return False
    content_words = {word for part in content_parts for word in name_words(part)} - NAME_AFFIXES
    return any(_shares_stem(word, capitals) for word in content_words)


def _capitals_by_word(names: Iterable[Name]) -> dict[str, bool]:
    """Whether each word of some names always has a capital there; function words are left out."""
    capitals: dict[str, bool] = {}
    for name in names:
        for part in name.text.split():
            for word in name_words(part):
                if word not in FUNCTION_WORDS:
                    capitals[word] = capitals.get(word, True) and part[0].isupper()
    return capitals


def _may_be_in_name(part: str, capitals: Mapping[str, bool]) -> bool:
    """Whether a word begins with a capital or a digit, or stands in a name without a capital."""
    return part[0].isupper() or part[0].isdigit() or capitals.get(name_words(part)[0]) is False


def _shares_stem(word: str, known_words: Collection[str]) -> bool:
    """Whether a word is a known one, or one of the two begins with the other (`Democrat`)."""
    if word in known_words:
        return True
    return any(
        word[:_STEM] == known_word[:_STEM] and (known_word in word or word in known_word)
        for known_word in known_words
        if len(known_word) >= _STEM
    )


def same_case(name: Name, found_text: str) -> bool:
    """Whether the found text has capitals as the name has: all in short names, else the first."""
    name_letters = [letter for letter in name.text if letter.isalpha()]
    if len(name_letters) <= 4 or all(letter.isupper() for letter in name_letters):
        return [letter.isupper() for letter in found_text if letter.isalpha()] == [
            letter.isupper() for letter in name_letters
        ]
    if len(name.words) == 1 and name_letters[0].isupper():
        return found_text[:1].isupper()
    return True


@lru_cache(maxsize=16384)
def name_pattern(name: str) -> re.Pattern[str]:
    """The pattern that finds a name in folded text.

    Up to three marks may stand between two words: spaces, hyphens, apostrophes, slashes, and the
    marks that the name itself has there. A word of up to four letters may have a full stop behind
    it (`St. Louis`).
    """
    folded_name = fold_in_place(compose_accents(name))
    folded_words = name_words(name)
    pattern_pieces = [_piece(folded_words[0], name)]
    search_start = 0
    for word_before, word in pairwise(folded_words):
        between_start = max(
            search_start, folded_name.find(word_before, search_start) + len(word_before)
        )
        between_end = folded_name.find(word, between_start)
        characters_between = (
            set(folded_name[between_start:between_end]) if between_end >= 0 else set()
        )
        search_start = between_start
        allowed_marks = {mark for mark in characters_between if mark in '.,:;"!/+()'}
        allowed_marks |= {"."} if len(word_before) <= 4 else set()
        allowed_marks |= {","} if word in NAME_AFFIXES or word in ("jr", "sr") else set()
        pattern_pieces.append(
            rf"[ '\-/{re.escape(''.join(sorted(allowed_marks)))}]{{0,3}}" + _piece(word, name)
        )
    return re.compile(rf"(?<![^\W_]){''.join(pattern_pieces)}(?![^\W_])")


def _piece(word: str, name: str) -> str:
    """The pattern of one word; a word of initials is found with and without full stops."""
    if word == "and":
        return "(?:and|&)"
    dotted_pattern = r"\.\s?".join(re.escape(letter) for letter in word)
    may_be_initials = 2 <= len(word) <= 4 and word.isalpha()
    if may_be_initials and (
        word.upper() in name.split() or re.search(dotted_pattern, name, re.IGNORECASE)
    ):
        return r"(?:\.? ?)".join(word) + r"\.?"
    return re.escape(word)
