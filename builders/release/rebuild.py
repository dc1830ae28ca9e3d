"""Build a release again from its own manifest, and compare the two byte by byte."""

import importlib.metadata
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import factdrift
from factdrift.builders.core import keys
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Input
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.run import Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.generate.prompts import ModelSettings
from factdrift.builders.recipes.recipe import find_inputs, read_recipe, recipes
from factdrift.builders.release import manifest
from factdrift.builders.release.errata import cited_corrections
from factdrift.builders.release.manifest import Manifest, templates_of
from factdrift.builders.release.publish import RECIPE
from factdrift.builders.release.release import (
    MODEL_OPTIONS,
    ReleaseOptions,
    named_model,
    release_all,
    with_days_found,
)
from factdrift.builders.text import pipeline


def rebuild_release(release_folder: Path, options: ReleaseOptions) -> list[str]:
    """Build a release again into `options.out`; return a line for each file that differs.

    The inputs are those of `options.given`, else those that the bundled recipe names. `UserError`
    before the work: inputs that are missing or have another content, a release of that version
    already in `options.out`.
    """
    original_manifest = manifest.load_manifest(release_folder)
    rebuilt_folder = options.out / original_manifest.dataset / original_manifest.version
    if rebuilt_folder.exists():
        raise UserError(
            "is there already",
            where=display_path(rebuilt_folder),
            hint="name another folder: --out",
        )
    recipe_path, is_bundled = _recipe(release_folder, original_manifest, options.build)
    for version_line in _versions(original_manifest):
        options.say(version_line)
    options = with_days_found(options, {recipe_path: read_recipe(recipe_path)})
    input_paths = _inputs(original_manifest, recipe_path, is_bundled, options)
    limit, rows = (
        _number_after(f"--{name}", original_manifest.rebuild) for name in ("limit", "rows")
    )
    rebuild_options = replace(
        options,
        given=input_paths,
        version=original_manifest.version,
        rebuild=original_manifest.rebuild,
        corrections=cited_corrections(original_manifest),
        since=_since(release_folder, original_manifest),
        templates=templates_of(release_folder, options.templates),
        limit=limit,
        rows=rows,
        model=model_of(original_manifest.rebuild),
    )
    with keys.withheld():
        published_release = release_all([recipe_path], rebuild_options)[0]
    return list(_differences(release_folder, original_manifest, published_release.folder))


def _since(release_folder: Path, original_manifest: Manifest) -> str | None:
    """The folder of the release whose rows it keeps, which lies beside it; None: it keeps none."""
    if original_manifest.since is None:
        return None
    version, checksum = original_manifest.since.version, original_manifest.since.manifest_sha256
    earlier_folder = release_folder.resolve().parent / version
    where = display_path(earlier_folder)
    if not earlier_folder.is_dir():
        raise UserError(
            f"is not there, and the release keeps rows of {version}",
            where=where,
            hint="put that version beside it",
        )
    if manifest.own_sha256(earlier_folder) != checksum:
        raise UserError(
            "is not the release whose rows it keeps: its manifest is another", where=where
        )
    return str(earlier_folder)


def _number_after(option: str, command: str) -> int | None:
    """The number of an option in a command: 20 of `--limit 20`; None where it has none."""
    match = re.search(rf" {option} (\d+)", command)
    return int(match[1]) if match else None


def model_of(command: str) -> ModelSettings | None:
    """The model that a command names; None where it is the recipe's."""
    words = shlex.split(command)
    values: dict[str, str] = {}
    for name in ("backend", *MODEL_OPTIONS):
        option = f"--{name.replace('_', '-')}"
        if option in words[:-1]:
            values[name] = words[words.index(option) + 1]
    if "model" not in values:
        return None
    return named_model(values.pop("backend", "openai"), values)


def _recipe(
    release_folder: Path, original_manifest: Manifest, build_folder: Path
) -> tuple[Path, bool]:
    """The recipe of a release, and whether it is a bundled one whose paths hold."""
    recipe_copy = manifest.locate_file(release_folder, RECIPE)
    recipe_text = recipe_copy.read_text("utf-8")
    if text_sha256(recipe_text) != original_manifest.recipe_sha256:
        hint_text = "the release was changed: factdrift verify says what else"
        raise UserError(
            "is not the recipe of its manifest", where=display_path(recipe_copy), hint=hint_text
        )
    for recipe_path in recipes():
        if recipe_path.read_text("utf-8") == recipe_text:
            return recipe_path, True
    copied_recipe = build_folder / "rebuild" / f"{original_manifest.dataset}.yaml"
    with disk_errors(build_folder):
        copied_recipe.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recipe_copy, copied_recipe)
    return copied_recipe, False


def _versions(original_manifest: Manifest) -> Iterator[str]:
    """Yield a line for each program or library that has another version than the release says."""
    if original_manifest.code_version != factdrift.__version__:
        made_by = original_manifest.code_version
        yield f"  factdrift is {factdrift.__version__}, the release is of {made_by}"
    for library_name, library_version in sorted(original_manifest.libraries.items()):
        try:
            installed_version = importlib.metadata.version(library_name)
        except importlib.metadata.PackageNotFoundError:
            installed_version = "not installed"
        if installed_version != library_version and library_name not in pipeline.__libraries__:
            yield f"  {library_name} is {installed_version}, the release is of {library_version}"


def _inputs(
    original_manifest: Manifest, recipe_path: Path, is_bundled: bool, options: ReleaseOptions
) -> Mapping[str, Sequence[str]]:
    """The inputs by name as the command line gives them; none where the recipe's own are right."""
    workspace = Workspace(options.build, options.say)
    recipe, given_inputs = read_recipe(recipe_path), options.given
    if is_bundled and not given_inputs:
        try:
            if not _wrong(original_manifest, find_inputs(recipe, recipe_path, {}, None, workspace)):
                return {}
        except UserError:
            options.say("  the recipe's own inputs are not here")
    if missing_inputs := [
        _described(entry) for entry in original_manifest.inputs if entry.name not in given_inputs
    ]:
        error_text = "\n  ".join(
            ["the release was made of inputs that are not here:", *missing_inputs]
        )
        hint_text = "give each: --input NAME=PATH, or PATH@DAY where its name does not say its day"
        raise UserError(error_text, hint=hint_text)
    if wrong_inputs := _wrong(
        original_manifest, find_inputs(recipe, recipe_path, given_inputs, None, workspace)
    ):
        error_text = "\n  ".join(["these inputs are not those of the release:", *wrong_inputs])
        raise UserError(error_text, hint="the manifest names the checksums")
    return given_inputs


def _wrong(original_manifest: Manifest, input_sources: Mapping[str, Source]) -> list[str]:
    """The inputs that differ from those of the manifest, a line each."""
    recorded_files = {
        (identity.name, identity.file, identity.snapshot, identity.sha256)
        for identity in original_manifest.inputs
    }
    present_files = {
        (identity.name, source_file.name, identity.snapshot, sha256)
        for identity in input_sources.values()
        for source_file, sha256 in zip(identity.files, identity.sha256, strict=True)
    }
    return [
        f"{identity[0]}: {identity[1]} of {identity[2]}, sha256 {identity[3][:16]}… is "
        + ("missing" if identity in recorded_files else "another one")
        for identity in sorted(recorded_files ^ present_files, key=str)
    ]


def _described(entry: Input) -> str:
    """Describe a missing input so that somebody can fetch it."""
    size_text = (
        f"{entry.bytes / 1e6:,.1f} MB" if entry.bytes >= 100_000 else f"{entry.bytes:,} bytes"
    )
    homepage_text = f", {entry.homepage}" if entry.homepage else ""
    details = f"{size_text}, sha256 {entry.sha256}{homepage_text}"
    return f"{entry.name}: {entry.file} of {entry.snapshot} ({details})"


def _differences(
    release_folder: Path, original_manifest: Manifest, rebuilt_folder: Path
) -> Iterator[str]:
    """The files of two releases that are not the same, a line each."""
    original_digests, rebuilt_digests = (
        original_manifest.sha256s(),
        manifest.load_manifest(rebuilt_folder).sha256s(),
    )
    original_digests[manifest.FILE] = manifest.own_sha256(release_folder)
    rebuilt_digests[manifest.FILE] = manifest.own_sha256(rebuilt_folder)
    for file_name in sorted(original_digests | rebuilt_digests):
        if file_name not in rebuilt_digests:
            yield f"{file_name}: only in {display_path(release_folder)}"
        elif file_name not in original_digests:
            yield f"{file_name}: only in {display_path(rebuilt_folder)}"
        elif original_digests[file_name] != rebuilt_digests[file_name]:
            yield f"{file_name}: differs"
