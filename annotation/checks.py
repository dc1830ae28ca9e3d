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
from factdrift.annotation.rewording import rewording_problem
from factdrift.annotation.submission import Json
from factdrift.annotation.text_words import split_words as split_words
from factdrift.annotation.text_words import word_places, word_stem
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


# The fields of an item, and the answers that come before the one that is checked, by name.
Context = Mapping[str, Json]


def answer_problems(layout: Layout, item_fields: Context, item_answers: Context) -> list[str]:
    """The mistakes in the answers to one item, `name: what is wrong`; empty if there are none."""
    return list(_answer_problems(layout, layout.answers, item_fields, item_answers))


def broken_rules(check: Check, answer_text: str, context: Context) -> Iterator[tuple[str, str]]:
    """Yield the rules of a check that a text breaks: the name in layout.yaml, and what is wrong."""
    answer_text = trim(answer_text)
    yield from _broken_form_rules(check, answer_text)
    yield from _broken_reference_rules(check, answer_text, context)


def _broken_form_rules(check: Check, answer_text: str) -> Iterator[tuple[str, str]]:
    """The broken rules that concern the text alone."""
    if len(answer_text) < check.min_length:
        yield "min_length", f"shorter than {check.min_length}"
    if len(answer_text) > check.max_length:
        yield "max_length", f"longer than {check.max_length}"
    if check.starts_with and not any(
        begins_with_words(answer_text, first_words) for first_words in check.starts_with
    ):
        yield "starts_with", "does not start as it has to"
    if check.ends_with and not answer_text.endswith(check.ends_with):
        yield "ends_with", f"does not end with {check.ends_with!r}"
    if check.contains_once and answer_text.count(check.contains_once) != 1:
        yield "contains_once", f"does not hold {check.contains_once!r} once"
    yield from _broken_word_rules(check, answer_text)


def _broken_word_rules(check: Check, answer_text: str) -> Iterator[tuple[str, str]]:
    """The broken rules that concern words of the text alone."""
    if check.has_word and not {*map(word_stem, split_words(answer_text))} & {*check.has_word}:
        yield "has_word", f"has none of {', '.join(check.has_word)}"
    if check.gap and not _has_one_gap(answer_text, check.gap):
        yield "gap", f"has not one gap such as [BLANK-{check.gap[0]}]"
    for word in check.excludes:
        if _holds_excluded_word(answer_text, word):
            yield "excludes", f"holds {word!r}"
            break


def _broken_reference_rules(
    check: Check, answer_text: str, context: Context
) -> Iterator[tuple[str, str]]:
    """The broken rules that compare the text with a field or an earlier answer."""

    def text_of(answer_name: str) -> str:
        return value_as_text(context.get(answer_name))

    folded_text = fold_text(answer_text)
    if check.not_field:
        excluded_text = fold_text(text_of(check.not_field))
        if excluded_text and excluded_text in folded_text:
            yield "not_field", f"holds {check.not_field}"
    if check.has_field and fold_text(text_of(check.has_field)) not in folded_text:
        yield "has_field", f"lacks {check.has_field}"
    if check.words_from:
        telling_words = filter(_is_telling, split_words(answer_text)[1:])
        if new_words := _first_missing(telling_words, text_of(check.words_from)):
            yield "words_from", f"has words that {check.words_from} lacks: {new_words}"
    if check.keeps_words:
        required_words = _words_to_keep(text_of(check.keeps_words))
        if lost_words := _first_missing(required_words, answer_text):
            yield "keeps_words", f"lost words of {check.keeps_words}: {lost_words}"
    if check.rewords:
        article_day = text_of(check.dated_by) if check.dated_by else ""
        if difference := rewording_problem(text_of(check.rewords), answer_text, article_day):
            yield "rewords", difference
    if check.keeps_numbers:
        number_words = filter(_has_digit, split_words(text_of(check.keeps_numbers)))
        if lost_numbers := _first_missing(number_words, answer_text):
            yield "keeps_numbers", f"lost numbers of {check.keeps_numbers}: {lost_numbers}"


# `[BLANK]`, `[BLANK-PERSON]`, and one that is not closed: `[BLANK-PERS`
_GAP = re.compile(r"\[BLANK(?:-[A-Z]*)?\]?")


def _has_one_gap(text: str, gap_kinds: Sequence[str]) -> bool:
    """Whether a text has exactly one gap, and that of one of the kinds."""
    typed_gaps = [f"[BLANK-{gap_kind}]" for gap_kind in gap_kinds]
    return len(_GAP.findall(text)) == 1 and any(typed_gap in text for typed_gap in typed_gaps)


def _words_to_keep(source_text: str) -> Iterator[str]:
    """The telling words of a text, without its first word and what stands in [brackets].

    The first word has its capital by its place, and brackets stand for what is to be replaced.
    """
    skipped_count = 1 if _begins_with_a_word(source_text) else 0
    return filter(_is_telling, split_words(_BRACKETS.sub(" ", source_text))[skipped_count:])


def _holds_excluded_word(text: str, word: str) -> bool:
    """Whether a text holds an excluded word, in any case unless the word has capitals itself."""
    return word in (text.lower() if word == word.lower() else text)


def _answer_problems(
    layout: Layout,
    asked_answers: Mapping[str, LayoutAnswer],
    item_fields: Context,
    item_answers: Context,
) -> Iterator[str]:
    """Yield the mistakes in the answers of a layout, or of one entry of a group."""
    context = dict(item_fields)
    yield from (
        f"{answer_name[:40]}: is not asked"
        for answer_name in item_answers
        if answer_name not in asked_answers
    )
    for answer_name, answer in asked_answers.items():
        answer_value = item_answers.get(answer_name)
        is_empty = answer_value is None or answer_value in ("", [])
        if not is_asked(answer, context):
            if not is_empty:
                yield f"{answer_name}: is not asked here"
            continue
        if is_empty:
            if answer.required and not (answer.kind == "text" and answer.check.min_length == 0):
                yield f"{answer_name}: missing"
            continue
        for value_problem in _value_problems(layout, answer, answer_value, context):
            yield f"{answer_name}: {value_problem}"
        context[answer_name] = answer_value
        if answer.kind == "search" and answer.field:
            context[answer.field] = with_opened_passages(context.get(answer.field), answer_value)


def with_opened_passages(field_value: Json, searches: Any) -> list[Json]:
    """The paragraphs of a searched field, followed by the passages that were opened in searches."""
    field_passages: list[Any] = list(field_value) if isinstance(field_value, Sequence) else []
    return [*field_passages, *opened_passages(searches, field_passages)]


def is_asked(answer: LayoutAnswer, context: Context) -> bool:
    """Whether an answer is asked for, given the fields and the earlier answers."""
    if answer.needs and context.get(answer.needs) in (None, "", []):
        return False
    for earlier_name, condition_values in answer.when.items():
        if not condition_holds(context.get(earlier_name), condition_values):
            return False
    return not any(
        condition_holds(context.get(earlier_name), condition_values)
        for earlier_name, condition_values in answer.unless.items()
    )


def condition_holds(answer_value: Json, condition_values: Sequence[str]) -> bool:
    """Whether an answer has one of the values that a `when` or `unless` names."""
    for single_value in answer_value if isinstance(answer_value, list) else [answer_value]:
        value_text = str(single_value).lower() if isinstance(single_value, bool) else single_value
        if value_text in condition_values:
            return True
    return False


def _value_problems(
    layout: Layout, answer: LayoutAnswer, answer_value: Any, context: Context
) -> Iterator[str]:
    """Yield the mistakes in the value of one answer, which is not empty."""
    match answer.kind:
        case "flag":
            if not isinstance(answer_value, bool):
                yield "not true or false"
        case "text":
            if not isinstance(answer_value, str):
                yield "not a text"
            else:  # one mistake is enough: the worker sees the next when it is mended
                for _, value_problem in islice(
                    broken_rules(answer.check, answer_value, context), 1
                ):
                    yield value_problem
        case "choice":
            if answer_value not in available_choices(answer, context):
                yield "not one of the choices"
        case "choices":
            yield from _choices_problems(answer, answer_value, context)
        case "span":
            yield from _span_problems(layout, answer, answer_value, context)
        case "spans":
            yield from _spans_problems(layout, answer, answer_value, context)
        case "search":
            if _as_type(answer_value, _Searches) is None:
                yield "not a list of searches"
        case "group":
            yield from _group_problems(layout, answer, answer_value, context)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _choices_problems(answer: LayoutAnswer, chosen_values: Any, context: Context) -> Iterator[str]:
    allowed_values = available_choices(answer, context)
    if not _is_list(chosen_values) or any(
        answer_value not in allowed_values for answer_value in chosen_values
    ):
        yield "not of the choices"
    elif len(set(chosen_values)) < len(chosen_values):
        yield "a choice twice"


def _spans_problems(
    layout: Layout, answer: LayoutAnswer, marked_spans: Any, context: Context
) -> Iterator[str]:
    if not _is_list(marked_spans):
        yield "not a list of spans"
        return
    span_problems: list[str] = []
    for span in marked_spans:
        span_problems += _span_problems(layout, answer, span, context)
    yield from span_problems
    if not span_problems:
        span_starts = {(span.get("paragraph"), span["start"]) for span in marked_spans}
        if len(span_starts) < len(marked_spans):
            yield "two spans with one start"


def _group_problems(
    layout: Layout, answer: LayoutAnswer, group_entries: Any, context: Context
) -> Iterator[str]:
    if not _is_list(group_entries) or not all(
        isinstance(group_entry, Mapping) for group_entry in group_entries
    ):
        yield "not a list of objects"
    elif not answer.min_items <= len(group_entries) <= answer.max_items:
        yield f"not {answer.min_items} to {answer.max_items} entries"
    else:
        for group_entry in group_entries:
            yield from _answer_problems(layout, answer.answers, context, group_entry)


def _as_type(value: Any, value_type: Any) -> Any:
    """Convert a JSON value to a type; return None if it does not fit."""
    try:
        return msgspec.convert(value, value_type)
    except msgspec.ValidationError:
        return None


def available_choices(answer: LayoutAnswer, context: Context) -> list[str]:
    """The values that can be chosen, given the fields and the earlier answers."""
    layout_choices = [
        choice.value
        for choice in answer.choices
        if not choice.needs or context.get(choice.needs) not in (None, "", [])
    ]
    if not answer.field:
        return layout_choices
    entries = paragraph_texts(context.get(answer.field))
    if answer.within:
        within_text = value_as_text(context.get(answer.within))
        entries = [entry for entry in entries if contains_words(within_text, entry)]
    return entries + layout_choices


def _span_problems(
    layout: Layout, answer: LayoutAnswer, answer_value: Any, context: Context
) -> Iterator[str]:
    field_name = answer.field or ""
    field = layout.fields.get(field_name)
    has_paragraphs = field is not None and field.kind == "paragraphs"
    span: _Span | None = _as_type(answer_value, _Span)
    if span is None or (span.paragraph is not msgspec.UNSET) != has_paragraphs:
        yield "not a span"
        return
    field_value = context.get(field_name)
    paragraph_list = (
        paragraph_texts(field_value) if has_paragraphs else [value_as_text(field_value)]
    )
    paragraph_number = span.paragraph or 0
    if not 0 <= paragraph_number < len(paragraph_list) or not 0 <= span.start < span.end <= len(
        paragraph_list[paragraph_number]
    ):
        yield "a span outside of the text"
    elif paragraph_list[paragraph_number][span.start : span.end] != span.text:
        yield "a span that does not fit the text"


# ========== texts

# What Python's `str.strip` and JavaScript's `trim` strip between them: the page and the import
# have to agree on the length of a text.
_BLANKS = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
_SPACE = re.compile(f"[{_BLANKS}]+")
# `[BLANK]` and `[]`, not `[open`.
_BRACKETS = re.compile(r"\[[^\]]*\]")


def trim(text: str) -> str:
    return text.strip(_BLANKS)


def fold_text(text: str) -> str:
    """A text in lower case, with single spaces."""
    return _SPACE.sub(" ", text.lower()).strip(" ")


def value_as_text(value: Json) -> str:
    """The text of a field or an answer: its own, that of a mapping's `text`, or a list's lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return value_as_text(value.get("text"))
    if isinstance(value, Sequence):
        return "\n".join(map(value_as_text, value))
    return "" if value is None else str(value)


def paragraph_texts(value: Json) -> list[str]:
    """The texts of a field's paragraphs, which are texts or objects with a `text`."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [value_as_text(paragraph) for paragraph in value]
    return [value_as_text(value)]


def begins_with_words(text: str, first_words: str) -> bool:
    """Whether a text begins with the given words, in any case, and its word ends there."""
    starts_same = text[: len(first_words)].lower() == first_words.lower()
    return starts_same and not _is_letter(text[len(first_words) : len(first_words) + 1])


def contains_words(text: str, wanted_text: str) -> bool:
    """Whether a text contains the part as it is written, beginning and ending with whole words."""
    places = word_places(text)
    part_start = text.find(wanted_text) if wanted_text else -1
    while part_start >= 0:
        part_end = part_start + len(wanted_text)
        touched_words = [
            word_place
            for word_place in places
            if word_place[0] < part_end and part_start < word_place[1]
        ]
        if touched_words and part_start <= touched_words[0][0] and touched_words[-1][1] <= part_end:
            return True
        part_start = text.find(wanted_text, part_start + 1)
    return False


def _is_letter(char: str) -> bool:
    return bool(char) and category(char)[0] in "LN"


def _is_telling(word: str) -> bool:
    return category(word[0]) == "Lu" or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(category(char)[0] == "N" for char in word)


# Missing words that a message names: enough to see what is meant, and short on a phone.
_MISSING_SHOWN = 3


def _first_missing(required_words: Iterator[str], text: str) -> str:
    """The first few of the required words that a text lacks, separated by commas."""
    text_stems = {word_stem(word) for word in split_words(text)}
    missing_words = dict.fromkeys(
        word for word in required_words if word_stem(word) not in text_stems
    )
    return ", ".join([*missing_words][:_MISSING_SHOWN])


def _begins_with_a_word(text: str) -> bool:
    """Whether a word stands before the first blank of a cloze, which is written as `_`."""
    for char in text:
        if char == "_":
            return False
        if _is_letter(char):
            return True
    return False
