"""The `invariant-lama` dataset: cloze queries whose one answer does not change."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import mining
from factdrift.builders.facts.namesakes import alike_relations
from factdrift.builders.facts.relations import (
    OURS,
    ClozeTemplates,
    Relation,
    cloze_templates,
    select_relations,
)
from factdrift.builders.facts.steps import Facts
from factdrift.builders.invariant import card
from factdrift.builders.invariant.steps import InvariantClozeRows, InvariantFacts, TrexFacts
from factdrift.builders.text import views
from factdrift.builders.text.views import ClozeBuilder

RELATIONS = tuple(
    "P19 P20 P279 P37 P449 P47 P138 P364 P527 P176 P27 P407 P30 P178 P1376 P131 P1412 P17 P276 "
    "P937 P140 P103 P190 P1001 P495 P36 P740 P361".split()
)
"""The paper's 28 relations, in the order of its table 4."""


class InvariantLAMA(ClozeBuilder):
    """Parameters of the dataset; the defaults are the paper's (Jang et al. 2022, appendix B.1).

    `relations` are property ids, each of which has a template. `common_nouns` are relations whose
    answers are common nouns by nature, so that a label in lower case is an answer like any other;
    numbers and dates are never answers. `functional` leaves out relations whose template does not
    say `functional: true`. `require_pages` leaves out subjects without an English Wikipedia page;
    it has no effect on T-REx, which does not list pages. `per_relation` limits the subjects of a
    relation to the most popular ones; null keeps all. `wording` names the cloze sentences: `ours`
    or a set of the templates.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("jang-etal-2022-towards",)

    next_commands: ClassVar[Mapping[str, str]] = {"all": "export {release} --format lama"}

    builder: Literal["invariant-lama"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)] = RELATIONS
    common_nouns: tuple[str, ...] = ("P279", "P361", "P527")
    functional: bool = True
    require_pages: bool = True
    per_relation: int | None = Field(default=None, ge=1)
    wording: str = OURS

    def build(self, run: Run) -> Dataset:
        """Build from the input `trex` if it is given, else from `dump` and, if given, `older`."""
        relations = select_relations(steps.all_relations(run), self.relations, run.templates)
        templates = cloze_templates(relations, self.wording, run.templates)
        facts = self._facts(run, relations, templates)
        cloze = InvariantClozeRows(
            facts=facts,
            templates=templates,
            blank=self.blank,
            views=self.views(run),
        )
        path = run.folder(cloze) / "cloze.parquet"
        chosen = run.folder(facts)
        drops = [chosen]
        statistics = [
            card.by_relation(chosen, steps.relation_labels(relations)),
            views.view_statistics(path, card.LAMA),
        ]
        if isinstance(facts.source, TrexFacts):
            drops.insert(0, run.folder(facts.source))
        else:
            names = ("older", "dump")[-len(facts.source) :]
            folders = map(run.folder, facts.source)
            named_folders = dict(zip(names, folders, strict=True))
            statistics.append(mining(named_folders, run.workspace.say))
        return Dataset(
            tables=(Table("all", rows.InvariantCloze, _ABOUT, {"test": FromParquet(path)}),),
            examples=FromParquet(path.with_name("examples.parquet")),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in drops),
            statistics=tuple(statistics),
            plots=(card.plot(path),),
        )

    def _facts(
        self,
        run: Run,
        relations: Mapping[str, Relation],
        templates: Mapping[str, ClozeTemplates],
    ) -> InvariantFacts:
        source: TrexFacts | tuple[Facts, ...]
        if "trex" in run.inputs:
            source = TrexFacts(files=run.inputs["trex"], relations=tuple(relations))
        elif "dump" in run.inputs:
            days = [name for name in ("older", "dump") if name in run.inputs]
            source = tuple(steps.facts_step(run, name, relations) for name in days)
        else:
            hint_text = "name one of the two in the recipe"
            raise UserError(
                "no input dump, and no trex", where=display_path(run.recipe), hint=hint_text
            )
        rules = steps.time_rules(relations)
        newest_first = () if isinstance(source, TrexFacts) else source[::-1]
        return InvariantFacts(
            source=source,
            relations=tuple(relations),
            rules=rules,
            learned=steps.learned_step(run, newest_first, rules) if newest_first else None,
            common_nouns=self.common_nouns,
            excluded_relations=tuple(
                property_id
                for property_id, relation in relations.items()
                if not relation.functional
            )
            if self.functional
            else (),
            require_pages=self.require_pages and not isinstance(source, TrexFacts),
            alike=alike_relations(templates),
            per_relation=self.per_relation,
            seed=run.seed,
        )


_ABOUT = "Sentences with the object blanked; each has one answer that does not change."
