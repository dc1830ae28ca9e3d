"""Sizes of memory as users write them, in the notation of DuckDB, without DuckDB itself."""

import re

# `600MB`, `1.5 GiB`: a number, the letter of its unit, and the `i` of units of 1024
_SIZE = re.compile(r"(\d+(?:\.\d+)?)( ?([KMGT])(i?)B)", re.IGNORECASE)


def byte_count(size: str) -> int:
    """Return the bytes of a size such as `600MB` or `1.5 GiB`; `ValueError` where it is none."""
    number, _, letter, binary = _size_groups(size)
    unit: int = (1024 if binary else 1000) ** ("KMGT".index(letter.upper()) + 1)
    return int(float(number) * unit)


def divided_size(size: str, parts: int) -> str:
    """Return one of equal parts of a size: half of `3 GB` is `1.5 GB`; errors as `byte_count`."""
    number, unit_text, _, _ = _size_groups(size)
    part_number = f"{float(number) / parts:.6f}".rstrip("0").rstrip(".")
    return f"{part_number}{unit_text}"


def _size_groups(size: str) -> tuple[str, ...]:
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"not a size: {size!r}")
    return match.groups()
