"""Statistics and plots for the card, and the configuration of the human baseline."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.dataset import FromParquet, Plot, Scalar, Statistics, Table
from factdrift.builders.generate.backends import AnyModel
from factdrift.builders.generate.prompts import load_prompts, prompt_template
from factdrift.builders.streamingqa.common import BASELINE, QUESTIONS
from factdrift.builders.wmt.card import day_plots, draw_statistics, series_data

_PAPER = "The paper's written questions have 46.9 % entity, 40.6 % phrase and 12.4 % date answers."
_UNSAID = {"backend", "model", "revision", "base_url", "key_variable", "folder"}
"""Settings with a column of their own, and addresses, which concern nobody else."""
_LONG = 25
"""Words from which questions and answers share the last bar."""


_STATED = (
    "Without a language model. `facts`: a sentence that names both sides of a dated fact and its "
    "relation is the evidence; the timeline gives the answers, and says whether they still hold. "
    "`parse`: patterns over the parse of sentences that say their own time; on real news one "
    "article in 250 gives a question, so that it fills up where facts are few."
)
_CALLS = (
    "Prompts that the models were given, each counted once, whether its answer was kept from an "
    "earlier run or not."
)
_PROMPTS = (
    "As they were sent, with the slots that each article fills; the hash is that of the whole "
    "prompt file. Where one call asks for several questions, the answers are numbered."
)


def writers(
    models: Mapping[str, AnyModel], summary: Mapping[str, Any], *, stated: bool
) -> tuple[Statistics, ...]:
    """What wrote the questions: backends, models, parameters and prompts; and the calls a row.

    `stated`: whether questions were also written without a model.
    """
    without_model: list[Mapping[str, Scalar]] = [
        {"task": "writes questions", "backend": name} for name in ("facts", "parse")
    ]
    made: list[Mapping[str, Scalar]] = []
    texts: list[Mapping[str, Scalar]] = []
    for task, settings in models.items():
        chosen = settings.model_dump(mode="json", exclude=_UNSAID)
        asked = load_prompts(settings.prompts)
        made.append(
            {
                "task": task,
                "backend": settings.backend,
                "model": settings.model_dump(include={"model"})["model"],
                "revision": getattr(settings, "revision", None),
                "prompt": asked.identity,
                "parameters": json.dumps(chosen, sort_keys=True, ensure_ascii=False),
            }
        )
        texts.append({"task": task, "prompt": asked.identity, "text": prompt_template(asked, task)})
    tables = []
    if stated:
        tables.append(Statistics("writers", "What wrote the questions", without_model, _STATED))
    if made:
        tables.append(Statistics("models", "Language models", made))
        tables.append(Statistics("prompts", "Prompts", texts, _PROMPTS))
        counted = summary["calls"]
        calls: list[Mapping[str, Scalar]] = [
            {"calls": name, "number": n, "for each row kept": _ratio(n, summary["kept"])}
            for name, n in (*counted.items(), ("all", sum(counted.values())))
        ]
        tables.append(Statistics("calls", "Calls of language models", calls, _CALLS))
    return tuple(tables)


def _ratio(n: int, rows: int) -> float | None:
    return round(n / rows, 2) if rows else None


def statistics(questions: Path, drawn: Path, summary: Mapping[str, Any]) -> tuple[Statistics, ...]:
    """Draws, what generation gave, what each filter dropped, answer types, time specifications.

    `drawn` is the folder of the draws.
    """
    made: list[Mapping[str, Scalar]] = [
        {"outcome": reason, "candidates": n} for reason, n in sorted(summary["generated"].items())
    ]
    examples: list[Mapping[str, Scalar]] = [
        {"filter": tally["filter"], "reason": reason, "dropped": text}
        for tally in summary["filters"]
        for reason, text in tally["examples"]
    ]
    return (
        draw_statistics(drawn / "draws.parquet"),
        Statistics("generated", "What became of the answer candidates", made),
        Statistics("filters", "Filters", _passed(summary), "In the order in which they ran."),
        Statistics("filter_examples", "What filters dropped", examples, "A few for each reason."),
        _shares(questions, "answer_type", "Answer types", _PAPER),
        _shares(questions, "generator", "Generators", "Of all rows."),
        _shares(questions, "coalesce(relation, 'none')", "Relations", "Of all rows."),
        _shares(questions, "time_spec", "Time specifications", "Of all rows."),
        _shares(questions, "split_part(question, ' ', 1)", "First words", "Of all rows."),
    )


def _passed(summary: Mapping[str, Any]) -> list[Mapping[str, Scalar]]:
    """What each filter saw and dropped."""
    return [
        {
            "filter": tally["filter"],
            "seen": tally["seen"],
            "dropped": tally["dropped"],
            "share dropped": tally["dropped"] / tally["seen"] if tally["seen"] else 0.0,
        }
        for tally in summary["filters"]
    ]


def plots(questions: Path, drawn: Path) -> tuple[Plot, ...]:
    """Lengths of questions and answers in words, article years, and article days of the draws."""
    lengths: dict[str, dict[str, int]] = {}
    for name, column in (
        ("words in the question", "question"),
        ("words in the answer", "answers[1]"),
    ):
        query = f"""
            select least(len(string_split({column}, ' ')), {_LONG}) as n, count(*)
            from read_parquet(?) group by 1 order by 1
        """  # noqa: S608 - our own column names
        counted = dict(duck.query(query, [str(questions)]))
        lengths[name] = {str(n): counted.get(n, 0) for n in range(1, _LONG)}
        lengths[name][f"{_LONG}+"] = counted.get(_LONG, 0)
    days = """
        select 'eval, ' || recent_or_past,
            year(make_timestamp(evidence_ts * 1000000))::varchar, count(*)
        from read_parquet(?) where split = 'eval' group by all order by all
    """
    years = series_data(duck.query(days, [str(questions)]))
    first = Plot("lengths", "periods", "Lengths", "Words of questions and answers.", lengths)
    about = "Evaluation questions by the year of their article."
    by_year = [Plot("years", "periods", "Article years", about, years)] if years else []
    return (first, *by_year, *day_plots(drawn))


_BASELINE = (
    "Answers of people who were given the article, one a question, and how they score against "
    "the references: the human baseline."
)
_GOLD = (
    "`taken`: used. `rejected`, `disputed`, `open`: what quality control made of it. `changed`: "
    "people saw another question, day or article than there is now. `no_such_row`: the id is in "
    "none of the tables. `other_split`: its article is in another split. `not_understood`, "
    "`contradictory`: no answer of the layout, or several that differ."
)
_JUDGED = (
    "`good`: three of three people say so. `judged_bad`: at least one does not; left out. "
    "`unanswerable`: most of those who looked for an answer in the article found none; left out. "
    "`not_judged`: left out, since the recipe asks for a judgment; where it does not, such "
    "questions are `kept unjudged`."
)
_FILTERS = "In the order in which they ran. Written questions are filtered by themselves."
_SCORES = (
    "One of those who answered, chosen by a hash of the question's id, against the original "
    "answers and those of the others, after SQuAD normalisation. Who found no answer scores 0."
)


def baseline(made: Path) -> tuple[Table, ...]:
    """The config of the human baseline, where there is one."""
    query = "select count(*) from read_parquet(?)"
    if not duck.query(query, [str(made / BASELINE)])[0][0]:
        return ()
    source = FromParquet(made / BASELINE)
    return (Table("human_baseline", rows.HumanAnswer, _BASELINE, {"full": source}),)


def annotation_statistics(made: Path, summary: Mapping[str, Any]) -> tuple[Statistics, ...]:
    """What became of the gold rows, of judged questions, of written ones; the baseline's scores."""
    gold: list[Mapping[str, Scalar]] = [
        {"layout": layout, "outcome": outcome, "rows": n}
        for layout, counts in summary["gold"].items()
        for outcome, n in counts.items()
        if n
    ]
    judged: list[Mapping[str, Scalar]] = [
        {"question": kind, "outcome": outcome, "rows": n} for kind, outcome, n in summary["judged"]
    ]
    query = """
        select q.split, q.written_or_generated as question, count(*) as rows,
            avg(b.exact_match) as "share exact match", avg(b.f1) as "share f1"
        from read_parquet(?) b join read_parquet(?) q using (id) group by all order by all
    """
    scores = duck.records(query, [made / BASELINE, made / QUESTIONS])
    return (
        Statistics("gold", "What became of the gold rows", gold, _GOLD),
        Statistics("judged", "Questions that people judged", judged, _JUDGED),
        Statistics("written_filters", "Filters of written questions", _passed(summary), _FILTERS),
        Statistics("human_baseline", "The human baseline", scores, _SCORES),
    )


def _shares(questions: Path, column: str, title: str, caption: str) -> Statistics:
    kind = title.lower().removesuffix("s")
    query = f"""
        select {column} as "{kind}", count(*) as rows, count(*) / sum(count(*)) over () as share
        from read_parquet(?) group by 1 order by 2 desc, 1
    """  # noqa: S608 - our own column names
    return Statistics(
        title.lower().replace(" ", "_"), title, duck.records(query, [questions]), caption
    )
