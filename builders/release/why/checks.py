"""What speaks for a row and against it: each check compares two things that ought to agree."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.release.manifest import Manifest, locate_file
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import Claims, named_aliases
from factdrift.builders.release.why.days import day_checks
from factdrift.builders.release.why.held import held_checks
from factdrift.builders.release.why.histories import FactHistory, HistoryReader
from factdrift.builders.release.why.lookup import ReleasedRow, Values
from factdrift.builders.release.why.paths import path_checks
from factdrift.builders.release.why.stated import changed_days, statement_checks
from factdrift.builders.release.why.texts import ShownText, named_after_all
from factdrift.builders.text.squad import normalize_or_keep


def file_check(release_folder: Path, release_manifest: Manifest, file_path: str) -> RowCheck:
    """Whether the file of the row is the one that was published."""
    listed = release_manifest.sha256s().get(file_path)
    if listed == file_sha256(locate_file(release_folder, file_path)):
        return RowCheck(True, f"{file_path} is as the manifest says")
    return RowCheck(
        False, f"{file_path} was changed since it was published (factdrift verify says all)"
    )


def row_checks(
    row: ReleasedRow,
    claims: Claims,
    histories: Sequence[FactHistory],
    texts: Sequence[ShownText],
    reader: HistoryReader,
    release_manifest: Manifest,
    mended_ids: frozenset[str] = frozenset(),
) -> Iterator[RowCheck]:
    """Yield the checks of a row that what was found allows.

    `mended_ids` are statements of which corrections, and not the dump, say the object or the days.
    """
    yield from _names(row.values, claims, histories, reader)
    yield from held_checks(row.values, claims, histories)
    yield from path_checks(row.values, claims, histories)
    if reader.has_statements:
        yield from statement_checks(row.values, claims, histories, mended_ids)
    yield from _spans(texts)
    for name in named_after_all(row.values):
        yield disagreement(f"the row says that its text does not name what held: it has “{name}”")
    yield from day_checks(row, claims, release_manifest)
    yield from changed_days(row.values)


def _names(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory], reader: HistoryReader
) -> Iterator[RowCheck]:
    """Names beside ids, and the answers among what is accepted."""
    item_labels = [(claimed_item.item, claimed_item.label) for claimed_item in claims.items]
    # rows with invented names have a twin, and names that no source has
    if not row_values.get("twin"):
        for role in ("subject", "object"):
            item_labels.append((row_values.get(role, ""), row_values.get(f"{role}_label", "")))
    for item, item_label in item_labels:
        stated_label = reader.stated_label(item)
        if item_label and stated_label and item_label != stated_label:
            label_words = f"the row calls {item} “{item_label}”, the source “{stated_label}”"
            yield RowCheck(False, label_words)
    if not row_values.get("twin"):
        yield from _prompt_names(row_values, claims, histories)
        yield from _accepted_names(row_values, claims, reader)
        yield from _other_names(row_values, claims, reader)
    yield from _choices(row_values, claims)


def _prompt_names(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether the prompt names the subject; of two hops it names the first one alone."""
    subject_label = row_values.get("subject_label")
    if subject_label and claims.prompt:
        subject_labels = [subject_label, *(history.subject_label for history in histories)]
        if not any(label and label in claims.prompt for label in subject_labels):
            yield RowCheck(False, f"“{subject_label}” does not stand in the prompt")


def _accepted_names(
    row_values: Values, claims: Claims, reader: HistoryReader
) -> Iterator[RowCheck]:
    """Whether the answers are accepted, and so the choice that is said to be right."""
    # what was right before is no accepted answer, and some rows do not say which answers these are
    all_accepted = "still_true" in row_values or len(claims.answers) == 1
    for claimed_item in claims.answers if all_accepted else ():
        item_label = claimed_item.label or reader.label(claimed_item.item)
        is_accepted = any(item_label in target for target in claims.targets)
        if claims.targets and item_label and not is_accepted:
            yield RowCheck(False, f"“{item_label}”, the answer, is not among the accepted answers")


def _other_names(row_values: Values, claims: Claims, reader: HistoryReader) -> Iterator[RowCheck]:
    """Whether the aliases of items are theirs, and each accepted answer is a name of one."""
    own_names: set[str] = set()
    for item, aliases in named_aliases(row_values):
        stated_names = reader.stated_names(item)
        strange_names = [name for name in aliases if stated_names and name not in stated_names]
        for name in strange_names:
            label = reader.stated_label(item)
            yield disagreement(f"“{name}” is no name of “{label}” ({item}) in the source")
        own_names |= {*aliases}
    if not own_names or not any(item.label for item in claims.answers):
        return
    spans = row_values.get("answers")
    if isinstance(spans, dict):  # of TimeQA: what the page calls an answer is accepted as well
        own_names |= {str(text) for text in spans.get("text") or ()}
    for target in claims.targets:
        if target not in own_names | {claimed_item.label for claimed_item in claims.items}:
            yield disagreement(f"“{target}” is accepted, and is no name of an answer")


def _choices(row_values: Values, claims: Claims) -> Iterator[RowCheck]:
    """Whether the choice that is said to be right is accepted, and no other one."""
    choices, answer_place = row_values.get("choices"), row_values.get("answer_index")
    if not isinstance(choices, list) or not isinstance(answer_place, int):
        return
    accepted_forms = {normalize_or_keep(target) for target in claims.targets}
    right_places = [
        place
        for place, choice in enumerate(choices)
        if normalize_or_keep(str(choice)) in accepted_forms
    ]
    if answer_place not in right_places:
        yield disagreement("the choice that is said to be right is no accepted answer")
    elif right_places != [answer_place]:
        names = ", ".join(str(choices[place]) for place in right_places if place != answer_place)
        yield disagreement(f"another choice is an accepted answer as well: {names}")
    else:
        yield RowCheck(True, "the choice that is said to be right is accepted, and no other one")


def _spans(texts: Sequence[ShownText]) -> Iterator[RowCheck]:
    """Whether the text has what the row says at each span."""
    for shown_text in texts:
        for mark, claimed_text in zip(shown_text.marks, shown_text.claimed_texts, strict=False):
            marked_text = shown_text.text[mark.start : mark.end]
            if marked_text == claimed_text:
                yield RowCheck(True, f"the span of the text is “{claimed_text}”")
            else:
                yield RowCheck(False, f"the text has “{marked_text}”, not “{claimed_text}”")
        for lacking in shown_text.lacking:
            yield RowCheck(False, f"the text does not have “{lacking}” there")
