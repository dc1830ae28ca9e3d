"""What a release asks, as columns in memory: answers, times, subjects and strata of every row.

Read from the columns that the manifest names; articles, pages and prompts stay on the
disk.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from factdrift.builders.core import duck
from factdrift.builders.core.config import did_you_mean, shown
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import ConfigEntry, Manifest, load, locate
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.scoring.memory import give_back
from factdrift.scoring.words import Ints, Words, found

NO_DAY = np.iinfo(np.int32).min
_MANY = 40
"""Years up to which each is a stratum; where there are more, decades are."""
_FAR = 20
"""Quarters behind a cut-off that are told apart."""
_LARGE = 1 << 31
_FACTS = 1 << 16
"""Rows whose facts are looked at together."""
_CODED = pa.dictionary(pa.int32(), pa.string())
QUINTILES = ("1 (least known)", "2", "3", "4", "5 (best known)")


class Lists(NamedTuple):
    """A list of numbers for each row: `codes[starts[n]:starts[n + 1]]`."""

    starts: Ints
    codes: Ints

    @property
    def sizes(self) -> Ints:
        """How long the list of each row is."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Ints:
        """The row of each number."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=self.starts.dtype), self.sizes)

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of the given rows in a row, and for each the place of its row in `rows`."""
        sizes = self.sizes[rows]
        owners = np.repeat(np.arange(len(rows)), sizes)
        inside = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owners, self.codes[self.starts[rows][owners] + inside]


class Stratum(NamedTuple):
    """A way to split the rows of one config: the place of its values for each row of the config.

    A row counts for each of its values. `values` are in the order in which tables show them.
    """

    name: str
    values: tuple[str, ...]
    lists: Lists


@dataclass(frozen=True)
class Config:
    """A config that asks: rows `first` … `last - 1` of all, its splits one after another."""

    name: str
    first: int
    last: int
    splits: tuple[tuple[str, int, int], ...]
    """Name, first row, row after the last."""
    asking: ColumnRoles
    strata: tuple[Stratum, ...]

    @property
    def rows(self) -> slice:
        return slice(self.first, self.last)


@dataclass(frozen=True)
class Asked:
    """Every row that a release asks, config after config."""

    folder: Path
    manifest: Manifest
    configs: tuple[Config, ...]
    ids: pa.Array
    raw_names: pa.Array
    """Every different name of an answer, past answers and choices too."""
    names: Words
    """The words of each of them."""
    targets: Lists
    choices: Lists
    """What may be chosen of, in numbers of `names`; none where the rows have no choices."""
    offered: NDArray[np.bool_]
    """Whether a row is only asked with its choices, so that writing one is choosing it."""
    previous: Lists
    """What was right before, in numbers of `names`, as `targets`."""
    later: Lists
    """What was right only afterwards, in numbers of `names`."""
    neutral: Lists
    """What is true and not asked for, in numbers of `names`."""
    day: Ints
    """Days since 1970 of the last day asked about, or `NO_DAY`."""
    subject: Ints
    """A number in `subjects` for each row; rows of one are not independent."""
    subjects: pa.Array
    history: Ints
    """A number for what is asked at several times, or -1."""
    group: Ints
    """A number for the question that rows are variants of, or -1."""
    evidence: pa.Array
    """The id of what a search ought to find, or null."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def key(self) -> Ints:
        """A number for each name that is the same for names that are one when normalised."""
        return found(self.names.texts, self.keys).astype(np.int32)

    @cached_property
    def keys(self) -> pa.Array:
        """The different normalised names."""
        return pc.unique(self.names.texts)

    def facts(self, chosen: NDArray[np.bool_]) -> Iterator[Ints]:
        """The chosen rows of facts that are asked about at several times, some facts at a time.

        Sorted by `history`; all chosen rows of a fact come together.
        """
        rows = np.flatnonzero(chosen & (self.history >= 0))
        rows = rows[np.argsort(self.history[rows], kind="stable")]
        begins = np.flatnonzero(np.diff(self.history[rows], prepend=-1))
        first = 0
        while first < len(rows):
            further = begins[np.searchsorted(begins, first + _FACTS) :]
            last = int(further[0]) if len(further) else len(rows)
            yield rows[first:last]
            first = last

    def prompt_hashes(self, digits: int) -> pa.Array:
        """The sha256 of each prompt in hex, its first digits."""
        found: list[pa.Array] = []
        with duck.connect(threads=1) as db:
            for config, split, _ in self._parts():
                prompt = f"sha256({duck.name(config.asking.prompt)})[:{digits}]"
                file = duck.parquet(self._file(config, split))
                hashes = db.sql(f"SELECT {prompt} AS hash FROM {file}").to_arrow_table()  # noqa: S608
                found += hashes.column("hash").cast(pa.string()).chunks
        return pa.concat_arrays(found)

    def relations(self) -> dict[str, str]:
        """Names of relations by property id, where the release has both."""
        found: dict[str, str] = {}
        wanted = ["relation", "relation_label"]
        for config, split, _ in self._parts():
            with _parquet(self._file(config, split)) as file:
                if set(wanted) <= set(file.schema_arrow.names):
                    pairs = file.read(columns=wanted, use_threads=False).group_by(wanted)
                    found |= dict(zip(*pairs.aggregate([]).to_pydict().values(), strict=True))
        return dict(sorted(found.items()))

    def texts(self, rows: Collection[int], columns: Sequence[str]) -> dict[int, dict[str, object]]:
        """Columns of a few rows, read from the disk; only those of `columns` that there are."""
        wanted = sorted(rows)
        found: dict[int, dict[str, object]] = {}
        for config, split, first in self._parts():
            with _parquet(self._file(config, split)) as file:
                last = first + file.metadata.num_rows
                mine = [row for row in wanted if first <= row < last]
                names = [name for name in columns if name in file.schema_arrow.names]
                at = first
                batches = file.iter_batches(1 << 14, columns=names, use_threads=False)
                for batch in batches if mine else ():
                    here = [row for row in mine if at <= row < at + batch.num_rows]
                    picked = batch.take(pa.array([row - at for row in here], pa.int64()))
                    found.update(zip(here, picked.to_pylist(), strict=True))
                    at += batch.num_rows
        return found

    def _parts(self) -> Iterator[tuple[Config, str, int]]:
        for config in self.configs:
            for split, first, _ in config.splits:
                yield config, split, first

    def _file(self, config: Config, split: str) -> Path:
        entry = self.manifest.config(config.name)
        assert entry is not None
        return locate(self.folder, next(s.file for s in entry.splits if s.name == split))


def read_asked(
    folder: Path, configs: Sequence[str] | None = None, cutoff: date | None = None
) -> Asked:
    """What a release asks, in all of its configs or in some.

    `cutoff`: the last day a model knows of; with it there is a stratum `lag`. `UserError`: no
    release, no such config, none that asks.
    """
    manifest = load(folder)
    chosen = [(entry, asking) for entry, asking in _asking(manifest, folder, configs)]
    parts: list[_Part] = []
    first = 0
    for entry, asking in chosen:
        part = _Part(folder, entry, asking, first)
        parts.append(part)
        first += part.size
    (targets, previous, later, neutral, choices), names = _names(parts)
    give_back()
    subject = _together([part.text(part.asking.subject) for part in parts])
    asked = Asked(
        folder=folder,
        manifest=manifest,
        configs=tuple(part.config(cutoff) for part in parts),
        ids=pa.concat_arrays([part.text("id") for part in parts]),
        raw_names=names,
        names=Words.of(names),
        targets=targets,
        previous=previous,
        later=later,
        neutral=neutral,
        choices=choices,
        offered=(choices.sizes > 0) & np.repeat(*_alone(parts)),
        day=np.concatenate([part.day for part in parts]),
        subject=_codes(subject),
        subjects=subject.dictionary,
        history=_numbers([part.texts(part.asking.history) for part in parts]),
        group=_groups(parts),
        evidence=_together([part.text(part.asking.evidence) for part in parts]),
    )
    del parts
    give_back()
    return asked


def _asking(
    manifest: Manifest, folder: Path, wanted: Sequence[str] | None
) -> Iterator[tuple[ConfigEntry, ColumnRoles]]:
    found = {entry.name: (entry, entry.roles) for entry in manifest.configs if entry.roles}
    if not found:
        raise UserError("no config of this release asks anything", where=shown(folder))
    for name in wanted or ():
        if name not in found:
            near = did_you_mean(name, found)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(found)}"
            raise UserError(f"no config {name!r} that asks", where=shown(folder), hint=hint)
    yield from (found[name] for name in found if wanted is None or name in wanted)


class _Part:
    """One config as it is read."""

    def __init__(self, folder: Path, entry: ConfigEntry, asking: ColumnRoles, first: int) -> None:
        self.name, self.asking, self.first = entry.name, asking, first
        wanted = ["id", asking.targets, asking.subject, *asking.time, *asking.strata]
        wanted += [*asking.popularity, *asking.history]
        others = (asking.previous, asking.later, asking.neutral, asking.choices)
        wanted += [one for one in (*others, asking.group, asking.evidence) if one]
        columns = list(dict.fromkeys(wanted))
        as_answers = {asking.targets, *others}
        self.splits: list[tuple[str, int, int]] = []
        read: dict[str, list[pa.Array]] = {name: [] for name in columns}
        at = first
        for split in entry.splits:
            table = _read(locate(folder, split.file), columns)
            self.splits.append((split.name, at, at + table.num_rows))
            at += table.num_rows
            for name in columns:
                column = _one(table.column(name))
                keep = _answers if name in as_answers else _as_is if name == "id" else _small
                read[name].append(keep(column))
            give_back()
        self.size = at - first
        self._columns = {name: _stacked(read.pop(name)) for name in columns}

    def column(self, name: str) -> pa.Array:
        """A column as one array, its texts as a dictionary; a dot leads into a struct."""
        return self._columns[name]

    def text(self, name: str | None) -> pa.Array:
        return pa.nulls(self.size, pa.string()) if name is None else self.column(name)

    def texts(self, names: Sequence[str]) -> pa.Array:
        """Several columns as one text a row; null where there are none."""
        if not names:
            return self.text(None)
        return pc.binary_join_element_wise(*(_plain(self.column(name)) for name in names), "\t")

    def answers(self, name: str | None) -> "Forms":
        """The names in a column of answers; where there is none, each row has none."""
        if name is None:
            return np.zeros(self.size, np.int32), pa.array([], pa.string())
        lists = self._columns.pop(name)  # they are large, and nobody asks twice
        return lists.value_lengths().to_numpy(), lists.flatten()

    @cached_property
    def day(self) -> Ints:
        days = pa.nulls(self.size, pa.int64())
        for name in self.asking.time:
            column = self.column(name)
            if pa.types.is_date32(column.type):
                column = column.cast(pa.int32()).cast(pa.int64())
            else:
                column = pc.floor(pc.divide(column.cast(pa.float64()), 86_400.0)).cast(pa.int64())
            days = pc.coalesce(days, column)
        return _ints(days, NO_DAY).astype(np.int32)

    def config(self, cutoff: date | None) -> Config:
        strata = [_stratum(name, self.column(name)) for name in self.asking.strata]
        strata = [one for one in strata if not self._is_split(one)]
        if self.asking.period is None:
            strata += _years(self.day)
        strata += self._popularity()
        if cutoff is not None:
            strata += _lag(self.day, cutoff)
        splits = tuple(self.splits)
        last = self.first + self.size
        return Config(self.name, self.first, last, splits, self.asking, tuple(strata))

    def _is_split(self, stratum: Stratum) -> bool:
        """Whether it says of each row what the split that holds it is called, or the config."""
        if stratum.name == self.asking.period:
            return False
        names = {name for name, *_ in self.splits} | {self.name}
        return set(stratum.values) <= names

    def _popularity(self) -> list[Stratum]:
        """Fifths of the subjects by how well known they are."""
        known = pa.nulls(self.size, pa.int64())
        for name in self.asking.popularity:
            known = pc.coalesce(known, self.column(name))
        values = _ints(known, -1)
        subject = self.column(self.asking.subject)
        subjects = _codes(subject)
        of_subject = np.full(len(subject.dictionary) + 1, -1, np.int64)
        of_subject[subjects] = values
        ranked = np.sort(of_subject[of_subject >= 0])
        if len(ranked) < len(QUINTILES):
            return []
        places = [len(ranked) * n // len(QUINTILES) for n in range(1, len(QUINTILES))]
        codes = np.searchsorted(ranked[places], values, side="right")
        return [Stratum("popularity", QUINTILES, _one_each(codes, values >= 0))]


def _alone(parts: Sequence[_Part]) -> tuple[list[bool], list[int]]:
    """Whether rows are not asked without their choices, and of how many rows, part by part."""
    return [not part.asking.free for part in parts], [part.size for part in parts]


def _names(parts: Sequence[_Part]) -> tuple[list[Lists], pa.Array]:
    """Targets, past answers and choices of all rows in numbers of their different names."""
    kinds = (
        [part.answers(part.asking.targets) for part in parts],
        [part.answers(part.asking.previous) for part in parts],
        [part.answers(part.asking.later) for part in parts],
        [part.answers(part.asking.neutral) for part in parts],
        [part.answers(part.asking.choices) for part in parts],
    )
    names = _together([flat for forms in kinds for _, flat in forms])
    codes = _codes(names)
    lists = []
    for forms in kinds:
        starts = _starts(np.concatenate([sizes for sizes, _ in forms]))
        lists.append(Lists(starts, codes[: starts[-1]]))
        codes = codes[starts[-1] :]
    return lists, names.dictionary


Forms = tuple[Ints, pa.Array]
"""How many names each row has, and the names."""


def _answers(column: pa.Array) -> pa.ListArray:
    """The names of each row's answers: of texts, items with label and aliases, or lists of them."""
    if not pa.types.is_list(column.type):
        column = pa.ListArray.from_arrays(pa.array(np.arange(len(column) + 1), pa.int32()), column)
    flat = column.flatten()
    offsets = pc.subtract(column.offsets, column.offsets[0])
    if not pa.types.is_struct(flat.type):
        return pa.ListArray.from_arrays(offsets, _encoded(flat))
    owner = np.repeat(np.arange(len(column)), column.value_lengths().to_numpy())
    labels, aliases = pc.struct_field(flat, "label"), pc.struct_field(flat, "aliases")
    rows = np.concatenate([owner, np.repeat(owner, aliases.value_lengths().to_numpy())])
    texts = _together([labels, aliases.flatten()])
    ends = np.cumsum(np.bincount(rows, minlength=len(column)))
    order = pa.array(np.argsort(rows, kind="stable"))
    starts = pa.array(np.concatenate(([0], ends)), pa.int32())
    return pa.ListArray.from_arrays(starts, texts.take(order))


def _as_is(column: pa.Array) -> pa.Array:
    return column


def _small(column: pa.Array) -> pa.Array:
    """A column as it is kept: texts, and lists of them, with each different text once."""
    inner = column.type.value_type if pa.types.is_list(column.type) else column.type
    if not pa.types.is_string(inner) and not pa.types.is_dictionary(inner):
        return column
    return _encoded(column) if inner is column.type else _answers(column)


def _stacked(parts: Sequence[pa.Array]) -> pa.Array:
    joined = _one(pa.chunked_array(parts, parts[0].type).unify_dictionaries())
    if pa.types.is_list(joined.type) and pa.types.is_dictionary(joined.type.value_type):
        starts = pc.subtract(joined.offsets, joined.offsets[0])
        return pa.ListArray.from_arrays(starts, _in_order(joined.flatten()))
    return _in_order(joined) if pa.types.is_dictionary(joined.type) else joined


def _in_order(texts: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same with a dictionary of the texts that there are, in the order of their first rows,
    whatever dictionary a file had."""
    order = pc.unique(texts.indices).drop_null()
    place = np.zeros(len(texts.dictionary), _small_type(len(order)))
    place[order.to_numpy()] = np.arange(len(order))
    numbers = pa.array(place).take(texts.indices)
    return pa.DictionaryArray.from_arrays(numbers, texts.dictionary.take(order))


def _small_type(values: int) -> type[np.signedinteger[Any]]:
    """The smallest type of numbers that tell so many values apart, and -1."""
    kinds: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32)
    return next(kind for kind in kinds if values <= np.iinfo(kind).max)


def _one(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _stratum(name: str, column: pa.Array) -> Stratum:
    lists = pa.types.is_list(column.type)
    flat = column.flatten() if lists else column
    as_numbers = pa.types.is_integer(flat.type)
    different = flat if pa.types.is_dictionary(flat.type) else flat.dictionary_encode()
    values = different.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda n: values[n])
    place = np.empty(len(values), _small_type(len(values)))
    place[order] = np.arange(len(values))
    codes = pc.fill_null(pa.array(place).take(different.indices), -1).to_numpy()
    texts = tuple(str(values[n]) if as_numbers else values[n] for n in order)
    if lists:
        return Stratum(name, texts, Lists(_starts(column.value_lengths().to_numpy()), codes))
    return Stratum(name, texts, _one_each(codes, codes >= 0))


def _one_each(codes: Ints, there: NDArray[np.bool_]) -> Lists:
    """At most one number a row: where there is one."""
    small = codes.astype(_small_type(int(codes.max(initial=0)) + 1), copy=False)
    return Lists(_every(len(there)), small) if there.all() else Lists(_starts(there), small[there])


@lru_cache(maxsize=1)
def _every(size: int) -> Ints:
    """Where the lists of so many rows start if each has one number: the same for all strata."""
    return _starts(np.ones(size, np.int8))


def _starts(sizes: NDArray[Any]) -> Ints:
    """Where lists of the given sizes start, and the end of the last."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts.astype(np.int32) if starts[-1] < _LARGE else starts


def _years(days: Ints) -> list[Stratum]:
    there = days != NO_DAY
    if not there.any():
        return []
    years = np.zeros(len(days), np.int32)
    years[there] = days[there].astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
    different = np.unique(years[there])
    name, step = ("year", 1) if len(different) <= _MANY else ("decade", 10)
    units, codes = np.unique(years[there] // step * step, return_inverse=True)
    every = np.zeros(len(days), np.int32)
    every[there] = codes
    values = tuple(f"{unit:04}" + ("s" if step > 1 else "") for unit in units)
    return [Stratum(name, values, _one_each(every, there))]


def _lag(days: Ints, cutoff: date) -> list[Stratum]:
    """Quarters of a year from the one that holds the cut-off to the one that is asked about."""
    there = days != NO_DAY
    if not there.any():
        return []
    here = Period.of(cutoff, "quarter").index
    lags = np.zeros(len(days), np.int32)
    lags[there] = np.clip(quarter_of(days[there]) - here, -_FAR, _FAR)
    different, codes = np.unique(lags[there], return_inverse=True)
    every = np.zeros(len(days), np.int32)
    every[there] = codes
    further = {-_FAR: " or less", _FAR: " or more"}
    values = tuple(f"{lag:+d}{further.get(lag, '')}" for lag in different.tolist())
    return [Stratum("lag", values, _one_each(every, there))]


def quarter_of(days: Ints) -> Ints:
    """The index of the quarter (`Period.index`) that holds each day."""
    months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    quarters: Ints = months // 3 + 1970 * 4
    return quarters


def _groups(parts: Sequence[_Part]) -> Ints:
    """A number for the question that a row is a variant of; of one that is none, its own."""
    if not any(part.asking.group for part in parts):
        return np.full(sum(part.size for part in parts), -1, np.int32)
    return _numbers([part.column(part.asking.group or "id") for part in parts])


def _numbers(texts: Sequence[pa.Array]) -> Ints:
    return _codes(_together(texts))


def _codes(texts: pa.DictionaryArray) -> Ints:
    """The place of each text in the dictionary, or -1."""
    numbers: Ints = pc.fill_null(texts.indices, -1).to_numpy(zero_copy_only=False)
    return numbers


def _ints(column: pa.Array, missing: int) -> Ints:
    filled = pc.fill_null(column.cast(pa.int64()), missing)
    numbers: Ints = filled.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _together(arrays: Sequence[pa.Array]) -> pa.DictionaryArray:
    """Texts one after another, each different one once in the dictionary."""
    encoded = [_encoded(array) for array in arrays]
    joined = pa.chunked_array(encoded, encoded[0].type).unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _encoded(texts: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(texts.type):
        return texts.cast(_CODED)
    return texts.cast(pa.string()).dictionary_encode()


def _plain(texts: pa.Array) -> pa.Array:
    return texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts


def _parquet(path: Path, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False, read_dictionary=list(dictionaries))
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"not a Parquet file ({error})", where=shown(path)) from error


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of a file, texts but ids as dictionaries, as they lie there; a dot leads into a
    struct, whose part comes under that name."""
    with _parquet(path) as file:
        fields = [field for field in file.schema_arrow if field.name in columns]
    texts = [f.name for f in fields if f.name != "id" and _is_text(f.type)]
    with _parquet(path, texts) as file:
        table = file.read(columns=list(columns), use_threads=False)
    taken = {}
    for name in columns:
        first, *inside = name.split(".")
        column = table.column(first)
        for part in inside:
            column = pc.struct_field(column, part)
        taken[name] = column
    return pa.table(taken)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string())
