"""Answers of a memory that are kept as they come, so that a run that breaks off loses none.

They stand in a file beside the place of the whole one: a line of JSON that says which stream and
which memory they are of, then a line for each question, in the order of the stream.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.scoring.predictions import Prediction

Record = TypeVar("Record", bound=msgspec.Struct)
_ENDING = ".kept"
_HINT = "delete it to ask all questions anew, or give the answers another file"


class _Heading(msgspec.Struct, frozen=True):
    """The first line: whose answers these are."""

    stream_sha256: str
    memory: str


class KeptAnswers:
    """The file of kept answers; it is read from its start, and written where it ends."""

    def __init__(self, path: Path, file: BinaryIO, heading: _Heading) -> None:
        self.path = path
        self.count = 0
        self._file = file
        with disk_errors(path):
            if (heading_line := self._whole_line()) is None:
                self._write(heading)
            elif self._decoded(heading_line, _Heading) != heading:
                text = "answers of another stream, or of another memory, are kept here"
                raise UserError(text, where=display_path(path), hint=_HINT)

    def answer(self, question_id: str) -> str | None:
        """Return the kept answer to the next question of the stream; None if there is none."""
        with disk_errors(self.path):
            if (line := self._whole_line()) is None:
                return None
        kept_row = self._decoded(line, Prediction)
        if kept_row.id != question_id or not isinstance(kept_row.prediction, str):
            raise self._not_ours()
        self.count += 1
        return kept_row.prediction

    def keep(self, question_id: str, answer: str) -> None:
        """Write the answer to the next question behind the others."""
        with disk_errors(self.path):
            self._write(Prediction(id=question_id, prediction=answer))
        self.count += 1

    def rows(self) -> Iterator[Prediction]:
        """Yield all answers, from the first on."""
        self._file.seek(0)
        self._whole_line()
        while (line := self._whole_line()) is not None:
            yield self._decoded(line, Prediction)

    def _write(self, record: msgspec.Struct) -> None:
        self._file.write(msgspec.json.encode(record) + b"\n")
        self._file.flush()

    def _whole_line(self) -> bytes | None:
        """Return the next line; None at the end, where half a line of a killed run is cut off."""
        line_start = self._file.tell()
        line = self._file.readline(LONGEST_LINE)
        if line.endswith(b"\n"):
            return line
        self._file.seek(line_start)
        self._file.truncate()
        return None

    def _decoded(self, line: bytes, record_type: type[Record]) -> Record:
        try:
            return msgspec.json.decode(line, type=record_type)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise self._not_ours() from None

    def _not_ours(self) -> UserError:
        return UserError("not what was kept here", where=display_path(self.path), hint=_HINT)


@contextmanager
def kept_answers(out: Path, stream_sha256: str, memory_name: str) -> Iterator[KeptAnswers]:
    """Open the kept answers beside `out` for one run; the file goes if all is well, or if empty.

    A failure gets a note that says where the answers are. `UserError`: another run has the file
    open, or what is in it is of another stream or memory.
    """
    path = out.with_name(out.name + _ENDING)
    with disk_errors(path):
        # a link that somebody planted here is not followed
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        file = os.fdopen(os.open(path, flags, 0o666), "r+b")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = "another run keeps its answers here"
            raise UserError(text, where=display_path(path), hint="wait for it to end") from None
        kept = KeptAnswers(path, file, _Heading(stream_sha256, memory_name))
        try:
            yield kept
        except BaseException as error:
            if kept.count:
                error.add_note(
                    f"{kept.count:,} answers are kept in {display_path(path)}: the same call goes "
                    "on after them"
                )
            else:
                path.unlink(missing_ok=True)
            raise
        path.unlink(missing_ok=True)
