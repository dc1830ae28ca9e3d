"""Signed links: each names a HIT and one worker's place at it, so that nobody can make one up.

A batch of our own pages has a key, `links.key` beside `private.json`, or that of the environment.
Whoever has the key can sign links; it is in no log, and in no file that leaves the machine.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors

LINK_KEY = "links.key"
VARIABLE = "FACTDRIFT_LINK_KEY"
# As of the salt: shorter keys are words that somebody tries.
_SHORTEST_KEY = 16
# 128 bits of the signature, in hexadecimal digits: links stay short, and nobody tries them all.
_SIGN_LENGTH = 32


def make_link_key(batch_folder: Path) -> bytes:
    """The key of a new batch: of the environment, or a random one, which is written beside it."""
    if not os.environ.get(VARIABLE):
        key_path = batch_folder / LINK_KEY
        key_path.touch(0o600)
        key_path.write_text(f"{secrets.token_hex(32)}\n", "ascii", newline="\n")
    return read_link_key(batch_folder)


def read_link_key(batch_folder: Path) -> bytes:
    """The key of a batch; empty where it was made without one. `UserError`: it is too short."""
    key_path = batch_folder / LINK_KEY
    key_source, link_key = VARIABLE, os.environ.get(VARIABLE, "").encode()
    if not link_key and key_path.is_file():
        key_source = display_path(key_path)
        with disk_errors(key_path):
            link_key = key_path.read_bytes().strip()
    elif not link_key:
        return b""
    if len(link_key) < _SHORTEST_KEY:
        hint_text = f"give at least {_SHORTEST_KEY} characters that nobody can guess"
        raise UserError("too short for a key", where=key_source, hint=hint_text)
    return link_key


def sign_place(link_key: bytes, batch_id: str, hit_number: int, slot_number: int) -> str:
    """The signature of one worker's place at a HIT of a batch."""
    place_text = f"{batch_id}\t{hit_number}\t{slot_number}"
    return hmac.new(link_key, place_text.encode(), hashlib.sha256).hexdigest()[:_SIGN_LENGTH]


def place_query(link_key: bytes, batch_id: str, hit_number: int, slot_number: int) -> str:
    """What a link says of a place: `hit=3&slot=1&sign=0123…`; only the HIT without a key."""
    if not link_key:
        return f"hit={hit_number}"
    signature = sign_place(link_key, batch_id, hit_number, slot_number)
    return f"hit={hit_number}&slot={slot_number}&sign={signature}"
