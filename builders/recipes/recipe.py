"""Recipes, the YAML files from which versions of datasets are made, and their inputs."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from glob import glob
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

from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.config import Strict, did_you_mean, display_path, load
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files, recipe_path, resource
from factdrift.builders.core.inputs import INPUTS, Kind, is_remote, without_day
from factdrift.builders.core.names import Licence, Name
from factdrift.builders.core.remote import Checksum, local
from factdrift.builders.core.run import DatasetBuilder, RecipeInput, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.core.streams import RemoteFile, remote_file
from factdrift.builders.recipes.datasets import find_builder, recipe_of
from factdrift.builders.recipes.dumps import (
    LATEST,
    find_addresses,
    is_day_word,
    published_checksum,
)
from factdrift.builders.rows.gold import FILE as GOLD_FILE
from factdrift.builders.rows.gold import find_gold
from factdrift.builders.wikidata.finish import TABLES, read_summary
from factdrift.builders.wikidata.shards import find_shards, is_shard, snapshot_day
from factdrift.builders.wikipedia.files import find_pages, is_pages
from factdrift.builders.wmt.archive import find_archives, is_archive

FOLDER = resource("builders/recipes")


class Recipe(Strict):
    """Inputs, parameters and seed of one dataset version, and what its card says.

    `dataset`: the name of the dataset and its folder, in small letters, digits and hyphens;
    `version`: `1.2.3`, or `auto` for the smallest version that the versioning rule allows;
    `title`, `summary`: the beginning of the card; `licence`: the SPDX expression for the rows;
    `tags`: search words on the Hub; `inputs`: the inputs by name; `build`: the parameters of one
    builder; `seed`: what all random draws depend on.
    """

    # `two-hop`, not `Two-Hop` or `two_hop`
    dataset: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    # `1.2.3` or `auto`, not `1.2`
    version: Annotated[str, Field(pattern=r"^(auto|\d+\.\d+\.\d+)$")]
    title: str
    summary: str
    licence: Licence
    tags: tuple[str, ...] = ()
    homepage: Annotated[str | None, Field(pattern=r"^https?://\S+$")] = None
    """The web page of the dataset, if it has one: on the Hub, or behind a DOI."""
    creators: Annotated[tuple[str, ...], Field(min_length=1)] = ("factdrift contributors",)
    """The authors in Croissant, CITATION.cff and the metadata for a DOI."""
    prose: Name | None = None
    """The folder in `data_cards/` with the prose of the card, by default that of the builder."""
    seed: int = 0
    inputs: Mapping[str, RecipeInput]
    build: SerializeAsAny[DatasetBuilder]

    @field_validator("inputs", mode="before")
    @classmethod
    def _kinds(cls, inputs: Any) -> Any:
        """Add to inputs without a kind the kind that belongs to their name."""
        if not isinstance(inputs, Mapping):
            return inputs
        return {
            input_name: {"kind": INPUTS[input_name].kind, **input_data}
            if input_name in INPUTS and isinstance(input_data, Mapping)
            else input_data
            for input_name, input_data in inputs.items()
        }

    def waits_for(self, input_names: Collection[str]) -> set[str]:
        """Return the inputs that are missing if `input_names` are given on the command line.

        An input that is given there disables the paths in the recipe.
        """
        needed_names = {name for name, entry in self.inputs.items() if not entry.optional}
        own_names = (
            ()
            if self.sources(input_names)
            else {n for n, entry in self.inputs.items() if entry.path}
        )
        return needed_names - set(input_names) - set(own_names)

    def sources(self, input_names: Collection[str]) -> list[str]:
        """Return the given inputs that disable the paths in the recipe: all but gold rows."""
        return [
            name
            for name in input_names
            if name not in self.inputs or self.inputs[name].kind != "gold"
        ]


def _builder(name: str) -> str:
    find_builder(name)
    return name


class _BuilderName(BaseModel):
    builder: Annotated[str, AfterValidator(_builder)]


class _RecipeHead(BaseModel):
    """The part of a recipe that decides which fields the rest can have."""

    build: _BuilderName


def read_recipe(path: Path) -> Recipe:
    """Read a recipe; raise `UserError` with file and line of each mistake.

    A mistake in the name of the builder is reported alone, because the fields depend on it.
    """
    builder_type = find_builder(load(path, _RecipeHead).build.builder)
    return load(path, create_model("Recipe", __base__=Recipe, build=(builder_type, ...)))


def recipes(folder: Path = FOLDER) -> dict[Path, Recipe]:
    """Return all bundled recipes, by path."""
    return {path: read_recipe(path) for path in sorted(folder.glob("*.yaml"))}


def find_recipe(name_or_path: str | Path) -> Path:
    """Return the file of a recipe, given its path or the name of a bundled or installed recipe.

    Raises `UserError` with all bundled names if there is none.
    """
    file_path = Path(name_or_path)
    if file_path.is_file() or file_path.parent not in (Path(), Path("builders/recipes")):
        return file_path
    recipes_by_name: dict[str, Path] = {}
    for bundled_path in sorted(FOLDER.glob("*.yaml"), key=lambda path: path.stem):
        recipes_by_name[bundled_path.stem] = bundled_path
    bare_name = file_path.name.removesuffix(".yaml")
    if bare_name in recipes_by_name:
        return recipes_by_name[bare_name]
    if plugin_recipe := recipe_of(bare_name):
        return plugin_recipe
    near_name = did_you_mean(
        bare_name,
        [
            *(bundled_path.name for bundled_path in sorted(file_path.parent.glob("*.y*ml"))),
            *recipes_by_name,
        ],
    )
    suggestion = f"did you mean {near_name}? " if near_name else ""
    hint_text = f"{suggestion}bundled are {', '.join(recipes_by_name)}"
    error_text = "no such file, and no bundled recipe of this name"
    raise UserError(error_text, where=str(name_or_path), hint=hint_text)


def recipe_name(path: Path, recipe: Recipe) -> str:
    """Return the name of a recipe on the command line.

    This is the name of the builder if the recipe belongs to its package.
    """
    own_recipe = recipe_of(recipe.build.builder)
    if own_recipe and own_recipe.resolve() == path.resolve():
        return recipe.build.builder
    return path.stem if path.resolve().parent == FOLDER else path.name


def find_inputs(
    recipe: Recipe,
    recipe_file: Path,
    named_inputs: Mapping[str, Sequence[str]],
    snapshot: str | None,
    workspace: Workspace,
) -> dict[str, Source]:
    """Return the inputs of a run: those in the recipe or, if any are given, the given ones alone.

    A given dump must not be compared with an older dump of the recipe, which can be about another
    world. So a given input disables all paths and checksums in the recipe, and the days of those
    paths. Gold rows do not: they are about rows of the other inputs, and have their day. The same
    is true of a file beside other inputs, which selects from them.

    The day of an input is in its path (`news.jsonl@2020-12-31`) or in the names of its files;
    otherwise it is `snapshot`. If all inputs have a day, `snapshot` replaces that of `dump` or, if
    there is no dump, of the first input.
    """
    _refuse_unknown_inputs(recipe, recipe_file, named_inputs)
    chosen_inputs = _choose_inputs(recipe, recipe_file, named_inputs, workspace.say)
    inputs_folder = workspace.root / "inputs"
    files_by_input: dict[str, tuple[Path, ...]] = {}
    for input_name, chosen_input in chosen_inputs.items():
        local_paths = fetched(
            chosen_input.about.kind, chosen_input.paths, inputs_folder, workspace.say
        )
        files_by_input[input_name] = _files(chosen_input.about, local_paths, recipe.build.layouts)
    sums_by_input = {
        input_name: tuple(map(workspace.checksum, files_by_input[input_name]))
        for input_name in chosen_inputs
    }
    for input_name, chosen_input in chosen_inputs.items():
        expected_sum = chosen_input.about.sha256
        if expected_sum and sums_by_input[input_name] != (expected_sum,):
            raise UserError(
                f"input {input_name!r}: sha256 is {', '.join(sums_by_input[input_name])}, "
                f"the recipe says {expected_sum}",
                where=files_by_input[input_name][0],
                hint="get the file that the recipe names, or put the new checksum into the recipe",
            )
    days_by_input = _days(chosen_inputs, files_by_input, snapshot)
    return {
        input_name: Source(
            input_name,
            files_by_input[input_name],
            sums_by_input[input_name],
            days_by_input[input_name],
            chosen_input.about,
        )
        for input_name, chosen_input in chosen_inputs.items()
    }


class _ChosenInput(NamedTuple):
    """An input of a run: its entry in the recipe, its paths, and the day in these paths."""

    about: RecipeInput
    paths: Sequence[str]
    day: str | None


def _refuse_unknown_inputs(recipe: Recipe, recipe_file: Path, input_names: Collection[str]) -> None:
    for input_name in input_names:
        if input_name not in recipe.inputs:
            near_name = did_you_mean(input_name, recipe.inputs)
            hint_text = (
                f"did you mean {near_name}?"
                if near_name
                else f"its inputs are {', '.join(recipe.inputs)}"
            )
            where = display_path(recipe_file)
            raise UserError(f"the recipe has no input {input_name!r}", where=where, hint=hint_text)


_WITHOUT_PEOPLE = dict.fromkeys(
    ("updated-lama", "new-lama", "new-lama-easy"),
    "; without people, dynamic-templama asks what changed (configs updated, new), and "
    "invariant-lama what did not",
)
"""Builder -> what asks something alike where nobody has written gold rows."""


def _missing_input(recipe: Recipe, recipe_file: Path, input_name: str) -> UserError:
    """The error about an input that a recipe needs: what it is, and how one comes by it."""
    option = f"--{input_name} " if input_name in INPUTS else f"--input {input_name}="
    hint_text = f"give it: {option}path/to/the/file"
    if recipe.inputs[input_name].kind == "gold":
        hint_text = (
            f"these are rows that people write first, and factdrift judgments collects: {option}"
            f"judgments (factdrift docs people){_WITHOUT_PEOPLE.get(recipe.build.builder, '')}"
        )
    if input_name == "dump":
        hint_text += (
            ", --dump latest (fetched: over 100 GB; factdrift dumps says), or "
            "--dump sample; factdrift quick needs no dump"
        )
    error_text = f"input {input_name!r} is not given"
    return UserError(error_text, where=display_path(recipe_file), hint=hint_text)


def require_inputs(chosen: Mapping[Path, Recipe], given: Mapping[str, Sequence[str]]) -> None:
    """Raise one `UserError` about all inputs that recipes of a run lack, before any is built.

    It tells of each recipe what is missing, and of inputs that none has and files that are not
    there.
    """
    messages: list[str] = []
    for recipe_file, recipe in chosen.items():
        _refuse_unknown_inputs(recipe, recipe_file, given)
        missing_names = sorted(recipe.waits_for(given))
        messages += [str(_missing_input(recipe, recipe_file, name)) for name in missing_names]
    if messages:
        raise UserError("\n".join(messages))
    for input_name, named_paths in given.items():
        for path in without_day(named_paths)[0]:
            if not is_remote(path) and not Path(path).exists() and not glob(path):  # noqa: PTH207
                raise UserError("no such file", where=path, hint=f"it is given as {input_name}")


def _choose_inputs(
    recipe: Recipe,
    recipe_file: Path,
    named_inputs: Mapping[str, Sequence[str]],
    say: Callable[[str], None],
) -> dict[str, _ChosenInput]:
    """Return the inputs of a run by name.

    The rule: an input that is named on the command line replaces the recipe's. As soon as one such
    input other than gold rows is given, the recipe's own files are not used any more, for files of
    two origins do not belong together; gold rows stay. An input that is then missing is an error
    unless it is optional.

    Inputs that have a snapshot day of their own come first, those that take it from others last.
    """
    ignores_recipe_paths = bool(recipe.sources(named_inputs))
    chosen_inputs: dict[str, _ChosenInput] = {}
    for input_name, recipe_input in recipe.inputs.items():
        if input_name in named_inputs:
            # the recipe's day and note are those of its own file; gold rows have no day
            keeps_day = recipe_input.kind == "gold" or not recipe_input.path
            changed_fields = {
                "sha256": None,
                "note": None if recipe_input.path else recipe_input.note,
                "snapshot": recipe_input.snapshot if keeps_day else None,
            }
            input_paths, path_day = without_day(named_inputs[input_name])
            chosen_inputs[input_name] = _ChosenInput(
                recipe_input.model_copy(update=changed_fields), input_paths, path_day
            )
        elif recipe_input.path and (recipe_input.kind == "gold" or not ignores_recipe_paths):
            chosen_inputs[input_name] = _ChosenInput(
                recipe_input,
                _own_paths(recipe_file, input_name, recipe_input, say),
                None,
            )
        elif not recipe_input.optional:
            raise _missing_input(recipe, recipe_file, input_name)
    return dict(
        sorted(
            chosen_inputs.items(),
            key=lambda item: _KINDS_WITHOUT_DAY.get(item[1].about.kind, 0),
        )
    )


_KINDS_WITHOUT_DAY = {"file": 1, "gold": 2}
"""The kinds of inputs that have no day of their own, with their place in the order of inputs.

They take the day of another input, and therefore stand after all others (place 0).
"""


def _own_paths(
    recipe_file: Path, input_name: str, recipe_input: RecipeInput, say: Callable[[str], None]
) -> list[str]:
    """Return the path or address of an input in a recipe, or those of the dump of its day."""
    kind, input_path = recipe_input.kind, recipe_input.path or ""
    if not is_remote(input_path):
        own_path = recipe_path(recipe_file, input_path)
        if own_path.exists() or not is_day_word(kind, input_path):
            return [str(own_path)]
        if input_path == LATEST:
            error_text = "a recipe that says `latest` makes other rows tomorrow"
            hint_text = (
                "write the day: 2026-11-09; or leave `path` out and give latest to the command"
            )
            raise UserError(error_text, where=display_path(recipe_file), hint=hint_text)
        return find_addresses(kind, [input_path], say, input_name)
    if without_credentials(input_path) != input_path:
        error_text = "an address in a recipe has no user, password or `?…`: recipes are published"
        hint_text = "give this input on the command line"
        raise UserError(error_text, where=display_path(recipe_file), hint=hint_text)
    return [input_path]


def fetched(
    kind: Kind, paths: Sequence[str], folder: Path, say: Callable[[str], None]
) -> list[str]:
    """Return local paths of an input of this kind; fetch remote files and days into `folder`.

    What a publisher states a checksum of is compared with it.
    """

    def published(address: str) -> Checksum | None:
        return published_checksum(address, say)

    addresses = find_addresses(kind, paths, say)
    accepts_name = FINDERS[kind][1]
    return local(addresses, folder, accepts_name, say=say, deep=kind == "gold", published=published)


def streamed(kind: Kind, paths: Sequence[str], say: Callable[[str], None]) -> list[RemoteFile]:
    """Return the files of an input that are read from their addresses, and not fetched.

    Raises `UserError` for a path, and for an address without such a file.
    """
    files: list[RemoteFile] = []
    for address in find_addresses(kind, paths, say):
        if not is_remote(address):
            hint_text = "give an address, latest, or a day: 2026-11-09"
            raise UserError("--stream reads from addresses", where=address, hint=hint_text)
        files.append(remote_file(address, published_checksum(address, say)))
    return files


def _is_json_lines(name: str) -> bool:
    return name.endswith((".jsonl", ".jsonl.gz", ".jsonl.bz2", ".jsonl.zst"))


def _json_lines(paths: Sequence[str]) -> list[Path]:
    file_paths = [str(_trex_folder(Path(path)) or path) for path in paths]
    return find_files(file_paths, _is_json_lines, "JSON lines", "their names end in .jsonl")


def _trex_folder(folder: Path) -> Path | None:
    """The folder `TREx` in LAMA's data as it is unzipped, beside a list of its relations."""
    for parent in (folder, folder / "data"):
        for trex_folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            # `TREx`, `trex`, `T-REx`: as people name it
            if trex_folder.is_dir() and trex_folder.name.lower().replace("-", "") == "trex":
                return trex_folder
    return None


def _wikidata(paths: Sequence[str]) -> list[Path]:
    """Return the files of a dump, or the tables in a folder of mined ones."""
    if len(paths) == 1 and (summary_file := Path(paths[0]) / TABLES[-1]).is_file():
        read_summary(summary_file)
        return [Path(paths[0]) / table_name for table_name in TABLES]
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
"""For each kind of input, a function that finds files, and one that accepts names in buckets."""


def _files(
    recipe_input: RecipeInput, paths: Sequence[str], layouts: Sequence[str]
) -> tuple[Path, ...]:
    """Return the files of an input; raise `UserError` if there are none."""
    if recipe_input.kind == "gold":
        return tuple(find_gold(paths, *layouts))
    return tuple(FINDERS[recipe_input.kind][0](paths))


def _days(
    chosen_inputs: Mapping[str, _ChosenInput],
    files_by_input: Mapping[str, tuple[Path, ...]],
    snapshot: str | None,
) -> dict[str, date]:
    """Return the day of each input; `snapshot` is the day given for one of them."""
    leading_names = [
        input_name
        for input_name in chosen_inputs
        if chosen_inputs[input_name].about.kind not in _KINDS_WITHOUT_DAY
    ]
    leading_names = leading_names or list(chosen_inputs)[:1]
    days_by_input: dict[str, date] = {}
    undated_errors: dict[str, UserError] = {}
    for input_name in leading_names:
        try:
            days_by_input[input_name] = _day(
                input_name,
                chosen_inputs[input_name].about,
                files_by_input[input_name],
                chosen_inputs[input_name].day,
            )
        except UserError as error:
            undated_errors[input_name] = error
    if undated_errors and snapshot is None:
        raise next(iter(undated_errors.values()))
    if len(undated_errors) > 1:
        error_text = (
            f"one day is given, and several inputs do not say theirs: {', '.join(undated_errors)}"
        )
        raise UserError(
            error_text, hint=f"say each: --input {next(iter(undated_errors))}=PATH@{snapshot}"
        )
    if snapshot is not None and leading_names:
        input_name = next(
            iter(undated_errors), "dump" if "dump" in leading_names else leading_names[0]
        )
        own_day = chosen_inputs[input_name].day
        if own_day not in (None, snapshot):
            raise UserError(f"input {input_name!r} has two days: {own_day} and {snapshot}")
        days_by_input[input_name] = _day(
            input_name, chosen_inputs[input_name].about, files_by_input[input_name], snapshot
        )
    newest_day = max(days_by_input.values(), default=date.min)
    for input_name, chosen_input in chosen_inputs.items():
        if input_name not in days_by_input:
            days_by_input[input_name] = _following_day(chosen_input, newest_day)
            newest_day = max(newest_day, days_by_input[input_name])
    return days_by_input


def _following_day(chosen_input: _ChosenInput, newest_day: date) -> date:
    """Return the day of a file or of gold rows, by default that of the newest other input."""
    recipe_day = chosen_input.about.snapshot if chosen_input.about.kind == "file" else None
    own_day = chosen_input.day or recipe_day
    return snapshot_day([], own_day) if own_day else newest_day


def _day(
    input_name: str, recipe_input: RecipeInput, files: Sequence[Path], named_day: str | None
) -> date:
    """Return the given day of an input, or that in the recipe, or that in its file names."""
    day: str | date | None = named_day or recipe_input.snapshot
    if recipe_input.kind == "wikidata" and tuple(file.name for file in files) == TABLES:
        day = read_summary(files[-1])["snapshot"]
    if day is not None or recipe_input.kind in ("wikidata", "gold"):
        return snapshot_day(files, day)
    example_day = "2020-12-31"
    shown_path = display_path(files[0])
    dated_input = f"--input {input_name}={shown_path}@{example_day}"
    hint_text = f"say its last day: {dated_input}, or --snapshot-date {example_day}"
    return _last_day(
        files, hint_text if recipe_input.path else hint_text + ", or `snapshot:` in the recipe"
    )


# `news-20260201.jsonl`, not `120260201` (longer numbers are ids) or `20261301` (no month)
_DAY_IN_NAME = re.compile(r"(?<!\d)20\d\d[01]\d[0-3]\d(?!\d)")


def _last_day(files: Sequence[Path], hint: str) -> date:
    """Return the last day in the names of files, or the end of the last year in them.

    If a name has no day, its folder can have one: `20260201.en/train-00000-of-00041.parquet`.
    """
    name_days = []
    for file_path in files:
        day_digits = _DAY_IN_NAME.findall(file_path.name) or _DAY_IN_NAME.findall(
            file_path.resolve().parent.name
        )
        for digits in day_digits:
            try:
                name_days.append(date.fromisoformat(digits))
            except ValueError:
                error_text = f"{digits} in its name is not a day"
                raise UserError(error_text, where=file_path, hint=hint) from None
    if name_days:
        return max(name_days)
    name_years = [
        int(year_digits)
        for file in files
        for year_digits in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", file.name)
    ]
    if not name_years:
        raise UserError("its name does not say its year", where=files[0], hint=hint)
    return date(max(name_years), 12, 31)
