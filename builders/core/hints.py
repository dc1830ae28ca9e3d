"""Hints in error messages, which differ between a checkout and an installation."""

from pathlib import Path

_IS_CHECKOUT = (Path(__file__).resolve().parents[2] / "Makefile").is_file()


def install_extra(name: str) -> str:
    """Return the command that installs an extra, for a checkout or for an installed wheel."""
    return f"pip install -e '.[{name}]'" if _IS_CHECKOUT else f"pip install 'factdrift[{name}]'"
