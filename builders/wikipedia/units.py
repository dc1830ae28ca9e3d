"""Files of pages cut into units of work, the same ones however many processes there are."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from builders.errors import UserError
from builders.schema import reading
from builders.wikipedia.files import Form, Source, pieces, stream_starts

PACKED = 1 << 20
"""Compressed bytes of a unit of a dump in many streams, about five times as much text."""
BLOCK = 4 << 20
"""Bytes of any other unit."""
LONGEST = 20 << 20
"""Bytes of a page, or of a line, that is read; a longer one is dropped and counted."""
_END = {"xml": b"</page>", "jsonl": b"\n"}


class Unit(NamedTuple):
    """Some pages of one file: bytes, or where they lie in it.

    `within` are bytes of whole bz2 streams, or rows (row group, first, last + 1) of Parquet;
    `first` is the number of lines or rows before it.
    """

    file: int
    number: int
    form: Form
    data: bytes = b""
    within: tuple[int, ...] = ()
    first: int = 0
    cut: bool = False
    """Whether a longer page or line than is read was left out of `data`."""


def units(
    source: Source, file: int, advance: Callable[[int], None], threads: int = 1
) -> Iterator[Unit]:
    """The units of a file, in order. `UserError`: cut short or damaged."""
    if source.form == "parquet":
        return _of_parquet(source, file, advance)
    if source.packing == "streams":
        return _of_streams(source, file, advance)
    return _of_bytes(source, file, advance, threads)


def _of_streams(source: Source, file: int, advance: Callable[[int], None]) -> Iterator[Unit]:
    start = number = 0
    for at in stream_starts(source.path):
        if at - start >= PACKED:
            yield Unit(file, number, "xml", within=(start, at))
            advance(at - start)
            start = at
            number += 2  # the odd numbers are for what two units share
    end = source.path.stat().st_size
    yield Unit(file, number, "xml", within=(start, end))
    advance(end - start)


def _of_bytes(
    source: Source, file: int, advance: Callable[[int], None], threads: int
) -> Iterator[Unit]:
    """Blocks that end where a page or a line ends."""
    mark = _END[source.form]
    size = source.path.stat().st_size
    held = bytearray()
    number = first = searched = told = 0
    skipping = False
    done = 0
    for piece in pieces(source.path, source.packing, threads=threads):
        done += len(piece)
        held += piece
        if skipping:
            end = held.find(mark)
            if end < 0:
                del held[: max(len(held) - len(mark), 0)]
                continue
            del held[: end + len(mark) - (mark == b"\n")]
            skipping = False
            searched = 0
        if len(held) < BLOCK:
            continue
        end = held.rfind(mark, max(searched - len(mark), 0))
        searched = len(held)
        if end < 0:
            if len(held) > LONGEST:
                begun = held[: 1 << 16]
                held = held[-len(mark) :]
                yield Unit(file, number, source.form, bytes(begun), first=first, cut=True)
                number += 2
                skipping = True
                searched = 0
            continue
        end += len(mark)
        data = bytes(held[:end])
        del held[:end]
        searched = 0
        yield Unit(file, number, source.form, data, first=first)
        number += 2
        if source.form == "jsonl":
            first += data.count(b"\n")
        step = min(done, size) - told if source.packing == "plain" else 0
        told += step
        advance(step)
    if not skipping or source.form == "xml":
        yield Unit(file, number, source.form, bytes(held), first=first)
    advance(size - told)


def _of_parquet(source: Source, file: int, advance: Callable[[int], None]) -> Iterator[Unit]:
    import pyarrow as pa

    try:
        with reading(source.path) as table:
            names = set(table.schema_arrow.names)
            rows = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=source.path) from error
    if "title" not in names or not names & {"text", "wikitext", "paragraphs", "redirect"}:
        text = f"no columns `title` and `paragraphs` or `text`, but {', '.join(sorted(names))}"
        raise UserError(text, where=source.path)
    first = 0
    for group, n in enumerate(rows):
        yield Unit(file, group, "parquet", within=(group,), first=first)
        first += n
        advance(source.path.stat().st_size // len(rows))
