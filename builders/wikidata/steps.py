"""The steps that dataset builders share: mined tables, timelines, names. Each is made once."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import ibis
import ibis.expr.types as ir

from builders import rows
from builders.cloze.templates import Relation, load_relations
from builders.engine import Engine, engine
from builders.errors import UserError
from builders.run import Run
from builders.store import Made, code_digest, digest
from builders.wikidata import present, timeline
from builders.wikidata.finish import TABLES, read_summary

MINE_VERSION = 1
"""Raised when the same dump would give other tables; a dump is not read again for less."""


DROPPED_ORDER = ("step", "reason", "item", "subject", "relation", "period", "score", "detail")
"""Total order of dropped rows, for `Engine.write`."""


def all_relations(run: Run) -> dict[str, Relation]:
    """Every relation that has a template; a dump is mined for all of them at once."""
    return load_relations(run.templates)


def mined(run: Run, name: str, needed: Iterable[str] = ()) -> Made:
    """The mined tables of an input: read from its dump, or the mined folder that was given.

    `UserError` where that folder was not mined for all the relations that are needed.
    """
    source = run.inputs[name]
    if source.mined:
        known = read_summary(source.mined / TABLES[-1])["relations"]
        if missing := sorted(set(needed) - set(known)):
            raise UserError(
                f"it was not mined for {', '.join(missing)}",
                where=source.mined,
                hint="mine them too, or leave them out of the recipe's relations",
            )
        return Made(source.mined, digest(source.sha256))
    from builders.wikidata.mine import mine

    wanted = {r: t.undated == "keep" for r, t in all_relations(run).items()}
    work = run.store.work(f"mine-{digest([source.sha256, wanted, MINE_VERSION])}")

    def make(out: Path) -> None:
        mine(
            source.files,
            out,
            relations=wanted,
            snapshot=source.snapshot,
            jobs=run.jobs,
            memory=run.memory,
            work=work,
            checksums=source.sha256,
            say=run.store.say,
        )

    return run.store.step(
        "mine",
        make,
        version=MINE_VERSION,
        parameters={"relations": wanted, "snapshot": source.snapshot.isoformat()},
        inputs=source.sha256,
    )


def open_engine(run: Run) -> AbstractContextManager[Engine]:
    """The engine of this run, with its scratch folder in the build folder."""
    return engine(run.engine, run.store.root / "scratch", run.memory, run.jobs)


def segments(run: Run, facts: Made, relations: Mapping[str, Relation]) -> Made:
    """The timelines of these relations: `timelines.parquet` (`rows.Segment`)."""
    exclusive = sorted(r for r, t in relations.items() if t.exclusive)

    def make(out: Path) -> None:
        with open_engine(run) as eng:
            table = eng.read(facts.path / "facts.parquet", rows.Fact)
            table = table.filter(table.relation.isin(list(relations)))
            found = timeline.timeline(table, exclusive)
            eng.write(found, out / "timelines.parquet", rows.Segment, timeline.ORDER)

    return run.store.step(
        "timelines",
        make,
        version=code_digest(timeline),
        parameters={"relations": list(relations), "exclusive": exclusive},
        inputs=[facts.key],
    )


def released(segments: ir.Table) -> ir.Table:
    """Segments with an id, which names the object's first, second, … segment, and their dates."""
    order = [segments[c].asc(nulls_first=True) for c in (*timeline.DATES, "statements")]
    by = ibis.window(group_by=list(timeline.KEY), order_by=order)
    placed = segments.mutate(place=ibis.row_number().over(by))
    return present.dated(present.identified(placed, (*timeline.KEY, "place")))


def entities(eng: Engine, mined: Sequence[Made]) -> ir.Table:
    """The entities of one or more snapshots, oldest first; of each, what the newest says."""
    newest, *older = (
        eng.read(made.path / "entities.parquet", rows.Entity) for made in reversed(mined)
    )
    for table in older:
        newest = newest.union(table.anti_join(newest, "id"))
    return newest


def dropped(eng: Engine, made: Made, relations: Mapping[str, Relation]) -> ir.Table:
    """What mining left out (`rows.Dropped`), of these relations or of none."""
    table = eng.read(made.path / "dropped.parquet", rows.Dropped)
    return table.filter(table.relation.isnull() | table.relation.isin(list(relations)))
