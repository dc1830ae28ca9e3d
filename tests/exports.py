"""MediaWiki exports and other files of pages, made for the tests."""

import bz2
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.parquet as pq

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Bestand</namespace>
      <namespace key="14" case="first-letter">Rubrik</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"


def page(
    title: str,
    text: str = "",
    *,
    number: int = 1,
    space: int = 0,
    redirect: str | None = None,
    model: str = "wikitext",
) -> str:
    """A page element as MediaWiki writes it."""
    redirect_text = "" if redirect is None else f"    <redirect title={quoteattr(redirect)} />\n"
    return f"""  <page>
    <title>{escape(title)}</title>
    <ns>{space}</ns>
    <id>{number}</id>
{redirect_text}    <revision>
      <id>{number + 1000}</id>
      <timestamp>2026-01-02T03:04:05Z</timestamp>
      <contributor><username>A</username><id>9</id></contributor>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>
      <sha1>x</sha1>
    </revision>
  </page>
"""


def export(pages: Sequence[str]) -> bytes:
    return (HEAD + "".join(pages) + TAIL).encode()


def multistream(pages: Sequence[str], pages_per_stream: int) -> bytes:
    """As the dumps are: the head, then streams of some pages, then the tail."""
    groups = [
        "".join(pages[start_place : start_place + pages_per_stream])
        for start_place in range(0, len(pages), pages_per_stream)
    ]
    return b"".join(bz2.compress(page_group.encode()) for page_group in [HEAD, *groups, TAIL])


def chopped(export_bytes: bytes, size: int) -> bytes:
    """As parallel compressors write: streams that end anywhere."""
    return b"".join(
        bz2.compress(export_bytes[start_place : start_place + size])
        for start_place in range(0, len(export_bytes), size)
    )


def write(path: Path, export_bytes: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        export_bytes = gzip.compress(export_bytes)
    elif path.suffix == ".zst":
        export_bytes = pa.compress(export_bytes, codec="zstd", asbytes=True)
    path.write_bytes(export_bytes)
    return path


def lines(rows: Sequence[object]) -> bytes:
    return b"".join(json.dumps(json_row, ensure_ascii=False).encode() + b"\n" for json_row in rows)


def parquet(path: Path, rows: Sequence[dict[str, object]], group: int = 2) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path
