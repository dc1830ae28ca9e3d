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
        text = f"TempLAMA asks by year, and this release by {granularity}"
        hint = "use --format dynamic-templama, or a recipe with `granularity: year`"
        raise UserError(text, where=release.folder, hint=hint)
    parts = {"train": (0.0, _TRAIN), "val": (_TRAIN, _VALID), "test": (_VALID, 1.0)}
    for part, (low, high) in parts.items():
        release.notes.clear()  # each part reads all rows
        records = (
            record
            for record in _records(release)
            if low <= seeded_fraction("templama", record["id"].partition("_")[0]) < high
        )
        release.json_lines(f"{part}.json", records)


def _granularity(release: Release) -> str:
    window = release.manifest.parameters.get("window")
    return str(window.get("granularity")) if isinstance(window, Mapping) else "another unit"


def _records(release: Release) -> Iterator[Row]:
    """A record for each subject, relation and period that has an answer, in this order."""
    configs, blank, notes = release.configs(Cloze), release_blank(release.manifest), release.notes
    deleted = [config for config in configs if config.name == "deleted"]
    gone = sum(split.rows for config in deleted for split in config.splits)
    if gone:
        notes[
            "rows of the split deleted left out: the originals ask nothing that has no answer"
        ] = gone
    with release.query(_QUERY, {"cloze": configs}) as rows:
        for (relation, subject), group in groupby(rows, key=itemgetter("relation", "subject")):
            period_rows = list(group)
            wording_count = sum(row["others"] for row in period_rows)
            if wording_count:
                notes["rows left out: other wordings of the same query"] += wording_count
            frequent = _entity(_most_frequent(period_rows))
            recent = _entity(period_rows[-1]["answers"][0])
            for row in period_rows:
                date = _date(row["period"])
                yield {
                    "query": row["query"].replace(blank, "_X_"),
                    "answer": [_entity(answer) for answer in row["answers"]],
                    "date": date,
                    "id": f"{subject}_{relation}_{date}",
                    "most_frequent_answer": frequent,
                    "most_recent_answer": recent,
                    "relation": relation,
                }


def _most_frequent(rows: Sequence[Row]) -> Mapping[str, Any]:
    """The answer of the most periods; of several the first by id."""
    answers: dict[str, Mapping[str, Any]] = {
        answer["id"]: answer for row in rows for answer in row["answers"]
    }
    counts = Counter(answer["id"] for row in rows for answer in row["answers"])
    return answers[min(counts, key=lambda item: (-counts[item], item))]


def _entity(answer: Mapping[str, Any]) -> dict[str, str]:
    return {"wikidata_id": answer["id"], "name": answer["label"]}


def _date(period: str) -> str:
    """`2021Q3` as `2021-Q3`, `2021M07` as `2021-07`, a year as it is."""
    year, rest = period[:4], period[4:]
    return f"{year}-{rest.removeprefix('M')}" if rest else year
