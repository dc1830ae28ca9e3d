"""Dated sources in, versioned Parquet releases out.

`build` makes a release from a recipe, `open_release` opens one, `score` scores predictions.
What is listed here is the public interface; the modules below it may change with any version. A
user's mistake is a `UserError` with what to do in its text.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
