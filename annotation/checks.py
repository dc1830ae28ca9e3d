"""What an answer must be like; the same rules that the page applies as one types.

Lengths count Unicode code points of the trimmed text. "Case and spaces aside": lower case, runs
of white space one space. A *word* begins with a letter or digit and runs over letters, digits,
marks and apostrophes; it counts in lower case, without a final 's or apostrophe. A word *tells*
that begins with a capital or holds a digit. `tests/annotation_checks.json` is the table that both
sides are to be tested against.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.batch import Json
from annotation.layout import Answer, Check, Layout
from annotation.texts import (
    added,
    begins,
    folded,
    lost,
    lost_numbers,
    paragraphs,
    plain,
    stands_in,
    trimmed,
)


def problems(layout: Layout, fields: Mapping[str, Json], given: Mapping[str, Json]) -> list[str]:
    """What is wrong with the answers for one item, `name: what`; nothing: they are valid."""
    return list(_mapping(layout, layout.answers, fields, given, {}))


def text_problem(check: Check, text: str, named: Mapping[str, Json]) -> str | None:
    """What is wrong with a text; `named`: the fields and earlier answers that checks name."""
    return next((what for _, what in broken_rules(check, text, named)), None)


def broken_rules(check: Check, text: str, named: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Every rule of a check that a text breaks, by its name in layout.yaml, and what is wrong."""
    text = trimmed(text)
    if len(text) < check.min_length:
        yield "min_length", f"shorter than {check.min_length}"
    if len(text) > check.max_length:
        yield "max_length", f"longer than {check.max_length}"
    if check.starts_with and not any(begins(text, start) for start in check.starts_with):
        yield "starts_with", "does not start as it has to"
    if check.ends_with and not text.endswith(check.ends_with):
        yield "ends_with", f"does not end with {check.ends_with!r}"
    if check.contains and check.contains not in text:
        yield "contains", f"lacks {check.contains!r}"
    if check.contains_once and text.count(check.contains_once) != 1:
        yield "contains_once", f"does not hold {check.contains_once!r} once"
    if found := next((one for one in check.excludes if _holds_word(text, one)), None):
        yield "excludes", f"holds {found!r}"
    yield from _against(check, text, named)


def _holds_word(text: str, word: str) -> bool:
    """Whether a text holds what it must not: in any case, unless it is written with capitals."""
    return word in (text.lower() if word == word.lower() else text)


def _against(check: Check, text: str, named: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The checks that compare a text with another."""

    def other(name: str) -> str:
        return plain(named.get(name))

    if check.not_field and (same := folded(other(check.not_field))) and same in folded(text):
        yield "not_field", f"holds {check.not_field}"
    if check.has_field and folded(other(check.has_field)) not in folded(text):
        yield "has_field", f"lacks {check.has_field}"
    if check.words_from and (new := added(text, other(check.words_from))):
        yield "words_from", f"has words that {check.words_from} lacks: {new}"
    if check.keeps_words and (less := lost(text, other(check.keeps_words))):
        yield "keeps_words", f"lost words of {check.keeps_words}: {less}"
    if check.keeps_numbers and (less := lost_numbers(text, other(check.keeps_numbers))):
        yield "keeps_numbers", f"lost numbers of {check.keeps_numbers}: {less}"


def _mapping(
    layout: Layout,
    asked: Mapping[str, Answer],
    fields: Mapping[str, Json],
    given: Mapping[str, Json],
    before: Mapping[str, Json],
) -> Iterator[str]:
    named = {**fields, **before}
    yield from (f"{name[:40]}: is not asked" for name in given if name not in asked)
    for name, answer in asked.items():
        value = given.get(name)
        empty = value is None or value in ("", [])
        if not all(_holds(named.get(other), wanted) for other, wanted in answer.when.items()):
            if not empty:
                yield f"{name}: is not asked here"
            continue
        if empty:
            if answer.required and not (answer.kind == "text" and answer.check.min_length == 0):
                yield f"{name}: missing"
            continue
        yield from (f"{name}: {what}" for what in _value(layout, answer, value, fields, named))
        named[name] = value


def _holds(value: Json, wanted: tuple[str, ...]) -> bool:
    if isinstance(value, bool):
        return str(value).lower() in wanted
    if isinstance(value, str):
        return value in wanted
    return isinstance(value, Sequence) and any(one in wanted for one in value)


def _value(
    layout: Layout,
    answer: Answer,
    value: Any,
    fields: Mapping[str, Json],
    named: Mapping[str, Json],
) -> Iterator[str]:
    """What is wrong with one value of an answer that is asked."""
    many = isinstance(value, Sequence) and not isinstance(value, str)
    match answer.kind:
        case "flag":
            if not isinstance(value, bool):
                yield "not true or false"
        case "text":
            text = isinstance(value, str)
            wrong = text_problem(answer.check, value, named) if text else "not a text"
            if wrong:
                yield wrong
        case "choice":
            if value not in _choices(answer, named):
                yield "not one of the choices"
        case "choices":
            known = _choices(answer, named)
            if not many or any(one not in known for one in value):
                yield "not of the choices"
            elif len(set(value)) < len(value):
                yield "a choice twice"
        case "span":
            yield from _span(layout, answer, value, named)
        case "spans":
            if not many:
                yield "not a list of spans"
            else:
                all_wrong = [what for one in value for what in _span(layout, answer, one, named)]
                yield from all_wrong
                places = () if all_wrong else [(s.get("paragraph"), s["start"]) for s in value]
                if len(set(places)) < len(places):
                    yield "two spans with one start"
        case "group":
            if not many or not all(isinstance(one, Mapping) for one in value):
                yield "not a list of objects"
            elif not answer.min_items <= len(value) <= answer.max_items:
                yield f"not {answer.min_items} to {answer.max_items} entries"
            else:
                for one in value:
                    yield from _mapping(layout, answer.answers, fields, one, named)


def _choices(answer: Answer, named: Mapping[str, Json]) -> list[str]:
    choices = [
        choice.value
        for choice in answer.choices
        if not choice.needs or named.get(choice.needs) not in (None, "", [])
    ]
    if not answer.field:
        return choices
    entries = paragraphs(named.get(answer.field))
    if answer.within:
        text = plain(named.get(answer.within))
        entries = [entry for entry in entries if stands_in(text, entry)]
    return entries + choices


def _span(layout: Layout, answer: Answer, value: Any, named: Mapping[str, Json]) -> Iterator[str]:
    """A span has to be what the text has at its place."""
    field = answer.field or ""
    shown = layout.fields.get(field)
    split = shown is not None and shown.kind == "paragraphs"
    keys = {"start", "end", "text"} | ({"paragraph"} if split else set())
    if not isinstance(value, Mapping) or set(value) != keys or not isinstance(value["text"], str):
        yield "not a span"
        return
    numbers = [value[key] for key in sorted(keys - {"text"})]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        yield "not a span"
        return
    whole = named.get(field)
    texts = paragraphs(whole) if split else [plain(whole)]
    place = value["paragraph"] if split else 0
    start, end = value["start"], value["end"]
    if not 0 <= place < len(texts) or not 0 <= start < end <= len(texts[place]):
        yield "a span outside of the text"
    elif texts[place][start:end] != value["text"]:
        yield "a span that does not fit the text"
