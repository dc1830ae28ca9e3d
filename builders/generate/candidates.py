"""Answer candidates for language models: names, dates and phrases as spans of an article."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.pipeline import load_pipeline

Span = tuple[int, int, AnswerType, str | None]

_LONGEST = 12
"""Tokens of a prepositional phrase that can be an answer."""
_NUMBERS = frozenset(("CARDINAL", "MONEY", "PERCENT", "QUANTITY"))
_ENTITY_LABELS = frozenset(
    ("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW")
)


def sentence_starts(article: Article) -> list[int]:
    """Where each sentence starts in the article's text."""
    return list(accumulate((len(one) + 1 for one in article.sentences[:-1]), initial=0))


class SpacyFinder:
    """Entities of the small pipeline, and its parser's prepositional phrases."""

    def __init__(self) -> None:
        self.nlp = load_pipeline()

    def find(self, article: Article) -> list[Candidate]:
        """Candidates of every sentence but the headline."""
        out: list[Candidate] = []
        starts = sentence_starts(article)
        with self.nlp.memory_zone():
            for index, doc in enumerate(self.nlp.pipe(article.sentences[1:]), 1):
                spans = sorted(set(self._spans(doc)), key=lambda s: (s[0], -s[1], s[2]))
                for start, end, kind, label in spans:
                    a, b = starts[index] + start, starts[index] + end
                    out.append(Candidate(a, b, article.text[a:b], kind, label, index))
        return out

    def names(self, texts: Sequence[str]) -> list[list[str]]:
        """The named entities of each text, in order; dates and numbers are none."""
        with self.nlp.memory_zone():
            return [
                [e.text for e in doc.ents if e.label_ in _ENTITY_LABELS or e.label_ == "NORP"]
                for doc in self.nlp.pipe(texts)
            ]

    def _spans(self, doc: Any) -> Iterator[Span]:
        for ent in doc.ents:
            a, b = ent.start_char, ent.end_char
            if ent.label_ == "DATE":
                yield a, b, "date", ent.label_
            elif ent.label_ in _ENTITY_LABELS:
                a += 4 if ent.text.lower().startswith("the ") else 0
                b -= 2 if ent.text.endswith(("'s", "’s")) else 0
                yield a, b, "entity", ent.label_
            elif ent.label_ in _NUMBERS:
                yield ent.start_char, ent.end_char, "phrase", ent.label_
        for token in doc:
            if token.dep_ == "prep" and token.lower_ != "of":
                span = doc[token.left_edge.i : token.right_edge.i + 1]
                if 1 < len(span) <= _LONGEST:
                    yield span.start_char, span.end_char, "phrase", token.text.upper()
