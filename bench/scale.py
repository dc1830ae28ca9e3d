"""What the whole of Wikidata, of English Wikipedia and of the news archives cost, step by step.

Each step is run at three sizes, in a process of its own with two processes or threads; a line is
fitted through each of processor time and disk by least squares (a + b·size) and followed to the
whole. `off` is how far the worst measured point of processor time lies from its line. Wall time is
shown and not followed: other programs change it, and more processes shorten it. Memory
is shown at each size and never extrapolated where the largest run takes less than 1.5 times the
smallest. What the inputs are: `bench.mine` (dumps of real entities, repeated, as dense as Wikidata
is thought to be), `bench.period_diff` (synthetic facts), `bench.pages` (real articles, repeated,
one in a hundred of them wanted), `bench.wmt` (sentences of real news).

Run: `python -m bench scale [--write]`, about a quarter of an hour, what is read made before;
`--write` puts the table into SCALE.md, with the day, the commit and a hash of the code
(`bench.page_figures`).
"""

import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import psutil

from bench import BENCH, QUIET, Cost, Figures, cost, mine, own, pages, period_diff, wmt
from bench.page_figures import SCALE

FLAT = 1.5

OUT = "{out}"
"""Stands for the folder that a command writes to."""
Input = tuple[float, list[str]]
"""A size in the step's unit, and the command."""


class ScaledStep(NamedTuple):
    """A step: a quarter, a half or all of what it reads; its unit, the whole, and why that."""

    name: str
    at: Callable[[int], Input]
    unit: str
    full: float
    why: str


def mining(share: int, *command: str) -> Input:
    """Up to 900 MB of a dump's JSON to mined tables, or what a command makes of it."""
    path, size = mine.make(900_000_000 // share)
    return size / 1e9, [*command, str(path)] if command else own("mine:read", path, OUT, 2)


def tables(share: int) -> Input:
    """Up to 4 million facts to timelines, periods and their differences."""
    folder = period_diff.make(4 / share)
    return 4 / share, own("period_diff:ours", folder, OUT, "duckdb", "lives", "4GB")


def wikipedia(share: int) -> Input:
    """Up to 80 MB of a dump's XML to the paragraphs of one page in a hundred."""
    path, written, number = pages.make(80_000_000 // share)
    return written / 1e9, own("pages:read", path, OUT, 2, 100, number)


def news(share: int) -> Input:
    """Archives of up to 480 MB of lines to the table of articles."""
    folder, lines = wmt.make(480_000_000 // share)
    return lines / 1e9, own("wmt:read", folder, f"{OUT}/articles", 2, 1)


def releasing(share: int) -> Input:
    """A dump to a release; not of test sets: repeated entities name objects without labels."""
    command = [sys.executable, "-m", "factdrift", "release", "temporal-facts-latest"]
    return mining(share, *command, "--build", f"{OUT}/b", "--out", f"{OUT}/releases", "--dump")


_MINED = "20 M dated and 97 M undated statements, the most that mining keeps of 1.7 TB"
_NEWS = "15 years: 11.4 M articles were counted in 14, at 6.4 kB a line"
_TABLES = "timelines and differences of 14 quarters, DuckDB with 4 GB"
_RELEASE = "dump to verified release `temporal-facts-latest`, mining included"
_WIKIPEDIA = "read enwiki, 1 page in 100 wanted, two processes"
STEPS = {
    "mine": ScaledStep(
        "mine a dump, two processes", mining, "GB of JSON", 1700, "115 M entities, 1.7 TB"
    ),
    "tables": ScaledStep(_TABLES, tables, "M facts", 117, _MINED),
    "release": ScaledStep(_RELEASE, releasing, "GB of JSON", 1700, "the same dump"),
    "wikipedia": ScaledStep(_WIKIPEDIA, wikipedia, "GB of XML", 105, "about 24 GB packed"),
    "news": ScaledStep("index the news archives, one process", news, "GB of lines", 78, _NEWS),
}


def measure(name: str) -> list[tuple[float, Cost]]:
    """The costs of a step at its sizes; what it reads is made before."""
    measured = []
    for size, command in map(STEPS[name].at, (4, 2, 1)):
        with TemporaryDirectory(dir=BENCH) as out:
            words = [word.replace(OUT, out) for word in command]
            measured.append((size, cost(words, Path(out), interval=0.1)._replace(answer=None)))
        print(f"{name}: {size:.3f} {STEPS[name].unit}: {measured[-1][1]}", flush=True)
    return measured


def fit(sizes: Sequence[float], values: Sequence[float], full: float) -> tuple[float, float]:
    """The value at the whole of a line that does not fall, and how far the worst point is off."""
    slope, start = np.polyfit(sizes, values, 1)
    slope = max(slope, 0.0)
    off = max(abs(start + slope * s - v) / max(v, 1e-9) for s, v in zip(sizes, values, strict=True))
    return float(start + slope * full), float(off)


def span(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def amount(size: float) -> str:
    """Bytes as people say them."""
    unit, name = next(
        unit_and_name
        for unit_and_name in ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
        if size < unit_and_name[0] * 1000
    )
    return f"{size / unit:.3g} {name}"


def table(costs_by_step: dict[str, list[tuple[float, Cost]]]) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| step | sizes | wall | processor | memory | disk | the whole | off |"
    yield "|:--|:--|:--|:--|:--|:--|:--|:--|"
    for name, measured in costs_by_step.items():
        step = STEPS[name]
        sizes, costs = zip(*measured, strict=True)
        wall, used, memory, disk, *_ = zip(*costs, strict=True)
        spilled = [max(step_cost.spilled - step_cost.disk, 0) for step_cost in costs]
        (processor, off), disk_left, meanwhile = (
            fit(sizes, values, step.full) for values in (used, disk, spilled)
        )
        most = "grows, see below" if memory[-1] >= FLAT * memory[0] else amount(memory[-1])
        whole = f"{span(processor)} of processor, memory {most}, disk {amount(disk_left[0])}"
        whole += f" and {amount(meanwhile[0])} meanwhile" if meanwhile[0] > 1e7 else ""
        cells = [step.name, ", ".join(f"{size:.3g}" for size in sizes) + f" {step.unit}"]
        cells += [", ".join(map(span, values)) for values in (wall, used)]
        cells += [", ".join(map(amount, values)) for values in (memory, disk)]
        cells += [f"**{step.full:,.0f} {step.unit}**: {whole}", f"{off:.0%}"]
        yield f"| {' | '.join(cells)} |"
    yield ""
    for step in STEPS.values():
        yield f"- {step.name}: the whole is {step.full:,.0f} {step.unit} ({step.why})."


def main(_: Figures, words: list[str]) -> None:
    """Measure all steps, print the table, and put it on the page where that is asked."""
    memory, load = psutil.virtual_memory().total / 1e9, psutil.getloadavg()[0]
    where = f"{psutil.cpu_count()} cores, {memory:.0f} GB of memory, {platform.system()}"
    costs = {name: measure(name) for name in STEPS}
    share = busy_share([spent for measured in costs.values() for _, spent in measured])
    company = (
        "" if share <= QUIET else f" Other programs took {share:.0%} of a processor meanwhile."
    )
    lines = [*table(costs), "", f"It ran on {where}; load before the run {load:.1f}.{company}", ""]
    print("\n".join(lines))
    if "--write" in words:
        SCALE.write("\n".join(lines))


def busy_share(costs: Sequence[Cost]) -> float:
    """The processors that other programs kept busy while these commands ran, on average."""
    return sum(spent.others * spent.wall for spent in costs) / sum(spent.wall for spent in costs)
