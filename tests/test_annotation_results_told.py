"""What an import says of itself, and what spreadsheets and forms do to its files."""

from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.reading import Entry, csv_rows
from factdrift.annotation.results import Imported, import_results
from factdrift.annotation.submission import Refused
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of, hand_in, submission, take


def _import(tmp: Path, path: Path, **more: Any) -> Imported:
    return import_results([str(path)], hits=tmp / "hits", out=tmp / "judgments", **more)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1;2\n;\n3;4\n", [(2, "1", "2"), (4, "3", "4")]),
        ("a;b;\n1;2;\n3;4\n", [(2, "1", "2"), (3, "3", "4")]),
        ("a,b,,\n1,2,,\n , ,,\n", [(2, "1", "2")]),
        ("sep=;\na;b\n1;2\n", [(3, "1", "2")]),
        ('"sep=,"\na,b\n1,";;;"\n', [(3, "1", ";;;")]),
        ("a;b;\n1;2;x\n", ["not a CSV row"]),
        ("a;;b\n1;2;3\n", ["no CSV header"]),
        ("a;b\n1\n", ["not a CSV row"]),
    ],
)
def test_tables_as_spreadsheets_save_them(tmp_path: Path, text: str, expected: object) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    found = [
        (one.line, *one.value.values()) if isinstance(one, Entry) else one.reason
        for one in csv_rows(path)
    ]
    assert found == expected
    assert all(isinstance(one, Entry | Refused) for one in csv_rows(path))


def test_the_counts_add_up_and_worker_ids_are_trimmed(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    good = [submission(batch, " W1 "), submission(batch, "W1"), submission(batch, "W2")]
    path = hand_in(tmp_path, [*good, {}, submission(batch, "  ")])
    path.write_text(path.read_text("utf-8") + "no JSON\n", "utf-8")
    done = take(tmp_path, path)
    said = "6 entries in 1 file: 2 new, 1 known already, 0 a worker's further ones for a HIT, "
    assert done.lines()[0] == said + "3 refused"


def test_an_experts_file_that_names_nobody(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    results = hand_in(tmp_path, [submission(batch, "ada")])
    experts = tmp_path / "experts.csv"
    experts.write_text("id,name\nada,Ada L\n", "utf-8")
    hint = "; the file has one worker id a line and nothing else"
    assert (
        f"experts: 0 of 2 ids have judged{hint}"
        in _import(tmp_path, results, experts=experts).lines()
    )
    experts.write_text("ada\nbea\n", "utf-8")
    assert "experts: 1 of 2 ids have judged" in _import(tmp_path, results, experts=experts).lines()


def test_feedback_is_of_mturk_and_of_named_files(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    results = hand_in(tmp_path, [submission(batch, "ada")])
    done = _import(tmp_path, results, feedback=tmp_path / "fb")
    said = "static takes no file of approvals; prolific and mturk do"
    assert any(said in line for line in done.lines())
    with pytest.raises(UserError, match="feedback is of results files, and none is named"):
        import_results(
            [], hits=tmp_path / "hits", out=tmp_path / "judgments", feedback=tmp_path / "fb"
        )
