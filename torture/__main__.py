"""`python -m torture`: the campaigns, one after the other, and their report."""

import argparse
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from torture import FOLDER, Outcome
from torture.lines import lines
from torture.runs import RERUN, disks, kills, rivals
from torture.servers import servers

CAMPAIGNS: dict[str, Callable[[Random, int, Path], Iterator[Outcome]]] = {
    "kills": kills,
    "disks": disks,
    "rivals": rivals,
    "lines": lines,
    "servers": servers,
}
FEW = {"kills": 12, "disks": 8, "rivals": 3, "lines": 20_000, "servers": 60}
"""Tries of a run of some minutes."""


def main(words: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="all that is random comes from it (0)")
    parser.add_argument("--hours", type=float, help="go round all campaigns for so long")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the report and the work")
    parser.add_argument("--case", action="append", default=[], help="one case again: kills/17")
    for name, few in FEW.items():
        parser.add_argument(f"--{name}", type=int, help=f"tries; without any number: {few:,}")
    given = parser.parse_args(words)
    wanted = {name: getattr(given, name) or 0 for name in CAMPAIGNS}
    if not any(wanted.values()):
        wanted = dict(FEW)
    # in the background of a shell it is ignored, and so it would be by all that is started here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = Report(given.seed, given.folder)
    try:
        for name, number in _cases(given.case, wanted, given.hours or 0, report):
            chance = Random(f"{given.seed}/{name}/{number}")
            for outcome in CAMPAIGNS[name](chance, number, given.folder.resolve() / "work"):
                report.add(name, number, outcome)
                print(f"{name}/{number}: {outcome.kind}: {outcome.tried}", flush=True)
            report.write()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    report.write()
    print("\n".join(report.table()))
    return 1 if report.losses else 0


class Report:
    """What was tried and what was lost, in `report.json` and `report.md`."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.begun = time.monotonic()
        self.tried: dict[tuple[str, str], int] = defaultdict(int)
        self.losses: list[dict[str, str]] = []

    def add(self, campaign: str, number: int, outcome: Outcome) -> None:
        """Count one outcome and print what was lost."""
        self.tried[campaign, outcome.kind] += outcome.tried
        for text in outcome.losses:
            case = f"{campaign}/{number}"
            self.losses.append({"case": case, "kind": outcome.kind, "what": text})
            print(f"LOSS {case} ({outcome.kind}): {text}", file=sys.stderr, flush=True)

    def done(self, campaign: str) -> int:
        """How much a campaign has tried."""
        tried = self.tried.items()
        return sum(n for (name, kind), n in tried if name == campaign and kind != RERUN)

    def table(self) -> Iterator[str]:
        """The report as Markdown."""
        minutes = (time.monotonic() - self.begun) / 60
        yield f"Torture, seed {self.seed}, {minutes:.0f} minutes: {len(self.losses)} losses\n"
        yield "| campaign | what | tried | lost |\n|---|---|---:|---:|"
        for (campaign, kind), tried in sorted(self.tried.items()):
            own = [x for x in self.losses if x["case"].startswith(f"{campaign}/")]
            lost = sum(one["kind"] == kind for one in own)
            yield f"| {campaign} | {kind} | {tried:,} | {lost:,} |"

    def write(self) -> None:
        """Write both files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tried = [
            {"campaign": campaign, "kind": kind, "tried": n}
            for (campaign, kind), n in sorted(self.tried.items())
        ]
        about = {"seed": self.seed, "tried": tried, "losses": self.losses}
        (self.folder / "report.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
        lost = [f"- `{one['case']}` {one['kind']}: {one['what'][:300]!r}" for one in self.losses]
        text = "\n".join([*self.table(), "", *lost])
        (self.folder / "report.md").write_text(text + "\n", "utf-8")


def _cases(
    named: list[str], wanted: dict[str, int], hours: float, report: Report
) -> Iterator[tuple[str, int]]:
    """The cases to do: the named ones; or a campaign's until it has tried enough; or for hours."""
    for text in named:
        name, _, place = text.partition("/")
        yield name, int(place)
    until = time.monotonic() + hours * 3600
    number = dict.fromkeys(CAMPAIGNS, 0)
    while not named:
        for name, tries in wanted.items():
            goal = report.done(name) + (FEW[name] if tries else 0) if hours else tries
            while report.done(name) < goal:
                yield name, number[name]
                number[name] += 1
        if time.monotonic() >= until:
            return


if __name__ == "__main__":
    sys.exit(main())
