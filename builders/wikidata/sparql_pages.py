"""Pages of answers: kept on disk, smaller when the endpoint cannot, larger when it can again."""

import gzip
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.wikidata.sparql_client import RESULTS, Client, Row, TooMuchError

_GONE, _GONE_SHARE = 2, 0.05
"""How many rows, and which share of them, may be gone since they were counted or listed."""
_Filled = tuple[list[str], dict[str, str]]
"""The names that a page asks about, and the text of the query's slots."""


@dataclass(frozen=True)
class Shape:
    """A query with one slot, `{values}` or `{after}` and `{limit}`; `name` starts its files."""

    name: str
    text: str

    def asking(self, **slots: str) -> str:
        return re.sub(r"\{(values|after|limit)\}", lambda slot: slots[slot[1]], self.text)


class CachedPage(msgspec.Struct):
    """One file of the cache: what was asked for and the endpoint's own answer."""

    asked: list[str]
    answer: msgspec.Raw


class Got(NamedTuple):
    """What one page answers: the ids that were asked for, and the rows."""

    asked: list[str]
    rows: list[Row]


class Cache:
    """Answers in a folder, one file a page, written whole or not at all.

    A file is named by its content's question: address without credentials, text of the query and
    the place where the page starts. Its size is not part of the name, so a page that had to
    shrink is found again, and so is one made with another page size.
    """

    def __init__(self, folder: Path, address: str) -> None:
        self.folder = folder
        self.address = address
        self._decoder = msgspec.json.Decoder(CachedPage)

    def path(self, shape: Shape, start: str) -> Path:
        question = json.dumps([self.address, shape.text, start])
        return self.folder / f"{shape.name}-{text_sha256(question)[:32]}.json.gz"

    def get(self, shape: Shape, start: str) -> Got | None:
        try:
            page = self._decoder.decode(gzip.decompress(self.path(shape, start).read_bytes()))
        except FileNotFoundError:
            return None
        except (EOFError, OSError, msgspec.DecodeError) as error:
            raise UserError(
                f"not a page of answers ({error})",
                where=self.path(shape, start),
                hint="remove this file: it will be asked for again",
            ) from error
        return Got(page.asked, RESULTS.decode(page.answer).results.bindings)

    def put(self, shape: Shape, start: str, asked: Sequence[str], raw: bytes) -> None:
        path = self.path(shape, start)
        path.parent.mkdir(parents=True, exist_ok=True)
        page = msgspec.json.encode(CachedPage(list(asked), msgspec.Raw(raw)))
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_bytes(gzip.compress(page, 6, mtime=0))
        part.replace(path)


class Pager:
    """Asks for long lists page by page; what the cache has is not asked for again.

    A page that the endpoint cannot manage is halved, down to `floor`; every page that it does
    manage lets the next be a little larger, up to the size asked for.
    """

    def __init__(self, client: Client, cache: Cache, floor: int = 10) -> None:
        self.client = client
        self.cache = cache
        self.floor = floor
        self._sizes: dict[str, int] = {}

    def one(self, shape: Shape) -> list[Row]:
        """The rows of a query that has no slot."""
        got = self.cache.get(shape, "") or self._ask(shape, "", 1, lambda _: ([], {}))
        return got.rows

    def batches(self, shape: Shape, ids: Sequence[str], size: int, key: str = "") -> Iterator[Got]:
        """Rows about each of these prefixed names, `size` names a page at most.

        With `key`, a column that has a row for every name: `UserError` where the rows of a page
        are about far fewer names than were asked for, for some stores cut answers short.
        """
        at = 0
        while at < len(ids):
            got = self.cache.get(shape, ids[at])
            if got is None or got.asked != list(ids[at : at + len(got.asked)]):
                got = self._ask(shape, ids[at], size, partial(_values, ids, at))
            if key:
                known = len({row[key].value for row in got.rows})
                self._check(shape, ids[at], known, len(got.asked))
            yield got
            at += len(got.asked)

    def keyset(self, shape: Shape, key: str, size: int, total: int) -> Iterator[list[Row]]:
        """All rows in the order of the IRIs in column `key`, `size` rows a page at most.

        Each page starts after the last key of the one before, so that rows which come or go
        meanwhile shift nothing. Only an empty page is the end: endpoints have limits of their own.
        `UserError` where there are far fewer rows than `total`, the number that was counted: the
        store sorts texts in another order than it compares them in, or cuts answers short.
        """
        after, listed = "", 0
        while True:
            got = self.cache.get(shape, after)
            got = got or self._ask(shape, after, size, partial(_limit, after))
            if not got.rows:
                self._check(shape, after, listed, total)
                return
            yield got.rows
            listed += len(got.rows)
            last = got.rows[-1][key].value
            if last == after:
                raise UserError(f"{self.client.address} gives the same page again and again")
            after = last

    def _check(self, shape: Shape, start: str, found: int, expected: int) -> None:
        """Do not believe a short answer, nor keep it; a live store is edited meanwhile."""
        if expected - found > max(_GONE, expected * _GONE_SHARE):
            self.cache.path(shape, start).unlink()
            raise UserError(
                f"{self.client.address} gave {found} of {expected} in {shape.name}",
                hint="run it again, with smaller pages; if that does not help, use a dump",
            )

    def _ask(self, shape: Shape, start: str, size: int, fill: Callable[[int], _Filled]) -> Got:
        """One page, as large as the endpoint can manage now; `fill` gives the slots for a size."""
        now = min(self._sizes.get(shape.name, size), size)
        failures = 0
        while True:
            asked, slots = fill(now)
            try:
                answer = self.client.select(shape.asking(**slots))
            except TooMuchError as error:
                if now > self.floor:
                    now = max(self.floor, now // 2)
                else:
                    failures += 1
                    self._give_up_after(failures, shape, now, error)
                self._sizes[shape.name] = now
            else:
                self._sizes[shape.name] = now + max(1, size // 20)
                self.cache.put(shape, start, asked, answer.raw)
                return Got(asked, answer.rows)

    def _give_up_after(self, failures: int, shape: Shape, size: int, error: TooMuchError) -> None:
        """Wait for a better moment, or say that there is none."""
        policy = self.client.policy
        if failures >= policy.attempts:
            raise UserError(
                f"{self.client.address} cannot answer even small pages of {shape.name} "
                f"({size} rows, asked {failures} times): {error}",
                hint="run it again later: it goes on from what it has",
            )
        self.client.pause(policy.first_wait * 2 ** (failures - 1))


def _values(ids: Sequence[str], at: int, size: int) -> _Filled:
    asked = list(ids[at : at + size])
    return asked, {"values": " ".join(asked)}


def _limit(after: str, size: int) -> _Filled:
    quoted = after.replace("\\", "\\\\").replace('"', '\\"')
    return [], {"after": quoted, "limit": str(size)}
