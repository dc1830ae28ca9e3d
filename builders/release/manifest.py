"""`manifest.json`: what a release holds and what it was made from.

No clock, no host, no absolute path: the same inputs give the same manifest.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, JsonValue, ValidationError, model_validator

from factdrift.builders.core.config import Strict
from factdrift.builders.core.corrections import Correction
from factdrift.builders.core.dataset import Count, Input, RelativePath, Sha256, Statistics
from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.files import resource
from factdrift.builders.core.names import Name
from factdrift.builders.release.version import Version
from factdrift.builders.rows.cloze import PromptFact
from factdrift.builders.rows.roles import ColumnRoles

FILE = "manifest.json"
OWN_TEMPLATES = "templates"
"""The folder of a release with the relation templates that are the user's own."""
Kinds = Sequence[tuple[str, str]]
"""Name and type of each column, in order."""


def _version(version_text: str) -> str:
    try:
        return str(Version.parse(version_text))
    except UserError as error:
        raise ValueError(str(error)) from None


class ColumnEntry(Strict):
    """One column; `rendered`: a template or a rule writes it, a change of it alone is a patch.

    `measured`: so is a change where this bool column is true (`*`: everywhere); it is read off the
    dump and says nothing of the fact.
    """

    name: str
    type: str
    nullable: bool
    rendered: bool
    measured: str = ""
    description: str


class SplitEntry(Strict):
    """One split and the file that holds it."""

    name: Name
    file: RelativePath
    rows: Count


class ConfigEntry(Strict):
    """One config with its columns and its splits, in the builder's order.

    `roles`: what its columns are for, where its rows ask something.
    """

    name: Name
    description: str
    columns: tuple[ColumnEntry, ...]
    roles: ColumnRoles | None = None
    splits: tuple[SplitEntry, ...]

    @property
    def row_count(self) -> int:
        """The number of rows of all splits."""
        return sum(split.rows for split in self.splits)

    def kinds(self) -> Kinds:
        """Return name and type of each column, as a data file has them."""
        return [
            (column.name, column.type + " or null" * column.nullable) for column in self.columns
        ]

    @model_validator(mode="after")
    def _roles_of_columns(self) -> Self:
        """Check that roles name columns of the config; add the roles that older manifests lack."""
        column_names = {column.name for column in self.columns}
        if self.roles and (lacking_columns := sorted(self.roles.columns() - column_names)):
            raise ValueError(f"roles: there is no column {', '.join(lacking_columns)}")
        if not self.roles and {"id", "prompt", "targets"} <= column_names:
            object.__setattr__(self, "roles", ColumnRoles())
        return self


class DropEntry(Strict):
    """The number of rows that one step dropped for one reason."""

    step: str
    reason: str
    rows: Count


class AppliedCorrection(Correction):
    """A correction that a release was made with, or that was withdrawn.

    `rows`: the rows that it dropped or mended. `statements`: the intervals of its statement among
    the facts that the release was made from.
    """

    rows: Count = 0
    statements: Count = 0

    @property
    def done(self) -> str:
        """What was done, in words: `1 row dropped`, or `mended: end is 2025-05-06`."""
        if self.withdrawn:
            return f"withdrawn: {self.withdrawn}"
        if self.drop:
            number, noun = (self.rows, "row") if self.row else (1, "statement")
            return f"{number} {noun}{'s' * (number != 1)} dropped"
        mended_parts: list[str] = []
        for name, value in (self.mend or {}).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            mended_parts.append(f"{name} is {text}")
        return f"mended: {', '.join(mended_parts)}"


class Continued(Strict):
    """The release that this one goes on from, whose rows it keeps.

    `reworded`: the rows whose names or words would be others now. `kept`: those that this
    release's dump is not sure of; `kept.parquet` lists them. `unlike`: the configs that have other
    columns than then, and nothing of before.
    """

    version: Annotated[str, AfterValidator(_version)]
    manifest_sha256: Sha256
    reworded: Count
    kept: Count
    unlike: tuple[Name, ...] = ()


class FileEntry(Strict):
    """One file of the release."""

    path: RelativePath
    sha256: Sha256
    bytes: Count


class Manifest(Strict):
    """The manifest of one release; `files` lists all its files but the manifest itself.

    `manifest_sha256` is the SHA-256 of `manifest.json` without the line that says it. Releases of
    versions before 0.3 have none.
    """

    format: Literal[1] = 1
    dataset: Name
    title: str
    version: Annotated[str, AfterValidator(_version)]
    canary: str
    builder: str
    code_version: str
    libraries: Mapping[str, str]
    licence: str
    manifest_sha256: Sha256 | None = None
    published: date
    seed: int
    parameters: Mapping[str, JsonValue]
    recipe_sha256: Sha256
    rebuild: str
    inputs: tuple[Input, ...]
    configs: tuple[ConfigEntry, ...]
    drops: tuple[DropEntry, ...]
    corrections: tuple[AppliedCorrection, ...] = ()
    since: Continued | None = None
    examples: tuple[PromptFact, ...] = ()
    figures: tuple[Statistics, ...]
    files: tuple[FileEntry, ...]

    def sha256s(self) -> dict[str, str]:
        """Path -> sha256 of every file but the manifest."""
        return {entry.path: entry.sha256 for entry in self.files}

    def config(self, name: str) -> ConfigEntry | None:
        """Return the config of this name, or None."""
        return next((config for config in self.configs if config.name == name), None)


def write_json(json_path: Path, json_value: Any, *, sort_keys: bool = False) -> None:
    """Write a JSON document as all of a release are: two spaces, one final newline."""
    json_text = json.dumps(
        json_value, indent=2, sort_keys=sort_keys, ensure_ascii=False, allow_nan=False
    )
    json_path.write_text(json_text + "\n", encoding="utf-8")


_OWN_SHA256 = re.compile(rb'^  "manifest_sha256": "[0-9a-f]{64}",\n', re.MULTILINE)
"""The line of `manifest.json` with the checksum of the other lines.

It matches `  "manifest_sha256": "ab…",` with 64 digits and its line end.
"""


def save_manifest(manifest: Manifest, release_folder: Path) -> None:
    """Write `manifest.json`, with the checksum of its own lines."""
    manifest_data = manifest.model_dump(mode="json", exclude={"manifest_sha256"})
    manifest_path = release_folder / FILE
    write_json(manifest_path, manifest_data, sort_keys=True)
    manifest_data["manifest_sha256"] = own_sha256(release_folder)
    write_json(manifest_path, manifest_data, sort_keys=True)


def own_sha256(release_folder: Path) -> str:
    """Return the SHA-256 of `manifest.json` without the line that says it."""
    manifest_bytes = (release_folder / FILE).read_bytes()
    return hashlib.sha256(_OWN_SHA256.sub(b"", manifest_bytes, count=1)).hexdigest()


def templates_of(release_folder: Path, given: Path) -> Path:
    """Return the folder of the relation templates of a release.

    That is `given`, unless it is the project's: a release that was made with a user's own templates
    holds them.
    """
    own_templates = release_folder / OWN_TEMPLATES
    is_ours = given.resolve() == resource("templates").resolve()
    return own_templates if is_ours and own_templates.is_dir() else given


def load_manifest(release_folder: Path) -> Manifest:
    """Read `manifest.json` of a release folder; `UserError` where it is missing or broken."""
    manifest_path = release_folder / FILE
    try:
        if manifest_path.is_symlink():
            raise UserError("is a link, and links are not followed", where=manifest_path)
        return Manifest.model_validate_json(manifest_path.read_bytes())
    except OSError as error:
        hint_text = "is this a release folder, releases/<dataset>/<version>?"
        raise UserError(
            f"cannot be read: {error.strerror}", where=manifest_path, hint=hint_text
        ) from error
    except ValidationError as error:
        problem_lines = [
            f"{on_a_line('.'.join(map(str, problem['loc'])))[:200] or 'the file'}: "
            f"{problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_url=False, include_input=False)
        ]
        more_problems = f" (and {len(problem_lines) - 5} more)" if len(problem_lines) > 5 else ""
        raise UserError(
            "broken manifest: " + "; ".join(problem_lines[:5]) + more_problems, where=manifest_path
        ) from error


def locate_file(release_folder: Path, path: str) -> Path:
    """A file that a manifest names; `UserError` where it is missing, a link or below a link."""
    file_place = release_folder
    for path_part in PurePosixPath(path).parts:
        file_place /= path_part
        if file_place.is_symlink():
            raise UserError("is a link, and links are not followed", where=file_place)
    if not file_place.is_file():
        raise UserError("the manifest names it, but it is missing", where=file_place)
    return file_place


def canary(dataset: str) -> str:
    """Return the string that marks texts which contain this dataset, the same for every version.

    Put into cards so that a search of training data for it finds leaked copies.
    """
    canary_guid = uuid.uuid5(uuid.NAMESPACE_URL, f"factdrift:{dataset}")
    return f"factdrift {dataset} canary GUID {canary_guid}"
