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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from factdrift.annotation.batch import Hit, HitBatch, Item
from factdrift.annotation.checks import is_asked, value_as_text
from factdrift.annotation.layout import Layout, LayoutAnswer, LayoutField
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import template_environment
from factdrift.annotation.platforms.base import Certainty, FindItem, Platform
from factdrift.annotation.reading import json_documents, read_head
from factdrift.annotation.submission import (
    SUBMISSION_FORMAT,
    Json,
    Refused,
    Submission,
    submission_from_value,
)
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

FORMAT = "factdrift-task/1"
# The key of a task's data under which it says which item it is.
META = "factdrift"
_BETWEEN = "\n\n"
# Stands for a text that an item lacks: Label Studio asks for every value that is named.
_EMPTY = "(none)"
_NOT_OURS = "not an export of Label Studio"


def labelling_config(layout: Layout) -> str:
    """The labelling configuration, as XML.

    `UserError`: Label Studio cannot express the layout.
    """
    _require_values_without_commas(layout)
    choice_lists, shown_first = _choice_lists(layout), _lists_shown_first(layout)
    shown_fields = {}
    for name, field in layout.fields.items():
        if field.kind != "spans" and (name not in choice_lists or name in shown_first):
            key = f"{META}_{name}" if name in choice_lists else name
            shown_fields[key] = field.label or _default_label(name)

    def conditions_of(
        answer: LayoutAnswer, siblings: Mapping[str, LayoutAnswer]
    ) -> list[tuple[str, tuple[str, ...], bool]]:
        """Other answers, some of their values, and whether one must be selected (or none)."""
        conditions = [(name, values, False) for name, values in answer.unless.items()]
        for name, values in answer.when.items():
            conditions += conditions_of(siblings.get(name) or layout.answers[name], siblings)
            conditions.append((name, values, True))
        return list(dict.fromkeys(conditions))

    def label_of(name: str, siblings: Mapping[str, LayoutAnswer]) -> str:
        labelled = siblings.get(name) or layout.answers.get(name) or layout.fields[name]
        return labelled.label or _default_label(name)

    # a word joiner after each dollar sign keeps Label Studio from taking it for a variable
    templates = template_environment(resource("annotation/platforms"), dollar="$\u2060")
    return templates.get_template("label_studio.xml.j2").render(
        layout=layout,
        plain=any(field.marks or field.dates for field in layout.fields.values()),
        shown=shown_fields,
        first=next(iter(shown_fields), f"{META}_item"),
        conditions_of=conditions_of,
        label_of=label_of,
    )


def _require_values_without_commas(layout: Layout) -> None:
    """`UserError` where a condition names a value with a comma, which separates values there."""
    for answer in _walk_answers(layout.answers):
        for values in (*answer.when.values(), *answer.unless.values()):
            if any("," in value for value in values):
                text = "Label Studio cannot tell values with a comma apart"
                raise UserError(f"{layout.name}: {text}")


def make_task(layout: Layout, batch: str, hit: Hit, item: Item) -> dict[str, Any]:
    """The task of an item: the texts to show, and under `META` the ids of batch, HIT and item."""
    data: dict[str, Any] = {f"{META}_item": item.id}
    data[META] = {"format": FORMAT, "batch": batch, "hit": hit.id, "item": item.id}
    choice_lists, shown_first = _choice_lists(layout), _lists_shown_first(layout)
    for name, field in layout.fields.items():
        value = item.fields.get(name)
        if name in choice_lists:
            texts = [*dict.fromkeys(_texts(value)), *choice_lists[name]]
            data[name] = [{"value": text} for text in texts]
        if field.kind != "spans" and (name not in choice_lists or name in shown_first):
            key = f"{META}_{name}" if name in choice_lists else name
            data[key], _ = _field_text(field, value)
    return {"data": data}


def _choice_lists(layout: Layout) -> dict[str, list[str]]:
    """The list fields that are chosen from, with the further choices of their answers."""
    lists: dict[str, list[str]] = {}
    for answer in _walk_answers(layout.answers):
        if answer.field and answer.kind in ("choice", "choices"):
            lists.setdefault(answer.field, []).extend(choice.value for choice in answer.choices)
    return lists


def _lists_shown_first(layout: Layout) -> set[str]:
    """List fields to be read before they are chosen from: no choice shows them from the start."""
    conditional: set[str] = set()
    unconditional: set[str] = set()
    for answer in _walk_answers(layout.answers):
        if answer.field and answer.kind in ("choice", "choices") and not answer.within:
            (conditional if answer.when else unconditional).add(answer.field)
    return conditional - unconditional


def _walk_answers(answers: Mapping[str, LayoutAnswer]) -> Iterator[LayoutAnswer]:
    """Yield all answers, also those inside of groups."""
    for answer in answers.values():
        yield answer
        yield from _walk_answers(answer.answers)


def _default_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


# Where each paragraph begins and ends in the text of a field.
Places = list[tuple[int, int]]


def _field_text(field: LayoutField, value: Json) -> tuple[str, Places | None]:
    """The text of a field, and the places of its paragraphs where it has any."""
    if field.kind == "date" and isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC).date().isoformat(), None
    if field.kind != "paragraphs" or isinstance(value, str):
        text = "\n".join(_texts(value)) if field.kind == "list" else value_as_text(value)
        return text or field.empty or _EMPTY, None
    text, places = _join_paragraphs(value if isinstance(value, list | tuple) else ())
    return text or field.empty or _EMPTY, places


def _join_paragraphs(paragraphs: Sequence[Json]) -> tuple[str, Places]:
    """The paragraphs as one text, each new heading above its first, and where each stands."""
    text, heading_before = "", ""
    places: Places = []
    for paragraph in paragraphs:
        heading: Any = ""
        if isinstance(paragraph, Mapping):
            heading = paragraph.get("heading") or paragraph.get("section")
        if heading and heading != heading_before:
            text += f"== {heading} =={_BETWEEN}"
        heading_before = str(heading or "")
        paragraph_text = value_as_text(paragraph)
        places.append((len(text), len(text) + len(paragraph_text)))
        text += paragraph_text + _BETWEEN
    return text.removesuffix(_BETWEEN), places


def _texts(value: Json) -> list[str]:
    entries = value if isinstance(value, list | tuple) else [value]
    return [value_as_text(entry) for entry in entries if entry is not None]


class LabelStudio(Platform):
    """Label Studio, by files; it takes no approvals, because annotators there are one's own."""

    name = "label_studio"
    piecewise = True

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        readme = resource("annotation/platforms/label_studio_readme.txt").read_text("utf-8")
        tasks = (make_task(layout, batch.id, hit, item) for hit in batch.hits for item in hit.items)
        lines = (json.dumps(item_task, ensure_ascii=False, sort_keys=True) for item_task in tasks)
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
        """Yield a submission for each annotation of a task; refuse skipped tasks and drafts."""
        where = display_path(path)
        for entry in json_documents(path):
            if isinstance(entry, Refused):
                yield entry
            else:
                yield from _submissions(entry.value, where, entry.line, find)


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
    """An annotation cannot be read; its arguments are a short reason, and what was seen."""


class _TaskIds(NamedTuple):
    """The ids by which a task says what it belongs to."""

    batch: str
    hit: str
    item: str


def _submissions(
    value: Any, where: str, line: int, find: FindItem
) -> Iterator[Submission | Refused]:
    """Yield the submissions of one exported task, which has an annotation for each annotator."""
    data = value.get("data") if isinstance(value, dict) else None
    meta = data.get(META) if isinstance(data, dict) else None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        detail = f"its data has no {META} of {FORMAT}"
        yield Refused(where, line, "not a task of ours", detail)
        return
    ids = _TaskIds(*(str(meta.get(name) or "") for name in _TaskIds._fields))
    drafts, annotations = value.get("drafts") or [], value.get("annotations") or []
    if not isinstance(drafts, list) or not isinstance(annotations, list):
        yield Refused(where, line, _NOT_OURS, "annotations is not a list")
        return
    for _ in drafts:
        yield Refused(where, line, "draft", f"item {ids.item}: not submitted")
    for annotation in annotations:
        if isinstance(annotation, dict) and annotation.get("was_cancelled") is True:
            yield Refused(where, line, "skipped", f"item {ids.item}")
        else:
            yield _annotation_submission(annotation, ids, where, line, find)


def _annotation_submission(
    value: Any, ids: _TaskIds, where: str, line: int, find: FindItem
) -> Submission | Refused:
    """The submission in one annotation of a task."""
    try:
        annotation = TaskAnnotation.model_validate(value)
        known_item = find(*ids)
        answers = annotation_answers(annotation.result, *known_item) if known_item else {}
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        return Refused(where, line, _NOT_OURS, f"item {ids.item}: {place or 'no annotation'}")
    except BadResultError as error:
        reason, detail = error.args
        return Refused(where, line, reason, f"item {ids.item}: {detail}")
    annotator = annotation.completed_by
    if isinstance(annotator, dict):
        annotator = annotator.get("id", "")
    seconds = annotation.lead_time
    submission = {
        "format": SUBMISSION_FORMAT,
        "batch": ids.batch,
        "hit": ids.hit,
        "worker": str(annotator),
        "assignment": str(annotation.id),
        "seconds": seconds,
        "answers": {ids.item: answers},
        "item_seconds": {} if seconds is None else {ids.item: seconds},
    }
    return submission_from_value(submission, where, line)


def annotation_answers(
    results: Sequence[ControlResult], layout: Layout, item: Item
) -> dict[str, Any]:
    """The answers in an annotation of an item.

    Answers that are not asked, because an earlier one has changed since, are left out, as on our
    own pages. Nothing is checked against the layout yet. `BadResultError`: the layout does not ask
    for an answer, or a span or a choice cannot be read.
    """
    values_by_control: dict[str, list[ControlValue]] = {}
    for result in results:
        values_by_control.setdefault(result.from_name, []).append(result.value)

    def take_answers(
        asked_answers: Mapping[str, LayoutAnswer], prefix: str, before: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The answers of the layout, or of one entry of a group; removes their control values."""
        answers: dict[str, Any] = {}
        for name, answer in asked_answers.items():
            values = values_by_control.pop(prefix + name, [])
            context = {**before, **answers}
            if answer.kind == "group":
                value: Any = []
                for number in _entry_numbers(f"{prefix}{name}", values_by_control):
                    entry = take_answers(answer.answers, f"{prefix}{name}-{number}-", context)
                    if entry:
                        value.append(entry)
            else:
                value = _answer_value(name, answer, values, layout, item)
            if is_asked(answer, context) and value not in (None, "", []):
                answers[name] = value
        return answers

    answers = take_answers(layout.answers, "", item.fields)
    if values_by_control:
        unknown = next(iter(values_by_control))
        raise BadResultError("unknown answer", f"{unknown[:40]!r} is not asked")
    return answers


def _entry_numbers(group: str, controls: Iterable[str]) -> list[int]:
    """The numbers of a group's entries: of `questions`, 2 by the control `questions-2-answer`."""
    pattern = re.compile(re.escape(f"{group}-") + r"(\d{1,3})-")
    matches = map(pattern.match, controls)
    return sorted({int(match[1]) for match in matches if match})


def _answer_value(
    name: str, answer: LayoutAnswer, values: Sequence[ControlValue], layout: Layout, item: Item
) -> Any:
    """The value of an answer that is no group; None where nothing was entered."""
    entries: list[Any] = []
    if answer.kind in ("span", "spans"):
        field = answer.field or ""
        text, places = _field_text(layout.fields[field], item.fields.get(field))
        entries = [_span_in_field(name, value, text, places) for value in values]
        entries.sort(key=lambda span: (span.get("paragraph", 0), span["start"], span["end"]))
    elif answer.kind == "text":
        entries = _entered_texts(values)
    else:
        for value in values:
            entries += value.choices
    if answer.kind in ("choices", "spans"):
        return entries
    if len(entries) > 1:
        raise BadResultError("too many", f"{name}: {len(entries)} values")
    if answer.kind == "flag":
        entries = [{"true": True, "false": False}.get(entry, entry) for entry in entries]
    return entries[0] if entries else None


def _entered_texts(values: Sequence[ControlValue]) -> list[str]:
    texts: list[str] = []
    for value in values:
        entered = [value.text] if isinstance(value.text, str) else value.text or []
        texts += [text.strip() for text in entered if text.strip()]
    return texts


def _span_in_field(
    name: str, value: ControlValue, text: str, places: Places | None
) -> dict[str, Any]:
    """A span without the white space around it, in its paragraph where there are `places`."""
    start, end = value.start or 0, value.end or 0
    marked = text[start:end]
    quoted = value.text if isinstance(value.text, str) else marked
    if end > len(text) or not marked.strip() or _visible_text(marked) != _visible_text(quoted):
        raise BadResultError("bad span", f"{name}: its text is not at its place")
    start += len(marked) - len(marked.lstrip())
    marked = marked.strip()
    span: dict[str, Any] = {"start": start, "end": start + len(marked), "text": marked}
    if places is None:
        return span
    for number, (first, last) in enumerate(places):
        if first <= start and span["end"] <= last:
            inside = {"start": start - first, "end": span["end"] - first}
            return {"paragraph": number, **span, **inside}
    raise BadResultError("bad span", f"{name}: not within one paragraph")


def _visible_text(text: str) -> str:
    """A text with single spaces; an export writes line breaks of a span as a backslash and n."""
    return " ".join(text.replace("\\n", " ").split())
