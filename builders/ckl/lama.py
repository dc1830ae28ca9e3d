"""The `updated-lama` and `new-lama` datasets, made of what experts found in the old corpus.

Experts' judgments are gold rows of the layout `ckl_expert`. The rule `decide` says whether a cloze
is updated (the old corpus answers it differently) or new (the old corpus does not answer it).
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
    accepted_answers,
    agreed_text,
    answers_by_worker,
    make_or_drop,
    marked_text,
    opened_passages,
    read_each_row_once,
    required_text,
    single_line,
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
"""How many experts decide a row, as in the paper (appendix B, step 4). Where the old answer holds
the new one, or the other way round, as many have to agree that the two differ."""
# Matches `20200105-<64 hexadecimal digits>_3`: the day, the article's sha256 and the number of the
# passage. Does not match `2020-01-05-…`, nor an id without a passage.
_SHOWN_ID = re.compile(r"([0-9]{8})-([0-9a-f]{64})_([0-9]{1,9})")

_DROP_REASONS = ("contradictory", "known_prediction", "known_answer", "updated", "new")
"""The drop reasons that follow from a decision: why there is none, or the other kind of cloze."""

Kind = Literal["updated", "new"]
Fate = Literal["updated", "new", "discarded", "refused"]


class ClozeDecision(NamedTuple):
    """Whether a cloze is updated, new or neither, and the reason in a word."""

    fate: Fate
    reason: str


def decide(
    supported: str | None,
    prediction_is: str | None,
    something_found: str | None,
    other_is: str | None,
) -> ClozeDecision:
    """The decision that an expert's answers lead to (Jang et al. 2022, appendix B, steps 4 and 5).

    Each parameter is the expert's choice, or None where the question was not answered:

    - `supported` (`yes` or `no`): whether the old corpus says what the model predicted.
    - `prediction_is` (`same` or `different`): how the prediction compares with the new answer.
      It is asked only where the prediction is supported.
    - `something_found` (`yes` or `no`): whether the old corpus says something else.
    - `other_is` (`same` or `different`): how that compares with the new answer.

    Choices that contradict each other, or of which one is missing, are refused.
    """
    path = (supported, prediction_is, something_found, other_is)
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
    """The experts' judgment of one cloze: new, or updated and then with its old answer.

    `settled` says that doubts about the cloze were mended, or that it is right as it is.
    `passages` is the number of passages that the experts could mark.
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
    """Read the judgments of the clozes that are updated or new, and the drops of the others.

    `until` is the last day of the old corpus: evidence of a later day is refused. Where the model
    predicted nothing, the question whether the prediction is supported counts as not asked.
    """
    return read_each_row_once(gold_files, LAYOUT, STEP, lambda gold: _judgment(gold, until))


def locate_mark(marked: MarkedPassage, old_articles: Mapping[str, Article]) -> Evidence:
    """Return where an expert's mark stands in its article; `DropError` where it does not."""
    article = old_articles.get(marked.article)
    if article is None:
        raise DropError("no_old_article", marked.passage)
    passages = [passage_text for _, passage_text in passage_texts(article)]
    if marked.number >= len(passages) or passages[marked.number] != marked.passage:
        raise DropError("bad_evidence", "the passage is not the article's")
    prefix_length = len(passage_prefix(article.day))
    characters_before = sum(
        len(passage_text) - prefix_length + 1 for passage_text in passages[: marked.number]
    )
    start, end = max(marked.start - prefix_length, 0), marked.end - prefix_length
    if end <= start:
        raise DropError("bad_evidence", "only the day was marked")
    return Evidence(article.id, article.day, characters_before + start, characters_before + end)


def _judgment(gold: Gold, until: date) -> ExpertJudgment:
    """The judgment that the experts of a row share; `DropError` where they do not agree."""
    answers, fields_seen = accepted_answers(gold)
    if gold.judgments < _EXPERTS:
        raise DropError("open")  # not all experts have judged it yet
    views = []
    for expert_answers in answers_by_worker(answers):
        views.append(_expert_view(gold, expert_answers, fields_seen, until))
    first, *other_views = views
    for view in other_views:
        _check_same_view(first, view)
    new_answer = single_line(fields_seen.get("new_answer")) or ""
    # `Paris` within `Paris Hilton` may be the same answer in other words, so such a row stays only
    # where all experts gave the same judgment
    similar = first.old_answer and is_within(first.old_answer, new_answer)
    if similar and gold.agreeing < _EXPERTS:
        detail = f"{first.old_answer!r}, {fields_seen.get('new_answer')!r}"
        raise DropError("answers_alike", detail)
    worker_wording = single_line(fields_seen.get("cloze"))
    return _merged_view(views, worker_wording)


def _check_same_view(first: ExpertJudgment, second: ExpertJudgment) -> None:
    """Raise `DropError` where two experts decided differently or named different old answers."""
    if second.decision != first.decision:
        detail = f"{first.decision.reason}, {second.decision.reason}"
        raise DropError("experts_differ", detail)
    first_answer = normalize_or_keep(first.old_answer or "")
    if first_answer != normalize_or_keep(second.old_answer or ""):
        raise DropError("experts_differ", f"{first.old_answer!r}, {second.old_answer!r}")


def _merged_view(views: Sequence[ExpertJudgment], worker_wording: str | None) -> ExpertJudgment:
    """The first expert's judgment, with what all of them corrected, searched and settled.

    The statement is a wording that an expert has corrected, the first by the alphabet; else it is
    the worker's.
    """
    first = views[0]
    corrected = sorted(view.statement for view in views if view.statement != worker_wording)
    return replace(
        first,
        statement=corrected[0] if corrected else first.statement,
        passages=max(view.passages for view in views),
        searches=tuple(dict.fromkeys(query for view in views for query in view.searches)),
        settled=all(view.settled for view in views),
    )


def _expert_view(gold: Gold, answers: Answers, fields_seen: Answers, until: date) -> ExpertJudgment:
    """The judgment of one expert; `DropError` where it leads to no row."""
    if answers.get("broken") or answers.get("keep") == "discard":
        raise DropError("discarded")
    prediction = single_line(fields_seen.get("prediction"))
    decision = _expert_decision(answers, prediction)
    statement = single_line(answers.get("statement")) or ""
    if statement.count(BLANK) != 1:
        raise DropError("not_one_blank", statement)
    searches = []
    for search in answers.get("searches") or ():
        if isinstance(search, Mapping):
            searches.append(search)
    results = fields_seen.get("results")
    passages = [*results] if isinstance(results, list) else []
    passages += opened_passages(searches, passages)
    old_answer, marked = None, None
    if decision.fate == "updated":
        old_answer = _old_answer(answers, decision, prediction, fields_seen)
        evidence_field = "other_evidence" if decision.reason == "found" else "evidence"
        marked = _marked(answers, evidence_field, passages, until)
    queries = (single_line(search.get("query")) for search in searches)
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


def _expert_decision(answers: Answers, prediction: str | None) -> ClozeDecision:
    """Decide a cloze by an expert's choices; raise `DropError` if it is neither updated nor new."""
    names = ("supported", "prediction_is", "found", "other_is")
    choices = [agreed_text(answers, answer_name) for answer_name in names]
    if prediction is None:  # there was nothing that the old corpus could support
        choices[:2] = ["no", None]
    decision = decide(*choices)
    if decision.fate in ("discarded", "refused"):
        pairs = zip(names, choices, strict=True)
        raise DropError(
            decision.reason, ", ".join(f"{answer_name}: {choice}" for answer_name, choice in pairs)
        )
    return decision


def _old_answer(
    answers: Answers, decision: ClozeDecision, prediction: str | None, fields_seen: Answers
) -> str | None:
    """The answer of the old corpus; `DropError` where it is the new answer again."""
    old_answer = prediction
    if decision.reason == "found":
        old_answer = required_text(answers, "other_answer")
    new_answer = single_line(fields_seen.get("new_answer")) or ""
    if normalize_or_keep(old_answer or "") == normalize_or_keep(new_answer):
        raise DropError("contradictory", f"{old_answer!r} is not different")
    return old_answer


def _marked(answers: Answers, name: str, passages: Sequence[Any], until: date) -> MarkedPassage:
    """The passage that an expert marked as `name`; `DropError` where it is no evidence."""
    mark = marked_text(answers.get(name))
    if mark is None:
        raise DropError(f"missing_{name}")
    passage_number = len(passages) if mark.paragraph is None else mark.paragraph
    passage = passages[passage_number] if passage_number < len(passages) else None
    if not isinstance(passage, Mapping):
        raise DropError("bad_evidence", mark.text)
    text, passage_id = passage.get("text"), _SHOWN_ID.fullmatch(str(passage.get("id")))
    if not isinstance(text, str) or text[mark.start : mark.end] != mark.text or not passage_id:
        raise DropError("bad_evidence", mark.text)
    if parse_day(passage_id[1].encode()) is None:
        raise DropError("bad_evidence", passage_id[1])
    day = date(int(passage_id[1][:4]), int(passage_id[1][4:6]), int(passage_id[1][6:]))
    if day > until:
        raise DropError("evidence_not_old", f"{day} is after {until}")
    article = sorting_key(day, bytes.fromhex(passage_id[2]))
    return MarkedPassage(article, day, int(passage_id[3]), text, mark.start, mark.end)


class _ExpertBuilder(common.CKLBuilder, ClozeBuilder):
    """A dataset of the experts' decisions of one kind, updated or new."""

    layouts: ClassVar[tuple[str, ...]] = (CLOZE_LAYOUT, LAYOUT)
    kind: ClassVar[Kind]
    next_commands: ClassVar[Mapping[str, str]] = {"all": "export {release} --format ckl"}

    def build(self, run: Run) -> Dataset:
        """From gold rows of `ckl_question` and `ckl_expert`, and the articles they are about."""
        step_fields = self.step_fields(run)
        step = Decisions(**step_fields, kind=self.kind, blank=self.blank, views=self.views(run))
        folder = run.folder(step)
        row, description, paper_rows = _ROWS[self.kind]
        return self.dataset(
            folder,
            row,
            description,
            "test",
            "What the experts' judgments came to",
            view_statistics(folder / "all.parquet"),
            common.paper_comparison(
                folder, self.builder, paper_rows, "InvariantLAMA has 17,474 rows there."
            ),
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
    """Clozes that experts decided to be of one kind: `all.parquet`, and `dropped.parquet`."""

    name: ClassVar[str] = STEP

    kind: Kind
    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Apply the decision rule to every cloze that experts have judged."""
        counter = self.views.counter()
        corpus = NewsCorpus.of_step(self.corpus, workspace)
        clozes, dropped = workers_clozes(self.gold.files, corpus, self.periods)
        clozes_by_id = {cloze.id: cloze for cloze in clozes}
        judgments, refused = expert_judgments(self.gold.files, self.periods.old_until)
        article_ids = {judgment.marked.article for judgment in judgments if judgment.marked}
        old_articles = corpus.old_articles(self.periods.old_until, article_ids)
        judged_ids = {judgment.row for judgment in judgments} | {drop.item for drop in refused}
        named_judgments = ((judgment.row, judgment) for judgment in judgments)
        lama_rows = make_or_drop(
            STEP,
            named_judgments,
            lambda judgment: self._row(judgment, clozes_by_id, old_articles, counter),
            refused,
        )
        dropped += common.unjudged_rows(
            STEP, "not_judged", clozes_by_id, judged_ids, lambda cloze: cloze.cloze
        )
        common.save_rows(out, _ROWS[self.kind][0], lama_rows, [*dropped, *refused])

    def _row(
        self,
        judgment: ExpertJudgment,
        clozes_by_id: Mapping[str, rows.NewsCloze],
        old_articles: Mapping[str, Article],
        counter: TokenCounter | None,
    ) -> rows.LamaCloze:
        """The row of a judgment; `DropError` where its cloze or its evidence is missing."""
        cloze = clozes_by_id.get(judgment.row)
        if cloze is None:
            raise DropError("no_cloze")
        doubts = self._doubts(judgment.statement, cloze)
        if doubts and not judgment.settled:
            raise DropError("doubtful", "; ".join(doubts))
        query = judgment.statement.replace(BLANK, self.blank)
        columns: dict[str, Any] = {
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
        lama_row: rows.LamaCloze
        if judgment.marked is None or judgment.old_answer is None:
            lama_row = rows.NewCloze(**columns)
        else:
            evidence = locate_mark(judgment.marked, old_articles)
            lama_row = rows.UpdatedCloze(
                **columns, old_answer=judgment.old_answer, old_evidence=evidence
            )
        if judgment.decision.fate != self.kind:
            raise DropError(judgment.decision.fate, query)
        return lama_row

    def _doubts(self, statement: str, cloze: rows.NewsCloze) -> list[str]:
        """Return the doubts that remain about a cloze in the wording that the experts gave it.

        `cloze.doubts` has the doubts about the worker's cloze. Some come from its wording alone,
        such as a `yesterday` without a date; these give way to those about the experts' wording,
        which may have mended them or brought new ones. All others, such as those about the answer,
        stay, because another wording does not mend them.
        """
        first_year = self.periods.first.year
        # Both wordings are read with the answer in the gap. The worker's is read again only to tell
        # which of `cloze.doubts` came from the wording.
        worker_doubts, expert_doubts = (
            text_doubts(text.replace(BLANK, cloze.new_answer), first_year)
            for text in (cloze.cloze, statement)
        )
        return [*expert_doubts, *(doubt for doubt in cloze.doubts if doubt not in worker_doubts)]


_ROWS: Mapping[Kind, tuple[type, str, int]] = {
    "updated": (
        rows.UpdatedCloze,
        "Sentences with a gap that the old corpus fills otherwise.",
        924,
    ),
    "new": (rows.NewCloze, "Sentences with a gap that the old corpus does not fill.", 797),
}
"""By kind: the row type, a sentence about its rows, and how many rows the paper has."""
