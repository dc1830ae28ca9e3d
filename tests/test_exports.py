"""Releases as the files of the original datasets: read back as the originals' loaders read them."""

import csv
import gzip
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonlines
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import new_folder
from factdrift.builders.invariant.trex import parse_fact
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import (
    Evidence,
    NewCloze,
    NewEasyCloze,
    NewsQuestion,
    UpdatedCloze,
)
from factdrift.scoring.export import NAMES, FormatName, export_release
from factdrift.scoring.export.ckl import masked
from factdrift.scoring.export.edit_rules import (
    fault_of_case,
    fault_of_edit,
    fault_of_question_edit,
    faults_of_file,
)
from factdrift.scoring.export.formats import TAKES
from tests.conftest import checksums, run_cli
from tests.release_sample import Sample, cloze, edit, from_rows, meta, publish
from tests.test_streamingqa_human_reviews import ROW, TOXICITY

MADE_FROM: dict[FormatName, str] = {
    "streamingqa": "streamingqa",
    "timeqa": "timeqa",
    "dynamic-templama": "dynamic-templama",
    "lama": "invariant-lama",
    "ckl": "invariant-lama",
    "squad": "timeqa",
    "knowedit": "knowledge-edits",
    "zsre": "knowledge-edits",
    "mquake": "knowledge-edits",
}
Folder = Callable[[FormatName], Path]


@pytest.fixture(scope="module")
def release(sample: Path) -> Folder:
    """The release that a format is made from."""
    return lambda name: sample / "releases" / MADE_FROM[name] / "1.0.0"


@pytest.fixture(scope="module")
def exported(release: Folder, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of the sample in a format, written once."""
    folder = tmp_path_factory.mktemp("exports")

    def write(name: FormatName) -> Path:
        if not (folder / name).exists():
            run_cli("export", release(name), "--format", name, "--to", folder / name)
        return folder / name

    return write


def lines(path: Path) -> list[dict[str, Any]]:
    """A file of JSON lines as the originals' code reads it: line by line, gzip by its name."""
    opened = gzip.open if path.suffix in (".gz", ".gzip") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rows(release: Path, config: str, split: str | None = None) -> list[dict[str, Any]]:
    path = release / "data" / config
    exported_rows: list[dict[str, Any]] = pq.read_table(
        path / f"{split}.parquet" if split else path
    ).to_pylist()
    return exported_rows


@pytest.mark.parametrize("name", MADE_FROM)
def test_the_same_release_gives_the_same_bytes(
    name: FormatName, exported: Folder, release: Folder, tmp_path: Path
) -> None:
    export_release(release(name), name, tmp_path / "again", lambda _: None)
    assert checksums(tmp_path / "again") == checksums(exported(name)) != {}


# The types of a record's values, as the README of the published StreamingQA gives them.
STREAMINGQA_FORM = {
    **dict.fromkeys(("qa_id", "question", "evidence_id"), str),
    **dict.fromkeys(("recent_or_past", "written_or_generated"), str),
    **dict.fromkeys(("question_ts", "evidence_ts"), int),
    "answers": list,
    **dict.fromkeys(TOXICITY, float),
}


def test_streamingqa(exported: Folder, release: Folder) -> None:
    exported_rows = lines(exported("streamingqa") / "streaminqa_eval.jsonl.gz")
    expected_rows = rows(release("streamingqa"), "all", "eval")
    assert len(exported_rows) == len(expected_rows) > 0
    for index, (exported_row, row) in enumerate(zip(exported_rows, expected_rows, strict=True)):
        assert exported_row["qa_id"] == f"eval-{index}"
        assert len(exported_row) == 15
        accepted_texts = [*row["answers"], *row["answers_additional"]]
        assert exported_row["answers"] == accepted_texts[:3]
        assert exported_row["answers_additional"] == accepted_texts[3:]
        assert all(exported_row[name] == row[name] for name in TOXICITY)
        assert exported_row["evidence_id"] == row["evidence_id"]
        assert exported_row["evidence_ts"] <= exported_row["question_ts"]
    written = {path.name for path in exported("streamingqa").iterdir()}
    splits = {path.stem for path in (release("streamingqa") / "data" / "all").iterdir()}
    assert written - {"streaminqa_ids.csv"} <= {f"streaminqa_{split}.jsonl.gz" for split in splits}


@pytest.mark.parametrize("ids", ["original", "rows"])
def test_streamingqa_has_the_form_of_the_published_files(ids: Any, tmp_path: Path) -> None:
    toxicity_scores: dict[str, Any] = dict.fromkeys(TOXICITY, 0.25)
    scored_row = replace(ROW, **toxicity_scores)
    further: dict[str, Any] = {"answers": ("A", "B"), "answers_additional": ("C", "D")}
    splits = {
        "train": [replace(scored_row, id="q2", split="train", **further)],
        "valid": [replace(scored_row, id="q3", split="valid")],
        "eval": [scored_row, replace(scored_row, id="q4", **further)],
    }
    row_sources = {
        split: from_rows(NewsQuestion, split_rows) for split, split_rows in splits.items()
    }
    data = Dataset(tables=(Table("all", NewsQuestion, "Rows.", row_sources),))
    folder = write_release(data, meta(Sample({})), tmp_path).folder
    export_release(folder, "streamingqa", tmp_path / "x", lambda _: None, ids=ids)
    for split, split_rows in splits.items():
        records = lines(tmp_path / "x" / f"streaminqa_{split}.jsonl.gz")
        for index, (record, row) in enumerate(zip(records, split_rows, strict=True)):
            assert record["qa_id"] == (f"{split}-{index}" if ids == "original" else row.qa_id)
            assert record.keys() == {*STREAMINGQA_FORM, "answers_additional"}
            assert all(type(record[name]) is kind for name, kind in STREAMINGQA_FORM.items())
    assert records[1]["answers"] == ["A", "B", "C"] and records[1]["answers_additional"] == ["D"]
    train_record = lines(tmp_path / "x" / "streaminqa_train.jsonl.gz")[0]
    assert train_record["answers"] == ["A"] and train_record["answers_additional"] == ""
    assert (tmp_path / "x" / "streaminqa_ids.csv").exists() is (ids == "original")


@pytest.mark.parametrize("level", ["easy", "hard"])
def test_timeqa(level: str, exported: Folder, release: Folder) -> None:
    exported_rows = lines(exported("timeqa") / f"test.{level}.json.gzip")
    expected = {row["id"]: row for row in rows(release("timeqa"), level, "test")}
    assert {exported_row["id"] for exported_row in exported_rows} == expected.keys()
    idx_values = [exported_row["idx"] for exported_row in exported_rows]
    assert len(set(idx_values)) == len(idx_values)
    assert all(re.fullmatch(r"/wiki/[^ #]+#P\d+#\d+", idx) for idx in idx_values)
    for exported_row in exported_rows:
        row = expected[exported_row["id"]]
        assert exported_row["level"] == level
        assert (exported_row["targets"] == [""]) is (row["answerable"] != "yes")
        spans = zip(exported_row["targets"], exported_row["from"], exported_row["end"], strict=True)
        assert all(exported_row["context"][start:end] == text for text, start, end in spans)
        assert (
            "\n".join(part["text"] for part in exported_row["paragraphs"])
            == exported_row["context"]
        )
        assert {part["title"] for part in exported_row["paragraphs"]} == {row["title"]}


def test_squad(exported: Folder, release: Folder) -> None:
    document = json.loads((exported("squad") / "hard-test.json").read_text("utf-8"))
    assert document["version"] == "timeqa 1.0.0"
    expected = {row["id"]: row for row in rows(release("timeqa"), "hard", "test")}
    titles = [article["title"] for article in document["data"]]
    assert len(set(titles)) == len(titles)
    paragraphs = [part for article in document["data"] for part in article["paragraphs"]]
    asked_questions = [
        (part["context"], question) for part in paragraphs for question in part["qas"]
    ]
    for context, question in asked_questions:
        row = expected.pop(question["id"])
        assert context == row["context"]
        assert question["is_impossible"] is (row["answerable"] != "yes")
        for answer in question["answers"]:
            assert context[answer["answer_start"] :].startswith(answer["text"])
    assert not expected


def test_dynamic_templama(exported: Folder, release: Folder) -> None:
    with jsonlines.open(exported("dynamic-templama") / "test.jsonl") as reader:
        exported_rows = list(reader)
    by_id = {exported_row["id"]: exported_row for exported_row in exported_rows}
    assert len(by_id) == len(exported_rows)
    asked_questions = {
        (row["subject"], row["relation"], row["period"])
        for config in ("unchanged", "updated", "new")
        for row in rows(release("dynamic-templama"), config)
    }
    assert len(asked_questions) == len(exported_rows)
    ronaldo = [
        exported_row
        for exported_row in exported_rows
        if exported_row["query"].startswith("Cristiano Ronaldo plays for")
    ]
    names = {
        exported_row["date"]: [answer["name"] for answer in exported_row["answer"]]
        for exported_row in ronaldo
    }
    both = [name for name in names["2021-Q3"] if name.endswith("F.C.")]
    assert both == ["Manchester United F.C."]
    assert len({exported_row["most_recent_answer"]["wikidata_id"] for exported_row in ronaldo}) == 1
    names_of_fields = "query answer date id most_frequent_answer most_recent_answer relation"
    assert ronaldo[0].keys() == set(names_of_fields.split())


def test_templama_has_each_subject_in_one_file(tmp_path: Path) -> None:
    asked_questions = {
        year: [
            cloze(row_number, period=year, id=f"{row_number}-{year}")
            for row_number in range(1, 300)
        ]
        for year in ("2020", "2021")
    }
    folder = publish(tmp_path, Sample({"unchanged": asked_questions})).folder
    with pytest.raises(UserError, match="TempLAMA asks by year, and this release by quarter"):
        export_release(folder, "templama", tmp_path / "out", lambda _: None)
    edit(folder, "parameters.window.granularity", "year")
    export_release(folder, "templama", tmp_path / "out", lambda _: None)
    train, val, test = (lines(tmp_path / f"out/{part}.json") for part in ("train", "val", "test"))
    parts = [
        {exported_row["id"].partition("_")[0] for exported_row in part}
        for part in (train, val, test)
    ]
    assert sum(map(len, parts)) == len(set().union(*parts)) == 299
    assert len(parts[2]) > 280 and parts[0]
    assert test[0]["date"] == "2020"


def test_lama_is_read_by_this_projects_own_reader(exported: Folder, release: Folder) -> None:
    folder = exported("lama")
    facts = {}
    for relation in lines(folder / "relations.jsonl"):
        for line in (folder / "TREx" / f"{relation['relation']}.jsonl").read_bytes().splitlines():
            fact = parse_fact(line)
            facts[fact["subject"], fact["relation"]] = fact["object"]
            record = json.loads(line)
            assert all(text.count("[MASK]") == 1 for text in record["masked_sentences"])
    expected = {
        (row["subject"], row["relation"]): row["answer"]["id"]
        for row in rows(release("lama"), "all", "test")
    }
    assert facts == expected


def test_invariant_lama_of_ckl(exported: Folder, release: Folder) -> None:
    with (exported("ckl") / "invariantLAMA.csv").open(newline="", encoding="utf-8") as file:
        exported_rows = list(csv.DictReader(file))
    expected = {row["id"]: row for row in rows(release("ckl"), "all", "test")}
    assert [exported_row["id"] for exported_row in exported_rows] == list(expected)
    for exported_row in exported_rows:
        assert exported_row["input"].split().count("<extra_id_0>") == 1
        assert exported_row["output"] == expected[exported_row["id"]]["answer"]["label"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Spain is in _X_.", "Spain is in <extra_id_0> ."),
        ("_X_, he said.", "<extra_id_0> , he said."),
        ("On [BLANK] it rained", "On <extra_id_0> it rained"),
        ("(_X_)", "( <extra_id_0> )"),
    ],
)
def test_a_blank_is_a_word_by_itself(text: str, expected: str) -> None:
    assert masked(text, ("_X_", "[BLANK]")) == expected


EVIDENCE = Evidence("20200102000000000000\x00\x01ab\x00\x01", date(2020, 1, 2), 0, 3)
ANSWER = 'Ann, the "Ace"'
NEWS: dict[str, Any] = {
    "id": "n1",
    "prompt": "As of May 6, 2020: [BLANK] won.",
    "targets": (ANSWER,),
    "query": "[BLANK] won.",
    "answer": ANSWER,
    "new_evidence": EVIDENCE,
    "clozes": "ckl-clozes 1.0.0",
    "answer_tokens": None,
    "views": (),
}
EXPERT = NEWS | {"question": "Who won?", "prediction": None, "grounds": "found", "passages": 3}
EXPERT |= {"searches": (), "overruled": ()}
UPDATED = UpdatedCloze(**EXPERT, old_answer="Bob", old_evidence=EVIDENCE)
EASY = NewEasyCloze(**NEWS, questions=("Who won?", "Who did win?"))
FILLED = {"unique_id": "n1", "statement": "<extra_id_0> won.", "question": "Who won?"}


@pytest.mark.parametrize(
    ("row", "table", "answers", "expected"),
    [
        (UPDATED, "updatedlama/updatedLAMA.csv", "updatedlama_val_answers.json",
         FILLED | {"new_answer": ANSWER, "old_answer": "Bob"}),
        (NewCloze(**EXPERT), "newlama/newLAMA.csv", "recentlama_h_val_answers.json",
         FILLED | {"answer": ANSWER}),
        (EASY, "newlama/newLAMA_easy.csv", "recentlama_val_answers.json",
         FILLED | {"answer": ANSWER}),
    ],
)  # fmt: skip
def test_news_clozes_of_ckl(
    row: Any, table: str, answers: str, expected: dict[str, str], tmp_path: Path
) -> None:
    data = Dataset(
        tables=(Table("all", type(row), "Rows.", {"test": from_rows(type(row), [row])}),)
    )
    folder = write_release(data, meta(Sample({})), tmp_path).folder
    export_release(folder, "ckl", tmp_path / "out", lambda _: None)
    with (tmp_path / "out" / table).open(newline="", encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [expected]
    by_id = json.loads((tmp_path / "out" / answers).read_text("utf-8"))
    assert by_id == {"n1": [ANSWER]}


def test_knowedit(exported: Folder, release: Folder) -> None:
    records = json.loads((exported("knowedit") / "edits.json").read_text("utf-8"))
    edits = {row["id"]: row for row in rows(release("knowedit"), "edits")}
    assert list(faults_of_file(records)) == []
    assert len(edits) * 0.8 < len(records) < len(edits)  # some have no near subject
    sequence = [record["sequence"] for record in records]
    assert sequence == sorted(sequence)
    for record in records:
        edit = edits[record["row"]]
        new = [answer["label"] for answer in edit["answers"] if answer["id"] in edit["added"]]
        old = [
            answer["label"]
            for answer in edit["previous_answers"]
            if answer["id"] in edit["removed"]
        ]
        assert record["target_new"] == " and ".join(new)
        assert record["ground_truth"] == (" and ".join(old) or None)
        assert 1 <= len(record["locality"]["Relation_Specificity"]) <= 3
    assert any(len(edit["answers"]) > 1 for edit in edits.values())
    assert any(record["ground_truth"] is None for record in records)


def test_zsre_and_mquake(exported: Folder, release: Folder) -> None:
    records = json.loads((exported("zsre") / "zsre.json").read_text("utf-8"))
    with_hop = json.loads((exported("zsre") / "zsre_portability.json").read_text("utf-8"))
    assert {*map(fault_of_question_edit, (*records, *with_hop))} == {None}
    assert len(records) > 280 and len(with_hop) > 10
    for record in records:  # as EasyEdit reads them
        assert "nq question: " in record["loc"] and record["answers"][0]
    assert all("New Question" in record["portability"] for record in with_hop)
    cases = json.loads((exported("mquake") / "mquake.json").read_text("utf-8"))
    questions = {row["id"]: row for row in rows(release("mquake"), "portability")}
    assert {*map(fault_of_case, cases)} == {None} and len(cases) > 20
    for case in cases:
        row = questions[case["row"]]
        assert {case["new_answer"], *case["new_answer_alias"]} == {*row["targets"]}
        (rewrite,) = case["requested_rewrite"]
        assert rewrite["prompt"].format(rewrite["subject"]) == case["new_single_hops"][0]["cloze"]


BESIDE = {"prompt": "The owner of Time is", "ground_truth": [["Marc Benioff"]]}
EDIT: dict[str, Any] = {
    "subject": "Acme",
    "prompt": "Acme is a member of",
    "target_new": "Beta",
    "ground_truth": None,
    "portability": {},
    "locality": {"Relation_Specificity": [BESIDE]},
}


def beside(**changes: Any) -> dict[str, Any]:
    return {"locality": {"Relation_Specificity": [BESIDE | changes]}}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"portability": {"Reasoning": [BESIDE]}}, None),
        ({"subject": "acme"}, "subject exactly once"),
        ({"subject": "Ed", "prompt": "Ed and Ed are in"}, "subject exactly once"),
        ({"subject": "is", "prompt": "This is in"}, "subject exactly once"),
        ({"subject": "Acme {live}", "prompt": "Acme {live} is by"}, "a brace"),
        ({"target_new": "B{}"}, "a brace"),
        ({"target_new": " "}, "not a line of text"),
        ({"target_new": None}, "not a line of text"),
        ({"prompt": "Acme is\nin"}, "not a line of text"),
        ({"target_new": "ACME"}, "gives its answer away"),
        ({"ground_truth": "beta"}, "the name of the new one"),
        ({"locality": None}, "locality is missing"),
        ({"locality": {}}, "no untouched fact"),
        ({"locality": {"Forgetfulness": [BESIDE]}}, "no untouched fact"),
        ({"locality": {"Relation_Specificity": [BESIDE], "Other": [BESIDE]}}, "nothing reads"),
        (beside(ground_truth=[[""]]), "lacks a prompt or an answer"),
        (beside(ground_truth=[]), "lacks a prompt or an answer"),
        (beside(ground_truth=["Ann"]), "lacks a prompt or an answer"),
        (beside(prompt=""), "lacks a prompt or an answer"),
        (beside(prompt="The owner of Benioff Marc Benioff is"), "gives its answer away"),
        (beside(prompt="Acme is a member of"), "the same"),
    ],
)
def test_what_editors_refuse(changes: dict[str, Any], fault: str | None) -> None:
    seen = fault_of_edit(EDIT | changes)
    assert seen is None if fault is None else fault in str(seen)


def test_edits_that_undo_each_other() -> None:
    later = EDIT | {"period": "2024Q2", "target_new": "Delta"}
    assert list(faults_of_file([EDIT | {"period": "2024Q1"}, later])) == []
    other = EDIT | {"subject": "Omega", "prompt": "Omega is a member of"}
    other |= beside(prompt="Acme is a member of", ground_truth=[["Gamma"]])
    assert list(faults_of_file([EDIT, EDIT | {"target_new": "Gamma"}, other])) == [
        (2, "it has the prompt of record 1"),
        (3, "a fact beside the edit has the prompt of an edit"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_another_dataset(name: FormatName, sample: Path, tmp_path: Path) -> None:
    dates = sample / "releases" / "wmt-question-dates" / "1.0.0"
    completed_run = run_cli("export", dates, "--format", name, "--to", tmp_path / "out", ok=False)
    assert f"wmt-question-dates has nothing for the format {name}" in completed_run.stderr
    assert f"  {name} takes {TAKES[name][0]}" in completed_run.stderr
    assert not (tmp_path / "out").exists()


SAMPLES = ("as-of", "dynamic-templama", "invariant-lama", "knowledge-edits", "timeqa")


@pytest.mark.parametrize("dataset", SAMPLES)
def test_what_a_format_takes_is_said(dataset: str, sample: Path, tmp_path: Path) -> None:
    """Each other one is refused by the names of datasets, and leaves nothing."""
    folder = sample / "releases" / dataset / "1.0.0"
    taken_formats = []
    for name in NAMES:
        if any(source_text.split()[0] == dataset for source_text in TAKES[name]):
            taken_formats.append(name)
            continue
        with pytest.raises(UserError, match=f"{dataset} has nothing for .*{name} ?\n") as error:
            export_release(folder, name, tmp_path / "a" / name, lambda _: None)
        assert f"\n  {name} takes {TAKES[name][0]}" in str(error.value)
        assert not re.search(r"[a-z][A-Z]", str(error.value).replace("LAMA", ""))  # no class
    assert taken_formats
    assert not [*tmp_path.iterdir()]


def test_ckl_says_what_to_do_with_dynamic_templama(sample: Path, tmp_path: Path) -> None:
    folder = sample / "releases/dynamic-templama/1.0.0"
    with pytest.raises(UserError, match=r"an old corpus[\S\s]*factdrift fuar"):
        export_release(folder, "ckl", tmp_path / "out", lambda _: None)


def test_a_refused_folder_goes_again_where_it_is_new(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for folder, is_left in (("old", True), ("new/deep", False), ("old/deep", False)):
        with pytest.raises(UserError), new_folder(tmp_path / folder):
            raise UserError("no")
        assert (tmp_path / folder).exists() is is_left
    with pytest.raises(UserError), new_folder(tmp_path / "full/deep"):
        (tmp_path / "full/file").touch()
        raise UserError("no")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "old"]


@pytest.mark.parametrize("name", ["timeqa", "squad"])
def test_pages_without_text(name: FormatName, release: Folder, tmp_path: Path) -> None:
    folder = tmp_path / "timeqa"
    shutil.copytree(release("timeqa"), folder)
    for path in folder.glob("data/*/*.parquet"):
        table = pq.read_table(path)
        if "context" in table.column_names:
            place = table.column_names.index("context")
            empty = [""] * table.num_rows
            pq.write_table(table.set_column(place, table.schema.field(place), [empty]), path)
    with pytest.raises(UserError, match="without the text of pages"):
        export_release(folder, name, tmp_path / "out", lambda _: None)


def test_what_is_in_the_way(release: Folder, tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    words = ["--format", "timeqa", "--to", tmp_path / "out"]
    completed_run = run_cli("export", release("timeqa"), *words, ok=False)
    assert completed_run.returncode == 1
    assert "Traceback" not in completed_run.stderr
