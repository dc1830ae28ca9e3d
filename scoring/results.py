"""Results that can be shared: a folder a model, whose figures anybody can compute again.

`answers.jsonl` has the raw answers. `results.json` says which release was asked, how, and what the
answers score. A folder may come from anybody: nothing in it is believed before `check_results` has
scored its answers again.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from pydantic import Field, JsonValue, ValidationError

import factdrift
from factdrift.builders.core.config import Strict, display_path
from factdrift.builders.core.dataset import Sha256
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing
from factdrift.builders.core.limits import LARGEST_SHARED_FILE
from factdrift.builders.core.names import Name
from factdrift.builders.release.manifest import load_manifest
from factdrift.scoring.predictions import about_path, numbered_rows, write_predictions
from factdrift.scoring.sampling import ChosenSplit
from factdrift.scoring.score import (
    TIMES,
    Mean,
    ScoreOptions,
    Scores,
    folder_name,
    score_predictions,
)

FILE, ANSWERS = "results.json", "answers.jsonl"
# codes that a terminal obeys, and marks that reorder text: `\x1b[2J` and `\u202e`, but not `é` or a
# line end
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# keys of services by their prefix: `sk-` and 16 characters or more, but not `sk-learn`
_SECRET = re.compile(r"\b(?:(?:sk|hf|gh[a-z]|pypi|xox[a-z])[-_]|AKIA|Bearer )[\w-]{16,}")
# addresses of servers and people: `http://host`, `a@b.org` and `10.0.0.1`, but not `p@1` or `1.5`
_ADDRESS = re.compile(r"\w://|\blocalhost\b|[\w.+-]@[\w-]+\.\w|\b\d{1,3}(?:\.\d{1,3}){3}\b")
# paths of a machine: `/home/me`, `~/m` and `C:\m`, but not `acme/m-1`
_PATH = re.compile(r"(?:^|[\s=:\"'])(?:~|\.{0,2})[/\\]+\w|\b[A-Za-z]:\\")
# What a file beside predictions says that has a field of its own.
_ELSEWHERE = ("model", "dataset", "version", "code_version")


class SharedResults(Strict):
    """The content of a `results.json`.

    `rows_sha256` is the checksum of the release's rows (see the function of that name). `asked` are
    the settings of the run, as `run-model` wrote them beside its predictions. `table` has the
    overall means of each config, and the means by period of all configs together.
    """

    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w .,/+()-]{0,99}$")]
    dataset: Name
    version: str
    rows_sha256: Sha256
    code_version: str
    asked: Mapping[str, JsonValue]
    configs: tuple[Name, ...] | None
    cutoff: date | None
    partial: bool
    knowledge: Mapping[str, str | int] | None
    table: tuple[Mean, ...]

    @property
    def name(self) -> str:
        """The model and the release, as a path."""
        return f"{self.dataset}-{self.version}/{folder_name(self.model)}"


def rows_sha256(release_folder: Path) -> str:
    """A fingerprint of what a release asks: of config, split, id, prompt and accepted answers of
    every row, in the order of the release. Files of another Parquet library have the same."""
    rows_digest = sha256()
    for config in load_manifest(release_folder).configs:
        for split in config.splits:
            if config.roles is None:
                continue
            chosen_split = ChosenSplit(config.name, config.roles, split)
            identity_columns = ["id", chosen_split.columns.prompt, chosen_split.columns.targets]
            for release_row in chosen_split.rows(release_folder, identity_columns):
                row_identity = [
                    config.name,
                    split.name,
                    *(release_row[column_name] for column_name in identity_columns),
                ]
                rows_digest.update(json.dumps(row_identity, ensure_ascii=False).encode() + b"\n")
    return rows_digest.hexdigest()


def share_results(score_options: ScoreOptions, scores: Scores, target_folder: Path) -> Path:
    """Write predictions that were scored as a folder of results below `target_folder`; that folder.

    The address of a server and fields of a prediction that nobody reads are left out.
    `UserError`: what is left has a key, a path or an address in it.
    """
    description: Any = {}
    if (file := about_path(score_options.file)).is_file() and file != score_options.file:
        description = json.loads(file.read_bytes())
    how_asked = {
        field_name: value
        for field_name, value in description.items()
        if field_name not in _ELSEWHERE
    }
    if isinstance(how_asked.get("settings"), dict):
        how_asked["settings"].pop("base_url", None)
    results = _results(score_options, scores, how_asked, str(description.get("code_version", "")))
    folder = target_folder / results.name
    prediction_rows = []
    for line_number, prediction_row in numbered_rows(score_options.file):
        _refuse(msgspec.to_builtins(prediction_row), score_options.file, line_number)
        prediction_rows.append(prediction_row)
    _refuse(_as_data(results), file, an_address=_ADDRESS, a_path=_PATH)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_predictions(folder / ANSWERS, prediction_rows)
        with replacing(folder / FILE) as path:
            path.write_text(_text(results), encoding="utf-8")
    return folder


def _results(
    score_options: ScoreOptions,
    scores: Scores,
    how_asked: Mapping[str, JsonValue],
    code_version: str,
) -> SharedResults:
    if unknown_count := scores.summary["counts"]["unknown"]:
        raise UserError(
            f"{unknown_count:,} answers are of unknown rows", where=display_path(score_options.file)
        )
    time_strata = [
        stratum for stratum in TIMES if any(mean.stratum == stratum for mean in scores.table)
    ][:1]
    try:
        return SharedResults(
            model=scores.name,
            dataset=scores.summary["dataset"],
            version=scores.summary["version"],
            rows_sha256=rows_sha256(score_options.release),
            code_version=code_version or factdrift.__version__,
            asked=how_asked,
            configs=score_options.configs,
            cutoff=score_options.cutoff,
            partial=score_options.partial,
            knowledge=scores.summary["knowledge"],
            table=tuple(
                mean
                for mean in scores.table
                if mean.split is None
                and (
                    mean.stratum == "all"
                    or (mean.config, mean.stratum) == (scores.whole, *time_strata)
                )
            ),
        )
    except ValidationError as error:
        raise UserError(_first(error), where=display_path(score_options.file)) from None


def _text(results: SharedResults) -> str:
    """`results.json`: a mean a line, for who reads a difference."""
    table_value = results.model_dump(mode="json")
    mean_table = table_value.pop("table")
    table_rows = ",\n".join(
        f"    {json.dumps(table_row, ensure_ascii=False)}" for table_row in mean_table
    )
    head_text = json.dumps(table_value, indent=2, sort_keys=True, ensure_ascii=False)
    return f'{head_text.removesuffix("}").rstrip()},\n  "table": [\n{table_rows}\n  ]\n}}\n'


def check_results(folder: Path, release_folder: Path) -> SharedResults:
    """Score the answers in a folder of shared results again, and return the results.

    Raises `UserError` if the folder holds other files or answers to unknown rows; if a text in it
    has a secret key, path, address or control character; if the results are of another release, or
    of this version with other rows; or if its figures are not those that the answers give.
    """
    results = read_results(folder)
    manifest = load_manifest(release_folder)
    their_release, our_release = (
        (described.dataset, described.version) for described in (results, manifest)
    )
    if their_release != our_release:
        text = f"these results are of {' '.join(their_release)}, "
        text += f"and the release is {' '.join(our_release)}"
        raise UserError(text, where=display_path(folder / FILE))
    if rows_sha256(release_folder) != results.rows_sha256:
        raise UserError(
            f"made on other rows than this {' '.join(our_release)} has (rows_sha256)",
            where=display_path(folder / FILE),
            hint="build the release from the same inputs, or ask the model again",
        )
    with TemporaryDirectory() as scratch_folder:
        score_options = ScoreOptions(
            release=release_folder,
            file=folder / ANSWERS,
            out=Path(scratch_folder),
            configs=results.configs,
            cutoff=results.cutoff,
            model=results.model,
            partial=results.partial,
            say=lambda _: None,
        )
        recomputed_results = _results(
            score_options, score_predictions(score_options), results.asked, results.code_version
        )
    for field_name in SharedResults.model_fields:
        if (claimed_value := getattr(results, field_name)) != (
            recomputed_value := getattr(recomputed_results, field_name)
        ):
            if field_name == "table":
                claimed_value, recomputed_value = next(
                    (
                        (claimed_mean, recomputed_mean)
                        for claimed_mean, recomputed_mean in zip(
                            claimed_value, recomputed_value, strict=False
                        )
                        if claimed_mean != recomputed_mean
                    ),
                    (f"{len(claimed_value)} means", f"{len(recomputed_value)} means"),
                )
            text = f"{field_name}: the answers give {recomputed_value}, and not {claimed_value}"
            raise UserError(text, where=display_path(folder / FILE))
    return results


def known_until(results: SharedResults) -> str | None:
    """The last period whose changes the model knows; of a guess, which knows nothing, None."""
    # whatever a guess's answers look like
    if results.asked.get("guess") or not results.knowledge:
        return None
    return str(results.knowledge["last_known"])


def read_results(folder: Path) -> SharedResults:
    """Read the results of a folder and check their form; `UserError` as of `check_results`."""
    try:
        file_names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UserError.of_disk(error, folder) from error
    if file_names != [ANSWERS, FILE]:
        folder_rule = f"a folder of results has {ANSWERS} and {FILE} alone"
        raise UserError(
            f"{folder_rule}; here are {', '.join(file_names) or 'no files'}",
            where=display_path(folder),
        )
    for path in (folder / ANSWERS, folder / FILE):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_SHARED_FILE:
            raise UserError(
                f"not a file of at most {LARGEST_SHARED_FILE:,} bytes", where=display_path(path)
            )
    try:
        results = SharedResults.model_validate_json((folder / FILE).read_bytes())
    except ValidationError as error:
        raise UserError(_first(error), where=display_path(folder / FILE)) from None
    _refuse(_as_data(results), folder / FILE, an_address=_ADDRESS, a_path=_PATH)
    json_encoder = msgspec.json.Encoder()
    with (folder / ANSWERS).open("rb") as answer_lines:
        for line_number, prediction_row in numbered_rows(folder / ANSWERS):
            _refuse(msgspec.to_builtins(prediction_row), folder / ANSWERS, line_number)
            if next(answer_lines, b"").rstrip(b"\n") != json_encoder.encode(prediction_row):
                error_text = (
                    "not as `score --share` writes it: other fields, spaces or an empty line"
                )
                raise UserError(error_text, where=display_path(folder / ANSWERS), line=line_number)
    return results


def _as_data(results: SharedResults) -> object:
    """All of `results.json` but hashes."""
    return results.model_dump(mode="json", exclude={"rows_sha256"})


def _refuse(
    value: object, file: Path, line: int | None = None, **further_patterns: re.Pattern[str]
) -> None:
    """Raise `UserError` if a text of plain data, or the name of a field, must not be shared."""
    for shared_text in _texts(value):
        for refused_kind, pattern in {
            "a_control_character": _CONTROL,
            "a_key": _SECRET,
            **further_patterns,
        }.items():
            if pattern.search(shared_text):
                raise UserError(
                    f"{refused_kind.replace('_', ' ')} is in {shared_text[:60]!r}",
                    where=display_path(file),
                    line=line,
                    hint="what is shared has no keys, paths, addresses or codes of a terminal",
                )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key_name, inner in value.items():
            yield from (*_texts(key_name), *_texts(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _first(error: ValidationError) -> str:
    first_error = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first_error['loc'])) or 'the file'}: {first_error['msg']}"
