"""The `updated-lama` and `new-lama` datasets: what experts found in the old corpus.

Their judgments are gold rows of `ckl_expert`; by the rule `decide` a cloze is updated or new.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from factdrift.builders import rows
from factdrift.builders.ckl import common
from factdrift.builders.ckl.checks import is_within, text_doubts
from factdrift.builders.ckl.clozes import LAYOUT as CLOZE_LAYOUT
from factdrift.builders.ckl.clozes import workers_clozes
from factdrift.builders.ckl.common import NewsCorpus
from factdrift.builders.ckl.gold import (
    BLANK,
    Answers,
    DropError,
    accepted,
    agreed,
    each,
    kept,
    needed,
    opened_passages,
    plain,
    read_once,
    span,
)
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.rows import Article, Dropped, Evidence, Gold
from factdrift.builders.text import prompts
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.text.tokens import TokenCounter
from factdrift.builders.text.views import ClozeBuilder, ViewSettings, view_statistics
from factdrift.builders.wmt.lines import parse_day, sorting_key
from factdrift.builders.wmt.passages import passage_prefix, passage_texts

LAYOUT = "ckl_expert"
STEP = "ckl-decide"
_EXPERTS = 2
"""Experts who decide a row; as many must agree that two answers differ of which one holds the
other."""
_SHOWN_ID = re.compile(r"([0-9]{8})-([0-9a-f]{64})_([0-9]{1,9})")

Kind = Literal["updated", "new"]
Fate = Literal["updated", "new", "discarded", "refused"]


class ClozeDecision(NamedTuple):
    """Whether a cloze is updated, new or neither, and the short reason."""

    fate: Fate
    reason: str


def decide(
    supported: str | None, prediction_is: str | None, found: str | None, other_is: str | None
) -> ClozeDecision:
    """The decision that an expert's answers lead to (Jang et al. 2022, appendix B, steps 4 and 5).

    `supported`, yes or no: the old corpus says what the model predicted; then `prediction_is`,
    same or different: that, and the new answer. Otherwise `found`, yes or no: the old corpus says
    something else; then `other_is`, same or different: that, and the new answer. None: not
    answered. Any other answers contradict each other or are missing, and are refused.
    """
    path = (supported, prediction_is, found, other_is)
    return _RULE.get(path, ClozeDecision("refused", "contradictory"))


_RULE: Mapping[tuple[str | None, ...], ClozeDecision] = {
    ("yes", "different", None, None): ClozeDecision("updated", "supported"),
    ("yes", "same", None, None): ClozeDecision("discarded", "known_prediction"),
    ("no", None, "no", None): ClozeDecision("new", "not_found"),
    ("no", None, "yes", "different"): ClozeDecision("updated", "found"),
    ("no", None, "yes", "same"): ClozeDecision("discarded", "known_answer"),
}


@dataclass(frozen=True)
class MarkedPassage:
    """The characters that an expert marked in a passage of the old corpus, as it was shown."""

    article: str
    day: date
    number: int
    passage: str
    start: int
    end: int


@dataclass(frozen=True)
class ExpertJudgment:
    """What experts say of one cloze that is updated, with its old answer, or new.

    `settled`: what was doubtful is mended, or right as it is; `passages`: how many they could mark.
    """

    row: str
    clozes: str
    decision: ClozeDecision
    statement: str
    prediction: str | None
    old_answer: str | None
    marked: MarkedPassage | None
    passages: int
    searches: tuple[str, ...]
    settled: bool


def expert_judgments(
    gold_files: Sequence[Path], until: date
) -> tuple[list[ExpertJudgment], list[Dropped]]:
    """The clozes that are updated or new, and why the others are neither.

    `until`: the last day of the old corpus; evidence of a later day is refused. Where a model
    predicted nothing, whether it is supported counts as not asked.
    """
    return read_once(gold_files, LAYOUT, STEP, lambda gold: _judgment(gold, until))


def located(marked: MarkedPassage, old: Mapping[str, Article]) -> Evidence:
    """The place of an expert's mark in its article; `DropError`: it is not there."""
    article = old.get(marked.article)
    if article is None:
        raise DropError("no_old_article", marked.passage)
    passages = [text for _, text in passage_texts(article)]
    if marked.number >= len(passages) or passages[marked.number] != marked.passage:
        raise DropError("bad_evidence", "the passage is not the article's")
    prefix = len(passage_prefix(article.day))
    before = sum(len(text) - prefix + 1 for text in passages[: marked.number])
    start, end = max(marked.start - prefix, 0), marked.end - prefix
    if end <= start:
        raise DropError("bad_evidence", "only the day was marked")
    return Evidence(article.id, article.day, before + start, before + end)


def _judgment(gold: Gold, until: date) -> ExpertJudgment:
    """Two experts decide: both alike, or the row is dropped."""
    answers, shown = accepted(gold)
    if gold.judgments < _EXPERTS:
        raise DropError("open")
    views = [_of_one(gold, one, shown, until) for one in each(answers)]
    first = views[0]
    for other in views[1:]:
        if other.decision != first.decision:
            detail = f"{first.decision.reason}, {other.decision.reason}"
            raise DropError("experts_differ", detail)
        old = [normalize_or_keep(view.old_answer or "") for view in (first, other)]
        if old[0] != old[1]:
            raise DropError("experts_differ", f"{first.old_answer!r}, {other.old_answer!r}")
    similar = first.old_answer and is_within(first.old_answer, plain(shown.get("new_answer")) or "")
    if similar and gold.agreeing < _EXPERTS:
        raise DropError("answers_alike", f"{first.old_answer!r}, {shown.get('new_answer')!r}")
    # A wording that an expert has corrected, the first by the alphabet; else the worker's.
    written = plain(shown.get("cloze"))
    corrected = sorted(view.statement for view in views if view.statement != written)
    return replace(
        first,
        statement=next(iter(corrected), first.statement),
        passages=max(view.passages for view in views),
        searches=tuple(dict.fromkeys(query for view in views for query in view.searches)),
        settled=all(view.settled for view in views),
    )


def _of_one(gold: Gold, answers: Answers, shown: Answers, until: date) -> ExpertJudgment:
    if answers.get("broken") or answers.get("keep") == "discard":
        raise DropError("discarded")
    prediction = plain(shown.get("prediction"))
    names = ("supported", "prediction_is", "found", "other_is")
    path = [agreed(answers, name) for name in names]
    if prediction is None:
        path[:2] = ["no", None]
    decision = decide(*path)
    if decision.fate in ("discarded", "refused"):
        listed = ", ".join(f"{name}: {value}" for name, value in zip(names, path, strict=True))
        raise DropError(decision.reason, listed)
    statement = plain(answers.get("statement")) or ""
    if statement.count(BLANK) != 1:
        raise DropError("not_one_blank", statement)
    results = shown.get("results")
    searches = [one for one in answers.get("searches") or () if isinstance(one, Mapping)]
    passages = [*results] if isinstance(results, list) else []
    passages += opened_passages(searches, passages)
    old_answer, marked = None, None
    if decision.fate == "updated":
        name = "evidence"
        old_answer = prediction
        if decision.reason == "found":
            name = "other_evidence"
            old_answer = needed(answers, "other_answer")
        if normalize_or_keep(old_answer or "") == normalize_or_keep(
            plain(shown.get("new_answer")) or ""
        ):
            raise DropError("contradictory", f"{old_answer!r} is not different")
        marked = _marked(answers, name, passages, until)
    queries = (plain(one.get("query")) for one in searches)
    return ExpertJudgment(
        row=gold.row,
        clozes=gold.dataset,
        decision=decision,
        statement=statement,
        prediction=prediction,
        old_answer=old_answer,
        marked=marked,
        passages=len(passages),
        searches=tuple(query for query in queries if query),
        settled=answers.get("settled") == "yes",
    )


def _marked(answers: Answers, name: str, passages: Sequence[Any], until: date) -> MarkedPassage:
    found = span(answers.get(name))
    if found is None:
        raise DropError(f"missing_{name}")
    place = len(passages) if found.paragraph is None else found.paragraph
    passage = passages[place] if place < len(passages) else None
    if not isinstance(passage, Mapping):
        raise DropError("bad_evidence", found.text)
    text, named = passage.get("text"), _SHOWN_ID.fullmatch(str(passage.get("id")))
    if not isinstance(text, str) or text[found.start : found.end] != found.text or not named:
        raise DropError("bad_evidence", found.text)
    if parse_day(named[1].encode()) is None:
        raise DropError("bad_evidence", named[1])
    day = date(int(named[1][:4]), int(named[1][4:6]), int(named[1][6:]))
    if day > until:
        raise DropError("evidence_not_old", f"{day} is after {until}")
    article = sorting_key(day, bytes.fromhex(named[2]))
    return MarkedPassage(article, day, int(named[3]), text, found.start, found.end)


class _ExpertBuilder(common.CKLBuilder, ClozeBuilder):
    """What the two datasets share: the experts' decisions, of which each has those of its kind."""

    layouts: ClassVar[tuple[str, ...]] = (CLOZE_LAYOUT, LAYOUT)
    kind: ClassVar[Kind]

    def build(self, run: Run) -> Dataset:
        """From gold rows of `ckl_question` and `ckl_expert`, and the articles they are about."""
        given = self.given(run)
        step = Decisions(**given, kind=self.kind, blank=self.blank, views=self.views(run))
        folder = run.folder(step)
        row, about, of_paper = _ROWS[self.kind]
        return self.dataset(
            folder,
            row,
            about,
            "test",
            "What the experts' judgments came to",
            view_statistics(folder / "all.parquet"),
            common.paper(folder, self.builder, of_paper, "InvariantLAMA has 17,474 rows there."),
        )


class UpdatedLAMA(_ExpertBuilder):
    """Parameters of `updated-lama` (Jang et al. 2022, appendix B); the days are the paper's."""

    kind: ClassVar[Kind] = "updated"
    builder: Literal["updated-lama"]


class NewLAMA(_ExpertBuilder):
    """Parameters of `new-lama` (Jang et al. 2022, appendix B); the days are the paper's."""

    kind: ClassVar[Kind] = "new"
    builder: Literal["new-lama"]


class Decisions(common.GoldStep):
    """What the experts' judgments came to: `all.parquet`, of one kind, and `dropped.parquet`."""

    name: ClassVar[str] = STEP

    kind: Kind
    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Apply the decision rule to every cloze that experts have judged."""
        counter = self.views.counter()
        corpus = NewsCorpus.of(self.corpus, workspace)
        clozes, dropped = workers_clozes(self.gold.files, corpus, self.periods)
        written = {one.id: one for one in clozes}
        judgments, refused = expert_judgments(self.gold.files, self.periods.old_until)
        ids = {one.marked.article for one in judgments if one.marked}
        old = corpus.old(self.periods.old_until, ids)
        seen = {one.row for one in judgments} | {one.item for one in refused}
        named = ((one.row, one) for one in judgments)
        made = kept(STEP, named, lambda one: self._row(one, written, old, counter), refused)
        dropped += common.missing(STEP, "not_judged", written, seen, lambda one: one.cloze)
        common.save(out, _ROWS[self.kind][0], made, [*dropped, *refused])

    def _row(
        self,
        judgment: ExpertJudgment,
        written: Mapping[str, rows.NewsCloze],
        old: Mapping[str, Article],
        counter: TokenCounter | None,
    ) -> rows.LamaCloze:
        """The row of a judgment; `DropError`: its cloze or evidence is not there, or another's."""
        cloze = written.get(judgment.row)
        if cloze is None:
            raise DropError("no_cloze")
        doubts = self._doubts(judgment.statement, cloze)
        if doubts and not judgment.settled:
            raise DropError("doubtful", "; ".join(doubts))
        query = judgment.statement.replace(BLANK, self.blank)
        shared: dict[str, Any] = {
            "id": cloze.id,
            "prompt": prompts.as_of_day(query, cloze.article_day),
            "targets": prompts.merge_targets([cloze.new_answer]),
            "query": query,
            "answer": cloze.new_answer,
            "question": cloze.question,
            "new_evidence": Evidence(
                cloze.evidence_id,
                cloze.article_day,
                cloze.answer_start,
                cloze.answer_start + len(cloze.new_answer),
            ),
            "prediction": judgment.prediction,
            "grounds": judgment.decision.reason,
            "passages": judgment.passages,
            "searches": judgment.searches,
            "overruled": tuple(doubts),
            "clozes": judgment.clozes,
            **self.views.single_answer_columns(counter, cloze.new_answer),
        }
        made: rows.LamaCloze
        if judgment.marked is None or judgment.old_answer is None:
            made = rows.NewCloze(**shared)
        else:
            evidence = located(judgment.marked, old)
            made = rows.UpdatedCloze(
                **shared, old_answer=judgment.old_answer, old_evidence=evidence
            )
        if judgment.decision.fate != self.kind:
            raise DropError(judgment.decision.fate, query)
        return made

    def _doubts(self, statement: str, cloze: rows.NewsCloze) -> list[str]:
        """What is doubtful still: of the experts' wording, and of the worker's answer."""
        first_year = self.periods.first.year
        before, now = (
            text_doubts(text.replace(BLANK, cloze.new_answer), first_year)
            for text in (cloze.cloze, statement)
        )
        return [*now, *(doubt for doubt in cloze.doubts if doubt not in before)]


_ROWS: Mapping[Kind, tuple[type, str, int]] = {
    "updated": (
        rows.UpdatedCloze,
        "Sentences with a gap that the old corpus fills otherwise.",
        924,
    ),
    "new": (rows.NewCloze, "Sentences with a gap that the old corpus does not fill.", 797),
}
"""The row type of each kind, what its rows are, and how many the paper has."""
