"""Write the sample Wikipedia dump from the pages in `text/*.wiki`.

    python samples/wikipedia/make.py

The dump has the form of `enwiki-YYYYMMDD-pages-articles-multistream.xml.bz2`: export schema 0.11 in
bz2 streams of their own, one for the site, one for every 20 pages, one for the end, and an index
with a line `offset:page id:title` a page. Pages are in the order of their ids. The same text gives
the same bytes. The form of the page files is explained in `README.md`.
"""

import bz2
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
NAME = "enwiki-20260201-pages-articles-multistream"
PAGES_IN_A_STREAM = 20
FORM = re.compile(
    r"---\ntitle: ([^\s_\[\]{}|#<>][^_\[\]{}|#<>\n]*)\npage: ([1-9]\d*)\nrevision: ([1-9]\d*)\n"
    r"timestamp: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n---(?:\n(.*))?",
    re.DOTALL,
)
NAMESPACES = {
    -2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 3: "User talk", 4: "Wikipedia",
    5: "Wikipedia talk", 6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk",
    10: "Template", 11: "Template talk", 12: "Help", 13: "Help talk", 14: "Category",
    15: "Category talk",
}  # fmt: skip
REDIRECT = re.compile(r"#redirect\s*\[\[([^\]|#]+)", re.IGNORECASE)
SCHEMA = "http://www.mediawiki.org/xml/export-0.11/"
FOOTER = "</mediawiki>\n"


class PageError(Exception):
    """A mistake in a page file; says file and what is wrong."""


@dataclass(frozen=True)
class SamplePage:
    """One page; `text` is its wikitext without a line break at the end."""

    title: str
    page: int
    revision: int
    timestamp: str
    text: str

    @property
    def namespace(self) -> int:
        """The number of the namespace that the title's prefix names; 0 for articles."""
        prefix, colon, _ = self.title.partition(":")
        match = (number for number, name in NAMESPACES.items() if name == prefix)
        return next(match, 0) if colon else 0

    @property
    def redirect(self) -> str:
        """The title that a redirect leads to, "" where the page is none."""
        match = REDIRECT.match(self.text)
        return "" if match is None else match[1].strip()


def read_all(folder: Path) -> list[SamplePage]:
    """Every page by page id: `---`, four fields, `---`, then the wikitext."""
    pages: list[SamplePage] = []
    for path in sorted(folder.glob("*.wiki")):
        found = FORM.fullmatch(path.read_text(encoding="utf-8").rstrip("\n"))
        if found is None:
            raise PageError(f"{path.name}: expected ---, title, page, revision, timestamp, ---")
        title, page, revision, timestamp, text = found.groups("")
        pages.append(SamplePage(title, int(page), int(revision), timestamp, text))
    for key in ("title", "page"):
        if len({getattr(page, key) for page in pages}) < len(pages):
            raise PageError(f"two pages have the same {key}")
    return sorted(pages, key=lambda page: page.page)


def base36_sha1(data: bytes) -> str:
    """The SHA-1 as MediaWiki writes it: 31 digits to the base 36."""
    number, digits = int(hashlib.sha1(data, usedforsecurity=False).hexdigest(), 16), ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits.rjust(31, "0")


def quoted(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def header() -> str:
    names = "\n".join(
        f'      <namespace key="{key}" case="first-letter"'
        + (f">{name}</namespace>" if name else " />")
        for key, name in NAMESPACES.items()
    )
    return f"""\
<mediawiki xmlns="{SCHEMA}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="{SCHEMA} http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" \
xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <generator>factdrift sample</generator>
    <case>first-letter</case>
    <namespaces>
{names}
    </namespaces>
  </siteinfo>
"""


def page_xml(page: SamplePage) -> str:
    data = page.text.encode()
    digest = base36_sha1(data)
    redirect = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect else ""
    start = f'<text bytes="{len(data)}" sha1="{digest}" xml:space="preserve"'
    text = f"{start}>{quoted(page.text)}</text>" if data else f"{start} />"
    return f"""\
  <page>
    <title>{quoted(page.title)}</title>
    <ns>{page.namespace}</ns>
    <id>{page.page}</id>
{redirect}    <revision>
      <id>{page.revision}</id>
      <parentid>{page.revision - 1}</parentid>
      <timestamp>{page.timestamp}</timestamp>
      <contributor>
        <username>Sample</username>
        <id>1</id>
      </contributor>
      <comment>sample page</comment>
      <origin>{page.revision}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      {text}
      <sha1>{digest}</sha1>
    </revision>
  </page>
"""


def dump(folder: Path = HERE / "text") -> dict[str, bytes]:
    """File name to bytes of the dump and of its index."""
    pages = read_all(folder)
    packed = bz2.compress(header().encode())
    index = ""
    for start in range(0, len(pages), PAGES_IN_A_STREAM):
        group = pages[start : start + PAGES_IN_A_STREAM]
        index += "".join(f"{len(packed)}:{page.page}:{quoted(page.title)}\n" for page in group)
        packed += bz2.compress("".join(map(page_xml, group)).encode())
    packed += bz2.compress(FOOTER.encode())
    return {f"{NAME}.xml.bz2": packed, f"{NAME}-index.txt.bz2": bz2.compress(index.encode())}


if __name__ == "__main__":
    for name, packed in dump().items():
        (HERE / name).write_bytes(packed)
