"""The steps that read a dump, apart from those on its facts: nothing else makes them anew."""

from pathlib import Path
from typing import ClassVar

from factdrift.builders.core.run import Source
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.wikidata.finish import mined_damage
from factdrift.builders.wikidata.mine import mine


class Mine(Step):
    """The statements about items of one dump, of every relation, and the entities they name.

    `undated`: the relations whose undated statements are all kept.
    """

    name: ClassVar[str] = "mine"

    dump: Source
    undated: tuple[str, ...]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the dump once; a run that was stopped goes on where it was."""
        mine(
            self.dump.files,
            out,
            undated=self.undated,
            snapshot=self.dump.snapshot,
            jobs=workspace.jobs,
            memory=workspace.memory,
            work=workspace.work(f"{self.name}-{self.key}"),
            checksums=self.dump.sha256,
            looked_up=self._looked_up_ids(),
            say=workspace.say,
        )

    def _looked_up_ids(self) -> Path | None:
        """Return the file of ids that are looked up besides, if there is one."""
        return None


class MineWithLookup(Mine):
    """The same for some ids that a table from outside names: the table `finish.LOOKED_UP` is added.

    `ids`: a Parquet file of them. Deprecated statements of the relations `undated` are told, too.
    """

    name: ClassVar[str] = "mine-for"

    ids: Path

    def _looked_up_ids(self) -> Path:
        return self.ids


class MinedFolder(Step):
    """The folder of an earlier `factdrift mine`, given in place of a dump."""

    name: ClassVar[str] = "mined"

    tables: Source

    def prebuilt_folder(self) -> Path:
        """The folder itself."""
        assert self.tables.mined is not None
        return self.tables.mined

    def damage(self, folder: Path) -> str | None:
        """What was changed in it since it was mined, by the checksums in its `mined.json`."""
        return mined_damage(folder)
