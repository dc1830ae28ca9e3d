"""A release as its users load it: by `croissant.json`, which validates, and by `datasets`."""

import json
import logging
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from factdrift.builders.release.card import SECTIONS
from factdrift.builders.release.croissant import _field
from factdrift.builders.release.manifest import load_manifest
from tests.release_sample import BASE, SAMPLED, Sample, cloze, publish
from tests.tables import column_of


@pytest.fixture(scope="module")
def mlc() -> Any:
    import mlcroissant

    return mlcroissant


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Periods of every kind, splits without rows, and text that looks like markup."""
    odd = cloze(6, "updated", "2021Q4", subject_label='<b>"|`\n', answers=())
    new_rows = {
        "2021Q3": [cloze(1, "new")],
        "2021M07": [cloze(row_number, "new", "2021M07") for row_number in (2, 1)],
        "2021": [cloze(3, "new", "2021", subject_label='<b>"`|\n')],
    }
    release_rows = {**BASE, "deleted": {"2021Q3": []}, "odd": {"2021Q4": [odd]}, "new": new_rows}
    return publish(tmp_path_factory.mktemp("croissant"), Sample(release_rows)).folder


def test_no_errors_no_warnings(
    mlc: Any, release_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        loaded_dataset = mlc.Dataset(jsonld=str(release_folder / "croissant.json"))
    issues = loaded_dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings, caplog.messages) == (set(), set(), [])
    assert str(loaded_dataset.metadata.version) == "1.0.0"
    assert "Subjects are the best known" in str(loaded_dataset.metadata.data_biases)


def test_records(mlc: Any, release_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    loaded_dataset = mlc.Dataset(jsonld=str(release_folder / "croissant.json"))
    with caplog.at_level(logging.WARNING):
        records = list(loaded_dataset.records("unchanged"))
        (odd,) = loaded_dataset.records("odd")
        segments = list(loaded_dataset.records("segments"))
    assert caplog.messages == []
    assert len(records) == 10
    by_id = {loaded_record["unchanged/id"]: loaded_record for loaded_record in records}
    released_row = by_id[b"0003-2021Q4"]
    assert released_row["unchanged/__split"] == b"2021Q4"
    assert released_row["unchanged/sitelinks"] == 3
    assert str(released_row["unchanged/period_first"])[:10] == "2021-10-01"
    assert released_row["unchanged/answers"] == [
        {
            "unchanged/answers/id": b"Q1003",
            "unchanged/answers/label": b"Club 3",
            "unchanged/answers/aliases": [b"C3", b"the club"],
        }
    ]
    assert odd["odd/subject_label"] == b'<b>"|`\n'
    assert len(segments) == 4
    assert segments[0]["segments/end_last"] is None


def test_what_it_says(release_folder: Path) -> None:
    document = json.loads((release_folder / "croissant.json").read_text())
    described_files = {
        entry["contentUrl"]: entry["sha256"]
        for entry in document["distribution"]
        if entry["@type"] == "cr:FileObject"
    }
    file_digests = load_manifest(release_folder).sha256s()
    data_files = {
        file_path
        for file_path in file_digests
        if file_path.endswith(".parquet") and not file_path.startswith("tasks/")
    }
    assert described_files == {path: file_digests[path] for path in data_files}
    printed_text = {
        "datePublished": "2026-02-02",
        "license": "https://spdx.org/licenses/CC0-1.0.html",
        "rai:dataCollectionTimeFrame": ["2026-02-02"],
        "rai:hasSyntheticData": True,
        "creator": [{"@type": "sc:Organization", "name": "factdrift contributors"}],
    }
    assert document | printed_text == document
    assert document["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    for term in SECTIONS.values():
        if term:
            assert document[term]
    assert document["rai:dataCollectionMissingData"].endswith("diff: in_doubt: 2")
    assert document["url"].startswith("https://")
    (derived_source,) = document["prov:wasDerivedFrom"]
    assert (
        derived_source["@id"] == f"urn:sha256:{'0' * 64}"
        and "d.json.gz" in derived_source["prov:label"]
    )
    assert document["prov:wasGeneratedBy"]["prov:label"].startswith("make release")
    cff = yaml.safe_load((release_folder / "CITATION.cff").read_text("utf-8"))
    assert (cff["cff-version"], cff["version"], cff["license"]) == ("1.2.0", "1.0.0", "CC0-1.0")


@pytest.mark.slow
@pytest.mark.parametrize("dataset", SAMPLED)
def test_the_first_record_of_every_record_set_of_a_sample(
    mlc: Any, sample: Path, dataset: str
) -> None:
    release_folder = sample / "releases" / dataset / "1.0.0"
    loaded_dataset = mlc.Dataset(jsonld=str(release_folder / "croissant.json"))
    assert (
        loaded_dataset.metadata.ctx.issues.errors,
        loaded_dataset.metadata.ctx.issues.warnings,
    ) == (set(), set())
    full = {
        config_entry.name
        for config_entry in load_manifest(release_folder).configs
        if any(split.rows for split in config_entry.splits)
    }
    sets = {record_set.uuid for record_set in loaded_dataset.metadata.record_sets}
    assert sets == full | {f"splits/{column_name}" for column_name in full}
    for column_name in sets:
        loaded_record = next(iter(loaded_dataset.records(column_name)))
        assert loaded_record and all(key.startswith(column_name) for key in loaded_record)


def test_a_list_of_structs_inside_a_struct_is_only_named() -> None:
    link = pa.list_(pa.struct([("start", pa.int64())]))
    part = pa.struct([("text", pa.string()), ("links", link), ("names", pa.list_(pa.string()))])
    field = _field("pages", "parts", pa.list_(part), "what it says", {}, "parts")
    assert column_of(field["subField"], "name") == ["text", "names"]
    assert field["description"] == "what it says; the Parquet files also have their links"


def test_every_split_loads(
    release_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offline, with a cache of its own."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    loaded = {
        (column_name, split): split_rows.num_rows
        for column_name in datasets.get_dataset_config_names(str(release_folder))
        for split, split_rows in datasets.load_dataset(str(release_folder), column_name).items()
    }
    expected_rows = {}
    for config_entry in load_manifest(release_folder).configs:
        for split_entry in config_entry.splits:
            if split_entry.rows:
                expected_rows[(config_entry.name, split_entry.name)] = split_entry.rows
    assert loaded == {**expected_rows, ("dropped", "dropped"): 2}
    for split in ("2021Q3", "2021M07", "2021"):
        split_rows = datasets.load_dataset(str(release_folder), "new", split=split)
        assert split_rows.num_rows == expected_rows["new", split]
    released_row = split_rows[0]
    assert released_row["subject_label"] == '<b>"`|\n'
    assert released_row["period_first"] == date(2021, 1, 1)
    assert released_row["answers"] == [
        {"id": "Q1003", "label": "Club 3", "aliases": ["C3", "the club"]}
    ]
    assert released_row["answer_tokens"] == [3]
    assert (
        datasets.load_dataset(str(release_folder), split="2021Q3").num_rows == 5
    )  # of the first config
