"""Pages on which people annotate: one self-contained HTML document for a layout.

`shell/` does what every layout needs (instructions, progress, keyboard, drafts, checks, marking,
submission); a layout's `task.html.j2` only arranges. It is a fragment with

    {{ show("article") }}      a field, under its label; `show("day", label="Published")`
    {{ answer("verdict") }}    an answer with its label, help, checks and messages
    {{ everything() }}         all of them in the usual order: the whole file for most layouts

and HTML around them. `<div class="split">` holds up to three parts side by side, one below the
other on a phone: `<div class="brief">` what it is about, `<div class="source">` what one reads,
`<div class="work">` what is asked.

The page makes no request but to the address it submits to, which its content security policy
names; texts of items are data in it, never markup. Its own bytes are ASCII. For MTurk, which takes
65,535 bytes with the item's data, script and style are packed: 37 KB of page instead of 80.
"""

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import jinja2
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup, escape

from annotation.batch import Hit
from annotation.layout import Answer, Layout
from builders.config import did_you_mean, shown
from builders.errors import UserError

Mode = Literal["preview", "static", "mturk"]
SHELL = Path(__file__).parent / "shell"
SCRIPTS = (
    *("text.js", "fields.js", "source.js"),
    *("answers.js", "choice.js", "typed.js", "marked.js", "group.js"),
    *("task.js", "keys.js", "submit.js"),
)
TASK = "task.html.j2"
WORKER = "PROLIFIC_PID workerId participant"
ASSIGNMENT = "SESSION_ID assignmentId"
_DELIVER = ("post", "code", "complete", "submit", "worker", "assignment")


def render(
    layout: Layout,
    name: str,
    folder: Path,
    hits: Sequence[Hit],
    *,
    batch: str,
    mode: Mode,
    deliver: Mapping[str, str] = {},
) -> str:
    """The page of a layout, whose `task.html.j2` lies in `folder`, for the HITs of a batch.

    Modes: `preview` shows the submission at the end; `static` posts it to `deliver["post"]`, or
    offers it as a file, then shows the completion code `deliver["code"]` and a link to
    `deliver["complete"]`; `mturk` reads one HIT from the variable `${data}` (see `data`; `hits`
    stays empty) and submits a form to `deliver["submit"]`/mturk/externalSubmit. A static page of
    several HITs takes that of `?hit=` (id, or number from 1), else one by the worker's id.
    `deliver["worker"]` and `deliver["assignment"]` are the URL parameters, separated by spaces,
    that these ids are read from (`WORKER` and `ASSIGNMENT` by default); without a worker id the
    page asks for it. `UserError` where the layout's template names what is not there.
    """
    near = [f"{key!r}" for key in deliver if key not in _DELIVER]
    if near:
        raise UserError(f"pages know no {near[0]} to deliver by: {', '.join(_DELIVER)}")
    if mode == "mturk" and "submit" not in deliver:
        raise UserError("a page for MTurk needs the address it submits to")
    style = (SHELL / "style.css").read_text("utf-8")
    parts = [_code((SHELL / part).read_text("utf-8")) for part in SCRIPTS]
    script = "\n(function () {\n'use strict';\n" + "".join(parts) + "start();\n})();\n"
    unpack = (SHELL / "unpack.js").read_text("utf-8")
    submit = deliver.get("submit", "").rstrip("/") + "/mturk/externalSubmit"
    settings = {
        "layout": name,
        "batch": batch,
        "mode": mode,
        "fields": {k: v.model_dump(mode="json") for k, v in layout.fields.items()},
        "answers": {k: _asked(v) for k, v in layout.answers.items()},
        "post": deliver.get("post"),
        "code": deliver.get("code"),
        "complete": _address(deliver.get("complete")),
        "worker": deliver.get("worker", WORKER).split(),
        "assignment": deliver.get("assignment", ASSIGNMENT).split(),
    }
    environment = _environment(SHELL)
    text = environment.get_template("base.html.j2").render(
        layout=layout,
        mode=mode,
        task=_task(layout, folder),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own files
        packed={"style": _packed(style), "script": _packed(script)} if mode == "mturk" else {},
        unpack=Markup(unpack),  # noqa: S704 - our own file
        settings=Markup(_json(settings)),  # noqa: S704 - escaped for a script
        data=Markup("${data}" if mode == "mturk" else _json([_shown(h) for h in hits])),  # noqa: S704
        submit=submit if mode == "mturk" else None,
        policy=_policy(
            [script, *([unpack] if mode == "mturk" else [])],
            style,
            deliver,
            submit if mode == "mturk" else None,
        ),
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def data(hit: Hit, batch: str) -> str:
    """What a page in mode `mturk` takes as `${data}`: the JSON of one HIT, deflated, in base64."""
    text = json.dumps({"batch": batch, **_shown(hit)}, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def _shown(hit: Hit) -> dict[str, object]:
    """A HIT without what a worker must not see."""
    return {"id": hit.id, "items": [{"id": i.id, "fields": dict(i.fields)} for i in hit.items]}


def _asked(answer: Answer) -> dict[str, object]:
    return answer.model_dump(mode="json", exclude_defaults=True, exclude={"agree"}) | {
        "required": answer.required,
        "check": answer.check.model_dump(mode="json"),
        "answers": {name: _asked(inner) for name, inner in answer.answers.items()},
        "min_items": answer.min_items,
        "max_items": answer.max_items,
    }


def _json(value: object) -> str:
    """JSON that can stand in a script element, and in what substitutes variables, as it is."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return re.sub(r"[<>&$]", lambda m: f"\\u{ord(m[0]):04x}", text)


def _code(text: str) -> str:
    """A script without its comments, which stand on lines of their own."""
    return re.sub(r"(?m)^ *//.*\n", "", text)


def _packed(text: str) -> str:
    """Base64 of the text, deflated."""
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def _policy(
    scripts: Sequence[str], style: str, deliver: Mapping[str, str], submit: str | None
) -> str:
    """The content security policy: nothing but this page's own text and where it submits to."""

    def sha(text: str) -> str:
        return f"'sha256-{base64.b64encode(sha256(text.encode('utf-8')).digest()).decode()}'"

    post = deliver.get("post")
    action = ["'none'"]
    if submit:
        action = [_origin(submit)]
        if (urlsplit(submit).hostname or "").endswith(".mturk.com"):
            action.append("https://*.mturk.com")  # it redirects there
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(map(sha, scripts)),
        "style-src": sha(style),
        "img-src": "data:",
        "connect-src": _origin(post) + urlsplit(post).path if post else "'none'",
        "form-action": " ".join(action),
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _origin(address: str) -> str:
    """Scheme, host and port of an http(s) address, as a policy may name them."""
    _address(address)
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _address(address: str | None) -> str | None:
    """An http(s) address as it is; `UserError` for anything else."""
    if address is not None and not re.fullmatch(r"https?://[\w.:\[\]-]+(/[^\s;,'\"<>]*)?", address):
        raise UserError(f"not an address of the web: {address!r}", hint="https://…")
    return address


def _environment(folder: Path) -> SandboxedEnvironment:
    return SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )


def _finalize(value: object) -> object:
    """Text, escaped, with no `${…}` that a platform would take for a variable."""
    if isinstance(value, Markup | jinja2.Undefined):
        return value
    return Markup(str(escape(value)).replace("$", "&#36;"))  # noqa: S704 - just escaped


class _WrongError(Exception):
    """A template names what its layout does not have."""


class _Arranged:
    """What a layout's template calls."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.placed: list[str] = []

    def show(self, name: str, label: str | None = None) -> Markup:
        """A field."""
        self._known(name, self.layout.fields, "field")
        title = Markup(' data-label="{}"').format(label) if label else ""
        return Markup('<div class="show" data-show="{}"{}></div>').format(name, title)

    def answer(self, name: str) -> Markup:
        """An answer."""
        self._known(name, self.layout.answers, "answer")
        if name in self.placed:
            raise _WrongError(f"the answer {name!r} is placed twice")
        self.placed.append(name)
        return Markup('<div class="ask" data-answer="{}"></div>').format(name)

    def everything(self) -> Markup:
        """Short fields, long fields and answers, in the layout's order."""
        asked = [*self.layout.answers.values()]
        asked += [inner for answer in asked for inner in answer.answers.values()]
        read = {a.field for a in asked if a.kind in ("span", "spans")}
        inside = {a.field for a in asked if a.kind in ("choice", "choices")}
        brief: list[Markup] = []
        source: list[Markup] = []
        for name, field in self.layout.fields.items():
            if field.kind == "spans" or name in inside:
                continue
            long = name in read or field.kind == "paragraphs" or (field.join and name not in inside)
            (source if long else brief).append(self.show(name))
        work = [self.answer(name) for name in self.layout.answers]
        parts = [("brief", brief), ("source", source), ("work", work)]
        inner = Markup().join(
            Markup('<div class="{}">{}</div>').format(name, Markup().join(part))
            for name, part in parts
            if part
        )
        kind = "split" if source else "single"
        return Markup('<div class="{}">{}</div>').format(kind, inner)

    def _known(self, name: str, names: Mapping[str, object], what: str) -> None:
        if name not in names:
            near = did_you_mean(name, names)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(names)}"
            raise _WrongError(f"no {what} {name!r}, {hint}")


def _task(layout: Layout, folder: Path) -> Markup:
    """The layout's own part, once; the page fills it with an item's texts."""
    path = folder / TASK
    arranged = _Arranged(layout)
    try:
        text = (
            _environment(folder)
            .get_template(TASK)
            .render(
                show=arranged.show,
                answer=arranged.answer,
                everything=arranged.everything,
                fields=layout.fields,
                answers=layout.answers,
            )
        )
    except jinja2.TemplateNotFound:
        raise UserError(f"no {TASK}", where=shown(folder)) from None
    except jinja2.TemplateSyntaxError as error:
        raise UserError(str(error.message), where=shown(path), line=error.lineno) from None
    except (_WrongError, jinja2.TemplateError, TypeError, UnicodeDecodeError) as error:
        raise UserError(str(error), where=shown(path), line=_line(error, path)) from None
    missing = [name for name in layout.answers if name not in arranged.placed]
    if missing:
        hint = f"add {{{{ answer({missing[0]!r}) }}}}"
        raise UserError(f"nowhere asked: {', '.join(missing)}", where=shown(path), hint=hint)
    if re.search(r"<(script|style|iframe|object|img|link)\b|\son\w+\s*=", text, re.I):
        raise UserError("a layout arranges; scripts and styles are the shell's", where=shown(path))
    return Markup(text.replace("${", "&#36;{"))  # noqa: S704 - a template of ours, autoescaped


def _line(error: BaseException, path: Path) -> int | None:
    """The line of the template that an error arose in."""
    found, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(path):
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
