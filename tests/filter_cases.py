"""The tables of cases for filters, `tests/filter_cases/*.txt`, and the verdict of each filter.

The table of a filter is `NAME.txt`; a second one is `NAME-topic.txt`. Its first line, a comment,
names the columns, and each further line is a case with its cells between ` | `:

    # verdict | question | why
    drop | Who leads Apple | no question mark
    keep | Who leads Apple? | a question

The columns of a filter's table are `verdict` (`keep`, `drop`, or `drop` with the reason) and any of
those that `make_item` and `filter_context` read; `why` says what the case is about. `⏎` in a cell
is a line end. Tables of other functions are in `FUNCTIONS`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, cast

from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.text_evidence import FactDates, FactPassage, fact_evidence
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.protocol import Query, Result
from factdrift.builders.generate.questions import can_be_answer
from factdrift.builders.rows import Article, Candidate, Draw, Question
from factdrift.builders.text.dates import time_in_question
from factdrift.filters import FILTERS
from factdrift.filters.base import FilterContext, QuestionItem
from factdrift.filters.search_index import Index
from factdrift.filters.time_spec import PastQuestion, add_time_specs, ask_in_past

FOLDER = Path(__file__).with_name("filter_cases")
TABLES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
FINDER = SpacyFinder()
_ARTICLE_DAY, _QUESTION_DAY = date(2012, 5, 1), date(2012, 6, 1)

Row = Mapping[str, str]


class Case(NamedTuple):
    """One line of a table: where it stands, and its cells by column."""

    place: str
    row: Row


def read_cases(table: str) -> list[Case]:
    """Read the cases of a table, in order."""
    header, *lines = (FOLDER / f"{table}.txt").read_text("utf-8").splitlines()
    columns = header.removeprefix("# ").split(" | ")
    cases = []
    for number, line in enumerate(lines, 2):
        if not line.startswith("#") and line.strip():
            cells = [cell.strip().replace("⏎", "\n") for cell in f"{line} ".split(" | ")]
            cases.append(Case(f"{table}.txt:{number}", dict(zip(columns, cells, strict=True))))
    return cases


def item(
    text: str,
    answer: str = "Ivo Josipović",
    *,
    kind: str = "entity",
    sentences: Sequence[str] = (),
    day: date = _ARTICLE_DAY,
    question_day: date = _QUESTION_DAY,
    id: str = "q1",
) -> QuestionItem:
    """A question with its article, in which the answer stands where it can be found."""
    lines = ("Headline", *(sentences or (f"It says {answer} here.",)))
    article_text = "\n".join(lines)
    start = max(article_text.find(answer, len(lines[0])), 0)
    sentence = article_text[:start].count("\n")
    quarter = f"{question_day.year}Q{(question_day.month + 2) // 3}"
    draw = Draw("d1", "a1", "eval", "past", day, question_day, quarter)
    span = Candidate(start, start + len(answer), answer, cast(Any, kind), None, sentence)
    return QuestionItem(
        Question(id, draw, text, span, "rules"), Article("a1", day, lines, article_text)
    )


def make_item(row: Row) -> QuestionItem:
    """The question of a case: columns `question`, `answer`, `answer type`, `article`, `sentence`.

    `sentence` is the only one of the article, and all of it is the answer.
    """
    sentence = row.get("sentence", "")
    article = row.get("article", sentence)
    return item(
        row.get("question", "Who is it?"),
        row.get("answer", sentence or "Ivo Josipović"),
        kind=row.get("answer type", "entity"),
        sentences=article.split("\n") if article else (),
    )


class FixedAnswer:
    """An answering backend with one answer for all."""

    def __init__(self, text: str) -> None:
        self.text = text

    def answer(self, queries: Sequence[Query]) -> Sequence[Result]:
        return [Result(self.text or None, None if self.text else "unsure") for _ in queries]


def filter_context(row: Row, folder: Path) -> FilterContext:
    """What a run gives the filter: columns `model's answer`, and `passage` (of the `passage day`)
    for a search."""
    search = None
    if "passage" in row:
        passage = row["passage"]
        day = date.fromisoformat(row.get("passage day", _ARTICLE_DAY.isoformat()))
        article = Article("a2", day, tuple(passage.split("\n")), passage)
        search = Index.build([article], folder / "index")
    return FilterContext(
        answering=FixedAnswer(row.get("model's answer", "")), search=search, names=FINDER
    )


def verdict_of_filter(name: str, row: Row, folder: Path) -> str:
    """`keep`, or `drop` and the reason; an `earlier question` of the row is judged before it."""
    filter_class = FILTERS[name]
    context = filter_context(row, folder)
    items = [make_item(row)]
    if "earlier question" in row:
        items.insert(0, item(row["earlier question"], row["earlier answer"], id="q0"))
    verdict = filter_class.model_validate({"filter": name}).judge(items, context)[-1]
    return "keep" if verdict.keep else f"drop {verdict.reason}"


def _question_in_past(row: Row) -> str:
    (past_question,) = ask_in_past([PastQuestion(row["question"], month=row["time"])])
    return past_question.text


def _office_holder_time(row: Row) -> str:
    """The expected end where the dated question has it, or one of several that are right."""
    article_day = date.fromisoformat(row["day of the article"])
    question_day = date.fromisoformat(row["day of the question"])
    question = item(row["question"], day=article_day, question_day=question_day).question
    dated = add_time_specs([question], 0)[0].text
    ends = row["expected end"].replace(" or ", ", ").split(",")
    return (
        row["expected end"]
        if any(error.strip().casefold() in dated.casefold() for error in ends)
        else dated
    )


def _has_time(row: Row) -> str:
    return "time" if time_in_question(row["question"]) else "none"


def _is_candidate(row: Row) -> str:
    """`candidate` where the span of a sentence may be asked for."""
    news_sentence = row["sentence"]
    article = Article("a1", _ARTICLE_DAY, ("Headline", news_sentence), f"Headline\n{news_sentence}")
    candidate_texts = {
        candidate.text for candidate in FINDER.find(article) if can_be_answer(candidate)
    }
    return "candidate" if row["span"] in candidate_texts else "none"


def _told_event(row: Row) -> str:
    """`change` where a sentence tells that a fact about its two names began."""
    news_sentence = row["sentence"]
    name_starts = news_sentence.index(row["first name"]), news_sentence.index(row["second name"])
    name_spans = tuple(
        (name_start, name_start + len(row[column]))
        for name_start, column in zip(name_starts, ("first name", "second name"), strict=True)
    )
    fact_passage = FactPassage(news_sentence, names=cast(Any, name_spans))
    news_wording = NewsWording(
        cues=tuple(row["words"].split()), changes=tuple(row["events"].split())
    )
    return (
        "change"
        if fact_evidence(fact_passage, FactDates(None, None), news_wording).is_change
        else "none"
    )


class TestedFunction(NamedTuple):
    """A function with a table of its own, and the column that has its results."""

    result_column: str
    function: Callable[[Row], str]


FUNCTIONS: Mapping[str, TestedFunction] = {
    "tense": TestedFunction("expected question", _question_in_past),
    "office_holder_time": TestedFunction("expected end", _office_holder_time),
    "tense-future": TestedFunction("expected question", _question_in_past),
    "time_in_question": TestedFunction("verdict", _has_time),
    "answer_candidates": TestedFunction("verdict", _is_candidate),
    "fact_events": TestedFunction("verdict", _told_event),
}
"""Functions that filters and time specifications use, by the names of their tables."""


def is_right(table: str, case: Case, folder: Path) -> tuple[bool, str]:
    """Whether the filter or function of a table is right about a case, and what it gave."""
    if tested := FUNCTIONS.get(table):
        function_result = tested.function(case.row)
        return function_result == case.row[tested.result_column], function_result
    verdict = verdict_of_filter(table.partition("-")[0], case.row, folder)
    return case.row["verdict"] in (verdict, verdict.partition(" ")[0]), verdict
