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
    earlier = earlier_release(since, "sample", out)
    assert earlier is not None
    given_corrections = Corrections(corrections=corrections)
    earlier = with_changed_corrections(earlier, given_corrections)
    sample = dataset(Sample(rows, drops=()))
    whole = Dataset(sample.tables, (*sample.dropped, from_rows(Dropped, drops)))
    errata = release_errata(given_corrections, "sample", [])
    return write_release(whole, meta(Sample(rows)), out, errata=errata, earlier=earlier)


def with_second(**changes: Any) -> Rows:
    """The rows of the sample with other values in one of them."""
    rows = [cloze(number) for number in range(5)]
    rows[1] = cloze(1, **changes)
    return {**BASE, "unchanged": {**BASE["unchanged"], "2021Q3": rows}}


def without_second(**other_splits: Any) -> Rows:
    rows = [cloze(number) for number in range(5) if number != 1]
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
    published = go_on(
        tmp_path, with_second(sitelinks=9, **changes) if stays else with_second(**changes)
    )
    assert verify_release(published.folder) == []
    row = keyed_by_id(rows_of(published.folder))[SECOND]
    new_row = keyed_by_id(
        rows_of(publish(tmp_path / "plain", Sample(with_second(**changes))).folder)
    )
    expected_row = published_row | {"sitelinks": 9} if stays else new_row[SECOND]
    assert row == expected_row
    since = load_manifest(published.folder).since
    assert since is not None and (since.version, since.reworded, since.kept) == (
        "1.0.0",
        reworded,
        0,
    )
    level = compare(tmp_path / "sample/1.0.0", published.folder).level
    assert level == ("patch" if stays or "sitelinks" in changes else "major")


def test_a_row_stays_that_the_new_dump_is_not_sure_of(tmp_path: Path) -> None:
    published_row = keyed_by_id(rows_of(publish(tmp_path).folder))[SECOND]
    release = go_on(tmp_path, without_second(), IN_DOUBT).folder
    assert verify_release(release) == []
    assert rows_of(release)[-1] == published_row
    assert pq.read_table(release / KEPT).to_pylist() == [
        {"id": SECOND, "config": "unchanged", "split": "2021Q3", "reason": "possible_holder"}
    ]
    totals = compare(tmp_path / "sample/1.0.0", release).totals()
    assert totals == {}
    words = "\n".join(lines(explain(SECOND, release, WhySources(tmp_path))))
    assert "  kept           as 1.0.0 published it; The dates leave open" in words
    # a version later it is still there, and the card says so
    later = go_on(tmp_path, without_second(), IN_DOUBT)
    assert later.level == "patch" and rows_of(later.folder)[-1] == published_row
    assert "This version goes on from `1.0.1`" in (later.folder / "README.md").read_text("utf-8")


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
    published = go_on(tmp_path, rows, *drops)
    since = load_manifest(published.folder).since
    assert since is not None and since.kept == 0
    assert published.level == "major"


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
    published = go_on(tmp_path, without_second(), IN_DOUBT, corrections=(correction,))
    assert SECOND not in column_of(rows_of(published.folder), "id")
    # what a correction changed in the version before is kept as it was changed
    earlier = EarlierRelease(published.folder, load_manifest(published.folder))
    assert with_changed_corrections(earlier, Corrections()).corrected_rows == set()


def test_other_columns_keep_nothing_and_are_told(tmp_path: Path) -> None:
    publish(tmp_path)
    earlier = earlier_release("1.0.0", "sample", tmp_path)
    assert earlier is not None
    config = earlier.manifest.configs[0]
    fewer = config.model_copy(update={"columns": config.columns[:-1]})
    manifest = earlier.manifest.model_copy(update={"configs": (fewer,)})
    rows = with_second(query="Another?")
    published = write_release(
        dataset(Sample(rows)),
        meta(Sample(rows)),
        tmp_path,
        earlier=replace(earlier, manifest=manifest),
    )
    since = load_manifest(published.folder).since
    assert since is not None and (since.unlike, since.reworded) == (("unchanged",), 0)


def test_which_version_it_goes_on_from(tmp_path: Path) -> None:
    assert earlier_release("last", "sample", tmp_path) is None
    first = publish(tmp_path).folder
    publish(tmp_path, Sample(with_second(query="?")))
    for since, version in {"last": "1.0.1", "1.0.0": "1.0.0", str(first): "1.0.0"}.items():
        earlier = earlier_release(since, "sample", tmp_path)
        assert earlier is not None and earlier.manifest.version == version
    with pytest.raises(UserError, match=r"no such version of sample\n .* there is 1.0.0, 1.0.1"):
        earlier_release("2.0.0", "sample", tmp_path)
    with pytest.raises(UserError, match="is a release of sample, and not of other"):
        earlier_release(str(first), "other", tmp_path)


@pytest.mark.slow
def test_a_rolling_window_of_the_sample(tmp_path: Path) -> None:
    """Two dumps of heads of government: only what the second one corrects is another row."""
    recipe = yaml.safe_load((ROOT / "samples/quarters/recipe.yaml").read_text("utf-8"))
    recipe["build"]["relations"] = ["P6", "P286"]
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    for name, content in build(only={"P6", "P286"}).items():
        (tmp_path / name).write_bytes(content)
    first, second = sorted(path.name for path in tmp_path.glob("*-all.json.gz"))[:2]
    words = ("release", "recipe.yaml", "--since", "last", "--dump")
    (old,) = run_cli(*words, first, cwd=tmp_path).stdout.split()
    (new,) = run_cli(*words, second, cwd=tmp_path).stdout.split()
    table = tmp_path / "diff.parquet"
    compare(tmp_path / old, tmp_path / new, table)
    changed = {
        (row["old_config"], row["change"])
        for row in pq.read_table(table).to_pylist()
        if row["old_config"] and row["change"] != "measured" and row["old_config"] != "timelines"
    }
    # Wikidata corrected an interim head of government of Moldova
    assert changed == {("deleted", "moved"), ("new", "moved"), ("paraphrases", "edited")}
    since = load_manifest(tmp_path / new).since
    assert since is not None and since.kept > 0
    run_cli("rebuild", new, "--dump", second, "--out", "again", cwd=tmp_path)

    # a release that was changed is no release to go on from
    (split, *_) = sorted((tmp_path / new / "data").rglob("*.parquet"))
    shutil.copyfile(tmp_path / new / KEPT, split)
    refused = run_cli(*words, second, cwd=tmp_path, ok=False)
    assert "was changed since" in refused.stderr and "Traceback" not in refused.stderr
