"""Hints that suit whom they reach: an editable install is for a checkout alone."""

from pathlib import Path

_IS_CHECKOUT = (Path(__file__).resolve().parents[2] / "Makefile").is_file()


def install_extra(name: str) -> str:
    """The command that installs what an extra needs, in a checkout or beside an installed wheel."""
    return f"pip install -e '.[{name}]'" if _IS_CHECKOUT else f"pip install 'factdrift[{name}]'"
