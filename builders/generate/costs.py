"""What calls of language models cost: prices, what the user allows, and what was spent.

A run of the command line sets its `Terms` (`allowing`). Without terms, as in a program that calls
the library, nothing is asked of the user and nothing is counted.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field

from factdrift.builders.core.config import Strict, load
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.progress import is_interactive

__outside_step_keys__ = True

_OWN_PRICES = resource("builders/generate/prices.yaml")
_MILLION = 1_000_000
# the day at the end of a model's name: `gpt-5-mini-2025-08-07` and `claude-haiku-4-5-20251001`
_DAY_IN_NAME = re.compile(r"-20\d\d-?\d\d-?\d\d$")
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_ON_THIS_MACHINE = frozenset({"transformers", "recorded"})
"""Backends whose answers cost nothing but time."""
_MOST_SUGGESTIONS = 2
"""Cheaper models that a report names: a list of all prices would say less."""


class ModelPrice(Strict):
    """USD for a million tokens: `read` of prompts, `written` of answers."""

    read: float = Field(ge=0)
    written: float = Field(ge=0)


class PriceTable(Strict):
    """A file of prices: `day` on which they were looked up, the share of the price that batch files
    cost, and the prices by the name of the model."""

    day: date
    batch: float = Field(default=0.5, gt=0, le=1)
    models: Mapping[str, ModelPrice]


@dataclass(frozen=True)
class Price:
    """The price of one model's calls: USD for a million tokens, and the day on which it held."""

    model: str
    read: float
    written: float
    day: date | None

    def of(self, tokens_read: float, tokens_written: float) -> float:
        """Return what so many tokens cost, in USD."""
        return (tokens_read * self.read + tokens_written * self.written) / _MILLION

    def __str__(self) -> str:
        if not (self.read or self.written):
            return "it runs on this machine, or its answers are there: no price"
        prices = f"{self.read:,.2f} USD read, {self.written:,.2f} USD written"
        return f"{prices} for a million tokens, as of {self.day}"


@dataclass(frozen=True)
class Prices:
    """Price tables, the user's own before the project's."""

    tables: tuple[PriceTable, ...]

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """Read the user's tables and the project's; `path` is one that the command line names."""
        home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        own_path = Path(home) / "factdrift" / "prices.yaml"
        paths = [*([path] if path else []), *([own_path] if own_path.is_file() else [])]
        return cls(tuple(load(price_path, PriceTable) for price_path in (*paths, _OWN_PRICES)))

    def of(self, model: str, backend: str, base_url: str | None = None) -> Price | None:
        """Return the price of a model; None where no table knows it.

        A model of this machine costs nothing, unless a table of the user's says a price.
        """
        model_name = model.rpartition("/")[2]
        names = (model, model_name, _DAY_IN_NAME.sub("", model_name))
        is_local = backend in _ON_THIS_MACHINE or _is_loopback(base_url)
        for table in self.tables[:-1] if is_local else self.tables:
            for name in names:
                if name in table.models:
                    factor = table.batch if backend == "batch" else 1.0
                    price = table.models[name]
                    return Price(model, price.read * factor, price.written * factor, table.day)
        return Price(model, 0.0, 0.0, None) if is_local else None

    def cheaper(self, price: Price) -> list[Price]:
        """Return models of the same family that cost less, the cheapest first."""
        family = re.split(r"[-\d]", price.model.rpartition("/")[2])[0]
        others: dict[str, Price] = {}
        for table in self.tables:
            for model_name, entry in table.models.items():
                is_less = entry.read < price.read and entry.written < price.written
                if model_name.startswith(f"{family}-") and is_less:
                    others.setdefault(
                        model_name, Price(model_name, entry.read, entry.written, table.day)
                    )
        ordered = sorted(others.values(), key=lambda other: other.read + other.written)
        return ordered[:_MOST_SUGGESTIONS]


def _is_loopback(base_url: str | None) -> bool:
    return base_url is not None and urlsplit(base_url).hostname in _LOOPBACK_HOSTS


@dataclass
class Terms:
    """What the user allows for one run, and what it has spent; many threads may spend.

    `budget`: USD, at which the run stops; `agreed`: whether it was agreed to before (`--yes`).
    """

    prices: Prices
    budget: float | None = None
    agreed: bool = False
    spent: float = 0.0
    answers: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what is allowed alone: a lock stays in its process, and so does what it spent."""
        return Terms, (self.prices, self.budget, self.agreed)

    def agree(self, cost: float | None, is_free: bool, say: Callable[[str], None]) -> None:
        """Ask the user, once, before anything is paid for; `UserError` where nobody agrees.

        `cost` is what the run may cost, in USD, or None where a price is not known.
        """
        if is_free or cost == 0:
            return
        if self.budget is not None:
            if cost is None:
                hint_text = (
                    "give the price in a file for --prices, or take --yes instead of --budget"
                )
                raise UserError("a budget cannot be kept without a price", hint=hint_text)
            if cost > self.budget:
                say(f"  that is more than the budget: the run stops at {self.budget:,.2f} USD")
            return
        if self.agreed:
            return
        if not is_interactive():
            hint_text = (
                "agree with --yes, or with --budget USD, at which it stops; --limit 20 is a try"
            )
            raise UserError("this costs money, and nobody is there to agree", hint=hint_text)
        say(f"  go on ({money(cost)})? [y/N] ")
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            raise UserError("not agreed; nothing was asked")
        self.agreed = True

    def spend(self, amount: float, under_way: int) -> None:
        """Count one answer; `UserError` where the budget has no room for the calls under way."""
        with self._lock:
            self.spent += amount
            self.answers += 1
            reserve = under_way * self.spent / self.answers
            if self.budget is not None and self.spent + reserve > self.budget:
                hint_text = (
                    "what was answered is kept: the same command with a higher --budget goes on"
                )
                text = f"{self.spent:,.2f} USD are spent for {self.answers:,} answers"
                raise UserError(f"the budget is reached: {text}", hint=hint_text)


_terms: list[Terms] = []


@contextmanager
def allowing(terms: Terms) -> Iterator[None]:
    """Let the terms hold for every model that is opened in the block."""
    _terms.append(terms)
    try:
        yield
    finally:
        _terms.pop()


def current_terms() -> Terms | None:
    """Return the terms of this run, or None where none were set."""
    return _terms[-1] if _terms else None


def money(amount: float | None) -> str:
    """Write an amount in USD, of small ones three digits: `0.0123 USD`; None is unknown."""
    if amount is None:
        return "unknown price"
    return f"{amount:,.2f} USD" if amount >= 1 or amount == 0 else f"{amount:.3g} USD"


def total(amounts: Sequence[float | None]) -> float | None:
    """Add amounts; one that is not known makes the sum unknown."""
    known_amounts = [amount for amount in amounts if amount is not None]
    return sum(known_amounts) if len(known_amounts) == len(amounts) else None
