"""Speed: `make bench`. Ratios to a baseline of the same run, in wall and processor time."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/bench"
"""What a bench makes and keeps for the next time."""
DATA = Path(os.environ.get("FACTDRIFT_DATA", ROOT.parent / "shared" / "data"))
"""Real data; the samples stand in where there is none."""


class Cost(NamedTuple):
    """Seconds; bytes of memory (the peak over all processes) and of disk; what was printed.

    `disk` is what the command left in its folders, `spilled` the peak of what it had there.
    """

    wall: float
    processor: float
    memory: int
    disk: int = 0
    spilled: int = 0
    printed: str = ""

    @property
    def answer(self) -> Any:
        """What the function of `own` has returned."""
        return json.loads(self.printed)["answer"]

    def __str__(self) -> str:
        memory = self.memory / 1e6
        return f"{self.wall:.2f} s, {self.processor:.2f} s of processor, {memory:.0f} MB"


def own(function: str, *arguments: object) -> list[str]:
    """The command of a function of a bench (`mine:read`) in a process of its own."""
    return [sys.executable, "-m", "bench", function, *map(str, arguments)]


def cost(command: Sequence[str | Path], folders: Sequence[Path] = (), every: float = 0.05) -> Cost:
    """Run a command, looking at it and all that it starts every so many seconds.

    Less often where a look takes long, as it does of a large Java: looking costs a twentieth.
    Processor time is the last that was seen of each process, so that a Java that Python has
    started, and does not wait for, counts; a function of `own` measures its own times, without
    its imports. `RuntimeError` where the command fails.
    """
    before = sum(map(size, folders))
    peak = spilled = 0
    used: dict[int, float] = {}
    began = time.perf_counter()
    with subprocess.Popen(
        list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        os.set_blocking(process.stderr.fileno(), False)
        errors, first = b"", psutil.Process(process.pid)
        while process.poll() is None:
            look, memory = time.perf_counter(), 0
            with contextlib.suppress(psutil.Error):
                for one in (first, *first.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        memory += one.memory_full_info().pss  # shared memory is divided
                        used[one.pid] = sum(one.cpu_times()[:2])
            peak = max(peak, memory)
            spilled = max(spilled, sum(map(size, folders)) - before)
            errors = (errors + (process.stderr.read() or b""))[-4000:]
            time.sleep(max(every, 20 * (time.perf_counter() - look)))
        wall = time.perf_counter() - began
        printed = process.stdout.read().decode()
    if process.returncode:
        raise RuntimeError(f"{command} failed: {errors.decode(errors='replace')}")
    processor = sum(used.values())
    if list(command[1:3]) == ["-m", "bench"]:
        printed = printed.splitlines()[-1]
        wall, processor = (json.loads(printed)[name] for name in ("wall", "processor"))
    disk = sum(map(size, folders)) - before
    return Cost(wall, processor, peak, disk, spilled, printed)


def best(*commands: Sequence[str | Path], rounds: int = 3) -> list[Cost]:
    """The cheapest of several runs of each, in turn: other work only ever slows one down."""
    runs = [[cost(command) for command in commands] for _ in range(rounds)]
    return [min(some, key=lambda one: one.processor) for some in zip(*runs, strict=True)]


def timed(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and processor seconds of a call in this process, and its answer."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = function()
    return time.perf_counter() - wall, time.process_time() - processor, answer


def size(folder: Path) -> int:
    """Bytes of the files below a folder."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


class Figures:
    """Prints a line for each figure, and knows whether a bound was missed."""

    def __init__(self) -> None:
        self.missed = 0

    def __call__(self, label: str, figure: object, good: bool = True, bound: str = "") -> None:
        verdict = f"   {'ok' if good else 'MISSED'} ({bound})" if bound else ""
        print(f"{label:44} {figure!s:>34}{verdict}", flush=True)
        self.missed += not good
