"""Admit rows as long as no guess wins: what a release rewards has to be worked out.

Each row says of each guess how often it is right (1, 0, or a share where it cannot decide) and how
often chance would be. A row is admitted if no guess is then right in more rows than chance and a
small slack allow. Rows that wait may be admitted later, when others have evened a guess out. A row
may come in several versions, which differ in their choices; the first that is admitted is taken.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

# One point of the three by which SPEC lets a guess win.
_SLACK_SHARE = 0.01
# Below a hundred rows a single row is more than a point.
_SLACK_ROWS = 1.0

Row = TypeVar("Row")


class RuleGuess(NamedTuple):
    """How often a guess is right in a row, and how often chance is."""

    hit: float
    chance: float


class Label(NamedTuple):
    """An answer that may repeat, and the largest share of rows that may have it."""

    answer: str
    most: float


Guesses = Mapping[str, RuleGuess | Label]


@dataclass(frozen=True)
class Offer(Generic[Row]):
    """A row that may be admitted.

    `guesses` are those of all its versions; `make_versions` returns each version with its own.
    """

    guesses: Guesses
    make_versions: Callable[[], Iterable[tuple[Row, Guesses]]]

    @cached_property
    def versions(self) -> Sequence[tuple[Row, Guesses]]:
        """The versions, made when they are first needed."""
        return tuple(self.make_versions())


class Balance:
    """What each guess has won so far over chance."""

    def __init__(self) -> None:
        self._excess: dict[str, float] = defaultdict(float)
        self._rows: Counter[str] = Counter()
        self._labels: dict[str, Counter[str]] = defaultdict(Counter)

    def admits(self, guesses: Guesses) -> bool:
        """Return whether no guess would win too much with this row."""
        return all(self._admits(name, guess) for name, guess in guesses.items())

    def _admits(self, name: str, single_guess: RuleGuess | Label) -> bool:
        row_slack = max(_SLACK_ROWS, _SLACK_SHARE * self._rows[name])
        if isinstance(single_guess, Label):
            label_count = self._labels[name][single_guess.answer] + 1
            return label_count - single_guess.most * (self._rows[name] + 1) <= row_slack
        guess_gain = single_guess.hit - single_guess.chance
        return guess_gain <= 0 or self._excess[name] + guess_gain <= row_slack

    def add(self, guesses: Guesses) -> None:
        """Count a row that is admitted."""
        for guess_name, single_guess in guesses.items():
            self._rows[guess_name] += 1
            if isinstance(single_guess, Label):
                self._labels[guess_name][single_guess.answer] += 1
            else:
                self._excess[guess_name] += single_guess.hit - single_guess.chance


class BalancedDraw(NamedTuple, Generic[Row]):
    """The rows that were admitted, and the offers that were not."""

    admitted: list[Row]
    refused: list[Offer[Row]]


def draw_balanced(offers: Iterator[Offer[Row]], most: int) -> BalancedDraw[Row]:
    """Admit at most `most` rows in their order.

    Offers are taken as many at a time as rows are wanted, and those that wait are tried again as
    long as a round admits one.
    """
    guess_balance = Balance()
    admitted_rows: list[Row] = []
    waiting_offers: list[Offer[Row]] = []
    while len(admitted_rows) < most and (fresh_offers := list(islice(offers, most))):
        waiting_offers += fresh_offers
        admitted_before = -1
        while admitted_before < len(admitted_rows) < most:
            admitted_before = len(admitted_rows)
            waiting_offers = [
                offer
                for offer in waiting_offers
                if not _admit(guess_balance, offer, admitted_rows, most)
            ]
    return BalancedDraw(admitted_rows, waiting_offers)


def _admit(balance: Balance, offer: Offer[Row], admitted: list[Row], most: int) -> bool:
    """Add the first version of an offer by which no guess wins; return whether there is one."""
    if len(admitted) == most or not balance.admits(offer.guesses):
        return False
    for row, own_guesses in offer.versions:
        if balance.admits(own_guesses):
            balance.add({**offer.guesses, **own_guesses})
            admitted.append(row)
            return True
    return False
