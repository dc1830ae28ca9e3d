"""Speed: `make bench`. Ratios to a baseline of the same run, in wall and processor time."""

import contextlib
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/bench"
"""The folder in which a bench keeps the files that it makes for its next run."""
DATA = Path(os.environ.get("FACTDRIFT_DATA", ROOT.parent / "shared" / "data"))
"""Real data; the samples stand in where there is none."""

QUIET = 0.1
"""The share of a processor that other programs may keep busy while a wall time is judged."""

Command = Sequence[str | Path]


class Cost(NamedTuple):
    """Seconds; bytes of memory (the peak over all processes) and of disk; what was printed.

    `disk` is what the command left in its folder, `spilled` the peak of what it had there, and
    `others` the processors that other programs kept busy meanwhile (1.5: one and a half).
    """

    wall: float
    processor: float
    memory: int = 0
    disk: int = 0
    spilled: int = 0
    answer: Any = None
    others: float = 0

    def __str__(self) -> str:
        memory = f", {self.memory / 1e6:.0f} MB" if self.memory else ""
        return f"{self.wall:.2f} s, {self.processor:.2f} s of processor{memory}"


def own(function: str, *arguments: object) -> list[str]:
    """The command of a function of a bench (`mine:read`) in a process of its own."""
    return [sys.executable, "-m", "bench", function, *map(str, arguments)]


def cost(command: Command, folder: Path | None = None, interval: float = 0.05) -> Cost:
    """Run a command, looking at it and all that it starts every so many seconds.

    Less often where a look takes long, as it does of a large Java: looking costs a twentieth.
    Processor time is the last that was seen of each process, so that a Java that Python has
    started, and does not wait for, counts; a function of `own` measures its own times, without
    its imports, and gives its answer. `RuntimeError` where the command fails.
    """
    before, peak, spilled = size(folder), 0, 0
    used: dict[int, float] = {}
    busy, looking = busy_seconds(), time.process_time()
    began = time.perf_counter()
    with (
        tempfile.TemporaryFile("w+") as printed,
        tempfile.TemporaryFile("w+", errors="replace") as errors,
        subprocess.Popen([*map(str, command)], cwd=ROOT, stdout=printed, stderr=errors) as process,
    ):
        first = psutil.Process(process.pid)
        while process.poll() is None:
            look_began, memory = time.perf_counter(), 0
            with contextlib.suppress(psutil.Error):
                for process_part in (first, *first.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        memory += process_part.memory_full_info().pss  # shared memory is divided
                        used[process_part.pid] = sum(process_part.cpu_times()[:2])
            peak, spilled = max(peak, memory), max(spilled, size(folder) - before)
            time.sleep(max(interval, 20 * (time.perf_counter() - look_began)))
        spent = Cost(time.perf_counter() - began, sum(used.values()))
        looked = time.process_time() - looking
        others = max(busy_seconds() - busy - spent.processor - looked, 0.0) / spent.wall
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{command} failed: {errors.read()[-4000:]}")
        if list(command[1:3]) == ["-m", "bench"]:
            printed.seek(0)
            spent = Cost(**json.loads(printed.read().splitlines()[-1]))
    disk = size(folder) - before
    return spent._replace(memory=peak, disk=disk, spilled=spilled, others=others)


def busy_seconds() -> float:
    """Seconds that the machine's processors have worked since it started."""
    times = psutil.cpu_times()
    return float(times.user + times.system)


def best(*commands: Command, rounds: int = 3) -> list[Cost]:
    """The cheapest of several runs of each, in turn: other work only ever slows one down."""
    runs = [[cost(command) for command in commands] for _ in range(rounds)]
    return [
        min(command_runs, key=lambda run_cost: run_cost.processor)
        for command_runs in zip(*runs, strict=True)
    ]


def timed(function: Callable[..., Any], *arguments: Any) -> Cost:
    """What a call in this process costs, without the garbage collector, and its answer."""
    gc.disable()
    wall, processor = time.perf_counter(), time.process_time()
    answer = function(*arguments)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    gc.enable()
    return Cost(wall, processor, answer=answer)


def made(name: str, write: Callable[[Path], Any]) -> tuple[Path, Any]:
    """A folder of input, made once, and what its writer returned."""
    folder, record = BENCH / name, BENCH / f"{name}.json"
    if not record.is_file():
        print(f"making {folder}, once", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        record.write_text(json.dumps(write(folder)))
    return folder, json.loads(record.read_text())


def size(folder: Path | None) -> int:
    """Bytes of the files below a folder."""
    total = 0
    for path in folder.rglob("*") if folder else ():
        with contextlib.suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


class Figures:
    """Prints a line for each figure, and counts the bounds that were missed."""

    def __init__(self) -> None:
        self.missed = 0

    def __call__(self, label: str, figure: object, good: bool = True, bound: str = "") -> None:
        verdict = f"   {'ok' if good else 'MISSED'} ({bound})" if bound else ""
        print(f"{label:44} {figure!s:>34}{verdict}", flush=True)
        self.missed += not good

    def against(
        self, base: Cost, label: str, run: Cost, least: float = 0, *, by: str = "processor"
    ) -> None:
        """How many times as cheap as the baseline a run is, by units where the two count them.

        By `processor` time; or `by="wall"` time, where the gain of a second process is the figure.
        A bound of wall time is not judged where other programs took much of a processor.
        """
        ratio = getattr(base, by) / getattr(run, by)
        ratio *= run.answer / base.answer if base.answer else 1
        bound = f">= x {least:g} by {by} time" if least else ""
        share = max(base.others, run.others)
        good = ratio >= least
        if least and by == "wall" and share > QUIET and not good:
            bound, good = "", True
            label += f" (others took {share:.0%} of a processor: not judged)"
        self(f"{label}, x {ratio:.2f}", run, good, bound)

    def flat(self, label: str, commands: Iterable[Command], most: float = 1.5) -> None:
        """The peaks of memory of commands with more and more to read: the last is not far more."""
        peaks = [cost(command).memory / 1e6 for command in commands]
        figure = ", ".join(f"{peak:.0f}" for peak in peaks) + " MB"
        self(f"memory at 1/4, 1/2 and 1 x, {label}", figure, peaks[-1] < most * peaks[0], "flat")
