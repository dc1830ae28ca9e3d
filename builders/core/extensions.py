"""Extension points: what other people's packages may add to the project, by name.

There are four kinds (`filter`, `backend`, `platform`, `dataset`). Each has one explicit table of
ours and one group of entry points, `factdrift.filters` for example. A package adds to a group in
its `pyproject.toml`:

    [project.entry-points."factdrift.filters"]
    no-acronyms = "my_package.filters:NoAcronyms"

An entry point is loaded when its name is asked for, so a broken package stops only the runs that
use it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class ExtensionPoint(Generic[T]):
    """One kind of extension: the project's table, and the entry points of installed packages.

    `kind` names it in messages, in the singular; `ours` is the project's own table; `accepts` says
    whether a loaded object can serve, and `expected` says in words what it has to be.
    """

    kind: str
    ours: Mapping[str, T]
    accepts: Callable[[object], bool]
    expected: str

    @property
    def group(self) -> str:
        """The group of entry points, such as `factdrift.filters`."""
        return f"factdrift.{self.kind}s"

    def names(self) -> list[str]:
        """All names: ours in the order of the table, then those of installed packages, sorted."""
        return [*self.ours, *sorted(self._entries())]

    def find(self, name: str) -> T:
        """The extension of a name.

        `UserError`: there is none of that name (the nearest name is suggested), its package cannot
        be loaded, or what it offers is not of the expected kind.
        """
        if name in self.ours:
            return self.ours[name]
        entry = self._entries().get(name)
        if entry is None:
            raise UserError(f"no {self.kind} {name!r}", hint=self.suggestion(name))
        return self._load(entry)

    def offers(self, name: str) -> bool:
        """Whether an installed package, and not the project, has the name."""
        return name not in self.ours and name in self._entries()

    def suggestion(self, name: str) -> str:
        """What a user may have meant by an unknown name."""
        near = did_you_mean(name, self.names())
        return f"did you mean {near!r}?" if near else f"there are {', '.join(self.names())}"

    def _entries(self) -> dict[str, EntryPoint]:
        """Entry points by name. One that has a name of ours is not reachable: ours stays."""
        return {
            entry.name: entry
            for entry in entry_points(group=self.group)
            if entry.name not in self.ours
        }

    def _load(self, entry: EntryPoint) -> T:
        package = entry.dist.name if entry.dist else entry.value
        try:
            extension = entry.load()
        except Exception as error:  # another package's code may raise anything when imported
            raise UserError(
                f"the {self.kind} {entry.name!r} cannot be loaded: {type(error).__name__}: {error}",
                where=package,
            ) from error
        if not self.accepts(extension):
            raise UserError(f"{entry.value} is not {self.expected}", where=package)
        loaded: T = extension
        return loaded
