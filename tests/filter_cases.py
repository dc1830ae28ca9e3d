"""The tables of cases for filters (`tests/filter_cases/*.txt`), and what each filter says of them.

A line is a case, its cells are parted by ` | `, the last one says why. `⏎` is a line end. A verdict
is `keep` or `drop`, with or without the reason of the filter.
"""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, cast

from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.protocol import Query, Result
from factdrift.builders.rows import Article, Candidate, Draw, Question
from factdrift.builders.text.dates import time_in_question
from factdrift.builders.text.en.boilerplate import boilerplate_kind
from factdrift.filters import FILTERS
from factdrift.filters.base import Filter, FilterContext, QuestionItem
from factdrift.filters.search_index import Index
from factdrift.filters.time_spec import add_time_spec, ask_in_past

FOLDER = Path(__file__).with_name("filter_cases")
TABLES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
_DAY = date(2012, 6, 1)
FINDER = SpacyFinder()


class Case(NamedTuple):
    """One line of a table: its place, its cells, and what is wanted of it."""

    where: str
    wanted: str
    cells: tuple[str, ...]


def cases(table: str) -> list[Case]:
    """The cases of a table, in order."""
    found = []
    for n, line in enumerate((FOLDER / f"{table}.txt").read_text("utf-8").splitlines(), 1):
        if not line.startswith("#") and line.strip():
            cells = tuple(cell.strip().replace("⏎", "\n") for cell in f"{line} ".split(" | "))
            wanted = cells[2] if table in _TOLD else cells[0]
            wanted = cells[3] if table == "office_holder_time" else wanted
            found.append(Case(f"{table}.txt:{n}", wanted, cells))
    return found


def item(
    text: str,
    answer: str = "Ivo Josipović",
    *,
    kind: str = "entity",
    sentences: Sequence[str] = (),
    day: date = date(2012, 5, 1),
    asked: date = _DAY,
    id: str = "q1",
    subset: str = "past",
) -> QuestionItem:
    """A question with its article, in which the answer stands where it can be found."""
    lines = ("Headline", *(sentences or (f"It says {answer} here.",)))
    body = "\n".join(lines)
    start = max(body.find(answer, len(lines[0])), 0)
    sentence = body[:start].count("\n")
    draw = Draw(
        "d1", "a1", "eval", cast(Any, subset), day, asked, f"{asked.year}Q{(asked.month + 2) // 3}"
    )
    span = Candidate(start, start + len(answer), answer, cast(Any, kind), None, sentence)
    return QuestionItem(Question(id, draw, text, span, "rules"), Article("a1", day, lines, body))


def _judged(name: str, one: QuestionItem, context: FilterContext | None = None) -> str:
    (verdict,) = cast(Filter, FILTERS[name]()).judge([one], context or FilterContext())
    return "keep" if verdict.keep else f"drop {verdict.reason}"


class Says:
    """An answering backend with one answer for all."""

    def __init__(self, text: str) -> None:
        self.text = text

    def answer(self, queries: Sequence[Query]) -> Sequence[Result]:
        return [Result(self.text or None, None if self.text else "unsure") for _ in queries]


def _duplicate(first: str, answer: str, second: str, other: str) -> str:
    one, context = FILTERS["duplicate_question"](), FilterContext()
    items = [item(first, answer, id="a"), item(second, other, id="b")]
    kept = [verdict.keep for verdict in one.judge(items, context)]
    return "keep" if kept == [True, True] else "drop"


def _search(answer: str, passage: str, tmp: Path) -> str:
    article = Article("a2", date(2012, 5, 1), tuple(passage.split("\n")), passage)
    context = FilterContext(search=Index.build([article], tmp / "index"))
    return _judged("search", item("Who is asked about?", answer), context)


def _office(question: str, article: str, asked: str, wanted: str) -> str:
    one = item(question, day=date.fromisoformat(article), asked=date.fromisoformat(asked))
    dated = add_time_spec(one.question, 0).text
    ends = [end.strip() for end in wanted.replace(" or ", ", ").split(",")]
    return wanted if any(end.casefold() in dated.casefold() for end in ends) else dated


_TOLD = ("tense",)
_HOW: dict[str, Callable[[tuple[str, ...], Path], str]] = {
    "answer_in_question": lambda c, _: _judged("answer_in_question", item(c[1], c[2])),
    "answer_not_in_article": lambda c, _: _judged(
        "answer_not_in_article", item("Who is it?", c[2], sentences=c[1].split("\n"))
    ),
    "boilerplate": lambda c, _: "drop" if boilerplate_kind(c[1]) else "keep",
    "context_reference": lambda c, _: _judged("context_reference", item(c[1])),
    "duplicate_question": lambda c, _: _duplicate(*c[1:5]),
    "entity_required": lambda c, _: _judged(
        "entity_required", item(c[2], kind=c[1]), FilterContext(names=FINDER)
    ),
    "length": lambda c, _: _judged("length", item(c[1])),
    "office_holder_time": lambda c, _: _office(*c[:4]),
    "pronoun_without_antecedent": lambda c, _: _judged("pronoun_without_antecedent", item(c[1])),
    "question_mark": lambda c, _: _judged("question_mark", item(c[1])),
    "round_trip": lambda c, _: _judged(
        "round_trip", item("Who is it?", c[2], kind=c[1]), FilterContext(answering=Says(c[3]))
    ),
    "search": lambda c, tmp: _search(c[1], c[2], tmp),
    "tense": lambda c, _: ask_in_past(c[0], c[1]),
    "time_answer": lambda c, _: _judged("context_reference", item(c[2], c[3], kind=c[1])),
    "time_in_question": lambda c, _: "time" if time_in_question(c[1]) else "none",
}


def said(table: str, case: Case, tmp: Path) -> str:
    """What the filter of a table says of a case; the wanted word where it is right."""
    return _HOW[table](case.cells, tmp)
