"""How the answer to a row is judged in a harness: by the code that `factdrift score` judges by.

That code is `squad.py` beside this file. `tasks.json` says which columns hold what was right before
and after the time asked about, and `earlier.parquet`, where there is one, what the facts' other
rows accept at earlier times.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
OF_CONFIG = "config_"
"""What stands before the name of a config in the name of its function."""


def _beside(name: str) -> ModuleType:
    """A module of this folder; lm-eval does not put the folder on the path."""
    spec = spec_from_file_location(name, HERE / f"{name}.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


after, squad = _beside("after"), _beside("squad")
CONFIGS: Mapping[str, Any] = json.loads((HERE / "tasks.json").read_text("utf-8"))["configs"]


def answers_of(row: Mapping[str, Any], config: str) -> dict[str, list[str]]:
    """The names that a row's answer is compared with: `targets`, `previous`, `later`, `neutral`."""
    columns = CONFIGS[config]
    names = {
        role: names_in(after.inside(row, columns[role])) if columns[role] else []
        for role in ("targets", "previous", "later", "neutral")
    }
    names["previous"] += earlier_names(row, columns)
    return names


def names_in(value: Any) -> list[str]:
    """The names in a column: of a text, an item with label and aliases, or a list of these."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return names_in(value["label"]) + names_in(value["aliases"])
    return [name for part in value for name in names_in(part)]


def earlier_names(row: Mapping[str, Any], columns: Mapping[str, Any]) -> list[str]:
    """The names that rows of the same fact accept at an earlier time."""
    day = after.time_of(row, columns["time"])
    parts = [after.inside(row, column) for column in columns["history"]]
    if day is None or not parts or None in parts:
        return []
    return names_before("\t".join(map(str, parts)), day)


def names_before(history: str, day: date) -> list[str]:
    """The names of a fact, by the key of its history, that held before a day."""
    table = _earlier_table()
    if table is None:
        return []
    keys = table.column("history")
    place = bisect_left(keys, history, key=lambda key: key.as_py())
    if place == len(keys) or keys[place].as_py() != history:
        return []
    names = table.column("names")[place].as_py()
    return [name["name"] for name in names if name["day"] < day]


@cache
def _earlier_table() -> Any:
    """The names by history, in the order of their keys; None where no fact had several answers."""
    path = HERE / "earlier.parquet"
    if not path.exists():
        return None
    import pyarrow.parquet as pq

    return pq.read_table(path).combine_chunks()


def marks_of(answer: str, names: Mapping[str, list[str]]) -> dict[str, float]:
    """What an answer scores, each metric where it can be had; nothing for a neutral answer."""
    marks: dict[str, float] = squad.marks(answer, **names)
    return marks


def __getattr__(name: str) -> Callable[..., dict[str, float]]:
    """`config_NAME` is what lm-eval calls with a row of a config and the outputs of a model."""
    config = name.removeprefix(OF_CONFIG)
    if name == config or config not in CONFIGS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def process_results(doc: Mapping[str, Any], results: list[str]) -> dict[str, float]:
        return marks_of(results[0].strip(), answers_of(doc, config))

    return process_results
