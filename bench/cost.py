"""What a command costs: seconds of the wall and of the processor, memory, disk."""

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import ROOT
from bench.mine import family, proportional

TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Seconds, and bytes of memory (the peak over all processes) and of disk.

    `disk` is what the command left in its folders, `spilled` the peak of what it had there.
    """

    wall: float
    processor: float
    memory: int
    disk: int
    spilled: int


def cost(
    command: Sequence[str | Path],
    folders: Sequence[Path] = (),
    every: float = 0.5,
    **environment: str,
) -> Cost:
    """Run a command, looking at it and all that it starts every so many seconds.

    Less often where a look takes long, as it does of a large Java: looking costs a twentieth.

    Processor time is the last that was seen of each process, so that a Java that Python has
    started, and does not wait for, counts. `RuntimeError` where the command fails.
    """
    before = sum(map(size, folders))
    peak = spilled = 0
    used: Mapping[int, float] = {}
    began = time.perf_counter()
    with subprocess.Popen(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr
        os.set_blocking(process.stderr.fileno(), False)
        said = b""
        while process.poll() is None:
            look = time.perf_counter()
            alive = family(process.pid)
            used = {**used, **{pid: seconds for pid in alive if (seconds := _processor(pid))}}
            peak = max(peak, sum(map(proportional, alive)))
            spilled = max(spilled, sum(map(size, folders)) - before)
            said = (said + (process.stderr.read() or b""))[-4000:]
            time.sleep(max(every, 20 * (time.perf_counter() - look)))
    wall = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError(f"{command} failed: {said.decode(errors='replace')}")
    return Cost(wall, sum(used.values()), peak * 1024, sum(map(size, folders)) - before, spilled)


def size(folder: Path) -> int:
    """Bytes of the files below a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(path) / name).stat().st_size
    return total


def _processor(pid: int) -> float:
    """Seconds that a process has used, its threads included and its children not."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    return 0.0
