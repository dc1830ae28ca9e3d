"""What one process makes of a unit: a part on disk, by which the unit is known to be read."""

import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from builders.rows import Dropped
from builders.wikipedia.columns import Read, batch_of, packed
from builders.wikipedia.dump import OPEN, BadPageError, Cutter, head_of, plain, revision_of
from builders.wikipedia.files import pieces
from builders.wikipedia.records import json_rows, parquet_rows, read_of, text_of, title_of
from builders.wikipedia.site import Site
from builders.wikipedia.titles import Titles, hash_of, normalise, number_of
from builders.wikipedia.units import Unit
from builders.wikipedia.wikitext import paragraphs, redirect_of

FLUSH = 8 << 20
"""Bytes of source after which pages that were read are packed."""


class Task(NamedTuple):
    """What a process is told once."""

    files: tuple[Path, ...]
    sites: tuple[Site, ...]
    parts: Path
    wanted: Path
    """Titles as `Titles.save` wrote them."""
    late: bool = False
    """Whether this is the second visit, for pages that a wanted title is a redirect to."""


class Ends(NamedTuple):
    """What a unit has of pages that other units hold the rest of; `inside`: it has no more."""

    head: bytes
    tail: bytes
    inside: bool


def part_name(unit: Unit, late: bool) -> str:
    """The name of a unit's part; sorted, the parts are in the order of the files."""
    return f"{unit.file:06}-{unit.number + 1:08}{'-late' * late}"


class Reader:
    """Reads units, each into a part of its own."""

    def __init__(self, task: Task) -> None:
        self.task = task

    @cached_property
    def _wanted(self) -> Titles:
        return Titles.load(self.task.wanted)

    def read(self, unit: Unit) -> Ends:
        """Read a unit and write its part, whole or not at all. `UserError`: a damaged file."""
        part = _Part(self.task, unit, self._wanted)
        with part.file:
            ends = part.of_xml() if unit.form == "xml" else part.of_rows()
            part.write(ends)
        return ends


class _Part:
    def __init__(self, task: Task, unit: Unit, wanted: Titles) -> None:
        self.task, self.unit, self.wanted = task, unit, wanted
        self.site = task.sites[unit.file]
        self.path = task.parts / part_name(unit, task.late)
        self.counts: Counter[str] = Counter()
        self.dropped: list[Dropped] = []
        self.articles: list[int] = []
        self.redirects: list[tuple[int, int, str]] = []
        self.found: list[tuple[int, int, int, int, int]] = []
        self.waiting: list[tuple[int, int, Read]] = []
        self.held = self.offset = 0
        self.file = self.path.with_suffix(".pages").open("wb")

    def of_xml(self) -> Ends:
        unit = self.unit
        path = self.task.files[unit.file]
        source = pieces(path, "bz2", within=unit.within) if unit.within else iter([unit.data])  # type: ignore[arg-type]
        cutter = Cutter(source, middle=bool(unit.within) and unit.number > 0)
        for cut in cutter:
            if not cut.whole:
                self._cut(cut.data, "too_long" if cut.too_long else "cut_page")
                continue
            number = 0
            try:
                head = head_of(cut.data)
                number = head.page
                if head.namespace or head.model != "wikitext":
                    self.counts["other_namespace" if head.namespace else "other_model"] += 1
                    continue
                title = normalise(head.title) or head.title
                if head.redirect is not None:
                    self._redirect(title, head.redirect, number)
                elif (item := self._wanted_page(title)) >= 0:
                    self._page(item, title, number, cut.data)
            except BadPageError as error:
                self._drop(error.reason, number, error.detail)
        if not unit.within and OPEN in cutter.tail:
            self._cut(cutter.tail[:4096], "too_long" if unit.cut else "cut_page")
            return Ends(b"", b"", False)
        return Ends(cutter.head, cutter.tail, cutter.swallowed)

    def _wanted_page(self, title: str) -> int:
        """The item of an article; -1: it is not wanted."""
        key = hash_of(title)
        self.articles.append(key)
        return self.wanted.find(key)

    def _page(self, item: int, title: str, number: int, data: bytes) -> None:
        revision = revision_of(data)
        if not revision.text.strip():
            raise BadPageError("empty_page")
        if (target := redirect_of(revision.text)) is not None:
            self.articles.pop()
            self._redirect(title, target, number)
            return
        shown = paragraphs(revision.text, title, self.site)
        if not shown:
            raise BadPageError("no_paragraphs", f"{len(revision.text):,} characters of wikitext")
        self._keep(item, Read(title, number, revision.id, shown), len(data))

    def _redirect(self, title: str, target: str, place: int) -> None:
        to = normalise(target)
        if not to:
            raise BadPageError("bad_redirect", f"{title} to {target[:200]!r}")
        self.counts["redirects"] += 1
        self.redirects.append((hash_of(title), hash_of(to), to))

    def _keep(self, item: int, page: Read, size: int) -> None:
        self.waiting.append((item, hash_of(page.title), page))
        self.held += size
        if self.held >= FLUSH:
            self._flush()

    def _flush(self) -> None:
        if self.waiting:
            batch = batch_of([page for _, _, page in self.waiting])
            for row, (item, key, page) in enumerate(self.waiting):
                data = packed(batch, row)
                self.file.write(data)
                self.found.append((item, key, self.offset, len(data), page.page))
                self.offset += len(data)
        self.waiting, self.held = [], 0

    def of_rows(self) -> Ends:
        """JSON lines or rows of Parquet."""
        if self.unit.cut:
            self._drop("too_long", self.unit.first + 1, None)
            return Ends(b"", b"", False)
        path = self.task.files[self.unit.file]
        rows = (
            json_rows(self.unit.data, self.unit.first)
            if self.unit.form == "jsonl"
            else parquet_rows(path, list(self.unit.within), self.unit.first)
        )
        for place, row, size in rows:
            try:
                if isinstance(row, BadPageError):
                    raise row
                self._row(row, place, size)
            except BadPageError as error:
                self._drop(error.reason, place, error.detail)
        return Ends(b"", b"", False)

    def _row(self, row: Any, place: int, size: int) -> None:
        title = title_of(row)
        if (target := text_of(row, "redirect")) is not None:
            self._redirect(title, target, place)
            return
        wikitext = text_of(row, "wikitext")
        if wikitext is not None and (target := redirect_of(wikitext)) is not None:
            self._redirect(title, target, place)
            return
        item = self._wanted_page(title)
        given = text_of(row, "item")
        if given:
            if not (number := number_of(given)):
                raise BadPageError("bad_field", f"item: {given!r:.100}, not an id")
            item = number if self.wanted.has_item(number) else item
        if item < 0:
            return
        page = read_of(row)
        if not page.paragraphs:
            raise BadPageError("empty_page")
        self._keep(item, page, size)

    def _cut(self, data: bytes, reason: str) -> None:
        """A page without an end, or a too long one: what its head says of it."""
        try:
            head = head_of(data)
            self._drop(reason, head.page, plain(head.title))
        except BadPageError:
            self._drop(reason, 0, None)

    def _drop(self, reason: str, place: int, detail: str | None) -> None:
        item = f"{self.task.files[self.unit.file].name}:{place}"
        said = detail[:500].encode("utf-8", "replace").decode() if detail else None
        self.dropped.append(Dropped("pages", reason, item, None, None, None, None, said))

    def write(self, ends: Ends) -> None:
        self._flush()
        self.file.flush()
        late = self.task.late
        articles = [] if late else self.articles
        redirects = [] if late else self.redirects
        found = np.array(self.found, np.uint64).reshape(-1, 5)
        arrays: dict[str, Any] = {
            "articles": np.array(articles, np.uint64),
            "sends": np.array([r[:2] for r in redirects], np.uint64).reshape(-1, 2),
            "titles": np.frombuffer("\n".join(r[2] for r in redirects).encode(), np.uint8),
            "found": found,
        }
        np.savez(self.path.with_suffix(".npz"), **arrays)
        if self.unit.data and self.unit.number % 2 and self.unit.form == "xml":
            self.path.with_suffix(".xml").write_bytes(self.unit.data)
        if self.dropped and not late:
            lines = msgspec.json.Encoder().encode_lines(self.dropped)
            self.path.with_suffix(".dropped").write_bytes(lines)
        if not late:
            self.counts["articles"] = len(self.articles)
        about = {
            "counts": dict(self.counts),
            "within": self.unit.within,
            "ends": [ends.head.decode("latin-1"), ends.tail.decode("latin-1"), ends.inside],
        }
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(about), "utf-8")
        temporary.replace(self.path.with_suffix(".json"))


def ends_of(path: Path) -> Ends:
    """What a finished part says of its ends."""
    head, tail, inside = json.loads(path.read_text("utf-8"))["ends"]
    return Ends(head.encode("latin-1"), tail.encode("latin-1"), inside)
