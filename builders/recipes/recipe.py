"""A recipe: what one dataset version is made from. One YAML file in `builders/recipes/`."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SerializeAsAny,
    create_model,
    field_validator,
)

from factdrift.builders.core.config import Strict, did_you_mean, display_path, load
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files, recipe_path, resource
from factdrift.builders.core.inputs import INPUTS, Kind, is_remote, without_credentials, without_day
from factdrift.builders.core.names import Licence, Name
from factdrift.builders.core.remote import local
from factdrift.builders.core.run import DatasetBuilder, RecipeInput, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.datasets import find_builder, recipe_of
from factdrift.builders.rows.gold import FILE as GOLD_FILE
from factdrift.builders.rows.gold import find_gold
from factdrift.builders.wikidata.finish import TABLES, read_summary
from factdrift.builders.wikidata.shards import find_shards, is_shard, snapshot_day
from factdrift.builders.wikipedia.files import find_pages, is_pages
from factdrift.builders.wmt.archive import find_archives, is_archive

FOLDER = resource("builders/recipes")


class Recipe(Strict):
    """Inputs, parameters and seed of one dataset version, and what its card says.

    `dataset`: the name of the dataset and of its folder, in small letters, digits and hyphens;
    `version`: `1.2.3`, or `auto` for the smallest that the rule allows; `title`: the
    heading of the card; `summary`: the sentences below it; `licence`: that of the rows, as SPDX
    names it; `tags`: words that the Hub finds it by; `inputs`: what it is made from, by name;
    `build`: the parameters of one builder; `seed`: what every draw derives from.
    """

    dataset: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    version: Annotated[str, Field(pattern=r"^(auto|\d+\.\d+\.\d+)$")]
    title: str
    summary: str
    licence: Licence
    tags: tuple[str, ...] = ()
    homepage: Annotated[str | None, Field(pattern=r"^https?://\S+$")] = None
    """The dataset's own page, where it has one: on the Hub, or behind a DOI."""
    creators: Annotated[tuple[str, ...], Field(min_length=1)] = ("factdrift contributors",)
    """Who is named as its maker in Croissant, CITATION.cff and the metadata for a DOI."""
    prose: Name | None = None
    """Name of the folder of `data_cards/` whose prose the card takes; the builder's by default."""
    seed: int = 0
    inputs: Mapping[str, RecipeInput]
    build: SerializeAsAny[DatasetBuilder]

    @field_validator("inputs", mode="before")
    @classmethod
    def _kinds(cls, inputs: Any) -> Any:
        """Inputs with the kind of their name, where they do not say one themselves."""
        if not isinstance(inputs, Mapping):
            return inputs
        return {
            name: {"kind": INPUTS[name].kind, **about}
            if name in INPUTS and isinstance(about, Mapping)
            else about
            for name, about in inputs.items()
        }

    def waits_for(self, given: Collection[str]) -> set[str]:
        """The inputs that it still needs, beside the given ones; given ones put its own aside."""
        needed_names = {name for name, entry in self.inputs.items() if not entry.optional}
        own_names = (
            () if self.sources(given) else {n for n, entry in self.inputs.items() if entry.path}
        )
        return needed_names - set(given) - set(own_names)

    def sources(self, given: Collection[str]) -> list[str]:
        """Of the given inputs those that put the recipe's own aside: all but gold rows."""
        return [
            name for name in given if name not in self.inputs or self.inputs[name].kind != "gold"
        ]


def _builder(name: str) -> str:
    find_builder(name)
    return name


class _BuilderName(BaseModel):
    builder: Annotated[str, AfterValidator(_builder)]


class _RecipeHead(BaseModel):
    """What of a recipe says which fields the rest may have."""

    build: _BuilderName


def read_recipe(path: Path) -> Recipe:
    """Read a recipe; `UserError` with file:line for every mistake, of its builder before others."""
    kind = find_builder(load(path, _RecipeHead).build.builder)
    return load(path, create_model("Recipe", __base__=Recipe, build=(kind, ...)))


def recipes(folder: Path = FOLDER) -> dict[Path, Recipe]:
    """Every bundled recipe, by path."""
    return {path: read_recipe(path) for path in sorted(folder.glob("*.yaml"))}


def find_recipe(named: str | Path) -> Path:
    """The file of a recipe that is named by its path, or by the name of a bundled one.

    `UserError` with the bundled names where a bare name is neither.
    """
    path = Path(named)
    if path.is_file() or path.parent not in (Path(), Path("builders/recipes")):
        return path
    bundled = {
        bundled_path.stem: bundled_path
        for bundled_path in sorted(
            FOLDER.glob("*.yaml"), key=lambda bundled_path: bundled_path.stem
        )
    }
    name = path.name.removesuffix(".yaml")
    if name in bundled:
        return bundled[name]
    if plugin_recipe := recipe_of(name):
        return plugin_recipe
    near = did_you_mean(
        name,
        [*(bundled_path.name for bundled_path in sorted(path.parent.glob("*.y*ml"))), *bundled],
    )
    hint = f"{f'did you mean {near}? ' if near else ''}bundled are {', '.join(bundled)}"
    text = "no such file, and no bundled recipe of this name"
    raise UserError(text, where=str(named), hint=hint)


def recipe_name(path: Path, recipe: Recipe) -> str:
    """What names a recipe on the command line: its name, where it comes with its builder."""
    own_recipe = recipe_of(recipe.build.builder)
    if own_recipe and own_recipe.resolve() == path.resolve():
        return recipe.build.builder
    return path.stem if path.resolve().parent == FOLDER else path.name


def find_inputs(
    recipe: Recipe,
    path: Path,
    given: Mapping[str, Sequence[str]],
    snapshot: str | None,
    workspace: Workspace,
) -> dict[str, Source]:
    """The inputs of a run: those of the recipe, or, where any is given, the given ones alone.

    Mixing a given dump with the recipe's own older one would compare two different worlds; so a
    given input puts aside every path and checksum that the recipe names, and the days of those
    paths. Gold rows do not: they are about what the others hold, and of their day. So is a file
    beside other inputs: it chooses among what they hold.

    The day of an input is what its path says (`news.jsonl@2020-12-31`), else its file names, else
    `snapshot`. Where all names say theirs, `snapshot` is that of the newest input of the run,
    `dump` or else the first.
    """
    _refuse_unknown_inputs(recipe, path, given)
    chosen = _choose_inputs(recipe, path, given)
    folder = workspace.root / "inputs"
    files: dict[str, tuple[Path, ...]] = {}
    for name, entry in chosen.items():
        local_paths = fetched(entry.about.kind, entry.paths, folder, workspace.say)
        files[name] = _files(entry.about, local_paths, recipe.build.layouts)
    checksums = {name: tuple(map(workspace.checksum, files[name])) for name in chosen}
    for name, entry in chosen.items():
        expected = entry.about.sha256
        if expected and checksums[name] != (expected,):
            raise UserError(
                f"input {name!r}: sha256 is {', '.join(checksums[name])}, "
                f"the recipe says {expected}",
                where=files[name][0],
                hint="get the file that the recipe names, or put the new checksum into the recipe",
            )
    days = _days(chosen, files, snapshot)
    return {
        name: Source(name, files[name], checksums[name], days[name], entry.about)
        for name, entry in chosen.items()
    }


class _ChosenInput(NamedTuple):
    """An input of a run: the recipe's words about it, its paths and the day that these say."""

    about: RecipeInput
    paths: Sequence[str]
    day: str | None


def _refuse_unknown_inputs(recipe: Recipe, path: Path, given: Collection[str]) -> None:
    for name in given:
        if name not in recipe.inputs:
            near = did_you_mean(name, recipe.inputs)
            hint = f"did you mean {near}?" if near else f"its inputs are {', '.join(recipe.inputs)}"
            where = display_path(path)
            raise UserError(f"the recipe has no input {name!r}", where=where, hint=hint)


def _choose_inputs(
    recipe: Recipe, path: Path, given: Mapping[str, Sequence[str]]
) -> dict[str, _ChosenInput]:
    """The given inputs and those of the recipe that stay, the ones that set the day first."""
    own_put_aside = bool(recipe.sources(given))
    chosen: dict[str, _ChosenInput] = {}
    for name, about in recipe.inputs.items():
        if name in given:
            # the recipe's day is that of its own file; gold rows have none of their own
            keeps_day = about.kind == "gold" or not about.path
            update = {"sha256": None, "snapshot": about.snapshot if keeps_day else None}
            paths, day = without_day(given[name])
            chosen[name] = _ChosenInput(about.model_copy(update=update), paths, day)
        elif about.path and (about.kind == "gold" or not own_put_aside):
            chosen[name] = _ChosenInput(about, [_own_path(path, about.path)], None)
        elif not about.optional:
            option = f"--{name} " if name in INPUTS else f"--input {name}="
            hint = f"give it: {option}path/to/the/file"
            text = f"input {name!r} is not given"
            raise UserError(text, where=display_path(path), hint=hint)
    return dict(sorted(chosen.items(), key=lambda item: _AFTER.get(item[1].about.kind, 0)))


_AFTER = {"file": 1, "gold": 2}
"""The kinds that take the day of others, and so are found after them."""


def _own_path(recipe: Path, path: str) -> str:
    """The path or address of an input that a recipe names itself."""
    if not is_remote(path):
        return str(recipe_path(recipe, path))
    if without_credentials(path) != path:
        text = "an address in a recipe has no user, password or `?…`: recipes are published"
        hint = "give this input on the command line"
        raise UserError(text, where=display_path(recipe), hint=hint)
    return path


def fetched(
    kind: Kind, paths: Sequence[str], folder: Path, say: Callable[[str], None]
) -> list[str]:
    """The paths of an input of this kind, what lies elsewhere fetched into `folder`."""
    return local(paths, folder, FINDERS[kind][1], say=say, deep=kind == "gold")


def _is_json_lines(name: str) -> bool:
    return name.endswith(".jsonl")


def _json_lines(paths: Sequence[str]) -> list[Path]:
    return find_files(paths, _is_json_lines, "JSON lines", "their names end in .jsonl")


def _wikidata(paths: Sequence[str]) -> list[Path]:
    """The files of a dump, or the tables of a folder that is already mined."""
    if len(paths) == 1 and (summary := Path(paths[0]) / TABLES[-1]).is_file():
        read_summary(summary)
        return [Path(paths[0]) / table for table in TABLES]
    if {Path(path).name for path in paths} == set(TABLES):
        return _wikidata([str(Path(paths[0]).parent)])
    return find_shards(paths)


FINDERS: Mapping[Kind, tuple[Callable[[Sequence[str]], list[Path]], Callable[[str], bool]]] = {
    "wikidata": (_wikidata, lambda name: is_shard(name) or name in TABLES),
    "news": (find_archives, is_archive),
    "pages": (find_pages, is_pages),
    "file": (_json_lines, _is_json_lines),
    "gold": (find_gold, lambda name: name == GOLD_FILE),
}
"""How the files of each kind of input are found, and which of a folder elsewhere are, by name."""


def _files(about: RecipeInput, paths: Sequence[str], layouts: Sequence[str]) -> tuple[Path, ...]:
    """The files that paths, globs and folders of an input name. `UserError`: nothing there."""
    if about.kind == "gold":
        return tuple(find_gold(paths, *layouts))
    return tuple(FINDERS[about.kind][0](paths))


def _days(
    inputs: Mapping[str, _ChosenInput], files: Mapping[str, tuple[Path, ...]], snapshot: str | None
) -> dict[str, date]:
    """The day of each input, in the order of `inputs`; `snapshot` is the one day that is given."""
    leading = [name for name in inputs if inputs[name].about.kind not in _AFTER]
    leading = leading or list(inputs)[:1]
    days: dict[str, date] = {}
    undated: dict[str, UserError] = {}
    for name in leading:
        try:
            days[name] = _day(name, inputs[name].about, files[name], inputs[name].day)
        except UserError as error:
            undated[name] = error
    if undated and snapshot is None:
        raise next(iter(undated.values()))
    if len(undated) > 1:
        text = f"one day is given, and several inputs do not say theirs: {', '.join(undated)}"
        raise UserError(text, hint=f"say each: --input {next(iter(undated))}=PATH@{snapshot}")
    if snapshot is not None and leading:
        name = next(iter(undated), "dump" if "dump" in leading else leading[0])
        own_day = inputs[name].day
        if own_day not in (None, snapshot):
            raise UserError(f"input {name!r} has two days: {own_day} and {snapshot}")
        days[name] = _day(name, inputs[name].about, files[name], snapshot)
    newest = max(days.values(), default=date.min)
    for name, entry in inputs.items():
        if name not in days:
            days[name] = _following_day(entry, newest)
            newest = max(newest, days[name])
    return days


def _following_day(entry: _ChosenInput, newest: date) -> date:
    """The day of a file or of gold rows: as said for them, else that of the newest other input."""
    recipe_day = entry.about.snapshot if entry.about.kind == "file" else None
    own_day = entry.day or recipe_day
    return snapshot_day([], own_day) if own_day else newest


def _day(name: str, about: RecipeInput, files: Sequence[Path], given: str | None) -> date:
    """The day of an input: as given or as the recipe says, else as its names say it."""
    day: str | date | None = given or about.snapshot
    if about.kind == "wikidata" and tuple(file.name for file in files) == TABLES:
        day = read_summary(files[-1])["snapshot"]
    if day is not None or about.kind in ("wikidata", "gold"):
        return snapshot_day(files, day)
    example_day = "2020-12-31"
    path = display_path(files[0])
    hint = (
        f"say its last day: --input {name}={path}@{example_day}, or --snapshot-date {example_day}"
    )
    return _last_day(files, hint if about.path else hint + ", or `snapshot:` in the recipe")


_DAY = re.compile(r"(?<!\d)20\d\d[01]\d[0-3]\d(?!\d)")


def _last_day(files: Sequence[Path], hint: str) -> date:
    """The last day that such files can hold by their names, or the end of the last year there.

    Where a name has no day its folder may: `20260201.en/train-00000-of-00041.parquet`.
    """
    days = []
    for path in files:
        day_digits = _DAY.findall(path.name) or _DAY.findall(path.resolve().parent.name)
        for digits in day_digits:
            try:
                days.append(date.fromisoformat(digits))
            except ValueError:
                text = f"{digits} in its name is not a day"
                raise UserError(text, where=path, hint=hint) from None
    if days:
        return max(days)
    years = [
        int(year_digits)
        for file in files
        for year_digits in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", file.name)
    ]
    if not years:
        raise UserError("its name does not say its year", where=files[0], hint=hint)
    return date(max(years), 12, 31)
