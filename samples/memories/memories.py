"""Two memories on a stream of dated passages: one keeps what it heard last, one keeps its days.

    python samples/memories/memories.py stream.jsonl OUT

writes `OUT/last.jsonl` and `OUT/validity.jsonl`, predictions for `factdrift score`. Both take the
facts of the passages from their fields; a memory of yours reads `text`.
"""

import json
import sys
from pathlib import Path
from typing import Any, Protocol

Line = dict[str, Any]


class Memory(Protocol):
    """What hears passages in the order of the stream, and is asked in between."""

    def hear(self, passage: Line) -> None: ...

    def answer(self, question: Line) -> str: ...


class Last:
    """A key-value store: of each subject and relation what it heard last."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], str] = {}

    def hear(self, passage: Line) -> None:
        self._held[passage["subject"], passage["relation"]] = passage["object"]

    def answer(self, question: Line) -> str:
        return self._held.get((question["subject"], question["relation"]), "")


class Validity:
    """All that it heard with the day since when it is so; answers with what began last by then."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[tuple[str, str]]] = {}

    def hear(self, passage: Line) -> None:
        key = passage["subject"], passage["relation"]
        self._held.setdefault(key, []).append((passage["since"], passage["object"]))

    def answer(self, question: Line) -> str:
        facts = self._held.get((question["subject"], question["relation"]), [])
        return max((fact for fact in facts if fact[0] <= question["as_of"]), default=("", ""))[1]


def run(stream: Path, out: Path, memory: Memory) -> None:
    """Send a stream through a memory; its answers go to `out`."""
    with stream.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as file:
        for text in lines:
            line = json.loads(text)
            if line["kind"] == "passage":
                memory.hear(line)
            else:
                found = {"id": line["id"], "prediction": memory.answer(line)}
                file.write(json.dumps(found, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    stream, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    run(stream, out / "last.jsonl", Last())
    run(stream, out / "validity.jsonl", Validity())
