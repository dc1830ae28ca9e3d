"""Clozes as workers wrote them: gold rows of `ckl_question`, checked against their articles."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from builders.ckl.answers import DropError, accepted, each, loaded, needed, span
from builders.ckl.corpus import row_of
from builders.ckl.texts import BLANK, plain, same_length, says
from builders.gold import read_gold
from builders.rows import Article, Dropped, Gold, NewsCloze
from builders.run import Run
from builders.store import row_id

LAYOUT = "ckl_question"
STEP = "ckl-clozes"

Work = dict[str, list[dict[str, Any]]]
"""What each worker said of an article, by the id of its row in `ckl-questions`."""


def said(run: Run) -> tuple[Work, list[Dropped]]:
    """The workers' answers in the input `gold`, and the rows that have none to take."""
    work: Work = {}
    dropped = []
    for gold in read_gold(run.inputs["gold"].files, LAYOUT):
        try:
            answers = _answers(gold)
            work.setdefault(gold.row, []).extend(answers)
        except DropError as why:
            dropped.append(why.row(STEP, gold.row))
    return work, dropped


def drafts(work: Work, articles: Iterable[Article]) -> Iterator[NewsCloze | Dropped]:
    """A cloze for each worker's answers, without a prediction, or why there is none.

    `no_article`: no recent article has this row; `not_one_blank`: the statement does not hold
    [BLANK] once; `answer_not_in_article`: the marked words are not at their place;
    `answer_in_cloze`: the statement tells its answer; `duplicate`: the same again.
    """
    missing = dict(work)
    seen: set[str] = set()
    for article in articles:
        row = row_of(article.id)
        for answers in missing.pop(row, ()):
            try:
                draft = _draft(article, answers)
                if draft.id in seen:
                    raise DropError("duplicate", draft.cloze)
                seen.add(draft.id)
                yield draft
            except DropError as why:
                yield why.row(STEP, row)
    for row in missing:
        yield DropError("no_article").row(STEP, row)


def predicted(draft: NewsCloze, prediction: str | None, by: str | None) -> NewsCloze:
    """The cloze with what a model says."""
    search = f"{draft.search} {prediction}" if prediction else draft.search
    return replace(draft, prediction=prediction, predictor=by, search=search)


def _answers(gold: Gold) -> list[dict[str, Any]]:
    return each(loaded(accepted(gold).answers, "answers"))


def _draft(article: Article, answers: dict[str, Any]) -> NewsCloze:
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
    if any(says(side, answer) for side in cloze.split(BLANK)):
        raise DropError("answer_in_cloze", cloze)
    return NewsCloze(
        id=row_id(STEP, article.id, cloze, answer),
        evidence_id=article.id,
        article_day=article.day,
        cloze=cloze,
        new_answer=answer,
        answer_start=marked.start + len(text) - len(text.lstrip()),
        question=needed(answers, "edited"),
        generated_question=needed(answers, "question"),
        prediction=None,
        predictor=None,
        search=f"{' '.join(cloze.replace(BLANK, ' ').split())} {answer}",
    )
