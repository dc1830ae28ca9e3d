"""What people said of a row, out of the JSON of its gold row."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from builders.ckl.texts import plain
from builders.gold import read_gold
from builders.rows import Dropped, Gold
from builders.run import Run

Answers = Mapping[str, Any]
Found = TypeVar("Found")


class DropError(Exception):
    """Why a row is left out: a short reason, and what was seen."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail

    def row(self, step: str, item: str) -> Dropped:
        """It as a row of `dropped.parquet`."""
        detail = self.detail and self.detail[:160]
        return Dropped(step, self.reason, item, None, None, None, None, detail)


class Span(NamedTuple):
    """Marked characters of a text; `paragraph` is None where it has no paragraphs."""

    paragraph: int | None
    start: int
    end: int
    text: str


def loaded(text: str, what: str) -> Answers:
    """The object that a column of a gold row holds; `DropError`: it holds none."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DropError("damaged_gold", f"{what} is no JSON object")
    return value


def accepted(gold: Gold) -> Gold:
    """The gold row; `DropError` with its decision where it was not accepted."""
    if gold.decision != "accepted":
        raise DropError(gold.decision)
    return gold


def each(answers: Answers) -> list[dict[str, Any]]:
    """The answers of each worker: a list has one of each worker, a value is of all of them."""
    sizes = {len(value) for value in answers.values() if isinstance(value, list)}
    if len(sizes) > 1 or 0 in sizes:
        raise DropError("damaged_gold", "answers of different numbers of workers")
    number = sizes.pop() if sizes else 1
    return [
        {name: value[n] if isinstance(value, list) else value for name, value in answers.items()}
        for n in range(number)
    ]


def agreed(answers: Answers, name: str) -> str | None:
    """The one text that all gave; None: not asked. `DropError`: they differ, or it is no text."""
    value = answers.get(name)
    if isinstance(value, list):
        if any(one != value[0] for one in value[1:]):
            raise DropError("contradictory", f"{name}: workers differ")
        value = value[0] if value else None
    if value is not None and plain(value) is None:
        raise DropError("damaged_gold", f"{name} is no text")
    return plain(value)


def usual(answers: Answers, name: str) -> str | None:
    """Of a free answer the text that most gave, or the first of those by the alphabet."""
    value = answers.get(name)
    some = [plain(one) for one in (value if isinstance(value, list) else [value])]
    counts = Counter(one for one in some if one is not None)
    return min(counts, key=lambda text: (-counts[text], text), default=None)


def needed(answers: Answers, name: str) -> str:
    """A text that has to be there."""
    found = plain(answers.get(name))
    if found is None:
        raise DropError(f"missing_{name}")
    return found


def span(value: object) -> Span | None:
    """A marked span; None for anything else. Of several the first."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        return None
    paragraph, start, end = (value.get(key) for key in ("paragraph", "start", "end"))
    if not _whole(start) or not _whole(end) or not (paragraph is None or _whole(paragraph)):
        return None
    return Span(paragraph, start, end, value["text"])  # type: ignore[arg-type]


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def each_row(
    run: Run, layout: str, step: str, read: Callable[[Gold], Found]
) -> tuple[list[Found], list[Dropped]]:
    """What `read` makes of the gold rows of a layout, of each row once, and those it refuses."""
    found: list[Found] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    for gold in read_gold(run.inputs["gold"].files, layout):
        try:
            if gold.row in seen:
                raise DropError("duplicate")
            seen.add(gold.row)
            found.append(read(gold))
        except DropError as why:
            dropped.append(why.row(step, gold.row))
    return found, dropped
