"""The page refuses and takes the same texts as `annotation.checks`: one table for both."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, Item
from tests.annotation_items import own_layout
from tests.browser import Browser, browser

__all__ = ["browser"]  # a fixture

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("annotation_checks.json").read_text("utf-8")
)
CHECKS = list({json.dumps(case["check"]): case["check"] for case in CASES}.values())
FIELDS = sorted({name for case in CASES for name in case.get("fields", {})})

_TYPE = """
const problems = [];
for (const [answer, text, last] of arguments[0]) {
  const box = document.querySelectorAll('.answer.text')[answer];
  const area = box.querySelector('textarea');
  area.value = text;
  area.dispatchEvent(new Event('input'));
  area.dispatchEvent(new Event('blur'));
  const says = box.querySelector('.message').textContent;
  const no = [...box.querySelectorAll('.rules .no')].map((r) => r.dataset.rule);
  if (says.startsWith('Too long')) no.push('max_length');
  if (says.startsWith('Write something')) no.push('min_length');
  problems.push([Boolean(says), no, area.getAttribute('aria-invalid')]);
  area.value = '';
  area.dispatchEvent(new Event('input'));
  if (!last) document.getElementById('next').click();
}
return problems;
"""


def _page(checks: list[Any], cases: list[dict[str, Any]], folder: Path, batch: str) -> str:
    """A page that asks for a text by each of some checks, with an item for each case."""
    texts = {"kind": "text", "label": "A", "required": False}
    layout = own_layout(
        {name: {"optional": True} for name in FIELDS},
        {f"a{n}": texts | {"check": check} for n, check in enumerate(checks)},
    )
    (folder / "task.html.j2").write_text("{{ everything() }}")
    items = tuple(Item(f"i{n}", f"r{n}", case.get("fields", {})) for n, case in enumerate(cases))
    return page.render(layout.located(folder), [Hit("h", items)], batch=batch, mode="preview")


def test_the_page_finds_the_same_problems(browser: Browser, tmp_path: Path) -> None:
    browser.size("wide")
    wrong, seen = [], 0
    for first in range(0, len(CHECKS), 4):  # few answers on a page: each follows every key
        checks = CHECKS[first : first + 4]
        cases = [case for case in CASES if case["check"] in checks]
        browser.open(_page(checks, cases, tmp_path, f"checks-{first}"))
        plan = [[checks.index(case["check"]), case["text"], case is cases[-1]] for case in cases]
        for case, (refused, says, invalid) in zip(cases, browser.js(_TYPE, plan), strict=True):
            seen += 1
            expected = bool(case["problem"] and case["text"].strip())
            named = not refused or case["problem"] in says
            if refused != expected or (invalid == "true") != refused or not named:
                wrong.append((case, says))
        assert browser.messages() == []
    assert wrong == []
    assert seen == len(CASES)
