"""The pages of the documentation, which come with the program: their names, titles and texts."""

import re
from collections.abc import Container
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
_ELSEWHERE = {"quarters": "samples/quarters/README.md"}
"""The names of pages that lie elsewhere, with their places."""
# `<!-- row: timeqa 3 -->`, where the documentation in a browser shows something made
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
# a block of code, which stays as it is, or a link or picture: `[Score a model](score.md#fuar)`
_CODE_OR_LINK = re.compile(
    r"^```.*?^```$|(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
# the start of an address, `https:` or `mailto:`
_ADDRESS = re.compile(r"[a-z]+:")
# what may stand between the letters of a name: `as-of` for `asof`
_BETWEEN_LETTERS = re.compile(r"[\W_]+")


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
    for name, place in _ELSEWHERE.items():
        pages[name] = _TOP / place
    return {name: path for name, path in pages.items() if path.is_file()}


def page_title(path: Path) -> str:
    """The first heading of a page."""
    heading = _HEADING.search(path.read_text("utf-8"))
    return heading[1] if heading else path.stem


def page_text(name: str) -> str:
    """A page by its name, or as a link of another page names it: `people`, `docs/score.md`.

    What a link of it names is a page, too, or an address: other links, to pages that only the
    documentation in a browser has, or to files of the repository, become their words. `UserError`:
    there is no such page.
    """
    pages = documentation_pages()
    page_name = linked_page(name, pages)
    if page_name is None:
        page_name = _BETWEEN_LETTERS.sub("", Path(name.partition("#")[0]).stem.lower())
    if page_name not in pages:
        near_name = did_you_mean(page_name, pages)
        hint_text = f"did you mean {near_name}?" if near_name else f"there are {', '.join(pages)}"
        raise UserError(f"no page {name!r}", hint=hint_text)
    text = _COMMENT.sub("", pages[page_name].read_text("utf-8"))
    return _CODE_OR_LINK.sub(lambda match: _with_its_page(match, pages), text)


def linked_page(target: str, pages: Container[str]) -> str | None:
    """The name of the page that a link names: `docs/score.md#fuar` is `score`; None if it is none.

    Links of a page in `docs/` and of one at the top lead to the same pages.
    """
    place = target.partition("#")[0].removeprefix("../").removeprefix("docs/")
    for name, elsewhere in _ELSEWHERE.items():
        if place == elsewhere:
            return name
    name = place.removesuffix(".md").lower()
    return name if place.endswith(".md") and name in pages else None


def _with_its_page(match: re.Match[str], pages: Container[str]) -> str:
    """A link as it is where its page or address exists, else its words; code as it is."""
    target = match["target"]
    if target is None:
        return match[0]
    leads_to_text = bool(_ADDRESS.match(target)) or linked_page(target, pages) is not None
    return match[0] if leads_to_text and not match["picture"] else str(match["words"])
