"""The public interface: build a recipe, open a release, score predictions, play a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from factdrift.builders.core.errors import UserError as UserError
from factdrift.builders.core.progress import say as tell
from factdrift.builders.core.schema import reading
from factdrift.builders.core.steps import Say
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import ConfigEntry
from factdrift.builders.release.release import ReleaseOptions, release_all
from factdrift.builders.release.verify import verify_release
from factdrift.reasoning.as_of.memories import Memory
from factdrift.scoring import memories
from factdrift.scoring.score import Mean, ScoreOptions, Scores, score_predictions

_ROW_BATCH = 1024
"""Rows that are read at a time: few, because a row can hold a whole page."""


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A row with a prompt.

    `targets` are all accepted answers, the best first; they are empty if the question has none.
    `values` are all columns of the row by name.
    """

    id: str
    config: str
    split: str
    prompt: str
    targets: tuple[str, ...]
    context: str | None
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ReleaseConfig:
    """One config of a release, whose folder is `folder`."""

    folder: Path
    entry: ConfigEntry

    @property
    def name(self) -> str:
        """The name of the config."""
        return self.entry.name

    @property
    def description(self) -> str:
        """A sentence that describes the rows."""
        return self.entry.description

    @property
    def asks(self) -> bool:
        """Whether the rows have prompts and targets."""
        return self.entry.roles is not None

    @cached_property
    def splits(self) -> Mapping[str, int]:
        """The number of rows by name of the split."""
        return MappingProxyType({split.name: split.rows for split in self.entry.splits})

    def rows(self, split: str | None = None) -> Iterator[PromptRow]:
        """Yield the rows of one split or of all splits, in order.

        Raises `UserError` if the rows have no prompts.
        """
        roles = self.entry.roles
        if roles is None:
            raise UserError(f"rows of {self.name} ask nothing", hint="read them with records()")
        for name, values in self._read(split):
            yield PromptRow(
                id=values["id"],
                config=self.name,
                split=name,
                prompt=values[roles.prompt],
                targets=tuple(values[roles.targets]),
                context=values[roles.context] if roles.context else None,
                values=MappingProxyType(values),
            )

    def records(self, split: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of one split or of all splits, in order, as dictionaries."""
        return (values for _, values in self._read(split))

    def _read(self, split: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        if split is not None and split not in self.splits:
            split_names = ", ".join(self.splits)
            raise UserError(f"{self.name} has no split {split!r}", hint=f"there are {split_names}")
        for split_entry in self.entry.splits:
            if split in (None, split_entry.name):
                with reading(manifest.locate_file(self.folder, split_entry.file)) as split_file:
                    for row_batch in split_file.iter_batches(_ROW_BATCH):
                        yield from ((split_entry.name, values) for values in row_batch.to_pylist())


@dataclass(frozen=True)
class DatasetRelease:
    """A release folder: a dataset in one version, with its configs by name."""

    folder: Path

    @cached_property
    def manifest(self) -> manifest.Manifest:
        """The contents of `manifest.json`."""
        return manifest.load_manifest(self.folder)

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.manifest.dataset

    @property
    def version(self) -> str:
        """The version, such as `1.2.3`."""
        return self.manifest.version

    @cached_property
    def configs(self) -> Mapping[str, ReleaseConfig]:
        """The configs by name, in the order of the manifest."""
        configs_by_name = {
            entry.name: ReleaseConfig(self.folder, entry) for entry in self.manifest.configs
        }
        return MappingProxyType(configs_by_name)

    def rows(self) -> Iterator[PromptRow]:
        """Yield all rows with prompts, config by config."""
        for config in self.configs.values():
            if config.asks:
                yield from config.rows()

    def problems(self) -> list[str]:
        """Return all differences from the manifest, a line for each; none if it is unchanged."""
        return verify_release(self.folder)


@dataclass(frozen=True)
class ReleaseScores:
    """The scores of a file of predictions; `folder` has the files that `factdrift score` writes."""

    scores: Scores

    @property
    def folder(self) -> Path:
        """The folder with `summary.json`, the table and the scores of each row."""
        return self.scores.folder

    @property
    def table(self) -> tuple[Mean, ...]:
        """All means by config, split and stratum, with their intervals."""
        return self.scores.table

    def __str__(self) -> str:
        """What `factdrift score` prints."""
        from factdrift.scoring.summary import summary_lines

        return "\n".join(summary_lines(self.scores))

    def mean(self, metric: str, config: str | None = None) -> float:
        """Return the mean of a metric over all scored rows, or over those of a config.

        If there is a single config, both are the same. Raises `UserError` if there is no such mean.
        """
        overall_rows = [
            mean_row
            for mean_row in self.table
            if (mean_row.split, mean_row.stratum) == (None, "all")
        ]
        config_names = {mean_row.config for mean_row in overall_rows}
        wanted_config = config or (next(iter(config_names)) if len(config_names) == 1 else None)
        for mean_row in overall_rows:
            if (mean_row.metric, mean_row.config) == (metric, wanted_config):
                return mean_row.mean
        metric_names = ", ".join(dict.fromkeys(mean_row.metric for mean_row in overall_rows))
        raise UserError(
            f"no {metric!r} of {config or 'all rows'}", hint=f"there are {metric_names}"
        )


def build(
    recipe: str | Path,
    inputs: Mapping[str, str | Path | Sequence[str | Path]] | None = None,
    *,
    out: str | Path = "releases",
    work: str | Path = "build",
    version: str | None = None,
    snapshot: date | None = None,
    since: str | None = None,
    corrections: str | Path | None = None,
    jobs: int = 2,
    say: Say = tell,
) -> DatasetRelease:
    """Build a release in `out/<dataset>/<version>` from a recipe, given by its path or its name.

    `inputs` are paths by the names of the recipe's inputs, which replace the paths in the recipe.
    `work` is the folder of intermediate tables. `version` is `1.2.3`, or `auto` for the smallest
    version that the change allows; by default it is that in the recipe. `snapshot` is the day of an
    input whose file names do not contain it. `since` is the version whose rows stay as it published
    them, or `last`. `corrections` is a file of corrections, by default `corrections.yaml`, if it is
    there.
    """
    input_paths: dict[str, list[str]] = {}
    for input_name, paths in (inputs or {}).items():
        path_list = [paths] if isinstance(paths, str | Path) else paths
        input_paths[input_name] = list(map(str, path_list))
    release_options = ReleaseOptions(
        given=input_paths,
        snapshot=snapshot.isoformat() if snapshot else None,
        version=version,
        since=since,
        corrections_file=Path(corrections) if corrections is not None else None,
        out=Path(out),
        build=Path(work),
        jobs=jobs,
        say=say,
    )
    (published,) = release_all([recipe], release_options)
    return DatasetRelease(published.folder)


def open_release(folder: str | Path) -> DatasetRelease:
    """Open a release folder, `releases/<dataset>/<version>`; raise `UserError` if it is none."""
    dataset_release = DatasetRelease(Path(folder))
    dataset_release.configs  # noqa: B018 - a broken manifest is found here
    return dataset_release


def score(
    release: DatasetRelease | str | Path,
    predictions: Mapping[str, str] | str | Path,
    *,
    out: str | Path | None = None,
    configs: Sequence[str] | None = None,
    cutoff: date | None = None,
    model: str | None = None,
    partial: bool = False,
    say: Say = tell,
) -> ReleaseScores:
    """Score predictions, given as a file for `factdrift score` or as texts by ids of rows.

    `out` is the folder of scores, by default `scores/<dataset>/<model>`. `cutoff` is the last day
    that the model knows of. If `partial` is true, rows without a prediction are left out.
    Raises `UserError` for predictions of unknown rows, and for missing predictions.
    """
    opened_release = release if isinstance(release, DatasetRelease) else open_release(release)
    with TemporaryDirectory() as scratch:
        if isinstance(predictions, Mapping):
            predictions_file = Path(scratch, "predictions.jsonl")
            with predictions_file.open("w", encoding="utf-8") as output:
                for row_id, prediction in predictions.items():
                    output.write(json.dumps({"id": row_id, "prediction": prediction}) + "\n")
        else:
            predictions_file = Path(predictions)
        score_options = ScoreOptions(
            release=opened_release.folder,
            file=predictions_file,
            out=None if out is None else Path(out),
            configs=None if configs is None else tuple(configs),
            cutoff=cutoff,
            model=model,
            partial=partial,
            say=say,
        )
        return ReleaseScores(score_predictions(score_options))


def answer_stream(stream: str | Path, memory: Memory, out: str | Path) -> int:
    """Play the stream of an export to a memory; write its answers as predictions for `score`.

    `memory` has two methods, `hear(passage)` and `answer(question)`, which returns a text. Both are
    called with a mapping of `id`, `day` and `text`, in the order of the days; a question also has
    its `prompt`, which says what an answer is to be. In streams of statements some passages are
    deleted later: `forget(deletion)` gets the `id` and `day` of these, where the memory has this
    method, and else a warning tells how many it was not told of. `stream` is the
    folder of `factdrift export --format stream`, `out` a file of JSON lines. Returns the number of
    answers. Answers are kept in `<out>.kept` as they come: after an error the same call tells all
    passages again, and asks only what has no answer yet. Raises `UserError` if there is no stream,
    and for an answer that is no text.
    """
    return memories.answer_stream(memory, Path(stream), Path(out))
