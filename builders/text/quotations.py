"""Quotations in a text: from a mark that opens one to the next mark that closes it.

They are found without a pattern. A pattern looks for the partner of every opening mark anew, and a
text of a hundred thousand opening marks has none for any of them.
"""

from collections.abc import Callable, Iterator, Mapping

PLAIN: Mapping[str, str] = {'"': '"', "“": "”"}
"""The mark that closes a quotation, by the one that opens it."""
MIXED: Mapping[str, str] = {'"': '"”', "“": '"”'}
"""The same where either mark may close either: people mix them."""


def quotation_spans(
    text: str, closing_marks: Mapping[str, str] = PLAIN
) -> Iterator[tuple[int, int]]:
    """The start and end of each quotation, with its marks; a mark without a partner opens none."""
    next_places: dict[str, int] = {}

    def next_place(mark: str, start: int) -> int:
        """The first place of a mark from `start` on; the length of the text where there is none."""
        place = next_places.get(mark, -1)
        if place < start:
            place = text.find(mark, start)
            place = next_places[mark] = len(text) if place < 0 else place
        return place

    position = 0
    while position < len(text):
        opening = min(next_place(mark, position) for mark in closing_marks)
        if opening == len(text):
            return
        closing = min(next_place(mark, opening + 1) for mark in closing_marks[text[opening]])
        if closing < len(text):
            yield opening, closing + 1
            position = closing + 1
        else:
            position = opening + 1


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
