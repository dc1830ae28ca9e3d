"""`factdrift score`: predictions against a release, as a folder of scores.

`scores.json` says what was scored, the tables and some rows to read; `scores.parquet` has the
tables alone, a mean a row; `rows.parquet` the verdict and the metrics of every row. The same
release and predictions give the same bytes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.progress import progress
from factdrift.scoring import predictions
from factdrift.scoring.asked import Asked, Config, Stratum, read_asked
from factdrift.scoring.intervals import bundles, intervals, weights
from factdrift.scoring.knowledge import Stop, began, began_stratum, knowledge_stop
from factdrift.scoring.memory import give_back
from factdrift.scoring.metrics import GUESSED, NONE, SCALE, VERDICTS, Marks, Scorer
from factdrift.scoring.words import Floats, Ints, found

SUMMARY, TABLE, ROWS = "scores.json", "scores.parquet", "rows.parquet"
EXAMPLES = 25
"""Rows to read of each verdict."""
_TOLD = 3
"""Ids that a message names."""
_LONG = 600
"""Characters of a text that is shown."""
_SEED = 0
_ADDED = 1 << 18
"""Rows that are added up at a time."""
_TOGETHER = 256
"""Means whose intervals are drawn together."""
_ORDER = (
    *("exact_match", "f1", "rouge_l", "p@1", "p@5", "p@10", "mrr", "consistency", "agreement"),
    *("accuracy", *GUESSED),
    *("recall@1", "recall@5", "recall@10", "recall@20", "outdated", "early", "stale", "abstained"),
)


class Mean(NamedTuple):
    """A line of the table of scores. `config`: null, all together, each row once; `split`: null,
    all of them; `low`, `high`: null where nothing can be said."""

    dataset: str
    config: str | None
    split: str | None
    stratum: str
    value: str
    metric: str
    n: int
    mean: float
    low: float | None
    high: float | None


TABLE_SCHEMA = pa.schema(
    [
        pa.field("dataset", pa.string(), False),
        ("config", pa.string()),
        ("split", pa.string()),
        pa.field("stratum", pa.string(), False),
        pa.field("value", pa.string(), False),
        pa.field("metric", pa.string(), False),
        pa.field("n", pa.int64(), False),
        pa.field("mean", pa.float64(), False),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `factdrift score` is told. `partial`: rows without a prediction are left out, and
    predictions of unknown rows, instead of being refused."""

    release: Path
    file: Path
    out: Path | None = None
    configs: tuple[str, ...] | None = None
    cutoff: date | None = None
    model: str | None = None
    partial: bool = False
    rouge: bool = False
    say: Callable[[str], None] = field(default=print)


@dataclass(frozen=True, slots=True)
class Scores:
    """What was found, and the folder that it is in."""

    folder: Path
    table: tuple[Mean, ...]
    stop: Stop | None
    counts: Mapping[str, int]


def score(options: Options) -> Scores:
    """Score a file of predictions and write the folder of scores.

    `UserError`: the file is broken, or is of other rows or of another version of their prompts;
    rows without a prediction in a split that has some, unless `partial`.
    """
    beside = predictions.about(options.file)
    model = options.model or (beside.name if beside else _stem(options.file))
    asked = read_asked(options.release, options.configs, options.cutoff)
    out = options.out or Path("scores") / asked.manifest.dataset / folder_name(model)
    _check_release(asked, beside, options.file)
    reading = _Reading(asked, options)
    scorer, counts = reading.run()
    days = began(asked, scorer.could_be_outdated)
    bundle, count = bundles(asked.subject)
    drawn = weights(count, _SEED)
    if not scorer.marks:
        for line in reading.notes():
            options.say(line)
        raise UserError("nothing can be scored", where=shown(options.file))
    scorer.finish()
    _consistency(asked, scorer)
    give_back()
    table = tuple(_table(asked, scorer, days, bundle, drawn))
    stop = knowledge_stop(asked, scorer, days, bundle, drawn)
    repeated = scorer.repeated()
    for line in reading.notes():
        options.say(line)
    if repeated:
        options.say(repeated.warning)
    writable(out)
    with disk_errors(out):
        summary = {
            "model": model,
            "dataset": asked.manifest.dataset,
            "title": asked.manifest.title,
            "version": asked.manifest.version,
            "predictions": {"file": options.file.name, "sha256": file_sha256(options.file)},
            "cutoff": options.cutoff and options.cutoff.isoformat(),
            "counts": counts,
            "relations": asked.relations(),
            "verdicts": _verdicts(scorer),
            "repeated": repeated and repeated._asdict(),
            "knowledge": stop and stop._asdict(),
            "examples": _examples(asked, scorer, reading.texts),
            "table": [mean._asdict() for mean in table],
        }
        _write(out, summary, table, asked, scorer)
    return Scores(out, table, stop, counts)


class _Reading:
    """One pass over a file of predictions."""

    def __init__(self, asked: Asked, options: Options) -> None:
        self.asked, self.options = asked, options
        self.scorer = Scorer(asked, rouge=options.rouge)
        self.seen = np.zeros(len(asked), bool)
        self.texts: dict[int, str | None] = {}
        """Predictions of the rows that may be shown."""
        self.unknown, self.read, self.undecided = 0, 0, 0
        self.unknown_ids: list[str] = []
        self._ids, self._rows, self._starts = _by_id(asked)
        self._next = 0
        self._hashes: pa.Array | None = None
        self._order = _shuffled(len(asked))
        give_back()

    def run(self) -> tuple[Scorer, dict[str, int]]:
        """Read and score all of it."""
        with progress(None, "predictions", "score") as bar:
            for batch in _gathered(predictions.read(self.options.file)):
                self._take(batch)
                bar.advance(batch.num_rows)
        self._check_unknown()
        missing = self._missing()
        del self._ids, self._rows, self._starts, self._hashes, self._order
        give_back()
        return self.scorer, {
            "predictions": self.read,
            "rows": int(self.seen.sum()),
            "missing": missing,
            "unknown": self.unknown,
            "undecided": self.undecided,
            "neutral": self.scorer.neutral,
        }

    def notes(self) -> Iterator[str]:
        """What the user ought to know of what was left out."""
        if self.unknown:
            yield f"{self.unknown:,} predictions of unknown rows are left out"
        if self.undecided:
            yield (
                f"{self.undecided:,} rows have likelihoods of accepted answers alone, among which "
                "there is nothing to choose: they are left out"
            )
        if self.scorer.neutral:
            yield (
                f"{self.scorer.neutral:,} predictions name what was so before and still is, where "
                "what came is asked for: they are left out"
            )
        for config in self.asked.configs:
            here = int(self.seen[config.rows].sum())
            if 0 < here < config.last - config.first:
                yield f"{config.name}: {here:,} of {config.last - config.first:,} rows"
        empty = [c.name for c in self.asked.configs if not self.seen[c.rows].any()]
        if empty:
            yield f"no predictions of {', '.join(empty)}"

    def _take(self, batch: pa.RecordBatch) -> None:
        self.read += batch.num_rows
        code = self._codes(batch.column("id"))
        lost = np.flatnonzero(code < 0)
        known = np.flatnonzero(code >= 0)
        sizes = (self._starts[1:] - self._starts[:-1])[code[known]]
        owners = np.repeat(known, sizes)
        inside = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = self._rows[self._starts[code[owners]] + inside]
        fits = self._named(batch, owners, rows)
        if not fits.all():
            lost = np.union1d(lost, np.setdiff1d(known, owners[fits]))
            owners, rows = owners[fits], rows[fits]
        self._count_unknown(batch, lost)
        self._check_double(rows)
        self._check_prompts(batch, owners, rows)
        self.seen[rows] = True
        decided = self._decided(batch, owners, rows)
        self.undecided += int((~decided).sum())
        self._score(batch, owners[decided], rows[decided])
        give_back()

    def _codes(self, ids: pa.Array) -> Ints:
        """The place of each id among the different ones, or -1.

        Predictions are mostly in the order of the release, so each is looked for behind the one
        before it, and among all of them where it is not there.
        """
        first, self._next = self._next, self._next + len(ids)
        there = self._ids[first : self._next]
        codes = np.arange(first, first + len(ids))
        same = np.zeros(len(ids), bool)
        same[: len(there)] = pc.equal(ids[: len(there)], there).to_numpy(zero_copy_only=False)
        if not same.all():
            codes[~same] = found(ids.filter(pa.array(~same)), self._ids)
            self._next = max(int(codes[-1]) + 1, 0)
        return codes

    def _named(self, batch: pa.RecordBatch, owners: Ints, rows: Ints) -> np.ndarray[Any, Any]:
        """Whether each row is in the config and split that its prediction names, if any."""
        fits = np.ones(len(owners), bool)
        for column, names in (
            ("config", [(c.name, c.first, c.last) for c in self.asked.configs]),
            ("split", [split for c in self.asked.configs for split in c.splits]),
        ):
            given = batch.column(column)
            if given.null_count == len(given):
                continue
            texts = given.take(pa.array(owners))
            ends = np.array([last for *_, last in names])
            labels = pa.array([name for name, *_ in names])
            here = labels.take(pa.array(np.searchsorted(ends, rows, side="right")))
            same = pc.fill_null(pc.equal(texts, here), True)
            fits &= same.to_numpy(zero_copy_only=False)
        return fits

    def _count_unknown(self, batch: pa.RecordBatch, places: Ints) -> None:
        self.unknown += len(places)
        more = places[: _TOLD - len(self.unknown_ids)]
        self.unknown_ids += batch.column("id").take(pa.array(more)).to_pylist()

    def _check_double(self, rows: Ints) -> None:
        ordered = np.sort(rows)
        again = ordered[1:][np.diff(ordered) == 0]
        before = rows[self.seen[rows]]
        if len(again) or len(before):
            twice = np.union1d(again, before)
            raise UserError(
                f"more than one prediction for {len(twice):,} rows: {self._some(twice)}",
                where=shown(self.options.file),
                hint="one prediction a row: several answers are `candidates`, the best first",
            )

    def _check_prompts(self, batch: pa.RecordBatch, owners: Ints, rows: Ints) -> None:
        given = batch.column("prompt_sha256")
        if given.null_count == len(given):
            return
        if self._hashes is None:
            self._hashes = self.asked.prompt_hashes(predictions.HASH)
            give_back()
        told = pc.utf8_slice_codeunits(given, 0, predictions.HASH).take(pa.array(owners))
        same = pc.fill_null(pc.equal(told, self._hashes.take(pa.array(rows))), True)
        other = rows[~same.to_numpy(zero_copy_only=False)]
        if len(other):
            manifest = self.asked.manifest
            raise UserError(
                f"made for another version of the prompt: {self._some(other)}"
                f" ({len(other):,} of the first {self.read:,} predictions)",
                where=shown(self.options.file),
                hint=f"this is {manifest.dataset} {manifest.version}: score them against the "
                "release that they were made for, or make them again",
            )

    def _decided(self, batch: pa.RecordBatch, owners: Ints, rows: Ints) -> np.ndarray[Any, Any]:
        """Whether each row's likelihoods are of a wrong answer, too."""
        decided = np.ones(len(rows), bool)
        scored = np.flatnonzero(batch.column("from_scores").to_numpy(zero_copy_only=False)[owners])
        if len(scored):
            lists = batch.column("candidates").take(pa.array(owners[scored]))
            decided[scored[self.scorer.undecided(rows[scored], lists)]] = False
        return decided

    def _score(self, batch: pa.RecordBatch, owners: Ints, rows: Ints) -> None:
        candidates, choices = batch.column("candidates"), batch.column("choice_scores")
        ranked = candidates.is_valid().to_numpy(zero_copy_only=False)[owners]
        chosen = choices.is_valid().to_numpy(zero_copy_only=False)[owners]
        scored = batch.column("from_scores").to_numpy(zero_copy_only=False)[owners]
        plain = ~ranked & ~chosen
        texts = batch.column("prediction")
        try:
            for these, column, act in (
                (plain, texts, self.scorer.texts),
                (ranked & ~scored, candidates, self.scorer.candidates),
                (ranked & scored, candidates, self.scorer.likelihoods),
                (chosen, choices, self.scorer.choices),
            ):
                if these.any():
                    act(rows[these], column.take(pa.array(owners[these])))
        except UserError as error:
            raise UserError(str(error), where=shown(self.options.file)) from None
        found = batch.column("evidence")
        there = found.is_valid().to_numpy(zero_copy_only=False)[owners]
        if there.any():
            self.scorer.evidence(rows[there], found.take(pa.array(owners[there])))
        self._keep(batch, owners, rows)

    def _keep(self, batch: pa.RecordBatch, owners: Ints, rows: Ints) -> None:
        """Keep the predictions of the first rows of each verdict, in a shuffled order."""
        verdicts = self.scorer.verdicts
        for verdict in range(len(VERDICTS)):
            here = np.flatnonzero(verdicts[rows] == verdict)
            here = here[np.argsort(self._order[rows[here]], kind="stable")][:EXAMPLES]
            for n in here.tolist():
                self.texts[int(rows[n])] = _said(batch, int(owners[n]))
        held = np.array(sorted(self.texts), np.int64)
        for verdict in range(len(VERDICTS)):
            mine = held[verdicts[held] == verdict]
            for row in mine[np.argsort(self._order[mine], kind="stable")][EXAMPLES:].tolist():
                del self.texts[row]

    def _check_unknown(self) -> None:
        manifest = self.asked.manifest
        if not self.read:
            raise UserError("no predictions", where=shown(self.options.file))
        if self.unknown == self.read or (self.unknown and not self.options.partial):
            ids = ", ".join(text[:40] for text in self.unknown_ids)
            which = "all" if self.unknown == self.read else f"{self.unknown:,} of {self.read:,}"
            raise UserError(
                f"{which} predictions are of rows that {manifest.dataset} {manifest.version} "
                f"does not have: {ids}{', …' if self.unknown > _TOLD else ''}",
                where=shown(self.options.file),
                hint="is it the release that they were made for? --partial leaves them out",
            )

    def _missing(self) -> int:
        missing: list[Ints] = []
        for config in self.asked.configs:
            for _, first, last in config.splits:
                here = self.seen[first:last]
                if here.any():
                    missing.append(first + np.flatnonzero(~here))
        rows = np.concatenate(missing)
        if len(rows) and not self.options.partial:
            raise UserError(
                f"no prediction for {len(rows):,} rows of splits that have some: "
                f"{self._some(rows)}",
                where=shown(self.options.file),
                hint='write {"id": …, "prediction": ""} where a model says nothing; '
                "--partial scores the rows that are there",
            )
        return len(rows)

    def _some(self, rows: Ints) -> str:
        ids = self.asked.ids.take(pa.array(rows[:_TOLD])).to_pylist()
        return ", ".join(ids) + (", …" if len(rows) > _TOLD else "")


def _gathered(batches: Iterator[predictions.Batch]) -> Iterator[pa.RecordBatch]:
    """Batches of some ten thousand short predictions, or fewer long ones."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch.table)
        rows += batch.table.num_rows
        size += batch.table.nbytes
        if rows >= 1 << 15 or size >= 16 << 20:
            yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]
            held, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]


def _by_id(asked: Asked) -> tuple[pa.Array, Ints, Ints]:
    """The different ids, and the rows of each: `rows[starts[n]:starts[n + 1]]`."""
    ids = asked.ids.dictionary_encode()
    if len(ids.dictionary) == len(ids):
        return asked.ids, np.arange(len(ids)), np.arange(len(ids) + 1)
    codes = ids.indices.to_numpy().astype(np.int64)
    rows = np.argsort(codes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(ids.dictionary)))))
    return ids.dictionary, rows, starts


def _shuffled(size: int) -> Ints:
    """A place for each row in an order that is the same for every model."""
    raw = np.asarray(np.random.PCG64(_SEED).random_raw(size), np.uint64)
    return (raw >> np.uint64(1)).astype(np.int64)


def _said(batch: pa.RecordBatch, at: int) -> str | None:
    """What a prediction says, in short."""
    for name in ("prediction", "candidates", "choice_scores"):
        value = batch.column(name)[at].as_py()
        if value is not None:
            text = value if isinstance(value, str) else "; ".join(map(str, value[:5]))
            return _cut(text)
    return None


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONG else flat[: _LONG - 1] + "…"


def _consistency(asked: Asked, scorer: Scorer) -> None:
    """The metric `consistency`: on the first variant of each question, whether that question and
    all its variants are answered right (TimeQA, section 4.5); and `agreement`, where there are
    several: whether all are right or all are wrong."""
    exact = scorer.marks.get("exact_match")
    of_variants = [config for config in asked.configs if config.asking.group]
    if exact is None or not of_variants:
        return
    marks = np.full(len(asked), NONE, np.int32)
    told = exact != NONE
    size = int(asked.group.max(initial=-1)) + 1
    grouped = told & (asked.group >= 0)
    sizes = np.bincount(asked.group[grouped], minlength=size)
    wrong = np.bincount(asked.group[grouped & (exact < SCALE)], minlength=size)
    agreed = marks.copy()
    for config in of_variants:
        rows = np.arange(config.first, config.last)[told[config.rows]]
        groups, first = np.unique(asked.group[rows], return_index=True)
        marks[rows[first]] = np.where(wrong[groups] == 0, SCALE, 0)
        one_way = (wrong[groups] == 0) | (wrong[groups] == sizes[groups])
        several = sizes[groups] > 1
        agreed[rows[first[several]]] = np.where(one_way[several], SCALE, 0)
    scorer.marks["consistency"] = marks
    if (agreed != NONE).any():
        scorer.marks["agreement"] = agreed


class _Cell(NamedTuple):
    """Rows by one stratum: row, and place in `values`."""

    config: str | None
    split: str | None
    stratum: str
    values: Sequence[str]
    rows: Ints
    codes: Ints


def _cells(asked: Asked, days: Ints) -> Iterator[_Cell]:
    strata: list[tuple[Config, Stratum]] = []
    for config in asked.configs:
        yield _whole(config.name, None, config.first, config.last)
        for split, first, last in config.splits:
            yield _whole(config.name, split, first, last)
        for stratum in (*config.strata, *began_stratum(asked, config, days)):
            strata.append((config, stratum))
            rows = config.first + stratum.lists.rows
            yield _Cell(config.name, None, stratum.name, stratum.values, rows, stratum.lists.codes)
    if len(asked.configs) > 1:
        yield from _together(asked, strata)


def _together(asked: Asked, strata: Sequence[tuple[Config, Stratum]]) -> Iterator[_Cell]:
    """All configs as one; of rows with the same id the first."""
    ids, rows, starts = _by_id(asked)
    once = np.zeros(len(asked), bool)
    once[rows[starts[:-1]]] = True
    yield _Cell(None, None, "all", ("all",), np.flatnonzero(once), np.zeros(len(ids), np.int64))
    for name in dict.fromkeys(stratum.name for _, stratum in strata):
        mine = [(config, stratum) for config, stratum in strata if stratum.name == name]
        values = sorted({v for _, stratum in mine for v in stratum.values}, key=sortable)
        place = {value: n for n, value in enumerate(values)}
        parts = []
        for config, stratum in mine:
            at = config.first + stratum.lists.rows
            codes = np.array([place[value] for value in stratum.values], np.int64)
            parts.append((at[once[at]], codes[stratum.lists.codes][once[at]]))
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        yield _Cell(None, None, name, values, joined[0], joined[1])


def sortable(value: str) -> tuple[float, str]:
    """Numbers (`-3`, `+2 or more`, `2021Q3`) by size, other texts as texts."""
    number = re.match(r"[+-]?\d+", value)
    return (float(number[0]) if number else 0.0, value)


def _whole(config: str, split: str | None, first: int, last: int) -> _Cell:
    rows = np.arange(first, last)
    return _Cell(config, split, "all", ("all",), rows, np.zeros(last - first, np.int64))


def _table(asked: Asked, scorer: Scorer, days: Ints, bundle: Ints, drawn: Floats) -> Iterator[Mean]:
    marks = {name: scorer.marks[name] for name in _ORDER if name in scorer.marks}
    every = _sums(_cells(asked, days), marks, bundle, drawn.shape[1])
    while some := list(islice(every, _TOGETHER)):
        sums, counts = (
            np.stack([getattr(one, name) for one in some]) for name in ("sums", "counts")
        )
        means = intervals(sums, counts, (counts > 0).sum(1), drawn)
        for one, n, mean in zip(some, counts.sum(1).tolist(), means, strict=True):
            unsure = one.metric not in GUESSED and not np.isnan(mean.low)
            low, high = (_round(x) if unsure else None for x in mean[1:])
            yield Mean(
                dataset=asked.manifest.dataset,
                config=one.cell.config,
                split=one.cell.split,
                stratum=one.cell.stratum,
                value=one.cell.values[one.place],
                metric=one.metric,
                n=n,
                mean=_round(mean.mean),
                low=low,
                high=high,
            )


class _Sum(NamedTuple):
    """A metric of the rows of one value of a stratum, added up by bundle."""

    cell: _Cell
    place: int
    metric: str
    sums: Floats
    counts: Ints


def _sums(
    cells: Iterator[_Cell], marks: Mapping[str, Marks], bundle: Ints, count: int
) -> Iterator[_Sum]:
    """The sums of each metric by stratum and value: of those values that have rows."""
    for cell in cells:
        size, shape = len(cell.values) * count, (len(cell.values), count)
        number: type[np.signedinteger[Any]] = np.int32 if size < 1 << 31 else np.int64
        cells_of: Ints = cell.codes.astype(number) * count + bundle[cell.rows].astype(np.int32)
        seen: np.ndarray[Any, Any] | None = None
        for name, metric in marks.items():
            value = metric[cell.rows]
            there = value != NONE
            if seen is None or not np.array_equal(there, seen):
                seen, at = there, cells_of if there.all() else cells_of[there]
                counts = _added(at, None, size).astype(np.int64).reshape(shape)
                some = np.flatnonzero(counts.any(1)).tolist()
            sums = _added(at, value if len(value) == len(at) else value[there], size).reshape(shape)
            for place in some:
                yield _Sum(cell, place, name, sums[place], counts[place])


def _added(at: Ints, values: Ints | None, size: int) -> Floats:
    """The sum of the values at each place, else how many there are; whole numbers add up exactly,
    so that some rows at a time give the same."""
    sums = np.zeros(size)
    for first in range(0, len(at), _ADDED):
        part = slice(first, first + _ADDED)
        weights = None if values is None else values[part]
        sums += np.bincount(at[part], weights=weights, minlength=size)
    return sums


def _round(number: float) -> float:
    return round(float(number), 6) + 0.0


def _verdicts(scorer: Scorer) -> dict[str, int]:
    told = scorer.verdicts[scorer.verdicts != NONE]
    counts = np.bincount(told, minlength=len(VERDICTS)).tolist()
    return dict(zip(VERDICTS, counts, strict=True))


def _examples(
    asked: Asked, scorer: Scorer, texts: Mapping[int, str | None]
) -> list[dict[str, object]]:
    """Some rows of each verdict but `right`, to be read."""
    ends = [config.last for config in asked.configs]
    listed: list[dict[str, object]] = []
    shown_rows = [row for row in texts if scorer.verdicts[row] != 0]
    columns = {c for config in asked.configs for c in (config.asking.prompt, config.asking.targets)}
    read = asked.texts(shown_rows, ["id", *sorted(columns)])
    for verdict in (1, 2, 3):
        for row in sorted(row for row in shown_rows if scorer.verdicts[row] == verdict):
            config = asked.configs[int(np.searchsorted(ends, row, side="right"))]
            known: Any = read[row]
            listed.append(
                {
                    "verdict": VERDICTS[verdict],
                    "config": config.name,
                    "id": known["id"],
                    "prompt": _cut(known[config.asking.prompt]),
                    "prediction": texts[row],
                    "targets": [_cut(text) for text in known[config.asking.targets][:4]],
                    "f1": _round(scorer.marks["f1"][row] / SCALE) if "f1" in scorer.marks else None,
                }
            )
    return listed


def _write(
    out: Path,
    summary: Mapping[str, object],
    table: Sequence[Mean],
    asked: Asked,
    scorer: Scorer,
) -> None:
    columns = [list(column) for column in zip(*table, strict=True)]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, TABLE_SCHEMA, strict=True)]
    with replacing(out / TABLE) as path:
        pq.write_table(pa.table(arrays, schema=TABLE_SCHEMA), path, compression="zstd")
    with replacing(out / ROWS) as path:
        _write_rows(path, asked, scorer)
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(out / SUMMARY) as path:
        path.write_text(text + "\n", encoding="utf-8")


def _write_rows(path: Path, asked: Asked, scorer: Scorer) -> None:
    """Every row that has a prediction, in the order of the release."""
    metrics = [name for name in _ORDER if name in scorer.marks]
    schema = pa.schema(
        [
            *(pa.field(name, pa.string(), False) for name in ("config", "split", "id")),
            pa.field("subject", pa.string(), False),
            pa.field("verdict", pa.string(), False),
            *((name, pa.float32()) for name in metrics),
        ]
    )
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for config in asked.configs:
            for split, first, last in config.splits:
                rows = first + np.flatnonzero(scorer.verdicts[first:last] != NONE)
                size = len(rows)
                columns = [
                    pa.repeat(config.name, size),
                    pa.repeat(split, size),
                    asked.ids.take(pa.array(rows)),
                    asked.subjects.take(pa.array(asked.subject[rows])),
                    pa.array(VERDICTS).take(pa.array(scorer.verdicts[rows])),
                ]
                for name in metrics:
                    values = scorer.marks[name][rows]
                    floats = (values / SCALE).astype(np.float32)
                    columns.append(pa.array(floats, mask=values == NONE))
                if size:
                    writer.write_table(pa.table(columns, schema=schema), row_group_size=1 << 16)


def _check_release(asked: Asked, beside: predictions.About | None, file: Path) -> None:
    manifest = asked.manifest
    if beside and beside.dataset not in (None, manifest.dataset):
        raise UserError(
            f"these are predictions for {beside.dataset}, and the release is {manifest.dataset}",
            where=shown(file),
        )


def _stem(file: Path) -> str:
    return (file.with_suffix("") if file.suffix in (".gz", ".zst") else file).stem


def folder_name(name: str) -> str:
    """A name as a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "model"
