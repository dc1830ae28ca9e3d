"""Read the shares of a dump as tasks of a Spark.

A task reads one share with the reader of any other run, and writes its parts into the folder that
a run on one machine writes them into, which every node sees. So a task that failed goes on where
it was when Spark starts it again, and so does a stopped run, with any number of tasks or without
Spark. Through Spark itself goes one row a task: what went wrong, if anything did.

Nodes have factdrift installed: its readers are compiled packages, which cannot be sent along.
"""

import fcntl
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core import spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, hold_shared
from factdrift.builders.core.progress import progress
from factdrift.builders.core.reach import reach
from factdrift.builders.wikidata.mine import (
    ALIVE_FILE,
    READING_LOCK,
    RESUME_HINT,
    DumpReader,
    covered_blocks,
    remaining_work,
)
from factdrift.builders.wikidata.reader import DumpReading, RemainingWork, Share, read_dump

STOPPED = "stopped"
_INSTALL = "install the same factdrift there; PYSPARK_PYTHON names the Python that tasks run in"


class ShareTask(NamedTuple):
    """The reading that one task does, and the sizes of the dump's files."""

    dump_reading: DumpReading
    sizes: tuple[int, ...]


def spark_reader(engine: str, shares: int | None = None, threads: int | None = None) -> DumpReader:
    """Return a `reading` (see `mine`) by tasks of Spark, each of which reads one share.

    `engine`: `spark`, or where a Spark is (`builders.core.engine.engine`); `shares`: by default
    one a file, and of a single file it has to be said; `threads`: cores of this machine for a
    Spark in this process.

    `UserError`: a wrong address, no shares; from reading, what `mine` says, and: Spark does not
    start or gives up, a node lacks factdrift, has another one, or does not see the files.
    """
    address = None if engine == "spark" else spark.checked(engine)

    def read_by_tasks(dump_reading: DumpReading, remaining: RemainingWork) -> None:
        share_count = shares or len(dump_reading.files)
        if shares is None and share_count == 1:
            error_text = "one file: the number of tasks that share its blocks has to be said"
            hint_text = "--shards 8; each of them decompresses all of it, so that a few are best"
            raise UserError(error_text, where=dump_reading.files[0], hint=hint_text)
        with tempfile.TemporaryDirectory(prefix="spark_", dir=dump_reading.parts.parent) as scratch:
            opened = spark.session(address, Path(scratch), None, threads)
            with opened as session, spark.failures(address, RESUME_HINT):
                _run(
                    session,
                    share_tasks(dump_reading, remaining, share_count),
                    spark.remote(address) is not None,
                )

    return read_by_tasks


def share_tasks(
    dump_reading: DumpReading, remaining: RemainingWork, share_count: int
) -> list[ShareTask]:
    """Return the tasks for the shares of a dump that are not read yet."""
    files = tuple(file.absolute() for file in dump_reading.files)
    dump_reading = dump_reading._replace(files=files, parts=dump_reading.parts.absolute())
    share_readings = [
        dump_reading._replace(share=Share(place, share_count)) for place in range(share_count)
    ]
    sizes = tuple(file.stat().st_size for file in files)
    return [
        ShareTask(share_reading, sizes)
        for share_reading in share_readings
        if remaining_work(share_reading, remaining.covered).files
    ]


def _run(session: Any, tasks_left: list[ShareTask], is_remote: bool) -> None:
    """Have Spark run them; `UserError` with what went wrong first."""
    parts_folder = tasks_left[0].dump_reading.parts
    for old_note in parts_folder.glob(".share-*"):
        old_note.unlink()
    (parts_folder / ALIVE_FILE).touch()
    task_rows = session.range(0, len(tasks_left), 1, len(tasks_left))
    run_tasks = node_function(reach(__name__).digest, list(map(pickle.dumps, tasks_left)))
    task_rows = task_rows.mapInArrow(run_tasks, "host string, error string")
    total_bytes = sum(
        sum(task.sizes[file_number] for file_number in remaining_work(task.dump_reading, {}).files)
        for task in tasks_left
    )
    # In a thread of its own: Ctrl-C would break into what PySpark exchanges with Spark.
    with (
        progress(total_bytes, "B", "reading the dump") as progress_bar,
        ThreadPoolExecutor(1) as executor,
    ):
        task_answer, bytes_read = executor.submit(task_rows.collect), 0
        try:
            while not task_answer.done():
                with suppress(NotYet):
                    task_answer.exception(timeout=2)
                bytes_now = sum(file.stat().st_size for file in parts_folder.glob(".share-*"))
                progress_bar.advance(max(bytes_now - bytes_read, 0))
                bytes_read = max(bytes_now, bytes_read)
        finally:
            (parts_folder / ALIVE_FILE).unlink(
                missing_ok=True
            )  # the tasks that are still at it stop
    errors = [(row["error"], row["host"]) for row in task_answer.result() if row["error"]]
    for error, host in sorted(errors, key=lambda error_and_host: error_and_host[0] == STOPPED):
        raise UserError(f"{error}\n  seen on {host}" if is_remote else error)


def node_function(
    code_digest: str, pickled_tasks: list[bytes]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: each row of a batch has the number of a task.

    The function is sent as code and uses nothing of this module. Otherwise Spark would import this
    module on the node, where factdrift may not be installed.
    """
    install = _INSTALL

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import socket

        import pyarrow as pa

        for batch in batches:
            for task_number in batch.column(0).to_pylist():
                try:
                    from factdrift.builders.wikidata.tasks import read_share
                except ImportError as error:
                    error_text = f"a node lacks factdrift, or a part of it ({error})\n  {install}"
                else:
                    error_text = read_share(code_digest, pickled_tasks[task_number])
                yield pa.RecordBatch.from_pydict(
                    {"host": [socket.gethostname()], "error": [error_text]}
                )

    return run


def read_share(code_digest: str, pickled_task: bytes) -> str:
    """Read the blocks of a share that no part covers yet.

    Returns the text of an error that the user has to mend, which stops the other tasks as well, or
    an empty text. Other errors are raised: Spark starts such a task again, and they may not come
    back.

    `code_digest` is the digest of the driver's code, and `pickled_task` is a `ShareTask`. The
    length of a task's `.share-` file is the number of bytes that it has read.
    """
    if code_digest != reach(__name__).digest:
        return f"a node has another factdrift than this machine\n  {_INSTALL}"
    share_task: ShareTask = pickle.loads(pickled_task)  # noqa: S301 - of this run's own driver
    dump_reading, parts_folder = share_task.dump_reading, share_task.dump_reading.parts
    bytes_read = 0

    def advance(byte_count: int) -> None:
        nonlocal bytes_read
        if not (parts_folder / ALIVE_FILE).is_file():
            raise UserError(STOPPED)
        bytes_read += byte_count
        os.ftruncate(progress_note.fileno(), bytes_read)

    try:
        if not parts_folder.is_dir():
            hint_text = (
                "--out names a folder that every node has under the same path, and may write to"
            )
            raise UserError("a node does not see this folder", where=parts_folder, hint=hint_text)
        note_path = parts_folder / f".share-{dump_reading.share.place:06}"
        note_handle = os.open(note_path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        progress_note = os.fdopen(note_handle, "ab")
        with (
            disk_errors(parts_folder),
            progress_note,
            closing(os.fdopen(hold_shared(parts_folder / READING_LOCK))),
        ):
            fcntl.flock(
                progress_note, fcntl.LOCK_EX
            )  # Spark may start a task anew that it lost sight of
            remaining = remaining_work(dump_reading, covered_blocks(parts_folder))
            for file_number in remaining.files:
                hint_text = "every node has to see the dump under the same path"
                try:
                    file_size = dump_reading.files[file_number].stat().st_size
                except OSError as error:
                    text = f"a node cannot read it: {error.strerror}"
                    raise UserError(
                        text, where=dump_reading.files[file_number], hint=hint_text
                    ) from error
                if file_size != share_task.sizes[file_number]:
                    text = f"a node has another file here, of {file_size:,} bytes and not "
                    text += f"{share_task.sizes[file_number]:,}"
                    raise UserError(text, where=dump_reading.files[file_number], hint=hint_text)
            read_dump(dump_reading, remaining, advance)
    except UserError as error:
        with suppress(OSError):
            (parts_folder / ALIVE_FILE).unlink(missing_ok=True)
        return str(error)
    return ""
