"""Annotators' answers, out of the JSON of their gold rows, and small things about texts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from factdrift.builders.rows import Dropped, Gold
from factdrift.builders.rows.gold import gold_answers, read_gold

Answers = Mapping[str, Any]
T = TypeVar("T")
R = TypeVar("R")

BLANK = "[BLANK]"
"""The mask, as annotators write and see it."""


class DropError(Exception):
    """Raised where a row has to be left out: a short reason, and the words that decided it."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail

    def row(self, step: str, item: str) -> Dropped:
        """The row of `dropped.parquet`."""
        detail = self.detail and self.detail[:160]
        return Dropped(step, self.reason, item, None, None, None, None, detail)


_Place = Annotated[int, msgspec.Meta(ge=0)]


class MarkedText(msgspec.Struct, frozen=True):
    """Marked characters of a text; `paragraph` is None where it has no paragraphs."""

    start: _Place
    end: _Place
    text: str
    paragraph: _Place | None = None


def answers_and_fields(gold: Gold) -> tuple[Answers, Answers]:
    """The answers of a gold row and what people saw; `DropError`: they cannot be read."""
    found = gold_answers(gold)
    if not any(found):
        raise DropError("damaged_gold", "the answers or what was shown is no JSON object")
    return found


def accepted_answers(gold: Gold) -> tuple[Answers, Answers]:
    """The same; `DropError` with its decision where it was not accepted."""
    if gold.decision != "accepted":
        raise DropError(gold.decision)
    return answers_and_fields(gold)


def answers_by_worker(answers: Answers) -> list[dict[str, Any]]:
    """The answers of each worker: a list has one of each worker, a value is of all of them."""
    sizes = {len(value) for value in answers.values() if isinstance(value, list)}
    if len(sizes) > 1 or 0 in sizes:
        raise DropError("damaged_gold", "answers of different numbers of workers")
    number = sizes.pop() if sizes else 1
    return [
        {name: value[n] if isinstance(value, list) else value for name, value in answers.items()}
        for n in range(number)
    ]


def agreed_text(answers: Answers, name: str) -> str | None:
    """The text that all workers gave; None: not asked. `DropError`: they differ, or no text."""
    value = answers.get(name)
    if isinstance(value, list):
        if any(text != value[0] for text in value[1:]):
            raise DropError("contradictory", f"{name}: workers differ")
        value = value[0] if value else None
    if value is not None and single_line(value) is None:
        raise DropError("damaged_gold", f"{name} is no text")
    return single_line(value)


def most_common_text(answers: Answers, name: str) -> str | None:
    """The text that most workers gave; of equally frequent ones the first by the alphabet."""
    value = answers.get(name)
    texts = [single_line(text) for text in (value if isinstance(value, list) else [value])]
    counts = Counter(text for text in texts if text is not None)
    return min(counts, key=lambda text: (-counts[text], text), default=None)


def required_text(answers: Answers, name: str) -> str:
    """A text that has to be there."""
    found = single_line(answers.get(name))
    if found is None:
        raise DropError(f"missing_{name}")
    return found


def marked_text(value: object) -> MarkedText | None:
    """A marked span; None for anything else. Of several the first."""
    one = value[0] if isinstance(value, list) and value else value
    try:
        return msgspec.convert(one, MarkedText)
    except msgspec.ValidationError:
        return None


def make_or_drop(
    step: str, named: Iterable[tuple[str, T]], make: Callable[[T], R], dropped: list[Dropped]
) -> list[R]:
    """What `make` makes of each; `dropped` gets those that it refuses with a `DropError`."""
    found = []
    for name, one in named:
        try:
            found.append(make(one))
        except DropError as why:
            dropped.append(why.row(step, name))
    return found


def read_each_row_once(
    files: Sequence[Path], layout: str, step: str, read: Callable[[Gold], R]
) -> tuple[list[R], list[Dropped]]:
    """What `read` makes of each gold row of a layout, and the refused ones; each row once."""
    dropped: list[Dropped] = []
    seen: set[str] = set()

    def once(gold: Gold) -> R:
        if gold.row in seen:
            raise DropError("duplicate")
        seen.add(gold.row)
        return read(gold)

    named = ((gold.row, gold) for gold in read_gold(files, layout))
    return make_or_drop(step, named, once, dropped), dropped


def single_line(value: object) -> str | None:
    """A text on one line without white space around it; None for what is no text or empty."""
    return " ".join(value.split()) or None if isinstance(value, str) else None


def opened_passages(searches: Sequence[Any], shown: Sequence[Any]) -> list[dict[str, str]]:
    """The passages that an expert opened in searches, each once, that were not `shown` before."""
    found: dict[str, dict[str, str]] = {}
    known = {one.get("id") for one in shown if isinstance(one, Mapping)}
    for search in searches:
        for one in search.get("opened") or () if isinstance(search, Mapping) else ():
            if isinstance(one, Mapping) and one.get("id") not in known:
                found.setdefault(str(one.get("id")), dict(one))
    return [*found.values()]


def word_places(word: str, text: str) -> list[int]:
    """Where `word` stands in `text` as whole words, as it is written."""
    return [m.start() for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
