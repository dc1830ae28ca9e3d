"""Which key may go to which address: what the user of this machine said, and nobody else.

A recipe names the environment variable of a key and the address of a service, and recipes come
from strangers. So a key is sent only where the user granted that variable to that address: in the
environment variable `FACTDRIFT_KEYS` (`VARIABLE=https://host …`), in the file `keys.yaml` of the
user's own settings (`VARIABLE: [https://host, …]`), or by typing both on a command line. The
vendors' own services are granted the variables that are named after them. Keys go over https, or
to this machine; while a release of others is rebuilt none is sent at all.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from factdrift.builders.core.addresses import parse_address
from factdrift.builders.core.errors import UserError

VARIABLE = "FACTDRIFT_KEYS"
_VENDORS = {
    ("OPENAI_API_KEY", "https://api.openai.com"),
    ("PERSPECTIVE_API_KEY", "https://commentanalyzer.googleapis.com"),
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_typed: set[tuple[str, str]] = set()
_withheld: list[bool] = []


def key_for(variable: str, address: str, *, required: bool) -> str | None:
    """The key in an environment variable, if it may go to this address.

    None where the variable is empty, or where the address was not granted it and the key is not
    `required`. `UserError` where it is: with the line that grants it, or because keys are withheld.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    service = parse_address(address)
    place = service.origin
    if _withheld:
        if not required:
            return None
        text = f"a rebuild sends no key, and the recipe sends {variable} to {place}"
        hint = "read its recipe.yaml; to run it as your own: factdrift release recipe.yaml"
        raise UserError(text, hint=hint)
    if (variable, place) not in _VENDORS | _typed | set(_granted()):
        if not required:
            return None
        text = f"the recipe sends the key in {variable} to {place}, which you have not allowed"
        hint = f'if you trust it, write into {settings()}: "{variable}: [{place}]"'
        raise UserError(text, hint=hint)
    if service.scheme != "https" and service.host.strip("[]") not in _LOOPBACK:
        text = f"{variable} would go to {place} in clear text"
        raise UserError(text, hint="give an https:// address; only this machine is asked over http")
    return key


def grant(variable: str, address: str) -> None:
    """Allow what the user typed on the command line, in this process."""
    _typed.add((variable, parse_address(address).origin))


@contextmanager
def withheld() -> Iterator[None]:
    """Send no key meanwhile."""
    _withheld.append(True)
    try:
        yield
    finally:
        _withheld.pop()


def settings() -> Path:
    """The user's own file of grants; it need not be there."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "factdrift" / "keys.yaml"


def _granted() -> Iterator[tuple[str, str]]:
    for grant_text in os.environ.get(VARIABLE, "").split():
        variable, equals, address = grant_text.partition("=")
        if not equals:
            raise UserError(f"{VARIABLE} has {grant_text!r}", hint="write VARIABLE=https://host")
        yield variable, parse_address(address).origin
    path = settings()
    if not path.is_file():
        return
    try:
        granted_addresses = yaml.safe_load(path.read_text("utf-8")) or {}
        pairs = [
            (str(name), str(grant_text))
            for name, many in granted_addresses.items()
            for grant_text in many
        ]
    except (yaml.YAMLError, AttributeError, TypeError, UnicodeDecodeError) as error:
        hint = "write a line for each variable: OPENAI_API_KEY: [https://host]"
        text = f"is no list of addresses by variable ({error})"
        raise UserError(text, where=path, hint=hint) from None
    for name, address in pairs:
        yield name, parse_address(address).origin
