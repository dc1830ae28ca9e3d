"""Limits of what is read from outside, the same for every reader, and what happens over them.

A line or a page over its limit is dropped and counted; a file over its limit is refused with one
error that names the limit. Without limits a file of a megabyte can take all memory or an hour: it
unpacks to ten thousand times its size, repeats one cell in ten thousand rows, or nests brackets
until the interpreter gives up. No limit is near what honest inputs have; each says what those have.
"""

from collections.abc import Iterable
from pathlib import Path

from factdrift.builders.core.errors import UserError

LONGEST_LINE = 64 << 20
"""Bytes of a line of a dump or a news archive. The longest entities of Wikidata have 4 MB, the
longest articles of the news archives less than 2 MB, twice, in base64."""
LONGEST_PAGE = 20 << 20
"""Bytes of one page in a file of pages, or of its line. MediaWiki takes no page over 2 MiB; XML or
JSON may write each of its characters with up to six."""
LONGEST_PAGE_TEXT = 4 << 20
"""Characters of one page's text. MediaWiki takes no page over 2 MiB, and its templates may show
no more than that again."""
LONGEST_PARAGRAPH = 1 << 20
"""Characters of one paragraph, or of one row of a table. A page whose line ends were lost is one
paragraph of some 300,000."""
LONGEST_ARTICLE = 4 << 20
"""Characters of the text of a news article. Whole books have a million."""
LONGEST_ROW = 4 << 20
"""Bytes of a line of predictions, of annotators' results or of T-REx: enough for an answer with
thousands of candidates, and little enough that a file without line ends is refused before it fills
the memory."""
LARGEST_DOCUMENT = 256 << 20
"""Bytes of a JSON file of predictions that is not JSON lines, because it is read whole. The answers
to a million questions have 100 MB."""
LONGEST_SAMPLE = 64 << 20
"""Bytes of an unpacked sample in a log of Inspect. That of a long conversation has a megabyte."""
LARGEST_LOG_INDEX = 16 << 20
"""Bytes of the list of files at the end of a log of Inspect, which is held in memory at some twenty
times its size: enough for 200,000 samples."""
LARGEST_LISTING = 16 << 20
"""Bytes of a publisher's listing of a folder or of a dump's files. That of the English Wikipedia
has 300 kB."""
LARGEST_SHARED_FILE = 16 << 20
"""Bytes of a file of shared results, so that a pull request with many stays small."""
LARGEST_YAML = 1 << 20
"""Bytes of a recipe, a template, a layout or a file of prompts. The longest of the project has 30
kB."""
DEEPEST_YAML = 50
"""Levels of lists and mappings in such a file. The deepest of the project has 9."""
MOST_MISTAKES = 50
"""Mistakes of such a file that are told at once: more than anybody mends before the next try."""
LONGEST_NUMBER = 300
"""Digits of a whole number. Python itself refuses 4,300 with a message about its own settings; a
number of more than 309 digits is none that a computer calculates with."""
LONGEST_REPLY = 10_000
"""Characters of what a model writes, without its reasoning, that are read: a question or an answer
has 300 at most, and may stand behind an introduction."""
MOST_REPEATED = 1 << 20
"""Characters of table cells that are shown again because they span rows, for one page. A page of
2 MB with long tables repeats a tenth of that; a few cells with `rowspan=999` repeat gigabytes."""
_CELL_COST = 16
"""Characters that a repeated cell counts for beside its own: to repeat an empty one takes time."""
LARGEST_BATCH = 256 << 20
"""Bytes that the rows of a Parquet file may take that are in memory at a time."""
UNPACKED_FREELY = 64 << 20
"""Bytes to which any file may unpack: so much is read in seconds, and fits into memory."""
MOST_UNPACKED = 300
"""How many times its size a file may unpack to beyond that. Dumps, news and pages unpack to 3 to 25
times; a file of one repeated byte to 1,000 times (gzip) or 100,000 times (bz2, zstd)."""


class OverLimitError(Exception):
    """Something that is read is over a limit; the text says which, for the detail of a drop."""


def check_page_text(text: str) -> None:
    """`OverLimitError` where the text of a page is longer than any page can be."""
    if len(text) > LONGEST_PAGE_TEXT:
        raise OverLimitError(
            f"{len(text):,} characters of text, and no page has more than {LONGEST_PAGE_TEXT:,}"
        )


def check_paragraphs(texts: Iterable[str]) -> None:
    """`OverLimitError` where a paragraph is longer than any paragraph can be, or all together."""
    characters = 0
    for text in texts:
        characters += len(text)
        if len(text) > LONGEST_PARAGRAPH:
            raise OverLimitError(f"a paragraph of {len(text):,} characters")
        if characters > LONGEST_PAGE_TEXT:
            raise OverLimitError(f"more than {LONGEST_PAGE_TEXT:,} characters in all paragraphs")


class RepeatBudget:
    """Counts the characters that the tables of a page repeat."""

    def __init__(self) -> None:
        self._characters_left = MOST_REPEATED

    def spend(self, text: str) -> None:
        """Count a cell that is shown again; `OverLimitError` where there were too many."""
        self._characters_left -= len(text) + _CELL_COST
        if self._characters_left < 0:
            raise OverLimitError(f"its tables repeat more than {MOST_REPEATED:,} characters")


def check_unpacked(packed: int, unpacked: int, where: Path | str) -> None:
    """`UserError` where a file of so many bytes has unpacked to far more than honest ones do.

    A file whose size is not known, such as a pipe, is given as 0 bytes and always passes: its
    reader holds no more than a few lines of it.
    """
    if packed and unpacked > max(UNPACKED_FREELY, MOST_UNPACKED * packed):
        error_text = (
            f"the file has {packed:,} bytes and unpacks to more than {MOST_UNPACKED} times that"
        )
        hint_text = "it was made to fill a disk or a memory: get it from its publisher"
        raise UserError(error_text, where=where, hint=hint_text)


def check_yaml_size(size: int, where: str) -> None:
    """`UserError` where a YAML file is far longer than any that people write."""
    if size > LARGEST_YAML:
        error_text = f"the file has {size:,} bytes, and no more than {LARGEST_YAML:,} are read"
        raise UserError(error_text, where=where)


def whole_number(digits: str) -> int | None:
    """The number that digits write; None where there are more of them than a number has."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else None
