"""`as-of`: judgments by day, roles in other sentences, and the rows of the sample's release."""

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders import rows as row_types
from factdrift.builders.facts.boundary_sides import sided_dates
from factdrift.builders.facts.intervals import Interval
from factdrift.builders.facts.relations import NewsWording, load_relations
from factdrift.builders.facts.role_words import role_of
from factdrift.builders.facts.text_evidence import FactPassage
from factdrift.builders.text.dates import dates_in
from factdrift.reasoning.as_of.histories import History
from factdrift.reasoning.as_of.judgments import FRESH, judge, stated_days
from factdrift.reasoning.as_of.questions import shares
from factdrift.reasoning.as_of.rows import CertainStretch, PassageFact
from factdrift.testing import check_dataset
from tests.conftest import ROOT, Completed, run_cli
from tests.histories import timelines_with
from tests.reasoning_oracle import worlds
from tests.tables import read_table

Rows = list[dict[str, Any]]
RELEASE = "releases/as-of/1.0.0"
COACH = load_relations(ROOT / "templates")["P286"].news


def days_of(text: str) -> list[date]:
    return [date.fromisoformat(part) for part in text.split("/")]


def marked(text: str) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """A text without its marks, and the spans of `[object]` and of `{subject}`."""
    plain = re.sub(r"[\[\]{}]", "", text)
    spans = []
    for pattern in (r"\[(.+?)\]", r"\{(.+?)\}"):
        name = re.search(pattern, text)
        start = plain.index(name[1]) if name else 0
        spans.append((start, start + len(name[1]) if name else 0))
    return plain, spans[0], spans[1]


def stated(text: str, day: date, term: list[date]) -> PassageFact | None:
    """The fact that a text of news or a page states of a term of the object `Q2`."""
    plain, holder, place = marked(text)
    is_page = text.startswith("page: ")
    if is_page:
        plain = plain.removeprefix("page: ")
        holder = (plain.index("Conte"), plain.index("Conte") + 5)
    dates = dates_in(plain)
    passage = FactPassage(
        plain,
        dates,
        names=None if is_page else (place, holder),
        sided=sided_dates(plain, dates, holder),
    )
    assert COACH
    days = stated_days(passage, Interval(term[0], term[0], term[1], term[1]), COACH, day)
    if days is None:
        return None
    return PassageFact(
        passage="p",
        subject="Q1",
        relation="P286",
        object="Q2",
        object_label="Antonio Conte",
        since=term[0],
        day=day,
        relation_word=days.relation_word,
        is_current=days.is_current,
        is_change=days.is_change,
        stated_from=days.stated_from,
        stated_until=days.stated_until,
        start=0,
        end=len(plain),
        also_named=(),
        statements=(f"Q1${term[0]}",),
    )


@pytest.mark.parametrize(
    ("text", "published", "term", "other_term", "as_of", "grade"), read_table("as_of_judgments")
)
def test_a_passage_is_judged_by_day(
    text: str, published: str, term: str, other_term: str, as_of: str, grade: str
) -> None:
    fact = stated(text, date.fromisoformat(published), days_of(other_term or term))
    assert bool(fact) == bool(grade)
    if fact:
        statements = (f"Q1${days_of(term)[0]}",)
        assert judge(fact, ("Q2",), statements, date.fromisoformat(as_of)) == grade


def test_another_object_is_stale_unless_the_answer_is_named_too() -> None:
    day = date(2017, 5, 12)
    fact = stated("{Chelsea} manager [Antonio Conte] won.", day, days_of("2016-07-04/2018-07-13"))
    assert fact and judge(fact, ("Q3",), ("Q1$x",), day) == "stale"
    named = PassageFact(
        **{name: getattr(fact, name) for name in fact.__slots__} | {"also_named": ("Q3",)}
    )
    assert judge(named, ("Q3",), ("Q1$x",), day) == "unjudged"
    # of several who hold at once each is an answer
    assert judge(fact, ("Q2", "Q3"), fact.statements, day) == "proves"


OFFICE = NewsWording(
    cues=("chairman",), changes=("new", "becomes", "appointed"), possessions=("board",)
)
MEMBER = NewsWording(cues=("goal", "scored", "striker", "transfer"), changes=("transfer", "joined"))


@pytest.mark.parametrize(("text", "kind", "word", "change"), read_table("role_words"))
def test_a_sentence_gives_a_role_to_a_name(text: str, kind: str, word: str, change: str) -> None:
    plain, name, place = marked(text)
    wording = OFFICE if kind == "office" else MEMBER
    role = role_of(
        plain, name, wording, is_member=kind == "member", places=[place] if place[1] else []
    )
    if word == "no":
        assert role is None
    else:
        assert role is not None and (role.word, role.is_change) == (word, change == "yes")


def test_kinds_share_evenly_as_far_as_there_are_rows() -> None:
    assert shares({"newest": 90, "older": 90, "change": 2}, 62) == {
        "newest": 30,
        "older": 30,
        "change": 2,
    }
    assert shares({"newest": 3, "older": 4}, 100) == {"newest": 3, "older": 4}


def history(*terms: tuple[str, str]) -> History:
    """A history of objects and their days, each certain, without facts."""
    segments, stretches = [], []
    for object_id, days in terms:
        first, last = days_of(days)
        segments.append(
            row_types.Segment(
                "Q1", "P286", object_id, first, first, last, last, False, False, False,
                (f"s{object_id}{first}",), date(2026, 2, 1),
            )
        )  # fmt: skip
        stretches.append(
            CertainStretch("Q1", "P286", first, last, (object_id,), segments[-1].statements, first)
        )
    return History("Q1", "P286", segments, stretches, ())


def test_what_lies_around_a_stretch() -> None:
    terms = history(
        ("Q2", "2010-01-01/2012-12-31"),
        ("Q3", "2013-02-01/2014-12-31"),
        ("Q4", "2015-06-01/2016-01-01"),
    )
    first, second, third = terms.stretches
    assert terms.stretch_on(date(2012, 12, 31)) is first
    assert terms.stretch_on(date(2013, 1, 15)) is None
    assert terms.successor(first) is second
    assert terms.successor(second) is None  # five months between them may hide somebody
    assert terms.stretch_before(date(2013, 2, 1), 92) is first
    assert terms.stretch_before(third.first, 92) is None
    assert terms.began_alone("Q3", date(2013, 1, 1), date(2013, 3, 1))
    assert not terms.began_alone("Q3", date(2009, 1, 1), date(2013, 3, 1))
    assert terms.ended_objects(date(2014, 1, 1)) == {"Q2"}


def test_a_day_on_which_both_hold_separates_nobody_from_who_comes_next() -> None:
    """Many statements end on the day on which the next one begins."""
    terms = history(
        ("Q2", "2010-01-01/2012-12-31"),
        ("Q3", "2012-12-31/2014-12-31"),
    )
    day, one_day = date(2012, 12, 31), timedelta(1)
    first = replace(terms.stretches[0], last=day - one_day)
    second = replace(terms.stretches[1], first=day + one_day)
    both = replace(first, first=day, last=day, objects=("Q2", "Q3"))
    terms = replace(terms, stretches=[first, both, second])
    assert terms.is_handover(both) and not terms.is_handover(first)
    assert terms.after_handover(day) == second.first
    assert terms.after_handover(day - one_day) == day - one_day
    assert terms.successor(first) is second
    assert terms.stretch_before(day, 92) is first


def release(
    folder: Path, *more_lines: str, dropped_word: str = "nothing", ok: bool = True
) -> Completed:
    """Run the recipe with lines more, and without those that hold a word."""
    text = (ROOT / "builders/recipes/as-of.yaml").read_text("utf-8").replace("../../", f"{ROOT}/")
    kept_lines = [line for line in text.splitlines() if dropped_word not in line]
    recipe = folder / "mine.yaml"
    recipe.write_text(
        "\n".join([*kept_lines, *(f"  {line}" for line in more_lines)]) + "\n", "utf-8"
    )
    return run_cli("release", recipe, "--out", folder / "out", "--build", folder / "b", ok=ok)


def rows(sample: Path, config: str) -> Rows:
    (path,) = (sample / RELEASE / "data" / config).glob("*.parquet")
    table_rows: Rows = pq.read_table(path).to_pylist()
    return table_rows


PREFIXES = pytest.mark.parametrize("prefix", ["", "statement-"])


@PREFIXES
def test_answers_are_what_holds_under_every_reading(sample: Path, prefix: str) -> None:
    questions = rows(sample, f"{prefix}questions")
    statement_ids = {statement for question in questions for statement in question["statements"]}
    relations = {question["relation"] for question in questions}
    for world in worlds(*timelines_with(sample / "build", relations, statement_ids), 0):
        for question in questions:
            held = world.on(question["subject"], question["relation"], question["as_of"])
            assert held == set(question["answer_ids"]), question


@PREFIXES
def test_nothing_later_is_judged(sample: Path, prefix: str) -> None:
    passages = {passage["id"]: passage for passage in rows(sample, f"{prefix}passages")}
    facts: dict[str, Rows] = {}
    for fact in rows(sample, f"{prefix}stated"):
        facts.setdefault(fact["passage"], []).append(fact)
    for question in rows(sample, f"{prefix}questions"):
        judged = [question[name] for name in ("evidence", "supporting", "unjudged", "stale")]
        judged_ids = [passage_id for ids in judged for passage_id in ids]
        assert len(judged_ids) == len({*judged_ids})
        assert question["asked_on"] >= question["as_of"]
        for passage_id in judged_ids:
            assert passages[passage_id]["day"] <= question["asked_on"]
        # of a question with two hops, the evidence may be of the first one alone
        stated_objects = {
            fact["object"]
            for passage_id in (*question["evidence"], *question["supporting"])
            for fact in facts[passage_id]
        }
        if question["kind"] == "abstain":
            assert not question["targets"] and not question["evidence"] + question["supporting"]
        else:
            assert question["targets"] and (question["evidence"] or question["supporting"])
            assert not stated_objects or stated_objects & set(question["answer_ids"])
        assert not set(question["targets"]) & {*question["earlier"], *question["later"]}


@PREFIXES
def test_the_days_asked_about_are_not_those_of_passages(sample: Path, prefix: str) -> None:
    """Else whoever looks for the day of the question in the texts needs no time to be right."""
    starts: dict[tuple[str, str], set[date]] = {}
    for fact in rows(sample, f"{prefix}stated"):
        starts.setdefault((fact["subject"], fact["relation"]), set()).add(fact["since"])
    states = [
        question
        for question in rows(sample, f"{prefix}questions")
        if question["kind"] in ("newest", "older")
    ]
    on_a_start = [
        question
        for question in states
        if question["as_of"] in starts[question["subject"], question["relation"]]
    ]
    assert len(states) > 100 and len(on_a_start) < 0.1 * len(states)


@PREFIXES
def test_who_is_to_abstain_has_heard_of_nothing_that_may_go_on(sample: Path, prefix: str) -> None:
    """That an earlier term is over is in no text; so a memory that gives it would be right."""
    facts = rows(sample, f"{prefix}stated")
    for question in rows(sample, f"{prefix}questions"):
        begun = [
            (fact["since"], fact["stated_until"] or date.max)
            for fact in facts
            if (fact["subject"], fact["relation"]) == (question["subject"], question["relation"])
            and fact["day"] <= question["asked_on"]
            and fact["since"] <= question["as_of"]
        ]
        if question["kind"] == "abstain" and begun:
            newest_start = max(begun)[0]
            assert all(
                until < question["as_of"] for since, until in begun if since == newest_start
            ), question


def test_prose_alone_gives_questions(sample: Path) -> None:
    """What the sample has to show (issue 42): 120 questions over 60 pairs from news alone."""
    news = {passage["id"] for passage in rows(sample, "passages") if passage["source"] == "news"}
    asked = [
        question
        for question in rows(sample, "questions")
        if news & {*question["evidence"], *question["supporting"]}
    ]
    assert len(asked) >= 120
    assert len({(question["subject"], question["relation"]) for question in asked}) >= 60
    pages = {passage["id"] for passage in rows(sample, "passages") if passage["source"] == "page"}
    assert any(pages & {*question["evidence"]} for question in rows(sample, "questions"))
    kinds = {question["kind"] for question in rows(sample, "questions")}
    assert kinds == {"newest", "older", "change", "before", "two-hops", "abstain"}
    statement_kinds = {question["kind"] for question in rows(sample, "statement-questions")}
    assert statement_kinds == kinds | {"corrected"}


def test_what_is_said_nowhere_is_said_nowhere(sample: Path) -> None:
    """No passage by the day of asking names the subject and an answer of a silent question."""
    passages = rows(sample, "passages")
    labels = {fact["object"]: fact["object_label"] for fact in rows(sample, "stated")}
    checked = 0
    for question in rows(sample, "questions"):
        names = [labels[answer] for answer in question["answer_ids"] if answer in labels]
        if question["kind"] != "abstain" or not names:
            continue
        checked += 1
        for passage in passages:
            if passage["day"] <= question["asked_on"]:
                assert not any(name in passage["text"] for name in names), question
    assert checked > 5


def test_the_corpus_is_whole_and_most_of_it_noise(sample: Path) -> None:
    passages = rows(sample, "passages")
    order = [(passage["day"], len(passage["id"]), passage["id"]) for passage in passages]
    assert order == sorted(order) and len(order) == len({*order})
    facts = rows(sample, "stated")
    assert len({fact["passage"] for fact in facts}) < len(passages) / 5
    by_id = {passage["id"]: passage for passage in passages}
    for fact in facts:
        passage = by_id[fact["passage"]]
        assert fact["day"] == passage["day"] >= fact["since"] or not fact["is_current"]
        assert passage["text"][fact["start"] : fact["end"]].strip()


def test_a_later_statement_takes_an_earlier_one_back(sample: Path) -> None:
    facts = {fact["passage"]: fact for fact in rows(sample, "statement-stated")}
    corrected = [
        question
        for question in rows(sample, "statement-questions")
        if question["kind"] == "corrected"
    ]
    assert corrected
    for question in corrected:
        wrong = [
            facts[passage] for passage in question["stale"] if not facts[passage]["statements"]
        ]
        assert any(fact["since"] <= question["as_of"] for fact in wrong)
        assert not set(question["answer_ids"]) & {fact["object"] for fact in wrong}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("relations: [P27]", "no phrases to ask P27 with"),
        ("first: 2025-06-01\n  last: 2025-01-01", "do not lie before the dump's"),
    ],
)
def test_mistakes_of_a_recipe(tmp_path: Path, line: str, message: str) -> None:
    key = line.partition(":")[0] + ":"
    assert message in release(tmp_path, line, dropped_word=f"  {key}", ok=False).stderr


def test_without_any_text_it_is_refused(tmp_path: Path) -> None:
    recipe = yaml.safe_load((ROOT / "builders/recipes/as-of.yaml").read_text("utf-8"))
    del recipe["inputs"]["news"], recipe["inputs"]["pages"], recipe["build"]["statements"]
    recipe["inputs"]["dump"]["path"] = str(next((ROOT / "samples/wikidata").glob("*2026*.gz")))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    words = ("release", tmp_path / "mine.yaml", "--out", tmp_path / "out", "--build", tmp_path)
    refused = run_cli(*words, ok=False).stderr
    assert "there is no text to ask about" in refused and "statements: yes" in refused


def test_a_month_is_proved() -> None:
    assert timedelta(31) == FRESH  # SPEC 8


@pytest.mark.slow
def test_the_kit(tmp_path: Path) -> None:
    assert check_dataset(ROOT / "builders/recipes/as-of.yaml", tmp_path).configs
