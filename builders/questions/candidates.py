"""Answer candidates: named entities, dates and prepositional phrases as spans of an article."""

from collections.abc import Sequence
from typing import Protocol

from builders.rows import Article, Candidate


class Finder(Protocol):
    """Finds the answer candidates of one article."""

    @property
    def identity(self) -> str:
        """All that the candidates depend on besides the article."""
        ...

    def find(self, article: Article) -> Sequence[Candidate]:
        """Candidates in the order of their spans; `article.text[start:end]` is their text."""
        ...
