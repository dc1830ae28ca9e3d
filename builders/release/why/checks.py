"""What speaks for a row and against it: each check compares two things that ought to agree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.release.manifest import Manifest, locate_file
from factdrift.builders.release.why.claims import Claims
from factdrift.builders.release.why.histories import HOLDS, AskedTime, History, HistoryReader
from factdrift.builders.release.why.lookup import ReleasedRow, Values
from factdrift.builders.release.why.texts import ShownText
from factdrift.builders.wmt.lines import ARTICLE_ID


@dataclass(frozen=True)
class Check:
    """Two things that ought to agree, in words; `agrees` is false where they do not."""

    agrees: bool
    words: str


def file_check(release_folder: Path, release_manifest: Manifest, file_path: str) -> Check:
    """Whether the file of the row is the one that was published."""
    listed = release_manifest.sha256s().get(file_path)
    if listed == file_sha256(locate_file(release_folder, file_path)):
        return Check(True, f"{file_path} is as the manifest says")
    return Check(
        False, f"{file_path} was changed since it was published (factdrift verify says all)"
    )


def row_checks(
    row: ReleasedRow,
    claims: Claims,
    histories: Sequence[History],
    texts: Sequence[ShownText],
    reader: HistoryReader,
) -> Iterator[Check]:
    """Yield the checks of a row that what was found allows."""
    yield from _names(row.values, claims, histories, reader)
    yield from _times(row.values, claims, histories)
    yield from _statements(row.values, claims, histories, reader)
    yield from _spans(texts)
    yield from _days(row.values)
    yield from _change(row.values)


def _names(
    values: Values, claims: Claims, histories: Sequence[History], reader: HistoryReader
) -> Iterator[Check]:
    """Names beside ids, and the answers among what is accepted."""
    for claimed in claims.items:
        stated_label = reader.stated_label(claimed.item)
        if claimed.label and stated_label and claimed.label != stated_label:
            words = f"the row calls {claimed.item} “{claimed.label}”, the source “{stated_label}”"
            yield Check(False, words)
    # rows with invented names have a twin, and names that no source has
    if values.get("twin"):
        return
    subject_label = values.get("subject_label")
    stated_label = reader.stated_label(values.get("subject"))
    if subject_label and stated_label and subject_label != stated_label:
        words = f"the row calls {values['subject']} “{subject_label}”, the source “{stated_label}”"
        yield Check(False, words)
    # of two hops the prompt names the first subject alone
    subject_labels = [subject_label, *(history.subject_label for history in histories)]
    is_named = any(label and label in claims.prompt for label in subject_labels)
    if subject_label and claims.prompt and not is_named:
        yield Check(False, f"“{subject_label}” does not stand in the prompt")
    for claimed in claims.answers:
        label = claimed.label or reader.label(claimed.item)
        if claims.targets and label and not any(label in target for target in claims.targets):
            yield Check(False, f"“{label}”, the answer, is not among the accepted answers")
    choices, place = values.get("choices"), values.get("answer_index")
    if isinstance(choices, list) and isinstance(place, int):
        is_right = place < len(choices) and choices[place] in claims.targets
        if not is_right:
            yield Check(False, "the choice that is said to be right is no accepted answer")


def _times(values: Values, claims: Claims, histories: Sequence[History]) -> Iterator[Check]:
    """Whether the answers held when the row asks, and nothing else did."""
    # a question over several facts, such as who was first, has answers of other times
    if claims.asked is None or values.get("family") not in (None, "chain"):
        return
    if not any(history.terms for history in histories):
        return
    for claimed in claims.answers:
        yield from _held(claimed.item, claimed.label, claims.asked, histories)
    if claims.before is not None and values.get("split") in ("unchanged", "updated"):
        for claimed in claims.items:
            if claimed.part == "before":
                yield from _held(claimed.item, claimed.label, claims.before, histories)
    accepted = {claimed.item for claimed in claims.items}
    # of several hops the rows say the answer of the last alone
    if claims.pair is None or not accepted or len(histories) > 1:
        return
    others = {
        term.object: term.object_label
        for term in histories[0].terms
        if term.holds == "surely" and term.object not in accepted
    }
    if others and not values.get("specifier"):
        names = ", ".join(f"“{label}” ({item})" for item, label in sorted(others.items()))
        yield Check(
            False, f"{names} surely held {claims.asked.words}, too, and the row does not say it"
        )
    elif not others:
        yield Check(True, f"nothing else surely held {claims.asked.words}")


def _held(item: str, label: str, asked: AskedTime, histories: Sequence[History]) -> Iterator[Check]:
    """Whether an item surely held at a time."""
    terms = [term for history in histories for term in history.terms if term.object == item]
    name = f"“{label or next((term.object_label for term in terms), '')}” ({item})"
    if not terms:
        yield Check(False, f"{name} has no term in this history")
        return
    best = min((asked.holds(term) for term in terms), key=HOLDS.index)
    words = {
        "surely": f"{name} surely held {asked.words}",
        "perhaps": f"{name} held perhaps, not surely, {asked.words}",
        "not": f"{name} did not hold {asked.words}",
    }
    yield Check(best == "surely", words[best])


def _statements(
    values: Values, claims: Claims, histories: Sequence[History], reader: HistoryReader
) -> Iterator[Check]:
    """Whether the dump has the statements that the row names, and says what the row does."""
    if not claims.statements or not reader.has_statements:
        return
    stated = {
        statement.statement: statement for history in histories for statement in history.statements
    }
    lacking = [name for name in claims.statements if name not in stated]
    if lacking:
        yield Check(False, f"the dump has no statement {', '.join(lacking)} on this")
    else:
        yield Check(True, "the dump has every statement that the row names")
    statement = stated.get(str(values.get("statement")))
    if statement is not None and set(DATES) <= values.keys():
        columns = ("object", *DATES, "end_open")
        differing = [name for name in columns if values[name] != getattr(statement, name)]
        # a relation of single times turns what was seen on a day into a point
        if differing and not values.get("point"):
            yield Check(False, f"the row and its statement differ in {', '.join(differing)}")


def _spans(texts: Sequence[ShownText]) -> Iterator[Check]:
    """Whether the text has what the row says at each span."""
    for shown in texts:
        for place, claimed in enumerate(shown.claimed):
            if place >= len(shown.marks):
                break
            mark = shown.marks[place]
            marked = shown.text[mark.start : mark.end]
            agrees = marked == claimed
            words = f"the span of the text is “{claimed}”"
            yield Check(agrees, words if agrees else f"the text has “{marked}”, not “{claimed}”")
        for lacking in shown.lacking:
            yield Check(False, f"the text does not have “{lacking}”")


def _change(values: Values) -> Iterator[Check]:
    """Whether what a row says of two dumps is what their days say."""
    if not {"change", "old_snapshot"} <= values.keys():
        return
    is_open = values["old_end_open"], values["new_end_open"]
    compared = DATES if not any(is_open) else DATES[:2]
    same_days = is_open[0] == is_open[1] and all(
        values[f"old_{name}"] == values[f"new_{name}"] for name in compared
    )
    agrees = {
        "static": same_days,
        "obsolete": is_open[0] is not False,
        "new": is_open[0] is None,
        "added": is_open[0] is None,
        "removed": is_open[1] is None,
        "corrected": bool(values.get("differs")),
    }.get(values["change"], True)
    words = f"the days of both dumps are those of a change that is called `{values['change']}`"
    yield Check(agrees, words if agrees else f"the days do not fit `{values['change']}`")


def _days(values: Values) -> Iterator[Check]:
    """Whether days that a row writes twice are the same, and in the right order."""
    article_id = values.get("evidence_id") or values.get("article")
    id_parts = ARTICLE_ID.fullmatch(article_id) if isinstance(article_id, str) else None
    article_day = values.get("article_day")
    if id_parts and isinstance(article_day, date):
        id_day = "-".join(id_parts.groups()[:3])
        if id_day != article_day.isoformat():
            yield Check(False, f"the article is of {id_day}, the row says {article_day}")
    later_columns = (("article_day", "question_day"), ("as_of", "asked_on"))
    for first, second in (*later_columns, ("evidence_ts", "question_ts")):
        earlier, later = values.get(first), values.get(second)
        if earlier is not None and later is not None and earlier > later:
            yield Check(False, f"`{second}` ({later}) lies before `{first}` ({earlier})")
