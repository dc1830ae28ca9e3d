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

# Rows that several kinds of extension meet.
from factdrift.builders.rows import Article as Article
from factdrift.builders.rows import ColumnRoles as ColumnRoles
from factdrift.builders.rows import Dropped as Dropped
from factdrift.builders.rows import Question as Question
from factdrift.builders.rows import ReleasedSegment as ReleasedSegment
