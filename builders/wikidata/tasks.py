"""Read the shares of a dump as tasks of a Spark.

A task reads one share with the reader of any other run, and writes its parts into the folder that
a run on one machine writes them into, which every node sees. So a task that failed goes on where
it was when Spark starts it again, and so does a stopped run, with any number of tasks or without
Spark. Through Spark itself goes one row a task: what went wrong, if anything did.

Nodes have factdrift installed: its readers are compiled packages, which cannot be sent along.
"""

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import astuple
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any

from factdrift.builders.core import spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, hold_shared
from factdrift.builders.core.progress import progress
from factdrift.builders.core.reach import reach
from factdrift.builders.wikidata.mine import GO_ON, GOING, Left, Reading, covered_blocks, left, read
from factdrift.builders.wikidata.reader import READING, DumpReading, Share, Tuning

EVERY = 2.0
"""Seconds between two notes of how far a task has come."""
STOPPED = "stopped"
_INSTALL = "install the same factdrift there; PYSPARK_PYTHON names the Python that tasks run in"
_COLUMNS = "host string, said string"


def by_tasks(engine: str, shares: int | None = None, threads: int | None = None) -> Reading:
    """Reading (see `mine`) by tasks of a Spark, each of which reads one of so many shares.

    `engine`: `spark`, or where a Spark is (`builders.core.engine.engine`); `shares`: by default
    one a file, and of a single file it has to be said; `threads`: cores of this machine for a
    Spark in this process.

    `UserError`: a wrong address, no shares; from reading, what `mine` says, and: Spark does not
    start or gives up, a node lacks factdrift, has another one, or does not see the files.
    """
    address = None if engine == "spark" else spark.checked(engine)

    def reading(given: DumpReading, todo: Left) -> None:
        of = shares or len(given.files)
        if shares is None and of == 1:
            text = "one file: the number of tasks that share its blocks has to be said"
            hint = "--shards 8; each of them decompresses all of it, so that a few are best"
            raise UserError(text, where=given.files[0], hint=hint)
        parts, files = given.parts.absolute(), tuple(file.absolute() for file in given.files)
        _read(given._replace(files=files, parts=parts), todo, of, address, threads)

    return reading


def _read(
    given: DumpReading, todo: Left, of: int, address: str | None, threads: int | None
) -> None:
    """Have a Spark read what is left, in so many shares."""
    lefts = {p: left(given._replace(share=Share(p, of)), todo.covered).files for p in range(of)}
    places = [place for place, files in lefts.items() if files]
    sizes = [file.stat().st_size for file in given.files]
    going = given.parts / GOING
    for old in given.parts.glob(".share-*"):
        old.unlink()
    total = sum(sizes[n] for files in lefts.values() for n in files)
    with (
        tempfile.TemporaryDirectory(prefix="spark_", dir=given.parts.parent) as scratch,
        spark.session(address, Path(scratch), None, threads) as session,
        progress(total, "B", "reading the dump") as bar,
    ):
        going.touch()
        tasks = session.range(0, len(places), 1, len(places))
        tasks = tasks.mapInArrow(_task(told(given, of), places), _COLUMNS)
        with (
            _watched(given.parts, bar.advance),
            spark.failures(address, GO_ON),
            ThreadPoolExecutor(1) as waiting,  # Ctrl-C would break into PySpark's own talk
        ):
            try:
                rows = waiting.submit(tasks.collect).result()
            finally:  # whoever is still at it stops
                going.unlink(missing_ok=True)
    errors = [(row["said"], row["host"]) for row in rows if row["said"]]
    for said, host in sorted(errors, key=lambda error: error[0] == STOPPED):
        raise UserError(said if spark.remote(address) is None else f"{said}\n  seen on {host}")


def told(given: DumpReading, of: int) -> str:
    """What is to be read, for `read_share`."""
    about = {
        "files": list(map(str, given.files)),
        "sizes": [file.stat().st_size for file in given.files],
        "parts": str(given.parts),
        "undated": given.undated,
        "tuning": astuple(given.tuning),
        "of": of,
        "code": _code(),
    }
    return json.dumps(about)


@contextmanager
def _watched(parts: Path, advance: Callable[[int], None]) -> Iterator[None]:
    """Meanwhile, tell how far all tasks together have come, in bytes of files."""
    ended = Event()

    def watch() -> None:
        reached, last = 0, False
        while not last:
            last = ended.wait(EVERY)
            now = sum(map(_noted, parts.glob(".share-*")))
            advance(max(now - reached, 0))
            reached = max(now, reached)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _noted(note: Path) -> int:
    with suppress(OSError, ValueError):
        return int(note.read_bytes())
    return 0


def _task(work: str, places: Sequence[int]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What Spark runs: each row of a batch has the number of a place in `places`.

    It is sent as code, for a function of this module would be looked for on the node, where there
    may be none. So it uses nothing from here.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import socket

        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    from factdrift.builders.wikidata.tasks import read_share
                except ImportError as error:
                    said = f"a node lacks factdrift, or a part of it ({error})\n  {install}"
                else:
                    said = read_share(work, places[number])
                yield pa.RecordBatch.from_pydict({"host": [socket.gethostname()], "said": [said]})

    install, places = _INSTALL, list(places)
    return task


# --- On a node ----------------------------------------------------------------------------------


def read_share(work: str, place: int) -> str:
    """Read what no part covers yet of one share; what the user can mend, or nothing, is returned.

    `work`: see `told`. A task that raises is started again, which is for what may be different
    then; what the user has to mend is returned, and stops the other tasks, too.
    """
    about = json.loads(work)
    given = DumpReading(
        tuple(map(Path, about["files"])),
        Path(about["parts"]),
        tuple(about["undated"]),
        Tuning(*about["tuning"]),
        Share(place, about["of"]),
    )
    try:
        if about["code"] != _code():
            raise UserError("a node has another factdrift than this machine", hint=_INSTALL)
        with disk_errors(given.parts), _alone(given) as note:
            todo = left(given, covered_blocks(given.parts))
            for n in todo.files:
                _require_same(given.files[n], about["sizes"][n])
            read(given, todo, note)
    except UserError as error:
        with suppress(OSError):
            (given.parts / GOING).unlink(missing_ok=True)
        return str(error)
    return ""


def _require_same(file: Path, size: int) -> None:
    """`UserError` unless a node has this file, too."""
    hint = "every node has to see the dump under the same path"
    try:
        found = file.stat().st_size
    except OSError as error:
        text = f"a node cannot read it: {error.strerror}"
        raise UserError(text, where=file, hint=hint) from error
    if found != size:
        text = f"a node has another file here, of {found:,} bytes and not {size:,}"
        raise UserError(text, where=file, hint=hint)


@contextmanager
def _alone(given: DumpReading) -> Iterator[Callable[[int], None]]:
    """Wait until no other task is at this share; yields what notes how far this one has come.

    Spark may start a task anew that it lost sight of. `UserError`: the run is over.
    """
    if not given.parts.is_dir():
        hint = "--out names a folder that every node has under the same path, and may write to"
        raise UserError("a node does not see this folder", where=given.parts, hint=hint)
    handle = os.open(given.parts / f".share-{given.share.place:06}", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        note = _Note(handle, given.parts / GOING)
        reader = hold_shared(given.parts / READING)
        try:
            yield note.advance
            note.write()
        finally:
            os.close(reader)
    finally:
        os.close(handle)


class _Note:
    """Writes down how many bytes of its files a task has read. `UserError`: the run is over."""

    def __init__(self, handle: int, going: Path) -> None:
        self._handle, self._going = handle, going
        self._done = 0
        self.write()

    def advance(self, n: int) -> None:
        self._done += n
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        if not self._going.is_file():
            raise UserError(STOPPED)
        os.pwrite(self._handle, b"%020d" % self._done, 0)
        self._due = time.monotonic() + EVERY


@cache
def _code() -> str:
    """A digest of the code that reads."""
    return reach(__name__).digest
