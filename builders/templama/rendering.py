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
                cloze_rows: list[dict[str, Any]] = []
                paraphrases: list[dict[str, Any]] = []
                for delta in deltas:
                    cloze_row, *other_wordings = self._wordings(delta, counter)
                    cloze_rows.append(cloze_row)
                    paraphrases += other_wordings
                _write_rows(cloze_writer, cloze_rows)
                _write_rows(paraphrase_writer, paraphrases)

    def _wordings(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> list[dict[str, Any]]:
        """Return a comparison's rows, one for each wording, the one that models are asked first.

        Models are asked the first wording of the template. If several answers are right, they are
        asked the first wording that does not read as if there were only one answer; if all do, the
        first of all. Each other row has the id of the asked one in `cloze`.
        """
        variants = list(self._variants(delta, counter))
        asked_variant = variants[0]
        if len(asked_variant["answers"]) > 1:
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

    def _variants(
        self, delta: Mapping[str, Any], counter: TokenCounter | None
    ) -> Iterator[dict[str, Any]]:
        """Yield the row of a comparison in each wording of its relation."""
        relation, subject_name = self.templates[delta["relation"]], delta["subject_name"]
        period = Period(self.told.changes.granularity, delta["period"])
        # The gold answers of `deleted` are those of the period before: that is when they are right.
        asked_period = period + -1 if delta["split"] == "deleted" else period
        at_end = self.told.changes.at == "end"
        time = f"on {format_date(asked_period.last)}" if at_end else f"in {in_words(asked_period)}"
        common_columns = {
            **{column: delta[column] for column in _COPIED},
            "relation_label": relation.label,
            "period": str(period),
            "period_first": period.first,
            "period_last": period.last,
            "question": relation.ask
            and question(relation.ask, subject_name, time, relation.articles),
            **self._answer_columns(delta, counter),
        }
        for template_id, cloze_text in relation.cloze.items():
            blanked = query(cloze_text, subject_name, self.blank, relation.articles)
            prompt = (
                on_day(blanked, asked_period.last) if at_end else in_period(blanked, asked_period)
            )
            yield common_columns | {
                "id": row_id(delta["subject"], delta["relation"], template_id, period),
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


def _write_rows(writer: pq.ParquetWriter, output_rows: Sequence[Mapping[str, Any]]) -> None:
    writer.write_batch(pa.RecordBatch.from_pylist(output_rows, schema=writer.schema))


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
