"""Metrics of single rows, as queries over the questions of a release and the answers of a model.

- `exact_match`, `f1`: the best over the accepted answers, normalised as SQuAD does (Rajpurkar et
  al. 2016). For unanswerable rows an empty answer scores 1 and any text 0; for all other rows an
  empty answer scores 0 (TimeQA: Chen et al. 2021).
- `p@1`, `p@5`, `p@10`, `mrr`: the rank of the first right candidate (LAMA: Petroni et al. 2019).
  There is no `p@k` if no list of candidates is that long.
- `accuracy`: whether the chosen one of the texts offered is right. The text with the highest number
  is chosen, and the first one of equals; if all of several texts are equal, none is. Beside it
  stands how often choosing without any knowledge is right: `chance`, a text at random; `shortest`,
  one with the fewest letters; `before`, an answer of the period before, where one was offered.
- `rouge_l`: longest common subsequence of words, F-measure, best over the answers (Lin 2004).
- `recall@1` … `recall@20`: the article that answers, or a passage of it (`article_3`), is among
  the first found (StreamingQA: Liška et al. 2022).
- `consistency`: on the first variant of each question, whether all its variants are answered right
  (TimeQA, section 4.5); `agreement`, where there are several: whether all are right or all wrong.
- `outdated`, `early`, `abstained`: shares of the verdicts, of rows that can have them; `stale`: of
  the answers to changed facts that were ever right, those that are outdated.
"""

import re
from typing import Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
from duckdb.func import ARROW

from factdrift.builders.core import duck
from factdrift.builders.core.arrays import number_array
from factdrift.builders.rows.frames import read_frames
from factdrift.builders.text.squad import normalize_or_keep, token_f1
from factdrift.scoring.intervals import SCALE
from factdrift.scoring.knowledge import mark_known_changes
from factdrift.scoring.questions import ReleaseQuestions, single_row

Verdict = Literal["right", "outdated", "wrong", "abstained", "early"]
"""right: an accepted answer, or none where there is none. outdated: not that, but what was right
before: an answer of the period before, or one that the same fact had at an earlier time in this
release. early: none of these, but what was right only afterwards. abstained: no answer, where there
is one. wrong: anything else."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

GUESSED = ("chance", "shortest", "before")
"""Metrics of guesses without knowledge. They are known exactly, and have no interval."""
# LAMA reports precision at 1 and at 10
RANKS = (1, 5, 10)
# of searches; beyond twenty articles, a reader of the results hardly gets
RECALLS = (1, 5, 10, 20)
METRICS = (
    *("exact_match", "f1", "rouge_l", *(f"p@{most}" for most in RANKS), "mrr"),
    *("consistency", "agreement", "accuracy", *GUESSED, *(f"recall@{most}" for most in RECALLS)),
    *("outdated", "early", "stale", "abstained"),
)
"""Every metric, in the order of tables."""
# The fewest times that make an answer a repeated one: in a small sample an answer is given a few
# times by chance, and is then more than a tenth of all.
_OFTEN = 5


_COPIES = "an example of the prompts has this answer, and the model seems to copy it"
_SAYS_ALWAYS = (
    "does it read the question? If this says that it does not know, write a blank prediction, "
    "which counts as abstained"
)


class RepeatedWords(NamedTuple):
    """An answer that a model gives again and again: how often, of how many answers, and in how
    many of their rows it is right.

    `hint` says what may be behind it: an example of the prompt has this answer (`run-model` and the
    tasks of harnesses show it), or it is the model's way to say that it does not know.
    """

    text: str
    times: int
    answers: int
    right: int
    hint: str

    @property
    def warning(self) -> str:
        """The warning as text."""
        return (
            f"{self.times:,} of {self.answers:,} answers are {self.text!r}, which is right in "
            f"{self.right:,} rows: {self.hint}"
        )


# The texts that the model gave for each row, the best first, and their normalised `names`.
_GIVEN_TEXTS = """
    -- Of scored choices only the best text counts, and none where all several are equal.
    SELECT a.*, p.* EXCLUDE (number, evidence), p.evidence AS listed, n.* EXCLUDE (name_set),
        from_scores OR choice_scores IS NOT NULL AS choosing,
        CASE WHEN choice_scores IS NULL THEN coalesce(candidates, [coalesce(prediction, '')])
            WHEN len(choice_scores) > 1 AND list_min(choice_scores) = list_max(choice_scores)
            THEN [] ELSE [choices[list_position(choice_scores, list_max(choice_scores))]]
            END AS texts,
        normals(texts) AS names
    FROM given g JOIN predicted p USING (number) JOIN asked a USING (row)
        JOIN name_sets n USING (name_set)
"""

# The texts that the model chose among; null where it answered in its own words.
_OFFERED = "CASE WHEN from_scores THEN texts WHEN choosing OR alone THEN choices END"

# One of `VERDICTS`, or why the row has none: `undecided`, which has likelihoods of accepted answers
# alone, and `neutral`, which names what is true and not asked for. An answer is outdated, too, if
# the same fact had it on an earlier day in this release. Else the rules are those of
# `squad.verdict_of_form`, which harnesses have: here the database applies them to columns.
_VERDICT = """
    CASE WHEN from_scores AND list_has_all(targets, names) THEN 'undecided'
        WHEN list_contains(targets, names[1]) AND (choosing OR names[1] != '') THEN 'right'
        WHEN list_contains(neutral, names[1]) THEN 'neutral'
        WHEN NOT choosing AND says_nothing(coalesce(names[1], ''))
            -- somebody may be called None: a known name is no silence
            AND (names[1] = '' OR names[1] IS NULL OR NOT (h.since IS NOT NULL
                OR list_contains(previous, names[1]) OR list_contains(later, names[1])))
            THEN CASE WHEN len(targets) = 0 THEN 'right' ELSE 'abstained' END
        WHEN h.since IS NOT NULL OR list_contains(previous, names[1]) THEN 'outdated'
        WHEN list_contains(later, names[1]) THEN 'early'
        ELSE 'wrong' END
"""

# The rank at which a search found the article that answers, or a passage of it (`article_3`).
_PLACE = """list_position(list_transform(listed, lambda passage:
    evidence IN (passage, regexp_replace(passage, '_\\d+$', ''))), true)"""

# What the model said for each row, and the verdict on it.
_SAID = f"""
CREATE TABLE said AS
    WITH texts AS ({_GIVEN_TEXTS})
    SELECT row, from_scores, choosing, coalesce(names[1], '') AS answer,
        CASE WHEN candidates IS NOT NULL THEN names END AS names,
        CASE WHEN {{with_rouge}} AND NOT choosing THEN texts[1] END AS raw_answer,
        candidates IS NOT NULL AND NOT from_scores AS ranked,
        {_OFFERED} AS offered,
        {_VERDICT} AS verdict,
        evidence IS NOT NULL AND listed IS NOT NULL AS searched,
        {_PLACE} AS place
    FROM texts t
    LEFT JOIN held h ON h.fact = t.fact AND h.name = t.names[1] AND h.since < t.day
"""  # noqa: S608

_VARIANTS = """
    -- of each question how many of its variants were answered in writing, and how many wrong
    SELECT question, count(*) AS variants, count(*) FILTER (verdict != 'right') AS wrong
    FROM written SEMI JOIN (
        FROM written WHERE list_contains({variant_configs}::VARCHAR[], config)
    ) USING (question) GROUP BY question
"""

_FIRSTS = """
    -- the first variant of each question in a config that has variants: it carries their marks
    SELECT min(row) AS row, true AS first FROM written
    WHERE list_contains({variant_configs}::VARCHAR[], config) GROUP BY config, question
"""

# A row for each verdict, with a column for each metric.
_MARKS = """
CREATE TABLE marks AS
    WITH judged AS (
        SELECT *, row IN (FROM changed) AS changed
        FROM said JOIN asked USING (row) JOIN name_sets USING (name_set) {accepted}
        WHERE verdict IN {verdicts}
    ), written AS (
        SELECT row, question, config, verdict FROM judged WHERE offered IS NULL
    ), questions AS ({questions}), firsts AS ({firsts})
    SELECT row, config, split, bundle, verdict, {metrics}
    FROM judged {variants} WHERE bundle IS NOT NULL
"""

_WITH_VARIANTS = "LEFT JOIN firsts USING (row) LEFT JOIN questions USING (question)"

_RIGHT = "(verdict = 'right')::INT"
# Whether the model gave a list of answers in order.
_RANKED = "ranked"
# The rank of the first accepted answer in that list; null where there is none.
_RANK = """list_position(
    list_transform(names, lambda name: name != '' AND list_contains(targets, name)), true)"""


def judge_answers(release_questions: ReleaseQuestions, *, rouge: bool = False) -> None:
    """Make the tables `said` and `marks` from `given`, predictions with the `row` that each is of.

    `marks` has each row that has a verdict: `row`, `config`, `split`, `bundle`, `verdict`,
    and a column for each of `METRICS` that answers of these kinds can have, in units of 1/`SCALE`,
    null where a row has none.
    """
    db = release_questions.db
    db.create_function("f1", _best_f1, ["VARCHAR", "VARCHAR[]"], "DOUBLE", type=ARROW)
    db.create_function("rouge_l", _best_rouge, ["VARCHAR", "VARCHAR[]"], "DOUBLE", type=ARROW)
    mark_known_changes(db)
    db.execute(_SAID.format(with_rouge=rouge))
    variant_configs = [config.name for config in release_questions.configs if config.roles.group]
    metric_values = {**_answer_metrics(bool(variant_configs), rouge), **_verdict_metrics()}
    are_ranked, are_searched, are_offered = single_row(
        db, "SELECT bool_or(ranked), bool_or(searched), bool_or(offered IS NOT NULL) FROM said"
    )
    if are_ranked:
        (longest_list,) = single_row(db, "SELECT max(len(names)) FROM said WHERE ranked")
        metric_values |= _rank_metrics(longest_list)
    if are_searched:
        metric_values |= _search_metrics()
    if are_offered:
        metric_values |= _choice_metrics()
    metric_columns = []
    for metric_name in METRICS:
        if metric_name in metric_values:
            metric_columns.append(
                f"round({SCALE} * {metric_values[metric_name]})::INT AS {duck.name(metric_name)}"
            )
    db.execute(
        _MARKS.format(
            verdicts=VERDICTS,
            accepted="JOIN accepted USING (row)" if rouge else "",
            questions=_VARIANTS.format(variant_configs=variant_configs),
            firsts=_FIRSTS.format(variant_configs=variant_configs),
            variants=_WITH_VARIANTS if variant_configs else "",
            metrics=", ".join(metric_columns),
        )
    )


def _answer_metrics(with_variants: bool, with_rouge: bool) -> dict[str, str]:
    """Metrics of answers in the model's own words: name -> expression over `judged`."""
    free_answer = "offered IS NULL"
    # most wrong answers share no word with a right one: there is nothing to count
    best_f1 = """CASE WHEN verdict = 'right' THEN 1 WHEN verdict = 'abstained' THEN 0
        WHEN answer != '' AND NOT list_has_any(
            string_split(answer, ' '), string_split(array_to_string(targets, ' '), ' ')) THEN 0
        ELSE f1(answer, targets) END"""
    metric_values = {
        "exact_match": _where(free_answer, _RIGHT),
        "f1": _where(free_answer, best_f1),
    }
    if with_rouge:
        best_rouge = f"""CASE WHEN len(targets) = 0 THEN {_RIGHT}
            ELSE rouge_l(raw_answer, raw_targets) END"""
        metric_values["rouge_l"] = _where("NOT choosing", best_rouge)
    if with_variants:
        metric_values["consistency"] = _where("first", "(wrong = 0)::INT")
        metric_values["agreement"] = _where(
            "first AND variants > 1", "(wrong IN (0, variants))::INT"
        )
    return metric_values


def _rank_metrics(longest_list: int) -> dict[str, str]:
    """Metrics of ranked answers. No `p@k` where no list has k answers."""
    metric_values = {"mrr": _where(_RANKED, f"coalesce(1 / {_RANK}, 0)")}
    for most_ranks in RANKS:
        is_known = most_ranks == RANKS[0] or most_ranks <= longest_list
        rank_hit = f"coalesce({_RANK} <= {most_ranks}, false)::INT"
        if is_known:
            metric_values[f"p@{most_ranks}"] = _where(_RANKED, rank_hit)
    return metric_values


def _search_metrics() -> dict[str, str]:
    """Metrics of what was found in a search."""
    return {
        f"recall@{most_ranks}": _where("searched", f"coalesce(place <= {most_ranks}, false)::INT")
        for most_ranks in RECALLS
    }


def _choice_metrics() -> dict[str, str]:
    """Accuracy of choosing, and what `GUESSED` would get: the share of right texts among some."""
    offered_pairs = "list_zip(offered, CASE WHEN from_scores THEN names ELSE normals(offered) END)"
    shortest_length = "list_min(list_transform(offered, lambda text: length(text)))"
    guessed_pairs = {
        "chance": offered_pairs,
        "shortest": f"list_filter({offered_pairs}, "
        f"lambda pair: length(pair[1]) = {shortest_length})",
        "before": f"list_filter({offered_pairs}, lambda pair: list_contains(previous, pair[2]))",
    }
    metric_values = {"accuracy": _where("offered IS NOT NULL", _RIGHT)}
    for guess_name, some_pairs in guessed_pairs.items():
        is_right = "lambda pair: list_contains(targets, pair[2])::INT"
        right_share = f"list_avg(list_transform({some_pairs}, {is_right}))"
        metric_values[guess_name] = _where("offered IS NOT NULL", right_share)
    return metric_values


def _verdict_metrics() -> dict[str, str]:
    """Shares of the verdicts, each of the rows that can have it."""
    outdated_mark = "(verdict = 'outdated')::INT"
    return {
        "outdated": _where("changed", outdated_mark),
        "early": _where("len(later) > 0", "(verdict = 'early')::INT"),
        "stale": _where("changed AND verdict IN ('right', 'outdated')", outdated_mark),
        "abstained": "(verdict = 'abstained')::INT",
    }


def _where(row_condition: str, value_sql: str) -> str:
    """A value where a condition holds, else null."""
    return f"(CASE WHEN {row_condition} THEN {value_sql} END)"


def repeated_words(release_questions: ReleaseQuestions) -> RepeatedWords | None:
    """Return the most common answer if the model seems to give it without reading the question.

    That is: it was given at least `_OFTEN` times, as more than a tenth of all answers, and more
    than twice as often as it would be right. Returns None otherwise.
    """
    db = release_questions.db
    most_often = db.execute(f"""
        SELECT answer, times FROM (
            SELECT answer, count(*) AS times FROM said
            WHERE NOT choosing AND verdict != 'neutral' GROUP BY answer HAVING times >= {_OFTEN}
        ) WHERE NOT says_nothing(answer) ORDER BY times DESC, answer DESC LIMIT 1
    """).fetchall()  # noqa: S608
    if not most_often:
        return None
    ((answer, times),) = most_often
    (answer_count,) = single_row(
        db, "SELECT count(*) FROM marks WHERE verdict IN ('right', 'outdated', 'wrong')"
    )
    if times * 10 <= answer_count:
        return None
    right_rows = db.execute(
        "SELECT count(*) FROM marks JOIN row_names USING (row) WHERE list_contains(targets, ?)",
        [answer],
    ).fetchall()
    is_shown = answer in _example_answers(release_questions)
    repeated_answer = RepeatedWords(
        answer, times, answer_count, right_rows[0][0], _COPIES if is_shown else _SAYS_ALWAYS
    )
    return repeated_answer if times > 2 * repeated_answer.right else None


def _example_answers(release_questions: ReleaseQuestions) -> set[str]:
    """Return the answers of all examples that prompts of a release show, normalised."""
    frames = read_frames(None, release_questions.manifest.examples)
    examples = [
        *(frames.cloze.examples, frames.question.examples, frames.passage.examples),
        *(frames.choices.examples, *frames.relations.values()),
    ]
    return {normalize_or_keep(example.answer) for group in examples for example in group}


def _best_rouge(texts: pa.ChunkedArray, targets: pa.ChunkedArray) -> pa.Array:
    """The best ROUGE-L of each text with the answers of its row: a function of the database."""
    row_scores: list[float] = []
    for text, target_texts in zip(texts.to_pylist(), targets.to_pylist(), strict=True):
        text_scores = [rouge_l(text or "", target_text) for target_text in target_texts]
        row_scores.append(max(text_scores, default=0.0))
    return number_array(np.array(row_scores, np.float64))


def _best_f1(texts: pa.ChunkedArray, targets: pa.ChunkedArray) -> pa.Array:
    """The best F1 of each text with the answers of its row: a function of the database."""
    row_scores: list[float] = []
    for text, target_texts in zip(texts.to_pylist(), targets.to_pylist(), strict=True):
        answer_words = (text or "").split()
        distinct_words = set(answer_words)
        is_plain = 0 < len(distinct_words) == len(answer_words)
        best_score = 0.0
        for target_text in target_texts:
            target_words = target_text.split()
            if is_plain and len(set(target_words)) == len(target_words):
                # without words that come again: `token_f1`, counted at once
                word_count = len(answer_words) + len(target_words)
                score = 2 * len(distinct_words.intersection(target_words)) / word_count
            else:
                score = token_f1(answer_words, target_words)
            best_score = max(best_score, score)
        row_scores.append(best_score)
    return number_array(np.array(row_scores, np.float64))


# words as rouge-score splits them: `the 2nd-best` has three, and an accent ends a word
_ROUGE_WORD = re.compile(r"[a-z0-9]+")


def rouge_l(prediction: str, reference: str) -> float:
    """ROUGE-L of two texts, F-measure with beta 1, from 0 to 1 (Lin 2004).

    Words are runs of ASCII letters and digits in lower case, without stemming.
    """
    prediction_words, reference_words = (
        _ROUGE_WORD.findall(text.lower()) for text in (prediction, reference)
    )
    if not prediction_words or not reference_words:
        return 0.0
    common_lengths = [0] * (len(reference_words) + 1)
    for prediction_word in prediction_words:
        diagonal_length = 0
        for reference_place, their_word in enumerate(reference_words, 1):
            previous_length = common_lengths[reference_place]
            common_lengths[reference_place] = (
                diagonal_length + 1
                if prediction_word == their_word
                else max(previous_length, common_lengths[reference_place - 1])
            )
            diagonal_length = previous_length
    return 2 * common_lengths[-1] / (len(prediction_words) + len(reference_words))
