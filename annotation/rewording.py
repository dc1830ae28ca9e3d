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
    key: str
    telling: bool
    small: bool


def rewording_problem(statement: str, question: str, day: str = "") -> str | None:
    """What a question adds to a statement or leaves out, or None; `day` is the article's."""
    gap = _BRACKETS.search(statement)
    behind_gap = _words(statement[gap.end() :], set()) if gap else []
    noun = behind_gap[0].key if behind_gap else ""
    statement = _DOTTED.sub(_without_dots, _BRACKETS.sub(" ", statement))
    question = _DOTTED.sub(_without_dots, question)
    acronyms = {word for text in (statement, question) for word in _ACRONYM.findall(text)}
    all_said = _words(statement, acronyms & set(split_words(statement)))
    all_asked = _words(question, acronyms & set(split_words(statement)))
    said = _unexplained(all_said, all_asked)
    asked = _unexplained(all_asked, all_said)
    lost = [word for word in said if not any(_is_same(word, other) for other in all_asked)]
    added = [word for word in asked if not any(_is_same(word, other) for other in all_said)]
    dated = _date_words(question, day)
    free = {*_category_words(all_asked, added, noun)}
    added = [word for word in added if word.written not in dated and word not in free]
    return _difference(lost, added)


def _difference(lost: Sequence[_Word], added: Sequence[_Word]) -> str | None:
    """What to say of the words that one text alone has; replaced small words are none."""
    lost_facts = [word for word in lost if word.telling]
    added_facts = [word for word in added if word.telling]
    if lost_facts:
        return f"Missing: {_listed(lost_facts)}"
    if added_facts:
        return f"Not in the statement: {_listed(added_facts)}"
    if lost and (not added or len(lost) > _MOST_REPLACED):
        return f"Missing: {_listed(lost)}"
    if added and len(added) > len(lost) + (1 if lost else 0):
        return f"Not in the statement: {_listed(added)}"
    return None


def _listed(words: Iterable[_Word]) -> str:
    return ", ".join(dict.fromkeys(word.written for word in words))


def _without_dots(dotted: re.Match[str]) -> str:
    return dotted[0].replace(".", "")


def _words(text: str, acronyms: set[str]) -> list[_Word]:
    words = []
    for place, written in enumerate(split_words(text)):
        lower = word_stem(written)
        key = _DIGITS_BY_WORD.get(lower, lower)
        ordinal = _ORDINAL.fullmatch(key)
        key = ordinal[1] if ordinal else _FORM_BY_WORD.get(key, key)
        is_small = lower in SMALL_WORDS and written not in acronyms
        has_capital = written[0].isupper() and (place > 0 or written in acronyms)
        is_number = any(char.isdigit() for char in key)
        words.append(_Word(written, key, (has_capital or is_number) and not is_small, is_small))
    return words


def _is_same(word: _Word, other: _Word) -> bool:
    """Whether two words are one, or forms of one: a name or a number has to be the same."""
    if word.key == other.key:
        return True
    if word.telling or other.telling:
        return False
    alike = 0
    for letter, other_letter in zip(word.key, other.key, strict=False):
        if letter != other_letter:
            break
        alike += 1
    shorter = min(len(word.key), len(other.key))
    begins_alike = alike >= _LEAST_ALIKE and alike >= shorter - 2
    return begins_alike or alike == shorter == _LEAST_ALIKE - 1  # "run" and "runs"


def _unexplained(words: Sequence[_Word], others: Sequence[_Word]) -> list[_Word]:
    """The words that count, without acronyms that the other text writes out, or the reverse."""
    own_acronyms = {word.written for word in words if _ACRONYM.fullmatch(word.written)}
    other_acronyms = {word.written for word in others if _ACRONYM.fullmatch(word.written)}
    written_out = {acronym for acronym in own_acronyms if _expansion(acronym, others)}
    expanded = set[int]()
    for acronym in other_acronyms:
        expanded |= {*_expansion(acronym, words)}
    return [
        word
        for place, word in enumerate(words)
        if not word.small and place not in expanded and word.written not in written_out
    ]


def _expansion(acronym: str, words: Sequence[_Word]) -> list[int]:
    """The places of the words whose first letters are an acronym; small ones between are free."""
    for start in range(len(words)):
        places: list[int] = []
        for place in range(start, len(words)):
            word = words[place]
            if len(places) < len(acronym) and word.written[0] == acronym[len(places)]:
                places.append(place)
            elif not word.small or not places:
                break
            if len(places) == len(acronym):
                return places
    return []


def _category_words(asked: Sequence[_Word], added: Sequence[_Word], noun: str) -> list[_Word]:
    """New words right behind a question word, which say what is asked for.

    `noun` is the word behind the statement's gap. "How many corruption charges" for `[BLANK]
    charges` says no more of what is asked for: it adds what kind of charges they were. Behind the
    other question words, a word of the statement that is elsewhere is a noun with an addition:
    "which former president" for `[BLANK], the president`.
    """
    category: list[_Word] = []
    for place, word in enumerate(asked):
        if word.key not in _ASKS_FOR_A_KIND:
            continue
        new_words: list[_Word] = []
        is_modified = False
        for following in asked[place + 1 :]:
            if following in added and not following.telling:
                new_words.append(following)
            elif not (following.small and following.key in _BEFORE_A_KIND):
                is_noun = following.key == noun
                is_free = following.small or is_noun or _is_possessive(new_words)
                is_modified = is_noun if word.key in _COUNTING else not is_free
                break
        category += [] if is_modified else new_words[:_CATEGORY_WORDS]
    return category


def _is_possessive(words: Sequence[_Word]) -> bool:
    """Whether the last of some words owns what follows: "which company's order"."""
    return bool(words) and words[-1].written.lower() != word_stem(words[-1].written)


def _date_words(question: str, day: str) -> set[str]:
    """The words of a question's dates that fit the article's day, as written."""
    try:
        article_day = date.fromisoformat(day[:10])
    except ValueError:
        return set()
    days = [article_day - timedelta(back) for back in range(_NEWS_DAYS + 1)]
    words: set[str] = set()
    for found in _DATE.finditer(question):
        front_day, month, back_day, year, lone_year = found.groups()
        parts = (int(front_day or back_day or 0), month or "", int(year or lone_year or 0))
        if any(_fits(parts, news_day) for news_day in days):
            words |= {*split_words(found[0])}
    return words


def _fits(parts: tuple[int, str, int], news_day: date) -> bool:
    """Whether what a date says (0 or nothing: it does not) is so of a day."""
    day_number, month, year = parts
    return (
        day_number in (0, news_day.day)
        and month in ("", MONTHS[news_day.month - 1])
        and year in (0, news_day.year)
    )
