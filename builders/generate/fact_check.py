"""What the timelines of a dump say about a question that a model wrote, and about its answer."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import product
from typing import NamedTuple

from factdrift.builders.facts.intervals import Certainty
from factdrift.builders.facts.text_evidence import FactDates, FactPassage, fact_evidence
from factdrift.builders.generate.grounded import HeldTerm, KnownTerms, Side, StatedFacts
from factdrift.builders.generate.mentions import Mention, Sentence
from factdrift.builders.rows import Question
from factdrift.builders.text.en.answers import bare_answer
from factdrift.builders.text.words import folded_tokens

_EVENT = timedelta(60)
"""Days before an article in which a change is its news, as in `grounded`."""


class AnswerFacts(NamedTuple):
    """What a timeline says about the answer of a question.

    `aliases` are other names of the answer, `others` the labels of others who held on the article's
    day, and `has_changed` says whether the answer surely holds no more on the question's day.
    """

    aliases: tuple[str, ...]
    others: tuple[str, ...]
    has_changed: bool


class _Pair(NamedTuple):
    """A relation between a name in a question and the answer; `side` is that of the answer."""

    relation: str
    side: Side
    named_id: str
    answer_id: str


class FactLookup:
    """Finds questions whose names and answers are a pair of a timeline.

    `newest_day` is the day of the dump, after which nothing is known.
    """

    def __init__(self, facts: StatedFacts, newest_day: date) -> None:
        self.facts, self.newest_day = facts, newest_day

    def look_up(self, questions: Sequence[Question]) -> list[AnswerFacts | None]:
        """Return what is known about the answer of each question; None where nothing is."""
        texts = [f"{question.question} {question.answer.text}" for question in questions]
        all_mentions = self.facts.names.find([[Sentence(0, text, 0)] for text in texts])
        item_pairs: set[tuple[str, str]] = set()
        id_pairs_each: list[set[tuple[str, str]]] = []
        for question, text, mentions in zip(questions, texts, all_mentions, strict=True):
            id_pairs = set(_id_pairs(question, text, mentions))
            id_pairs_each.append(id_pairs)
            item_pairs |= id_pairs | {(answer_id, named_id) for named_id, answer_id in id_pairs}
        known_terms, relation_ids = self.facts.read_terms(item_pairs)
        results: list[AnswerFacts | None] = []
        for question, id_pairs in zip(questions, id_pairs_each, strict=True):
            result = None
            for named_id, answer_id in sorted(id_pairs):
                for relation in relation_ids.get((named_id, answer_id), ()):
                    pair = _Pair(relation, "object", named_id, answer_id)
                    result = result or self._answer_facts(question, pair, known_terms)
                for relation in relation_ids.get((answer_id, named_id), ()):
                    pair = _Pair(relation, "subject", named_id, answer_id)
                    result = result or self._answer_facts(question, pair, known_terms)
            results.append(result)
        return results

    def _answer_facts(
        self, question: Question, pair: _Pair, known_terms: KnownTerms
    ) -> AnswerFacts | None:
        """What a pair says about a question; None where the question does not ask for it."""
        evidence = fact_evidence(
            FactPassage(question.question),
            FactDates(None, None),
            self.facts.relations[pair.relation],
        )
        timeline = known_terms.terms.get((pair.side, pair.relation, pair.named_id), [])
        article_day = question.draw.article_day
        answer_terms = [term for term in timeline if term.id == pair.answer_id]
        holds = any(term.within(article_day, article_day) for term in answer_terms)
        if evidence.relation is None or not holds or pair.answer_id not in known_terms.entities:
            return None
        answer = known_terms.entities[pair.answer_id]
        other_ids = {
            term.id
            for term in timeline
            if term.id != pair.answer_id and _is_answer(term, article_day, event=evidence.is_change)
        }
        other_labels = sorted(
            known_terms.entities[item_id].label
            for item_id in other_ids
            if item_id in known_terms.entities
        )
        return AnswerFacts(
            (answer.label, *answer.aliases),
            tuple(other_labels),
            not evidence.is_change and self._has_changed(question, answer_terms),
        )

    def _has_changed(self, question: Question, answer_terms: Sequence[HeldTerm]) -> bool:
        """Whether the answer of the article's day surely holds no more when it is asked."""
        question_day = question.draw.question_day
        if question_day > self.newest_day:
            return False
        return all(
            term.held.holds_within(question_day, question_day) is Certainty.NO
            for term in answer_terms
        )


def _is_answer(term: HeldTerm, article_day: date, *, event: bool) -> bool:
    """Whether a term answers, too: it holds on the day or, of an event, began shortly before."""
    if event:
        return term.certainly_starts_within(article_day - _EVENT, article_day)
    return term.within(article_day, article_day)


def _id_pairs(
    question: Question, text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[str, str]]:
    """The item ids of each name in a question with those of its answer, where that is a name."""
    answer_words = folded_tokens(bare_answer(question.answer.text))
    question_length = len(question.question)
    answer_mentions = [
        mention
        for mention in mentions
        if mention.start > question_length
        and folded_tokens(text[mention.start : mention.end]) == answer_words
    ]
    for named, answer in product(mentions, answer_mentions):
        if named.end <= question_length:
            yield from product(named.ids, answer.ids)
