"""`data_cards/<dataset>/prose.md`: what of a card only a person can write."""

import re
from collections.abc import Mapping
from pathlib import Path

from builders.errors import UserError

SECTIONS: Mapping[str, str | None] = {
    "Motivation": None,
    "What it measures": "rai:dataUseCases",
    "How it was made": "rai:dataCollection",
    "Known limits": "rai:dataLimitations",
    "Biases": "rai:dataBiases",
    "Personal information": "rai:personalSensitiveInformation",
    "Social impact": "rai:dataSocialImpact",
    "Maintenance": "rai:dataReleaseMaintenancePlan",
}
"""Headings that every prose file has, and the Croissant RAI property that each one fills."""


def read_prose(path: Path) -> dict[str, str]:
    """Heading -> Markdown text of each `## ` section, in the file's order; more are welcome.

    `UserError`: no such file, a section of `SECTIONS` missing, empty or there twice, text before
    the first heading.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        hint = "write it with these sections: " + ", ".join(f"## {name}" for name in SECTIONS)
        message = "a card needs prose that only a person can write, and there is none"
        raise UserError(message, where=path, hint=hint) from error
    found: dict[str, str] = {}
    head, *parts = re.split(r"^## +(.*?)[ \t#]*$", text, flags=re.MULTILINE)
    if head.strip():
        raise UserError("text before the first `## ` heading", where=path, line=1)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in found:
            raise UserError(f"two sections named {name!r}", where=path)
        found[name] = body.strip()
    lacking = [f"## {name}" for name in SECTIONS if not found.get(name)]
    if lacking:
        raise UserError(f"sections missing or empty: {', '.join(lacking)}", where=path)
    return found


def plain(markdown: str) -> str:
    """Markdown as plain paragraphs, for JSON: no emphasis, no code marks, links as their text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    text = re.sub(r"[`*]", "", text)
    blocks = re.split(r"\n\s*\n|\n(?=- )", text)
    return "\n".join(" ".join(block.split()) for block in blocks if block.strip())
