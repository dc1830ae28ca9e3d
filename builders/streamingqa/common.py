"""Shared by the steps of `streamingqa`: names of files, summaries, and the row of a question."""

import json
import unicodedata
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
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.wmt.passages import question_prefix
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters.run import KeptItem, Tally
from factdrift.filters.time_spec import TimedQuestion
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
    filter_summaries = []
    for tally in tallies:
        example_pairs = []
        for reason in sorted(tally.examples):
            example_pairs += [[reason, dropped.detail or ""] for dropped in tally.examples[reason]]
        filter_summaries.append(
            {
                "filter": tally.filter,
                "seen": tally.seen,
                "dropped": tally.dropped,
                "skipped": tally.skipped,
                "examples": example_pairs,
            }
        )
    (out / SUMMARY).write_text(
        json.dumps({"filters": filter_summaries} | counted, indent=1), "utf-8"
    )


def read_step_summary(folder: Path) -> dict[str, Any]:
    """Read the summary that a step wrote beside its rows."""
    summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text("utf-8"))
    return summary


def merge_summaries(step_folders: Sequence[Path], questions_path: Path) -> dict[str, Any]:
    """Merge the summaries of the steps that write and filter questions, for the card."""
    summaries = [read_step_summary(folder) for folder in step_folders]
    outcome_counts: Counter[str] = Counter()
    call_counts: Counter[str] = Counter()
    filter_summaries = []
    for summary in summaries:
        outcome_counts.update(summary.get("generated", {}))
        call_counts.update(summary.get("calls", {}))
        filter_summaries += summary["filters"]
    return {
        "generated": dict(sorted(outcome_counts.items())),
        "filters": filter_summaries,
        "calls": dict(sorted(call_counts.items())),
        "kept": pq.read_metadata(questions_path).num_rows,
    }


def format_cost(models: Sequence[CachedModel]) -> str:
    """Say how many calls and tokens models have cost in this run."""
    call_count = sum(model.misses for model in models)
    tokens_read = sum(model.usage.tokens_read for model in models)
    tokens_written = sum(model.usage.tokens_written for model in models)
    return f"{call_count:,} calls, {tokens_read:,} tokens read, {tokens_written:,} written"


def toxicity_of(kept_item: KeptItem) -> ToxicityScores:
    """Return the toxicity scores of an item; empty ones where no filter scored it."""
    for verdict in kept_item.verdicts:
        if verdict.scores:
            return verdict.scores
    return ToxicityScores()


def aliases_of(kept_item: KeptItem) -> tuple[str, ...]:
    """Return the further names of an item's answer that its filters know."""
    aliases: dict[str, None] = {}
    for verdict in kept_item.verdicts:
        aliases |= dict.fromkeys(verdict.aliases)
    return tuple(aliases)


def passed_filters(kept_item: KeptItem, filters: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the filters that an item passed, without those that could not judge."""
    return tuple(name for name in filters if name not in kept_item.skipped)


def released_row(
    question: rows.Question,
    timed_question: TimedQuestion,
    scores: ToxicityScores,
    filters: tuple[str, ...],
    answers: tuple[str, ...] | None = None,
    aliases: tuple[str, ...] = (),
) -> rows.NewsQuestion:
    """Return the released row of a question that passed `filters`, as it is asked.

    `answers` are those of the annotators who wrote the question. A generated question has the
    answers that its timeline accepts, or else the span that it was made for, with those `aliases`
    that are no answer yet.
    """
    grounding = question.grounding
    accepted_answers, further_answers = answers or (), aliases
    if answers is None:
        accepted_answers = (unicodedata.normalize("NFC", question.answer.text),)
        if grounding is not None:
            accepted_answers, further_answers = grounding.answers, grounding.aliases
    further_answers = tuple(alias for alias in further_answers if alias not in accepted_answers)
    subset = question.draw.subset if question.recent is not False else "past"
    answer_span = question.answer
    return rows.NewsQuestion(
        id=question.id,
        prompt=question_prefix(question.draw.question_day) + timed_question.text,
        targets=merge_targets(accepted_answers, further_answers),
        qa_id=question.id,
        question=timed_question.text,
        answers=accepted_answers,
        answers_additional=further_answers,
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
        answer_type=answer_span.type,
        answer_start=answer_span.start,
        evidence_sentence=answer_span.sentence,
        time_spec=timed_question.kind,
        relation=grounding.relation if grounding else None,
        about=grounding.about if grounding else None,
        statements=grounding.statements if grounding else (),
        holds=grounding.holds if grounding else None,
        generator=question.generator,
        filters=filters,
    )


def _unix_seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
