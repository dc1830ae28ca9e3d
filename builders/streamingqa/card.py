"""Statistics and plots for the card, and the configuration of the human baseline."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.dataset import FromParquet, Plot, Scalar, Statistics, Table
from factdrift.builders.generate.backends import AnyModel
from factdrift.builders.generate.prompt_files import Task, load_prompts, prompt_template
from factdrift.builders.generate.protocol import Style
from factdrift.builders.streamingqa.common import BASELINE, QUESTIONS
from factdrift.builders.wmt.card import day_plots, draw_statistics, series_data

_PAPER = "The paper's written questions have 46.9 % entity, 40.6 % phrase and 12.4 % date answers."
_UNSAID = {"backend", "model", "revision", "base_url", "key_variable", "folder"}
"""Settings with a column of their own, and addresses, which concern nobody else."""
_LONG = 25
"""Words from which questions and answers share the last bar: few are longer."""


_STATED = (
    "Without a language model: a sentence that names both sides of a dated fact and reports its "
    "beginning is the evidence; the timeline gives the answers, and says whether they still hold. "
    "On real news about one article in 300 has such an event."
)
_WRITING: Mapping[Style, Task] = {"article": "article", "candidates": "generate"}
_CALLS = (
    "Prompts that the models were given, each counted once, whether its answer was kept from an "
    "earlier run or not."
)
_PROMPTS = (
    "As they were sent, with the slots that each article fills; the hash is that of the whole "
    "prompt file. Where one call asks for several questions, the answers are numbered."
)


def writers(
    models: Mapping[str, AnyModel], summary: Mapping[str, Any], *, style: Style, stated: bool
) -> tuple[Statistics, ...]:
    """Describe the writers: backends, models, parameters, prompts, and the calls for each row.

    `style`: how the model that writes was asked; `stated`: whether questions were also written
    without a model.
    """
    without_model: list[Mapping[str, Scalar]] = [{"task": "writes questions", "backend": "facts"}]
    model_rows: list[Mapping[str, Scalar]] = []
    prompt_rows: list[Mapping[str, Scalar]] = []
    for task_name, model_settings in models.items():
        parameters = model_settings.model_dump(mode="json", exclude=_UNSAID)
        prompt_file = load_prompts(model_settings.prompts)
        model_rows.append(
            {
                "task": task_name,
                "backend": model_settings.backend,
                "model": model_settings.model_dump(include={"model"})["model"],
                "revision": getattr(model_settings, "revision", None),
                "prompt": prompt_file.identity,
                "prompt version": prompt_file.version,
                "parameters": json.dumps(parameters, sort_keys=True, ensure_ascii=False),
            }
        )
        prompt_rows.append(
            {
                "task": task_name,
                "prompt": prompt_file.identity,
                "text": prompt_template(prompt_file, task_name, _WRITING[style]),
            }
        )
    statistics_list = []
    if stated:
        statistics_list.append(
            Statistics("writers", "What wrote the questions", without_model, _STATED)
        )
    if model_rows:
        statistics_list.append(Statistics("models", "Language models", model_rows))
        statistics_list.append(Statistics("prompts", "Prompts", prompt_rows, _PROMPTS))
        counted_calls = summary["calls"]
        call_rows: list[Mapping[str, Scalar]] = [
            {
                "calls": name,
                "number": call_count,
                "for each row kept": _ratio(call_count, summary["kept"]),
            }
            for name, call_count in (*counted_calls.items(), ("all", sum(counted_calls.values())))
        ]
        statistics_list.append(Statistics("calls", "Calls of language models", call_rows, _CALLS))
    return tuple(statistics_list)


def _ratio(count: int, row_count: int) -> float | None:
    return round(count / row_count, 2) if row_count else None


def statistics(
    questions_path: Path, draws_folder: Path, summary: Mapping[str, Any]
) -> tuple[Statistics, ...]:
    """Return figures on draws, outcomes of generation, filters, answer types, time specifications.

    `draws_folder` is the folder of the draws.
    """
    outcome_rows: list[Mapping[str, Scalar]] = [
        {"outcome": reason, "candidates": candidate_count}
        for reason, candidate_count in sorted(summary["generated"].items())
    ]
    example_rows: list[Mapping[str, Scalar]] = [
        {"filter": tally["filter"], "reason": reason, "dropped": dropped_text}
        for tally in summary["filters"]
        for reason, dropped_text in tally["examples"]
    ]
    return (
        draw_statistics(draws_folder / "draws.parquet"),
        Statistics("generated", "What became of the answer candidates", outcome_rows),
        Statistics("filters", "Filters", _passed(summary), _RAN),
        Statistics(
            "filter_examples", "What filters dropped", example_rows, "A few for each reason."
        ),
        _shares(questions_path, "answer_type", "Answer types", _PAPER),
        _shares(questions_path, "generator", "Generators", "Of all rows."),
        _shares(questions_path, "coalesce(relation, 'none')", "Relations", "Of all rows."),
        _shares(questions_path, "time_spec", "Time specifications", "Of all rows."),
        _shares(questions_path, "split_part(question, ' ', 1)", "First words", "Of all rows."),
    )


def _passed(summary: Mapping[str, Any]) -> list[Mapping[str, Scalar]]:
    """The counts of items that each filter saw and dropped."""
    return [
        {
            "filter": tally["filter"],
            "seen": tally["seen"],
            "dropped": tally["dropped"],
            "skipped": tally["skipped"],
            "share dropped": tally["dropped"] / tally["seen"] if tally["seen"] else 0.0,
        }
        for tally in summary["filters"]
    ]


def plots(questions_path: Path, draws_folder: Path) -> tuple[Plot, ...]:
    """Plot the words of questions and answers, article years, and article days of the draws."""
    length_bars: dict[str, dict[str, int]] = {}
    for bar_title, column in (
        ("words in the question", "question"),
        ("words in the answer", "answers[1]"),
    ):
        length_query = f"""
            select least(len(string_split({column}, ' ')), {_LONG}) as n, count(*)
            from read_parquet(?) group by 1 order by 1
        """  # noqa: S608 - our own column names
        length_counts = dict(duck.query(length_query, [str(questions_path)]))
        length_bars[bar_title] = {
            str(word_count): length_counts.get(word_count, 0) for word_count in range(1, _LONG)
        }
        length_bars[bar_title][f"{_LONG}+"] = length_counts.get(_LONG, 0)
    year_query = """
        select 'eval, ' || recent_or_past,
            year(make_timestamp(evidence_ts * 1000000))::varchar, count(*)
        from read_parquet(?) where split = 'eval' group by all order by all
    """
    year_counts = series_data(duck.query(year_query, [str(questions_path)]))
    length_plot = Plot(
        "lengths", "periods", "Lengths", "Words of questions and answers.", length_bars
    )
    year_caption = "Evaluation questions by the year of their article."
    year_plots = (
        [Plot("years", "periods", "Article years", year_caption, year_counts)]
        if year_counts
        else []
    )
    return (length_plot, *year_plots, *day_plots(draws_folder))


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
_RAN = (
    "In the order in which they ran; skipped is what a filter kept without having judged it, as "
    "`guess` does with articles that its model may have read."
)
_FILTERS = "In the order in which they ran. Written questions are filtered by themselves."
_SCORES = (
    "One of those who answered, chosen by a hash of the question's id, against the original "
    "answers and those of the others, after SQuAD normalisation. Who found no answer scores 0."
)


def baseline(folder: Path) -> tuple[Table, ...]:
    """Return the config of the human baseline, where there is one."""
    count_query = "select count(*) from read_parquet(?)"
    if not duck.query(count_query, [str(folder / BASELINE)])[0][0]:
        return ()
    source = FromParquet(folder / BASELINE)
    return (Table("human_baseline", rows.HumanAnswer, _BASELINE, {"full": source}),)


def annotation_statistics(folder: Path, summary: Mapping[str, Any]) -> tuple[Statistics, ...]:
    """Return the outcomes of gold rows, judged and written questions, and the baseline's scores."""
    gold_rows: list[Mapping[str, Scalar]] = [
        {"layout": layout, "outcome": outcome, "rows": row_count}
        for layout, outcome_counts in summary["gold"].items()
        for outcome, row_count in outcome_counts.items()
        if row_count
    ]
    judged_rows: list[Mapping[str, Scalar]] = [
        {"question": question_kind, "outcome": outcome, "rows": row_count}
        for question_kind, outcome, row_count in summary["judged"]
    ]
    score_query = """
        select q.split, q.written_or_generated as question, count(*) as rows,
            avg(b.exact_match) as "share exact match", avg(b.f1) as "share f1"
        from read_parquet(?) b join read_parquet(?) q using (id) group by all order by all
    """
    baseline_scores = duck.records(score_query, [folder / BASELINE, folder / QUESTIONS])
    return (
        Statistics("gold", "What became of the gold rows", gold_rows, _GOLD),
        Statistics("judged", "Questions that people judged", judged_rows, _JUDGED),
        Statistics("written_filters", "Filters of written questions", _passed(summary), _FILTERS),
        Statistics("human_baseline", "The human baseline", baseline_scores, _SCORES),
    )


def _shares(questions_path: Path, column_sql: str, title: str, caption: str) -> Statistics:
    column_title = title.lower().removesuffix("s")
    share_query = f"""
        select {column_sql} as "{column_title}", count(*) as rows,
            count(*) / sum(count(*)) over () as share
        from read_parquet(?) group by 1 order by 2 desc, 1
    """  # noqa: S608 - our own column names
    return Statistics(
        title.lower().replace(" ", "_"), title, duck.records(share_query, [questions_path]), caption
    )
