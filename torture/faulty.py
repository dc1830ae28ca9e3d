"""The program with a fault: `FACTDRIFT_FAULT="kill rename 3" python -m torture.faulty WORDS`.

Faults, of this process alone, at files below the folder `FACTDRIFT_FAULT_IN`:

- `count FILE`: none; how often each kind of call was made is written to a file;
- `kill KIND N`: SIGKILL just before the Nth rename, fsync, open for writing, mkdir or remove;
- `full KIND N`: from the Nth such call on, a full disk;
- `readonly`: all of them find a file system that is read-only;
- `size BYTES`: no file grows further than that (also those of libraries, and of other processes).
"""

import errno
import json
import os
import resource
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

KINDS = ("rename", "fsync", "open", "mkdir", "remove")
_EVENTS = {"os.rename": "rename", "os.mkdir": "mkdir", "os.remove": "remove", "os.rmdir": "remove"}


class Fault:
    """Counts calls and does what the fault says."""

    def __init__(self, text: str, folder: str) -> None:
        self.what, *self.words = text.split(" ")
        self.folder = folder
        self.process = os.getpid()
        self.seen: Counter[str] = Counter()

    def heard(self, event: str, given: tuple[Any, ...]) -> None:
        """An audit hook: Python calls it before it opens, renames, makes or removes a file."""
        if event == "open":
            path, _, flags = given
            if flags & (os.O_WRONLY | os.O_RDWR):
                self.call("open", path)
        elif event in _EVENTS:
            self.call(_EVENTS[event], given[0])

    def call(self, kind: str, path: object) -> None:
        """A call that changes a file is about to be made."""
        if os.getpid() != self.process or not str(path).startswith(self.folder):
            return
        self.seen[kind] += 1
        if self.what == "readonly":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        if self.what in ("kill", "full"):
            wanted, number = self.words[0], int(self.words[1])
            if self.what == "kill" and kind == wanted and self.seen[kind] == number:
                os.kill(self.process, signal.SIGKILL)
            # who removes something needs no room
            if self.what == "full" and self.seen[wanted] >= number and kind in ("open", "mkdir"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def install(self) -> None:
        """Begin."""
        if self.what == "size":
            limit = int(self.words[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            return
        sys.addaudithook(self.heard)
        fsync = os.fsync

        def heard(handle: int) -> None:
            self.call("fsync", str(Path(f"/proc/self/fd/{handle}").readlink()))
            fsync(handle)

        os.fsync = heard  # type: ignore[assignment]

    def end(self) -> None:
        """Write down what was counted."""
        if self.what == "count":
            self.what = "done"
            Path(self.words[0]).write_text(json.dumps(self.seen), "utf-8")


if __name__ == "__main__":
    fault = Fault(os.environ.pop("FACTDRIFT_FAULT"), os.environ.pop("FACTDRIFT_FAULT_IN"))
    fault.install()
    from factdrift.__main__ import main

    try:
        main()
    finally:
        fault.end()
