"""The results of one annotation of Label Studio as the answers that layouts have.

Offsets of Label Studio count code points (`rangeToGlobalOffset` of its editor). Older versions
counted UTF-16 units, of which an emoji has two (its issue 1347). Where the two differ, the text
that comes with a span tells.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any


class BadResultError(Exception):
    """Why an annotation cannot be taken: a short reason, and what was seen."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def answers(result: object, data: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    """The answers in `result`, read by what the task's `meta` says of them.

    Answers that are not asked, because an earlier one has changed since, are left out, as on our
    own pages. Nothing is checked against the layout yet.
    """
    spec = meta.get("answers")
    if not isinstance(result, list) or not _is_spec(spec):
        raise BadResultError("not an export of Label Studio", "no list of results")
    given: dict[str, list[Any]] = {}
    for one in result:
        name, value = _entry(one)
        given.setdefault(name, []).append(value)
    parts = meta.get("paragraphs")
    source = _Source(data, parts if isinstance(parts, dict) else {})
    found = _answers(spec, given, "", {}, source)  # type: ignore[arg-type]
    if given:
        raise BadResultError("unknown answer", f"{next(iter(given))[:40]!r} is not asked")
    return found


def _is_spec(spec: object) -> bool:
    """Whether this is what `label_studio_config.spec` makes."""
    return isinstance(spec, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("kind"), str)
        and isinstance(one.get("when", {}), dict)
        and all(isinstance(values, list) for values in one.get("when", {}).values())
        and isinstance(one.get("field", ""), str)
        and (one["kind"] != "group" or _is_spec(one.get("answers")))
        for one in spec
    )


def _entry(one: object) -> tuple[str, Any]:
    if not isinstance(one, dict) or not isinstance(one.get("from_name"), str):
        kind = one.get("type") if isinstance(one, dict) else None
        raise BadResultError("unknown result", f"of type {str(kind)[:40]!r}")
    if not isinstance(one.get("value"), dict):
        raise BadResultError("unknown result", f"{one['from_name'][:40]!r} has no value")
    return one["from_name"], one["value"]


class _Source:
    """The texts that spans are in."""

    def __init__(self, data: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
        self.data = data
        self.parts = parts

    def span(self, name: str, field: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """A span as layouts have it."""
        text = self.data.get(field)
        start, end = value.get("start"), value.get("end")
        if not isinstance(text, str) or not _is_place(start) or not _is_place(end):
            raise BadResultError("bad span", f"{name}: no text or no place in it")
        start, end = located(text, int(str(start)), int(str(end)), value.get("text"), name)
        if field not in self.parts:
            return {"start": start, "end": end, "text": text[start:end]}
        for number, (first, last) in enumerate(_pairs(self.parts[field])):
            if first <= start and end <= last:
                place = {"paragraph": number, "start": start - first, "end": end - first}
                return {**place, "text": text[start:end]}
        raise BadResultError("bad span", f"{name}: not within one paragraph")


def _is_place(value: object) -> bool:
    return not isinstance(value, bool) and re.fullmatch(r"\d{1,9}", str(value)) is not None


def _pairs(value: object) -> list[tuple[int, int]]:
    many = value if isinstance(value, list) else []
    good = [p for p in many if isinstance(p, list) and len(p) == 2]
    return [(a, b) for a, b in good if isinstance(a, int) and isinstance(b, int)]


def located(text: str, start: int, end: int, said: object, name: str = "span") -> tuple[int, int]:
    """Where a span is, in code points without the white space around it.

    `said`: its text, where the export has it; then it decides whether the offsets count code
    points or UTF-16 units. Without it they count code points.
    """
    places = [(start, end), (_points(text, start), _points(text, end))]
    for a, b in places:
        own = text[a:b]
        if said is not None and _plain(own) != _plain(str(said)):
            continue
        a += len(own) - len(own.lstrip())
        b -= len(own) - len(own.rstrip())
        if 0 <= a < b <= len(text):
            return a, b
    raise BadResultError("bad span", f"{name}: its text is not at its place")


def _points(text: str, units: int) -> int:
    """Code points before a place that is given in UTF-16 units."""
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))


def _plain(text: str) -> str:
    """A text as a browser shows it: white space of any kind is one space."""
    return " ".join(text.replace("\\n", " ").split())


def _answers(
    spec: Sequence[Mapping[str, Any]],
    given: dict[str, list[Any]],
    prefix: str,
    before: Mapping[str, Any],
    source: _Source,
) -> dict[str, Any]:
    """The answers of a scope, in order; takes them out of `given`."""
    found: dict[str, Any] = {}
    for one in spec:
        name = one["name"]
        values = given.pop(prefix + name, [])
        if one["kind"] == "group":
            value: Any = _group(one["answers"], given, f"{prefix}{name}-", before, source)
        else:
            value = _value(one, values, name, source)
        named = {**before, **found}
        asked = all(_holds(named.get(o), wanted) for o, wanted in one.get("when", {}).items())
        if asked and value not in (None, "", []):
            found[name] = value
    return found


def _group(
    spec: Sequence[Mapping[str, Any]],
    given: dict[str, list[Any]],
    prefix: str,
    before: Mapping[str, Any],
    source: _Source,
) -> list[dict[str, Any]]:
    """The entries of a group that are not empty, in order."""
    pattern = re.compile(re.escape(prefix) + r"(\d{1,3})-")
    numbers = {int(m[1]) for m in map(pattern.match, given) if m}
    made = [_answers(spec, given, f"{prefix}{n}-", before, source) for n in sorted(numbers)]
    return [one for one in made if one]


def _holds(value: object, wanted: Sequence[str]) -> bool:
    many = value if isinstance(value, list) else [value]
    return any((str(v).lower() if isinstance(v, bool) else v) in wanted for v in many)


def _value(one: Mapping[str, Any], values: Sequence[Any], name: str, source: _Source) -> Any:
    """The value of an answer from its results; None: none."""
    kind = one["kind"]
    if kind in ("span", "spans"):
        spans = [source.span(name, one.get("field", ""), value) for value in values]
        spans.sort(key=lambda s: (s.get("paragraph", 0), s["start"], s["end"]))
        if kind == "spans":
            return spans
        if len(spans) > 1:
            raise BadResultError("too many", f"{name}: {len(spans)} spans are marked")
        return spans[0] if spans else None
    key = "text" if kind == "text" else "choices"
    many = [text for value in values for text in _list(value.get(key), name)]
    if kind == "choices":
        return many
    if kind == "text":
        many = [text for text in map(str.strip, many) if text]
    if len(many) > 1:
        raise BadResultError("too many", f"{name}: {len(many)} values")
    if not many:
        return None
    if kind == "flag":
        return {"true": True, "false": False}.get(many[0], many[0])
    return many[0]


def _list(value: object, name: str) -> list[str]:
    many: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in many):
        raise BadResultError("unknown result", f"{name}: not a list of texts")
    return many
