"""Render comparisons as cloze rows, each in all wordings of its relation."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import arrow_schema, reading
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.namesakes import OFFICES, offices_by_id
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.rows import Cloze, OfficeName, ParaphraseCloze
from factdrift.builders.templama.told import ToldApart
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.prompts import in_period, merge_targets, on_day
from factdrift.builders.text.prompts import period_in_words as in_words
from factdrift.builders.text.render import query, question
from factdrift.builders.text.tokens import TokenCounter
from factdrift.builders.text.views import ViewSettings


class ClozeRows(Step):
    """Writes one cloze row for each comparison: `cloze.parquet` (`rows.Cloze`).

    `paraphrases.parquet` (`rows.ParaphraseCloze`) holds the other wordings. `templates` maps a
    property id to its label, cloze sentences and question.
    """

    name: ClassVar[str] = "cloze"

    told: ToldApart
    templates: Mapping[str, ClozeTemplates]
    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Render every comparison with every template of its relation, batch by batch."""
        counter = self.views.counter()
        told_folder = workspace.folder(self.told)
        offices = offices_by_id(told_folder / OFFICES)
        with (
            reading(told_folder / "deltas.parquet") as delta_file,
            pq.ParquetWriter(out / "cloze.parquet", arrow_schema(Cloze)) as cloze_writer,
            pq.ParquetWriter(
                out / "paraphrases.parquet", arrow_schema(ParaphraseCloze)
            ) as paraphrase_writer,
        ):
            for batch in delta_file.iter_batches(4096):
                deltas = [_with_office_names(delta, offices) for delta in batch.to_pylist()]
                if counter:
                    # Labels are counted for a whole batch at once, which is faster than row by row.
                    counter.counts(name["label"] for delta in deltas for name in delta["names"])
                shared_columns: list[dict[str, Any]] = []
                cloze_rows: list[_Wording] = []
                paraphrases: list[_Wording] = []
                for delta_number, delta in enumerate(deltas):
                    shared_columns.append(self._shared_columns(delta, counter))
                    asked_wording, *other_wordings = self._wordings(delta)
                    cloze_rows.append((delta_number, asked_wording))
                    paraphrases += [(delta_number, wording) for wording in other_wordings]
                shared_arrays = _arrays(cloze_writer.schema, shared_columns)
                _write_rows(cloze_writer, shared_arrays, cloze_rows)
                _write_rows(paraphrase_writer, shared_arrays, paraphrases)

    def _wordings(self, delta: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return a comparison's wordings, the one that models are asked first.

        Models are asked the first wording of the template. If several answers are right, they are
        asked the first wording that does not read as if there were only one answer; if all do, the
        first of all. Each other row has the id of the asked one in `cloze`.
        """
        variants = list(self._variants(delta))
        asked_variant = variants[0]
        if len(delta["answers"]) > 1:
            cloze_texts = self.templates[delta["relation"]].cloze
            for variant in variants:
                if not READS_AS_ONE_ANSWER.match(cloze_texts[variant["template"]]):
                    asked_variant = variant
                    break
        wordings = [asked_variant]
        for variant in variants:
            if variant is not asked_variant:
                wordings.append(variant | {"cloze": asked_variant["id"]})
        return wordings

    def _shared_columns(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> dict[str, Any]:
        """Return the columns of a comparison that are the same in each of its wordings."""
        relation, subject_name = self.templates[delta["relation"]], delta["subject_name"]
        period, asked_period = self._periods(delta)
        at_end = self.told.changes.at == "end"
        time = f"on {format_date(asked_period.last)}" if at_end else f"in {in_words(asked_period)}"
        return {
            **{column: delta[column] for column in _COPIED},
            "relation_label": relation.label,
            "period": str(period),
            "period_first": period.first,
            "period_last": period.last,
            "question": relation.ask
            and question(relation.ask, subject_name, time, relation.articles),
            **self._answer_columns(delta, counter),
        }

    def _periods(self, delta: Mapping[str, Any]) -> tuple[Period, Period]:
        """Return the period of a comparison, and the one that is asked about.

        The gold answers of `deleted` are those of the period before: that is when they are right.
        """
        period = Period(self.told.changes.granularity, delta["period"])
        return period, period + -1 if delta["split"] == "deleted" else period

    def _variants(self, delta: Mapping[str, Any]) -> Iterator[dict[str, str]]:
        """Yield the columns of each wording of a comparison's relation."""
        relation, subject_name = self.templates[delta["relation"]], delta["subject_name"]
        period, asked_period = self._periods(delta)
        period_name, last_day = str(period), asked_period.last
        at_end = self.told.changes.at == "end"
        for template_id, cloze_text in relation.cloze.items():
            blanked = query(cloze_text, subject_name, self.blank, relation.articles)
            prompt = on_day(blanked, last_day) if at_end else in_period(blanked, asked_period)
            yield {
                "id": row_id(delta["subject"], delta["relation"], template_id, period_name),
                "prompt": prompt,
                "template": template_id,
                "query": blanked,
            }

    def _answer_columns(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> dict[str, Any]:
        """Return the columns that hold answers, accepted texts and views."""
        names_by_id = {name["id"]: name for name in delta["names"]}
        answers = [names_by_id[item_id] for item_id in delta["answers"]]
        possible_answers = [names_by_id[item_id] for item_id in delta["possible_answers"]]
        # At the end of a period only what came is asked for; what stayed is right and known before.
        new_answers: list[Mapping[str, Any]] = []
        still_true: list[Mapping[str, Any]] = []
        for answer in answers:
            (still_true if answer["id"] in delta["still_true"] else new_answers).append(answer)
        labels = _labels(new_answers)
        return {
            "targets": merge_targets(
                labels,
                _aliases(new_answers),
                _labels(possible_answers),
                _aliases(possible_answers),
            ),
            "answers": answers,
            "still_true": still_true,
            "previous_answers": list(map(names_by_id.__getitem__, delta["previous_answers"])),
            "possible_answers": possible_answers,
            **self.views.columns(counter, labels),
        }


def _with_office_names(delta: dict[str, Any], offices: Mapping[str, OfficeName]) -> dict[str, Any]:
    """Return a comparison whose answers may also be named with their country, if others may be.

    `Minister of Finance` is right of an Indian one, and so is `Minister of Finance of India`.
    """
    if offices.keys().isdisjoint(name["id"] for name in delta["names"]):
        return delta
    names: list[dict[str, Any]] = []
    for name in delta["names"]:
        office = offices.get(name["id"])
        aliases = sorted({*name["aliases"], *office.names}) if office else name["aliases"]
        names.append(name | {"aliases": aliases})
    return delta | {"names": names}


_Wording = tuple[int, dict[str, str]]
"""The number of a comparison in its batch, and the columns of one of its wordings."""


def _arrays(schema: pa.Schema, shared_columns: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Return the columns of comparisons as Arrow, by name.

    They become Arrow once for all wordings: names and answers are nested, and take longest.
    """
    arrays: dict[str, pa.Array] = {}
    for name in shared_columns[0] if shared_columns else ():
        column_values = [shared[name] for shared in shared_columns]
        arrays[name] = pa.array(column_values, schema.field(name).type)
    return arrays


def _write_rows(
    writer: pq.ParquetWriter,
    shared_arrays: Mapping[str, pa.Array],
    wordings: Sequence[_Wording],
) -> None:
    """Write a row for each wording, with the columns of its comparison."""
    comparison_numbers = pa.array([number for number, _ in wordings], pa.int64())
    column_arrays = []
    for field in writer.schema:
        if field.name in shared_arrays:
            column_arrays.append(shared_arrays[field.name].take(comparison_numbers))
        else:
            column_texts = [wording[field.name] for _, wording in wordings]
            column_arrays.append(pa.array(column_texts, field.type))
    writer.write_batch(pa.RecordBatch.from_arrays(column_arrays, schema=writer.schema))


def _labels(answers: Iterable[Mapping[str, Any]]) -> list[str]:
    return [answer["label"] for answer in answers]


def _aliases(answers: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return chain.from_iterable(answer["aliases"] for answer in answers)


# It matches "The capital of <the subject> is <object>." and "It is <object> that <subject> plays
# for.", but not "<subject> plays for <object>.", which several answers may complete.
READS_AS_ONE_ANSWER = re.compile(r"(?:The .* is <(?:the |an? )?object>|It is )")
"""Matches a cloze sentence that reads as if there were only one answer."""


# Columns of `rows.NamedDelta` that a cloze row has under the same name.
_COPIED = (
    *("subject", "subject_label", "relation", "split", "added", "removed"),
    *("sitelinks", "statements", "subject_facts"),
)
