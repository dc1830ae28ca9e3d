"""A submission: one worker's answers to one HIT, as any platform hands it in.

`from_text` takes the JSON that the page makes (the package's docstring shows it) and trusts
nothing in it: wrong types, unknown or repeated keys, NaN and half characters are refused.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factdrift.builders.core.dataset import Json as Json

FORMAT = "factdrift-submission/1"
LONGEST = 4 << 20
"""Characters that one submission may have."""
_TEXTS = ("batch", "hit", "worker", "assignment", "study", "received")
_OPTIONAL = ("assignment", "study", "received")
_KEYS = {"format", *_TEXTS, "seconds", "answers", "item_seconds"}


@dataclass(frozen=True)
class Submission:
    """One worker's answers to one HIT; `worker`, `assignment` and `study` are the platform's ids.

    `received`: when a server took it, in ISO 8601, UTC; empty where none says so.
    `where` and `line` say where it was read. Nothing in it is checked against a batch yet.
    """

    where: str
    line: int
    batch: str
    hit: str
    worker: str
    assignment: str
    seconds: float | None
    answers: Mapping[str, Mapping[str, Json]]
    item_seconds: Mapping[str, float]
    study: str = ""
    received: str = ""


@dataclass(frozen=True)
class Refused:
    """An entry that is not taken: a short reason, which is counted, and what was seen."""

    where: str
    line: int
    reason: str
    detail: str = ""


def from_text(text: str, where: str, line: int) -> Submission | Refused:
    if len(text) > LONGEST:
        return Refused(where, line, "too long", f"{len(text):,} characters")
    try:
        return from_value(decode(text), where, line)
    except ValueError as error:
        return Refused(where, line, "not valid JSON", str(error)[:120])


def from_value(
    value: object,
    where: str,
    line: int,
    *,
    worker: str | None = None,
    assignment: str | None = None,
) -> Submission | Refused:
    """A submission from decoded JSON; `worker` and `assignment` replace those that it names."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return Refused(where, line, "not a submission", f"no format {FORMAT}")
    by_platform = {"worker": worker, "assignment": assignment}
    value = {**value, **{name: text for name, text in by_platform.items() if text is not None}}
    mistake = _mistake(value)
    if mistake:
        return Refused(where, line, "not a submission", mistake)
    return Submission(
        where=where,
        line=line,
        batch=value["batch"],
        hit=value["hit"],
        worker=value["worker"],
        assignment=value.get("assignment") or "",
        seconds=value.get("seconds"),
        answers=value["answers"],
        item_seconds=value.get("item_seconds") or {},
        study=value.get("study") or "",
        received=value.get("received") or "",
    )


def decode(text: str) -> Any:
    """Strict JSON; `ValueError` for a repeated key, NaN, half characters, too deep nesting."""
    try:
        text.encode()
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair") from None
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} is given twice")
    return found


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")


def _mistake(value: Mapping[str, Any]) -> str:
    unknown = sorted(value.keys() - _KEYS)
    if unknown:
        return f"unknown key {unknown[0][:40]!r}"
    for name in _TEXTS:
        if name not in _OPTIONAL and not value.get(name):
            return f"no {name}"
        if not isinstance(value.get(name) or "", str) or len(value.get(name) or "") > 200:
            return f"{name} is not a text of up to 200 characters"
    if value.get("seconds") is not None and not _is_seconds(value["seconds"]):
        return "seconds is not a number from 0"
    answers, times = value.get("answers"), value.get("item_seconds") or {}
    if not isinstance(answers, dict) or not all(isinstance(a, dict) for a in answers.values()):
        return "answers is not an object of objects"
    if not isinstance(times, dict) or not all(map(_is_seconds, times.values())):
        return "item_seconds is not an object of numbers from 0"
    return ""


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e8
