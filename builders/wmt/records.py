"""The second archive format: records of `date`, `text`, and if there are `title` and `url`."""

import re
from binascii import b2a_base64
from datetime import UTC, date, datetime

import msgspec

_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")
_TITLES = "Mr Mrs Ms Dr Prof Rev Hon Gen Col Lt Sgt Capt Gov Sen Rep St Jr Sr"
_OTHERS = (
    "vs No Inc Ltd Corp Co Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec U.S U.K U.N a.m p.m"
)
_SHORT = frozenset(f"{_TITLES} {_OTHERS}".split())
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-z])")


class UnreadableError(Exception):
    """A line that is no article: a short reason, and what was seen."""

    def __init__(self, reason: str, detail: str | None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class _Record(msgspec.Struct):
    date: str
    text: str
    title: str | None = None


_decode = msgspec.json.Decoder(_Record).decode


def record(line: bytes) -> tuple[date, str, bytes]:
    """Day, split text and base64 of the text of one JSON line.

    `UnreadableError` says what is wrong. The title, where there is one, is the first line of the
    split text. The id is of the text alone. A moment with a time zone counts by its UTC day.
    """
    try:
        found = _decode(line)
        encoded = found.text.encode()
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UnreadableError("malformed_line", str(error)) from None
    day = _day(found.date.strip())
    if not found.text.strip():
        raise UnreadableError("empty_text", "the text, which the id is made of, is empty")
    title = " ".join((found.title or "").split())
    lines = [title] if title else []
    return day, "\n".join(lines + split_sentences(found.text)), b2a_base64(encoded, newline=False)


def _day(text: str) -> date:
    try:
        if plain := _DAY.fullmatch(text):
            return date(*map(int, plain.groups()))
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):
        raise UnreadableError("bad_date", text[:40]) from None


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, by rule: no model, the same on every machine.

    A sentence ends at a line end, and at `.`, `!`, `?` or `…` with closing quotes and white space
    behind it, before what is no lower-case letter; not after an initial or a common abbreviation.
    """
    found = []
    for line in text.splitlines():
        start = 0
        for end in _END.finditer(line):
            word = line[start : end.start()].rsplit(None, 1)[-1:] or [""]
            bare = word[0].lstrip("\"'“‘([")
            if line[end.start()] == "." and (bare in _SHORT or (len(bare) == 1 and bare.isupper())):
                continue
            found.append(" ".join(line[start : end.end()].split()))
            start = end.end()
        found.append(" ".join(line[start:].split()))
    return [s for s in found if s]
