"""A page's wikitext as plain paragraphs with links."""

import re

from builders.rows import Paragraph
from builders.wikipedia.clean import without_asides, without_files, without_tags
from builders.wikipedia.inline import inline
from builders.wikipedia.lines import lines
from builders.wikipedia.site import ENGLISH, Site
from builders.wikipedia.templates import without_templates

_REDIRECT = re.compile(r"\s*#redirect\w*\s*:?\s*\[\[([^\[\]|\n]*)", re.I)
_WORD = re.compile(r"\w")


def redirect_of(text: str) -> str | None:
    """The title that a page's text sends its reader on to; None: it is no redirect."""
    found = _REDIRECT.match(text)
    return found[1] if found else None


def paragraphs(text: str, title: str = "", site: Site = ENGLISH) -> tuple[Paragraph, ...]:
    """What a page shows, in order: paragraphs, list items, rows of tables and infobox lines.

    Not kept: references, comments, pictures with their captions, categories, formulas, and
    templates that are neither an infobox nor in `INLINE`. Markup that does not pair goes; what
    it stands around stays. Nothing raises, whatever the text is.
    """
    body = without_asides(text)
    body = without_files(body, site)
    body = without_templates(body, title)
    body = without_tags(body)
    named: dict[tuple[str, ...], str] = {}
    found = []
    for kind, path, raw in lines(body):
        shown, links = inline(raw, kind, site)
        if not _WORD.search(shown):
            continue
        section = named.get(path)
        if section is None:
            section = " / ".join(inline(s, "text", site)[0] for s in path)
            named[path] = section
        found.append(Paragraph(kind, section, shown, links))
    return tuple(found)
