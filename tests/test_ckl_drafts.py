"""What people are offered where no model writes: typed gaps, and words that carry the news."""

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from factdrift.builders.ckl.gold import plain_blanks
from factdrift.builders.ckl.questions import _drafts, _newest_first, _stands_alone, _words
from factdrift.builders.rows import ArticleQuestions, ArticleWords
from tests.filter_cases import FINDER, item
from tests.test_questions_candidates import article

NEWS = article(
    "By Ann Lee, BBC News",
    "The airline Flybe cut 300 jobs at its base in Exeter after a strike of its pilots.",
    "We lost everything,” he said in Leeds.",
    "She had joined Flybe from Ryanair months before the strike began.",
    "A court said that passengers are to get $20 million.",
    headline="Flybe cuts jobs after strike",
)


def test_drafts_have_typed_gaps_and_stand_alone() -> None:
    article_drafts = _drafts(NEWS, FINDER.find(NEWS), 10, Counter())
    assert isinstance(article_drafts, ArticleQuestions)
    assert article_drafts.answers[-1] == "$20 million"
    assert article_drafts.questions[-1].endswith("to get [BLANK-AMOUNT].")
    assert len(article_drafts.questions) == 2 and "[BLANK-" in article_drafts.questions[0]


def test_words_are_names_numbers_and_nouns_of_the_headline() -> None:
    article_words = _words(NEWS, *FINDER.find_with_nouns(NEWS))
    assert isinstance(article_words, ArticleWords)
    assert {"Exeter", "300", "jobs", "strike", "$20 million"} <= {*article_words.candidates}
    assert {"Ann Lee", "months", "court"}.isdisjoint(article_words.candidates)


@pytest.mark.parametrize(
    ("sentence", "stands_alone"),
    [
        ("“We won,” said Ann Lee of Leeds.", True),
        ("We lost,” said Ann Lee of Leeds.", False),
        ("He resigned in Leeds on 4 May 2020.", False),
        ("Since then, Leeds has lost two games.", False),
        ("Leeds beat Hull City on 4 May 2020.", True),
        ("Leeds beat Hull City on Tuesday.", False),
        ("Likhitha: Leeds beat Hull City.", False),
        ("Leeds and Hull City", False),
    ],
)
def test_what_stands_alone(sentence: str, stands_alone: bool) -> None:
    assert _stands_alone(sentence) is stands_alone


def test_the_latest_event_comes_first() -> None:
    asked_question = item("Who won?").question
    event_days = (None, date(2020, 5, 1), date(2020, 5, 3))
    dated_questions = [replace(asked_question, event_day=event_day) for event_day in event_days]
    assert [dated_question.event_day for dated_question in _newest_first(dated_questions)] == [
        event_days[2],
        event_days[1],
        None,
    ]


def test_typed_gaps_of_people_are_gaps() -> None:
    assert plain_blanks("[BLANK-PERSON] leads Leeds.") == "[BLANK] leads Leeds."
