"""`python -m torture`: the campaigns, one after the other, and their report."""

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random

from torture import FOLDER, Outcome
from torture.lines import lines
from torture.runs import disks, kills, rivals
from torture.servers import servers

CAMPAIGNS: dict[str, tuple[Callable[[Random, int, Path], Iterator[Outcome]], int]] = {
    "kills": (kills, 2),
    "disks": (disks, 2),
    "rivals": (rivals, 3),
    "lines": (lines, 2),
    "servers": (servers, 60),
}
"""Each campaign, and its cases in a run of some minutes."""


def main(words: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="all that is random comes from it (0)")
    parser.add_argument("--hours", type=float, default=0, help="go round all campaigns for so long")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the report and the work")
    parser.add_argument("--case", action="append", default=[], help="one case again: kills/17")
    for name, (_, few) in CAMPAIGNS.items():
        parser.add_argument(f"--{name}", type=int, help=f"cases; without any number: {few}")
    given = parser.parse_args(words)
    wanted = {name: getattr(given, name) or 0 for name in CAMPAIGNS}
    if not any(wanted.values()):
        wanted = {name: few for name, (_, few) in CAMPAIGNS.items()}
    # in the background of a shell it is ignored, and so it would be by all that is started here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = Report(given.seed, given.folder)
    try:
        for case in given.case or _cases(wanted, given.hours):
            name, _, number = case.partition("/")
            chance, work = Random(f"{given.seed}/{case}"), given.folder.resolve() / "work"
            for outcome in CAMPAIGNS[name][0](chance, int(number), work):
                report.add(case, outcome)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    print((report.folder / "report.md").read_text("utf-8"))
    return 1 if report.lost.total() else 0


def _cases(wanted: dict[str, int], hours: float) -> Iterator[str]:
    """So many cases of each campaign, again and again for so many hours."""
    until = time.monotonic() + hours * 3600
    for turn in count():
        for name, number in wanted.items():
            yield from (f"{name}/{turn * number + n}" for n in range(number))
        if time.monotonic() >= until:
            return


class Report:
    """What was tried and what was lost, in `report.md`."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.tried: Counter[tuple[str, str]] = Counter()
        self.lost: Counter[tuple[str, str]] = Counter()
        self._losses: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, case: str, outcome: Outcome) -> None:
        """Count and print one outcome, and write the report anew."""
        place = case.partition("/")[0], outcome.kind
        self.tried[place] += outcome.tried
        self.lost[place] += len(outcome.losses)
        print(f"{case}: {outcome.kind}: {outcome.tried}", flush=True)
        for text in outcome.losses:
            self._losses.append(f"- `{case}` {outcome.kind}: {text[:300]!r}")
            print(f"LOSS {case} ({outcome.kind}): {text}", file=sys.stderr, flush=True)
        lines = [f"Torture, seed {self.seed}: {self.lost.total()} losses", ""]
        lines += ["| campaign | what | tried | lost |", "|---|---|---:|---:|"]
        lines += [
            f"| {c} | {k} | {n:,} | {self.lost[c, k]:,} |" for (c, k), n in self.tried.items()
        ]
        lines += ["", *self._losses, ""]
        (self.folder / "report.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
