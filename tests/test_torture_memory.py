"""What a killed run left in shared memory, among what other programs hold there."""

from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import pytest

from torture.runs import _left, _shared_memory

NOBODY = 2**31 - 1
"""A group without processes."""


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no shared memory in the file system")
def test_what_others_hold_is_theirs() -> None:
    before = _shared_memory()
    lock = get_context("spawn").Lock()
    held, left = SharedMemory(create=True, size=10), SharedMemory(create=True, size=10)
    left.close()
    leaks = list(_left(NOBODY, before))
    assert f"leaked shared_memory: {left.name}" in leaks
    assert f"leaked shared_memory: {held.name}" not in leaks
    names = set(_shared_memory()) - set(before)
    assert any(name.startswith("sem.") for name in names)
    with lock:
        pass
    for one in (held, left):
        SharedMemory(one.name).unlink()
    held.close()
