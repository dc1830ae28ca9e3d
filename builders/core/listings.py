"""Listings that web servers show of their folders, and lists of checksums that lie in them.

Apache, nginx and others write a listing as HTML: a link for each name, and behind it a time and a
size. What a listing links to is not followed: only its names are read.
"""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LARGEST_LISTING
from factdrift.builders.core.remote import read_whole

__outside_step_keys__ = True

_TIME_AND_SIZE = re.compile(r"\d\d:\d\d(?::\d\d)?\s+(\d+(?:\.\d+)?)\s?([KMGT]?)(?!\w)")
"""What stands behind a link: `30-May-2026 18:24  89480482381`, or rounded, `2026-02-04 12:57 1.6G`.

A folder has `-` in place of the size.
"""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*/?")
"""`20261109/` and `news-docs.2020.en.filtered.gz`; not `../` or `?C=M;O=A`, which sorts."""
_CHECKSUM_LINE = re.compile(r"([0-9a-f]{32,128}) [ *](\S+)")
"""A line as `sha1sum` writes it: the digits, two blanks (or a blank and `*`), and the name."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class ListedName(NamedTuple):
    """A name in a listing, with `/` at the end of a folder's; `size` in bytes, None if not said.

    `is_exact` says whether the size is a whole number of bytes; Apache rounds it to `1.6G`.
    """

    name: str
    size: int | None
    is_exact: bool


class _ListingParser(HTMLParser):
    """Collects the target of each link, and the text from there to the next link."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, list[str]]] = []
        self.is_whole = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append((dict(attrs).get("href") or "", []))

    def handle_data(self, data: str) -> None:
        if self.links:
            self.links[-1][1].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.is_whole = self.is_whole or tag == "html"


def read_listing(address: str, say: Callable[[str], None]) -> list[ListedName]:
    """Return the names that the listing at an address has, in its order, each once.

    Raises `UserError` if there is no listing, or if it is cut: the newest names may be missing.
    """
    parser = _ListingParser()
    parser.feed(read_whole(address, LARGEST_LISTING, say).decode("utf-8", "replace"))
    if not parser.is_whole:
        hint_text = "run it again later"
        where = without_credentials(address)
        raise UserError("a listing without an end, or none at all", where=where, hint=hint_text)
    listed_names: dict[str, ListedName] = {}
    for link_target, texts in parser.links:
        target_path = unquote(urlsplit(link_target).path)
        slash = "/" if target_path.endswith("/") else ""
        name = target_path.rstrip("/").rpartition("/")[2] + slash
        if _NAME.fullmatch(name):
            listed_names.setdefault(name, _sized(name, " ".join(texts)))
    return list(listed_names.values())


def _sized(name: str, text: str) -> ListedName:
    """Return the name with the size in the text behind its link."""
    size_match = _TIME_AND_SIZE.search(text)
    if size_match is None:
        return ListedName(name, None, is_exact=False)
    number, unit = size_match.groups()
    is_exact = not unit and "." not in number
    return ListedName(name, round(float(number) * _UNITS[unit]), is_exact)


def read_checksums(address: str, say: Callable[[str], None]) -> dict[str, str]:
    """Return the checksums in a file such as `sha1sums.txt`, by the names of files."""
    checksums: dict[str, str] = {}
    for line in read_whole(address, LARGEST_LISTING, say).decode("utf-8", "replace").splitlines():
        if line_match := _CHECKSUM_LINE.fullmatch(line.strip()):
            checksums[line_match[2]] = line_match[1]
    return checksums
