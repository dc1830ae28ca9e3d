"""Predictions: the answers of a model to rows of a release, as a file that owners have.

A row has `id`, the id of the row of the release, and one of

- `prediction`: the answer as text; null or blank where the model gives none;
- `candidates`: answers in order, the best first;
- `scores`: answers and their log-likelihoods, `{"Paris": -1.2, "Rome": -3.4}`;
- `choice_scores`: a number for each of the row's choices, in their order;

and, where they are known, `prompt_sha256` (sha256 of the prompt in hex, or its first 16 digits or
more), `config` and `split` (a row without them speaks of every row of the release with this id),
and `evidence`: ids of what was found in a search, the best first. Other fields are left alone.
Values are read as `builders.core.records` says: an id can be a number, an answer too.

The rows are JSON lines (also `.gz`, `.zst`), a JSON list, CSV with the columns `id` and
`prediction`, or Parquet. Other forms are a JSON object `{id: answer}` (the answer a text, a list of
candidates or a map of scores), lm-eval's `samples_*.jsonl`, Inspect's `.eval` and `.json` logs, and
a folder of such logs; a row of LongMemEval has `question_id` and `hypothesis`. Which one a file is,
its content says.

A file `NAME.jsonl`, `NAME.jsonl.gz` or `NAME.parquet` may have a `NAME.json` beside it that says
which model and which release it is of (`About`).
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

from factdrift.builders.core.arrays import flag_array, text_array
from factdrift.builders.core.compressed import Compressed
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files, replacing
from factdrift.builders.core.hashing import file_sha256, text_sha256
from factdrift.builders.core.limits import LARGEST_DOCUMENT, LONGEST_ROW
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.core.records import (
    BadValueError,
    decode_record,
    line_blocks,
    lines_of_block,
    plain_rows,
    text_value,
    without_mark,
)
from factdrift.builders.core.text_files import BrokenEntry, is_table, table_rows
from factdrift.builders.release.manifest import write_json
from factdrift.scoring import harness_logs
from factdrift.scoring.harness_logs import Fields, TaskPlaces

HASH = 16
"""Hex digits of a prompt's sha256 that are compared: 64 bits, enough to tell the prompts of one
release apart, and short in a file that has them in every line."""
UNANSWERED = "_abs"
"""What the id of a question ends in, in LongMemEval's form, where nothing answers it."""
_UNDECODED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the decoder raises for a text that is no JSON, or no prediction."""
# Rows that are read and written at a time: a batch of short answers takes a few megabytes.
_ROWS = 1 << 14
# exactly one of these fields holds the answer of a row
_ANSWERS = ("prediction", "candidates", "scores", "choice_scores")
FORM_HINT = 'a line is {"id": "…", "prediction": "…"}, or has candidates, scores or choice_scores'
"""What is said where a file or a line has another form."""
_TEXTS = pa.list_(pa.string())
# the fields that are one text: columns of a CSV file
_TABLE_COLUMNS = ("id", "config", "split", "prompt_sha256", "prediction")
# a row, or what is no object at all; `{"q1": "Rome"}` and `{` alone may be a document
_FIRST_ROW = re.compile(rb'\{\s*"(?:doc_)?id"\s*:[^\n]|[^{]')
_TABLE_HINT = "a table of predictions has the columns id and prediction"

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
    """The file beside predictions that describes them; further fields are ignored.

    `guess` names a baseline that knows nothing, as `factdrift baselines` writes it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str
    dataset: str | None = None
    version: str | None = None
    view: str | None = None
    guess: str | None = None

    @property
    def name(self) -> str:
        """The name of the model, with the view in parentheses unless it wrote its answers."""
        return self.model if self.view in (None, "generate") else f"{self.model} ({self.view})"


def prompt_hash(prompt_text: str) -> str:
    """Return the first `HASH` hex digits of a prompt's sha256."""
    return text_sha256(prompt_text)[:HASH]


def prompt_hash_sql(prompt: str) -> str:
    """Return SQL for the `prompt_hash` of a column of prompts."""
    return f"left(sha256({prompt}), {HASH})"


def about_path(path: Path) -> Path:
    """Return the path of the file that describes a file of predictions."""
    plain_path = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    return plain_path.with_suffix(".json")


def read_about(path: Path) -> PredictionsAbout | None:
    """Read the description beside a file of predictions; return None if there is none.

    `UserError`: the description is broken.
    """
    file = about_path(path)
    if file == path or path.is_dir() or path.suffix == ".eval" or not file.is_file():
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


def prediction_files(path: Path) -> list[Path]:
    """The files of predictions that a path names: itself, or the logs of harnesses in a folder."""
    if not path.is_dir():
        return [path]
    log_files = [file for file in path.rglob("*") if _is_log(file.name)]
    hint = "lm-eval's samples_*.jsonl (--log_samples) and Inspect's *.eval are read"
    if not log_files:
        raise UserError("no log of a harness in this folder", where=path, hint=hint)
    return find_files(log_files, _is_log, "log", hint)


def _is_log(name: str) -> bool:
    return name.endswith(".eval") or harness_logs.is_samples(name)


def is_answer_map(path: Path) -> bool:
    """Whether a file is read as one object of answers by id, as any object without an id is."""
    if path.is_dir() or _kind(path) != "document":
        return False
    document = _document(path)
    return isinstance(document, dict) and not _is_row(document)


def predictions_sha256(path: Path) -> str:
    """The sha256 of a file of predictions; of a folder, that of the sums of its files."""
    file_sums = [file_sha256(file) for file in prediction_files(path)]
    return file_sums[0] if not path.is_dir() else text_sha256("\n".join(file_sums))


def model_of_logs(path: Path) -> str | None:
    """The model whose answers the logs of a harness have; None where they do not say it."""
    file = prediction_files(path)[0]
    kind = _kind(file)
    if kind == "zip":
        return harness_logs.archive_model(file)
    if kind == "document" and isinstance(log := _document(file), harness_logs.InspectLog):
        return log.eval.model or None
    return harness_logs.lm_eval_model(file)


def read_predictions(path: Path, task_places: TaskPlaces | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the predictions of a file in batches of `SCHEMA`, in bounded memory.

    `UserError` with file and line: a line that is no prediction or is longer than `LONGEST_ROW`, a
    row with no answer or several kinds, a number that is not finite; a damaged or empty file.
    """
    row_flow = numbered_rows(path, task_places)
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


def numbered_rows(
    path: Path, task_places: TaskPlaces | None = None
) -> Iterator[tuple[int, Prediction]]:
    """Yield the predictions of a file, each with the number of its line or row, from 1.

    `task_places` says which config and split the tasks of lm-eval ask. `UserError`: as
    `read_predictions` raises it.
    """
    for file in prediction_files(path):
        kind = _kind(file)
        if kind == "lines":
            yield from _line_rows(file, task_places or {})
            continue
        for number, fields in _READERS[kind](file):
            yield number, _prediction(fields, file, number, task_places or {})


def _kind(path: Path) -> str:
    """How a file holds its predictions, by its first bytes: a key of `_READERS`, or `lines`."""
    try:
        with path.open("rb") as raw_file:
            first_bytes = raw_file.read(4)
    except OSError as error:
        raise UserError.of_disk(error, path) from error
    for magic, kind in ((b"PAR1", "parquet"), (b"PK\x03\x04", "zip"), (b"\xd0\xcf\x11\xe0", "csv")):
        if first_bytes == magic:
            return kind
    if is_table(path):
        return "csv"
    with Compressed(path, hint="write it again") as file:
        head = file.read(LONGEST_ROW)
    head_text = without_mark(head, path).lstrip()
    if head_text.startswith(b"["):
        return "list"
    return _kind_of_objects(head_text)


def _kind_of_objects(head_text: bytes) -> str:
    """Whether a text of JSON objects has one a line, or is a single one: `lines` or `document`."""
    first_line, _, rest = head_text.partition(b"\n")
    if not head_text or _FIRST_ROW.match(head_text) or rest.lstrip().startswith(b"{"):
        return "lines"
    try:
        record = decode_record(first_line)
    except BadValueError as error:
        # an object over many lines begins with a brace or with a name alone
        is_open = error.fault == "bad_json" and not first_line.rstrip().endswith(b"}")
        return "document" if is_open else "lines"
    is_row = not record or "id" in record or harness_logs.is_lm_eval(record)
    is_row = is_row or _is_hypothesis(record)
    return "lines" if is_row else "document"


def _line_rows(path: Path, task_places: TaskPlaces) -> Iterator[tuple[int, Prediction]]:
    json_decoder = msgspec.json.Decoder(Prediction)
    filter_name = None
    for first_number, block in line_blocks(path, LONGEST_ROW, "write it again"):
        if (block_rows := _block_rows(block, json_decoder)) is not None:
            for line_number, row in enumerate(block_rows, first_number):
                yield line_number, _checked(row, path, line_number)
            continue
        for line_number, file_line in lines_of_block(block, first_number, LONGEST_ROW, path):
            try:
                row = json_decoder.decode(file_line)
            except _UNDECODED:
                try:
                    fields = decode_record(file_line)
                except BadValueError as error:
                    raise _no_prediction(str(error), path, line_number) from None
                if harness_logs.is_lm_eval(fields):
                    filter_name = _same_filter(fields, filter_name, path, line_number)
                row = _prediction(fields, path, line_number, task_places)
            yield line_number, _checked(row, path, line_number)


def _block_rows(
    block: bytes, json_decoder: msgspec.json.Decoder[Prediction]
) -> list[Prediction] | None:
    """The predictions of a block of lines, decoded at once; None where lines have to be looked at.

    Each line is then one object: all begin and end with a brace, an object never goes on with a
    brace after one, and there are as many objects as lines.
    """
    line_count = block.count(b"\n")
    is_plain = block.startswith(b"{") and block.endswith(b"}\n") and len(block) <= LONGEST_ROW
    if not is_plain or block.count(b"}\n{") != line_count - 1:
        return None
    try:
        rows = json_decoder.decode_lines(block)
    except _UNDECODED:
        return None
    return rows if len(rows) == line_count else None


def _same_filter(fields: Fields, filter_name: str | None, path: Path, line_number: int) -> str:
    """The filter of a sample; `UserError` where the samples before have another one."""
    own_name = str(fields.get("filter", "none"))
    if filter_name not in (None, own_name):
        text = f"answers under two filters, {filter_name} and {own_name}"
        hint = "keep the lines of one of them: each row has one answer"
        raise UserError(text, where=display_path(path), line=line_number, hint=hint)
    return own_name


def _document(path: Path) -> harness_logs.InspectLog | dict[str, Any]:
    """A JSON object that is read whole: a log of Inspect, or answers by id."""
    document_bytes = _whole(path)
    try:
        document = msgspec.json.decode(document_bytes, type=dict[str, msgspec.Raw])
    except _UNDECODED:
        document = {}
    if "lm_eval_version" in document or {"results", "configs"} <= document.keys():
        hint = "give samples_*.jsonl, which lm-eval writes with --log_samples"
        raise UserError(
            "these are scores of lm-eval, not answers", where=display_path(path), hint=hint
        )
    if {"eval", "version"} <= document.keys():
        try:
            return msgspec.json.decode(document_bytes, type=harness_logs.InspectLog)
        except _UNDECODED as error:
            raise _no_prediction(str(error), path, None) from None
    try:
        return decode_record(document_bytes)
    except BadValueError as error:
        raise _no_prediction(str(error), path, None) from None


def _whole(path: Path) -> bytes:
    document_bytes = bytearray()
    with Compressed(path, hint="write it again") as file:
        while file_piece := file.read(1 << 20):
            document_bytes += file_piece
            if len(document_bytes) > LARGEST_DOCUMENT:
                text = f"a JSON file of more than {LARGEST_DOCUMENT:,} bytes, which is read whole"
                hint = (
                    "write it as JSON lines; Inspect converts logs: inspect log convert --to eval"
                )
                raise UserError(text, where=display_path(path), hint=hint)
    return without_mark(bytes(document_bytes), path)


def _document_rows(path: Path) -> Iterator[tuple[int, Fields]]:
    document = _document(path)
    if isinstance(document, harness_logs.InspectLog):
        yield from harness_logs.inspect_fields(document, path)
        return
    if _is_row(document):
        yield 1, document
        return
    for number, (row_id, answer) in enumerate(document.items(), 1):
        field_name = "candidates" if isinstance(answer, list) else "prediction"
        field_name = "scores" if isinstance(answer, dict) else field_name
        yield number, {"id": row_id, field_name: answer}


def _is_row(document: Fields) -> bool:
    """Whether an object is one prediction, and not answers by id."""
    return "id" in document and not document.keys().isdisjoint(_ANSWERS)


def _list_rows(path: Path) -> Iterator[tuple[int, Fields]]:
    try:
        rows = msgspec.json.decode(_whole(path), type=list[msgspec.Raw])
    except _UNDECODED as error:
        raise _no_prediction(str(error), path, None) from None
    for number, row in enumerate(rows, 1):
        try:
            yield number, decode_record(bytes(row))
        except BadValueError as error:
            raise _no_prediction(str(error), path, number) from None


def _table_fields(path: Path) -> Iterator[tuple[int, Fields]]:
    for entry in table_rows(path):
        if isinstance(entry, BrokenEntry):
            text = f"{entry.reason}: {entry.detail}".rstrip(": ")
            raise UserError(text, where=display_path(path), line=entry.line, hint=_TABLE_HINT)
        cells = {name.lower(): cell for name, cell in entry.value.items()}
        if "id" not in cells or "prediction" not in cells:
            text = f"no column id, or none prediction; it has {', '.join(entry.value)[:200]}"
            raise UserError(text, where=display_path(path), line=1, hint=_TABLE_HINT)
        own_cells = {name: cells[name] for name in _TABLE_COLUMNS if cells.get(name)}
        yield entry.line, {"prediction": None, **own_cells}


def _no_prediction(message: str, path: Path, line: int | None) -> UserError:
    text = f"no prediction: {message.replace(chr(10), ' ')}"
    return UserError(text, where=display_path(path), line=line, hint=FORM_HINT)


def _prediction(
    fields: Fields, path: Path, line_number: int, task_places: TaskPlaces
) -> Prediction:
    """A prediction from fields whose values have any type that can be read."""
    try:
        if harness_logs.is_lm_eval(fields):
            fields = harness_logs.lm_eval_fields(fields, path, task_places)
        elif _is_hypothesis(fields):
            question_id = text_value(fields["question_id"]) or ""
            # LongMemEval marks questions that nothing answers by the end of their id
            row_id = question_id.removesuffix(UNANSWERED)
            fields = {"id": row_id, "prediction": fields["hypothesis"]}
        row = msgspec.convert(_typed(fields), Prediction)
    except (BadValueError, msgspec.ValidationError) as error:
        raise _no_prediction(str(error), path, line_number) from None
    return _checked(row, path, line_number)


def _is_hypothesis(fields: Fields) -> bool:
    """Whether a row is an answer as LongMemEval's evaluation takes them."""
    return "id" not in fields and {"question_id", "hypothesis"} <= fields.keys()


def _typed(fields: Fields) -> Fields:
    """The fields of a prediction with texts as texts; those that are missing are left out."""
    typed_fields: Fields = {}
    for name in Prediction.__struct_fields__:
        value = fields.get(name)
        try:
            if name in _TABLE_COLUMNS:
                value = text_value(value)
            elif name in ("candidates", "evidence") and isinstance(value, list):
                value = [text_value(inner) or "" for inner in value]
        except BadValueError as error:
            raise BadValueError(error.fault, f"{name}: {error}") from None
        if value is not None or (name == "prediction" and name in fields):
            typed_fields[name] = value
    return typed_fields


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
    columns = [_column(field_columns[name], SCHEMA.field(name).type) for name in field_columns]
    columns.append(flag_array([score_map is not None for score_map in score_maps]))
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _column(values: Sequence[Any], arrow_type: pa.DataType) -> pa.Array:
    if values.count(None) == len(values):
        return pa.nulls(len(values), arrow_type)
    return text_array(values) if arrow_type == pa.string() else pa.array(values, arrow_type)


def _checked(row: Prediction, path: Path, line_number: int) -> Prediction:
    """Return the row.

    Raises `UserError` if it has no answer or several, or a score that is not finite.
    """
    if (  # as nearly all rows are: an answer as text, and nothing else
        row.prediction is not UNSET
        and row.candidates is None
        and row.scores is None
        and row.choice_scores is None
    ):
        return row
    kind_count = (row.prediction is not UNSET) + (row.candidates is not None)
    kind_count += (row.scores is not None) + (row.choice_scores is not None)
    score_numbers = row.choice_scores or (row.scores or {}).values()
    if kind_count == 1 and all(map(math.isfinite, score_numbers)):
        return row
    error_texts = {0: "no answer", 1: "a score that is not a finite number"}
    error_text = error_texts.get(kind_count, "more than one kind of answer")
    raise UserError(error_text, where=display_path(path), line=line_number, hint=FORM_HINT)


def _ranked(score_by_answer: dict[str, float]) -> list[str]:
    """Answers by log-likelihood, the best first; equal ones by their text."""
    return sorted(
        score_by_answer, key=lambda answer_text: (-score_by_answer[answer_text], answer_text)
    )


def _parquet_rows(path: Path) -> Iterator[tuple[int, Fields]]:
    """Yield the rows of a Parquet file with their numbers, from 1; null values are left out.

    A row with null values alone is a prediction that gives no answer. Scores are a map, or a struct
    that has a field for the answers of every row.
    """
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
            row_number = 0
            for row_batch in bounded_batches(file, path, _ROWS, wanted_columns):
                for row in plain_rows(row_batch):
                    row_number += 1
                    fields = {name: value for name, value in row.items() if value is not None}
                    if "scores" in fields:
                        fields["scores"] = _present_scores(fields["scores"])
                    is_silent = fields.keys().isdisjoint(_ANSWERS)
                    yield row_number, fields | ({"prediction": None} if is_silent else {})
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        error_text = str(error).split("\n")[0]
        raise UserError(f"no predictions: {error_text}", where=display_path(path)) from error


def _present_scores(scores: Any) -> dict[str, Any]:
    """The scores of a map or a struct, without the answers of other rows."""
    return {answer: score for answer, score in dict(scores).items() if score is not None}


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Fields]]]] = {
    "parquet": _parquet_rows,
    "zip": harness_logs.archive_fields,
    "csv": _table_fields,
    "list": _list_rows,
    "document": _document_rows,
}
"""The readers of the kinds of files that are no JSON lines."""
