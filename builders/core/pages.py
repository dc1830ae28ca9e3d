"""The pages of the documentation, which come with the program: their names, titles and texts."""

import re
from pathlib import Path

from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

__outside_step_keys__ = True

_DOCS, _TOP = resource("docs"), resource()
_DOCUMENTS = (
    *("README.md", "TOUR.md", "PEOPLE.md", "SCALE.md", "GLOSSARY.md", "CONTRIBUTING.md"),
    *("SECURITY.md", "CHANGELOG.md"),
)
"""The pages that lie at the top of the repository."""
_PARTS = ("rows",)
"""Files of `docs/` that are parts of other pages."""
# `<!-- row: timeqa 3 -->`, where the documentation in a browser shows something made
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


def documentation_pages() -> dict[str, Path]:
    """The pages by name, those of the top first: `readme`, …, `score`."""
    pages: dict[str, Path] = {}
    for file_name in _DOCUMENTS:
        # in a wheel the top has the README of the package
        in_docs = _DOCS / file_name
        pages[Path(file_name).stem.lower()] = in_docs if in_docs.is_file() else _TOP / file_name
    for path in sorted(_DOCS.glob("*.md")):
        if path.stem not in _PARTS:
            pages.setdefault(path.stem.lower(), path)
    return {name: path for name, path in pages.items() if path.is_file()}


def page_title(path: Path) -> str:
    """The first heading of a page."""
    heading = _HEADING.search(path.read_text("utf-8"))
    return heading[1] if heading else path.stem


def page_text(name: str) -> str:
    """A page by its name, or as a link of another page names it: `people`, `docs/score.md`.

    `UserError`: there is no such page.
    """
    pages = documentation_pages()
    page_name = Path(name.partition("#")[0]).stem.lower()
    if page_name not in pages:
        near_name = did_you_mean(page_name, pages)
        hint_text = f"did you mean {near_name}?" if near_name else f"there are {', '.join(pages)}"
        raise UserError(f"no page {name!r}", hint=hint_text)
    return _COMMENT.sub("", pages[page_name].read_text("utf-8"))
