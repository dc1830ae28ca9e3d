"""The dataset card: valid for the Hub, complete, and no text from data becomes markup."""

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard
from markdown_it import MarkdownIt

from factdrift.builders.core.dataset import Input, Plot, Statistics
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.names import licence_page
from factdrift.builders.release import card
from factdrift.builders.release.card import (
    SECTIONS,
    drop_reasons,
    escape_markdown,
    read_prose,
    reason_text,
)
from factdrift.builders.release.manifest import canary, load_manifest
from factdrift.builders.release.plots import draw_plot, period_plot
from factdrift.builders.release.publish import write_release
from tests.release_sample import BASE, Sample, cloze, dataset, meta, publish
from tests.tables import FOLDER, column_of, read_table

CECILL = "https://spdx.org/licenses/CECILL-2.1.html"
CARDS = Path(__file__).parents[1] / "data_cards"
EVIL = (
    "<script>alert(1)</script> | `x` ```\n# head\n\n---\n"
    "[a](javascript:b) ![i](http://x/y.png) *b* _c_ $d$"
)


def html(card_text: str) -> str:
    """What a reader sees; raw HTML would pass through."""
    rendered: str = MarkdownIt("commonmark", {"html": True}).enable("table").render(card_text)
    return rendered


@pytest.fixture(scope="module")
def published_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("card"), Sample(BASE, pictures=True)).folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every text that a dump or a recipe can bring is hostile."""
    row = cloze(1, subject_label=EVIL, query=EVIL)
    sample = Sample({"unchanged": {"2021Q3": [row]}}, title=EVIL)
    evil = Input(EVIL, "d|`.json", "0" * 64, 1, EVIL, None, "javascript:alert(1)", EVIL)
    plot_data = replace(
        dataset(sample),
        statistics=(Statistics("f", EVIL, [{EVIL: EVIL}], EVIL),),
        plots=(Plot("p", "bars", EVIL, EVIL, {EVIL: {EVIL: 3}}),),
    )
    further_text: dict[str, Any] = {"inputs": (evil,), "tags": (EVIL,), "libraries": {EVIL: EVIL}}
    licence_text = replace(meta(sample), summary=EVIL, rebuild=EVIL, **further_text)
    return write_release(plot_data, licence_text, tmp_path_factory.mktemp("evil")).folder


def test_yaml_for_the_hub(published_release: Path) -> None:
    plot_data = DatasetCard.load(published_release / "README.md").data.to_dict()
    licence_text = {"license": "cc0-1.0", "language": ["en"]}
    assert plot_data | licence_text | {"task_categories": ["fill-mask"]} == plot_data
    names = "unchanged updated segments dropped".split()
    assert column_of(plot_data["configs"], "config_name") == names
    assert plot_data["configs"][0]["default"] is True
    data_files = [{"split": "2021Q3", "path": "data/updated/2021Q3.parquet"}]
    assert plot_data["configs"][1]["data_files"] == data_files


@pytest.mark.parametrize(
    ("licence", "front", "page"),
    [
        ("CC0-1.0", ("cc0-1.0", None, None), "https://spdx.org/licenses/CC0-1.0.html"),
        ("LicenseRef-x", ("other", "licenseref-x", None), None),
        ("MIT OR Apache-2.0", ("other", "mit or apache-2.0", None), None),
        ("CECILL-2.1", ("other", "cecill-2.1", CECILL), CECILL),
    ],
)
def test_licences(
    published_release: Path, licence: str, front: tuple[str | None, ...], page: str | None
) -> None:
    licence_text = replace(meta(Sample(BASE)), licence=licence)
    card_data = yaml.safe_load(
        card.front_matter(licence_text, load_manifest(published_release)).strip("-\n")
    )
    assert tuple(map(card_data.get, ("license", "license_name", "license_link"))) == front
    assert licence_page(licence) == page


def test_says_everything(published_release: Path) -> None:
    card_text = (published_release / "README.md").read_text()
    licence_text = (FOLDER / "card_says.txt").read_text("utf-8").splitlines()
    prose = [card_body.split("`")[0] for card_body in read_prose(meta(Sample(BASE)).prose).values()]
    assert [
        part for part in (canary("sample"), *licence_text, *prose) if part not in card_text
    ] == []
    page = html(card_text.split("---\n", 2)[2])
    assert page.count("<table>") == 6
    assert "<h1>A sample</h1>" in page
    assert not re.search(r"\n{4,}", card_text)


def test_a_reason_without_a_sentence_is_said_in_words(published_release: Path) -> None:
    assert reason_text("no_page", {"no_page": "It has no page."}) == "It has no page."
    assert reason_text("no_page", {}) == "no page"
    reason, sentence = map(escape_markdown, ("in_doubt", drop_reasons()["in_doubt"]))
    card_text = (published_release / "README.md").read_text()
    assert f"| diff | {reason} | 2 | {sentence} |" in card_text


def test_hostile_text_stays_text(hostile: Path) -> None:
    card_text = (hostile / "README.md").read_text()
    card_body = card_text.split("---\n", 2)[2]
    page = html(card_body)
    assert "<script" not in page
    assert "javascript:" not in re.sub(r"<code.*?</code>", "", page, flags=re.DOTALL).replace(
        "](javascript:b)", ""
    )
    assert page.count("<h1>") == 1
    assert re.findall(r'<img src="([^"]*)"', page) == ["plots/p.png"]
    assert {href.split("/")[2] for href in re.findall(r'href="([^"]*)"', page)} == {"spdx.org"}
    assert "<em>" not in page
    assert "<hr" not in page
    assert page.count("<table>") == 5
    table_lines = [line for line in card_body.splitlines() if line.startswith("|")]
    for row in table_lines:
        assert len(re.findall(r"(?<!\\)\|", row)) >= 2
    assert DatasetCard(card_text).data.get("tags") == [" ".join(EVIL.split())]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *read_table("card_escaped"),
        *[(1234567, "1,234,567"), (0.123456, "0.1235"), (None, "–"), (True, "yes"), (False, "no")],
        (date(2021, 7, 1), "2021-07-01"),
    ],
)
def test_escape(value: object, expected: str) -> None:
    assert escape_markdown(value) == expected


@pytest.mark.parametrize(
    ("function", "card_text", "further_text", "expected"), read_table("card_markdown")
)
def test_markdown(function: str, card_text: str, further_text: str, expected: str) -> None:
    assert getattr(card, function)(card_text, *filter(None, [further_text])) == expected


FULL = "".join(f"## {name}\n\nAbout {name}.\n\n" for name in SECTIONS)


def test_long_texts_and_lists_of_the_row_are_cut(tmp_path: Path) -> None:
    row = cloze(1, question="q" * 300, query="p" * 301, added=tuple("abcd"), removed=tuple("efghi"))
    release_folder = publish(tmp_path, Sample({"unchanged": {"2021Q3": [row]}})).folder
    (shown_json,) = re.findall(
        r"```json\n(.*?)```", (release_folder / "README.md").read_text(), re.DOTALL
    )
    card_data = json.loads(shown_json)
    assert (card_data["question"], card_data["query"]) == ("q" * 300, "p" * 299 + "…")
    assert (card_data["added"], card_data["removed"]) == ([*"abcd"], [*"efgh…"])


@pytest.mark.parametrize(
    ("card_text", "message"),
    [
        ("Hello.\n", r"prose\.md:1: text before"),
        (FULL.replace("Biases", "Others", 1), "missing or empty: ## Biases"),
        (FULL.replace("About Motivation.", ""), "missing or empty: ## Motivation"),
        (FULL + "## Biases\n", "two sections named 'Biases'"),
    ],
)
def test_prose_that_will_not_do(tmp_path: Path, card_text: str, message: str) -> None:
    prose_path = tmp_path / "prose.md"
    prose_path.write_text(card_text)
    with pytest.raises(UserError, match=message):
        read_prose(prose_path)


def test_more_sections_are_printed_and_every_dataset_has_all(tmp_path: Path) -> None:
    prose = tmp_path / "prose.md"
    prose.write_text(FULL + "## Annotators\n\nThree.\n")
    licence_text = replace(meta(Sample(BASE)), prose=prose)
    card_text = (
        write_release(dataset(Sample(BASE)), licence_text, tmp_path).folder / "README.md"
    ).read_text()
    assert "## Annotators\n\nThree." in card_text
    assert all(map(read_prose, CARDS.glob("*/prose.md")))


@pytest.mark.parametrize(
    ("period_count", "angle", "named_count", "counted_labels"),
    [(10, 0, 10, 10), (11, 45, 11, 11), (16, 45, 16, 16), (17, 45, 9, 0)],
)
def test_names_of_many_periods_are_turned(
    period_count: int, angle: int, named_count: int, counted_labels: int
) -> None:
    period_counts = {
        str(2000 + period_number): period_number for period_number in range(period_count)
    }
    panel = period_plot(Plot("a", "periods", "t", "c", {"x": period_counts})).axes[-1]
    tick_labels = panel.get_xticklabels()
    assert {tick_label.get_rotation() for tick_label in tick_labels} == {angle}
    assert (len(tick_labels), len(panel.texts)) == (named_count, counted_labels)


@pytest.mark.parametrize(
    "plot",
    [
        Plot("a", "periods", "t", "c", {"x": {"2021Q3": 5, "2021Q4": 0}, "y": {}}),
        Plot("a", "bars", "t", "c", {"P54 $x$ <b>": {"x": 5, "y": 0}, "w" * 90: {"x": 10**6}}),
        Plot("a", "periods", "t", "c", {"x": {"2021Q3": 5}}, {"x": {"2021Q3": 4.5}}, "draws"),
        Plot("a", "periods", "t", "c", {}),
        Plot("a", "bars", "t", "c", {}),
    ],
    ids=["periods", "bars", "expected", "no periods", "no bars"],
)
def test_plots_are_the_same_bytes_each_time(tmp_path: Path, plot: Plot) -> None:
    draw_plot(plot, tmp_path / "a.png")
    draw_plot(plot, tmp_path / "b.png")
    plot_data = (tmp_path / "a.png").read_bytes()
    assert plot_data == (tmp_path / "b.png").read_bytes()
    assert plot_data.startswith(b"\x89PNG")
    assert b"tEXt" not in plot_data
