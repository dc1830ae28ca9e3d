"""Tasks for evaluation harnesses in every release: lm-eval and Inspect.

They are written from the roles of columns in the manifest and need none of our code: the modules of
`builders.release.harness`, and `text.squad`, lie beside them, word for word.
`tasks.json` in each folder says which columns and files are asked, for whoever reads a release
without this project.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, disk_errors
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.histories import EARLIER, write_histories
from factdrift.builders.release.manifest import ConfigEntry, Manifest
from factdrift.builders.release.sql import day_sql
from factdrift.builders.rows.frames import ANY_RELATION, read_frames
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text import render

Harness = Literal["lm-eval", "inspect"]
FOLDER = "tasks"
TRAINING = frozenset(("train", "dev", "valid", "validation"))
"""Splits to learn from or to choose a model on: no task asks them."""
RELATION = "relation"
"""The column by which examples are chosen, where a config has it."""
RIGHT = ("exact_match", "f1")
"""Metrics that are higher the more is right; of the others less is better."""
MAX_TOKENS = 16
"""As many tokens as a model may answer with: no best name of the samples has more than 13."""


@dataclass(frozen=True)
class HarnessConfig:
    """A config whose rows ask something; `files` are those of its splits to be tested on."""

    name: str
    roles: ColumnRoles
    files: Mapping[str, str]


class PromptFrame(NamedTuple):
    """The prompt frame of a config's rows, in the words of `builders.rows.frames`.

    `heads`: the instruction and examples by relation, `ANY_RELATION` those of all others; `layout`:
    a row, with `<prompt>` and `<context>`.
    """

    heads: Mapping[str, str]
    layout: str

    def filled(self, prompt: str, context_slot: str | None) -> str:
        """Return the layout with other texts in its slots."""
        slot_values = {"prompt": prompt, "context": context_slot or ""}
        return re.sub(
            "<(prompt|context)>", lambda slot_match: slot_values[slot_match[1]], self.layout
        )


def answer_gaps(release_manifest: Manifest) -> tuple[str, ...]:
    """Return the texts that may stand for the answer in statements: the recipe's blank first."""
    recipe_blank = release_manifest.parameters.get("blank")
    return tuple(
        dict.fromkeys(
            [*([recipe_blank] if isinstance(recipe_blank, str) else []), render.BLANK, BLANK]
        )
    )


def prompt_frame(
    release_folder: Path, release_manifest: Manifest, config: HarnessConfig
) -> PromptFrame:
    """Return the prompt frame of a config: the one that suits its first row."""
    roles = config.roles
    columns = [name for name in (roles.prompt, roles.context) if name]
    split_file = manifest.locate_file(release_folder, next(iter(config.files.values())))
    with _reading_columns(split_file, columns) as parquet_file:
        batch = next(parquet_file.iter_batches(1, columns=columns), None)
    row = batch.to_pylist()[0] if batch and batch.num_rows else {}
    if not isinstance(row.get(roles.prompt), str):
        raise UserError("its first row has no prompt", where=split_file)
    has_text = bool(roles.context and row[roles.context])
    frames = read_frames(None, release_manifest.examples, answer_gaps(release_manifest))
    relation_heads: dict[str, str] = {}
    for relation in sorted({ANY_RELATION, *frames.relations}):
        if relation != ANY_RELATION and RELATION not in roles.strata:
            break
        frame, gap = frames.frame_for(
            row[roles.prompt], answer_gaps(release_manifest), has_text, relation
        )
        head = frame.head({"blank": gap or ""})
        if head != relation_heads.get(ANY_RELATION):
            relation_heads[relation] = head
    return PromptFrame(relation_heads, frame.layout)


@contextmanager
def _reading_columns(path: Path, columns: Sequence[str]) -> Iterator[pq.ParquetFile]:
    """Open a file of a release; `UserError` if it is damaged or lacks one of the columns."""
    try:
        with reading(path) as parquet_file:
            if missing := sorted(set(columns) - set(parquet_file.schema_arrow.names)):
                raise UserError(f"has no column {', '.join(missing)}", where=path)
            yield parquet_file
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"is not Parquet, or is damaged: {reason}", where=path) from error


def without_repeats(release_folder: Path, configs: Sequence[HarnessConfig]) -> list[HarnessConfig]:
    """Return the configs in order, without those that repeat a row of an earlier one."""
    seen_ids: set[str] = set()
    chosen_configs = []
    for config in configs:
        row_ids: set[str] = set()
        for split_file in config.files.values():
            split_path = manifest.locate_file(release_folder, split_file)
            with _reading_columns(split_path, ["id"]) as parquet_file:
                row_ids.update(parquet_file.read(columns=["id"]).column("id").to_pylist())
        if seen_ids.isdisjoint(row_ids):
            chosen_configs.append(config)
            seen_ids |= row_ids
    return chosen_configs


def test_configs(configs: Sequence[ConfigEntry]) -> list[HarnessConfig]:
    """Return the configs with test rows, in order; splits without rows are left out."""
    configs_with_tests = []
    for config in configs:
        config_files = {
            split.name: split.file
            for split in config.splits
            if split.rows and split.name not in TRAINING
        }
        if config.roles and config_files:
            configs_with_tests.append(HarnessConfig(config.name, config.roles, config_files))
    return configs_with_tests


def save_tasks(
    folder: Path, release_manifest: Manifest, configs: Sequence[HarnessConfig]
) -> list[Path]:
    """Write the tasks of a release into its folder; return the paths of their files.

    The tasks of lm-eval name files as they are seen from the folder of the release: it is run
    there. Those of Inspect find them from wherever it is run.
    """
    for name in ("lm-eval", "inspect"):
        shutil.rmtree(folder / FOLDER / name, ignore_errors=True)
    if not configs:
        return []
    write_tasks(folder / FOLDER, folder, release_manifest, configs)
    path_parts = [folder / FOLDER / name for name in ("lm-eval", "inspect")]
    return [file_path for part in path_parts for file_path in part.iterdir()]


def write_tasks(
    tasks_folder: Path,
    release_folder: Path,
    release_manifest: Manifest,
    configs: Sequence[HarnessConfig],
) -> None:
    """Write the tasks of a release into a folder, as they stand in the release itself."""
    lm_eval_folder, inspect_folder = tasks_folder / "lm-eval", tasks_folder / "inspect"
    _write_lm_eval(lm_eval_folder, release_folder, release_manifest, configs, "", None)
    _write_inspect(inspect_folder, release_folder, release_manifest, configs, "../..", None)
    if write_histories(lm_eval_folder / EARLIER, release_folder, release_manifest):
        shutil.copyfile(lm_eval_folder / EARLIER, inspect_folder / EARLIER)


def rewrite_tasks(
    release_folder: Path,
    harness_name: Harness,
    out_folder: Path,
    files_place: str | None,
    cutoff: str | None,
) -> dict[str, int]:
    """Write the tasks of a release for another place; config -> number of its rows.

    `files_place`: a folder, or a dataset of the Hub (`me/mine`, `me/mine@1.0.0`) where the release
    lies; the release's folder by default. `cutoff`: only rows that ask about a time after this day
    are asked, and a task without rows is not written. `UserError`: no tasks in the release, no row
    after the day, no such day.
    """
    try:
        cutoff_day = date.fromisoformat(cutoff) if cutoff else None
    except ValueError as error:
        raise UserError(f"not a day: {cutoff!r} (write 2024-06-30)") from error
    release_manifest = manifest.load_manifest(release_folder)
    configs = test_configs(release_manifest.configs)
    if not configs:
        raise UserError("the release has no tasks: its rows ask nothing", where=release_folder)
    rows_left = {config.name: _left(release_folder, config, cutoff_day) for config in configs}
    kept_configs = [
        replace(
            config,
            files={
                split: file_name
                for split, file_name in config.files.items()
                if rows_left[config.name][split]
            },
        )
        for config in configs
        if any(rows_left[config.name].values())
    ]
    if not kept_configs:
        error_text = f"no row asks about a time after {cutoff_day}"
        raise UserError(
            error_text, where=release_folder, hint="name an earlier day, or a newer release"
        )
    place, tasks_folder = _place(files_place, release_folder), out_folder / harness_name
    if tasks_folder.exists() and not (tasks_folder / "squad.py").is_file():
        hint_text = "name another folder with --out"
        raise UserError("there is something else already", where=tasks_folder, hint=hint_text)
    with disk_errors(out_folder), atomic_folder(tasks_folder) as folder:
        if harness_name == "lm-eval":
            _write_lm_eval(
                folder, release_folder, release_manifest, kept_configs, f"{place}/", cutoff_day
            )
        else:
            _write_inspect(
                folder, release_folder, release_manifest, kept_configs, place, cutoff_day
            )
        write_histories(folder / EARLIER, release_folder, release_manifest)
        if tasks_folder.exists():
            shutil.rmtree(tasks_folder)
    return {config.name: sum(rows_left[config.name].values()) for config in kept_configs}


def _left(release_folder: Path, config: HarnessConfig, cutoff_day: date | None) -> dict[str, int]:
    """Split -> number of rows that ask about a time after the day; all where there is none."""
    row_counts = {}
    for split, split_file in config.files.items():
        file_path = manifest.locate_file(release_folder, split_file)
        with _reading_columns(file_path, ()) as parquet_file:
            row_count, schema = parquet_file.metadata.num_rows, parquet_file.schema_arrow
        row_counts[split] = row_count
        if cutoff_day is not None:
            day_columns = [day_sql(schema, column) for column in config.roles.time]
            day_test = f"coalesce({', '.join(day_columns)}) > ?" if day_columns else "? IS NULL"
            count_query = f"SELECT count(*) FROM {duck.parquet(file_path)} WHERE {day_test}"  # noqa: S608 - quoted
            try:
                with duck.connect() as db:
                    count_row = db.execute(count_query, [cutoff_day]).fetchone()
            except duckdb.Error as error:
                raise UserError(str(error).splitlines()[0], where=file_path) from error
            row_counts[split] = count_row[0] if count_row else 0
    return row_counts


def _place(files_place: str | None, release_folder: Path) -> str:
    """Return the place of a release's files: an absolute folder, or an address of the Hub."""
    if files_place is None or Path(files_place).is_dir():
        return (release_folder if files_place is None else Path(files_place)).resolve().as_posix()
    # `me/mine` and `me/mine@1.0.0`, but not `mine` or `/data/mine`
    if re.fullmatch(r"[\w.-]+/[\w.-]+(@[\w./-]+)?", files_place):
        return f"hf://datasets/{files_place}"
    hint_text = "write a folder, or a dataset of the Hub: me/mine, me/mine@1.0.0"
    raise UserError("neither a folder nor a name on the Hub", where=files_place, hint=hint_text)


class _Function(str):
    """A function of a module beside the YAML file, as lm-eval has it: `!function module.name`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """YAML with lm-eval's functions."""


def _scalar(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style_name = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style_name)


_Dumper.add_representer(str, _scalar)
_Dumper.add_representer(
    _Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _yaml(yaml_value: Mapping[str, Any]) -> str:
    return yaml.dump(yaml_value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def template_text(text: str) -> str:
    """A template of Jinja that renders as `text`, which may hold words of strangers.

    lm-eval renders a task's description with all of Python at hand, so that a label such as
    `{{ cycler.__init__ }}` would be evaluated. What looks like a template becomes a literal.
    """
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    return f"{{{{ {json.dumps(text, ensure_ascii=False)} }}}}"


def _copy(name: str, folder: Path) -> None:
    """Copy a self-contained module unchanged into the folder.

    `squad.py` comes from `builders.text`, every other module from `builders.release.harness`.
    """
    package_name = "factdrift.builders." + ("text" if name == "squad.py" else "release.harness")
    module_text = resources(package_name).joinpath(name).read_text("utf-8")
    (folder / name).write_text(module_text, encoding="utf-8")


def _write_lm_eval(
    folder: Path,
    release_folder: Path,
    release_manifest: Manifest,
    configs: Sequence[HarnessConfig],
    file_prefix: str,
    cutoff_day: date | None,
) -> None:
    """Write a group for the dataset, a task for each config and one for each of its splits.

    `file_prefix` is put before the path of each file. The group of the dataset has the configs that
    ask no row twice (`without_repeats`). Splits are not in it: `--limit` counts by task, and of
    27 splits would ask 27 times as much. A group `…-by-split` has those of a config.
    """
    folder.mkdir(parents=True, exist_ok=True)
    task_metadata = {"version": release_manifest.version}
    for name in ("squad.py", "judge.py", "after.py"):
        _copy(name, folder)
    _write_settings(folder, release_folder, release_manifest, configs, "", cutoff_day)
    for config in configs:
        group_name = f"{release_manifest.dataset}-{config.name}"
        words = prompt_frame(release_folder, release_manifest, config)
        context_slot = f"{{{{ {config.roles.context} or '' }}}}" if config.roles.context else None
        task_description, prompt_lead = template_text(f"{words.heads[ANY_RELATION]}\n\n"), ""
        if len(words.heads) > 1:
            relation_heads = json.dumps(words.heads, ensure_ascii=False)
            # a literal: nothing in it is evaluated
            prompt_lead = f"{{% set heads = {relation_heads} %}}"
            prompt_lead += f"{{{{ heads.get({RELATION}, heads['{ANY_RELATION}']) }}}}\n\n"
            task_description = ""
        base_task = {
            "output_type": "generate_until",
            "dataset_path": "parquet",
            "test_split": "test",
            "description": task_description,
            "doc_to_text": prompt_lead
            + words.filled(f"{{{{ {config.roles.prompt} }}}}", context_slot),
            "doc_to_target": config.roles.targets,
            "generation_kwargs": {"until": ["\n"], "max_gen_toks": MAX_TOKENS, "do_sample": False},
            "num_fewshot": 0,
            "process_docs": _Function("after.keep" if cutoff_day else "after.spread"),
            "process_results": _Function(f"judge.config_{config.name}"),
            "metric_list": [
                {"metric": name, "aggregation": "mean", "higher_is_better": name in RIGHT}
                for name in metrics_of(config.roles)
            ],
            "metadata": task_metadata,
        }
        (folder / f"_{config.name}_yaml").write_text(_yaml(base_task), encoding="utf-8")
        _write_task(folder, config.name, group_name, config, file_prefix, [*config.files])
        split_names = {split: f"{group_name}-{split}" for split in config.files}
        for split, task_name in split_names.items():
            _write_task(folder, f"{config.name}-{split}", task_name, config, file_prefix, [split])
        if len(split_names) > 1:
            means = [{"metric": name, "weight_by_size": True} for name in RIGHT]
            group = {
                "group": f"{group_name}-by-split",
                "task": list(split_names.values()),
                "aggregate_metric_list": means,
                "metadata": task_metadata,
            }
            (folder / f"{config.name}-by-split.yaml").write_text(_yaml(group), encoding="utf-8")
    group_names = [
        f"{release_manifest.dataset}-{config.name}"
        for config in without_repeats(release_folder, configs)
    ]
    text = _yaml(
        {"group": release_manifest.dataset, "task": group_names, "metadata": task_metadata}
    )
    (folder / f"{release_manifest.dataset}.yaml").write_text(text, encoding="utf-8")
    if cutoff_day:
        time_columns = list(
            dict.fromkeys(column for config in configs for column in config.roles.time)
        )
        manifest.write_json(
            folder / "after.json", {"after": cutoff_day.isoformat(), "time": time_columns}
        )


def _write_task(
    folder: Path,
    file_stem: str,
    task_name: str,
    config: HarnessConfig,
    file_prefix: str,
    splits: Sequence[str],
) -> None:
    """Write a task of lm-eval over some splits of a config."""
    split_files = [file_prefix + config.files[split] for split in splits]
    data_files = {"test": split_files if len(split_files) > 1 else split_files[0]}
    task = {"include": f"_{config.name}_yaml", "task": task_name}
    task_text = _yaml({**task, "dataset_kwargs": {"data_files": data_files}})
    (folder / f"{file_stem}.yaml").write_text(task_text, encoding="utf-8")


def metrics_of(roles: ColumnRoles) -> list[str]:
    """Return the metrics that rows with these roles can have."""
    metrics = [*RIGHT, "abstained"]
    if roles.previous or roles.history:
        metrics.append("outdated")
    return [*metrics, "early"] if roles.later else metrics


def _write_inspect(
    folder: Path,
    release_folder: Path,
    release_manifest: Manifest,
    configs: Sequence[HarnessConfig],
    files_place: str,
    cutoff_day: date | None,
) -> None:
    """Write the task for Inspect: modules that can ask any config, and `tasks.json`.

    The modules are the same for all releases; `tasks.json` says how each config of this
    one is asked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ask.py", "judge.py", "squad.py", "after.py"):
        _copy(name, folder)
    _write_settings(folder, release_folder, release_manifest, configs, files_place, cutoff_day)


def _write_settings(
    folder: Path,
    release_folder: Path,
    release_manifest: Manifest,
    configs: Sequence[HarnessConfig],
    files_place: str,
    cutoff_day: date | None,
) -> None:
    """Write `tasks.json`: which columns and files of each config are asked, and how."""
    config_settings = {}
    for config in configs:
        roles, words = config.roles, prompt_frame(release_folder, release_manifest, config)
        config_settings[config.name] = {
            "prompt": roles.prompt,
            "targets": roles.targets,
            "previous": roles.previous,
            "later": roles.later,
            "neutral": roles.neutral,
            "context": roles.context,
            "time": list(roles.time),
            "history": list(roles.history),
            "subject": roles.subject,
            "strata": list(roles.strata),
            "metrics": metrics_of(roles),
            "relation": RELATION if len(words.heads) > 1 else None,
            "heads": dict(words.heads),
            "layout": words.layout,
            "files": dict(config.files),
        }
    task_settings = {
        "dataset": release_manifest.dataset,
        "version": release_manifest.version,
        "data": files_place,
        "after": cutoff_day.isoformat() if cutoff_day else "",
        "max_tokens": MAX_TOKENS,
        "configs": config_settings,
    }
    manifest.write_json(folder / "tasks.json", task_settings)
