"""How question dates are drawn: what a recipe can set."""

from datetime import date
from typing import Self

from pydantic import Field, model_validator

from builders.config import Strict


class Amount(Strict):
    """How many draws of each subset a part gets; equal numbers, as the paper has it."""

    recent: int = Field(ge=0)
    past: int = Field(ge=0)


class Shares(Strict):
    """What part of the articles each part may draw; only their proportions count."""

    eval: float = Field(default=0.3, gt=0)
    train: float = Field(default=0.6, gt=0)
    valid: float = Field(default=0.1, gt=0)


class DateSettings(Strict):
    """The bounds of the draws; those of the paper by default.

    `year`: the evaluation year Y. `first_day`: of any article; its year is the first one of
    training questions. `recent_before`: days before 1 January from which an article is recent.
    `recent_days`, `past_days`: the longest time to the question. `most_draws`: of one article in
    one part (1: without replacement); none: no bound. `tries`: numbers drawn for each draw that
    is wanted, before a part is left short.
    """

    dataset: str = "streamingqa"
    year: int = Field(default=2020, ge=1900, le=2200)
    first_day: date = date(2007, 1, 1)
    recent_before: int = Field(default=31, ge=0)
    recent_days: int = Field(default=30, ge=0)
    past_days: int = Field(default=365, ge=0)
    eval: Amount = Amount(recent=18_200, past=18_200)
    train: Amount = Amount(recent=49_700, past=49_700)
    valid: Amount = Amount(recent=5_000, past=5_000)
    shares: Shares = Shares()
    most_draws: int | None = Field(default=None, ge=1)
    tries: int = Field(default=20, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first_day.year >= self.year:
            raise ValueError(f"first_day has to be before the evaluation year {self.year}")
        return self
