"""The one error type that users see."""

from pathlib import Path
from typing import Self

_LONGEST = 400
"""Characters of a name that are printed."""


class UserError(Exception):
    """A mistake that the user can mend; printed as one message, exit status 1.

    `where` is a file, `line` its 1-based line; `hint` says what to do next.
    Everything that is not a `UserError` is a bug and keeps its traceback.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Path | str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        name = "" if where is None else _on_a_line(str(where))
        place = "" if where is None else f"{name}:{line}: " if line else f"{name}: "
        super().__init__(place + message + (f"\n  {hint}" if hint else ""))

    @classmethod
    def of_disk(cls, error: OSError, where: Path) -> Self:
        """What the disk refused, to be read or to be written: at the file that it names, if any."""
        return cls(error.strerror or str(error), where=error.filename or where)


def _on_a_line(name: str) -> str:
    """A name as messages print it: control characters escaped, a long one without its middle."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return shown if len(shown) <= _LONGEST else f"{shown[:100]}…{shown[-100:]}"
