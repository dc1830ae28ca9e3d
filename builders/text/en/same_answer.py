"""Whether two answers are the same one in other words: short names, numbers, negation."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.en.answers import bare_answer, names_answer, numbers_in_digits
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.names import FUNCTION_WORDS, GENERIC_WORDS, initials
from factdrift.builders.text.words import DETERMINERS, SMALL_WORDS, fold, folded_tokens

_NAMES, _LISTS = language_data("names"), language_data("questions")
_TELLS_APART = word_set(fold(_NAMES["tells_apart"]))
_NO_NAMES_ALONE = (
    word_set(_NAMES["no_names_alone"])
    | word_set(language_data("words")["kinds_in_names"])
    | GENERIC_WORDS
)
_COUNTRIES = frozenset(folded_tokens(country) for country in COUNTRIES)
_LONGEST_NAME = 8
"""Words of a name that is compared with an abbreviation, at most: a guess; few have more."""
_FEWEST_LETTERS = 3
"""Letters of initials that stand for a name: two are the initials of many things."""
_FEWEST_OF_FIRST_WORD = 3
"""Letters that a shortened first word keeps, as in `Man City`."""
# `(WHO)` at the end of a name
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
# `PSG` and `U.S.`, not `Paris` or `I`
_ABBREVIATION = re.compile(r"(?<![\w.])(?:[A-Z]{2,}|(?:[A-Z]\.){2,})(?!\w)")
# the parts of names, `Saint` and `Germain` of `Saint-Germain`; not the hyphen
_PART = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*\.?")

# --- Amounts ----------------------------------------------------------------------------------

# `20%` and `20 per cent`, not `20 cents`
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|per\s?cent\b|percent\b|pc\b)")
# the short word of `3.3bn` or `5 m`, not of `5 men`
_SHORT_NUMBER = re.compile(r"(?<=\d)\s?(k|m|mn|mln|bn|tn|trn)\b", re.IGNORECASE)
_NUMBER_WORDS = {
    "k": "thousand", "m": "million", "mn": "million", "mln": "million", "bn": "billion",
    "tn": "trillion", "trn": "trillion",
}  # fmt: skip
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen"}
# `$5 million` and `US$5`, not `5 million`
_MONEY = re.compile(
    r"(?:\b(?:US|A|C|NZ|HK))?([$€£¥])\s?(\d[\d.,]*\d|\d)(\s(?:thousand|million|billion|trillion)\b)?"
)
# the blank in `10 000`, not the one in `10 men` or `2 100`, which may be two numbers
_BLANK_OF_THOUSANDS = re.compile(r"(?<=\d\d)[ \u00a0\u202f](?=\d{3}(?!\d))")


def plain_amounts(text: str) -> str:
    """A text with amounts in words: `$3.3bn` is 3.3 billion dollars, and `20%` is 20 percent."""
    text = _BLANK_OF_THOUSANDS.sub(",", text)
    text = _PERCENT.sub(" percent", text)
    text = _SHORT_NUMBER.sub(lambda unit: f" {_NUMBER_WORDS[unit[1].lower()]}", text)
    return _MONEY.sub(lambda money: f"{money[2]}{money[3] or ''} {_CURRENCIES[money[1]]}", text)


def has_amount(text: str) -> bool:
    """Whether a text has a percentage, a sum of money or a number in short."""
    return any(pattern.search(text) for pattern in (_PERCENT, _SHORT_NUMBER, _MONEY)) or bool(
        _AMOUNT_WORDS.intersection(folded_tokens(text))
    )


_AMOUNT_WORDS = frozenset(
    (*_NUMBER_WORDS.values(), *_CURRENCIES.values(), "dollar", "euro", "pound", "percent")
)


# --- Names ------------------------------------------------------------------------------------


@cache
def _full_names() -> dict[tuple[str, ...], tuple[str, ...]]:
    """The folded words of full names by those of the short names in the list."""
    full_names = {}
    for entry in _NAMES["short_names"].split():
        short_name, _, full_name = entry.replace("_", " ").partition("=")
        full_names[folded_tokens(short_name)] = folded_tokens(full_name)
    return full_names


@lru_cache(256)
def full_name_words(name: str) -> tuple[str, ...]:
    """The folded words of a name; those of the full name where it is a short one of the list.

    A title before the name, a legal form and a bracket behind it are left out, and numbers are in
    digits: the `U.S.` is united, states.
    """
    plain_name = _BRACKET.sub("", name.replace("&", " and ").strip()) or name
    whole_words = folded_tokens(plain_name)
    if whole_words in _full_names().values():
        return whole_words  # `General Motors` has no title
    name_words = numbers_in_digits(folded_tokens(bare_answer(plain_name)))
    return _full_names().get(name_words, name_words)


def is_abbreviation(short: str, name: str) -> bool:
    """Whether an abbreviation has the initials of a name of three words or more: PSG, FBI, MIT.

    What a name has behind its initials may be a word of a kind: JFK is John F. Kennedy
    International Airport.
    """
    letters = re.sub(r"[^\w]", "", short)
    if not _ABBREVIATION.fullmatch(short.strip()) or len(letters) < _FEWEST_LETTERS:
        return False
    bare_name = _BRACKET.sub("", name)
    if (name_initials := initials(bare_name)) is None:
        return False
    if name_initials.upper() == letters:
        return True
    rest_words = folded_tokens(bare_name)[len(letters) :]
    return name_initials.upper().startswith(letters) and _NO_NAMES_ALONE.issuperset(rest_words)


def is_same_name(name: str, other_name: str) -> bool:
    """Whether two names are the same one: whole, in short, by a surname or a team's own name."""
    words, other_words = full_name_words(name), full_name_words(other_name)
    if not words or not other_words:
        return False
    if words == other_words or _without_initials(words, other_words):
        return True
    if ("," in name) != ("," in other_name):
        # where a place lies is no part of its name: `Port Fourchon, La.`
        before_comma = [full_name_words(text.partition(",")[0]) for text in (name, other_name)]
        if before_comma[0] == before_comma[1] and before_comma[0]:
            return True
    bare_names = [_BRACKET.sub("", text).strip() for text in (name, other_name)]
    for short, long in (bare_names, reversed(bare_names)):
        if is_abbreviation(short.removeprefix("the "), long.removeprefix("the ")):
            return True
    if _has_short_first_word(words, other_words):
        return True
    shorter, longer = sorted((words, other_words), key=len)
    return longer[-len(shorter) :] == shorter and _stands_alone(longer, len(shorter))


def _without_initials(words: Sequence[str], other_words: Sequence[str]) -> bool:
    """Whether only one of two names has initials inside, and nothing else differs."""
    without = [
        [word for index, word in enumerate(name) if index == 0 or len(word) > 1]
        for name in (words, other_words)
    ]
    has_initials = [len(without[0]) < len(words), len(without[1]) < len(other_words)]
    return not all(has_initials) and without[0] == without[1] and len(without[0]) > 1


def _has_short_first_word(words: Sequence[str], other_words: Sequence[str]) -> bool:
    """Whether two names differ in a shortened first word alone: Man City, Manchester City."""
    if len(words) != len(other_words) or len(words) < 2 or words[1:] != other_words[1:]:
        return False
    shorter, longer = sorted((words[0], other_words[0]), key=len)
    return len(shorter) >= _FEWEST_OF_FIRST_WORD and longer.startswith(shorter)


def _stands_alone(name_words: tuple[str, ...], rest_length: int) -> bool:
    """Whether the last words of a name are enough to name the same: a surname, the Lakers.

    They are not where the name is that of a country, where a word before them tells it from others
    (New York), where they belong to a noun (Bank of England), or where they name nothing or a
    country by themselves. Words further before (New York Yankees) tell nothing of the rest.
    """
    left_out, rest = name_words[:-rest_length], name_words[-rest_length:]
    return not (
        name_words in _COUNTRIES
        or rest in _COUNTRIES
        or left_out[-1] in _TELLS_APART
        or {"of", "for"}.intersection(left_out)
        or _NO_NAMES_ALONE.issuperset(rest)
    )


def answer_key(answer: str) -> str:
    """A key that equal answers share: the last significant word, all words where one is a number.

    `Cook` has the key of `Tim Cook`, and `$19bn` that of `$19 billion`, but not of `$13 billion`.
    """
    answer_words = numbers_in_digits(folded_tokens(bare_answer(plain_amounts(answer))))
    content_words = [word for word in answer_words if word not in SMALL_WORDS] or [*answer_words]
    if any(word[0].isdigit() for word in content_words):
        return " ".join(sorted(content_words))
    return content_words[-1] if content_words else fold(answer)


# --- What a question gives away ------------------------------------------------------------------


@cache
def _peoples() -> dict[str, frozenset[str]]:
    """The names of the people of each country, by the folded words of the country."""
    people_names: dict[str, set[str]] = {}
    for entry in _LISTS["countries_of"].split():
        people, _, country = entry.replace("_", " ").partition(":")
        people_names.setdefault(" ".join(folded_tokens(country)), set()).add(people)
    return {country: frozenset(called) for country, called in people_names.items()}


def gives_answer_away(question: str, answer: str) -> bool:
    """Whether a question contains its answer: whole, bare, by another name, by a country's people.

    Sums and shares are compared in words, where the answer has one: `the 10% cut` gives `10
    percent` away.
    """
    if any(
        names_answer(question, answer_form, small=True)
        for answer_form in {answer, bare_answer(answer)}
    ):
        return True
    if has_amount(answer) and names_answer(
        plain_amounts(question), plain_amounts(answer), small=True
    ):
        return True
    if names_in_other_words(question, answer):
        return True
    peoples = _peoples().get(" ".join(folded_tokens(answer, SMALL_WORDS)), ())
    return any(re.search(rf"\b{people}\b", question) for people in peoples)


def names_in_other_words(text: str, answer: str) -> bool:
    """Whether a text names an answer by its abbreviation, its full name or a shortened first word.

    `PSG` names Paris Saint-Germain and the other way round. Abbreviations count in capitals alone:
    `Who` is not the World Health Organization.
    """
    plain_answer = _BRACKET.sub("", answer).strip().removeprefix("the ").removeprefix("The ")
    answer_words = full_name_words(plain_answer)
    for abbreviation in _ABBREVIATION.findall(text):
        words = folded_tokens(abbreviation)
        if words != folded_tokens(plain_answer) and _full_names().get(words) == answer_words:
            return True
        if is_abbreviation(abbreviation, plain_answer):
            return True
    answer_is_short = _ABBREVIATION.fullmatch(plain_answer) is not None
    for name, words in _names_in(text):
        if answer_is_short and is_abbreviation(plain_answer, name):
            return True
        if _full_names().get(words) == answer_words:
            return True
        if (len(words) > 1 and words == answer_words) or _has_short_first_word(words, answer_words):
            return True
    return False


@lru_cache(256)
def _names_in(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Everything in a text that may be a name, with its folded words."""
    return tuple((name, folded_tokens(name)) for name in _name_spans(text))


def _name_spans(text: str) -> Iterator[str]:
    """Every run of words in a text that begins and ends with a capital; small words lie inside."""
    parts = list(_PART.finditer(text))
    for first_index, first_part in enumerate(parts):
        if not first_part[0][0].isupper():
            continue
        for part in parts[first_index : first_index + _LONGEST_NAME]:
            word = part[0]
            if word[0].isupper():
                yield text[first_part.start() : part.end()].removesuffix(".")
            elif fold(word) not in FUNCTION_WORDS and fold(word) not in DETERMINERS:
                break


# --- Phrases that contradict each other --------------------------------------------------------

_OPPOSITES = [(word_set(side), word_set(other_side)) for side, other_side in _LISTS["opposites"]]
_NEGATION = word_set(_LISTS["negations"])
# the end of `didn't`, not of `front`
_CONTRACTED_NOT = re.compile(r"\Bn['’]t\b")


def contradict(phrase: str, other_phrase: str) -> bool:
    """Whether one of two phrases negates the other, goes the other way or has another number."""
    words, other_words = (
        numbers_in_digits(folded_tokens(plain_amounts(_CONTRACTED_NOT.sub(" not", text))))
        for text in (phrase, other_phrase)
    )
    if len(_NEGATION.intersection(words)) % 2 != len(_NEGATION.intersection(other_words)) % 2:
        return True
    for side, other_side in _OPPOSITES:
        sides = [
            (bool(side.intersection(text)), bool(other_side.intersection(text)))
            for text in (words, other_words)
        ]
        if sides in ([(True, False), (False, True)], [(False, True), (True, False)]):
            return True
    numbers, other_numbers = (
        {word for word in text if word[0].isdigit()} for text in (words, other_words)
    )
    return bool(numbers and other_numbers) and not (
        numbers <= other_numbers or other_numbers <= numbers
    )
