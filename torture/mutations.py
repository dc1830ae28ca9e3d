"""What can be wrong with a text: bytes cut out, doubled or changed, JSON of other types."""

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

_TOKENS = (
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\t", b"\xe2\x80\xa8"),
    *(b"\\", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"<", b">", b"&", b"<!--", b"]]>"),
    *(b"\\ud800", b"\\u0000", b"1e999", b"-1", b"9" * 400, b"NaN", b"null", b"true", b"../../"),
    *(b"=cmd|", b"<script>", b"${x}", b"{{x}}", b"%s%n", b"[" * 3000, b"a" * 70_000),
)
_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 11.5, 1e300, 10**30, "", "Q7", "\ud800", "\0", "x" * 70_000),
    *([], {}, [[]], {"id": "Q9"}, {"en": None}, [None], "2019-02-30", "+9999999-00-00T00:00:00Z"),
)


def bitten(random: Random, data: bytes, tokens: Sequence[bytes] = _TOKENS) -> bytes:
    """Bytes with one place cut out, doubled, changed, moved or filled, or cut short."""
    if not data:
        return random.choice(tokens)
    start = random.randrange(len(data))
    stop = min(start + random.choice((1, 1, 2, 5, 40, 400)), len(data))
    middle = data[start:stop]
    match random.randrange(7):
        case 0:
            middle = b""
        case 1:
            middle *= 2
        case 2:
            middle = bytes([random.randrange(256)])
        case 3:
            middle = random.choice(tokens)
        case 4:
            middle += random.choice(tokens)
        case 5:
            middle = middle[::-1]
        case _:
            return data[:start] if random.random() < 0.3 else data[start:]
    return data[:start] + middle + data[stop:]


def damaged(random: Random, value: Any, odd: Sequence[Any] = _ODD) -> Any:
    """Plain data with one or two parts changed to one of `odd`, removed or doubled."""
    made = copy.deepcopy(value)
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        inside = part.items() if isinstance(part, dict) else enumerate(part)
        for key, below in list(inside):
            places.append((part, key))
            if isinstance(below, dict | list):
                walk(below)

    if not isinstance(made, dict | list):
        return random.choice(odd)
    walk(made)
    for _ in range(random.choice((1, 1, 2)) if places else 0):
        part, key = random.choice(places)
        try:
            if random.random() < 0.3:
                del part[key]
            elif random.random() < 0.2 and isinstance(part, list):
                part.append(part[key])
            else:
                part[key] = random.choice(odd)
        except (KeyError, IndexError):
            continue
    return made
