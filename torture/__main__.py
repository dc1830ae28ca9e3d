"""`python -m torture`: the campaigns, one after the other, and their report."""

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random

from torture import FOLDER, Outcome
from torture.damage import bits
from torture.lines import lines
from torture.runs import disks, kills, rivals
from torture.servers import servers

CAMPAIGNS = {kills: 2, disks: 2, rivals: 3, bits: 9, lines: 2, servers: 60}
"""Each campaign, and its cases in a run of some minutes."""


def main(words: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="all that is random comes from it (0)")
    parser.add_argument("--hours", type=float, default=0, help="go round all campaigns for so long")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the report and the work")
    parser.add_argument("--case", action="append", default=[], help="one case again: kills/17")
    campaigns = {campaign.__name__: campaign for campaign in CAMPAIGNS}
    usual = {name: CAMPAIGNS[campaign] for name, campaign in campaigns.items()}
    for name, few in usual.items():
        parser.add_argument(f"--{name}", type=int, help=f"cases; without any number: {few}")
    options = parser.parse_args(words)
    case_counts = {name: getattr(options, name) or 0 for name in usual}
    # in the background of a shell it is ignored, and so it would be by all that is started here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = Report(options.seed, options.folder)
    try:
        for case in options.case or _cases(
            case_counts if any(case_counts.values()) else usual, options.hours
        ):
            name, _, number = case.partition("/")
            chance, work = Random(f"{options.seed}/{case}"), options.folder.resolve() / "work"
            for outcome in campaigns[name](chance, int(number), work):
                report.add(case, outcome)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    print(report.text())
    return 1 if report.losses else 0


def _cases(case_counts: dict[str, int], hours: float) -> Iterator[str]:
    """So many cases of each campaign, again and again for so many hours."""
    until = time.monotonic() + hours * 3600
    for turn in count():
        for name, number in case_counts.items():
            yield from (f"{name}/{turn * number + case}" for case in range(number))
        if time.monotonic() >= until:
            return


class Report:
    """What was tried and what was lost, in `report.md`."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.counts: dict[tuple[str, str], tuple[int, int]] = {}
        self.losses: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, case: str, outcome: Outcome) -> None:
        """Count and print one outcome, and write the report anew."""
        key = case.partition("/")[0], outcome.kind
        tried, lost = self.counts.get(key, (0, 0))
        self.counts[key] = tried + outcome.tried, lost + len(outcome.losses)
        print(f"{case}: {outcome.kind}: {outcome.tried}", flush=True)
        for text in outcome.losses:
            self.losses.append(f"- `{case}` {outcome.kind}: {text[:300]!r}")
            print(f"LOSS {case} ({outcome.kind}): {text}", file=sys.stderr, flush=True)
        (self.folder / "report.md").write_text(self.text(), "utf-8")

    def text(self) -> str:
        """The table, and the losses below it."""
        lines = [f"Torture, seed {self.seed}: {len(self.losses)} losses", ""]
        lines += ["| campaign | what | tried | lost |", "|---|---|---:|---:|"]
        for (name, kind), (tried, lost) in self.counts.items():
            lines.append(f"| {name} | {kind} | {tried:,} | {lost:,} |")
        return "\n".join([*lines, "", *self.losses, ""])


if __name__ == "__main__":
    sys.exit(main())
