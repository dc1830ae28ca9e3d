"""Multiple choice: cloze rows with one right answer among hard distractors.

There are four kinds of distractors, the hardest first:

1. `stale`: an answer of the previous period that is no longer right;
2. `other_time`: an answer to the same query at another time, the nearest time first;
3. `shared_holder`: an object of another subject that also had one of the answers. Such objects are
   of the answer's kind (clubs of the same sport, parties of the same country). Those with the most
   common subjects come first;
4. `same_relation`: an answer for another subject in the same period.

An object that is stated for the subject and relation, dated or not, is offered only if all its
segments surely lie outside the period in question. An object that shares a name with an accepted
answer is never offered. In a relation with many objects a distractor may still be true, for nobody
may have stated it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
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
from factdrift.builders.facts.namesakes import OFFICES, offices_by_id
from factdrift.builders.facts.timeline import PAIR, WhenCounted
from factdrift.builders.templama.rendering import ClozeRows
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep

_ORDER = ("split", "period", "relation", "subject")
# The order is that of hardness: a row takes all it can of a kind before it takes of the next.
_KINDS = ("stale", "other_time", "shared_holder", "same_relation")
# A guess with some room: a row takes at most 25 distractors, of all four kinds together, but some
# candidates drop out later (they are stated for the subject or share a name with an answer).
_MAX_CANDIDATES = 24
"""The number of candidates of each of the last two kinds that an answer gets."""


class ChoiceRows(Step):
    """Writes a cloze row with choices for each comparison: `choices.parquet` (`rows.ChoiceCloze`).

    `number` is the number of choices. A row that would have fewer is dropped (`few_distractors`, in
    `dropped.parquet`).
    """

    name: ClassVar[str] = "choices"

    cloze: ClozeRows
    number: int
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Find the possible distractors by joins, then choose among them row by row."""
        changes = self.cloze.told.changes
        offered_path = out / "offered.parquet"
        with workspace.engine() as eng:
            facts_folder = workspace.folder(changes.facts)
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            gaps = eng.read(facts_folder / "gaps.parquet", rows.Gap)
            timelines_path = workspace.folder(changes) / "timelines.parquet"
            segments = eng.read(timelines_path, rows.ReleasedSegment)
            cloze_rows = eng.read(workspace.folder(self.cloze) / "cloze.parquet", rows.Cloze)
            cloze_rows = eng.keep(cloze_rows)
            asked_rows = asked_days(cloze_rows, changes.granularity, changes.at)
            candidates = offered(asked_rows, segments, gaps, self.seed)
            offered_rows = _with_distractors(cloze_rows, eng.keep(candidates), entities)
            eng.write(offered_rows, offered_path, rows.OfferedCloze, _ORDER)
        offices = offices_by_id(workspace.folder(self.cloze.told) / OFFICES)
        with (
            reading(offered_path) as offered_file,
            writing(out / "choices.parquet", rows.ChoiceCloze) as choice_writer,
            writing(out / "dropped.parquet", rows.Dropped) as drop_writer,
        ):
            for batch in offered_file.iter_batches(4096):
                for row in batch.to_pylist():
                    choice_row = choose(row, self.number, self.seed, offices)
                    (drop_writer if isinstance(choice_row, rows.Dropped) else choice_writer).append(
                        choice_row
                    )
        offered_path.unlink()


def offered(asked_rows: ir.Table, segments: ir.Table, gaps: ir.Table, seed: int) -> ir.Table:
    """Return the possible distractors of each cloze row: `id`, `object`, `kind` and `place`.

    `kind` is an index into the four kinds, `place` the rank within a kind. `asked_rows` are rows of
    `asked_days`. `segments` are all segments of their subjects and relations. `gaps` are rows of
    `rows.Gap`; their objects may be right on any day.
    """
    own_objects = _own_objects(asked_rows, segments)
    other_objects = _shared_holders(asked_rows, segments, seed).union(
        _same_relation(asked_rows, seed)
    )
    stated_objects = segments.select(*PAIR, "object").distinct()
    other_objects = other_objects.anti_join(stated_objects, [*PAIR, "object"])
    other_objects = other_objects.filter(other_objects.object != other_objects.subject)
    candidates = own_objects.union(other_objects.select(own_objects.columns))
    undated_objects = gaps.filter(gaps.object.notnull()).select(*PAIR, "object").distinct()
    candidates = candidates.anti_join(undated_objects, [*PAIR, "object"])
    hardest_first = ibis.window(group_by=["id", "object"], order_by=["kind", "place"])
    # An object that is of several kinds is offered once, as the hardest of them.
    candidates = candidates.mutate(nth=ibis.row_number().over(hardest_first))
    return candidates.filter(candidates.nth == 0).select("id", "object", "kind", "place")


def asked_days(
    cloze_rows: ir.Table, granularity: Granularity, when_counted: WhenCounted
) -> ir.Table:
    """Return the rows with the first and the last day that they ask about.

    Both are the same day where `when_counted` is `end`: the last day of the period.
    """
    asks_before = cloze_rows.split == "deleted"  # asked about the period before
    first_before = cloze_rows.period_first - ibis.interval(
        months=12 // PERIODS_PER_YEAR[granularity]
    )
    day_before = cloze_rows.period_first - ibis.interval(days=1)
    last_day = ibis.ifelse(asks_before, day_before.cast("date"), cloze_rows.period_last)
    first_day = ibis.ifelse(asks_before, first_before.cast("date"), cloze_rows.period_first)
    return cloze_rows.select(
        "id",
        *PAIR,
        "period",
        first=last_day if when_counted == "end" else first_day,
        last=last_day,
        answers=cloze_rows.answers.map(lambda answer: answer.id),
        previous=cloze_rows.previous_answers.map(lambda answer: answer.id),
    )


def _own_objects(asked_rows: ir.Table, segments: ir.Table) -> ir.Table:
    """Kinds 0 and 1: objects of the same subject and relation that surely did not hold then."""
    stated_rows = asked_rows.join(segments.select(*PAIR, "object", *DATES), PAIR)
    held = IntervalColumns.of(stated_rows).holds_within(stated_rows["first"], stated_rows["last"])
    days_apart = ibis.ifelse(
        (stated_rows.start_first > stated_rows.last).fill_null(False),
        stated_rows.start_first.delta(stated_rows.last, unit="day"),
        stated_rows.first.delta(stated_rows.end_last, unit="day"),
    )
    stated_rows = stated_rows.mutate(
        outside=~held.possible,
        days=days_apart,
        stale=stated_rows.previous.contains(stated_rows.object),
    )
    own_objects = stated_rows.group_by(["id", *PAIR, "object"]).agg(
        outside=stated_rows.outside.all(),
        days=stated_rows.days.min(),
        stale=stated_rows.stale.any(),
    )
    own_objects = own_objects.filter(own_objects.outside)
    own_objects = own_objects.mutate(kind=ibis.ifelse(own_objects.stale, 0, 1).cast("int64"))
    nearest_first = ibis.window(group_by=["id", "kind"], order_by=["days", "object"])
    return own_objects.select(
        "id",
        *PAIR,
        "object",
        "kind",
        place=(ibis.row_number().over(nearest_first) + 1).cast("int64"),
    )


def _shared_holders(asked_rows: ir.Table, segments: ir.Table, seed: int) -> ir.Table:
    """Kind 2: objects of other subjects that also had an answer; the most common subjects first."""
    held_objects = segments.select(*PAIR, "object").distinct()
    other_objects = held_objects.view().rename(other="object")
    held_pairs = held_objects.join(other_objects, PAIR)
    held_pairs = held_pairs.filter(held_pairs.object != held_pairs.other)
    companions = held_pairs.group_by(["relation", "object", "other"]).agg(
        holders=held_pairs.count()
    )
    most_shared = [
        companions.holders.desc(),
        seeded_order(seed, companions.object, companions.other),
    ]
    most_shared_first = ibis.window(group_by=["relation", "object"], order_by=most_shared)
    companions = companions.mutate(
        place=(ibis.row_number().over(most_shared_first) + 1).cast("int64")
    )
    companions = companions.filter(companions.place <= _MAX_CANDIDATES)
    right_objects = asked_rows.select("id", *PAIR, object=asked_rows.answers.unnest())
    candidates = right_objects.join(companions, ["relation", "object"])
    return candidates.select(
        "id", *PAIR, object="other", kind=ibis.literal(2, "int64"), place="place"
    )


def _same_relation(asked_rows: ir.Table, seed: int) -> ir.Table:
    """Kind 3: answers for other subjects in the same relation and period.

    All answers of a relation and period stand in one drawn circle; each row takes those that follow
    its own answer, so that the work grows with the rows and not with their square.
    """
    group_columns = ["relation", "period"]
    right_objects = asked_rows.select("id", *PAIR, "period", object=asked_rows.answers.unnest())
    answer_circle = right_objects.select(*group_columns, "object").distinct()
    drawn_order = ibis.window(
        group_by=group_columns,
        order_by=seeded_order(seed, answer_circle.period, answer_circle.object),
    )
    whole_group = ibis.window(group_by=group_columns)
    answer_circle = answer_circle.mutate(
        nth=ibis.row_number().over(drawn_order).cast("int64"),
        size=answer_circle.count().over(whole_group).cast("int64"),
    )
    next_places = right_objects.join(answer_circle, [*group_columns, "object"])
    next_places = next_places.mutate(
        place=ibis.range(1, _MAX_CANDIDATES + 1).unnest().cast("int64")
    )
    next_places = next_places.select(
        "id", *PAIR, "period", "place", nth=(next_places.nth + next_places.place) % next_places.size
    )
    candidates = next_places.join(
        answer_circle.select(*group_columns, "object", "nth"), [*group_columns, "nth"]
    )
    return candidates.select("id", *PAIR, "object", kind=ibis.literal(3, "int64"), place="place")


def _with_distractors(cloze_rows: ir.Table, candidates: ir.Table, entities: ir.Table) -> ir.Table:
    """Return the cloze rows with their distractors, which get their names (`rows.OfferedCloze`)."""
    entity_names = entities.select(object="id", label="label", aliases="aliases")
    named_candidates = candidates.join(entity_names, "object")
    kind_name = named_candidates.kind.cases(*enumerate(_KINDS), else_=_KINDS[-1])
    distractor = {
        "id": named_candidates.object,
        "label": named_candidates.label,
        "aliases": named_candidates.aliases,
    }
    distractor = ibis.struct({**distractor, "kind": kind_name, "place": named_candidates.place})
    distractor_lists = named_candidates.group_by("id").agg(distractors=distractor.collect())
    offered_rows = cloze_rows.left_join(distractor_lists, "id")
    offered_rows = offered_rows.select(*cloze_rows.columns, "distractors")
    list_type = dict(offered_rows.schema())["distractors"]
    return offered_rows.mutate(
        distractors=offered_rows.distractors.fill_null(ibis.literal([], type=list_type))
    )


def choose(
    row: Mapping[str, Any],
    number: int,
    seed: int,
    offices: Mapping[str, rows.OfficeName] = MappingProxyType({}),
) -> rows.ChoiceCloze | rows.Dropped:
    """Give one row of `rows.OfferedCloze` `number` choices, or drop it where too few are offered.

    `offices` are those that are named with their country. The right choice is an answer that came
    with the period, where there is one.
    """
    distractors = list(_pick_distractors(row, number - 1))
    if len(distractors) < number - 1:
        detail = f"{len(row['distractors'])} found"
        row_place = (row["id"], row["subject"], row["relation"], row["period"])
        return rows.Dropped("choices", "few_distractors", *row_place, None, detail)
    all_answers = _answers(row["answers"])
    right_answer = _right_answer(row, all_answers, seed)
    choice_kinds: dict[str, Any] = {right_answer.id: "answer"}
    choice_labels = {right_answer.id: _choice_label(right_answer.id, right_answer.label, offices)}
    for distractor in distractors:
        choice_kinds[distractor["id"]] = distractor["kind"]
        choice_labels[distractor["id"]] = _choice_label(
            distractor["id"], distractor["label"], offices
        )
    choice_ids = sorted(
        choice_labels, key=lambda item_id: seeded_hash(seed, "choices", row["id"], item_id)
    )
    return rows.ChoiceCloze(
        id=row_id("choices", number, row["id"]),
        cloze=row["id"],
        choices=tuple(map(choice_labels.__getitem__, choice_ids)),
        answer_index=choice_ids.index(right_answer.id),
        targets=merge_targets(
            [choice_labels[right_answer.id]], _accepted_names(row, right_answer, all_answers)
        ),
        choice_ids=tuple(choice_ids),
        choice_kinds=tuple(map(choice_kinds.__getitem__, choice_ids)),
        answers=all_answers,
        previous_answers=_answers(row["previous_answers"]),
        **{name: row[name] for name in _COPIED},
    )


def _choice_label(item_id: str, label: str, offices: Mapping[str, rows.OfficeName]) -> str:
    return offices[item_id].name if item_id in offices else label


def _right_answer(
    row: Mapping[str, Any], all_answers: Sequence[rows.Answer], seed: int
) -> rows.Answer:
    new_answers = [answer for answer in all_answers if answer.id in row["added"]]
    # Of `unchanged` and `deleted` nothing came with the period: each answer is as good.
    candidates = new_answers or all_answers
    return candidates[seeded_index(len(candidates), seed, "right", row["id"])]


def _accepted_names(
    row: Mapping[str, Any], right_answer: rows.Answer, all_answers: Sequence[rows.Answer]
) -> tuple[str, ...]:
    """The names of the right choice, and of the other answers that are not just still true."""
    still_true = {answer["id"] for answer in row["still_true"]}
    accepted_answers = [right_answer]
    for answer in all_answers:
        if answer is not right_answer and answer.id not in still_true:
            accepted_answers.append(answer)
    labels = [answer.label for answer in accepted_answers]
    return merge_targets(labels, *(answer.aliases for answer in accepted_answers))


def _pick_distractors(row: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    """Yield the hardest distractors with different labels and no name of an accepted answer."""
    taken_labels = {normalize_or_keep(row["subject_label"])}
    accepted_names = set(map(normalize_or_keep, row["targets"]))
    for answer in row["answers"]:
        accepted_names |= _normalized_names(answer)
    remaining = number
    for distractor in sorted(row["distractors"], key=_hardness):
        if remaining == 0:
            return
        label = normalize_or_keep(distractor["label"])
        if label in taken_labels or _normalized_names(distractor) & accepted_names:
            continue
        taken_labels.add(label)
        remaining -= 1
        yield distractor


def _hardness(distractor: Mapping[str, Any]) -> tuple[int, int, str]:
    return _KINDS.index(distractor["kind"]), distractor["place"], distractor["id"]


def _normalized_names(item: Mapping[str, Any]) -> set[str]:
    return set(map(normalize_or_keep, (item["label"], *item["aliases"])))


def _answers(named_items: Iterable[Mapping[str, Any]]) -> tuple[rows.Answer, ...]:
    return tuple(
        rows.Answer(item["id"], item["label"], tuple(item["aliases"])) for item in named_items
    )


# Columns of `rows.Cloze` that a row with choices has under the same name.
_COPIED = (
    *("prompt", "subject", "subject_label", "relation", "relation_label", "template", "query"),
    *("period", "period_first", "period_last", "split"),
    *("sitelinks", "statements", "subject_facts"),
)
