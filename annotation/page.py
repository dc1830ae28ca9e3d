"""Pages on which people annotate: one self-contained HTML document for a layout.

`shell/` does what every layout needs (instructions, progress, keyboard, drafts, checks, marking,
submission); a layout's own template only arranges (`annotation.arranged`).

The page makes no request but to the address it submits to, which its content security policy
names; texts of items are data in it, never markup. Its own bytes are ASCII. For MTurk, which takes
65,535 bytes with the item's data, script and style are packed: 37 KB of page instead of 80.
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

from markupsafe import Markup

from annotation.arranged import arranged, environment
from annotation.batch import Hit
from annotation.layout import Answer, Layout
from builders.errors import UserError

Mode = Literal["preview", "static", "mturk"]
SHELL = Path(__file__).parent / "shell"
SCRIPTS = (
    *("text.js", "fields.js", "source.js"),
    *("answers.js", "choice.js", "typed.js", "marked.js", "group.js"),
    *("task.js", "keys.js", "submit.js"),
)
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
    text = (
        environment(SHELL)
        .get_template("base.html.j2")
        .render(
            layout=layout,
            mode=mode,
            marking=_marks(layout.answers.values()),
            task=arranged(layout, folder),
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
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def data(hit: Hit, batch: str) -> str:
    """What a page in mode `mturk` takes as `${data}`: the JSON of one HIT, deflated, in base64."""
    text = json.dumps({"batch": batch, **_shown(hit)}, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def _shown(hit: Hit) -> dict[str, object]:
    """A HIT without what a worker must not see."""
    return {"id": hit.id, "items": [{"id": i.id, "fields": dict(i.fields)} for i in hit.items]}


def _marks(answers: Iterable[Answer]) -> bool:
    """Whether anything is marked in a text."""
    return any(a.kind in ("span", "spans") or _marks(a.answers.values()) for a in answers)


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
