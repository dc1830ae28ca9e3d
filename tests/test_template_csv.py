"""Templates out of a table as TempLAMA has them: what is written, and what is told."""

from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.check import SCHEMA
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.facts.template_csv import import_templates
from tests.conftest import run

HEAD = "Wikidata ID,Relation,Template\n"
GOOD = '''\
Wikidata ID,Relation,Template,#Facts
P54,member of sports team,<subject> plays for <object>.,3772

P102,political party,<subject> is a member of the <object>.,1068
P54,member of sports team,"In sport, <subject> is with <object>.",
P6,"on: ""off""",<object> is the head of the government of <subject>.,578
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(text: str) -> Path:
    path = Path("templates.csv")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [GOOD, "\ufeff" + GOOD, GOOD.replace("\n", "\r\n")])
def test_a_table_becomes_templates(text: str) -> None:
    made = import_templates(table(text), Path("mine"))
    assert [path.name for path in made] == ["P54.yaml", "P102.yaml", "P6.yaml"]
    relations = load_relations(Path("mine"))
    assert relations["P54"].cloze == (
        "<subject> plays for <object>.",
        "In sport, <subject> is with <object>.",
    )
    assert relations["P102"].label == "political party"
    assert relations["P6"].label == 'on: "off"'
    assert (Path("mine") / SCHEMA).is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "P54,team,<subject> plays for <objekt>.\nQ1,x,<subject> of <object>.\n",
            "templates.csv:2: unknown placeholder <objekt>, did you mean <object>?\n"
            "templates.csv:3: 'Q1' is not a property id such as P54",
        ),
        (HEAD + "P54,team,<subject> plays.\n", "templates.csv:2: no <object>"),
        (HEAD + "P54,team,<subject> plays for <object>\n", "templates.csv:2: has no full stop"),
        (HEAD + "P54,team\n", "templates.csv:2: no <subject>"),
        (HEAD + 2 * "P54,team,<subject> of <object>.\n", "templates.csv:3: asks the same as"),
        (
            HEAD + "P54,team,<subject> of <object>.\nP54,club,<subject> at <object>.\n",
            "templates.csv:3: P54 has two names: 'club' here, 'team' above",
        ),
        (HEAD, "templates.csv: no templates: no row below the head"),
        ("", "templates.csv:1: no column 'Wikidata ID', 'Relation', 'Template'"),
        ("Wikidata ID,Relation,Templates\n", "templates.csv:1: no column 'Template'\n  is 'Templ"),
        (HEAD + '"P54', "templates.csv: cannot be read as CSV: "),
    ],
)
def test_bad_rows_are_told_and_nothing_is_written(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        import_templates(table(text), Path("mine"))
    assert str(error.value).startswith(message), str(error.value)
    assert not Path("mine").exists()


def test_nothing_is_replaced() -> None:
    kept = Path("mine/P102.yaml")
    kept.parent.mkdir()
    kept.write_text("my own")
    with pytest.raises(UserError, match=r"^mine/P102\.yaml: is there already\n  take another"):
        import_templates(table(GOOD), Path("mine"))
    assert [path.name for path in Path("mine").iterdir()] == ["P102.yaml"]
    assert kept.read_text() == "my own"


def test_no_such_table() -> None:
    with pytest.raises(UserError, match=r"^none\.csv: cannot be read as CSV"):
        import_templates(Path("none.csv"), Path("mine"))


def test_the_command(here: Path) -> None:
    table(GOOD)
    said = run("templates", "--import", "templates.csv", "--out", "mine", cwd=here).stdout
    assert "(subject) plays for _X_.  ->  (subject) plays for (object)." in said
    missing = run("templates", "--import", "templates.csv", cwd=here, ok=False)
    assert "--import FILE.csv and --out FOLDER go together" in missing.stderr
