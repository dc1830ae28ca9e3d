"""Metrics of single rows, over whole columns.

- `exact_match`, `f1`: the best over the accepted answers, normalised as SQuAD does (Rajpurkar et
  al. 2016). Where there is no answer, none given counts 1 and a text 0; none given where there is
  one counts 0 (TimeQA: Chen et al. 2021).
- `p@1`, `p@5`, `p@10`, `mrr`: the rank of the first right candidate (LAMA: Petroni et al. 2019);
  no `p@k` where no list is as long.
- `accuracy`: of what was offered, the text with the highest number is right. Beside it what is
  right of the same texts without any knowledge: `chance`, one at random; `shortest`, one with the
  fewest letters; `before`, an answer of the period before, where one was offered.
- `rouge_l`: longest common subsequence of words, F-measure, best over the answers (Lin 2004).
- `recall@1` … `recall@20`: the article that answers is among the first found (StreamingQA: Liška
  et al. 2022).
- `outdated`, `early`, `stale`, `abstained`: shares of verdicts, see `Verdict` and `Scorer.finish`.
"""

import re
from collections import Counter
from typing import Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from factdrift.builders.core.errors import UserError
from factdrift.scoring.asked import Asked, Lists
from factdrift.scoring.words import Ints, Words, distinct, f1_of_pairs, found

Verdict = Literal["right", "outdated", "wrong", "abstained", "early"]
"""right: an accepted answer, or none where there is none. outdated: not that, but what was right
before: an answer of the period before, or one that the same fact had at an earlier time in this
release. early: none of these, but what was right only afterwards. abstained: no answer, where there
is one. wrong: anything else."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
RIGHT, OUTDATED, WRONG, ABSTAINED, EARLY = range(5)

SCALE = 1 << 20
"""A metric is kept as a whole number of 1/SCALE, so that sums are exact in any order."""
NONE = -1
"""A metric that a row does not have."""
ABSTENTIONS = ("", "unanswerable", "no answer", "unknown", "i dont know")
"""Predictions, once normalised, that give no answer."""
GUESSED = ("chance", "shortest", "before")
"""What needs no knowledge: it is known of each row, and has no interval."""
RANKS = (1, 5, 10)
RECALLS = (1, 5, 10, 20)

Marks = NDArray[np.int32]

_ROWS = 1 << 16
"""Rows that are looked at together."""
_HELD = 1000
"""Different answers that are counted."""
_OFTEN = 5
"""Times from which an answer is a repeated one."""


class Repeated(NamedTuple):
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


class Scorer:
    """Scores predictions of the rows of a release, some at a time.

    `marks` has each metric that was asked for, a whole number of 1/`SCALE` a row, or `NONE`;
    `verdicts` a place in `VERDICTS`, or `NONE`.
    """

    def __init__(self, asked: Asked, *, rouge: bool = False) -> None:
        self._asked = asked
        self._width = max(len(asked.keys), 1)
        self._answerable = asked.targets.sizes > 0
        self._abstentions = pa.array(ABSTENTIONS)
        self._rouge = rouge
        self.verdicts = np.full(len(asked), NONE, np.int8)
        self.neutral = 0
        """Predictions that name what is true and not asked for: their rows have no marks."""
        self.marks: dict[str, Marks] = {}
        self._longest = 0
        self.given: Counter[str] = Counter()
        self._look_back()

    def texts(self, rows: Ints, texts: pa.Array) -> None:
        """Score an answer for each of some different rows; null or blank: none is given."""
        different = texts.fill_null("").dictionary_encode()
        words = Words.of(different.dictionary)
        which = different.indices.to_numpy().astype(np.int64)
        blank = pc.equal(pc.utf8_trim_whitespace(different.dictionary), "")
        silent = pc.is_in(words.texts, self._abstentions)
        key = found(words.texts, self._asked.keys)[which]
        right = self._among(self._asked.targets, rows, key) & ~_bools(blank)[which]
        asked = ~self._among(self._asked.neutral, rows, key) | right
        if not asked.all():
            self.neutral += int((~asked).sum())
            self.texts(rows[asked], texts.filter(pa.array(asked)))
            return
        abstained = _bools(silent)[which] & ~right
        answerable = self._answerable[rows]
        right |= abstained & ~answerable
        self._count(words.texts, which)
        offered = self._asked.offered[rows]
        if offered.any():
            self._put("accuracy", rows[offered], right[offered])
            self._guesses(rows[offered], *self._choices(rows[offered]))
        outdated = self._was_right(rows, key) & ~right & ~abstained
        f1 = right.astype(np.float64)
        left = np.flatnonzero(~right & ~abstained & answerable)
        if len(left):
            owners, names = self._asked.targets.of(rows[left])
            best = f1_of_pairs(words, self._asked.names, which[left][owners], names)
            np.maximum.at(f1, left[owners], best)
        if not offered.all():
            self._put("exact_match", rows[~offered], right[~offered])
            self._put("f1", rows[~offered], f1[~offered])
        verdicts = np.full(len(rows), WRONG, np.int8)
        early = self._among(self._asked.later, rows, key)
        for verdict, there in (
            (EARLY, early),
            (OUTDATED, outdated),
            (ABSTAINED, abstained),
            (RIGHT, right),
        ):
            verdicts[there] = verdict
        self.verdicts[rows] = verdicts
        if self._rouge:
            self._rouge_l(rows, texts.fill_null(""), right, answerable)

    def _count(self, texts: pa.Array, which: Ints) -> None:
        """Count the answers of some rows; of many different ones the most common are held."""
        times = np.bincount(which, minlength=len(texts))
        most = np.argsort(-times, kind="stable")[:_HELD]
        some = texts.take(pa.array(most)).to_pylist()
        for text, count in zip(some, times[most].tolist(), strict=True):
            self.given[text] += count
        self.given = Counter(dict(self.given.most_common(_HELD)))

    def repeated(self) -> Repeated | None:
        """The most common answer, where it is more than a tenth of those that the model gave."""
        every = int((np.isin(self.verdicts, (RIGHT, OUTDATED, WRONG))).sum())
        counted = [(text, n) for text, n in self.given.items() if text not in ABSTENTIONS]
        text, times = max(counted, key=lambda one: (one[1], one[0]), default=("", 0))
        if times < _OFTEN or times * 10 <= every:
            return None
        rows = np.flatnonzero(self.verdicts != NONE)
        key = found(pa.array([text]), self._asked.keys)
        found_right = (key >= 0) & self._among(self._asked.targets, rows, np.repeat(key, len(rows)))
        right = int(found_right.sum())
        return Repeated(text, times, every, right) if times > 2 * right else None

    def candidates(self, rows: Ints, lists: pa.Array) -> None:
        """Score answers in order, the best first; the first one is the prediction, too."""
        starts, owners, flat = _spread(lists)
        different = flat.dictionary_encode()
        keys = found(Words.of(different.dictionary).texts, self._asked.keys)
        given = keys[different.indices.to_numpy()]
        best = _first(starts, owners, self._among(self._asked.targets, rows[owners], given))
        self._longest = max(self._longest, int(np.diff(starts).max(initial=0)))
        for most in RANKS:
            self._put(f"p@{most}", rows, best <= most)
        self._put("mrr", rows, 1.0 / best)
        self.texts(rows, flat.take(pa.array(starts[:-1], mask=np.diff(starts) == 0)))

    def undecided(self, rows: Ints, lists: pa.Array) -> NDArray[np.bool_]:
        """Whether a row's texts are all accepted answers: which is likeliest says nothing."""
        _, owners, flat = _spread(lists)
        keys = found(Words.of(flat).texts, self._asked.keys)
        wrong = owners[~self._among(self._asked.targets, rows[owners], keys)]
        none: NDArray[np.bool_] = np.bincount(wrong, minlength=len(rows)) == 0
        return none

    def likelihoods(self, rows: Ints, lists: pa.Array) -> None:
        """Score texts in the order of their likelihood: the first is chosen among them."""
        starts, _, flat = _spread(lists)
        keys = found(Words.of(flat).texts, self._asked.keys)
        lengths = pc.utf8_length(flat).to_numpy(zero_copy_only=False)
        kept = ~self._among(self._asked.neutral, rows, keys[starts[:-1]])
        kept |= self._among(self._asked.targets, rows, keys[starts[:-1]])
        self.neutral += int((~kept).sum())
        if not kept.all():
            if kept.any():
                self.likelihoods(rows[kept], lists.filter(pa.array(kept)))
            return
        self._choose(rows, keys[starts[:-1]])
        self._guesses(rows, starts, keys, lengths)

    def choices(self, rows: Ints, lists: pa.Array) -> None:
        """Score numbers for the choices of each row: the highest, the first of equals, is chosen.

        Where all of several are equal, none is.
        `UserError`: not as many numbers as the row has choices.
        """
        _, owners, flat = _spread(lists)
        sizes = lists.value_lengths().to_numpy()
        wrong = np.flatnonzero((sizes != self._asked.choices.sizes[rows]) | (sizes == 0))
        if len(wrong):
            row = int(rows[wrong[0]])
            offered = int(self._asked.choices.sizes[row])
            raise UserError(
                f"{sizes[wrong[0]]} choice_scores for row {self._asked.ids[row]}, "
                f"which has {offered} choices"
                if offered
                else f"choice_scores for row {self._asked.ids[row]}, which has no choices"
            )
        numbers = flat.to_numpy(zero_copy_only=False)
        order = np.lexsort((np.arange(len(numbers)), -numbers, owners))
        begins = np.cumsum(sizes) - sizes
        chosen = order[begins] - begins
        offers = self._choices(rows)
        key = offers[1][offers[0][:-1] + chosen]
        least = np.minimum.reduceat(numbers, begins)
        none = (numbers[order[begins]] == least) & (sizes > 1)
        self._choose(rows, np.where(none, -1, key))
        self._guesses(rows, *offers)

    def _choices(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Of the choices of some rows where those of each start, their names and their lengths."""
        owners, codes = self._asked.choices.of(rows)
        starts = np.searchsorted(owners, np.arange(len(rows) + 1))
        lengths = pc.utf8_length(self._asked.raw_names.take(pa.array(codes)))
        return starts, self._asked.key[codes], lengths.to_numpy(zero_copy_only=False)

    def _choose(self, rows: Ints, key: Ints) -> None:
        """Score the name that was chosen for each row."""
        right = self._among(self._asked.targets, rows, key)
        self._put("accuracy", rows, right)
        outdated = self._was_right(rows, key) & ~right
        self.verdicts[rows] = np.where(right, RIGHT, np.where(outdated, OUTDATED, WRONG))

    def _guesses(self, rows: Ints, starts: Ints, keys: Ints, lengths: Ints) -> None:
        """What is right without knowledge of the names that were offered for each row."""
        owners = np.repeat(np.arange(len(rows)), np.diff(starts))
        right = self._among(self._asked.targets, rows[owners], keys)
        least = np.minimum.reduceat(lengths, starts[:-1])
        guesses = (
            np.ones(len(keys), bool),
            lengths == least[owners],
            self._among(self._asked.previous, rows[owners], keys),
        )
        for name, among in zip(GUESSED, guesses, strict=True):
            several = np.bincount(owners, among, len(rows))
            hits = np.bincount(owners, among & right, len(rows))
            there = several > 0
            self._put(name, rows[there], hits[there] / several[there])

    def evidence(self, rows: Ints, lists: pa.Array) -> None:
        """Score what was found in a search: ids of articles, or of passages (`article_3`)."""
        wanted = self._asked.evidence.take(pa.array(rows)).dictionary_decode()
        starts, owners, flat = _spread(lists)
        ask = wanted.take(pa.array(owners))
        article = pc.replace_substring_regex(flat, r"_\d+$", "")
        hit = _bools(pc.fill_null(pc.or_(pc.equal(flat, ask), pc.equal(article, ask)), False))
        best = _first(starts, owners, hit)
        there = _bools(wanted.is_valid())
        for most in RECALLS:
            self._put(f"recall@{most}", rows[there], (best <= most)[there])

    def finish(self) -> dict[str, Marks]:
        """All metrics, those that follow from the verdicts, too."""
        told = self.verdicts != NONE
        changed = told & self.could_be_outdated
        known = changed & np.isin(self.verdicts, (RIGHT, OUTDATED))
        rows = np.arange(len(self.verdicts))
        self._put("abstained", rows[told], self.verdicts[told] == ABSTAINED)
        if changed.any():
            self._put("outdated", rows[changed], self.verdicts[changed] == OUTDATED)
        ahead = told & (self._asked.later.sizes > 0)
        if ahead.any():
            self._put("early", rows[ahead], self.verdicts[ahead] == EARLY)
        if known.any():
            self._put("stale", rows[known], self.verdicts[known] == OUTDATED)
        for most in RANKS[1:]:
            if most > self._longest:
                self.marks.pop(f"p@{most}", None)
        return self.marks

    def _put(self, name: str, rows: Ints, values: NDArray[np.generic]) -> None:
        if name not in self.marks:
            self.marks[name] = np.full(len(self._asked), NONE, np.int32)
        self.marks[name][rows] = np.round(values.astype(np.float64) * SCALE).astype(np.int32)

    def _among(self, lists: Lists, rows: Ints, keys: Ints) -> NDArray[np.bool_]:
        """Whether the list of each row has that name; -1 is a name of none."""
        owners, codes = lists.of(rows)
        there = np.zeros(len(rows), bool)
        there[owners[self._asked.key[codes] == keys[owners]]] = True
        return there

    def _was_right(self, rows: Ints, keys: Ints) -> NDArray[np.bool_]:
        """Whether a name was an answer of the row's fact at an earlier time."""
        return self._among(self._asked.previous, rows, keys) | self._earlier(rows, keys)

    def _earlier(self, rows: Ints, keys: Ints) -> NDArray[np.bool_]:
        """Whether another row about the fact, of an earlier time, has a name as its answer."""
        history = self._asked.history[rows]
        wanted = history.astype(np.int64) * self._width + keys
        at = np.searchsorted(self._history, wanted)
        there = (at < len(self._history)) & (keys >= 0) & (history >= 0)
        there[there] = self._history[at[there]] == wanted[there]
        there[there] = self._since[at[there]] < self._asked.day[rows[there]]
        return there

    def _look_back(self) -> None:
        """Which names each fact had since when, and which rows had another answer at an earlier
        time, as far as the release says; some rows at a time."""
        asked, width = self._asked, self._width
        changed = np.zeros(len(asked), bool)
        for first in range(0, len(asked), _ROWS):
            rows = np.arange(first, min(first + _ROWS, len(asked)))
            owners, codes = asked.previous.of(rows)
            changed[rows[owners[~self._among(asked.targets, rows[owners], asked.key[codes])]]] = (
                True
            )
        every: list[tuple[Ints, Ints]] = []
        for rows in asked.facts(np.ones(len(asked), bool)):
            owners, codes = asked.targets.of(rows)
            pairs = asked.history[rows[owners]].astype(np.int64) * width + asked.key[codes]
            facts, place = np.unique(pairs, return_inverse=True)
            since = np.full(len(facts), np.iinfo(np.int32).max, np.int32)
            np.minimum.at(since, place, asked.day[rows[owners]])
            every.append((facts, since))
            # of the names that the fact had before, how many are there, and how many still right?
            days = np.unique(asked.day[rows])
            times, known = len(days) + 1, np.searchsorted(days, since)
            dated = np.sort(facts // width * times + known)
            begin = asked.history[rows].astype(np.int64) * times
            before = np.searchsorted(dated, begin + np.searchsorted(days, asked.day[rows]))
            before -= np.searchsorted(dated, begin)
            right = distinct(owners * len(facts) + place)
            owners, place = np.divmod(right, max(len(facts), 1))
            old = since[place] < asked.day[rows[owners]]
            changed[rows] |= before > np.bincount(owners[old], minlength=len(rows))
        self._history, self._since = (
            np.concatenate([*parts, np.zeros(0, kind)])
            for parts, kind in (
                ([facts for facts, _ in every], np.int64),
                ([since for _, since in every], np.int32),
            )
        )
        self.could_be_outdated = changed

    def _rouge_l(
        self, rows: Ints, texts: pa.Array, right: NDArray[np.bool_], answerable: NDArray[np.bool_]
    ) -> None:
        targets = self._asked.targets
        raw = self._asked.raw_names
        scores = right.astype(np.float64)
        known: dict[tuple[str, str], float] = {}
        for n in np.flatnonzero(answerable).tolist():
            text = texts[n].as_py()
            best = 0.0
            for code in targets.codes[targets.starts[rows[n]] : targets.starts[rows[n] + 1]]:
                pair = (text, raw[int(code)].as_py())
                if pair not in known:
                    known[pair] = rouge_l(*pair)
                best = max(best, known[pair])
            scores[n] = best
        self._put("rouge_l", rows, scores)


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


def _spread(lists: pa.Array) -> tuple[Ints, Ints, pa.Array]:
    """Where each list starts and the last ends, the place of the list of each item, the items."""
    starts = lists.offsets.to_numpy().astype(np.int64)
    owners = np.repeat(np.arange(len(lists)), np.diff(starts))
    return starts - starts[0], owners, lists.flatten()


def _first(starts: Ints, owners: Ints, hit: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The rank of the first hit of each list, from 1; infinite where there is none."""
    rank = np.arange(len(owners)) - starts[owners] + 1
    best = np.full(len(starts) - 1, np.inf)
    np.minimum.at(best, owners[hit], rank[hit])
    return best


def _bools(column: pa.Array) -> NDArray[np.bool_]:
    there: NDArray[np.bool_] = column.to_numpy(zero_copy_only=False).astype(bool)
    return there
