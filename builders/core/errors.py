"""The one error type that users see."""

import re
from pathlib import Path
from typing import Self

__outside_step_keys__ = True

_LONG_WORD = re.compile(r"(\S{100})\S{200,}(\S{100})")
"""A name that would fill the screen; its middle is left out."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal or turn the order of a line, and halves of characters."""


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
        text = place + message + (f"\n  {hint}" if hint else "")
        super().__init__(_LONG_WORD.sub(r"\1…\2", text))

    @classmethod
    def of_disk(cls, error: OSError, where: Path) -> Self:
        """What the disk refused, to be read or to be written: at the file that it names, if any."""
        return cls(error.strerror or str(error), where=error.filename or where)


def _on_a_line(name: str) -> str:
    """A name as messages print it, its control characters escaped."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in name
    )


def printable(text: str) -> str:
    """A text for a terminal; its control characters are escaped, but for tabs and line ends."""
    return _CONTROLS.sub(lambda replaced: repr(replaced[0])[1:-1], text)
