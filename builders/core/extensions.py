"""Extension points: what other people's packages may add to the project, by name.

There are four kinds (`filter`, `backend`, `platform`, `dataset`). Each has one explicit table of
ours and one group of entry points, `factdrift.filters` for example. A package adds to a group in
its `pyproject.toml`:

    [project.entry-points."factdrift.filters"]
    no-acronyms = "my_package.filters:NoAcronyms"

An entry point is loaded when its name is asked for, so a broken package stops only the runs that
use it. A field of a recipe that takes such extensions by name is annotated with an `OpenUnion`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Generic, TypeVar, Union, get_args

from pydantic import BaseModel, Field, GetCoreSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from factdrift.builders.core.config import did_you_mean, mistakes
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


@dataclass(frozen=True, eq=False)
class OpenUnion:
    """Marks a field that holds one of several models, chosen by a name; packages may add models.

    `Annotated[Filter, OpenUnion(FILTER_POINT, "filter", (Length, …))]` is read like a discriminated
    union of the classes in `ours`. A name that is not among them is looked up among the entry
    points of `point`, and its mistakes are reported at their places in the file like any other.
    `key` is the field that holds the name.
    """

    point: ExtensionPoint[Any]
    key: str
    ours: tuple[type[BaseModel], ...]
    loaded: dict[str, type[BaseModel]] = field(default_factory=dict)
    """The models of packages that were named so far in this process."""

    def models(self) -> tuple[type[BaseModel], ...]:
        """Every class that a value may have had so far: ours, then those of packages."""
        return (*self.ours, *self.loaded.values())

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The schema of our union, around which `_validate` looks for names of packages.

        A value is written by its own class (`any`), which for a package's is not in the union.
        """
        return core_schema.with_info_wrap_validator_function(
            self._validate,
            handler.generate_schema(_tagged_union(self.ours, self.key)),
            serialization=core_schema.simple_ser_schema("any"),
        )

    def _validate(
        self, value: Any, handler: Callable[[Any], Any], info: ValidationInfo[Any]
    ) -> Any:
        if isinstance(value, Mapping):
            name = value.get(self.key)
            if isinstance(name, str) and name not in self.point.ours and not self._is_ours(name):
                adapter = _adapter((*self.ours, self._model(name)), self.key)
                return adapter.validate_python(value, context=info.context)
        elif self.point.accepts(type(value)) and type(value) not in self.point.ours.values():
            return value  # made by code, and not from a recipe
        return handler(value)

    def _is_ours(self, name: str) -> bool:
        return any(name in names_of(model, self.key) for model in self.ours)

    def _model(self, name: str) -> type[BaseModel]:
        """The model of a package, whose mistakes become mistakes of the recipe."""
        kind = self.point.kind
        if not self.point.offers(name):
            ours = [known for model in self.ours for known in names_of(model, self.key)]
            offered = [known for known in self.point.names() if known not in self.point.ours]
            near = did_you_mean(name, [*ours, *offered])
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(ours + offered)}"
            raise mistakes([((self.key,), f"no {kind} {name!r}, {hint}")])
        try:
            model: type[BaseModel] = self.point.find(name)
        except UserError as error:
            raise mistakes([((self.key,), str(error))]) from None
        if name not in names_of(model, self.key):
            text = f"{model.__module__}.{model.__qualname__} has no `{self.key}: Literal[{name!r}]`"
            raise mistakes([((self.key,), f"the {kind} {name!r} cannot be used: {text}")])
        self.loaded[name] = model
        return model


def names_of(model: type[BaseModel], key: str) -> tuple[str, ...]:
    """The names by which a model is chosen: those that its field `key` allows as a literal."""
    about = model.model_fields.get(key)
    return get_args(about.annotation) if about else ()


def _tagged_union(models: tuple[type[BaseModel], ...], key: str) -> Any:
    return Annotated[Union[models], Field(discriminator=key)]  # noqa: UP007 - of a tuple


@cache
def _adapter(models: tuple[type[BaseModel], ...], key: str) -> TypeAdapter[Any]:
    """Reads our models and one of a package. A union, so that errors name the model they are of."""
    return TypeAdapter(_tagged_union(models, key))
