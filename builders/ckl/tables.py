"""Writing what a step came to, sorted, and counting it for the card."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from builders.dataset import Figure, Scalar
from builders.rows import Dropped
from builders.run import Run
from builders.schema import writing
from builders.store import Made
from builders.wikidata import steps

COUNTS = "counts.json"


def save(path: Path, row: type, found: Iterable[Any]) -> None:
    """Write rows that fit into memory, sorted by id."""
    with writing(path, row) as file:
        for one in sorted(found, key=attrgetter("id")):
            file.append(one)


def save_dropped(path: Path, found: Iterable[Dropped]) -> None:
    """Write dropped rows, sorted."""
    order = attrgetter("step", "reason", "item")
    with writing(path, Dropped) as file:
        for one in sorted(found, key=lambda d: (order(d), d.detail or "")):
            file.append(one)


def sort(run: Run, loose: Path, row: type, path: Path, order: Sequence[str]) -> None:
    """Sort a table of any size into another, and take the first away."""
    with steps.open_engine(run) as eng:
        eng.write(eng.read(loose, row), path, row, order)
    loose.unlink()


def save_counts(out: Path, counts: Mapping[str, int]) -> None:
    """Keep what a step counted."""
    (out / COUNTS).write_text(json.dumps(counts, indent=1), "utf-8")


def left_out(*steps: tuple[str, Iterable[Dropped]]) -> dict[str, int]:
    """How many rows each step left out, by step and reason."""
    return {f"{step}: {why}": n for step, some in steps for why, n in reasons(some).items()}


def counts(made: Made) -> dict[str, int]:
    """What a step counted."""
    found: dict[str, int] = json.loads((made.path / COUNTS).read_text("utf-8"))
    return found


def funnel(name: str, title: str, found: Mapping[str, int], caption: str) -> Figure:
    """Counts as a figure, in their order."""
    made: list[Mapping[str, Scalar]] = [{"what": what, "rows": n} for what, n in found.items()]
    return Figure(name, title, made, caption)


def reasons(found: Iterable[Dropped]) -> dict[str, int]:
    """How many rows each reason took, by name."""
    return dict(sorted(Counter(one.reason for one in found).items()))
