"""`as-of` of somebody's own facts: whoever gets nothing is told why."""

from pathlib import Path

import pytest

from tests.conftest import Completed, run_cli
from tests.dumps import array, compressed, item, statement

RECIPE = """\
dataset: own
version: 1.0.0
title: Who chaired what
summary: Facts of our own.
licence: CC0-1.0
inputs:
  dump: {path: wikidata-20261101-all.json.gz, licence: CC0-1.0}
build: {builder: as-of, questions: 20, first: 2021-01-01, statements: true, relations: [RELATION]}
"""
OWN_TEMPLATE = """\
relation: P3300-own
label: lead
mode: accumulate
exclusive: true
undated: drop
cloze: [<object> leads <the subject>.]
phrases: {event: <object> took over <the subject>, ask: who led <the subject>}
"""


def release(folder: Path, site: str, relation: str = "P488") -> Completed:
    """Release sentences about six bodies, each with three chairs, and pages in one Wikipedia."""
    people = [item(f"Q{number}", f"Person {number}") for number in range(100, 118)]
    bodies = []
    for number in range(6):
        terms = [
            statement(f"Q{100 + 3 * number + year}", f"{2021 + year}-0{number + 1}-10")
            for year in range(3)
        ]
        body = item(f"Q{200 + number}", f"Body {number}", {"P488": terms})
        body["sitelinks"] = {site: {"site": site, "title": f"Body {number}"}}
        bodies.append(body)
    compressed(array([*people, *bodies]), folder / "wikidata-20261101-all.json.gz")
    (folder / "templates").mkdir(exist_ok=True)
    (folder / "templates/P3300-own.yaml").write_text(OWN_TEMPLATE, "utf-8")
    recipe = folder / "own.yaml"
    recipe.write_text(RECIPE.replace("RELATION", relation), "utf-8")
    places = ("--out", folder / "out", "--build", folder / "build")
    return run_cli("release", recipe, *places, "--templates", folder / "templates", ok=False)


@pytest.mark.slow
def test_subjects_without_a_page_are_counted(tmp_path: Path) -> None:
    """Six histories that change, of bodies that German Wikipedia alone has, are six drops."""
    printed_error = release(tmp_path, "dewiki").stderr
    assert "nothing is left for own: 6 no_sitelink" in printed_error
    assert "no_sitelink: The subject has no page in the English Wikipedia." in printed_error
    assert "is left" not in release(tmp_path, "enwiki").stderr


@pytest.mark.parametrize("relation", ["P1037", "P3300-own"])
def test_a_relation_that_no_text_states_is_no_silence(tmp_path: Path, relation: str) -> None:
    """Its template has phrases and no `news:`; the property of P3300-own has no template at all."""
    printed_error = release(tmp_path, "enwiki", relation).stderr
    assert f"no words by which texts state {relation}" in printed_error
    assert "add a `news:` block" in printed_error
