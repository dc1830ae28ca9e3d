"""Every row type of every release, a module a field of work.

A row is a frozen dataclass; each field is `Annotated[type, "what it is"]`. Parquet schemas
and the column tables of data cards are printed from here (see `builders.schema`), so a
column is described once. Dates are UTC days; `None` means unknown.
"""

from builders.rows.annotation import Decision, Gold, Judgment
from builders.rows.cloze import Cloze, Delta, NamedDelta, Split
from builders.rows.facts import (
    Answer,
    Change,
    Dated,
    Dropped,
    Entity,
    Fact,
    FactChange,
    Gap,
    Labelled,
    Rank,
    ReleasedChange,
    ReleasedFact,
    ReleasedSegment,
    SeenFact,
    Segment,
)
from builders.rows.marks import RENDERED
from builders.rows.news import (
    AnswerType,
    Article,
    ArticleRef,
    Candidate,
    Draw,
    NewsQuestion,
    Part,
    Passage,
    Question,
    Subset,
    TimeSpec,
)
from builders.rows.pages import Link, Page, Paragraph, ParagraphKind
from builders.rows.timeqa import (
    AlignedSegment,
    AlignmentRule,
    Answerable,
    Difficulty,
    NamedSegment,
    Spans,
    Specifier,
    TimeProbe,
    TimeQuestion,
    Verification,
)

__all__ = [
    "RENDERED",
    "AlignedSegment",
    "AlignmentRule",
    "Answer",
    "AnswerType",
    "Answerable",
    "Article",
    "ArticleRef",
    "Candidate",
    "Change",
    "Cloze",
    "Dated",
    "Decision",
    "Delta",
    "Difficulty",
    "Draw",
    "Dropped",
    "Entity",
    "Fact",
    "FactChange",
    "Gap",
    "Gold",
    "Judgment",
    "Labelled",
    "Link",
    "NamedDelta",
    "NamedSegment",
    "NewsQuestion",
    "Page",
    "Paragraph",
    "ParagraphKind",
    "Part",
    "Passage",
    "Question",
    "Rank",
    "ReleasedChange",
    "ReleasedFact",
    "ReleasedSegment",
    "SeenFact",
    "Segment",
    "Spans",
    "Specifier",
    "Split",
    "Subset",
    "TimeProbe",
    "TimeQuestion",
    "TimeSpec",
    "Verification",
]
