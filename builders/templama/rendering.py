"""From deltas to cloze rows: every template variant of every comparison."""

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
from factdrift.builders.rows import Cloze
from factdrift.builders.text.prompts import in_period, on_day, targets
from factdrift.builders.text.render import query
from factdrift.builders.text.views import Views


class ClozeRenderer:
    """Makes `rows.Cloze` of `rows.NamedDelta`, one row a variant, in the order of the input.

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

    def file(self, named: Path, out: Path) -> None:
        """Write the cloze rows of a Parquet file of `rows.NamedDelta`, batch by batch."""
        with (
            reading(named) as file,
            pq.ParquetWriter(out, arrow_schema(Cloze)) as writer,
        ):
            for batch in file.iter_batches(4096):
                writer.write_batch(self.batch(batch.to_pylist()))

    def batch(self, deltas: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
        """The cloze rows of some deltas."""
        if self.counter:
            self.counter.counts(a["label"] for delta in deltas for a in delta["names"])
        rows = [row for delta in deltas for row in self._variants(delta)]
        return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(Cloze))

    def _variants(self, delta: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        relation, names = self.relations[delta["relation"]], {a["id"]: a for a in delta["names"]}
        period = Period(self.granularity, delta["period"])
        answers = [names[i] for i in delta["answers"]]
        possible = [names[i] for i in delta["possible_answers"]]
        # The gold answers of `deleted` are those of the period before: that is when they are right.
        asked = period + -1 if delta["split"] == "deleted" else period
        # At the end of a period only what came is asked for; what stayed is right and known before.
        asks_new = self.at == "end" and delta["split"] == "updated"
        came = [a for a in answers if not asks_new or a["id"] in delta["added"]]
        labels = [a["label"] for a in came]
        common = {
            **{c: delta[c] for c in _COPIED},
            "relation_label": relation.label,
            "period": str(period),
            "period_first": period.first,
            "period_last": period.last,
            "targets": targets(labels, *(a["aliases"] for a in came), _forms(possible)),
            "answers": answers,
            "still_true": [a for a in answers if a not in came],
            "previous_answers": [names[i] for i in delta["previous_answers"]],
            "possible_answers": possible,
            **self.views.of(self.counter, labels),
        }
        for template, text in relation.cloze.items():
            blanked = query(text, delta["subject_label"], self.blank)
            yield common | {
                "id": row_id(delta["subject"], delta["relation"], template, period),
                "prompt": on_day(blanked, asked.last)
                if self.at == "end"
                else in_period(blanked, asked),
                "template": template,
                "query": blanked,
            }


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
