"""Workers who are not there: they answer HITs as a layout asks, some badly, and each platform
hands in what they said in the form that it exports."""

import base64
import csv
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from factdrift.annotation.batch import Hit, HitBatch, Item, batch_id, item_id, layout_sha256
from factdrift.annotation.checks import (
    answer_problems,
    available_choices,
    is_asked,
    paragraph_texts,
    split_words,
    value_as_text,
)
from factdrift.annotation.dataset import DatasetRows
from factdrift.annotation.hits import write_batch
from factdrift.annotation.layout import WAYS_OUT, Layout, LayoutAnswer, load_layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.submission import Json
from tests.annotation_items import FIELDS
from tests.annotation_workers import handed_in
from tests.tables import column_of, ids_of

HOSTILE = (
    '<script>alert(1)</script> \U0001f600\U0001f600 said "O\'Neil" ${data} =1+1 ]]> </script> '
    "\u202bשלום עולם\u202c &amp; a \U0001f469\u200d\U0001f467 family, $page"
)
_ADDED = ('"quoted"', "<b>&amp;</b>", "${data}", "\U0001f600", "=x+y", "שלום", "it's", "", "a;b,c")

Made = dict[str, Any]
"""A submission as a page makes it."""


def written(
    root: Path, name: str, platform: str, hits: int = 3, delivery: Delivery | None = None
) -> HitBatch:
    """A batch under `root` as `make hits` writes it: HITs of two items, one item hostile."""
    layout = load_layout(name)
    hit_list = []
    for hit_number in range(hits):
        items = []
        for item_number, more_values in enumerate(("", HOSTILE)):
            item_fields = dict(FIELDS[name])
            for key in item_fields.keys() & {"article", "question", "cloze", "subject"}:
                item_fields[key] += f" {more_values} {hit_number}"
            if "page" in item_fields:
                item_fields["page"] = [
                    *item_fields["page"],
                    {"text": f"{HOSTILE} {hit_number} {item_number}", "kind": "text"},
                ]
            if "sentences" in item_fields:
                item_fields["sentences"] = [
                    *item_fields["sentences"],
                    f"{HOSTILE} {hit_number} {item_number} Ghana",
                ]
            items.append(
                Item(item_id(name, item_fields), f"row-{hit_number}-{item_number}", item_fields)
            )
        hit_list.append(Hit(f"hit{hit_number}", tuple(items)))
    place = root / name / "0001"
    sha = layout_sha256(layout.folder)
    layout_settings: dict[str, Any] = {
        "id": "",
        "number": 1,
        "layout": name,
        "layout_sha256": sha,
        "dataset": "made",
    }
    hit_batch = HitBatch(
        **layout_settings, platform=platform, seed=0, hits=tuple(hit_list), folder=place
    )
    hit_batch = replace(hit_batch, id=batch_id(hit_batch))
    table_rows = DatasetRows("made", "0", None, (), (), None)
    write_batch(hit_batch, layout, delivery or Delivery(), table_rows, {})
    return hit_batch


def work(hit_batch: HitBatch, layout: Layout, seed: int = 0, workers: int = 3) -> list[Made]:
    """What `workers` workers say of every HIT, one too fast, one twice."""
    visits = [
        (hit_number, f"W{worker_number}", f"{hit_number} {worker_number}", "")
        for hit_number in range(len(hit_batch.hits))
        for worker_number in range(workers)
    ]
    finished_work = []
    for hit_number, worker_id, draw, more_values in [*visits, (0, "W0", "again", "2")]:
        hit, random_source = hit_batch.hits[hit_number], random.Random(f"{seed} {draw}")
        item_answers = {
            item.id: said(layout, item.fields, random_source)
            if item.answers is None
            else {**item.answers}
            for item in hit.items
        }
        seconds = 0.4 if draw == "0 1" else 41.5
        times = {
            "seconds": seconds * len(item_answers),
            "item_seconds": dict.fromkeys(item_answers, seconds),
        }
        name = f"A{hit.id}{worker_id}{more_values}"
        finished_work.append(
            handed_in(hit_batch.id, hit.id, worker_id, item_answers, assignment=name, **times)
        )
    return finished_work


def said(
    layout: Layout, item_fields: Mapping[str, Json], random_source: random.Random
) -> dict[str, Any]:
    """Answers for one item that the layout takes: the first that are drawn so."""
    drawn_answers = (_scope(layout, layout.answers, item_fields, random_source) for _ in range(200))
    return next(
        item_answers
        for item_answers in drawn_answers
        if not answer_problems(layout, item_fields, item_answers)
    )


def _scope(
    layout: Layout,
    layout_answers: Mapping[str, LayoutAnswer],
    named_values: Mapping[str, Json],
    random_source: random.Random,
) -> dict[str, Any]:
    scope_answers: dict[str, Any] = {}
    for name, answer in layout_answers.items():
        earlier_bytes = {**named_values, **scope_answers}
        if name in WAYS_OUT or not is_asked(answer, earlier_bytes):
            continue
        if not answer.required and random_source.random() < 0.3:
            continue
        answer_value = _value(layout, answer, earlier_bytes, random_source)
        if answer_value is not None:
            scope_answers[name] = answer_value
    return scope_answers


def _value(
    layout: Layout,
    answer: LayoutAnswer,
    named_values: Mapping[str, Json],
    random_source: random.Random,
) -> Any:
    match answer.kind:
        case "flag":
            return random_source.random() < 0.5
        case "choice":
            return random_source.choice(available_choices(answer, named_values) or [""])
        case "choices":
            available_options = available_choices(answer, named_values)
            return [
                option for option in available_options if random_source.random() < 0.5
            ] or available_options[:1]
        case "text":
            return _text(answer, named_values, random_source)
        case "span":
            return _spans(layout, answer, named_values, random_source, 1)[0]
        case "spans":
            return _spans(layout, answer, named_values, random_source, random_source.randint(1, 3))
        case "group":
            group_size = random_source.randint(max(answer.min_items, 1), answer.max_items)
            return [
                _scope(layout, answer.answers, named_values, random_source)
                for _ in range(group_size)
            ]


def _text(
    answer: LayoutAnswer, named_values: Mapping[str, Json], random_source: random.Random
) -> str:
    """A text such as the answer's check wants, with what might break a platform."""
    check = answer.check
    if check.rewords:  # each added word would be a fact more
        statement = re.sub(r"\[[^]]*\]", "what", value_as_text(named_values.get(check.rewords)))
        return f"{random_source.choice(('What', 'who', 'WHICH'))} \U0001f600 {statement}?"
    parts = [check.starts_with[0].capitalize() if check.starts_with else "well"]
    for source_field in (check.keeps_words, check.keeps_numbers, check.has_field):
        parts += (
            split_words(re.sub(r"\[[^]]*\]", " ", value_as_text(named_values.get(source_field))))
            if source_field
            else []
        )
    parts += [f"[BLANK-{check.gap[0]}]" if check.gap else ""]
    parts += [check.contains_once or "", random_source.choice(_ADDED)]
    parts.append(random_source.choice(("and so on", "as is said", "or nearly so")))
    return " ".join(filter(None, parts)) + (check.ends_with or "")


def _spans(
    layout: Layout,
    answer: LayoutAnswer,
    named_values: Mapping[str, Json],
    random_source: random.Random,
    count: int,
) -> list[dict[str, Any]]:
    """Runs of three words or fewer, in the order of the text."""
    field = answer.field or ""
    split = layout.fields[field].kind == "paragraphs"
    runs = []
    for place, text in enumerate(
        paragraph_texts(named_values[field]) if split else [value_as_text(named_values[field])]
    ):
        word_matches = [*re.finditer(r"\S+", text)]
        for word_number in range(0, len(word_matches), 3):
            start, end = (
                word_matches[word_number].start(),
                word_matches[word_number : word_number + 3][-1].end(),
            )
            span = {"start": start, "end": end, "text": text[start:end]}
            runs.append(span | ({"paragraph": place} if split else {}))
    return [
        runs[word_number] for word_number in sorted(random_source.sample(range(len(runs)), count))
    ]


COLUMNS = (
    "HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments "
    "RequesterAnnotation AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration "
    "NumberOfSimilarHITs LifetimeInSeconds AssignmentId WorkerId AssignmentStatus AcceptTime "
    "SubmitTime AutoApprovalTime ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds "
    "LifetimeApprovalRate Last30DaysApprovalRate Last7DaysApprovalRate"
).split()
"""Of a results file of MTurk's requester site, before Input.…, Answer.…, Approve and Reject."""


def packed(submission: Mapping[str, Any]) -> str:
    """A submission as MTurk's form sends it."""
    return base64.b64encode(json.dumps(submission, ensure_ascii=False).encode()).decode()


def mturk_csv(works: Sequence[Made], hit_batch: HitBatch, file_path: Path) -> None:
    """A results file of the requester site."""
    with (hit_batch.folder / "mturk" / "hits.csv").open() as file:
        cells = column_of(csv.DictReader(file), "data")
        data_by_hit = dict(zip(ids_of(hit_batch.hits), cells, strict=True))
    ends = ["Input.data", "Answer.hitId", "Answer.submission", "Answer.workerId"]
    with file_path.open("w", encoding="utf-8", newline="") as out:
        write = csv.DictWriter(out, [*COLUMNS, *ends, "Approve", "Reject"], quoting=csv.QUOTE_ALL)
        write.writeheader()
        for submission in works:
            row = dict.fromkeys(COLUMNS, "")
            row |= {"HITId": f"H{submission['hit']}", "AssignmentId": submission["assignment"]}
            row |= {"WorkerId": submission["worker"], "AssignmentStatus": "Submitted"}
            row |= {"Title": '=HYPERLINK("http://x")', "Input.data": data_by_hit[submission["hit"]]}
            row |= {
                "Answer.submission": packed(submission),
                "Answer.workerId": submission["worker"],
            }
            write.writerow(row)


def label_studio_export(
    works: Sequence[Made], hit_batch: HitBatch, layout: Layout, file_path: Path
) -> None:
    """A JSON export: tasks with the annotations of all annotators."""
    tasks = json.loads((hit_batch.folder / "label_studio" / "tasks.json").read_text("utf-8"))
    view = ElementTree.parse(hit_batch.folder / "label_studio" / "config.xml")
    tied = {str(node.get("name")): node.get("toName") for node in view.iter()}
    item_fields = {item.id: item.fields for item in hit_batch.items}
    for task_number, task in enumerate(tasks, 1):
        item = task["data"]["factdrift"]["item"]
        task |= {
            "id": task_number,
            "drafts": [],
            "predictions": [],
            "project": 1,
            "annotations": [],
        }
        for submission_number, submission in enumerate(works):
            if item in submission["answers"]:
                item_answers = submission["answers"][item]
                control_results = [
                    *_results(
                        layout, layout.answers, item_answers, "", task["data"], item_fields[item]
                    )
                ]
                for region in control_results:
                    region["to_name"] = tied[region["from_name"]]
                annotation = {
                    "id": 1000 * task_number + submission_number,
                    "completed_by": sum(submission["worker"].encode()),
                }
                annotation |= {"was_cancelled": False, "ground_truth": False}
                annotation |= {
                    "result": control_results,
                    "lead_time": submission["item_seconds"][item],
                }
                task["annotations"].append(annotation)
    file_path.write_text(json.dumps(tasks, ensure_ascii=False), "utf-8")


def _results(
    layout: Layout,
    layout_answers: Mapping[str, LayoutAnswer],
    said_: Mapping[str, Any],
    prefix: str,
    data: Mapping[str, Any],
    item_fields: Mapping[str, Json],
) -> Iterator[dict[str, Any]]:
    """Answers as the regions and choices of Label Studio."""
    for name, value in said_.items():
        answer = layout_answers[name]
        base = {"id": f"r{prefix}{name}", "from_name": prefix + name, "origin": "manual"}
        answer_values = value if isinstance(value, list) else [value]
        match answer.kind:
            case "group":
                for entry_number, entry in enumerate(answer_values, 1):
                    inner = f"{prefix}{name}-{entry_number}-"
                    yield from _results(layout, answer.answers, entry, inner, data, item_fields)
            case "text":
                yield {**base, "type": "textarea", "value": {"text": [f" {value}"]}}
            case "span" | "spans":
                whole_texts, texts = (
                    data[answer.field or ""],
                    paragraph_texts(item_fields[answer.field or ""]),
                )
                for entry_number, span in enumerate(answer_values):
                    first = 0
                    for earlier_bytes, paragraph_text in pairwise(
                        ["", *texts[: span.get("paragraph", -1) + 1]]
                    ):
                        first = whole_texts.index(paragraph_text, first + len(earlier_bytes))
                    span_place = {"start": first + span["start"], "end": first + span["end"]}
                    span_place |= {"text": span["text"], "labels": [answer.label]}
                    yield {
                        **base,
                        "id": f"{base['id']}{entry_number}",
                        "type": "labels",
                        "value": span_place,
                    }
            case _:
                texts = [
                    str(answer_value).lower() if isinstance(answer_value, bool) else answer_value
                    for answer_value in answer_values
                ]
                yield {**base, "type": "choices", "value": {"choices": texts}}
