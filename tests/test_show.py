"""`factdrift show`: rows to read, evenly from each config, or whole rows by their ids."""

import json
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.tidy import note_use
from factdrift.builders.release.manifest import own_sha256
from factdrift.builders.release.show import RowChoice, chosen_rows
from factdrift.builders.rows import Entity
from tests.conftest import run_cli
from tests.release_sample import Sample, cloze, publish

IDS = [f"{number:04}-2021Q3" for number in range(9)]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine rows of one split."""
    sample = Sample({"unchanged": {"2021Q3": [cloze(number) for number in range(9)]}})
    return publish(tmp_path_factory.mktemp("show"), sample).folder


@pytest.mark.parametrize(
    ("choice", "shown_ids"),
    [
        (RowChoice(), [IDS[1], IDS[4], IDS[7]]),
        (RowChoice(rows=1), [IDS[4]]),
        (RowChoice(rows=100), IDS),
        (RowChoice(ids=(IDS[8], IDS[2])), [IDS[8], IDS[2]]),
        (RowChoice(config="unchanged", split="2021Q3", rows=2), [IDS[2], IDS[6]]),
    ],
)
def test_rows_lie_evenly_or_are_those_of_the_ids(
    choice: RowChoice, shown_ids: list[str], release: Path
) -> None:
    assert [row.values["id"] for row in chosen_rows(release, choice)] == shown_ids


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (RowChoice(config="unchangd"), r"no config 'unchangd'\n  did you mean unchanged\?"),
        (RowChoice(config="droped"), r"no config 'droped'\n  did you mean dropped\?"),
        (RowChoice(split="1999"), "no split '1999'\n  there are 2021Q3"),
        (RowChoice(columns=("promt",)), r"no column 'promt'\n  did you mean prompt\?"),
        (RowChoice(ids=(IDS[0],), columns=("promt",)), "no column 'promt'"),
        (RowChoice(ids=("0003-2021Q4",)), "no row '0003-2021Q4'\n  there are 0003-2021Q3"),
    ],
)
def test_what_is_not_there_is_told(choice: RowChoice, message: str, release: Path) -> None:
    with pytest.raises(UserError, match=message):
        list(chosen_rows(release, choice))


def test_the_prompt_and_the_answers_are_printed_and_what_comes_next(release: Path) -> None:
    run = run_cli("show", release, "--rows", 1)
    values = dict(line.strip().split(maxsplit=1) for line in run.stdout.splitlines()[1:] if line)
    assert values == {
        "place": "unchanged/2021Q3",
        "id": IDS[4],
        "prompt": "In the third quarter of 2021 (July to September 2021): Person 4 plays for _X_.",
        "targets": "Club 4 | C4 | the club",
    }
    assert f"factdrift why {IDS[4]}" in run.stderr


def test_columns_by_name_the_whole_row_of_an_id_and_json(release: Path) -> None:
    by_name = run_cli("show", release, "--rows", 1, "--columns", "subject,added").stdout
    assert [line.split() for line in by_name.splitlines()[1:5]] == [
        ["place", "unchanged/2021Q3"],
        ["id", IDS[4]],
        ["subject", "Q4"],
        ["added", "(none)"],
    ]
    whole = run_cli("show", release, IDS[4]).stdout
    assert "possible_answers" in whole
    (shown,) = json.loads(run_cli("show", release, IDS[4], "--json").stdout)
    assert (shown["config"], shown["split"]) == ("unchanged", "2021Q3")
    assert shown["row"]["answers"][0]["id"] == "Q1004"


def test_what_was_left_out_is_shown_with_labels(tmp_path: Path) -> None:
    """The card has it as a config; its items have labels in the tables of the build beside it."""
    sample = Sample({"unchanged": {"2021Q3": [cloze(0)]}, "updated": {"2021Q3": []}})
    folder = publish(tmp_path / "releases", sample).folder
    mined = tmp_path / "build/mine-0123456789abcdef"
    mined.mkdir(parents=True)
    (mined / "statements.parquet").touch()
    entities = [Entity("P54", "team", (), None, 1, 1, 1), Entity("Q1", "Ana", (), None, 1, 1, 1)]
    write_sorted(mined / "entities.parquet", Entity, entities, "id")
    note_use(tmp_path / "build", "sample", folder, ["0123456789abcdef"], own_sha256(folder))
    run = run_cli("show", folder, "--config", "dropped", "--rows", 1)
    assert run.stdout.startswith("dropped, 2 rows: What was left out, and why.\n")
    values = dict(line.strip().split(maxsplit=1) for line in run.stdout.splitlines()[1:] if line)
    assert (values["subject"], values["relation"]) == ("Q1 Ana", "P54 team")
    assert f"factdrift why {values['item']} " in run.stderr
    assert "no rows in updated\n" in run_cli("show", folder).stdout
    nothing = run_cli("show", folder, "--config", "updated", "--split", "2021Q3")
    assert nothing.stdout == "no rows in updated/2021Q3\n"


def test_answers_are_printed_by_their_labels(release: Path) -> None:
    columns = ("--columns", "previous_answers,answers,period_last")
    printed = run_cli("show", release, "--rows", 1, *columns).stdout
    assert [line.split() for line in printed.splitlines()[3:6]] == [
        ["previous_answers", "Club", "4"],
        ["answers", "Club", "4"],
        ["period_last", "2021-09-30"],
    ]


def test_a_long_value_is_cut_in_its_middle_and_stays_on_its_line(tmp_path: Path) -> None:
    long_prompt = "first line\nsecond line " + "x" * 1000 + " last words _X_."
    sample = Sample({"unchanged": {"2021Q3": [cloze(0, prompt=long_prompt)]}})
    release = publish(tmp_path, sample).folder
    (prompt_line,) = [
        line for line in run_cli("show", release).stdout.splitlines() if "prompt" in line
    ]
    assert "first line\\nsecond line" in prompt_line
    assert prompt_line.endswith(" last words _X_.")
    assert len(prompt_line) < 400
