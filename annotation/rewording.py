"""Whether a question says what a statement says, neither more nor less, in its own words.

Names and numbers have to be the same. Of the other words, the small ones are free (articles,
prepositions, auxiliaries, question words); each of the rest has to come back in some form, or
another word has to stand in its place. Free besides are the order of words, an acronym or what it
stands for, a date that fits the day of the article, and the words that say what is asked for
("which football club"). `page_parts/rewording.js` has the same rules; the word lists go onto the
page (`WORD_LISTS`), and `tests/tables/rewordings.yaml` is what both are tested against.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from factdrift.annotation.text_words import split_words, word_stem
from factdrift.builders.text.dates import MONTHS

QUESTION_WORDS = ("who", "whom", "whose", "what", "which", "where", "when", "why", "how")
SMALL_WORDS = (
    *QUESTION_WORDS,
    *"""
    a an the this that these those there it its he him his she hers her they them their i we
    is are was were be been being am do does did done doing has have had having
    will would shall should can could might must to of in on at by for from with into as
    onto upon within during through since until till and or but so if than then because due
    name named names called person people thing kind type sort reason many much long far
    one ones itself himself herself themselves also
    """.split(),
)
"""Words that say nothing by themselves: a rewording may have them or not."""
# Verbs whose forms do not begin alike, each with those that news has.
VERB_FORMS = tuple(
    forms.split()
    for forms in (
        *("win wins winning won", "beat beats beating beaten", "take takes taking took taken"),
        *("become becomes becoming became", "begin begins beginning began begun"),
        *("break breaks breaking broke broken", "bring brings bringing brought"),
        *("buy buys buying bought", "catch catches catching caught", "choose chooses chose chosen"),
        *("come comes coming came", "draw draws drew drawn", "drive drives drove driven"),
        *("fall falls falling fell fallen", "fight fights fighting fought", "find finds found"),
        *("fly flies flying flew flown", "get gets getting got", "give gives giving gave given"),
        *("go goes going went gone", "grow grows grew grown", "hold holds holding held"),
        *("keep keeps keeping kept", "know knows knew known", "lead leads leading led"),
        *("leave leaves leaving left", "lose loses losing lost", "make makes making made"),
        *("meet meets meeting met", "pay pays paying paid", "rise rises rising rose risen"),
        *("run runs running ran", "say says saying said", "see sees saw seen"),
        *("sell sells selling sold", "send sends sending sent", "shoot shoots shooting shot"),
        *("sink sinks sank sunk", "speak speaks spoke spoken", "spend spends spent"),
        *("stand stands stood", "steal steals stole stolen", "strike strikes striking struck"),
        *("swear swears swore sworn", "teach teaches taught", "tell tells telling told"),
        *("think thinks thought", "throw throws threw thrown", "write writes wrote written"),
    )
)
NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
"""The number words from 2 on. "One" is a pronoun more often than a number."""
WORD_LISTS = {"small": SMALL_WORDS, "verbs": VERB_FORMS, "numbers": NUMBER_WORDS, "months": MONTHS}
_FORM_BY_WORD = {word: forms[0] for forms in VERB_FORMS for word in forms}
_DIGITS_BY_WORD = {word: str(number) for number, word in enumerate(NUMBER_WORDS, 2)}
# `U.S.` and `U.K.`, not the end of a sentence such as `Group B.`
_DOTTED = re.compile(r"(?:[A-Z]\.){2,}")
# `[BLANK]` and `[BLANK-PERSON]`
_BRACKETS = re.compile(r"\[[^\]]*\]")
# `4th` and `21st`, not `4` or `month`
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
# `UN` and `NASA`, not `Un` or `A`
_ACRONYM = re.compile("[A-Z]{2,6}")
_MONTH = rf"({'|'.join(MONTHS)})"
# `4 May 2020`, `May 4th, 2020`, `May 2020`, `May` and `2020`; not `4` or `20200`
_DATE = re.compile(
    rf"(?:\b([0-9]{{1,2}})(?:st|nd|rd|th)? )?\b{_MONTH}\b(?: ([0-9]{{1,2}})(?:st|nd|rd|th)?\b)?"
    r"(?:,? ([12][0-9]{3})\b)?|\b([12][0-9]{3})\b"
)
_NEWS_DAYS = 7
"""Days up to the article's in which what it reports happened: a date of one of these fits."""
_COUNTING = ("many", "much")
_ASKS_FOR_A_KIND = ("what", "which", "whose", *_COUNTING)
_BEFORE_A_KIND = ("kind", "type", "sort", "of", "many", "much")
_CATEGORY_WORDS = 2
"""Words that may say what is asked for behind the question word: "football club"."""
_MOST_REPLACED = 2
"""Words of a statement that others may replace: "won" by "took home". More is another statement."""
_LEAST_ALIKE = 4
"""Letters with which two forms of a word begin, at least: "resign" and "resignation"."""


@dataclass(frozen=True)
class _Word:
    """A word as written, its form for comparing, and whether it is a name or a number."""

    written: str
    word_key: str
    is_telling: bool
    is_small: bool


def rewording_problem(statement: str, question: str, day: str = "") -> str | None:
    """What a question adds to a statement or leaves out, or None; `day` is the article's."""
    gap_match = _BRACKETS.search(statement)
    behind_gap = _words(statement[gap_match.end() :], set()) if gap_match else []
    gap_noun = behind_gap[0].word_key if behind_gap else ""
    statement = _DOTTED.sub(_without_dots, _BRACKETS.sub(" ", statement))
    question = _DOTTED.sub(_without_dots, question)
    kept_acronyms = {
        text_word for text in (statement, question) for text_word in _ACRONYM.findall(text)
    }
    all_said = _words(statement, kept_acronyms & set(split_words(statement)))
    all_asked = _words(question, kept_acronyms & set(split_words(statement)))
    said_words = _unexplained(all_said, all_asked)
    asked_words = _unexplained(all_asked, all_said)
    lost_words = [
        text_word
        for text_word in said_words
        if not any(_is_same(text_word, other_word) for other_word in all_asked)
    ]
    added_words = [
        text_word
        for text_word in asked_words
        if not any(_is_same(text_word, other_word) for other_word in all_said)
    ]
    date_words = _date_words(question, day)
    free = {*_category_words(all_asked, added_words, gap_noun)}
    added_words = [
        text_word
        for text_word in added_words
        if text_word.written not in date_words and text_word not in free
    ]
    return _difference(lost_words, added_words)


def _difference(lost_words: Sequence[_Word], added_words: Sequence[_Word]) -> str | None:
    """What to say of the words that one text alone has; replaced small words are none."""
    lost_facts = [text_word for text_word in lost_words if text_word.is_telling]
    added_facts = [text_word for text_word in added_words if text_word.is_telling]
    if lost_facts:
        return f"Missing: {_listed(lost_facts)}"
    if added_facts:
        return f"Not in the statement: {_listed(added_facts)}"
    if lost_words and (not added_words or len(lost_words) > _MOST_REPLACED):
        return f"Missing: {_listed(lost_words)}"
    if added_words and len(added_words) > len(lost_words) + (1 if lost_words else 0):
        return f"Not in the statement: {_listed(added_words)}"
    return None


def _listed(words: Iterable[_Word]) -> str:
    return ", ".join(dict.fromkeys(text_word.written for text_word in words))


def _without_dots(dotted: re.Match[str]) -> str:
    return dotted[0].replace(".", "")


def _words(text: str, kept_acronyms: set[str]) -> list[_Word]:
    words = []
    for place, written in enumerate(split_words(text)):
        lower_word = word_stem(written)
        word_key = _DIGITS_BY_WORD.get(lower_word, lower_word)
        ordinal_match = _ORDINAL.fullmatch(word_key)
        word_key = ordinal_match[1] if ordinal_match else _FORM_BY_WORD.get(word_key, word_key)
        small_word = lower_word in SMALL_WORDS and written not in kept_acronyms
        has_capital = written[0].isupper() and (place > 0 or written in kept_acronyms)
        is_number = any(char.isdigit() for char in word_key)
        words.append(
            _Word(written, word_key, (has_capital or is_number) and not small_word, small_word)
        )
    return words


def _is_same(text_word: _Word, other_word: _Word) -> bool:
    """Whether two words are one, or forms of one: a name or a number has to be the same."""
    if text_word.word_key == other_word.word_key:
        return True
    if text_word.is_telling or other_word.is_telling:
        return False
    alike_count = 0
    for letter, other_letter in zip(text_word.word_key, other_word.word_key, strict=False):
        if letter != other_letter:
            break
        alike_count += 1
    shorter_length = min(len(text_word.word_key), len(other_word.word_key))
    begins_alike = alike_count >= _LEAST_ALIKE and alike_count >= shorter_length - 2
    return begins_alike or alike_count == shorter_length == _LEAST_ALIKE - 1  # "run" and "runs"


def _unexplained(words: Sequence[_Word], other_words: Sequence[_Word]) -> list[_Word]:
    """The words that count, without those that are an acronym here and written out there."""
    own_acronyms = {
        text_word.written for text_word in words if _ACRONYM.fullmatch(text_word.written)
    }
    other_acronyms = {
        text_word.written for text_word in other_words if _ACRONYM.fullmatch(text_word.written)
    }
    written_out = {acronym for acronym in own_acronyms if _expansion(acronym, other_words)}
    expanded_places = set[int]()
    for acronym in other_acronyms:
        expanded_places |= {*_expansion(acronym, words)}
    return [
        text_word
        for place, text_word in enumerate(words)
        if not text_word.is_small
        and place not in expanded_places
        and text_word.written not in written_out
    ]


def _expansion(acronym: str, words: Sequence[_Word]) -> list[int]:
    """The places of words whose first letters are an acronym; small words between are free."""
    for first_place in range(len(words)):
        letter_places: list[int] = []
        for place in range(first_place, len(words)):
            text_word = words[place]
            if (
                len(letter_places) < len(acronym)
                and text_word.written[0] == acronym[len(letter_places)]
            ):
                letter_places.append(place)
            elif not text_word.is_small or not letter_places:
                break
            if len(letter_places) == len(acronym):
                return letter_places
    return []


def _category_words(
    asked_words: Sequence[_Word], added_words: Sequence[_Word], gap_noun: str
) -> list[_Word]:
    """New words right behind a question word, which say what is asked for.

    `gap_noun` is the word behind the statement's gap. "How many corruption charges" for `[BLANK]
    charges` says no more of what is asked for: it adds what kind of charges they were. Behind the
    other question words, a word of the statement that is elsewhere is a noun with an addition:
    "which former president" for `[BLANK], the president`.
    """
    category_words: list[_Word] = []
    for place, text_word in enumerate(asked_words):
        if text_word.word_key not in _ASKS_FOR_A_KIND:
            continue
        new_words: list[_Word] = []
        is_modified = False
        for next_word in asked_words[place + 1 :]:
            if next_word in added_words and not next_word.is_telling:
                new_words.append(next_word)
            elif not (next_word.is_small and next_word.word_key in _BEFORE_A_KIND):
                is_noun = next_word.word_key == gap_noun
                is_free = next_word.is_small or is_noun or _is_possessive(new_words)
                is_modified = is_noun if text_word.word_key in _COUNTING else not is_free
                break
        category_words += [] if is_modified else new_words[:_CATEGORY_WORDS]
    return category_words


def _is_possessive(words: Sequence[_Word]) -> bool:
    """Whether the last of some words owns what follows: "which company's order"."""
    return bool(words) and words[-1].written.lower() != word_stem(words[-1].written)


def _date_words(question: str, day: str) -> set[str]:
    """The words of a question's dates that fit the article's day, as written."""
    try:
        article_day = date.fromisoformat(day[:10])
    except ValueError:
        return set()
    news_days = [article_day - timedelta(back) for back in range(_NEWS_DAYS + 1)]
    words: set[str] = set()
    for date_match in _DATE.finditer(question):
        front_day, month_name, back_day, year_number, lone_year = date_match.groups()
        date_parts = (
            int(front_day or back_day or 0),
            month_name or "",
            int(year_number or lone_year or 0),
        )
        if any(_fits(date_parts, news_day) for news_day in news_days):
            words |= {*split_words(date_match[0])}
    return words


def _fits(date_parts: tuple[int, str, int], news_day: date) -> bool:
    """Whether what a date says (0 or nothing: it does not) is so of a day."""
    day_number, month_name, year_number = date_parts
    return (
        day_number in (0, news_day.day)
        and month_name in ("", MONTHS[news_day.month - 1])
        and year_number in (0, news_day.year)
    )
