"""The release notes of a new release: what changed since the last one, as Markdown.

Counts of what changed, the corrections, then the changes that a reader looks for: which questions
have other answers, which are gone and why, and what the questions that came ask about. At most
`SHOWN_ROWS` lines of each; all of them are in the Parquet file of the difference.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core import duck
from factdrift.builders.release.card import (
    DROPPED,
    code_span,
    drop_reasons,
    escape_markdown,
    escape_sentence,
    markdown_link,
    reason_text,
)
from factdrift.builders.release.compare import CHANGES, WORDS, ReleaseDiff
from factdrift.builders.release.manifest import ConfigEntry, Manifest, load_manifest, locate_file

# ruff: noqa: S608 - names and literals are quoted by `duck`

SHOWN_ROWS = 20
"""Lines of one list."""
_MEANS = {
    "major": "rows were edited, removed or moved, or columns changed; results on the release "
    "before are not comparable where they rest on these rows",
    "minor": "rows were added, and all others are as they were",
    "patch": "texts, figures of the dump or documents are others; facts and answers are the same",
    "none": "nothing changed",
}
_PAIR = ("subject", "relation")
_COLUMNS = {"prompt", "targets", *_PAIR, "subject_label", "relation_label"}


def release_notes(old: Path, new: Path, release_diff: ReleaseDiff, diff: Path) -> Iterator[str]:
    """Yield the lines of the notes; `diff` is the file that `compare` wrote for these releases."""
    before, after = load_manifest(old), load_manifest(new)
    yield f"# {escape_markdown(after.dataset)} {after.version}"
    yield ""
    yield f"After {before.version}, a {release_diff.level} version: {_MEANS[release_diff.level]}."
    yield ""
    yield from _inputs(before, after)
    yield from _counts(release_diff)
    yield from _corrections(before, after)
    for config in after.configs:
        column_names = {column.name for column in config.columns}
        if (
            column_names >= _COLUMNS and "cloze" not in column_names
        ):  # those of other wordings say the same
            yield from _corrected(new, config, diff)
            yield from _added(config, diff)
    yield from _gone(new, diff)


def _inputs(before: Manifest, after: Manifest) -> Iterator[str]:
    snapshot_days = {entry.name: entry.snapshot for entry in before.inputs}
    for entry in after.inputs:
        old_values = snapshot_days.get(entry.name)
        row_note = (
            f", after that of {old_values}" if old_values and old_values != entry.snapshot else ""
        )
        input_name = escape_markdown(entry.name)
        yield f"- {input_name}: {code_span(entry.file)} of {entry.snapshot}{row_note}"
    yield ""


def _counts(release_diff: ReleaseDiff) -> Iterator[str]:
    """Yield the table of changed rows by config, then the changes of columns and of the layout."""
    if release_diff.rows:
        change_kinds = [
            change_name
            for change_name in CHANGES
            if any(row_counts.get(change_name) for row_counts in release_diff.rows.values())
        ]
        heads = [f" {WORDS.get(change_name, change_name)} |" for change_name in change_kinds]
        yield f"| rows of |{''.join(heads)}"
        yield f"|:--|{'--:|' * len(change_kinds)}"
        for config, row_counts in release_diff.rows.items():
            row_cells = "".join(
                f" {row_counts.get(change_name, 0):,} |" for change_name in change_kinds
            )
            yield f"| {code_span(config)} |{row_cells}"
        yield ""
    for count_line in (*release_diff.columns, *release_diff.layout):
        yield f"- {escape_markdown(count_line)}"
    yield ""


def _corrections(before: Manifest, after: Manifest) -> Iterator[str]:
    """Yield the corrections that came since the release before, and those that are made no more."""
    earlier = {correction.id: correction for correction in before.corrections}
    later_ids = {correction.id for correction in after.corrections}
    # what a correction does may change with the dump; it is told when it is new or another
    news = [
        correction
        for correction in after.corrections
        if correction.id not in earlier or earlier[correction.id].done != correction.done
    ]
    gone_ids = sorted(earlier.keys() - later_ids)
    if not news and not gone_ids:
        return
    head = ("correction", "of", "what was wrong", "done", "who says so", "source")
    yield from _head("Corrections", head)
    for correction in news:
        row_cells = (
            code_span(correction.id),
            code_span(correction.about),
            escape_markdown(correction.wrong),
            escape_markdown(correction.done),
            escape_markdown(correction.by),
            markdown_link(correction.source, correction.source),
        )
        yield f"| {' | '.join(row_cells)} |"
    yield ""
    for entry in gone_ids:
        yield f"- {code_span(entry)}: not needed any more: nothing in this release has the mistake"
    yield ""


def _corrected(new: Path, config: ConfigEntry, diff: Path) -> Iterator[str]:
    """Yield the questions of one config whose answers changed or that were moved."""
    table_files = " UNION ALL ".join(
        f"SELECT id, {', '.join(map(duck.name, sorted(_COLUMNS)))} "
        f"FROM {duck.parquet(locate_file(new, split.file))}"
        for split in config.splits
    )
    rows_here = duck.text(config.name)
    joined_rows = f"""
        SELECT any_value(n.subject_label ORDER BY n.id), any_value(n.relation_label ORDER BY n.id),
            d.new_split, any_value(d.old_config || '/' || d.old_split ORDER BY n.id),
            any_value(d.old ORDER BY n.id), any_value(d.new ORDER BY n.id),
            any_value(d.changed ORDER BY n.id)
        FROM {duck.parquet(diff)} d JOIN ({table_files}) n USING (id)
        WHERE d.new_config = {rows_here} AND d.change IN ('edited', 'moved')
        GROUP BY n.subject, n.relation, d.new_split ORDER BY 3 DESC, 1, 2
    """
    edited_rows = duck.query(joined_rows)
    if edited_rows:
        head = ("subject", "relation", "split", "changed", "answers before", "answers now")
        yield from _head(f"Corrected in {code_span(config.name)}", head)
        quiet = {column.name for column in config.columns if column.rendered or column.measured}
        for subject, relation, split, row_place, old_values, new_values, changed in edited_rows[
            :SHOWN_ROWS
        ]:
            column_names = [column for column in changed if column not in quiet]
            here_too = row_place == f"{config.name}/{split}"
            row_note = ", ".join([*([] if here_too else [f"was in {row_place}"]), *column_names])
            row_cells = (
                subject,
                relation,
                split,
                row_note,
                _answers(old_values),
                _answers(new_values),
            )
            yield f"| {' | '.join(map(escape_markdown, row_cells))} |"
        yield from _more(len(edited_rows))


def _added(config: ConfigEntry, diff: Path) -> Iterator[str]:
    """Yield the changed facts that the added questions of one config ask about."""
    if "previous_answers" not in {column.name for column in config.columns}:
        return
    added_rows = duck.query(f"""
        SELECT any_value(json_extract_string(new, '$.subject_label') ORDER BY id),
            any_value(json_extract_string(new, '$.relation_label') ORDER BY id), new_split,
            any_value(json_extract(new, '$.previous_answers[*].label') ORDER BY id),
            any_value(json_extract(new, '$.answers[*].label') ORDER BY id)
        FROM {duck.parquet(diff)}
        WHERE change = 'added' AND new_config = {duck.text(config.name)}
            AND json_extract_string(new, '$.split') NOT IN ('unchanged')
        GROUP BY json_extract_string(new, '$.subject'), json_extract_string(new, '$.relation'),
            new_split
        ORDER BY new_split DESC, max(CAST(json_extract_string(new, '$.sitelinks') AS BIGINT)) DESC,
            1, 2
    """)
    if added_rows:
        head = ("subject", "relation", "split", "before", "since")
        yield from _head(f"Added to {code_span(config.name)}", head)
        for subject, relation, split, old_values, new_values in added_rows[:SHOWN_ROWS]:
            answers = new_values if new_values != old_values else []
            row_cells = (subject, relation, split, _joined(old_values), _joined(answers))
            yield f"| {' | '.join(map(escape_markdown, row_cells))} |"
        yield from _more(len(added_rows))


def _gone(new: Path, diff: Path) -> Iterator[str]:
    """Yield the removed rows by subject and relation, with the drop reason of the new release."""
    reasons = f"SELECT subject, relation, reason FROM {duck.parquet(new / DROPPED)}"
    removed_rows = duck.query(f"""
        WITH gone AS (
            SELECT old_config AS config, json_extract_string(old, '$.subject') AS subject,
                json_extract_string(old, '$.relation') AS relation, count(*) AS n,
                any_value(json_extract_string(old, '$.subject_label') ORDER BY id) AS name,
                any_value(json_extract_string(old, '$.relation_label') ORDER BY id) AS label
            FROM {duck.parquet(diff)}
            WHERE change = 'removed' AND json_extract_string(old, '$.prompt') IS NOT NULL
            GROUP BY ALL
        ), why AS (
            SELECT subject, relation, string_agg(DISTINCT reason, ', ' ORDER BY reason) AS reasons
            FROM ({reasons}) WHERE subject IS NOT NULL GROUP BY ALL
        )
        SELECT config, name, label, n, reasons FROM gone LEFT JOIN why USING (subject, relation)
        ORDER BY n DESC, config, name, label
    """)
    if not removed_rows:
        return
    head = ("config", "subject", "relation", "rows", "reasons in this release")
    yield from _head("Removed", head)
    for config, name, label, row_count, drop_reason in removed_rows[:SHOWN_ROWS]:
        row_note = (
            code_span(drop_reason)
            if drop_reason
            else "another split or answer takes its place, or its fact is gone"
        )
        words = f"{escape_markdown(name)} | {escape_markdown(label)}"
        yield f"| {code_span(config)} | {words} | {row_count:,} | {row_note} |"
    yield from _more(len(removed_rows))
    drop_reasons_given = {
        reason
        for *_, drop_reason in removed_rows[:SHOWN_ROWS]
        if drop_reason
        for reason in drop_reason.split(", ")
    }
    for reason in sorted(drop_reasons_given):
        yield f"- {code_span(reason)}: {escape_sentence(reason_text(reason, drop_reasons()))}"


def _head(table_title: str, column_names: Sequence[str]) -> Iterator[str]:
    yield f"## {table_title}"
    yield ""
    yield f"| {' | '.join(column_names)} |"
    yield f"|{':--|' * len(column_names)}"


def _more(number: int) -> Iterator[str]:
    yield ""
    if number > SHOWN_ROWS:
        yield f"… and {number - SHOWN_ROWS:,} more."
        yield ""


def _answers(values: str | None) -> str:
    """The answers among the values that changed, by their labels where they have some."""
    row_note: Any = json.loads(values) if values else {}
    if row_note.get("answers") and all("label" in answer for answer in row_note["answers"]):
        return ", ".join(str(answer["label"]) for answer in row_note["answers"])
    return str(row_note["targets"][0]) if row_note.get("targets") else "the same"


def _joined(names: Sequence[str] | None) -> str | None:
    """Labels that DuckDB has as JSON strings, in one cell; none is null."""
    return ", ".join(str(json.loads(name)) for name in names or ()) or None
