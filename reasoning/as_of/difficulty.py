"""How hard a release is: what search by words, rules that know nothing and simple memories get.

Where a rule without knowledge is right in most questions, these test nothing. The figures stand on
the card; `factdrift search` and `factdrift memory` give those of the whole release.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar, NamedTuple

import duckdb

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
from factdrift.reasoning.as_of.stream_events import DELETIONS, EVENTS, send
from factdrift.reasoning.as_of.text_names import name_words, names_of

RESULTS = "difficulty.parquet"
MOST_QUESTIONS = 500
"""Questions that are measured, drawn by hash: a share of them is right to 4.5 points, 19 of 20
times, and a large corpus is searched in some minutes."""
EASY_SHARE = 0.5
"""The share of right answers of a rule that is told no facts above which a recipe warns."""
TOLD_NO_FACTS = {"guess": "which knows nothing", "prose": "which reads with a few lines of code"}
"""The rules that get the text alone, as a system under test does, and what each of them is."""
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
    index = DatedIndex.build(_texts(tables), work)
    results: list[RuleResult] = []
    for question in questions:
        for rule, hits in _searches(index, question):
            results.append(_search_result(question, rule, hits))
    for rule, answers_by_id in _memory_answers(tables, questions).items():
        for question in questions:
            results.append(_answer_result(question, rule, answers_by_id[question.id]))
    with writing(out / RESULTS, RuleResult) as result_writer:
        for result in sorted(results, key=lambda row: (row.question, row.rule, row.verdict or "")):
            result_writer.append(result)


def drawn_questions(questions: Iterable[AsOfQuestion], seed: int) -> list[AsOfQuestion]:
    """Return at most `MOST_QUESTIONS` questions, drawn by hash, in the order of asking."""
    by_draw = sorted(questions, key=lambda row: seeded_hash(seed, "difficulty", row.id))
    return sorted(by_draw[:MOST_QUESTIONS], key=lambda row: (row.asked_on, row.id))


def _texts(tables: DifficultyTables) -> Iterator[DatedText]:
    with _database(tables) as db:
        deletion_days = dict(db.execute(DELETIONS).fetchall())
    for passage in typed_rows(tables.passages, DatedPassage):
        text = f"{passage.title} {passage.text}"
        yield DatedText(passage.id, passage.day, text, deletion_days.get(passage.id))


def _searches(
    index: DatedIndex, question: AsOfQuestion
) -> Iterator[tuple[str, list[RankedPassage]]]:
    """Yield the results of each search; none finds what is not known on the day of asking."""
    text, asking_day = question.question, question.asked_on
    last_day = min(question.as_of, asking_day)
    by_day = index.best(text, last_day, DEPTH, asking_day)
    yield "bm25", index.best(text, asking_day, DEPTH, asking_day)
    yield "day", by_day
    yield "newest", reordered_by_day(by_day, NEWEST)
    yield "guess", index.newest_with_all(name_words(text), last_day, DEPTH, asking_day)


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


def _memory_answers(
    tables: DifficultyTables, questions: Sequence[AsOfQuestion]
) -> dict[str, dict[str, str]]:
    """Return the answers of memories that hear the stream of the corpus, by memory and id.

    They are those of `factdrift memory`: what a memory does not hear here is in no answer of it.
    """
    memories: dict[str, Memory] = {name: make_memory() for name, make_memory in MEMORIES.items()}
    answers: dict[str, dict[str, str]] = {name: {} for name in memories}
    questions_by_id = {question.id: question for question in questions}
    facts_by_passage = _facts_by_passage(
        tables.stated, {(question.subject, question.relation) for question in questions}
    )
    listener = _Listener(questions)
    for event in _events(tables):
        facts = facts_by_passage.get(event["id"], [])
        asked_question = questions_by_id.get(event["id"])
        if asked_question is not None:
            question_event = event | _keys_of(asked_question)
            for name, memory in memories.items():
                answers[name][asked_question.id] = send(memory, question_event) or ""
        elif event["kind"] != "question":
            passage_event = {**event, "facts": facts}
            for name, memory in memories.items():
                if event["kind"] == "deletion" or listener.may_answer(name, event["text"], facts):
                    send(memory, passage_event)
    return answers


class _Listener:
    """Says what may be in an answer to some questions, so that no memory holds a whole corpus."""

    def __init__(self, questions: Sequence[AsOfQuestion]) -> None:
        self._names: set[str] = set()
        self._words: dict[str, set[frozenset[str]]] = defaultdict(set)
        for question in questions:
            self._names.update(name.text for name in names_of(question.question))
            if asked_words := frozenset(name_words(question.question)):
                # a passage that has all words has any of them: the longest one is in few passages
                longest_word = max(asked_words, key=lambda word: (len(word), word))
                self._words[longest_word].add(asked_words)

    def may_answer(self, memory_name: str, text: str, facts: Sequence[object]) -> bool:
        """Whether a passage with these facts may be in an answer of a memory."""
        if memory_name == "prose":  # it looks for sentences by the names in the question
            return any(name.text in self._names for name in names_of(text))
        if memory_name == "guess":  # it looks for passages that have all names of the question
            text_words = name_words(text)
            return any(
                asked_words <= text_words
                for word in text_words & self._words.keys()
                for asked_words in self._words[word]
            )
        return bool(facts)


def _keys_of(question: AsOfQuestion) -> dict[str, str]:
    """Return what a memory that is told facts is told of a question."""
    return {
        "as_of": question.as_of.isoformat(),
        "subject": question.subject,
        "relation": question.relation,
    }


@contextmanager
def _database(tables: DifficultyTables) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the views `passages`, `stated` and `questions`."""
    with duck.connect() as db:
        for name, table in tables._asdict().items():
            db.execute(f"CREATE VIEW {name} AS FROM {duck.parquet(table)}")
        yield db


def _events(tables: DifficultyTables) -> Iterator[dict[str, Any]]:
    """Yield the events of the stream of a corpus, with days as texts; beyond memory, from disk."""
    with _database(tables) as db:
        for batch in db.sql(EVENTS.format(passages="passages")).to_arrow_reader(_ROWS):
            for event in batch.to_pylist():
                yield event | {"day": event["day"].isoformat()}


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
    for facts in facts_by_passage.values():  # in the order of `stated.jsonl`
        facts.sort(key=itemgetter("subject", "relation", "since", "object"))
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
    f"Of {MOST_QUESTIONS} questions at most, drawn by hash: answers of a rule that knows nothing "
    "(guess: the name nearest to the question's words in the passage that it finds), of a memory "
    "that reads sentences (prose), and of two that are told every fact and its day: last keeps "
    "what it heard last, validity what began last by the day asked about. Where there is nothing "
    "to know, to abstain is current."
)
_KINDS_CAPTION = (
    "The kinds of questions, and how often each memory is right. A kind that is missing has no "
    "rows here."
)


def easy_notes(results: Path) -> Iterator[str]:
    """Yield a warning for each rule that is told no facts and is right in most questions."""
    for rule, share in easy_rules(results):
        yield (
            f"warning: `{rule}`, {TOLD_NO_FACTS[rule]}, is right in {share:.0%} of the questions: "
            "they are too easy to tell systems apart"
        )


def easy_rules(results: Path) -> list[tuple[str, float]]:
    """Return the rules that are told no facts and are right too often, with their shares."""
    query = """
        SELECT rule, avg((verdict = 'current')::INT) AS share FROM read_parquet(?)
        WHERE verdict IS NOT NULL GROUP BY rule ORDER BY rule
    """
    shares = {row["rule"]: float(row["share"]) for row in duck.records(query, [results])}
    return [(rule, shares[rule]) for rule in TOLD_NO_FACTS if shares.get(rule, 0) > EASY_SHARE]
