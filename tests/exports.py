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
    sends = "" if redirect is None else f"    <redirect title={quoteattr(redirect)} />\n"
    return f"""  <page>
    <title>{escape(title)}</title>
    <ns>{space}</ns>
    <id>{number}</id>
{sends}    <revision>
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


def multistream(pages: Sequence[str], per: int) -> bytes:
    """As the dumps are: the head, then streams of some pages, then the tail."""
    groups = ["".join(pages[i : i + per]) for i in range(0, len(pages), per)]
    return b"".join(bz2.compress(s.encode()) for s in [HEAD, *groups, TAIL])


def chopped(data: bytes, size: int) -> bytes:
    """As parallel compressors write: streams that end anywhere."""
    return b"".join(bz2.compress(data[i : i + size]) for i in range(0, len(data), size))


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


def lines(rows: Sequence[object]) -> bytes:
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in rows)


def parquet(path: Path, rows: Sequence[dict[str, object]], group: int = 2) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path
