"""Sessions in the form of LongMemEval (Wu et al. 2025, arXiv 2410.10813).

A session is what somebody read on one day: the passages of an article, paragraphs of a page that
follow each other, or a statement, a turn of the user for each. Their evaluation takes six values of
`question_type` alone, and our `kind` stands in a field of its own; their search takes a session for
evidence where its id begins with `answer_`.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

import duckdb

from factdrift.builders.core.hashing import seeded_hash, seeded_index
from factdrift.builders.text.dates import format_date
from factdrift.scoring.export.dated import DatedTables
from factdrift.scoring.export.release import Release, Row
from factdrift.scoring.predictions import UNANSWERED

SESSIONS_FILE = "longmemeval.json"
QUESTION_TYPES = {
    "newest": "knowledge-update",
    "change": "knowledge-update",
    "corrected": "knowledge-update",
    "older": "temporal-reasoning",
    "before": "temporal-reasoning",
    "abstain": "temporal-reasoning",
    "two-hops": "multi-session",
}
"""Our kinds of questions -> the types of LongMemEval, by which its judge chooses its words."""
_NEVER_UPDATED = "single-session-user"
"""The type of a question about an update whose sessions have nothing that was updated."""
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""As LongMemEval writes them, whatever the locale is."""
# paragraphs of a session: a page of hundreds would be longer than all the others together
_PARAGRAPHS = 10
# sessions of a day begin from 8 o'clock on, and questions are asked at the end of their day
_FIRST_MINUTE, _MINUTES, _ASKED_AT = 8 * 60, 15 * 60, "23:59"
# Judged sessions are at most half of a haystack, and stale ones at most a quarter: the rest is the
# hay, which makes it one.
_HALF, _QUARTER = 2, 4
_REPLY = "Noted."
"""What the assistant says to each passage: nothing that could be remembered."""
# what is drawn again because it was drawn before; more than this is a corpus without other sessions
_DRAWS_A_SESSION = 20

_SESSIONS = f"""
    CREATE TABLE numbered AS
    WITH placed AS (
        SELECT *, CASE source
            WHEN 'news' THEN regexp_replace(place, '_\\d+$', '')
            WHEN 'page' THEN regexp_replace(place, '-\\d+$', '') || '/' ||
                regexp_extract(place, '\\d+$')::INT // {_PARAGRAPHS}
            ELSE id END AS session_key,
            coalesce(regexp_extract(place, '\\d+$'), '0').lpad(9, '0') AS turn
        FROM passages_with_text
    )
    SELECT id, day, title, text, left(sha256(session_key), 16) AS session_id, turn,
        dense_rank() OVER (ORDER BY day, session_key) - 1 AS session
    FROM placed ORDER BY session, turn, id
"""  # noqa: S608 - ours
_QUESTIONS = """
    SELECT id, kind, question, targets, len(answer_ids) AS answers, as_of, asked_on, evidence,
        supporting, unjudged, stale FROM questions ORDER BY id
"""


class Turn(NamedTuple):
    """A passage in its session."""

    passage: str
    text: str


class Session(NamedTuple):
    """What was read together on one day."""

    id: str
    day: date
    turns: list[Turn]


class Haystack(NamedTuple):
    """The numbers of the sessions of a question, in order of day: all, and those with evidence."""

    sessions: Sequence[int]
    answering: frozenset[int]
    has_stale: bool


def write(release: Release) -> None:
    """`longmemeval.json`: a list of questions, each with its sessions up to the day of asking.

    Beside sessions with evidence (or, where nothing proves the day, with the same term on an
    earlier day) and stale ones, sessions are drawn from all that was published by then and is in no
    list of the question. Memory holds a number and a day for each session and the text of one
    question; the texts lie in a database, beyond memory on disk.
    """
    tables = DatedTables.of(release)
    with tables.database() as db:
        db.execute(_SESSIONS)
        corpus = _SessionCorpus(db)
        questions = db.sql(_QUESTIONS).to_arrow_table().to_pylist()
        records = (_record(question, corpus, release.sessions) for question in questions)
        release.json_list(SESSIONS_FILE, records)
    short_count = corpus.short_haystacks
    if short_count:
        release.notes[f"questions with fewer than {release.sessions} sessions by their day"] = (
            short_count
        )


class _SessionCorpus:
    """The sessions of a corpus, numbered in order of day."""

    def __init__(self, db: duckdb.DuckDBPyConnection) -> None:
        self._db = db
        day_query = "SELECT day, max(session) + 1 FROM numbered GROUP BY day ORDER BY day"
        self._counts: list[tuple[date, int]] = db.execute(day_query).fetchall()
        self.short_haystacks = 0

    def published_by(self, day: date) -> int:
        """Return the number of sessions up to a day: they have the numbers below it."""
        counts = (count for session_day, count in self._counts if session_day <= day)
        return max(counts, default=0)

    def sessions_of(self, passage_ids: Sequence[str]) -> list[int]:
        """Return the numbers of the sessions that some passages are in, in order."""
        session_query = (
            "SELECT DISTINCT session FROM numbered WHERE id IN (FROM unnest(?)) ORDER BY 1"
        )
        return [number for (number,) in self._db.execute(session_query, [passage_ids]).fetchall()]

    def read(self, numbers: Sequence[int]) -> dict[int, Session]:
        """Return sessions with their texts, by number and in this order."""
        turn_query = """
            SELECT session, session_id, day, id, CASE WHEN title = '' THEN text
                ELSE title || chr(10) || text END
            FROM numbered WHERE session IN (FROM unnest(?)) ORDER BY session, turn, id
        """
        sessions: dict[int, Session] = {}
        turn_rows = self._db.execute(turn_query, [numbers]).fetchall()
        for number, session_id, day, passage_id, text in turn_rows:
            session = sessions.setdefault(number, Session(session_id, day, []))
            session.turns.append(Turn(passage_id, text))
        return sessions

    def haystack(self, question: Row, size: int) -> Haystack:
        """Return the sessions of a question, `size` of them where so many were published."""
        question_id = question["id"]
        answering = _drawn(
            self.sessions_of(question["evidence"] or question["supporting"]),
            max(1, size // _HALF),
            question_id,
        )
        stale = set(self.sessions_of(question["stale"])).difference(answering)
        drawn_stale = _drawn(sorted(stale), size // _QUARTER, question_id)
        listed_ids = [*question["evidence"], *question["supporting"], *question["unjudged"]]
        barred = stale.union(self.sessions_of(listed_ids))
        chosen = [*answering, *drawn_stale]
        hay = self._hay(question, size - len(chosen), barred)
        if len(chosen) + len(hay) < size:
            self.short_haystacks += 1
        return Haystack(sorted([*chosen, *hay]), frozenset(answering), bool(drawn_stale))

    def _hay(self, question: Row, size: int, barred: set[int]) -> list[int]:
        """Draw sessions that are in no list of a question and were published when it is asked."""
        published_count = self.published_by(question["asked_on"])
        if published_count <= 2 * size + len(barred):
            open_sessions = [number for number in range(published_count) if number not in barred]
            return _drawn(open_sessions, size, question["id"])
        drawn_sessions: set[int] = set()
        for draw in range(_DRAWS_A_SESSION * size):
            if len(drawn_sessions) == size:
                break
            number = seeded_index(published_count, "hay", question["id"], draw)
            if number not in barred:
                drawn_sessions.add(number)
        return sorted(drawn_sessions)


def _drawn(numbers: Sequence[int], most: int, question_id: str) -> list[int]:
    """Return at most so many of the numbers, drawn by the question's id."""
    by_draw = sorted(numbers, key=lambda number: seeded_hash("session", question_id, number))
    return by_draw[: max(0, most)]


def _record(question: Row, corpus: _SessionCorpus, size: int) -> Row:
    """A question as LongMemEval has it, with our kind, its day and its answers beside."""
    haystack = corpus.haystack(question, size)
    evidence_ids = frozenset(question["evidence"] or question["supporting"])
    question_type = QUESTION_TYPES[question["kind"]]
    if question_type == "knowledge-update" and not haystack.has_stale:
        question_type = _NEVER_UPDATED
    session_ids: list[str] = []
    answering_ids: list[str] = []
    session_turns: list[list[Row]] = []
    sessions = corpus.read(haystack.sessions)
    for number, session in sessions.items():
        if number in haystack.answering:
            session_ids.append(f"answer_{session.id}")
            answering_ids.append(session_ids[-1])
            session_turns.append([*_turns(session, evidence_ids)])
        else:
            session_ids.append(session.id)
            session_turns.append([*_turns(session, None)])
    return {
        "question_id": question["id"] + (UNANSWERED if question["kind"] == "abstain" else ""),
        "question_type": question_type,
        "question": question["question"],
        "answer": _answer(question),
        "question_date": f"{_numeric_day(question['asked_on'])} {_ASKED_AT}",
        "haystack_session_ids": session_ids,
        "haystack_dates": [*_times([session.day for session in sessions.values()])],
        "haystack_sessions": session_turns,
        "answer_session_ids": answering_ids,
        "kind": question["kind"],
        "as_of": question["as_of"].isoformat(),
        "targets": question["targets"],
    }


def _turns(session: Session, evidence_ids: frozenset[str] | None) -> Iterator[Row]:
    """Yield the turns of a session; in one with evidence each says whether it is that."""
    for turn in session.turns:
        for role, content in (("user", turn.text), ("assistant", _REPLY)):
            marks = {}
            if evidence_ids is not None:
                marks["has_answer"] = role == "user" and turn.passage in evidence_ids
            yield {"role": role, "content": content, **marks}


def _answer(question: Row) -> str:
    """The answer as a judge reads it: a label of each object, or that there is none to give."""
    if question["kind"] == "abstain":
        return f"Nothing that was published by {format_date(question['asked_on'])} says it."
    return " or ".join(question["targets"][: max(1, question["answers"])])


def _numeric_day(day: date) -> str:
    """A day as LongMemEval writes it: `2023/05/30 (Tue)`."""
    return f"{day:%Y/%m/%d} ({_WEEKDAYS[day.weekday()]})"


def _times(days: Sequence[date]) -> Iterator[str]:
    """Yield a time of each session, in their order: those of one day follow each other."""
    for day, same_day in groupby(days):
        session_count = len([*same_day])
        for place in range(session_count):
            hour, minute = divmod(_FIRST_MINUTE + _MINUTES * place // session_count, 60)
            yield f"{_numeric_day(day)} {hour:02}:{minute:02}"
