"""The `ckl-clozes` dataset: what workers wrote, with a model's prediction, for the experts."""

from pathlib import Path
from typing import ClassVar, Literal

import builders.ckl as ckl_package
import builders.questions as questions_package
import builders.wmt as wmt_package
from builders import rows
from builders.citations import JANG_2022
from builders.ckl import corpus, drafts, tables, writing
from builders.ckl.prompts import PREDICT
from builders.ckl.settings import Periods
from builders.ckl.settings import Writing as WritingSettings
from builders.ckl.texts import BLANK
from builders.dataset import Dataset, Figure, FromParquet, Table
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest, files_sha256

_COUNTED = "Gold rows of the layout `ckl_question`, and what became of them."
_ABOUT = "Statements with a gap, the answer of a recent article, and a model's prediction."


class CKLClozes(DatasetBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: steps 2 and 3).

    `predict`: the model whose predictions are stored; none: they stay empty, and the experts take
    an empty prediction as not supported. `offline`: from cached predictions alone.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)
    layouts: ClassVar[tuple[str, ...]] = (drafts.LAYOUT,)

    builder: Literal["ckl-clozes"]
    periods: Periods = Periods()
    predict: WritingSettings | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check what workers wrote against the articles, then ask the model."""
        made = self._made(run, corpus.articles(run))
        counts = tables.counts(made)
        by = [counts_name] if (counts_name := _name(made)) else []
        return Dataset(
            tables=(
                Table(
                    "all", rows.NewsCloze, _ABOUT, {"full": FromParquet(made.path / "all.parquet")}
                ),
            ),
            dropped=(FromParquet(made.path / "dropped.parquet"),),
            figures=(
                tables.funnel("gold", "What the workers' answers came to", counts, _COUNTED),
                Figure("steps", "Steps that need a model", writing.figure_rows({"prediction": by})),
            ),
        )

    def _made(self, run: Run, found: Made) -> Made:
        writing.skipped(run, {"prediction": self.predict})

        def make(out: Path) -> None:
            work, dropped = drafts.said(run)
            made: list[rows.NewsCloze] = []
            for one in drafts.drafts(work, corpus.by_row(run, found, self.periods, work)):
                made.append(one) if isinstance(one, rows.NewsCloze) else dropped.append(one)
            made.sort(key=lambda one: one.id)
            name = None
            if self.predict is not None:
                made, name = self._predicted(run, made, self.predict)
            tables.save(out / "all.parquet", rows.NewsCloze, made)
            tables.save_dropped(out / "dropped.parquet", dropped)
            counts = {"clozes": len(made)} | tables.reasons(dropped)
            if name:
                counts["with a prediction"] = sum(one.prediction is not None for one in made)
            tables.save_counts(out, counts)
            (out / "predictor").write_text(name or "", "utf-8")

        return run.store.step(
            drafts.STEP,
            make,
            version=code_digest(ckl_package, questions_package, wmt_package, rows),
            parameters={
                **self.model_dump(mode="json", exclude={"offline"}),
                "files": files_sha256(self.model_dump()),
                "seed": run.seed,
            },
            inputs=[found.key, *run.inputs["gold"].sha256],
        )

    def _predicted(
        self, run: Run, made: list[rows.NewsCloze], settings: WritingSettings
    ) -> tuple[list[rows.NewsCloze], str]:
        by = writing.writer(settings, run, self.offline)
        slots = [{"cloze": one.cloze.replace(BLANK, settings.blank)} for one in made]
        results = writing.write(by, settings.prompt or PREDICT, slots, settings.backend.characters)
        asked = zip(made, results, strict=True)
        return [drafts.predicted(one, result.text, by.name) for one, result in asked], by.name


def _name(made: Made) -> str:
    return (made.path / "predictor").read_text("utf-8")
