"""Label Studio: a labelling configuration and tasks to import, and its JSON export read back.

One task an item, with every field as plain text. Annotators do tasks one by one and not HIT by
HIT: each annotation is a submission of its own, of one item. What they skipped and what is only a
draft is reported as such.

Every answer is a control named for it, every field that is shown a `Text`, which shows text as it
is. Names of answers in a group hold the number of the entry: `questions-2-answer`. The texts of a
`paragraphs` field are one `Text`, so that offsets count through them; the task says where each
paragraph stands. Tags and their parameters: labelstud.io/tags.

Offsets of Label Studio count code points (`rangeToGlobalOffset` of its editor). Older versions
counted UTF-16 units, of which an emoji has two (its issue 1347). Where the two differ, the text
that comes with a span tells."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from factdrift.annotation.batch import Hit, HitBatch, Item
from factdrift.annotation.checks import condition_holds, plain
from factdrift.annotation.layout import Choice, Layout, LayoutAnswer, LayoutField
from factdrift.annotation.platforms.base import Delivery, Platform
from factdrift.annotation.reading import head
from factdrift.annotation.submission import FORMAT as SUBMISSION
from factdrift.annotation.submission import Json, Refused, Submission, from_value
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

FORMAT = "factdrift-task/1"
META = "factdrift"
"""The key of a task's data under which it says which item it is, and how to read its answers."""
_BETWEEN = "\n\n"
_YES_NO = (Choice(value="true", label="Yes"), Choice(value="false", label="No"))
_EMPTY = "(none)"
"""Stands for a text that an item lacks: Label Studio asks for every value that is named."""


def config(layout: Layout) -> str:
    """The labelling configuration, XML; `UserError` where Label Studio cannot express a layout."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Style").text = ".htx-text{white-space:pre-wrap}"
    _header(view, layout.title, 3)
    panel = _add(_add(view, "Collapse"), "Panel", value="Instructions")
    inside = _add(panel, "View")
    for line in _instructions(layout):
        _header(inside, line, 6)
    listed, read = _listed(layout), _read_first(layout)
    first = ""
    for name, field in layout.fields.items():
        if field.kind == "spans" or (name in listed and name not in read):
            continue
        own = _text_of(name) if name in listed else name
        first = first or own
        _header(view, field.label or name.replace("_", " ").capitalize(), 5)
        _add(view, "Text", name=own, value=f"${own}", valueType="text", saveTextResult="yes")
    if not first:
        first = f"{META}_item"
        _add(view, "Text", name=first, value=f"${META}_item", valueType="text")
    controls = _Controls(layout, first)
    for name, answer in layout.answers.items():
        controls.add(view, name, answer, layout.answers, {}, required=answer.required)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def task(layout: Layout, batch: str, hit: Hit, item: Item) -> dict[str, Any]:
    """The task of an item: what is shown, and under `META` what it belongs to."""
    data: dict[str, Any] = {}
    parts: dict[str, list[list[int]]] = {}
    listed, read = _listed(layout), _read_first(layout)
    for name, field in layout.fields.items():
        if field.kind == "spans":
            continue
        value = item.fields.get(name)
        if name in read:
            data[_text_of(name)], _ = _field_text(field, value)
        if name in listed:
            own = [*dict.fromkeys(_texts(value)), *listed[name]]
            data[name] = [{"value": text} for text in own]
        else:
            data[name], places = _field_text(field, value)
            if places is not None:
                parts[name] = places
    data[f"{META}_item"] = item.id
    data[META] = {
        "format": FORMAT,
        "batch": batch,
        "hit": hit.id,
        "item": item.id,
        "items": len(hit.items),
        "answers": spec(layout.answers, item.fields),
        "paragraphs": parts,
    }
    return {"data": data}


class AskedAnswer(BaseModel):
    """What reading needs to know of an answer: its kind, when it is asked, what a group holds.

    `off`: the item lacks a field that it needs; Label Studio asks all the same.
    """

    model_config = ConfigDict(strict=True)

    name: str
    kind: str
    when: dict[str, list[Any]] = {}
    unless: dict[str, list[Any]] = {}
    off: bool = False
    field: str = ""
    answers: list["AskedAnswer"] = []


SPEC = TypeAdapter(list[AskedAnswer])


def _asked(name: str, answer: LayoutAnswer, fields: Mapping[str, Json]) -> AskedAnswer:
    return AskedAnswer(
        name=name,
        kind=answer.kind,
        when={other: list(values) for other, values in answer.when.items()},
        unless={other: list(values) for other, values in answer.unless.items()},
        off=bool(answer.needs) and fields.get(answer.needs or "") in (None, "", []),
        field=answer.field or "" if answer.kind in ("span", "spans") else "",
        answers=[_asked(*one, fields) for one in answer.answers.items()],
    )


def spec(
    answers: Mapping[str, LayoutAnswer], fields: Mapping[str, Json] = {}
) -> list[dict[str, Any]]:
    """A list of `AskedAnswer`: Label Studio's databases do not keep the order of keys."""
    return [_asked(*one, fields).model_dump(exclude_defaults=True) for one in answers.items()]


class _Controls(NamedTuple):
    """Adds the controls of a layout's answers; `first` is a text to tie them to."""

    layout: Layout
    first: str

    def add(
        self,
        parent: ElementTree.Element,
        name: str,
        answer: LayoutAnswer,
        siblings: Mapping[str, LayoutAnswer],
        names: Mapping[str, str],
        *,
        required: bool,
    ) -> None:
        """Of one answer; `siblings` are those beside it, `names` their controls in a group.

        Nothing of a free search, for which there is no server.
        """
        if answer.kind == "search":
            return
        layout, first = self
        view = _add(parent, "View")
        for other, values, selected in dict.fromkeys(_conditions(answer, siblings, layout)):
            if any("," in value for value in values):
                raise UserError(f"{name}: Label Studio cannot tell values with a comma apart")
            view.set("visibleWhen", "choice-selected" if selected else "choice-unselected")
            view.set("whenTagName", names.get(other, other))
            view.set("whenChoiceValue", ",".join(values))
            view = _add(view, "View")
        label = answer.label if required else f"{answer.label} (optional)"
        _header(view, label, 4)
        if answer.help:
            _header(view, answer.help, 6)
        if answer.within:
            _header(view, _within(answer.within, siblings, layout), 6)
        tied = {"name": name, "toName": first}
        must = {"required": "true", "requiredMessage": _safe(answer.label)} if required else {}
        match answer.kind:
            case "choice" | "choices" | "flag":
                many = "multiple" if answer.kind == "choices" else "single-radio"
                listed = {"value": f"${answer.field}"} if answer.field else {}
                control = _add(view, "Choices", **tied, choice=many, **must, **listed)
                own = () if answer.field else answer.choices
                for choice in _YES_NO if answer.kind == "flag" else own:
                    hint = {"hint": _safe(choice.help)} if choice.help else {}
                    _add(control, "Choice", value=_safe(choice.label), alias=choice.value, **hint)
            case "text":
                start = answer.initial if answer.initial in layout.fields else None
                value = {"value": f"${start}"} if start else {}
                rows = "3" if answer.check.max_length > 120 else "1"
                only = {"maxSubmissions": "1", "editable": "true", "rows": rows}
                _add(view, "TextArea", **tied, **only, **must, **value)
            case "span" | "spans":
                once = {"maxUsages": "1"} if answer.kind == "span" else {}
                control = _add(view, "Labels", name=name, toName=answer.field or first)
                _add(control, "Label", value=_safe(answer.label), **once)
            case "group":
                for number in range(1, answer.max_items + 1):
                    inner = {n: f"{name}-{number}-{n}" for n in answer.answers}
                    entry = _add(view, "View")
                    _header(entry, f"{number}.", 5)
                    needed = number <= answer.min_items and required
                    for n, one in answer.answers.items():
                        around = (answer.answers, {**names, **inner})
                        self.add(entry, inner[n], one, *around, required=one.required and needed)


def _conditions(
    answer: LayoutAnswer, siblings: Mapping[str, LayoutAnswer], layout: Layout
) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """What an answer depends on: another one, values of it, and whether one must be selected."""
    for other, values in answer.unless.items():
        yield other, values, False
    for other, values in answer.when.items():
        about = siblings.get(other) or layout.answers[other]
        yield from _conditions(about, siblings, layout)
        yield other, values, True


def _listed(layout: Layout) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in _every(layout.answers):
        if answer.field and answer.kind in ("choice", "choices"):
            found.setdefault(answer.field, []).extend(one.value for one in answer.choices)
    return found


def _read_first(layout: Layout) -> set[str]:
    """List fields to be read before they are chosen from: no choice shows them from the start."""
    always: set[str] = set()
    later: set[str] = set()
    for answer in _every(layout.answers):
        if answer.field and answer.kind in ("choice", "choices") and not answer.within:
            (later if answer.when else always).add(answer.field)
    return later - always


def _text_of(name: str) -> str:
    return f"{META}_{name}"


def _within(name: str, siblings: Mapping[str, LayoutAnswer], layout: Layout) -> str:
    about = siblings.get(name) or layout.answers.get(name)
    label = about.label if about else layout.fields[name].label or name.replace("_", " ")
    return f"Only one that stands in your answer above is taken: {label}"


def _instructions(layout: Layout) -> Iterator[str]:
    yield layout.summary
    yield from layout.instructions
    if any(field.marks or field.dates for field in layout.fields.values()):
        yield "The texts below are plain: no words or dates are highlighted or underlined in them."
    for number, example in enumerate(layout.examples, 1):
        yield f"Worked example {number}"
        yield from (f"{label}: {text}" for label, text in example.items())


def _every(answers: Mapping[str, LayoutAnswer]) -> Iterator[LayoutAnswer]:
    for answer in answers.values():
        yield answer
        yield from _every(answer.answers)


def _field_text(field: LayoutField, value: Json) -> tuple[str, list[list[int]] | None]:
    """The text of a field; of paragraphs, also where each begins and ends."""
    if field.kind == "date" and isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC).date().isoformat(), None
    if field.kind == "list":
        return "\n".join(_texts(value)) or field.empty or _EMPTY, None
    if field.kind != "paragraphs" or isinstance(value, str):
        return plain(value) or field.empty or _EMPTY, None
    text, places, before = "", [], ""
    for one in value if isinstance(value, list | tuple) else ():
        heading = one.get("heading") or one.get("section") if isinstance(one, Mapping) else ""
        if heading and heading != before:
            text += f"== {heading} =={_BETWEEN}"
        before = str(heading or "")
        own = plain(one)
        places.append([len(text), len(text) + len(own)])
        text += own + _BETWEEN
    return text.removesuffix(_BETWEEN) or field.empty or _EMPTY, places


def _texts(value: Json) -> list[str]:
    many = value if isinstance(value, list | tuple) else [value]
    return [plain(one) for one in many if one is not None]


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _header(parent: ElementTree.Element, text: str, size: int) -> None:
    _add(parent, "Header", value=_safe(text), size=str(size))


def _safe(text: str) -> str:
    """A text of the layout that Label Studio does not take for a variable."""
    return text.replace("$", "$\u2060")


CONFIG, TASKS, README = "config.xml", "tasks.json", "README.txt"
_NOT_OURS = "not an export of Label Studio"
_PLACES = TypeAdapter(dict[str, list[tuple[int, int]]])


class LabelStudio(Platform):
    """Label Studio, by files; it takes no approvals, because annotators there are one's own."""

    name = "label_studio"
    piecewise = True

    def export(
        self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery
    ) -> list[str]:
        readme = resource("annotation/platforms/label_studio_readme.txt").read_text("utf-8")
        readme = readme.format(n=layout.assignments)
        (folder / CONFIG).write_text(config(layout), "utf-8", newline="\n")
        (folder / README).write_text(readme, "utf-8", newline="\n")
        lines = (
            json.dumps(task(layout, batch.id, hit, item), ensure_ascii=False, sort_keys=True)
            for hit in batch.hits
            for item in hit.items
        )
        with (folder / TASKS).open("w", encoding="utf-8", newline="\n") as file:
            for n, line in enumerate(lines):
                file.write(("[\n" if n == 0 else ",\n") + line)
            file.write("\n]\n" if batch.hits else "[]\n")
        return [CONFIG, TASKS, README]

    def knows(self, path: Path) -> bool:
        if path.suffix.lower() != ".json":
            return False
        start = head(path)
        return f'"{META}"' in start or ('"annotations"' in start and '"data"' in start)

    def from_document(self, value: Any, where: str, line: int) -> Iterator[Submission | Refused]:
        """A submission for each annotation of a task; what is skipped or a draft is refused."""
        data = value.get("data") if isinstance(value, dict) else None
        data = data if isinstance(data, dict) else {}
        meta = data.get(META)
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            detail = f"its data has no {META} of {FORMAT}"
            yield Refused(where, line, "not a task of ours", detail)
            return
        drafts, given = value.get("drafts") or [], value.get("annotations") or []
        if not isinstance(given, list) or not isinstance(drafts, list):
            yield Refused(where, line, _NOT_OURS, "annotations is not a list")
            return
        item = _id(meta.get("item"))
        for _ in drafts:
            yield Refused(where, line, "draft", f"item {item}: not submitted")
        for annotation in given:
            if not isinstance(annotation, dict):
                yield Refused(where, line, _NOT_OURS, "an annotation is not an object")
            elif annotation.get("was_cancelled") is True:
                yield Refused(where, line, "skipped", f"item {item}")
            else:
                yield _submission_of(annotation, data, meta, where, line)


class BadResultError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def annotation_answers(
    result: object, data: Mapping[str, Any], meta: Mapping[str, Any]
) -> dict[str, Any]:
    """The answers in the `result` of an annotation, read by what the task's `meta` says of them.

    Answers that are not asked, because an earlier one has changed since, are left out, as on our
    own pages. Nothing is checked against the layout yet.
    """
    try:
        spec = SPEC.validate_python(meta.get("answers"))
        places = _PLACES.validate_python(meta.get("paragraphs") or {})
    except ValidationError:
        spec, places = None, {}
    if not isinstance(result, list) or spec is None:
        raise BadResultError(_NOT_OURS, "no list of results")
    given: dict[str, list[Any]] = {}
    for entry in result:
        name, value = _named_value(entry)
        given.setdefault(name, []).append(value)
    found = _scope_answers(spec, given, "", {}, _SpanTexts(data, places))
    if given:
        raise BadResultError("unknown answer", f"{next(iter(given))[:40]!r} is not asked")
    return found


def located(text: str, start: int, end: int, quoted: object, name: str = "span") -> tuple[int, int]:
    """Where a span is, in code points without the white space around it.

    `quoted`: its text, where the export has it; then it decides whether the offsets count code
    points or UTF-16 units. Without it they count code points.
    """
    for a, b in ((start, end), (_code_points(text, start), _code_points(text, end))):
        own = text[a:b]
        if quoted is not None and _visible_text(own) != _visible_text(str(quoted)):
            continue
        a += len(own) - len(own.lstrip())
        b -= len(own) - len(own.rstrip())
        if 0 <= a < b <= len(text):
            return a, b
    raise BadResultError("bad span", f"{name}: its text is not at its place")


def _submission_of(
    annotation: dict[str, Any], data: dict[str, Any], meta: dict[str, Any], where: str, line: int
) -> Submission | Refused:
    item = _id(meta.get("item"))
    try:
        answers = annotation_answers(annotation.get("result"), data, meta)
    except BadResultError as error:
        return Refused(where, line, error.reason, f"item {item}: {error.detail}")
    worker = annotation.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("id")
    seconds = annotation.get("lead_time")
    timed = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    value = {
        "format": SUBMISSION,
        "batch": _id(meta.get("batch")),
        "hit": _id(meta.get("hit")),
        "worker": _id(worker),
        "assignment": _id(annotation.get("id")),
        "seconds": seconds if timed else None,
        "answers": {item: answers},
        "item_seconds": {item: seconds} if timed else {},
    }
    return from_value(value, where, line)


def _id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def _named_value(entry: object) -> tuple[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("from_name"), str):
        kind = entry.get("type") if isinstance(entry, dict) else None
        raise BadResultError("unknown result", f"of type {str(kind)[:40]!r}")
    if not isinstance(entry.get("value"), dict):
        raise BadResultError("unknown result", f"{entry['from_name'][:40]!r} has no value")
    return entry["from_name"], entry["value"]


class _SpanTexts(NamedTuple):
    """The texts that spans are in; `paragraphs`: where those of a field begin and end."""

    data: Mapping[str, Any]
    paragraphs: Mapping[str, Sequence[tuple[int, int]]]

    def span(self, name: str, field: str, value: Mapping[str, Any]) -> dict[str, Any]:
        text = self.data.get(field)
        start, end = value.get("start"), value.get("end")
        if not isinstance(text, str) or not _is_offset(start) or not _is_offset(end):
            raise BadResultError("bad span", f"{name}: no text or no place in it")
        start, end = located(text, int(str(start)), int(str(end)), value.get("text"), name)
        if field not in self.paragraphs:
            return {"start": start, "end": end, "text": text[start:end]}
        for number, (first, last) in enumerate(self.paragraphs[field]):
            if first <= start and end <= last:
                place = {"paragraph": number, "start": start - first, "end": end - first}
                return {**place, "text": text[start:end]}
        raise BadResultError("bad span", f"{name}: not within one paragraph")


def _is_offset(value: object) -> bool:
    return not isinstance(value, bool) and re.fullmatch(r"\d{1,9}", str(value)) is not None


def _code_points(text: str, units: int) -> int:
    """Code points before a place that is given in UTF-16 units."""
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))


def _visible_text(text: str) -> str:
    return " ".join(text.replace("\\n", " ").split())


def _scope_answers(
    spec: Sequence[AskedAnswer],
    given: dict[str, list[Any]],
    prefix: str,
    before: Mapping[str, Any],
    texts: _SpanTexts,
) -> dict[str, Any]:
    """The answers of a layout, or of an entry of a group, in order; takes them out of `given`."""
    found: dict[str, Any] = {}
    for one in spec:
        name = one.name
        values = given.pop(prefix + name, [])
        if one.kind == "group":
            value: Any = _group_entries(one.answers, given, f"{prefix}{name}-", before, texts)
        else:
            value = _answer_value(one, values, texts)
        named = {**before, **found}
        asked = all(condition_holds(named.get(other), v) for other, v in one.when.items())
        hidden = any(condition_holds(named.get(other), v) for other, v in one.unless.items())
        if asked and not hidden and not one.off and value not in (None, "", []):
            found[name] = value
    return found


def _group_entries(
    spec: Sequence[AskedAnswer],
    given: dict[str, list[Any]],
    prefix: str,
    before: Mapping[str, Any],
    texts: _SpanTexts,
) -> list[dict[str, Any]]:
    pattern = re.compile(re.escape(prefix) + r"(\d{1,3})-")
    numbers = sorted({int(m[1]) for m in map(pattern.match, given) if m})
    entries = [_scope_answers(spec, given, f"{prefix}{n}-", before, texts) for n in numbers]
    return [entry for entry in entries if entry]


def _answer_value(one: AskedAnswer, values: Sequence[Any], texts: _SpanTexts) -> Any:
    kind, name = one.kind, one.name
    if kind in ("span", "spans"):
        spans = [texts.span(name, one.field, value) for value in values]
        spans.sort(key=lambda s: (s.get("paragraph", 0), s["start"], s["end"]))
        if kind == "spans":
            return spans
        if len(spans) > 1:
            raise BadResultError("too many", f"{name}: {len(spans)} spans are marked")
        return spans[0] if spans else None
    key = "text" if kind == "text" else "choices"
    many = [text for value in values for text in _texts_of(value.get(key), name)]
    if kind == "choices":
        return many
    if kind == "text":
        many = [text for text in map(str.strip, many) if text]
    if len(many) > 1:
        raise BadResultError("too many", f"{name}: {len(many)} values")
    if not many:
        return None
    return {"true": True, "false": False}.get(many[0], many[0]) if kind == "flag" else many[0]


def _texts_of(value: object, name: str) -> list[str]:
    many: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in many):
        raise BadResultError("unknown result", f"{name}: not a list of texts")
    return many
