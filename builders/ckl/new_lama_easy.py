"""The `new-lama-easy` dataset: masked sentences that two workers' questions lead back to."""

from pathlib import Path
from typing import ClassVar, Literal

import builders.ckl as ckl_package
import builders.wmt as wmt_package
from builders import rows
from builders.citations import JANG_2022
from builders.ckl import corpus, easy, tables
from builders.ckl.answers import DropError
from builders.ckl.settings import Periods
from builders.ckl.texts import BLANK
from builders.ckl.viewing import Viewed
from builders.cloze import render, tokens
from builders.cloze.tokens import TokenCounter
from builders.dataset import Dataset, Figure, FromParquet, Scalar, Table
from builders.questions import squad
from builders.run import Run
from builders.store import Made, code_digest

_COUNTED = "Gold rows of the layouts `easy_select` and `easy_question`, and what became of them."
_ABOUT = "Sentences of recent articles with a word blanked, and two questions for it."


class NewLAMAEasy(Viewed):
    """Parameters of the dataset (Jang et al. 2022, appendix B); the days are the paper's.

    `blank`: what stands for the answer in a query. `tokenizer`: see `Viewed`.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)
    layouts: ClassVar[tuple[str, ...]] = (easy.SELECT, easy.QUESTION)

    builder: Literal["new-lama-easy"]
    periods: Periods = Periods()
    blank: str = render.BLANK

    def build(self, run: Run) -> Dataset:
        """From gold rows of `easy_select` and `easy_question`; no model is asked again."""
        made = self._made(run, corpus.articles(run))
        counts = tables.counts(made)
        beside: dict[str, Scalar] = {"dataset": "new-lama-easy", "rows": counts["rows"]}
        beside["rows in the paper"] = 11_177
        return Dataset(
            tables=(
                Table(
                    "all",
                    rows.NewEasyCloze,
                    _ABOUT,
                    {"test": FromParquet(made.path / "all.parquet")},
                ),
            ),
            dropped=(FromParquet(made.path / "dropped.parquet"),),
            figures=(
                tables.funnel("gold", "What the answers came to", counts, _COUNTED),
                Figure("paper", "Beside the paper's", [beside]),
            ),
        )

    def _made(self, run: Run, found: Made) -> Made:
        def make(out: Path) -> None:
            counter = self.counter(run)
            words, dropped = easy.selected(run)
            known: dict[str, easy.Chosen] = {}
            for one in easy.chosen(words, corpus.by_row(run, found, self.periods, words)):
                if isinstance(one, rows.Dropped):
                    dropped.append(one)
                else:
                    known[one.id] = one
            asked, refused = easy.asked(run)
            seen = {one.row for one in asked} | {one.item for one in refused}
            made = []
            for ask in asked:
                try:
                    made.append(self._row(ask, known, counter))
                except DropError as why:
                    refused.append(why.row(easy.ASK, ask.row))
            refused += [
                DropError("not_asked", known[name].text).row(easy.ASK, name)
                for name in sorted(known.keys() - seen)
            ]
            tables.save(out / "all.parquet", rows.NewEasyCloze, made)
            tables.save_dropped(out / "dropped.parquet", [*dropped, *refused])
            counts = {"rows": len(made)}
            counts |= tables.left_out((easy.STEP, dropped), (easy.ASK, refused))
            tables.save_counts(out, counts)

        return run.store.step(
            easy.ASK,
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
        self, ask: easy.Asked, known: dict[str, easy.Chosen], counter: TokenCounter | None
    ) -> rows.NewEasyCloze:
        chosen = known.get(ask.row)
        if chosen is None:
            raise DropError("no_cloze", ask.cloze)
        easy.check(ask, chosen.word)
        return rows.NewEasyCloze(
            id=ask.row,
            query=ask.cloze.replace(BLANK, self.blank),
            answer=chosen.word,
            questions=ask.questions,
            new_evidence=chosen.evidence(),
            clozes=ask.clozes,
            **self.view(counter, chosen.word),
        )
