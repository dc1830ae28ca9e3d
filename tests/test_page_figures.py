"""Figures on a page of the documentation, and whether their code has moved on since."""

from pathlib import Path

import pytest

from bench import page_figures
from bench.page_figures import BLOCKS, FigureBlock, code_hash, notices
from tests.conftest import ROOT

PAGE = "# Cost\n\n<!-- figures of bench.toy -->\nold\n<!-- end -->\n\nThe rest.\n"
PACKAGE = {"a.py": "def double(n):\n    return 2 * n\n", "inner/b.rs": "fn main() {}\n"}


@pytest.fixture
def block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FigureBlock:
    """A page, and a package whose code its figures are of."""
    monkeypatch.setattr(page_figures, "ROOT", tmp_path)
    for path, text in {
        "page.md": PAGE,
        **{f"toy/{p}": text for p, text in PACKAGE.items()},
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    toy = FigureBlock("toy", tmp_path / "page.md", ("toy", "toy/a.py"))
    monkeypatch.setattr(page_figures, "BLOCKS", (toy,))
    return toy


def test_figures_stand_with_their_day_and_code(block: FigureBlock) -> None:
    assert block.moved() == ["toy", "toy/a.py"], "figures without a hash are of unknown code"
    block.write("| a | b |")
    page = block.page.read_text("utf-8")
    assert "| a | b |\n\nMeasured on 20" in page
    assert "at commit unknown." in page, "no git there"
    assert "old" not in page
    assert page.endswith("<!-- end -->\n\nThe rest.\n")
    assert block.moved() == []
    assert list(notices()) == []


@pytest.mark.parametrize(
    ("path", "text", "moved"),
    [
        ("a.py", '"""Docstring."""\n\n# why\ndef double(n):\n    return 2 * n\n', []),
        ("a.py", "def double(n):\n    return n + n\n", ["toy", "toy/a.py"]),
        ("inner/b.rs", "fn main() { }\n", ["toy"]),
        ("inner/c.py", "", ["toy"]),
        ("notes.txt", "text", []),
    ],
)
def test_code_that_moved_on_is_named(
    block: FigureBlock, path: str, text: str, moved: list[str]
) -> None:
    block.write("| a | b |")
    (block.page.parent / "toy" / path).write_text(text, "utf-8")
    assert block.moved() == moved
    assert len(list(notices())) == bool(moved)
    assert all("page.md" in notice and "bench toy --write" in notice for notice in notices())


def test_a_page_without_a_place_is_an_error(block: FigureBlock) -> None:
    block.page.write_text("# Cost\n", "utf-8")
    with pytest.raises(ValueError, match=r"no figures of bench\.toy"):
        block.write("| a | b |")
    assert block.page.read_text("utf-8") == "# Cost\n"


@pytest.mark.parametrize("block_of_page", BLOCKS, ids=lambda block_of_page: block_of_page.bench)
def test_pages_name_code_that_there_is(block_of_page: FigureBlock) -> None:
    """An edit makes figures old and fails nothing; a package that was renamed fails here."""
    assert block_of_page.measured().keys() == set(block_of_page.code)
    nothing = code_hash(ROOT / "no such package")
    assert all(code_hash(ROOT / path) != nothing for path in block_of_page.code)
