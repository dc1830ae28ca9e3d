"""Paragraphs of other pages in a context."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from factdrift.builders import rows
from factdrift.builders.timeqa.dataset import TimeQA
from factdrift.builders.timeqa.pool import LEAST, Pool
from tests.histories import parquet

LONG = " and so on until the line has all of the twenty words that it needs to be taken here"
TEXTS = {
    "Q1": ["Ann coached Hull." + LONG, "Hull is coached by Bo." + LONG, "Ann coached Hull."],
    "Q2": ["The team of Hull was coached by Cy." + LONG, "Nothing is here." + LONG],
    "Q3": ["The team of Hull was coached by Cy." + LONG],
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    page_rows = [
        rows.Page(
            item_id,
            f"Page {item_id}",
            1,
            1,
            tuple(rows.Paragraph("text", "", text, ()) for text in texts),
        )
        for item_id, texts in TEXTS.items()
    ]
    return parquet(tmp_path / "pages.parquet", rows.Page, page_rows)


@pytest.mark.parametrize(
    ("count", "own_item", "never", "expected"),
    [
        (2, "Q9", "?", ["Page Q2/0", "Page Q3/0"]),
        (1, "Q9", "?", ["Page Q2/0"]),
        (2, "Q2", "?", ["Page Q3/0", "Page Q1/0"]),
        (3, "Q9", "Cy", ["Page Q1/0", "Page Q1/1", "Page Q2/1"]),
        (9, "Q9", "Hull", ["Page Q2/1"]),
    ],
)
def test_the_closest_paragraphs_that_may_be_taken(
    pages: Path, count: int, own_item: str, never: str, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "index").mkdir()
    pool = Pool(pages, tmp_path / "index")
    question = "Who coached the team of Hull, and in (which) AND year?"
    paragraphs = pool.search(
        question, count, lambda item, text: item != own_item and never not in text
    )
    place_names = [f"{paragraph.title}/{paragraph.paragraph}" for paragraph in paragraphs]
    assert place_names == expected
    for paragraph in paragraphs:
        assert paragraph.text == TEXTS[paragraph.title[5:]][paragraph.paragraph]


def test_a_remark_of_fewer_than_twenty_words_is_no_context(tmp_path: Path) -> None:
    texts = ("Hull " * LEAST, "Hull " * (LEAST - 1))
    paragraphs = tuple(rows.Paragraph("text", "", text, ()) for text in texts)
    page = rows.Page("Q1", "Hull", 1, 1, paragraphs)
    (tmp_path / "index").mkdir()
    pool = Pool(parquet(tmp_path / "pages.parquet", rows.Page, [page]), tmp_path / "index")
    added = pool.search("Where is Hull?", 9, lambda item, text: True)
    assert [paragraph.paragraph for paragraph in added] == [0]


def test_a_pool_is_made_only_where_it_is_asked_for() -> None:
    config = TimeQA.model_validate({"builder": "timeqa", "context": {"pool": 3}})
    assert config.context != "page" and config.context.pool == 3
    assert TimeQA.model_validate({"builder": "timeqa", "text": False}).context == "page"
    with pytest.raises(ValidationError, match="a `pool` needs `text: true`"):
        TimeQA.model_validate({"builder": "timeqa", "text": False, "context": {"pool": 3}})
