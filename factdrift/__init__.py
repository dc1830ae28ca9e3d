"""Dated sources in, versioned Parquet releases out.

`build` makes a release from a recipe, `open_release` opens one, `score` scores predictions.
What is listed here is the public interface; the modules below it may change with any version. A
user's mistake is a `UserError` with what to do in its text.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not Path(__file__).with_name("builders").is_dir():
    # The packages lie beside this folder, and links in it lead to them. A source archive has no
    # links, and some programs unpack links as files that hold a path.
    __path__.append(str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from factdrift.api import (
        DatasetRelease,
        PromptRow,
        ReleaseConfig,
        ReleaseScores,
        UserError,
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
    "build",
    "open_release",
    "score",
]


def __getattr__(name: str) -> Any:
    """What is public, imported when it is first asked for: `import factdrift` alone is light."""
    if name not in __all__:
        raise AttributeError(f"module 'factdrift' has no attribute {name!r}")
    return getattr(import_module("factdrift.api"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
