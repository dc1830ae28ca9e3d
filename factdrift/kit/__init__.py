"""What packages that extend factdrift may import.

These names are promised from the release that closes this series on: a later version may add to
them, and changes or removes one only with a new major version. Every other module is private and
may change with any version. `factdrift.testing` checks extensions in their own tests.

    from factdrift.kit import DatasetBuilder, Run, Step, named_timelines

A dataset of facts takes the timelines of a dump in three lines:

    step = named_timelines(run, ["P286", "P54-club"])  # in DatasetBuilder.build
    path = run.folder(step) / "timelines.parquet"
    segments = typed_rows(path, ReleasedSegment)

Nothing is defined here; each name is documented where it is defined.
"""

# Datasets: a builder, its steps, and what it hands to a release.
# Platforms: batches go out to people, and their submissions come back.
from factdrift.annotation.batch import HitBatch as HitBatch
from factdrift.annotation.layout import Layout as Layout
from factdrift.annotation.order import Delivery as Delivery
from factdrift.annotation.platforms.base import Platform as Platform
from factdrift.annotation.platforms.base import Recognition as Recognition
from factdrift.annotation.reading import read_head as read_head
from factdrift.annotation.submission import SUBMISSION_FORMAT as SUBMISSION_FORMAT
from factdrift.annotation.submission import Refused as Refused
from factdrift.annotation.submission import Submission as Submission
from factdrift.annotation.submission import submission_from_value as submission_from_value
from factdrift.builders.core.config import Strict as Strict
from factdrift.builders.core.dataset import Dataset as Dataset
from factdrift.builders.core.dataset import FromParquet as FromParquet
from factdrift.builders.core.dataset import Plot as Plot
from factdrift.builders.core.dataset import Statistics as Statistics
from factdrift.builders.core.dataset import Table as Table
from factdrift.builders.core.dates import Period as Period
from factdrift.builders.core.errors import UserError as UserError
from factdrift.builders.core.hashing import row_id as row_id
from factdrift.builders.core.run import DatasetBuilder as DatasetBuilder
from factdrift.builders.core.run import Run as Run
from factdrift.builders.core.run import Source as Source
from factdrift.builders.core.schema import MEASURED as MEASURED
from factdrift.builders.core.schema import RENDERED as RENDERED
from factdrift.builders.core.schema import typed_rows as typed_rows
from factdrift.builders.core.schema import writing as writing
from factdrift.builders.core.steps import NOT_IN_KEY as NOT_IN_KEY
from factdrift.builders.core.steps import Step as Step
from factdrift.builders.core.steps import Workspace as Workspace

# Timelines of a dump, for a dataset of facts.
from factdrift.builders.facts.temporal_facts import NamedFacts as NamedFacts
from factdrift.builders.facts.temporal_facts import named_timelines as named_timelines

# Backends: language models that write questions and answer them.
from factdrift.builders.generate.prompts import ModelSettings as ModelSettings
from factdrift.builders.generate.prompts import ParseText as ParseText
from factdrift.builders.generate.prompts import PromptedModel as PromptedModel
from factdrift.builders.generate.prompts import load_prompts as load_prompts
from factdrift.builders.generate.prompts import model_identity as model_identity
from factdrift.builders.generate.protocol import OnResult as OnResult
from factdrift.builders.generate.protocol import Result as Result
from factdrift.builders.generate.protocol import Shape as Shape
from factdrift.builders.generate.protocol import Usage as Usage

# Rows that several kinds of extension meet.
from factdrift.builders.rows import Article as Article
from factdrift.builders.rows import ColumnRoles as ColumnRoles
from factdrift.builders.rows import Dropped as Dropped
from factdrift.builders.rows import Question as Question
from factdrift.builders.rows import ReleasedSegment as ReleasedSegment

# Filters of generated questions, and what they need of a run.
from factdrift.filters.base import Filter as Filter
from factdrift.filters.base import FilterContext as FilterContext
from factdrift.filters.base import FilterVerdict as FilterVerdict
from factdrift.filters.base import ItemFilter as ItemFilter
from factdrift.filters.base import QuestionItem as QuestionItem
from factdrift.filters.base import drop_if as drop_if
