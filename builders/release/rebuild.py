"""A release made again from its own manifest, and compared with it byte by byte."""

import importlib.metadata
import re
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
from factdrift.builders.core.hashing import file_sha256, text_sha256
from factdrift.builders.core.run import Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, read_recipe, recipes
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import Manifest
from factdrift.builders.release.publish import RECIPE
from factdrift.builders.release.release import ReleaseOptions, release_all
from factdrift.builders.text import pipeline


def rebuild_release(folder: Path, options: ReleaseOptions) -> list[str]:
    """Make a release again into `options.out`; what differs, a line each (none: the same bytes).

    The inputs are those of `options.given`, else those that the bundled recipe names. `UserError`
    before the work: inputs that are missing or have another content, a release of that version
    already in `options.out`.
    """
    original = manifest.load_manifest(folder)
    there = options.out / original.dataset / original.version
    if there.exists():
        raise UserError(
            "is there already", where=display_path(there), hint="name another folder: --out"
        )
    path, bundled = _recipe(folder, original, options.build)
    for line in _versions(original):
        options.say(line)
    input_paths = _inputs(original, path, bundled, options)
    limit = re.search(r" --limit (\d+)", original.rebuild)
    chosen = replace(
        options,
        given=input_paths,
        version=original.version,
        rebuild=original.rebuild,
        limit=int(limit[1]) if limit else None,
    )
    with keys.withheld():
        published = release_all([path], chosen)[0]
    return list(_differences(folder, original, published.folder))


def _recipe(folder: Path, original: Manifest, build: Path) -> tuple[Path, bool]:
    """The recipe of a release, and whether it is a bundled one whose paths hold."""
    recipe_copy = manifest.locate_file(folder, RECIPE)
    text = recipe_copy.read_text("utf-8")
    if text_sha256(text) != original.recipe_sha256:
        hint = "the release was changed: factdrift verify says what else"
        raise UserError(
            "is not the recipe of its manifest", where=display_path(recipe_copy), hint=hint
        )
    for path in recipes():
        if path.read_text("utf-8") == text:
            return path, True
    copied = build / "rebuild" / f"{original.dataset}.yaml"
    with disk_errors(build):
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recipe_copy, copied)
    return copied, False


def _versions(original: Manifest) -> Iterator[str]:
    """What runs now in another version than when the release was made."""
    if original.code_version != factdrift.__version__:
        yield f"  factdrift is {factdrift.__version__}, the release is of {original.code_version}"
    for name, version in sorted(original.libraries.items()):
        try:
            now = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            now = "not installed"
        if now != version and name not in pipeline.__libraries__:
            yield f"  {name} is {now}, the release is of {version}"


def _inputs(
    original: Manifest, path: Path, bundled: bool, options: ReleaseOptions
) -> Mapping[str, Sequence[str]]:
    """The inputs by name as the command line gives them; none where the recipe's own are right."""
    workspace = Workspace(options.build, options.say)
    recipe, given = read_recipe(path), options.given
    if bundled and not given:
        try:
            if not _wrong(original, find_inputs(recipe, path, {}, None, workspace)):
                return {}
        except UserError:
            options.say("  the recipe's own inputs are not here")
    if missing := [_described(entry) for entry in original.inputs if entry.name not in given]:
        text = "\n  ".join(["the release was made of inputs that are not here:", *missing])
        hint = "give each: --input NAME=PATH, or PATH@DAY where its name does not say its day"
        raise UserError(text, hint=hint)
    if wrong := _wrong(original, find_inputs(recipe, path, given, None, workspace)):
        text = "\n  ".join(["these inputs are not those of the release:", *wrong])
        raise UserError(text, hint="the manifest names the checksums")
    return given


def _wrong(original: Manifest, sources: Mapping[str, Source]) -> list[str]:
    """The inputs that differ from those of the manifest, a line each."""
    recorded = {
        (identity.name, identity.file, identity.snapshot, identity.sha256)
        for identity in original.inputs
    }
    present = {
        (identity.name, file.name, identity.snapshot, sha256)
        for identity in sources.values()
        for file, sha256 in zip(identity.files, identity.sha256, strict=True)
    }
    return [
        f"{identity[0]}: {identity[1]} of {identity[2]}, sha256 {identity[3][:16]}… is "
        + ("missing" if identity in recorded else "another one")
        for identity in sorted(recorded ^ present, key=str)
    ]


def _described(entry: Input) -> str:
    """An input that is missing, for who has to get it."""
    size = f"{entry.bytes / 1e6:,.1f} MB" if entry.bytes >= 100_000 else f"{entry.bytes:,} bytes"
    where = f", {entry.homepage}" if entry.homepage else ""
    return f"{entry.name}: {entry.file} of {entry.snapshot} ({size}, sha256 {entry.sha256}{where})"


def _differences(folder: Path, original: Manifest, again: Path) -> Iterator[str]:
    """The files of two releases that are not the same, a line each."""
    before, after = original.sha256s(), manifest.load_manifest(again).sha256s()
    before[manifest.FILE] = file_sha256(folder / manifest.FILE)
    after[manifest.FILE] = file_sha256(again / manifest.FILE)
    for name in sorted(before | after):
        if name not in after:
            yield f"{name}: only in {display_path(folder)}"
        elif name not in before:
            yield f"{name}: only in {display_path(again)}"
        elif before[name] != after[name]:
            yield f"{name}: differs"
