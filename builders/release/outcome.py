"""What a user sees when a build ends: what it made, what is missing in it, and what to type next.

Nothing of this goes into the release: it is read off the manifest, and the seconds are printed
alone.
"""

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.run import DatasetBuilder
from factdrift.builders.release.card import DROPPED, drop_reasons, reason_text
from factdrift.builders.release.manifest import (
    ConfigEntry,
    Manifest,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.publish import Published

_MOST_LINES = 4
"""Splits of a config that have a line each: train, valid and test do, quarters of years do not."""
_MOST_REASONS = 3
"""Reasons that are printed: the largest; all are in `dropped.parquet`."""
_MOST_NAMES = 6
"""Splits that a warning names: a line of a terminal holds about so many quarters."""


@dataclass(frozen=True)
class Outcome:
    """A release that a build ended with.

    `reasons` are the sentences of the drop reasons. `warnings` say what is missing. `then` are
    the words of the command to type next, and `seconds` is how long the build took.
    """

    published: Published
    manifest: Manifest
    reasons: Mapping[str, str]
    warnings: tuple[str, ...]
    then: tuple[str, ...]
    seconds: float

    @classmethod
    def judge(
        cls,
        published: Published,
        dataset: Dataset,
        builder: DatasetBuilder,
        news: Sequence[str],
        seconds: float,
    ) -> "Outcome":
        """Read what the release holds, and find what it lacks; `news` are the paths of its news."""
        release_manifest = load_manifest(published.folder)
        unchanged = _without_change(published.folder, release_manifest, builder.changing_configs)
        gaps = _gap_warnings(published.folder, release_manifest, dataset.tables, unchanged)
        nothing_changed = [
            f"nothing changed: no row of {' or '.join(unchanged)} says so; a longer window, a "
            "later dump or more relations may have some"
        ]
        placeholders = {
            "{release}": [display_path(published.folder)],
            "{news}": [word for path in news for word in ("--news", path)],
        }
        full_configs = [config.name for config in release_manifest.configs if _row_count(config)]
        return cls(
            published=published,
            manifest=release_manifest,
            reasons=drop_reasons() | dict(dataset.reasons),
            warnings=(*(nothing_changed if unchanged else ()), *gaps),
            then=tuple(
                next_word
                for word in builder.next_command(full_configs).split()
                for next_word in placeholders.get(word, [word])
            ),
            seconds=seconds,
        )

    @property
    def folder(self) -> Path:
        """The folder of the release."""
        return self.published.folder

    @property
    def title(self) -> str:
        """Dataset and version: `timeqa 1.0.0`."""
        return f"{self.manifest.dataset} {self.manifest.version}"

    @cached_property
    def rows(self) -> int:
        """The number of rows of all configs."""
        return sum(map(_row_count, self.manifest.configs))

    @cached_property
    def drops(self) -> Sequence[tuple[str, int]]:
        """The drop reasons with their numbers of rows, the largest first."""
        drop_counts: Counter[str] = Counter()
        for drop in self.manifest.drops:
            drop_counts[drop.reason] += drop.rows
        return sorted(drop_counts.items(), key=lambda drop_count: (-drop_count[1], drop_count[0]))

    @property
    def dropped(self) -> int:
        """The number of candidates that were dropped."""
        return sum(row_count for _, row_count in self.drops)

    @property
    def next_command(self) -> str:
        """The command to type next, quoted for a shell."""
        return shlex.join([*program_words(), *self.then])

    def lines(self, every_split: bool = False) -> Iterator[str]:
        """Yield the table, the warnings and the next command, as lines of text.

        The splits of a config that has many are one line, unless `every_split` is true.
        """
        cells = [("config", "split", "rows")]
        for config in self.manifest.configs:
            cells += _config_cells(config, every_split)
        config_width, split_width = (max(len(row[column]) for row in cells) for column in (0, 1))
        for config_text, split_text, rows_text in cells:
            yield f"  {config_text:{config_width}}  {split_text:{split_width}}  {rows_text:>11}"
        yield f"  dropped: {self.dropped:,}" + (f", all in {DROPPED}" if self.dropped else "")
        for reason, row_count in self.drops[:_MOST_REASONS]:
            yield f"    {row_count:,} {reason}: {reason_text(reason, self.reasons)}"
        more_reasons = self.drops[_MOST_REASONS:]
        if more_reasons:
            more_rows = sum(row_count for _, row_count in more_reasons)
            yield f"    {more_rows:,} for {_counted(len(more_reasons), 'other reason')}"
        yield f"  seconds: {self.seconds:.1f}"
        for warning in self.warnings:
            yield f"warning: {self.title}: {warning}"
        for name, note in dict.fromkeys((entry.name, entry.note) for entry in self.manifest.inputs):
            if note:
                yield f"  its {name}: {note}"
        yield f"  next: {self.next_command}"

    def data(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        return {
            "folder": self.folder,
            "dataset": self.manifest.dataset,
            "version": self.manifest.version,
            "level": self.published.level,
            "summary": self.published.summary,
            "configs": {
                config.name: {split.name: split.rows for split in config.splits}
                for config in self.manifest.configs
            },
            "dropped": [
                {"reason": reason, "rows": row_count, "says": reason_text(reason, self.reasons)}
                for reason, row_count in self.drops
            ],
            "warnings": list(self.warnings),
            "notes": sorted({entry.note for entry in self.manifest.inputs if entry.note}),
            "seconds": round(self.seconds, 3),
            "next": self.next_command,
        }


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


def _row_count(config: ConfigEntry) -> int:
    return sum(split.rows for split in config.splits)


def _config_cells(config: ConfigEntry, every_split: bool) -> Iterator[tuple[str, str, str]]:
    """Yield config, split and number of rows: of each split, or of all where they are many."""
    if every_split or len(config.splits) <= _MOST_LINES:
        for split in config.splits:
            yield config.name, split.name, f"{split.rows:,}"
    else:
        first_split, last_split = config.splits[0].name, config.splits[-1].name
        split_text = f"{first_split} to {last_split}, {len(config.splits)} splits"
        yield config.name, split_text, f"{_row_count(config):,}"


def _without_change(
    release_folder: Path, manifest: Manifest, changing_configs: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return the configs that say what changed if not a row of them does, else none."""
    present_configs = [config for config in manifest.configs if config.name in changing_configs]
    for config in present_configs:
        change_values = changing_configs[config.name]
        if not change_values:
            if _row_count(config):
                return []
            continue
        for split in config.splits:
            split_table = duck.parquet(locate_file(release_folder, split.file))
            query = f"SELECT count(*) FROM {split_table} WHERE list_contains(?, change)"  # noqa: S608
            ((change_count,),) = duck.query(query, [list(change_values)])
            if change_count:
                return []
    return [config.name for config in present_configs]


def _gap_warnings(
    release_folder: Path, manifest: Manifest, tables: Sequence[Table], unchanged: Collection[str]
) -> Iterator[str]:
    """Yield a warning for what has no row: a period in every config, a config, splits of a config.

    Configs in `unchanged` are left out, as another warning names them.
    """
    splits_by_config = {table.name: list(table.splits) for table in tables}
    empty_by_config = {
        config.name: _empty_splits(release_folder, config, splits_by_config.get(config.name, []))
        for config in manifest.configs
    }
    everywhere = _periods_without_rows(splits_by_config, empty_by_config)
    if everywhere:
        yield f"{_named(everywhere)} has no row in any config"
    for config in manifest.configs:
        if config.name in unchanged:
            continue
        if not _row_count(config):
            yield f"{config.name} has no row"
            continue
        empty_splits = [split for split in empty_by_config[config.name] if split not in everywhere]
        if empty_splits:
            yield f"{config.name} has no row in {_named(empty_splits)}"


def _periods_without_rows(
    splits_by_config: Mapping[str, Sequence[str]], empty_by_config: Mapping[str, Collection[str]]
) -> list[str]:
    """Return the periods of which no config has a row.

    A config with one split says nothing about periods.
    """
    periodic_configs = [name for name, splits in splits_by_config.items() if len(splits) > 1]
    if not periodic_configs:
        return []
    return [
        split
        for split in splits_by_config[periodic_configs[0]]
        if all(
            split in empty_by_config.get(name, ()) or split not in splits_by_config[name]
            for name in periodic_configs
        )
    ]


def _empty_splits(
    release_folder: Path, config: ConfigEntry, wanted_splits: Sequence[str]
) -> list[str]:
    """Return the splits without a row; where periods were merged into years, these periods."""
    if set(wanted_splits) <= {split.name for split in config.splits}:
        return [split.name for split in config.splits if not split.rows]
    paths = [locate_file(release_folder, split.file) for split in config.splits]
    if "period" not in pq.read_schema(paths[0]).names:
        return [split.name for split in config.splits if not split.rows]
    present_periods: set[str] = set()
    for path in paths:
        query = f"SELECT DISTINCT period FROM {duck.parquet(path)}"  # noqa: S608 - quoted by duck
        present_periods.update(period for (period,) in duck.query(query))
    return [split for split in wanted_splits if split not in present_periods]


def _named(names: Sequence[str]) -> str:
    """Return names for a sentence, the first few: `2021Q3, 2021Q4 and 5 others`."""
    more_count = len(names) - _MOST_NAMES
    if more_count > 1:
        return f"{', '.join(names[:_MOST_NAMES])} and {more_count} others"
    return ", ".join(names)
