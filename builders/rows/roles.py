"""The roles of columns: which column is the prompt, which the answers, and so on.

A row type whose rows ask something has the class attribute `roles`. Manifests repeat it, so that
tools which ask, score or export rows know what to read.
"""

from dataclasses import dataclass, fields
from typing import Annotated

from pydantic import ConfigDict, Field

Column = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
"""The name of a column; a dot leads into a struct: `answer.label`, but not `answer.` or `2nd`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRoles:
    """The columns of one row type by their role. The types named below are those of Arrow."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    prompt: Column = "prompt"
    """What a model is asked: `string`, never empty."""
    targets: Column = "targets"
    """Every accepted answer, best first: `list<string>`; empty where there is none to give."""
    context: Column | None = None
    """The text that the answer is to be found in: `string`, empty where the release has none."""
    answers: Column = "targets"
    """The gold answer in the dataset's own form: `string`, `list<string>`, spans, or Wikidata
    items with labels and aliases (a struct or a list of them)."""
    previous: Column | None = None
    """What was right before, in one of the same forms: a prediction that is in it and not in
    `targets` is outdated. Of a row whose fact ended it is what `targets` has."""
    later: Column | None = None
    """What was right after the time asked about, in one of the same forms: a prediction that is in
    it and in neither of the others is early."""
    neutral: Column | None = None
    """What is true and not asked for, in one of the same forms: a prediction that is in it and not
    in `targets` is neither right nor wrong, and its row is left out of the score and counted."""
    choices: Column | None = None
    """What there is to choose of, one of them right: `list<string>`."""
    answer_index: Column | None = None
    """The place of the right one among `choices`, from 0: `int64`."""
    free: bool = False
    """Whether rows that have choices are also asked without them, so that an answer that is
    written counts as written."""
    time: tuple[Column, ...] = ()
    """The last day asked about, of which the lag behind a model's cut-off is counted: `date32`,
    or `int64` in seconds since 1970. Of several the first that is not null; none: no time matters.
    """
    subject: Column = "id"
    """What rows share that are not independent: `string`. Intervals are resampled by it."""
    history: tuple[Column, ...] = ()
    """What rows share that ask the same thing at different times: `string`, none: nothing. What one
    of them accepts was right at its time, and a prediction of it at a later time is outdated."""
    period: Column | None = None
    """The one of `strata` that is the period asked about; else scores go by the year of `time`."""
    evidence: Column | None = None
    """The id of what a search ought to find: `string`."""
    group: Column | None = None
    """The question that rows are variants of: `string`. Who knows its answer gets all of them."""
    twin: Column | None = None
    """The id of the row that asks the same in other words or under other names: `string`, null
    where there is none. Scores give the difference of a config's rows from their twins."""
    strata: tuple[Column, ...] = ()
    """What scores are split by: `string` or `int64`; a row counts for each entry of a list."""
    popularity: tuple[Column, ...] = ()
    """How well known the subject is, best measure first: `int64`, null where not known."""

    def columns(self) -> set[str]:
        """Return every column that a role names; of a column in a struct, the struct."""
        column_names: set[str] = set()
        for role in fields(self):
            role_value = getattr(self, role.name)
            if isinstance(role_value, str):
                column_names.add(role_value)
            elif isinstance(role_value, tuple):
                column_names.update(role_value)
        return {column_name.partition(".")[0] for column_name in column_names}


def column_roles(row_type: type) -> ColumnRoles | None:
    """Return the roles of a row type's columns, or None where its rows ask nothing."""
    row_roles: ColumnRoles | None = getattr(row_type, "roles", None)
    return row_roles
