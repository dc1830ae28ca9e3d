"""A layout's `task.html.j2`: a fragment of HTML that only arranges, with

    {{ show("article") }}      a field, under its label; `show("day", label="Published")`
    {{ answer("verdict") }}    an answer with its label, help, checks and messages
    {{ everything() }}         all of them in the usual order: the whole file for most layouts

and HTML around them. `<div class="split">` holds up to three parts side by side, one below the
other on a phone: `<div class="brief">` what it is about, `<div class="source">` what one reads,
`<div class="work">` what is asked.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import jinja2
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup, escape

from annotation.layout import Layout
from builders.config import did_you_mean, shown
from builders.errors import UserError

TASK = "task.html.j2"


def environment(folder: Path) -> SandboxedEnvironment:
    """Templates of a folder: all values are escaped, and no name may be missing."""
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


def arranged(layout: Layout, folder: Path) -> Markup:
    """The layout's own part, once; the page fills it with an item's texts.

    `UserError`, with the line, where the template names what is not there.
    """
    path = folder / TASK
    parts = _Arranged(layout)
    try:
        text = (
            environment(folder)
            .get_template(TASK)
            .render(
                show=parts.show,
                answer=parts.answer,
                everything=parts.everything,
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
    missing = [name for name in layout.answers if name not in parts.placed]
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
