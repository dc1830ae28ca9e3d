"""Configs and figures of what people checked, beside the automatic ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import duckdb

from builders import rows
from builders.dataset import Dataset, Figure, FromParquet, Scalar, Table
from builders.gold import outcomes
from builders.store import Say
from builders.timeqa.human import ASKED, FACTS, PARAPHRASED, SUMMARY
from builders.timeqa.splits import split_table

_HUMAN = (
    "Questions of both modes (`difficulty`), asked anew from facts that people checked. An object "
    "whose id begins with `text-` is known by the words alone that people marked in the page."
)
_FACTS = (
    "The segments that people checked, as they left them; `segment` is the row of `timelines` "
    "that they were shown."
)
_PARAPHRASED = "Questions in people's words, with the answers of the question that they were shown."
_KINDS = {
    "object": "another object",
    "place": "the same object, other words of the page",
    "span": "the same object, words where none were found",
    "unanswerable": "not in the page",
    "time": "the page does not give the time",
    "any": "any of these",
}
_RATE = (
    "Of the {} segments that people checked, whether their history is asked about or not. Where "
    "several changes were made each counts."
)
_GOLD = (
    "`taken`: used. `rejected`, `disputed`, `open`: what quality control made of it. `changed`: "
    "people saw another segment, page or question than this release has. `no_such_row`: the id is "
    "in none of its tables. `no_words`: said to be right, but nobody found words for it. "
    "`not_in_page`: what was marked is not in the page. `not_understood`, `contradictory`: no "
    "answer of the layout, or several that differ. `gives_answer`, `same_text`: of paraphrases. "
    "Histories of which not all segments are verified are not asked about: `not_all_verified` "
    "among the dropped rows."
)
_ASKED = (
    "Answers are worked out from the checked segments by the same rules as those of `easy` and "
    "`hard`. A segment whose time the page does not give is taken as not in the page."
)


def added(made: Dataset, checked: Path, say: Say) -> Dataset:
    """The dataset with the configs, drops and figures of a folder that `human.write_human` made.

    Says what became of the gold rows.
    """
    asked = checked / ASKED / "questions.parquet"
    tables: list[Table] = []
    summary = json.loads((checked / SUMMARY).read_text("utf-8"))
    for line in outcomes(summary["gold"]):
        say(line)
    if any(summary["gold"]["verify_facts"].values()):
        facts = FromParquet(checked / FACTS)
        tables += [
            split_table("human", rows.TimeQuestion, _HUMAN, asked),
            Table("human_timelines", rows.VerifiedSegment, _FACTS, {"full": facts}),
        ]
    if any(summary["gold"]["paraphrase"].values()):
        path = checked / PARAPHRASED
        tables.append(split_table("paraphrased", rows.ParaphrasedQuestion, _PARAPHRASED, path))
    drops = (checked / "dropped.parquet", checked / ASKED / "dropped.parquet")
    return replace(
        made,
        tables=(*made.tables, *tables),
        dropped=(*made.dropped, *map(FromParquet, drops)),
        figures=(*made.figures, *_figures(asked, summary)),
    )


def _figures(asked: Path, summary: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Figure]:
    revised: Mapping[str, int] = summary["revised"]  # type: ignore[assignment]
    whole = revised.get("segments", 0)
    rate: list[Mapping[str, Scalar]] = [
        {"change": about, "segments": revised.get(kind, 0), "share": revised.get(kind, 0) / whole}
        for kind, about in _KINDS.items()
        if whole
    ]
    became: list[Mapping[str, Scalar]] = [
        {"layout": layout, "outcome": outcome, "rows": n}
        for layout, counts in summary["gold"].items()
        for outcome, n in sorted(counts.items())
        if n
    ]
    query = """
        select difficulty, answerable, count(*),
            count(*) / sum(count(*)) over (partition by difficulty)
        from read_parquet(?) group by difficulty, answerable order by all
    """
    names = ("difficulty", "answerable", "rows", "share")
    found = duckdb.execute(query, [str(asked)]).fetchall()
    human = [dict(zip(names, row, strict=True)) for row in found]
    return [
        Figure("revisions", "Revision rate: what people changed", rate, _RATE.format(whole)),
        Figure("human_answerable", "What answers the checked questions", human, _ASKED),
        Figure("gold", "What became of the gold rows", became, _GOLD),
    ]
