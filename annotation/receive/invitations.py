"""Who may take part: what the address of a page proves, and who of the register gets nothing.

The page sends its address along, in the header `X-Factdrift-Link`. By default it is a signed link
of `links.csv` or `taskflow.csv` (`annotation.links`): a worker's place at a HIT. `tokens` reads
Prolific's secured parameters instead. With `--unsigned` an address proves nothing, and ids are what
workers say they are.
"""

import hmac
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import parse_qs

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.links import LINK_KEY, VARIABLE, sign_place
from factdrift.annotation.matching import SALT, hash_id, read_salt
from factdrift.annotation.matching import VARIABLE as SALT_VARIABLE
from factdrift.annotation.people import PEOPLE, Register
from factdrift.annotation.receive.pool import Visit
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError

# Parameters of an address that are read at most: a link has seven.
_MOST_PARAMETERS = 50
# Digits of a number in a link; no batch has as many HITs.
_MOST_DIGITS = 9


class Invitation(NamedTuple):
    """What an address proves: a place, `slot`, at a HIT; or the ids of a visit and of its study.

    `is_fresh`: whether it may begin a visit. An older one only goes on with what it began.
    """

    slot: str = ""
    hit: str = ""
    visit: Visit | None = None
    study: str = ""
    is_fresh: bool = True


class Invitations(Protocol):
    """A way of telling who is invited."""

    def read(self, link_text: str) -> Invitation | None:
        """What the query of an address proves; None where nobody is invited by it."""


class AnybodyInvited:
    """Whoever comes is invited, under whichever id."""

    def read(self, link_text: str) -> Invitation | None:
        return Invitation()


def link_parameters(link_text: str) -> Mapping[str, str]:
    """The first value of each parameter of an address's query; empty where it is broken."""
    try:
        query_values = parse_qs(link_text.removeprefix("?"), max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in query_values.items()}


@dataclass(frozen=True)
class SignedLinks:
    """Links with a signature of a batch's key."""

    batch: HitBatch

    def read(self, link_text: str) -> Invitation | None:
        parameters = link_parameters(link_text)
        hit_text, slot_text = parameters.get("hit", ""), parameters.get("slot", "")
        if not _is_number(hit_text) or not _is_number(slot_text):
            return None
        hit_number, slot_number = int(hit_text), int(slot_text)
        signature = sign_place(self.batch.link_key, self.batch.id, hit_number, slot_number)
        if not hmac.compare_digest(signature.encode(), parameters.get("sign", "").encode()):
            return None
        return Invitation(slot=f"{hit_number}.{slot_number}", hit=str(hit_number))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def signed_links(batch: HitBatch) -> SignedLinks:
    """The signed links of a batch; `UserError`: it has no key."""
    if not batch.link_key:
        text = f"a batch without signed links: it has no {LINK_KEY}"
        hint_text = (
            f"bring the file back, or set {VARIABLE}; with --unsigned whoever has the address may "
            "work, under any id"
        )
        raise UserError(text, where=display_path(batch.folder), hint=hint_text)
    return SignedLinks(batch)


@dataclass
class RegisterWatch:
    """The register of people as it is now: it is read again when its file has changed."""

    judgments_folder: Path
    platform: str
    read_key: Callable[[], bytes]
    _register: Register = field(default_factory=Register)
    _salt: bytes = b""
    _read_at: tuple[int, int, int] | None = None

    def is_shut_out(self, worker_id: str) -> bool:
        """Whether somebody is excluded or erased, and gets no HIT."""
        worker_hash = self._hash(worker_id)
        return bool(worker_hash) and (
            self._register.is_excluded(worker_hash) or self._register.is_erased(worker_hash)
        )

    def is_erased(self, worker_id: str) -> bool:
        """Whether nothing of somebody may be kept."""
        worker_hash = self._hash(worker_id)
        return bool(worker_hash) and self._register.is_erased(worker_hash)

    def _hash(self, worker_id: str) -> str:
        """The hash by which the register names somebody; empty where there is no register."""
        try:
            file_status = (self.judgments_folder / PEOPLE).stat()
        except OSError:
            return ""
        version = file_status.st_ino, file_status.st_mtime_ns, file_status.st_size
        if version != self._read_at:
            self._salt = self._salt or self.read_key()
            self._register = Register.read(self.judgments_folder)
            self._read_at = version
        return hash_id(self._salt, "worker", self.platform, worker_id)


def watch_register(judgments_folder: Path, batch: HitBatch) -> RegisterWatch:
    """The register that a batch's workers are looked up in.

    `UserError`: it is damaged, or the salt by which it names people is not here.
    """
    hits_folder = batch.folder.resolve().parent.parent

    def read_key() -> bytes:
        if not (hits_folder / SALT).exists() and not os.environ.get(SALT_VARIABLE):
            text = f"people are registered here, and the salt of their hashes ({SALT}) is missing"
            hint_text = f"bring {display_path(hits_folder / SALT)} back, or set {SALT_VARIABLE}"
            raise UserError(text, where=display_path(judgments_folder / PEOPLE), hint=hint_text)
        return read_salt(hits_folder)

    register_watch = RegisterWatch(judgments_folder, batch.platform, read_key)
    register_watch.is_shut_out("anybody")  # what is wrong is said before the server starts
    return register_watch
