"""Read annotators' answers from the JSON of their gold rows, and find words in texts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from factdrift.builders.rows import Dropped, Gold
from factdrift.builders.rows.gold import gold_answers, read_gold

_DROP_REASONS = tuple(
    f"missing_{answer}"
    for answer in (
        *("cloze", "edited", "question"),  # of `ckl_question`
        *("evidence", "other_answer", "other_evidence"),  # of `ckl_expert`
    )
)
"""The drop reasons of answers that `required_text` and marks of experts need."""
Answers = Mapping[str, Any]
T = TypeVar("T")
R = TypeVar("R")

_DETAIL_CHARACTERS = 160
"""Enough for a sentence: details are for reading, and the row can be looked up by its id."""
BLANK = "[BLANK]"
"""The mask, as annotators write and see it."""
# a mask with the kind of its answer, `[BLANK-PERSON]`; not `[BLANK]` or `[PERSON]`
_TYPED_BLANK = re.compile(r"\[BLANK-[A-Z]+\]")


def typed_blank(kind: str) -> str:
    """The mask of an answer of a kind: `[BLANK-PERSON]`."""
    return f"[BLANK-{kind}]"


def plain_blanks(statement: str) -> str:
    """A statement with a plain mask for each one that says the kind of its answer."""
    return _TYPED_BLANK.sub(BLANK, statement)


class DropError(Exception):
    """A row has to be left out: `reason` is its drop reason, `detail` the words that decided it."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail

    def row(self, step: str, item: str) -> Dropped:
        """The row of `dropped.parquet` for an item that this error left out."""
        detail = self.detail and self.detail[:_DETAIL_CHARACTERS]
        return Dropped(step, self.reason, item, None, None, None, None, detail)


_Place = Annotated[int, msgspec.Meta(ge=0)]


class MarkedText(msgspec.Struct, frozen=True):
    """A mark in a text, by characters; `paragraph` is None where the text has no paragraphs."""

    start: _Place
    end: _Place
    text: str
    paragraph: _Place | None = None


def answers_and_fields(gold: Gold) -> tuple[Answers, Answers]:
    """Return the answers of a gold row and the fields that people saw.

    `DropError` where they cannot be read.
    """
    answers_and_seen = gold_answers(gold)
    if not any(answers_and_seen):
        raise DropError("damaged_gold", "the answers or what was shown is no JSON object")
    return answers_and_seen


def accepted_answers(gold: Gold) -> tuple[Answers, Answers]:
    """Return the same of an accepted row; `DropError` with the decision as reason of any other."""
    if gold.decision != "accepted":
        raise DropError(gold.decision)
    return answers_and_fields(gold)


def answers_by_worker(answers: Answers) -> list[dict[str, Any]]:
    """Split the answers of a row by worker.

    An answer that is a list has an entry for each worker; any other value is what all of them
    said. `DropError` where lists have different lengths.
    """
    sizes = {len(value) for value in answers.values() if isinstance(value, list)}
    if len(sizes) > 1 or 0 in sizes:
        raise DropError("damaged_gold", "answers of different numbers of workers")
    worker_count = sizes.pop() if sizes else 1
    return [
        {
            answer_name: value[worker] if isinstance(value, list) else value
            for answer_name, value in answers.items()
        }
        for worker in range(worker_count)
    ]


def agreed_text(answers: Answers, name: str) -> str | None:
    """Return the text that all workers gave, or None where it was not asked for.

    `DropError` where they differ, or gave something else than a text.
    """
    value = answers.get(name)
    if isinstance(value, list):
        if any(text != value[0] for text in value[1:]):
            raise DropError("contradictory", f"{name}: workers differ")
        value = value[0] if value else None
    if value is not None and single_line(value) is None:
        raise DropError("damaged_gold", f"{name} is no text")
    return single_line(value)


def most_common_text(answers: Answers, name: str) -> str | None:
    """Return the text that most workers gave; of equally frequent ones the first in order."""
    value = answers.get(name)
    texts = [single_line(text) for text in (value if isinstance(value, list) else [value])]
    counts = Counter(text for text in texts if text is not None)
    return min(counts, key=lambda text: (-counts[text], text), default=None)


def required_text(answers: Answers, name: str) -> str:
    """Return an answer that has to be a text; `DropError` where it is missing."""
    text = single_line(answers.get(name))
    if text is None:
        raise DropError(f"missing_{name}")
    return text


def marked_text(value: object) -> MarkedText | None:
    """Read a mark, of several the first; None where the answer is no mark."""
    mark = value[0] if isinstance(value, list) and value else value
    try:
        return msgspec.convert(mark, MarkedText)
    except msgspec.ValidationError:
        return None


def make_or_drop(
    step: str, named_values: Iterable[tuple[str, T]], make: Callable[[T], R], dropped: list[Dropped]
) -> list[R]:
    """Call `make` with each value and return its results.

    Values that it refuses with a `DropError` are added to `dropped` under their names.
    """
    results = []
    for name, argument in named_values:
        try:
            results.append(make(argument))
        except DropError as refusal:
            dropped.append(refusal.row(step, name))
    return results


def read_each_row_once(
    files: Sequence[Path], layout: str, step: str, read: Callable[[Gold], R]
) -> tuple[list[R], list[Dropped]]:
    """Read each gold row of a layout; return the results, and the drops of the refused rows.

    A row that comes a second time is refused as `duplicate`.
    """
    dropped: list[Dropped] = []
    seen_rows: set[str] = set()

    def read_new_row(gold: Gold) -> R:
        if gold.row in seen_rows:
            raise DropError("duplicate")
        seen_rows.add(gold.row)
        return read(gold)

    named_rows = ((gold.row, gold) for gold in read_gold(files, layout))
    return make_or_drop(step, named_rows, read_new_row, dropped), dropped


def single_line(value: object) -> str | None:
    """Return a text on one line, without outer white space; None where it is no text, or empty."""
    return " ".join(value.split()) or None if isinstance(value, str) else None


def opened_passages(searches: Sequence[Any], known_passages: Sequence[Any]) -> list[dict[str, str]]:
    """Return the passages that an expert opened in searches, each once, without the known ones."""
    opened: dict[str, dict[str, str]] = {}
    known_ids = {passage.get("id") for passage in known_passages if isinstance(passage, Mapping)}
    for search in searches:
        for passage in search.get("opened") or () if isinstance(search, Mapping) else ():
            if isinstance(passage, Mapping) and passage.get("id") not in known_ids:
                opened.setdefault(str(passage.get("id")), dict(passage))
    return [*opened.values()]


def word_places(word: str, text: str) -> list[int]:
    """Return the offsets at which `word` stands in `text`, as whole words and in the same case."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
