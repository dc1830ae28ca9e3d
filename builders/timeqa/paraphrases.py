"""Questions in people's words, from the gold rows of the layout `paraphrase`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.dataset as ds

from builders import rows
from builders.gold import told
from builders.store import row_id
from builders.timeqa import wording

LAYOUT = "paraphrase"
_BATCH = 64
_OWN = tuple(f.name for f in fields(rows.TimeQuestion) if f.name not in ("id", "question"))


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """One rewording of a question that somebody was shown."""

    text: str
    shown: str
    dataset: str


class Paraphrases:
    """Paraphrases by the id of their question; `counts` takes what becomes of them.

    Counted: `taken`, a decision other than `accepted`, `not_understood`, `no_such_row`, `changed`
    (people were shown another text under this id), `same_text`, `gives_answer`.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._of: dict[str, list[Paraphrase]] = {}

    def add(self, gold: rows.Gold) -> None:
        """Take the paraphrases of a gold row."""
        if gold.decision != "accepted":
            self._counts[gold.decision] += 1
            return
        answers, shown = told(gold) or ({}, {})
        given = answers.get("paraphrase")
        texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        told_of = shown.get("question")
        clean = [" ".join(t.split()) for t in texts if isinstance(t, str) and t.strip()]
        if not clean or len(clean) < len(texts) or not isinstance(told_of, str):
            self._counts["not_understood"] += 1
            return
        known = self._of.setdefault(gold.row, [])
        known += [Paraphrase(t, told_of, gold.dataset) for t in dict.fromkeys(clean)]

    def of(self, tables: Sequence[Path]) -> Iterator[rows.ParaphrasedQuestion]:
        """Paraphrased questions, those of the first table that has an id first.

        Memory holds a few questions with their pages.
        """
        waiting = {row: tuple(dict.fromkeys(given)) for row, given in self._of.items()}
        for path in tables:
            if not waiting:
                return
            chosen = pc.field("id").isin(sorted(waiting))
            scanner = ds.dataset(path, format="parquet").scanner(
                filter=chosen, batch_size=_BATCH, batch_readahead=1, fragment_readahead=1
            )
            for batch in scanner.to_batches():
                for row in batch.to_pylist():
                    yield from self._made(row, waiting.pop(row["id"], ()))
        self._counts["no_such_row"] += sum(map(len, waiting.values()))

    def _made(
        self, row: dict[str, Any], given: Sequence[Paraphrase]
    ) -> Iterator[rows.ParaphrasedQuestion]:
        seen = {row["question"]}
        for one in given:
            reason = "taken"
            if one.shown != row["question"]:
                reason = "changed"
            elif one.text in seen:
                reason = "same_text"
            elif _gives_away(row, one.text):
                reason = "gives_answer"
            self._counts[reason] += 1
            seen.add(one.text)
            if reason == "taken":
                yield _row(row, one)


def _row(row: dict[str, Any], one: Paraphrase) -> rows.ParaphrasedQuestion:
    values = {name: row[name] for name in _OWN}
    values["answers"] = rows.Spans(
        tuple(row["answers"]["text"]), tuple(row["answers"]["answer_start"])
    )
    values["objects"] = tuple(
        rows.Answer(o["id"], o["label"], tuple(o["aliases"])) for o in row["objects"]
    )
    values |= {name: tuple(row[name]) for name in ("rules", "paragraphs")}
    return rows.ParaphrasedQuestion(
        id=row_id(row["id"], "paraphrase", one.text),
        question=one.text,
        **values,
        paraphrase_of=row["id"],
        templated=row["question"],
        shown_from=one.dataset,
    )


def _gives_away(row: dict[str, Any], text: str) -> bool:
    """Whether a paraphrase has the name of an answer that the question did not have."""
    now, before = (f" {' '.join(wording.tokens(t))} " for t in (text, row["question"]))
    return any(
        span in now and span not in before
        for o in row["objects"]
        for span in wording.names(o["label"], tuple(o["aliases"])).spans
    )
