"""The `invariant-lama` dataset: cloze queries whose one answer does not change."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import duckdb
import ibis.expr.types as ir
from pydantic import Field

from builders import rows
from builders.citations import JANG_2022
from builders.cloze import articles, invariant, render, tokens, trex
from builders.cloze.templates import Relation, select
from builders.config import shown
from builders.dataset import Dataset, Figure, FromParquet, Plot, Table
from builders.engine import Engine
from builders.errors import UserError
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest
from builders.wikidata import names, snapshot_diff, steps, timeline
from builders.wikidata.figures import mining

Source = Literal["wikidata", "trex"]

RELATIONS = tuple(
    "P19 P20 P279 P37 P449 P47 P138 P364 P527 P176 P27 P407 P30 P178 P1376 P131 P1412 P17 P276 "
    "P937 P140 P103 P190 P1001 P495 P36 P740 P361".split()
)
"""The paper's 28 relations, in the order of its table 4."""


class InvariantLAMA(DatasetBuilder):
    """Parameters of the dataset; the defaults are the paper's (Jang et al. 2022, appendix B.1).

    `common_nouns`: relations whose answers are common nouns by nature, where a label in lower
    case is an answer like any other; numbers and dates are none anywhere. `per_relation`: at most
    so many subjects of a relation, all with null. `tokenizer`, `tokenizer_revision` and
    `max_tokens` are as in `dynamic-templama`.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)

    builder: Literal["invariant-lama"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)] = RELATIONS
    common_nouns: tuple[str, ...] = ("P279", "P361", "P527")
    per_relation: int | None = Field(default=None, ge=1)
    blank: str = render.BLANK
    tokenizer: str | None = None
    tokenizer_revision: str | None = None
    max_tokens: int = Field(default=5, ge=1)

    def build(self, run: Run) -> Dataset:
        """From the `trex` files if given, else from `dump`, and `older` where it is there."""
        relations = select(steps.all_relations(run), self.relations, run.templates)
        mined: dict[str, Made] = {}
        if "trex" in run.inputs:
            read = _trex(run, relations)
            chosen = self._chosen(run, relations, [read], "trex")
        elif "dump" in run.inputs:
            days = [name for name in ("older", "dump") if name in run.inputs]
            mined = {name: steps.mined(run, name, relations) for name in days}
            chosen = self._chosen(run, relations, list(mined.values()), "wikidata")
        else:
            hint = "name one of the two in the recipe"
            raise UserError("no input dump, and no trex", where=shown(run.recipe), hint=hint)
        cloze = self._cloze(run, chosen, relations, "wikidata" if mined else "trex").path
        about = "Sentences with the object blanked; each has one answer that does not change."
        source = FromParquet(cloze / "cloze.parquet")
        drops = [chosen] if mined else [read, chosen]
        return Dataset(
            tables=(Table("all", rows.InvariantCloze, about, {"test": source}),),
            dropped=tuple(FromParquet(made.path / "dropped.parquet") for made in drops),
            figures=(
                _by_relation(chosen.path, relations),
                *([mining(mined)] if mined else []),
            ),
            plots=(_plot(cloze / "cloze.parquet"),),
        )

    def _chosen(
        self, run: Run, relations: Mapping[str, Relation], made: Sequence[Made], source: Source
    ) -> Made:
        exclusive = sorted(r for r, t in relations.items() if t.exclusive)

        def make(out: Path) -> None:
            with steps.open_engine(run) as eng:
                if source == "trex":
                    lines = eng.read(made[0].path / "trex.parquet", rows.TrexFact)
                    named, drops = invariant.of_lines(lines)
                else:
                    named = _of_dumps(eng, made, relations, exclusive)
                    of_each = [steps.dropped(eng, m, relations) for m in made]
                    drops = of_each[0].union(*of_each[1:]) if of_each[1:] else of_each[0]
                met = invariant.judged(eng.keep(named), self.common_nouns)
                if self.per_relation is not None:
                    met = invariant.capped(met, self.per_relation, run.seed)
                met = eng.keep(met)
                kept = met.filter(met.reason.isnull())
                order = ("relation", "subject")
                eng.write(kept, out / "facts.parquet", rows.NamedInvariant, order)
                drops = invariant.left_out(met).select(drops.columns).union(drops)
                eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

        return run.store.step(
            "invariant",
            make,
            version=code_digest(invariant, names, snapshot_diff, timeline, steps, rows),
            parameters={
                "relations": list(relations),
                "exclusive": exclusive,
                "source": source,
                "common_nouns": sorted(self.common_nouns),
                "per_relation": self.per_relation,
                "seed": run.seed if self.per_relation is not None else None,
            },
            inputs=[m.key for m in made],
        )

    def _cloze(
        self, run: Run, chosen: Made, relations: Mapping[str, Relation], source: Source
    ) -> Made:
        path = run.recipe.parent / self.tokenizer if self.tokenizer else None
        named = str(path) if path and path.exists() else self.tokenizer

        def make(out: Path) -> None:
            counter = tokens.tokenizer(named, self.tokenizer_revision) if named else None
            renderer = invariant.Renderer(relations, source, self.blank, counter, self.max_tokens)
            renderer.file(chosen.path / "facts.parquet", out / "cloze.parquet")

        return run.store.step(
            "invariant-cloze",
            make,
            version=code_digest(invariant, render, articles, tokens, rows),
            parameters={
                "templates": {r: [t.label, *t.cloze] for r, t in relations.items()},
                "blank": self.blank,
                "tokenizer": [named and tokens.identity(named), self.tokenizer_revision],
                "max_tokens": self.max_tokens,
            },
            inputs=[chosen.key],
        )


def _trex(run: Run, relations: Mapping[str, Relation]) -> Made:
    source = run.inputs["trex"]

    def make(out: Path) -> None:
        trex.read_trex(source.files, relations, out)

    return run.store.step(
        "trex",
        make,
        version=code_digest(trex, rows),
        parameters={"relations": sorted(relations), "files": [f.name for f in source.files]},
        inputs=source.sha256,
    )


def _of_dumps(
    eng: Engine, made: Sequence[Made], relations: Mapping[str, Relation], exclusive: Sequence[str]
) -> ir.Table:
    """The pairs of the newest of one or two dumps, oldest first, with names and reasons."""
    asked = list(relations)
    facts = [eng.read(m.path / "facts.parquet", rows.Fact) for m in made]
    facts = [t.filter(t.relation.isin(asked)) for t in facts]
    gaps = [eng.read(m.path / "gaps.parquet", rows.Gap) for m in made]
    in_doubt = gaps[0].union(*gaps[1:]) if gaps[1:] else gaps[0]
    in_doubt = in_doubt.filter(in_doubt.relation.isin(asked))
    pairs = invariant.pairs(facts[-1], in_doubt)
    if len(facts) == 2:
        changes = eng.keep(snapshot_diff.changes(eng, facts[0], facts[1], exclusive))
        pairs = invariant.in_both(eng.keep(pairs), changes)
    return invariant.named(eng.keep(pairs), eng.keep(steps.entities(eng, made)))


def _by_relation(chosen: Path, relations: Mapping[str, Relation]) -> Figure:
    kept, drops = str(chosen / "facts.parquet"), str(chosen / "dropped.parquet")
    query = "select relation, count(*) from read_parquet(?) group by 1"
    facts = dict(duckdb.execute(query, [kept]).fetchall())
    query = """
        select relation, reason, count(*) from read_parquet(?)
        where step = 'invariant' group by 1, 2
    """
    left = {(r, why): n for r, why, n in duckdb.execute(query, [drops]).fetchall()}
    reasons = [why for why in invariant.REASONS if any(w == why for _, w in left)]
    return Figure(
        "relations",
        "Facts by relation",
        [
            {"relation": r, "label": t.label, "kept": facts.get(r, 0)}
            | {why: left.get((r, why), 0) for why in reasons}
            for r, t in relations.items()
        ],
        "Pairs of subject and relation: those kept, and those left out by the first reason that "
        "holds. Each pair that is kept has a row for each template of its relation.",
    )


def _plot(cloze: Path) -> Plot:
    query = """
        select relation_label, count(*) from read_parquet(?) where template like '%/1'
        group by 1 order by 2 desc, 1
    """
    found = duckdb.execute(query, [str(cloze)]).fetchall()
    caption = "Facts of each relation; each has a row for each template."
    data = {label: {"facts": n} for label, n in found}
    return Plot("relations", "bars", "Facts by relation", caption, data, unit="facts")
