"""Hints in error messages, which differ between a checkout and an installation."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True

_IS_CHECKOUT = (Path(__file__).resolve().parents[2] / "Makefile").is_file()

EXTRA_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "harness": ("inspect_ai", "lm_eval"),
    "lm": ("torch", "transformers"),
    "news": ("profanity_check", "spacy"),
    "remote": ("gcsfs", "s3fs"),
    "retrieval": ("pytrec_eval", "scipy"),
    "score": ("scipy",),
    "serve": ("starlette", "uvicorn"),
    "spark": ("pyspark",),
    "tokenizer": ("transformers",),
}
"""The extras of `pyproject.toml` that users install, each with modules that only it brings."""


def install_extra(name: str) -> str:
    """Return the command that installs an extra, for a checkout or for an installed wheel.

    Where the wheel is installed, pip takes the extra's packages and leaves factdrift as it is.
    """
    return f"pip install -e '.[{name}]'" if _IS_CHECKOUT else f"pip install 'factdrift[{name}]'"


class MissingExtraError(UserError):
    """Packages of an extra are needed that are not installed; the hint is the line for pip."""


def require_extra(name: str, purpose: str) -> None:
    """Raise `MissingExtraError` unless the packages of an extra are installed; nothing is imported.

    `purpose` says what needs them: `scores need SciPy`.
    """
    if not all(find_spec(module) for module in EXTRA_MODULES[name]):
        raise MissingExtraError(purpose, hint=install_extra(name))
