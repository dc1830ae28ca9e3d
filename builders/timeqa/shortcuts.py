"""Scores of readers that ignore time: the shortcuts on the card, by difficulty."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Statistics
from factdrift.builders.core.schema import reading
from factdrift.builders.text.sentences import sentence_starts
from factdrift.builders.text.words import word_tokens
from factdrift.builders.timeqa.similarity import TfIdf

# The most questions of a difficulty whose best sentence is looked for: enough for whole percents.
_READ = 1_000
_ABOUT = (
    "Shares of all questions that are answered right by always taking, of the objects of the "
    "history, a random one, the first, the last, the one with the most segments, the one that "
    "begins in the nearest year, that began last before the time, that is held longest; and by "
    "the sentence of the context most like the question (TF-IDF), where it has the words of an "
    "answer (of the first 1,000 questions). Questions without an answer are always wrong so. Of "
    "the original's hard questions the nearest year answers 56 %."
)
_QUERY = """
    with asked as (
        select id, difficulty, subject, relation, answerable = 'yes' as answered,
            [o.id for o in objects] as right_ones,
            coalesce(time_first, time_last) as day
        from read_parquet(?)
    ), held as (
        select subject, relation, object, coalesce(start_first, end_first) as began,
            date_diff('day', coalesce(start_first, end_first), coalesce(end_last, snapshot)) as days
        from read_parquet(?)
    ), objects as (
        select subject, relation, object, count(*) as times,
            greatest(0, coalesce(sum(days), 0)) as days
        from held group by all
    ), chosen as (
        select id, difficulty, answered, right_ones,
            arg_min(object, coalesce(began, date '9999-01-01')::varchar || object) as first,
            arg_max(object, coalesce(began, date '0001-01-01')::varchar || object) as last,
            arg_max(object, lpad(times::varchar, 6, '0') || object) as frequent,
            arg_min(object, lpad(coalesce(abs(year(began) - year(day)), 9999)::varchar, 5, '0')
                || object) as nearest,
            arg_max(object, began::varchar || object) filter (began <= day) as begun,
            arg_max(object, lpad(o.days::bigint::varchar, 9, '0') || object) as longest,
            count(distinct object) as several
        from asked join held using (subject, relation)
            join objects o using (subject, relation, object)
        group by id, difficulty, answered, right_ones
    )
    select difficulty, count(*) as rows,
        -- of decimals, whose sum does not depend on the order of adding
        sum(if(answered, least(1.0, len(right_ones) / several), 0)::decimal(18, 12))::double
            / count(*) as random,
        avg((answered and list_contains(right_ones, first))::int) as first,
        avg((answered and list_contains(right_ones, last))::int) as last,
        avg((answered and list_contains(right_ones, frequent))::int) as "most frequent",
        avg((answered and list_contains(right_ones, nearest))::int) as "nearest year",
        avg((answered and coalesce(list_contains(right_ones, begun), false))::int)
            as "latest begun",
        avg((answered and list_contains(right_ones, longest))::int) as "longest held"
    from chosen group by difficulty order by difficulty
"""


def shortcuts(questions: Path, segments: Path) -> Statistics:
    """The share of questions that each shortcut answers, by difficulty."""
    figure_rows = duck.records(_QUERY, [questions, segments])
    for figure_row in figure_rows:
        figure_row["best sentence"] = _best_sentence(questions, figure_row["difficulty"])
    return Statistics("shortcuts", "What shortcuts score", figure_rows, _ABOUT)


_LENGTHS = """
    with asked as (
        select difficulty, answerable <> 'yes' as without, length(context) as characters,
            max(length(context)) over (partition by page, subject) as longest
        from read_parquet(?) where context <> ''
    )
    select difficulty, count(*)::int as rows, avg(without::int) as "no answer",
        count_if(characters < longest)::int as "shorter than another",
        avg(without::int) filter (characters < longest) as "no answer of these"
    from asked group by difficulty order by difficulty
"""
_ABOUT_LENGTHS = (
    "Whether the length of a context tells that it has no answer: the share of questions without "
    "an answer among all, and among those whose context is shorter than another of the same page. "
    "`at least`: the lower end of the 95 % interval of the latter (Wilson)."
)
# The quantile of the normal distribution that leaves 2.5 % on each side.
_QUANTILE = 1.96


def lengths(questions: Path) -> Statistics:
    """How well a context shorter than others of its page tells that it has no answer."""
    figure_rows = duck.records(_LENGTHS, [questions])
    for figure_row in figure_rows:
        figure_row["at least"] = lowest_share(
            figure_row["no answer of these"], figure_row["shorter than another"]
        )
    return Statistics("lengths", "What length tells", figure_rows, _ABOUT_LENGTHS)


def lowest_share(share: float | None, count: int) -> float | None:
    """The lower end of the 95 % interval of a share of so many (Wilson 1927); None of none."""
    if share is None or not count:
        return None
    square = _QUANTILE**2 / count
    centre = share + square / 2
    half_width: float = _QUANTILE * (share * (1 - share) / count + square / (4 * count)) ** 0.5
    return max(0.0, (centre - half_width) / (1 + square))


def _best_sentence(questions: Path, difficulty: str) -> float | None:
    """The share of questions whose most similar sentence has an answer, or None without texts."""
    asked_count = right_count = 0
    column_names = ["difficulty", "question", "context", "answers"]
    with reading(questions) as file:
        for batch in file.iter_batches(64, columns=column_names):
            for question_row in batch.to_pylist():
                if (
                    question_row["difficulty"] == difficulty
                    and question_row["context"]
                    and asked_count < _READ
                ):
                    asked_count += 1
                    best_sentence = most_similar(question_row["question"], question_row["context"])
                    right_count += any(
                        answer_words in best_sentence
                        for answer_words in question_row["answers"]["text"]
                    )
    return right_count / asked_count if asked_count else None


def most_similar(question: str, context: str) -> str:
    """The sentence of a context with the greatest TF-IDF cosine to a question, the first one."""
    sentences: list[str] = []
    for line in context.split("\n"):
        for start, end in pairwise([*sentence_starts(line), len(line)]):
            sentences.append(line[start:end])
    sentence_weights = TfIdf([word_tokens(sentence) for sentence in sentences])
    question_words = Counter(word_tokens(question))
    best_sentence, best_score = "", -1.0
    for sentence_number, sentence in enumerate(sentences):
        score = sentence_weights.cosine(sentence_number, question_words)
        if score > best_score:
            best_sentence, best_score = sentence, score
    return best_sentence
