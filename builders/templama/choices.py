"""Choices: the cloze rows with one right answer among others that are hard for the right reason.

What is offered beside the answer, the hardest first:

1. `stale`: an answer of the period before that is none any more;
2. `other_time`: an answer to the same query at another time, the nearest first;
3. `shared_holder`: an object that others had who also had an answer: so it is of its kind (clubs
   of the same sport, parties of the same country), those with the most such others first;
4. `same_relation`: an answer for another subject in the same period.

No object is offered that is stated of the subject and the relation, dated or not, unless every
segment of it surely lies outside the period that is asked about; nor one with a name of an accepted
answer. What nobody has stated may still be true of a relation that has many objects.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.dates import PERIODS_PER_YEAR, Granularity
from factdrift.builders.core.hashing import row_id, seeded_hash, seeded_index
from factdrift.builders.core.schema import reading, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import seeded_order
from factdrift.builders.facts.intervals import DATES, IntervalColumns
from factdrift.builders.facts.timeline import PAIR, WhenCounted
from factdrift.builders.templama.rendering import ClozeRows
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep

_ORDER = ("split", "period", "relation", "subject")
_KINDS = ("stale", "other_time", "shared_holder", "same_relation")
_MAX_CANDIDATES = 24
"""Objects of each of the last two kinds that are looked at for an answer; some fall away."""


class ChoiceRows(Step):
    """Cloze rows with choices, one a comparison: `choices.parquet` (`rows.ChoiceCloze`).

    `number`: how many choices; a row with fewer is dropped (`few_distractors`, in
    `dropped.parquet`).
    """

    name: ClassVar[str] = "choices"

    cloze: ClozeRows
    number: int
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Find what may be offered, by joins; then choose, row by row."""
        changes = self.cloze.changes
        offered_path = out / "offered.parquet"
        with workspace.engine() as eng:
            facts = workspace.folder(changes.facts)
            entities = eng.read(facts / "entities.parquet", rows.Entity)
            gaps = eng.read(facts / "gaps.parquet", rows.Gap)
            path = workspace.folder(changes) / "timelines.parquet"
            segments = eng.read(path, rows.ReleasedSegment)
            cloze = eng.read(workspace.folder(self.cloze) / "cloze.parquet", rows.Cloze)
            cloze = eng.keep(cloze)
            asked = asked_days(cloze, changes.granularity, changes.at)
            found = offered(asked, segments, gaps, self.seed)
            met = _named(cloze, eng.keep(found), entities)
            eng.write(met, offered_path, rows.OfferedCloze, _ORDER)
        with (
            reading(offered_path) as file,
            writing(out / "choices.parquet", rows.ChoiceCloze) as kept,
            writing(out / "dropped.parquet", rows.Dropped) as dropped,
        ):
            for batch in file.iter_batches(4096):
                for row in batch.to_pylist():
                    made = choose(row, self.number, self.seed)
                    (dropped if isinstance(made, rows.Dropped) else kept).append(made)
        offered_path.unlink()


def offered(asked: ir.Table, segments: ir.Table, gaps: ir.Table, seed: int) -> ir.Table:
    """What may be offered for each cloze row: `id`, `object`, `kind` (from 0) and `place`.

    `asked`: the rows, one a comparison, with the days that they ask about; `segments`: all those of
    its subjects and relations; `gaps`: `rows.Gap`, of which any object may be right.
    """
    own = _own(asked, segments)
    others = _shared(asked, segments, seed).union(_same_relation(asked, seed))
    stated = segments.select(*PAIR, "object").distinct()
    others = others.anti_join(stated, [*PAIR, "object"])
    others = others.filter(others.object != others.subject)
    found = own.union(others.select(own.columns))
    unsure = gaps.filter(gaps.object.notnull()).select(*PAIR, "object").distinct()
    found = found.anti_join(unsure, [*PAIR, "object"])
    by = ibis.window(group_by=["id", "object"], order_by=["kind", "place"])
    found = found.mutate(nth=ibis.row_number().over(by))
    return found.filter(found.nth == 0).select("id", "object", "kind", "place")


def asked_days(cloze: ir.Table, granularity: Granularity, at: WhenCounted) -> ir.Table:
    """The rows with the first and last day that they ask about; at the end of a period, one."""
    deleted = cloze.split == "deleted"  # asked about the period before
    before = cloze.period_first - ibis.interval(months=12 // PERIODS_PER_YEAR[granularity])
    day_before = cloze.period_first - ibis.interval(days=1)
    last = ibis.ifelse(deleted, day_before.cast("date"), cloze.period_last)
    first = ibis.ifelse(deleted, before.cast("date"), cloze.period_first)
    return cloze.select(
        "id",
        *PAIR,
        "period",
        first=last if at == "end" else first,
        last=last,
        answers=cloze.answers.map(lambda one: one.id),
        previous=cloze.previous_answers.map(lambda one: one.id),
    )


def _own(asked: ir.Table, segments: ir.Table) -> ir.Table:
    """Kinds 0 and 1: objects of the same subject and relation that surely did not hold then."""
    met = asked.join(segments.select(*PAIR, "object", *DATES), PAIR)
    after = (met.start_first > met.last).fill_null(False)
    held = IntervalColumns.of(met).holds_within(met["first"], met["last"])
    days = ibis.ifelse(
        after,
        met.start_first.delta(met.last, unit="day"),
        met.first.delta(met.end_last, unit="day"),
    )
    met = met.mutate(outside=~held.possible, days=days, stale=met.previous.contains(met.object))
    found = met.group_by(["id", *PAIR, "object"]).agg(
        outside=met.outside.all(), days=met.days.min(), stale=met.stale.any()
    )
    found = found.filter(found.outside)
    found = found.mutate(kind=ibis.ifelse(found.stale, 0, 1).cast("int64"))
    by = ibis.window(group_by=["id", "kind"], order_by=["days", "object"])
    return found.select(
        "id", *PAIR, "object", "kind", place=(ibis.row_number().over(by) + 1).cast("int64")
    )


def _shared(asked: ir.Table, segments: ir.Table, seed: int) -> ir.Table:
    """Kind 2: what others had who also had an answer; those with the most such others first."""
    held = segments.select(*PAIR, "object").distinct()
    other = held.view().rename(other="object")
    both = held.join(other, PAIR)
    both = both.filter(both.object != both.other)
    near = both.group_by(["relation", "object", "other"]).agg(holders=both.count())
    order = [near.holders.desc(), seeded_order(seed, near.object, near.other)]
    by = ibis.window(group_by=["relation", "object"], order_by=order)
    near = near.mutate(place=(ibis.row_number().over(by) + 1).cast("int64"))
    near = near.filter(near.place <= _MAX_CANDIDATES)
    right = asked.select("id", *PAIR, object=asked.answers.unnest())
    met = right.join(near, ["relation", "object"])
    return met.select("id", *PAIR, object="other", kind=ibis.literal(2, "int64"), place="place")


def _same_relation(asked: ir.Table, seed: int) -> ir.Table:
    """Kind 3: of all answers of a relation and period, in a drawn order, those after the own."""
    group = ["relation", "period"]
    right = asked.select("id", *PAIR, "period", object=asked.answers.unnest())
    pool = right.select(*group, "object").distinct()
    by = ibis.window(group_by=group, order_by=seeded_order(seed, pool.period, pool.object))
    whole = ibis.window(group_by=group)
    pool = pool.mutate(
        nth=ibis.row_number().over(by).cast("int64"), size=pool.count().over(whole).cast("int64")
    )
    own = right.join(pool, [*group, "object"])
    own = own.mutate(place=ibis.range(1, _MAX_CANDIDATES + 1).unnest().cast("int64"))
    own = own.select("id", *PAIR, "period", "place", nth=(own.nth + own.place) % own.size)
    met = own.join(pool.select(*group, "object", "nth"), [*group, "nth"])
    return met.select("id", *PAIR, "object", kind=ibis.literal(3, "int64"), place="place")


def _named(cloze: ir.Table, found: ir.Table, entities: ir.Table) -> ir.Table:
    """The cloze rows with their distractors and their names (`rows.OfferedCloze`)."""
    names = entities.select(object="id", label="label", aliases="aliases")
    met = found.join(names, "object")
    kind = met.kind.cases(*enumerate(_KINDS), else_=_KINDS[-1])
    one = {"id": met.object, "label": met.label, "aliases": met.aliases}
    one = ibis.struct({**one, "kind": kind, "place": met.place})
    each = met.group_by("id").agg(distractors=one.collect())
    both = cloze.left_join(each, "id")
    both = both.select(*cloze.columns, "distractors")
    kinds = dict(both.schema())["distractors"]
    return both.mutate(distractors=both.distractors.fill_null(ibis.literal([], type=kinds)))


def choose(row: Mapping[str, Any], number: int, seed: int) -> rows.ChoiceCloze | rows.Dropped:
    """One row of `rows.OfferedCloze` with `number` choices, unless there are not enough.

    The right choice is an answer that came with the period, where there is one.
    """
    answers = [_answer(one) for one in row["answers"]]
    came = [one for one in answers if one.id in row["added"]] or answers
    right = came[seeded_index(len(came), seed, "right", row["id"])]
    picked = list(_pick(row, number - 1))
    if len(picked) < number - 1:
        detail = f"{len(row['distractors'])} found"
        place = (row["id"], row["subject"], row["relation"], row["period"])
        return rows.Dropped("choices", "few_distractors", *place, None, detail)
    kinds = {right.id: "answer"} | {one["id"]: one["kind"] for one in picked}
    labels = {right.id: right.label} | {one["id"]: one["label"] for one in picked}
    order = sorted(labels, key=lambda item: seeded_hash(seed, "choices", row["id"], item))
    rest = {one["id"] for one in row["still_true"]}
    forms = [right, *(one for one in answers if one is not right and one.id not in rest)]
    return rows.ChoiceCloze(
        id=row_id("choices", number, row["id"]),
        cloze=row["id"],
        choices=tuple(labels[item] for item in order),
        answer_index=order.index(right.id),
        targets=merge_targets([one.label for one in forms], *(one.aliases for one in forms)),
        choice_ids=tuple(order),
        choice_kinds=tuple(kinds[item] for item in order),
        answers=tuple(answers),
        previous_answers=tuple(_answer(one) for one in row["previous_answers"]),
        **{name: row[name] for name in _COPIED},
    )


def _pick(row: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    """The hardest distractors with labels of their own and no name of an accepted answer."""
    true = [name for one in row["answers"] for name in (one["label"], *one["aliases"])]
    accepted = {normalize_or_keep(name) for name in (*row["targets"], *true)}
    taken = {normalize_or_keep(row["subject_label"])}
    order = sorted(
        row["distractors"], key=lambda one: (_KINDS.index(one["kind"]), one["place"], one["id"])
    )
    for one in order:
        label = normalize_or_keep(one["label"])
        names = {label, *map(normalize_or_keep, one["aliases"])}
        if number == 0:
            return
        if label in taken or names & accepted:
            continue
        taken.add(label)
        number -= 1
        yield one


def _answer(one: Mapping[str, Any]) -> rows.Answer:
    return rows.Answer(one["id"], one["label"], tuple(one["aliases"]))


_COPIED = (
    *("prompt", "subject", "subject_label", "relation", "relation_label", "template", "query"),
    *("period", "period_first", "period_last", "split"),
    *("sitelinks", "statements", "subject_facts"),
)
