"""`{{convert}}`: a measure as it is given, with the other unit behind it in parentheses.

The units are in `measures.yaml`. The other unit is rounded as the wiki does: about as precise as
what is given, and to two digits at least.
"""

import re
from math import floor, log10
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource

_BETWEEN = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "and": " and ",
    "or": " or ",
    "x": " × ",
    "×": " × ",
    "by": " by ",
    "+/-": " ± ",
    "±": " ± ",
    "&": " and ",
}
_FEET = {"ft": "in", "lb": "oz", "st": "lb", "mi": "ft", "yd": "ft"}
"""Units that a smaller one may follow: `6 ft 2 in`."""
_BOTH = {"ftin": ("ft", "in"), "stlb": ("st", "lb"), "lboz": ("lb", "oz")}
_SYMBOL_ON = ("on", "in", "values", "~")


class _Unit(NamedTuple):
    kind: str
    size: float
    symbol: str
    one: str
    many: str
    other: str


def _units() -> dict[str, _Unit]:
    listed = read_texts(resource("builders/wikipedia/measures.yaml"))
    return {
        " ".join(code.split()): _Unit(kind, float(about[0]), *map(str, about[1:]))
        for kind, units in listed.items()
        for codes, about in units.items()
        for code in codes.split("|")
    }


_UNITS = _units()
_ZERO = {"F": 459.67, "°F": 459.67, "degF": 459.67, "C": 273.15, "°C": 273.15, "degC": 273.15}
"""Degrees between absolute zero and the zero of the scale."""


class _Options(NamedTuple):
    """How a measure is shown: symbols or names of either unit, digits, American spelling."""

    symbol: bool
    digits: int | None
    significant: int | None
    american: bool
    adjective: str | None


def shortly(given: dict[str, str]) -> str:
    """`{{cvt|…}}`: with symbols."""
    return converted({"abbr": "on", **given})


def converted(given: dict[str, str]) -> str:
    """What `{{convert|…}}` shows; of units that are not listed the measure as given."""
    words = [v for k, v in given.items() if k.isdigit() and v]
    values, rest = words[:1], words[1:]
    between: list[str] = []
    while len(rest) > 1 and (word := rest[0].removesuffix("(-)")) in _BETWEEN:
        between.append(_BETWEEN[word])
        values.append(rest[1])
        rest = rest[2:]
    if not rest:
        return " ".join(values)
    code, rest = rest[0], rest[1:]
    small: tuple[str, str] | None = None
    if code in _FEET and len(rest) > 1 and rest[0][:1].isdigit() and rest[1] == _FEET[code]:
        small, rest = (rest[0], rest[1]), rest[2:]
    outs = rest[0].split() if rest and not rest[0].lstrip("-").isdecimal() else []
    digits = next((w for w in rest[-1:] if w.lstrip("-").isdecimal()), None)
    how = _Options(
        given.get("abbr", "") in _SYMBOL_ON,
        int(digits) if digits else None,
        int(given["sigfig"]) if given.get("sigfig", "").isdecimal() else None,
        given.get("sp", "") == "us",
        _adjective(given.get("adj", ""), rest),
    )
    grouped = [_grouped(v, given) for v in values]
    first = _shown("".join(_woven(grouped, between)), code, values[-1], how)
    if small:
        names = (code, small[1])
        symbols = [_UNITS[n].symbol if how.symbol else _UNITS[n].many for n in names]
        first = f"{grouped[0]} {symbols[0]} {small[0]} {symbols[1]}"
    others = _others(values, between, code, small, outs, how)
    return _placed(first, others, given)


def _adjective(adj: str, rest: list[str]) -> str | None:
    """What ends a measure that is an adjective, as `-long` in `5-mile-long`; None: it is none."""
    if adj == "mid":
        return rest[-1] if rest[1:] else ""
    return "" if adj == "on" else None


def _grouped(text: str, given: dict[str, str]) -> str:
    """A number as it was written, with commas and the sign for minus."""
    sign = "−" if text[:1] in ("-", "−") else ""
    whole, point, rest = text.lstrip("-−").partition(".")
    if whole.isdecimal() and len(whole) > 3 and given.get("comma") != "off":
        whole = f"{int(whole):,}"
    return f"{sign}{whole}{point}{rest}"


def _woven(values: list[str], between: list[str]) -> list[str]:
    return [values[0], *(part for pair in zip(between, values[1:], strict=True) for part in pair)]


def _placed(first: str, others: list[str], given: dict[str, str]) -> str:
    disp = given.get("disp", "")
    if not others:
        return first
    second = "; ".join(others)
    if given.get("order") == "flip" or disp == "flip":
        first, second = second, first
    if disp in ("or", "slash"):
        return f"{first}{' or ' if disp == 'or' else ' / '}{second}"
    if disp in ("number", "output number only"):
        return re.split(r"[\s\u00a0]", second)[0]
    if disp in ("out", "output only", "output"):
        return second
    if disp in ("sqbr",):
        return f"{first} [{second}]"
    return f"{first} ({second})"


def _others(
    values: list[str],
    between: list[str],
    code: str,
    small: tuple[str, str] | None,
    outs: list[str],
    how: _Options,
) -> list[str]:
    """The measure in each of the other units; none where a number or unit is not known."""
    unit = _UNITS.get(code)
    numbers = [_number(v) for v in values]
    if unit is None or any(n is None for n in numbers):
        return []
    sizes = [n or 0.0 for n in numbers]
    fine = unit.size
    if small:
        # a fourth of an inch more exact: 6 ft 2 in are 1.88 m
        fine = _UNITS[small[1]].size / 1.5
        sizes = [sizes[0] + (_number(small[0]) or 0) * _UNITS[small[1]].size / unit.size]
    shown = []
    symbols = how._replace(symbol=True)
    for out in (" ".join(outs),) if " ".join(outs) in _UNITS else outs or [unit.other]:
        if out in _BOTH:
            parts = [_in_both(n * unit.size, *_BOTH[out]) for n in sizes]
            shown.append("".join(_woven(parts, between)))
        elif (other := _UNITS.get(out)) is not None and other.kind == unit.kind:
            texts = [
                _rounded(n, v, code, out, how, fine=fine)
                for n, v in zip(sizes, values, strict=True)
            ]
            symbols = symbols._replace(adjective=None)
            shown.append(_shown("".join(_woven(texts, between)), out, texts[-1], symbols))
    return shown


def _in_both(size: float, large: str, little: str) -> str:
    """`6 ft 2 in`."""
    ratio = round(_UNITS[large].size / _UNITS[little].size)
    whole = round(size / _UNITS[little].size)
    return f"{whole // ratio} {large} {whole % ratio} {little}"


def _shown(text: str, code: str, last: str, how: _Options) -> str:
    unit = _UNITS.get(code)
    if unit is None:
        return f"{text} {code}"
    if how.adjective is not None and not how.symbol:
        return f"{text}-{_spelt(unit.one, how)}{how.adjective}"
    name = unit.one if last in ("1", "−1", "-1") or "⁄" in last else unit.many
    label = unit.symbol if how.symbol else _spelt(name, how)
    return f"{text}{label}" if label[0] == "/" else f"{text} {label}"


def _spelt(name: str, how: _Options) -> str:
    return name.replace("metre", "meter").replace("litre", "liter") if how.american else name


def _number(text: str) -> float | None:
    """`1,234.5`, `1/2`, `3+1/2`; None: something else."""
    total = 0.0
    for part in text.replace(",", "").replace("−", "-").replace("⁄", "/").split("+"):
        over, slash, under = part.partition("/")
        try:
            total += float(over) / float(under) if slash else float(over)
        except (ValueError, ZeroDivisionError):
            return None
    return total if abs(total) < 1e18 else None


def _rounded(value: float, text: str, code: str, out: str, how: _Options, *, fine: float) -> str:
    """A value in another unit, as precise as it was given; `fine`: the size of what was counted."""
    unit, other = _UNITS[code], _UNITS[out]
    heat = unit.kind == "temperature"
    size = value * unit.size / other.size
    if heat:
        size = (value + _ZERO.get(code, 0)) * unit.size / other.size - _ZERO.get(out, 0)
    plain = text.replace(",", "")
    fraction = len(plain.partition(".")[2])
    given = fraction or len(plain.rstrip("0")) - len(plain)
    if size == 0:
        digits = 0
    elif how.digits is not None:
        digits = how.digits
    elif how.significant is not None:
        digits = how.significant - 1 - floor(log10(abs(size)))
    elif heat:
        digits = max(given, 0)
    else:
        digits = floor(given - log10(fine / other.size) + log10(2) + 1e-12)
        digits = max(digits, 1 - floor(log10(abs(size)) + 1e-12))
    digits = max(min(digits, 12), -15)
    shown = floor(abs(size) * 10**digits + 0.5) / 10**digits
    return ("−" if size < 0 and shown else "") + f"{shown:,.{max(digits, 0)}f}"
