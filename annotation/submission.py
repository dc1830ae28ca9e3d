"""A submission: one worker's answers to one HIT, as any platform hands it in.

`submission_from_text` reads the JSON that the page makes (the package's docstring shows it). It
trusts nothing in it: wrong types, unknown or repeated keys, NaN and halves of surrogate pairs are
refused.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from factdrift.builders.core.dataset import Json as Json

SUBMISSION_FORMAT = "factdrift-submission/1"
# Characters that one submission may have.
LONGEST = 4 << 20
_Text = Annotated[str, Meta(max_length=200)]
_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Seconds = Annotated[float, Meta(ge=0, lt=1e8)]


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker's answers to one HIT; `worker`, `assignment` and `study` are the platform's ids.

    `received`: when a server took it, in ISO 8601, UTC; empty where none says so.
    `where` and `line` say where it was read. Nothing in it is checked against a batch yet.
    """

    where: str
    line: int
    format: Literal["factdrift-submission/1"]
    batch: _Name
    hit: _Name
    worker: _Name
    answers: Mapping[str, Mapping[str, Any]]
    assignment: _Text = ""
    seconds: _Seconds | None = None
    item_seconds: Mapping[str, _Seconds] = {}
    study: _Text = ""
    received: _Text = ""


@dataclass(frozen=True)
class Refused:
    """An entry that is not taken: a short reason, which is counted, and what was seen."""

    where: str
    line: int
    reason: str
    detail: str = ""


def submission_from_text(text: str, where: str, line: int) -> Submission | Refused:
    if len(text) > LONGEST:
        return Refused(where, line, "too long", f"{len(text):,} characters")
    try:
        return submission_from_value(decode_json(text), where, line)
    except ValueError as error:
        return Refused(where, line, "not valid JSON", str(error)[:120])


def submission_from_value(
    json_value: object, where: str, line: int, **by_platform: str
) -> Submission | Refused:
    """A submission from decoded JSON; ids that the platform tells replace those that it names."""
    if not isinstance(json_value, dict) or json_value.get("format") != SUBMISSION_FORMAT:
        return Refused(where, line, "not a submission", f"no format {SUBMISSION_FORMAT}")
    places = {"where": where, "line": line}
    given_values = {
        name: field_value for name, field_value in json_value.items() if field_value is not None
    }
    try:
        return msgspec.convert(given_values | by_platform | places, Submission)
    except msgspec.ValidationError as error:
        return Refused(where, line, "not a submission", str(error)[:120])


def decode_json(text: str) -> Any:
    """Strict JSON; `ValueError` for a repeated key, NaN, half characters, too deep nesting."""
    try:
        text.encode()
        value = json.loads(text, object_pairs_hook=_unique_keys)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair") from None
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    decoded = dict(pairs)
    if len(decoded) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} is given twice")
    return decoded
