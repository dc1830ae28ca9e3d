"""Answer candidates: names, dates, numbers and phrases as spans of an article."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from pydantic import Field, model_validator

from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import RecipePath
from factdrift.builders.generate.gazetteer import Gazetteer
from factdrift.builders.generate.judging import Asked
from factdrift.builders.generate.parses import Live, Parser, Stored
from factdrift.builders.generate.patterns import questions
from factdrift.builders.generate.trees import NAMED, Tree, tree
from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.dates import candidates
from factdrift.builders.text.pipeline import NAME

Span = tuple[int, int, AnswerType, str | None]

_NUMBERS = ("CARDINAL", "MONEY", "PERCENT", "QUANTITY")
_LONGEST = 12
"""Tokens of a prepositional phrase that can be an answer."""
_KEPT = 64
"""Articles whose trees are in memory at a time."""
_ENTITY_LABELS = frozenset(
    ("PERSON", "PER", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW", "MISC")
)


class CandidateSettings(Strict):
    """Where answer candidates come from."""

    pipeline: str = Field(
        default=NAME,
        description=f"`{NAME}`, which comes with the package, or another installed spaCy pipeline",
    )
    entities: RecipePath | None = Field(
        default=None, description="entities.parquet of mined facts: its labels are names"
    )
    facts: RecipePath | None = Field(
        default=None, description="statements.parquet beside it: tells people from organisations"
    )
    drafts: bool = Field(
        default=False,
        description="whether patterns also ask, after all that stands alone and fits one event,"
        " what does not: for people, who choose among an article's questions and edit them",
    )

    @model_validator(mode="after")
    def _check_drafts(self) -> Self:
        if self.drafts and self.pipeline != NAME:
            raise ValueError(f"drafts: patterns read parses of {NAME}, not of {self.pipeline}")
        return self


class Finder(Protocol):
    """Finds the answer candidates of one article."""

    def find(self, article: Article) -> Sequence[Candidate]:
        """Candidates in the order of their spans; `article.text[start:end]` is their text."""


def open_finder(settings: CandidateSettings, parses: Path | None = None) -> Finder:
    """The finder that the settings name; `UserError` where its pipeline is not installed.

    `parses`: a table of parses that were made already (`builders.generate.parses`).
    """
    known = None
    if settings.entities:
        known = Gazetteer.from_tables(settings.entities, settings.facts)
    if settings.pipeline == NAME:
        return ParseFinder(known, Stored(parses) if parses else None, drafts=settings.drafts)
    return SpacyFinder(settings.pipeline, known)


def sentence_starts(article: Article) -> list[int]:
    """Where each sentence starts in the article's text."""
    starts, at = [], 0
    for sentence in article.sentences:
        starts.append(at)
        at += len(sentence) + 1
    return starts


def _located(article: Article, index: int, offset: int, spans: Sequence[Span]) -> list[Candidate]:
    """The spans of one sentence as candidates, each once, in the order of their places."""
    out = []
    for start, end, kind, label in sorted(set(spans), key=lambda s: (s[0], -s[1], s[2])):
        a, b = offset + start, offset + end
        out.append(Candidate(a, b, article.text[a:b], kind, label, index))
    return out


@dataclass(frozen=True)
class ReadArticle:
    """What a parse gives of an article: its tree, and the questions that its clauses make."""

    tree: Tree
    asked: Sequence[Asked]


class ParseFinder:
    """Names of the parse with known names beside them, dates, numbers, phrases and reasons.

    `drafts`: as in `CandidateSettings`.
    """

    def __init__(
        self,
        known: Gazetteer | None = None,
        parser: Parser | None = None,
        *,
        drafts: bool = False,
    ) -> None:
        self.known = known
        self.parser = parser or Live()
        self.drafts = drafts
        self._kept: OrderedDict[tuple[str, str], ReadArticle] = OrderedDict()

    def read(self, article: Article) -> ReadArticle:
        """The article's tree and questions; those of the last articles are remembered."""
        key = article.id, article.text
        if key not in self._kept:
            made = tree(article, self.parser(article), self.known)
            self._kept[key] = ReadArticle(made, questions(made, drafts=self.drafts))
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def find(self, article: Article) -> list[Candidate]:
        """Candidates of every sentence but the headline."""
        read = self.read(article)
        spans: dict[int, list[Span]] = {}
        for n, sentence in enumerate(article.sentences[1:], 1):
            spans[n] = [(a, b, "date", kind) for a, b, kind in candidates(sentence)]
        starts = sentence_starts(article)
        for name in read.tree.names:
            n = name.tokens[0].sentence
            a, b = name.start - starts[n], name.end - starts[n]
            free = all(b <= s or e <= a for s, e, kind, _ in spans[n] if kind == "date")
            if name.label in NAMED and free:
                spans[n].append((a, b, "entity", None if name.label == "NAME" else name.label))
            elif name.label in _NUMBERS and free:
                spans[n].append((a, b, "phrase", name.label))
        for sentence_tokens in read.tree.sentences:
            for token in sentence_tokens:
                if token.dep == "prep" and token.lower != "of":
                    inside = token.subtree()
                    if 1 < len(inside) <= _LONGEST:
                        n = token.sentence
                        a, b = inside[0].start - starts[n], inside[-1].end - starts[n]
                        spans[n].append((a, b, "phrase", token.text.upper()))
        for asked in read.asked:
            n = asked.span.sentence
            a, b = asked.span.start - starts[n], asked.span.end - starts[n]
            if all((a, b, asked.span.type) != one[:3] for one in spans[n]):
                spans[n].append((a, b, asked.span.type, asked.span.label))
        return [c for n in spans for c in _located(article, n, starts[n], spans[n])]


class SpacyFinder:
    """Entities of a spaCy pipeline, and its parser's prepositional phrases where it has one."""

    def __init__(self, model: str, known: Gazetteer | None) -> None:
        try:
            import spacy

            self.nlp: Any = spacy.load(model)
        except ImportError as error:
            raise UserError("spaCy is not installed", hint="pip install spacy") from error
        except OSError as error:
            raise UserError(
                f"spaCy cannot load the pipeline {model!r}",
                hint=f"python -m spacy download {model}, or `pipeline: {NAME}`, which is there",
            ) from error
        self.known = known
        self.finds_names = any(
            "doc.ents" in self.nlp.get_pipe_meta(name).assigns for name in self.nlp.pipe_names
        )

    def find(self, article: Article) -> list[Candidate]:
        """Candidates of every sentence but the headline."""
        out: list[Candidate] = []
        starts = sentence_starts(article)
        with self.nlp.memory_zone():
            for index, doc in enumerate(self.nlp.pipe(article.sentences[1:]), 1):
                out += _located(article, index, starts[index], list(self._spans(doc)))
        return out

    def names(self, texts: Sequence[str]) -> list[list[str]]:
        """The named entities of each text, in order; dates and numbers are none."""
        with self.nlp.memory_zone():
            return [
                [
                    doc.text[a:b]
                    for a, b in sorted(s[:2] for s in self._spans(doc) if s[2] == "entity")
                ]
                for doc in self.nlp.pipe(texts)
            ]

    def _spans(self, doc: Any) -> Iterator[Span]:
        taken: list[tuple[int, int]] = []
        for ent in doc.ents:
            a, b = ent.start_char, ent.end_char
            if ent.label_ == "DATE":
                taken.append((a, b))
                yield a, b, "date", ent.label_
            elif ent.label_ in _ENTITY_LABELS:
                a += 4 if ent.text.lower().startswith("the ") else 0
                b -= 2 if ent.text.endswith(("'s", "’s")) else 0
                taken.append((a, b))
                yield a, b, "entity", ent.label_
        for a, b, kind in (
            self.known.matches(doc.text, [(t.idx, t.idx + len(t)) for t in doc])
            if self.known
            else ()
        ):
            if all(b <= s or e <= a for s, e in taken):
                yield a, b, "entity", kind
        for token in doc:
            if token.dep_ == "prep" and token.lower_ != "of":
                span = doc[token.left_edge.i : token.right_edge.i + 1]
                if 1 < len(span) <= _LONGEST:
                    yield span.start_char, span.end_char, "phrase", token.text.upper()
