"""Every row type of every release, a module a field of work.

A row is a frozen dataclass; each field is `Annotated[type, "what it is"]`. Parquet schemas
and the column tables of data cards are printed from here (see `builders.core.schema`), so a
column is described once. Dates are UTC days; `None` means unknown. Rows that ask something have
the columns `prompt` and `targets`, and their `roles` say what else is read from them.
"""

from factdrift.builders.core.schema import RENDERED as RENDERED
from factdrift.builders.rows.annotation import Decision as Decision
from factdrift.builders.rows.annotation import Gold as Gold
from factdrift.builders.rows.annotation import Judgment as Judgment
from factdrift.builders.rows.choices import ChoiceCloze as ChoiceCloze
from factdrift.builders.rows.choices import ChoiceKind as ChoiceKind
from factdrift.builders.rows.choices import Distractor as Distractor
from factdrift.builders.rows.choices import OfferedCloze as OfferedCloze
from factdrift.builders.rows.ckl import ArticleQuestions as ArticleQuestions
from factdrift.builders.rows.ckl import ArticleWords as ArticleWords
from factdrift.builders.rows.ckl import EasyCloze as EasyCloze
from factdrift.builders.rows.ckl import Evidence as Evidence
from factdrift.builders.rows.ckl import LamaCloze as LamaCloze
from factdrift.builders.rows.ckl import NewCloze as NewCloze
from factdrift.builders.rows.ckl import NewEasyCloze as NewEasyCloze
from factdrift.builders.rows.ckl import NewsCloze as NewsCloze
from factdrift.builders.rows.ckl import UpdatedCloze as UpdatedCloze
from factdrift.builders.rows.cloze import Cloze as Cloze
from factdrift.builders.rows.cloze import Delta as Delta
from factdrift.builders.rows.cloze import InvariantCloze as InvariantCloze
from factdrift.builders.rows.cloze import NamedDelta as NamedDelta
from factdrift.builders.rows.cloze import NamedInvariant as NamedInvariant
from factdrift.builders.rows.cloze import ParaphraseCloze as ParaphraseCloze
from factdrift.builders.rows.cloze import PromptFact as PromptFact
from factdrift.builders.rows.cloze import Split as Split
from factdrift.builders.rows.cloze import TrexFact as TrexFact
from factdrift.builders.rows.facts import Answer as Answer
from factdrift.builders.rows.facts import Change as Change
from factdrift.builders.rows.facts import Dropped as Dropped
from factdrift.builders.rows.facts import Entity as Entity
from factdrift.builders.rows.facts import Fact as Fact
from factdrift.builders.rows.facts import FactChange as FactChange
from factdrift.builders.rows.facts import Gap as Gap
from factdrift.builders.rows.facts import GapReason as GapReason
from factdrift.builders.rows.facts import Rank as Rank
from factdrift.builders.rows.facts import ReleasedChange as ReleasedChange
from factdrift.builders.rows.facts import ReleasedFact as ReleasedFact
from factdrift.builders.rows.facts import ReleasedSegment as ReleasedSegment
from factdrift.builders.rows.facts import SeenFact as SeenFact
from factdrift.builders.rows.facts import Segment as Segment
from factdrift.builders.rows.facts import Statement as Statement
from factdrift.builders.rows.news import About as About
from factdrift.builders.rows.news import AnswerType as AnswerType
from factdrift.builders.rows.news import Article as Article
from factdrift.builders.rows.news import ArticleRef as ArticleRef
from factdrift.builders.rows.news import Candidate as Candidate
from factdrift.builders.rows.news import Draw as Draw
from factdrift.builders.rows.news import Grounding as Grounding
from factdrift.builders.rows.news import HumanAnswer as HumanAnswer
from factdrift.builders.rows.news import NewsQuestion as NewsQuestion
from factdrift.builders.rows.news import NewsSplit as NewsSplit
from factdrift.builders.rows.news import Passage as Passage
from factdrift.builders.rows.news import Question as Question
from factdrift.builders.rows.news import Subset as Subset
from factdrift.builders.rows.news import TimeSpec as TimeSpec
from factdrift.builders.rows.pages import Link as Link
from factdrift.builders.rows.pages import Page as Page
from factdrift.builders.rows.pages import Paragraph as Paragraph
from factdrift.builders.rows.pages import ParagraphKind as ParagraphKind
from factdrift.builders.rows.roles import ColumnRoles as ColumnRoles
from factdrift.builders.rows.timeqa import AddedParagraph as AddedParagraph
from factdrift.builders.rows.timeqa import AlignedSegment as AlignedSegment
from factdrift.builders.rows.timeqa import AlignmentRule as AlignmentRule
from factdrift.builders.rows.timeqa import Answerable as Answerable
from factdrift.builders.rows.timeqa import Difficulty as Difficulty
from factdrift.builders.rows.timeqa import EvidenceTier as EvidenceTier
from factdrift.builders.rows.timeqa import NamedSegment as NamedSegment
from factdrift.builders.rows.timeqa import PageSubject as PageSubject
from factdrift.builders.rows.timeqa import ParaphrasedQuestion as ParaphrasedQuestion
from factdrift.builders.rows.timeqa import ReleasedAlignedSegment as ReleasedAlignedSegment
from factdrift.builders.rows.timeqa import Revision as Revision
from factdrift.builders.rows.timeqa import Spans as Spans
from factdrift.builders.rows.timeqa import Specifier as Specifier
from factdrift.builders.rows.timeqa import TimeProbe as TimeProbe
from factdrift.builders.rows.timeqa import TimeQuestion as TimeQuestion
from factdrift.builders.rows.timeqa import Verification as Verification
from factdrift.builders.rows.timeqa import VerifiedSegment as VerifiedSegment
