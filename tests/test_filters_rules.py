"""Each rule filter: a table of what it keeps and why it drops."""

import pytest

from factdrift.builders.generate.protocol import Result
from factdrift.builders.rows import Article
from factdrift.builders.text.words import folded_tokens
from factdrift.filters.base import Filter, FilterContext, QuestionItem
from factdrift.filters.duplicate_question import DuplicateQuestion
from factdrift.filters.lm_judge import _REASONS, _verdict
from factdrift.filters.round_trip import agreement
from factdrift.filters.wording import AnswerNotInArticle, ContextReference, Length
from tests.test_filters_run import item, question


def why(question_filter: Filter, question_item: QuestionItem) -> str:
    (verdict,) = question_filter.judge([question_item], FilterContext())
    assert verdict.keep == (not verdict.reason)
    return verdict.reason


def test_tokens() -> None:
    assert folded_tokens("The U.S.'s 1,000 men") == ("us", "1000", "men")
    assert folded_tokens("the players' 4th game, 2.50 €") == ("players", "4th", "game", "2.50", "€")


@pytest.mark.parametrize(
    ("start", "answer", "article", "reason"),
    [
        (4, "Rome", "Now Rome burns", ""),
        (3, "Rome", "Now Rome burns", "span_does_not_match"),
        (0, "Rome", "", "span_does_not_match"),
    ],
)
def test_answer_not_in_article(start: int, answer: str, article: str, reason: str) -> None:
    made_question = question(answer=answer, start=start)
    own_article = Article("a1", made_question.draw.article_day, (article,), article)
    assert why(AnswerNotInArticle(), QuestionItem(made_question, own_article)) == reason
    other_article = Article("a2", made_question.draw.article_day, (article,), article)
    assert why(AnswerNotInArticle(), QuestionItem(made_question, other_article)) == "other_article"


def test_length_by_its_settings() -> None:
    assert why(Length(), item(answer="so " * 20)) == ""
    assert why(Length(), item(answer="so " * 21)) == "answer_too_long"
    assert why(Length(), item("why " * 40)) == ""
    assert why(Length(fewest=1), item("Who?")) == ""


def test_a_relative_day_is_none_of_a_question_of_its_own_day() -> None:
    question_text = "Who resigned last week?"
    assert why(ContextReference(), item(question_text, past=True)) == "relative_day"
    assert why(ContextReference(), item(question_text)) == ""
    assert why(ContextReference(relative="keep"), item(question_text, past=True)) == ""


def test_duplicates() -> None:
    items = [
        item("Who won the vote?", id="b"),
        item("Who won  a VOTE?", id="a"),
        item("Who won the vote?", id="c", answer="Ann"),
        item("Who won the vote?", id="d", past=True),
    ]
    verdicts = DuplicateQuestion().judge(items, FilterContext())
    assert [verdict.keep for verdict in verdicts] == [True, False, True, False]


def test_a_score_is_the_share_of_words() -> None:
    assert agreement("in Grant Park in Chicago", "Chicago", "phrase") == pytest.approx(1 / 3)
    assert agreement("Bob Iger", "Iger", "entity") == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Result("yes"), None),
        (Result("no: one_answer"), "several_answers"),
        (Result(None, "cut_off", "it went on"), "no_verdict"),
    ],
)
def test_what_a_judge_says(said: Result, reason: str | None) -> None:
    verdict = _verdict(said, _REASONS, item())
    assert (verdict.keep, verdict.reason) == (reason is None, reason or "")
