"""What is asked about, how much, and what comes of it."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from pydantic import Field

from builders.config import Strict
from builders.rows import (
    AlignedSegment,
    AlignmentRule,
    Answer,
    Answerable,
    Difficulty,
    Gap,
    Specifier,
    Verification,
)
from builders.timeqa.specifiers import Time


@dataclass(frozen=True)
class Pair:
    """What is known of one subject and relation: every segment, undated ones too, and gaps."""

    subject: str
    subject_label: str
    relation: str
    segments: tuple[AlignedSegment, ...]
    gaps: tuple[Gap, ...] = ()


class Questions(Strict):
    """How many questions are asked, and of which times."""

    variants: int = Field(default=1, ge=1, description="Templates that ask the same question")
    hard: int = Field(default=1, ge=1, le=4, description="Hard specifiers a segment, at most")
    tries: int = Field(default=3, ge=1, description="Times drawn before one is given up")
    short_months: int = Field(
        default=2, ge=0, description="A segment up to this long gives `in` its first month"
    )
    after_days: int = Field(
        default=30, ge=0, description="Least days from the time of `after` to the snapshot"
    )
    unanswerable: float = Field(
        default=0.12, ge=0, lt=1, description="Share of a pair's hard questions without an answer"
    )
    window_years: int = Field(
        default=10, ge=1, description="How far from a pair's first or last day those may ask"
    )
    probes: int = Field(default=3, ge=0, description="Perturbations of a question's time")


class Selected(NamedTuple):
    """A segment that answers a question, by its place in the pair, and its mention."""

    segment: int
    object: str
    rule: AlignmentRule
    paragraph: int | None
    start: int | None
    end: int | None
    mention: str | None


@dataclass(slots=True)
class Asked:
    """A question without its page: `rows.TimeQuestion` but for title, context and spans.

    `segment` is the one that it was made of (None: a window where nothing holds), `time` its
    specifier. Of a probe, `probe_of` is the question's id and `probe` counts from 1.
    """

    id: str
    question: str
    objects: tuple[Answer, ...]
    answerable: Answerable
    difficulty: Difficulty
    specifier: Specifier
    time_first: date | None
    time_last: date | None
    subject: str
    subject_label: str
    relation: str
    relation_label: str
    template: str
    rules: tuple[AlignmentRule, ...]
    selected: tuple[Selected, ...]
    verification: Verification
    page: int
    revision: int
    segment: int | None
    time: Time
    probe_of: str | None = None
    probe: int | None = None
