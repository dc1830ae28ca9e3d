"""Questions about facts that news states: what is evidence, what is asked, what is accepted."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.schema import writing
from factdrift.builders.facts.relations import NewsWording, load_relations
from factdrift.builders.generate import grounded
from factdrift.builders.generate.grounded import StatedFacts, in_present_tense
from factdrift.builders.generate.mentions import EntityNames, news_sentences
from factdrift.builders.generate.selection import select_questions
from factdrift.builders.rows import Article, Draw, Entity, Gap, Question, Segment
from tests.conftest import ROOT
from tests.tables import read_table

CASES = read_table("question_cases")

NEWEST = date(2024, 1, 1)
NAMES = [
    *("Chelsea F.C.", "Antonio Conte", "José Mourinho", "Italy", "Mario Draghi", "Giuseppe Conte"),
    *("Prime Minister of Italy", "Arsenal F.C.", "Nobody Known", "Leader of the Opposition"),
    "Rome",
]
"""Labels of Q1, Q2, and so on."""
ALIASES = {"Q1": ("Chelsea",), "Q3": ("Mourinho",), "Q8": ("Arsenal",)}


def day(text: str) -> date:
    return date.fromisoformat(text)


def segment(subject: str, relation: str, thing: str, start: str, end: str) -> Segment:
    """Days that are not known are `earliest/latest`."""
    starts, ends = (tuple(map(day, days.split("/"))) for days in (start, end))
    days = (starts[0], starts[-1], ends[0], ends[-1])
    stated = (f"{subject}${thing}",)
    return Segment(subject, relation, thing, *days, False, False, False, stated, NEWEST)


TERMS = [
    segment("Q1", "P286", "Q3", "2013-06-03", "2015-12-17"),
    segment("Q1", "P286", "Q2", "2016-07-04", "2018-07-13"),
    segment("Q4", "P6", "Q6", "2018-06-01", "2021-02-13"),
    segment("Q4", "P6", "Q5", "2021-02-13", "2022-10-22"),
    segment("Q5", "P39", "Q7", "2021-02-13", "2022-10-22"),
    segment("Q2", "P39", "Q10", "2020-01-01", "2022-12-31"),
    segment("Q11", "P6", "Q9", "2016-01-01", "2020-12-31"),
    segment("Q8", "P286", "Q9", "2018-01-01/2018-12-31", "2019-01-01/2019-12-31"),
]
GAPS = [
    Gap("x", "Q1", "P286", "Q6", day("2018-01-01"), None, None, day("2018-03-31"), False,
        "contradictory", "normal", NEWEST),
]  # fmt: skip


@pytest.fixture(scope="module")
def relations() -> dict[str, NewsWording]:
    every = load_relations(ROOT / "templates")
    return {r: one.news for r, one in every.items() if one.news is not None}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("facts")
    named = [
        Entity(f"Q{n}", label, ALIASES.get(f"Q{n}", ()), label, 1, 1, 1, None, None, None, None)
        for n, label in enumerate(NAMES, 1)
    ]
    for name, kind, made in (
        ("timelines", Segment, TERMS), ("gaps", Gap, GAPS), ("entities", Entity, named),
    ):  # fmt: skip
        with writing(folder / f"{name}.parquet", kind) as out:
            for row in made:
                out.append(row)
    return folder / "timelines.parquet", folder / "gaps.parquet", folder / "entities.parquet"


Ask = Callable[..., list[Question]]


@pytest.fixture(scope="module")
def ask(tables: tuple[Path, Path, Path], relations: dict[str, NewsWording]) -> Ask:
    """The questions that an article gives; its day, its text, the day and kind of the draw."""

    def asked(published: str, text: str, later: str = "", subset: Any = "past") -> list[Question]:
        article = written(published, text)
        draw = Draw("d", "a", "eval", subset, article.day, day(later or published), "")
        with duck.connect() as db:
            ((_, found, known),) = StatedFacts(db, *tables, relations).find([article])
            made = grounded.questions(article, found, draw, known, NEWEST, relations)
        for one in made:
            assert article.text[one.answer.start : one.answer.end] == one.answer.text
        return made

    return asked


def written(published: str, text: str, headline: str = "A headline") -> Article:
    lines = (headline, *text.split("\n"))
    return Article("a", day(published), lines, "\n".join(lines))


@pytest.mark.parametrize(("text", "questions"), CASES["evidence"])
def test_a_sentence_states_a_fact(ask: Ask, text: str, questions: int) -> None:
    assert len(ask("2017-05-12", text)) == questions


CONTE = "Chelsea manager Antonio Conte praised his team."


@pytest.mark.parametrize(("published", "text", "later", "subset", "wanted"), CASES["asked"])
def test_what_is_asked(
    ask: Ask, published: str, text: str, later: str, subset: str, wanted: dict[str, list[str]]
) -> None:
    made = ask(published, text, later, subset)
    found = {one.question: [*one.grounding.answers] for one in made if one.grounding}
    assert found == wanted


def test_an_event_is_asked_when_where_the_sentence_says_it(ask: Ask) -> None:
    text = "On 4 July 2016 Chelsea appointed Antonio Conte as head coach."
    made = {q.question: q for q in ask("2016-07-05", text)}
    one = made["When did Antonio Conte become the head coach of Chelsea F.C.?"]
    assert one.answer.text == "4 July 2016" and one.time_spec == "none"
    assert one.grounding is not None
    assert one.grounding.answers == ("4 July 2016", "July 4, 2016", "July 2016")
    assert one.grounding.statements == ("Q1$Q2",)


@pytest.mark.parametrize(
    ("later", "holds"),
    [("2017-06-01", True), ("2019-01-01", False), ("2018-02-01", None), ("2025-01-01", None)],
)
def test_whether_it_still_holds(ask: Ask, later: str, holds: bool | None) -> None:
    (one,) = (q for q in ask("2017-05-12", CONTE, later) if q.question.startswith("Who"))
    assert one.grounding is not None and one.grounding.holds is holds


@pytest.mark.parametrize(("past", "now"), CASES["present"])
def test_present(past: str, now: str) -> None:
    assert in_present_tense(past) == now


def test_captions_and_headlines_are_no_evidence() -> None:
    text = "FILE PHOTO: Chelsea manager Antonio Conte.\nHe won. He laughed."
    found = news_sentences(written("2017-01-01", text, "Chelsea manager Antonio Conte wins"))
    assert [one.text for one in found][-2:] == ["He won.", "He laughed."]
    assert all(one.line > 0 for one in found)


def test_names(tables: tuple[Path, Path, Path]) -> None:
    text = "Mr Conte of Chelsea.\nGiuseppe Conte met Antonio Conte.\nConte left."
    article = written("2017-01-01", text)
    with duck.connect() as db:
        ids = "select unnest(['Q1', 'Q2', 'Q6'])"
        (found,) = EntityNames(db, tables[2], ids).find([(article, news_sentences(article))])
    # two Contes: the last word stands for neither
    assert [m.ids for m in found] == [("Q1",), ("Q6",), ("Q2",)]


def _question(n: int, line: int, relation: str | None, words: str, year: int = 2020) -> Question:
    draw = Draw(f"d{n}", f"a{n}", "eval", "past", date(year, 5, 1), date(year, 5, 2), "")
    answer = rows.Candidate(0, 1, "x", "entity", None, line)
    of = rows.Grounding(relation or "", "Q1", f"Q{n}", "state", ("x",), (), (), None)
    known = of if relation else None
    return Question(f"{n:03}{line}", draw, words, answer, "facts", "none", None, known)


def test_one_question_a_line_and_every_word_in_turn() -> None:
    found = [
        _question(n, line, None, f"{word} {n} {line}?")
        for n in range(30)
        for line in range(2)
        for word in ("Who", "When")
    ]
    chosen, dropped = select_questions(found, 1, draw_cap=4, share=1)
    assert len(chosen) == 60 and not dropped
    assert {sum(q.question.startswith(w) for q in chosen) for w in ("Who", "When")} == {30}
    assert len(select_questions(found, 1, draw_cap=1, share=1)[0]) == 30


@pytest.mark.parametrize(("counts", "share", "wanted"), CASES["shares"])
def test_a_relation_has_at_most_its_share(
    counts: dict[str | None, int], share: float, wanted: dict[str | None, int]
) -> None:
    spread = [relation for relation, n in counts.items() for _ in range(n)]
    found = [_question(n, 1, relation, f"Who {n}?") for n, relation in enumerate(spread)]
    chosen, dropped = select_questions(found, 1, draw_cap=4, share=share)
    assert Counter(q.grounding and q.grounding.relation for q in chosen) == counts | wanted
    assert len(dropped) == len(found) - len(chosen)
    assert {row.reason for row in dropped} <= {"relation_share"}


def test_a_pair_is_asked_once_a_year() -> None:
    def same(n: int, year: int) -> Question:
        one = _question(n, 1, "P6", f"Who {n}?", year)
        assert one.grounding is not None
        return replace(one, grounding=replace(one.grounding, object="Q5"))

    chosen, dropped = select_questions([same(1, 2020), same(2, 2020), same(3, 2021)], 1, 4, 1)
    assert len(chosen) == 2 and [row.reason for row in dropped] == ["same_pair"]
