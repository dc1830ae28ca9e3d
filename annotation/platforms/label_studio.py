"""Label Studio: a labelling configuration and tasks to import, and its JSON export read back.

One task an item, with every field as plain text. Annotators do tasks one by one and not HIT by
HIT: each annotation is a submission of its own, of one item. What they skipped and what is only a
draft is reported as such.

Every answer is a control named for it, every field that is shown a `Text`, which shows text as it
is (`label_studio.xml.j2`). Names of answers in a group hold the number of the entry:
`questions-2-answer`. The texts of a `paragraphs` field are one `Text`, through which offsets count,
in code points, or as a browser counts (see `_span_place`). An export is read by the batch's own
layout and items.
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
from factdrift.annotation.platforms.base import FindItem, Platform, Recognition
from factdrift.annotation.reading import is_table, json_documents, read_head
from factdrift.annotation.submission import (
    SUBMISSION_FORMAT,
    Json,
    Refused,
    Submission,
    submission_from_value,
)
from factdrift.annotation.task_template import template_environment
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.text_files import table_columns

FORMAT = "factdrift-task/1"
# The key of a task's data under which it says which item it is.
META = "factdrift"
_BETWEEN = "\n\n"
# Stands for a text that an item lacks: Label Studio asks for every value that is named.
_EMPTY = "(none)"
# The most controls of a configuration; a group's entries are written out, also those of groups
# in groups.
_MOST_ENTRIES = 2000
_NOT_OURS = "not an export of Label Studio"


def labelling_config(layout: Layout) -> str:
    """Return the labelling configuration as XML.

    Raises `UserError` if Label Studio cannot express the layout.
    """
    _require_values_without_commas(layout)
    if (entry_count := _entry_count(layout.answers)) > _MOST_ENTRIES:
        text = f"{entry_count:,} entries of groups, and Label Studio gets {_MOST_ENTRIES:,} at most"
        raise UserError(f"{layout.name}: {text}", hint="lower max_items")
    choice_lists, shown_first = _choice_lists(layout), _lists_shown_first(layout)
    shown_fields = {}
    for field_name, field in layout.fields.items():
        if field.kind != "spans" and (field_name not in choice_lists or field_name in shown_first):
            shown_key = f"{META}_{field_name}" if field_name in choice_lists else field_name
            shown_fields[shown_key] = field.label or _default_label(field_name)

    def conditions_of(
        answer: LayoutAnswer, sibling_answers: Mapping[str, LayoutAnswer]
    ) -> list[tuple[str, tuple[str, ...], bool]]:
        """Return the conditions under which the page shows the question for an answer.

        Each condition is the name of an earlier answer, some values, and whether one of them has to
        be selected (True, from `when`) or none of them may be (False, from `unless`). All have to
        be met.

        In a layout, an answer that is not asked for has no value, but a condition of Label Studio
        only looks at a selection. So `when` also repeats the conditions of the earlier answer: an
        answer that depends on it is asked only if the earlier one is asked itself. `unless` needs
        no such chain, because it is met if the earlier answer is not asked.
        """
        answer_conditions = [
            (answer_name, condition_values, False)
            for answer_name, condition_values in answer.unless.items()
        ]
        for answer_name, condition_values in answer.when.items():
            answer_conditions += conditions_of(
                sibling_answers.get(answer_name) or layout.answers[answer_name], sibling_answers
            )
            answer_conditions.append((answer_name, condition_values, True))
        return list(dict.fromkeys(answer_conditions))

    def label_of(answer_name: str, sibling_answers: Mapping[str, LayoutAnswer]) -> str:
        labelled_part = (
            sibling_answers.get(answer_name)
            or layout.answers.get(answer_name)
            or layout.fields[answer_name]
        )
        return labelled_part.label or _default_label(answer_name)

    # a word joiner after each dollar sign keeps Label Studio from taking it for a variable
    templates = template_environment(resource("annotation/platforms"), dollar_text="$\u2060")
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
        for condition_values in (*answer.when.values(), *answer.unless.values()):
            if any("," in condition_value for condition_value in condition_values):
                text = "Label Studio cannot tell values with a comma apart"
                raise UserError(f"{layout.name}: {text}")


def _entry_count(layout_answers: Mapping[str, LayoutAnswer]) -> int:
    """Return the number of controls of all entries of groups, which the configuration lists."""
    entry_count = 0
    for answer in layout_answers.values():
        entry_count += answer.max_items * _entry_count(answer.answers) if answer.answers else 1
    return entry_count


def make_task(layout: Layout, batch: str, task_hit: Hit, task_item: Item) -> dict[str, Any]:
    """The task of an item: the texts to show, and under `META` the ids of batch, HIT and item."""
    task_data: dict[str, Any] = {f"{META}_item": task_item.id}
    task_data[META] = {
        "format": FORMAT,
        "batch": batch,
        "hit": task_hit.id,
        "item": task_item.id,
    }
    choice_lists, shown_first = _choice_lists(layout), _lists_shown_first(layout)
    for field_name, field in layout.fields.items():
        field_value = task_item.fields.get(field_name)
        if field_name in choice_lists:
            choice_texts = [*dict.fromkeys(_texts(field_value)), *choice_lists[field_name]]
            task_data[field_name] = [{"value": choice_text} for choice_text in choice_texts]
        if field.kind != "spans" and (field_name not in choice_lists or field_name in shown_first):
            task_key = f"{META}_{field_name}" if field_name in choice_lists else field_name
            task_data[task_key], _ = _field_text(field, field_value)
    return {"data": task_data}


def _choice_lists(layout: Layout) -> dict[str, list[str]]:
    """The list fields that are chosen from, with the further choices of their answers."""
    choices_by_field: dict[str, list[str]] = {}
    for answer in _walk_answers(layout.answers):
        if answer.field and answer.kind in ("choice", "choices"):
            choices_by_field.setdefault(answer.field, []).extend(
                choice.value for choice in answer.choices
            )
    return choices_by_field


def _lists_shown_first(layout: Layout) -> set[str]:
    """List fields to be read before they are chosen from: no choice shows them from the start."""
    conditional_fields: set[str] = set()
    unconditional_fields: set[str] = set()
    for answer in _walk_answers(layout.answers):
        if answer.field and answer.kind in ("choice", "choices") and not answer.within:
            (conditional_fields if answer.when else unconditional_fields).add(answer.field)
    return conditional_fields - unconditional_fields


def _walk_answers(layout_answers: Mapping[str, LayoutAnswer]) -> Iterator[LayoutAnswer]:
    """Yield all answers, also those inside of groups."""
    for answer in layout_answers.values():
        yield answer
        yield from _walk_answers(answer.answers)


def _default_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


# Where each paragraph begins and ends in the text of a field.
Places = list[tuple[int, int]]


def _field_text(field: LayoutField, field_value: Json) -> tuple[str, Places | None]:
    """The text of a field, and the places of its paragraphs where it has any."""
    if field.kind == "date" and isinstance(field_value, int) and not isinstance(field_value, bool):
        return datetime.fromtimestamp(field_value, UTC).date().isoformat(), None
    if field.kind != "paragraphs" or isinstance(field_value, str):
        field_text = (
            "\n".join(_texts(field_value)) if field.kind == "list" else value_as_text(field_value)
        )
        return field_text or field.empty or _EMPTY, None
    field_text, paragraph_places = _join_paragraphs(
        field_value if isinstance(field_value, list | tuple) else ()
    )
    return field_text or field.empty or _EMPTY, paragraph_places


def _join_paragraphs(paragraphs: Sequence[Json]) -> tuple[str, Places]:
    """Join paragraphs into one text; return it and the place of each paragraph in it.

    A heading stands once, above the first of the paragraphs in a row that have it. A place is the
    start and the end of the paragraph's text, without its heading.
    """
    joined_text, heading_before = "", ""
    paragraph_places: Places = []
    for paragraph in paragraphs:
        paragraph_heading: Any = ""
        if isinstance(paragraph, Mapping):
            paragraph_heading = paragraph.get("heading") or paragraph.get("section")
        if paragraph_heading and paragraph_heading != heading_before:
            joined_text += f"== {paragraph_heading} =={_BETWEEN}"
        heading_before = str(paragraph_heading or "")
        paragraph_text = value_as_text(paragraph)
        paragraph_places.append((len(joined_text), len(joined_text) + len(paragraph_text)))
        joined_text += paragraph_text + _BETWEEN
    return joined_text.removesuffix(_BETWEEN), paragraph_places


def _texts(field_value: Json) -> list[str]:
    entries = field_value if isinstance(field_value, list | tuple) else [field_value]
    return [value_as_text(entry) for entry in entries if entry is not None]


class LabelStudio(Platform):
    """Label Studio, by files; it takes no approvals, because annotators there are one's own."""

    name = "label_studio"
    piecewise = True
    # annotators are numbers, or the addresses that they sign in with, in which no site minds case
    ids_ignore_case = True

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        readme_text = resource("annotation/platforms/label_studio_readme.txt").read_text("utf-8")
        hit_tasks = (
            make_task(layout, batch.id, hit, item) for hit in batch.hits for item in hit.items
        )
        task_lines = (
            json.dumps(item_task, ensure_ascii=False, sort_keys=True) for item_task in hit_tasks
        )
        file_texts = {
            "config.xml": labelling_config(layout),
            "README.txt": readme_text.format(n=layout.assignments),
            "tasks.json": "[\n" + ",\n".join(task_lines) + "\n]\n",
        }
        for file_name, file_text in file_texts.items():
            (folder / file_name).write_text(file_text, "utf-8", newline="\n")

    def recognises(self, path: Path) -> Recognition:
        """Return `SURE` for a JSON file of Label Studio tasks: ours, or any with annotations.

        Its other exports are recognised as well, so that `read` can say what to export instead.
        """
        if is_table(path):
            is_sure = {*_TABLE_COLUMNS} <= {*table_columns(path)}
            return Recognition.SURE if is_sure else Recognition.NO
        if path.suffix.lower() != ".json":
            return Recognition.NO
        file_start = read_head(path)
        is_sure = (
            f'"{META}"' in file_start
            or ('"annotations"' in file_start and '"data"' in file_start)
            or ('"annotation_id"' in file_start and '"annotator"' in file_start)
        )
        return Recognition.SURE if is_sure else Recognition.NO

    def read(
        self, path: Path, find_item: FindItem = lambda *ids: None
    ) -> Iterator[Submission | Refused]:
        """Yield a submission for each annotation of a task; refuse skipped tasks and drafts.

        `UserError`: the file is another of Label Studio's exports, which lacks the ids or places
        that a submission needs.
        """
        where = display_path(path)
        if is_table(path):
            raise _other_export("CSV", where)
        for entry in json_documents(path):
            if isinstance(entry, Refused):
                yield entry
            elif _is_min(entry.value):
                raise _other_export("JSON_MIN", where)
            else:
                yield from _submissions(entry.value, where, entry.line, find_item)


# the columns that all tables of Label Studio have, whatever was asked
_TABLE_COLUMNS = ("annotation_id", "annotator", "lead_time")


def _is_min(task_value: Any) -> bool:
    """Whether a value is a task of JSON_MIN: flat, with the id of its one annotation."""
    return isinstance(task_value, dict) and "annotation_id" in task_value


def _other_export(export_name: str, where: str) -> UserError:
    hint_text = "export it once more as JSON (not JSON_MIN), and give that file"
    return UserError(f"this is Label Studio's export as {export_name}", where=where, hint=hint_text)


class ControlValue(BaseModel):
    """The value of a control: choices, texts, or a span with its text."""

    choices: list[str] = []
    text: str | list[str] | None = None
    start: int | None = None
    end: int | None = None


class ControlResult(BaseModel):
    """One entry of an annotation."""

    from_name: str
    value: ControlValue


class TaskAnnotation(BaseModel):
    """The annotation of a task by one annotator."""

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
    task_value: Any, where: str, line: int, find_item: FindItem
) -> Iterator[Submission | Refused]:
    """Yield the submissions of one exported task, which has an annotation for each annotator."""
    task_data = task_value.get("data") if isinstance(task_value, dict) else None
    task_meta = task_data.get(META) if isinstance(task_data, dict) else None
    if not isinstance(task_meta, dict) or task_meta.get("format") != FORMAT:
        refusal_detail = f"its data has no {META} of {FORMAT}"
        yield Refused(where, line, "not a task of ours", refusal_detail)
        return
    item_ids = _TaskIds(*(str(task_meta.get(name) or "") for name in _TaskIds._fields))
    draft_count, task_annotations = (
        task_value.get("drafts") or [],
        task_value.get("annotations") or [],
    )
    if not isinstance(draft_count, list) or not isinstance(task_annotations, list):
        yield Refused(where, line, _NOT_OURS, "annotations is not a list")
        return
    for _ in draft_count:
        yield Refused(where, line, "draft", f"item {item_ids.item}: not submitted")
    for task_annotation in task_annotations:
        if isinstance(task_annotation, dict) and task_annotation.get("was_cancelled") is True:
            yield Refused(where, line, "skipped", f"item {item_ids.item}")
        else:
            yield _annotation_submission(task_annotation, item_ids, where, line, find_item)


def _annotation_submission(
    task_value: Any, item_ids: _TaskIds, where: str, line: int, find_item: FindItem
) -> Submission | Refused:
    """The submission in one annotation of a task."""
    try:
        task_annotation = TaskAnnotation.model_validate(task_value)
        known_item = find_item(*item_ids)
        item_answers = annotation_answers(task_annotation.result, *known_item) if known_item else {}
    except ValidationError as error:
        annotation_place = ".".join(map(str, error.errors()[0]["loc"]))
        return Refused(
            where,
            line,
            _NOT_OURS,
            f"item {item_ids.item}: {annotation_place or 'no annotation'}",
        )
    except BadResultError as error:
        skip_reason, refusal_detail = error.args
        return Refused(where, line, skip_reason, f"item {item_ids.item}: {refusal_detail}")
    annotator_id = task_annotation.completed_by
    if isinstance(annotator_id, dict):
        annotator_id = annotator_id.get("id", "")
    lead_seconds = task_annotation.lead_time
    item_submission = {
        "format": SUBMISSION_FORMAT,
        "batch": item_ids.batch,
        "hit": item_ids.hit,
        "worker": str(annotator_id),
        "assignment": str(task_annotation.id),
        "seconds": lead_seconds,
        "answers": {item_ids.item: item_answers},
        "item_seconds": {} if lead_seconds is None else {item_ids.item: lead_seconds},
    }
    return submission_from_value(item_submission, where, line)


def annotation_answers(
    annotation_results: Sequence[ControlResult], layout: Layout, item: Item
) -> dict[str, Any]:
    """The answers in an annotation of an item.

    Answers that are not asked, because an earlier one has changed since, are left out, as on our
    own pages. Nothing is checked against the layout yet. `BadResultError`: the layout does not ask
    for an answer, or a span or a choice cannot be read.
    """
    values_by_control: dict[str, list[ControlValue]] = {}
    for control_result in annotation_results:
        values_by_control.setdefault(control_result.from_name, []).append(control_result.value)

    def take_answers(
        asked_answers: Mapping[str, LayoutAnswer],
        name_prefix: str,
        earlier_context: Mapping[str, Any],
    ) -> dict[str, Any]:
        """The answers of the layout, or of one entry of a group; removes their control values."""
        taken_answers: dict[str, Any] = {}
        for answer_name, answer in asked_answers.items():
            control_values = values_by_control.pop(name_prefix + answer_name, [])
            answer_context = {**earlier_context, **taken_answers}
            if answer.kind == "group":
                answer_value: Any = []
                for entry_number in _entry_numbers(
                    f"{name_prefix}{answer_name}", values_by_control
                ):
                    group_entry = take_answers(
                        answer.answers,
                        f"{name_prefix}{answer_name}-{entry_number}-",
                        answer_context,
                    )
                    if group_entry:
                        answer_value.append(group_entry)
            else:
                answer_value = _answer_value(answer_name, answer, control_values, layout, item)
            if is_asked(answer, answer_context) and answer_value not in (None, "", []):
                taken_answers[answer_name] = answer_value
        return taken_answers

    item_answers = take_answers(layout.answers, "", item.fields)
    if values_by_control:
        unknown_controls = next(iter(values_by_control))
        raise BadResultError("unknown answer", f"{unknown_controls[:40]!r} is not asked")
    return item_answers


def _entry_numbers(group_name: str, control_names: Iterable[str]) -> list[int]:
    """The numbers of a group's entries: of `questions`, 2 by the control `questions-2-answer`."""
    number_pattern = re.compile(re.escape(f"{group_name}-") + r"(\d{1,3})-")
    number_matches = map(number_pattern.match, control_names)
    return sorted({int(number_match[1]) for number_match in number_matches if number_match})


def _answer_value(
    control_name: str,
    answer: LayoutAnswer,
    control_values: Sequence[ControlValue],
    layout: Layout,
    item: Item,
) -> Any:
    """Return the value of an answer that is no group, or None if nothing was entered."""
    entries: list[Any] = []
    if answer.kind in ("span", "spans"):
        field = answer.field or ""
        entered_text, paragraph_places = _field_text(layout.fields[field], item.fields.get(field))
        entries = [
            _span_in_field(control_name, first_value, entered_text, paragraph_places)
            for first_value in control_values
        ]
        entries.sort(
            key=lambda span: (
                span.get("paragraph", 0),
                span["start"],
                span["end"],
            )
        )
    elif answer.kind == "text":
        entries = _entered_texts(control_values)
    else:
        for first_value in control_values:
            entries += first_value.choices
    if answer.kind in ("choices", "spans"):
        return entries
    if len(entries) > 1:
        raise BadResultError("too many", f"{control_name}: {len(entries)} values")
    if answer.kind == "flag":
        entries = [{"true": True, "false": False}.get(entry, entry) for entry in entries]
    return entries[0] if entries else None


def _entered_texts(control_values: Sequence[ControlValue]) -> list[str]:
    texts: list[str] = []
    for control_value in control_values:
        entered_value = (
            [control_value.text]
            if isinstance(control_value.text, str)
            else control_value.text or []
        )
        texts += [entered_text.strip() for entered_text in entered_value if entered_text.strip()]
    return texts


def _span_in_field(
    control_name: str, span_value: ControlValue, field_text: str, paragraph_places: Places | None
) -> dict[str, Any]:
    """Return a span without white space around it, in its paragraph if the field has any."""
    span_place = _span_place(span_value, field_text)
    if span_place is None:
        raise BadResultError("bad span", f"{control_name}: its text is not at its place")
    span_start, span_end = span_place
    marked = field_text[span_start:span_end]
    span_start += len(marked) - len(marked.lstrip())
    marked = marked.strip()
    field_span: dict[str, Any] = {
        "start": span_start,
        "end": span_start + len(marked),
        "text": marked,
    }
    if paragraph_places is None:
        return field_span
    for paragraph_number, (first_character, last_character) in enumerate(paragraph_places):
        if first_character <= span_start and field_span["end"] <= last_character:
            inside_text = {
                "start": span_start - first_character,
                "end": field_span["end"] - first_character,
            }
            return {"paragraph": paragraph_number, **field_span, **inside_text}
    raise BadResultError("bad span", f"{control_name}: not within one paragraph")


def _span_place(span_value: ControlValue, field_text: str) -> tuple[int, int] | None:
    """Where a span begins and ends in a text, in code points; None where its words are not there.

    Browsers count a character beyond the first 65,536, such as an emoji, twice, and versions of
    Label Studio differ in whether they correct that. So in a text with such characters, places that
    do not hold the quoted words are read as the browser's. Failing that, words that stand once in
    it are found by themselves.
    """
    stated_place = span_value.start or 0, span_value.end or 0
    quoted_text = span_value.text if isinstance(span_value.text, str) else None
    if _holds_words(field_text, stated_place, quoted_text):
        return stated_place
    if quoted_text is None or max(field_text, default="") <= "\uffff":
        return None
    browser_place = _from_code_units(field_text, stated_place)
    if _holds_words(field_text, browser_place, quoted_text):
        return browser_place
    is_span = stated_place[0] < stated_place[1] and quoted_text.strip() != ""
    if is_span and field_text.count(quoted_text) == 1:
        word_start = field_text.index(quoted_text)
        return word_start, word_start + len(quoted_text)
    return None


def _from_code_units(field_text: str, place: tuple[int, int]) -> tuple[int, int]:
    """A place that a browser counted in units of UTF-16, in code points."""
    code_units = field_text.encode("utf-16-le", "surrogatepass")
    place_start, place_end = (
        len(code_units[: 2 * boundary].decode("utf-16-le", "ignore")) for boundary in place
    )
    return place_start, place_end


def _holds_words(field_text: str, place: tuple[int, int], quoted_text: str | None) -> bool:
    """Whether a text has words at a place, and these ones where some are quoted."""
    marked = field_text[slice(*place)]
    if place[1] > len(field_text) or not marked.strip():
        return False
    return quoted_text in (None, marked) or _visible_text(marked) == _visible_text(
        quoted_text or ""
    )


def _visible_text(shown_text: str) -> str:
    """A text with single spaces; an export writes line breaks of a span as a backslash and n."""
    return " ".join(shown_text.replace("\\n", " ").split())
