"""Prolific's secured parameters: the ids of a visit in a token that Prolific has signed.

Where they are on in a study, Prolific adds `prolific_token` to its link: a JSON Web Token, signed
by RS256 with a key of its public list (docs.prolific.com, “Retrieve JSON Web Key Set”). `iss` is
Prolific, `aud` is where the study is, and `prolific` holds the parameters of the link as Prolific
filled them in. Keys are fetched once a day, as the documentation asks.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from factdrift.annotation.receive.invitations import Invitation, link_parameters
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import install_extra

try:
    import jwt
    from jwt.exceptions import PyJWTError
except ImportError:
    raise UserError(
        "secured parameters need PyJWT with cryptography", hint=install_extra("serve")
    ) from None

PARAMETER, ISSUER = "prolific_token", "https://www.prolific.com"
_ALGORITHM = "RS256"
_DAY = 86_400.0
# Seconds until an unknown key's list is asked for again, so that made-up keys cause few requests.
_NEXT_FETCH = 60.0
_SECONDS_TO_FETCH = 10.0
# A list of keys has a few kilobytes.
_LONGEST_LIST = 1 << 20


@dataclass
class KeyList:
    """Prolific's public keys, from an address or a file; refreshed by use."""

    source: str
    now: Callable[[], float] = time.time
    _keys: dict[str, Any] = field(default_factory=dict)
    _fetched_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fetch(self) -> None:
        """Read the list anew. `UserError`: it cannot be had, or holds no key."""
        self._fetched_at = self.now()
        try:
            key_set = jwt.PyJWKSet.from_json(self._read())
        except (PyJWTError, OSError, ValueError, TypeError, AttributeError) as error:
            hint_text = "--keys takes an address or a file with Prolific's list of keys"
            raise UserError(
                f"no list of public keys: {str(error)[:200]}", where=self.source, hint=hint_text
            ) from None
        self._keys = {key.key_id: key.key for key in key_set.keys if key.key_id}

    def find(self, key_id: str) -> Any:
        """The key of an id, None for none; asks again where the list is a day old, or lacks it."""
        with self._lock:
            list_age = self.now() - self._fetched_at
            if list_age > _DAY or (key_id not in self._keys and list_age > _NEXT_FETCH):
                with suppress(UserError):  # the keys that are here are as good as any
                    self.fetch()
            return self._keys.get(key_id)

    def _read(self) -> str:
        if "://" not in self.source:
            return Path(self.source).read_text("utf-8")
        with requests.get(self.source, timeout=_SECONDS_TO_FETCH, stream=True) as reply:
            reply.raise_for_status()
            return reply.raw.read(_LONGEST_LIST, decode_content=True).decode("utf-8")


@dataclass(frozen=True)
class SecuredLinks:
    """Links with a token of Prolific; `host` is that of the pages, which a token has to be for."""

    keys: KeyList
    host: str
    now: Callable[[], float] = time.time

    def read(self, link_text: str) -> Invitation | None:
        """The ids in the token of a link. One that has expired begins no visit."""
        try:
            claims = self._claims(link_parameters(link_text).get(PARAMETER, ""))
        except PyJWTError:
            return None
        link_ids = claims.get("prolific")
        if not isinstance(link_ids, Mapping) or not self._is_for_us(claims["aud"]):
            return None
        worker_id, session_id, study_id = (
            str(link_ids.get(name) or "").strip()
            for name in ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID")
        )
        if not worker_id or not session_id:
            return None
        return Invitation(
            visit=(worker_id, session_id),
            study=study_id,
            is_fresh=float(claims["exp"]) > self.now(),
        )

    def _claims(self, token: str) -> dict[str, Any]:
        """What a token says, if Prolific has signed it; `PyJWTError` otherwise."""
        public_key = self.keys.find(str(jwt.get_unverified_header(token).get("kid") or ""))
        if public_key is None:
            raise jwt.InvalidKeyError
        claims: dict[str, Any] = jwt.decode(
            token,
            public_key,
            algorithms=[_ALGORITHM],
            issuer=ISSUER,
            # whom it is for and until when are looked at by `read`
            options={"verify_aud": False, "verify_exp": False, "require": ["exp", "aud", "iss"]},
        )
        if not isinstance(claims["exp"], int | float):
            raise jwt.InvalidTokenError
        return claims

    def _is_for_us(self, audience: object) -> bool:
        """Whether an audience, addresses or hosts, has the host of our pages."""
        audiences = audience if isinstance(audience, list) else [audience]
        return any(_host(str(each_audience)) == self.host for each_audience in audiences)


def _host(address: str) -> str:
    """The host of `https://x.org/a`, `x.org/a` or `x.org`; empty where there is none."""
    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
