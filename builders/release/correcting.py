"""`factdrift correct`: write entries of `corrections.yaml`, and check those that are there.

An entry is made from the command line, from the text of an issue (the form is
`.github/ISSUE_TEMPLATE/row.yml`), or from a release that cites it. It is looked up in the release
before it is written, and added to the end of the file, so that comments stay.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import JsonValue, ValidationError

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.corrections import (
    NO_CORRECTIONS,
    Correction,
    Corrections,
    read_corrections,
)
from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.files import disk_errors, replacing
from factdrift.builders.core.limits import LARGEST_YAML
from factdrift.builders.core.names import NAME
from factdrift.builders.release.errata import cited_corrections, entry_problems, row_places
from factdrift.builders.release.manifest import ConfigEntry, load_manifest
from factdrift.builders.release.version import published_versions
from factdrift.builders.release.why.explain import WhySources, explain

ISSUE_LABELS: Mapping[str, str] = {
    "Id of the row, or of the statement": "about",
    "Dataset and version": "release",
    "What is wrong": "wrong",
    "Source": "source",
    "Who says so": "by",
    "What to do": "action",
    "Other values": "mend",
}
"""The labels of the issue form, and what of an entry each one is."""
# what a form leaves where nobody wrote anything
_NOTHING = "_No response_"
# `### What is wrong`, as the text of an issue has it that was made with a form
_ISSUE_HEAD = re.compile(r"^### (.+?)\s*$", re.MULTILINE)
# `- id: merz` and `  - id: merz`: an entry of the list
_ENTRY_LINE = re.compile(r"^( *)- ", re.MULTILINE)
# `corrections: []`, an empty list that entries take the place of
_EMPTY_LIST = re.compile(r"^corrections:[ \t]*(\[[ \t]*\])?[ \t]*$", re.MULTILINE)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.]+")
_NAME_LENGTH = 24
"""Characters of an id that an entry is named by."""


@dataclass(frozen=True)
class CorrectionWords:
    """What somebody says of a row or statement, before it is an entry; None: not said.

    `about`: the id of the row or statement. `mend`: other values by column or part. `answers`: what
    is accepted instead. `name`: the id of the entry.
    """

    about: str
    release: str | None = None
    wrong: str | None = None
    source: str | None = None
    by: str | None = None
    drop: bool = False
    mend: Mapping[str, JsonValue] = field(default_factory=dict)
    answers: Sequence[str] = ()
    name: str | None = None


def words_of_issue(issue_file: Path) -> CorrectionWords:
    """Read what the text of an issue says that was made with the form.

    Raises `UserError` for a text without the headings of the form.
    """
    with disk_errors(issue_file):
        text = issue_file.read_bytes()[:LARGEST_YAML].decode("utf-8", "replace")
    _, *parts = _ISSUE_HEAD.split(text)
    given_texts: dict[str, str] = {}
    for label, part in zip(parts[::2], parts[1::2], strict=True):
        if label in ISSUE_LABELS and part.strip() not in ("", _NOTHING):
            given_texts[ISSUE_LABELS[label]] = part.strip()
    if "about" not in given_texts:
        hint_text = f"it needs the headings of the form: {', '.join(ISSUE_LABELS)}"
        raise UserError(
            "no text of an issue about a row", where=display_path(issue_file), hint=hint_text
        )
    mend_lines = [line for line in given_texts.get("mend", "").splitlines() if line.strip()]
    return CorrectionWords(
        given_texts["about"],
        release=given_texts.get("release"),
        wrong=given_texts.get("wrong"),
        source=given_texts.get("source"),
        by=given_texts.get("by"),
        drop=given_texts.get("action", "").lower().startswith("drop"),
        mend=mended_values(mend_lines, ":"),
    )


def mended_values(assignments: Sequence[str], sign: str = "=") -> dict[str, JsonValue]:
    """Read `end=2025-05-06` and `targets=["Friedrich Merz"]`; the value is JSON, or else a text."""
    mend: dict[str, JsonValue] = {}
    for assignment in assignments:
        name, found_sign, value_text = assignment.partition(sign)
        if not found_sign or not name.strip() or not value_text.strip():
            raise UserError(
                f"{on_a_line(assignment)}: no other value",
                hint=f"write a column and its value: end{sign}2025-05-06",
            )
        try:
            mend[name.strip()] = json.loads(value_text)
        except ValueError:
            mend[name.strip()] = value_text.strip()
    return mend


def new_entry(words: CorrectionWords, release_folder: Path | None) -> Correction:
    """Return the entry that somebody's words make, looked up in the release if one is given.

    Raises `UserError` where something is missing, or the release does not bear it out.
    """
    is_statement = "$" in words.about
    release = words.release
    mend = dict(words.mend)
    if release_folder is not None:
        release_manifest = load_manifest(release_folder)
        release = f"{release_manifest.dataset} {release_manifest.version}"
        if words.answers and not is_statement:
            mend |= _answer_values(words, release_folder)
    elif words.answers:
        raise UserError("--answer needs the release", hint="factdrift correct ROW RELEASE …")
    _refuse_unsaid(words)
    values: dict[str, Any] = {
        "id": words.name or _entry_name(words.about),
        "statement" if is_statement else "row": words.about,
        "release": release,
        **{name: getattr(words, name) for name in ("wrong", "source", "by")},
        "drop": True if words.drop else None,
        "mend": mend or None,
    }
    correction = _valid_entry(values)
    if release_folder is None:
        return correction
    problem_texts = [
        f"{name}: {problem}" for _, (name, problem) in entry_problems(release_folder, [correction])
    ]
    if problem_texts:
        raise UserError("; ".join(problem_texts), where=display_path(release_folder))
    return correction


def _refuse_unsaid(words: CorrectionWords) -> None:
    """Raise `UserError` if an entry does not say what is wrong, what shows it, or who says so."""
    unsaid_fields = [name for name in ("wrong", "source", "by") if not getattr(words, name)]
    if unsaid_fields:
        raise UserError(
            f"an entry says {', '.join(unsaid_fields)}, too",
            hint="--wrong: what is wrong; --source: what shows it; --by: who says so",
        )


def _valid_entry(values: Mapping[str, Any]) -> Correction:
    """Return the entry with these values; raises `UserError` with all that is wrong with them."""
    try:
        return Correction(**values)
    except ValidationError as error:
        problems = [
            ": ".join([*map(str, problem["loc"]), problem["msg"].removeprefix("Value error, ")])
            for problem in error.errors(include_url=False, include_input=False)
        ]
        hint_text = (
            "--drop, or other values: --answer, --start, --end, --object, --set COLUMN=VALUE"
        )
        raise UserError("; ".join(problems), hint=hint_text) from None


def _answer_values(words: CorrectionWords, release_folder: Path) -> dict[str, JsonValue]:
    """Return the columns of other answers of a row, as its config has them."""
    release_manifest = load_manifest(release_folder)
    with duck.connect() as db:
        places = row_places(db, release_folder, release_manifest, [words.about])
    configs = [config for config, _ in places.get(words.about, ()) if config.roles]
    if not configs:
        raise UserError(
            f"no row {words.about} that asks something",
            where=display_path(release_folder),
            hint="of other rows mend columns: --set COLUMN=VALUE",
        )
    return _in_columns(configs[0], list(words.answers))


def _in_columns(config: ConfigEntry, answers: list[JsonValue]) -> dict[str, JsonValue]:
    roles = config.roles
    assert roles is not None
    answer_column = roles.answers.partition(".")[0]
    kinds = {column.name: column.type for column in config.columns}
    mend: dict[str, JsonValue] = {roles.targets: answers}
    if answer_column != roles.targets:
        if kinds[answer_column] == "list<string>":
            mend[answer_column] = answers
        elif kinds[answer_column] == "string":
            mend[answer_column] = answers[0]
        else:
            raise UserError(
                f"the answers of {config.name} are not words alone: {answer_column} is "
                f"{kinds[answer_column]}",
                hint="correct the statement behind the row (factdrift why names it), and every "
                f"dataset gets it; or --set {answer_column}=JSON and --set {roles.targets}=JSON",
            )
    return mend


def _entry_name(about: str) -> str:
    """Return the id of an entry: `Q183-C408D619` of a statement, and of a row its own id.

    >>> _entry_name("Q183$C408D619-3685-4F0A-A174-9FDFFAA7C3CA")
    'Q183-C408D619'
    """
    if "$" in about:
        item, _, rest = about.partition("$")
        return f"{item}-{rest.partition('-')[0]}"
    return "row-" + _NOT_IN_NAMES.sub("-", about)[:_NAME_LENGTH].strip("-")


def add_entries(file: Path, entries: Sequence[Correction]) -> Sequence[Correction]:
    """Add entries to the end of a file of corrections, and return those that it did not have.

    Raises `UserError` where the file has another entry of the id, or one about the same.
    """
    known_corrections = read_corrections(file) if file.is_file() else NO_CORRECTIONS
    by_id = {correction.id: correction for correction in known_corrections.corrections}
    added = [entry for entry in entries if by_id.get(entry.id) != entry]
    for entry in added:
        _refuse_clash(file, known_corrections, entry)
    if not added:
        return added
    text = file.read_text("utf-8") if file.is_file() else "corrections:\n"
    if not known_corrections.corrections:
        text = _EMPTY_LIST.sub("corrections:", text.rstrip("\n") + "\n")
    text = text.rstrip("\n") + "\n"
    match = _ENTRY_LINE.search(text)
    indent = match[1] if match and known_corrections.corrections else ""
    entry_text = "".join(map(_entry_text, added))
    text += "".join(f"{indent}{line}\n" if line else "\n" for line in entry_text.splitlines())
    with disk_errors(file), replacing(file) as unfinished:
        unfinished.write_text(text, "utf-8")
        read_corrections(unfinished)
    return added


def _refuse_clash(file: Path, known_corrections: Corrections, entry: Correction) -> None:
    for correction in known_corrections.corrections:
        is_same = (correction.about, correction.dataset if correction.row else None) == (
            entry.about,
            entry.dataset if entry.row else None,
        )
        if is_same and correction.withdrawn is None and entry.withdrawn is None:
            problem, hint = f"{correction.id!r} corrects the same", "edit it, or withdraw it"
        elif correction.id == entry.id:
            problem, hint = "another entry has this id", "give it another one: --name"
        else:
            continue
        raise UserError(f"{entry.id}: {problem}", where=display_path(file), hint=hint)


def _entry_text(entry: Correction) -> str:
    """An entry as YAML, its fields in the order in which they are documented."""
    values = entry.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump([values], sort_keys=False, allow_unicode=True, width=100)


def release_in(out: Path, release_name: str | None) -> Path | None:
    """Return the folder of a release such as `timeqa 1.0.0`, None where it is not in `out`."""
    dataset, _, version = (release_name or "").partition(" ")
    if not (NAME.fullmatch(dataset) and version):
        return None
    for known_version in published_versions(out / dataset):
        if str(known_version) == version:
            return out / dataset / version
    return None


def entries_of_release(release_folder: Path) -> Sequence[Correction]:
    """Return the entries that a release cites."""
    return cited_corrections(load_manifest(release_folder)).corrections


def statements_behind(row_id: str, release_folder: Path) -> list[str]:
    """Return the statements that a row rests on, as far as its release names them."""
    explanation = explain(row_id, release_folder, WhySources())
    statement_ids = dict.fromkeys(explanation.statements)
    for history in explanation.histories:
        for term in history.terms:
            if term.holds == "surely":
                statement_ids |= dict.fromkeys(term.statements)
    return [*statement_ids]


def described(corrections: Corrections) -> Iterator[str]:
    """Yield a line for each entry: what it is about, and what is done."""
    for correction in corrections.corrections:
        kind = "row" if correction.row else "statement"
        release = f" of {correction.release}" if correction.release else ""
        action = "drop it" if correction.drop else f"mend {', '.join(correction.mend or ())}"
        if correction.withdrawn:
            action = f"withdrawn: {on_a_line(correction.withdrawn)}"
        yield f"{correction.id}: {kind} {correction.about}{release}: {action}"
