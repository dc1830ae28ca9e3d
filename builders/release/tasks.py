"""Tasks for evaluation harnesses in every release: lm-eval and Inspect.

They are written from the roles of columns in the manifest and need none of our code: the modules of
`builders.release.harness`, and `text.squad`, lie beside them, word for word.
`tasks/inspect/tasks.json` says which columns and files are asked, for whoever reads a release
without this project.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow as pa
import yaml

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, disk_errors
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import ConfigEntry, Manifest
from factdrift.builders.rows.frames import ANY_RELATION, read_frames
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text import render

Harness = Literal["lm-eval", "inspect"]
FOLDER = "tasks"
TRAINING = frozenset(("train", "dev", "valid", "validation"))
"""Splits to learn from or to choose a model on: no task asks them."""
RELATION = "relation"
"""The column by which examples are chosen, where a config has it."""
MAX_TOKENS = 16
"""As many tokens as a model may answer with: no best name of the samples has more than 13."""


@dataclass(frozen=True)
class HarnessConfig:
    """A config whose rows ask something; `files` are those of its splits to be tested on."""

    name: str
    roles: ColumnRoles
    files: Mapping[str, str]


class PromptFrame(NamedTuple):
    """How the rows of a config are put to a model, in the words of `builders.rows.frames`.

    `heads`: the instruction and examples by relation, `ANY_RELATION` those of all others; `layout`:
    a row, with `<prompt>` and `<context>`.
    """

    heads: Mapping[str, str]
    layout: str

    def filled(self, prompt: str, context: str | None) -> str:
        """The layout with something else in its slots."""
        values = {"prompt": prompt, "context": context or ""}
        return re.sub("<(prompt|context)>", lambda slot: values[slot[1]], self.layout)


def answer_gaps(loaded: Manifest) -> tuple[str, ...]:
    """What may stand for the answer in the statements of a release: the recipe's blank first."""
    recipe_blank = loaded.parameters.get("blank")
    return tuple(
        dict.fromkeys(
            [*([recipe_blank] if isinstance(recipe_blank, str) else []), render.BLANK, BLANK]
        )
    )


def prompt_frame(release: Path, loaded: Manifest, config: HarnessConfig) -> PromptFrame:
    """The words for the rows of a config: those that suit its first row."""
    roles = config.roles
    columns = [name for name in (roles.prompt, roles.context) if name]
    file = manifest.locate_file(release, next(iter(config.files.values())))
    with reading(file) as parquet:
        batch = next(parquet.iter_batches(1, columns=columns))
    (row,) = batch.to_pylist()
    has_text = bool(roles.context and row[roles.context])
    frames = read_frames(None, loaded.examples, answer_gaps(loaded))
    heads: dict[str, str] = {}
    for relation in sorted({ANY_RELATION, *frames.relations}):
        if relation != ANY_RELATION and RELATION not in roles.strata:
            break
        frame, gap = frames.frame_for(row[roles.prompt], answer_gaps(loaded), has_text, relation)
        head = frame.head({"blank": gap or ""})
        if head != heads.get(ANY_RELATION):
            heads[relation] = head
    return PromptFrame(heads, frame.layout)


def without_repeats(release: Path, configs: Sequence[HarnessConfig]) -> list[HarnessConfig]:
    """The configs in order, without those that ask a row that an earlier one asks."""
    seen: set[str] = set()
    chosen = []
    for config in configs:
        ids: set[str] = set()
        for file in config.files.values():
            with reading(manifest.locate_file(release, file)) as parquet:
                ids.update(parquet.read(columns=["id"]).column("id").to_pylist())
        if seen.isdisjoint(ids):
            chosen.append(config)
            seen |= ids
    return chosen


def test_configs(configs: Sequence[ConfigEntry]) -> list[HarnessConfig]:
    """The configs with rows to be tested on, in order; splits without rows are left out."""
    configs_with_tests = []
    for config in configs:
        files = {
            split.name: split.file
            for split in config.splits
            if split.rows and split.name not in TRAINING
        }
        if config.roles and files:
            configs_with_tests.append(HarnessConfig(config.name, config.roles, files))
    return configs_with_tests


def save_tasks(folder: Path, loaded: Manifest, configs: Sequence[HarnessConfig]) -> list[Path]:
    """Write the tasks of a release into its folder anew; the paths of their files.

    The tasks of lm-eval name files as they are seen from the folder of the release: it is run
    there. Those of Inspect find them from wherever it is run.
    """
    for name in ("lm-eval", "inspect"):
        shutil.rmtree(folder / FOLDER / name, ignore_errors=True)
    if not configs:
        return []
    _write_lm_eval(folder / FOLDER / "lm-eval", folder, loaded, configs, "", None)
    _write_inspect(folder / FOLDER / "inspect", folder, loaded, configs, "../..", None)
    parts = [folder / FOLDER / name for name in ("lm-eval", "inspect")]
    return [path for part in parts for path in part.iterdir()]


def rewrite_tasks(
    release: Path, harness: Harness, out: Path, path: str | None, cutoff: str | None
) -> dict[str, int]:
    """Write the tasks of a release for another place; config -> number of its rows.

    `path`: a folder, or a dataset of the Hub (`me/mine`, `me/mine@1.0.0`) where the release lies;
    the release's folder by default. `cutoff`: only rows that ask about a time after this day, and
    no task without rows. `UserError`: no tasks in the release, no row after the day, no such day.
    """
    try:
        after = date.fromisoformat(cutoff) if cutoff else None
    except ValueError as error:
        raise UserError(f"not a day: {cutoff!r} (write 2024-06-30)") from error
    loaded = manifest.load_manifest(release)
    configs = test_configs(loaded.configs)
    if not configs:
        raise UserError("the release has no tasks: its rows ask nothing", where=release)
    rows_left = {config.name: _left(release, config, after) for config in configs}
    kept_configs = [
        replace(
            config,
            files={
                split_name: file_name
                for split_name, file_name in config.files.items()
                if rows_left[config.name][split_name]
            },
        )
        for config in configs
        if any(rows_left[config.name].values())
    ]
    if not kept_configs:
        text = f"no row asks about a time after {after}"
        raise UserError(text, where=release, hint="name an earlier day, or a newer release")
    place, written = _place(path, release), out / harness
    if written.exists() and not (written / "squad.py").is_file():
        hint = "name another folder with --out"
        raise UserError("there is something else already", where=written, hint=hint)
    with disk_errors(out), atomic_folder(written) as folder:
        if harness == "lm-eval":
            _write_lm_eval(folder, release, loaded, kept_configs, f"{place}/", after)
        else:
            _write_inspect(folder, release, loaded, kept_configs, place, after)
        if written.exists():
            shutil.rmtree(written)
    return {config.name: sum(rows_left[config.name].values()) for config in kept_configs}


def _left(release: Path, config: HarnessConfig, after: date | None) -> dict[str, int]:
    """Split -> number of rows that ask about a time after the day; all where there is none."""
    counts = {}
    for split, file in config.files.items():
        path = manifest.locate_file(release, file)
        with reading(path) as parquet:
            rows, schema = parquet.metadata.num_rows, parquet.schema_arrow
        counts[split] = rows
        if after is not None:
            days = [day_sql(schema, column) for column in config.roles.time]
            test = f"coalesce({', '.join(days)}) > ?" if days else "? IS NULL"
            query = f"SELECT count(*) FROM {duck.parquet(path)} WHERE {test}"  # noqa: S608 - quoted
            try:
                with duck.connect() as db:
                    row = db.execute(query, [after]).fetchone()
            except duckdb.Error as error:
                raise UserError(str(error).splitlines()[0], where=path) from error
            counts[split] = row[0] if row else 0
    return counts


def column_sql(column: str) -> str:
    """A column in SQL; a dot leads into a struct."""
    return ".".join(map(duck.name, column.split(".")))


def column_type(schema: pa.Schema, column: str) -> pa.DataType:
    """The type of a column; a dot leads into a struct."""
    first, *inside = column.split(".")
    kind = schema.field(first).type
    for name in inside:
        kind = kind.field(name).type
    return kind


def day_sql(schema: pa.Schema, column: str) -> str:
    """A column of days, or of seconds, as a day in SQL."""
    seconds = f"(TIMESTAMP '1970-01-01' + to_seconds({column_sql(column)}))::DATE"
    return seconds if pa.types.is_integer(column_type(schema, column)) else column_sql(column)


def _place(path: str | None, release: Path) -> str:
    """Where the files of a release lie: an absolute folder, or an address of the Hub."""
    if path is None or Path(path).is_dir():
        return (release if path is None else Path(path)).resolve().as_posix()
    if re.fullmatch(r"[\w.-]+/[\w.-]+(@[\w./-]+)?", path):
        return f"hf://datasets/{path}"
    hint = "write a folder, or a dataset of the Hub: me/mine, me/mine@1.0.0"
    raise UserError("neither a folder nor a name on the Hub", where=path, hint=hint)


class _Function(str):
    """A function of a module beside the YAML file, as lm-eval has it: `!function module.name`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """YAML with lm-eval's functions."""


def _scalar(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    lines = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=lines)


_Dumper.add_representer(str, _scalar)
_Dumper.add_representer(_Function, lambda d, name: d.represent_scalar("!function", str(name)))


def _yaml(value: Mapping[str, Any]) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def template_text(text: str) -> str:
    """A template of Jinja that renders as `text`, which may hold words of strangers.

    lm-eval renders a task's description with all of Python at hand, so that a label such as
    `{{ cycler.__init__ }}` would be evaluated. What looks like a template becomes a literal.
    """
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    return f"{{{{ {json.dumps(text, ensure_ascii=False)} }}}}"


def _copy(name: str, folder: Path) -> None:
    """A module that stands alone, word for word: of `builders.release.harness`, or the scores."""
    package = "factdrift.builders." + ("text" if name == "squad.py" else "release.harness")
    text = resources(package).joinpath(name).read_text("utf-8")
    (folder / name).write_text(text, encoding="utf-8")


def _write_lm_eval(
    folder: Path,
    release: Path,
    loaded: Manifest,
    configs: Sequence[HarnessConfig],
    before: str,
    after: date | None,
) -> None:
    """A group of the dataset, one of each config, a task a split; `before` is put before files.

    The group of the dataset has the configs that ask no row twice (`disjoint`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {"version": loaded.version}
    _copy("squad.py", folder)
    for config in configs:
        group = f"{loaded.dataset}-{config.name}"
        words = prompt_frame(release, loaded, config)
        context = f"{{{{ {config.roles.context} or '' }}}}" if config.roles.context else None
        description, lead = template_text(f"{words.heads[ANY_RELATION]}\n\n"), ""
        if len(words.heads) > 1:
            heads = json.dumps(words.heads, ensure_ascii=False)
            lead = f"{{% set heads = {heads} %}}"  # a literal: nothing in it is evaluated
            lead += f"{{{{ heads.get({RELATION}, heads['{ANY_RELATION}']) }}}}\n\n"
            description = ""
        base = {
            "output_type": "generate_until",
            "dataset_path": "parquet",
            "test_split": "test",
            "description": description,
            "doc_to_text": lead + words.filled(f"{{{{ {config.roles.prompt} }}}}", context),
            "doc_to_target": config.roles.targets,
            "generation_kwargs": {
                "until": ["\n"],
                "max_gen_toks": MAX_TOKENS,
                "do_sample": False,
            },
            "num_fewshot": 0,
            "process_results": _Function("squad.process_results"),
            "metric_list": [
                {"metric": name, "aggregation": "mean", "higher_is_better": True}
                for name in ("exact_match", "f1")
            ],
            "metadata": metadata,
        }
        if after:
            base["process_docs"] = _Function("after.keep")
        (folder / f"_{config.name}_yaml").write_text(_yaml(base), encoding="utf-8")
        names = {split: f"{group}-{split}" for split in config.files}
        for split, name in names.items():
            file = {"data_files": {"test": before + config.files[split]}}
            task = {"include": f"_{config.name}_yaml", "task": name, "dataset_kwargs": file}
            (folder / f"{config.name}-{split}.yaml").write_text(_yaml(task), encoding="utf-8")
        means = [{"metric": name, "weight_by_size": True} for name in ("exact_match", "f1")]
        group_tasks = {"task": list(names.values()), "aggregate_metric_list": means}
        text = _yaml({"group": group, **group_tasks, "metadata": metadata})
        (folder / f"{config.name}.yaml").write_text(text, encoding="utf-8")
    groups = [f"{loaded.dataset}-{config.name}" for config in without_repeats(release, configs)]
    text = _yaml({"group": loaded.dataset, "task": groups, "metadata": metadata})
    (folder / f"{loaded.dataset}.yaml").write_text(text, encoding="utf-8")
    if after:
        _copy("after.py", folder)
        time = list(dict.fromkeys(column for config in configs for column in config.roles.time))
        manifest.write_json(folder / "after.json", {"after": after.isoformat(), "time": time})


def _write_inspect(
    folder: Path,
    release: Path,
    loaded: Manifest,
    configs: Sequence[HarnessConfig],
    data: str,
    after: date | None,
) -> None:
    """One module that asks any config, and `tasks.json` with what it has to know."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ask.py", "squad.py", "after.py"):
        _copy(name, folder)
    described = {
        "dataset": loaded.dataset,
        "version": loaded.version,
        "data": data,
        "after": after.isoformat() if after else "",
        "max_tokens": MAX_TOKENS,
        "configs": {
            config.name: {
                "prompt": config.roles.prompt,
                "targets": config.roles.targets,
                "context": config.roles.context,
                "time": list(config.roles.time),
                "subject": config.roles.subject,
                "strata": list(config.roles.strata),
                "relation": RELATION if len(words.heads) > 1 else None,
                "heads": dict(words.heads),
                "layout": words.layout,
                "files": dict(config.files),
            }
            for config in configs
            for words in [prompt_frame(release, loaded, config)]
        },
    }
    manifest.write_json(folder / "tasks.json", described)
