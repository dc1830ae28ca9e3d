"""How many tokens an answer has, and the views that hold its row."""

from typing import Any

from pydantic import Field

from builders.cloze.tokens import TokenCounter, identity, tokenizer, views
from builders.run import DatasetBuilder, Run


class Viewed(DatasetBuilder):
    """`tokenizer`, `tokenizer_revision` and `max_tokens` are as in `dynamic-templama`."""

    tokenizer: str | None = None
    tokenizer_revision: str | None = None
    max_tokens: int = Field(default=5, ge=1)

    def counter(self, run: Run) -> TokenCounter | None:
        """The tokenizer that the recipe names, loaded."""
        named = self._named(run)
        return tokenizer(named, self.tokenizer_revision) if named else None

    def view(self, counter: TokenCounter | None, answer: str) -> dict[str, Any]:
        """The columns `answer_tokens` and `views` of a row."""
        count = counter.counts([answer])[0] if counter else None
        held = views([] if count is None else [count], self.max_tokens)
        return {"answer_tokens": count, "views": held}

    def view_parameters(self, run: Run) -> dict[str, Any]:
        """What the columns depend on, for the key of a step."""
        named = self._named(run)
        known = [named and identity(named), self.tokenizer_revision]
        return {"tokenizer": known, "max_tokens": self.max_tokens}

    def _named(self, run: Run) -> str | None:
        path = run.recipe.parent / self.tokenizer if self.tokenizer else None
        return str(path) if path and path.exists() else self.tokenizer
