"""Quotations in a text: from a mark that opens one to the next mark that closes it.

No single pattern finds them: it would look for the partner of every opening mark anew, and a text
of a hundred thousand opening marks has none for any of them. Here a mark that has no partner is
remembered: none after it has one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

PLAIN: Mapping[str, str] = {'"': '"', "“": "”"}
"""The mark that closes a quotation, by the one that opens it."""
MIXED: Mapping[str, str] = {'"': '"”', "“": '"”'}
"""The same where either mark may close either: people mix them."""


def quotation_spans(
    text: str, closing_marks: Mapping[str, str] = PLAIN
) -> Iterator[tuple[int, int]]:
    """The start and end of each quotation, with its marks; a mark without a partner opens none."""
    opening_mark = _one_of("".join(closing_marks))
    without_partner: set[str] = set()
    position = 0
    while opening := opening_mark.search(text, position):
        position = opening.end()
        marks = closing_marks[opening[0]]
        if marks in without_partner:
            continue
        if closing := _one_of(marks).search(text, position):
            position = closing.end()
            yield opening.start(), position
        else:
            without_partner.add(marks)


@lru_cache
def _one_of(marks: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(marks)}]")


def replace_quotations(
    text: str,
    replacement: Callable[[str], str],
    closing_marks: Mapping[str, str] = PLAIN,
) -> str:
    """A text with each quotation replaced by what `replacement` makes of it."""
    pieces: list[str] = []
    copied_to = 0
    for start, end in quotation_spans(text, closing_marks):
        pieces += [text[copied_to:start], replacement(text[start:end])]
        copied_to = end
    return "".join([*pieces, text[copied_to:]])
