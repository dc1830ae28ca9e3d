"""The program with a fault: `FACTDRIFT_FAULT="kill rename 3" python -m torture.faulty WORDS`.

Faults, of this process alone, at files below the folder `FACTDRIFT_FAULT_IN`:

- `kill KIND N`: SIGKILL just before the Nth rename, fsync, open for writing, mkdir or remove;
- `full KIND N`: from the Nth such call on, a full disk;
- `readonly`: all of them find a file system that is read-only;
- `size BYTES`: no file grows further than that (also those of libraries, and of other processes).
"""

import errno
import os
import resource
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

_EVENTS = {"os.rename": "rename", "os.mkdir": "mkdir", "os.remove": "remove", "os.rmdir": "remove"}
_fsync = os.fsync


class Fault:
    """Counts calls and does what the fault says."""

    def __init__(self, text: str, folder: str) -> None:
        self.what, self.kind, number = [*text.split(" "), "0", "0"][:3]
        self.number, self.folder, self.process = int(number), folder, os.getpid()
        self.seen: Counter[str] = Counter()

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook: Python calls it before it opens, renames, makes or removes a file."""
        if _EVENTS is None:  # the program has ended, and Python has cleared its modules
            return
        if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self.call("open", arguments[0])
        elif event in _EVENTS:
            self.call(_EVENTS[event], arguments[0])

    def fsync(self, handle: int) -> None:
        """In place of Python's own, which has no audit event."""
        self.call("fsync", Path(f"/proc/self/fd/{handle}").readlink())
        _fsync(handle)

    def call(self, kind: str, path: object) -> None:
        """A call that changes a file is about to be made."""
        if os.getpid() != self.process or not str(path).startswith(self.folder):
            return
        self.seen[kind] += 1
        if self.what == "kill" and kind == self.kind and self.seen[kind] == self.number:
            os.kill(self.process, signal.SIGKILL)
        if self.what == "readonly":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        # who removes something needs no room
        full = self.what == "full" and self.seen[self.kind] >= self.number
        if full and kind in ("open", "mkdir"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


if __name__ == "__main__":
    fault = Fault(os.environ.pop("FACTDRIFT_FAULT"), os.environ.pop("FACTDRIFT_FAULT_IN"))
    if fault.what == "size":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(fault.kind),) * 2)
    else:
        sys.addaudithook(fault.heard)
        os.fsync = fault.fsync  # type: ignore[assignment]
    from factdrift.__main__ import main

    main()
