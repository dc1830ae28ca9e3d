"""DynamicTempLAMA and TempLAMA: JSON lines, one a subject, relation and period.

Margatina et al. 2023 add the granularity to the format of Dhingra et al. 2022.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import seeded_fraction
from factdrift.builders.rows import Cloze
from factdrift.scoring.export.release import Release, Row, release_blank

_TRAIN, _VALID = 0.02, 0.03
"""Shares of subjects up to which they are in `train` and in `val`, as TempLAMA has them."""
_QUERY = """
    SELECT subject, relation, period, min_by(query, template) AS query,
        min_by(answers, template) AS answers, count(*) - 1 AS others
    FROM cloze WHERE split != 'deleted'
    GROUP BY ALL ORDER BY relation, subject, period
"""


def write(release: Release) -> None:
    """`test.jsonl` with dates such as `2021-Q3`: what DynamicTempLAMA's loader reads."""
    release.json_lines("test.jsonl", _records(release))


def write_yearly(release: Release) -> None:
    """`train.json`, `val.json` and `test.json` as TempLAMA has them; a subject is in one of them.

    `UserError`: periods that are not years.
    """
    release.configs(Cloze)
    granularity = _granularity(release)
    if granularity != "year":
        granularity_text = f"TempLAMA asks by year, and this release by {granularity}"
        hint_text = "use --format dynamic-templama, or a recipe with `granularity: year`"
        raise UserError(granularity_text, where=release.folder, hint=hint_text)
    year_parts = {"train": (0.0, _TRAIN), "val": (_TRAIN, _VALID), "test": (_VALID, 1.0)}
    for year_part, (low_year, high_year) in year_parts.items():
        release.notes.clear()  # each part reads all rows
        records = (
            record
            for record in _records(release)
            if low_year <= seeded_fraction("templama", record["id"].partition("_")[0]) < high_year
        )
        release.json_lines(f"{year_part}.json", records)


def _granularity(release: Release) -> str:
    time_window = release.manifest.parameters.get("window")
    return (
        str(time_window.get("granularity")) if isinstance(time_window, Mapping) else "another unit"
    )


def _records(release: Release) -> Iterator[Row]:
    """A record for each subject, relation and period that has an answer, in this order."""
    configs, blank_text, export_notes = (
        release.configs(Cloze),
        release_blank(release.manifest),
        release.notes,
    )
    deleted_answers = [config for config in configs if config.name == "deleted"]
    gone_answers = sum(config.row_count for config in deleted_answers)
    if gone_answers:
        export_notes[
            "rows of the split deleted left out: the originals ask nothing that has no answer"
        ] = gone_answers
    with release.query(_QUERY, {"cloze": configs}) as query_rows:
        for (relation, subject), query_group in groupby(
            query_rows, key=itemgetter("relation", "subject")
        ):
            period_rows = list(query_group)
            wording_count = sum(query_row["others"] for query_row in period_rows)
            if wording_count:
                export_notes["rows left out: other wordings of the same query"] += wording_count
            frequent_answers = _entity(_most_frequent(period_rows))
            recent_answers = _entity(period_rows[-1]["answers"][0])
            for query_row in period_rows:
                date_text = _date(query_row["period"])
                yield {
                    "query": query_row["query"].replace(blank_text, "_X_"),
                    "answer": [_entity(answer_item) for answer_item in query_row["answers"]],
                    "date": date_text,
                    "id": f"{subject}_{relation}_{date_text}",
                    "most_frequent_answer": frequent_answers,
                    "most_recent_answer": recent_answers,
                    "relation": relation,
                }


def _most_frequent(query_rows: Sequence[Row]) -> Mapping[str, Any]:
    """The answer of the most periods; of several the first by id."""
    answers: dict[str, Mapping[str, Any]] = {
        answer_item["id"]: answer_item
        for query_row in query_rows
        for answer_item in query_row["answers"]
    }
    answer_counts = Counter(
        answer_item["id"] for query_row in query_rows for answer_item in query_row["answers"]
    )
    return answers[
        min(answer_counts, key=lambda answer_item: (-answer_counts[answer_item], answer_item))
    ]


def _entity(answer_item: Mapping[str, Any]) -> dict[str, str]:
    return {"wikidata_id": answer_item["id"], "name": answer_item["label"]}


def _date(period_name: str) -> str:
    """`2021Q3` as `2021-Q3`, `2021M07` as `2021-07`, a year as it is."""
    year, date_rest = period_name[:4], period_name[4:]
    return f"{year}-{date_rest.removeprefix('M')}" if date_rest else year
