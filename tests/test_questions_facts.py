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
from factdrift.builders.generate.fact_check import FactLookup
from factdrift.builders.generate.grounded import StatedFacts, in_present_tense
from factdrift.builders.generate.mentions import EntityNames, body_sentences, news_sentences
from factdrift.builders.generate.selection import select_questions
from factdrift.builders.rows import Article, Draw, Entity, Gap, Question, Segment
from factdrift.filters.base import FilterContext, QuestionItem
from factdrift.filters.fact_check import FactCheck
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


def segment(subject: str, relation: str, object_id: str, start_days: str, end_days: str) -> Segment:
    """Days that are not known are `earliest/latest`."""
    starts, ends = (tuple(map(day, days.split("/"))) for days in (start_days, end_days))
    days = (starts[0], starts[-1], ends[0], ends[-1])
    statement_ids = (f"{subject}${object_id}",)
    return Segment(subject, relation, object_id, *days, False, False, False, statement_ids, NEWEST)


TERMS = [
    segment("Q1", "P286", "Q3", "2013-06-03", "2015-12-17"),
    segment("Q1", "P286", "Q2", "2016-07-04", "2018-07-13"),
    segment("Q4", "P6", "Q6", "2018-06-01", "2021-02-13"),
    segment("Q4", "P6", "Q5", "2021-02-13", "2022-10-22"),
    segment("Q8", "P286", "Q6", "2010-01-01", "2011-01-01"),
    segment("Q8", "P286", "Q2", "2010-01-01", "2011-01-01"),
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
    all_relations = load_relations(ROOT / "templates")
    return {
        relation_id: relation.news
        for relation_id, relation in all_relations.items()
        if relation.news is not None
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("facts")
    entity_rows = [
        Entity(
            f"Q{item_number}",
            entity_label,
            ALIASES.get(f"Q{item_number}", ()),
            entity_label,
            1,
            1,
            1,
            None,
            None,
            None,
            None,
        )
        for item_number, entity_label in enumerate(NAMES, 1)
    ]
    for table_name, kind, table_rows in (
        ("timelines", Segment, TERMS), ("gaps", Gap, GAPS), ("entities", Entity, entity_rows),
    ):  # fmt: skip
        with writing(folder / f"{table_name}.parquet", kind) as table_writer:
            for row in table_rows:
                table_writer.append(row)
    return folder / "timelines.parquet", folder / "gaps.parquet", folder / "entities.parquet"


Ask = Callable[..., list[Question]]


@pytest.fixture(scope="module")
def ask(tables: tuple[Path, Path, Path], relations: dict[str, NewsWording]) -> Ask:
    """The questions that an article gives; its day, its text, the day and kind of the draw."""

    def ask_article(
        article_day: str,
        article_text: str,
        question_day: str = "",
        subset: Any = "past",
        about: Any = ("event", "state"),
    ) -> list[Question]:
        article = written(article_day, article_text)
        draw = Draw("d", "a", "eval", subset, article.day, day(question_day or article_day), "")
        with duck.connect() as db:
            ((_, stated_facts, known_terms, _),) = StatedFacts(db, *tables, relations).find(
                [article]
            )
            article_questions = grounded.questions(
                article, stated_facts, draw, known_terms, NEWEST, relations, about
            ).asked
        for question in article_questions:
            assert article.text[question.answer.start : question.answer.end] == question.answer.text
        return article_questions

    return ask_article


def written(article_day: str, article_text: str, headline: str = "A headline") -> Article:
    lines = (headline, *article_text.split("\n"))
    return Article("a", day(article_day), lines, "\n".join(lines))


@pytest.mark.parametrize(("text", "questions"), CASES["evidence"])
def test_a_sentence_states_a_fact(ask: Ask, text: str, questions: int) -> None:
    assert len(ask("2017-05-12", text)) == questions


CONTE = "Chelsea manager Antonio Conte praised his team."


@pytest.mark.parametrize(
    ("published", "text", "later", "subset", "expected_answers"), CASES["asked"]
)
def test_what_is_asked(
    ask: Ask,
    published: str,
    text: str,
    later: str,
    subset: str,
    expected_answers: dict[str, list[str]],
) -> None:
    article_questions = ask(published, text, later, subset)
    accepted_answers = {
        question.question: [*question.grounding.answers]
        for question in article_questions
        if question.grounding
    }
    assert accepted_answers == expected_answers


def test_states_are_no_news(ask: Ask) -> None:
    assert ask("2017-05-12", CONTE) and not ask("2017-05-12", CONTE, about=grounded.EVENTS)
    event = "On 4 July 2016 Chelsea appointed Antonio Conte as head coach."
    assert ask("2016-07-05", event, about=grounded.EVENTS)
    assert not ask("2017-07-05", event, about=grounded.EVENTS)


def test_an_event_is_asked_when_where_the_sentence_says_it(ask: Ask) -> None:
    text = "On 4 July 2016 Chelsea appointed Antonio Conte as head coach."
    questions_by_text = {question.question: question for question in ask("2016-07-05", text)}
    date_question = questions_by_text[
        "When did Antonio Conte become the head coach of Chelsea F.C.?"
    ]
    assert date_question.answer.text == "4 July 2016" and date_question.time_spec == "none"
    assert date_question.grounding is not None
    assert date_question.grounding.answers == ("4 July 2016", "July 4, 2016", "July 2016")
    assert date_question.grounding.statements == ("Q1$Q2",)


@pytest.mark.parametrize(
    ("later", "holds"),
    [("2017-06-01", True), ("2019-01-01", False), ("2018-02-01", None), ("2025-01-01", None)],
)
def test_whether_it_still_holds(ask: Ask, later: str, holds: bool | None) -> None:
    (who_question,) = (
        question
        for question in ask("2017-05-12", CONTE, later)
        if question.question.startswith("Who")
    )
    assert who_question.grounding is not None and who_question.grounding.holds is holds


@pytest.mark.parametrize(("past", "now"), CASES["present"])
def test_present(past: str, now: str) -> None:
    assert in_present_tense(past) == now


def test_captions_and_headlines_are_no_evidence() -> None:
    text = "FILE PHOTO: Chelsea manager Antonio Conte.\nHe won. He laughed."
    sentences = news_sentences(written("2017-01-01", text, "Chelsea manager Antonio Conte wins"))
    assert [sentence.text for sentence in sentences][-2:] == ["He won.", "He laughed."]
    for sentence in sentences:
        assert sentence.line > 0


def test_sentences_that_are_no_news_name_nothing(tables: tuple[Path, Path, Path]) -> None:
    text = "Pictured: Antonio Conte of Chelsea.\nAntonio Conte won.\nConte is seen in this photo."
    article = written("2017-01-01", text)
    with duck.connect() as db:
        names = EntityNames(db, tables[2], "select unnest(['Q1', 'Q2', 'Q6'])")
        of_all, of_news, in_news = (
            names.find([read(article)], only_news=only_news)[0]
            for read, only_news in (
                (body_sentences, False),
                (news_sentences, False),
                (body_sentences, True),
            )
        )
    assert [mention.ids for mention in in_news] == [mention.ids for mention in of_news]
    assert len(in_news) == 1 < len(of_all)


def test_names(tables: tuple[Path, Path, Path]) -> None:
    text = "Mr Conte of Chelsea.\nGiuseppe Conte met Antonio Conte.\nConte left."
    article = written("2017-01-01", text)
    with duck.connect() as db:
        id_query = "select unnest(['Q1', 'Q2', 'Q6'])"
        (mentions,) = EntityNames(db, tables[2], id_query).find([news_sentences(article)])
    # two Contes: the last word stands for neither
    assert [mention.ids for mention in mentions] == [("Q1",), ("Q6",), ("Q2",)]


def _question(
    number: int, line_index: int, relation: str | None, question_text: str, year: int = 2020
) -> Question:
    draw = Draw(f"d{number}", f"a{number}", "eval", "past", date(year, 5, 1), date(year, 5, 2), "")
    answer = rows.Candidate(0, 1, "x", "entity", None, line_index)
    grounding = rows.Grounding(relation or "", "Q1", f"Q{number}", "state", ("x",), (), (), None)
    question_grounding = grounding if relation else None
    return Question(
        f"{number:03}{line_index}",
        draw,
        question_text,
        answer,
        "facts",
        "none",
        None,
        question_grounding,
    )


def test_one_question_a_line_and_every_word_in_turn() -> None:
    all_questions = [
        _question(draw_number, line_index, None, f"{first_word} {draw_number} {line_index}?")
        for draw_number in range(30)
        for line_index in range(2)
        for first_word in ("Who", "When")
    ]
    chosen_questions, dropped_rows = select_questions(all_questions, 1, draw_cap=4, share=1)
    assert len(chosen_questions) == 60 and not dropped_rows
    assert {
        sum(question.question.startswith(first_word) for question in chosen_questions)
        for first_word in ("Who", "When")
    } == {30}
    assert len(select_questions(all_questions, 1, draw_cap=1, share=1)[0]) == 30


@pytest.mark.parametrize(("counts", "share", "chosen_counts"), CASES["shares"])
def test_a_relation_has_at_most_its_share(
    counts: dict[str | None, int], share: float, chosen_counts: dict[str | None, int]
) -> None:
    question_relations = [
        relation for relation, question_count in counts.items() for _ in range(question_count)
    ]
    all_questions = [
        _question(question_count, 1, relation, f"Who {question_count}?")
        for question_count, relation in enumerate(question_relations)
    ]
    chosen_questions, dropped_rows = select_questions(all_questions, 1, draw_cap=4, share=share)
    assert (
        Counter(question.grounding and question.grounding.relation for question in chosen_questions)
        == counts | chosen_counts
    )
    assert len(dropped_rows) == len(all_questions) - len(chosen_questions)
    assert {drop_row.reason for drop_row in dropped_rows} <= {"relation_share"}


def test_a_pair_is_asked_once_a_year() -> None:
    def same(number: int, year: int) -> Question:
        question = _question(number, 1, "P6", f"Who {number}?", year)
        assert question.grounding is not None
        return replace(question, grounding=replace(question.grounding, object="Q5"))

    chosen_questions, dropped_rows = select_questions(
        [same(1, 2020), same(2, 2020), same(3, 2021)], 1, 4, 1
    )
    assert len(chosen_questions) == 2 and [row.reason for row in dropped_rows] == ["same_pair"]


@pytest.mark.parametrize(
    ("published", "question_text", "answer_text", "later", "said"), CASES["checked"]
)
def test_facts_check_what_a_model_wrote(
    tables: tuple[Path, Path, Path],
    relations: dict[str, NewsWording],
    published: str,
    question_text: str,
    answer_text: str,
    later: str,
    said: str,
) -> None:
    draw = Draw("d", "a", "eval", "recent", day(published), day(later), "")
    answer = rows.Candidate(0, len(answer_text), answer_text, "entity", None, 1)
    question = Question("q", draw, question_text, answer, "openai:m")
    article = written(published, answer_text)
    with duck.connect() as db:
        lookup = FactLookup(StatedFacts(db, *tables, relations), NEWEST)
        (verdict,) = FactCheck().judge(
            [QuestionItem(question, article)], FilterContext(facts=lookup)
        )
    assert (verdict.reason or ", ".join(verdict.aliases)) == said


def test_without_a_dump_nothing_is_checked() -> None:
    notes: list[str] = []
    assert FactCheck().judge([], FilterContext(say=notes.append)) == []
    assert len(notes) == 1 and "--dump" in notes[0]
