"""Which rows ask something, and what whoever scores or exports them reads from which column.

Scores, harness tasks and exports take the names of columns from `ASKING` and from nowhere else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from factdrift.builders.rows.choices import ChoiceCloze
from factdrift.builders.rows.ckl import EasyCloze, NewCloze, NewEasyCloze, NewsCloze, UpdatedCloze
from factdrift.builders.rows.cloze import Cloze, InvariantCloze
from factdrift.builders.rows.news import NewsQuestion
from factdrift.builders.rows.timeqa import ParaphrasedQuestion, TimeProbe, TimeQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The columns of one row type by what they are for; a dot leads into a struct.

    Each field names one column, or several. The types below are those of Arrow.
    """

    prompt: str = "prompt"
    """What a model is asked: `string`, never empty."""
    targets: str = "targets"
    """Every accepted answer, best first: `list<string>`; empty where there is none to give."""
    context: str | None = None
    """The text that the answer is to be found in: `string`, empty where the release has none."""
    answers: str
    """The gold answer in the dataset's own form: `string`, `list<string>`, spans, or Wikidata
    items with labels and aliases (a struct or a list of them)."""
    previous: str | None = None
    """What was right before, in one of the same forms: a prediction that is in it and not in
    `targets` is outdated. Of a row whose fact ended it is what `targets` has."""
    choices: str | None = None
    """What there is to choose of, one of them right: `list<string>`."""
    answer_index: str | None = None
    """The place of the right one among `choices`, from 0: `int64`."""
    time: tuple[str, ...] = ()
    """The last day asked about, of which the lag behind a model's cut-off is counted: `date32`,
    or `int64` in seconds since 1970. Of several the first that is not null; none: no time matters.
    """
    subject: str
    """What rows share that are not independent: `string`. Intervals are resampled by it."""
    history: tuple[str, ...] = ()
    """What rows share that ask the same thing at different times: `string`, none: nothing. What one
    of them accepts was right at its time, and a prediction of it at a later time is outdated."""
    period: str | None = None
    """The one of `strata` that is the period asked about; else scores go by the year of `time`."""
    evidence: str | None = None
    """The id of what a search ought to find: `string`."""
    group: str | None = None
    """The question that rows are variants of: `string`. Who knows its answer gets all of them."""
    strata: tuple[str, ...] = ()
    """What scores are split by: `string` or `int64`; a row counts for each entry of a list."""
    popularity: tuple[str, ...] = ()
    """How well known the subject is, best measure first: `int64`, null where not known."""


_NEWS_CLOZE = Asking(
    answers="answer",
    time=("new_evidence.day",),
    subject="new_evidence.article",
    evidence="new_evidence.article",
    strata=("grounds", "views"),
)
_TIME_QUESTION = Asking(
    context="context",
    answers="answers",
    time=("time_last", "time_first"),
    subject="subject",
    history=("subject", "relation"),
    strata=(
        *("split", "difficulty", "specifier", "answerable"),
        *("relation", "template", "verification"),
    ),
)

ASKING: Mapping[type, Asking] = {
    Cloze: Asking(
        answers="answers",
        previous="previous_answers",
        time=("period_last",),
        subject="subject",
        history=("subject", "relation"),
        period="period",
        strata=("split", "period", "relation", "template", "views"),
        popularity=("sitelinks", "statements", "subject_facts"),
    ),
    ChoiceCloze: Asking(
        answers="answers",
        previous="previous_answers",
        choices="choices",
        answer_index="answer_index",
        time=("period_last",),
        subject="subject",
        history=("subject", "relation"),
        period="period",
        strata=("split", "period", "relation", "template"),
        popularity=("sitelinks", "statements", "subject_facts"),
    ),
    InvariantCloze: Asking(
        answers="answer",
        subject="subject",
        strata=("relation", "template", "source", "views"),
        popularity=("sitelinks",),
    ),
    TimeQuestion: _TIME_QUESTION,
    TimeProbe: replace(_TIME_QUESTION, group="probe_of"),
    ParaphrasedQuestion: replace(_TIME_QUESTION, group="paraphrase_of"),
    NewsQuestion: Asking(
        answers="answers",
        time=("question_ts",),
        subject="evidence_id",
        evidence="evidence_id",
        period="quarter",
        strata=(
            *("split", "quarter", "recent_or_past", "written_or_generated"),
            *("answer_type", "time_spec", "generator"),
        ),
    ),
    NewCloze: _NEWS_CLOZE,
    UpdatedCloze: replace(_NEWS_CLOZE, previous="old_answer"),
    NewEasyCloze: replace(_NEWS_CLOZE, strata=("views",)),
    NewsCloze: Asking(
        answers="new_answer",
        time=("article_day",),
        subject="evidence_id",
        evidence="evidence_id",
    ),
    EasyCloze: Asking(
        answers="answer",
        time=("article_day",),
        subject="evidence_id",
        evidence="evidence_id",
    ),
}
"""Every row type that asks something. Rows of articles (`ArticleQuestions`) only offer questions
to choose from."""


_APART = 4
"""Columns by which a release of another version may differ from a row type and still be of it."""


def _read_from(asking: Asking) -> set[str]:
    """The columns, structs as a whole, that are read of a row type."""
    one = (asking.prompt, asking.targets, asking.context, asking.answers, asking.previous)
    more = (asking.choices, asking.answer_index, asking.subject, asking.group, asking.evidence)
    several = (*asking.time, *asking.strata, *asking.popularity, *asking.history)
    return {name.split(".")[0] for name in (*one, *more, *several) if name}


def asking_of_columns(names: Sequence[str]) -> Asking | None:
    """What is read from a config with these columns, if it asks something.

    Of a row type that is not in `ASKING`, the prompt and the targets; each row is then its own
    subject, or its column `subject` is.
    """
    given = set(names)
    best: tuple[int, Asking] | None = None
    for row, asking in ASKING.items():
        every = {field.name for field in fields(row)}
        apart = len(every ^ given)
        if _read_from(asking) <= given and apart <= _APART and (best is None or apart < best[0]):
            best = (apart, asking)
    if best:
        return best[1]
    if not {"id", "prompt", "targets"} <= set(names):
        return None
    return Asking(answers="targets", subject="subject" if "subject" in names else "id")


def asking_of(row: type) -> Asking | None:
    """What is read from rows of this type, if they ask something.

    A dataset that keeps its row type in its own module says it there, as `asking` of the type.
    """
    own: Asking | None = getattr(row, "asking", None)
    return ASKING.get(row, own)
