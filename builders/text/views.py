"""Tokenizer views: which probes can use a row, by how many tokens its answers have.

Two rules, named apart, and a figure of one is never set beside a figure of the other. *All*
(`single_token`, `max_tokens_N`): every answer is short enough, so that a model that fills that
many blanks can give any of them. *Any* (`single_token_any`, `max_tokens_N_any`): at least one is.
Paper 002, section 3.4, has the second: it keeps a row with "at least one label with a single
token". The two are one where a row has one answer, as in LAMA, whose own rule is `single_token`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Scalar, Statistics
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.text import render, tokens
from factdrift.builders.text.tokens import TokenCounter

_RULES = {"_any": ("any", any), "": ("all", all)}
"""The ending of a view's name: its rule, and how the rule joins the answers."""


def row_views(counts: Sequence[int], max_tokens: int = 5) -> tuple[str, ...]:
    """The views that hold a row whose answers have these numbers of tokens.

    `multi_token` holds every row; the others as the module says. The default N is the paper's M
    (section 3.3). An answer that counts 0 cannot be written at all. Without counts no tokenizer is
    named, and only `multi_token` holds the row.
    """
    limits = {f"max_tokens_{max_tokens}": max_tokens, "single_token": 1}
    return (
        "multi_token",
        *(
            view + ending
            for view, most in limits.items()
            for ending, (_, joined) in _RULES.items()
            if counts and joined(1 <= count <= most for count in counts)
        ),
    )


class ViewSettings(Strict):
    """The tokenizer that counts, a file or folder or a name on the Hub, and the longest view."""

    tokenizer: Annotated[Path | str | None, Field(union_mode="left_to_right")]
    revision: str | None
    max_tokens: int

    def counter(self) -> TokenCounter | None:
        """The tokenizer, loaded; None where none is named."""
        return tokens.load_tokenizer(str(self.tokenizer), self.revision) if self.tokenizer else None

    def columns(self, counter: TokenCounter | None, answers: Iterable[str]) -> dict[str, Any]:
        """The columns `answer_tokens` and `views` of a row with these answers."""
        counts = counter.counts(answers) if counter else []
        return {"answer_tokens": tuple(counts), "views": row_views(counts, self.max_tokens)}

    def single_answer_columns(self, counter: TokenCounter | None, answer: str) -> dict[str, Any]:
        """The same of a row with one answer, whose `answer_tokens` are a number or null."""
        columns = self.columns(counter, [answer])
        return columns | {"answer_tokens": next(iter(columns["answer_tokens"]), None)}


class ClozeBuilder(DatasetBuilder):
    """What datasets of clozes share.

    `blank`: what stands for the answer in a query; `tokenizer`: what counts the tokens of answers,
    a path (relative to the recipe) or a name on the Hub; `tokenizer_revision`: the commit of the
    tokenizer on the Hub; `max_tokens`: the N of the views `max_tokens_N` and `max_tokens_N_any`.
    """

    blank: str = render.BLANK
    tokenizer: str | None = None
    tokenizer_revision: str | None = None
    max_tokens: int = Field(default=5, ge=1)

    def views(self, run: Run) -> ViewSettings:
        """The settings of the views, the tokenizer found beside the recipe."""
        return ViewSettings(
            tokenizer=tokens.tokenizer_location(self.tokenizer, run.recipe),
            revision=self.tokenizer_revision,
            max_tokens=self.max_tokens,
        )


def view_statistics(cloze: Path, paper: str = "") -> Statistics:
    """What each view of a table of clozes loses, and by which rule; `paper`: to compare with."""
    query = """
        select view, count(*) from (select unnest(views) as view from read_parquet(?))
        group by 1 order by 2 desc, 1
    """
    view_counts = duck.query(query, [str(cloze)])
    total_rows = max((row_count for _, row_count in view_counts), default=0)
    table_rows: list[dict[str, Scalar]] = [
        {
            "view": view,
            "answers": _rule(view),
            "rows": row_count,
            "share lost": 1 - row_count / total_rows,
        }
        for view, row_count in view_counts
    ]
    caption = (
        "A row is in a view where `all` or `any` of its answers have few enough tokens of the "
        "recipe's tokenizer. " + paper
    )
    return Statistics("views", "Tokenizer views", table_rows, caption.strip())


def _rule(view: str) -> str:
    if view == "multi_token":
        return "of any length"
    return next(rule for ending, (rule, _) in _RULES.items() if view.endswith(ending))
