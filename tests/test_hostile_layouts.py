"""Layouts of strangers: what their templates and texts try is refused at once, in one line."""

import re
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from factdrift.annotation.layout import FOLDER, Layout, load_layout
from factdrift.annotation.page import check_layouts, render_task
from factdrift.annotation.platforms.label_studio import labelling_config
from factdrift.builders.core.errors import UserError
from tests.annotation_items import own_layout
from tests.annotation_workers import LAYOUT
from tests.conftest import run_cli
from tests.tables import case_lists

CASES = case_lists("hostile_layouts")
SHOWN = own_layout(
    {"article": {}, "day": {"kind": "date"}}, {"verdict": {"kind": "flag", "label": "L"}}
)
A_SECOND = 2.0
"""Seconds that a refusal may take on a machine that does other work as well."""


def hostile(text: str) -> str:
    """A text of the table, in which `X` stands for many of the character after it, or of two."""
    repeated = re.compile(r"X(\{\{|- |.)")
    return repeated.sub(lambda match: match[1] * (10_000 // len(match[1])), text)


def rendered(folder: Path, template: str) -> str:
    (folder / "task.html.j2").write_text(template, "utf-8")
    return str(render_task(SHOWN.with_folder(folder)))


@pytest.mark.parametrize(("template", "expected_message"), [*CASES["jinja"], *CASES["html"]])
@pytest.mark.parametrize("place", ["before", "after"])
def test_what_a_template_tries_is_refused_at_once(
    tmp_path: Path, template: str, expected_message: str, place: str
) -> None:
    hostile_text = hostile(template)
    template_parts = [hostile_text, "{{ everything() }}\n"]
    start_time = time.process_time()  # a busy machine is no failure
    with pytest.raises(UserError) as error:
        rendered(
            tmp_path, "".join(template_parts if place == "before" else reversed(template_parts))
        )
    assert time.process_time() - start_time < A_SECOND
    message_text = str(error.value).removeprefix(str(tmp_path))
    assert expected_message in message_text
    assert len(message_text) < 400
    assert len(message_text.splitlines()) <= 2  # and a hint


@pytest.mark.parametrize(("template", "page_part"), CASES["taken"])
def test_what_an_honest_template_does_is_taken(
    tmp_path: Path, template: str, page_part: str
) -> None:
    answer_place = '<div class="ask" data-answer="verdict"></div>'
    written_html = rendered(tmp_path, f"{template}{{{{ answer('verdict') }}}}\n")
    assert written_html.replace("&#36;", "$").strip() == page_part + answer_place


def test_our_own_layouts_are_as_their_templates_write_them() -> None:
    """Written anew from what was parsed, they are the same to the byte."""
    assert len(check_layouts()) == 10
    for folder in FOLDER.iterdir():
        template_text = (folder / "task.html.j2").read_text("utf-8")
        plain_tags = re.findall(r"</?[a-z]+[^>{]*>", template_text)
        task_html = render_task(load_layout(folder.name))
        for tag in plain_tags:
            assert tag in task_html


TITLE = "title: Is it good?"
CONTROL_CHARACTERS = [r"\x00", r"\x08", r"\x1b[2J", r"\x7f", r"\x9b31m", r"\uffff", r"\ufffe"]


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
@pytest.mark.parametrize(
    "changed",
    [
        lambda bad: LAYOUT.replace(TITLE, f'title: "Good{bad}"'),
        lambda bad: LAYOUT.replace("instructions: [", f'instructions: ["{bad}", '),
        lambda bad: LAYOUT + f'rejects: {{"a{bad}": {{}}}}\n',
        lambda bad: LAYOUT + f'examples: [{{"a{bad}": b}}]\n',
    ],
)
def test_control_characters_reach_neither_xml_nor_a_terminal(
    tmp_path: Path, changed: "object", character: str
) -> None:
    assert callable(changed)
    (tmp_path / "layout.yaml").write_text(changed(character), "utf-8")
    (tmp_path / "task.html.j2").write_text("{{ everything() }}\n", "utf-8")
    printed_text = run_cli("layouts", tmp_path, ok=False)
    assert "has the control character" in printed_text.stderr
    for line in (printed_text.stdout + printed_text.stderr).splitlines():
        assert line.isprintable()


def test_the_labelling_configuration_is_xml_whatever_the_texts(tmp_path: Path) -> None:
    text = "<b>&\"'${x}]]><!-- {{ 7*7 }} \u202e\u2028\ufeff\U0001f600\t"
    layout = SHOWN.model_copy(update={"title": text, "instructions": (text,)})
    assert isinstance(layout, Layout)
    ElementTree.fromstring(labelling_config(layout))
    for folder in FOLDER.iterdir():
        ElementTree.fromstring(labelling_config(load_layout(folder.name)))


DEEP = {
    "500 lists": LAYOUT + "x: " + "[" * 500 + "]" * 500,
    "200,000 lists": LAYOUT + "x: " + "[" * 200_000 + "]" * 200_000,
    "200,000 lists that never end": "[" * 200_000,
    "200,000 mappings": "{a: " * 200_000,
    "500 blocks": "\n".join(" " * depth + "a:" for depth in range(500)),
    "200,000 blocks on a line": "- " * 200_000,
    "keys of keys": "? " * 200_000,
    "a number of 5,000 digits": LAYOUT + "assignments: " + "9" * 5_000,
    "a number beyond all": LAYOUT + "min_seconds: 1" + "0" * 500,
    "a number beyond all, in short": LAYOUT + "min_seconds: 1e999",
    "pay beyond all": LAYOUT.replace("per_hit: 0.50", "per_hit: 1e999999999"),
    "minutes of no length": LAYOUT.replace("minutes_per_hit: 2", "minutes_per_hit: 1e-999999"),
    "two million characters": LAYOUT + "dataset: " + "x" * 2_000_000,
    "20,000 unknown keys": LAYOUT + "".join(f"k{number}: 1\n" for number in range(20_000)),
    "an object of Python": LAYOUT + "x: !!python/object/apply:os.system ['id']\n",
    "a bomb of aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "NULs": "\x00" * 1_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_a_layout_without_end_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "layout.yaml").write_text(DEEP[name] + "\n", "utf-8")
    (tmp_path / "task.html.j2").write_text("{{ everything() }}\n", "utf-8")
    start_time = time.process_time()  # a busy machine is no failure
    with pytest.raises(UserError) as error:
        load_layout(tmp_path)
    assert time.process_time() - start_time < 3 * A_SECOND
    assert len(str(error.value)) < 20_000
