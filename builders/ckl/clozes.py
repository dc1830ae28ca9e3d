"""The `ckl-clozes` dataset: what workers wrote, with a model's prediction, for the experts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from factdrift.builders.ckl import common, models
from factdrift.builders.ckl.checks import cloze_doubts, cuts_name, is_undated_day
from factdrift.builders.ckl.common import NewsCorpus, Periods
from factdrift.builders.ckl.gold import (
    BLANK,
    DropError,
    accepted,
    each,
    kept,
    needed,
    plain,
    span,
)
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.rows import Article, Dropped, Gold, NewsCloze
from factdrift.builders.rows.gold import read_gold
from factdrift.builders.text.given_away import contains_as_scored
from factdrift.builders.text.prompts import as_of_day, merge_targets

LAYOUT = "ckl_question"
STEP = "ckl-clozes"
_WRITTEN_FOR = "written_for"
_NO_NEWS = "none"


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
        step = WorkersClozes(
            **self.given(run), predict=self.predict, seed=run.seed, offline=self.offline
        )
        folder = run.folder(step)
        about = "Statements with a gap, the answer of a recent article, and a model's prediction."
        return self.dataset(
            folder,
            NewsCloze,
            about,
            "full",
            "What the workers' answers came to",
            common.done_by(folder),
        )


class WorkersClozes(models.ModelStep):
    """The clozes that workers wrote, with predictions: `all.parquet` (`rows.NewsCloze`).

    Beside it `dropped.parquet`, and what was counted.
    """

    name: ClassVar[str] = STEP

    predict: models.PromptedStep | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the clozes against their articles, and let the model fill the masks."""
        clozes, dropped = workers_clozes(
            self.gold.files, NewsCorpus.of(self.corpus, workspace), self.periods
        )
        names = []
        if self.predict is not None:
            model = self.model(self.predict, workspace)
            slots = [{"cloze": one.cloze.replace(BLANK, self.predict.blank)} for one in clozes]
            texts = models.write(model, self.predict, "predict", slots)
            names.append(model.name)
            clozes = [_predicted(*pair, model.name) for pair in zip(clozes, texts, strict=True)]
        common.save(out, NewsCloze, clozes, dropped, {"prediction": names})


def workers_clozes(
    gold_files: Sequence[Path], corpus: NewsCorpus, periods: Periods
) -> tuple[list[NewsCloze], list[Dropped]]:
    """A cloze for each worker's answers, without a prediction and sorted by id, or why not.

    `no_article`: no recent article has this row; `duplicate`: the same cloze again; for the other
    reasons see `checked_cloze`.
    """
    dropped: list[Dropped] = []
    answered: dict[str, list[dict[str, Any]]] = {}
    judged = ((gold.row, gold) for gold in read_gold(gold_files, LAYOUT))
    for row, some in kept(STEP, judged, _answered, dropped):
        answered.setdefault(row, []).extend(some)
    clozes: dict[str, NewsCloze] = {}

    def add(of: tuple[Article | None, Mapping[str, Any]]) -> None:
        article, answers = of
        if article is None:
            raise DropError("no_article")
        cloze = checked_cloze(article, answers, periods.first.year)
        if cloze.id in clozes:
            raise DropError("duplicate", cloze.cloze)
        clozes[cloze.id] = cloze

    about = corpus.about(periods, answered)
    named = ((row, (article, one)) for row, workers, article in about for one in workers)
    kept(STEP, named, add, dropped)
    return sorted(clozes.values(), key=lambda one: one.id), dropped


def _answered(gold: Gold) -> tuple[str, list[dict[str, Any]]]:
    """A row, and the answers of the workers who found news in it."""
    answers, shown = accepted(gold)
    made_for = _answers_by_question(shown)
    return gold.row, [
        one | {_WRITTEN_FOR: made_for.get(plain(one.get("question")) or "")}
        for one in each(answers)
        if one.get("question") != _NO_NEWS
    ]


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


def checked_cloze(article: Article, answers: Mapping[str, Any], first_year: int) -> NewsCloze:
    """The cloze of a worker's answers about an article.

    `DropError`: `not_one_blank`: the statement does not hold [BLANK] once;
    `answer_not_in_article`: the marked words are not at their place; `answer_in_cloze`: the
    statement gives its answer away. `first_year`: that of the new corpus; an earlier one in a
    statement is doubtful.
    """
    cloze = needed(answers, "cloze")
    if cloze.count(BLANK) != 1:
        raise DropError("not_one_blank", cloze)
    marked = span(answers.get("answer"))
    if marked is None:
        raise DropError("missing_answer")
    text = article.text[marked.start : marked.end]
    if text != marked.text or not plain(text):
        raise DropError("answer_not_in_article", marked.text)
    answer = re.sub(r"\s", " ", text.strip())  # as long, so that offsets in it stay
    if any(contains_as_scored(side, answer) for side in cloze.split(BLANK)):
        raise DropError("answer_in_cloze", cloze)
    if is_undated_day(answer):
        raise DropError("weekday_answer", answer)
    if cuts_name(cloze, article.text, marked.start + len(text.rstrip())):
        raise DropError("name_cut", cloze)
    return NewsCloze(
        id=row_id(STEP, article.id, cloze, answer),
        prompt=as_of_day(cloze, article.day),
        targets=merge_targets([answer]),
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
