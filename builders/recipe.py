"""A recipe: what one dataset version is made from. One YAML file in `builders/recipes/`."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field

from builders.ckl.clozes import CKLClozes
from builders.ckl.easy_clozes import NewLAMAEasyClozes
from builders.ckl.lama import NewLAMA, UpdatedLAMA
from builders.ckl.new_lama_easy import NewLAMAEasy
from builders.ckl.questions import CKLQuestions
from builders.cloze.dynamic_templama import DynamicTempLAMA
from builders.cloze.invariant_lama import InvariantLAMA
from builders.config import Strict, load, shown
from builders.errors import UserError
from builders.files import ROOT, find_files
from builders.gold import find_gold
from builders.questions.streamingqa import StreamingQA
from builders.run import Input, Source
from builders.store import Store
from builders.timeqa.timeqa import TimeQA
from builders.wikidata.finish import TABLES
from builders.wikidata.shards import find_shards, snapshot_of
from builders.wikidata.temporal_facts import TemporalFacts
from builders.wmt.archive import find_archives
from builders.wmt.corpus import WMTQuestionDates

Builder = Annotated[
    TemporalFacts
    | DynamicTempLAMA
    | InvariantLAMA
    | TimeQA
    | WMTQuestionDates
    | StreamingQA
    | CKLQuestions
    | CKLClozes
    | UpdatedLAMA
    | NewLAMA
    | NewLAMAEasyClozes
    | NewLAMAEasy,
    Field(discriminator="builder"),
]
"""Every dataset builder; a recipe picks one with `build: {builder: …}`."""

FOLDER = ROOT / "builders" / "recipes"


class Recipe(Strict):
    """Inputs, parameters and seed of one dataset version, and what its card says."""

    dataset: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    version: Annotated[str, Field(pattern=r"^(auto|\d+\.\d+\.\d+)$")]
    title: str
    summary: str
    licence: str
    tags: tuple[str, ...] = ()
    prose: str | None = None
    """Name of the folder of `data_cards/` whose prose the card takes; the builder's by default."""
    seed: int = 0
    inputs: Mapping[str, Input]
    build: Builder

    def waits_for(self, given: Collection[str]) -> set[str]:
        """The inputs that it still needs, beside the given ones; given ones put its own aside."""
        needed = {name for name, i in self.inputs.items() if not i.optional}
        own = () if self.sources(given) else {n for n, i in self.inputs.items() if i.path}
        return needed - set(given) - set(own)

    def sources(self, given: Collection[str]) -> list[str]:
        """Of the given inputs those that put the recipe's own aside: all but gold rows."""
        return [n for n in given if n not in self.inputs or self.inputs[n].kind != "gold"]


def read_recipe(path: Path) -> Recipe:
    """Read a recipe; `UserError` with file:line for every mistake in it."""
    return load(path, Recipe)


def recipes(folder: Path = FOLDER) -> dict[Path, Recipe]:
    """Every bundled recipe, by path."""
    return {path: read_recipe(path) for path in sorted(folder.glob("*.yaml"))}


def find_inputs(
    recipe: Recipe,
    path: Path,
    given: Mapping[str, Sequence[str]],
    snapshot: str | None,
    store: Store,
) -> dict[str, Source]:
    """The inputs of a run: those of the recipe, or, where any is given, the given ones alone.

    Mixing a given dump with the recipe's own older one would compare two different worlds; so a
    given input puts aside every path, checksum and day that the recipe names. Gold rows do not:
    they are about what the others hold, and of their day. `snapshot` is the day of the newest
    input, `dump` or else the first, where its name does not say it.
    """
    for name in given:
        if name not in recipe.inputs:
            known = ", ".join(recipe.inputs)
            hint = f"its inputs are {known}"
            raise UserError(f"the recipe has no input {name!r}", where=shown(path), hint=hint)
    found: dict[str, Source] = {}
    newest = "dump" if "dump" in recipe.inputs else next(iter(recipe.inputs), None)
    sources = recipe.sources(given)
    for name, about in sorted(recipe.inputs.items(), key=lambda pair: pair[1].kind == "gold"):
        if about.kind == "gold" and (name in given or about.path):
            paths = given.get(name) or [str(path.parent / str(about.path))]
            found[name] = _gold(
                name, about, paths, recipe.build.layouts, found.values(), snapshot, store
            )
        elif name in given:
            about = about.model_copy(update={"sha256": None, "snapshot": None})
            day = snapshot if name == newest else None
            found[name] = _find(name, about, given[name], day, store)
        elif about.path and not sources:
            paths = [str(path.parent / about.path)]
            found[name] = _find(name, about, paths, snapshot if name == newest else None, store)
        elif not about.optional:
            hint = f"give it: make release RECIPE={shown(path)} {name.upper()}=path/to/the/file"
            raise UserError(f"input {name!r} is not given", where=shown(path), hint=hint)
    return found


def _find(name: str, about: Input, paths: Sequence[str], day: str | None, store: Store) -> Source:
    """The files of an input, with checksums. `UserError`: nothing there, or another checksum."""
    if about.kind != "wikidata":
        if about.kind == "news":
            files = tuple(find_archives(paths))
        elif about.kind == "file" and Path(paths[0]).is_dir():
            hint = "their names end in .jsonl"
            files = tuple(find_files(paths, lambda n: n.endswith(".jsonl"), "JSON lines", hint))
        else:
            files = tuple(map(Path, paths))
        sums = tuple(store.checksum(f) for f in files)
        return Source(name, files, sums, _last_day(files, day or about.snapshot), about)
    mined = Path(paths[0]) / "mined.json"
    if len(paths) == 1 and mined.is_file():
        files = tuple(mined.with_name(table) for table in TABLES)
        day = json.loads(mined.read_text("utf-8"))["snapshot"]
    else:
        files = tuple(find_shards(paths))
    sums = tuple(store.checksum(f) for f in files)
    if about.sha256 is not None and sums != (about.sha256,):
        raise UserError(
            f"input {name!r}: sha256 is {', '.join(sums)}, the recipe says {about.sha256}",
            where=files[0],
            hint="get the file that the recipe names, or put the new checksum into the recipe",
        )
    return Source(name, files, sums, snapshot_of(files, day or about.snapshot), about)


def _gold(
    name: str,
    about: Input,
    paths: Sequence[str],
    layouts: Sequence[str],
    others: Iterable[Source],
    day: str | None,
    store: Store,
) -> Source:
    """Gold rows of these layouts; they are of the day of the newest input that they are about."""
    files = tuple(find_gold(paths, *layouts))
    days = [source.snapshot for source in others]
    newest = max(days) if days else snapshot_of(files, day or about.snapshot)
    return Source(name, files, tuple(store.checksum(f) for f in files), newest, about)


def _last_day(files: Sequence[Path], given: str | date | None) -> date:
    """The last day that news archives can hold: as given, else the end of their last year."""
    if given is not None:
        return snapshot_of([], given)
    if days := re.findall(r"(?<!\d)20\d\d[01]\d[0-3]\d(?!\d)", " ".join(f.name for f in files)):
        return max(date.fromisoformat(day) for day in days)
    years = [int(y) for f in files for y in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", f.name)]
    if not years:
        hint = "say the last day: --snapshot-date 2020-12-31, or `snapshot:` in the recipe"
        raise UserError("its name does not say its year", where=files[0], hint=hint)
    return date(max(years), 12, 31)
