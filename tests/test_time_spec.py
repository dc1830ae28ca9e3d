"""Time specifications: which a question has, which it is given, and where."""

from datetime import date

import pytest

from factdrift.builders.text.dates import time_of
from factdrift.builders.text.en.questions import ago, put
from factdrift.filters.time_spec import specify
from tests.test_filters_run import question

YES = """
Who won the election in May 2017?
What happened in Paris last week?
Who led the party three years ago?
Who resigned on 4 June?
Who won gold during the 2012 Olympics?
Who has led Germany since 2010?
Who ruled Iraq in the 1990s?
Who scored at the 2018 World Cup?
Who was elected on June 4?
Who was elected on June 4, 2019?
Who was born on 4th of June?
Who was born on the 4th of June 1950?
Who left office in 2009?
Who was president from 2001 to 2009?
Who was president between 2001 and 2009?
What did Apple present in September?
What will open in early March?
Who became pope in March 2013?
Who won the 2016 election?
Who hosted the 2014 Winter Olympics?
Which club won the 2015-16 season?
Who won Eurovision's 2015 contest?
Who coached Chelsea last season?
Which bank failed this year?
Who died yesterday?
What does the court decide today?
Who will speak tomorrow?
What did voters reject two months ago?
Who left a week ago?
Which film opened 10 days ago?
Who left several years ago?
What was sold a few weeks ago?
What was sold a couple of months ago?
Who ran the firm in the late 1980s?
Which star led music in the 80s?
Who was king in the 18th century?
Who was king in the eighteenth century?
Who was born in 1950?
Who has led Syria until 2024?
Who stepped down by 2012?
What changed after 2008?
What stood there before 1914?
Where did fires burn in summer 2019?
What did he buy in spring of 2015?
Which team led in mid-2015?
What opened over the weekend?
Who visited Rome in the summer?
Who resigned last March?
Who resigned last Thursday?
Who spoke in Berlin on Monday?
What is planned next year?
What grew over the past two years?
Who fell during the Second World War?
What was the rate in the previous quarter?
What did she sing at Christmas?
Which law passed on 2017-06-04?
Who lost on Sept. 5?
What did the 2008 crisis cost Iceland?
In 2011, who led Libya?
In May, who led Libya?
Last year, who led Libya?
Who signed the March 2016 deal?
Who won the World Cup in Tokyo 2020?
How many people died in the August 2016 quake?
""".strip().splitlines()
NO = """
What did Theresa May say about Brexit?
Who may succeed Merkel?
What did May offer Corbyn?
Who lives in March, Cambridgeshire?
Who spoke at the March on Washington?
Who wrote about the Second World War?
Who won the 500 metres?
Who commanded Apollo 11?
What does the iPhone 11 cost?
Who won the 24 Hours of Le Mans?
Who will march on the capital?
What did April Jones's mother ask for?
Who directed Blade Runner 2049?
What is Windows 2000?
How many of the 2000 people left?
Who gave 1984 dollars to charity?
How many seats are in the chamber?
Which Boeing 737 crashed in Ethiopia?
Who edits USA Today?
Who presents This Morning?
Who owns the Sunday Times?
Who owns Sheffield Wednesday?
Who founded the company with 1,500 workers?
Who won the Six Nations?
Which of the G20 leaders left?
Who ran the 100 metres in 9.69 seconds?
Who leads the 27 member states?
What is Route 66?
What is Area 51?
Who wrote "In May 2017"?
Who sang “Last Christmas”?
Which rider won the Tour de France?
Who won in 24 hours of talks?
What is the second largest city of Peru?
Who is June Brown?
What did Augustus build?
Who employs 2000 people in Wales?
What is the cost of 2015 homes?
Who opened Terminal 5?
Who fled the Islamic State in Mosul?
What does Vision 2030 promise?
Who said that May's cabinet was split?
""".strip().splitlines()


def test_tables_are_long_enough() -> None:
    assert len(YES) + len(NO) >= 80


@pytest.mark.parametrize("text", YES)
def test_has_a_time(text: str) -> None:
    assert time_of(text)


@pytest.mark.parametrize("text", NO)
def test_has_no_time(text: str) -> None:
    assert time_of(text) is None


@pytest.mark.parametrize(
    ("article", "asked", "said"),
    [
        ("2020-01-01", "2020-01-01", ""),
        ("2020-01-01", "2020-01-07", ""),
        ("2020-01-01", "2020-01-08", "a week ago"),
        ("2020-01-01", "2020-01-14", "a week ago"),
        ("2020-01-01", "2020-01-15", "2 weeks ago"),
        ("2020-01-01", "2020-02-26", "8 weeks ago"),
        ("2020-01-01", "2020-02-27", "2 months ago"),
        ("2019-01-31", "2020-01-30", "12 months ago"),
        ("2018-01-02", "2020-01-01", "23 months ago"),
        ("2018-01-01", "2020-01-01", "2 years ago"),
        ("2007-03-05", "2020-03-04", "13 years ago"),
        ("2008-10-10", "2020-07-20", "12 years ago"),
    ],
)
def test_ago(article: str, asked: str, said: str) -> None:
    assert ago(date.fromisoformat(article), date.fromisoformat(asked)) == said


@pytest.mark.parametrize(
    ("plain", "dated"),
    [
        ("Who won the election in Croatia?", "Who won the election in Croatia in May 2017?"),
        ("Who won the vote ?", "Who won the vote in May 2017?"),
        (
            "How many trains crossed the border for the first time in 56 years?",
            "In May 2017, how many trains crossed the border for the first time in 56 years?",
        ),
        (
            "Who agreed with Iran within 60 days?",
            "In May 2017, who agreed with Iran within 60 days?",
        ),
        (
            "How many died in the worst storm since 1998?",
            "In May 2017, how many died in the worst storm since 1998?",
        ),
        (
            "How many died, according to the police?",
            "How many died in May 2017, according to the police?",
        ),
        (
            "How many people died in Rome, according to the police?",
            "How many people died in Rome in May 2017, according to the police?",
        ),
        (
            "Which airline cut flights because of the strike?",
            "Which airline cut flights in May 2017 because of the strike?",
        ),
        (
            "Who agreed to buy Yahoo?",
            "In May 2017, who agreed to buy Yahoo?",
        ),
        (
            "What did Microsoft offer to do?",
            "In May 2017, what did Microsoft offer to do?",
        ),
        ("Who said that Greece must pay?", "In May 2017, who said that Greece must pay?"),
        (
            "What did Obama say about Syria?",
            "In May 2017, what did Obama say about Syria?",
        ),
        ("Obama met whom in Rome?", "Obama met whom in Rome in May 2017?"),
        ("Where did Obama decide to go?", "In May 2017, where did Obama decide to go?"),
        ("Who leads Italy?", "Who leads Italy in May 2017?"),
        (
            "Where did Marcelo Peralta die after contracting the virus?",
            "In May 2017, where did Marcelo Peralta die after contracting the virus?",
        ),
        (
            "Who was found guilty of murdering Jane Doe?",
            "In May 2017, who was found guilty of murdering Jane Doe?",
        ),
        (
            "How many died as a result of flooding?",
            "In May 2017, how many died as a result of flooding?",
        ),
        (
            "How many were missing in the ferry disaster?",
            "In May 2017, how many were missing in the ferry disaster?",
        ),
        (
            "How many were killed in a raid on a house in Bahrain?",
            "How many were killed in a raid on a house in Bahrain in May 2017?",
        ),
    ],
)
def test_put(plain: str, dated: str) -> None:
    assert put(plain, "in May 2017") == dated


def test_nothing_to_put() -> None:
    assert put("Who won?", "") == "Who won?"


@pytest.mark.parametrize(
    "text",
    [
        "During which years was Martti Ahtisaari president of Finland?",
        "Since when has Jeremy Corbyn been a member of parliament?",
        "In which year did Spain win the World Cup?",
        "Who was the first black president of South Africa?",
    ],
)
def test_a_question_for_a_time_is_given_none(text: str) -> None:
    assert specify(question(text=text, past=True, kind="phrase"), 1).kind == "none"


def test_specify() -> None:
    past = [
        question(id=f"q{n}", text="Who won the vote in Croatia?", past=True) for n in range(400)
    ]
    made = [specify(q, seed=1) for q in past]
    absolute = sum(m.kind == "absolute" for m in made)
    assert 160 < absolute < 240
    assert {m.text for m in made} == {
        "Who won the vote in Croatia in May 2017?",
        "Who won the vote in Croatia 2 years ago?",
    }
    assert [specify(q, seed=1) for q in reversed(past)] == made[::-1]
    assert [specify(q, seed=2) for q in past] != made
    aged = [question(id=f"q{n}", text="Who died at the age of 41?", past=True) for n in range(20)]
    assert {specify(q, seed=1).kind for q in aged} == {"absolute"}, "not `41 2 years ago`"
    own = question(text="Who won the vote in 2016?", past=True)
    assert specify(own, 1).kind == "own"
    assert specify(question(text="Who won the vote?"), 1).kind == "none", "recent"
    assert specify(question(text="Who won the vote?", past=True, kind="date"), 1).kind == "none"
    for text in ("Who resigned for the first time in 56 years?", "Who won for the third time?"):
        long_ago = [question(id=f"q{n}", text=text, past=True) for n in range(20)]
        assert {specify(q, 1).kind for q in long_ago} == {"absolute"}, "two times in a row"
    long = question(text="For how long did Frank Lampard sign a contract?", past=True)
    assert specify(long, 1).kind in ("absolute", "relative"), "he signed more than one"
