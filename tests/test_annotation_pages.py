"""Pages as text: what they hold, what they cannot hold, what a wrong template says."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.layout import Layout, layout_names, load_layout
from factdrift.annotation.order import Delivery
from factdrift.builders.core.errors import UserError
from tests.annotation_items import FIELDS, hit, own_layout
from tests.tables import column_of, read_table

CASES = read_table("annotation_pages")
NAMES = sorted(FIELDS)
MODES: tuple[page.PageMode, ...] = ("preview", "static")
HOSTILE = "</script><script>alert(1)</script> ${data} ]]> <!-- & \u2028 \U0001f600 =1+1"


def _page(layout_name: str, mode: page.PageMode = "preview", **deliver: Any) -> str:
    hits = [] if mode == "mturk" else [hit(layout_name)]
    delivery = Delivery(**deliver)
    return page.render_page(
        load_layout(layout_name), hits, batch_id="b1", mode=mode, delivery=delivery
    )


def _scripts(page_text: str) -> dict[str, str]:
    """The elements of the page that hold data, by id."""
    return dict(
        re.findall(r'<script type="[a-z/]+" id="([a-z-]+)">(.*?)</script>', page_text, re.S)
    )


@pytest.mark.parametrize("layout_name", NAMES)
def test_a_layout_pays(layout_name: str) -> None:
    assert load_layout(layout_name).pay.hourly >= 12
    assert layout_name in layout_names() and len(layout_names()) == 10


@pytest.mark.parametrize("layout_name", NAMES)
def test_a_page_asks_nothing_of_the_network(layout_name: str) -> None:
    page_text = _page(layout_name)
    markup = re.sub(r"<script.*?</script>", "", page_text, flags=re.S)
    addresses = re.findall(r"""\s(?:src|href)\s*=\s*["']?([^"'\s>]+)""", markup)
    assert [address for address in addresses if not address.startswith(("#", "data:,"))] == []
    assert "url(" not in page_text and "@import" not in page_text


@pytest.mark.parametrize(
    ("mode", "deliver", "rule"),
    CASES["policies"],
)
def test_the_policy_names_where_it_submits_to(
    mode: page.PageMode, deliver: dict[str, str], rule: str
) -> None:
    policy = re.search(r'Policy" content="([^"]*)"', _page("judge_question", mode, **deliver))
    assert policy
    policy_text = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy_text
    assert rule in policy_text


@pytest.mark.parametrize("mode", ["preview", "static"])
def test_hostile_text_stays_in_its_place(mode: page.PageMode) -> None:
    layout = load_layout("judge_question").model_copy(
        update={"title": HOSTILE, "instructions": (HOSTILE,), "examples": ({HOSTILE: HOSTILE},)}
    )
    item = Item("i", "r", {"question": HOSTILE, "question_date": 0})
    completion_code = HOSTILE if mode == "static" else None
    hits, delivery = [Hit("h", (item,))], Delivery(code=completion_code)
    page_text = page.render_page(layout, hits, batch_id="b", mode=mode, delivery=delivery)
    assert page_text.isascii()
    for part in ("${", "]]>", "alert(1)</script>"):
        assert part not in page_text
    page_data = json.loads(_scripts(page_text)["data"])
    page_item = {"id": "i", "fields": item.fields, "same": {}}
    assert page_data == [{"id": "h", "texts": [], "items": [page_item]}]
    assert json.loads(_scripts(page_text)["settings"])["code"] == completion_code


@pytest.mark.parametrize("layout_name", NAMES)
def test_what_is_known_of_an_attention_item_is_nowhere_on_its_page(layout_name: str) -> None:
    layout = load_layout(layout_name)
    known_answers = {"verdict": "the-known-answer"}
    shown_fields = [FIELDS[layout_name], *(item_fields.fields for item_fields in layout.attention)]
    known_hit = Hit(
        "h",
        tuple(
            Item(f"i{item_number}", "the-row", item_fields, known_answers)
            for item_number, item_fields in enumerate(shown_fields)
        ),
    )
    items = json.loads(zlib.decompress(base64.b64decode(page.packed_hit(known_hit, "b"))))["items"]
    for page_mode in MODES:
        page_text = page.render_page(layout, [known_hit], batch_id="b", mode=page_mode)
        for word in ("the-known-answer", "the-row", "attention"):
            assert word not in page_text
        items += json.loads(_scripts(page_text)["data"])[0]["items"]
    assert len(items) == 3 * len(shown_fields)
    for page_item in items:
        assert set(page_item) == {"id", "fields", "same"}


def test_a_text_of_several_items_stands_in_a_hit_once() -> None:
    long = [{"text": HOSTILE * 5}]
    items = [
        Item(f"i{item_number}", "r", {"page": long, "n": item_number, "short": "x"})
        for item_number in range(3)
    ]
    answer_value = json.loads(page.hit_file(Hit("h", tuple(items))))
    assert answer_value["texts"] == [long]
    assert column_of(answer_value["items"], "same") == [{"page": 0}] * 3
    assert column_of(answer_value["items"], "fields") == [
        {"n": item_number, "short": "x"} for item_number in range(3)
    ]
    for text_length, shared_texts in ((200, 0), (201, 1)):
        two = Hit(
            "h",
            tuple(
                Item(f"i{item_number}", "r", {"text": "x" * text_length})
                for item_number in range(2)
            ),
        )
        assert len(json.loads(page.hit_file(two))["texts"]) == shared_texts


LAYOUT = own_layout(
    {"article": {}, "day": {"kind": "date"}}, {"verdict": {"kind": "flag", "label": "L"}}
)


@pytest.mark.parametrize(
    ("template", "expected_message"),
    CASES["templates"],
)
def test_a_wrong_template_is_the_users_mistake(
    tmp_path: Path, template: str, expected_message: str
) -> None:
    (tmp_path / "task.html.j2").write_text(template)
    with pytest.raises(UserError) as error:
        page.render_page(LAYOUT.with_folder(tmp_path), [], batch_id="b", mode="preview")
    assert expected_message in str(error.value)


@pytest.mark.parametrize(
    ("layout_name", "address"),
    CASES["addresses"],
)
def test_an_address_that_is_none_is_the_users_mistake(layout_name: str, address: str) -> None:
    with pytest.raises(UserError, match=r"an address|:// is not read here"):
        _page("judge_question", "static", **{layout_name: address})


def test_the_page_never_takes_text_for_markup() -> None:
    for file_path in page.PARTS.glob("*.js"):
        page_text = file_path.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in page_text, file_path.name


@pytest.mark.parametrize(("place", "least"), CASES["least"])
def test_the_least_of_a_figure(place: tuple[str, ...], least: int) -> None:
    for answer_value in (least, least - 1):
        layout_settings = LAYOUT.model_dump(exclude_defaults=True) | {"rejects": {}}
        inner_settings = layout_settings
        for layout_name in place[:-1]:
            inner_settings = inner_settings.setdefault(layout_name, {})
        inner_settings[place[-1]] = answer_value
        if answer_value == least:
            Layout.model_validate(layout_settings)
        else:
            with pytest.raises(ValidationError, match="greater than or equal to"):
                Layout.model_validate(layout_settings)
