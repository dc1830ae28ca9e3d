"""A submission: one worker's answers to one HIT, as any platform hands it in.

`submission_from_text` reads the JSON that the page makes (the package's docstring shows it). It
trusts nothing in it: wrong types, unknown or repeated keys, NaN and halves of surrogate pairs are
refused.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from factdrift.builders.core.dataset import Json as Json
from factdrift.builders.core.limits import LONGEST_ROW

SUBMISSION_FORMAT = "factdrift-submission/1"
_Text = Annotated[str, Meta(max_length=200)]
_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Seconds = Annotated[float, Meta(ge=0, lt=1e8)]
_Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class GivenConsent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker's consent, as the page hands it in: `{"text": "9f86…", "day": "2026-11-27"}`.

    `text` is the SHA-256 of what was agreed to (`annotation.people.consent_sha256`), which the page
    has from its settings; `day` is the day of the click, in UTC.
    """

    text: _Sha256
    day: _Day


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker's answers to one HIT; `worker`, `assignment` and `study` are the platform's ids.

    `received`: when a server took it, in ISO 8601, UTC; empty where none says so. `consent`: what
    the worker agreed to before the first item, where the layout asks for consent.
    `reading_seconds`: the time on consent, instructions and practice, which is paid time, too.
    `status`: what the platform says became of it, such as `Rejected`; a page cannot say that.
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
    consent: GivenConsent | None = None
    reading_seconds: _Seconds | None = None
    status: str = ""


@dataclass(frozen=True)
class Refused:
    """An entry that is not taken: a short reason, which is counted, and what was seen.

    `worker` is the hash of the worker's id, where an import knows it.
    """

    where: str
    line: int
    reason: str
    detail: str = ""
    worker: str = ""


def submission_from_text(json_text: str, where: str, line: int) -> Submission | Refused:
    if len(json_text) > LONGEST_ROW:
        return Refused(where, line, "too long", f"{len(json_text):,} characters")
    try:
        return submission_from_value(decode_json(json_text), where, line)
    except ValueError as error:
        return Refused(where, line, "not valid JSON", str(error)[:120])


def submission_from_value(
    json_value: object, where: str, line: int, **by_platform: str
) -> Submission | Refused:
    """A submission from decoded JSON; ids that the platform tells replace those that it names."""
    if not isinstance(json_value, dict) or json_value.get("format") != SUBMISSION_FORMAT:
        return Refused(where, line, "not a submission", f"no format {SUBMISSION_FORMAT}")
    from_outside = {"where": where, "line": line, "status": "", **by_platform}
    given_values = {
        field_name: field_value
        for field_name, field_value in json_value.items()
        if field_value is not None
    }
    try:
        return msgspec.convert(given_values | from_outside, Submission)
    except msgspec.ValidationError as error:
        return Refused(where, line, "not a submission", str(error)[:120])


def decode_json(json_text: str) -> Any:
    """Strict JSON; `ValueError` for a repeated key, NaN, half characters, too deep nesting."""
    try:
        json_text.encode()
        json_value = json.loads(json_text, object_pairs_hook=_unique_keys)
        json.dumps(json_value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair") from None
    return json_value


def _unique_keys(key_values: list[tuple[str, Any]]) -> dict[str, Any]:
    value_by_key = dict(key_values)
    if len(value_by_key) < len(key_values):
        key_counts = Counter(key_name for key_name, _ in key_values)
        repeated_key = key_counts.most_common(1)[0][0]
        raise ValueError(f"the key {repeated_key[:40]!r} is given twice")
    return value_by_key
