"""The steps of `invariant-lama`: the facts that do not change, and their cloze rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.run import Source
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import snapshot_diff, steps
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.facts.steps import Facts
from factdrift.builders.facts.timeline import Rules, TimeRule
from factdrift.builders.invariant import invariant, trex
from factdrift.builders.text.views import Views


class TrexFacts(Step):
    """The facts of LAMA's T-REx files: `trex.parquet` (`rows.TrexFact`) and `dropped.parquet`."""

    name: ClassVar[str] = "trex"

    files: Source
    relations: tuple[str, ...]

    def make(self, out: Path, at: Workspace) -> None:
        """Read the lines of these relations."""
        trex.read_trex(self.files.files, self.relations, out)


class InvariantFacts(Step):
    """The facts that do not change: `facts.parquet` (`rows.NamedInvariant`), `dropped.parquet`.

    `source`: T-REx, or the tables of one or two dumps, the older first; `many`: the relations that
    are not functional and left out for it; `alike`: `invariant.reads_alike`. The other fields are
    parameters of the dataset. `shown.parquet` holds the facts that prompts show.
    """

    name: ClassVar[str] = "invariant"

    source: TrexFacts | tuple[Facts, ...]
    relations: tuple[str, ...]
    rules: Mapping[str, TimeRule]
    common_nouns: tuple[str, ...]
    many: tuple[str, ...]
    require_pages: bool
    alike: Mapping[str, str]
    per_relation: int | None
    seed: int

    def make(self, out: Path, at: Workspace) -> None:
        """Give every pair that is left out its reason, and keep the rest."""
        with at.engine() as eng:
            if isinstance(self.source, TrexFacts):
                lines = eng.read(at.folder(self.source) / "trex.parquet", rows.TrexFact)
                named, drops = invariant.of_lines(lines)
            else:
                folders = [at.folder(one) for one in self.source]
                named = _of_dumps(eng, folders, self.rules)
                of_each = [steps.dropped(eng, folder) for folder in folders]
                drops = of_each[0].union(*of_each[1:]) if of_each[1:] else of_each[0]
            met = invariant.judged(
                eng.keep(named), self.common_nouns, self.many, self.require_pages, self.alike
            )
            if self.per_relation is not None:
                met = invariant.capped(met, self.per_relation, self.seed)
            met = eng.keep(invariant.held_out(eng.keep(met), self.seed))
            shown = met.filter(met.example)
            eng.write(shown, out / "shown.parquet", rows.NamedInvariant, ("relation", "chance"))
            kept = met.filter(met.reason.isnull())
            order = ("relation", "subject")
            eng.write(kept, out / "facts.parquet", rows.NamedInvariant, order)
            drops = invariant.left_out(met).select(drops.columns).union(drops)
            eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)


class InvariantClozeRows(Step):
    """The facts as cloze rows, one a template: `cloze.parquet` (`rows.InvariantCloze`).

    `templates`: property id -> label and cloze sentences.
    """

    name: ClassVar[str] = "invariant-cloze"

    facts: InvariantFacts
    templates: Mapping[str, ClozeTemplates]
    blank: str
    views: Views

    def make(self, out: Path, at: Workspace) -> None:
        """Render every fact with every template of its relation."""
        source: Literal["trex", "wikidata"] = (
            "trex" if isinstance(self.facts.source, TrexFacts) else "wikidata"
        )
        renderer = invariant.InvariantRenderer(self.templates, source, self.blank, self.views)
        folder = at.folder(self.facts)
        renderer.file(folder / "facts.parquet", out / "cloze.parquet")
        renderer.examples(folder / "shown.parquet", out / "examples.parquet")


def _of_dumps(eng: Engine, folders: Sequence[Path], rules: Rules) -> ir.Table:
    """The pairs of the newest of one or two dumps, oldest first, with names and reasons."""
    dumps = [steps.dump(eng, folder, rules) for folder in folders]
    gaps = [one.gaps for one in dumps]
    in_doubt = gaps[0].union(*gaps[1:]) if gaps[1:] else gaps[0]
    older = dumps[0].facts if dumps[1:] else None
    pairs = invariant.pairs(dumps[-1].facts, in_doubt, older)
    if len(dumps) == 2:
        changes = eng.keep(snapshot_diff.changes(eng, dumps[0], dumps[1], rules))
        pairs = invariant.in_both(eng.keep(pairs), changes)
    return invariant.named(eng.keep(pairs), eng.keep(steps.entities(eng, folders)))
