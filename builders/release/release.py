"""The whole run on one page: recipe, inputs, build, publish, verify."""

import importlib.metadata
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import builders
from builders.config import shown
from builders.dataset import Input, Meta
from builders.engine import EngineName
from builders.errors import UserError
from builders.files import ROOT
from builders.folders import writable
from builders.gold import NoGoldError
from builders.recipe import Recipe, find_inputs, read_recipe, recipes
from builders.release.publish import NothingLeftError, Published, write_release
from builders.release.verify import verify_release
from builders.release.version import Version
from builders.run import Run
from builders.store import Store

LIBRARIES = (
    "duckdb",
    "huggingface_hub",
    "ibis-framework",
    "jinja2",
    "matplotlib",
    "msgspec",
    "pyarrow",
    "tokenizers",
)
"""Libraries whose version may show in a release's bytes."""


@dataclass(frozen=True)
class Options:
    """What the command line sets for every recipe of a run."""

    given: Mapping[str, Sequence[str]]
    snapshot: str | None
    version: str | None
    out: Path
    build: Path
    templates: Path
    engine: EngineName
    jobs: int
    memory: str
    say: Callable[[str], None]


def release_all(paths: Sequence[Path], options: Options) -> list[Published]:
    """Build recipes one after the other: the named ones, or those that the inputs given suit.

    Without a name: where no input is given, every bundled recipe that names all its inputs, else
    every bundled recipe that waits for just these. Where gold rows alone are given, all that take
    some, but those whose layouts nobody has worked on yet. One of several of which no row is left
    is left out, and said.
    """
    chosen = {path: read_recipe(path) for path in paths}
    if not chosen:
        suited = {p: r for p, r in recipes().items() if not r.waits_for(options.given)}
        if set(options.given) == {"gold"}:
            chosen = {p: r for p, r in suited.items() if "gold" in r.inputs}
        else:
            chosen = {
                p: r
                for p, r in suited.items()
                if not options.given
                or (r.waits_for(()) and all(name in r.inputs for name in options.given))
            }
        if not chosen:
            raise UserError(
                f"no bundled recipe makes something of {', '.join(options.given)} alone"
            )
    if options.version and options.version != "auto":
        Version.parse(options.version)
    writable(options.out)
    store = Store(options.build, options.say)
    with store.lock():
        made: list[Published] = []
        for path, recipe in chosen.items():
            try:
                made.append(_release(path, recipe, store, options))
            except (NoGoldError, NothingLeftError) as error:
                if paths or (path == list(chosen)[-1] and not made):
                    raise
                options.say(f"  left out: {error}")
        return made


def _release(path: Path, recipe: Recipe, store: Store, options: Options) -> Published:
    say = options.say
    say(f"{recipe.dataset}: {shown(path)}")
    inputs = find_inputs(recipe, path, options.given, options.snapshot, store)
    run = Run(
        recipe=path,
        inputs=inputs,
        templates=options.templates,
        store=store,
        engine=options.engine,
        jobs=options.jobs,
        memory=options.memory,
        seed=recipe.seed,
    )
    dataset = recipe.build.build(run)
    say("  release: writing")
    meta = _meta(path, recipe, run, options)
    published = write_release(dataset, meta, options.out, options.version or recipe.version)
    problems = verify_release(published.folder)
    if problems:
        raise AssertionError("\n".join(["the release does not verify:", *problems]))
    say(f"  {published.summary}")
    say(f"  verified: {shown(published.folder)}")
    say(f"  next: open {shown(published.folder / 'README.md')}")
    return published


def rebuild(path: Path, recipe: Recipe, options: Options, run: Run) -> str:
    """The command that makes the release again, with the names of files and no path to them.

    `SNAPSHOT` is in it where without it the inputs would have no day, or another one.
    """
    name = shown(path) if path.resolve().is_relative_to(ROOT) else path.name
    words = ["make release", f"RECIPE={shlex.quote(name)}"]
    for given, paths in options.given.items():
        names = " ".join(Path(p).name or str(p) for p in paths)
        words.append(f"{given.upper()}={shlex.quote(names)}")
    if options.snapshot and not _says_days(path, recipe, options, run):
        words.append(f"SNAPSHOT={shlex.quote(options.snapshot)}")
    return " ".join(words)


def _says_days(path: Path, recipe: Recipe, options: Options, run: Run) -> bool:
    """Whether names and recipe alone say the days that the inputs of this run have."""
    try:
        found = find_inputs(recipe, path, options.given, None, run.store)
    except UserError:
        return False
    return all(found[name].snapshot == source.snapshot for name, source in run.inputs.items())


def _meta(path: Path, recipe: Recipe, run: Run, options: Options) -> Meta:
    """What the card, the manifest and Croissant say of a release beside its rows."""
    days = [source.snapshot for source in run.inputs.values()]
    return Meta(
        dataset=recipe.dataset,
        title=recipe.title,
        summary=recipe.summary,
        builder=recipe.build.builder,
        licence=recipe.licence,
        published=max(days),
        prose=ROOT / "data_cards" / (recipe.prose or recipe.build.builder) / "prose.md",
        recipe=path.read_text("utf-8"),
        seed=recipe.seed,
        rebuild=rebuild(path, recipe, options, run),
        code_version=builders.__version__,
        libraries={name: importlib.metadata.version(name) for name in LIBRARIES},
        parameters=recipe.build.model_dump(mode="json"),
        inputs=tuple(
            Input(
                name=source.name,
                file=file.name,
                sha256=sha256,
                bytes=file.stat().st_size,
                licence=source.about.licence,
                snapshot=source.snapshot,
                homepage=source.about.homepage,
            )
            for source in run.inputs.values()
            for file, sha256 in zip(source.files, source.sha256, strict=True)
        ),
        citations=recipe.build.citations,
        tasks=recipe.build.tasks,
        tags=recipe.tags,
    )
