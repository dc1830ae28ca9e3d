"""Pages on which people annotate: one self-contained HTML document for a layout.

`page_parts/` does what every layout needs (instructions, progress, keyboard, drafts, checks,
marking, submission). A layout's own `task.html.j2` is a fragment of HTML that says where what is:

    {{ show("article") }}      a field, under its label; `show("day", label="Published")`
    {{ answer("verdict") }}    an answer with its label, help, checks and messages
    {{ everything() }}         all of them in the usual order: the whole file for most layouts

`<div class="split">` holds up to three parts side by side, one below the other on a phone:
`<div class="brief">` what it is about, `<div class="source">` what one reads, `<div class="work">`
what is asked.

The page makes no request but to the address it submits to, which its content security policy
names; texts of items are data in it, never markup. Its own bytes are ASCII. For MTurk, which takes
65,535 bytes with the item's data, script and style are packed: no page has more than 48 KB.
"""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

import jinja2
from markupsafe import Markup

from factdrift.annotation.batch import Hit, attention_items, known_item_problem
from factdrift.annotation.layout import (
    FOLDER,
    WAYS_OUT,
    Layout,
    LayoutAnswer,
    layout_names,
    load_layout,
    near_hint,
)
from factdrift.annotation.order import Delivery, web_address
from factdrift.annotation.people import consent_sha256
from factdrift.annotation.rewording import WORD_LISTS
from factdrift.annotation.task_markup import MarkupError, checked_markup
from factdrift.annotation.task_template import render_template, template_environment
from factdrift.builders.core.addresses import parse_address
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

PageMode = Literal["preview", "static", "mturk"]
PARTS = resource("annotation/page_parts")
SCRIPTS = (
    *("text.js", "rewording.js", "store.js", "fields.js", "source.js"),
    *("answers.js", "choice.js", "typed.js", "marked.js", "group.js", "search.js"),
    *("task.js", "keys.js", "submit.js"),
)
WORKER = ["PROLIFIC_PID", "workerId", "participant"]
ASSIGNMENT = ["SESSION_ID", "assignmentId"]
# Parameters of a page's address in which recruiting sites name worker, assignment and study.
STUDY = ["STUDY_ID"]
TASK = "task.html.j2"
# Characters of a value that may stand in a HIT more than once.
_SIGNS_OF_PAGES = re.compile(r"[<>&$]")
"""Characters that mean something to a page or to what fills its variables: `<`, but not `"`."""
_COMMENT_LINE = re.compile(r"(?m)^ *//.*\n")
"""A line of a script that is a comment alone: `  // why`, but not `a = 1; // why`."""
_SHORT = 200


def render_page(
    layout: Layout,
    hits: Sequence[Hit],
    *,
    batch_id: str,
    mode: PageMode,
    delivery: Delivery | None = None,
    files: int = 0,
    served: bool = False,
    search: bool = False,
) -> str:
    """The page of a layout for the HITs of a batch.

    There are three modes. `preview` shows the submission at the end. `static` posts it to the
    address of `delivery` or offers it as a file; once it has arrived or is saved, the page shows
    the completion code and the link. `mturk` reads one HIT from the variable `${data}` (see
    `packed_hit`; `hits` stays empty), and its answers go into a form that the platform adds.

    A static page of several HITs shows the one that `?hit=` names by its id, or by its number
    from 1. Without `?hit=` it chooses one by the worker's id, and asks for the id where its
    address does not give it. With `files`, the number of files, the page contains no HITs and
    loads one of the files `hits/0001.json` … beside it (see `hit_file`). A `served` page asks
    `annotation.receive` for its HIT and sends its submission there; with `search` it can also
    search a corpus. `UserError`: the template names a field or an answer that does not exist.
    """
    delivery = delivery or Delivery()
    style_sheet = (PARTS / "style.css").read_text("utf-8")
    script_code = "".join(
        _without_comments((PARTS / script_name).read_text("utf-8")) for script_name in SCRIPTS
    )
    page_script = f"\n(function () {{\n'use strict';\n{script_code}drawn(start);\n}})();\n"
    unpack_script = (PARTS / "unpack.js").read_text("utf-8")
    is_packed = mode == "mturk"
    page_settings = {
        "layout": layout.name,
        "batch": batch_id,
        "mode": mode,
        "fields": {
            setting_name: field_settings.model_dump(mode="json")
            for setting_name, field_settings in layout.fields.items()
        },
        "answers": {
            setting_name: _answer_settings(field_settings)
            for setting_name, field_settings in layout.answers.items()
        },
        "post": "submissions" if served else web_address(delivery.post),
        "code": delivery.code,
        "complete": web_address(delivery.complete),
        "practice": [practice_item.model_dump(mode="json") for practice_item in layout.practice],
        "files": files,
        "served": served,
        "search": search,
        "words": WORD_LISTS if _has_rewording(layout.answers.values()) else {},
        "consent": layout.consent and consent_sha256(layout.consent),
        "worker": WORKER,
        "assignment": ASSIGNMENT,
        "study": STUDY,
    }
    page_scripts = [page_script, unpack_script] if is_packed else [page_script]
    settings_json = _script_json(page_settings)
    page_data, packed_parts = _script_json([_public_hit(hit) for hit in hits]), {}
    if is_packed:
        page_data = "${data}"
        settings_json = _deflate(settings_json)
        packed_parts = {"style": _deflate(style_sheet), "script": _deflate(page_script)}
    page_html = (
        template_environment(PARTS)
        .get_template("base.html.j2")
        .render(
            layout=layout,
            mode=mode,
            marking=_has_spans(layout.answers.values()),
            task=render_task(layout),
            style=Markup(style_sheet),  # noqa: S704 - our own file
            script=Markup(page_script),  # noqa: S704 - our own files
            packed=packed_parts,
            unpack=Markup(unpack_script),  # noqa: S704 - our own file
            settings=Markup(settings_json),  # noqa: S704 - escaped for a script
            data=Markup(page_data),  # noqa: S704 - a variable, or escaped for a script
            policy=_content_security_policy(
                page_scripts, style_sheet, delivery.post, connects_to_self=bool(files) or served
            ),
        )
    )
    return page_html.encode("ascii", "xmlcharrefreplace").decode("ascii")


def packed_hit(hit: Hit, batch_id: str) -> str:
    """Return the `${data}` of a page in mode `mturk`: a HIT as JSON, deflated and in base64."""
    public_hit = {"batch": batch_id, **_public_hit(hit)}
    return _deflate(json.dumps(public_hit, ensure_ascii=False, separators=(",", ":")))


def render_task(layout: Layout) -> Markup:
    """The layout's own part of its page, which the page's script fills with an item's texts.

    `UserError`, with the line, where the template names what is not there.
    """
    template_path = layout.folder / TASK
    task_places = _TaskPlaces(layout)
    template_values = {
        "show": task_places.show,
        "answer": task_places.answer,
        "everything": task_places.everything,
        "fields": layout.fields,
        "answers": layout.answers,
    }
    task_html = render_template(template_path, template_values)
    required_answers = [
        answer_name for answer_name in layout.answers if answer_name not in WAYS_OUT
    ]
    missing_answers = [
        answer_name for answer_name in required_answers if answer_name not in task_places.placed
    ]
    if missing_answers:
        hint_text = f"add {{{{ answer({missing_answers[0]!r}) }}}}"
        raise UserError(
            f"nowhere asked: {', '.join(missing_answers)}",
            where=display_path(template_path),
            hint=hint_text,
        )
    try:
        task_html, placed_answers = checked_markup(task_html)
    except MarkupError as error:
        mistake_text, sought_text = error.args
        line_number = _line_with(template_path, sought_text)
        raise UserError(mistake_text, where=display_path(template_path), line=line_number) from None
    if sorted(placed_answers) != sorted(task_places.placed):
        hint_text = "place them with {{ answer(…) }}"
        raise UserError("answers placed by hand", where=display_path(template_path), hint=hint_text)
    return Markup(task_html.replace("${", "&#36;{"))  # noqa: S704 - a template of ours, autoescaped


def check_layouts(layouts_folder: Path | None = None) -> list[str]:
    """A line for each layout, with its pay; one `UserError` with all that is wrong, file:line.

    `layouts_folder` is the folder of many layouts or of one, by default ours. The page of each
    layout is made from its attention items, whose known answers have to pass the checks.
    """
    root_folder = layouts_folder or FOLDER
    is_single = (root_folder / "layout.yaml").is_file()
    layout_folders = (
        [root_folder]
        if is_single
        else [root_folder / layout_name for layout_name in layout_names(root_folder)]
    )
    if not layout_folders:
        raise UserError(
            "no layouts", where=display_path(root_folder), hint="a layout is a folder: layout.yaml"
        )
    layout_lines, layout_problems = [], []
    for layout_folder in layout_folders:
        try:
            layout_lines.append(_layout_line(layout_folder.resolve()))
        except UserError as error:
            layout_problems.append(str(error))
    if layout_problems:
        raise UserError("\n".join(layout_problems))
    return layout_lines


class _TaskPlaces:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.placed: list[str] = []

    def show(self, name: str, label: str | None = None) -> Markup:
        self._check_known(name, self.layout.fields, "field")
        title = Markup(' data-label="{}"').format(label) if label else ""
        return Markup('<div class="show" data-show="{}"{}></div>').format(name, title)

    def answer(self, name: str) -> Markup:
        self._check_known(name, self.layout.answers, "answer")
        if name in self.placed:
            raise jinja2.TemplateRuntimeError(f"the answer {name!r} is placed twice")
        self.placed.append(name)
        return Markup('<div class="ask" data-answer="{}"></div>').format(name)

    def everything(self) -> Markup:
        """Short fields, long fields and answers, in the layout's order."""
        layout = self.layout
        marked_fields, choice_fields = _fields_of_answers(layout)
        page_parts: dict[str, list[Markup]] = {"brief": [], "source": [], "work": []}
        for part_name, field in layout.fields.items():
            if field.kind == "spans" or part_name in choice_fields:
                continue
            is_long = part_name in marked_fields or field.kind == "paragraphs" or field.join
            page_parts["source" if is_long else "brief"].append(self.show(part_name))
        for part_name in layout.answers:
            if part_name not in WAYS_OUT:
                page_parts["work"].append(self.answer(part_name))
        inner_html = Markup()
        for part_name, part_places in page_parts.items():
            if part_places:
                inner_html += Markup('<div class="{}">{}</div>').format(
                    part_name, Markup().join(part_places)
                )
        style_class = "split" if page_parts["source"] else "single"
        return Markup('<div class="{}">{}</div>').format(style_class, inner_html)

    def _check_known(self, name: str, known_names: Mapping[str, object], name_kind: str) -> None:
        if name not in known_names:
            raise jinja2.TemplateRuntimeError(
                f"no {name_kind} {name!r}, {near_hint(name, known_names)}"
            )


def _fields_of_answers(layout: Layout) -> tuple[set[str | None], set[str | None]]:
    """The fields in which spans are marked, and those whose entries are choices or their hints."""
    marked_fields: set[str | None] = set()
    choice_fields: set[str | None] = set()
    all_answers = [*layout.answers.values()]
    for answer in layout.answers.values():
        all_answers += answer.answers.values()
    for answer in all_answers:
        choice_fields.add(answer.hints)
        if answer.kind in ("span", "spans"):
            marked_fields.add(answer.field)
        elif answer.kind in ("choice", "choices"):
            choice_fields.add(answer.field)
    return marked_fields, choice_fields


def _line_with(template_path: Path, sought_text: str) -> int | None:
    """The first line of a template that has a text, whatever its case; None if it is computed."""
    template_lines = template_path.read_text("utf-8").lower().splitlines()
    for line_number, template_line in enumerate(template_lines, 1):
        if sought_text in template_line:
            return line_number
    return None


def _layout_line(layout_folder: Path) -> str:
    layout = load_layout(layout_folder)
    known_items = attention_items(layout)
    render_page(layout, [Hit("0", tuple(known_items))], batch_id="0", mode="preview")
    for item_kind, known_list in (("practice", layout.practice), ("attention", layout.attention)):
        for item_number, known_item in enumerate(known_list, 1):
            if item_problem := known_item_problem(layout, known_item):
                text = f"{item_kind} item {item_number}: {item_problem}"
                raise UserError(text, where=display_path(layout_folder / "layout.yaml"))
    pay = layout.pay
    return (
        f"{layout_folder.name}: {layout.title}; {layout.assignments} x "
        f"{pay.per_hit} {pay.currency} for {layout.items_per_hit} items "
        f"in {pay.minutes_per_hit} minutes ({pay.hourly} {pay.currency} an hour), "
        f"{len(known_items)} attention items"
    )


def hit_file(hit: Hit) -> str:
    """The JSON of one HIT, as a page loads it: without rows, known answers and repeated texts."""
    return json.dumps(_public_hit(hit), ensure_ascii=True, separators=(",", ":"))


def _public_hit(hit: Hit) -> dict[str, object]:
    """The HIT as a page has it: a long value stands in `texts`, once for all items that have it."""
    repeated_texts: list[object] = []
    public_items = []
    for item in hit.items:
        long_values = {
            field_name: field_value
            for field_name, field_value in item.fields.items()
            if len(str(field_value)) > _SHORT
        }
        repeated_texts += [
            field_value for field_value in long_values.values() if field_value not in repeated_texts
        ]
        short_fields = {
            field_name: field_value
            for field_name, field_value in item.fields.items()
            if field_name not in long_values
        }
        text_places = {
            field_name: repeated_texts.index(field_value)
            for field_name, field_value in long_values.items()
        }
        public_items.append({"id": item.id, "fields": short_fields, "same": text_places})
    return {"id": hit.id, "texts": repeated_texts, "items": public_items}


def _has_spans(layout_answers: Iterable[LayoutAnswer]) -> bool:
    return any(
        answer.kind in ("span", "spans") or _has_spans(answer.answers.values())
        for answer in layout_answers
    )


def _has_rewording(layout_answers: Iterable[LayoutAnswer]) -> bool:
    return any(
        answer.check.rewords or _has_rewording(answer.answers.values()) for answer in layout_answers
    )


def _answer_settings(answer: LayoutAnswer) -> dict[str, object]:
    return answer.model_dump(mode="json", exclude_defaults=True, exclude={"agree"}) | {
        "required": answer.required,
        "check": answer.check.model_dump(mode="json"),
        "answers": {
            inner_name: _answer_settings(inner_answer)
            for inner_name, inner_answer in answer.answers.items()
        },
        "min_items": answer.min_items,
        "max_items": answer.max_items,
    }


def _script_json(value: object) -> str:
    """JSON that can stand in a script element, and in what substitutes variables, as it is."""
    json_text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return _SIGNS_OF_PAGES.sub(lambda special_match: f"\\u{ord(special_match[0]):04x}", json_text)


def _without_comments(script_text: str) -> str:
    return _COMMENT_LINE.sub("", script_text)


def _deflate(plain_text: str) -> str:
    return base64.b64encode(zlib.compress(plain_text.encode("utf-8"), 9)).decode("ascii")


def _content_security_policy(
    page_scripts: Sequence[str],
    style_sheet: str,
    post_address: str | None,
    *,
    connects_to_self: bool,
) -> str:
    def sha(text: str) -> str:
        return f"'sha256-{base64.b64encode(sha256(text.encode('utf-8')).digest()).decode()}'"

    connect_sources = ["'self'"] if connects_to_self else []
    if post_address:
        address = parse_address(post_address)
        connect_sources.append(f"{address.origin}{address.path}")
    policy_rules = {
        "default-src": "'none'",
        "script-src": " ".join(map(sha, page_scripts)),
        "style-src": sha(style_sheet),
        "img-src": "data:",
        "connect-src": " ".join(connect_sources) or "'none'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(
        f"{directive_name} {directive_value}"
        for directive_name, directive_value in policy_rules.items()
    )
