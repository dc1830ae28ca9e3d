"""A version that goes on from another keeps what that published, unless it was wrong."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.corrections import Correction, Corrections
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.compare import compare
from factdrift.builders.release.continuity import (
    KEPT,
    EarlierRelease,
    earlier_release,
    with_changed_corrections,
)
from factdrift.builders.release.errata import release_errata
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.publish import Published, write_release
from factdrift.builders.release.verify import verify_release
from factdrift.builders.release.why.explain import WhySources, explain
from factdrift.builders.release.why.words import lines
from factdrift.builders.rows import Answer, Dropped
from samples.quarters.make import build
from tests.conftest import ROOT, run_cli
from tests.release_sample import BASE, Rows, Sample, cloze, dataset, from_rows, meta, publish
from tests.tables import column_of, keyed_by_id

SPLIT = "unchanged/2021Q3"
SECOND = "0001-2021Q3"
"""The row that tests change."""


def club(number: int, label: str) -> Answer:
    return Answer(f"Q{number + 1000}", label, ())


def go_on(
    out: Path,
    rows: Rows,
    *drops: Dropped,
    corrections: tuple[Correction, ...] = (),
    since: str = "last",
) -> Published:
    """Publish other rows as a version that goes on from the last one."""
    earlier_version = earlier_release(since, "sample", out)
    assert earlier_version is not None
    given_corrections = Corrections(corrections=corrections)
    earlier_version = with_changed_corrections(earlier_version, given_corrections)
    sample = dataset(Sample(rows, drops=()))
    whole_window = Dataset(sample.tables, (*sample.dropped, from_rows(Dropped, drops)))
    errata = release_errata(given_corrections, "sample", [])
    return write_release(
        whole_window, meta(Sample(rows)), out, errata=errata, earlier=earlier_version
    )


def with_second(**changes: Any) -> Rows:
    """The rows of the sample with other values in one of them."""
    rows = [cloze(row_number) for row_number in range(5)]
    rows[1] = cloze(1, **changes)
    return {**BASE, "unchanged": {**BASE["unchanged"], "2021Q3": rows}}


def without_second(**other_splits: Any) -> Rows:
    rows = [cloze(row_number) for row_number in range(5) if row_number != 1]
    return {**BASE, "unchanged": {**BASE["unchanged"], "2021Q3": rows, **other_splits}}


def rows_of(release: Path, place: str = SPLIT) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(release / f"data/{place}.parquet").to_pylist()
    return rows


IN_DOUBT = Dropped("diff", "possible_holder", "Q1/P54/2021Q3", "Q1", "P54", "2021Q3", None, "Q9")


@pytest.mark.parametrize(
    ("changes", "stays", "reworded"),
    [
        ({"query": "Person 1 joined _X_.", "prompt": "In 2021: Person 1 joined _X_."}, True, 1),
        ({"subject_label": "Person One", "targets": ("C1",), "views": ()}, True, 1),
        ({"answers": (club(1, "Club One"),), "previous_answers": (club(1, "C1"),)}, True, 1),
        ({"sitelinks": 77}, False, 0),
        ({"answers": (club(7, "Club 7"),), "targets": ("Club 7",)}, False, 0),
        ({"previous_answers": (), "prompt": "Another?"}, False, 0),
    ],
    ids="words names labels measured answer before".split(),
)
def test_a_row_of_the_same_facts_stays_to_the_letter(
    tmp_path: Path, changes: dict[str, Any], stays: bool, reworded: int
) -> None:
    published_row = keyed_by_id(rows_of(publish(tmp_path).folder))[SECOND]
    published_release = go_on(
        tmp_path, with_second(sitelinks=9, **changes) if stays else with_second(**changes)
    )
    assert verify_release(published_release.folder) == []
    row = keyed_by_id(rows_of(published_release.folder))[SECOND]
    new_row = keyed_by_id(
        rows_of(publish(tmp_path / "plain", Sample(with_second(**changes))).folder)
    )
    expected_row = published_row | {"sitelinks": 9} if stays else new_row[SECOND]
    assert row == expected_row
    since_version = load_manifest(published_release.folder).since
    assert since_version is not None and (
        since_version.version,
        since_version.reworded,
        since_version.kept,
    ) == (
        "1.0.0",
        reworded,
        0,
    )
    version_level = compare(tmp_path / "sample/1.0.0", published_release.folder).level
    assert version_level == ("patch" if stays or "sitelinks" in changes else "major")


def test_a_row_stays_that_the_new_dump_is_not_sure_of(tmp_path: Path) -> None:
    published_row = keyed_by_id(rows_of(publish(tmp_path).folder))[SECOND]
    release = go_on(tmp_path, without_second(), IN_DOUBT).folder
    assert verify_release(release) == []
    assert rows_of(release)[-1] == published_row
    assert pq.read_table(release / KEPT).to_pylist() == [
        {"id": SECOND, "config": "unchanged", "split": "2021Q3", "reason": "possible_holder"}
    ]
    row_totals = compare(tmp_path / "sample/1.0.0", release).totals()
    assert row_totals == {}
    command_words = "\n".join(lines(explain(SECOND, release, WhySources(tmp_path))))
    assert "  kept           as 1.0.0 published it; The dates leave open" in command_words
    # a version later it is still there, and the card says so
    later_rows = go_on(tmp_path, without_second(), IN_DOUBT)
    assert later_rows.level == "patch" and rows_of(later_rows.folder)[-1] == published_row
    assert "This version goes on from `1.0.1`" in (later_rows.folder / "README.md").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    ("rows", "drops"),
    [
        (without_second(), ()),
        (without_second(), (replace(IN_DOUBT, period="2021Q4"),)),
        (without_second(), (replace(IN_DOUBT, subject="Q2"),)),
        (without_second(**{"2021Q4": [cloze(1, id=SECOND, period="2021Q4")]}), (IN_DOUBT,)),
        ({**BASE, "unchanged": {"2021Q4": BASE["unchanged"]["2021Q4"]}}, (IN_DOUBT,)),
    ],
    ids="fact-gone another-period another-subject moved out-of-the-window".split(),
)
def test_a_row_goes_that_nothing_speaks_for(
    tmp_path: Path, rows: Rows, drops: tuple[Dropped, ...]
) -> None:
    publish(tmp_path)
    published_release = go_on(tmp_path, rows, *drops)
    since_version = load_manifest(published_release.folder).since
    assert since_version is not None and since_version.kept == 0
    assert published_release.level == "major"


TEXTS: dict[str, Any] = {"id": "a", "wrong": "x", "source": "y", "by": "z"}


@pytest.mark.parametrize(
    "correction",
    [
        Correction(**TEXTS, row=SECOND, release="sample 1.0.0", drop=True),
        Correction(**TEXTS, statement=f"q1${'0' * 8}-0000-0000-0000-{'0' * 12}", drop=True),
    ],
    ids=["row", "statement"],
)
def test_what_is_corrected_is_not_kept(tmp_path: Path, correction: Correction) -> None:
    publish(tmp_path)
    published_release = go_on(tmp_path, without_second(), IN_DOUBT, corrections=(correction,))
    assert SECOND not in column_of(rows_of(published_release.folder), "id")
    # what a correction changed in the version before is kept as it was changed
    earlier_version = EarlierRelease(
        published_release.folder, load_manifest(published_release.folder)
    )
    assert with_changed_corrections(earlier_version, Corrections()).corrected_rows == set()


def test_other_columns_keep_nothing_and_are_told(tmp_path: Path) -> None:
    publish(tmp_path)
    earlier_version = earlier_release("1.0.0", "sample", tmp_path)
    assert earlier_version is not None
    config = earlier_version.manifest.configs[0]
    fewer_rows = config.model_copy(update={"columns": config.columns[:-1]})
    manifest = earlier_version.manifest.model_copy(update={"configs": (fewer_rows,)})
    rows = with_second(query="Another?")
    published_release = write_release(
        dataset(Sample(rows)),
        meta(Sample(rows)),
        tmp_path,
        earlier=replace(earlier_version, manifest=manifest),
    )
    since_version = load_manifest(published_release.folder).since
    assert since_version is not None and (since_version.unlike, since_version.reworded) == (
        ("unchanged",),
        0,
    )


def test_which_version_it_goes_on_from(tmp_path: Path) -> None:
    assert earlier_release("last", "sample", tmp_path) is None
    first_release = publish(tmp_path).folder
    publish(tmp_path, Sample(with_second(query="?")))
    for since_version, version in {
        "last": "1.0.1",
        "1.0.0": "1.0.0",
        str(first_release): "1.0.0",
    }.items():
        earlier_version = earlier_release(since_version, "sample", tmp_path)
        assert earlier_version is not None and earlier_version.manifest.version == version
    with pytest.raises(UserError, match=r"no such version of sample\n .* there is 1.0.0, 1.0.1"):
        earlier_release("2.0.0", "sample", tmp_path)
    with pytest.raises(UserError, match="is a release of sample, and not of other"):
        earlier_release(str(first_release), "other", tmp_path)


@pytest.mark.slow
def test_a_rolling_window_of_the_sample(tmp_path: Path) -> None:
    """Two dumps of heads of government: only what the second one corrects is another row."""
    recipe = yaml.safe_load((ROOT / "samples/quarters/recipe.yaml").read_text("utf-8"))
    recipe["build"]["relations"] = ["P6", "P286"]
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    for name, content in build(only={"P6", "P286"}).items():
        (tmp_path / name).write_bytes(content)
    first_release, second = sorted(path.name for path in tmp_path.glob("*-all.json.gz"))[:2]
    command_words = ("release", "recipe.yaml", "--since", "last", "--dump")
    (old,) = run_cli(*command_words, first_release, cwd=tmp_path).stdout.split()
    (new,) = run_cli(*command_words, second, cwd=tmp_path).stdout.split()
    table = tmp_path / "diff.parquet"
    compare(tmp_path / old, tmp_path / new, table)
    changed_rows = {
        (row["old_config"], row["change"])
        for row in pq.read_table(table).to_pylist()
        if row["old_config"] and row["change"] != "measured" and row["old_config"] != "timelines"
    }
    # Wikidata corrected an interim head of government of Moldova
    assert changed_rows == {("deleted", "moved"), ("new", "moved"), ("paraphrases", "edited")}
    since_version = load_manifest(tmp_path / new).since
    assert since_version is not None and since_version.kept > 0
    run_cli("rebuild", new, "--dump", second, "--out", "again", cwd=tmp_path)

    # a release that was changed is no release to go on from
    (split, *_) = sorted((tmp_path / new / "data").rglob("*.parquet"))
    shutil.copyfile(tmp_path / new / KEPT, split)
    refused_run = run_cli(*command_words, second, cwd=tmp_path, ok=False)
    assert "was changed since" in refused_run.stderr and "Traceback" not in refused_run.stderr
