"""What an answer must be like; the same rules that the page applies as one types.

Lengths count Unicode code points of the trimmed text. "Case and spaces aside": lower case, runs
of white space one space. A *word* begins with a letter or digit and runs over letters, digits,
marks and apostrophes; it counts in lower case, without a final 's or apostrophe. A word *tells*
that begins with a capital or holds a digit. `tests/annotation_checks.json` is the table that both
sides are to be tested against.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category

from annotation.batch import Json
from annotation.layout import Answer, Check, Layout

_SPACE = re.compile(r"[\s\ufeff]+")
_BRACKETS = re.compile(r"\[[^\]]*\]")


def problems(layout: Layout, fields: Mapping[str, Json], given: Mapping[str, Json]) -> list[str]:
    """What is wrong with the answers for one item, `name: what`; nothing: they are valid."""
    return list(_mapping(layout, layout.answers, fields, given, {}))


def text_problem(check: Check, text: str, named: Mapping[str, Json]) -> str | None:
    """What is wrong with a text; `named`: the fields and earlier answers that checks name."""
    text = trimmed(text)
    if len(text) < check.min_length:
        return f"shorter than {check.min_length}"
    if len(text) > check.max_length:
        return f"longer than {check.max_length}"
    if check.starts_with and not any(_begins(text, start) for start in check.starts_with):
        return "does not start as it has to"
    if check.ends_with and not text.endswith(check.ends_with):
        return f"does not end with {check.ends_with!r}"
    if check.contains and check.contains not in text:
        return f"lacks {check.contains!r}"
    if check.contains_once and text.count(check.contains_once) != 1:
        return f"does not hold {check.contains_once!r} once"
    if found := next((one for one in check.excludes if one in text), None):
        return f"holds {found!r}"
    return _against(check, text, named)


def _against(check: Check, text: str, named: Mapping[str, Json]) -> str | None:
    """The checks that compare a text with another."""

    def other(name: str) -> str:
        return plain(named.get(name))

    if check.not_field and folded(other(check.not_field)):
        if folded(other(check.not_field)) in folded(text):
            return f"holds {check.not_field}"
    if check.has_field and folded(other(check.has_field)) not in folded(text):
        return f"lacks {check.has_field}"
    if check.words_from:
        new = _lacking(filter(_tells, words(text)[1:]), other(check.words_from))
        if new:
            return f"has words that {check.words_from} lacks: {new}"
    if check.keeps_words:
        source = other(check.keeps_words)
        first = 1 if _begins_with_a_word(source) else 0
        lost = _lacking(filter(_tells, words(_BRACKETS.sub(" ", source))[first:]), text)
        if lost:
            return f"lost words of {check.keeps_words}: {lost}"
    if check.keeps_numbers:
        lost = _lacking(filter(_has_digit, words(other(check.keeps_numbers))), text)
        if lost:
            return f"lost numbers of {check.keeps_numbers}: {lost}"
    return None


def trimmed(text: str) -> str:
    """A text without white space around it."""
    return text.strip().strip("\ufeff").strip()


def folded(text: str) -> str:
    """A text case and spaces aside."""
    return _SPACE.sub(" ", text.lower()).strip()


def words(text: str) -> list[str]:
    """The words of a text as they are written."""
    found: list[str] = []
    inside = False
    for c in text:
        kind = category(c)[0]
        if inside and (kind in "LNM" or c in "'’"):
            found[-1] += c
        elif inside := kind in "LN":
            found.append(c)
    return found


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.lower())


def _tells(word: str) -> bool:
    return category(word[0]) == "Lu" or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(category(c)[0] == "N" for c in word)


def _lacking(wanted: Iterator[str], text: str) -> str:
    """The first few wanted words that a text lacks."""
    have = {_bare(word) for word in words(text)}
    return ", ".join(list(dict.fromkeys(w for w in wanted if _bare(w) not in have))[:3])


def _begins_with_a_word(text: str) -> bool:
    first = next((c for c in text if category(c)[0] in "LN" or c == "_"), "_")
    return first != "_"


def _begins(text: str, start: str) -> bool:
    after = text[len(start) : len(start) + 1]
    same = text[: len(start)].lower() == start.lower()
    return same and not (after and category(after)[0] in "LN")


def plain(value: Json) -> str:
    """The text of a field or an answer: of a list all entries, a line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return plain(value.get("text"))
    if isinstance(value, Sequence):
        return "\n".join(map(plain, value))
    return "" if value is None else str(value)


def paragraphs(value: Json) -> list[str]:
    """The paragraphs of a field, whether plain or objects with a text."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return [plain(value)]


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", word.lower())


def _begins(text: str, start: str) -> bool:
    after = text[len(start) : len(start) + 1]
    return text.startswith(start) and not (after.isalnum() or after == "_")


def _matter(text: str) -> list[str]:
    """Capitalised words and numbers but the first word, each once."""
    found = [w for w in _WORD.findall(text)[1:] if w[0] != w[0].lower() or _digit(w)]
    return list(dict.fromkeys(map(_bare, found)))


def _numbers(text: str) -> list[str]:
    return list(dict.fromkeys(_bare(w) for w in _WORD.findall(text) if _digit(w)))


def _digit(word: str) -> bool:
    return any(c.isdecimal() for c in word)


def _entries(value: Json) -> list[str]:
    return [one for one in map(folded, paragraphs(value)) if one]


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
            if answer.required and not (answer.kind == "group" and answer.min_items == 0):
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
                for one in value:
                    yield from _span(layout, answer, one, named)
                keys = [str(one) for one in value]
                if len(set(keys)) < len(keys):
                    yield "a span twice"
        case "group":
            if not many or not all(isinstance(one, Mapping) for one in value):
                yield "not a list of objects"
            elif not answer.min_items <= len(value) <= answer.max_items:
                yield f"not {answer.min_items} to {answer.max_items} entries"
            else:
                for one in value:
                    yield from _mapping(layout, answer.answers, fields, one, named)


def _choices(answer: Answer, named: Mapping[str, Json]) -> list[str]:
    if not answer.field:
        return [choice.value for choice in answer.choices]
    entries = paragraphs(named.get(answer.field))
    if answer.within:
        have = f" {' '.join(words(plain(named.get(answer.within))))} "
        entries = [e for e in entries if f" {' '.join(words(e))} " in have]
    return entries + [choice.value for choice in answer.choices]


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
