"""Predictions in the forms that owners have: what is read of each, and what is told of others."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from factdrift.builders.core.errors import UserError
from factdrift.scoring import predictions
from factdrift.scoring.predictions import model_of_logs, numbered_rows
from tests.zip_files import zip_with_zstd

MARK = b"\xef\xbb\xbf"
ROWS = [("a", "Rome"), ("b", None), ("12", "1987")]
LIST = [{"id": "a", "prediction": "Rome"}, {"id": "b", "prediction": None},
        {"id": 12, "prediction": 1987}]  # fmt: skip
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in LIST)
PLACES = {"sample-new-2021": ("new", "2021")}
SAMPLES = "samples_sample-new-2021_2026-11-27T07-14-05.648090.jsonl"


def lm_eval_lines(*answers: Any, **more: Any) -> bytes:
    lines = [
        {"doc_id": doc_id, "doc": {"id": row_id}, "resps": [[answer]], "filtered_resps": [answer],
         "filter": "none", **more}
        for doc_id, (row_id, answer) in enumerate(answers)
    ]  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def inspect_sample(row_id: object, answer: str, **more: Any) -> dict[str, Any]:
    output = {"model": "m", "choices": [{}], "completion": answer}
    return {"id": row_id, "epoch": 1, "input": "q", "target": "t", "output": output, **more}


SAMPLE_LIST = [
    inspect_sample("a", "attachment://0123", attachments={"0123": "Rome"}),
    inspect_sample("b", ""),
    inspect_sample(12, "1987"),
    {"id": "c", "epoch": 1, "output": {"choices": [], "completion": ""}, "error": {"message": "x"}},
]
HEAD = {"version": 2, "eval": {"model": "acme/m", "task_args": {"config": "new", "split": ""}}}
LOG = json.dumps(HEAD | {"samples": SAMPLE_LIST}).encode()


def archive(pack: Callable[[dict[str, bytes]], bytes], head: str = "header.json") -> bytes:
    archive_files = {f"samples/{sample['id']}_epoch_1.json": json.dumps(sample).encode()
             for sample in SAMPLE_LIST}  # fmt: skip
    return pack(
        {"_journal/summaries/1.json": b"[]", **archive_files, head: json.dumps(HEAD).encode()}
    )


def deflated(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, file_bytes in files.items():
            zip_file.writestr(name, file_bytes)
    return buffer.getvalue()


def encrypted(archive_bytes: bytes) -> bytes:
    """An archive whose table of contents says of its last file that it is encrypted."""
    place = archive_bytes.rindex(b"PK\x01\x02") + 8
    return archive_bytes[:place] + b"\x01" + archive_bytes[place + 1 :]


def parquet(**columns: pa.Array) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


FORMS = {
    "lines.jsonl": LINES,
    "marked.jsonl": MARK + LINES,
    "windows.jsonl": LINES.replace(b"\n", b"\r\n"),
    "lines.jsonl.gz": gzip.compress(LINES),
    "marked.jsonl.zst": zstandard.compress(MARK + LINES),
    "nan.jsonl": LINES.replace(b"null", b"NaN"),
    "list.json": json.dumps(LIST).encode(),
    "pretty.json": MARK + json.dumps(LIST, indent=2).encode(),
    "list.json.gz": gzip.compress(json.dumps(LIST).encode()),
    "map.json": b'{"a": "Rome", "b": null, "12": 1987}',
    "pretty-map.json": MARK + b'{\n  "a": "Rome",\n  "b": null,\n  "12": 1987\n}\n',
    "table.csv": b"id,prediction\na,Rome\nb,\n12,1987\n",
    "excel.csv": MARK + b'"sep=;"\r\nID;Prediction;note\r\na;Rome;x\r\nb;;\r\n12;1987;\r\n',
    "tabs.tsv": b"prediction\tid\nRome\ta\n\tb\n1987\t12\n",
    "floats.parquet": parquet(id=pa.array(["a", "b", "12"]), prediction=["Rome", None, "1987"]),
    "bytes.parquet": parquet(id=pa.array([b"a", b"b", b"12"]),
                             prediction=pa.array(["Rome", None, "1987"]).dictionary_encode()),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    assert [(row.id, row.prediction) for _, row in numbered_rows(path)] == ROWS


@pytest.mark.parametrize(
    ("name", "data", "config", "split"),
    [
        (SAMPLES, lm_eval_lines(("a", "Rome"), ("b", ""), (12, "1987")), "new", "2021"),
        ("other.jsonl", MARK + lm_eval_lines(("a", "Rome"), ("b", ""), (12, 1987)), None, None),
        ("log.json", LOG, "new", None),
        ("marked.json", MARK + json.dumps(json.loads(LOG), indent=2).encode(), "new", None),
        ("log.eval", archive(zip_with_zstd), "new", None),
        ("old.eval", archive(deflated), "new", None),
        ("stopped.eval", archive(zip_with_zstd, "_journal/start.json"), "new", None),
    ],
)
def test_logs(
    name: str, data: bytes, config: str | None, split: str | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    prediction_rows = [row for _, row in numbered_rows(path, PLACES)]
    assert [(row.id, row.prediction or None) for row in prediction_rows] == ROWS
    assert {(row.config, row.split) for row in prediction_rows} == {(config, split)}
    assert model_of_logs(path) == ("acme/m" if "jsonl" not in name else None)


def test_a_folder_of_logs(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / SAMPLES).write_bytes(lm_eval_lines(("a", "x")))
    (folder / SAMPLES.replace("2021_", "2022_")).write_bytes(lm_eval_lines(("b", "y")))
    results_json = '{"results": {}, "configs": {}, "model_name": "acme/m"}'
    (folder / "results_2026-11-27T07-14-05.648090.json").write_text(results_json)
    prediction_rows = [row for _, row in numbered_rows(tmp_path, PLACES)]
    assert [(row.id, row.config) for row in prediction_rows] == [("a", "new"), ("b", None)]
    assert model_of_logs(tmp_path) == "acme/m"


def test_choices_of_lm_eval(tmp_path: Path) -> None:
    line = {"doc": {"id": "a"}, "filtered_resps": [["-1.5", "False"], [-2, True]], "resps": []}
    (tmp_path / "p.jsonl").write_text(json.dumps(line))
    ((_, row),) = numbered_rows(tmp_path / "p.jsonl")
    assert row.choice_scores == [-1.5, -2.0]


# a megabyte more than a sample of a log may have
BOMB = deflated({"header.json": json.dumps(HEAD).encode(), "samples/1.json": b" " * (65 << 20)})


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("p.jsonl", "é".encode("utf-16") * 9, "this is UTF-16, not UTF-8"),
        ("p.jsonl", '{"id": "é", "prediction": "a"}'.encode("cp1252"), ":1: .*Windows-1252.*iconv"),
        ("p.csv", "id,prediction\na,é\n".encode("cp1252"), ":2: not UTF-8: .*Windows-1252"),
        ("p.csv", "id,prediction\na,b\n".encode("utf-16"), ":1: not UTF-8: this is UTF-16"),
        ("p.csv", b"name,answer\na,b\n", ":1: no column id, or none prediction; it has name"),
        ("p.csv", b"id,prediction\na\n", ":2: not a CSV row"),
        ("p.xlsx", deflated({"[Content_Types].xml": b"x"}), "workbook.*(\n|.)*CSV UTF-8"),
        ("p.csv", b"\xd0\xcf\x11\xe0" * 9, "workbook"),
        ("p.zip", deflated({"a.txt": b"x"}), r"no log of Inspect \(a.txt\)"),
        ("p.eval", archive(deflated)[:-40], "no whole log.*(\n|.)*still going"),
        ("p.eval", archive(zip_with_zstd).replace(b"\xb5\x2f\xfd", b"\xb5\x2f\xfe"), "damaged"),
        ("p.eval", encrypted(archive(deflated)), "header.json in it is encrypted"),
        ("p.eval", BOMB, "more than 67,108,864 bytes"),
        ("r.json", b'{"results": {"t": 1}, "configs": {}}', "scores of lm-eval, not answers"),
        ("p.jsonl", lm_eval_lines(("a", "x")) + lm_eval_lines(("a", "y"), filter="f"),
         ":2: answers under two filters, none and f"),
        ("p.jsonl", lm_eval_lines((None, "x")), ":1: .*`doc` has no id"),
        ("p.jsonl", b'{"id": "a", "prediction": ["x"]}', ":1: .*prediction: a list, not a text"),
        ("p.jsonl", b'{"id": "a", "prediction": true}', ":1: .*a truth value"),
        ("p.json", b'[{"id": "a", "prediction": "x"}, 7]', ":2: .*a number, not an object"),
        ("p.json", b'[{"id": "a", "prediction": "x"}', "no prediction"),
        ("p.json", b'{"a": "x",\n "b": [["x"]]}', ":2: .*candidates: a list"),
        ("p.json", b"{\n" + b'"a":' * 100_000, "no prediction"),
    ],
)  # fmt: skip
def test_what_is_told(name: str, data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError, match=words):
        list(numbered_rows(path))


PLAIN = [b'{"id": "%d", "prediction": "x}"}' % number for number in range(6)]
BLOCKS = {
    "plain": PLAIN,
    "blank lines": [PLAIN[0], b"", b"  ", PLAIN[1]],
    "further fields": [b'{"id": "a", "prediction": null, "more": {"a": [{}]}}', PLAIN[0]],
    "other answers": [PLAIN[0], b'{"id": "a", "candidates": ["x"]}', b'{"id": "a", "scores": {}}'],
    "two in a line": [PLAIN[0] + PLAIN[1], PLAIN[2]],
    "one in two lines": [b'{"id": "a",', b'"prediction": "x"}', PLAIN[0]],
    "as many objects as lines": [PLAIN[0] + PLAIN[1], b'{"id": "a",', b'"prediction": "x"}'],
    "an object goes on": [PLAIN[0] + PLAIN[1], b'{"id": "a", "x": {}', b'{"prediction": "x"}'],
    "a list": [b'[{"id": "a"}', b'{"id": "b"}]'],
    "commas": [PLAIN[0] + b",", PLAIN[1]],
    "a number": [PLAIN[0], b'{"id": 17, "prediction": 1.50}', PLAIN[1]],
    "no answer": [*PLAIN, b'{"id": "a"}'],
    "two kinds": [*PLAIN, b'{"id": "a", "prediction": "x", "candidates": []}', PLAIN[1]],
    "no UTF-8": [*PLAIN, b'{"id": "a", "prediction": "\xff"}', PLAIN[1]],
    "half a character": [*PLAIN, b'{"id": "a", "prediction": "\\ud800"}', PLAIN[1]],
    "a mark": [*PLAIN, MARK + PLAIN[0], PLAIN[1] + b"\x1a"],
    "a raw line end": [b'{"id": "a", "prediction": "x', b'y"}'],
    "an infinite score": [*PLAIN, b'{"id": "a", "scores": {"x": 1e999}}'],
}


@pytest.mark.parametrize("lines", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_lines_are_read_at_once_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[bytes], line_end: bytes
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(line_end.join(lines) + line_end)

    def outcome() -> Any:
        try:
            return list(numbered_rows(path))
        except UserError as error:
            return str(error)

    at_once = outcome()
    monkeypatch.setattr(predictions, "_block_rows", lambda *_: None)
    assert at_once == outcome()


def test_plain_lines_are_read_at_once() -> None:
    decoder = msgspec.json.Decoder(predictions.Prediction)
    assert len(predictions._block_rows(b"\n".join([*PLAIN, b""]), decoder) or []) == len(PLAIN)
