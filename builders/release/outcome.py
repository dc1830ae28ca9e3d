"""What a user sees when a build ends: what it made, what is missing in it, and what to type next.

Nothing of this goes into the release, and the seconds are printed alone. `builders.release.judging`
reads it off a release; a run that finds the same release there again tells it anew.
"""

import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factdrift.builders.core.config import display_path
from factdrift.builders.release.version import Level

_MOST_LINES = 4
"""Splits of a config that have a line each: train, valid and test do, quarters of years do not."""
_MOST_REASONS = 3
"""Reasons that are printed: the largest; all are in `dropped.parquet`."""


class DropCount(NamedTuple):
    """The number of rows that were dropped for a reason, and the reason as a sentence."""

    reason: str
    rows: int
    says: str


@dataclass(frozen=True)
class Outcome:
    """A release that a build ended with; plain values, which a note can hold.

    `level` and `summary` are those of `Published`. `configs` are the numbers of rows by config and
    split, `drops` those by drop reason, the largest first. `warnings` say what is missing. `notes`
    are what the inputs say of themselves, with their names. `then` are the words of the command to
    type next, and `seconds` is how long the build took.
    """

    folder: Path
    dataset: str
    version: str
    level: Level | Literal["first"]
    summary: str
    configs: Mapping[str, Mapping[str, int]]
    drops: tuple[DropCount, ...]
    warnings: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    then: tuple[str, ...]
    seconds: float

    def met_again(self, seconds: float) -> "Outcome":
        """Return the outcome of a run that found the release there, as it would be made again."""
        return replace(self, level="none", summary=same_content(self.version), seconds=seconds)

    @property
    def title(self) -> str:
        """Dataset and version: `timeqa 1.0.0`."""
        return f"{self.dataset} {self.version}"

    @property
    def rows(self) -> int:
        """The number of rows of all configs."""
        return sum(sum(splits.values()) for splits in self.configs.values())

    @property
    def dropped(self) -> int:
        """The number of candidates that were dropped."""
        return sum(drop.rows for drop in self.drops)

    @property
    def next_command(self) -> str:
        """The command to type next, quoted for a shell."""
        return shlex.join([*program_words(), *self.then])

    def lines(self, every_split: bool = False) -> Iterator[str]:
        """Yield the table, the warnings and the next command, as lines of text.

        The splits of a config that has many are one line, unless `every_split` is true.
        """
        cells = [("config", "split", "rows")]
        for config, splits in self.configs.items():
            cells += _config_cells(config, splits, every_split)
        config_width, split_width = (max(len(row[column]) for row in cells) for column in (0, 1))
        for config_text, split_text, rows_text in cells:
            yield f"  {config_text:{config_width}}  {split_text:{split_width}}  {rows_text:>11}"
        yield f"  dropped: {self.dropped:,}" + (", all in dropped.parquet" if self.dropped else "")
        for drop in self.drops[:_MOST_REASONS]:
            yield f"    {drop.rows:,} {drop.reason}: {drop.says}"
        more_reasons = self.drops[_MOST_REASONS:]
        if more_reasons:
            more_rows = sum(drop.rows for drop in more_reasons)
            yield f"    {more_rows:,} for {_counted(len(more_reasons), 'other reason')}"
        yield f"  seconds: {self.seconds:.1f}"
        for warning in self.warnings:
            yield self.warning_line(warning)
        for name, note in self.notes:
            yield f"  its {name}: {note}"
        yield f"  next: {self.next_command}"

    def warning_line(self, warning: str) -> str:
        """Return a warning as it is printed."""
        return f"warning: {self.title}: {warning}"

    def data(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        return {
            "folder": self.folder,
            "dataset": self.dataset,
            "version": self.version,
            "level": self.level,
            "summary": self.summary,
            "configs": self.configs,
            "dropped": [drop._asdict() for drop in self.drops],
            "warnings": list(self.warnings),
            "notes": sorted({note for _, note in self.notes}),
            "seconds": round(self.seconds, 3),
            "next": self.next_command,
        }


def same_content(version: str) -> str:
    """Return the summary of a build whose content was published before, as this version."""
    return f"{version} holds this very content already: nothing written"


def overview_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a table of several releases, a line each."""
    title_width = max(len(outcome.title) for outcome in outcomes)
    yield f"{_counted(len(outcomes), 'release')}:"
    yield f"  {'release':{title_width}}  {'rows':>11}  {'dropped':>11}  {'seconds':>9}  warnings"
    for outcome in outcomes:
        yield (
            f"  {outcome.title:{title_width}}  {outcome.rows:>11,}  {outcome.dropped:>11,}  "
            f"{outcome.seconds:>9.1f}  {len(outcome.warnings) or '-'}"
        )


def program_words() -> list[str]:
    """Return the words that start this program in the user's shell.

    `factdrift` where the shell finds this very one, else the path of the script beside this Python;
    without a script, the module.
    """
    script = Path(sys.executable).with_name("factdrift")
    if not script.is_file():
        return [sys.executable, "-m", "factdrift"]
    on_path = shutil.which("factdrift")
    if on_path and Path(on_path).samefile(script):
        return ["factdrift"]
    return [display_path(script)]


def _counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 release`, `3 releases`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _config_cells(
    config: str, splits: Mapping[str, int], every_split: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield config, split and number of rows: of each split, or of all where they are many."""
    if every_split or len(splits) <= _MOST_LINES:
        for split, rows in splits.items():
            yield config, split, f"{rows:,}"
    else:
        first_split, *_, last_split = splits
        split_text = f"{first_split} to {last_split}, {len(splits)} splits"
        yield config, split_text, f"{sum(splits.values()):,}"
