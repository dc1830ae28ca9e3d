"""Answer candidates for language models: names, dates and phrases as spans of an article."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.pipeline import load_pipeline

Span = tuple[int, int, AnswerType, str | None]

_LONGEST = 12
"""Tokens of a prepositional phrase that can be an answer, at most: longer ones hold clauses."""
_NUMBERS = frozenset(("CARDINAL", "MONEY", "PERCENT", "QUANTITY"))
"""The pipeline's labels of amounts, which are phrases: ordinals (`first`) are no answer."""
_ENTITY_LABELS = frozenset(
    ("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW")
)
_NAME_LABELS = _ENTITY_LABELS | {"NORP"}
"""The labels of names; peoples and religions (NORP) are names, but answer nothing."""


def sentence_starts(article: Article) -> list[int]:
    """Return the offset of each sentence in the article's text."""
    return list(accumulate((len(sentence) + 1 for sentence in article.sentences[:-1]), initial=0))


class SpacyFinder:
    """Finds entities and prepositional phrases with the small pipeline."""

    def __init__(self) -> None:
        self.nlp = load_pipeline()

    def find(self, article: Article) -> list[Candidate]:
        """Return the candidates of every sentence but the headline."""
        candidates: list[Candidate] = []
        line_starts = sentence_starts(article)
        with self.nlp.memory_zone():
            for line_index, parsed_line in enumerate(self.nlp.pipe(article.sentences[1:]), 1):
                line_spans = sorted(
                    set(self._spans(parsed_line)), key=lambda span: (span[0], -span[1], span[2])
                )
                for span_start, span_end, answer_type, entity_label in line_spans:
                    start, end = (
                        line_starts[line_index] + span_start,
                        line_starts[line_index] + span_end,
                    )
                    candidates.append(
                        Candidate(
                            start,
                            end,
                            article.text[start:end],
                            answer_type,
                            entity_label,
                            line_index,
                        )
                    )
        return candidates

    def names(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the named entities of each text, in order; dates and numbers are none."""
        with self.nlp.memory_zone():
            text_names = []
            for parsed_text in self.nlp.pipe(texts):
                entities = (entity for entity in parsed_text.ents if entity.label_ in _NAME_LABELS)
                text_names.append([entity.text for entity in entities])
            return text_names

    def _spans(self, parsed_line: Any) -> Iterator[Span]:
        for entity in parsed_line.ents:
            span_start, span_end = entity.start_char, entity.end_char
            if entity.label_ == "DATE":
                yield span_start, span_end, "date", entity.label_
            elif entity.label_ in _ENTITY_LABELS:
                span_start += 4 if entity.text.lower().startswith("the ") else 0
                span_end -= 2 if entity.text.endswith(("'s", "’s")) else 0
                yield span_start, span_end, "entity", entity.label_
            elif entity.label_ in _NUMBERS:
                yield entity.start_char, entity.end_char, "phrase", entity.label_
        for token in parsed_line:
            # `of` belongs to the noun before it: `of Italy` answers nothing
            if token.dep_ == "prep" and token.lower_ != "of":
                span = parsed_line[token.left_edge.i : token.right_edge.i + 1]
                if 1 < len(span) <= _LONGEST:
                    yield span.start_char, span.end_char, "phrase", token.text.upper()
