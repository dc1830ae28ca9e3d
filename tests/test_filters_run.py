"""The run: order, counts, examples, what filters lack."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

import pytest
from pydantic import TypeAdapter

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.extensions import names_of
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.rows import AnswerType, Article, Candidate, Draw, Dropped, Question
from factdrift.filters import FILTERS, AnyFilter
from factdrift.filters.base import Filter, FilterContext, Items, QuestionItem, Verdicts
from factdrift.filters.duplicate_question import DuplicateQuestion
from factdrift.filters.entity_required import EntityRequired
from factdrift.filters.round_trip import RoundTrip
from factdrift.filters.run import FilterRun, KeptItem
from factdrift.filters.search import SearchFinds
from factdrift.filters.toxicity_filter import Toxicity
from factdrift.filters.wording import Length, QuestionMark


def question(
    *,
    id: str = "q1",
    text: str = "Who won the election in Croatia?",
    answer: str = "Ivo Josipović",
    kind: AnswerType = "entity",
    past: bool = False,
    start: int = 0,
) -> Question:
    """A question of 20 May 2019 on an article of 20 May, or of 2017 where it is past."""
    day, question_day = date(2017 if past else 2019, 5, 20), date(2019, 5, 20)
    draw = Draw("d1", "a1", "eval", "past" if past else "recent", day, question_day, "2019Q2")
    span = Candidate(start, start + len(answer), answer, kind, None, 0)
    return Question(id, draw, text, span, "parse")


def item(text: str = "", article: str = "", **rest: object) -> QuestionItem:
    made_question = question(**({"text": text} if text else {}), **rest)  # type: ignore[arg-type]
    article_text = article or made_question.answer.text
    return QuestionItem(
        made_question,
        Article(
            "a1", made_question.draw.article_day, tuple(article_text.split("\n")), article_text
        ),
    )


def test_order_counts_and_examples() -> None:
    items = [
        item(id=f"q{question_number}", text="Who?" if question_number % 2 else "Who won it then")
        for question_number in range(20)
    ]
    items.append(item(id="good"))
    for batch in (1, 3, 100):
        filter_run = FilterRun([QuestionMark(), Length()])
        filter_outcomes = list(filter_run.run(items, batch))
        kept_items = [
            filter_outcome
            for filter_outcome in filter_outcomes
            if isinstance(filter_outcome, KeptItem)
        ]
        dropped_rows = [
            filter_outcome
            for filter_outcome in filter_outcomes
            if isinstance(filter_outcome, Dropped)
        ]
        assert [kept_item.item.question.id for kept_item in kept_items] == ["good"] and len(
            kept_items[0].verdicts
        ) == 2
        assert {(dropped_row.step, dropped_row.reason) for dropped_row in dropped_rows} == {
            ("question_mark", "no_question_mark"),
            ("length", "too_short"),
        }
        assert [(tally.filter, tally.seen, tally.dropped) for tally in filter_run.tallies] == [
            ("question_mark", 21, 10),
            ("length", 11, 10),
        ]
        assert [
            dropped_row.item for dropped_row in filter_run.tallies[0].examples["no_question_mark"]
        ] == ["q0", "q2", "q4"]
        assert filter_run.tallies[1].examples["too_short"][0].score == 1


def test_the_first_of_equal_questions_stays_with_its_scores() -> None:
    items = [
        item(
            id=f"q{question_number:02}",
            text=f"Who won the {'vote' if question_number % 3 else 'race'}?",
        )
        for question_number in range(9)
    ]
    orders: list[list[Filter]] = [
        [DuplicateQuestion(), Toxicity()],
        [Toxicity(), DuplicateQuestion()],
    ]
    for filters in orders:
        kept_items = [
            filter_outcome
            for filter_outcome in FilterRun(filters).run(items, 2)
            if isinstance(filter_outcome, KeptItem)
        ]
        assert [kept_item.item for kept_item in kept_items] == items[:2]
        for kept_item in kept_items:
            assert any(verdict.scores for verdict in kept_item.verdicts)


@pytest.mark.parametrize("needy", [RoundTrip(), SearchFinds()])
def test_says_at_once_what_is_missing(needy: Filter) -> None:
    with pytest.raises(UserError, match="needs a"):
        FilterRun([needy])


class Short(Filter):
    """A filter that gives too few verdicts."""

    filter: Literal["short"] = "short"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        return []


def test_a_verdict_for_each() -> None:
    with pytest.raises(ValueError, match="shorter"):
        list(FilterRun([Short()]).run([item()]))


def test_table_and_recipe() -> None:
    recipe: TypeAdapter[Filter] = TypeAdapter(AnyFilter)
    for name, filter_class in FILTERS.items():
        assert recipe.validate_python({"filter": name}) == filter_class.model_validate({})
        assert names_of(filter_class, "filter") == (name,)


def test_names_that_are_found_ahead_change_no_verdict() -> None:
    """Of two questions in the same words, the one for a phrase alone needs a name."""
    texts = ["Who won the election in Croatia?", "Who won it then?"]
    kinds: tuple[AnswerType, ...] = ("phrase", "entity")
    items = [
        item(id=f"{text} {kind}", text=text, kind=kind, answer="by a narrow margin")
        for text in texts
        for kind in kinds
    ]
    verdicts = []
    for expected in ([], items[1:], items):
        finder = _CountingFinder()
        filter_run = FilterRun([EntityRequired()], FilterContext(names=finder))
        filter_run.expect([(known.question, known.article) for known in expected])
        call_count = finder.calls
        refused = [filter_run.screen(each.question, each.article) for each in items]
        verdicts.append([dropped and (dropped.item, dropped.reason) for dropped in refused])
        if expected == items:
            assert finder.texts_since(call_count) == [], "all names are known"
    assert verdicts == [[None, None, ("Who won it then? phrase", "no_entity"), None]] * 3


class _CountingFinder:
    """The pipeline, with the texts of each call."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return len(self.asked)

    def texts_since(self, call: int) -> list[str]:
        """The texts of all calls from one on."""
        return [text for texts in self.asked[call:] for text in texts]

    def names(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the names of texts."""
        self.asked.append(texts)
        return SpacyFinder().names(texts)
