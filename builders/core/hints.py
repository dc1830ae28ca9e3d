"""Hints that suit whom they reach: an editable install is for a checkout alone."""

from factdrift.builders.core.files import resource


def install_extra(name: str) -> str:
    """The command that installs what an extra needs, in a checkout or beside an installed wheel."""
    checkout = resource("Makefile").is_file()
    return f"pip install -e '.[{name}]'" if checkout else f"pip install 'factdrift[{name}]'"
