"""Label Studio's files: configurations that its SDK accepts, exports read back or refused."""

import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch, Item
from factdrift.annotation.layout import layout_names, load_layout
from factdrift.annotation.platforms.label_studio import (
    BadResultError,
    ControlResult,
    annotation_answers,
    labelling_config,
    make_task,
)
from factdrift.annotation.results import ImportReport
from factdrift.builders.core.errors import UserError
from tests.annotation_items import hit, own_layout
from tests.annotation_workers import take
from tests.simulated_workers import HOSTILE, label_studio_export, work, written
from tests.tables import ids_of, read_table


def exported(
    tmp_folder: Path, name: str = "judge_question", hits: int = 3
) -> tuple[HitBatch, Path]:
    """A batch, and an export of what workers made of it."""
    hit_batch, layout = written(tmp_folder / "hits", name, "label_studio", hits), load_layout(name)
    file_path = tmp_folder / "export.json"
    label_studio_export(work(hit_batch, layout), hit_batch, layout, file_path)
    return hit_batch, file_path


def taken(tmp_folder: Path, tasks: list[dict[str, Any]], out: str = "out") -> ImportReport:
    file_path = tmp_folder / "export.json"
    file_path.write_text(json.dumps(tasks), "utf-8")
    return take(tmp_folder, file_path, out=out)


@pytest.mark.parametrize("name", layout_names())
def test_its_own_sdk_accepts_configurations_tasks_and_answers(name: str, tmp_path: Path) -> None:
    sdk = pytest.importorskip(
        "label_studio_sdk.label_interface",
        reason="needs label-studio-sdk, in a venv of its own: it brings opencv and pandas",
    )
    hit_batch, export = exported(tmp_path, name)
    export_folder = hit_batch.folder / "label_studio"
    label_interface = sdk.LabelInterface((export_folder / "config.xml").read_text("utf-8"))
    label_interface.validate()
    for task in json.loads((export_folder / "tasks.json").read_text("utf-8")):
        assert label_interface.validate_task(task)
    for task in json.loads(export.read_text("utf-8")):
        for annotation in task["annotations"]:
            for region in annotation["result"]:
                region_errors = label_interface.validate_region(region, return_errors=True)
                assert not region_errors, (region_errors, region)


@pytest.mark.parametrize("name", layout_names())
def test_a_text_is_data_and_never_markup(name: str, tmp_path: Path) -> None:
    hit_batch = written(tmp_path, name, "label_studio", hits=1)
    export_folder = hit_batch.folder / "label_studio"
    config_text = (export_folder / "config.xml").read_text("utf-8")
    assert "alert(1)" not in config_text
    tags = {xml_node.tag for xml_node in ElementTree.fromstring(config_text).iter()}
    known_tags = "View Style Header Collapse Panel Text Choices Choice TextArea Labels Label"
    assert tags <= set(known_tags.split())
    tasks = json.loads((export_folder / "tasks.json").read_text("utf-8"))
    assert HOSTILE in json.dumps(tasks[1], ensure_ascii=False).replace('\\"', '"')
    assert [xml_node["data"]["factdrift"]["item"] for xml_node in tasks] == ids_of(
        hit_batch.hits[0].items
    )


def test_answers_are_shown_when_they_are_asked() -> None:
    root = ElementTree.fromstring(labelling_config(load_layout("ckl_expert")))
    parents = {child: parent for parent in root.iter() for child in parent}

    def conditions(name: str) -> list[tuple[str | None, ...]]:
        xml_node = next(element for element in root.iter() if element.get("name") == name)
        found_conditions = []
        while xml_node in parents:
            xml_node = parents[xml_node]
            if xml_node.get("visibleWhen"):
                names = ("visibleWhen", "whenTagName", "whenChoiceValue")
                found_conditions.append(tuple(xml_node.get(element) for element in names))
        return found_conditions[::-1]

    on, off = "choice-selected", "choice-unselected"
    whole_conditions = {(off, "broken", "unreadable,senseless,upsetting"), (off, "keep", "discard")}
    assert conditions("broken") == []
    assert {*conditions("supported")} == whole_conditions
    assert {*conditions("evidence")} == {*whole_conditions, (on, "supported", "yes")}
    found_conditions = {*whole_conditions, (off, "supported", "yes"), (on, "found", "yes")}
    assert {*conditions("other_answer")} == found_conditions
    for element in root.iter():
        assert element.get("name") != "searches"  # there is no server


def test_a_list_is_read_before_it_is_chosen_from() -> None:
    layout = load_layout("easy_select")
    root = ElementTree.fromstring(labelling_config(layout))
    shown_fields = [xml_node.get("value") for xml_node in root.iter("Text")]
    assert shown_fields == ["$article_day", "$factdrift_sentences"]
    header_texts = [xml_node.get("value") for xml_node in root.iter("Header")]
    answer_label = layout.answers["sentence"].label
    assert f"Only one that stands in your answer above is taken: {answer_label}" in header_texts
    xml_node = hit("easy_select", 1)
    task_data = make_task(layout, "b", xml_node, xml_node.items[0])["data"]
    sentence_texts = xml_node.items[0].fields["sentences"]
    assert isinstance(sentence_texts, list)
    assert task_data["factdrift_sentences"] == "\n".join(map(str, sentence_texts))
    assert task_data["sentences"] == [
        {"value": config_text} for config_text in dict.fromkeys(sentence_texts)
    ]


def test_controls() -> None:
    config_text = {"kind": "text", "label": "T"}
    group = {"kind": "group", "label": "G", "min_items": 1, "max_items": 2}
    layout_answers = {
        "short": config_text | {"check": {"max_length": 120}},
        "long": config_text | {"check": {"max_length": 121}, "required": False, "initial": "x"},
        "group": group | {"answers": {"yes": {"kind": "flag", "label": "Y"}}},
    }
    controls_layout = own_layout({"x": {}}, layout_answers)
    names = ("name", "rows", "required", "value")
    root = ElementTree.fromstring(labelling_config(controls_layout))
    assert [
        tuple(xml_node.get(attribute) for attribute in names) for xml_node in root.iter("TextArea")
    ] == [
        ("short", "1", "true", None),
        ("long", "3", None, "$x"),
    ]
    assert [
        tuple(xml_node.get(attribute) for attribute in names[::2])
        for xml_node in root.iter("Choices")
    ] == [
        ("group-1-yes", "true"),
        ("group-2-yes", None),
    ]


def test_worked_examples_are_in_the_instructions() -> None:
    root = ElementTree.fromstring(labelling_config(load_layout("verify_facts")))
    panel = next(root.iter("Panel"))
    header_texts = [header.get("value") or "" for header in panel.iter("Header")]
    worked = [config_text for config_text in header_texts if config_text.startswith("Worked")]
    assert worked == ["Worked example 1", "Worked example 2"]
    assert "Suggested: Real Madrid" in header_texts
    assert any(config_text.startswith("The texts below are plain") for config_text in header_texts)


LAYOUT = own_layout(
    {"text": {}, "page": {"kind": "paragraphs"}},
    {
        "sure": {"kind": "flag", "label": "Sure"},
        "where": {"kind": "span", "label": "Where", "field": "page", "when": {"sure": ["true"]}},
        "why": {"kind": "text", "label": "Why", "required": False},
    },
    title="T costs $5",
)
PAGE = ["One \U0001f600 two.", "Three <b>four</b>.", "\U0001f600 in  Rome"]
ITEM = Item("i", "r", {"text": "t", "page": PAGE})


def control(name: str, *said: Any) -> dict[str, Any]:
    """What Label Studio exports of a control: a span of the text, texts, or choices."""
    answer_value: dict[str, Any] = {"text" if name == "why" else "choices": [*said]}
    if name == "where":
        answer_value = {
            "labels": ["Where"],
            **dict(zip(("start", "end", "text"), said, strict=False)),
        }
    return {"from_name": name, "value": answer_value}


@pytest.mark.parametrize(
    ("result", "expected_answers"), read_table("annotation_platforms")["label_studio"]
)
def test_results_as_answers(result: list[list[Any]], expected_answers: object) -> None:
    control_results = [
        ControlResult.model_validate(control(*control_entry)) for control_entry in result
    ]
    if isinstance(expected_answers, str):
        with pytest.raises(BadResultError) as error:
            annotation_answers(control_results, LAYOUT, ITEM)
        assert error.value.args[0] == expected_answers
    else:
        assert annotation_answers(control_results, LAYOUT, ITEM) == expected_answers


def test_the_texts_of_paragraphs_are_one() -> None:
    task_item = hit("verify_facts").items[0]
    task_data = make_task(load_layout("verify_facts"), "b", hit("verify_facts"), task_item)["data"]
    assert task_data["page"].count("== Awards ==") == 1
    assert "\n\n2001: Nobel Peace Prize\n\n2013: chair of The Elders\n\n" in task_data["page"]


def test_what_label_studio_cannot_say_is_an_error() -> None:
    odd_answers = {"sure": LAYOUT.answers["sure"], "where": LAYOUT.answers["where"]}
    where = odd_answers["where"].model_copy(update={"when": {"sure": ("a,b",)}})
    with pytest.raises(UserError, match="comma"):
        labelling_config(LAYOUT.model_copy(update={"answers": {**odd_answers, "where": where}}))
    assert "$5" not in labelling_config(LAYOUT)


def test_what_is_no_finished_work_of_ours_is_reported(tmp_path: Path) -> None:
    _, file_path = exported(tmp_path)
    tasks = json.loads(file_path.read_text("utf-8"))
    tasks[0]["drafts"] = [{"id": 1, "result": [], "user": "x"}]
    tasks[1]["annotations"][0]["result"] = None
    tasks[2]["annotations"][0]["was_cancelled"] = True
    tasks[3]["data"]["factdrift"]["hit"] = ["h"]
    tasks[4]["annotations"][0]["completed_by"] = {"id": sum(b"W0"), "email": "x@example.org"}
    tasks[5]["annotations"][1]["result"].append({"type": "relation"})
    tasks[5]["annotations"][2]["result"][0]["value"] = 7
    tasks += [{"data": {"x": 1}}, {"data": {"factdrift": {"format": "other"}}}, {"a": 1}]
    tasks.append({**tasks[0], "annotations": 7, "drafts": []})
    import_report = taken(tmp_path, tasks)
    ours = {"not an export of Label Studio": 4, "not a task of ours": 3, "unknown HIT": 3}
    assert import_report.refused == ours | {"draft": 1, "skipped": 1}
    assert "example.org" not in (tmp_path / "out" / "refused.jsonl").read_text()


@pytest.mark.parametrize(
    ("name", "content", "export_name"),
    [
        ("min.json", '[{"id": 1, "factdrift_item": "x", "annotation_id": 5, "annotator": 1}]',
         "JSON_MIN"),
        ("t.csv", "annotation_id,annotator,factdrift_item,id,lead_time\n5,1,x,1,2.5\n", "CSV"),
        ("t.tsv", "\ufeffannotation_id\tannotator\tid\tlead_time\n5\t1\t1\t2.5\n", "CSV"),
        ("t.csv", "sep=;\nannotation_id;annotator;id;lead_time\n5;1;1;2.5\n", "CSV"),
    ],
)  # fmt: skip
def test_other_exports_are_told(name: str, content: str, export_name: str, tmp_path: Path) -> None:
    exported(tmp_path)
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=rf"export as {export_name}\n.*as JSON \(not JSON_MIN\)"):
        take(tmp_path, path)


def test_a_workbook_is_told(tmp_path: Path) -> None:
    exported(tmp_path)
    path = tmp_path / "results.xlsx"
    with zipfile.ZipFile(path, "w") as workbook:
        workbook.writestr("[Content_Types].xml", "x")
    with pytest.raises(UserError, match=r"this is a workbook of a spreadsheet\n.*CSV UTF-8"):
        take(tmp_path, path)


def test_items_of_a_hit_that_is_not_whole_are_taken_and_grow(tmp_path: Path) -> None:
    layout = load_layout("judge_question")
    hit_batch, file_path = exported(tmp_path, hits=1)
    label_studio_export(work(hit_batch, layout)[:1], hit_batch, layout, file_path)
    tasks = json.loads(file_path.read_text("utf-8"))
    task_count = len(tasks)
    assert task_count > 1

    def take() -> tuple[int, int, int, int]:
        import_report = taken(tmp_path, tasks)
        return (
            import_report.new,
            import_report.known,
            import_report.corrected,
            sum(import_report.refused.values()),
        )

    def judged() -> list[dict[str, Any]]:
        file_path = tmp_path / "out/judge_question/judgments.parquet"
        found_rows: list[dict[str, Any]] = pq.read_table(file_path).to_pylist()
        for row in found_rows:
            assert "duplicate_worker" not in row["flags"]
        return found_rows

    tasks[0]["annotations"][0]["was_cancelled"] = True
    assert take() == (task_count - 1, 0, 0, 1)
    assert len(judged()) == task_count - 1
    report_html = (tmp_path / "out/judge_question/report.html").read_text("utf-8")
    due = layout.pay.per_hit * (task_count - 1) / task_count
    assert f"<b>{due:.2f}</b><span>USD due" in report_html
    tasks[0]["annotations"][0]["was_cancelled"] = False  # it was done later
    assert take() == (1, task_count - 1, 0, 0)
    wrong_task = next(
        task for task in tasks if "bad" in json.dumps(task["annotations"][0]["result"])
    )
    wrong_task["annotations"][0]["result"] = [control("verdict", "good")]
    assert take() == (0, task_count - 1, 1, 0)  # the annotation was corrected
    assert take() == (0, task_count, 0, 0)
    task_item = wrong_task["data"]["factdrift"]["item"]
    assert [
        json.loads(judged_row["answers"])
        for judged_row in judged()
        if judged_row["item"] == task_item
    ] == [{"verdict": "good"}]
    assert len(judged()) == task_count
