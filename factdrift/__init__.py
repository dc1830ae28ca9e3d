"""Make versioned Parquet releases of temporal-knowledge benchmarks from dated sources.

`build` makes a release from a recipe, `open_release` opens one, `score` scores predictions, and
`answer_stream` plays dated passages and questions to a memory. The names in `__all__` are the
public interface; all other modules can change with any version. A mistake of the user raises
`UserError`, whose text says what to do.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not Path(__file__).with_name("builders").is_dir():
    # In a checkout the packages are beside this folder, and it has links to them. A source archive
    # has no links, and some programs unpack links as files that contain a path.
    __path__.append(str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from factdrift.api import (
        DatasetRelease,
        PromptRow,
        ReleaseConfig,
        ReleaseScores,
        UserError,
        answer_stream,
        build,
        open_release,
        score,
    )

__version__ = "0.2.0"
__all__ = [
    "DatasetRelease",
    "PromptRow",
    "ReleaseConfig",
    "ReleaseScores",
    "UserError",
    "answer_stream",
    "build",
    "open_release",
    "score",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that `import factdrift` alone is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'factdrift' has no attribute {name!r}")
    return getattr(import_module("factdrift.api"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
