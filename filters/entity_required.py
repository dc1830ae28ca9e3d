"""Drop a question about a phrase that names nothing: it is too generic."""

import re
from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from builders.dates import MONTHS, WEEKDAYS
from builders.questions.candidates import Finder, SpacyFinder
from builders.rows import AnswerType
from filters.base import Context, EntityFinder, Item, Verdict, judged
from filters.words import word_set

_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_NEVER = frozenset(w.casefold() for w in (*MONTHS, *WEEKDAYS)) | word_set("i mr mrs ms dr tv ok")
_OPENING = word_set(
    "who whom whose what which when where why how in on at by for from with to under during after "
    "before since until between against into of about as if did does do is are was were has have "
    "had can could will would should may might must the a an this that these those according name"
)


class EntityRequired(Strict):
    """The answer is a phrase and the question holds no named entity (appendix A.4, iv).

    Entities are what the run's spaCy pipeline finds in the question, where it finds entities;
    with `pipeline: rules` words with a capital that the article does not write small. Months and
    weekdays name nothing. `types` says of which answers.
    """

    filter: Literal["entity_required"] = "entity_required"
    types: tuple[AnswerType, ...] = ("phrase",)

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop a question without an entity where the answer's type asks for one."""
        asked = [item for item in items if item.question.answer.type in self.types]
        found = (context.entities or Capitals()).entities(asked) if asked else []
        without = {item.question.id for item, names in zip(asked, found, strict=True) if not names}
        return [judged("no entity" if i.question.id in without else None) for i in items]


class OfPipeline:
    """Named entities as a spaCy pipeline finds them: also those that are written small."""

    def __init__(self, finder: SpacyFinder) -> None:
        self.finder = finder

    def entities(self, items: Sequence[Item]) -> Sequence[Sequence[str]]:
        """The names in each question, whatever its article holds."""
        return self.finder.names([item.question.question for item in items])


def entities_of(finder: Finder) -> EntityFinder | None:
    """What finds names in questions, for `Context.entities`: None where capitals have to do."""
    return OfPipeline(finder) if isinstance(finder, SpacyFinder) and finder.finds_names else None


class Capitals:
    """Named entities by their capitals: needs no model, and finds no borders between names."""

    def entities(self, items: Sequence[Item]) -> Sequence[Sequence[str]]:
        """The words of each question that are written like names."""
        return [_names(item.question.question, item.article.text) for item in items]


def _names(question: str, article: str) -> list[str]:
    """Words with a capital; at the head, only where the article has them inside a sentence.

    In a question in title case every word is like its head. A word that the article writes both
    ways counts as a name, one that it only writes small
    (in a question in title case) does not.
    """
    names: list[str] = []
    words = [m[0] for m in _WORD.finditer(question)]
    title = len(words) > 3 and sum(w[0].isupper() for w in words) > 0.8 * len(words)
    for i, written in enumerate(words):
        word = re.sub(r"['’]s$", "", written)
        if not any(c.isupper() for c in word) or word.casefold() in _NEVER:
            continue
        inside = re.search(rf"(?<=[^\W_][ ,;(]){re.escape(word)}\b", article) is not None
        small = re.search(rf"\b{re.escape(word.lower())}\b", article) is not None
        head = i == 0 or title
        if head and (word.casefold() in _OPENING or not inside):
            continue
        if inside or not small:
            names.append(word)
    return names
