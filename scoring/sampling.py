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
    strata_by_config: defaultdict[str, dict[tuple[Any, ...], list[tuple[int, str]]]] = defaultdict(
        dict
    )
    for one in splits:
        stratum_columns = [name for name in (one.relation, one.columns.period) if name]
        rows_by_stratum: defaultdict[tuple[Any, ...], list[tuple[int, str]]] = defaultdict(list)
        question = one.columns.group or "id"
        for row in one.rows(release, ["id", question, *stratum_columns]):
            place = seeded_hash(seed, "limit", row[question] or row["id"])
            rows_by_stratum[tuple(row[name] for name in stratum_columns)].append((place, row["id"]))
        strata = strata_by_config[one.config]
        for stratum, some in rows_by_stratum.items():
            strata[stratum] = nsmallest(limit, [*strata.get(stratum, []), *some])
    return {
        config: {
            name
            for *_, name in nsmallest(
                limit, ((n, *one) for some in strata.values() for n, one in enumerate(some))
            )
        }
        for config, strata in strata_by_config.items()
    }


class Distractors:
    """The answers of a release by relation: wrong ones for a row are drawn by its id."""

    def __init__(self, release: Path, splits: Sequence[ChosenSplit], seed: int) -> None:
        self._seed = seed
        answers_by_relation: defaultdict[str, set[str]] = defaultdict(set)
        for chosen_split in splits:
            for row in chosen_split.rows(
                release, [chosen_split.columns.answers, *filter(None, [chosen_split.relation])]
            ):
                answers_by_relation[row_relation(row, chosen_split)].update(
                    answer_names(row[chosen_split.columns.answers])
                )
        self._of = {
            relation: sorted(relation_answers)
            for relation, relation_answers in answers_by_relation.items()
        }

    def of(
        self, name: str, relation: str, excluded_names: Collection[str], count: int
    ) -> list[str]:
        """Up to `count` answers of a relation that read like none of the others."""
        pool = self._of[relation]
        taken_names = {normalize_answer(excluded_name) for excluded_name in excluded_names}
        chosen: list[str] = []
        tries = range(8 * count) if len(pool) > 8 * count else range(len(pool))
        order: list[int] = [seeded_hash(self._seed, name, str(try_number)) for try_number in tries]
        if len(pool) > len(tries):
            places = [excluded_name % len(pool) for excluded_name in order]
        else:
            places = sorted(tries, key=lambda try_number: order[try_number])
        for place in places:
            text = pool[place]
            if len(chosen) < count and normalize_answer(text) not in taken_names:
                taken_names.add(normalize_answer(text))
                chosen.append(text)
        return chosen


def row_relation(row: Mapping[str, Any], chosen_split: ChosenSplit) -> str:
    """The relation that a row asks about; one name for all where rows do not say it."""
    return row[chosen_split.relation] or "" if chosen_split.relation else ""
