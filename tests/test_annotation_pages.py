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
from tests.tables import read_table

CASES = read_table("annotation_pages")
NAMES = sorted(FIELDS)
MODES: tuple[page.PageMode, ...] = ("preview", "static")
HOSTILE = "</script><script>alert(1)</script> ${data} ]]> <!-- & \u2028 \U0001f600 =1+1"


def _page(name: str, mode: page.PageMode = "preview", **deliver: Any) -> str:
    hits = [] if mode == "mturk" else [hit(name)]
    delivery = Delivery(**deliver)
    return page.render_page(load_layout(name), hits, batch_id="b1", mode=mode, delivery=delivery)


def _scripts(text: str) -> dict[str, str]:
    """The elements of the page that hold data, by id."""
    return dict(re.findall(r'<script type="[a-z/]+" id="([a-z-]+)">(.*?)</script>', text, re.S))


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_pays(name: str) -> None:
    assert load_layout(name).pay.hourly >= 12
    assert name in layout_names() and len(layout_names()) == 10


@pytest.mark.parametrize("name", NAMES)
def test_a_page_asks_nothing_of_the_network(name: str) -> None:
    text = _page(name)
    markup = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    addresses = re.findall(r"""\s(?:src|href)\s*=\s*["']?([^"'\s>]+)""", markup)
    assert [address for address in addresses if not address.startswith(("#", "data:,"))] == []
    assert "url(" not in text and "@import" not in text


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
    code = HOSTILE if mode == "static" else None
    hits, delivery = [Hit("h", (item,))], Delivery(code=code)
    text = page.render_page(layout, hits, batch_id="b", mode=mode, delivery=delivery)
    assert text.isascii()
    assert not any(part in text for part in ("${", "]]>", "alert(1)</script>"))
    data = json.loads(_scripts(text)["data"])
    page_item = {"id": "i", "fields": item.fields, "same": {}}
    assert data == [{"id": "h", "texts": [], "items": [page_item]}]
    assert json.loads(_scripts(text)["settings"])["code"] == code


@pytest.mark.parametrize("name", NAMES)
def test_what_is_known_of_an_attention_item_is_nowhere_on_its_page(name: str) -> None:
    layout = load_layout(name)
    known_answers = {"verdict": "the-known-answer"}
    shown_fields = [FIELDS[name], *(item_fields.fields for item_fields in layout.attention)]
    known_hit = Hit(
        "h",
        tuple(
            Item(f"i{item_number}", "the-row", item_fields, known_answers)
            for item_number, item_fields in enumerate(shown_fields)
        ),
    )
    items = json.loads(zlib.decompress(base64.b64decode(page.packed_hit(known_hit, "b"))))["items"]
    for mode in MODES:
        text = page.render_page(layout, [known_hit], batch_id="b", mode=mode)
        assert not any(word in text for word in ("the-known-answer", "the-row", "attention"))
        items += json.loads(_scripts(text)["data"])[0]["items"]
    assert len(items) == 3 * len(shown_fields)
    assert all(set(item) == {"id", "fields", "same"} for item in items)


def test_a_text_of_several_items_stands_in_a_hit_once() -> None:
    long = [{"text": HOSTILE * 5}]
    items = [
        Item(f"i{item_number}", "r", {"page": long, "n": item_number, "short": "x"})
        for item_number in range(3)
    ]
    value = json.loads(page.hit_file(Hit("h", tuple(items))))
    assert value["texts"] == [long]
    assert [item["same"] for item in value["items"]] == [{"page": 0}] * 3
    assert [item["fields"] for item in value["items"]] == [
        {"n": item_number, "short": "x"} for item_number in range(3)
    ]
    for size, texts in ((200, 0), (201, 1)):
        two = Hit(
            "h",
            tuple(Item(f"i{item_number}", "r", {"text": "x" * size}) for item_number in range(2)),
        )
        assert len(json.loads(page.hit_file(two))["texts"]) == texts


LAYOUT = own_layout(
    {"article": {}, "day": {"kind": "date"}}, {"verdict": {"kind": "flag", "label": "L"}}
)


@pytest.mark.parametrize(
    ("template", "message"),
    CASES["templates"],
)
def test_a_wrong_template_is_the_users_mistake(tmp_path: Path, template: str, message: str) -> None:
    (tmp_path / "task.html.j2").write_text(template)
    with pytest.raises(UserError) as error:
        page.render_page(LAYOUT.with_folder(tmp_path), [], batch_id="b", mode="preview")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "address"),
    CASES["addresses"],
)
def test_an_address_that_is_none_is_the_users_mistake(name: str, address: str) -> None:
    with pytest.raises(UserError, match="not an address of the web"):
        _page("judge_question", "static", **{name: address})


def test_the_page_never_takes_text_for_markup() -> None:
    for path in page.PARTS.glob("*.js"):
        text = path.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, path.name


@pytest.mark.parametrize(("place", "least"), CASES["least"])
def test_the_least_of_a_figure(place: tuple[str, ...], least: int) -> None:
    for value in (least, least - 1):
        layout_settings = LAYOUT.model_dump(exclude_defaults=True) | {"rejects": {}}
        inside = layout_settings
        for name in place[:-1]:
            inside = inside.setdefault(name, {})
        inside[place[-1]] = value
        if value == least:
            Layout.model_validate(layout_settings)
        else:
            with pytest.raises(ValidationError, match="greater than or equal to"):
                Layout.model_validate(layout_settings)
