"""Pages as text: what they hold, what they cannot hold, what a wrong template says."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import cast

import pytest

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.layout import Layout, layouts, load_layout
from factdrift.annotation.submission import Json
from factdrift.builders.core.errors import UserError
from tests.annotation_items import FIELDS, hit

NAMES = sorted(FIELDS)
MODES: tuple[page.PageMode, ...] = ("preview", "static")
HOSTILE = "</script><script>alert(1)</script> ${data} ]]> <!-- & \u2028 \U0001f600 =1+1"


def _page(name: str, mode: page.PageMode = "preview", **deliver: str) -> str:
    hits = [] if mode == "mturk" else [hit(name)]
    return page.render(load_layout(name), hits, batch="b1", mode=mode, deliver=deliver)


def _scripts(text: str) -> dict[str, str]:
    """The elements of the page that hold data, by id."""
    found = re.findall(r'<script type="[a-z/]+" id="([a-z-]+)">(.*?)</script>', text, re.S)
    return dict(found)


def test_the_ten_layouts_are_there() -> None:
    assert layouts() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_pays_and_shows_what_its_attention_items_have(name: str) -> None:
    layout = load_layout(name)
    assert layout.pay.hourly >= 12
    needed = {k for k, v in layout.fields.items() if not v.optional}
    for item in layout.attention:
        fields, answers = item["fields"], item["answers"]
        assert isinstance(fields, dict)
        assert isinstance(answers, dict)
        assert needed <= set(fields) <= set(layout.fields)
        assert set(answers) <= set(layout.answers)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_asks_nothing_of_the_network(name: str) -> None:
    class Addresses(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(v for k, v in attrs if k in ("src", "href") and v)

    found: list[str] = []
    text = _page(name)
    Addresses().feed(text)
    assert [a for a in found if not a.startswith(("#", "data:,"))] == []
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize(
    ("mode", "deliver", "rule"),
    [
        ("preview", {}, "connect-src 'none'"),
        ("static", {}, "connect-src 'none'"),
        ("static", {"post": "https://x.org:8443/take?a=1"}, "connect-src https://x.org:8443/take;"),
        ("mturk", {}, "form-action 'none'"),
    ],
)
def test_the_policy_names_where_it_submits_to(
    mode: page.PageMode, deliver: dict[str, str], rule: str
) -> None:
    policy = re.search(r'Policy" content="([^"]*)"', _page("judge_question", mode, **deliver))
    assert policy
    shown = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in shown
    assert rule in shown


@pytest.mark.parametrize("mode", ["preview", "static"])
def test_hostile_text_stays_in_its_place(mode: page.PageMode) -> None:
    layout = load_layout("judge_question").model_copy(
        update={"title": HOSTILE, "instructions": (HOSTILE,), "examples": ({HOSTILE: HOSTILE},)}
    )
    item = Item("i", "r", {"question": HOSTILE, "question_date": 0})
    text = page.render(
        layout,
        [Hit("h", (item,))],
        batch="b",
        mode=mode,
        deliver={"code": HOSTILE} if mode == "static" else {},
    )
    assert text.isascii()
    assert "${" not in text
    assert "]]>" not in text
    assert "alert(1)</script>" not in text
    data = json.loads(_scripts(text)["data"])
    assert data == [{"id": "h", "items": [{"id": "i", "fields": item.fields}]}]
    settings = json.loads(_scripts(text)["settings"])
    assert settings["code"] == (HOSTILE if mode == "static" else None)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_for_mturk_has_one_variable_and_is_small(name: str) -> None:
    text = _page(name, "mturk")
    assert re.findall(r"\$\{[^}]*\}", text) == ["${data}"]
    assert text.isascii()
    assert "]]>" not in text
    assert len(text) < 48_000  # MTurk takes 65,535 bytes with the item


def test_data_for_mturk_is_the_hit_without_what_workers_must_not_see() -> None:
    item = Item("i", "r", {"text": HOSTILE}, answers={"verdict": "bad"})
    given = page.data(Hit("h", (item,)), "b")
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", given)
    value = json.loads(zlib.decompress(base64.b64decode(given)).decode("utf-8"))
    assert value == {"batch": "b", "id": "h", "items": [{"id": "i", "fields": {"text": HOSTILE}}]}


def test_known_answers_and_rows_are_not_on_the_page() -> None:
    item = Item("i", "the-row", {"question": "Q?", "question_date": 0}, {"verdict": "the-answer"})
    layout = load_layout("judge_question")
    text = page.render(layout, [Hit("h", (item,))], batch="b", mode="static")
    assert "the-row" not in text
    assert "the-answer" not in text
    assert "Summer Olympics of 2012" not in text  # an attention item of the layout


@pytest.mark.parametrize("name", NAMES)
def test_what_is_known_of_an_attention_item_is_nowhere_on_its_page(name: str) -> None:
    layout = load_layout(name)
    known = {"verdict": "the-known-answer"}
    shown = [FIELDS[name], *(cast(dict[str, Json], one["fields"]) for one in layout.attention)]
    made = Hit("h", tuple(Item(f"i{n}", "", fields, known) for n, fields in enumerate(shown)))
    items = json.loads(zlib.decompress(base64.b64decode(page.data(made, "b"))))["items"]
    for mode in MODES:
        text = page.render(layout, [made], batch="b", mode=mode)
        assert "the-known-answer" not in text
        assert "attention" not in text
        items += json.loads(_scripts(text)["data"])[0]["items"]
    assert len(items) == 3 * len(shown)
    assert all({"id", "fields"} <= set(item) <= {"id", "fields", "same"} for item in items)


def test_a_text_of_several_items_stands_in_a_hit_once() -> None:
    long = [{"text": HOSTILE * 5}]
    items = [Item(f"i{n}", "r", {"page": long, "n": n, "short": "x"}) for n in range(3)]
    value = json.loads(page.hit_file(Hit("h", tuple(items))))
    assert value["texts"] == [long]
    assert [item["same"] for item in value["items"]] == [{"page": 0}] * 3
    assert [item["fields"] for item in value["items"]] == [{"n": n, "short": "x"} for n in range(3)]


LAYOUT = Layout.model_validate(
    {
        "title": "T",
        "summary": "S",
        "instructions": ["I"],
        "fields": {"article": {}, "day": {"kind": "date"}},
        "answers": {"verdict": {"kind": "flag", "label": "L"}},
        "pay": {"per_hit": "1", "minutes_per_hit": "4"},
    }
)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ('\n{{ show("artcle") }}', "task.html.j2:2: no field 'artcle', did you mean 'article'?"),
        ('{{ answer("x") }}', "task.html.j2:1: no answer 'x', there are verdict"),
        ('{{ show("day") }}', "task.html.j2: nowhere asked: verdict"),
        (
            '{{ answer("verdict") }}\n{{ answer("verdict") }}',
            "j2:2: the answer 'verdict' is placed",
        ),
        ("\n\n{{ shwo }}", "task.html.j2:3: 'shwo' is undefined"),
        ("{% if %}", "task.html.j2:1: Expected"),
        ("{{ everything() }}<script>x</script>", "a layout has no scripts and styles"),
        ("{{ everything() }}<p onclick='x'>", "a layout has no scripts and styles"),
        ("{{ ''.__class__.__mro__ }}{{ everything() }}", "task.html.j2:1: access to attribute"),
    ],
)
def test_a_wrong_template_is_the_users_mistake(tmp_path: Path, template: str, message: str) -> None:
    (tmp_path / "task.html.j2").write_text(template)
    with pytest.raises(UserError) as error:
        page.render(LAYOUT.located(tmp_path), [], batch="b", mode="preview")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("mode", "deliver", "message"),
    [
        ("static", {"post": "javascript:alert(1)"}, "not an address of the web"),
        ("static", {"post": "https://x.org/a b"}, "not an address of the web"),
        ("static", {"complete": "file:///x"}, "not an address of the web"),
        ("static", {"post": "https://x.org; script-src *"}, "not an address of the web"),
        ("static", {"cod": "X"}, "no 'cod'"),
    ],
)
def test_a_wrong_delivery_is_the_users_mistake(
    mode: page.PageMode, deliver: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        _page("judge_question", mode, **deliver)


def test_the_page_never_takes_text_for_markup() -> None:
    for path in page.PARTS.glob("*.js"):
        text = path.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, path.name
