"""From comparisons to cloze rows: every template variant of each."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import arrow_schema, reading
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.rows import Cloze, ParaphraseCloze
from factdrift.builders.templama.steps import PeriodChanges
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.prompts import in_period, merge_targets, on_day
from factdrift.builders.text.prompts import period_in_words as in_words
from factdrift.builders.text.render import query, question
from factdrift.builders.text.tokens import TokenCounter
from factdrift.builders.text.views import ViewSettings


class ClozeRows(Step):
    """The comparisons as cloze rows: `cloze.parquet` (`rows.Cloze`), one each.

    `paraphrases.parquet` (`rows.ParaphraseCloze`) holds the other wordings. `templates`: property
    id -> label, cloze sentences and a question.
    """

    name: ClassVar[str] = "cloze"

    changes: PeriodChanges
    templates: Mapping[str, ClozeTemplates]
    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Render every comparison with every template of its relation, batch by batch."""
        counter = self.views.counter()
        kinds = {out / "cloze.parquet": Cloze, out / "paraphrases.parquet": ParaphraseCloze}
        with ExitStack() as stack:
            deltas_path = workspace.folder(self.changes) / "deltas.parquet"
            file = stack.enter_context(reading(deltas_path))
            writers = [
                stack.enter_context(pq.ParquetWriter(path, arrow_schema(kind)))
                for path, kind in kinds.items()
            ]
            for batch in file.iter_batches(4096):
                deltas = batch.to_pylist()
                if counter:
                    counter.counts(answer["label"] for delta in deltas for answer in delta["names"])
                wordings = [self._wordings(delta, counter) for delta in deltas]
                firsts = [variants[0] for variants in wordings]
                paraphrases = [row for variants in wordings for row in variants[1:]]
                for writer, rows in zip(writers, (firsts, paraphrases), strict=True):
                    writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=writer.schema))

    def _wordings(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> list[dict[str, Any]]:
        """The rows of a comparison: the wording that is asked, and the others.

        That is the first of the template, where several answers are right the first that does not
        read as if there were one.
        """
        variants = list(self._variants(delta, counter))
        several = len(variants[0]["answers"]) > 1
        texts = self.templates[delta["relation"]].cloze
        neutral_variants = [
            row for row in variants if not (several and _ONE_ANSWER.match(texts[row["template"]]))
        ]
        first = (neutral_variants or variants)[0]
        return [first, *(row | {"cloze": first["id"]} for row in variants if row is not first)]

    def _variants(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> Iterator[dict[str, Any]]:
        """A row for each cloze sentence of the relation."""
        relation, subject = self.templates[delta["relation"]], delta["subject_label"]
        period = Period(self.changes.granularity, delta["period"])
        # The gold answers of `deleted` are those of the period before: that is when they are right.
        asked_period = period + -1 if delta["split"] == "deleted" else period
        at_end = self.changes.at == "end"
        time = f"on {format_date(asked_period.last)}" if at_end else f"in {in_words(asked_period)}"
        common = {
            **{column: delta[column] for column in _COPIED},
            "relation_label": relation.label,
            "period": str(period),
            "period_first": period.first,
            "period_last": period.last,
            "question": relation.ask and question(relation.ask, subject, time, relation.articles),
            **self._answer_columns(delta, counter),
        }
        for template, text in relation.cloze.items():
            blanked = query(text, subject, self.blank, relation.articles)
            yield common | {
                "id": row_id(delta["subject"], delta["relation"], template, period),
                "prompt": (
                    on_day(blanked, asked_period.last)
                    if at_end
                    else in_period(blanked, asked_period)
                ),
                "template": template,
                "query": blanked,
            }

    def _answer_columns(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> dict[str, Any]:
        """The columns that say what is right and what else is accepted, and those of the views."""
        names = {answer["id"]: answer for answer in delta["names"]}
        answers = [names[item] for item in delta["answers"]]
        possible = [names[item] for item in delta["possible_answers"]]
        # At the end of a period only what came is asked for; what stayed is right and known before.
        new_answers = [answer for answer in answers if answer["id"] not in delta["still_true"]]
        labels = [answer["label"] for answer in new_answers]
        return {
            "targets": merge_targets(
                labels,
                *(answer["aliases"] for answer in new_answers),
                [answer["label"] for answer in possible],
                *(answer["aliases"] for answer in possible),
            ),
            "answers": answers,
            "still_true": [answer for answer in answers if answer not in new_answers],
            "previous_answers": [names[item] for item in delta["previous_answers"]],
            "possible_answers": possible,
            **self.views.columns(counter, labels),
        }


_ONE_ANSWER = re.compile(r"(?:The .* is <(?:the |an? )?object>|It is )")
"""A sentence that reads as if there were one answer, as `The capital of <subject> is <object>.`;
`<subject> is a member of <object>.` does not.
"""


_COPIED = (
    *("subject", "subject_label", "relation", "split", "added", "removed"),
    *("sitelinks", "statements", "subject_facts"),
)
