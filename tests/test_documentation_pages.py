"""The pages that `factdrift docs` prints in a terminal: what their links name can be read there."""

import re

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.pages import documentation_pages, linked_page, page_text, page_title
from tests.conftest import run_cli

PAGES = documentation_pages()
LINK = re.compile(r"\]\(([^)]+)\)")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def links(page_name: str) -> list[str]:
    return LINK.findall(CODE.sub("", page_text(page_name)))


def anchors(text: str) -> set[str]:
    """What `#…` of a link may name: a heading in small letters, with `-` for its blanks."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", head.lower()).replace(" ", "-") for head in headings}


@pytest.mark.parametrize("page_name", PAGES)
def test_every_link_of_a_page_leads_somewhere(page_name: str) -> None:
    for target in links(page_name):
        if target.startswith(("https://", "http://")):
            continue
        place, _, anchor = target.partition("#")
        linked_name = linked_page(target, PAGES)
        assert linked_name, target
        assert page_title(PAGES[linked_name]) in page_text(place)
        assert not anchor or anchor in anchors(page_text(place)), target


def test_words_of_other_links_stay() -> None:
    which_text = page_text("which")
    assert "as-of" in which_text and "datasets/" not in which_text and "gallery/" not in which_text
    assert "[Build a release](build.md)" in which_text
    assert "docs/stale.png" not in page_text("readme")


@pytest.mark.parametrize(
    ("name", "page_name"),
    [
        ("as-of", "asof"),
        ("As_Of.md", "asof"),
        ("gallery/as-of.md", "asof"),
        ("docs/score.md#what-a-series-of-models-forgot", "score"),
        ("../PEOPLE.md", "people"),
        ("samples/quarters/README.md", "quarters"),
        ("README.md", "readme"),
    ],
)
def test_a_page_has_the_names_that_people_type(name: str, page_name: str) -> None:
    assert run_cli("docs", name).stdout.strip() == page_text(page_name).strip()


def test_code_keeps_its_brackets() -> None:
    code_blocks = CODE.findall(PAGES["contributing"].read_text("utf-8"))
    assert code_blocks and all(block in page_text("contributing") for block in code_blocks)


def test_a_page_that_is_none() -> None:
    with pytest.raises(UserError, match="did you mean score"):
        page_text("scores")
