"""The page refuses and takes the same texts as `annotation.checks`: one table for both."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")

from annotation import page
from annotation.batch import Hit, Item
from annotation.layout import Layout
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


def test_the_page_finds_the_same_problems(browser: Browser, tmp_path: Path) -> None:
    layout = Layout.model_validate(
        {
            "title": "Checks",
            "summary": "Every check.",
            "instructions": ["Type."],
            "fields": {name: {"optional": True} for name in FIELDS},
            "answers": {
                f"a{n}": {"kind": "text", "label": f"A {n}", "check": check, "required": False}
                for n, check in enumerate(CHECKS)
            },
            "pay": {"per_hit": "1", "minutes_per_hit": "4"},
        }
    )
    (tmp_path / "task.html.j2").write_text("{{ everything() }}")
    items = tuple(Item(f"i{n}", f"r{n}", case.get("fields", {})) for n, case in enumerate(CASES))
    text = page.render(
        layout, "checks", tmp_path, [Hit("h", items)], batch="checks", mode="preview"
    )
    browser.size("wide")
    browser.open(text)
    plan = [[CHECKS.index(case["check"]), case["text"], case is CASES[-1]] for case in CASES]
    given = browser.js(_TYPE, plan)
    wrong = [
        (case, says)
        for case, (refused, says, invalid) in zip(CASES, given, strict=True)
        if refused != bool(case["problem"] and case["text"].strip())
        or (invalid == "true") != refused
        or (refused and case["problem"] not in says)
    ]
    assert wrong == []
    assert browser.messages() == []
