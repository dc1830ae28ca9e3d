"""Baselines that know nothing of a period: their scores as lines of text, and their answers."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

import factdrift
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Scalar
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load_manifest, locate_file
from factdrift.builders.templama.guesses import GUESSES, answers, guesses
from factdrift.scoring.predictions import Prediction, write_about, write_predictions
from factdrift.scoring.sampling import ChosenSplit, stratified_sample

_COLUMNS = {"split", "relation", "targets", "previous_answers", "still_true"}


def _parts(release_folder: Path) -> tuple[list[ChosenSplit], Path]:
    """Return the splits of a release that guesses answer, and the file of its timelines."""
    configs_by_name = {config.name: config for config in load_manifest(release_folder).configs}
    chosen_splits = [
        ChosenSplit(config.name, config.roles, split)
        for config in configs_by_name.values()
        if config.roles and config.name not in ("choices", "paraphrases")
        for split in config.splits
        if _COLUMNS.issubset(pq.read_schema(locate_file(release_folder, split.file)).names)
    ]
    timelines_file = configs_by_name["timelines"].splits if "timelines" in configs_by_name else ()
    if not chosen_splits or len(timelines_file) != 1:
        raise UserError(
            "its rows name no answers of the period before, or it has no timelines",
            where=display_path(release_folder),
            hint="these figures are of cloze releases such as dynamic-templama",
        )
    return chosen_splits, locate_file(release_folder, timelines_file[0].file)


def baseline_shares(release_folder: Path) -> dict[str, list[dict[str, Scalar]]]:
    """Return the share that each guess has right: of each split, and of each relation's updates.

    `UserError`: the release has no timelines, or no rows that name the answers of before.
    """
    chosen_splits, timelines_file = _parts(release_folder)
    updated_splits = [
        chosen_split for chosen_split in chosen_splits if chosen_split.config == "updated"
    ]
    shares: dict[str, list[dict[str, Scalar]]] = {}
    for group_column, group_splits in (("split", chosen_splits), ("relation", updated_splits)):
        split_paths = [
            locate_file(release_folder, chosen_split.split.file) for chosen_split in group_splits
        ]
        if split_paths:
            shares[group_column] = guesses(split_paths, timelines_file, group_column)
    return shares


def baseline_lines(release_folder: Path) -> Iterator[str]:
    """A line for each split, then for each relation of what is updated; in per cent, as it says.

    `UserError` as of `baseline_shares`.
    """
    shares = baseline_shares(release_folder)
    yield "".join([f"{'':<16}{'comparisons':>12}", *(f"{name:>17}" for name in GUESSES)])
    for group_column, guess_rows in shares.items():
        if group_column == "relation":
            yield "updated, by relation"
        for guess_row in guess_rows:
            share_texts = (
                "-"
                if guess_row[guess_name] is None
                else f"{100 * float(guess_row[guess_name] or 0):.1f}"
                for guess_name in GUESSES
            )
            yield "".join(
                [
                    f"{guess_row[group_column]!s:<16}{guess_row['comparisons']:>12,}",
                    *(f"{share_text:>17}" for share_text in share_texts),
                ]
            )
    yield "in per cent of the comparisons: how many each has right, without any knowledge"


def write_baselines(release_folder: Path, out: Path, row_limit: int | None) -> Iterator[Path]:
    """Write the answers of each guess as predictions, with a note of their release.

    Yields the files that were written.

    With `row_limit`, only this number of rows of each config is answered: those that
    `run-model --limit` asks.
    """
    manifest = load_manifest(release_folder)
    chosen_splits, timelines_file = _parts(release_folder)
    ids_by_config = (
        stratified_sample(release_folder, chosen_splits, row_limit, seed=0) if row_limit else None
    )
    wanted_ids = (
        None
        if ids_by_config is None
        else {row_id for config_ids in ids_by_config.values() for row_id in config_ids}
    )
    split_paths = [
        locate_file(release_folder, guessed_row.split.file) for guessed_row in chosen_splits
    ]
    guessed_rows = [
        guessed_row
        for guessed_row in answers(split_paths, timelines_file)
        if wanted_ids is None or guessed_row[0] in wanted_ids
    ]
    for guess_number, guess in enumerate(GUESSES):
        predictions_file = out / f"{guess.replace(' ', '-')}.jsonl"
        predictions_file.parent.mkdir(parents=True, exist_ok=True)
        write_predictions(
            predictions_file,
            (
                Prediction(id=row_id, prediction=guess_answers[guess_number])
                for row_id, guess_answers in guessed_rows
            ),
        )
        description = {
            "model": f"knows nothing, {guess}",
            "version": manifest.version,
            "limit": row_limit,
            "guess": guess,
        }
        description |= {"dataset": manifest.dataset, "code_version": factdrift.__version__}
        write_about(predictions_file, description)
        yield predictions_file
