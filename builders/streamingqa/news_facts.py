"""The mined facts beside the news: what they are read from, and how they are opened."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.config import Strict
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts import namesakes
from factdrift.builders.facts import steps as fact_steps
from factdrift.builders.facts.relations import NewsWording, Relation
from factdrift.builders.generate.grounded import StatedFacts


class NewsFacts(Strict):
    """Facts and timelines of the dump beside the news; `relations`: how news states them."""

    facts: fact_steps.Facts
    timelines: fact_steps.Timelines
    relations: Mapping[str, NewsWording]

    @classmethod
    def of_run(cls, run: Run) -> "NewsFacts | None":
        """Those of the recipe's dump; None without a dump, or where no relation is in the news."""
        if "dump" not in run.inputs:
            return None
        news_relations: dict[str, Relation] = {}
        wordings: dict[str, NewsWording] = {}
        for relation_id, relation in fact_steps.all_relations(run).whole().items():
            if relation.news is not None:
                news_relations[relation_id] = relation
                wordings[relation_id] = relation.news
        if not news_relations:
            return None
        facts_step = fact_steps.facts_step(run, "dump", news_relations)
        return cls(
            facts=facts_step,
            timelines=fact_steps.timelines_step(run, facts_step, news_relations),
            relations=wordings,
        )

    @contextmanager
    def opened(self, workspace: Workspace) -> Iterator[tuple[StatedFacts, date] | None]:
        """Give the facts, and the day of the dump; None where no timeline has a segment."""
        facts_folder = workspace.folder(self.facts)
        timelines_folder = workspace.folder(self.timelines)
        segments_path = timelines_folder / "timelines.parquet"
        day_query = "select max(snapshot) from read_parquet(?)"
        newest_day = duck.query(day_query, [str(segments_path)])[0][0]
        if newest_day is None:
            yield None
            return
        with (
            TemporaryDirectory(dir=workspace.work("namesakes")) as scratch,
            duck.connect(workspace.work("spill"), workspace.memory) as db,
        ):
            stated_facts = StatedFacts(
                db,
                segments_path,
                timelines_folder / "gaps.parquet",
                facts_folder / "entities.parquet",
                self.relations,
                self._write_namesakes(workspace, Path(scratch)),
            )
            yield stated_facts, newest_day

    def _write_namesakes(self, workspace: Workspace, out: Path) -> Path:
        """Write the items of the facts whose name others have, and return the file."""
        with workspace.engine() as eng:
            namesakes.write_namesakes(
                eng,
                out,
                namesakes.read_held(eng, workspace.folder(self.timelines), self.relations),
                eng.read(workspace.folder(self.facts) / "entities.parquet", rows.Entity),
                namesakes.read_offices(eng, workspace.folder(self.facts.mined)),
            )
        return out / namesakes.NAMESAKES
