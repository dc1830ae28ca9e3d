"""Predictions: the answers of a model to rows of a release, as JSON lines or Parquet.

A row has `id`, the id of the row of the release, and one of

- `prediction`: the answer as text; null or blank where the model gives none;
- `candidates`: answers in order, the best first;
- `scores`: answers and their log-likelihoods, `{"Paris": -1.2, "Rome": -3.4}`;
- `choice_scores`: a number for each of the row's choices, in their order;

and, where they are known, `prompt_sha256` (sha256 of the prompt in hex, or its first 16 digits or
more), `config` and `split` (a row without them speaks of every row of the release with this id),
and `evidence`: ids of what was found in a search, the best first. Other fields are left alone.

A file `NAME.jsonl`, `NAME.jsonl.gz` or `NAME.parquet` may have a `NAME.json` beside it that says
which model and which release it is of (`About`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import UNSET, UnsetType
from pydantic import BaseModel, ConfigDict, ValidationError

from factdrift.builders.core.compressed import Compressed
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.limits import LONGEST_ROW
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.release.manifest import write_json

HASH = 16
"""Hex digits of a prompt's sha256 that are compared: 64 bits, enough to tell the prompts of one
release apart, and short in a file that has them in every line."""
# Rows that are read and written at a time: a batch of short answers takes a few megabytes.
_ROWS = 1 << 14
# bytes that are read from a compressed file at a time
_PIECE = 1 << 20
# exactly one of these fields holds the answer of a row
_ANSWERS = ("prediction", "candidates", "scores", "choice_scores")
_HINT = 'a line is {"id": "…", "prediction": "…"}, or has candidates, scores or choice_scores'
_TEXTS = pa.list_(pa.string())

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("config", pa.string()),
        ("split", pa.string()),
        ("prompt_sha256", pa.string()),
        ("prediction", pa.string()),
        ("candidates", _TEXTS),
        ("choice_scores", pa.list_(pa.float64())),
        ("evidence", _TEXTS),
        pa.field("from_scores", pa.bool_(), nullable=False),
    ]
)
"""The columns of a batch that `read_predictions` yields.

At most one of `candidates` and `choice_scores` is not null; where both are null, `prediction` is
the answer. `from_scores`: the candidates are the texts of `scores`, the likeliest first.
"""


class Prediction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One row of a file of predictions; the docstring of the module explains the fields."""

    id: str
    config: str | None = None
    split: str | None = None
    prompt_sha256: str | None = None
    prediction: str | UnsetType | None = UNSET
    candidates: list[str] | None = None
    scores: dict[str, float] | None = None
    choice_scores: list[float] | None = None
    evidence: list[str] | None = None


class PredictionsAbout(BaseModel):
    """The file beside predictions that describes them; further fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str
    dataset: str | None = None
    version: str | None = None
    view: str | None = None

    @property
    def name(self) -> str:
        """The name of the model, with the view in parentheses unless it wrote its answers."""
        return self.model if self.view in (None, "generate") else f"{self.model} ({self.view})"


def prompt_hash(prompt_text: str) -> str:
    """Return the first `HASH` hex digits of a prompt's sha256."""
    return text_sha256(prompt_text)[:HASH]


def about_path(path: Path) -> Path:
    """Return the path of the file that describes a file of predictions."""
    plain_path = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    return plain_path.with_suffix(".json")


def read_about(path: Path) -> PredictionsAbout | None:
    """Read the description beside a file of predictions; return None if there is none.

    `UserError`: the description is broken.
    """
    file = about_path(path)
    if file == path or not file.is_file():
        return None
    try:
        return PredictionsAbout.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(
            "does not say what model the predictions are of",
            where=display_path(file),
            hint='write {"model": "…"}, or remove it',
        ) from error


def write_about(path: Path, description: Mapping[str, object]) -> None:
    """Write the description beside a file of predictions."""
    with replacing(about_path(path)) as unfinished_file:
        write_json(unfinished_file, description, sort_keys=True)


def read_predictions(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the predictions of a file in batches of `SCHEMA`, in bounded memory.

    `UserError` with file and line: a line that is no prediction or is longer than `LONGEST_ROW`, a
    row with no answer or several kinds, a number that is not finite; a damaged or empty file.
    """
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
    except OSError as error:
        raise UserError.of_disk(error, path) from error
    row_flow = _parquet_rows(path) if is_parquet else numbered_rows(path)
    while batch_rows := [row for _, row in islice(row_flow, _ROWS)]:
        yield _batch(batch_rows)


def write_predictions(path: Path, rows: Iterable[Prediction]) -> int:
    """Write predictions as JSON lines (also `.gz`, `.zst`) or `.parquet`; return their number.

    The file appears when it is whole; the same rows give the same bytes.
    """
    row_flow = iter(rows)
    row_count = 0
    with replacing(path) as unfinished_file, _open(unfinished_file, path.suffix) as write_rows:
        while batch_rows := list(islice(row_flow, _ROWS)):
            row_count += len(batch_rows)
            write_rows(batch_rows)
    return row_count


@contextmanager
def _open(path: Path, file_suffix: str) -> Iterator[Any]:
    if file_suffix == ".parquet":
        schema = SCHEMA.remove(SCHEMA.get_field_index("from_scores"))
        with pq.ParquetWriter(path, schema, compression="zstd") as parquet_writer:
            yield lambda rows: parquet_writer.write_batch(_batch(rows).select(schema.names))
        return
    json_encoder = msgspec.json.Encoder()
    compression_name = {".gz": "gzip", ".zst": "zstd"}.get(file_suffix)
    with pa.output_stream(str(path), compression=compression_name) as file:
        yield lambda rows: file.write(json_encoder.encode_lines(rows))


def numbered_rows(path: Path) -> Iterator[tuple[int, Prediction]]:
    """Yield the predictions of a file of JSON lines, each with its line number from 1.

    `UserError`: as `read_predictions` raises it.
    """
    json_decoder = msgspec.json.Decoder(Prediction)
    for line_number, file_line in _lines(path):
        try:
            row = json_decoder.decode(file_line)
        except RecursionError:
            error_text = "brackets too deep"
            raise UserError(
                error_text, where=display_path(path), line=line_number, hint=_HINT
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            error_text = f"no prediction: {str(error).replace(chr(10), ' ')}"
            raise UserError(
                error_text, where=display_path(path), line=line_number, hint=_HINT
            ) from None
        yield line_number, _checked(row, path, line_number)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers from 1."""
    line_number, line_rest = 0, b""
    with Compressed(path, hint="write it again") as file:
        while file_piece := file.read(_PIECE):
            *full_lines, line_rest = (line_rest + file_piece).split(b"\n")
            for file_line in full_lines:
                line_number += 1
                _check_length(file_line, path, line_number)
                if file_line.strip():
                    yield line_number, file_line
            # the rest has no line end yet: refuse it before the next piece makes it longer
            _check_length(line_rest, path, line_number + 1)
        if line_rest.strip():
            yield line_number + 1, line_rest


def _check_length(file_line: bytes, path: Path, line_number: int) -> None:
    if len(file_line) > LONGEST_ROW:
        raise UserError(
            f"a line of more than {LONGEST_ROW:,} bytes", where=display_path(path), line=line_number
        )


def _batch(rows: Sequence[Prediction]) -> pa.RecordBatch:
    field_columns = {
        field_name: list(map(attrgetter(field_name), rows))
        for field_name in Prediction.__struct_fields__
    }
    score_maps = field_columns.pop("scores")
    field_columns["prediction"] = [
        None if score_map is UNSET else score_map for score_map in field_columns["prediction"]
    ]
    field_columns["candidates"] = [
        candidates if score_map is None else _ranked(score_map)
        for candidates, score_map in zip(field_columns["candidates"], score_maps, strict=True)
    ]
    field_columns["from_scores"] = [score_map is not None for score_map in score_maps]
    return pa.RecordBatch.from_pydict(field_columns, schema=SCHEMA)


def _checked(row: Prediction, path: Path, line_number: int) -> Prediction:
    """Return the row.

    Raises `UserError` if it has no answer or several, or a score that is not finite.
    """
    kind_count = (row.prediction is not UNSET) + (row.candidates is not None)
    kind_count += (row.scores is not None) + (row.choice_scores is not None)
    score_numbers = row.choice_scores or (row.scores or {}).values()
    if kind_count == 1 and all(map(math.isfinite, score_numbers)):
        return row
    error_texts = {0: "no answer", 1: "a score that is not a finite number"}
    error_text = error_texts.get(kind_count, "more than one kind of answer")
    raise UserError(error_text, where=display_path(path), line=line_number, hint=_HINT)


def _ranked(score_by_answer: dict[str, float]) -> list[str]:
    """Answers by log-likelihood, the best first; equal ones by their text."""
    return sorted(
        score_by_answer, key=lambda answer_text: (-score_by_answer[answer_text], answer_text)
    )


def _parquet_rows(path: Path) -> Iterator[tuple[int, Prediction]]:
    """Yield the predictions of a Parquet file with the numbers of their rows, from 1."""
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            column_names = set(file.schema_arrow.names)
            if "id" not in column_names or column_names.isdisjoint(_ANSWERS):
                column_text = ", ".join(sorted(column_names)[:20])
                message = f"no column id, or none of {', '.join(_ANSWERS)}; it has {column_text}"
                raise UserError(message, where=display_path(path))
            wanted_columns = [
                field_name
                for field_name in Prediction.__struct_fields__
                if field_name in column_names
            ]
            row_batches = bounded_batches(file, path, _ROWS, wanted_columns)
            rows = (row for row_batch in row_batches for row in row_batch.to_pylist())
            for line_number, row in enumerate(rows, 1):
                try:
                    yield (
                        line_number,
                        _checked(msgspec.convert(_plain(row), Prediction), path, line_number),
                    )
                except msgspec.ValidationError as error:
                    error_text = f"no prediction: {error}"
                    raise UserError(
                        error_text, where=display_path(path), line=line_number
                    ) from None
    except (pa.ArrowException, OSError) as error:
        error_text = str(error).split("\n")[0]
        raise UserError(f"no predictions: {error_text}", where=display_path(path)) from error


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Convert a row of Parquet to the form of a line of JSON: null values are left out.

    A row with null values alone is a prediction that gives no answer. Scores are a map, or a struct
    that has a field for the answers of every row.
    """
    present_values = {
        field_name: field_value
        for field_name, field_value in row.items()
        if field_value is not None
    }
    if "scores" in present_values:
        score_pairs = dict(present_values["scores"])
        present_values["scores"] = {
            answer_text: answer_score
            for answer_text, answer_score in score_pairs.items()
            if answer_score is not None
        }
    return (
        present_values
        if present_values.keys() & set(_ANSWERS)
        else {**present_values, "prediction": None}
    )
