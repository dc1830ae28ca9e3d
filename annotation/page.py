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
from urllib.parse import urlsplit

import jinja2
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup, escape

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
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

PageMode = Literal["preview", "static", "mturk"]
PARTS = resource("annotation/page_parts")
SCRIPTS = (
    *("text.js", "store.js", "fields.js", "source.js"),
    *("answers.js", "choice.js", "typed.js", "marked.js", "group.js", "search.js"),
    *("task.js", "keys.js", "submit.js"),
)
WORKER = ["PROLIFIC_PID", "workerId", "participant"]
ASSIGNMENT = ["SESSION_ID", "assignmentId"]
# Parameters of a page's address in which recruiting sites name worker, assignment and study.
STUDY = ["STUDY_ID"]
TASK = "task.html.j2"
# Characters of a value that may stand in a HIT more than once.
_SHORT = 200


def render_page(
    layout: Layout,
    hits: Sequence[Hit],
    *,
    batch: str,
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
    address does not give it. With `files`, the page contains no HITs and loads one of so many
    files `hits/0001.json` … beside it (see `hit_file`). A `served` page asks
    `annotation.receive` for its HIT and sends its submission there; with `search` it can also
    search a corpus. `UserError`: the template names a field or an answer that does not exist.
    """
    delivery = delivery or Delivery()
    style = (PARTS / "style.css").read_text("utf-8")
    code = "".join(_without_comments((PARTS / part).read_text("utf-8")) for part in SCRIPTS)
    script = f"\n(function () {{\n'use strict';\n{code}drawn(start);\n}})();\n"
    unpack = (PARTS / "unpack.js").read_text("utf-8")
    packed = mode == "mturk"
    settings = {
        "layout": layout.name,
        "batch": batch,
        "mode": mode,
        "fields": {
            name: setting.model_dump(mode="json") for name, setting in layout.fields.items()
        },
        "answers": {name: _answer_settings(setting) for name, setting in layout.answers.items()},
        "post": "submissions" if served else web_address(delivery.post),
        "code": delivery.code,
        "complete": web_address(delivery.complete),
        "practice": [practice_item.model_dump(mode="json") for practice_item in layout.practice],
        "files": files,
        "served": served,
        "search": search,
        "worker": WORKER,
        "assignment": ASSIGNMENT,
        "study": STUDY,
    }
    scripts = [script, unpack] if packed else [script]
    text = (
        template_environment(PARTS)
        .get_template("base.html.j2")
        .render(
            layout=layout,
            mode=mode,
            marking=_has_spans(layout.answers.values()),
            task=render_task(layout),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own files
            packed={"style": _deflate(style), "script": _deflate(script)} if packed else {},
            unpack=Markup(unpack),  # noqa: S704 - our own file
            settings=Markup(_script_json(settings)),  # noqa: S704 - escaped for a script
            data=Markup("${data}" if packed else _script_json([_public_hit(hit) for hit in hits])),  # noqa: S704
            policy=_content_security_policy(
                scripts, style, delivery.post, connects_to_self=bool(files) or served
            ),
        )
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def packed_hit(hit: Hit, batch: str) -> str:
    """What a page in mode `mturk` takes as `${data}`: the JSON of one HIT, deflated, in base64."""
    value = {"batch": batch, **_public_hit(hit)}
    return _deflate(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def render_task(layout: Layout) -> Markup:
    """The layout's own part of its page, which the page's script fills with an item's texts.

    `UserError`, with the line, where the template names what is not there.
    """
    path = layout.folder / TASK
    places = _TaskPlaces(layout)
    try:
        text = (
            template_environment(layout.folder)
            .get_template(TASK)
            .render(
                show=places.show,
                answer=places.answer,
                everything=places.everything,
                fields=layout.fields,
                answers=layout.answers,
            )
        )
    except jinja2.TemplateSyntaxError as error:
        raise UserError(str(error.message), where=display_path(path), line=error.lineno) from None
    except (jinja2.TemplateError, TypeError, UnicodeDecodeError) as error:
        raise UserError(str(error), where=display_path(path), line=_line_of(error, path)) from None
    required_answers = [name for name in layout.answers if name not in WAYS_OUT]
    missing = [name for name in required_answers if name not in places.placed]
    if missing:
        hint = f"add {{{{ answer({missing[0]!r}) }}}}"
        raise UserError(f"nowhere asked: {', '.join(missing)}", where=display_path(path), hint=hint)
    if re.search(r"<(script|style|iframe|object|img|link)\b|\son\w+\s*=", text, re.I):
        raise UserError("a layout has no scripts and styles of its own", where=display_path(path))
    return Markup(text.replace("${", "&#36;{"))  # noqa: S704 - a template of ours, autoescaped


def check_layouts(folder: Path | None = None) -> list[str]:
    """A line for each layout, with its pay; one `UserError` with all that is wrong, file:line.

    `folder` is that of many layouts or of one, by default ours. The page of each is made from its
    attention items, whose known answers have to pass the checks.
    """
    root = folder or FOLDER
    single = (root / "layout.yaml").is_file()
    layout_folders = [root] if single else [root / name for name in layout_names(root)]
    if not layout_folders:
        raise UserError(
            "no layouts", where=display_path(root), hint="a layout is a folder: layout.yaml"
        )
    lines, problems = [], []
    for place in layout_folders:
        try:
            lines.append(_layout_line(place.resolve()))
        except UserError as error:
            problems.append(str(error))
    if problems:
        raise UserError("\n".join(problems))
    return lines


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
        parts: dict[str, list[Markup]] = {"brief": [], "source": [], "work": []}
        for name, field in layout.fields.items():
            if field.kind == "spans" or name in choice_fields:
                continue
            is_long = name in marked_fields or field.kind == "paragraphs" or field.join
            parts["source" if is_long else "brief"].append(self.show(name))
        for name in layout.answers:
            if name not in WAYS_OUT:
                parts["work"].append(self.answer(name))
        inner = Markup()
        for name, places in parts.items():
            if places:
                inner += Markup('<div class="{}">{}</div>').format(name, Markup().join(places))
        style_class = "split" if parts["source"] else "single"
        return Markup('<div class="{}">{}</div>').format(style_class, inner)

    def _check_known(self, name: str, names: Mapping[str, object], what: str) -> None:
        if name not in names:
            raise jinja2.TemplateRuntimeError(f"no {what} {name!r}, {near_hint(name, names)}")


def _fields_of_answers(layout: Layout) -> tuple[set[str | None], set[str | None]]:
    """The fields in which spans are marked, and those whose entries are choices or their hints."""
    marked_fields: set[str | None] = set()
    choice_fields: set[str | None] = set()
    answers = [*layout.answers.values()]
    for answer in layout.answers.values():
        answers += answer.answers.values()
    for answer in answers:
        choice_fields.add(answer.hints)
        if answer.kind in ("span", "spans"):
            marked_fields.add(answer.field)
        elif answer.kind in ("choice", "choices"):
            choice_fields.add(answer.field)
    return marked_fields, choice_fields


def template_environment(folder: Path, dollar: str = "&#36;") -> SandboxedEnvironment:
    """Templates of a folder, for which every text is escaped; `dollar` stands for each `$` in it,
    so that no platform takes a part of it for a variable."""

    def finalize(value: object) -> object:
        if isinstance(value, Markup | jinja2.Undefined):
            return value
        return Markup(str(escape(value)).replace("$", dollar))  # noqa: S704 - just escaped

    return SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


def _line_of(error: BaseException, path: Path) -> int | None:
    line_number, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(path):
            line_number = trace.tb_lineno
        trace = trace.tb_next
    return line_number


def _layout_line(place: Path) -> str:
    layout = load_layout(place)
    known_items = attention_items(layout)
    render_page(layout, [Hit("0", tuple(known_items))], batch="0", mode="preview")
    for what, items in (("practice", layout.practice), ("attention", layout.attention)):
        for number, known_item in enumerate(items, 1):
            if problem := known_item_problem(layout, known_item):
                text = f"{what} item {number}: {problem}"
                raise UserError(text, where=display_path(place / "layout.yaml"))
    pay = layout.pay
    return (
        f"{place.name}: {layout.title}; {layout.assignments} x {pay.per_hit} {pay.currency} for "
        f"{layout.items_per_hit} items in {pay.minutes_per_hit} minutes "
        f"({pay.hourly} {pay.currency} an hour), {len(known_items)} attention items"
    )


def hit_file(hit: Hit) -> str:
    """The JSON of one HIT, as a page loads it: without rows, known answers and repeated texts."""
    return json.dumps(_public_hit(hit), ensure_ascii=True, separators=(",", ":"))


def _public_hit(hit: Hit) -> dict[str, object]:
    """The HIT as a page has it: a long value stands in `texts`, once for all items that have it."""
    texts: list[object] = []
    items = []
    for item in hit.items:
        long = {name: value for name, value in item.fields.items() if len(str(value)) > _SHORT}
        texts += [value for value in long.values() if value not in texts]
        fields = {name: value for name, value in item.fields.items() if name not in long}
        same = {name: texts.index(value) for name, value in long.items()}
        items.append({"id": item.id, "fields": fields, "same": same})
    return {"id": hit.id, "texts": texts, "items": items}


def _has_spans(answers: Iterable[LayoutAnswer]) -> bool:
    return any(
        answer.kind in ("span", "spans") or _has_spans(answer.answers.values())
        for answer in answers
    )


def _answer_settings(answer: LayoutAnswer) -> dict[str, object]:
    return answer.model_dump(mode="json", exclude_defaults=True, exclude={"agree"}) | {
        "required": answer.required,
        "check": answer.check.model_dump(mode="json"),
        "answers": {name: _answer_settings(inner) for name, inner in answer.answers.items()},
        "min_items": answer.min_items,
        "max_items": answer.max_items,
    }


def _script_json(value: object) -> str:
    """JSON that can stand in a script element, and in what substitutes variables, as it is."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return re.sub(r"[<>&$]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _without_comments(script: str) -> str:
    return re.sub(r"(?m)^ *//.*\n", "", script)


def _deflate(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def _content_security_policy(
    scripts: Sequence[str], style: str, post: str | None, *, connects_to_self: bool
) -> str:
    def sha(text: str) -> str:
        return f"'sha256-{base64.b64encode(sha256(text.encode('utf-8')).digest()).decode()}'"

    connect = ["'self'"] if connects_to_self else []
    if post:
        parts = urlsplit(post)
        connect.append(f"{parts.scheme}://{parts.netloc}{parts.path}")
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(map(sha, scripts)),
        "style-src": sha(style),
        "img-src": "data:",
        "connect-src": " ".join(connect) or "'none'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
