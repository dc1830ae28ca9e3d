"""`temporal-reasoning`: every question against a walk over days, its caps, its words."""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import ibis
import pyarrow.parquet as pq
import pytest

from factdrift.builders import rows
from factdrift.builders.core.engine import engine
from factdrift.builders.facts.relations import (
    PHRASES,
    NamedKind,
    RelationWording,
    load_relations,
)
from factdrift.builders.release.manifest import load_manifest
from factdrift.reasoning import clauses, links, names, titles, writing
from factdrift.reasoning.balance import Label, Offer, RuleGuess, draw_balanced
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.invented import OfficeOrigin, invent_names
from factdrift.reasoning.links import link_timelines
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.selection import draw_pool
from factdrift.reasoning.states import build_knowledge
from factdrift.reasoning.writing import QuestionDraft, Writer
from factdrift.scoring.sampling import ChosenSplit, stratified_sample
from tests.conftest import ROOT, run_cli
from tests.histories import day, parquet, timelines_with
from tests.reasoning_oracle import World, expected, worlds
from tests.tables import read_table

SNAPSHOT = date(2024, 1, 15)
FIRST, LAST = date(2004, 1, 1), date(2023, 12, 31)
RELATIONS = ("P1", "P2", "P3")


def histories(seed: int, subjects: int) -> tuple[list[rows.Segment], list[rows.Gap]]:
    """Make random timelines: objects are subjects too, dates mostly partial, some holders twice."""
    generator = random.Random(seed)
    segments: list[rows.Segment] = []
    gaps: list[rows.Gap] = []

    def term(subject: str, relation: str, start: date, days: int) -> dict[str, Any]:
        start_days, end_days = point(start), point(start + timedelta(days=days))
        end_open = generator.random() < 0.05
        if end_open:
            end_days = (SNAPSHOT, SNAPSHOT)
        object_id = f"Q{generator.randint(1, subjects)}"
        return {
            "subject": subject,
            "relation": relation,
            "object": object_id,
            "start_first": start_days[0],
            "start_last": min(start_days[1], end_days[1]),
            "end_first": max(end_days[0], start_days[0]),
            "end_last": end_days[1],
            "end_open": end_open,
            "snapshot": SNAPSHOT,
        }

    def point(true_day: date) -> tuple[date, date]:
        return day(
            generator.choice(
                (true_day.isoformat(), true_day.isoformat(), f"{true_day:%Y-%m}", f"{true_day:%Y}")
            )
        )

    for subject in (f"Q{subject_number}" for subject_number in range(1, subjects + 1)):
        for relation in RELATIONS:
            start = FIRST + timedelta(days=generator.randint(0, 900))
            while start < LAST - timedelta(days=400):
                days = generator.choice((30, 200, 700, 1500))
                days = min(days, (SNAPSHOT - start).days - 370)
                term_values = term(subject, relation, start, max(days, 1))
                statement = f"{subject}${relation}-{len(segments)}-{len(gaps)}"
                if generator.random() < 0.02:
                    gaps.append(
                        rows.Gap(
                            statement=statement, reason="undated", rank="normal", **term_values
                        )
                    )
                else:
                    term_values |= {"end_inferred": False, "rival": generator.random() < 0.01}
                    segments.append(rows.Segment(statements=(statement,), **term_values))
                start += timedelta(days=max(days, 1) + generator.choice((1, 1, 1, 20, 500)))
    return segments, gaps


def candidates(
    folder: Path,
    segments: list[rows.Segment],
    gaps: list[rows.Gap],
    families: Collection[str] = tuple(FAMILIES),
) -> list[dict[str, Any]]:
    """Return all candidates that families find in some timelines."""
    all_phrases = dict.fromkeys(PHRASES, RELATIONS)
    scope = Scope(date(2005, 1, 1), date(2023, 9, 30), all_phrases)
    with engine("duckdb", folder) as eng:
        knowledge = build_knowledge(
            eng,
            eng.read(parquet(folder / "s.parquet", rows.Segment, segments), rows.Segment),
            eng.read(parquet(folder / "g.parquet", rows.Gap, gaps), rows.Gap),
            scope.last,
            3,
        )
        items = parquet(folder / "e.parquet", rows.Entity, named_items(len(segments)))
        knowledge = link_timelines(eng, knowledge, eng.read(items, rows.Entity), {})
        all_candidates = []
        for family_name in families:
            family, path = FAMILIES[family_name], folder / f"{family_name}.parquet"
            column_order = [
                name for name in QuestionCandidate.__dataclass_fields__ if name not in _LISTS
            ]
            table = family.table(knowledge, scope).mutate(turn=ibis.literal(0, "int64"))
            eng.write(table, path, QuestionCandidate, column_order)
            all_candidates += pq.read_table(path).to_pylist()
    return all_candidates


@pytest.fixture(scope="module")
def random_questions(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[dict[str, Any]], list[World]]:
    """All candidates of random timelines, and the possible readings of these."""
    segments, gaps = histories(7, 60)
    plain_rows = (
        [_row_values(segment) for segment in segments],
        [_row_values(segment) for segment in gaps],
    )
    return candidates(tmp_path_factory.mktemp("reasoning"), segments, gaps), worlds(*plain_rows, 10)


def test_two_holders_are_counted_and_one_is_not(tmp_path: Path) -> None:
    holder_terms = (("Q2", "2001-01-01", "2013-03-31"), ("Q3", "2013-04-01", "2023-12-01"))
    segments = [
        rows.Segment(
            f"Q1{subject_number}",
            "P1",
            holder,
            *day(start),
            *day(end),
            False,
            False,
            False,
            (f"{subject_number}{holder}",),
            SNAPSHOT,
        )
        for subject_number in range(9)
        for holder, start, end in holder_terms
    ]
    counts = [row["answer"] for row in candidates(tmp_path, segments, [], ["count"])]
    assert 0 < len(counts) < 9 * 8 and set(counts) == {"2"}


_LISTS = {"items", "relations", "answers"}


def named_items(count: int) -> list[rows.Entity]:
    """Entities in two countries."""
    return [
        rows.Entity(
            f"Q{number}", f"Item {number}", (), None, number, 1, 1, country=f"Land {number % 2}"
        )
        for number in range(1, count + 1)
    ]


def _row_values(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__dataclass_fields__}


@pytest.mark.parametrize("family", list(FAMILIES))
def test_every_reading_gives_the_answer(
    family: str, random_questions: tuple[list[dict[str, Any]], list[World]]
) -> None:
    all_candidates, readings = random_questions
    of_family = [row for row in all_candidates if row["family"] == family]
    assert len(of_family) >= {"count": 1, "set": 1, "neighbour": 5}.get(family, 20)
    for row in of_family:
        for world in readings:
            assert world.answer(row) == expected(row), row


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    (path,) = folder.glob(name)
    table_rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return table_rows


def test_the_sample_agrees_with_a_walk_over_days(sample: Path) -> None:
    all_candidates = _rows(sample, "build/reasoning-candidates-*/candidates.parquet")
    assert len(all_candidates) > 500
    stated = {statement for row in all_candidates for statement in row["statements"]}
    relations = {relation for row in all_candidates for relation in row["relations"]}
    readings = worlds(*timelines_with(sample / "build", relations, stated), 6)
    for row in all_candidates:
        assert all(world.answer(row) == expected(row) for world in readings), row


def test_rows_of_the_sample(sample: Path) -> None:
    data = "releases/temporal-reasoning/1.0.0/data"
    questions = _rows(sample, f"{data}/questions/*.parquet")
    with_context = _rows(sample, f"{data}/with_evidence/*.parquet")
    renamed = _rows(sample, f"{data}/renamed/*.parquet")
    assert {row["id"] for row in questions} >= {row["question_id"] for row in with_context}
    assert [row["id"] for row in with_context] == [row["twin"] for row in renamed]
    answer_counts = Counter[tuple[str, str]]()
    for row in (*questions, *renamed):
        assert bool(row["choices"]) == (row["answer_index"] is not None)
        if row["choices"]:
            right_choice = row["choices"][row["answer_index"]]
            assert right_choice in row["targets"]
            assert not set(row["choices"]) - {right_choice} & set(row["targets"])
            assert len(row["choices"]) == len(set(row["choices"])) in (2, 4)
    for row in questions:
        if row["answer_kind"] == "yes_no":
            answer_counts[row["family"], row["targets"][0]] += 1
    for row in with_context:
        lines = row["context"].splitlines()
        assert len(lines) == len(set(lines)) == 20
        assert {f"- {fact}" for fact in row["evidence"]} <= set(lines)
        if row["answer_kind"] == "item":  # no choice is told by its absence from the table
            assert all(choice in row["context"] for choice in row["choices"])
    for family in ("order", "overlap"):
        assert abs(answer_counts[family, "yes"] - answer_counts[family, "no"]) <= 2


def test_a_limit_draws_the_same_questions_alone_and_behind_facts(sample: Path) -> None:
    release = sample / "releases/temporal-reasoning/1.0.0"
    splits = [
        ChosenSplit(config.name, config.roles, split)
        for config in load_manifest(release).configs
        if config.roles
        for split in config.splits
    ]
    with_context = _rows(sample, "releases/temporal-reasoning/1.0.0/data/with_evidence/*.parquet")
    question_ids = {row["id"]: row["question_id"] for row in with_context}
    drawn_ids = stratified_sample(release, splits, 20, seed=3)
    assert drawn_ids["questions"] == {question_ids[row] for row in drawn_ids["with_evidence"]}
    assert len(drawn_ids["questions"]) == 20


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("families: [chains]", "no family 'chains'"),
        ("relations: [P800]", "no phrases to ask P800 with"),
        ("first: 2025-06-01\n  last: 2025-01-01", "do not lie before the dump's"),
        ("last: 2030-01-01", "do not lie before the dump's"),
    ],
)
def test_mistakes_of_a_recipe(tmp_path: Path, line: str, message: str) -> None:
    text = (ROOT / "builders/recipes/temporal-reasoning.yaml").read_text("utf-8")
    text = text.replace("../../", f"{ROOT}/")
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(f"{text}  {line}\n", "utf-8")
    completed = run_cli(
        "release", recipe, "--out", tmp_path / "out", "--build", tmp_path / "b", ok=False
    )
    assert message in completed.stderr


PEOPLE = {"Q1": "Ana Lu", "Q2": "Bo Ek", "Q3": "Reds F.C.", "Q4": "Dutch Republic"}
PEOPLE |= {"Q5": "Mayor of Rome", "Q6": "Blues F.C."}
WORDING = RelationWording(
    noun="the team that <subject> played for",
    ask="who was the coach of <the subject>",
    event="<object> became the coach of <the subject>",
    began="<object> took over",
    did="Did <object> become the coach of <the subject>",
    becoming="becoming the coach of <the subject>",
    was="<object> coached <the subject>",
    long="For how many full years did <object> coach <the subject>",
    count="How many people coached <the subject>",
)
ENTITIES = {
    item_id: rows.Entity(item_id, name, (), name, 1, 1, 1) for item_id, name in PEOPLE.items()
}
# Templates of ours, by which a question's second clause is shown to fit its first.
TEMPLATES = load_relations(ROOT / "templates")
WORDINGS = {name: relation.phrases for name, relation in TEMPLATES.items() if relation.phrases}
NAMES = Verbalizer(ENTITIES, WORDINGS | {"P1": WORDING, "P2": WORDING})
AT: dict[str, Any] = {"as_of": date(2019, 12, 31), "since": date(2012, 1, 1)}
EMPTY: dict[str, Any] = dict.fromkeys(QuestionCandidate.__dataclass_fields__)


@pytest.mark.parametrize(
    "case", read_table("reasoning_wordings"), ids=lambda case: " ".join(case[:3])
)
def test_wording(case: tuple[str, ...]) -> None:
    family, wording, variant, items, relations, number, text = case
    row_values: dict[str, Any] = {"wording": wording, "number": int(number) if number else None}
    row_values |= {"items": items.split(), "relations": relations.split()}
    row = QuestionCandidate(**EMPTY | AT | row_values)
    assert NAMES.question(FAMILIES[family].texts[wording][int(variant)], row) == text


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        (names._TWO_STOPS, "Reds F.C.. In", "and so on..."),
        (writing._PARTS_OF_LISTS, "Minister for Women, Gender Equality and Youth", "Brandt"),
        (clauses._OFFICE_OF, "<object> held the office of ", "<object> was head of "),
        (clauses._PEOPLE, "How many people were head of state", "Who was head of state"),
        (clauses._ACTIVE_SUBJECT, "which party did <subject> belong to", "who owned <the subject>"),
    ],
)
def test_searched_patterns(pattern: re.Pattern[str], accepted: str, refused: str) -> None:
    assert pattern.search(accepted)
    assert not pattern.search(refused)


@pytest.mark.parametrize("case", read_table("office_titles"), ids=lambda case: case[0])
def test_title_of_an_office(case: tuple[str, ...]) -> None:
    label, country, title, kind = case
    assert titles.office_title(label, country) == title
    assert titles.office_title(title, country) == title
    assert titles.kind_of_office(label) == kind


def test_tables_tell_the_same_kinds_of_offices(tmp_path: Path) -> None:
    cases = read_table("office_titles")
    offices = [rows.Entity(f"Q{nth}", case[0], (), None, 0, 0, 0) for nth, case in enumerate(cases)]
    path = parquet(tmp_path / "offices.parquet", rows.Entity, offices)
    with engine("duckdb", tmp_path) as eng:
        table = eng.read(path, rows.Entity)
        kinds = eng.rows(table.select("label", kind=links.office_kind(table.label)))
        assert {row["label"]: row["kind"] for row in kinds} == {case[0]: case[3] for case in cases}


def test_a_title_that_others_may_have_is_not_used() -> None:
    names = {"Q1": "governor of Punjab of India", "Q2": "governor of Punjab of Pakistan"}
    names |= {"Q3": "governor of Goa of India", "Q4": "Mayor of Delhi of India", "Q5": "pope"}
    countries = {"Q2": "Pakistan", "Q5": None}
    entities = {
        item_id: rows.Entity(
            item_id, name, (), None, 0, 0, 0, country=countries.get(item_id, "India")
        )
        for item_id, name in names.items()
    }
    found = {"mayor of delhi": ["Q4", "Q9"], "governor of goa": ["Q3"]}
    assert titles.office_titles(names, entities, lambda _: found) == {"Q3": "governor of Goa"}


def test_offices_of_a_country_are_linked_by_their_kind(tmp_path: Path) -> None:
    """Country alone joins nothing, and neither do governors of two provinces."""
    labels = {"Q1": "Japan", "Q2": "governor of Mie", "Q3": "governor of Aichi"}
    labels |= {
        "Q4": "Prime Minister of Japan",
        "Q8": "Minister of Justice",
        "Q5": "Sony",
        "Q6": "Nikon",
        "Q7": "Osaka",
    }
    classes = {"Q5": ("Q50",), "Q6": ("Q60",), "Q7": ("Q70",)}
    entities = [
        rows.Entity(
            item_id, label, (), None, 0, 0, 0, classes=classes.get(item_id, ()),
            country=None if item_id == "Q1" else "Japan",
        )
        for item_id, label in labels.items()
    ]  # fmt: skip
    relations = {"Q1": "P6-country", "Q5": "P488", "Q6": "P488", "Q7": "P6-city"}
    terms = [
        rows.Segment(
            item_id, relations.get(item_id, "P1308"), f"{item_id}0", *day("2019"), *day("2020"),
            False, False, False, (item_id,), SNAPSHOT,
        )
        for item_id in labels
    ]  # fmt: skip
    with engine("duckdb", tmp_path) as eng:
        segments = eng.read(parquet(tmp_path / "s.parquet", rows.Segment, terms), rows.Segment)
        gaps = eng.read(parquet(tmp_path / "g.parquet", rows.Gap, []), rows.Gap)
        items = eng.read(parquet(tmp_path / "e.parquet", rows.Entity, entities), rows.Entity)
        knowledge = build_knowledge(eng, segments, gaps, LAST, 1)
        linked = link_timelines(eng, knowledge, items, WORDINGS).links
        couples = {(row["subject"], row["o_subject"]) for row in eng.rows(linked)}
    one_way = {("Q4", "Q8")}
    assert couples == one_way | {(second, first) for first, second in one_way}


def words_in_use(words: Collection[str]) -> set[str]:
    """Half of all words stand in the dump."""
    return {word for word in words if len(word) % 2}


def test_invented_names_are_of_a_kind_and_of_nobody() -> None:
    kinds: dict[str, NamedKind] = {"Q1": "person", "Q2": "team", "Q3": "office", "Q4": "thing"}
    kinds["Q0"] = "national_team"
    kinds |= {f"Q{item_number}": "place" for item_number in range(5, 300)}
    invented = invent_names(kinds, 3, words_in_use)
    assert invented == invent_names(dict(reversed(kinds.items())), 3, words_in_use)
    assert len(set(invented.values())) == len(kinds)
    assert len(invented["Q1"].split()) == 2 and " of " in invented["Q3"]
    assert invented["Q0"].endswith(" national team")
    offices = {"Q3": OfficeOrigin("governor", "Q5"), "Q4": OfficeOrigin("governor", None)}
    kinds |= dict.fromkeys(offices, "office")
    with_offices = invent_names(kinds, 3, words_in_use, offices)
    adjective, noun, *_ = with_offices["Q3"].split()
    assert adjective == f"{with_offices['Q5']}ian" and with_offices["Q4"].startswith(f"{noun} of ")
    assert all(not words_in_use([invented[item.id]]) for item in named_items(200)[4:])


@pytest.mark.parametrize(
    ("start", "end", "open_", "dates"),
    [
        ("2019-07-24", "2020-02", False, "(from 24 July 2019 to February 2020)"),
        ("2019", "2020-01-01", True, "(from 2019 to now)"),
        ("", "2020", False, "(from an unknown day to 2020)"),
        ("2019-01-01/2019-03-05", "2020", False,
         "(from a day between 1 January 2019 and 5 March 2019 to 2020)"),
        ("/2019-03-05", "", False, "(from 5 March 2019 at the latest to an unknown day)"),
        ("2019-03-05/", "", False, "(from 5 March 2019 at the earliest to an unknown day)"),
        # Nothing ends before it begins, so that one boundary cuts the other.
        ("/2018-12-31", "2018", False, "(until 2018)"),
        ("2018-03-05", "2018-03-05/", False, "(from 5 March 2018)"),
        ("2023-01-01/2023-05-31", "2023-05", False, "(from 2023 to May 2023)"),
        ("2023-05-01/2023-05-03", "2023-05-03", False, "(from May 2023 to 3 May 2023)"),
        ("2023-05", "2023-05-01/2023-12-31", False, "(from May 2023 to 2023)"),
        ("2023-01-01/2023-05-31", "2023-06", False,
         "(from a day between 1 January 2023 and 31 May 2023 to June 2023)"),
    ],
)  # fmt: skip
def test_a_fact_in_words(start: str, end: str, open_: bool, dates: str) -> None:
    days = *_point(start), *_point(end)
    term = rows.Segment("Q4", "P1", "Q1", *days, open_, False, False, ("s",), SNAPSHOT)
    assert NAMES.sentence(term) == f"Ana Lu coached the Dutch Republic {dates}."


def test_a_statement_of_two_relations_is_told_as_that_of_the_question() -> None:
    days = *day("2019"), *day("2021")
    segments = [
        rows.Segment("Q4", relation_id, "Q1", *days, False, False, False, ("s",), SNAPSHOT)
        for relation_id in ("P1", "P2")
    ]
    row_values: dict[str, Any] = (
        EMPTY | AT | {"id": "1", "path": "P2", "hops": 1, "wording": "years"}
    )
    row_values |= {"family": "duration", "subject": "Q4", "relation": "P2", "relations": ("P2",)}
    row_values |= {"items": ("Q4", "Q1"), "answers": (), "answer": "3", "statements": ("s",)}
    row = QuestionCandidate(**row_values | {"holder": "Q4", "changed": LAST, "turn": 0})
    phrases = {
        "P1": WORDING,
        "P2": WORDING.model_copy(update={"was": "<object> led <the subject>"}),
    }
    writer = Writer(Verbalizer(ENTITIES, phrases), segments, LAST, 1)
    draft = writer.draft(row)
    assert isinstance(draft, QuestionDraft)
    question = writer.question(draft)
    assert question.evidence == ("Ana Lu led the Dutch Republic (from 2019 to 2021).",)


def _point(text: str) -> tuple[date | None, date | None]:
    first, slash, last = text.partition("/")
    if slash:
        return day(first)[0] if first else None, day(last)[1] if last else None
    return day(text) if text else (None, None)


Rows = list[dict[str, Any]]


def draw_candidates(folder: Path, candidate_rows: Rows, per_family: int) -> Rows:
    """Return the pool that is drawn from some candidates."""
    all_candidates = [QuestionCandidate(**row) for row in candidate_rows]
    path = parquet(folder / "c.parquet", QuestionCandidate, all_candidates)
    items = parquet(folder / "e.parquet", rows.Entity, named_items(60))
    with engine("duckdb", folder) as eng:
        table = eng.read(path, QuestionCandidate).drop("turn")
        return list(eng.rows(draw_pool(table, eng.read(items, rows.Entity), 5, per_family)))


@pytest.mark.parametrize("per_family", [2, 50])
def test_a_pool_is_as_large_as_needed_and_of_many_subjects(
    tmp_path: Path, random_questions: tuple[Rows, list[World]], per_family: int
) -> None:
    drawn_rows = draw_candidates(tmp_path, random_questions[0], per_family)
    assert len({row["id"] for row in drawn_rows}) == len(drawn_rows)
    by_family = Counter((row["family"], row["hops"]) for row in drawn_rows)
    by_subject = Counter((row["family"], row["hops"], row["subject"]) for row in drawn_rows)
    assert max(by_family.values()) <= 12 * per_family and max(by_subject.values()) <= 8
    for group, row_count in by_family.items():
        turns = sorted(row["turn"] for row in drawn_rows if (row["family"], row["hops"]) == group)
        assert turns == list(range(row_count))
    if per_family == 2:  # relations take turns
        orders = [row["path"] for row in drawn_rows if row["family"] == "order"]
        assert len(set(orders)) >= 6


def offers(hits: Iterable[bool], chance: float) -> Iterator[Offer[int]]:
    """Offers of rows in which a guess is right or wrong."""
    for number, hit in enumerate(hits):
        guesses = {"newest": RuleGuess(float(hit), chance)}
        yield Offer({}, partial(lambda *version: [version], number, guesses))


@pytest.mark.parametrize(
    ("hits", "most", "admitted", "right"),
    [
        ("1111", 9, 2, 2),  # two of two are within the slack of one row
        ("11110000", 9, 8, 4),
        ("00001111", 9, 8, 4),
        ("10" * 500, 100, 100, 50),
        ("1" * 500 + "0" * 500, 1000, 1000, 500),
        ("1" * 900 + "0" * 100, 1000, 204, 104),
    ],
)
def test_a_guess_does_not_win(hits: str, most: int, admitted: int, right: int) -> None:
    draw = draw_balanced(offers((hit == "1" for hit in hits), 0.5), most)
    assert len(draw.admitted) == admitted
    assert sum(hits[number] == "1" for number in draw.admitted) == right


def test_no_answer_is_frequent() -> None:
    numbers = "2" * 60 + "345" * 10
    rows_offered = (
        Offer({"number": Label(number, 0.25)}, partial(lambda row: [(row, {})], number))
        for number in numbers
    )
    counted = Counter(draw_balanced(iter(rows_offered), 100).admitted)
    assert counted == {"2": 11, "3": 10, "4": 10, "5": 10}
