"""Each rule filter: a table of what it keeps and why it drops."""

from typing import Any

import pytest

from factdrift.builders.generate.protocol import Result
from factdrift.builders.rows import Article
from factdrift.builders.text.words import tokens
from factdrift.filters.base import Filter, FilterContext, QuestionItem
from factdrift.filters.duplicate_question import DuplicateQuestion
from factdrift.filters.lm_judge import LMJudge
from factdrift.filters.round_trip import agreement
from factdrift.filters.wording import (
    AnswerInQuestion,
    AnswerNotInArticle,
    ContextReference,
    Length,
    PronounWithoutAntecedent,
    QuestionMark,
)
from tests.test_filters_run import item, question


def why(one: Filter, made: QuestionItem) -> str:
    (verdict,) = one.judge([made], FilterContext())
    assert verdict.keep == (not verdict.reason)
    return verdict.reason


@pytest.mark.parametrize(
    ("text", "answer", "dropped"),
    [
        ("Who leads the US?", "US", True),
        ("Who leads the U.S.?", "the US", True),
        ("Who leads Russia?", "US", False),
        ("What did Obama's wife say?", "Obama", True),
        ("What did Obama say?", "Barack Obama", False),
        ("Who beat the New York Yankees?", "York", True),
        ("Who is the Yorkshire champion?", "York", False),
        ("Which city lies in New South York?", "New York", False),
        ("Who fined it 1,000 dollars?", "1000 dollars", True),
        ("Who paid $5?", "5", True),
        ("Who paid 2.5 million?", "5 million", False),
        ("Who is Boris Tadic?", "Boris Tadić", True),
        ("WHO LEADS NATO?", "Nato", True),
        ("In the park, who ran?", "in a park", True),
        ("Who ran?", "the", True),
        ("Who ran?", "…", True),
    ],
)
def test_answer_in_question(text: str, answer: str, dropped: bool) -> None:
    assert bool(why(AnswerInQuestion(), item(text, answer=answer))) == dropped


def test_tokens() -> None:
    assert tokens("The U.S.'s 1,000 men") == ("us", "1000", "men")
    assert tokens("the players' 4th game, 2.50 €") == ("players", "4th", "game", "2.50", "€")


@pytest.mark.parametrize(
    ("start", "answer", "article", "reason"),
    [
        (4, "Rome", "Now Rome burns", ""),
        (3, "Rome", "Now Rome burns", "span_does_not_match"),
        (0, "Rome", "", "span_does_not_match"),
    ],
)
def test_answer_not_in_article(start: int, answer: str, article: str, reason: str) -> None:
    made = question(answer=answer, start=start)
    body = Article("a1", made.draw.article_day, (article,), article)
    assert why(AnswerNotInArticle(), QuestionItem(made, body)) == reason
    other = Article("a2", made.draw.article_day, (article,), article)
    assert why(AnswerNotInArticle(), QuestionItem(made, other)) == "other_article"


@pytest.mark.parametrize(
    ("one", "text", "reason"),
    [
        (QuestionMark(), "Who won the vote?", ""),
        (QuestionMark(), "Who won the vote? ", ""),
        (QuestionMark(), "Who won the vote", "no_question_mark"),
        (QuestionMark(), "Who won? And who lost?", "not_plain_text"),
        (QuestionMark(), "Who won\nthe vote?", "not_plain_text"),
        (Length(), "Who won?", "too_short"),
        (Length(), "Who won the vote?", ""),
        (Length(), "why " * 41, "too_long"),
        (Length(fewest=1), "Who?", ""),
    ],
)
def test_form(one: Filter, text: str, reason: str) -> None:
    assert why(one, item(text)) == reason


def test_length_of_the_answer() -> None:
    assert why(Length(), item(answer="so " * 21)) == "answer_too_long"


CONTEXT, UNDATED, RELATIVE = "refers_to_context", "undated_day", "relative_day"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("According to the text, who won?", CONTEXT),
        ("What does the author claim?", CONTEXT),
        ("Who wrote the article about Brexit in the Times?", ""),
        ("Which article of the constitution was used?", ""),
        ("Who plays this week?", UNDATED),
        ("Who died on Thursday night?", UNDATED),
        ("Who died on Thursday 4 June?", ""),
        ("Who owns Sheffield Wednesday?", ""),
        ('Who sang "Yesterday" first?', ""),
        ("Who resigned last week?", RELATIVE),
        ("Who resigned three years ago?", RELATIVE),
        ("Who sang Last Christmas?", ""),
    ],
)
def test_context_reference(text: str, reason: str) -> None:
    assert why(ContextReference(), item(text, past=True)) == reason
    if reason == RELATIVE:
        assert why(ContextReference(), item(text)) == ""
        assert why(ContextReference(relative="keep"), item(text, past=True)) == ""


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("Who said that he would resign?", False),  # he = who
        ("What did they find in Rome?", True),
        ("What did she win?", True),
        ("Where was his body found?", True),
        ("What did we learn?", True),
        ("What did the minister say about his plan?", False),
        ("What did Obama say about his plan?", False),
        ("Which player said he would retire?", False),
        ("Who lost his seat in Derby?", False),
        ("After he resigned, who replaced Gordon Brown?", False),
        ("Before his death, where did Prince live?", False),
        ("How long did it take to count the votes?", False),
        ("Who followed Elizabeth I of England?", False),
        ("What is US policy on Iran?", False),
        ('Who said "we shall overcome"?', False),
        ("How many firms moved their offices?", False),
        ("Who won the vote?", False),
    ],
)
def test_pronoun(text: str, dropped: bool) -> None:
    assert bool(why(PronounWithoutAntecedent(), item(text))) == dropped


ARTICLE = (
    "Obama met Angela Merkel in Berlin. The president, who spoke, and Obama met. Then Obama left."
)


def test_duplicates() -> None:
    items = [
        item("Who won the vote?", id="b"),
        item("Who won  a VOTE?", id="a"),
        item("Who won the vote?", id="c", answer="Ann"),
        item("Who won the vote?", id="d", past=True),
    ]
    verdicts = DuplicateQuestion().judge(items, FilterContext())
    assert [v.keep for v in verdicts] == [True, False, True, False]


@pytest.mark.parametrize(
    ("kind", "answer", "other", "score"),
    [
        ("entity", "The Hague", "hague", 1),
        ("entity", "Boris Tadić", "Boris Tadic.", 1),
        ("entity", "Obama", "Barack Obama", 1),
        ("entity", "Bob Iger", "Iger", 1),
        ("entity", "Pope Francis", "Pope", 0),
        ("entity", "Obama", None, 0),
        ("date", "4 June 2017", "on June 4th, 2017", 1),
        ("date", "Thursday, 4 June", "June 4", 1),
        ("date", "Thursday", "Friday", 0),
        ("date", "on Thursday", "Thursday", 1),
        ("date", "May 2017", "2017", 0),
        ("date", "Sept 2017", "in September 2017", 1),
        ("date", "the 1990s", "1990s", 1),
        ("phrase", "in Paris", "in London", 0),
        ("phrase", "in the park", "at the park", 1),
        ("phrase", "in Grant Park in Chicago", "Chicago", 1 / 3),
        ("phrase", "at home", "", 0),
        ("phrase", "after", "after that", 1),
    ],
)
def test_agreement(kind: Any, answer: str, other: str | None, score: float) -> None:
    assert agreement(answer, other, kind) == pytest.approx(score)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Result("yes"), None),
        (Result("no: one_answer"), "several_answers"),
        (Result(None, "cut_off", "it went on"), "no_verdict"),
    ],
)
def test_what_a_judge_says(said: Result, reason: str | None) -> None:
    verdict = LMJudge()._one(said)
    assert (verdict.keep, verdict.reason) == (reason is None, reason or "")
