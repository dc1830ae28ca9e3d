"""Permissions to send a key to an address, which only the user of this machine can grant.

A recipe names the environment variable of a key and the address of a service, and recipes can come
from strangers. Therefore a key is sent only to addresses that the user granted to its variable: in
the environment variable `FACTDRIFT_KEYS` (`VARIABLE=https://host …`), in the file `keys.yaml` of
the user's settings (`VARIABLE: [https://host, …]`), or by typing both on a command line. The
services of vendors are granted the variables that are named after them. Keys are sent over https
only, except to this machine. While somebody else's release is rebuilt, no key is sent.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from factdrift.builders.core.addresses import parse_address
from factdrift.builders.core.errors import UserError

VARIABLE = "FACTDRIFT_KEYS"
_VENDOR_GRANTS = {
    ("OPENAI_API_KEY", "https://api.openai.com"),
    ("PERSPECTIVE_API_KEY", "https://commentanalyzer.googleapis.com"),
}
# Nobody can listen on the way to this machine, so plain http is safe.
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_typed_grants: set[tuple[str, str]] = set()
_withheld: list[bool] = []  # one entry for each block of `withheld` that is open


def key_for(variable_name: str, address: str, *, required: bool) -> str | None:
    """Return the key in an environment variable, if it may be sent to an address.

    Returns None if the variable is empty, or if the key may not be sent and is not `required`.
    Raises `UserError` if it is required: the message shows the line that grants the permission, or
    says that a rebuild sends no keys.
    """
    key = os.environ.get(variable_name, "").strip()
    if not key:
        return None
    service = parse_address(address)
    origin = service.origin
    if _withheld:
        if not required:
            return None
        refusal_text = f"a rebuild sends no key, and the recipe sends {variable_name} to {origin}"
        hint_text = "read its recipe.yaml; to run it as your own: factdrift release recipe.yaml"
        raise UserError(refusal_text, hint=hint_text)
    if (variable_name, origin) not in _VENDOR_GRANTS | _typed_grants | set(_granted()):
        if not required:
            return None
        refusal_text = (
            f"the recipe sends the key in {variable_name} to {origin}, which you have not allowed"
        )
        hint_text = f'if you trust it, write into {settings()}: "{variable_name}: [{origin}]"'
        raise UserError(refusal_text, hint=hint_text)
    if service.scheme != "https" and service.host.strip("[]") not in _LOOPBACK_HOSTS:
        refusal_text = f"{variable_name} would go to {origin} in clear text"
        raise UserError(
            refusal_text, hint="give an https:// address; only this machine is asked over http"
        )
    return key


def grant(variable_name: str, address: str) -> None:
    """Allow this process to send a key to an address, because the user typed both."""
    _typed_grants.add((variable_name, parse_address(address).origin))


@contextmanager
def withheld() -> Iterator[None]:
    """Send no key during the block."""
    _withheld.append(True)
    try:
        yield
    finally:
        _withheld.pop()


def settings() -> Path:
    """Return the path of the user's file of permissions, which need not exist."""
    config_home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config_home) / "factdrift" / "keys.yaml"


def _granted() -> Iterator[tuple[str, str]]:
    for grant_text in os.environ.get(VARIABLE, "").split():
        variable_name, equals, address = grant_text.partition("=")
        if not equals:
            raise UserError(f"{VARIABLE} has {grant_text!r}", hint="write VARIABLE=https://host")
        yield variable_name, parse_address(address).origin
    settings_file = settings()
    if not settings_file.is_file():
        return
    try:
        granted_addresses = yaml.safe_load(settings_file.read_text("utf-8")) or {}
        grant_pairs = [
            (str(name), str(grant_text))
            for name, grant_texts in granted_addresses.items()
            for grant_text in grant_texts
        ]
    except (yaml.YAMLError, AttributeError, TypeError, UnicodeDecodeError) as error:
        hint_text = "write a line for each variable: OPENAI_API_KEY: [https://host]"
        error_text = f"is no list of addresses by variable ({error})"
        raise UserError(error_text, where=settings_file, hint=hint_text) from None
    for name, address in grant_pairs:
        yield name, parse_address(address).origin
