"""Corrections: their file is checked, rows and statements are corrected, releases cite them."""

import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.corrections import Correction, Corrections, read_corrections
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.facts.stated import Stated
from factdrift.builders.release.compare import compare
from factdrift.builders.release.correcting import (
    ISSUE_LABELS,
    add_entries,
    new_entry,
    words_of_issue,
)
from factdrift.builders.release.errata import (
    ReleaseErrata,
    checked_corrections,
    refuse_forgotten,
    release_errata,
)
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.publish import Published, write_release
from factdrift.builders.release.verify import verify_release
from factdrift.builders.release.why.explain import WhySources, explain
from factdrift.builders.release.why.words import lines
from factdrift.builders.rows import Dropped, Entity, ParaphraseCloze, Statement
from tests.conftest import ROOT, run_cli
from tests.release_sample import BASE, Sample, cloze, dataset, from_rows, meta, publish, segment
from tests.tables import column_of, read_table

STATEMENT = "Q1$00000000-0000-0000-0000-00000000000{}"
FILE = f"""corrections:
- id: a
  row: 0001-2021Q3
  release: sample 1.0.0
  wrong: x
  source: y
  by: z
  drop: true
- id: b
  statement: {STATEMENT.format(1)}
  wrong: x
  source: y
  by: z
  mend: {{end: 2020}}
"""


def day(text: str) -> date:
    return date.fromisoformat(text)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one version of the sample."""
    out = tmp_path_factory.mktemp("shelf")
    publish(out)
    return out


def entry(**values: Any) -> Correction:
    stated_values = {
        "id": "a",
        "wrong": "It is | not so.",
        "source": "https://example.org/a",
        "by": "Ada",
    }
    return Correction(**{**stated_values, **values})


def row_entry(row: str = "0001-2021Q3", **values: Any) -> Correction:
    return entry(row=row, release="sample 1.0.0", **values)


# --- The file -------------------------------------------------------------------------------------


def test_a_right_file_is_read(shelf: Path, tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FILE, "utf-8")
    given_corrections = checked_corrections(path, shelf, None)
    assert given_corrections.ids == {"a", "b"}
    (change,) = given_corrections.of_statements()
    assert (change.entry, change.end) == ("b", (day("2020-01-01"), day("2020-12-31")))
    assert given_corrections.of_rows("sample").keys() == {"0001-2021Q3"}
    assert given_corrections.of_rows("another") == {}


@pytest.mark.parametrize(("change", "line", "message"), read_table("correction_mistakes"))
def test_a_mistake_is_told_at_its_line(
    shelf: Path, tmp_path: Path, change: str, line: str, message: str
) -> None:
    old_text, new_text = change.split(" -> ")
    assert old_text in FILE
    path = tmp_path / "corrections.yaml"
    path.write_text(FILE.replace(old_text, new_text, 1), "utf-8")
    with pytest.raises(UserError) as caught_error:
        checked_corrections(path, shelf, None)
    assert f"corrections.yaml:{line}: {message}" in str(caught_error.value)


def test_a_file_may_be_without_entries(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text("corrections:\n", "utf-8")
    assert read_corrections(path).ids == set()
    add_entries(path, [row_entry(drop=True)])
    assert read_corrections(path).ids == {"a"}


def test_nothing_is_looked_up_where_the_release_is_not_here(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FILE.replace("0001-2021Q3", "no-such-row"), "utf-8")
    assert checked_corrections(path, tmp_path / "elsewhere", None).ids == {"a", "b"}


# --- Statements -----------------------------------------------------------------------------------


def stated(number: int, start: str | None, end: str | None, **changes: Any) -> Statement:
    first, last = (day(file_text) if file_text else None for file_text in (start, end))
    statement = Statement(
        statement=STATEMENT.format(number),
        subject="Q1",
        relation="P54",
        object=f"Q1{number}",
        start_first=first,
        start_last=first,
        end_first=last,
        end_last=last,
        end_open=end is None,
        sighting=False,
        rank="normal",
        reason=None,
        kind=None,
        snapshot=day("2026-02-02"),
    )
    return replace(statement, **changes)


MINED = (
    stated(1, "2015-07-01", "2021-06-30"),
    stated(2, "2021-07-01", None),
    stated(3, None, None, reason="undated"),
    stated(4, "2012-07-01", "2013-06-30"),
    stated(4, "2014-07-01", "2015-06-30"),
    stated(5, None, None, reason="unknown_value", object=None),
)


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mined")
    entity_rows = [Entity(name, f"Item {name}", (), None, 1, 1, 1) for name in ("Q1", "Q11", "Q12")]
    entity_rows += [
        Entity(f"Q1{line_number}", f"Club {line_number}", (), None, 1, 1, 1)
        for line_number in (3, 4)
    ]
    write_sorted(folder / "statements.parquet", Statement, MINED, "statement")
    write_sorted(folder / "entities.parquet", Entity, entity_rows, "id")
    write_sorted(folder / "dropped.parquet", Dropped, [], "item")
    return folder


def selected(duck: Engine, mined: Path, *corrections: Correction) -> Stated:
    changes = Corrections(corrections=corrections).of_statements()
    return Stated(duck, mined, ["P54"], corrections=changes)


def facts_of(duck: Engine, mined: Path, *corrections: Correction) -> dict[tuple[str, str], Any]:
    """Start and end of each fact, by statement and object; without an end: it lasts."""
    fact_rows = duck.rows(selected(duck, mined, *corrections).facts.order_by("start_first"))
    return {
        (row["statement"][-1], row["object"]): (
            str(row["start_first"]),
            "open" if row["end_open"] else f"{row['end_first']}/{row['end_last']}",
        )
        for row in fact_rows
    }


SECOND_TERM = ("2014-07-01", "2015-06-30/2015-06-30")
FACTS = {
    ("1", "Q11"): ("2015-07-01", "2021-06-30/2021-06-30"),
    ("2", "Q12"): ("2021-07-01", "open"),
    ("4", "Q14"): SECOND_TERM,
}
"""Those of the statements as they are; of two intervals of a statement the second."""


@pytest.mark.parametrize(
    ("number", "action", "facts"),
    [
        (1, {"drop": True}, {("1", "Q11"): None}),
        (4, {"drop": True}, {("4", "Q14"): None}),
        (1, {"mend": {"end": "2021-05"}}, {("1", "Q11"): ("2015-07-01", "2021-05-01/2021-05-31")}),
        (1, {"mend": {"end": "open"}}, {("1", "Q11"): ("2015-07-01", "open")}),
        (2, {"mend": {"start": 2022}}, {("2", "Q12"): ("2022-01-01", "open")}),
        (1, {"mend": {"object": "Q13"}}, {("1", "Q11"): None, ("1", "Q13"): FACTS["1", "Q11"]}),
        (3, {"mend": {"start": "2011-01-01"}}, {("3", "Q13"): ("2011-01-01", "open")}),
        (1, {"withdrawn": "It was right."}, {}),
        (9, {"drop": True}, {}),
    ],
)
def test_a_statement_is_corrected_where_facts_are_selected(
    duck: Engine, mined: Path, number: int, action: dict[str, Any], facts: dict[Any, Any]
) -> None:
    expected_facts = {key: times for key, times in (FACTS | facts).items() if times is not None}
    correction = entry(statement=STATEMENT.format(number), **action)
    assert facts_of(duck, mined) == FACTS
    assert facts_of(duck, mined, correction) == expected_facts


def test_a_dropped_statement_counts_as_if_nobody_had_made_it(duck: Engine, mined: Path) -> None:
    """The undated statement is no gap when no dated one is left beside it."""
    statements = [STATEMENT.format(line_number) for line_number in (1, 2, 4, 5)]
    given_corrections = [
        entry(id=f"e{place}", statement=name, drop=True) for place, name in enumerate(statements)
    ]
    gaps = column_of(duck.rows(selected(duck, mined).gaps), "statement")
    assert sorted(gaps) == [STATEMENT.format(3), STATEMENT.format(5)]
    tables = selected(duck, mined, *given_corrections)
    assert duck.rows(tables.gaps) == [] and duck.rows(tables.facts) == []
    dropped_rows = sorted(duck.rows(tables.dropped), key=lambda row: row["item"])
    assert [(row["step"], row["reason"], row["item"], row["detail"]) for row in dropped_rows] == [
        ("errata", "corrected", name, f"e{place}") for place, name in enumerate(statements)
    ]
    assert tables.applied["e2"] == {"stated": 2, "of_relations": 2}


@pytest.mark.parametrize(
    ("number", "mend", "message"),
    [
        (1, {"object": "Q999"}, "the dump has no English name of Q999"),
        (4, {"end": 2020}, "has 2 intervals in this dump"),
        (1, {"end": 2014}, "would end on 2014-12-31, before it starts on 2015-07-01"),
    ],
)
def test_a_correction_that_cannot_be_made_is_an_error(
    duck: Engine, mined: Path, number: int, mend: dict[str, Any], message: str
) -> None:
    correction = entry(statement=STATEMENT.format(number), mend=mend)
    with pytest.raises(UserError, match=re.escape(message)) as caught_error:
        facts_of(duck, mined, correction)
    assert str(caught_error.value).startswith("correction 'a': ")


@pytest.mark.slow
def test_spark_corrects_as_duckdb_does(duck: Engine, mined: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    given_corrections = (
        entry(id="a", statement=STATEMENT.format(4), drop=True),
        entry(
            id="b",
            statement=STATEMENT.format(2),
            mend={"start": 2022, "object": "Q13", "end": "open"},
        ),
        entry(id="c", statement=STATEMENT.format(1), mend={"end": "2020-05"}),
    )
    with engine("spark", tmp_path, threads=2) as spark:
        results = [
            [
                sorted(map(str, eng.rows(table)))
                for table in (stated.facts, stated.gaps, stated.dropped)
            ]
            for eng in (duck, spark)
            for stated in [selected(eng, mined, *given_corrections)]
        ]
    assert results[0] == results[1]


# --- Rows -----------------------------------------------------------------------------------------


def corrected(out: Path, *corrections: Correction, rows: Any = BASE) -> Published:
    errata = release_errata(Corrections(corrections=corrections), "sample", [])
    return write_release(dataset(Sample(rows)), meta(Sample(rows)), out, errata=errata)


def rows_of(release: Path, place: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(release / f"data/{place}.parquet").to_pylist()
    return rows


def test_a_row_is_dropped_and_cited(tmp_path: Path) -> None:
    publish(tmp_path)
    published_release = corrected(tmp_path, row_entry(drop=True))
    assert (published_release.version, published_release.level) == ("2.0.0", "major")
    assert verify_release(published_release.folder) == []
    assert "0001-2021Q3" not in column_of(
        rows_of(published_release.folder, "unchanged/2021Q3"), "id"
    )
    dropped_rows = pq.read_table(published_release.folder / "dropped.parquet").to_pylist()
    (dropped_row,) = [row for row in dropped_rows if row["step"] == "errata"]
    expected_drop = Dropped("errata", "corrected", "0001-2021Q3", "Q1", "P54", "2021Q3", None, "a")
    assert Dropped(**dropped_row) == expected_drop
    (cited,) = load_manifest(published_release.folder).corrections
    assert (cited.id, cited.rows, cited.done) == ("a", 1, "1 row dropped")
    card_text = (published_release.folder / "README.md").read_text("utf-8")
    assert (
        "## Corrections" in card_text
        and "| `a` | `0001-2021Q3` | It is &#124; not so. |" in card_text
    )
    changelog_text = (published_release.folder / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (.*)$", changelog_text, re.M) == ["2.0.0", "1.0.0"]
    assert "| `a` | `0001-2021Q3` | It is &#124; not so. | 1 row dropped | Ada |" in changelog_text
    explained_text = "\n".join(
        lines(explain("0001-2021Q3", published_release.folder, WhySources(tmp_path)))
    )
    assert (
        "a: It is | not so." in explained_text
        and "says Ada; source: https://example.org/a" in explained_text
    )


def test_other_words_alone_are_a_major_version_too(tmp_path: Path) -> None:
    """Accepted answers are written by rule, and their change is a patch where nobody corrects."""
    publish(tmp_path)
    mend = {"targets": ["Club A"], "answers": [{"id": "Q5", "label": "Club A", "aliases": []}]}
    published_release = corrected(tmp_path, row_entry(mend={"query": "Person 1 joined _X_."}))
    assert (published_release.version, published_release.level) == ("2.0.0", "major")
    published_release = corrected(tmp_path, row_entry(mend=mend))
    assert published_release.version == "3.0.0"
    row = rows_of(published_release.folder, "unchanged/2021Q3")[1]
    assert (row["targets"], row["answers"]) == (mend["targets"], mend["answers"])
    assert row["query"] == "Person 1 plays for _X_."
    unchanged_rows = rows_of(published_release.folder, "unchanged/2021Q3")
    unchanged_rows.remove(row)
    assert unchanged_rows == [
        other_row
        for other_row in rows_of(tmp_path / "sample/1.0.0", "unchanged/2021Q3")
        if other_row["id"] != "0001-2021Q3"
    ]


@pytest.mark.parametrize(
    ("action", "kept_ids"),
    [
        ({"drop": True}, []),
        ({"mend": {"targets": ["A"], "answers": []}}, []),
        ({"mend": {"sitelinks": 5}}, ["p1"]),
    ],
)
def test_rows_that_name_it_go_with_it(
    tmp_path: Path, action: dict[str, Any], kept_ids: list[str]
) -> None:
    values = {name: getattr(cloze(1), name) for name in cloze(1).__slots__}
    paraphrases = [
        ParaphraseCloze(**{**values, "id": f"p{line_number}"}, cloze=f"000{line_number}-2021Q3")
        for line_number in (1, 2)
    ]
    sample = dataset(Sample(BASE))
    table = replace(
        sample.tables[0],
        name="paraphrases",
        row=ParaphraseCloze,
        splits={"2021Q3": from_rows(ParaphraseCloze, paraphrases)},
    )
    whole = Dataset((*sample.tables, table), sample.dropped)
    release_errata = ReleaseErrata({"0001-2021Q3": row_entry(**action)})
    published_release = write_release(whole, meta(Sample(BASE)), tmp_path, errata=release_errata)
    assert column_of(rows_of(published_release.folder, "paraphrases/2021Q3"), "id") == [
        *kept_ids,
        "p2",
    ]


def test_lists_and_tables_without_ids_name_it_no_more(tmp_path: Path) -> None:
    second = cloze(2, added=("Q5", "0001-2021Q3"))
    rows = {
        "unchanged": {"2021Q3": [cloze(1), second]},
        "segments": {"all_time": [segment(1), segment(2, object="0001-2021Q3")]},
    }
    release = corrected(tmp_path, row_entry(drop=True), rows=rows).folder
    (row,) = rows_of(release, "unchanged/2021Q3")
    assert row["added"] == ["Q5"]
    assert column_of(rows_of(release, "segments/all_time"), "subject") == ["Q1"]
    dropped_rows = pq.read_table(release / "dropped.parquet").to_pylist()
    items = column_of(
        [dropped_row for dropped_row in dropped_rows if dropped_row["step"] == "errata"], "item"
    )
    assert items == ["0001-2021Q3", "0001-2021Q3/segments"]


def test_a_strangers_words_are_no_markup(tmp_path: Path) -> None:
    hostile_text = "<img src=x> | [a](http://b) \x1b[31m\n# head"
    stated_values = {"wrong": hostile_text, "source": "javascript:alert(1)", "by": hostile_text}
    published_release = corrected(tmp_path, row_entry(drop=True, **stated_values))
    card_text = (published_release.folder / "README.md").read_text("utf-8")
    (line,) = [line for line in card_text.splitlines() if line.startswith("| `a` |")]
    assert line.count("|") == 7 and "<img" not in line and "\x1b" not in line
    assert re.search(r"(?<!\\)\]\(", line) is None  # no link


def test_the_same_bytes_without_what_is_corrected_elsewhere(tmp_path: Path) -> None:
    """A correction of a row that is not there leaves every byte as it is, and is told."""
    plain = publish(tmp_path / "plain").folder
    release_errata = ReleaseErrata({"no-such-row": row_entry("no-such-row", drop=True)})
    published_release = write_release(
        dataset(Sample(BASE)), meta(Sample(BASE)), tmp_path, errata=release_errata
    )
    assert [correction.id for correction in release_errata.unused()] == ["a"]
    assert load_manifest(published_release.folder) == load_manifest(plain)


def test_what_is_withdrawn_comes_back_and_is_told(tmp_path: Path) -> None:
    publish(tmp_path)
    corrected(tmp_path, row_entry(drop=True))
    published_release = corrected(tmp_path, row_entry(withdrawn="It was right."))
    assert published_release.version == "3.0.0"
    assert "0001-2021Q3" in column_of(rows_of(published_release.folder, "unchanged/2021Q3"), "id")
    release_diff = compare(tmp_path / "sample/2.0.0", published_release.folder)
    assert release_diff.corrections == ("correction a not made any more",)
    changelog_text = (published_release.folder / "CHANGELOG.md").read_text("utf-8")
    assert "| withdrawn: It was right. | Ada |" in changelog_text


def test_what_was_corrected_is_not_forgotten(tmp_path: Path) -> None:
    publish(tmp_path)
    corrected(tmp_path, row_entry(drop=True))
    folder = tmp_path / "sample"
    with pytest.raises(UserError, match="what was wrong would come back"):
        refuse_forgotten("sample", folder, "auto", Corrections())
    file = tmp_path / "corrections.yaml"
    run_cli("correct", "--from", folder / "2.0.0", "--file", file, "--out", tmp_path)
    refuse_forgotten("sample", folder, "auto", read_corrections(file))


# --- The command ----------------------------------------------------------------------------------


def test_an_entry_is_added_below_what_is_there(shelf: Path, tmp_path: Path) -> None:
    file = tmp_path / "corrections.yaml"
    first_line, *entry_lines = FILE.splitlines()
    indented = [first_line, *(f"  {line}" for line in entry_lines)]
    file.write_text("\n".join(["# ours", *indented]), "utf-8")
    command_words = ("--wrong", "No: it's 'so'", "--source", "Zürich, p. 3", "--by", "Bo", "--drop")
    row = "0002-2021Q3"
    release = shelf / "sample/1.0.0"
    printed_text = run_cli(
        "correct", row, release, *command_words, "--file", file, "--out", shelf
    ).stdout
    assert printed_text.splitlines()[-1] == f"row-{row}: row {row} of sample 1.0.0: drop it"
    assert file.read_text("utf-8").startswith("# ours\n")
    added = read_corrections(file).corrections[-1]
    assert (added.wrong, added.source) == ("No: it's 'so'", "Zürich, p. 3")
    again = run_cli("correct", row, release, *command_words, "--file", file, "--out", shelf)
    assert "written" not in again.stderr  # the same entry is there
    assert len(read_corrections(file).corrections) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("0001-2021Q3", "--wrong", "a", "--by", "b", "--drop"), "an entry says source, too"),
        (("0001-2021Q3", *"--wrong a --by b --source c".split()), "say what to do"),
        (("0001", *"--wrong a --by b --source c --drop".split()), "has no row of this id"),
        (("0001-2021Q3", *"--wrong a --by b --source c --set x".split()), "no other value"),
        (("0001-2021Q3", *"--wrong a --by b --source c --answer d".split()), "not words alone"),
        (("0001-2021Q3", *"--issue a --wrong b".split()), "give one of"),
    ],
)
def test_a_wrong_command_writes_nothing(
    shelf: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "corrections.yaml"
    release = shelf / "sample/1.0.0"
    item, *options = words
    ended = run_cli("correct", item, release, *options, "--file", file, "--out", shelf, ok=False)
    assert ended.returncode == 1 and message in ended.stderr
    assert "Traceback" not in ended.stderr and not file.exists()


def test_the_issue_form_makes_an_entry(shelf: Path, tmp_path: Path) -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/row.yml").read_text("utf-8"))
    labels = [part["attributes"]["label"] for part in form["body"]]
    assert labels == [*ISSUE_LABELS]
    answers = (
        *("0001-2021Q3", "sample 1.0.0", "Wrong <b>\n# so", "A book", "Ada"),
        *("Mend it, with the values below", "query: Person 1 joined _X_.\nsitelinks: 7"),
    )
    sections = zip(labels, answers, strict=True)
    issue = tmp_path / "issue.md"
    issue.write_text(
        "\n".join(f"### {label}\n\n{file_text}\n" for label, file_text in sections), "utf-8"
    )
    correction = new_entry(words_of_issue(issue), shelf / "sample/1.0.0")
    assert correction.mend == {"query": "Person 1 joined _X_.", "sitelinks": 7}
    file = tmp_path / "corrections.yaml"
    add_entries(file, [correction])
    assert read_corrections(file).corrections == (correction,)
    assert correction.wrong == "Wrong <b>\n# so"


# --- The whole way --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_way_of_a_correction(tmp_path: Path) -> None:
    """`docs/errata.md` as it is written: published, reported, dropped, cited, verified, rebuilt."""
    page = (ROOT / "docs/errata.md").read_text("utf-8")
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.S)
    (written,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    printed_texts = re.findall(r"```text\n(.*?)```", page, re.S)
    factdrift = f'factdrift() {{ "{sys.executable}" -m factdrift "$@"; }}'
    shell = ["bash", "-ec", f"{factdrift}\n{commands}"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    ended = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert [file_text for file_text in printed_texts if file_text not in ended.stdout] == []
    assert len(printed_texts) == 2 and "2.0.0: whole and unchanged" in ended.stdout
    assert (tmp_path / "corrections.yaml").read_text("utf-8").startswith(written)

    release = tmp_path / "releases/dynamic-templama/2.0.0"
    assert verify_release(release) == []
    cited = {correction.id: correction for correction in load_manifest(release).corrections}
    assert cited["row-4db9c6809d231912"].rows == 2  # the row, and its paraphrase
    assert cited["Q183-C408D619"].statements == 1
    terms = pq.read_table(release / "data/timelines/full.parquet").to_pylist()
    (scholz,) = [term for term in terms if "Q183$C408D619" in " ".join(term["statements"])]
    assert scholz["end_last"] == day("2025-05-05")

    # the same entries, the same bytes: from the manifest, and where nothing was published before
    run_cli("rebuild", release, "--out", tmp_path / "again", cwd=tmp_path)
    # without them nothing is built, for the mistakes would come back
    (tmp_path / "corrections.yaml").unlink()
    refused = run_cli("release", "dynamic-templama", cwd=tmp_path, ok=False)
    assert "would come back" in refused.stderr
    # another dataset of the same statement has the correction, too
    run_cli("correct", "--from", release, cwd=tmp_path)
    run_cli("release", "temporal-reasoning", cwd=tmp_path)
    other_corrections = load_manifest(tmp_path / "releases/temporal-reasoning/1.0.0").corrections
    assert [correction.id for correction in other_corrections] == ["Q183-C408D619"]
