"""Label Studio: a labelling configuration and tasks to import, and its JSON export read back.

One task an item, with every field as plain text. Annotators do tasks one by one and not HIT by
HIT: each annotation is a submission of its own, of one item. What they skipped and what is only a
draft is reported as such.

Every answer is a control named for it, every field that is shown a `Text`, which shows text as it
is (`label_studio.xml.j2`). Names of answers in a group hold the number of the entry:
`questions-2-answer`. The texts of a `paragraphs` field are one `Text`, through which offsets count,
in code points. An export is read by the batch's own layout and items.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from factdrift.annotation.batch import Hit, HitBatch, Item
from factdrift.annotation.checks import is_asked, value_as_text
from factdrift.annotation.layout import Layout, LayoutAnswer, LayoutField
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import template_environment
from factdrift.annotation.platforms.base import Certainty, FindItem, Platform
from factdrift.annotation.reading import json_documents, read_head
from factdrift.annotation.submission import FORMAT as SUBMISSION
from factdrift.annotation.submission import Json, Refused, Submission, submission_from_value
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

FORMAT = "factdrift-task/1"
META = "factdrift"
"""The key of a task's data under which it says which item it is."""
_BETWEEN = "\n\n"
_EMPTY = "(none)"
"""Stands for a text that an item lacks: Label Studio asks for every value that is named."""
_NOT_OURS = "not an export of Label Studio"


def labelling_config(layout: Layout) -> str:
    """The labelling configuration, XML; `UserError` where Label Studio cannot express a layout."""
    conditions = (c for one in _walk_answers(layout.answers) for c in (one.when, one.unless))
    if any("," in value for one in conditions for values in one.values() for value in values):
        raise UserError(f"{layout.name}: Label Studio cannot tell values with a comma apart")
    listed, read = _choice_lists(layout), _lists_shown_first(layout)
    shown = {
        f"{META}_{name}" if name in listed else name: field.label or _default_label(name)
        for name, field in layout.fields.items()
        if field.kind != "spans" and (name not in listed or name in read)
    }

    def conditions_of(
        answer: LayoutAnswer, siblings: Mapping[str, LayoutAnswer]
    ) -> list[tuple[str, tuple[str, ...], bool]]:
        """Other answers, values of theirs, and whether one of these must be selected, or none."""
        found = [(other, values, False) for other, values in answer.unless.items()]
        for other, values in answer.when.items():
            found += conditions_of(siblings.get(other) or layout.answers[other], siblings)
            found.append((other, values, True))
        return list(dict.fromkeys(found))

    def label_of(name: str, siblings: Mapping[str, LayoutAnswer]) -> str:
        about = siblings.get(name) or layout.answers.get(name) or layout.fields[name]
        return about.label or _default_label(name)

    templates = template_environment(resource("annotation/platforms"), dollar="$\u2060")
    return templates.get_template("label_studio.xml.j2").render(
        layout=layout,
        plain=any(field.marks or field.dates for field in layout.fields.values()),
        shown=shown,
        first=next(iter(shown), f"{META}_item"),
        conditions_of=conditions_of,
        label_of=label_of,
    )


def make_task(layout: Layout, batch: str, hit: Hit, item: Item) -> dict[str, Any]:
    """The task of an item: what is shown, and under `META` what it belongs to."""
    data: dict[str, Any] = {f"{META}_item": item.id}
    data[META] = {"format": FORMAT, "batch": batch, "hit": hit.id, "item": item.id}
    listed, read = _choice_lists(layout), _lists_shown_first(layout)
    for name, field in layout.fields.items():
        value = item.fields.get(name)
        if name in listed:
            own = [*dict.fromkeys(_texts(value)), *listed[name]]
            data[name] = [{"value": text} for text in own]
        if field.kind != "spans" and (name not in listed or name in read):
            data[f"{META}_{name}" if name in listed else name], _ = _field_text(field, value)
    return {"data": data}


def _choice_lists(layout: Layout) -> dict[str, list[str]]:
    """The list fields that are chosen from, with the further choices of their answers."""
    found: dict[str, list[str]] = {}
    for answer in _walk_answers(layout.answers):
        if answer.field and answer.kind in ("choice", "choices"):
            found.setdefault(answer.field, []).extend(one.value for one in answer.choices)
    return found


def _lists_shown_first(layout: Layout) -> set[str]:
    """List fields to be read before they are chosen from: no choice shows them from the start."""
    lists = [
        a for a in _walk_answers(layout.answers) if a.kind in ("choice", "choices") and not a.within
    ]
    return {a.field for a in lists if a.field and a.when} - {a.field for a in lists if not a.when}


def _walk_answers(answers: Mapping[str, LayoutAnswer]) -> Iterator[LayoutAnswer]:
    for answer in answers.values():
        yield answer
        yield from _walk_answers(answer.answers)


def _default_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


Places = list[tuple[int, int]]
"""Where each paragraph begins and ends in the text of a field."""


def _field_text(field: LayoutField, value: Json) -> tuple[str, Places | None]:
    """The text of a field, and the places of its paragraphs where it has any."""
    if field.kind == "date" and isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC).date().isoformat(), None
    if field.kind != "paragraphs" or isinstance(value, str):
        text = "\n".join(_texts(value)) if field.kind == "list" else value_as_text(value)
        return text or field.empty or _EMPTY, None
    text, before = "", ""
    places: Places = []
    for one in value if isinstance(value, list | tuple) else ():
        heading = one.get("heading") or one.get("section") if isinstance(one, Mapping) else ""
        if heading and heading != before:
            text += f"== {heading} =={_BETWEEN}"
        before = str(heading or "")
        own = value_as_text(one)
        places.append((len(text), len(text) + len(own)))
        text += own + _BETWEEN
    return text.removesuffix(_BETWEEN) or field.empty or _EMPTY, places


def _texts(value: Json) -> list[str]:
    many = value if isinstance(value, list | tuple) else [value]
    return [value_as_text(one) for one in many if one is not None]


class LabelStudio(Platform):
    """Label Studio, by files; it takes no approvals, because annotators there are one's own."""

    name = "label_studio"
    piecewise = True

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        readme = resource("annotation/platforms/label_studio_readme.txt").read_text("utf-8")
        tasks = (make_task(layout, batch.id, hit, item) for hit in batch.hits for item in hit.items)
        lines = (json.dumps(one, ensure_ascii=False, sort_keys=True) for one in tasks)
        files = {
            "config.xml": labelling_config(layout),
            "README.txt": readme.format(n=layout.assignments),
            "tasks.json": "[\n" + ",\n".join(lines) + "\n]\n",
        }
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", newline="\n")

    def recognises(self, path: Path) -> Certainty:
        """`SURE` of a JSON file of tasks: those that we made, or others with annotations."""
        if path.suffix.lower() != ".json":
            return Certainty.NO
        start = read_head(path)
        is_sure = f'"{META}"' in start or ('"annotations"' in start and '"data"' in start)
        return Certainty.SURE if is_sure else Certainty.NO

    def read(
        self, path: Path, find: FindItem = lambda *ids: None
    ) -> Iterator[Submission | Refused]:
        """A submission for each annotation of a task; what is skipped or a draft is refused."""
        where = display_path(path)
        for found in json_documents(path):
            if isinstance(found, Refused):
                yield found
            else:
                yield from _submissions(found.value, where, found.line, find)


class ControlValue(BaseModel):
    """What was entered into a control: choices, texts, or a span with its text."""

    choices: list[str] = []
    text: str | list[str] | None = None
    start: int | None = None
    end: int | None = None


class ControlResult(BaseModel):
    """One entry of an annotation."""

    from_name: str
    value: ControlValue


class TaskAnnotation(BaseModel):
    """What one annotator made of a task."""

    id: int | str = ""
    completed_by: int | str | dict[str, Any] = ""
    result: list[ControlResult]
    lead_time: float | None = None


class BadResultError(Exception):
    """Why an annotation cannot be read: a short reason, and what was seen."""


def _submissions(
    value: Any, where: str, line: int, find: FindItem
) -> Iterator[Submission | Refused]:
    data = value.get("data") if isinstance(value, dict) else None
    meta = data.get(META) if isinstance(data, dict) else None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        detail = f"its data has no {META} of {FORMAT}"
        yield Refused(where, line, "not a task of ours", detail)
        return
    batch, hit, item = (str(meta.get(name) or "") for name in ("batch", "hit", "item"))
    drafts, annotations = value.get("drafts") or [], value.get("annotations") or []
    if not isinstance(drafts, list) or not isinstance(annotations, list):
        yield Refused(where, line, _NOT_OURS, "annotations is not a list")
        return
    for _ in drafts:
        yield Refused(where, line, "draft", f"item {item}: not submitted")
    for given in annotations:
        if isinstance(given, dict) and given.get("was_cancelled") is True:
            yield Refused(where, line, "skipped", f"item {item}")
            continue
        try:
            one = TaskAnnotation.model_validate(given)
            known = find(batch, hit, item)
            answers = annotation_answers(one.result, *known) if known else {}
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            yield Refused(where, line, _NOT_OURS, f"item {item}: {place or 'no annotation'}")
        except BadResultError as error:
            reason, detail = error.args
            yield Refused(where, line, reason, f"item {item}: {detail}")
        else:
            by = one.completed_by
            submitted = {
                "format": SUBMISSION,
                "batch": batch,
                "hit": hit,
                "worker": str(by.get("id", "") if isinstance(by, dict) else by),
                "assignment": str(one.id),
                "seconds": one.lead_time,
                "answers": {item: answers},
                "item_seconds": {} if one.lead_time is None else {item: one.lead_time},
            }
            yield submission_from_value(submitted, where, line)


def annotation_answers(
    results: Sequence[ControlResult], layout: Layout, item: Item
) -> dict[str, Any]:
    """The answers in an annotation of an item; `BadResultError` for what the layout does not ask.

    Answers that are not asked, because an earlier one has changed since, are left out, as on our
    own pages. Nothing is checked against the layout yet.
    """
    given: dict[str, list[ControlValue]] = {}
    for one in results:
        given.setdefault(one.from_name, []).append(one.value)

    def scope(
        asked: Mapping[str, LayoutAnswer], prefix: str, before: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The answers of the layout, or of an entry of a group; takes them out of `given`."""
        found: dict[str, Any] = {}
        for name, answer in asked.items():
            values = given.pop(prefix + name, [])
            named = {**before, **found}
            if answer.kind == "group":
                pattern = re.compile(re.escape(f"{prefix}{name}-") + r"(\d{1,3})-")
                numbers = sorted({int(m[1]) for m in map(pattern.match, given) if m})
                entries = [scope(answer.answers, f"{prefix}{name}-{n}-", named) for n in numbers]
                value: Any = [entry for entry in entries if entry]
            else:
                value = _answer_value(name, answer, values, layout, item)
            if is_asked(answer, named) and value not in (None, "", []):
                found[name] = value
        return found

    answers = scope(layout.answers, "", item.fields)
    if given:
        raise BadResultError("unknown answer", f"{next(iter(given))[:40]!r} is not asked")
    return answers


def _answer_value(
    name: str, answer: LayoutAnswer, values: Sequence[ControlValue], layout: Layout, item: Item
) -> Any:
    if answer.kind in ("span", "spans"):
        field = answer.field or ""
        text, places = _field_text(layout.fields[field], item.fields.get(field))
        many: list[Any] = [_span_in_field(name, value, text, places) for value in values]
        many.sort(key=lambda s: (s.get("paragraph", 0), s["start"], s["end"]))
    elif answer.kind == "text":
        parts = [[v.text] if isinstance(v.text, str) else v.text or [] for v in values]
        many = [text.strip() for texts in parts for text in texts if text.strip()]
    else:
        many = [choice for value in values for choice in value.choices]
    if answer.kind in ("choices", "spans"):
        return many
    if len(many) > 1:
        raise BadResultError("too many", f"{name}: {len(many)} values")
    if answer.kind == "flag":
        many = [{"true": True, "false": False}.get(one, one) for one in many]
    return many[0] if many else None


def _span_in_field(
    name: str, value: ControlValue, text: str, places: Places | None
) -> dict[str, Any]:
    """A span without the white space around it, in its paragraph where there are `places`."""
    start, end = value.start or 0, value.end or 0
    own = text[start:end]
    quoted = value.text if isinstance(value.text, str) else own
    if end > len(text) or not own.strip() or _visible_text(own) != _visible_text(quoted):
        raise BadResultError("bad span", f"{name}: its text is not at its place")
    start += len(own) - len(own.lstrip())
    own = own.strip()
    span: dict[str, Any] = {"start": start, "end": start + len(own), "text": own}
    if places is None:
        return span
    for number, (first, last) in enumerate(places):
        if first <= start and span["end"] <= last:
            inside = {"start": start - first, "end": span["end"] - first}
            return {"paragraph": number, **span, **inside}
    raise BadResultError("bad span", f"{name}: not within one paragraph")


def _visible_text(text: str) -> str:
    return " ".join(text.replace("\\n", " ").split())
