"""What pages of scores have in common: how they are filled in, and the one script in them."""

import base64
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.release.plots import COLOURS
from factdrift.scoring.intervals import PairedDifference

REPORT = "report.html"


class PairedTest(NamedTuple):
    """The comparison of two models, or runs, on what both have."""

    first: str
    second: str
    metric: str
    comparison: PairedDifference


def filled_page(template_name: str, compared_names: Sequence[str], **fields: object) -> str:
    """Return a page of a template that extends `report_page.html.j2`; all texts are escaped.

    `compared_names` are the models or runs of the page; the template finds the colour of each in
    `colours`.
    """
    template_environment = Environment(
        loader=FileSystemLoader(resource("scoring")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = resource("scoring/sortable.js").read_text(encoding="utf-8")
    script_digest = base64.b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    page_text = template_environment.get_template(template_name).render(
        colours=dict(zip(compared_names, COLOURS, strict=False)),
        script=Markup(script),  # noqa: S704 - ours
        script_hash=f"sha256-{script_digest}",
        **fields,
    )
    return page_text + "\n"


def check_names(compared_names: Sequence[str], plural: str, hint: str) -> None:
    """Raise `UserError` if there are more names than colours, or one of them twice.

    `plural` says what they are the names of; `hint` how to give another name.
    """
    if len(compared_names) > len(COLOURS):
        text = f"{len(compared_names)} {plural}; a report shows at most {len(COLOURS)} side by side"
        raise UserError(text)
    for name in sorted(compared_names):
        if compared_names.count(name) > 1:
            raise UserError(f"two {plural} named {name!r}", hint=hint)
