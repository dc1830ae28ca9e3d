"""The `updated-lama` and `new-lama` datasets: what the experts' judgments came to."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

import builders.ckl as ckl_package
import builders.wmt as wmt_package
from builders import rows
from builders.citations import JANG_2022
from builders.ckl import corpus, drafts, expert, tables
from builders.ckl.answers import DropError
from builders.ckl.expert import Judged
from builders.ckl.settings import Periods
from builders.ckl.texts import BLANK
from builders.ckl.viewing import Viewed
from builders.cloze import render, tokens
from builders.cloze.tokens import TokenCounter
from builders.dataset import Dataset, Figure, FromParquet, Scalar, Table
from builders.questions import squad
from builders.run import Run
from builders.store import Made, code_digest

Kind = Literal["updated", "new"]


class _Decided(Viewed):
    """What the two datasets share: one decision, of which each takes a part."""

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)
    layouts: ClassVar[tuple[str, ...]] = (drafts.LAYOUT, expert.LAYOUT)
    kind: ClassVar[Kind]

    periods: Periods = Periods()
    blank: str = render.BLANK

    def build(self, run: Run) -> Dataset:
        """From gold rows of `ckl_question` and `ckl_expert`, and the articles they are about."""
        made = self._decided(run)
        counts = tables.counts(made)
        row, about = _ROWS[self.kind]
        source = FromParquet(made.path / f"{self.kind}.parquet")
        return Dataset(
            tables=(Table("all", row, about, {"test": source}),),
            dropped=(
                FromParquet(made.path / "dropped.parquet"),
                FromParquet(made.path / f"not_{self.kind}.parquet"),
            ),
            figures=(
                tables.funnel("decisions", "What the experts' judgments came to", counts, _COUNTED),
                _paper(counts),
            ),
        )

    def _decided(self, run: Run) -> Made:
        found = corpus.articles(run)

        def make(out: Path) -> None:
            counter = self.counter(run)
            work, dropped = drafts.said(run)
            written: dict[str, rows.NewsCloze] = {}
            for one in drafts.drafts(work, corpus.by_row(run, found, self.periods, work)):
                if isinstance(one, rows.NewsCloze):
                    written[one.id] = one
                else:
                    dropped.append(one)
            judged, refused = expert.judged(run, self.periods.old_until)
            ids = expert.wanted(judged)
            old = {a.id: a for a in corpus.by_id(run, found, self.periods.old_until, ids)}
            made: list[rows.UpdatedCloze | rows.NewCloze] = []
            seen = {one.row for one in judged} | {one.item for one in refused}
            for judgment in judged:
                try:
                    made.append(self._row(judgment, written, old, counter))
                except DropError as why:
                    refused.append(why.row(expert.STEP, judgment.row))
            refused += [
                DropError("not_judged", one.cloze).row(expert.STEP, name)
                for name, one in sorted(written.items())
                if name not in seen
            ]
            updated = [one for one in made if isinstance(one, rows.UpdatedCloze)]
            new = [one for one in made if isinstance(one, rows.NewCloze)]
            tables.save(out / "updated.parquet", rows.UpdatedCloze, updated)
            tables.save(out / "new.parquet", rows.NewCloze, new)
            tables.save_dropped(out / "not_updated.parquet", _others("new", new))
            tables.save_dropped(out / "not_new.parquet", _others("updated", updated))
            tables.save_dropped(out / "dropped.parquet", [*dropped, *refused])
            counts = {"updated": len(updated), "new": len(new)}
            counts |= tables.left_out((drafts.STEP, dropped), (expert.STEP, refused))
            tables.save_counts(out, counts)

        return run.store.step(
            expert.STEP,
            make,
            version=code_digest(ckl_package, wmt_package, tokens, rows, squad),
            parameters={
                "periods": self.periods.model_dump(mode="json"),
                "blank": self.blank,
                **self.view_parameters(run),
            },
            inputs=[found.key, *run.inputs["gold"].sha256],
        )

    def _row(
        self,
        judged: Judged,
        written: Mapping[str, rows.NewsCloze],
        old: Mapping[str, rows.Article],
        counter: TokenCounter | None,
    ) -> rows.UpdatedCloze | rows.NewCloze:
        """The row of a judgment; `DropError`: its cloze or its evidence is not there."""
        cloze = written.get(judged.row)
        if cloze is None:
            raise DropError("no_cloze")
        base = rows.NewCloze(
            id=cloze.id,
            query=judged.statement.replace(BLANK, self.blank),
            answer=cloze.new_answer,
            question=cloze.question,
            new_evidence=rows.Evidence(
                cloze.evidence_id,
                cloze.article_day,
                cloze.answer_start,
                cloze.answer_start + len(cloze.new_answer),
            ),
            prediction=judged.prediction,
            grounds="not_found",
            passages=judged.passages,
            clozes=judged.clozes,
            **self.view(counter, cloze.new_answer),
        )
        if judged.marked is None or judged.old_answer is None:
            return base
        shared = {name: getattr(base, name) for name in rows.LamaCloze.__dataclass_fields__}
        shared["grounds"] = "supported" if judged.verdict.reason == "supported" else "found"
        return rows.UpdatedCloze(
            **shared,
            old_answer=judged.old_answer,
            old_evidence=expert.located(judged.marked, old),
        )


class UpdatedLAMA(_Decided):
    """Parameters of `updated-lama` (Jang et al. 2022, appendix B); the days are the paper's.

    `blank`: what stands for the answer in a query. `tokenizer`: see `Viewed`.
    """

    kind: ClassVar[Kind] = "updated"
    builder: Literal["updated-lama"]


class NewLAMA(_Decided):
    """Parameters of `new-lama` (Jang et al. 2022, appendix B); the days are the paper's.

    `blank`: what stands for the answer in a query. `tokenizer`: see `Viewed`.
    """

    kind: ClassVar[Kind] = "new"
    builder: Literal["new-lama"]


_ROWS: Mapping[Kind, tuple[type, str]] = {
    "updated": (rows.UpdatedCloze, "Sentences with a gap that the old corpus fills otherwise."),
    "new": (rows.NewCloze, "Sentences with a gap that the old corpus does not fill."),
}
_COUNTED = (
    "Gold rows of the layouts `ckl_question` and `ckl_expert`. Rows of the one kind are listed "
    "among the dropped rows of the other, with its name as the reason."
)


def _others(reason: Kind, some: Iterable[rows.LamaCloze]) -> list[rows.Dropped]:
    return [DropError(reason, one.query).row(expert.STEP, one.id) for one in some]


def _paper(counts: Mapping[str, int]) -> Figure:
    made: list[Mapping[str, Scalar]] = [
        {"dataset": "updated-lama", "rows": counts["updated"], "rows in the paper": 924},
        {"dataset": "new-lama", "rows": counts["new"], "rows in the paper": 797},
    ]
    return Figure("paper", "Beside the paper's", made, "InvariantLAMA has 17,474 rows there.")
