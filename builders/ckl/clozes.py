"""The `ckl-clozes` dataset: what workers wrote, with a model's prediction, for the experts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from factdrift.builders.ckl import common, models
from factdrift.builders.ckl.checks import cloze_doubts, cuts_name, is_undated_day
from factdrift.builders.ckl.common import NewsCorpus, Periods, with_articles
from factdrift.builders.ckl.gold import (
    BLANK,
    DropError,
    accepted,
    each,
    loaded,
    needed,
    plain,
    read_each,
    same_length,
    span,
)
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import NOT_IN_KEY, Workspace
from factdrift.builders.generate.backends import open_model
from factdrift.builders.rows import Article, Dropped, Gold, NewsCloze
from factdrift.builders.text.given_away import as_scored
from factdrift.builders.text.prompts import as_of, targets
from factdrift.builders.wmt.steps import articles

LAYOUT = "ckl_question"
STEP = "ckl-clozes"
_PREDICTOR = "predictor"
_WRITTEN_FOR = "written_for"
_NO_NEWS = "none"

WorkersAnswers = dict[str, list[dict[str, Any]]]
"""The answers of each worker about an article, by the id of its row in `ckl-questions`."""


class CKLClozes(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: steps 2 and 3).

    `predict`: the model whose predictions are stored; none: they stay empty, and the experts take
    an empty prediction as not supported. `offline`: whether only predictions that were made before
    are used.
    """

    layouts: ClassVar[tuple[str, ...]] = (LAYOUT,)

    builder: Literal["ckl-clozes"]
    predict: models.PromptedStep | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check what workers wrote against the articles, then ask the model."""
        models.say_skipped(run, {"prediction": self.predict})
        folder = run.folder(
            WorkersClozes(
                corpus=articles(run),
                gold=run.inputs["gold"],
                periods=self.periods,
                predict=self.predict,
                seed=run.seed,
                offline=self.offline,
            )
        )
        name = (folder / _PREDICTOR).read_text("utf-8")
        about = "Statements with a gap, the answer of a recent article, and a model's prediction."
        caption = "Gold rows of the layout `ckl_question` by outcome."
        counts = common.counts_of(folder)
        clozes = {"full": FromParquet(folder / "all.parquet")}
        return Dataset(
            tables=(Table("all", NewsCloze, about, clozes),),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(
                common.funnel("gold", "What the workers' answers came to", counts, caption),
                models.done_by({"prediction": [name] if name else []}),
            ),
        )


class WorkersClozes(common.GoldStep):
    """The clozes that workers wrote, with predictions: `all.parquet` (`rows.NewsCloze`).

    Beside it `dropped.parquet`, what was counted, and the model's name.
    """

    name: ClassVar[str] = STEP

    predict: models.PromptedStep | None
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def make(self, out: Path, at: Workspace) -> None:
        """Check the clozes against their articles, and let the model fill the masks."""
        clozes, dropped = workers_clozes(
            self.gold.files, NewsCorpus.of(self.corpus, at), self.periods
        )
        counts = {"clozes": len(clozes)} | common.reasons(dropped)
        name = ""
        if self.predict is not None:
            model = open_model(
                self.predict.backend, self.seed, at.work("answers"), offline=self.offline
            )
            slots = [{"cloze": one.cloze.replace(BLANK, self.predict.blank)} for one in clozes]
            default = models.default_prompts().predict
            texts = models.write(model, self.predict, default, slots)
            name = model.name
            clozes = [_predicted(*pair, name) for pair in zip(clozes, texts, strict=True)]
            counts["with a prediction"] = sum(text is not None for text in texts)
        common.save_rows(out / "all.parquet", NewsCloze, clozes)
        common.save_dropped(out / "dropped.parquet", dropped)
        common.save_counts(out, counts)
        (out / _PREDICTOR).write_text(name, "utf-8")


def workers_clozes(
    gold_files: Sequence[Path], corpus: NewsCorpus, periods: Periods
) -> tuple[list[NewsCloze], list[Dropped]]:
    """The clozes of the gold rows, without predictions and sorted by id, and what is dropped."""
    work: WorkersAnswers = {}

    def take(gold: Gold) -> None:
        answers = each(loaded(accepted(gold).answers, "answers"))
        made_for = _answers_by_question(loaded(gold.shown, "shown"))
        mine = [
            one | {_WRITTEN_FOR: made_for.get(plain(one.get("question")) or "")}
            for one in answers
            if one.get("question") != _NO_NEWS
        ]
        work.setdefault(gold.row, []).extend(mine)

    dropped = read_each(gold_files, LAYOUT, STEP, take)
    clozes: list[NewsCloze] = []
    for one in checked_clozes(work, corpus.by_row(periods, work), periods.first.year):
        clozes.append(one) if isinstance(one, NewsCloze) else dropped.append(one)
    return sorted(clozes, key=lambda one: one.id), dropped


def checked_clozes(
    work: WorkersAnswers, articles: Iterable[Article], first_year: int = 1
) -> Iterator[NewsCloze | Dropped]:
    """A cloze for each worker's answers, without a prediction, or why there is none.

    `no_article`: no recent article has this row; `not_one_blank`: the statement does not hold
    [BLANK] once; `answer_not_in_article`: the marked words are not at their place;
    `answer_in_cloze`: the statement gives its answer away; `duplicate`: the same cloze again.
    `first_year`: that of the new corpus; an earlier one in a statement is doubtful.
    """
    seen: set[str] = set()
    for row, workers, article in with_articles(work, articles):
        if article is None:
            yield DropError("no_article").row(STEP, row)
            continue
        for answers in workers:
            try:
                cloze = _cloze(article, answers, first_year)
                if cloze.id in seen:
                    raise DropError("duplicate", cloze.cloze)
                seen.add(cloze.id)
                yield cloze
            except DropError as why:
                yield why.row(STEP, row)


def _predicted(cloze: NewsCloze, prediction: str | None, model: str) -> NewsCloze:
    search = f"{cloze.search} {prediction}" if prediction else cloze.search
    return replace(cloze, prediction=prediction, predictor=model, search=search)


def _answers_by_question(shown: Mapping[str, Any]) -> dict[str, str]:
    """The answer that each question was made for, where the item had it."""
    questions, answers = shown.get("questions"), shown.get(_WRITTEN_FOR)
    if not isinstance(questions, list) or not isinstance(answers, list):
        return {}
    pairs = zip(questions, answers, strict=False)
    return {plain(q) or "": a for q, a in pairs if isinstance(a, str)}


def _cloze(article: Article, answers: dict[str, Any], first_year: int) -> NewsCloze:
    cloze = needed(answers, "cloze")
    if cloze.count(BLANK) != 1:
        raise DropError("not_one_blank", cloze)
    marked = span(answers.get("answer"))
    if marked is None:
        raise DropError("missing_answer")
    text = article.text[marked.start : marked.end]
    if text != marked.text or not plain(text):
        raise DropError("answer_not_in_article", marked.text)
    answer = same_length(text.strip())
    if any(as_scored(side, answer) for side in cloze.split(BLANK)):
        raise DropError("answer_in_cloze", cloze)
    if is_undated_day(answer):
        raise DropError("weekday_answer", answer)
    if cuts_name(cloze, article.text, marked.start + len(text.rstrip())):
        raise DropError("name_cut", cloze)
    return NewsCloze(
        id=row_id(STEP, article.id, cloze, answer),
        prompt=as_of(cloze, article.day),
        targets=targets([answer]),
        evidence_id=article.id,
        article_day=article.day,
        cloze=cloze,
        new_answer=answer,
        answer_start=marked.start + len(text) - len(text.lstrip()),
        question=needed(answers, "edited"),
        generated_question=needed(answers, "question"),
        prediction=None,
        predictor=None,
        doubts=tuple(
            cloze_doubts(
                cloze,
                needed(answers, "edited"),
                answer,
                answers.get(_WRITTEN_FOR),
                article.text[: marked.start].replace("\n", " "),
                first_year,
            )
        ),
        search=f"{' '.join(cloze.replace(BLANK, ' ').split())} {answer}",
    )
