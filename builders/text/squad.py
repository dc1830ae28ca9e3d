"""Exact match and F1 of short answers, as SQuAD scores them (Rajpurkar et al. 2016, section 6.1).

Releases have a copy of this file for harnesses: it needs nothing but Python. Three things differ
from SQuAD's script. Dashes and quotation marks of every kind count as the ASCII ones do, because a
model types a hyphen where a name has a longer dash. A name that SQuAD's rules leave nothing of
(`$`, `The The`) is compared as it stands: else every blank answer would be right. And of a question
with no accepted answer, saying so is right and any other answer is wrong (Chen et al. 2021,
TimeQA).
"""

import re
import string
import unicodedata
from collections.abc import Collection, Sequence

NO_ANSWER_TEXTS = frozenset(
    {
        *("", "unanswerable", "no answer", "unknown", "not known", "none", "na"),
        *("i dont know", "i do not know", "dont know", "do not know"),
    }
)
"""Normalized texts that say that there is no answer."""
# `passages do not say who leads it`, `nothing that was published by 20 January 2019 says it`,
# `nothing i was given says it`; not `nothing compares to it`, `text does not say but it was Bob`.
# What follows is a question or a pronoun, for a name there would be an answer.
_TELLS = "(?:says?|states?|mentions?|tells?|specif(?:y|ies))"
_WHAT = "(?: (?:it|so|this|that|(?:who|whom|whose|what|which|when|where|whether|how)(?: .+)?))?"
_OF_WHAT_IS_KNOWN = (
    "(?: that was published| (?:that )?(?:i|you|we) (?:have been|was|were) given)?"
    "(?: by (?:today|[0-9]{1,2} [a-z]{3,9} [0-9]{4}))?"
)
_SILENT_SENTENCE = re.compile(
    "(?:(?:passages?|texts?|documents?|sources?|articles?|context|information)(?: provided| given)?"
    f" (?:do not|does not|did not|dont|doesnt|didnt) {_TELLS}"
    f"|nothing{_OF_WHAT_IS_KNOWN} {_TELLS}"
    f"){_WHAT}"
)
_GOES_ON = re.compile(r"\b(?:but|however|though|although|perhaps|maybe|probably|likely|possibly)\b")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d"
_QUOTES = (
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u2032\u2033\u2035"
    "\u00b4\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u300c\u300d\u300e\u300f\uff02\uff07"
)
# soft hyphens, joiners, marks of direction and of byte order: none can be seen
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_MARKS = string.punctuation + _DASHES + _QUOTES + _INVISIBLE
_NO_MARKS = str.maketrans("", "", _MARKS)
# The same marks: on a long text with accents, this takes half of the time of `_NO_MARKS`.
_MARK_RUN = re.compile(f"[{re.escape(_MARKS)}]+")


def normalize_answer(text: str) -> str:
    """A text in lower case, without punctuation and English articles, in single spaces.

    Punctuation is that of ASCII, and dashes and quotation marks of every kind.
    """
    return " ".join(_ARTICLES.sub(" ", _without_marks(text)).split())


def _without_marks(text: str) -> str:
    lower_text = text.lower()
    if not lower_text.isascii():  # an accent counts the same beside its letter and in one with it
        lower_text = unicodedata.normalize("NFC", lower_text)
    return lower_text.translate(_NO_MARKS)


def normalize_or_keep(text: str) -> str:
    """The normalized text; where nothing would be left of it, as much of it as has to stay.

    Articles stay in `The The`, marks in `$`. It is empty for a text without a visible character.
    """
    return (
        normalize_answer(text)
        or " ".join(_without_marks(text).split())
        or " ".join(text.lower().translate(_NOT_SEEN).split())
    )


_NOT_SEEN = str.maketrans("", "", _INVISIBLE)


def normalize_many(texts: Sequence[str]) -> list[str]:
    """What `normalize_answer` makes of each of many texts, in a third of the time.

    >>> normalize_many(["The São Paulo F.C.", "$", "an Ox"])
    ['são paulo fc', '', 'ox']
    """
    ascii_texts: list[str] = []
    other_texts: list[str] = []
    for text in texts:
        (ascii_texts if text.isascii() else other_texts).append(text)
    # texts in ASCII by themselves: of them Python lowers and deletes by bytes
    ascii_forms, other_forms = map(iter, map(_normalize_joined, (ascii_texts, other_texts)))
    return [next(ascii_forms if text.isascii() else other_forms) for text in texts]


def _normalize_joined(texts: Sequence[str]) -> list[str]:
    """Normalize texts as the lines of one: each rule is then applied once, and not once a text."""
    if not texts:
        return []
    lines_text = "\n".join(texts)
    if lines_text.count("\n") != len(texts) - 1:
        lines_text = "\n".join([text.replace("\n", " ") for text in texts])
    lower_text = lines_text.lower()
    if lower_text.isascii():
        unmarked_text = lower_text.translate(_NO_MARKS)
    else:
        unmarked_text = _MARK_RUN.sub("", unicodedata.normalize("NFC", lower_text))
    lines = _ARTICLES.sub(" ", unmarked_text).split("\n")
    return [" ".join(line.split()) for line in lines]


def says_nothing(answer: str) -> bool:
    """Whether an answer is blank, has marks and articles alone, or says that there is none."""
    return form_says_nothing(normalize_answer(answer))


def form_says_nothing(form: str) -> bool:
    """As `says_nothing`, of the form that `normalize_answer` gives.

    >>> form_says_nothing("passages do not say who leads it"), form_says_nothing("bob bell")
    (True, False)
    """
    if form in NO_ANSWER_TEXTS:
        return True
    return _SILENT_SENTENCE.fullmatch(form) is not None and _GOES_ON.search(form) is None


def exact_match(answer: str | None, references: Sequence[str]) -> float:
    """1 if the normalized answer equals a normalized reference, else 0; None is no answer.

    A blank answer equals no reference. Without references, an answer is right if it says that there
    is no answer.
    """
    if answer is None or not references:
        return float(answer is not None and says_nothing(answer))
    answer_form = normalize_or_keep(answer)
    return float(answer_form != "" and answer_form in map(normalize_or_keep, references))


def f1(answer: str | None, references: Sequence[str]) -> float:
    """The best F1 between the words of an answer and of a reference, from 0 to 1.

    Without references it is `exact_match`. An answer that says that there is none shares no word
    with a reference, unless it is one.
    """
    exact = exact_match(answer, references)
    if exact or answer is None or not references or says_nothing(answer):
        return exact
    answer_words = normalize_or_keep(answer).split()
    return max(
        token_f1(answer_words, normalize_or_keep(reference).split()) for reference in references
    )


def token_f1(answer_words: Sequence[str], reference_words: Sequence[str]) -> float:
    """The F1 of two lists of normalized words."""
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    word_counts: dict[str, int] = {}
    for word in reference_words:
        word_counts[word] = word_counts.get(word, 0) + 1
    common_count = 0
    for word in answer_words:
        if word_counts.get(word):
            word_counts[word] -= 1
            common_count += 1
    return 2 * common_count / (len(answer_words) + len(reference_words))


def verdict(
    answer: str,
    targets: Sequence[str],
    previous: Sequence[str] = (),
    later: Sequence[str] = (),
    neutral: Sequence[str] = (),
) -> str:
    """How an answer in a model's own words is judged, given the names that it is compared with.

    `targets` are accepted. `previous` was right before and `later` only afterwards. `neutral` is
    true and not asked for: an answer that names it is neither right nor wrong.

    >>> verdict("the Bob", ["Ann"], previous=["Bob"]), verdict("$", ["Ann"]), verdict("", [])
    ('outdated', 'abstained', 'right')
    """
    return verdict_of_form(
        normalize_or_keep(answer),
        {*map(normalize_or_keep, targets)},
        {*map(normalize_or_keep, previous)},
        {*map(normalize_or_keep, later)},
        {*map(normalize_or_keep, neutral)},
    )


def verdict_of_form(
    form: str | None,
    targets: Collection[str],
    previous: Collection[str],
    later: Collection[str],
    neutral: Collection[str],
    is_choice: bool = False,
) -> str:
    """As `verdict`, of forms of `normalize_or_keep`. What was chosen among texts is never silence.

    `form` is None where nothing was chosen.
    """
    if form in targets and (is_choice or form != ""):
        return "right"
    if form in neutral:
        return "neutral"
    # somebody may be called None: a known name is no silence
    is_known = form != "" and (form in previous or form in later)
    if not is_choice and not is_known and says_nothing(form or ""):
        return "abstained" if targets else "right"
    if form in previous:
        return "outdated"
    return "early" if form in later else "wrong"


def marks(
    answer: str,
    targets: Sequence[str],
    previous: Sequence[str] = (),
    later: Sequence[str] = (),
    neutral: Sequence[str] = (),
) -> dict[str, float]:
    """The metrics of an answer by name; none if it is neutral.

    A row can be `outdated` if it had another answer before, and `early` if it has one later.

    >>> marks("Bob", ["Ann"], previous=["Bob"])
    {'exact_match': 0.0, 'f1': 0.0, 'abstained': 0.0, 'outdated': 1.0}
    """
    judged = verdict(answer, targets, previous, later, neutral)
    if judged == "neutral":
        return {}
    row_marks = {
        "exact_match": float(judged == "right"),
        # without targets a known name that says nothing, as None, is wrong
        "f1": f1(answer, targets) if targets else float(judged == "right"),
        "abstained": float(judged == "abstained"),
    }
    if not {*map(normalize_or_keep, previous)} <= {*map(normalize_or_keep, targets)}:
        row_marks["outdated"] = float(judged == "outdated")
    if later:
        row_marks["early"] = float(judged == "early")
    return row_marks
