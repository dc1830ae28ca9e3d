"""What is drawn by a run's seed: the rows of a limit, and distractors for a row."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.schema import reading
from factdrift.builders.release.manifest import SplitEntry, locate_file
from factdrift.builders.release.tasks import RELATION
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text.squad import normalize_answer
from factdrift.scoring.views import answer_names

_BATCH = 4096


class ChosenSplit(NamedTuple):
    """A split whose rows are asked."""

    config: str
    columns: ColumnRoles
    split: SplitEntry

    @property
    def relation(self) -> str | None:
        """The column of the relation, if there is one."""
        return RELATION if RELATION in self.columns.strata else None

    def rows(
        self, release: Path, columns: Sequence[str], size: int = _BATCH
    ) -> Iterator[Mapping[str, Any]]:
        """Some columns of its rows."""
        with reading(locate_file(release, self.split.file)) as file:
            for batch in file.iter_batches(size, columns=list(dict.fromkeys(columns))):
                yield from batch.to_pylist()


def stratified_sample(
    release: Path, splits: Sequence[ChosenSplit], limit: int, seed: int
) -> dict[str, set[str]]:
    """Config -> ids of `limit` rows, evenly over its relations and periods as far as they go.

    Variants of a question are drawn alike, in whichever configs they stand.
    """
    every: defaultdict[str, dict[tuple[Any, ...], list[tuple[int, str]]]] = defaultdict(dict)
    for one in splits:
        by = [name for name in (one.relation, one.columns.period) if name]
        found: defaultdict[tuple[Any, ...], list[tuple[int, str]]] = defaultdict(list)
        question = one.columns.group or "id"
        for row in one.rows(release, ["id", question, *by]):
            place = seeded_hash(seed, "limit", row[question] or row["id"])
            found[tuple(row[name] for name in by)].append((place, row["id"]))
        strata = every[one.config]
        for stratum, some in found.items():
            strata[stratum] = nsmallest(limit, [*strata.get(stratum, []), *some])
    return {
        config: {
            name
            for *_, name in nsmallest(
                limit, ((n, *one) for some in strata.values() for n, one in enumerate(some))
            )
        }
        for config, strata in every.items()
    }


class Distractors:
    """The answers of a release by relation: wrong ones for a row are drawn by its id."""

    def __init__(self, release: Path, splits: Sequence[ChosenSplit], seed: int) -> None:
        self._seed = seed
        found: defaultdict[str, set[str]] = defaultdict(set)
        for one in splits:
            for row in one.rows(release, [one.columns.answers, *filter(None, [one.relation])]):
                found[row_relation(row, one)].update(answer_names(row[one.columns.answers]))
        self._of = {relation: sorted(some) for relation, some in found.items()}

    def of(self, name: str, relation: str, others: Collection[str], count: int) -> list[str]:
        """Up to `count` answers of a relation that read like none of the others."""
        pool = self._of[relation]
        taken = {normalize_answer(one) for one in others}
        chosen: list[str] = []
        tries = range(8 * count) if len(pool) > 8 * count else range(len(pool))
        order: list[int] = [seeded_hash(self._seed, name, str(n)) for n in tries]
        if len(pool) > len(tries):
            places = [one % len(pool) for one in order]
        else:
            places = sorted(tries, key=lambda n: order[n])
        for place in places:
            text = pool[place]
            if len(chosen) < count and normalize_answer(text) not in taken:
                taken.add(normalize_answer(text))
                chosen.append(text)
        return chosen


def row_relation(row: Mapping[str, Any], one: ChosenSplit) -> str:
    """The relation that a row asks about; one name for all where rows do not say it."""
    return row[one.relation] or "" if one.relation else ""
