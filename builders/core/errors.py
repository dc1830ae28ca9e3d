"""The error that users see, and text that is safe to print."""

import re
from pathlib import Path
from typing import Self

__outside_step_keys__ = True

_LONG_WORD = re.compile(r"(\S{100})\S{200,}(\S{100})")
"""A word of 400 characters or more, such as a long path; messages leave its middle out.

Paths of everyday length stay whole. It matches `"x" * 400`, but not `"x" * 399`.
"""
_CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters of terminals, line ends of Unicode, marks for the direction of text, and lone
surrogates.

It matches the escape character `\\x1b`, but not a tab or a line end.
"""


class UserError(Exception):
    """A mistake that the user can mend. The program prints its message and exits with status 1.

    `where` is a file or another place, `line` is a line of the file from 1, and `hint` says what to
    do next. Any other exception is a bug and is printed with its traceback.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Path | str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        file_name = "" if where is None else on_a_line(str(where))
        message_prefix = (
            "" if where is None else f"{file_name}:{line}: " if line else f"{file_name}: "
        )
        message_text = message_prefix + message + (f"\n  {hint}" if hint else "")
        super().__init__(printable(_LONG_WORD.sub(r"\1…\2", message_text)))

    @classmethod
    def of_disk(cls, error: OSError, where: Path) -> Self:
        """Return the error of a disk as a `UserError` at the file that it names, or at `where`."""
        return cls(error.strerror or str(error), where=error.filename or where)


def on_a_line(name: str) -> str:
    """Return a name on one line, with its control characters escaped."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in name
    )


def printable(text: str) -> str:
    """Return a text for a terminal: its control characters but tabs and line ends are escaped."""
    return _CONTROL_CHARACTERS.sub(lambda replaced: repr(replaced[0])[1:-1], text)
