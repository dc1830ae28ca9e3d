"""A recipe: what one dataset version is made from. One YAML file in `builders/recipes/`."""

import re
from collections.abc import Collection, Mapping, Sequence
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
from builders.wikidata.finish import TABLES, read_summary
from builders.wikidata.shards import find_shards, snapshot_of
from builders.wikidata.temporal_facts import TemporalFacts
from builders.wikipedia.files import find_pages
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
    they are about what the others hold, and of their day. So is a file beside other inputs: it
    chooses among what they hold. `snapshot` is the day of the newest input of the run, `dump` or
    else the first, where its name does not say it.
    """
    for name in given:
        if name not in recipe.inputs:
            known = ", ".join(recipe.inputs)
            hint = f"its inputs are {known}"
            raise UserError(f"the recipe has no input {name!r}", where=shown(path), hint=hint)
    sources = recipe.sources(given)
    named = dict(given)
    for name, about in recipe.inputs.items():
        if name in named:
            continue
        if about.path and (about.kind == "gold" or not sources):
            named[name] = [str(path.parent / about.path)]
        elif not about.optional:
            hint = f"give it: make release RECIPE={shown(path)} {name.upper()}=path/to/the/file"
            raise UserError(f"input {name!r} is not given", where=shown(path), hint=hint)
    order = [n for n in recipe.inputs if n in named]
    order.sort(key=lambda n: _AFTER.get(recipe.inputs[n].kind, 0))
    newest = "dump" if "dump" in named else next(iter(order), None)
    found: dict[str, Source] = {}
    for name in order:
        about = recipe.inputs[name]
        if name in given:
            kept = about.snapshot if about.kind == "gold" else None
            about = about.model_copy(update={"sha256": None, "snapshot": kept})
        files = _files(about, named[name], recipe.build.layouts)
        sums = tuple(store.checksum(f) for f in files)
        if about.sha256 is not None and sums != (about.sha256,):
            raise UserError(
                f"input {name!r}: sha256 is {', '.join(sums)}, the recipe says {about.sha256}",
                where=files[0],
                hint="get the file that the recipe names, or put the new checksum into the recipe",
            )
        day = snapshot if name == newest or about.kind == "gold" else None
        found[name] = Source(name, files, sums, _day(about, files, day, found.values()), about)
    return found


_AFTER = {"file": 1, "gold": 2}
"""The kinds that take the day of others, and so are found after them."""


def _files(about: Input, paths: Sequence[str], layouts: Sequence[str]) -> tuple[Path, ...]:
    """The files that paths, globs and folders of an input name. `UserError`: nothing there."""
    if about.kind == "news":
        return tuple(find_archives(paths))
    if about.kind == "pages":
        return tuple(find_pages(paths))
    if about.kind == "gold":
        return tuple(find_gold(paths, *layouts))
    if about.kind == "file":
        hint = "their names end in .jsonl"
        return tuple(find_files(paths, lambda n: n.endswith(".jsonl"), "JSON lines", hint))
    if len(paths) == 1 and (Path(paths[0]) / TABLES[-1]).is_file():
        return tuple(Path(paths[0]) / table for table in TABLES)
    return tuple(find_shards(paths))


def _day(
    about: Input, files: Sequence[Path], given: str | None, others: Collection[Source]
) -> date:
    """The day of an input: as given or as the recipe says, else as its names say it.

    Gold rows, and a file of which no day is said, are of the day of the newest of the others.
    """
    said = given or about.snapshot
    if others and (about.kind == "gold" or (about.kind == "file" and said is None)):
        return max(source.snapshot for source in others)
    if about.kind == "wikidata" and tuple(f.name for f in files) == TABLES:
        said = read_summary(files[-1])["snapshot"]
    if about.kind in ("wikidata", "gold"):
        return snapshot_of(files, said)
    return _last_day(files, said)


def _last_day(files: Sequence[Path], given: str | date | None) -> date:
    """The last day that such files can hold: as given, else by name, or the end of its year."""
    if given is not None:
        return snapshot_of([], given)
    hint = "say the last day: --snapshot-date 2020-12-31, or `snapshot:` in the recipe"
    days = []
    for path in files:
        for digits in re.findall(r"(?<!\d)20\d\d[01]\d[0-3]\d(?!\d)", path.name):
            try:
                days.append(date.fromisoformat(digits))
            except ValueError:
                text = f"{digits} in its name is not a day"
                raise UserError(text, where=path, hint=hint) from None
    if days:
        return max(days)
    years = [int(y) for f in files for y in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", f.name)]
    if not years:
        raise UserError("its name does not say its year", where=files[0], hint=hint)
    return date(max(years), 12, 31)
