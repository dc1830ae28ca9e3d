"""What models that know nothing of a period score on a release, as lines of text; their answers."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

import factdrift
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load_manifest, locate_file
from factdrift.builders.templama.guesses import GUESSES, answers, guesses
from factdrift.scoring.predictions import Prediction, write_about, write_predictions
from factdrift.scoring.sampling import ChosenSplit, stratified_sample

_COLUMNS = {"split", "relation", "targets", "previous_answers", "still_true"}


def _parts(folder: Path) -> tuple[list[ChosenSplit], Path]:
    """The splits of a release that the guesses are of, and its timelines."""
    configs = {config.name: config for config in load_manifest(folder).configs}
    splits = [
        ChosenSplit(config.name, config.roles, split)
        for config in configs.values()
        if config.roles and config.name not in ("choices", "paraphrases")
        for split in config.splits
        if _COLUMNS.issubset(pq.read_schema(locate_file(folder, split.file)).names)
    ]
    timelines = configs["timelines"].splits if "timelines" in configs else ()
    if not splits or len(timelines) != 1:
        raise UserError(
            "its rows name no answers of the period before, or it has no timelines",
            where=display_path(folder),
            hint="these figures are of cloze releases such as dynamic-templama",
        )
    return splits, locate_file(folder, timelines[0].file)


def baseline_lines(folder: Path) -> Iterator[str]:
    """A line for each split, then for each relation of what is updated; in per cent.

    `UserError`: the release has no timelines, or no rows that name the answers of before.
    """
    splits, timelines = _parts(folder)
    yield "".join([f"{'':<16}{'comparisons':>12}", *(f"{name:>17}" for name in GUESSES)])
    updated = [chosen_split for chosen_split in splits if chosen_split.config == "updated"]
    for group_column, group_splits in (("split", splits), ("relation", updated)):
        if group_column == "relation" and group_splits:
            yield "updated, by relation"
        paths = [locate_file(folder, chosen_split.split.file) for chosen_split in group_splits]
        for row in guesses(paths, timelines, group_column) if paths else ():
            shares = (
                "-" if row[guess_name] is None else f"{100 * float(row[guess_name] or 0):.1f}"
                for guess_name in GUESSES
            )
            yield "".join(
                [
                    f"{row[group_column]!s:<16}{row['comparisons']:>12,}",
                    *(f"{share:>17}" for share in shares),
                ]
            )


def write_baselines(folder: Path, out: Path, limit: int | None) -> Iterator[Path]:
    """Write what each guess answers as predictions, and what they are of; the files.

    `limit`: of so many rows of each config, the ones that `run-model --limit` asks.
    """
    manifest = load_manifest(folder)
    splits, timelines = _parts(folder)
    ids_by_config = stratified_sample(folder, splits, limit, seed=0) if limit else None
    wanted_ids = (
        None
        if ids_by_config is None
        else {row_id for config_ids in ids_by_config.values() for row_id in config_ids}
    )
    split_paths = [locate_file(folder, one.split.file) for one in splits]
    rows = [
        one for one in answers(split_paths, timelines) if wanted_ids is None or one[0] in wanted_ids
    ]
    for place, guess in enumerate(GUESSES):
        path = out / f"{guess.replace(' ', '-')}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_predictions(
            path,
            (
                Prediction(id=row_id, prediction=guess_answers[place])
                for row_id, guess_answers in rows
            ),
        )
        description = {
            "model": f"knows nothing, {guess}",
            "version": manifest.version,
            "limit": limit,
        }
        description |= {"dataset": manifest.dataset, "code_version": factdrift.__version__}
        write_about(path, description)
        yield path
