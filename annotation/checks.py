"""Checks of answers against their layout: the same rules that the page applies as one types.

A *search* is what a worker looked for besides: a list of `{"query", "found", "opened"}`, with the
ids of the passages that were found, and id and text of those that were opened. Opened passages are
paragraphs of the searched field from then on, behind those that it shows.

Lengths count Unicode code points of the trimmed text. "Case and spaces aside": lower case, runs
of white space one space. A *word* begins with a letter or digit and runs over letters, digits,
marks and apostrophes; it counts in lower case, without a final 's or apostrophe. A word is
*telling* that begins with a capital or holds a digit. `page_parts/text.js` has the same rules, and
`tests/annotation_checks.json` is the table that both are tested against.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal
from unicodedata import category

import msgspec

from factdrift.annotation.layout import Check, Layout, LayoutAnswer
from factdrift.annotation.submission import Json
from factdrift.builders.ckl.gold import opened_passages

_Filled = Annotated[str, msgspec.Meta(min_length=1)]
_Opened = Annotated[dict[Literal["id", "text"], _Filled], msgspec.Meta(min_length=2)]


class _Span(msgspec.Struct, forbid_unknown_fields=True):
    start: int
    end: int
    text: str
    paragraph: int | msgspec.UnsetType = msgspec.UNSET


class _Search(msgspec.Struct, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    found: Annotated[list[_Filled], msgspec.Meta(max_length=50)]
    opened: Annotated[list[_Opened], msgspec.Meta(max_length=50)]


_Searches = Annotated[list[_Search], msgspec.Meta(max_length=200)]


def answer_problems(
    layout: Layout, fields: Mapping[str, Json], given: Mapping[str, Json]
) -> list[str]:
    """What is wrong with the answers for one item, `name: what`; nothing: they are valid."""
    return list(_answer_problems(layout, layout.answers, fields, given))


def broken_rules(check: Check, text: str, named: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Every rule of a check that a text breaks, by its name in layout.yaml, and what is wrong.

    `named`: the fields and earlier answers that checks name.
    """
    text = trim(text)

    def other(name: str) -> str:
        return value_as_text(named.get(name))

    if len(text) < check.min_length:
        yield "min_length", f"shorter than {check.min_length}"
    if len(text) > check.max_length:
        yield "max_length", f"longer than {check.max_length}"
    if check.starts_with and not any(begins_with_words(text, start) for start in check.starts_with):
        yield "starts_with", "does not start as it has to"
    if check.ends_with and not text.endswith(check.ends_with):
        yield "ends_with", f"does not end with {check.ends_with!r}"
    if check.contains_once and text.count(check.contains_once) != 1:
        yield "contains_once", f"does not hold {check.contains_once!r} once"
    if found := next((one for one in check.excludes if _holds_word(text, one)), None):
        yield "excludes", f"holds {found!r}"
    if check.not_field and (same := fold_text(other(check.not_field))) and same in fold_text(text):
        yield "not_field", f"holds {check.not_field}"
    if check.has_field and fold_text(other(check.has_field)) not in fold_text(text):
        yield "has_field", f"lacks {check.has_field}"
    if check.words_from:
        told = filter(_is_telling, split_words(text)[1:])
        if new := _first_missing(told, other(check.words_from)):
            yield "words_from", f"has words that {check.words_from} lacks: {new}"
    if check.keeps_words:  # but what stands in [brackets], and a first word
        source = other(check.keeps_words)
        first = 1 if _begins_with_a_word(source) else 0
        telling = filter(_is_telling, split_words(_BRACKETS.sub(" ", source))[first:])
        if less := _first_missing(telling, text):
            yield "keeps_words", f"lost words of {check.keeps_words}: {less}"
    if check.keeps_numbers:
        numbers = filter(_has_digit, split_words(other(check.keeps_numbers)))
        if less := _first_missing(numbers, text):
            yield "keeps_numbers", f"lost numbers of {check.keeps_numbers}: {less}"


def _holds_word(text: str, word: str) -> bool:
    """Whether a text holds what it must not: in any case, unless it is written with capitals."""
    return word in (text.lower() if word == word.lower() else text)


def _answer_problems(
    layout: Layout,
    asked: Mapping[str, LayoutAnswer],
    shown: Mapping[str, Json],
    given: Mapping[str, Json],
) -> Iterator[str]:
    named = dict(shown)
    yield from (f"{name[:40]}: is not asked" for name in given if name not in asked)
    for name, answer in asked.items():
        value = given.get(name)
        empty = value is None or value in ("", [])
        if not is_asked(answer, named):
            if not empty:
                yield f"{name}: is not asked here"
            continue
        if empty:
            if answer.required and not (answer.kind == "text" and answer.check.min_length == 0):
                yield f"{name}: missing"
            continue
        yield from (f"{name}: {what}" for what in _value_problems(layout, answer, value, named))
        named[name] = value
        if answer.kind == "search" and answer.field:
            named[answer.field] = with_opened_passages(named.get(answer.field), value)


def with_opened_passages(shown: Json, searches: Any) -> list[Json]:
    """The paragraphs of a searched field, with those that were opened in searches."""
    before: list[Any] = list(shown) if isinstance(shown, Sequence) else []
    return [*before, *opened_passages(searches, before)]


def is_asked(answer: LayoutAnswer, named: Mapping[str, Json]) -> bool:
    """Whether an answer is asked for; `named`: the fields and earlier answers."""
    if answer.needs and named.get(answer.needs) in (None, "", []):
        return False
    return all(condition_holds(named.get(name), w) for name, w in answer.when.items()) and not any(
        condition_holds(named.get(name), w) for name, w in answer.unless.items()
    )


def condition_holds(value: Json, wanted: Sequence[str]) -> bool:
    """Whether an answer has one of the values that a `when` names."""
    many = value if isinstance(value, list) else [value]
    return any((str(one).lower() if isinstance(one, bool) else one) in wanted for one in many)


def _value_problems(
    layout: Layout, answer: LayoutAnswer, value: Any, named: Mapping[str, Json]
) -> Iterator[str]:
    many = isinstance(value, Sequence) and not isinstance(value, str)
    match answer.kind:
        case "flag":
            if not isinstance(value, bool):
                yield "not true or false"
        case "text":
            if not isinstance(value, str):
                yield "not a text"
            else:
                yield from (what for _, what in islice(broken_rules(answer.check, value, named), 1))
        case "choice":
            if value not in available_choices(answer, named):
                yield "not one of the choices"
        case "choices":
            known = available_choices(answer, named)
            if not many or any(one not in known for one in value):
                yield "not of the choices"
            elif len(set(value)) < len(value):
                yield "a choice twice"
        case "span":
            yield from _span_problems(layout, answer, value, named)
        case "spans":
            if not many:
                yield "not a list of spans"
            else:
                wrong = [w for one in value for w in _span_problems(layout, answer, one, named)]
                yield from wrong
                places = () if wrong else [(s.get("paragraph"), s["start"]) for s in value]
                if len(set(places)) < len(places):
                    yield "two spans with one start"
        case "search":
            if _as_type(value, _Searches) is None:
                yield "not a list of searches"
        case "group":
            if not many or not all(isinstance(one, Mapping) for one in value):
                yield "not a list of objects"
            elif not answer.min_items <= len(value) <= answer.max_items:
                yield f"not {answer.min_items} to {answer.max_items} entries"
            else:
                for one in value:
                    yield from _answer_problems(layout, answer.answers, named, one)


def _as_type(value: Any, kind: Any) -> Any:
    """A value of JSON as one of a type; None where it is none."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def available_choices(answer: LayoutAnswer, named: Mapping[str, Json]) -> list[str]:
    """The values that can be chosen; `named`: the fields and earlier answers."""
    own = [
        choice.value
        for choice in answer.choices
        if not choice.needs or named.get(choice.needs) not in (None, "", [])
    ]
    if not answer.field:
        return own
    entries = paragraph_texts(named.get(answer.field))
    if answer.within:
        text = value_as_text(named.get(answer.within))
        entries = [entry for entry in entries if contains_words(text, entry)]
    return entries + own


def _span_problems(
    layout: Layout, answer: LayoutAnswer, value: Any, named: Mapping[str, Json]
) -> Iterator[str]:
    field = answer.field or ""
    shown = layout.fields.get(field)
    split = shown is not None and shown.kind == "paragraphs"
    span: _Span | None = _as_type(value, _Span)
    if span is None or (span.paragraph is not msgspec.UNSET) != split:
        yield "not a span"
        return
    texts = paragraph_texts(named.get(field)) if split else [value_as_text(named.get(field))]
    place = span.paragraph or 0
    if not 0 <= place < len(texts) or not 0 <= span.start < span.end <= len(texts[place]):
        yield "a span outside of the text"
    elif texts[place][span.start : span.end] != span.text:
        yield "a span that does not fit the text"


# ========== texts

_BLANKS = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
_SPACE = re.compile(f"[{_BLANKS}]+")
_BRACKETS = re.compile(r"\[[^\]]*\]")


def trim(text: str) -> str:
    return text.strip(_BLANKS)


def fold_text(text: str) -> str:
    """A text case and spaces aside."""
    return _SPACE.sub(" ", text.lower()).strip(" ")


def value_as_text(value: Json) -> str:
    """The text of a field or an answer: of a list all entries, a line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return value_as_text(value.get("text"))
    if isinstance(value, Sequence):
        return "\n".join(map(value_as_text, value))
    return "" if value is None else str(value)


def paragraph_texts(value: Json) -> list[str]:
    """The paragraphs of a field, whether plain or objects with a text."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [value_as_text(one) for one in value]
    return [value_as_text(value)]


def split_words(text: str) -> list[str]:
    return [text[start:end] for start, end in _word_places(text)]


def _word_places(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    inside = False
    for at, c in enumerate(text):
        kind = category(c)[0]
        if inside and (kind in "LNM" or c in "'’"):
            found[-1] = found[-1][0], at + 1
        elif inside := kind in "LN":
            found.append((at, at + 1))
    return found


def begins_with_words(text: str, start: str) -> bool:
    """Whether a text starts with these words, case aside."""
    same = text[: len(start)].lower() == start.lower()
    return same and not _is_letter(text[len(start) : len(start) + 1])


def contains_words(text: str, part: str) -> bool:
    """Whether whole words of a text, with what is between them, are another one, as written."""
    places = _word_places(text)
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        met = [(a, b) for a, b in places if a < end and at < b]
        if met and at <= met[0][0] and met[-1][1] <= end:
            return True
        at = text.find(part, at + 1)
    return False


def _is_letter(c: str) -> bool:
    return bool(c) and category(c)[0] in "LN"


def _word_stem(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.lower())


def _is_telling(word: str) -> bool:
    return category(word[0]) == "Lu" or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(category(c)[0] == "N" for c in word)


def _first_missing(wanted: Iterator[str], text: str) -> str:
    have = {_word_stem(word) for word in split_words(text)}
    return ", ".join(list(dict.fromkeys(w for w in wanted if _word_stem(w) not in have))[:3])


def _begins_with_a_word(text: str) -> bool:
    first = next((c for c in text if category(c)[0] in "LN" or c == "_"), "_")
    return first != "_"
