"""What a release that was built holds and lacks, read off its files, for what a user is told."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.run import DatasetBuilder
from factdrift.builders.release.card import drop_reasons, reason_text
from factdrift.builders.release.manifest import (
    ConfigEntry,
    Manifest,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.outcome import DropCount, Outcome
from factdrift.builders.release.publish import Published

_MOST_NAMES = 6
"""Splits that a warning names: a line of a terminal holds about so many quarters."""


def judge_outcome(
    published: Published,
    dataset: Dataset,
    builder: DatasetBuilder,
    news: Sequence[str],
    seconds: float,
) -> Outcome:
    """Read what a release holds, and find what it lacks; `news` are the paths of its news."""
    manifest = load_manifest(published.folder)
    unchanged = _without_change(published.folder, manifest, builder.changing_configs)
    gaps = _gap_warnings(published.folder, manifest, dataset.tables, unchanged)
    nothing_changed = [
        f"nothing changed: no row of {' or '.join(unchanged)} says so; a longer window, a "
        "later dump or more relations may have some"
    ]
    placeholders = {
        "{release}": [display_path(published.folder)],
        "{news}": [word for path in news for word in ("--news", path)],
    }
    full_configs = [config.name for config in manifest.configs if config.row_count]
    return Outcome(
        folder=published.folder,
        dataset=manifest.dataset,
        version=manifest.version,
        level=published.level,
        summary=published.summary,
        configs={
            config.name: {split.name: split.rows for split in config.splits}
            for config in manifest.configs
        },
        drops=tuple(_drop_counts(manifest, drop_reasons() | dict(dataset.reasons))),
        warnings=(*(nothing_changed if unchanged else ()), *gaps),
        notes=tuple(
            dict.fromkeys((entry.name, entry.note) for entry in manifest.inputs if entry.note)
        ),
        then=tuple(
            next_word
            for word in builder.next_command(full_configs).split()
            for next_word in placeholders.get(word, [word])
        ),
        seconds=seconds,
    )


def _drop_counts(manifest: Manifest, reasons: Mapping[str, str]) -> Iterator[DropCount]:
    """Yield the drop reasons with their numbers of rows and their sentences, the largest first."""
    row_counts: Counter[str] = Counter()
    for drop in manifest.drops:
        row_counts[drop.reason] += drop.rows
    for reason, rows in sorted(row_counts.items(), key=lambda item: (-item[1], item[0])):
        yield DropCount(reason, rows, reason_text(reason, reasons))


def _without_change(
    release_folder: Path, manifest: Manifest, changing_configs: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return the configs that say what changed if not a row of them does, else none."""
    present_configs = [config for config in manifest.configs if config.name in changing_configs]
    for config in present_configs:
        change_values = changing_configs[config.name]
        if not change_values:
            if config.row_count:
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
        if not config.row_count:
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
