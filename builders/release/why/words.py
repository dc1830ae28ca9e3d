"""An explanation in words, for a terminal, and as plain data."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

import msgspec

from factdrift.builders.core.corrections import DROP_STEP
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.release.why.drawing import (
    ASKED,
    PERHAPS,
    SURELY,
    asked_line,
    bar,
    drawn_terms,
    span_of,
    year_line,
)
from factdrift.builders.release.why.explain import Explanation, LeftOut
from factdrift.builders.release.why.histories import HOLDS, DumpStatement, FactHistory, Life, Term
from factdrift.builders.release.why.lookup import Values, labelled_detail
from factdrift.builders.release.why.rules import reason_sentence
from factdrift.builders.release.why.texts import ShownText, readable_article

_STATEMENTS_SHOWN = 40
"""Statements of a history that are printed; `--json` has all."""
_VALUE_LENGTH = 200
"""Characters of a column that are printed."""
_NAMES_SHOWN = 8
"""Accepted answers that are printed: labels come first."""


def plain_data(explanation: Explanation) -> Any:
    """Return an explanation as lists, dictionaries and plain values, days as texts."""
    return msgspec.to_builtins(explanation, str_keys=True)


def lines(explanation: Explanation) -> Iterator[str]:
    """Yield the lines of an explanation, what matters most first."""
    place = explanation.place
    if explanation.gone_since:
        place = f"gone; version {explanation.gone_since} had it in {place}"
    yield f"{readable_article(explanation.id)}: {explanation.release}, {place}"
    if explanation.other_places:
        places = ", ".join(explanation.other_places)
        yield f"  rows of this id also in: {places} (--config NAME shows one)"
    yield from _row_lines(explanation)
    if explanation.left_out and explanation.gone_since:
        yield "  of its subject and relation this was left out:"
    elif explanation.left_out and explanation.place != "dropped":
        yield "  under the same id something was left out, too:"
    for left_out in explanation.left_out:
        yield from _left_out_lines(left_out)
    if explanation.left_out_in_all > len(explanation.left_out):
        yield f"  … {explanation.left_out_in_all:,} in all"
    yield from _section("corrections", _correction_lines(explanation))
    yield from _section("checks", _check_lines(explanation))
    for history in explanation.histories:
        yield ""
        yield from _history_lines(history, explanation)
    if explanation.statements and not explanation.histories:
        yield from _section("statements", explanation.statements)
    for shown_text in explanation.texts:
        yield ""
        yield from _text_lines(shown_text)
    yield from _section("filters that it passed (what each looks for)", _filter_lines(explanation))
    yield from _section(
        "left out of the same subject and relation",
        [
            f"{count:,} by {step}: {reason}: {reason_sentence(step, reason)}"
            for step, reason, count in explanation.left_out_beside
        ],
    )
    yield from _section("not shown", explanation.missing)


def _section(heading: str, section_lines: Any) -> Iterator[str]:
    """Yield a heading and its lines; nothing where there are none."""
    indented = [f"  {line}" for line in section_lines]
    if indented:
        yield ""
        yield heading
        yield from indented


# --- The row ------------------------------------------------------------------------------------

_TOLD_ELSEWHERE = frozenset(
    (
        *("id", "prompt", "targets", "subject", "subject_label", "relation", "relation_label"),
        *("statements", "statement", "old_statements", "new_statements", "context", "filters"),
        *("answers", "answer", "objects", "previous_answers", "still_true", "possible_answers"),
        *("answer_ids", "views", "answer_tokens", "qa_id", "question", "query", "added", "removed"),
        *("left_out", "context_sha256", "evidence_id", "template", "choices", "segments", "text"),
        *("period_first", "period_last", "cloze", "supporting", "stale", "unjudged", "paragraphs"),
        *("written_or_generated", "sitelinks", "subject_facts", "page", "revision", "rules"),
        *("time_first", "time_last", "title", "segment", "evidence", "object", "object_label"),
        *("question_ts", "evidence_ts", "answer_start", "evidence_sentence", "place", "day"),
        *("question_id", "variant", "wording", "answer_index", "table_size", "article", "split"),
        *("questions", "valid_from", "valid_to", "end_open", "snapshot", "answerable", "ts"),
        *("new_evidence", "old_evidence", "period", "as_of", "sha256", "source_sentence", "twin"),
        *("subject_name", "rewordings", "hops", "previous_hops"),
        *DATES,
    )
)
"""Columns whose content stands elsewhere in the words, or that say nothing of what is behind."""
_PREFIXES_ELSEWHERE = ("toxicity_", "shortcut_", "old_start", "old_end", "new_start", "new_end")
"""Beginnings of such columns."""
_SPLIT_WORDS = {
    "unchanged": "the answers are those of the period before",
    "updated": "the answers are not those of the period before",
    "new": "nothing surely held in the period before",
    "deleted": "nothing surely holds any more; the period before is asked about",
}
"""What the splits of a comparison say (the table is in `builders.facts.period_diff`)."""


def _row_lines(explanation: Explanation) -> Iterator[str]:
    if explanation.place == "dropped":
        return
    row_values = explanation.row
    yield from _wrapped(explanation.prompt)
    question = row_values.get("question")
    if isinstance(question, str) and question not in explanation.prompt:
        yield from _wrapped(question)
    yield from _answer_lines(explanation)
    if explanation.kept_from:
        yield _labelled(
            "kept", f"as {explanation.kept_from} published it; {explanation.kept_reason}"
        )
    if explanation.asked_time:
        yield _labelled("asked about", explanation.asked_time.words)
    if "period" in row_values and (split_words := _SPLIT_WORDS.get(str(row_values.get("split")))):
        yield _labelled(str(row_values["split"]), split_words)
    yield from _fact_lines(row_values)
    evidence = row_values.get("evidence")
    if isinstance(evidence, list) and "family" in row_values:
        yield from (_labelled("follows from", sentence) for sentence in evidence)
    if row_values.get("twin"):
        yield _labelled(
            "names", f"invented: the facts below have those of its twin {row_values['twin']}"
        )
    for column, column_value in row_values.items():
        if not _is_told_elsewhere(column) and not _says_nothing(column_value):
            yield _labelled(column, _shown_value(column_value))


def _answer_lines(explanation: Explanation) -> Iterator[str]:
    """What is accepted, and the items that the row names."""
    if explanation.targets:
        names = ", ".join(explanation.targets[:_NAMES_SHOWN])
        more_names = f" and {len(explanation.targets) - _NAMES_SHOWN} more"
        has_more = len(explanation.targets) > _NAMES_SHOWN
        yield _labelled("accepted", names + more_names * has_more)
    elif "targets" in explanation.row:
        asked_on = explanation.row.get("asked_on")
        reason = f"; no passage had said it by {asked_on}" if asked_on else ""
        yield _labelled("accepted", f"nothing: to have no answer is right{reason}")
    choices, answer_place = explanation.row.get("choices"), explanation.row.get("answer_index")
    if isinstance(choices, list):
        for place, choice in enumerate(choices):
            yield _labelled("right choice" if place == answer_place else "choice", str(choice))
    for part in ("answer", "before", "still true", "also accepted"):
        names = ", ".join(
            f"{item.label} ({item.item})" for item in explanation.items if item.part == part
        )
        if names:
            yield _labelled(part, names)


def _is_told_elsewhere(column: str) -> bool:
    return column in _TOLD_ELSEWHERE or column.startswith(_PREFIXES_ELSEWHERE)


def _fact_lines(row: Values) -> Iterator[str]:
    """What a row that is a fact, a term or a change says, in words."""
    if isinstance(row.get("object_label"), str):
        names = (row.get("subject_label"), row.get("relation_label"), row["object_label"])
        yield _labelled("fact", f"{' – '.join(map(str, names))} ({row.get('object')})")
    if {*DATES, "end_open"} <= row.keys():
        yield _labelled("held", _term_days(row, ""))
    for side in ("old", "new"):
        if {f"{side}_{name}" for name in (*DATES, "end_open", "snapshot")} <= row.keys():
            is_there = row[f"{side}_end_open"] is not None
            days = _term_days(row, f"{side}_") if is_there else "not in it"
            yield _labelled(f"{side} dump", f"{row[f'{side}_snapshot']}: {days}")


def _term_days(row: Values, prefix: str) -> str:
    start_first, start_last, end_first, end_last = (row[prefix + name] for name in DATES)
    end = "no stated end" if row[f"{prefix}end_open"] else days_text(end_first, end_last)
    return stretch_text(days_text(start_first, start_last), end)


def _says_nothing(value: Any) -> bool:
    return value is None or value == "" or value == [] or value is False


def _shown_value(column_value: Any) -> str:
    if isinstance(column_value, list):
        column_value = "; ".join(map(_shown_value, column_value))
    elif isinstance(column_value, dict):
        column_value = ", ".join(
            f"{name} {_shown_value(inner)}" for name, inner in column_value.items()
        )
    value_text = " ".join(str(column_value).split())
    return value_text if len(value_text) <= _VALUE_LENGTH else value_text[: _VALUE_LENGTH - 1] + "…"


def _labelled(label: str, text: str) -> str:
    return f"  {label:<14} {text}"


def _wrapped(text: str) -> Iterator[str]:
    """The lines of a text that may be long, such as a prompt with a table of facts."""
    text_lines = text.splitlines()
    for line in text_lines[:_LINES_SHOWN]:
        yield f"  {line[:400]}"
    if len(text_lines) > _LINES_SHOWN:
        yield f"  … {len(text_lines) - _LINES_SHOWN:,} lines more"


_LINES_SHOWN = 40
"""Lines of a prompt that are printed: the tables of facts of `temporal-reasoning` have up to 30."""


def _left_out_lines(left_out: LeftOut) -> Iterator[str]:
    period = f" in {left_out.period}" if left_out.period else ""
    yield f"  left out{period}: {left_out.sentence} ({left_out.reason}, step {left_out.step})"
    if left_out.detail:
        heading = "correction" if left_out.step == DROP_STEP else "what was seen"
        yield _labelled(heading, labelled_detail(left_out.detail, left_out.detail_labels))
    if left_out.score is not None:
        yield _labelled("score", f"{left_out.score:g}")


def _correction_lines(explanation: Explanation) -> Iterator[str]:
    for correction in explanation.corrections:
        yield f"{correction.id}: {correction.wrong}"
        yield f"  of {correction.about}: {correction.done}"
        yield f"  says {correction.by}; source: {correction.source}"


def _check_lines(explanation: Explanation) -> Iterator[str]:
    """Yield what disagrees before what agrees."""
    for check in sorted(explanation.checks, key=lambda check: check.agrees):
        # a span may have line breaks; a check stays on its line
        check_words = " ".join(check.words.split())
        yield f"{'ok   ' if check.agrees else 'WRONG'} {check_words}"


def _filter_lines(explanation: Explanation) -> Iterator[str]:
    for passed in explanation.filters:
        scores = ""
        if passed.filter == "toxicity":
            scored = [
                f"{name.removeprefix('toxicity_')} {value:g}"
                for name, value in explanation.row.items()
                if name.startswith("toxicity_") and value is not None
            ]
            scores = f" (scores: {', '.join(scored)})" if scored else ""
        yield f"{passed.filter}: {passed.looks_for}{scores}"


# --- Histories ----------------------------------------------------------------------------------


def _history_lines(history: FactHistory, explanation: Explanation) -> Iterator[str]:
    subject = history.subject_label or history.subject
    relation = history.relation_label or history.relation
    yield f"{subject} ({history.subject}): {relation} ({history.relation})"
    if history.address:
        yield f"  {history.address}"
    if history.terms:
        yield from _drawn(history, explanation)
    lives = [life for life in history.lives if life.began_first or life.ended_last]
    yield from _part("lives", map(_life_words, lives))
    yield from _statement_lines(history, explanation)
    yield from _part(f"rules (templates/{history.relation}.yaml)", history.rules)


def _part(heading: str, part_lines: Iterable[str]) -> Iterator[str]:
    """Yield a heading within a history, and its lines; nothing where there are none."""
    indented = [f"    {line}" for line in part_lines]
    if indented:
        yield f"  {heading}"
        yield from indented


def _statement_lines(history: FactHistory, explanation: Explanation) -> Iterator[str]:
    """The statements of a history, each with its id on a line of its own."""
    days = sorted({day for statement in history.statements for day in statement.snapshots})
    if not days:
        return
    property_id = history.statements[0].relation
    accepted_items = {item.item for item in explanation.items if item.part == "also accepted"}
    yield f"  statements of {property_id} in the dump of {' and '.join(map(str, days))}"
    corrected_by = {correction.about: correction.id for correction in explanation.corrections}
    for statement in history.statements[:_STATEMENTS_SHOWN]:
        words = _statement_words(statement, explanation.statements, len(days) > 1)
        yield f"    {words}{'  <- also accepted' * (statement.object in accepted_items)}"
        entry = corrected_by.get(statement.statement)
        yield f"      {statement.statement}{f'  <- corrected by {entry}' if entry else ''}"
    if len(history.statements) > _STATEMENTS_SHOWN:
        yield f"    … and {len(history.statements) - _STATEMENTS_SHOWN:,} more (--json)"


def _drawn(history: FactHistory, explanation: Explanation) -> Iterator[str]:
    """Yield the time line: a bar a term, with dates and what the row says of it."""
    asked_time = explanation.asked_time
    terms, more_count = drawn_terms(history)
    span = span_of(terms, asked_time)
    snapshot = next((term.snapshot for term in terms if term.snapshot), None)
    known_until = f", dump of {snapshot}" if snapshot else ""
    yield f"  {SURELY} surely {PERHAPS} perhaps{known_until} (from {history.terms_from})"
    if span is not None:
        yield f"  {year_line(span)}"
    for term in terms:
        drawn_bar = bar(term, span) if span is not None else ""
        mark = _term_mark(term, terms, explanation)
        label = f"{term.object_label or term.object}"
        yield f"  {drawn_bar} {label}: {_term_words(term)}{mark}"
        if term.page and mark:
            yield f"  {' ' * len(drawn_bar)}   {_page_words(term)}"
    if more_count:
        yield f"  … and {more_count:,} more (--json has all)"
    if asked_time is not None and span is not None:
        yield f"  {asked_line(asked_time, span)} {ASKED} asked about: {asked_time.words}"


def _term_mark(term: Term, terms: Sequence[Term], explanation: Explanation) -> str:
    """What the row says of a term; nothing of another term of the same object."""
    if explanation.statements and explanation.place != "dropped":
        is_named = bool({*explanation.statements} & {*term.statements})
        return "  <- the row rests on it" * is_named
    own_part = next((item.part for item in explanation.items if item.item == term.object), None)
    of_object = [other_term for other_term in terms if other_term.object == term.object]
    is_before = own_part == "before" or _is_seen_before(own_part, of_object, explanation)
    asked_time = explanation.time_before if is_before else explanation.asked_time
    if own_part is None or asked_time is None:
        return f"  <- {own_part}" if own_part else ""
    best_term = min(of_object, key=lambda other_term: HOLDS.index(asked_time.holds(other_term)))
    holds = asked_time.holds(term)
    time_words = asked_time.words if is_before else "then"
    words = {
        "surely": f"surely {time_words}",
        "perhaps": f"only perhaps {time_words}",
        "not": f"NOT {time_words}",
    }
    return f"  <- {own_part}: {words[holds]}" if term is best_term else ""


def _is_seen_before(
    part: str | None, terms_of_object: Sequence[Term], explanation: Explanation
) -> bool:
    """Whether an object was seen in the period before alone, for which a row is left out, too."""
    is_seen = part == "seen" and explanation.time_before is not None
    return is_seen and all(term.holds == "not" for term in terms_of_object)


def _term_words(term: Term) -> str:
    start_words = days_text(term.start_first, term.start_last)
    if term.end_open:
        words = stretch_text(start_words, "now (no end is stated)")
        if term.stale_until:
            words = f"{start_words}, no end stated; too old to be sure after {term.end_first}"
    else:
        words = stretch_text(start_words, days_text(term.end_first, term.end_last))
    if term.end_inferred:
        words += " (end not stated: another one tells it)"
    if term.rival:
        words += " (another may hold its place: never sure)"
    return words


def _page_words(term: Term) -> str:
    page = term.page
    if not page.get("mention"):
        return "the page does not name it" if page.get("rule") == "none" else f"by {page['rule']}"
    stated = [
        f"{boundary} {'stated' if page[f'{boundary}_stated'] else 'not stated'} beside it"
        for boundary in ("start", "end")
        if page.get(f"{boundary}_stated") is not None
    ]
    words = f"the page names it “{page['mention']}” (by {page['rule']}, paragraph "
    return f"{words}{page['paragraph']}); {', '.join(stated)}"


def _statement_words(
    statement: DumpStatement, named_ids: Sequence[str], several_dumps: bool
) -> str:
    object_name = statement.object_label or statement.object or "an unknown value"
    item_words = f" ({statement.object})" if statement.object else ""
    if statement.sighting:
        seen_words = days_text(statement.end_first, statement.start_last)
        day_words = f"seen on {seen_words}"
    else:
        start_words = days_text(statement.start_first, statement.start_last)
        end_words = (
            "no end" if statement.end_open else days_text(statement.end_first, statement.end_last)
        )
        has_start = statement.start_first or statement.start_last
        day_words = stretch_text(start_words if has_start else "no start", end_words)
    if statement.reason == "undated":
        day_words = "without a date"
    words = f"{object_name}{item_words}: {day_words}, rank {statement.rank}"
    if statement.reason not in (None, "undated"):
        gap_sentence = reason_sentence("mine", statement.reason).rstrip(".")
        words += f"; no fact but a gap: {gap_sentence} ({statement.reason})"
    if several_dumps:
        words += f" [{' and '.join(map(str, statement.snapshots))}]"
    return words + "  <- the row names it" * (statement.statement in named_ids)


def _life_words(life: Life) -> str:
    words = f"{life.label or life.item} ({life.item})"
    if life.description:
        words += f", {life.description}"
    if life.began_first or life.began_last:
        words += f": began {days_text(life.began_first, life.began_last)}"
    if life.ended_first or life.ended_last:
        words += f", ended {days_text(life.ended_first, life.ended_last)}"
    return words


def stretch_text(start_words: str, end_words: str) -> str:
    """A stretch from its two boundaries in words.

    >>> stretch_text("2019-07", "2020"), stretch_text("between 2018-01-01 and 2018-10-29", "2019")
    ('2019-07 to 2020', 'a day between 2018-01-01 and 2018-10-29 until 2019')
    """
    boundaries = (start_words, end_words)
    if not any(words.startswith("between ") for words in boundaries):
        return " to ".join(boundaries)
    return " until ".join(re.sub(r"\Abetween ", "a day between ", words) for words in boundaries)


def days_text(first_day: date | None, last_day: date | None) -> str:
    """A boundary at its precision: `2019-07-24`, `2019-07`, `2019`, `the 2010s`, or two days.

    >>> days_text(date(2019, 7, 1), date(2019, 7, 31)), days_text(None, date(2019, 7, 31))
    ('2019-07', 'unknown, 2019-07-31 at the latest')
    """
    if first_day is None or last_day is None:
        if first_day is None and last_day is None:
            return "unknown"
        return (
            f"unknown, {first_day} at the earliest"
            if first_day
            else f"unknown, {last_day} at the latest"
        )
    if first_day == last_day:
        return first_day.isoformat()
    begins_month, ends_month = first_day.day == 1, _is_month_end(last_day)
    if begins_month and ends_month:
        if (first_day.year, first_day.month) == (last_day.year, last_day.month):
            return first_day.isoformat()[:7]
        if first_day.month == 1 and last_day.month == 12:
            if first_day.year == last_day.year:
                return f"{first_day.year:04}"
            if first_day.year % 10 == 0 and last_day.year == first_day.year + 9:
                return f"the {first_day.year}s"
    return f"between {first_day} and {last_day}"


def _is_month_end(day: date) -> bool:
    return day == date.max or (date.fromordinal(day.toordinal() + 1)).day == 1


# --- Texts --------------------------------------------------------------------------------------


def _text_lines(shown_text: ShownText) -> Iterator[str]:
    day = f", {shown_text.day}" if shown_text.day else ""
    yield f"{shown_text.source}{day}"
    yield from (f"  {note}" for note in shown_text.notes)
    if not shown_text.text:
        return
    snippets = [*shown_text.snippets()]
    marks: Sequence[Any] = shown_text.marks or [None]
    for mark, snippet in list(zip(marks, snippets, strict=True))[:_SNIPPETS_SHOWN]:
        if mark is not None:
            yield f"  {mark.words}, characters {mark.start} to {mark.end}:"
        for line in snippet.splitlines():
            yield f"  | {line}"
    if len(snippets) > _SNIPPETS_SHOWN:
        yield f"  … and {len(snippets) - _SNIPPETS_SHOWN} more spans (--json)"


_SNIPPETS_SHOWN = 6
"""Spans of a text that are printed; a page may name an answer many times."""
