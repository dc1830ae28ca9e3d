"""Addresses of services and inputs, parsed once: what is checked is what is called.

Parsers of addresses disagree. In `https://evil.example\\@api.example` some take the host before the
backslash and some the one behind the `@`, so a check by one parser says nothing of a call by
another. An address that two parsers could read in two ways is refused here, and everything that
asks for a host, sends a key or follows a redirect goes through `parse_address`.
"""

import base64
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, unquote, urlsplit

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True

WEB_SCHEMES = ("https", "http")
"""The schemes that are read with `requests`."""
BUCKET_SCHEMES = ("s3", "gs", "az")
"""Object stores that fsspec reads with a package for each. Its other protocols are refused: some
of them (`local`, `dir`, `reference`) name files of this machine or lead on to further addresses."""
_DEFAULT_PORTS = {"https": 443, "http": 80}
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_WEB_LOCATION = re.compile(
    rf"(?P<host>{_LABEL}(\.{_LABEL})*|\[[0-9a-f:.]+\])(:(?P<port>0|[1-9][0-9]{{0,8}}))?"
)
"""`api.example.org`, `localhost:8000` and `[::1]:80`; not `-a`, `a..b`, `host:`, `host:080`,
`host:http` or `bücher.example` (which is written `xn--bcher-kva.example`)."""
_LONGEST_HOST = 253
"""Characters of a host in the name system; parsers raise errors of their own for longer ones."""
_NUMERIC_HOST = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")
"""`127.0.0.1`, and what some parsers read as it: `127.1`, `2130706433`, `0x7f.1`; not `1.example`.
"""
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""`my-bucket`; not `my:bucket`, `user@bucket`."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
"""`https://`, `s3://`; not `//host` or `C:\\`."""
_ANY_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]*)://(?=.)", re.DOTALL)
"""The beginning of whatever may be meant for an address: also `simplecache::s3://bucket`."""


@dataclass(frozen=True)
class Address:
    """One address, in the parts that both parsers agree on.

    `url` has no user and no password: they are sent as a header or not at all. `origin` is what a
    key is granted to: scheme, host, and the port unless it is the usual one.
    """

    scheme: str
    host: str
    port: int | None
    user: str | None
    password: str | None
    url: str

    @property
    def origin(self) -> str:
        """`https://api.example.org`, or with a port of its own `http://localhost:8000`."""
        if self.port is None or self.port == _DEFAULT_PORTS.get(self.scheme):
            return f"{self.scheme}://{self.host}"
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def path(self) -> str:
        """What follows host and port, up to `?` and `#`: `/v1`, or empty."""
        path = self.url.partition("://")[2].partition("/")
        return re.split(r"[?#]", path[1] + path[2], maxsplit=1)[0]

    def mask(self, text: str) -> str:
        """A text, such as a server's message, without the credentials in any form they are sent."""
        if not self.password:
            return text
        pair = f"{self.user or ''}:{self.password}"
        encoded = base64.b64encode(pair.encode()).decode()
        for secret in (encoded, encoded.rstrip("="), quote(self.password, safe=""), self.password):
            text = text.replace(secret, "…")
        return text


def without_credentials(text: str) -> str:
    """An address without user, password, `?…` and `#…`, as messages and notes show it.

    A text that is no address, such as a path, is returned as it is. Where a password may have been
    written with a `/` or a `?` in it, so that its end cannot be told, only the scheme is left.
    """
    match = _ANY_SCHEME.match(text)
    if match is None:
        return text
    authority = re.split(r"[/?#\\]", text[match.end() :], maxsplit=1)[0]
    remainder = text[match.end() + len(authority) :]
    location = authority.rpartition("@")[2]
    is_clear = ":" not in authority and _WEB_LOCATION.fullmatch(location.lower())
    if "@" in remainder and not is_clear:
        return f"{match[0]}…"
    return match[0] + location + re.split(r"[?#]", remainder, maxsplit=1)[0]


def host_and_port(location: str) -> tuple[str, int | None]:
    """The host, in lower case, and the port of `host:8000`; None where no port is named.

    `ValueError`: it is not written as hosts and ports are.
    """
    match = _location_match(location)
    port = int(match["port"]) if match and match["port"] else None
    if match is None or not (port is None or 0 < port < 65536):
        raise ValueError(location)
    return match["host"], port


def parse_address(text: str, schemes: Collection[str] = WEB_SCHEMES) -> Address:
    """The address that a text is, of one of these schemes.

    `UserError`: it is of another scheme, names no host, or could be read in two ways.
    """
    shown = without_credentials(text)
    match = _SCHEME.match(text)
    if match is None:
        shown = shown.rpartition("@")[2]  # perhaps it is user:password@host
        raise UserError("not an address", where=shown, hint=f"write {_examples(schemes)}")
    scheme = match[1].lower()
    if scheme not in schemes:
        raise UserError(
            f"{scheme}:// is not read here",
            where=shown,
            hint=f"write {_examples(schemes)}",
        )
    refuse_characters(text)
    authority = re.split(r"[/?#]", text[match.end() :], maxsplit=1)[0]
    remainder = text[match.end() + len(authority) :]
    credentials, at_sign, location = authority.rpartition("@")
    if "@" in credentials:
        hint_text = "write an @ in a user's name or password as %40"
        raise UserError("an address with two @ before its path", where=shown, hint=hint_text)
    user, colon, password = credentials.partition(":")
    if scheme in BUCKET_SCHEMES:
        host, port = _bucket(text, location, remainder), None
    else:
        host, port = _web_host(text, location, remainder)
    return Address(
        scheme=scheme,
        host=host,
        port=port,
        user=unquote(user) if at_sign else None,
        password=unquote(password) if colon else None,
        url=f"{scheme}://{location}{remainder}",
    )


def refuse_characters(text: str) -> None:
    """Refuse what parsers strip, fold or take for a slash."""
    shown = without_credentials(text)
    for character in text:
        if character == "\\" or unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            character_name = (
                unicodedata.name(character, "").lower() or f"character U+{ord(character):04X}"
            )
            raise UserError(f"an address with a {character_name}", where=shown, hint="leave it out")


def _bucket(text: str, location: str, remainder: str) -> str:
    """The name of a bucket. fsspec takes `::` anywhere for a chain of addresses."""
    if not _BUCKET.fullmatch(location) or "::" in remainder:
        hint_text = "write s3://bucket/path; keys come from the environment"
        shown = without_credentials(text)
        raise UserError("not the address of a file in a bucket", where=shown, hint=hint_text)
    return location


def _location_match(location: str) -> re.Match[str] | None:
    """The match of a host and port; None where no host is written so, or it has two readings."""
    # some letters that are not ASCII become ASCII in lower case, such as the sign of kelvin
    match = _WEB_LOCATION.fullmatch(location.lower()) if location.isascii() else None
    if match is None or len(match["host"]) > _LONGEST_HOST:
        return None
    try:
        if match["host"].startswith("["):
            IPv6Address(match["host"].strip("[]"))
        elif _NUMERIC_HOST.fullmatch(match["host"]):
            IPv4Address(match["host"])
    except ValueError:
        return None
    return match


def _web_host(text: str, location: str, remainder: str) -> tuple[str, int | None]:
    """Host and port, where the parser of the standard library and that of urllib3 agree."""
    shown = without_credentials(text)
    if "@" in remainder:
        raise UserError("an address with an @ in its path", where=shown, hint="write %40")
    match = _location_match(location)
    if match is None:
        hint_text = "a host has ASCII letters, digits, dots and hyphens (xn--… for others)"
        raise UserError("not an address with a proper host", where=shown, hint=hint_text)
    host, port = match["host"], int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise UserError(f"an address with the port {port}", where=shown)
    if _other_readings(text) - {(host.strip("[]"), port)}:
        raise UserError("an address that can be read in two ways", where=shown)
    return host, port


def _other_readings(text: str) -> set[tuple[str, int | None]]:
    """Host and port as the parsers of the two libraries read them; empty host: not at all."""
    try:
        by_library, by_urllib3 = urlsplit(text), parse_url(text)
        host_of_urllib3 = (by_urllib3.host or "").strip("[]")
        return {
            (by_library.hostname or "", by_library.port),
            (host_of_urllib3, by_urllib3.port),
        }
    except (ValueError, LocationParseError):
        return {("", None)}


def _examples(schemes: Collection[str]) -> str:
    return " or ".join(f"{scheme}://…" for scheme in schemes)
