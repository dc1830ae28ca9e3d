"""How hard a release is: what search by words, rules that know nothing and simple memories get.

Where a rule without knowledge is right in most questions, these test nothing. The figures stand on
the card; `factdrift search` and `factdrift memory` give those of the whole release.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, NamedTuple

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Statistics
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.text.squad import verdict
from factdrift.reasoning.as_of.corpus import PASSAGES, STATED
from factdrift.reasoning.as_of.dated_index import (
    DEPTH,
    NEWEST,
    DatedIndex,
    DatedText,
    RankedPassage,
    reordered_by_day,
)
from factdrift.reasoning.as_of.memories import MEMORIES, Memory
from factdrift.reasoning.as_of.rows import DAY_VERDICTS, AsOfQuestion, DatedPassage, PassageFact
from factdrift.reasoning.as_of.statements import Statements
from factdrift.reasoning.as_of.steps import QUESTIONS, WHOLE, Corpus, JudgedQuestions
from factdrift.reasoning.as_of.text_names import name_words, names_of, nearest_name

RESULTS = "difficulty.parquet"
MOST_QUESTIONS = 500
"""Questions that are measured, drawn by hash: a share of them is right to 4.5 points, 19 of 20
times, and a large corpus is searched in some minutes."""
EASY_SHARE = 0.5
"""The share of right answers of a rule without knowledge above which a recipe warns."""
KNOW_NOTHING = ("guess", "prose")
"""The rules that read text and know nothing of the facts."""
_ROWS = 1024
"""Passages in memory at a time."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a search or a memory gives for a question (an intermediate table)."""

    question: Annotated[str, "id of the question"]
    kind: Annotated[str, "its kind"]
    rule: Annotated[str, "name of the search or the memory"]
    first_judged: Annotated[int | None, "judgment of the first result: 2, 1, 0, or null for none"]
    recall: Annotated[float | None, "share of the relevant passages among the first 100 results"]
    verdict: Annotated[str | None, "current, stale, early, abstained or wrong"]


class Difficulty(Step):
    """Measures the rules on a corpus and its questions, and writes `RESULTS` (`RuleResult`)."""

    name: ClassVar[str] = "as-of-difficulty"

    passages: Corpus | Statements
    questions: JudgedQuestions
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Search the corpus, and let the memories hear it."""
        passages_folder = workspace.folder(self.passages)
        questions_folder = workspace.folder(self.questions)
        whole = passages_folder / WHOLE
        tables = DifficultyTables(
            passages=whole if whole.exists() else passages_folder / PASSAGES,
            stated=questions_folder / STATED,
            questions=questions_folder / QUESTIONS,
        )
        with TemporaryDirectory(dir=workspace.work(self.name)) as index_folder:
            measure_difficulty(tables, Path(index_folder), out, self.seed)


class DifficultyTables(NamedTuple):
    """The files of a corpus with its questions; the passages have their text."""

    passages: Path
    stated: Path
    questions: Path


def measure_difficulty(tables: DifficultyTables, work: Path, out: Path, seed: int) -> None:
    """Write `RESULTS` into `out`: a row for each rule and each of the questions that are drawn.

    `work` is an empty folder for the search index. The corpus is read twice; memory holds the drawn
    questions and the passages that name something that they name.
    """
    questions = drawn_questions(typed_rows(tables.questions, AsOfQuestion), seed)
    index = DatedIndex.build(_texts(tables.passages), work)
    results: list[RuleResult] = []
    guessed_passages: dict[str, str] = {}
    for question in questions:
        for rule, hits in _searches(index, question):
            results.append(_search_result(question, rule, hits))
            if rule == "guess" and hits:
                guessed_passages[question.id] = hits[0].id
    answers = _memory_answers(tables, questions)
    answers["guess"] = _guesses(tables.passages, questions, guessed_passages)
    for rule, answers_by_id in answers.items():
        for question in questions:
            results.append(_answer_result(question, rule, answers_by_id[question.id]))
    with writing(out / RESULTS, RuleResult) as result_writer:
        for result in sorted(results, key=lambda row: (row.question, row.rule, row.verdict or "")):
            result_writer.append(result)


def drawn_questions(questions: Iterable[AsOfQuestion], seed: int) -> list[AsOfQuestion]:
    """Return at most `MOST_QUESTIONS` questions, drawn by hash, in the order of asking."""
    by_draw = sorted(questions, key=lambda row: seeded_hash(seed, "difficulty", row.id))
    return sorted(by_draw[:MOST_QUESTIONS], key=lambda row: (row.asked_on, row.id))


def _texts(passages: Path) -> Iterator[DatedText]:
    for passage in typed_rows(passages, DatedPassage):
        yield DatedText(passage.id, passage.day, f"{passage.title} {passage.text}")


def _searches(
    index: DatedIndex, question: AsOfQuestion
) -> Iterator[tuple[str, list[RankedPassage]]]:
    """Yield the results of each search; none finds what was published after the asking."""
    asked_day = min(question.as_of, question.asked_on)
    by_day = index.best(question.question, asked_day, DEPTH)
    yield "bm25", index.best(question.question, question.asked_on, DEPTH)
    yield "day", by_day
    yield "newest", reordered_by_day(by_day, NEWEST)
    yield "guess", index.newest_with_all(name_words(question.question), asked_day, DEPTH)


def _search_result(question: AsOfQuestion, rule: str, hits: Sequence[RankedPassage]) -> RuleResult:
    judgments = {
        **dict.fromkeys(question.stale, 0),
        **dict.fromkeys(question.supporting, 1),
        **dict.fromkeys(question.evidence, 2),
    }
    relevant_ids = {*question.evidence, *question.supporting}
    recall = None
    if relevant_ids:
        recall = len(relevant_ids & {hit.id for hit in hits}) / len(relevant_ids)
    first_judged = judgments.get(hits[0].id) if hits else None
    return RuleResult(question.id, question.kind, rule, first_judged, recall, None)


def _answer_result(question: AsOfQuestion, rule: str, answer: str) -> RuleResult:
    judged = verdict(answer, question.targets, question.earlier, question.later)
    return RuleResult(
        question.id, question.kind, rule, None, None, DAY_VERDICTS.get(judged, judged)
    )


def _guesses(
    passages: Path, questions: Sequence[AsOfQuestion], passages_by_question: Mapping[str, str]
) -> dict[str, str]:
    """Return the name nearest to each question's words in the passage that was guessed for it."""
    wanted_ids, texts = set(passages_by_question.values()), {}
    for passage in typed_rows(passages, DatedPassage):
        if passage.id in wanted_ids:
            texts[passage.id] = _whole_text(passage)
    answers: dict[str, str] = {}
    for question in questions:
        passage_id = passages_by_question.get(question.id)
        text = texts[passage_id] if passage_id else ""
        answers[question.id] = nearest_name(text, question.question)
    return answers


def _memory_answers(
    tables: DifficultyTables, questions: Sequence[AsOfQuestion]
) -> dict[str, dict[str, str]]:
    """Return the answers of memories that hear the corpus in order of day, by memory and id."""
    memories: dict[str, Memory] = {name: MEMORIES[name]() for name in ("last", "validity", "prose")}
    answers: dict[str, dict[str, str]] = {name: {} for name in memories}
    waiting = [*reversed(questions)]  # the next one is last
    asked_pairs = {(question.subject, question.relation) for question in questions}
    asked_names: set[str] = set()
    facts_by_passage = _facts_by_passage(tables.stated, asked_pairs)
    for question in questions:
        asked_names.update(name.text for name in names_of(question.question))

    def ask(question: AsOfQuestion) -> None:
        event = {
            "text": question.question,
            "day": question.asked_on.isoformat(),
            "as_of": question.as_of.isoformat(),
            "subject": question.subject,
            "relation": question.relation,
        }
        for name, memory in memories.items():
            answers[name][question.id] = memory.answer(event)

    for passage_id, day, text in _in_order_of_day(tables.passages):
        while waiting and waiting[-1].asked_on < day:
            ask(waiting.pop())
        facts = facts_by_passage.get(passage_id, [])
        # what names nothing that is asked about can be no answer, and would only be held
        is_about = any(name.text in asked_names for name in names_of(text))
        event = {"id": passage_id, "text": text, "day": day.isoformat(), "facts": facts}
        for name, memory in memories.items():
            if is_about if name == "prose" else facts:
                memory.hear(event)
    while waiting:
        ask(waiting.pop())
    return answers


def _whole_text(passage: DatedPassage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def _in_order_of_day(passages: Path) -> Iterator[tuple[str, date, str]]:
    """Yield the id, day and text of passages as a stream has them; beyond memory, from disk."""
    query = f"""
        SELECT id, day, CASE WHEN title = '' THEN text ELSE title || chr(10) || text END AS text
        FROM {duck.parquet(passages)} ORDER BY day, id
    """  # noqa: S608 - ours
    with duck.connect() as db:
        for batch in db.sql(query).to_arrow_reader(_ROWS):
            for row in batch.to_pylist():
                yield row["id"], row["day"], row["text"]


def _facts_by_passage(
    stated: Path, asked_pairs: set[tuple[str, str]]
) -> dict[str, list[dict[str, str]]]:
    facts_by_passage: dict[str, list[dict[str, str]]] = defaultdict(list)
    for fact in typed_rows(stated, PassageFact):
        if (fact.subject, fact.relation) in asked_pairs:
            facts_by_passage[fact.passage].append(
                {
                    "subject": fact.subject,
                    "relation": fact.relation,
                    "object": fact.object_label,
                    "since": fact.since.isoformat(),
                }
            )
    return facts_by_passage


def difficulty_statistics(results: Path, prefix: str = "") -> tuple[Statistics, ...]:
    """Return the tables of the card: searches, answers, and answers by kind of question.

    `prefix` is what the names of the corpus's configs begin with.
    """
    about = ": sentences made from facts" if prefix else ""
    tables = (
        ("searches", "Searches", _SEARCHES, _SEARCHES_CAPTION),
        ("rules", "Rules and memories", _ANSWERS, _CAPTION),
        ("right-by-kind", "Right answers by kind", _KINDS, _KINDS_CAPTION),
    )
    return tuple(
        Statistics(f"{prefix}{key}", f"{title}{about}", duck.records(query, [results]), caption)
        for key, title, query, caption in tables
    )


_SEARCHES = """
    SELECT rule AS search, count(recall) AS questions,
        avg(coalesce(first_judged = 2, false)::INT) AS "share whose first result proves the day",
        avg(coalesce(first_judged = 0, false)::INT) AS "share whose first result is stale",
        avg(recall) AS "share found among 100"
    FROM read_parquet(?) WHERE verdict IS NULL AND recall IS NOT NULL
    GROUP BY rule ORDER BY list_position(['bm25', 'day', 'newest', 'guess'], rule)
"""
_ANSWERS = """
    SELECT rule AS memory, count(*) AS questions,
        avg((verdict = 'current')::INT) AS "share current",
        avg((verdict = 'stale')::INT) AS "share stale",
        avg((verdict = 'early')::INT) AS "share early",
        avg((verdict = 'abstained')::INT) AS "share abstained",
        avg((verdict = 'wrong')::INT) AS "share wrong"
    FROM read_parquet(?) WHERE verdict IS NOT NULL
    GROUP BY rule ORDER BY list_position(['guess', 'prose', 'last', 'validity'], rule)
"""
_KINDS = """
    WITH answers AS (FROM read_parquet(?) WHERE verdict IS NOT NULL)
    SELECT kind, count(DISTINCT question) AS questions,
        count(DISTINCT question) / (SELECT count(DISTINCT question) FROM answers) AS "share of all",
        avg((verdict = 'current')::INT) FILTER (rule = 'guess') AS "share current: guess",
        avg((verdict = 'current')::INT) FILTER (rule = 'prose') AS "share current: prose",
        avg((verdict = 'current')::INT) FILTER (rule = 'last') AS "share current: last",
        avg((verdict = 'current')::INT) FILTER (rule = 'validity') AS "share current: validity"
    FROM answers GROUP BY kind ORDER BY kind
"""
_SEARCHES_CAPTION = (
    "What searches find for the questions that something answers. bm25: BM25 over what was "
    "published when the question was asked; day: by the day asked about; newest: the ten best "
    "of these, newest first; guess: no score, but the newest passage by that day that has every "
    "word with a capital of the question."
)
_CAPTION = (
    "Answers of a rule that knows nothing (guess: the name nearest to the question's words in "
    "the passage that it finds), of a memory that reads sentences (prose), and of two that are "
    "told every fact and its day: last keeps what it heard last, validity what began last by "
    "the day asked about. Where there is nothing to know, to abstain is current."
)
_KINDS_CAPTION = (
    "The kinds of questions, and how often each memory is right. A kind that is missing has no "
    "rows here."
)


def easy_notes(results: Path) -> Iterator[str]:
    """Yield a warning for each rule without knowledge that is right in most questions."""
    for rule, share in easy_rules(results):
        yield (
            f"warning: `{rule}`, which knows nothing, is right in {share:.0%} of the questions: "
            "they are too easy to tell systems apart"
        )


def easy_rules(results: Path) -> list[tuple[str, float]]:
    """Return the rules without knowledge that are right too often, with their shares."""
    query = """
        SELECT rule, avg((verdict = 'current')::INT) AS share FROM read_parquet(?)
        WHERE verdict IS NOT NULL GROUP BY rule ORDER BY rule
    """
    shares = {row["rule"]: float(row["share"]) for row in duck.records(query, [results])}
    return [(rule, shares[rule]) for rule in KNOW_NOTHING if shares.get(rule, 0) > EASY_SHARE]
