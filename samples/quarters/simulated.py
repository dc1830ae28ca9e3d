"""A model made of a release: it knows the timelines up to a day, and nothing later.

    python -m samples.quarters.simulated RELEASE --until 2025-04-07 --out simulated.jsonl

It answers what a release asks as somebody would who had read Wikidata on that day and nothing
since: the ceiling of a model with that cut-off. With `--knows OLDER` it knows what an older release
said, so that later ones show how its answers go stale.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load_manifest, locate_file
from factdrift.scoring.predictions import Prediction, prompt_hash, write_predictions

Row = Mapping[str, Any]


def asked_rows(release: Path, configs: Collection[str] = ()) -> Iterator[tuple[str, str, Row]]:
    """Config, split and row of all that a release asks, or of some of its configs."""
    for config in load_manifest(release).configs:
        if configs and config.name not in configs:
            continue
        if config.roles:
            for split in config.splits:
                for row in pq.read_table(locate_file(release, split.file)).to_pylist():
                    yield config.name, split.name, row


def predict(
    release: Path, path: Path, says: Callable[[Row], str | None], configs: Collection[str] = ()
) -> Path:
    """Write what a model says of every row that `asked_rows` gives, each id once."""
    rows = {row["id"]: row for _, _, row in asked_rows(release, configs)}
    predictions = (
        Prediction(id=key, prompt_sha256=prompt_hash(row["prompt"]), prediction=says(row))
        for key, row in rows.items()
    )
    write_predictions(path, predictions)
    return path


def stops_on(release: Path, day: date) -> Callable[[Row], str]:
    """A model that knows the timelines of a release up to a day: it names the last holder then.

    A question about a later time it answers with what it knows, whatever has happened since.
    `UserError`: a release without timelines.
    """
    held: dict[tuple[str, str], list[Row]] = defaultdict(list)
    config = load_manifest(release).config("timelines")
    if config is None:
        raise UserError("it has no timelines to know", where=release)
    for split in config.splits:
        for segment in pq.read_table(locate_file(release, split.file)).to_pylist():
            held[segment["subject"], segment["relation"]].append(segment)

    def says(row: Row) -> str:
        asked = row["period_last"]
        if row["split"] == "deleted":
            asked = row["period_first"] - timedelta(days=1)
        now = min(day, asked)
        begun = [
            segment
            for segment in held[row["subject"], row["relation"]]
            if segment["start_last"] is None or segment["start_last"] <= now
        ]
        lasting = [
            segment
            for segment in begun
            if segment["end_open"] or segment["end_first"] is None or segment["end_first"] >= now
        ]
        if not begun:
            return "nobody"
        last = max(lasting or begun, key=lambda one: (one["start_last"] or date.min, one["object"]))
        return str(last["object_label"])

    return says


def main() -> None:
    """The command; `--help` says its options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("release", type=Path, help="the release that is asked")
    parser.add_argument("--knows", type=Path, help="the release that it knows; else the same")
    parser.add_argument("--until", type=date.fromisoformat, required=True, help="the day it stops")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl or .parquet file")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        predict(
            options.release, options.out, stops_on(options.knows or options.release, options.until)
        )
    except UserError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
