"""Names of people, clubs and places that do not exist, for the renamed twins of rows.

A name is made of syllables that are drawn for the item's id, so that an item has the same name in
every row. No word of a name but its common noun (`Rovers`, `Party`) stands in the dump.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from factdrift.builders.core.hashing import seeded_index
from factdrift.builders.facts.relations import NamedKind, RelationWording
from factdrift.builders.rows import Entity, Segment

_ONSETS = (
    *("b", "br", "d", "dr", "f", "g", "gr", "h", "j", "k", "kr", "l", "m", "n", "p", "pl"),
    *("r", "s", "sk", "t", "tr", "v", "w", "z"),
)
_VOWELS = ("a", "e", "i", "o", "u", "ei", "ou")
_CODAS = ("l", "m", "n", "r", "s", "th", "x", "nd", "rk", "lt", "v", "sk", "mb", "rn")
# First names end in a vowel, so that they are no part of a last name.
_FIRST_ENDINGS = ("a", "e", "i", "o", "u", "ia", "eo")
_COMMON_NOUNS: Mapping[NamedKind, tuple[str, ...]] = {
    "national_team": ("national team",),
    "team": ("Rovers", "United", "Athletic", "Wanderers", "Rangers"),
    "party": ("Party", "Alliance", "Movement", "Union"),
    "school": ("University", "College", "Academy"),
    "league": ("League",),
    "organization": ("Group", "Institute", "Society", "Works", "Trust"),
}
_OFFICES = ("Warden", "Steward", "Provost", "Marshal", "Reeve", "Castellan")
_ADJECTIVE_ENDING = "ian"
"""What makes an adjective of the name of a country, which ends in a consonant."""
_HUMAN = "Q5"
# A party has a chair as other organizations do, a school has employees, and an owner is a person or
# a state or a company.
_MOST_TELLING: tuple[NamedKind, ...] = (
    "person", "office", "national_team", "team", "party", "school", "league", "place",
    "organization",
)  # fmt: skip
# Two syllables give some half a million words; a release that needs more gets longer ones.
_SYLLABLES = 2
_TRIES_A_LENGTH = 4


class OfficeOrigin(NamedTuple):
    """The kind of an office, and the item of its country where its title names the country."""

    kind: str
    country: str | None


def kinds_of_items(
    entities: Mapping[str, Entity],
    segments: Iterable[Segment],
    phrases: Mapping[str, RelationWording],
) -> dict[str, NamedKind]:
    """Return what each item is: a human by its class, else by the relations that it stands in."""
    kinds_by_item: dict[str, set[NamedKind]] = defaultdict(set)
    for segment in segments:
        relation_wording = phrases[segment.relation]
        kinds_by_item[segment.subject].add(relation_wording.subject_is)
        kinds_by_item[segment.object].add(relation_wording.object_is)
    kind_by_item: dict[str, NamedKind] = {}
    for item_id, entity in entities.items():
        if _HUMAN in entity.classes:
            kind_by_item[item_id] = "person"
            continue
        item_kinds = kinds_by_item[item_id]
        kind_by_item[item_id] = next(
            (kind for kind in _MOST_TELLING if kind in item_kinds), "thing"
        )
    return kind_by_item


def invent_names(
    kinds: Mapping[str, NamedKind],
    seed: int,
    words_in_use: Callable[[Collection[str]], set[str]],
    offices: Mapping[str, OfficeOrigin] = MappingProxyType({}),
) -> dict[str, str]:
    """Return a name for each item.

    `kinds` says what each item is. `words_in_use` tells which of some words, in small letters, are
    words of names in the dump. `offices` says of what kind and country offices are: those of one
    kind have one noun, and one whose title names its country is named with the new name of it, so
    that a twin shows what the source's names show.
    """
    names: dict[str, str] = {}
    taken_words: set[str] = set()
    waiting_ids = sorted(kinds)
    try_number = 0
    while waiting_ids:
        drawn_words = {item_id: _drawn_word(seed, item_id, try_number) for item_id in waiting_ids}
        first_names = {
            item_id: _drawn_first_name(seed, item_id, try_number)
            for item_id in waiting_ids
            if kinds[item_id] == "person"
        }
        all_words = {
            new_word.lower() for new_word in (*drawn_words.values(), *first_names.values())
        }
        used_words = words_in_use(all_words)
        still_waiting = []
        for item_id in waiting_ids:
            new_word = drawn_words[item_id].lower()
            first_name = first_names.get(item_id, "")
            if (
                new_word in taken_words
                or new_word in used_words
                or first_name.lower() in used_words
            ):
                still_waiting.append(item_id)
                continue
            taken_words.add(new_word)
            origin = offices.get(item_id, OfficeOrigin(item_id, None))
            names[item_id] = _whole_name(
                kinds[item_id], drawn_words[item_id], first_name, seed, item_id, origin
            )
        waiting_ids, try_number = still_waiting, try_number + 1
    for item_id, origin in offices.items():
        if origin.country in names:
            names[item_id] = f"{names[origin.country]}{_ADJECTIVE_ENDING} {names[item_id]}"
    return names


def _whole_name(
    kind: NamedKind, word: str, first_name: str, seed: int, item_id: str, origin: OfficeOrigin
) -> str:
    if kind == "person":
        return f"{first_name} {word}"
    if kind == "office":
        return f"{_pick(_OFFICES, seed, origin.kind, 'office')} of {word}"
    if kind in _COMMON_NOUNS:
        return f"{word} {_pick(_COMMON_NOUNS[kind], seed, item_id, 'noun')}"
    return word


def _drawn_word(seed: int, item_id: str, try_number: int) -> str:
    """Return a word that begins with a capital: `Dravouth`."""
    syllable_count = _SYLLABLES + try_number // _TRIES_A_LENGTH
    joined_syllables = "".join(
        _pick(_ONSETS, seed, item_id, try_number, "onset", place)
        + _pick(_VOWELS, seed, item_id, try_number, "vowel", place)
        for place in range(syllable_count)
    )
    return (joined_syllables + _pick(_CODAS, seed, item_id, try_number, "coda")).capitalize()


def _drawn_first_name(seed: int, item_id: str, try_number: int) -> str:
    """Return a first name: `Koria`."""
    name_parts = [
        _pick(_ONSETS, seed, item_id, try_number, "first onset"),
        _pick(_VOWELS, seed, item_id, try_number, "first vowel"),
        _pick(_ONSETS, seed, item_id, try_number, "second onset"),
        _pick(_FIRST_ENDINGS, seed, item_id, try_number, "ending"),
    ]
    return "".join(name_parts).capitalize()


def _pick(parts: tuple[str, ...], *drawn_for: object) -> str:
    return parts[seeded_index(len(parts), *drawn_for)]
