"""`knowledge-edits`: every row against a walk over timelines, a planted world, editors' rules."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.files import resource
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.rows import Gap, Segment
from factdrift.reasoning.edits.wordings import EditTemplates
from factdrift.scoring.export.edit_rules import (
    fault_of_case,
    fault_of_question_edit,
    faults_of_file,
)
from tests.conftest import run_cli
from tests.dumps import Json, array, compressed, item, prop, statement

Row = Mapping[str, Any]
WINDOW_END = date(2025, 12, 31)
CONFIGS = ("edits", "rephrases", "portability", "reverse", "locality")


def rows(release: Path, config: str) -> list[dict[str, Any]]:
    (path,) = (release / "data" / config).glob("*.parquet")
    config_rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return config_rows


def ids(answers: list[Row]) -> set[str]:
    return {answer["id"] for answer in answers}


class Walk:
    """What surely and what perhaps held on a day, read off segments one by one."""

    def __init__(self, segments: list[dict[str, Any]]) -> None:
        self.by_pair: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for segment_row in segments:
            self.by_pair[segment_row["subject"], segment_row["relation"]].append(segment_row)

    def on(self, subject: str, relation: str, day: date) -> tuple[set[str], set[str]]:
        sure_answers, possible_answers = set(), set()
        for segment_row in self.by_pair[subject, relation]:
            first_day, last_day = segment_row["start_first"], segment_row["end_last"]
            sure_first, sure_last = segment_row["start_last"], segment_row["end_first"]
            is_undated = first_day is last_day is sure_first is sure_last is None
            if segment_row["end_open"]:
                last_day = sure_last = segment_row["snapshot"]
            if is_undated or ((first_day or date.min) <= day <= (last_day or date.max)):
                possible_answers.add(segment_row["object"])
                is_sure = (sure_first or date.max) <= day <= (sure_last or date.min)
                if is_undated or (is_sure and not segment_row["rival"]):
                    sure_answers.add(segment_row["object"])
        return sure_answers, possible_answers


@pytest.fixture(scope="module")
def release(sample: Path) -> Path:
    return sample / "releases/knowledge-edits/1.0.0"


@pytest.fixture(scope="module")
def walk(release: Path) -> Walk:
    return Walk(rows(release, "timelines"))


@pytest.fixture(scope="module")
def edits(release: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows(release, "edits")}


def day_before(edit: Row) -> date:
    return date.fromordinal(edit["period_first"].toordinal() - 1)


def test_an_edit_is_a_change_between_two_days(edits: Mapping[str, Row], walk: Walk) -> None:
    assert len(edits) > 300
    last_of_pair: dict[tuple[str, str], Row] = {}
    for sequence, edit in enumerate(edits.values(), 1):
        pair = edit["subject"], edit["relation"]
        answers, previous = ids(edit["answers"]), ids(edit["previous_answers"])
        assert walk.on(*pair, day_before(edit))[0] == previous
        assert walk.on(*pair, edit["period_last"])[0] - answers <= previous  # a handover's day
        assert answers <= walk.on(*pair, edit["period_last"])[0]
        assert {*edit["added"]} == answers - previous != set()
        assert {*edit["removed"]} == previous - answers
        assert ids(edit["still_true"]) == answers & previous
        assert edit["sequence"] == sequence
        assert edit["prompt"].count(edit["subject_name"]) == 1
        assert len({edit["prompt"], edit["question"], *edit["rephrases"]}) == 5
        earlier_edits = last_of_pair.get(pair)
        assert earlier_edits is None or (
            earlier_edits["superseded"] and earlier_edits["period"] < edit["period"]
        )
        last_of_pair[pair] = edit
    assert not any(edit["superseded"] for edit in last_of_pair.values())


def test_what_follows_is_true_on_the_day_after(
    release: Path, edits: Mapping[str, Row], walk: Walk
) -> None:
    portability = rows(release, "portability")
    assert len(portability) > 40
    for question in portability:
        edit = edits[question["edit"]]
        day, (reached,) = question["as_of"], edit["answers"]
        assert day == edit["period_last"]
        relations = [hop_row["relation"] for hop_row in question["hops"]]
        assert question["path"].split(" ") == [edit["relation"], *relations]
        item_id = reached["id"]
        for hop_row in question["hops"]:
            assert hop_row["subject"] == item_id
            sure_answers, possible_answers = walk.on(hop_row["subject"], hop_row["relation"], day)
            assert ids(hop_row["answers"]) == sure_answers == possible_answers
            item_id = hop_row["answers"][0]["id"]
        assert question["answers"] == question["hops"][-1]["answers"]
        answers_before = question["previous_hops"]
        for hop_row in answers_before:
            assert walk.on(hop_row["subject"], hop_row["relation"], day_before(edit))[0] == ids(
                hop_row["answers"]
            )
        assert not answers_before or answers_before[0]["subject"] in edit["removed"]
        assert not ids(question["answers"]) & ids(question["previous_answers"])
    assert any(question["previous_hops"] for question in portability)


def test_what_must_stay_does_so_to_the_end(
    release: Path, edits: Mapping[str, Row], walk: Walk
) -> None:
    untouched = rows(release, "locality")
    assert len(untouched) > 900
    last_edited = {edit["prompt"]: edit["period"] for edit in edits.values()}
    for fact in untouched:
        edit = edits[fact["edit"]]
        assert (fact["subject"] == edit["subject"]) == (fact["kind"] == "same subject")
        assert (fact["relation"] == edit["relation"]) == (fact["kind"] == "near subject")
        for day in (day_before(edit), edit["period_last"], WINDOW_END):
            assert walk.on(fact["subject"], fact["relation"], day)[0] == ids(fact["answers"])
        assert not ids(fact["answers"]) & ids([*edit["answers"], *edit["previous_answers"]])
        assert last_edited.get(fact["prompt"], "") < edit["period"]


def test_no_reverse_question_has_two_answers(
    release: Path, edits: Mapping[str, Row], sample: Path
) -> None:
    """All statements of the dump count, also of subjects that are no edit, and those in doubt."""
    held: dict[tuple[str, str], list[tuple[str, date, date]]] = defaultdict(list)
    for folder in (sample / "build").glob("timelines-*"):
        segment_rows: list[Segment | Gap] = [*typed_rows(folder / "timelines.parquet", Segment)]
        segment_rows += typed_rows(folder / "gaps.parquet", Gap)
        for segment_row in segment_rows:
            first_day = segment_row.start_first or date.min
            last_day = segment_row.end_last or date.max
            held[segment_row.relation, segment_row.object or ""].append(
                (segment_row.subject, first_day, last_day)
            )
    reverse = rows(release, "reverse")
    assert len(reverse) > 200
    for question in reverse:
        edit, day = edits[question["edit"]], question["as_of"]
        subjects = {
            subject
            for subject, first_day, last_day in held[edit["relation"], question["subject"]]
            if first_day <= day <= last_day
        }
        assert subjects == {edit["subject"]} == ids(question["answers"])
        assert ids(edit["answers"]) == {question["subject"]}


def test_no_question_says_its_answer(release: Path) -> None:
    for config in CONFIGS:
        config_rows = rows(release, config)
        assert len({row["id"] for row in config_rows}) == len(config_rows)
        for row in config_rows:
            assert row["targets"] and row["targets"][0] not in row["prompt"]
            assert "\0" not in row["prompt"] and "<" not in row["prompt"]


def planted_world() -> list[Json]:
    """A transfer with all that follows, a handover on the last day, an office of many seats."""
    towns = [
        item(
            f"Q{600 + town_number}",
            f"Town {town_number}",
            {"P6": [statement(f"Q{700 + town_number}", "2019-01-01")]},
        )
        for town_number in range(30)
    ]
    mayors = [item(f"Q{700 + town_number}", f"Mayor {town_number}") for town_number in range(30)]
    player = [statement("Q201", "2020-01-01", "2024-05-10"), statement("Q202", "2024-05-20")]
    handover = [statement("Q310", "2020-01-01", "2024-06-30"), statement("Q311", "2024-06-30")]
    shared = [statement("Q312", "2021-01-01", "2024-08-01"), statement("Q313", "2024-08-02")]
    seats = [
        *(statement(f"Q32{town_number}", "2022-01-01", "2024-04-01") for town_number in range(3)),
        statement("Q323", "2024-04-02"),
    ]
    entities = [
        item("Q100", "Ann Ott", {"P54": player, "P103": [statement("Q503")]}),
        item("Q103", "Gil Hart", {"P54": [statement("Q203", "2018-01-01")]}),
        item("Q201", "Rovers", {"P286": [statement("Q301", "2019-05-01")],
                                "P127": [statement("Q401", "2018-01-01")]}),
        item("Q202", "Wanderers", {"P286": [statement("Q302", "2021-03-01")],
                                   "P127": [statement("Q402", "2015-05-01")]}),
        item("Q203", "Athletic"),
        item("Q301", "Carl Roe", {"P19": [statement("Q502")]}),
        item("Q302", "Dora Lux", {"P19": [statement("Q501")]}),
        item("Q401", "Alpha Group", {"P488": [statement("Q404", "2017-02-01")]}),
        item("Q402", "Beta Group", {"P488": [statement("Q403", "2019-02-01")]}),
        item("Q403", "Eve Moss"), item("Q404", "Finn Gale"),
        item("Q501", "Springfield"), item("Q502", "Riverton"), item("Q503", "Freedonia"),
        item("Q110", "Ashford", {"P6": handover}),
        item("Q111", "Bexley", {"P6": shared}),
        item("Q112", "Corby", {"P6": [statement("Q313", "2022-01-01")]}),
        item("Q120", "Undersecretary", {"P1308": seats}),
        *(item(f"Q31{town_number}", name) for town_number, name in enumerate(
            ("Hal Ives", "Ida Jay", "Jon Kay", "Kim Lee"))),
        *(item(f"Q32{town_number}", name) for town_number, name in enumerate(
            ("Lou May", "Mia Noe", "Ned Orr", "Ola Pym"))),
        *towns, *mayors,
    ]  # fmt: skip
    properties = {
        "P6": "head of government", "P19": "place of birth", "P103": "native language",
        "P54": "member of sports team", "P127": "owned by", "P286": "head coach",
        "P488": "chairperson", "P1308": "officeholder",
    }  # fmt: skip
    return [*(prop(name, label) for name, label in properties.items()), *entities]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    compressed(array(planted_world()), folder / "wikidata-20250301-all.json.gz")
    recipe = {
        "dataset": "planted-edits",
        "version": "auto",
        "title": "Planted",
        "summary": "A planted world.",
        "licence": "CC0-1.0",
        "tags": ["knowledge-editing"],
        "inputs": {"dump": {"path": "wikidata-20250301-all.json.gz", "licence": "CC0-1.0"}},
        "build": {
            "builder": "knowledge-edits",
            "relations": ["P54", "P6", "P1308"],
            "window": {"granularity": "quarter", "first": "2024Q1", "last": "2024Q4"},
            "require_pages": False,
            "min_objects": 1,
        },
    }
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False), "utf-8")
    run_cli("release", folder / "recipe.yaml", "--out", folder / "releases", "--build",
            folder / "build", "--jobs", 1)  # fmt: skip
    return folder / "releases/planted-edits/1.0.0"


@pytest.mark.slow
def test_a_planted_world(planted: Path) -> None:
    edits = {row["subject"]: row for row in rows(planted, "edits")}
    assert edits.keys() == {"Q100", "Q110", "Q111"}
    assert ids(edits["Q110"]["answers"]) == {"Q311"}  # not who left on the last day
    assert edits["Q110"]["removed"] == ["Q310"] and not edits["Q110"]["still_true"]
    followed = {
        question["path"]: (question["kind"], question["targets"][0], answers_before["label"])
        for question in rows(planted, "portability")
        for answers_before in question["previous_answers"]
    }
    assert followed == {
        "P54 P286": ("one hop", "Dora Lux", "Carl Roe"),
        "P54 P127": ("one hop", "Beta Group", "Alpha Group"),
        "P54 P127 P488": ("two hops", "Eve Moss", "Finn Gale"),
        "P54 P286 P19": ("two hops", "Springfield", "Riverton"),
    }
    prompts = {question["path"]: question["prompt"] for question in rows(planted, "portability")}
    assert prompts["P54 P286 P19"] == (
        "What is the place of birth of the person who was the head coach of the team that Ann Ott "
        "played for on 30 June 2024?"
    )
    # Kim Lee leads two places
    assert {question["subject"] for question in rows(planted, "reverse")} == {"Q311"}
    same_subject = [row for row in rows(planted, "locality") if row["kind"] == "same subject"]
    assert [(row["subject"], row["targets"][0]) for row in same_subject] == [("Q100", "Freedonia")]
    dropped = pq.read_table(planted / "dropped.parquet").to_pylist()
    reasons = {row["reason"] for row in dropped if row["subject"] == "Q120"}
    assert "many_holders" in reasons


@pytest.mark.slow
def test_the_files_of_a_planted_world(planted: Path, tmp_path: Path) -> None:
    (transfer,) = (row for row in rows(planted, "edits") if row["subject"] == "Q100")
    said_before = {"id": transfer["id"], "prediction": "Arsenal"}
    (tmp_path / "before.jsonl").write_text(json.dumps(said_before) + "\n", "utf-8")
    files = {"knowedit": "edits.json", "zsre": "zsre.json", "mquake": "mquake.json"}
    written: dict[str, list[Any]] = {}
    for format_name, file_name in files.items():
        run_cli("export", planted, "--format", format_name, "--to", tmp_path / format_name,
                "--predictions", tmp_path / "before.jsonl")  # fmt: skip
        written[format_name] = json.loads((tmp_path / format_name / file_name).read_text("utf-8"))
    assert list(faults_of_file(written["knowedit"])) == []
    edit = next(
        export_record
        for export_record in written["knowedit"]
        if export_record["row"] == transfer["id"]
    )
    assert (edit["target_new"], edit["ground_truth"]) == ("Wanderers", "Rovers")
    assert edit["answer_before"] == "Arsenal" and len(edit["portability"]["Reasoning"]) == 4
    question_edit = next(
        export_record for export_record in written["zsre"] if export_record["row"] == transfer["id"]
    )
    assert question_edit["pred"] == "Arsenal" and question_edit["answers"] == ["Rovers"]
    assert {*map(fault_of_question_edit, written["zsre"])} == {None}
    cases = {case["orig"]["new_triples"][-1][1]: case for case in written["mquake"]}
    assert {*map(fault_of_case, written["mquake"])} == {None} and len(written["mquake"]) == 4
    chair = cases["P488"]
    assert (chair["answer"], chair["new_answer"]) == ("Finn Gale", "Eve Moss")
    assert chair["requested_rewrite"][0]["prompt"].format("Ann Ott") == transfer["prompt"]
    assert [len(chair["single_hops"]), len(chair["questions"])] == [3, 3]
    refused = run_cli("export", planted, "--format", "lama", "--predictions",
                      tmp_path / "before.jsonl", ok=False)  # fmt: skip
    assert "--predictions goes with" in refused.stderr


QUESTION_EDIT: dict[str, Any] = {
    "subject": "Acme",
    "src": "Who led Acme on 1 May 2024?",
    "rephrase": "Who was at the head of Acme on 1 May 2024?",
    "alt": "Ann Ott",
    "answers": ["Bo Ek"],
    "loc": "nq question: Who led Omega on 1 May 2024",
    "loc_ans": "Cy Dee",
}
NEW_QUESTION = {
    "Recalled Relation": "(Ann Ott, party, Blue Party)",
    "New Question": "Which party did the head of Acme belong to?",
    "New Answer": "Blue Party",
}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"portability": NEW_QUESTION}, None),
        ({"rephrase": None}, "no rephrase"),
        ({"loc": None}, "no untouched fact"),
        ({"answers": []}, "no old answer"),
        ({"answers": ["ann ott"]}, "the name of the new one"),
        ({"src": "Who led it?"}, "subject exactly once"),
        ({"src": "Who led Acme {}?"}, "a brace"),
        ({"src": "Did Ann Ott lead Acme?"}, "gives its answer away"),
        ({"rephrase": "Is Ann Ott the head?"}, "gives its answer away"),
        ({"loc": "Who led Omega"}, "not marked"),
        ({"loc": "nq question: Who led Acme on 1 May 2024"}, "the same"),
        ({"loc": "nq question: Did Cy Dee lead Omega"}, "gives its answer away"),
        ({"portability": {"New Question": "Who?"}}, "other fields"),
        ({"portability": NEW_QUESTION | {"New Answer": ""}}, "not a line of text"),
        ({"portability": NEW_QUESTION | {"New Answer": "party"}}, "gives its answer away"),
    ],
)
def test_what_readers_of_zsre_refuse(changes: dict[str, Any], fault: str | None) -> None:
    told_names = fault_of_question_edit(QUESTION_EDIT | changes)
    assert told_names is None if fault is None else fault in str(told_names)


REWRITE = {
    "prompt": "The head of {} is",
    "relation_id": "P488",
    "target_new": {"str": "Ann Ott", "id": "Q2"},
    "target_true": {"str": "Bo Ek", "id": "Q3"},
    "subject": "Acme",
    "question": "Who led Acme?",
}
CASE: dict[str, Any] = {
    "requested_rewrite": [REWRITE],
    "questions": ["Which party did the head of Acme belong to?"],
    "answer": "Red Party",
    "answer_alias": ["Reds"],
    "new_answer": "Blue Party",
    "new_answer_alias": [],
    "single_hops": [{"answer": "Bo Ek"}, {"answer": "Red Party"}],
    "new_single_hops": [{"answer": "Ann Ott"}, {"answer": "Blue Party"}],
    "orig": {
        "triples": [["Q1", "P488", "Q3"], ["Q3", "P102", "Q5"]],
        "new_triples": [["Q1", "P488", "Q2"], ["Q2", "P102", "Q4"]],
        "edit_triples": [["Q1", "P488", "Q2"]],
    },
}


def rewritten(**changes: Any) -> dict[str, Any]:
    return {"requested_rewrite": [REWRITE | changes]}


def with_orig(**changes: Any) -> dict[str, Any]:
    return {"orig": CASE["orig"] | changes}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"requested_rewrite": []}, "no edit"),
        (rewritten(prompt="The head is"), "one slot"),
        (rewritten(prompt="The {head} of {} is"), "one slot"),
        (rewritten(prompt="Acme, of {}, is led by"), "one slot"),
        (rewritten(question=""), "not a line of text"),
        (rewritten(target_true={"str": "", "id": "Q3"}), "target_true"),
        (rewritten(target_true={"str": "Ann", "id": "Q2"}), "what was so before"),
        ({"questions": []}, "no question"),
        ({"questions": ["Is it the Blue Party?"]}, "gives its answer away"),
        ({"answer": None}, "before or after"),
        ({"new_answer": "reds"}, "does not change"),
        (with_orig(triples=[["Q1", "P488", "Q3"]]), "two to four"),
        (with_orig(new_triples=[["Q1", "P488", "Q2"], ["Q9", "P102", "Q4"]]), "does not begin"),
        ({"single_hops": [{"answer": "Bo Ek"}, {"answer": "Reds"}]}, "does not give the answer"),
        (with_orig(edit_triples=[["Q1", "P488", "Q3"]]), "not the first hop"),
    ],
)
def test_what_readers_of_mquake_refuse(changes: dict[str, Any], fault: str | None) -> None:
    told_names = fault_of_case(CASE | changes)
    assert told_names is None if fault is None else fault in str(told_names)


def relations_with_rephrases() -> Iterator[tuple[str, EditTemplates]]:
    for name, relation in load_relations(resource("templates")).whole().items():
        relation_template = EditTemplates.of(relation)
        if relation.phrases and relation_template.has_rephrases:
            yield name, relation_template


def test_relations_that_are_edited_have_all_wordings() -> None:
    by_name = dict(relations_with_rephrases())
    assert len(by_name) > 30 and {"P6", "P54-club", "P286", "P39-office"} <= by_name.keys()
    day = date(2024, 6, 30)
    for relation_template in by_name.values():
        prompt = relation_template.prompts("Ann Ott", has_several=False)[0]
        texts = [
            rephrase.text
            for rephrase in relation_template.rephrases(prompt, "Ann Ott", day, has_several=False)
        ]
        assert len({prompt.text, relation_template.question("Ann Ott", day), *texts}) == 5
        assert prompt.text.count(prompt.subject) == 1
        assert all("Ann Ott" in text for text in texts)
