"""Metrics of single rows, as queries over what a release asks and what a model gave.

- `exact_match`, `f1`: the best over the accepted answers, normalised as SQuAD does (Rajpurkar et
  al. 2016). Where there is no answer, none given counts 1 and a text 0; none given where there is
  one counts 0 (TimeQA: Chen et al. 2021).
- `p@1`, `p@5`, `p@10`, `mrr`: the rank of the first right candidate (LAMA: Petroni et al. 2019);
  no `p@k` where no list is as long.
- `accuracy`: of what was offered, the text with the highest number is right, the first of equals;
  where all of several are equal, none is chosen. Beside it what is right of the same texts without
  any knowledge: `chance`, one at random; `shortest`, one with the fewest letters; `before`, an
  answer of the period before, where one was offered.
- `rouge_l`: longest common subsequence of words, F-measure, best over the answers (Lin 2004).
- `recall@1` … `recall@20`: the article that answers, or a passage of it (`article_3`), is among
  the first found (StreamingQA: Liška et al. 2022).
- `consistency`: on the first variant of each question, whether all its variants are answered right
  (TimeQA, section 4.5); `agreement`, where there are several: whether all are right or all wrong.
- `outdated`, `early`, `abstained`: shares of the verdicts, of rows that can have them; `stale`: of
  the answers to changed facts that were ever right, those that are outdated.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import pyarrow as pa
from duckdb.func import ARROW

from factdrift.builders.core import duck
from factdrift.builders.text.squad import NO_ANSWER_TEXTS, token_f1
from factdrift.scoring.intervals import BUNDLES, SCALE
from factdrift.scoring.knowledge import mark_known_changes
from factdrift.scoring.questions import ReleaseQuestions

Verdict = Literal["right", "outdated", "wrong", "abstained", "early"]
"""right: an accepted answer, or none where there is none. outdated: not that, but what was right
before: an answer of the period before, or one that the same fact had at an earlier time in this
release. early: none of these, but what was right only afterwards. abstained: no answer, where there
is one. wrong: anything else."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

GUESSED = ("chance", "shortest", "before")
"""What needs no knowledge: it is known of each row, and has no interval."""
RANKS = (1, 5, 10)
RECALLS = (1, 5, 10, 20)
METRICS = (
    *("exact_match", "f1", "rouge_l", *(f"p@{most}" for most in RANKS), "mrr"),
    *("consistency", "agreement", "accuracy", *GUESSED, *(f"recall@{most}" for most in RECALLS)),
    *("outdated", "early", "stale", "abstained"),
)
"""Every metric, in the order of tables."""
_OFTEN = 5
"""Times from which an answer is a repeated one."""


class RepeatedWords(NamedTuple):
    """An answer that a model gives again and again: how often, of how many answers, and in how
    many of their rows it is right."""

    text: str
    times: int
    answers: int
    right: int

    @property
    def warning(self) -> str:
        """What it says of the scores."""
        return (
            f"{self.times:,} of {self.answers:,} answers are {self.text!r}, which is right in "
            f"{self.right:,} rows: does the model copy an example of its prompt?"
        )


_SAID = f"""
CREATE TABLE said AS
    WITH texts AS (
        SELECT a.*, g.* EXCLUDE (row),
            from_scores OR choice_scores IS NOT NULL AS choosing,
            CASE WHEN choice_scores IS NULL THEN coalesce(candidates, [coalesce(prediction, '')])
                WHEN len(choice_scores) > 1 AND list_min(choice_scores) = list_max(choice_scores)
                THEN [] ELSE [choices[list_position(choice_scores, list_max(choice_scores))]]
                END AS texts,
            normals(texts) AS names
        FROM given g JOIN asked a USING (row)
    )
    SELECT row, prediction, candidates, choice_scores, from_scores, choosing, texts, names,
        coalesce(names[1], '') AS answer,
        CASE WHEN from_scores THEN texts WHEN choosing OR alone THEN choices END AS offered,
        coalesce(list_contains(targets, names[1])
            AND (choosing OR regexp_matches(texts[1], '[^\\s\\p{{Z}}]')), false) AS named,
        NOT choosing AND NOT named AND answer IN {NO_ANSWER_TEXTS} AS silent,
        CASE WHEN from_scores AND list_has_all(targets, names) THEN 'undecided'
            WHEN list_contains(neutral, names[1]) AND NOT named THEN 'neutral'
            WHEN named OR (silent AND len(targets) = 0) THEN 'right'
            WHEN silent THEN 'abstained'
            WHEN list_contains(previous, names[1]) OR h.since IS NOT NULL THEN 'outdated'
            WHEN list_contains(later, names[1]) THEN 'early'
            ELSE 'wrong' END AS verdict,
        evidence IS NOT NULL AND listed IS NOT NULL AS searched,
        list_position(list_transform(listed, lambda one:
            evidence IN (one, regexp_replace(one, '_\\d+$', ''))), true) AS place
    FROM texts t
    LEFT JOIN held h ON h.history = t.history AND h.name = t.names[1] AND h.since < t.day
"""  # noqa: S608
"""What a model said. `verdict`: one of `VERDICTS`, or why the row has none: `undecided`,
which has likelihoods of accepted answers alone, and `neutral`, which names what is true and not
asked for."""


def judge_answers(asked: ReleaseQuestions, *, rouge: bool = False) -> None:
    """Make the tables `said` and `marks` from `given`, predictions with the `row` that each is of.

    `marks` has each row that has a verdict: `row`, `config`, `split`, `id`, `subject`, `bundle`,
    `verdict`, and a column for each of `METRICS`, in units of 1/`SCALE`, null where it has none.
    """
    db = asked.db
    db.create_function("f1", _best(_f1), ["VARCHAR", "VARCHAR[]"], "DOUBLE", type=ARROW)
    db.create_function("rouge_l", _best(rouge_l), ["VARCHAR", "VARCHAR[]"], "DOUBLE", type=ARROW)
    mark_known_changes(db)
    db.execute(_SAID)
    longest = "SELECT max(len(candidates)) FROM said WHERE NOT from_scores"
    ((longest,),) = db.execute(longest).fetchall()
    ranked = "candidates IS NOT NULL AND NOT from_scores"
    alone = "offered IS NULL"
    rank = "list_position(list_transform(names, lambda one: list_contains(targets, one)), true)"
    right = "(verdict = 'right')::INT"
    among = "list_zip(offered, CASE WHEN from_scores THEN names ELSE normals(offered) END)"
    guesses = {
        "chance": among,
        "shortest": f"list_filter({among}, lambda one: length(one[1]) = "
        "list_min(list_transform(offered, lambda text: length(text))))",
        "before": f"list_filter({among}, lambda one: list_contains(previous, one[2]))",
    }
    variants = [config.name for config in asked.configs if config.roles.group]
    values = {
        "exact_match": _where(alone, right),
        "f1": _where(
            alone,
            "CASE WHEN verdict = 'right' THEN 1 WHEN silent THEN 0 ELSE f1(answer, targets) END",
        ),
        "rouge_l": _where(
            f"{rouge} AND NOT choosing",
            f"CASE WHEN len(targets) = 0 THEN {right} ELSE rouge_l(texts[1], raw_targets) END",
        ),
        **{
            f"p@{most}": _where(
                f"{ranked} AND {most == RANKS[0] or most <= (longest or 0)}",
                f"coalesce({rank} <= {most}, false)::INT",
            )
            for most in RANKS
        },
        "mrr": _where(ranked, f"coalesce(1 / {rank}, 0)"),
        "accuracy": _where("offered IS NOT NULL", right),
        **{
            name: f"list_avg(list_transform({some}, lambda one: "
            "list_contains(targets, one[2])::INT))"
            for name, some in guesses.items()
        },
        **{
            f"recall@{most}": _where("searched", f"coalesce(place <= {most}, false)::INT")
            for most in RECALLS
        },
        "outdated": _where("changed", "(verdict = 'outdated')::INT"),
        "early": _where("len(later) > 0", "(verdict = 'early')::INT"),
        "stale": _where(
            "changed AND verdict IN ('right', 'outdated')", "(verdict = 'outdated')::INT"
        ),
        "abstained": "(verdict = 'abstained')::INT",
        "consistency": _where("first", "(wrong = 0)::INT"),
        "agreement": _where("first AND variants > 1", "(wrong IN (0, variants))::INT"),
    }
    metrics = ", ".join(
        f"round({SCALE} * {values[name]})::INT AS {duck.name(name)}" for name in METRICS
    )
    # of each question how many of its variants were answered in writing, and how many wrong
    db.execute(f"""
        CREATE TABLE marks AS
        WITH judged AS (
            SELECT *, row IN (FROM changed) AS changed FROM said JOIN asked USING (row)
            WHERE verdict IN {VERDICTS}
        ), written AS (
            SELECT row, question, config, verdict FROM judged WHERE offered IS NULL
        ), questions AS (
            SELECT question, count(*) AS variants, count(*) FILTER (verdict != 'right') AS wrong
            FROM written GROUP BY question
        ), firsts AS (
            SELECT min(row) AS row, true AS first FROM written
            WHERE list_contains({variants}::VARCHAR[], config) GROUP BY config, question
        )
        SELECT row, config, split, id, subject, number % {BUNDLES} AS bundle, verdict, {metrics}
        FROM judged LEFT JOIN firsts USING (row) LEFT JOIN questions USING (question)
        JOIN subjects USING (subject)
    """)  # noqa: S608


def _where(there: str, value: str) -> str:
    return f"(CASE WHEN {there} THEN {value} END)"


def repeated_words(asked: ReleaseQuestions) -> RepeatedWords | None:
    """The most common answer, where it is more than a tenth of those that the model gave."""
    found = asked.db.execute(f"""
        WITH often AS (
            SELECT answer, count(*) AS times FROM said
            WHERE NOT choosing AND verdict != 'neutral' AND answer NOT IN {NO_ANSWER_TEXTS}
            GROUP BY answer ORDER BY times DESC, answer DESC LIMIT 1
        )
        SELECT answer, times,
            (SELECT count(*) FROM marks WHERE verdict IN ('right', 'outdated', 'wrong')),
            (SELECT count(*) FROM marks JOIN asked USING (row), often o
                WHERE list_contains(targets, o.answer))
        FROM often
    """).fetchall()  # noqa: S608
    if not found:
        return None
    one = RepeatedWords(*found[0])
    often = one.times >= _OFTEN and one.times * 10 > one.answers and one.times > 2 * one.right
    return one if often else None


def _best(score: Callable[[str, str], float]) -> Callable[..., pa.Array]:
    """A function of the database: the best score of each text with the answers of its row."""

    def scores(texts: pa.ChunkedArray, targets: pa.ChunkedArray) -> pa.Array:
        pairs = zip(texts.to_pylist(), targets.to_pylist(), strict=True)
        every = ([score(text or "", one) for one in answers] for text, answers in pairs)
        return pa.array([max(some, default=0.0) for some in every], pa.float64())

    return scores


def _f1(name: str, answer: str) -> float:
    return token_f1(name.split(), answer.split())


_ROUGE_WORD = re.compile(r"[a-z0-9]+")


def rouge_l(prediction: str, reference: str) -> float:
    """ROUGE-L of two texts, F-measure with beta 1, from 0 to 1 (Lin 2004).

    Words are runs of ASCII letters and digits in lower case, without stemming.
    """
    mine, theirs = (_ROUGE_WORD.findall(text.lower()) for text in (prediction, reference))
    if not mine or not theirs:
        return 0.0
    lengths = [0] * (len(theirs) + 1)
    for word in mine:
        before = 0
        for n, other in enumerate(theirs, 1):
            here = lengths[n]
            lengths[n] = before + 1 if word == other else max(here, lengths[n - 1])
            before = here
    return 2 * lengths[-1] / (len(mine) + len(theirs))
