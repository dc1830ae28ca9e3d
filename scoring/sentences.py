"""Answers in sentences: judged wrong, for exact match takes a name alone, though they name one.

Read leniently, such an answer is what the one name in it is: an accepted one, one that was right
before, or only afterwards. An answer that has names of two of these, as `not Ann but Bob`, is left
wrong. That is no verdict: who says `it was not Ann` names Ann.
"""

from typing import NamedTuple

from factdrift.scoring.questions import ReleaseQuestions, single_row

# The fewest such answers, and their share, that are worth a warning: a model that is asked for a
# name writes a sentence now and then.
_FEWEST, _SHARE = 5, 0.1

# Names are compared as whole words of normalised texts. A name within a longer one that the answer
# has, too (`Ann` in `Ann Arden`), is not named by itself.
_NAMED_ROLES = """
    WITH wrong AS (
        SELECT row, ' ' || answer || ' ' AS words, targets, previous, later, a.fact, day
        FROM said JOIN asked a USING (row) JOIN name_sets USING (name_set)
        WHERE verdict = 'wrong' AND NOT choosing AND contains(answer, ' ')
    ), known AS (
        SELECT row, words, 1 AS role, unnest(targets) AS name FROM wrong
        UNION ALL SELECT row, words, 2, unnest(previous) FROM wrong
        UNION ALL SELECT row, words, 2, h.name FROM wrong w JOIN held h
            ON h.fact = w.fact AND h.since < w.day
        UNION ALL SELECT row, words, 3, unnest(later) FROM wrong
    ), named AS (
        SELECT row, min(role) AS role, ' ' || name || ' ' AS name FROM known
        WHERE name != '' AND contains(words, ' ' || name || ' ') GROUP BY row, name
    )
    SELECT row, min(role) AS role FROM named n
    WHERE NOT EXISTS (
        FROM named longer WHERE longer.row = n.row AND longer.name != n.name
            AND contains(longer.name, n.name)
    )
    GROUP BY row HAVING count(DISTINCT role) = 1
"""


class SentenceAnswers(NamedTuple):
    """How many of all written `answers` are judged wrong and name what is `right`, was right
    before (`outdated`), or only afterwards (`early`)."""

    answers: int
    exact: int
    right: int
    outdated: int
    early: int

    @property
    def are_many(self) -> bool:
        """Whether there are so many that scores by exact match mislead."""
        sentence_count = self.right + self.outdated + self.early
        return sentence_count >= _FEWEST and sentence_count > _SHARE * self.answers

    @property
    def warning(self) -> str:
        """The warning as text."""
        lenient_share = (self.exact + self.right) / self.answers
        return (
            f"warning: of {self.answers:,} answers, {self.right:,} that are judged wrong have an "
            f"accepted name among other words, {self.outdated:,} one that was right before and "
            f"{self.early:,} one of later: only a name alone is right ({self.exact:,} are; with "
            f"those in sentences {lenient_share:.1%}). Ask with the rows' `prompt`, or cut answers "
            "to the name"
        )


def sentence_answers(release_questions: ReleaseQuestions) -> SentenceAnswers:
    """Count the answers in sentences that name something known; `judge_answers` comes before."""
    db = release_questions.db
    answer_count, exact_count = single_row(
        db,
        """
        SELECT count(*), count(*) FILTER (verdict = 'right') FROM said
        WHERE NOT choosing AND verdict IN ('right', 'outdated', 'early', 'wrong', 'abstained')
        """,
    )
    count_by_role = dict(
        db.execute(f"SELECT role, count(*) FROM ({_NAMED_ROLES}) GROUP BY role").fetchall()  # noqa: S608 - ours
    )
    counts = [count_by_role.get(role, 0) for role in (1, 2, 3)]
    return SentenceAnswers(int(answer_count), int(exact_count), *counts)
