"""Simple memories, which show what a stream of dated passages asks for.

A memory hears passages in the order of the stream and is asked in between. `Last` and `TermsHeard`
are told which facts a passage states (`stated.jsonl`), so that reading is no matter; `Prose` and
`NewestWithNames` get the text alone, as a memory of a user does.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeGuard

from factdrift.builders.text.dates import dates_in
from factdrift.reasoning.as_of.text_names import (
    name_words,
    names_of,
    nearest_name,
    sentences_of,
    telling_words,
)

Event = Mapping[str, Any]
"""A line of a stream: a passage, a question, or the deletion of a passage. For a memory that is
told facts it also has what `stated.jsonl` says of it."""


class Memory(Protocol):
    """What hears passages in the order of the stream, and is asked in between.

    A `ForgettingMemory` is told which passages are deleted, too.
    """

    def hear(self, passage: Event) -> None:
        """Take a passage in."""
        ...

    def answer(self, question: Event) -> str:
        """Return the answer to a question; empty where there is none to give."""
        ...


class ForgettingMemory(Memory, Protocol):
    """A memory that can take back what it heard."""

    def forget(self, deletion: Event) -> None:
        """Take back the passage whose `id` the deletion has; it has no text."""
        ...


def can_forget(memory: Memory) -> TypeGuard[ForgettingMemory]:
    """Whether a memory has the method that takes back what was deleted."""
    return callable(getattr(memory, "forget", None))


class Last:
    """A store of keys and values: of each subject and relation what it heard last."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], str] = {}

    def hear(self, passage: Event) -> None:
        """Overwrite what it held of the facts of a passage; what is deleted has no trace here."""
        for fact in passage["facts"]:
            self._objects[fact["subject"], fact["relation"]] = fact["object"]

    def answer(self, question: Event) -> str:
        """Return what it holds, whatever day is asked about."""
        return self._objects.get((question["subject"], question["relation"]), "")


class TermsHeard:
    """All that it heard with the day since when it is so; answers with what began last by then."""

    def __init__(self) -> None:
        self._terms: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
        self._deleted: set[str] = set()

    def hear(self, passage: Event) -> None:
        """Add the facts of a passage to what it holds."""
        for fact in passage["facts"]:
            term = fact["since"], fact["object"], passage["id"]
            self._terms[fact["subject"], fact["relation"]].append(term)

    def forget(self, deletion: Event) -> None:
        """Take a passage back."""
        self._deleted.add(deletion["id"])

    def answer(self, question: Event) -> str:
        """Return what began last by the day asked about."""
        terms = self._terms.get((question["subject"], question["relation"]), [])
        last_day, begun_terms = question["as_of"], [("", "", "")]
        for term in terms:
            if term[0] <= last_day and term[2] not in self._deleted:
                begun_terms.append(term)
        return max(begun_terms)[1]


class Prose:
    """Reads text: keeps sentences that have two names, by each of their names and with their day.

    It answers out of the sentence that has most words of the question, the newest of equals that is
    not after the day asked about, with the name in it that is nearest to these words.
    """

    def __init__(self) -> None:
        self._sentences: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        self._deleted: set[str] = set()

    def hear(self, passage: Event) -> None:
        """Keep the sentences of a passage that have a name to find them by and another to give."""
        for sentence in sentences_of(passage["text"]):
            sentence_names = {name.text for name in names_of(sentence)}
            if len(sentence_names) > 1:
                for name in sentence_names:
                    kept_sentence = passage["day"], sentence, passage["id"]
                    self._sentences[name].append(kept_sentence)

    def forget(self, deletion: Event) -> None:
        """Take a passage back."""
        self._deleted.add(deletion["id"])

    def answer(self, question: Event) -> str:
        """Return a name of the best sentence that has a name of the question."""
        last_day, asked_words = day_asked_about(question), telling_words(question["text"])
        best_rank, best_sentence = (0, ""), ""
        for name in names_of(question["text"]):
            for day, sentence, passage_id in self._sentences.get(name.text, ()):
                if day > last_day or passage_id in self._deleted:
                    continue
                rank = len(asked_words & telling_words(sentence)), day
                if rank > best_rank:
                    best_rank, best_sentence = rank, sentence
        return nearest_name(best_sentence, question["text"])


class NewestWithNames:
    """A rule that knows nothing: the newest passage by the day asked about with all the names.

    Its answer is the name nearest to words of the question. Where this is often right, the
    questions are too easy.
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        self._deleted: set[str] = set()

    def hear(self, passage: Event) -> None:
        """Keep a passage by each word of its names."""
        for word in name_words(passage["text"]):
            self._texts[word].append((passage["day"], passage["text"], passage["id"]))

    def forget(self, deletion: Event) -> None:
        """Take a passage back."""
        self._deleted.add(deletion["id"])

    def answer(self, question: Event) -> str:
        """Return the name nearest to the question's words in the newest passage with its names."""
        asked_words, last_day = name_words(question["text"]), day_asked_about(question)
        rarest_word = min(asked_words, key=lambda word: len(self._texts[word]), default="")
        for day, text, passage_id in reversed(self._texts[rarest_word]):
            if passage_id in self._deleted:
                continue
            if day <= last_day and asked_words <= name_words(text):
                return nearest_name(text, question["text"])
        return ""


MEMORIES: Mapping[str, Callable[[], Memory]] = {
    "last": Last,
    "validity": TermsHeard,
    "prose": Prose,
    "guess": NewestWithNames,
}
TOLD_FACTS: frozenset[str] = frozenset({"last", "validity"})
"""The memories that do not read, and are told which facts a passage states."""


def day_asked_about(question: Event) -> str:
    """Return the last day that a question's text states, at most the day on which it is asked."""
    asking_day: str = question["day"]
    stated_days = [mention.last.isoformat() for mention in dates_in(question["text"]).written]
    return min(max(stated_days, default=asking_day), asking_day)
