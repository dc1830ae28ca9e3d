"""Drop a question whose answer a search does not find."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import PositiveInt

from factdrift.builders.text.en.answers import names_answer
from factdrift.builders.wmt.passages import day_in_words
from factdrift.filters.base import (
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    QuestionItem,
    Search,
    Verdicts,
    missing_resource,
)


class SearchFinds(Filter):
    """The answer stands in none of the first `k` results (appendix A.4, iii).

    The query is the question and the article's day of publication; only passages published up
    to the question's day are searched. The score of a kept row is the rank of the first result
    with the answer, from 1.

    `k`: results that are looked at.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"search"})
    reasons: ClassVar[Mapping[str, str]] = {
        "no_results": "A search for the question finds nothing.",
        "answer_not_found": "The articles that a search finds do not have the answer.",
    }

    filter: Literal["search"] = "search"
    k: PositiveInt = 10

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Keep where the text of a result names the answer; the date before it names nothing."""
        if context.search is None:
            raise missing_resource("search", "a search index", self.filter)
        return [self._verdict(item, context.search) for item in items]

    def _verdict(self, item: QuestionItem, search: Search) -> FilterVerdict:
        question, draw = item.question, item.question.draw
        search_query = f"{question.question} {day_in_words(draw.article_day)}"
        answer_text = question.answer.text
        hits = search.search(search_query, draw.question_day, self.k)
        for rank, hit in enumerate(hits, 1):
            if names_answer(hit.text.removeprefix(f"{day_in_words(hit.day)}. "), answer_text):
                return FilterVerdict(True, "", rank)
        if not hits:
            return FilterVerdict(False, "no_results")
        return FilterVerdict(
            False, "answer_not_found", detail=f"{question.answer.text!r}, query {search_query}"
        )
