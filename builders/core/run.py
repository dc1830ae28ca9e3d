"""One run of one recipe: its inputs, templates, seed and build folder."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar, Self

from factdrift.builders.core.config import Strict
from factdrift.builders.core.corrections import StatementChange
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import Kind
from factdrift.builders.core.steps import Step, Workspace

__outside_step_keys__ = True


class RecipeInput(Strict):
    """One input as a recipe describes it.

    `kind`: the kind of its files, by default the one that belongs to its name (dump, news, pages,
    …); `gold` is judgments of annotators about rows of the dataset. `path`: a file, a folder, a
    glob or an address, relative to the recipe; without it the input is given on the command line.
    `sha256`: the checksum that the file must have; `licence`: an SPDX expression; `snapshot`: the
    day of the input if its file names do not contain it; `homepage`: where it comes from; `note`:
    what a reader of the rows has to know about the file at `path`, a sentence for the card;
    `optional`: whether it can be absent.
    """

    kind: Kind = "wikidata"
    path: str | None = None
    sha256: str | None = None
    licence: str
    snapshot: date | None = None
    homepage: str | None = None
    note: str | None = None
    optional: bool = False


@dataclass(frozen=True)
class Source:
    """An input of a run: its files with their sha256 in hex, its day, and the recipe's entry."""

    name: str
    files: tuple[Path, ...]
    sha256: tuple[str, ...]
    snapshot: date
    about: RecipeInput

    def key_data(self) -> list[object]:
        """Return what identifies these files in the key of a step: names, checksums and day."""
        file_names = [file.name for file in self.files]
        return [file_names, list(self.sha256), self.snapshot.isoformat()]

    @property
    def mined(self) -> Path | None:
        """The folder of mined tables, or None if the input is a dump that is not mined yet."""
        return self.files[0].parent if self.files[0].name == "statements.parquet" else None


class RunInputs(dict[str, Source]):
    """The inputs of a run by name; a name that the recipe lacks is a mistake of the recipe."""

    def __init__(self, sources: Mapping[str, Source], recipe: Path) -> None:
        super().__init__(sources)
        self._recipe = recipe

    def __missing__(self, name: str) -> Source:
        names = ", ".join(self) or "none"
        hint_text = f"name it under `inputs`, where there are {names}: {name}: {{licence: CC0-1.0}}"
        raise UserError(f"no input {name!r}", where=self._recipe, hint=hint_text)


@dataclass(frozen=True)
class Run:
    """One run of one recipe, with its inputs and the workspace of its steps.

    `corrections` are what corrections make of Wikidata's statements.
    """

    recipe: Path
    inputs: Mapping[str, Source]
    templates: Path
    workspace: Workspace
    seed: int
    corrections: tuple[StatementChange, ...] = ()

    def folder(self, step: Step) -> Path:
        """Return the folder of a step; make the step first if it is not there."""
        return self.workspace.folder(step)


class DatasetBuilder(Strict):
    """The entry `build:` of a recipe: the parameters of a method, and the method itself."""

    tasks: ClassVar[tuple[str, ...]]
    """The tasks that the dataset is for, by their names on the Hub."""
    citations: ClassVar[tuple[str, ...]]
    """The keys of papers in `data_cards/papers.bib`, that of the method first."""
    layouts: ClassVar[tuple[str, ...]] = ()
    """The annotation layouts whose gold rows the builder uses."""
    changing_configs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The configs that say what changed, and which values of their column `change` do so; none: all
    of their rows. A build without one such row warns that nothing changed."""
    next_commands: ClassVar[Mapping[str, str]] = {}
    """What one types after a build, by a config that has rows; the first is taken. It follows
    `factdrift`; `{release}` stands for the folder, `{news}` for the option of the news that were
    given."""

    builder: str
    """The name of the builder in recipes; a subclass declares its own as `Literal["…"]`."""

    def limited(self, rows: int) -> Self:
        """Return the builder for a sample of at most `rows` rows.

        Raises `UserError` if the builder has no such sample.
        """
        message = f"the builder {self.builder!r} makes no limited release"
        raise UserError(message, hint="--limit is for streamingqa")

    def with_rows(self, rows: int) -> Self:
        """Return the builder for a release of `rows` rows by a model.

        Raises `UserError` if no model writes its rows.
        """
        message = f"the builder {self.builder!r} makes all the rows that there are"
        raise UserError(message, hint="--rows is for streamingqa, with a model that writes")

    def with_model(self, settings: Strict) -> Self:
        """Return the builder with a language model in the place of every one that it names.

        `settings` are `builders.generate` settings. Raises `UserError` if it asks no model.
        """
        message = f"the builder {self.builder!r} asks no language model"
        raise UserError(message, hint="--model is for recipes in which a model writes")

    def next_command(self, configs: Collection[str]) -> str:
        """Return the command to type after a build whose `configs` have rows; see `next_commands`.

        It has to work as it is, so it is none that needs texts where the release has none.
        """
        if getattr(self, "text", True):
            for config, command in self.next_commands.items():
                if config in configs:
                    return command
        return "verify {release}"

    def build(self, run: Run) -> Dataset:
        """Make and return the dataset."""
        raise NotImplementedError
