"""Tokenizer views: which probes can use a row, by how many tokens its answers have.

There are two rules with names of their own, and their figures are not comparable. By the rule *all*
(`single_token`, `max_tokens_N`) every answer is short enough, so that a model that fills that many
blanks can give any of them. By the rule *any* (`single_token_any`, `max_tokens_N_any`) at least one
answer is short enough. Paper 002, section 3.4, has the second: it keeps a row with "at least one
label with a single token". The rules agree where a row has one answer, as in LAMA, whose own rule
is `single_token`.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
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
"""The rule and the function that joins the answers, by the ending of a view's name."""


def row_views(counts: Sequence[int], max_tokens: int = 5) -> tuple[str, ...]:
    """The views that contain a row whose answers have these numbers of tokens.

    Every row is in `multi_token`; the module's docstring explains the other views. The default N is
    the M of the paper (section 3.3). An answer with count 0 cannot be written at all. Without
    counts, because no tokenizer is named, a row is only in `multi_token`.
    """
    return _views(tuple(counts), max_tokens)


@lru_cache(1 << 12)
def _views(counts: tuple[int, ...], max_tokens: int) -> tuple[str, ...]:
    view_limits = {f"max_tokens_{max_tokens}": max_tokens, "single_token": 1}
    return (
        "multi_token",
        *(
            view + ending
            for view, most_tokens in view_limits.items()
            for ending, (_, join_answers) in _RULES.items()
            if counts and join_answers(1 <= count <= most_tokens for count in counts)
        ),
    )


class ViewSettings(Strict):
    """The settings of views: the tokenizer (a path or a name on the Hub) and the largest N."""

    tokenizer: Annotated[Path | str | None, Field(union_mode="left_to_right")]
    revision: str | None
    max_tokens: int

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages of extras on which the counts depend (see `builders.core.reach`)."""
        is_more = self.tokenizer is not None and tokens.needs_transformers(str(self.tokenizer))
        return ("transformers",) if is_more else ()

    def counter(self) -> TokenCounter | None:
        """The tokenizer, loaded; None where none is named."""
        return tokens.load_tokenizer(str(self.tokenizer), self.revision) if self.tokenizer else None

    def columns(self, counter: TokenCounter | None, answers: Iterable[str]) -> dict[str, Any]:
        """The columns `answer_tokens` and `views` of a row with these answers."""
        counts = tuple(counter.counts(answers)) if counter else ()
        return {"answer_tokens": counts, "views": row_views(counts, self.max_tokens)}

    def single_answer_columns(self, counter: TokenCounter | None, answer: str) -> dict[str, Any]:
        """The same columns for a row with one answer; here `answer_tokens` is a number or null."""
        columns = self.columns(counter, [answer])
        return columns | {"answer_tokens": next(iter(columns["answer_tokens"]), None)}


class ClozeBuilder(DatasetBuilder):
    """The options that datasets of clozes share.

    `blank`: the text for the answer in a query; `tokenizer`: the tokenizer of the answers' tokens,
    a path (relative to the recipe) or a name on the Hub; `tokenizer_revision`: the commit of the
    tokenizer on the Hub; `max_tokens`: the N of the views `max_tokens_N` and `max_tokens_N_any`.
    """

    blank: str = render.BLANK
    tokenizer: str | None = None
    tokenizer_revision: str | None = None
    max_tokens: int = Field(default=5, ge=1)

    def views(self, run: Run) -> ViewSettings:
        """The settings of the views; the tokenizer may lie beside the recipe."""
        location = tokens.tokenizer_location(self.tokenizer, run.recipe)
        if location is not None:
            tokens.check_tokenizer(str(location))
        return ViewSettings(
            tokenizer=location,
            revision=self.tokenizer_revision,
            max_tokens=self.max_tokens,
        )


def view_statistics(cloze: Path, paper: str = "") -> Statistics:
    """The share of rows that each view of a table of clozes loses, and the view's rule.

    `paper` is a sentence for the caption that compares the table with a paper.
    """
    query = """
        select view, count(*) from (select unnest(views) as view from read_parquet(?))
        group by 1 order by 2 desc, 1
    """
    view_counts = duck.query(query, [str(cloze)])
    total_rows = max((row_count for _, row_count in view_counts), default=0)
    table_rows: list[dict[str, Scalar]] = [
        {
            "view": view_name,
            "answers": _rule(view_name),
            "rows": row_count,
            "share lost": 1 - row_count / total_rows,
        }
        for view_name, row_count in view_counts
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
