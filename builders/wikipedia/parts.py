"""Parts: the result of reading one unit of work (`files.PageUnit`), on disk.

A part is three files of one name: `.pages` (the pages that are kept, one after the other), `.npz`
(hashes of titles and redirects, and the places of the pages), and `.json` (`PagePartSummary`). The
`.json` file is written last: where it exists, the unit was read completely.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from factdrift.builders.core.compressed import pieces
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import clear_place
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.limits import OverLimitError, check_paragraphs
from factdrift.builders.core.seals import sealed, unsealed
from factdrift.builders.rows import Dropped, Page
from factdrift.builders.wikipedia.dump import (
    BadPageError,
    PageBytes,
    cut_pages,
    newest_head,
    newest_revision,
    page_head,
)
from factdrift.builders.wikipedia.files import PageUnit, streams_after
from factdrift.builders.wikipedia.inputs import is_foreign
from factdrift.builders.wikipedia.records import (
    json_rows,
    page_from_record,
    parquet_rows,
    read_record,
)
from factdrift.builders.wikipedia.templates import UnlistedTemplates
from factdrift.builders.wikipedia.titles import (
    Titles,
    item_number_of,
    normalise_title,
    redirect_target,
    title_hash,
)
from factdrift.builders.wikipedia.unlisted_counts import TemplateCounts, add_page
from factdrift.builders.wikipedia.wikitext import paragraphs

_ENDINGS = (".pages", ".npz")
"""The endings of the two files of a part that its `.json` has the sha256 of."""


class ReadingTask(NamedTuple):
    """The settings that every reading process gets; parts are written into the folder `parts`."""

    files: tuple[Path, ...]
    parts: Path
    wanted: Path
    """Titles as `Titles.save` wrote them."""
    late: bool = False
    """Whether this is the second reading, for pages that redirects with wanted titles lead to."""


class PagePartSummary(msgspec.Struct):
    """The summary of a part: the number of pages seen, the drops, and the place of its unit.

    `templates` are those of the pages kept that no list names.
    """

    seen: int
    within: tuple[int, ...]
    dropped: list[Dropped]
    templates: TemplateCounts
    checksums: dict[str, str]
    """The sha256 of the other two files, by their endings."""


def summary_of(part: Path) -> PagePartSummary:
    """The summary of a part, by the path of its `.npz`."""
    return msgspec.json.decode(part.with_suffix(".json").read_bytes(), type=PagePartSummary)


def is_whole(part: Path) -> bool:
    """Whether a part was read completely, and its files are what was written."""
    try:
        summary = unsealed(part.with_suffix(".json").read_bytes())
        checksums = {ending: file_sha256(part.with_suffix(ending)) for ending in _ENDINGS}
    except (OSError, UserError):
        return False
    return summary is not None and summary.get("checksums") == checksums


def part_name(unit: PageUnit, late: bool) -> str:
    """The name of a unit's part; sorted, the parts are in the order of the files."""
    return f"{unit.file:06}-{unit.number:08}{'-late' * late}"


def write_part(unit: PageUnit, task: ReadingTask, wanted: Titles) -> None:
    """Read a unit and write its part, completely or not at all.

    Raises `UserError` if the file is damaged.
    """
    part = _PartWriter(task, unit, wanted)
    with part.file:
        part.read_xml() if unit.form == "xml" else part.read_rows()
        part.write()


class _PartWriter:
    """Reads the pages of a unit, writes those that are wanted, and notes redirects and drops."""

    def __init__(self, task: ReadingTask, unit: PageUnit, wanted: Titles) -> None:
        self.task, self.unit, self.wanted = task, unit, wanted
        self.path = task.parts / part_name(unit, task.late)
        self.others = 0
        self.dropped: list[Dropped] = []
        self.templates: TemplateCounts = {}
        self.articles: list[int] = []
        self.redirects: list[tuple[int, int, str]] = []
        self.found: list[tuple[int, int, int, int, int]] = []
        self.offset = 0
        self.file = clear_place(self.path.with_suffix(".pages")).open("wb")

    def _xml_pages(self) -> Iterator[PageBytes]:
        """Return the pages of XML that begin in the unit.

        A unit either holds its bytes, which are whole pages, or says between which bytes of the
        file it lies (`within`). Such a unit is whole bz2 streams, but a page may cross from one
        stream into the next. So the text from the next streams completes the last page, and, except
        at the start of the file, a page that began in the unit before is passed over.
        """
        unit = self.unit
        if not unit.within:
            return cut_pages([unit.data])
        path, (start, end) = self.task.files[unit.file], unit.within
        unit_text = pieces(path, within=(start, end))
        return cut_pages(unit_text, streams_after(path, end), begins_inside=start > 0)

    def read_xml(self) -> None:
        """Keep the wanted articles of an XML unit; note its redirects, and the reasons of drops."""
        for page_bytes in self._xml_pages():
            if page_bytes.fault:
                # If the unit lacks a page that is too long, the incomplete page is that one.
                self._drop_incomplete(
                    page_bytes.data, "too_long" if self.unit.cut else page_bytes.fault
                )
                continue
            page_id = 0
            try:
                head = page_head(page_bytes.data)
                page_id = head.page
                head = newest_head(head, page_bytes.data)
                if head.namespace or head.model != "wikitext":
                    self.others += 1
                    continue
                title = normalise_title(head.title) or head.title
                if head.redirect is not None:
                    self._redirect(title, head.redirect, page_id)
                elif (item := self._wanted_page(title)) >= 0:
                    self._page(item, title, page_id, page_bytes.data)
            except BadPageError as error:
                self._drop(error.reason, page_id, error.detail)
            except OverLimitError as error:
                self._drop("too_long", page_id, str(error))

    def _wanted_page(self, title: str) -> int:
        """Return the item number of an article by its title, or -1 if it is not wanted."""
        title_key = title_hash(title)
        self.articles.append(title_key)
        return self.wanted.find(title_key)

    def _page(self, item: int, title: str, page_id: int, page_bytes: bytes) -> None:
        revision = newest_revision(page_bytes)
        if not revision.text.strip():
            raise BadPageError("empty_page")
        unlisted: UnlistedTemplates = {}
        page_paragraphs = paragraphs(revision.text, title, unlisted)
        if not page_paragraphs:
            raise BadPageError("no_paragraphs", f"{len(revision.text):,} characters of wikitext")
        self._keep(item, Page("", title, page_id, revision.id, page_paragraphs), unlisted)

    def _redirect(self, title: str, target: str, place: int) -> None:
        target_title = normalise_title(target)
        if not target_title:
            raise BadPageError("bad_redirect", f"{title} to {target[:200]!r}")
        self.redirects.append((title_hash(title), title_hash(target_title), target_title))

    def _keep(self, item: int, page: Page, unlisted: UnlistedTemplates) -> None:
        check_paragraphs(paragraph.text for paragraph in page.paragraphs)
        if is_foreign(page.paragraphs):
            raise BadPageError("not_english", page.title)
        add_page(self.templates, unlisted)
        page_bytes = msgspec.msgpack.encode(page)
        self.file.write(page_bytes)
        self.found.append((item, title_hash(page.title), self.offset, len(page_bytes), page.page))
        self.offset += len(page_bytes)

    def read_rows(self) -> None:
        """Keep the wanted pages of a unit of JSON lines or of rows of Parquet; see `read_xml`."""
        if self.unit.cut:
            self._drop("too_long", self.unit.first + 1, None)
            return
        path = self.task.files[self.unit.file]
        rows = (
            json_rows(self.unit.data, self.unit.first)
            if self.unit.form == "jsonl"
            else parquet_rows(path, list(self.unit.within), self.unit.first)
        )
        for place, row in rows:
            try:
                if isinstance(row, BadPageError):
                    raise row
                self._row(row, place)
            except BadPageError as error:
                self._drop(error.reason, place, error.detail)
            except OverLimitError as error:
                self._drop("too_long", place, str(error))

    def _row(self, row: Any, place: int) -> None:
        record = read_record(row)
        target = record.redirect
        if target is None and record.wikitext is not None:
            target = redirect_target(record.wikitext)
        if target is not None:
            self._redirect(record.title, target, place)
            return
        item = self._wanted_page(record.title)
        if record.item:
            if not (item_number := item_number_of(record.item)):
                raise BadPageError("bad_field", f"item: {record.item!r:.100}, not an id")
            item = item_number if self.wanted.has_item(item_number) else item
        if item < 0:
            return
        unlisted: UnlistedTemplates = {}
        page = page_from_record(record, unlisted)
        if not page.paragraphs:
            raise BadPageError("empty_page")
        self._keep(item, page, unlisted)

    def _drop_incomplete(self, page_bytes: bytes, reason: str) -> None:
        """Drop a page without an end, or too long a page, by the id and title in its head."""
        try:
            head = page_head(page_bytes)
            self._drop(reason, head.page, head.title)
        except BadPageError:
            self._drop(reason, 0, None)

    def _drop(self, reason: str, place: int, detail: str | None) -> None:
        place_name = f"{self.task.files[self.unit.file].name}:{place}"
        safe_detail = detail[:500].encode("utf-8", "replace").decode() if detail else None
        self.dropped.append(
            Dropped("pages", reason, place_name, None, None, None, None, safe_detail)
        )

    def write(self) -> None:
        """Write the files of the part; `.json` last."""
        self.file.flush()
        is_late = self.task.late
        redirects = [] if is_late else self.redirects
        arrays: dict[str, Any] = {
            "articles": np.array([] if is_late else self.articles, np.uint64),
            "redirects": np.array([redirect[:2] for redirect in redirects], np.uint64).reshape(
                -1, 2
            ),
            "titles": np.frombuffer(
                "\n".join(redirect[2] for redirect in redirects).encode(), np.uint8
            ),
            "found": np.array(self.found, np.uint64).reshape(-1, 5),
        }
        np.savez(clear_place(self.path.with_suffix(".npz")), **arrays)
        page_count = len(self.articles) + len(self.redirects) + self.others
        checksums = {ending: file_sha256(self.path.with_suffix(ending)) for ending in _ENDINGS}
        summary = PagePartSummary(
            page_count, self.unit.within, self.dropped, self.templates, checksums
        )
        temporary_path = clear_place(self.path.with_suffix(".tmp"))
        temporary_path.write_bytes(msgspec.json.encode(sealed(msgspec.to_builtins(summary))))
        temporary_path.replace(self.path.with_suffix(".json"))
