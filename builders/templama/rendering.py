"""From deltas to cloze rows: every template variant of every comparison."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import arrow_schema, reading
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.facts.timeline import At
from factdrift.builders.rows import Cloze, ParaphraseCloze
from factdrift.builders.text.dates import written
from factdrift.builders.text.prompts import in_period, on_day, targets
from factdrift.builders.text.prompts import period_in_words as in_words
from factdrift.builders.text.render import query, question
from factdrift.builders.text.views import Views


class ClozeRenderer:
    """Makes `rows.Cloze` of `rows.NamedDelta`, in the order of the input.

    The rows of one batch are counted together.
    """

    def __init__(
        self,
        relations: Mapping[str, ClozeTemplates],
        granularity: Granularity,
        blank: str,
        views: Views,
        *,
        at: At,
    ) -> None:
        self.relations = relations
        self.granularity = granularity
        self.blank = blank
        self.views = views
        self.at = at
        self.counter = views.counter()

    def file(self, named: Path, out: Path, paraphrases: Path) -> None:
        """Write the rows of a Parquet file of `rows.NamedDelta`, batch by batch.

        `out`: one row a comparison (`rows.Cloze`); `paraphrases`: its other wordings
        (`rows.ParaphraseCloze`).
        """
        with (
            reading(named) as file,
            pq.ParquetWriter(out, arrow_schema(Cloze)) as first,
            pq.ParquetWriter(paraphrases, arrow_schema(ParaphraseCloze)) as others,
        ):
            for batch in file.iter_batches(4096):
                deltas = batch.to_pylist()
                if self.counter:
                    self.counter.counts(a["label"] for delta in deltas for a in delta["names"])
                asked = [self.wordings(delta) for delta in deltas]
                for writer, kind, rows in (
                    (first, Cloze, [some[0] for some in asked]),
                    (others, ParaphraseCloze, [row for some in asked for row in some[1:]]),
                ):
                    writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=arrow_schema(kind)))

    def wordings(self, delta: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows of a comparison: the wording that is asked, and the others.

        That is the first of the template, where several answers are right the first that does not
        read as if there were one.
        """
        made = list(self._variants(delta))
        several = len(made[0]["answers"]) > 1
        texts = self.relations[delta["relation"]].cloze
        plain = [row for row in made if not (several and _ONE.match(texts[row["template"]]))]
        first = (plain or made)[0]
        return [first, *(row | {"cloze": first["id"]} for row in made if row is not first)]

    def _variants(self, delta: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        relation, names = self.relations[delta["relation"]], {a["id"]: a for a in delta["names"]}
        period = Period(self.granularity, delta["period"])
        answers = [names[i] for i in delta["answers"]]
        possible = [names[i] for i in delta["possible_answers"]]
        # The gold answers of `deleted` are those of the period before: that is when they are right.
        asked = period + -1 if delta["split"] == "deleted" else period
        # At the end of a period only what came is asked for; what stayed is right and known before.
        came = [a for a in answers if a["id"] not in delta["still_true"]]
        labels = [a["label"] for a in came]
        common = {
            **{c: delta[c] for c in _COPIED},
            "relation_label": relation.label,
            "period": str(period),
            "period_first": period.first,
            "period_last": period.last,
            "question": self._question(relation, delta["subject_label"], asked),
            "targets": targets(labels, *(a["aliases"] for a in came), _forms(possible)),
            "answers": answers,
            "still_true": [a for a in answers if a not in came],
            "previous_answers": [names[i] for i in delta["previous_answers"]],
            "possible_answers": possible,
            **self.views.of(self.counter, labels),
        }
        for template, text in relation.cloze.items():
            blanked = query(text, delta["subject_label"], self.blank, relation.articles)
            yield common | {
                "id": row_id(delta["subject"], delta["relation"], template, period),
                "prompt": on_day(blanked, asked.last)
                if self.at == "end"
                else in_period(blanked, asked),
                "template": template,
                "query": blanked,
            }

    def _question(self, relation: ClozeTemplates, subject: str, asked: Period) -> str | None:
        if relation.ask is None:
            return None
        time = f"on {written(asked.last)}" if self.at == "end" else f"in {in_words(asked)}"
        return question(relation.ask, subject, time, relation.articles)


_ONE = re.compile(r"(?:The .* is <(?:the |an? )?object>|It is )")
"""A sentence that reads as if there were one answer."""


def _forms(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The labels of some answers, then their aliases."""
    return [a["label"] for a in answers] + [form for a in answers for form in a["aliases"]]


_COPIED = (
    "subject",
    "subject_label",
    "relation",
    "split",
    "added",
    "removed",
    "sitelinks",
    "statements",
    "subject_facts",
)
