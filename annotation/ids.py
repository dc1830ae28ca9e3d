"""Salted hashes of the platforms' worker and assignment ids; the ids themselves are not kept."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from builders.config import shown
from builders.errors import UserError

SALT = ".salt"
VARIABLE = "FACTDRIFT_SALT"
_SHORTEST = 16
"""Bytes of a salt."""


def read_salt(hits: Path) -> bytes:
    """The salt: of the environment, else of `hits/.salt`, which is made once, at random.

    `UserError`: it is too short.

    Whoever has it can test a guessed id: it stays with the batches and is never published.
    """
    if given := os.environ.get(VARIABLE):
        salt = given.encode()
        if len(salt) < _SHORTEST:
            hint = f"give at least {_SHORTEST} characters that nobody can guess"
            raise UserError("too short for a salt", where=VARIABLE, hint=hint)
        return salt
    path = hits / SALT
    try:
        hits.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            salt = path.read_bytes().strip()
            if len(salt) < _SHORTEST:
                hint = f"delete it and import all results anew, or set {VARIABLE}"
                raise UserError("too short for a salt", where=shown(path), hint=hint) from None
            return salt
        with os.fdopen(handle, "wb") as file:
            salt = secrets.token_hex(32).encode()
            file.write(salt + b"\n")
        return salt
    except OSError as error:
        raise UserError(f"cannot be used: {error.strerror}", where=shown(path)) from error


def check_salt(salt: bytes, out: Path) -> None:
    """`UserError` where the judgments in `out` were made with another salt: all would be new."""
    path = out / ".salt-check"
    mark = hashed(salt, "check", "", "salt")
    if path.is_file() and path.read_text("utf-8").strip() != mark:
        text = "the judgments here were made with another salt"
        hint = f"set {VARIABLE}, or bring back hits/{SALT}, as it was when they were imported"
        raise UserError(text, where=shown(out), hint=hint)
    if not path.is_file():
        path.write_text(mark + "\n", "utf-8")


def hashed(salt: bytes, what: str, platform: str, name: str) -> str:
    """16 hex digits for an id of a platform; empty for none."""
    if not name:
        return ""
    text = "\t".join((what, platform, name))
    return hmac.new(salt, text.encode(), hashlib.sha256).hexdigest()[:16]
