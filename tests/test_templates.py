"""The shipped templates, and the mistakes that a new one can have."""

import re
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import (
    cloze_templates,
    json_schema,
    load_relations,
    relations_with_own,
    select_relations,
)
from factdrift.builders.facts.template_files import (
    SCHEMA,
    check,
    import_templates,
    write_schema,
)
from factdrift.builders.invariant.dataset import RELATIONS
from factdrift.builders.text.render import QUESTION_ROLES, object_last, parse_template
from tests.conftest import run_cli
from tests.tables import names_of, read_table

TEMPLATES = Path(__file__).parent.parent / "templates"
PAPER = ["P6", "P27", "P39", "P54", "P69", "P102", "P106", "P108"]
PAPER += ["P127", "P138", "P176", "P279", "P286", "P488", "P937", "P1001"]
SHIPPED = load_relations(TEMPLATES)
GOOD = """\
relation: P54
label: member of sports team
mode: accumulate
exclusive: false
undated: drop
cloze:
  - <subject> plays for <the object>.
  - The team of <subject> is <the object>.
  - In sport, <the object> has <subject>.
examples:
  - subject: Cristiano Ronaldo
    object: Manchester United F.C.
    reads:
      - Cristiano Ronaldo plays for Manchester United F.C.
      - The team of Cristiano Ronaldo is Manchester United F.C.
      - In sport, Manchester United F.C. has Cristiano Ronaldo.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "P54.yaml").write_text(GOOD, encoding="utf-8")
    return Path("templates")


# Offices with one holder: a successor ends the term before.
EXCLUSIVE = set("P6 P6-country P6-city P35 P169 P286 P488 P1037 P1075 P1308 P4791".split())
POINTWISE = set("P166 P608 P793 P800 P1344 P1346 P1365 P1366 P1411".split())

# Of these a subject has one of many, or a chain of places one in the other.
OFTEN_MANY = set("P27 P47 P131 P140 P190 P276 P279 P361 P527 P937 P1412".split())


def test_the_relations_of_the_paper_are_there_in_order() -> None:
    assert [relation for relation in SHIPPED if relation in PAPER] == PAPER
    assert list(SHIPPED) == sorted(SHIPPED, key=lambda relation: (len(relation), relation))
    assert {
        relation_id for relation_id, relation in SHIPPED.items() if relation.undated == "keep"
    } == set(RELATIONS)
    assert {
        relation_id for relation_id, relation in SHIPPED.items() if relation.exclusive
    } == EXCLUSIVE
    assert {
        relation_id for relation_id, relation in SHIPPED.items() if relation.mode == "pointwise"
    } == POINTWISE
    assert {relation_id for relation_id, relation in SHIPPED.items() if relation.functional} == set(
        RELATIONS
    ) - OFTEN_MANY


def test_relations_that_change_are_asked_about_with_every_specifier() -> None:
    for relation_id, relation in SHIPPED.items():
        served_specifiers = {
            specifier for question in relation.questions for specifier in question.times
        }
        assert not relation.questions or served_specifiers >= {"in", "before", "after"}, relation_id
        assert (
            relation.mode == "pointwise" or not relation.questions or "between" in served_specifiers
        ), relation_id


@pytest.mark.parametrize("relation", SHIPPED)
def test_each_question_keeps_the_house_rules(relation: str) -> None:
    for question in SHIPPED[relation].questions:
        fixed_text = " ".join(
            part for part in parse_template(question.ask, QUESTION_ROLES) if isinstance(part, str)
        )
        assert not re.search(r"\d|\b(now|currently|today|still|is|are|does|has)\b", fixed_text)
        # the time brings its preposition: "of in 2012" reads, "in in 2012" does not
        assert not re.search(r"\b(in|on|from|between|before|after) <time>", question.ask)
        assert question.ask.endswith(" <time>?")
        assert not re.search(r"\b(a|an|the) <", question.ask, re.I)
        assert re.match(r"(\w+ )?(who|whom|whose|what|which|where)\b", question.ask, re.I)


@pytest.mark.parametrize("relation", SHIPPED)
def test_each_template_keeps_the_house_rules(relation: str) -> None:
    template = SHIPPED[relation]
    assert len(template.examples) >= 2
    assert any(object_last(text) for text in template.cloze)
    for text in template.cloze:
        fixed_parts = [part for part in parse_template(text) if isinstance(part, str)]
        assert not re.search(r"\d|\b(now|currently|was|were|today|still)\b", " ".join(fixed_parts))
        # an article outside its placeholder would stand before the blank and tell
        assert not re.search(r"\b(a|an|the) <", text, re.I)
    first_line = (TEMPLATES / f"{relation}.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first_line == f"# yaml-language-server: $schema={SCHEMA}"


def test_the_schema_for_editors_is_that_of_the_model() -> None:
    assert (TEMPLATES / SCHEMA).read_text(encoding="utf-8") == json_schema()


def test_check_prints_every_variant(folder: Path) -> None:
    assert list(check(folder)) == [
        "P54 member of sports team (accumulate)",
        "  Cristiano Ronaldo plays for _X_.  ->  "
        "Cristiano Ronaldo plays for Manchester United F.C.",
        "  The team of Cristiano Ronaldo is _X_.  ->  "
        "The team of Cristiano Ronaldo is Manchester United F.C.",
        "  In sport, _X_ has Cristiano Ronaldo.  ->  "
        "In sport, Manchester United F.C. has Cristiano Ronaldo.",
    ]
    assert len(list(check(TEMPLATES))) >= 5 * len(PAPER)


@pytest.mark.parametrize(("old", "new", "message"), read_table("template_mistakes"))
def test_mistakes(folder: Path, old: str, new: str, message: str) -> None:
    old, new, message = (cell.replace("\\n", "\n") for cell in (old, new, message))
    assert old in GOOD
    template_path = folder / "P54.yaml"
    template_path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    assert "\n".join(mistakes(folder)).startswith(f"templates/P54.yaml:{message}")


ONE_SENTENCE = """\
relation: P54
label: member of sports team
mode: accumulate
exclusive: false
undated: drop
cloze: [<subject> plays for <the object>.]
"""


def test_one_sentence_is_enough(folder: Path) -> None:
    (folder / "P54.yaml").write_text(ONE_SENTENCE, encoding="utf-8")
    write_schema(folder)
    assert list(check(folder)) == [
        "P54 member of sports team (accumulate)",
        "  (subject) plays for _X_.  ->  (subject) plays for (object).",
    ]


def test_the_wordings_of_the_papers_are_whole() -> None:
    ckl_templates = cloze_templates(select_relations(SHIPPED, RELATIONS), "ckl", TEMPLATES)
    templama_templates = cloze_templates(
        select_relations(SHIPPED, PAPER), "dynamic-templama", TEMPLATES
    )
    cloze_texts = {}
    for relation_templates in ckl_templates.values():
        for name, text in relation_templates.cloze.items():
            cloze_texts[name] = text
    assert cloze_texts["P1376/ckl/1"] == "<subject> is the capital of <object>."
    assert cloze_texts["P140/ckl/1"] == "<subject> is affiliated with the <object> religion."
    assert len(cloze_texts) == len(ckl_templates) == 28
    assert {
        text
        for relation_templates in templama_templates.values()
        for text in relation_templates.cloze.values()
    } >= {
        "<subject> is a member of the <object>.",
        "<subject> is a <object> by profession.",
        "<object> is the head of the government of <subject>.",
    }
    assert {
        relation_id for relation_id, relation in SHIPPED.items() if "ckl" in relation.wordings
    } == set(RELATIONS)
    assert {
        relation_id
        for relation_id, relation in SHIPPED.items()
        if "dynamic-templama" in relation.wordings
    } == set(PAPER)


@pytest.mark.parametrize(
    ("wording", "hint"),
    [("ckl", "there are dynamic-templama, ours"), ("our", "did you mean ours?")],
)
def test_a_wording_that_is_not_there(wording: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        cloze_templates(select_relations(SHIPPED, ["P54", "P6"]), wording, Path("templates"))
    assert str(caught.value).startswith(f"templates/P6.yaml: no wording {wording!r}\n")
    assert f"templates/P54.yaml: no wording {wording!r}" in str(caught.value)
    assert hint in str(caught.value)


def test_a_phrase_without_time_becomes_a_question() -> None:
    templates = cloze_templates(select_relations(SHIPPED, ["P6-city", "P39"]), "ours", TEMPLATES)
    assert templates["P6-city"].ask == "Who was the mayor of <the subject> <time>?"
    assert templates["P39"].ask is None


def mistakes(folder: Path) -> list[str]:
    """The lines of what is wrong with a folder of templates."""
    with pytest.raises(UserError) as caught:
        load_relations(folder).whole()
    return str(caught.value).splitlines()


def test_the_mistakes_of_all_files_stand_together(folder: Path) -> None:
    (folder / "P9.yaml").write_text(GOOD, encoding="utf-8")
    (folder / "P10.yaml").write_text("relation: [", encoding="utf-8")
    (folder / "P11.yml").write_text(GOOD, encoding="utf-8")
    mistake_places = [line.split(": ")[0].removeprefix("templates/") for line in mistakes(folder)]
    assert mistake_places == ["P11.yml", "P9.yaml:1", "P10.yaml:2"]


def test_a_folder_without_templates(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(UserError, match=r"no templates here: no \*.yaml file$"):
            load_relations(folder)


def test_a_folder_adds_to_ours_and_takes_their_places(folder: Path) -> None:
    (folder / "P54.yaml").write_text(ONE_SENTENCE, encoding="utf-8")
    (folder / "P999.yaml").write_text(ONE_SENTENCE.replace("P54", "P999"), encoding="utf-8")
    (folder / "P102.yaml").write_text(ONE_SENTENCE.replace("cloze", "close"), encoding="utf-8")
    all_relations = relations_with_own(folder)
    assert set(all_relations) == {*SHIPPED, "P999"} - {"P102"}
    assert all_relations["P54"].cloze == ("<subject> plays for <the object>.",)
    assert list(select_relations(all_relations, ["P999", "P6"], folder)) == ["P6", "P999"]
    with pytest.raises(UserError, match=r"P102.yaml:6: close: unknown field, did you mean 'cloze'"):
        select_relations(all_relations, ["P102", "P6"], folder)
    with pytest.raises(UserError, match=r"write templates/P998.yaml, with .*P\d+.yaml as a model"):
        select_relations(all_relations, ["P998"], folder)
    with pytest.raises(UserError, match=r"P102.yaml:6"):
        all_relations.whole()
    assert relations_with_own(TEMPLATES) == SHIPPED


def test_mistakes_of_fields_and_of_examples_stand_together(folder: Path) -> None:
    template_text = GOOD.replace("accumulate", "often").replace("is Manchester", "was Manchester")
    (folder / "P54.yaml").write_text(template_text, encoding="utf-8")
    assert [mistake_line.split(": ")[1] for mistake_line in mistakes(folder)] == [
        "mode",
        "examples[0].reads[1]",
    ]


@pytest.mark.parametrize("text", ["half a line", "- a list", "relation: P54", "examples: []"])
def test_what_is_no_template_is_told(folder: Path, text: str) -> None:
    (folder / "P54.yaml").write_text(text, encoding="utf-8")
    assert mistakes(folder)[0].startswith("templates/P54.yaml:1: ")


def test_articles_of_names_can_be_said(folder: Path) -> None:
    example = "{subject: Bob, object: Force B, reads: [Bob plays for Force B.]}"
    template_text = f"{ONE_SENTENCE}articles: {{Force B: true}}\nexamples:\n  - {example}\n"
    (folder / "P54.yaml").write_text(template_text, encoding="utf-8")
    assert (
        mistakes(folder)[0]
        .partition(";")[0]
        .endswith("the template makes 'Bob plays for the Force B.'")
    )


def test_select() -> None:
    assert list(select_relations(SHIPPED, ["P102", "P54", "P6", "P54"])) == ["P6", "P54", "P102"]
    assert select_relations(SHIPPED, []) == {}


NEW_RELATION_HINT = """
  for a new relation, write FOLDER/{}.yaml, with templates/{}.yaml as a model
  and give --templates FOLDER"""


@pytest.mark.parametrize(
    ("asked_relation", "message"),
    [
        ("P999", NEW_RELATION_HINT.format("P999", "P6")),
        ("p54", "\n  did you mean P54 (member of sports team)?"),
        ("hed coach", "\n  did you mean P286 (head coach)?"),
        (
            "P10011",
            "\n  did you mean P1001 (applies to jurisdiction)?"
            + NEW_RELATION_HINT.format("P10011", "P1001"),
        ),
        ("weather", ""),
    ],
)
def test_a_relation_without_a_template(asked_relation: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        select_relations(SHIPPED, ["P54", asked_relation])
    assert str(caught.value) == f"{asked_relation}: no template in templates{message}"


# Templates out of a table as TempLAMA has them: what is written, and what is told.

TABLE = '''\
Wikidata ID,Relation,Template,#Facts
P54,member of sports team,<subject> plays for <object>.,3772

P102,political party,<subject> is a member of the <object>.,1068
P54,member of sports team,"In sport, <subject> is with <object>.",
P6,"on: ""off""",<object> is the head of the government of <subject>.,578
'''


def written(csv_text: str) -> Path:
    csv_path = Path("templates.csv")
    csv_path.write_text(csv_text, encoding="utf-8")
    return csv_path


@pytest.mark.parametrize("text", [TABLE, "\ufeff" + TABLE, TABLE.replace("\n", "\r\n")])
def test_a_table_becomes_templates(folder: Path, text: str) -> None:
    template_paths = import_templates(written(text), Path("mine"))
    assert names_of(template_paths) == [
        "P54.yaml",
        "P102.yaml",
        "P6.yaml",
    ]
    relations = load_relations(Path("mine"))
    assert relations["P54"].cloze == (
        "<subject> plays for <object>.",
        "In sport, <subject> is with <object>.",
    )
    assert relations["P102"].label == "political party"
    assert relations["P6"].label == 'on: "off"'
    assert (Path("mine") / SCHEMA).is_file()


@pytest.mark.parametrize(("text", "message"), read_table("template_csv_mistakes"))
def test_bad_rows_are_told_and_nothing_is_written(folder: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        import_templates(written(text.replace("\\n", "\n")), Path("mine"))
    assert str(error.value).replace("\n", "\\n").startswith(message)
    assert not Path("mine").exists()


GOOD_ROW = "P54,team,<subject> of <object>.\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("P108,employer,<subject> has work. <subject> works for <object>.", "than one <subject>"),
        ("P108,employer,<subject> works for <objekt>.", "unknown placeholder <objekt>"),
        (GOOD_ROW.strip(), "asks the same as"),
        ("P54,club,<subject> at <object>.", "P54 has two names: 'club' here, 'team' above"),
        ("P108,employer", "not a CSV row: 2 cells in 3 columns"),
        ("Q1,employer,<subject> works for <object>.", "'Q1' is not a property id"),
        ("P108,employer,\udce9<subject> works for <object>.", "not UTF-8: perhaps Windows-1252"),
    ],
)
def test_a_bad_row_is_left_out_and_told(folder: Path, row: str, message: str) -> None:
    text = f"Wikidata ID,Relation,Template\n{GOOD_ROW}{row}\nP6,head,<object> leads <subject>.\n"
    Path("templates.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    told_lines: list[str] = []
    template_paths = import_templates(Path("templates.csv"), Path("mine"), told_lines.append)
    assert names_of(template_paths) == ["P54.yaml", "P6.yaml"]
    assert len(load_relations(Path("mine"))["P54"].cloze) == 1
    (line,) = told_lines
    assert line.startswith("left out: templates.csv:3: ") and message in line


def test_a_table_of_another_encoding(folder: Path) -> None:
    table = Path("templates.csv")
    table.write_text(f"Wikidata ID,Relation,Template\n{GOOD_ROW}", encoding="utf-16")
    with pytest.raises(UserError, match="this is UTF-16: iconv -f UTF-16"):
        import_templates(table, Path("mine"))


@pytest.mark.parametrize("head", ["sep=,\n", '\ufeff"sep=;"\r\n'])
def test_a_table_of_a_spreadsheet(folder: Path, head: str) -> None:
    text = f"Wikidata ID,Relation,Template\n{GOOD_ROW}"
    text = head + (text.replace(",", ";") if ";" in head else text)
    assert len(import_templates(written(text), Path("mine"))) == 1


def test_nothing_is_replaced(folder: Path) -> None:
    existing_file = Path("mine/P102.yaml")
    existing_file.parent.mkdir()
    existing_file.write_text("my own")
    with pytest.raises(UserError, match=r"^none\.csv: cannot be read"):
        import_templates(Path("none.csv"), Path("mine"))
    with pytest.raises(UserError, match=r"^mine/P102\.yaml: is there already\n  take another"):
        import_templates(written(TABLE), Path("mine"))
    assert names_of(Path("mine").iterdir()) == ["P102.yaml"]
    assert existing_file.read_text() == "my own"


def test_the_command(folder: Path) -> None:
    written(TABLE)
    import_run = run_cli("templates", "--import", "templates.csv", "--out", "mine", cwd=Path.cwd())
    assert import_run.stdout == "mine\n"
    assert "(subject) plays for _X_.  ->  (subject) plays for (object)." in import_run.stderr
    missing = run_cli("templates", "--import", "templates.csv", cwd=Path.cwd(), ok=False)
    assert "--import FILE.csv and --out FOLDER go together" in missing.stderr


# Templates that extend others.

EXTENDING = """\
relation: P6
extends: P6
cloze:
  2: <object> heads the government of <the subject>.
"""


def test_a_template_extends_ours_with_one_sentence_changed(folder: Path) -> None:
    (folder / "P6.yaml").write_text(EXTENDING, encoding="utf-8")
    relation, ours = load_relations(folder).whole()["P6"], SHIPPED["P6"]
    assert relation.cloze == (ours.cloze[0], "<object> heads the government of <the subject>.")
    changed = {"cloze", "examples", "extends"}
    for name in type(relation).model_fields.keys() - changed:
        assert getattr(relation, name) == getattr(ours, name), name
    assert relation.examples == ()


def test_templates_of_a_folder_extend_each_other(folder: Path) -> None:
    (folder / "P6-a.yaml").write_text(EXTENDING.replace("P6\ne", "P6-a\ne"), encoding="utf-8")
    second_template = (
        "relation: P6-b\nextends: P6-a\nlabel: another\ncloze:\n  3: <object> is <subject>.\n"
    )
    (folder / "P6-b.yaml").write_text(second_template, encoding="utf-8")
    relations = load_relations(folder).whole()
    assert relations["P6-b"].cloze == (*relations["P6-a"].cloze, "<object> is <subject>.")
    assert relations["P6-b"].wordings == SHIPPED["P6"].wordings
    assert (relations["P6-b"].label, relations["P6-a"].label) == ("another", SHIPPED["P6"].label)


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        (("P6\ncloze", "P66\ncloze"), "2: extends: no template P66 here or in "),
        (("  2:", "  4:"), "4: cloze.4: no place of a sentence: there are 1 to 2"),
        (("  2:", "  x:"), "4: cloze.x: no place of a sentence"),
        (("<object>", "<obj>"), "4: cloze.2: unknown placeholder <obj>, did you mean <object>?"),
    ],
)
def test_mistakes_of_a_template_that_extends(
    folder: Path, change: tuple[str, str], mistake: str
) -> None:
    (folder / "P6.yaml").write_text(EXTENDING.replace(*change), encoding="utf-8")
    (found_mistake,) = mistakes(folder)
    assert found_mistake.startswith(f"templates/P6.yaml:{mistake}")


def test_templates_that_extend_in_a_circle(folder: Path) -> None:
    for name, extended_name in (("P6-a", "P6-b"), ("P6-b", "P6-a")):
        text = f"relation: {name}\nextends: {extended_name}\n"
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    for mistake in mistakes(folder):
        assert "extends" in mistake


def test_all_mistakes_of_a_file_in_one_round(folder: Path) -> None:
    text = """\
relation: P115
label: home venue
mode: accumulate
undated: never
cloze:
  - "{subject} plays at <obj>"
  - <subject> is at home in <object>.
object_class: Q5
label: again
examples:
  - {subject: Arsenal, object: Emirates Stadium, reads: [a, b]}
"""
    (folder / "P115.yaml").write_text(text, encoding="utf-8")
    found_mistakes = [mistake.removeprefix("templates/P115.yaml:") for mistake in mistakes(folder)]
    assert found_mistakes == [
        "4: undated: should be 'keep', 'drop' or 'doubt', not 'never'",
        "6: cloze[0]: write <subject> for {subject}; unknown placeholder <obj>, did you mean "
        "<object>?; has no full stop at the end; a variant is a whole sentence",
        "8: object_class: should be a mapping, not 'Q5'",
        "9: label: given twice, first on line 2",
        "11: examples[0].reads[1]: the template makes 'Arsenal is at home in Emirates Stadium.'",
    ]


def test_a_hint_names_a_model_that_is_there(folder: Path) -> None:
    text = EXTENDING.replace("relation: P6", "relation: P6-capital")
    (folder / "P6-capital.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        select_relations(load_relations(folder), ["P6-capitol"], folder)
    assert "with templates/P6-capital.yaml as a model" in str(caught.value)
    assert Path("templates/P6-capital.yaml").is_file()


def test_single_relations_are_printed_with_their_parts() -> None:
    printed = "\n".join(check(TEMPLATES, ["P54", "P286"]))
    headings = re.findall(r"^(P\S+)", printed, re.MULTILINE)
    assert headings == ["P54", "P54-club", "P54-national", "P286"]
    assert re.findall(r"^(P\S+)", "\n".join(check(TEMPLATES, ["P54-club"])), re.M) == ["P54-club"]
    with pytest.raises(UserError, match=r"no template 'P545'\n.*did you mean P54"):
        list(check(TEMPLATES, ["P545"]))


def test_an_example_that_differs_by_an_article_alone_gets_advice(tmp_path: Path) -> None:
    """A stranger found `articles:` in the schema alone."""
    with_article = GOOD.replace("plays for Manchester", "plays for the Manchester")
    (tmp_path / "P54.yaml").write_text(with_article)
    with pytest.raises(UserError, match="`articles:`"):
        list(check(tmp_path))
