"""Drop a question with a pronoun that stands for nothing in it."""

import re
from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from filters.base import Context, Item, Verdict, judged
from filters.words import word_set

_PERSONAL = word_set("he him she they them")
_BOUND = word_set("his her hers their theirs himself herself themselves itself its")
"""`Who lost his seat?`: these may stand for `who`."""
_FIRST = word_set("I we me my mine our ours us myself ourselves")
_PRONOUNS = _PERSONAL | _BOUND | {"it"}
_OPENERS = word_set("the a an this that these those which what whose many much some every each no")
_NO_NOUN = _PRONOUNS | word_set(
    "is are was were be been has have had do does did will would can could should may might must "
    "who whom what which when where why how that if whether and or but not in on at of to for "
    "with from by about after before during say said says tell told think claim claimed believe "
    "the a an this these those many much"
)
_WORD = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*")
_EXPLETIVE = re.compile(
    r"\b(?:long|time|much|many\s+\w+|far)\s+(?:did|does|do|is|was|will|"
    r"would|has|had|might|could|can)\s+it\b|\bit\s+(?:\w+\s+)?(?:\w+\s+)?(?:that|to|for|like)\b|"
    r"\bit\s+(?:rain|snow)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")


class PronounWithoutAntecedent(Strict):
    """A pronoun stands for someone whom the question does not name (`Who said that he …?`).

    An antecedent is a name or a noun before the pronoun, or a name after the comma that ends
    the pronoun's own opening clause (`After he resigned, who replaced Brown?`). `I` and `we`
    never have one. What stands in quotation marks is not looked at.
    """

    filter: Literal["pronoun_without_antecedent"] = "pronoun_without_antecedent"

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop, with the pronoun as `detail`."""
        return [judged(*_why(item.question.question)) for item in items]


def _why(question: str) -> tuple[str | None, str | None]:
    text = _QUOTED.sub(" ", question)
    found = list(_WORD.finditer(text))
    words = [m[0].split("'")[0].split("’")[0] for m in found]
    for i, word in enumerate(words):
        if word in _FIRST and not _initial(words, i):
            return "first person", f"{word!r} in {question!r}"
        low = word.casefold()
        if low not in _PRONOUNS or (word != low and i > 0):
            continue
        if low == "it" and _EXPLETIVE.search(text):
            continue
        bound = low in _BOUND and any(w.casefold() in ("who", "whom", "whose") for w in words[:i])
        if bound or _noun_before(words, i) or _name_after_comma(text, found[i].end()):
            continue
        return "pronoun without antecedent", f"{word!r} in {question!r}"
    return None, None


def _initial(words: Sequence[str], i: int) -> bool:
    """Whether `I` is a numeral or an initial: it follows a name (`Elizabeth I`, `World War I`)."""
    return words[i] == "I" and i > 0 and words[i - 1][0].isupper() and not _question_word(words, i)


def _question_word(words: Sequence[str], i: int) -> bool:
    return i == 1 and words[0].casefold() in _NO_NOUN


def _noun_before(words: Sequence[str], i: int) -> bool:
    """Whether a name, or a word that a determiner opens, stands before place `i`."""
    for j in range(i):
        low = words[j].casefold()
        name = words[j][0].isupper() and low not in _NO_NOUN
        if name or (j > 0 and words[j - 1].casefold() in _OPENERS and low not in _NO_NOUN):
            return True
    return False


def _name_after_comma(text: str, at: int) -> bool:
    """Whether the clause that holds place `at` ends with a comma and a name follows it."""
    _, comma, rest = text[at:].partition(",")
    words = _WORD.findall(rest)
    return bool(comma) and any(w[0].isupper() and w.casefold() not in _NO_NOUN for w in words)
