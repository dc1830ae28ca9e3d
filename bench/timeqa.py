"""Speed of TimeQA's questions: from aligned timelines to easy and hard rows.

The baseline settles the same questions the plain way: it walks the days of each specifier and
asks every segment of the pair whether it holds that day. It is given the questions, so it chooses
and writes none and looks for no doubt, and it runs on fewer pairs in the same process. Pairs are
the careers of `bench.period_diff`, a million facts. Bounds are of the processor's time, so that a
busy machine does not count.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby
from typing import Any

import pyarrow.parquet as pq

from bench import ROOT, Figures, timed
from bench.period_diff import SNAPSHOT, make
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.rows import AlignmentRule, ReleasedAlignedSegment
from factdrift.builders.timeqa import questions as timeqa
from factdrift.builders.timeqa.questions import AskedPair, Pair

PIECE = 50_000
"""Segments in memory at a time; making them is not measured."""
PLAIN = 1_000
"""Pairs that the loop settles, of the first piece."""
SEED = 7
LEAST_SPEED = 12_000
"""Segments a second on one core, easy and hard questions together."""
LEAST_RATIO = 8.0
RULES: tuple[AlignmentRule, ...] = ("link",) * 6 + ("name",) * 3 + ("none",)


def pairs(millions: float) -> Iterator[list[Pair]]:
    """Pieces of the careers, aligned with pages."""
    for batch in pq.ParquetFile(make(millions) / "facts.parquet").iter_batches(PIECE):
        rows = batch.drop_columns(["statement", "point", "sighting", "rank"]).to_pylist()
        careers = groupby(enumerate(rows), key=lambda numbered_row: numbered_row[1]["subject"])
        yield [
            Pair(
                subject,
                f"Ann {subject}",
                "P54",
                tuple(aligned(number, row) for number, row in career),
                (),
            )
            for subject, career in careers
        ]


def aligned(number: int, row: dict[str, Any]) -> ReleasedAlignedSegment:
    """A fact as a page of its subject states it, or of one in ten does not."""
    team, rule = row["object"][1:], RULES[number % len(RULES)]
    dates = {side: row[side] or SNAPSHOT for side in ("end_first", "end_last")}
    dates["start_last"] = min(row["start_last"], SNAPSHOT)
    return ReleasedAlignedSegment(
        **(row | dates | {"relation": "P54"}), id=f"{number}", subject_label=row["subject"],
        relation_label="team", object_label=f"Rovers {team}", aliases=(f"{team} FC", f"R{team}"),
        statements=(f"{number}",), end_inferred=False, rival=False, valid_from=None, valid_to=None,
        page=number, revision=number, rule=rule, paragraph=number, start=0, end=6,
        mention="Rovers", score=None,
        start_stated=None, end_stated=None, evidence="both", contradicted=False,
        verification="automatic",
    )  # fmt: skip


def plain(pairs: list[Pair], asked_pairs: list[AskedPair]) -> None:
    """Who answers each question, by asking every segment about every day of its time."""
    for pair, asked_pair in zip(pairs, asked_pairs, strict=True):
        for question in asked_pair.questions:
            first, until = question.time.days()
            day = first or min(segment.start_first or SNAPSHOT for segment in pair.segments)
            answers = set()
            while day <= (until or SNAPSHOT):
                for segment in pair.segments:
                    if (
                        segment.start_last
                        and segment.end_first
                        and segment.start_last <= day <= segment.end_first
                    ):
                        answers.add(segment.object)
                day += timedelta(1)


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    relation = timeqa.QuestionTemplates.of(load_relations(ROOT / "templates")["P54-club"])
    settings = timeqa.Questions(probes=0)
    spent, segments, rows, looped = 0.0, 0, 0, 0.0
    for piece in pairs(float(words[0]) if words else 1):
        piece_cost = timed(
            lambda piece_pairs: [timeqa.ask_pair(p, relation, settings, SEED) for p in piece_pairs],
            piece,
        )
        spent += piece_cost.processor
        segments += sum(len(pair.segments) for pair in piece)
        rows += sum(len(asked_pair.questions) for asked_pair in piece_cost.answer)
        if not looped:
            few = piece_cost.answer[:PLAIN]
            took = timed(plain, piece[:PLAIN], few).processor
            looped = took / sum(len(asked_pair.questions) for asked_pair in few)
    speed, ratio = segments / spent, looped * rows / spent
    print(f"{segments:,} segments, {rows:,} questions")
    say("segments a second", f"{speed:,.0f}", speed >= LEAST_SPEED, f">= {LEAST_SPEED:,}")
    say("questions/s to plain loop", f"{ratio:.0f}", ratio >= LEAST_RATIO, f">= {LEAST_RATIO:g}")
