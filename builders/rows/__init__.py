"""Every row type of every release, a module a field of work.

A row is a frozen dataclass; each field is `Annotated[type, "what it is"]`. Parquet schemas
and the column tables of data cards are printed from here (see `builders.core.schema`), so a
column is described once. Dates are UTC days; `None` means unknown. Rows that ask something have
the columns `prompt` and `targets`, and their `roles` say what else is read from them.
"""

from factdrift.builders.core.schema import RENDERED as RENDERED
from factdrift.builders.rows.annotation import *
from factdrift.builders.rows.choices import *
from factdrift.builders.rows.ckl import *
from factdrift.builders.rows.cloze import *
from factdrift.builders.rows.facts import *
from factdrift.builders.rows.news import *
from factdrift.builders.rows.pages import *
from factdrift.builders.rows.roles import *
from factdrift.builders.rows.timeqa import *
