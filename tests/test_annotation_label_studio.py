"""Label Studio's files: configurations that its SDK accepts, exports read back or refused."""

import json
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.layout import Layout, layouts, load_layout
from factdrift.annotation.platforms import PLATFORMS
from factdrift.annotation.platforms.label_studio import (
    BadResultError,
    annotation_answers,
    config,
    located,
    spec,
    task,
)
from factdrift.annotation.results import import_results
from factdrift.annotation.submission import Refused
from factdrift.builders.core.errors import UserError
from tests.annotation_items import hit
from tests.simulated_workers import HOSTILE, label_studio_export, work, written

EMOJI = "\U0001f600\U0001f600 said \U0001f469\u200d\U0001f467 in Rome"


@pytest.mark.parametrize("name", layouts())
def test_its_own_sdk_accepts_configurations_tasks_and_answers(name: str, tmp_path: Path) -> None:
    sdk = pytest.importorskip(
        "label_studio_sdk.label_interface",
        reason="needs label-studio-sdk, in a venv of its own: it brings opencv and pandas",
    )
    batch = written(tmp_path, name, "label_studio")
    folder = batch.folder / "label_studio"
    labels = sdk.LabelInterface((folder / "config.xml").read_text("utf-8"))
    labels.validate()
    layout = load_layout(name)
    export = tmp_path / "export.json"
    label_studio_export([w for w in work(batch, layout) if not w.refused], batch, layout, export)
    for one in json.loads((folder / "tasks.json").read_text("utf-8")):
        assert labels.validate_task(one)
    for one in json.loads(export.read_text("utf-8")):
        for annotation in one["annotations"]:
            for region in annotation["result"]:
                wrong = labels.validate_region(region, return_errors=True)
                assert not wrong, (wrong, region)


@pytest.mark.parametrize("name", layouts())
def test_a_text_is_data_and_never_markup(name: str, tmp_path: Path) -> None:
    batch = written(tmp_path, name, "label_studio", hits=1)
    folder = batch.folder / "label_studio"
    text = (folder / "config.xml").read_text("utf-8")
    assert "alert(1)" not in text
    tags = {one.tag for one in ElementTree.fromstring(text).iter()}
    known = "View Style Header Collapse Panel Text Choices Choice TextArea Labels Label"
    assert tags <= set(known.split())
    tasks = json.loads((folder / "tasks.json").read_text("utf-8"))
    assert HOSTILE in json.dumps(tasks[1], ensure_ascii=False).replace('\\"', '"')
    assert [one["data"]["factdrift"]["item"] for one in tasks] == [
        i.id for i in batch.hits[0].items
    ]


def test_answers_are_shown_when_they_are_asked() -> None:
    root = ElementTree.fromstring(config(load_layout("ckl_expert")))
    parents = {child: parent for parent in root.iter() for child in parent}

    def conditions(name: str) -> list[tuple[str | None, ...]]:
        node = next(one for one in root.iter() if one.get("name") == name)
        found = []
        while node in parents:
            node = parents[node]
            if node.get("visibleWhen"):
                names = ("visibleWhen", "whenTagName", "whenChoiceValue")
                found.append(tuple(node.get(one) for one in names))
        return found[::-1]

    on, off = "choice-selected", "choice-unselected"
    whole = {(off, "broken", "unreadable,senseless,upsetting"), (off, "keep", "discard")}
    assert conditions("broken") == []
    assert {*conditions("supported")} == whole
    assert {*conditions("evidence")} == {*whole, (on, "supported", "yes")}
    found = {*whole, (off, "supported", "yes"), (on, "found", "yes")}
    assert {*conditions("other_answer")} == found
    assert not any(one.get("name") == "searches" for one in root.iter())  # there is no server


def test_a_list_is_read_before_it_is_chosen_from() -> None:
    layout = load_layout("easy_select")
    root = ElementTree.fromstring(config(layout))
    shown = [one.get("value") for one in root.iter("Text")]
    assert shown == ["$article_day", "$factdrift_sentences"]
    said = [one.get("value") for one in root.iter("Header")]
    label = layout.answers["sentence"].label
    assert f"Only one that stands in your answer above is taken: {label}" in said
    one = hit("easy_select", 1)
    data = task(layout, "b", one, one.items[0])["data"]
    texts = one.items[0].fields["sentences"]
    assert isinstance(texts, list)
    assert data["factdrift_sentences"] == "\n".join(map(str, texts))
    assert data["sentences"] == [{"value": text} for text in dict.fromkeys(texts)]


def test_worked_examples_are_in_the_instructions() -> None:
    root = ElementTree.fromstring(config(load_layout("verify_facts")))
    panel = next(root.iter("Panel"))
    said = [one.get("value") or "" for one in panel.iter("Header")]
    assert [text for text in said if text.startswith("Worked")] == [
        "Worked example 1",
        "Worked example 2",
    ]
    assert "Suggested: Real Madrid" in said
    assert any(text.startswith("The texts below are plain") for text in said)


@pytest.mark.parametrize(
    ("start", "end", "said", "wanted"),
    [
        (3, 7, "said", (3, 7)),  # code points
        (5, 9, "said", (3, 7)),  # UTF-16 units, of old versions
        (12, 19, "in Rome", (12, 19)),
        (16, 23, "in Rome", (12, 19)),
        (12, 19, None, (12, 19)),  # code points where nothing tells
        (2, 8, " said ", (3, 7)),  # white space around is no part of a span
        (0, 2, "\U0001f600\U0001f600", (0, 2)),
        (0, 4, "\U0001f600\U0001f600", (0, 2)),
        (3, 7, "Rome", None),
        (3, 99, "said", None),
        (7, 8, " ", None),
        (9, 3, "", None),
    ],
)
def test_offsets_count_code_points_or_are_made_to(
    start: int, end: int, said: str | None, wanted: tuple[int, int] | None
) -> None:
    if wanted is None:
        with pytest.raises(BadResultError):
            located(EMOJI, start, end, said)
    else:
        assert located(EMOJI, start, end, said) == wanted
        assert EMOJI[slice(*wanted)] == EMOJI[slice(*wanted)].strip()


LAYOUT = Layout.model_validate(
    {
        "title": "T costs $5",
        "summary": "S",
        "instructions": ["I"],
        "fields": {"text": {}, "page": {"kind": "paragraphs"}},
        "answers": {
            "sure": {"kind": "flag", "label": "Sure"},
            "where": {
                "kind": "span",
                "label": "Where",
                "field": "page",
                "when": {"sure": ["true"]},
            },
            "why": {"kind": "text", "label": "Why", "required": False},
        },
        "pay": {"per_hit": "1", "minutes_per_hit": "4"},
    }
)
PAGE = ["One \U0001f600 two.", "Three <b>four</b>."]
DATA = {
    "text": "t",
    "page": "One \U0001f600 two.\n\nThree <b>four</b>.",
}
META = {"answers": spec(LAYOUT.answers), "paragraphs": {"page": [[0, 10], [12, 30]]}}


def choice(name: str, *values: str) -> dict[str, Any]:
    return {"from_name": name, "type": "choices", "value": {"choices": [*values]}}


def text(name: str, *values: str) -> dict[str, Any]:
    return {"from_name": name, "type": "textarea", "value": {"text": [*values]}}


def mark(start: object, end: object, said: str | None) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": ["Where"]}
    return {"from_name": "where", "value": value if said is None else {**value, "text": said}}


FOUR = {"paragraph": 1, "start": 9, "end": 13, "text": "four"}


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        ([choice("sure", "true"), mark(21, 25, "four")], {"sure": True, "where": FOUR}),
        ([choice("sure", "true"), mark(22, 26, "four")], {"sure": True, "where": FOUR}),
        ([mark(21, 25, "four"), choice("sure", "false")], {"sure": False}),
        ([choice("sure", "true"), mark("21", "25", None)], {"sure": True, "where": FOUR}),
        ([text("why", "  =1+1 "), text("why")], {"why": "=1+1"}),
        ([], {}),
        ([mark(8, 15, None)], "bad span"),  # over two paragraphs
        ([mark(21, 25, "five")], "bad span"),
        ([mark(None, 25, "five")], "bad span"),
        ([mark(21, 25, "four"), mark(4, 5, None)], "too many"),
        ([text("why", "a", "b")], "too many"),
        ([choice("sure", "true", "false")], "too many"),
        ([choice("nobody", "true")], "unknown answer"),
        ([{"type": "relation"}], "unknown result"),
        ([{"from_name": "why", "value": 7}], "unknown result"),
        ([{"from_name": "why", "value": {"text": [7]}}], "unknown result"),
        (None, "not an export of Label Studio"),
    ],
)
def test_results_as_answers(result: Any, wanted: object) -> None:
    if isinstance(wanted, str):
        with pytest.raises(BadResultError) as error:
            annotation_answers(result, DATA, META)
        assert error.value.reason == wanted
    else:
        assert annotation_answers(result, DATA, META) == wanted


def test_paragraphs_stand_where_the_task_says() -> None:
    item = hit("verify_facts").items[0]
    data = task(load_layout("verify_facts"), "b", hit("verify_facts"), item)["data"]
    places = data["factdrift"]["paragraphs"]["page"]
    texts = [one["text"] for one in item.fields["page"]]  # type: ignore[union-attr,index,call-overload]
    assert [data["page"][a:b] for a, b in places] == texts
    assert data["page"].count("== Awards ==") == 1


def test_what_label_studio_cannot_say_is_an_error() -> None:
    wrong = {"sure": LAYOUT.answers["sure"], "where": LAYOUT.answers["where"]}
    where = wrong["where"].model_copy(update={"when": {"sure": ("a,b",)}})
    with pytest.raises(UserError, match="comma"):
        config(LAYOUT.model_copy(update={"answers": {**wrong, "where": where}}))
    assert "$5" not in config(LAYOUT)


def test_an_export_in_any_order_gives_the_same(tmp_path: Path) -> None:
    layout = load_layout("ckl_expert")
    batch = written(tmp_path / "hits", "ckl_expert", "label_studio")
    path = tmp_path / "export.json"
    works = [w for w in work(batch, layout) if not w.refused]
    label_studio_export(works, batch, layout, path)
    tables = []
    for n in range(2):
        done = import_results([str(path)], hits=tmp_path / "hits", out=tmp_path / f"out{n}")
        assert (done.new, done.further + done.known, done.refused) == (18, 2, {})
        table = pq.read_table(tmp_path / f"out{n}" / "ckl_expert" / "judgments.parquet")
        rows = table.select(["hit", "item", "worker", "answers"]).to_pylist()
        tables.append({json.dumps(row, sort_keys=True) for row in rows})
        tasks = json.loads(path.read_text("utf-8"))
        random.Random(0).shuffle(tasks)
        for one in tasks:
            one["annotations"].sort(key=lambda a: a["id"])
        path.write_text(json.dumps(tasks, sort_keys=True, indent=2), "utf-8")
    assert tables[0] == tables[1]


def test_what_is_no_finished_work_of_ours_is_reported(tmp_path: Path) -> None:
    layout = load_layout("judge_question")
    batch = written(tmp_path / "hits", "judge_question", "label_studio")
    path = tmp_path / "export.json"
    label_studio_export([w for w in work(batch, layout) if not w.refused], batch, layout, path)
    tasks = json.loads(path.read_text("utf-8"))
    tasks[0]["drafts"] = [{"id": 1, "result": [], "user": "x"}]
    tasks[2]["annotations"][0]["was_cancelled"] = True
    tasks[4]["annotations"][0]["completed_by"] = {"id": sum(b"W0"), "email": "x@example.org"}
    tasks[5]["annotations"][1]["result"].append({"type": "relation"})
    tasks += [{"data": {"x": 1}}, {"data": {"factdrift": {"format": "other"}}}, {"a": 1}]
    path.write_text(json.dumps(tasks), "utf-8")
    done = import_results([str(path)], hits=tmp_path / "hits", out=tmp_path / "out")
    assert done.refused == {
        "draft": 1,
        "skipped": 1,
        "unknown result": 1,
        "not a task of ours": 3,
    }
    assert (done.new, done.further + done.known) == (16, 2)
    assert "example.org" not in (tmp_path / "out" / "refused.jsonl").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"answers": None},
        {"answers": [7]},
        {"answers": [{"name": "verdict", "kind": "choice", "when": 3}]},
        {"answers": [{"name": "g", "kind": "group"}]},
        {"paragraphs": [1]},
        {"items": "many"},
        {"hit": ["h"]},
        {"batch": None},
    ],
)
def test_an_edited_task_is_refused_or_harmless(change: dict[str, Any], tmp_path: Path) -> None:
    layout = load_layout("judge_question")
    batch = written(tmp_path / "hits", "judge_question", "label_studio", hits=1)
    path = tmp_path / "export.json"
    label_studio_export([w for w in work(batch, layout) if not w.refused], batch, layout, path)
    tasks = json.loads(path.read_text("utf-8"))
    for one in tasks:
        one["data"]["factdrift"].update(change)
    path.write_text(json.dumps(tasks), "utf-8")
    found = list(PLATFORMS["label_studio"].read(path))
    assert found
    if "paragraphs" not in change and "items" not in change:
        assert all(isinstance(one, Refused) for one in found)


def test_items_of_a_hit_that_is_not_whole_are_taken_and_grow(tmp_path: Path) -> None:
    layout = load_layout("judge_question")
    batch = written(tmp_path / "hits", "judge_question", "label_studio", hits=1)
    path = tmp_path / "export.json"
    ((one, *_), *_) = [[w for w in work(batch, layout) if not w.refused]]
    label_studio_export([one], batch, layout, path)
    tasks = json.loads(path.read_text("utf-8"))
    size = len(tasks)
    assert size > 1

    def take() -> tuple[int, int, int, int]:
        path.write_text(json.dumps(tasks), "utf-8")
        done = import_results([str(path)], hits=tmp_path / "hits", out=tmp_path / "out")
        return done.new, done.known, done.corrected, sum(done.refused.values())

    def table() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(
            tmp_path / "out/judge_question/judgments.parquet"
        ).to_pylist()
        assert not any("duplicate_worker" in row["flags"] for row in found)
        return found

    tasks[0]["annotations"][0]["was_cancelled"] = True
    assert take() == (size - 1, 0, 0, 1)
    assert len(table()) == size - 1
    report = (tmp_path / "out/judge_question/report.html").read_text("utf-8")
    due = layout.pay.per_hit * (size - 1) / size
    assert f"<b>{due:.2f}</b><span>USD due" in report
    tasks[0]["annotations"][0]["was_cancelled"] = False  # it was done later
    assert take() == (1, size - 1, 0, 0)
    result = [{"from_name": "verdict", "type": "choices", "value": {"choices": ["good"]}}]
    wrong = next(
        n for n, t in enumerate(tasks) if "bad" in json.dumps(t["annotations"][0]["result"])
    )
    tasks[wrong]["annotations"][0] |= {"result": result, "updated_at": "2026-02-02T00:00:00Z"}
    assert take() == (0, size - 1, 1, 0)  # the annotation was corrected
    assert take() == (0, size, 0, 0)
    item = tasks[wrong]["data"]["factdrift"]["item"]
    assert [json.loads(r["answers"]) for r in table() if r["item"] == item] == [{"verdict": "good"}]
    assert len(table()) == size
