"""Whether a text gives an answer away.

Each dataset compares other texts, and so has its own rule: `contains_as_scored` is for the
statements of CKL (whatever would be scored as right counts), `gives_away` for edits, `overlaps` for
DynamicTempLAMA and InvariantLAMA (CKL, appendix B), `ObjectNames` for TimeQA, and
`builders.text.en.answers` for questions about news. Over tables, `overlaps` is an Ibis expression
(`builders.facts.name_overlap`) with the same `SIGNIFICANT_LENGTH` and `WORD_SEPARATOR`. It ignores
case but keeps accents, because no two engines fold them alike.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.text.words import word_tokens

SIGNIFICANT_LENGTH = 4
"""Letters of the shortest word that counts by itself: shorter ones (the, F.C., von) are common."""
WORD_SEPARATOR = r"[^\p{L}\p{N}]+"
"""A pattern of the characters between words, in the syntax that the engines of tables share."""
PROPER_NAME = r"^[\p{Lu}\p{N}]"
"""A pattern of how a name begins, in the syntax that the engines of tables share."""
_SHORTEST = 3
"""Letters of the shortest alias that counts: `IN`, for Indiana, is also a preposition."""


def significant_words(words: Collection[str]) -> frozenset[str]:
    """The words that are long enough to identify something."""
    return frozenset(word for word in words if len(word) >= SIGNIFICANT_LENGTH)


def padded_words(words: Iterable[str]) -> str:
    """Words joined with blanks between and around them, so that `in` finds neighbouring words."""
    return f" {' '.join(words)} "


def contains_as_scored(text: str, answer: str) -> bool:
    """Whether a text contains the answer after the normalisation by which SQuAD scores."""
    return f" {normalize_or_keep(answer)} " in f" {normalize_or_keep(text)} "


def gives_away(prompt: str, answer: str) -> bool:
    """Whether a prompt holds its answer: as scored, or as letters within a longer word.

    >>> gives_away("Kia Center is named after", "Kia"), gives_away("Oslofjord lies in", "Oslo")
    (True, True)
    >>> gives_away("The focus of Ann is", "US")
    False
    """
    is_long = len(answer) >= SIGNIFICANT_LENGTH
    within_words = is_long and answer.casefold() in prompt.casefold()
    return within_words or contains_as_scored(prompt, answer)


def overlaps(text: str, answer: str) -> bool:
    """Whether text or answer contains the other, in any case, or both share a significant word.

    A name whose words stand side by side in the text also counts: `A Ha` in `A-Ha`.
    """
    lower_text, lower_answer = text.lower(), answer.lower()
    text_words, answer_words = word_tokens(text), word_tokens(answer)
    whole_name = answer[:1].isupper() and padded_words(answer_words) in padded_words(text_words)
    shared_words = significant_words(text_words) & significant_words(answer_words)
    return (
        lower_text in lower_answer or lower_answer in lower_text or whole_name or bool(shared_words)
    )


class ObjectNames(NamedTuple):
    """The names of an object, prepared so that many questions can be tested.

    `words` are the significant words of its label, and `spans` are its names as `padded_words`.
    """

    words: frozenset[str]
    spans: tuple[str, ...]

    def given_away(self, subject: frozenset[str], question: str) -> bool:
        """Whether a question contains a whole name, or its subject has all words of the label.

        `Manchester` is given away by Manchester United, but `Chicago Stadium` is not by the Chicago
        Blackhawks. `subject` holds the significant words of the subject's label, and `question` is
        the question as `padded_words`.
        """
        label_in_subject = bool(self.words) and self.words <= subject
        return label_in_subject or any(span in question for span in self.spans)


@lru_cache(1 << 16)
def object_names(label: str, aliases: tuple[str, ...]) -> ObjectNames:
    """The names of an object; an alias of one or two letters does not count."""
    label_words = word_tokens(label)
    alias_words = [
        name_words
        for name_words in map(word_tokens, aliases)
        if len("".join(name_words)) >= _SHORTEST
    ]
    return ObjectNames(
        significant_words(label_words),
        tuple(padded_words(name_words) for name_words in (label_words, *alias_words) if name_words),
    )
