"""Statistics tables and plots for the card of time-sensitive questions."""

from collections.abc import Mapping
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Scalar, Statistics
from factdrift.builders.text.dates import MONTHS
from factdrift.builders.timeqa.shortcuts import lengths, shortcuts

_PAPER = "The paper has about 20,000 questions a mode over 70 relations, 12 % unanswerable."
_RULES = (
    "Of the segments of kept histories. `link`: the object is linked; `name`: a name of it "
    "stands in the text; `similar`: a passage is similar (TF-IDF); `none`: not found."
)
_STATED = (
    "Boundaries of the segments of kept histories that the page states near the mention, and "
    "whether the dates directly beside it are others."
)
_CHANGES = {
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
_EXPERT = (
    "Of the items that people judged. An expert saw an item who judged it, or checked a worker's "
    "judgment of it; with none, nobody but the workers looked at any."
)
_CHECKED = (
    "Answers are worked out from the checked segments by the same rules as those of `easy` and "
    "`hard`. A segment whose time the page does not give is taken as not in the page."
)
_PROVED = ("evidence", "contradicted")
_ANSWERABLE = ("difficulty", "answerable")
_ASKS = ("in", "between", "before", "after", "part of a decade", "a month named", "no answer")
_ORIGINAL: Mapping[tuple[str, str], float] = {
    ("easy", "between"): 0.91,
    ("easy", "in"): 0.09,
    ("easy", "no answer"): 0.13,
    ("hard", "between"): 0.40,
    ("hard", "in"): 0.39,
    ("hard", "before"): 0.08,
    ("hard", "after"): 0.07,
    ("hard", "part of a decade"): 0.05,
    ("hard", "a month named"): 0.90,
    ("hard", "no answer"): 0.15,
}
_MOST_TEMPLATES = 30
"""Templates on the card; all of them are in the dropped rows."""
_TEMPLATE_COLUMNS = ("template", "uses", "text shown", "holes in the text", "pages")
_UNKNOWN = (
    "Of the pages that are read, those that leave most holes. What stands in a sentence, a list or "
    "a value and reads as words is shown; a note behind a word, and a notice or a box of links on "
    "a line of its own, shows nothing and leaves no hole. `unknown_template` among the dropped "
    "rows has all of them."
)
_MIX = (
    "`share of the original`: of the questions of the paper's release. An open segment is asked "
    "about with `after` its start in easy mode; the original closes such segments. `before` and "
    "`after` are left out where the page tells of others before or after the segments."
)


def statistics(
    asked_folder: Path, aligned_folder: Path, pages_folder: Path
) -> tuple[Statistics, ...]:
    """Questions by mode, what answers them, specifiers, alignment, evidence and shortcuts."""
    questions, segments = asked_folder / "questions.parquet", aligned_folder / "segments.parquet"
    rules_title = "How segments were found in the page"
    return (
        _shares(questions, _ANSWERABLE, "answerable", "What answers them", _PAPER),
        _mix(questions),
        _shares(segments, ("rule",), "rules", rules_title, _RULES),
        _shares(segments, _PROVED, "evidence", "What the page states", _STATED),
        shortcuts(questions, segments),
        lengths(questions),
        *_templates(pages_folder / "templates.parquet"),
    )


def _templates(counted: Path) -> tuple[Statistics, ...]:
    """Return the templates that the reader does not know, those that leave most holes first."""
    query = """
        select template, uses, texts_shown, texts_missing, pages from read_parquet(?)
        order by texts_missing desc, uses desc, template limit ?
    """
    rows: list[dict[str, Scalar]] = [
        dict(zip(_TEMPLATE_COLUMNS, row, strict=True))
        for row in duck.query(query, [str(counted), _MOST_TEMPLATES])
    ]
    title = "Templates that the reader of pages does not know"
    return (Statistics("templates", title, rows, _UNKNOWN),) if rows else ()


def _mix(questions: Path) -> Statistics:
    """Return the shares of kinds of questions, beside those of the original dataset."""
    query = """
        select difficulty,
            case when specifier = 'in' and date_diff('day', time_first, time_last) > 1000
                then 'part of a decade' else specifier end as asks,
            answerable <> 'yes' as without, regexp_matches(question, ?) as month, count(*)
        from read_parquet(?) group by all
    """
    month_pattern = rf"\b({'|'.join(MONTHS)}) (AD )?\d"
    counts_by_kind: dict[tuple[str, str], int] = {}
    mode_totals: dict[str, int] = {}
    for mode, asks, has_no_answer, has_month, row_count in duck.query(
        query, [month_pattern, str(questions)]
    ):
        mode_totals[mode] = mode_totals.get(mode, 0) + row_count
        for kind, counts in (
            (asks, True),
            ("a month named", has_month),
            ("no answer", has_no_answer),
        ):
            counts_by_kind[mode, kind] = counts_by_kind.get((mode, kind), 0) + row_count * counts
    rows: list[dict[str, Scalar]] = [
        {
            "difficulty": mode,
            "asks": kind,
            "rows": counts_by_kind[mode, kind],
            "share": counts_by_kind[mode, kind] / mode_totals[mode],
            "share of the original": _ORIGINAL.get((mode, kind)),
        }
        for mode, kind in sorted(
            {*counts_by_kind, *_ORIGINAL},
            key=lambda mode_and_kind: (mode_and_kind[0], _ASKS.index(mode_and_kind[1])),
        )
        if (mode, kind) in counts_by_kind
    ]
    return Statistics("specifiers", "What the times ask, and the original's", rows, _MIX)


def checked_statistics(
    questions: Path, summary: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> tuple[Statistics, ...]:
    """Return the tables on annotators' work: changes, answers of questions, outcomes of gold rows.

    `asked` is the file of the questions about verified histories, and `summary` is that of
    `annotations.write_checked`.
    """
    revised: Mapping[str, int] = summary["revised"]  # type: ignore[assignment]
    segment_count = revised.get("segments", 0)
    revision_rates: list[Mapping[str, Scalar]] = [
        {
            "change": change,
            "segments": revised.get(kind, 0),
            "share": revised.get(kind, 0) / segment_count,
        }
        for kind, change in _CHANGES.items()
        if segment_count
    ]
    gold_counts: list[Mapping[str, Scalar]] = [
        {"layout": layout, "outcome": outcome, "rows": row_count}
        for layout, counts in summary["gold"].items()
        for outcome, row_count in sorted(counts.items())
        if row_count
    ]
    answers_title = "What answers the checked questions"
    return (
        Statistics(
            "revisions",
            "Revision rate: what people changed",
            revision_rates,
            _RATE.format(segment_count),
        ),
        _shares(questions, _ANSWERABLE, "human_answerable", answers_title, _CHECKED),
        Statistics("gold", "What became of the gold rows", gold_counts, _GOLD),
        Statistics("expert", "Items that an expert saw", _expert_rows(summary), _EXPERT),
    )


def _expert_rows(
    summary: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> list[Mapping[str, Scalar]]:
    """The number of items of each layout, and of those that an expert saw."""
    expert_rows: list[Mapping[str, Scalar]] = []
    seen_counts: Mapping[str, int] = summary["expert"]  # type: ignore[assignment]
    for layout, seen_count in seen_counts.items():
        item_count = sum(summary["gold"][layout].values())
        expert_rows.append({"layout": layout, "items": item_count, "seen by an expert": seen_count})
    return expert_rows


def plots(asked_folder: Path) -> tuple[Plot, ...]:
    """Questions by relation and mode."""
    query = """
        select relation_label, difficulty, count(*) from read_parquet(?)
        group by 1, 2 order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    counts_by_relation: dict[str, dict[str, int]] = {}
    for label, difficulty, question_count in duck.query(
        query, [str(asked_folder / "questions.parquet")]
    ):
        counts_by_relation.setdefault(label, {"easy": 0, "hard": 0})[difficulty] = question_count
    caption = "How many questions each relation has, easy and hard."
    return (Plot("relations", "bars", "Questions by relation", caption, counts_by_relation),)


def _shares(
    path: Path, group_columns: tuple[str, ...], name: str, title: str, caption: str
) -> Statistics:
    """Rows by the values of some columns; the shares of several columns are within the first's."""
    column_list = ", ".join(group_columns)
    partition = f"partition by {group_columns[0]}" if len(group_columns) > 1 else ""
    query = f"""
        select {column_list}, count(*), count(*) / sum(count(*)) over ({partition})
        from read_parquet(?) group by {column_list} order by {column_list}
    """  # noqa: S608
    rows: list[dict[str, Scalar]] = []
    for *values, row_count, share in duck.query(query, [str(path)]):
        value_texts = ["null" if value is None else str(value).lower() for value in values]
        rows.append(
            {
                **dict(zip(group_columns, value_texts, strict=True)),
                "rows": row_count,
                "share": share,
            }
        )
    return Statistics(name, title, rows, caption)
