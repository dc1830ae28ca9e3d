"""No text takes more time than its length says: hostile shapes against every reader of text.

Time is that of the processor, the least of several runs, since other processes disturb it. Each
function gets every shape, at a length that takes it 20 ms or more, and at four times that length,
which may take five times as long: what reads a text again for each of its marks takes sixteen times
as long. The quick test does the same at one length, at which a text takes milliseconds.

Python's collector of unused objects stands still meanwhile. It looks at all objects of the process
now and then, those of the imported libraries too: a tenth of a second that a text of 64 kB does not
meet and one of 256 kB does, which looks like a time that grows with the square.
"""

import gc
import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import process_time
from typing import Any

import pytest

from factdrift.builders import text as text_package
from factdrift.builders import wikipedia as wikipedia_package
from factdrift.builders.core.limits import OverLimitError
from tests.conftest import CAMPAIGNS
from tests.text_shapes import FUNCTIONS, LONGEST_TEXT, NOT_TRIED, SHAPES

MEGABYTE = 1 << 20
SHORT = 4096
"""Bytes of the quick test: what takes a time that grows with the square takes a second here, where
it would take hours for a megabyte."""
SHORT_SECONDS = 0.1
MEASURABLE = 0.02
"""Seconds that the shorter text takes at least: less is lost among the clock's steps."""
GROWTH = 5.0
"""How many times as long a text of four times the length may take. 4 would be exact."""
MEGABYTE_SECONDS = 2.0
_RUNS = 5
_LOOP = 200_000
_LOOP_SECONDS = 0.006
"""Seconds of `_loop` on the machine that the limits were set on."""


def _loop() -> None:
    total = 0
    for number in range(_LOOP):
        total += number


def slowness() -> float:
    """How many times slower this machine is now than the one of the limits; at least 1."""
    return max(1.0, min(_seconds(lambda _: _loop(), "") for _ in range(5)) / _LOOP_SECONDS)


@pytest.fixture
def without_collector() -> Iterator[None]:
    """The collector stands still during a test."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _seconds(read: Callable[[str], Any], text: str) -> float:
    start = process_time()
    with suppress(OverLimitError):  # refused, as it should be; the time until then counts
        read(text)
    return process_time() - start


def _least_seconds(read: Callable[[str], Any], text: str, enough: float) -> float:
    """The least of up to `_RUNS` runs; no further one where a run took no more than `enough`."""
    least = _seconds(read, text)
    for _ in range(_RUNS - 1):
        if least <= enough:
            break
        least = min(least, _seconds(read, text))
    return least


@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_texts_of_every_shape_take_milliseconds(name: str) -> None:
    """What takes seconds for four kilobytes would take days for a megabyte."""
    slow = []
    for shape_name, shape in SHAPES.items():
        text = shape.text(min(SHORT, LONGEST_TEXT.get(name, SHORT)))
        seconds = _least_seconds(FUNCTIONS[name], text, SHORT_SECONDS)
        # the slowness is measured only where it can matter: it takes as long as all the shapes
        if seconds > SHORT_SECONDS and seconds > SHORT_SECONDS * slowness():
            slow.append(f"{shape_name}: {seconds:.2f} s")
    assert not slow


@pytest.mark.slow
@pytest.mark.skipif(not CAMPAIGNS, reason="a campaign of an hour or more: set CAMPAIGNS=1")
@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_grows_as_the_text_does(name: str) -> None:
    """Four times the text takes five times as long at most, and a megabyte two seconds."""
    read_text = FUNCTIONS[name]
    slow = []
    exponents: dict[str, float] = {}
    for shape_name, shape in SHAPES.items():
        length, seconds = SHORT, 0.0
        longest = LONGEST_TEXT.get(name, MEGABYTE)
        while length < longest // 4 and seconds < MEASURABLE:
            length *= 2
            seconds = _seconds(read_text, shape.text(length))
        if length > longest // 4:
            continue  # as long a text as there is takes no time that counts
        for _ in range(_RUNS):  # both again: the machine may be busier for one than for the other
            seconds = max(seconds, MEASURABLE)
            longer_seconds = _least_seconds(read_text, shape.text(4 * length), GROWTH * seconds)
            exponents[shape_name] = math.log(longer_seconds / seconds, 4)
            if longer_seconds <= GROWTH * seconds:
                break
            seconds = _least_seconds(read_text, shape.text(length), 0.0)
        else:
            slow.append(f"{shape_name}: {longer_seconds:.3f} s for {4 * length} bytes")
            continue
        if longer_seconds * MEGABYTE / (4 * length) > MEGABYTE_SECONDS / 4:
            megabyte_seconds = _least_seconds(read_text, shape.text(MEGABYTE), MEGABYTE_SECONDS)
            if megabyte_seconds > MEGABYTE_SECONDS and (
                megabyte_seconds > MEGABYTE_SECONDS * slowness()
            ):
                slow.append(f"{shape_name}: {megabyte_seconds:.1f} s for a megabyte")
    highest_first = sorted(exponents.items(), key=lambda item: -item[1])
    print(f"{name}: {', '.join(f'{shape} {grown:.2f}' for shape, grown in highest_first[:3])}")
    assert not slow


def _public_functions(package: Any) -> Iterator[str]:
    """Every public function of a package that takes a text, as `module.function`."""
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else value
            if not inspect.isfunction(function) or function.__module__ != info.name:
                continue
            kinds = [
                str(function_parameter.annotation)
                for function_parameter in inspect.signature(function).parameters.values()
            ]
            if not name.startswith("_") and any("str" in kind or "bytes" in kind for kind in kinds):
                yield name


def test_every_function_that_reads_text_is_tried() -> None:
    """A new function of the text packages is added to the table, or said why it is not."""
    public = {*_public_functions(text_package), *_public_functions(wikipedia_package)}
    tried = {name.split()[0] for name in FUNCTIONS}
    assert public - tried - NOT_TRIED.keys() == set()
    assert NOT_TRIED.keys() - public == set()
    assert len(SHAPES) >= 60
