"""What the steps of `streamingqa` share: names of files, summaries, and the row of a question."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import Workspace
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.text.dates import time_in_question
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.wmt.passages import question_prefix
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters.run import KeptItem, Tally
from factdrift.filters.time_spec import TimedQuestion, add_time_spec
from factdrift.filters.toxicity.scores import ToxicityScores

QUESTIONS, BASELINE = "questions.parquet", "baseline.parquet"
SUMMARY = "summary.json"
ORDER = ("split", "recent_or_past", "id")
"""The columns by which released questions are sorted."""


def draws_by_article(workspace: Workspace, draws: QuestionDates) -> dict[str, list[rows.Draw]]:
    """Read all draws, by the id of their article."""
    by_article: dict[str, list[rows.Draw]] = {}
    for draw in typed_rows(workspace.folder(draws) / "draws.parquet", rows.Draw):
        by_article.setdefault(draw.article, []).append(draw)
    return by_article


def questions_by_article(questions: Iterable[rows.Question]) -> dict[str, list[rows.Question]]:
    """Group questions by the id of their article, in their order."""
    by_article: dict[str, list[rows.Question]] = {}
    for question in questions:
        by_article.setdefault(question.draw.article, []).append(question)
    return by_article


def write_dropped(out: Path, dropped: Iterable[rows.Dropped]) -> None:
    """Write `dropped.parquet`."""
    write_sorted(out / "dropped.parquet", rows.Dropped, dropped, "step", "reason", "item")


def write_summary(out: Path, tallies: Sequence[Tally] = (), **counted: Any) -> None:
    """Write `summary.json`: what each filter did, and what else the step counted."""
    filters = []
    for tally in tallies:
        examples = []
        for reason in sorted(tally.examples):
            examples += [[reason, dropped.detail or ""] for dropped in tally.examples[reason]]
        filters.append(
            {
                "filter": tally.filter,
                "seen": tally.seen,
                "dropped": tally.dropped,
                "examples": examples,
            }
        )
    (out / SUMMARY).write_text(json.dumps({"filters": filters} | counted, indent=1), "utf-8")


def read_step_summary(folder: Path) -> dict[str, Any]:
    """Read the summary that a step wrote beside its rows."""
    summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text("utf-8"))
    return summary


def merge_summaries(folders: Sequence[Path], questions: Path) -> dict[str, Any]:
    """Merge the summaries of the steps that write and filter questions, for the card."""
    summaries = [read_step_summary(folder) for folder in folders]
    generated: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    filters = []
    for summary in summaries:
        generated.update(summary.get("generated", {}))
        calls.update(summary.get("calls", {}))
        filters += summary["filters"]
    return {
        "generated": dict(sorted(generated.items())),
        "filters": filters,
        "calls": dict(sorted(calls.items())),
        "kept": pq.read_metadata(questions).num_rows,
    }


def format_cost(models: Sequence[CachedModel]) -> str:
    """Say how many calls and tokens models have cost in this run."""
    calls = sum(model.misses for model in models)
    tokens_read = sum(model.usage.tokens_read for model in models)
    tokens_written = sum(model.usage.tokens_written for model in models)
    return f"{calls:,} calls, {tokens_read:,} tokens read, {tokens_written:,} written"


def toxicity_of(kept: KeptItem) -> ToxicityScores:
    """The toxicity scores of an item; empty ones where no filter scored it."""
    for verdict in kept.verdicts:
        if verdict.scores:
            return verdict.scores
    return ToxicityScores()


def released_row(
    question: rows.Question,
    scores: ToxicityScores,
    filters: tuple[str, ...],
    seed: int,
    answers: tuple[str, ...] | None = None,
) -> rows.NewsQuestion:
    """Return the released row of a question that passed `filters`.

    `answers` are those of the annotators who wrote the question, which then stays as it is. A
    generated question has the answers that its timeline accepts, or else the span that it was made
    for, and it may be given a time specification.
    """
    if answers is not None:
        dated = TimedQuestion(
            question.question, "own" if time_in_question(question.question) else "none"
        )
    elif question.time_spec is not None:
        dated = TimedQuestion(question.question, question.time_spec)
    else:
        dated = add_time_spec(question, seed)
    grounding = question.grounding
    accepted = answers
    if accepted is None:
        accepted = grounding.answers if grounding else (question.answer.text,)
    additional = grounding.aliases if grounding else ()
    subset = question.draw.subset if question.recent is not False else "past"
    span = question.answer
    return rows.NewsQuestion(
        id=question.id,
        prompt=question_prefix(question.draw.question_day) + dated.text,
        targets=merge_targets(accepted, additional),
        qa_id=question.id,
        question=dated.text,
        answers=accepted,
        answers_additional=additional,
        question_ts=_unix_seconds(question.draw.question_day),
        evidence_ts=_unix_seconds(question.draw.article_day),
        evidence_id=question.draw.article,
        recent_or_past=subset,
        written_or_generated="generated" if answers is None else "written",
        toxicity_identity_attack=scores.identity_attack,
        toxicity_insult=scores.insult,
        toxicity_profanity=scores.profanity,
        toxicity_severe_toxicity=scores.severe_toxicity,
        toxicity_sexually_explicit=scores.sexually_explicit,
        toxicity_threat=scores.threat,
        split=question.draw.split,
        quarter=question.draw.quarter,
        answer_type=span.type,
        answer_start=span.start,
        evidence_sentence=span.sentence,
        time_spec=dated.kind,
        relation=grounding.relation if grounding else None,
        about=grounding.about if grounding else None,
        statements=grounding.statements if grounding else (),
        holds=grounding.holds if grounding else None,
        generator=question.generator,
        filters=filters,
    )


def _unix_seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
