"""The patterns of the parse: what a clause that says its own time is asked, and which are not."""

from datetime import date

import pytest

from factdrift.builders.generate.patterns import questions
from factdrift.builders.rows import Article

ASKED = [
    ("Jim Yong Kim was born in Seoul in 1959.", {"Where was Jim Yong Kim born?": "Seoul"}),
    ("In 1972, Norway discovered oil in the North Sea.",
     {"Which country discovered oil in the North Sea in 1972?": "Norway"}),
    ("Elon Musk founded SpaceX in 2002.", {"When did Elon Musk found SpaceX?": "2002"}),
    ("Jerome Powell succeeded Janet Yellen in February 2018.", {
        "Who succeeded Janet Yellen in February 2018?": "Jerome Powell",
        "Whom did Jerome Powell succeed in February 2018?": "Janet Yellen",
        "When did Jerome Powell succeed Janet Yellen?": "February 2018",
    }),
    ("Prime Minister Theresa May dismissed Michael Fallon in November 2017.", {
        "When did Theresa May dismiss Michael Fallon?": "November 2017",
        "Whom did Theresa May dismiss in November 2017?": "Michael Fallon",
    }),
    ("Nokia bought Withings in 2016.", {"When did Nokia buy Withings?": "2016"}),
    ("Fidel Castro died in November 2016.", {"When did Fidel Castro die?": "November 2016"}),
    ("Lehman Brothers was founded in 1850.", {"When was Lehman Brothers founded?": "1850"}),
    ("Jan Koum and Brian Acton founded WhatsApp in 2009.",
     {"When did Jan Koum and Brian Acton found WhatsApp?": "2009"}),
    ("Helen Clark became president of Senegal in May 2003.",
     {"When did Helen Clark become president of Senegal?": "May 2003"}),
    ("The Holy See first met Vietnam in 2009.", {}),
]  # fmt: skip
NOTHING = [
    "Apple bought Beats.",  # no time
    "Apple bought Beats on Monday.",  # a day that only the article's day tells
    "He bought Beats in 2014.",
    "Apple bought the company in 2014.",
    "Apple said in 2014 that it would buy Beats.",
    "Apple bought Beats in 2014 and sold it in 2016.",
    "Apple will buy Beats in 2024.",
    "Apple has bought Beats since 2014.",
    'Apple bought "Beats" in 2014.',
    "Apple did not buy Beats in 2014.",
    "Apple bought Beats after the talks that Jimmy Iovine had in 2014.",
    "The economy shrank in the fourth quarter of 2008.",
    "Both bought Beats in 2014.",
    "Both Tesco and Nokia bought Beats in 2014.",
    "Page and Brin founded Google in 1998.",
    "Helen Clark became prime minister in May 2003.",
    "Helen Clark was elected mayor in 1995.",
    "Ginger Baker was born Peter Baker in London in 1939.",
    "John Stevens was born in 1920 in Chicago and studied law at Northwestern University.",
    "Boeing resigned in June 2014.",
    "Malala Yousafzai survived an attack in October 2012.",  # one of many
    "Shares of Bear Stearns rose above 150 dollars in 2007.",
    "The plan of the Justice Department was submitted on 27 January 2010.",
    "Wimbledon was last cancelled in 1945.",  # until the article's day
    "John Stevens was born in Chicago, Illinois and studied law in 1941.",  # two deeds
    "Facebook announced changes in June 2013.",  # of what?
]


def article(*sentences: str, headline: str = "A headline of 2014.") -> Article:
    lines = (headline, *sentences)
    return Article("a", date(2020, 1, 1), lines, "\n".join(lines))


def asked(*sentences: str, **more: str) -> list[str]:
    return [one.question for one in questions(article(*sentences, **more))]


@pytest.mark.parametrize(("text", "wanted"), ASKED)
def test_what_is_asked(text: str, wanted: dict[str, str]) -> None:
    made = article(text)
    found = {one.question: one for one in questions(made)}
    assert {q: found[q].answer.text for q in wanted if q in found} == wanted, list(found)
    for one in found.values():
        assert made.text[one.answer.start : one.answer.end] == one.answer.text
        timeless = one.question.startswith("When") or "born" in one.question
        assert one.has_time != timeless


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_asked_nothing(text: str) -> None:
    assert not questions(article(text))


def test_a_person_is_named_in_full() -> None:
    text = "James joined the Los Angeles Lakers in 2018."
    assert not any("LeBron" in question for question in asked(text))
    found = asked("LeBron James spoke.", text)
    assert "When did LeBron James join the Los Angeles Lakers?" in found


@pytest.mark.parametrize(
    ("before", "known"),
    [
        ("The party grew.", False),
        ("Mary Ardern spoke.", True),
        ("Mary Ardern and Ann Ardern spoke.", False),
        ("Mrs Ardern spoke.", False),
        ("Prime Minister Mary Ardern spoke.", True),
    ],
)
def test_a_surname_that_the_tagger_does_not_know(before: str, known: bool) -> None:
    found = asked(before, "Ardern became leader of the Labour Party in August 2017.")
    assert found == ["When did Mary Ardern become leader of the Labour Party?"] * known


def test_only_who_did_it_and_to_whom_is_filled_up() -> None:
    met = "Ann Lee met Mauricio Pochettino."
    assert not asked(met, "Nokia bought Withings under Pochettino in 2016.")


def test_a_name_that_the_headline_alone_has_is_none() -> None:
    text = "Mallory joined the Los Angeles Lakers in 2018."
    assert not asked(text, headline="Justice Department Sues Mallory")


def test_the_time_is_read() -> None:
    (one,) = [q for q in questions(article(ASKED[3][0])) if q.question.startswith("When")]
    assert (one.time.first, one.time.last) == (date(2018, 2, 1), date(2018, 2, 28))
