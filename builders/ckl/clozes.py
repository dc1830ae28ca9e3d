"""The `ckl-clozes` dataset: clozes that workers wrote, with a model's prediction, for experts."""

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
    accepted_answers,
    answers_by_worker,
    make_or_drop,
    marked_text,
    plain_blanks,
    required_text,
    single_line,
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

    `predict` names the model whose predictions are stored. Without one they stay empty, and the
    experts take an empty prediction as not supported. `offline` says that only predictions that
    were made before are used.
    """

    layouts: ClassVar[tuple[str, ...]] = (LAYOUT,)

    builder: Literal["ckl-clozes"]
    predict: models.PromptedStep | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check the workers' clozes against the articles, then let the model predict."""
        models.report_skipped(run, {"prediction": self.predict})
        step = WorkersClozes(
            **self.step_fields(run), predict=self.predict, seed=run.seed, offline=self.offline
        )
        folder = run.folder(step)
        description = (
            "Statements with a gap, the answer of a recent article, and a model's prediction."
        )
        return self.dataset(
            folder,
            NewsCloze,
            description,
            "full",
            "What the workers' answers came to",
            common.models_used(folder),
        )


class WorkersClozes(models.ModelStep):
    """The clozes that workers wrote, with predictions: `all.parquet` (`rows.NewsCloze`).

    Beside it are `dropped.parquet`, and `counts.json` with the number of rows by outcome.
    """

    name: ClassVar[str] = STEP

    predict: models.PromptedStep | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the clozes against their articles, and let the model fill the masks."""
        clozes, dropped = workers_clozes(
            self.gold.files, NewsCorpus.of_step(self.corpus, workspace), self.periods
        )
        model_names = []
        if self.predict is not None:
            model = self.model(self.predict, workspace)
            slots = [{"cloze": cloze.cloze.replace(BLANK, self.predict.blank)} for cloze in clozes]
            texts = models.continue_prompts(model, self.predict, "predict", slots)
            model_names.append(model.name)
            clozes = [_predicted(*pair, model.name) for pair in zip(clozes, texts, strict=True)]
        common.save_rows(out, NewsCloze, clozes, dropped, {"prediction": model_names})


def workers_clozes(
    gold_files: Sequence[Path], corpus: NewsCorpus, periods: Periods
) -> tuple[list[NewsCloze], list[Dropped]]:
    """Return a cloze for each worker's answers, sorted by id, and the drops of refused answers.

    The clozes have no prediction yet. Reasons are `no_article`, where no recent article has this
    row, `duplicate` for the same cloze again, and those of `checked_cloze`.
    """
    dropped: list[Dropped] = []
    answers_by_row: dict[str, list[dict[str, Any]]] = {}
    gold_rows = ((gold.row, gold) for gold in read_gold(gold_files, LAYOUT))
    for row, row_answers in make_or_drop(STEP, gold_rows, _answered, dropped):
        answers_by_row.setdefault(row, []).extend(row_answers)
    clozes: dict[str, NewsCloze] = {}

    def add(article_and_answers: tuple[Article | None, Mapping[str, Any]]) -> None:
        article, answers = article_and_answers
        if article is None:
            raise DropError("no_article")
        cloze = checked_cloze(article, answers, periods.first.year)
        if cloze.id in clozes:
            raise DropError("duplicate", cloze.cloze)
        clozes[cloze.id] = cloze

    rows_with_articles = corpus.with_articles(periods, answers_by_row)
    named_answers = (
        (row, (article, worker_answers))
        for row, workers, article in rows_with_articles
        for worker_answers in workers
    )
    make_or_drop(STEP, named_answers, add, dropped)
    return sorted(clozes.values(), key=lambda cloze: cloze.id), dropped


def _answered(gold: Gold) -> tuple[str, list[dict[str, Any]]]:
    """Return a row's id and the answers of the workers who found news in its article."""
    answers, fields_seen = accepted_answers(gold)
    answer_by_question = _answers_by_question(fields_seen)
    return gold.row, [
        worker_answers
        | {_WRITTEN_FOR: answer_by_question.get(single_line(worker_answers.get("question")) or "")}
        for worker_answers in answers_by_worker(answers)
        if worker_answers.get("question") != _NO_NEWS
    ]


def _predicted(cloze: NewsCloze, prediction: str | None, model: str) -> NewsCloze:
    search = f"{cloze.search} {prediction}" if prediction else cloze.search
    return replace(cloze, prediction=prediction, predictor=model, search=search)


def _answers_by_question(fields_seen: Mapping[str, Any]) -> dict[str, str]:
    """Return the answer that each offered question was made for, where the item had it."""
    questions, answers = fields_seen.get("questions"), fields_seen.get(_WRITTEN_FOR)
    if not isinstance(questions, list) or not isinstance(answers, list):
        return {}
    pairs = zip(questions, answers, strict=False)
    answer_by_question = {}
    for question, answer in pairs:
        if isinstance(answer, str):
            answer_by_question[single_line(question) or ""] = answer
    return answer_by_question


def checked_cloze(article: Article, answers: Mapping[str, Any], first_year: int) -> NewsCloze:
    """Make the cloze of a worker's answers about an article.

    It raises `DropError` with `not_one_blank` where the statement does not hold [BLANK] once, with
    `answer_not_in_article` where the marked words are not at their place, and with
    `answer_in_cloze` where the statement gives its answer away. `first_year` is the first year of
    the new corpus: an earlier year in a statement is doubtful.
    """
    cloze = plain_blanks(required_text(answers, "cloze"))
    if cloze.count(BLANK) != 1:
        raise DropError("not_one_blank", cloze)
    marked = marked_text(answers.get("answer"))
    if marked is None:
        raise DropError("missing_answer")
    text = article.text[marked.start : marked.end]
    if text != marked.text or not single_line(text):
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
        question=required_text(answers, "edited"),
        generated_question=required_text(answers, "question"),
        prediction=None,
        predictor=None,
        doubts=tuple(
            cloze_doubts(
                cloze,
                required_text(answers, "edited"),
                answer,
                answers.get(_WRITTEN_FOR),
                article.text[: marked.start].replace("\n", " "),
                first_year,
            )
        ),
        search=f"{' '.join(cloze.replace(BLANK, ' ').split())} {answer}",
    )
