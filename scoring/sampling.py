"""Samples that a seed determines: the rows of a limited run, and distractors for a row."""

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
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.scoring.views import answer_names

# rows that are read at a time: only the columns that are asked for are in memory
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
        self, release: Path, columns: Sequence[str], batch_size: int = _BATCH
    ) -> Iterator[Mapping[str, Any]]:
        """Yield its rows, with some of their columns."""
        with reading(locate_file(release, self.split.file)) as split_file:
            for row_batch in split_file.iter_batches(
                batch_size, columns=list(dict.fromkeys(columns))
            ):
                yield from row_batch.to_pylist()


def stratified_sample(
    release: Path, chosen_splits: Sequence[ChosenSplit], limit: int, seed: int
) -> dict[str, set[str]]:
    """Config -> ids of `limit` rows, evenly over its relations and periods as far as they go.

    Variants of a question are drawn alike, in whichever configs they stand.
    """
    strata_by_config: defaultdict[str, dict[tuple[Any, ...], list[tuple[int, str]]]] = defaultdict(
        dict
    )
    for chosen_split in chosen_splits:
        stratum_columns = [
            row_id for row_id in (chosen_split.relation, chosen_split.columns.period) if row_id
        ]
        rows_by_stratum: defaultdict[tuple[Any, ...], list[tuple[int, str]]] = defaultdict(list)
        question_column = chosen_split.columns.group or "id"
        for row in chosen_split.rows(release, ["id", question_column, *stratum_columns]):
            draw_place = seeded_hash(seed, "limit", row[question_column] or row["id"])
            rows_by_stratum[tuple(row[row_id] for row_id in stratum_columns)].append(
                (draw_place, row["id"])
            )
        config_strata = strata_by_config[chosen_split.config]
        for stratum_values, stratum_rows in rows_by_stratum.items():
            config_strata[stratum_values] = nsmallest(
                limit, [*config_strata.get(stratum_values, []), *stratum_rows]
            )
    return {
        config: {
            row_id
            for *_, row_id in nsmallest(
                limit,
                (
                    (round_number, *chosen_split)
                    for stratum_rows in config_strata.values()
                    for round_number, chosen_split in enumerate(stratum_rows)
                ),
            )
        }
        for config, config_strata in strata_by_config.items()
    }


class Distractors:
    """The answers of a release by relation: wrong ones for a row are drawn by its id."""

    def __init__(self, release: Path, chosen_splits: Sequence[ChosenSplit], seed: int) -> None:
        self._seed = seed
        answers_by_relation: defaultdict[str, set[str]] = defaultdict(set)
        for chosen_split in chosen_splits:
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
        self, answer_id: str, relation: str, excluded_names: Collection[str], distractor_count: int
    ) -> list[str]:
        """Up to `distractor_count` answers of a relation that read like none of the others."""
        answer_pool = self._of[relation]
        taken_names = {normalize_or_keep(excluded_name) for excluded_name in excluded_names}
        chosen_answers: list[str] = []
        try_numbers = (
            range(8 * distractor_count)
            if len(answer_pool) > 8 * distractor_count
            else range(len(answer_pool))
        )
        draw_order: list[int] = [
            seeded_hash(self._seed, answer_id, str(try_number)) for try_number in try_numbers
        ]
        if len(answer_pool) > len(try_numbers):
            pool_places = [excluded_name % len(answer_pool) for excluded_name in draw_order]
        else:
            pool_places = sorted(try_numbers, key=lambda try_number: draw_order[try_number])
        for draw_place in pool_places:
            answer_text = answer_pool[draw_place]
            if (
                len(chosen_answers) < distractor_count
                and normalize_or_keep(answer_text) not in taken_names
            ):
                taken_names.add(normalize_or_keep(answer_text))
                chosen_answers.append(answer_text)
        return chosen_answers


def row_relation(row: Mapping[str, Any], chosen_split: ChosenSplit) -> str:
    """The relation that a row asks about; one name for all where rows do not say it."""
    return row[chosen_split.relation] or "" if chosen_split.relation else ""
