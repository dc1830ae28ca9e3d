"""When what a clause tells happened: by its own words, or because the headline tells it, too.

An article tells of old things, too, and seldom says of when. So its day is put on a clause only
where something says that this is the news: a day of the week beside the verb, or the headline.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from factdrift.builders.generate.trees import Token, Tree
from factdrift.builders.text.data import words
from factdrift.builders.text.dates import MONTH_NUMBER, MONTHS, WEEKDAYS
from factdrift.builders.text.words import tokens

_NEAR = 10
"""Days before the article in which a date without a year is that of its news."""
_STEM = 5
"""Letters by which words are compared: announce, announcement."""
_SMALL_WORDS = words("""
    the a an of in on at to for from by with and or as is are was were be been has have had will
    that this its his her their after over into about against amid than more new not says say said
    who which u.s. us joint media release minister prime mr ms dr senator sen president government
""")
_TODAY = re.compile(
    r"(?:earlier |later |late |early )?(?:today|tonight|this (?:morning|afternoon|evening))", re.I
)
_YESTERDAY = re.compile(r"(?:late |early )?(?:yesterday(?: \w+)?|last night)", re.I)
_WEEKDAY = re.compile(
    rf"(?:(?:early|late|later|by|in) )*(?:on )?(?:the )?({'|'.join(WEEKDAYS)})"
    r"(?: (?:morning|afternoon|evening|night|local time))?",
)
_FULL = re.compile(rf"(?:on )?(?:{'|'.join(WEEKDAYS)}) (.*\d.*)")
_DATE = re.compile(rf"(?:(?:early|late) )?(?:on )?(?:({'|'.join(MONTHS)}) (\d+)|(\d+) (\w+))")


def day_of(text: str, article: date) -> date | None:
    """The day that `Monday`, `today` or `on 9 May` means in an article; None where it is not near.

    A day of the week is the last one, the article's own day among them.
    """
    text = re.sub(r"[\s,]+", " ", text).strip()
    if _TODAY.fullmatch(text):
        return article
    if _YESTERDAY.fullmatch(text):
        return article - timedelta(1)
    if found := _WEEKDAY.fullmatch(text):
        back = (article.weekday() - WEEKDAYS.index(found[1])) % 7
        return article - timedelta(back)
    if found := _DATE.fullmatch(_FULL.sub(r"\1", text)):
        month = MONTH_NUMBER.get((found[1] or found[4]).casefold())
        number = int(found[2] or found[3])
        for back in range(_NEAR + 1):
            day = article - timedelta(back)
            if (day.month, day.day) == (month, number):
                return day
    return None


def is_day(token: Token) -> bool:
    """Whether a token with all that depends on it is `today`, `late on Friday` or such a day."""
    if token.dep not in ("npadvmod", "nmod", "prep", "appos", "advmod", "dep", "tmod"):
        return False
    text = " ".join(t.text for t in token.subtree())
    return any(form.fullmatch(text) for form in (_TODAY, _YESTERDAY, _WEEKDAY))


def stems(texts: Iterable[str]) -> frozenset[str]:
    """The beginnings of content words, for comparing a clause with its headline."""
    return frozenset(
        word[:_STEM]
        for text in texts
        for word in tokens(text)
        if word not in _SMALL_WORDS and (len(word) > 2 or word.isdigit())
    )


def is_listed(tree: Tree) -> bool:
    """Whether an article is a list of the events of its day, which has no headline."""
    return bool(tree.article.sentences) and tree.article.sentences[0].rstrip().endswith(".")


def in_headline(tree: Tree, subject: Sequence[Token], verb: Token, rest: Sequence[Token]) -> int:
    """How many content words of a clause are in the headline.

    Below the first sentence none counts where only one of subject, verb and the rest has any.
    """
    headline = stems(tree.article.sentences[:1])
    found = [stems(t.text for t in part) & headline for part in (subject, [verb], rest)]
    if sum(map(bool, found)) < 2 and verb.sentence > 1:
        return 0
    return len(frozenset().union(*found))
