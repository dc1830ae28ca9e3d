"""The `new-lama-easy-clozes` dataset: chosen sentences, rewritten and masked, for two workers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import builders.ckl as ckl_package
import builders.questions as questions_package
import builders.wmt as wmt_package
from builders import rows
from builders.citations import JANG_2022
from builders.ckl import corpus, easy, prompts, tables, writing
from builders.ckl.answers import DropError
from builders.ckl.settings import Periods, Translation
from builders.ckl.settings import Writing as WritingSettings
from builders.ckl.texts import places, plain
from builders.dataset import Dataset, Figure, FromParquet, Table
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest, files_sha256

_COUNTED = "Gold rows of the layout `easy_select`, and what became of them."
_ABOUT = "Sentences of recent articles with a word blanked."


@dataclass(frozen=True)
class _Rewritten:
    """A choice with its sentence as it is now, and what made it so."""

    chosen: easy.Chosen
    text: str
    decontextualiser: str | None = None
    translators: tuple[str, ...] = ()


class NewLAMAEasyClozes(DatasetBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: NewLAMA-Easy, steps 2 to 4).

    `decontextualise`: the model that makes a sentence stand alone; where it loses the word, the
    sentence stays as it was. `translate`: out of English and back; where that loses the word, the
    row is dropped. Without a model a step is skipped. `offline`: from cached texts alone.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)
    layouts: ClassVar[tuple[str, ...]] = (easy.SELECT,)

    builder: Literal["new-lama-easy-clozes"]
    periods: Periods = Periods()
    decontextualise: WritingSettings | None = None
    translate: Translation | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check the choices against the articles, rewrite, mask."""
        made = self._made(run, corpus.articles(run))
        done = (made.path / "steps").read_text("utf-8").splitlines()
        steps = {"decontextualisation": done[0].split(), "back-translation": done[1].split()}
        source = FromParquet(made.path / "all.parquet")
        about = writing.figure_rows(steps)
        return Dataset(
            tables=(Table("all", rows.EasyCloze, _ABOUT, {"full": source}),),
            dropped=(FromParquet(made.path / "dropped.parquet"),),
            figures=(
                tables.funnel("gold", "What the choices came to", tables.counts(made), _COUNTED),
                Figure("steps", "Steps that need a model", about),
            ),
        )

    def _made(self, run: Run, found: Made) -> Made:
        steps = {"decontextualisation": self.decontextualise, "back-translation": self.translate}
        writing.skipped(run, steps)

        def make(out: Path) -> None:
            words, dropped = easy.selected(run)
            some: list[_Rewritten] = []
            for one in easy.chosen(words, corpus.by_row(run, found, self.periods, words)):
                if isinstance(one, rows.Dropped):
                    dropped.append(one)
                else:
                    some.append(_Rewritten(one, one.text))
            some.sort(key=lambda one: one.chosen.id)
            names: tuple[str, ...] = ()
            alone: tuple[str, ...] = ()
            if self.decontextualise is not None:
                some, alone = self._alone(run, some, self.decontextualise)
            if self.translate is not None:
                some, names = self._there_and_back(run, some, self.translate)
            made: list[rows.EasyCloze] = []
            for written in some:
                try:
                    made.append(_row(written))
                except DropError as why:
                    row = corpus.row_of(written.chosen.article.id)
                    dropped.append(why.row(easy.STEP, row))
            tables.save(out / "all.parquet", rows.EasyCloze, made)
            tables.save_dropped(out / "dropped.parquet", dropped)
            counts = {"clozes": len(made)} | tables.reasons(dropped)
            if alone:
                counts["made to stand alone"] = sum(bool(row.decontextualiser) for row in made)
            tables.save_counts(out, counts)
            (out / "steps").write_text(f"{' '.join(alone)}\n{' '.join(names)}\n", "utf-8")

        return run.store.step(
            easy.STEP,
            make,
            version=code_digest(ckl_package, questions_package, wmt_package, rows),
            parameters={
                **self.model_dump(mode="json", exclude={"offline"}),
                "files": files_sha256(self.model_dump()),
                "seed": run.seed,
            },
            inputs=[found.key, *run.inputs["gold"].sha256],
        )

    def _alone(
        self, run: Run, some: Sequence[_Rewritten], settings: WritingSettings
    ) -> tuple[list[_Rewritten], tuple[str, ...]]:
        by = writing.writer(settings, run, self.offline)
        slots = [{"sentence": o.text, "article": _article(o.chosen.article)} for o in some]
        prompt = settings.prompt or prompts.DECONTEXTUALISE
        results = writing.write(by, prompt, slots, settings.backend.characters)
        out = []
        for one, result in zip(some, results, strict=True):
            text = plain(result.text)
            if text and len(places(one.chosen.word, text)) == 1:
                one = replace(one, text=text, decontextualiser=by.name)
            out.append(one)
        return out, (by.name,)

    def _there_and_back(
        self, run: Run, some: Sequence[_Rewritten], settings: Translation
    ) -> tuple[list[_Rewritten], tuple[str, ...]]:
        texts = [one.text for one in some]
        names: list[str] = []
        for step, prompt in ((settings.there, prompts.THERE), (settings.back, prompts.BACK)):
            by = writing.writer(step, run, self.offline)
            names.append(by.name)
            slots = [{"text": text} for text in texts if text]
            results = iter(writing.write(by, step.prompt or prompt, slots, step.backend.characters))
            texts = [(plain(next(results).text) or "") if text else "" for text in texts]
        done = tuple(names)
        pairs = zip(some, texts, strict=True)
        return [replace(one, text=text, translators=done) for one, text in pairs], done


def _article(article: rows.Article) -> str:
    return " ".join(article.sentences)


def _row(one: _Rewritten) -> rows.EasyCloze:
    chosen = one.chosen
    return rows.EasyCloze(
        id=chosen.id,
        evidence_id=chosen.article.id,
        article_day=chosen.article.day,
        cloze=easy.masked(one.text, chosen.word),
        answer=chosen.word,
        sentence=chosen.sentence,
        decontextualiser=one.decontextualiser,
        translators=one.translators,
    )
