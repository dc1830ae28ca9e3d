"""Every row type of every release, a module a field of work.

A row is a frozen dataclass; each field is `Annotated[type, "what it is"]`. Parquet schemas
and the column tables of data cards are printed from here (see `builders.core.schema`), so a
column is described once. Dates are UTC days; `None` means unknown. Rows that ask something have
the columns `prompt` and `targets`, and `builders.rows.asking` says what else is read from them.
"""

from builders.core.schema import RENDERED as RENDERED
from builders.rows.annotation import Decision as Decision
from builders.rows.annotation import Gold as Gold
from builders.rows.annotation import Judgment as Judgment
from builders.rows.asking import ASKING as ASKING
from builders.rows.asking import Asking as Asking
from builders.rows.choices import ChoiceCloze as ChoiceCloze
from builders.rows.choices import ChoiceKind as ChoiceKind
from builders.rows.choices import Distractor as Distractor
from builders.rows.choices import OfferedCloze as OfferedCloze
from builders.rows.ckl import ArticleQuestions as ArticleQuestions
from builders.rows.ckl import ArticleWords as ArticleWords
from builders.rows.ckl import EasyCloze as EasyCloze
from builders.rows.ckl import Evidence as Evidence
from builders.rows.ckl import LamaCloze as LamaCloze
from builders.rows.ckl import NewCloze as NewCloze
from builders.rows.ckl import NewEasyCloze as NewEasyCloze
from builders.rows.ckl import NewsCloze as NewsCloze
from builders.rows.ckl import UpdatedCloze as UpdatedCloze
from builders.rows.cloze import Cloze as Cloze
from builders.rows.cloze import Delta as Delta
from builders.rows.cloze import InvariantCloze as InvariantCloze
from builders.rows.cloze import NamedDelta as NamedDelta
from builders.rows.cloze import NamedInvariant as NamedInvariant
from builders.rows.cloze import Split as Split
from builders.rows.cloze import TrexFact as TrexFact
from builders.rows.facts import Answer as Answer
from builders.rows.facts import Change as Change
from builders.rows.facts import Dropped as Dropped
from builders.rows.facts import Entity as Entity
from builders.rows.facts import Fact as Fact
from builders.rows.facts import FactChange as FactChange
from builders.rows.facts import Gap as Gap
from builders.rows.facts import GapReason as GapReason
from builders.rows.facts import Rank as Rank
from builders.rows.facts import ReleasedChange as ReleasedChange
from builders.rows.facts import ReleasedFact as ReleasedFact
from builders.rows.facts import ReleasedSegment as ReleasedSegment
from builders.rows.facts import SeenFact as SeenFact
from builders.rows.facts import Segment as Segment
from builders.rows.facts import Statement as Statement
from builders.rows.news import AnswerType as AnswerType
from builders.rows.news import Article as Article
from builders.rows.news import ArticleRef as ArticleRef
from builders.rows.news import Candidate as Candidate
from builders.rows.news import Draw as Draw
from builders.rows.news import HumanAnswer as HumanAnswer
from builders.rows.news import NewsQuestion as NewsQuestion
from builders.rows.news import NewsSplit as NewsSplit
from builders.rows.news import Parse as Parse
from builders.rows.news import Passage as Passage
from builders.rows.news import Question as Question
from builders.rows.news import Subset as Subset
from builders.rows.news import TimeSpec as TimeSpec
from builders.rows.pages import Link as Link
from builders.rows.pages import Page as Page
from builders.rows.pages import Paragraph as Paragraph
from builders.rows.pages import ParagraphKind as ParagraphKind
from builders.rows.timeqa import AlignedSegment as AlignedSegment
from builders.rows.timeqa import AlignmentRule as AlignmentRule
from builders.rows.timeqa import Answerable as Answerable
from builders.rows.timeqa import Difficulty as Difficulty
from builders.rows.timeqa import NamedSegment as NamedSegment
from builders.rows.timeqa import PageSubject as PageSubject
from builders.rows.timeqa import ParaphrasedQuestion as ParaphrasedQuestion
from builders.rows.timeqa import ReleasedAlignedSegment as ReleasedAlignedSegment
from builders.rows.timeqa import Revision as Revision
from builders.rows.timeqa import Spans as Spans
from builders.rows.timeqa import Specifier as Specifier
from builders.rows.timeqa import TimeProbe as TimeProbe
from builders.rows.timeqa import TimeQuestion as TimeQuestion
from builders.rows.timeqa import Verification as Verification
from builders.rows.timeqa import VerifiedSegment as VerifiedSegment
