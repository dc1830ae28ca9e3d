"""Answers in the logs of evaluation harnesses, as the fields of predictions.

lm-eval writes `samples_TASK_TIME.jsonl` with `--log_samples`: a line a row of the release, which is
in `doc`. Inspect writes one file a run: `.eval`, a zip archive with a JSON file for each sample, or
the same as one `.json`.
"""

import io
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LARGEST_LOG_INDEX, LONGEST_SAMPLE
from factdrift.builders.core.records import BadValueError, text_value

Fields = dict[str, Any]
"""The fields of a prediction, as a line of JSON has them."""
TaskPlaces = Mapping[str, tuple[str, str]]
"""Names of lm-eval's tasks -> config and split that they ask."""
# `samples_sample-new-2021_2026-11-27T07-14-05.648090.jsonl` is of the task `sample-new-2021`
_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
# what a long text is replaced by; its words are elsewhere in the sample
_ATTACHMENT = "attachment://"
_ZSTD = 93
"""How Inspect packs its files, as the standard of zip counts; Python 3.13 cannot unpack it."""
_ENCRYPTED = 1
"""The bit of a packed file's flags that says so."""
_LOCAL_HEADER = 30
"""Bytes before the name of a packed file; the last four say how long name and extra field are."""


# --- lm-eval --------------------------------------------------------------------------------------


def is_samples(name: str) -> bool:
    """Whether lm-eval gives this name to a file of samples."""
    return _SAMPLES.fullmatch(name) is not None


def is_lm_eval(record: Mapping[str, Any]) -> bool:
    """Whether a record is a sample of lm-eval."""
    return isinstance(record.get("doc"), dict) and ("resps" in record or "filtered_resps" in record)


def lm_eval_fields(record: Mapping[str, Any], path: Path, task_places: TaskPlaces) -> Fields:
    """The fields of a prediction from a sample of lm-eval; `BadValueError` where it has none."""
    row_id = text_value(record["doc"].get("id"))
    if row_id is None:
        raise BadValueError("bad_value", "`doc` has no id: is it a sample of a release's task?")
    fields: Fields = {"id": row_id}
    if (samples_match := _SAMPLES.fullmatch(path.name)) and samples_match[1] in task_places:
        fields["config"], fields["split"] = task_places[samples_match[1]]
    responses = record.get("filtered_resps")
    if responses is None:
        responses = [response[0] for response in record["resps"] if response]
    if not isinstance(responses, list) or not responses:
        raise BadValueError("bad_value", "no response in `filtered_resps`")
    if isinstance(responses[0], list):
        return fields | {"choice_scores": [_likelihood(response) for response in responses]}
    return fields | {"prediction": text_value(responses[0])}


def _likelihood(response: Any) -> float:
    """The log-likelihood of a choice, which lm-eval writes beside whether it is the likeliest."""
    try:
        return float(response[0])
    except (TypeError, ValueError, LookupError):
        raise BadValueError("bad_value", "a response that is no text and no likelihood") from None


class _ResultsFile(msgspec.Struct):
    model_name: str = ""


def lm_eval_model(path: Path) -> str | None:
    """The model whose samples a file has, as the results beside it say."""
    samples_match = _SAMPLES.fullmatch(path.name)
    if samples_match is None:
        return None
    try:
        results_bytes = path.with_name(f"results_{samples_match[2]}.json").read_bytes()
        return msgspec.json.decode(results_bytes, type=_ResultsFile).model_name or None
    except (OSError, msgspec.DecodeError):
        return None


# --- Inspect --------------------------------------------------------------------------------------


class _Output(msgspec.Struct):
    completion: str = ""
    choices: list[Any] = []


class _Sample(msgspec.Struct):
    id: str | int
    output: _Output | None = None
    error: Any = None
    attachments: dict[str, str] = {}


class _Eval(msgspec.Struct):
    model: str = ""
    task_args: dict[str, Any] = {}


class InspectLog(msgspec.Struct):
    """A log of Inspect: what was asked, and its samples."""

    eval: _Eval
    samples: list[msgspec.Raw] | None = None


def inspect_fields(log: InspectLog, path: Path) -> Iterator[tuple[int, Fields]]:
    """The fields of each sample of a log that was read whole, with its number from 1."""
    for number, sample in enumerate(log.samples or (), 1):
        if fields := _sample_fields(bytes(sample), log.eval, path, number):
            yield number, fields


def archive_fields(path: Path) -> Iterator[tuple[int, Fields]]:
    """The fields of each sample of a `.eval` file, with its number from 1.

    Samples in which the model failed are left out. `UserError`: no log of Inspect, or a damaged
    one.
    """
    with _open_archive(path) as archive:
        log_head = _archive_head(archive, path)
        sample_files = [info for info in archive.infolist() if info.filename.startswith("samples/")]
        for number, info in enumerate(sample_files, 1):
            sample = _unpacked(archive, info, path)
            if fields := _sample_fields(sample, log_head, path, number):
                yield number, fields


def archive_model(path: Path) -> str | None:
    """The model whose answers a `.eval` file has."""
    with _open_archive(path) as archive:
        return _archive_head(archive, path).model or None


class _BoundedFile(io.FileIO):
    """A file of which no more than the largest list of samples is read at once.

    `zipfile` reads the list of an archive's files with one call when it opens the archive.
    """

    largest_read = LARGEST_LOG_INDEX

    def read(self, size: int | None = -1, /) -> Any:
        """The next bytes; `UserError` where there are too many."""
        if size is not None and size > self.largest_read:
            error_text = f"a log with a list of more than {self.largest_read:,} bytes of samples"
            hint_text = "write several logs, and give their folder"
            raise UserError(error_text, where=display_path(Path(str(self.name))), hint=hint_text)
        return super().read(size)


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with _open_file(path) as file, _opened(file, path) as archive:
        file.largest_read = sys.maxsize  # the samples have a limit of their own
        yield archive


def _open_file(path: Path) -> _BoundedFile:
    try:
        return _BoundedFile(path)
    except OSError as error:
        raise UserError.of_disk(error, path) from None


def _opened(file: _BoundedFile, path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        hint_text = "is the run that writes it still going?"
        error_text = f"this is a zip archive, but no whole log of Inspect ({error})"
        raise UserError(error_text, where=display_path(path), hint=hint_text) from None


def _archive_head(archive: zipfile.ZipFile, path: Path) -> _Eval:
    """What was asked; a run that was stopped has it only as it was at the start."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.namelist():
            log_bytes = _unpacked(archive, archive.getinfo(name), path)
            log: InspectLog = _decoded(log_bytes, InspectLog, path)
            return log.eval
    text = "a zip archive that is no log of Inspect"
    names = ", ".join(archive.namelist()[:3])
    if "[Content_Types].xml" in names or "xl/" in names:
        text = "a workbook of a spreadsheet"
    raise UserError(f"{text} ({names})", where=display_path(path), hint="save it as CSV UTF-8")


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    """The bytes of a file in an archive; `UserError` for a damaged or too large one."""
    if info.flag_bits & _ENCRYPTED:
        error_text = f"{info.filename} in it is encrypted, which no log of Inspect is"
        raise UserError(error_text, where=display_path(path))
    try:
        if info.compress_type == _ZSTD:
            unpacked_bytes = _zstd_bytes(path, info)
        else:
            with archive.open(info) as file:
                unpacked_bytes = file.read(LONGEST_SAMPLE + 1)
    except (zipfile.BadZipFile, zlib.error, zstandard.ZstdError, NotImplementedError, OSError) as e:
        error_text = f"{info.filename} in it is damaged ({e})"
        raise UserError(error_text, where=display_path(path)) from None
    if len(unpacked_bytes) > LONGEST_SAMPLE:
        error_text = f"{info.filename} in it has more than {LONGEST_SAMPLE:,} bytes"
        raise UserError(error_text, where=display_path(path))
    return unpacked_bytes


def _zstd_bytes(path: Path, info: zipfile.ZipInfo) -> bytes:
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        name_size, extra_size = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        file.seek(name_size + extra_size, 1)
        packed_bytes = file.read(min(info.compress_size, LONGEST_SAMPLE))
    with zstandard.ZstdDecompressor().stream_reader(packed_bytes) as reader:
        unpacked_bytes = reader.read(LONGEST_SAMPLE + 1)
    if len(unpacked_bytes) <= LONGEST_SAMPLE and zlib.crc32(unpacked_bytes) != info.CRC:
        raise zipfile.BadZipFile("a wrong checksum")
    return unpacked_bytes


def _sample_fields(sample_bytes: bytes, asked: _Eval, path: Path, number: int) -> Fields | None:
    """The fields of a sample; None for one in which the model failed."""
    sample = _decoded(sample_bytes, _Sample, path, number)
    if sample.output is None or (sample.error is not None and not sample.output.choices):
        return None
    answer = sample.output.completion
    if answer.startswith(_ATTACHMENT):
        answer = sample.attachments.get(answer.removeprefix(_ATTACHMENT), answer)
    fields: Fields = {"id": str(sample.id), "prediction": answer}
    for name in ("config", "split"):
        if place_name := asked.task_args.get(name):
            fields[name] = str(place_name)
    return fields


def _decoded(json_bytes: bytes, kind: Any, path: Path, number: int | None = None) -> Any:
    try:
        return msgspec.json.decode(json_bytes, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        place = f"sample {number}: " if number else ""
        error_text = f"{place}not as Inspect writes it: {str(error)[:200] or 'nested too deeply'}"
        raise UserError(error_text, where=display_path(path)) from None
