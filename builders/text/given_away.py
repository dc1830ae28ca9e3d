"""Whether a text gives an answer away.

One rule family; the modes differ on purpose, because what is compared does:

- `span`: the words of an answer stand side by side in a question; determiners and possessives
  aside, `U.S.` is `US` (news questions: StreamingQA, appendix A.4, i).
- `name`: all words of a name stand side by side in a question; every word counts, for names are
  given in full (TimeQA).
- `squad`: as SQuAD scores answers, so that what would be scored as right counts (CKL).
- `word`: text and answer share a word of at least `WORD` letters: shorter ones (the, F.C., von)
  are in everything; or the whole answer stands in the text as it is written, capitalised: Kia in
  Kia Center (names of subject and object in TimeQA, DynamicTempLAMA).
- `overlap`: one stands inside the other, in any case, or they share such a word (InvariantLAMA:
  CKL, appendix B).

Over tables the last two are Ibis expressions (`builders.facts.names`): with the same `WORD` and
`APART`, and in any case, but with accents as they are, as no two engines fold alike.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from factdrift.builders.text.squad import normal_or_all
from factdrift.builders.text.words import holds, tokens, word_tokens

Mode = Literal["span", "name", "squad", "word", "overlap"]

WORD = 4
"""Letters of a word that counts by itself."""
APART = r"[^\p{L}\p{N}]+"
"""What is between words, for the engines of tables."""
PROPER = r"^[\p{Lu}\p{N}]"
"""How a name begins, for the engines of tables."""
_WORDS = re.compile(r"[^\W_]+")
_SHORTEST = 3
"""Letters of an alias that is a name: IN is a preposition."""


def gives_away(text: str, answers: Iterable[str], mode: Mode) -> bool:
    """Whether a text gives one of the answers away."""
    return any(_GIVES[mode](text, answer) for answer in answers)


def significant(words: Collection[str]) -> frozenset[str]:
    """The words that are long enough to say something."""
    return frozenset(w for w in words if len(w) >= WORD)


def side_by_side(words: Iterable[str]) -> str:
    """Words as a text in which `holds` is `in`: blanks between and around them."""
    return f" {' '.join(words)} "


def _span(text: str, answer: str) -> bool:
    return holds(tokens(text), tokens(answer))


def _name(text: str, answer: str) -> bool:
    return holds(word_tokens(text), word_tokens(answer))


def _squad(text: str, answer: str) -> bool:
    return f" {normal_or_all(answer)} " in f" {normal_or_all(text)} "


def _word(text: str, answer: str) -> bool:
    if not significant(word_tokens(text)).isdisjoint(significant(word_tokens(answer))):
        return True
    is_name = answer[:1].isupper() or answer[:1].isnumeric()
    there = side_by_side(_WORDS.findall(text))
    return is_name and side_by_side(_WORDS.findall(answer)) in there


def _overlap(text: str, answer: str) -> bool:
    one, other = text.lower(), answer.lower()
    return one in other or other in one or _word(text, answer)


_GIVES = {"span": _span, "name": _name, "squad": _squad, "word": _word, "overlap": _overlap}


class Names(NamedTuple):
    """All names of an object made ready for many questions: modes `word` and `name` at once.

    `words`: the significant ones of its label; `spans`: each name side by side; `heads`: the first
    word of each.
    """

    words: frozenset[str]
    spans: tuple[str, ...]
    heads: frozenset[str]

    def given_away(
        self, subject: frozenset[str], words: frozenset[str], time: Iterable[str], question: str
    ) -> bool:
        """Whether a question holds a name whole, or its subject has all that the label says.

        All words of the label are in the subject's: `Manchester` in Manchester United, but not
        `Chicago Stadium` in the Chicago Blackhawks. `subject`: significant words of the subject's
        label. `words` and `time`: all words of the question, those of its time apart.
        """
        if self.words and self.words <= subject:
            return True
        if self.heads.isdisjoint(words) and self.heads.isdisjoint(time):
            return False
        return self.named_in(question)

    def named_in(self, text: str) -> bool:
        """Whether a text holds one of the names whole."""
        there = side_by_side(word_tokens(text))
        return any(span in there for span in self.spans)


@lru_cache(1 << 16)
def names(label: str, aliases: tuple[str, ...]) -> Names:
    """The names of an object; an alias of one or two letters is none."""
    split = [
        word_tokens(label),
        *(t for t in map(word_tokens, aliases) if len("".join(t)) >= _SHORTEST),
    ]
    split = [t for t in split if t]
    return Names(
        significant(split[0] if word_tokens(label) else ()),
        tuple(map(side_by_side, split)),
        frozenset(t[0] for t in split),
    )
