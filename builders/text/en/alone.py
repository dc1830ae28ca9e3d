"""Whether a question stands alone: pronouns and definite phrases that need the article.

The pipeline's tags and names are used, and the order of the words; its trees only where they decide
which verb a pronoun belongs to, for those of short questions are often wrong.
"""

import re
from itertools import pairwise

from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import MONTHS, WEEKDAYS, pattern
from factdrift.builders.text.en.nouns import ROLES, THINGS
from factdrift.builders.text.pipeline import Word, read

_LISTS = data("questions")
_ONLY, _MANY = words(_LISTS["only_one"]), words(_LISTS["of_many"]) | ROLES | THINGS
_PERSONS = ROLES | words(_LISTS["man_or_woman"])
_SOURCES, _BACK = words(_LISTS["sources"]), words(_LISTS["backwards"])
_NATIONAL = words(_LISTS["national"]) | words(data("nouns")["role_heads"])
_ON_THE_DAY, _EVENTS = words(_LISTS["on_the_day"]), words(_LISTS["events"])
_OF_THE_DAY = words(_LISTS["of_the_day"])
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_OFFICES = (_MANY | words(_LISTS["no_names"].lower())) - words("pope queen king")
"""Words that name nobody with a capital, either: the Prime Minister, the Government."""
_TITLES = words("Prince Princess Mr Mrs Ms Dr Sir Lord Lady Duke Duchess Pope King Queen")
_BEFORE_NAMES = _TITLES | words(
    "Archbishop Bishop Ayatollah Sheikh Imam Rabbi Monsignor Colonel Captain Sergeant Lieutenant "
    "Admiral Brigadier Senator Congressman Congresswoman Professor Judge Emperor Sultan"
)
"""What a person's name follows, whatever kind of name the pipeline takes it for."""
_IN_GROUP = {
    "ORG": words(
        "company firm organisation organization agency group bank party team club charity"
    ),
    "GPE": words("country nation city state town island territory province government"),
}
"""What a name before may be called in the same question."""
_DAYS = frozenset((*MONTHS, *WEEKDAYS))

_FIRST = words("i we me my mine our ours us myself ourselves you your yours yourself yourselves")
_HE = words("he him his himself she her hers herself")
_THEY = words("they them their theirs themselves")
_IT = words("it its itself")
_BEFORE_SUBJECTS = words("be have will would can could shall should may might must")
_POINTING = words("this that these those")
_EXPLETIVE = re.compile(
    r"\b(?:long|time|much|many\s+\w+|far)\s+(?:did|does|do|is|was|will|"
    r"would|has|had|might|could|can)\s+it\b|\bit\s+(?:\w+\s+)?(?:\w+\s+)?(?:that|to|for|like)\b|"
    r"\bit\s+(?:rain|snow)|\bit\s+(?:was|is)\s+(?:time|clear|likely|possible|true|important)\b",
    re.IGNORECASE,
)
_PERSON_ENDING = re.compile(r"(?:er|or|ist|ian|man|woman|ee)$")
_THING_LABELS = words("ORG GPE LOC FAC PRODUCT EVENT WORK_OF_ART LAW NORP")
_NO_NAME_LABELS = words("DATE TIME CARDINAL ORDINAL MONEY PERCENT QUANTITY")
_NOUN, _NAME = ("NN", "NNS"), ("NNP", "NNPS")


def _reading(question: str) -> tuple[Word, ...]:
    """The words of a question; a quotation is the name of a film, and says nothing."""
    return read(_QUOTED.sub("Casablanca", question.strip()))


def loose_pronoun(question: str) -> tuple[str | None, str | None]:
    """Why a pronoun stands for nothing in the question, and which one; else twice None."""
    found = _reading(question)
    for word in found:
        capital = word.text[0].isupper() and word.at > 0
        if word.low in _FIRST:
            if word.tag in ("PRP", "PRP$") and _is_first_person(found, word):
                return "first_person", word.text
        elif capital or word.low not in _HE | _THEY | _IT | _POINTING | {"one"}:
            continue
        elif word.low in _POINTING or word.low == "one":
            if _points(found, word):
                return "pronoun_without_antecedent", word.text
        elif word.low == "it" and _is_empty(found, word, question):
            continue
        elif not _antecedent(found, word):
            return "pronoun_without_antecedent", word.text
    return None, None


_EMPTY_IT = words("be take cost seem appear require happen rain snow turn become matter mean")


def _is_empty(found: tuple[Word, ...], it: Word, question: str) -> bool:
    """Whether `it` stands for nothing: `it took to`, `was it announced that`."""
    if it.dep == "dobj" or not _EXPLETIVE.search(question):
        return False
    verb = found[it.head]
    return verb.lemma in _EMPTY_IT or any(w.head == verb.at and w.dep == "auxpass" for w in found)


def _is_first_person(found: tuple[Word, ...], word: Word) -> bool:
    """Not of `the US`, `Elizabeth I`, `I, Robot` or a title (`Call Me by Your Name`)."""
    if word.low != "i":
        return word.text == word.low or word.at == 0
    before = found[word.at - 1] if word.at else None
    after = found[word.at + 1] if word.at + 1 < len(found) else None
    if before and before.text[0].isupper() and before.tag in (*_NAME, *_NOUN):
        return False
    return not (after and after.text == ",")


def _points(found: tuple[Word, ...], word: Word) -> bool:
    """Whether `this`, `those`, `one` stands for a thing by itself: not `those killed in …`."""
    before = found[word.at - 1].low if word.at else ""
    after = found[word.at + 1] if word.at + 1 < len(found) else None
    if word.low == "one":
        return before in ("which", "this", "that", "the") and not (
            after and after.tag in (*_NOUN, *_NAME, "JJ", "IN", "WP", "WDT")
        )
    if word.tag != "DT" or word.dep in ("det", "mark", "advmod"):
        return False
    return not (after and after.tag in ("VBN", "VBG", "WP", "WDT", "IN", *_NOUN, *_NAME))


def _antecedent(found: tuple[Word, ...], pronoun: Word) -> bool:
    """Whether a name or a noun before the pronoun can be what it stands for.

    Or a name after the comma that ends the pronoun's own opening clause.
    """
    own = _subject_of_its_verb(found, pronoun)
    if any(w.at != own and _stands_for(found, w, pronoun.low) for w in found[: pronoun.at]):
        return True
    comma = next((w.at for w in found[pronoun.at :] if w.text == ","), None)
    if comma is None or any(w.low in ("who", "what", "which") for w in found[: pronoun.at]):
        return False
    return any(_stands_for(found, w, pronoun.low) and w.tag in _NAME for w in found[comma:])


def _subject_of_its_verb(found: tuple[Word, ...], pronoun: Word) -> int | None:
    """Place of the subject whose verb has the pronoun as its object: it is another one."""
    if pronoun.low not in ("him", "her", "them", "it") or pronoun.tag == "PRP$":
        return None
    verb = found[pronoun.head]
    if pronoun.dep == "pobj":
        verb = found[verb.head]
    for word in found:
        if word.head == verb.at and word.dep in ("nsubj", "nsubjpass"):
            return word.at
    return None


def _stands_for(found: tuple[Word, ...], word: Word, pronoun: str) -> bool:
    """Whether a pronoun of this form may stand for what a word names."""
    if word.low in ("who", "whom", "whose"):
        return pronoun not in _IT and _is_subject(found, word)
    if word.low in ("what", "which") and word.dep in ("nsubj", "nsubjpass"):
        return pronoun not in _HE and found[word.at + 1].low != "of"
    if word.text == "Casablanca":
        return pronoun in _IT
    if word.tag in _NAME and word.text not in _DAYS:
        titled = any(w.text in _BEFORE_NAMES for w in found[max(0, word.at - 2) : word.at])
        if titled or word.text in _TITLES:
            return pronoun not in _IT
        if word.label in _THING_LABELS and word.label != "NORP":
            return pronoun not in _HE
        return word.label not in _NO_NAME_LABELS
    if word.tag not in _NOUN or _is_asked_for(found, word):
        return False
    if word.low in ("kind", "sort", "type", "time", "name"):
        return False
    plural = word.tag == "NNS" or word.low in ("people", "police", "couple", "family", "team")
    if pronoun in _THEY:
        return plural or word.low in _PERSONS or word.low in _MANY
    if plural:
        return False
    person = word.low in _PERSONS or bool(_PERSON_ENDING.search(word.low))
    return person and word.low not in THINGS if pronoun in _HE else word.low not in _PERSONS


def _is_asked_for(found: tuple[Word, ...], noun: Word) -> bool:
    """Whether a noun is the object that is asked for: `Which party do they …`, `… are they in`."""
    after = found[noun.at + 1] if noun.at + 1 < len(found) else None
    beyond = found[noun.at + 2] if noun.at + 2 < len(found) else None
    if after is None or not any(w.low in ("which", "what") for w in found[: noun.at]):
        return False
    return after.low in ("did", "do", "does") or (
        beyond is not None
        and beyond.tag == "PRP"
        and after.tag in ("VBZ", "VBP", "VBD", "MD")
        and after.lemma in _BEFORE_SUBJECTS
    )


def _is_subject(found: tuple[Word, ...], who: Word) -> bool:
    """Whether `who` is who acts: not in `Who did she replace?` and `Who will he meet?`."""
    if who.low == "whose":
        return False
    after = found[who.at + 1] if who.at + 1 < len(found) else None
    beyond = found[who.at + 2] if who.at + 2 < len(found) else None
    if after is None or who.low == "whom":
        return False
    if after.low in ("did", "do", "does"):
        return False
    if after.lemma == "be" and beyond and beyond.tag == "PRP$":
        return False  # Who is his son?
    return not (after.tag == "MD" and beyond and beyond.tag in ("PRP", "DT", *_NAME))


_SOURCE = re.compile(
    r"\baccording\s+to\s+(?:the|this)\s+(?:text|story|source|piece|author|writer)\b|"
    r"(?:mentioned|described|stated|discussed|quoted)\s+(?:above|below|here)\b|"
    r"\bin\s+(?:the|this)\s+(?:article|story|text|passage)\s*(?:\?|,|$)",
    re.IGNORECASE,
)


def points_outside(question: str, *, relative: bool) -> tuple[str | None, str | None]:
    """Why a question needs its article or its day, and the words that say so; else twice None.

    `relative`: whether `last week` counts, too. What stands in quotation marks is not looked at.
    """
    text = _QUOTED.sub(" ", question)
    kinds = [(_SOURCE, "refers_to_article"), (pattern("undated"), "undated_day")]
    if relative:
        kinds.append((pattern("relative"), "relative_day"))
    for wanted, reason in kinds:
        if out := wanted.search(text):
            return reason, out[0]
    found = _reading(question)
    for word in found:
        if pointing := _pointing_word(found, word):
            return pointing, word.text
        if word.text in WEEKDAYS and _is_undated(found, word):
            return "undated_day", word.text
        opens = word.low == "the" or (word.low in _POINTING and word.tag == "DT")
        if opens and (phrase := _unanchored(found, word)):
            return _reason_of(phrase), " ".join(w.text for w in phrase)
    return None, None


def _is_undated(found: tuple[Word, ...], weekday: Word) -> bool:
    """Whether a weekday has neither day nor month beside it, and is no part of a name."""
    if weekday.label not in ("DATE", "TIME"):
        return False
    near = [w for w in found[max(0, weekday.at - 4) : weekday.at + 5] if w.label == weekday.label]
    if any(w.text in MONTHS or w.text.isdigit() for w in near):
        return False
    beside = found[max(0, weekday.at - 1) : weekday.at] + found[weekday.at + 1 : weekday.at + 2]
    return not any(w.text[0].isupper() and w.tag in _NAME for w in beside)


def _reason_of(phrase: list[Word]) -> str:
    """Articles and their parts have a reason of their own."""
    if any(w.low in _SOURCES or w.low.rstrip("s") == "article" for w in phrase):
        return "refers_to_article"
    return "refers_to_context"


def _pointing_word(found: tuple[Word, ...], word: Word) -> str | None:
    """The reason to drop a word that points outside by itself."""
    if word.text != word.low and word.at > 0:
        return None
    after = found[word.at + 1] if word.at + 1 < len(found) else None
    if word.low in _ON_THE_DAY and word.tag == "RB":
        return "undated_day"
    if word.low in _OF_THE_DAY and word.tag in ("JJ", "JJS"):
        return "undated_day"
    there = word.low == "there" and word.tag == "RB" and word.dep != "expl"
    here = word.low == "here" or (there and not _says_that_there_is(found, word))
    such = word.low == "such" and after is not None and after.low != "as"
    else_ = word.low == "else" or word.low == "elsewhere"
    said = word.low in ("aforementioned", "abovementioned", "above-mentioned")
    return "refers_to_context" if here or such or else_ or said else None


def _says_that_there_is(found: tuple[Word, ...], there: Word) -> bool:
    """Whether `there` points nowhere: `How many ships were there in 2004?`."""
    many = any(a.low == "how" and b.low in ("many", "much") for a, b in pairwise(found[: there.at]))
    return many and found[there.at - 1].lemma == "be"


_NAMING = words(_LISTS["naming"])
_CALLED = words(_LISTS["called"])
_ON_MAPS = ("LOC", "GPE", "FAC", "EVENT")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_YEAR = re.compile(r"[12]\d{3}")
_DECADE = re.compile(r"(?:[12]\d)?\d0s")
_ADDS = words(
    "of for behind between against by about with without into over under after before following "
    "during since named called known responsible dedicated devoted among including than"
)
_PLACES = words("in at on near from to off outside inside across around along within through")
_IN_PHRASE = ("JJ", "JJR", "JJS", "VBN", "VBG", "CD", "NN", "NNS", "NNP", "NNPS", "HYPH", "RBS")


def _unanchored(found: tuple[Word, ...], the: Word) -> list[Word]:
    """The phrase that a determiner opens, where nothing in the question says which one is meant."""
    phrase: list[Word] = []
    for word in found[the.at + 1 :]:
        if word.tag not in _IN_PHRASE and word.text not in ("-", "/"):
            break
        if word.tag == "VBG" and phrase and phrase[-1].tag in _NOUN:
            break
        if word.tag == "VBN" and phrase and phrase[-1].tag in (*_NOUN, *_NAME):
            break
        phrase.append(word)
    nouns = [w for w in phrase if w.tag in _NOUN]
    lows = {w.low for w in phrase}
    if the.low in _POINTING:
        named = bool(nouns) and _is_named_before(found, the, nouns)
        return [the, *phrase] if nouns and the.dep != "mark" and not named else []
    if not phrase or _is_anchored(found, phrase, nouns, lows):
        return []
    if nouns and _is_named_before(found, the, nouns):
        return []
    return [the, *phrase]


def _is_named_before(found: tuple[Word, ...], the: Word, nouns: list[Word]) -> bool:
    """Whether the question has the thing before: the same noun, or a name of its kind."""
    for word in found[: the.at]:
        if word.tag in _NOUN and word.lemma == nouns[-1].lemma:
            return True
        if nouns[-1].low in _IN_GROUP.get(word.label, ()):
            return True
    return False


def _is_anchored(
    found: tuple[Word, ...], phrase: list[Word], nouns: list[Word], lows: set[str]
) -> bool:
    """Whether a definite phrase says which one it means, or there is only one."""
    last = phrase[-1]
    rest = found[last.at + 1 :]
    after = rest[0] if rest else None
    if lows & _SOURCES:
        return bool(after and (after.low == "of" or after.tag in (*_NOUN, *_NAME))) or (
            last.low not in _SOURCES
        )
    if lows & _BACK:
        former = bool(lows & {"former", "previous"})
        if not former or not nouns or lows & words("day week month year night"):
            return bool(former and after and after.low == "of")
    capital = [w for w in phrase if w.text != w.low and w.label not in ("DATE", "CARDINAL")]
    known = any(w.low not in _OFFICES or w.label in _ON_MAPS for w in capital)
    names = capital if known else []
    peoples = [w for w in names if w.label == "NORP" or w.tag == "JJ"]
    if len(names) > len(peoples) or (names and not any(w.low in _MANY - _NATIONAL for w in nouns)):
        return True
    if {w.tag for w in phrase} & {"JJS", "RBS"} or lows & {"first", "only", "second", "third"}:
        return True
    if lows & _NAMING or any(
        w.label == "ORDINAL" or _ORDINAL.fullmatch(w.low) for w in phrase[:-1]
    ):
        return True
    if _DECADE.fullmatch(last.low):
        return True
    if any(w.low in _CALLED for w in phrase[:-1]):
        return True  # the word bravery
    nouns = nouns or capital
    named = any(w.label and w.label not in _NO_NAME_LABELS for w in found)
    dated = any(w.label == "DATE" or _YEAR.fullmatch(w.text) for w in found)
    if not nouns and lows & _EVENTS:
        of_name = len(rest) > 1 and rest[0].low == "of" and rest[1].tag in _NAME
        return of_name or (named and dated)
    if not nouns:
        return bool(lows & _ONLY) or any(c.isdigit() for w in phrase for c in w.text)
    if nouns[-1].low in _ONLY or nouns[0].low in _ONLY:
        return True
    if after is None:
        return False
    if after.tag == "POS":
        own = any(w.text != w.low or w.text[0].isdigit() for w in phrase)
        if own and any(w.tag in _NAME for w in rest[1:3]):
            return True  # the 2016 Prime Minister's Literary Awards
        of_all = last.low in ("men", "women")
        return of_all and any(w.label and w.label not in _NO_NAME_LABELS for w in rest)
    if after.low in ("who", "which", "where", "whose", "whom") or after.tag == "WDT":
        return True
    if after.text == "The" and after.label == "ORG":
        return True  # the retailer The Body Shop
    if after.tag in ("VBN", "VBG") and len(rest) > 2:
        return True
    if after.low in _ADDS and len(rest) > 2:
        return True
    if after.low == "that" and after.dep != "mark":
        return True
    joined = len(rest) > 1 and rest[1].tag in (*_NOUN, "JJ", "DT")
    if after.low in ("and", "or", ",") and joined and any(w.low == "of" for w in rest[1:6]):
        return True  # the custody and control of the army
    many = any(w.low in _MANY for w in nouns)
    place = after.low in _PLACES and len(rest) > 1 and rest[1].label not in ("DATE", "TIME")
    if place and not many:
        return True
    if after.text == "," and len(rest) > 1 and rest[1].text[0].isupper():
        return True
    return bool(lows & _EVENTS) and named and dated
