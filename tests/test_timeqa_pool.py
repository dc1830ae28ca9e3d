"""Paragraphs of other pages in a context."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from factdrift.builders import rows
from factdrift.builders.timeqa.dataset import TimeQA
from factdrift.builders.timeqa.pool import Pool
from tests.histories import parquet

LONG = " and so on until the line has all of the twenty words that it needs to be taken here"
TEXTS = {
    "Q1": ["Ann coached Hull." + LONG, "Hull is coached by Bo." + LONG, "Ann coached Hull."],
    "Q2": ["The team of Hull was coached by Cy." + LONG, "Nothing is here." + LONG],
    "Q3": ["The team of Hull was coached by Cy." + LONG],
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    some = [
        rows.Page(q, f"Page {q}", 1, 1, tuple(rows.Paragraph("text", "", t, ()) for t in texts))
        for q, texts in TEXTS.items()
    ]
    return parquet(tmp_path / "pages.parquet", rows.Page, some)


@pytest.mark.parametrize(
    ("count", "own", "never", "wanted"),
    [
        (2, "Q9", "?", ["Page Q2/0", "Page Q3/0"]),
        (1, "Q9", "?", ["Page Q2/0"]),
        (2, "Q2", "?", ["Page Q3/0", "Page Q1/0"]),
        (3, "Q9", "Cy", ["Page Q1/0", "Page Q1/1", "Page Q2/1"]),
        (9, "Q9", "Hull", ["Page Q2/1"]),
    ],
)
def test_the_closest_paragraphs_that_may_be_taken(
    pages: Path, count: int, own: str, never: str, wanted: list[str], tmp_path: Path
) -> None:
    (tmp_path / "index").mkdir()
    pool = Pool(pages, tmp_path / "index")
    question = "Who coached the team of Hull, and in (which) AND year?"
    found = pool.search(question, count, lambda item, text: item != own and never not in text)
    named = [f"{one.title}/{one.paragraph}" for one in found]
    assert named == wanted
    assert all(one.text == TEXTS[one.title[5:]][one.paragraph] for one in found)


def test_a_pool_is_made_only_where_it_is_asked_for() -> None:
    made = TimeQA.model_validate({"builder": "timeqa", "context": {"pool": 3}})
    assert made.context != "page" and made.context.pool == 3
    assert TimeQA.model_validate({"builder": "timeqa", "text": False}).context == "page"
    with pytest.raises(ValidationError, match="a `pool` needs `text: true`"):
        TimeQA.model_validate({"builder": "timeqa", "text": False, "context": {"pool": 3}})
