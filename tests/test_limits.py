"""Deep, long and many: each reader drops and counts them or tells them in one error, at once."""

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.layout import Layout
from factdrift.builders.core import compressed, limits, text_files
from factdrift.builders.core.compressed import pieces
from factdrift.builders.core.config import load
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import Relation
from factdrift.builders.generate.prompt_files import load_prompts
from factdrift.builders.generate.replies import parse_reply
from factdrift.builders.invariant.trex import read_trex
from factdrift.builders.recipes.recipe import Recipe
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikipedia import dump, parts, records, wikitext
from factdrift.builders.wikipedia.read import read_pages
from factdrift.builders.wmt import archive
from factdrift.builders.wmt.index import index_archive
from factdrift.scoring import harness_logs, predictions, results
from factdrift.scoring.predictions import read_predictions
from tests import exports, test_dumps, test_limits_parquet
from tests.annotation_workers import batch_of, submission, take
from tests.tables import columns_of

SECONDS = 5
"""For one file; the loaded machine of a test run takes five times as long as an idle one."""

# --- YAML -----------------------------------------------------------------------------------------

YAML: dict[str, tuple[str, str]] = {
    # name: text, message
    "lists, 500 deep": ("tags: " + "[" * 500 + "]" * 500, "more than 50 deep"),
    "lists, 200,000 deep": ("[" * 200_000, "more than 50 deep"),
    "mappings, 200,000 deep": ("{a: " * 200_000, "more than 50 deep"),
    "indented, 500 deep": ("".join(" " * n + "a:\n" for n in range(500)), "more than 50 deep"),
    "items of items": ("- " * 100_000, "more than 50 deep"),
    "keys of keys": ("? " * 100_000, "more than 50 deep"),
    "a whole number of 5,000 digits": ("version: " + "1" * 5000, "more than 300 digits"),
    "a broken number of 5,000 digits": ("version: 1." + "1" * 5000, "more than 300 digits"),
    "a number in a list": ("tags:\n- " + "9" * 400, ":2: a number with more than 300 digits"),
    "five megabytes": ("#" * (5 << 20), "no more than 1,048,576 are read"),
    "thousands of unknown fields": (
        "".join(f"a{n}: 1\n" for n in range(20_000)),
        "more mistakes",
    ),
}


@pytest.mark.parametrize("model", [Recipe, Relation, Layout])
@pytest.mark.parametrize("name", YAML)
def test_yaml_is_refused_at_once(name: str, model: type[Any], tmp_path: Path) -> None:
    text, message = YAML[name]
    path = tmp_path / "a.yaml"
    path.write_text(text, "utf-8")
    start = process_time()
    with pytest.raises(UserError) as error:
        load(path, model)
    assert process_time() - start < SECONDS
    assert message in str(error.value) and "a.yaml" in str(error.value)
    assert len(str(error.value).splitlines()) <= limits.MOST_MISTAKES + 1


def test_the_files_of_the_project_are_far_below_the_limits() -> None:
    root = Path(__file__).resolve().parents[1]
    for path in [*root.glob("builders/**/*.yaml"), *root.glob("templates/*.yaml")]:
        assert path.stat().st_size * 10 < limits.LARGEST_YAML


# --- JSON -----------------------------------------------------------------------------------------

VALUES = {
    "lists, 500 deep": "[" * 500 + "]" * 500,
    "lists, 200,000 deep": "[" * 200_000 + "]" * 200_000,
    "objects, 200,000 deep": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "lists without an end": "[" * 200_000,
    "a whole number of 5,000 digits": "1" * 5000,
    "a broken number of 5,000 digits": "0." + "1" * 5000,
    "a number of a huge exponent": "1e" + "9" * 5000,
    "a text of a megabyte": json.dumps("x" * (1 << 20)),
}


def _pages(line: bytes, folder: Path) -> None:
    (folder / "pages.jsonl").write_bytes(line + b'\n{"title": "Good", "text": "Good text."}\n')
    read_pages(folder / "pages.jsonl", {"Good": "Q1"}, folder / "out")
    assert pq.read_table(folder / "out/pages.parquet")["title"].to_pylist() == ["Good"]


def _news(line: bytes, folder: Path) -> None:
    good = b'{"date": "2020-01-05", "text": "It rained."}\n'
    (folder / "news.jsonl").write_bytes(good + line + b"\n")
    index_archive(folder / "news.jsonl", folder / "out")
    kept_count = pq.read_metadata(folder / "out/articles.parquet").num_rows
    assert kept_count + pq.read_metadata(folder / "out/dropped.parquet").num_rows == 2


def _trex(line: bytes, folder: Path) -> None:
    (folder / "t.jsonl").write_bytes(line + b"\n")
    (folder / "out").mkdir()
    read_trex([folder / "t.jsonl"], ["P1"], folder / "out")
    drop_reasons = pq.read_table(folder / "out/dropped.parquet")["reason"].to_pylist()
    assert drop_reasons in (["bad_line"], ["other_relation"])


def _predictions(line: bytes, folder: Path) -> None:
    (folder / "p.jsonl").write_bytes(b'{"id": "a", "prediction": "A"}\n' + line + b"\n")
    try:
        assert sum(batch.num_rows for batch in read_predictions(folder / "p.jsonl")) == 2
    except UserError as error:
        assert "p.jsonl:2: " in str(error)


def _results(line: bytes, folder: Path) -> None:
    batch = batch_of(folder, rows=3, number=3)
    good = json.dumps(submission(batch, "w1", 0)).encode()
    (folder / "r.jsonl").write_bytes(good + b"\n" + line + b"\n")
    import_report = take(folder, folder / "r.jsonl")
    assert import_report.taken == 1 and sum(import_report.refused.values()) == 1


def _dump(line: bytes, folder: Path) -> None:
    good = b'{"id": "Q2", "type": "item", "claims": {}, "labels": {}, "sitelinks": {}}\n'
    (folder / "20260202.json").write_bytes(good + line + b"\n")
    mined = mine(folder / "20260202.json", folder / "out", snapshot="2026-02-02")
    mined_counts = mined.counts["counts"]
    assert mined_counts.get("items", 0) + mined_counts.get("malformed_line", 0) == 2


READERS: dict[str, tuple[Callable[[bytes, Path], None], str]] = {
    "pages": (_pages, '{"title": "Bad", "text": "Bad text.", "page": <>}'),
    "pages, another field": (_pages, '{"title": "Bad", "text": "Bad text.", "more": <>}'),
    "news": (_news, '{"date": "2020-01-05", "text": <>}'),
    "days of news": (_news, '{"date": <>, "text": "It rained."}'),
    "T-REx": (_trex, '{"sub_uri": "Q1", "sub_label": <>, "predicate_id": "P1"}'),
    "predictions": (_predictions, '{"id": "b", "prediction": <>}'),
    "scores": (_predictions, '{"id": "b", "scores": {"A": <>}}'),
    "results": (_results, '{"format": "factdrift-submission/1", "batch": <>}'),
    "the dump": (_dump, '{"id": "Q1", "type": "item", "claims": <>, "labels": {}}'),
    "the dump, another field": (_dump, '{"id": "Q1", "type": "item", "ns": <>, "labels": {}}'),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("reader", READERS)
def test_deep_and_long_values_of_json(reader: str, value: str, tmp_path: Path) -> None:
    """A line of them is dropped, refused or read; the lines beside it are read."""
    read_value, line = READERS[reader]
    start = process_time()
    read_value(line.replace("<>", VALUES[value]).encode(), tmp_path)
    assert process_time() - start < SECONDS


# --- Lengths --------------------------------------------------------------------------------------


def test_a_page_that_is_longer_than_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text, one of its paragraphs and what its tables repeat are counted by one reason."""
    monkeypatch.setattr(limits, "LONGEST_PAGE_TEXT", 10_000)
    monkeypatch.setattr(limits, "LONGEST_PARAGRAPH", 5_000)
    spans = "{|\n" + "|-\n|rowspan=999|a\n" * 300 + "|}"
    monkeypatch.setattr(limits, "MOST_REPEATED", 20_000)
    page_lines: list[dict[str, Any]] = [
        {"title": "Good", "text": "Good text."},
        {"title": "Long", "text": "long text\n" * 2000},
        {"title": "Long source", "wikitext": "long text\n" * 2000},
        {"title": "Long line", "text": "long text " * 600},
        {"title": "Long list", "paragraphs": ["long text " * 400] * 3},
        {"title": "Long table", "wikitext": spans},
    ]
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(map(json.dumps, page_lines)) + "\n", "utf-8")
    wanted_items = {
        str(row["title"]): f"Q{item_number}" for item_number, row in enumerate(page_lines, 1)
    }
    read_pages(path, wanted_items, tmp_path / "out")
    assert pq.read_table(tmp_path / "out/pages.parquet")["title"].to_pylist() == ["Good"]
    dropped_rows = pq.read_table(tmp_path / "out/dropped.parquet").to_pylist()
    details = [
        dropped_row["detail"] for dropped_row in dropped_rows if dropped_row["reason"] == "too_long"
    ]
    assert len(details) == 5
    assert "repeat more than 20,000 characters" in details[4]


def test_an_article_that_is_longer_than_any(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    article_texts = ["It rained.", "It rained. " * (limits.LONGEST_ARTICLE // 10)]
    article_lines = [json.dumps({"date": "2020-01-05", "text": text}) for text in article_texts]
    path.write_text("\n".join(article_lines) + "\n", "utf-8")
    index_archive(path, tmp_path / "out")
    dropped_rows = pq.read_table(tmp_path / "out/dropped.parquet").to_pylist()
    assert columns_of(dropped_rows, "reason", "item") == [("too_long", "news.jsonl:2")]


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst"])
def test_a_file_that_unpacks_to_far_more_than_its_size(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told after as much as any file may unpack to."""
    import bz2
    import gzip

    import pyarrow as pa

    monkeypatch.setattr(limits, "UNPACKED_FREELY", 4 << 20)
    unpacked_bytes = b"\0" * (16 << 20)
    path = tmp_path / f"bomb.{packing}"
    if packing == "gz":
        path.write_bytes(gzip.compress(unpacked_bytes))
    elif packing == "bz2":
        path.write_bytes(bz2.compress(unpacked_bytes))
    else:
        path.write_bytes(pa.compress(unpacked_bytes, "zstd", asbytes=True))
    with pytest.raises(UserError, match="unpacks to more than 300 times"):
        for _ in pieces(path):
            pass


# --- Every limit ----------------------------------------------------------------------------------


def _long_news(folder: Path) -> None:
    (folder / "n.jsonl").write_bytes(b"x" * (2 << 20))
    index_archive(folder / "n.jsonl", folder / "out")


def _long_line(folder: Path) -> None:
    prediction_line = {"id": "a", "prediction": "x" * 2000}
    (folder / "p.jsonl").write_text(
        '{"id": "b", "prediction": ""}\n' + json.dumps(prediction_line) + "\n"
    )
    list(read_predictions(folder / "p.jsonl"))


def _long_row(folder: Path) -> None:
    (folder / "p.csv").write_text('id,prediction\na,"' + "x\n" * 900 + '"\nb,c\n')
    list(read_predictions(folder / "p.csv"))


def _row_without_an_end(folder: Path) -> None:
    (folder / "p.csv").write_text("id,prediction\na," + "x" * 2000 + "\nb,c\n")
    list(read_predictions(folder / "p.csv"))


def _large_document(folder: Path) -> None:
    (folder / "p.json").write_text(json.dumps({f"r{n}": "x" for n in range(200)}, indent=0))
    list(read_predictions(folder / "p.json"))


def _log_of_samples(folder: Path) -> None:
    with ZipFile(folder / "p.eval", "w") as log:
        log.writestr("header.json", '{"eval": {}}')
        for sample_number in range(20):
            log.writestr(f"samples/{sample_number}_epoch_1.json", json.dumps({"id": sample_number}))
    list(read_predictions(folder / "p.eval"))


def _shared_results(folder: Path) -> None:
    (folder / results.ANSWERS).write_bytes(b" " * 2000)
    (folder / results.FILE).write_bytes(b"{}")
    results.read_results(folder)


TOLD: dict[str, tuple[Any, Callable[[Path], None], str]] = {
    # name, perhaps with what it is tried on: where it is looked at, what is over 1,000, the message
    "LONGEST_LINE": (archive, _long_news, "n.jsonl: it has a line longer than 0 MB"),
    "LONGEST_ROW of lines": (
        predictions,
        _long_line,
        "p.jsonl:2: a line of more than 1,000 bytes",
    ),
    "LONGEST_ROW of cells": (text_files, _long_row, "p.csv:2: .*a row of more than 1,000 char"),
    "LONGEST_ROW of a cell": (text_files, _row_without_an_end, "p.csv:2: .*more than 1,000 char"),
    "LARGEST_DOCUMENT": (predictions, _large_document, "JSON file of more than 1,000 bytes"),
    "LONGEST_SAMPLE": (harness_logs, _log_of_samples, "header.json in it has more than 10 bytes"),
    "LARGEST_LOG_INDEX": (harness_logs, _log_of_samples, "list of more than 1,000 bytes of"),
    "LARGEST_SHARED_FILE": (results, _shared_results, "not a file of at most 1,000 bytes"),
}
ELSEWHERE = {
    **dict.fromkeys(
        ("LARGEST_YAML", "DEEPEST_YAML", "MOST_MISTAKES", "LONGEST_NUMBER"),
        test_yaml_is_refused_at_once,
    ),
    **dict.fromkeys(
        ("LONGEST_PAGE_TEXT", "LONGEST_PARAGRAPH", "MOST_REPEATED"),
        test_a_page_that_is_longer_than_any,
    ),
    "LONGEST_ARTICLE": test_an_article_that_is_longer_than_any,
    **dict.fromkeys(
        ("UNPACKED_FREELY", "MOST_UNPACKED"), test_a_file_that_unpacks_to_far_more_than_its_size
    ),
    "LARGEST_LISTING": test_dumps.test_servers_that_fail,
    "LARGEST_BATCH": test_limits_parquet.test_fewer_rows_at_a_time_where_each_may_be_long,
}
"""The tests of the other limits; two more stand below."""


@pytest.mark.parametrize("name", TOLD)
def test_what_is_over_a_limit_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, read_input, message = TOLD[name]
    limit = name.split()[0]
    monkeypatch.setattr(module, limit, 10 if limit == "LONGEST_SAMPLE" else 1000)
    if limit == "LARGEST_LOG_INDEX":
        monkeypatch.setattr(harness_logs._BoundedFile, "largest_read", 1000)
    with pytest.raises(UserError, match=message):
        read_input(tmp_path)


def test_a_page_of_too_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "LONGEST_PAGE", 2000)
    pages = [exports.page("Long", "long text " * 900, number=1), exports.page("A", "a", number=2)]
    path = exports.write(tmp_path / "x.xml", exports.export(pages))
    read_pages(path, {"Long": "Q1", "A": "Q2"}, tmp_path / "out")
    dropped_rows = pq.read_table(tmp_path / "out/dropped.parquet").to_pylist()
    assert ("too_long", "x.xml:1") in columns_of(dropped_rows, "reason", "item")
    assert pq.read_table(tmp_path / "out/pages.parquet")["title"].to_pylist() == ["A"]


def test_of_a_reply_no_more_is_read_than_the_limit() -> None:
    prompts = load_prompts(None)
    introduction = "x " * limits.LONGEST_REPLY + "\n"
    assert parse_reply("Who won the cup?", prompts, question=True).text == "Who won the cup?"
    assert parse_reply(introduction + "Who won?", prompts, question=True).text is None


def test_every_limit_is_tried() -> None:
    public_limits = {name for name in vars(limits) if name.isupper() and not name.startswith("_")}
    tried = {name.split()[0] for name in TOLD} | ELSEWHERE.keys()
    assert public_limits - tried == {"LONGEST_PAGE", "LONGEST_REPLY"}
    assert not tried - public_limits


def test_all_readers_take_their_limits_from_one_module() -> None:
    for module in (compressed, wikitext, records, parts):
        shared_names = [name for name in vars(limits) if name.startswith("check_")]
        used_checks = {name: vars(module)[name] for name in shared_names if name in vars(module)}
        assert used_checks, module
        for name, check in used_checks.items():
            assert check is getattr(limits, name)
