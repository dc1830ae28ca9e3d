"""What people add to generated questions: questions of their own, judgments, answers."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import field_validator

from builders import rows
from builders.config import Strict, did_you_mean
from builders.gold import read_gold
from builders.questions import reviews, written
from builders.questions.candidates import Finder
from builders.questions.news_questions import (
    ORDER,
    draws_of,
    in_order,
    questions_of,
    released,
    tallied,
)
from builders.run import Run
from builders.schema import writing
from builders.wikidata import steps
from builders.wmt.read import read
from builders.wmt.settings import DateSettings
from filters import FILTERS, AnyFilter, Context, Item, Kept
from filters import run as run_filters

LAYOUTS = (written.LAYOUT, reviews.JUDGE, reviews.ANSWER)
QUESTIONS, BASELINE = "questions.parquet", "baseline.parquet"


class People(Strict):
    """What is asked of people's part; without gold rows nothing of it matters.

    `dates`: those of the release of question dates that people wrote for; the recipe's own by
    default. `skip`: filters of the recipe that written questions do not pass through.
    `judged`: the kinds of questions of which only judged ones are released; of others those that
    were judged bad are left out and the rest stays.
    """

    dates: DateSettings | None = None
    skip: tuple[str, ...] = ()
    judged: tuple[reviews.Kind, ...] = ()

    @field_validator("skip")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in FILTERS:
                near = did_you_mean(name, FILTERS)
                raise ValueError(
                    f"no filter {name!r}" + (f", did you mean {near}?" if near else "")
                )
        return names


@dataclass(frozen=True)
class Sources:
    """The generated questions and their draws, and the draws that people were shown."""

    generated: Path
    drawn: Path
    shown: Path


def write_people(
    run: Run,
    sources: Sources,
    out: Path,
    settings: People,
    filters: Sequence[AnyFilter],
    open_tools: Callable[[], tuple[Finder, Context]],
) -> None:
    """Write all questions, people's among them, into the folder `out`.

    `questions.parquet` (`rows.NewsQuestion`), `baseline.parquet` (`rows.HumanAnswer`),
    `dropped.parquet` and `summary.json`. Generated rows stay as they are but for what gold rows
    say of them. `UserError`: the input `gold` has no rows of these layouts.
    """
    counts: dict[str, Counter[str]] = {layout: Counter() for layout in LAYOUTS}
    said = reviews.Reviews(counts)
    wrote: dict[str, written.Written] = {}
    for gold in read_gold(run.inputs["gold"].files, *LAYOUTS):
        if gold.layout == written.LAYOUT:
            _take(gold, wrote, counts[written.LAYOUT])
        else:
            said.add(gold)
    chosen = tuple(one for one in filters if one.filter not in settings.skip)
    loose, lost, base = out / "loose.parquet", out / "lost.parquet", out / "base.parquet"
    kinds: Counter[tuple[str, str]] = Counter()
    tallies: list[dict[str, Any]] = []
    with (
        writing(loose, rows.NewsQuestion) as kept,
        writing(lost, rows.Dropped) as dropped,
        writing(base, rows.HumanAnswer) as baseline,
    ):
        for row in _all(run, sources, wrote, chosen, open_tools, counts, tallies):
            if isinstance(row, rows.Dropped):
                dropped.append(row)
                continue
            after, answer = said.review(row, settings.judged, run.seed)
            if isinstance(after, rows.Dropped):
                dropped.append(after)
                kinds[row.written_or_generated, after.reason] += 1
                continue
            kept.append(after)
            good = row.id in said.judged and said.judged[row.id].question == row.question
            kinds[row.written_or_generated, "good" if good else "kept unjudged"] += 1
            if answer:
                baseline.append(answer)
    said.finish()
    in_order(run, loose, rows.NewsQuestion, out / QUESTIONS, ORDER)
    in_order(run, lost, rows.Dropped, out / "dropped.parquet", steps.DROPPED_ORDER)
    in_order(run, base, rows.HumanAnswer, out / BASELINE, ("id",))
    summary = {
        "gold": {layout: dict(sorted(n.items())) for layout, n in counts.items()},
        "judged": [[*key, n] for key, n in sorted(kinds.items())],
        "filters": tallies,
    }
    (out / "summary.json").write_text(json.dumps(summary, indent=1), "utf-8")


def _take(gold: rows.Gold, into: dict[str, written.Written], count: Counter[str]) -> None:
    """Keep what was written for a draw; counted: why not."""
    if gold.decision != "accepted":
        count[gold.decision] += 1
        return
    one = written.read_written(gold)
    if one is None:
        count["not_understood"] += 1
    elif into.setdefault(gold.row, one) != one:
        count["contradictory"] += 1


def _all(
    run: Run,
    sources: Sources,
    wrote: Mapping[str, written.Written],
    filters: Sequence[AnyFilter],
    open_tools: Callable[[], tuple[Finder, Context]],
    counts: Mapping[str, Counter[str]],
    tallies: list[dict[str, Any]],
) -> Iterator[rows.NewsQuestion | rows.Dropped]:
    """The generated questions, then the written ones that pass their filters."""
    yield from questions_of(sources.generated)
    draws = _draws(sources, wrote, counts[written.LAYOUT])
    if not draws:
        return
    finder, context = open_tools()
    answers: dict[str, tuple[str, ...]] = {}

    def items() -> Iterator[Item]:
        articles = read(run.inputs["news"].files, sorted(draws), jobs=run.jobs)
        made = written.written_items(articles, draws, wrote, finder, counts[written.LAYOUT])
        for item, given in made:
            answers[item.question.id] = given
            yield item

    names = tuple(one.filter for one in filters)
    flow = run_filters(filters, items(), context)
    for row in flow:
        if isinstance(row, Kept):
            id_ = row.item.question.id
            yield released(row, names, run.seed, answers[id_])
        else:
            yield row
    tallies += tallied(flow.tallies)


def _draws(
    sources: Sources, wrote: Mapping[str, written.Written], count: Counter[str]
) -> dict[str, list[rows.Draw]]:
    """The draws that people wrote for, by article.

    Left out and counted: those in neither table (`no_such_row`), and those whose article is in
    another part of the generated questions (`other_split`).
    """
    if not wrote:
        return {}
    found: dict[str, rows.Draw] = {}
    for table in (sources.shown, sources.drawn):
        for draw in draws_of(table):
            if draw.id in wrote:
                found.setdefault(draw.id, draw)
    count["no_such_row"] += len(wrote) - len(found)
    articles = {draw.article for draw in found.values()}
    parts = {d.article: d.part for d in draws_of(sources.drawn) if d.article in articles}
    by_article: dict[str, list[rows.Draw]] = {}
    for draw in sorted(found.values(), key=lambda one: one.id):
        if parts.setdefault(draw.article, draw.part) != draw.part:
            count["other_split"] += 1
        else:
            by_article.setdefault(draw.article, []).append(draw)
    return by_article
