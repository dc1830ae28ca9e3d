"""Free memory back to the system, so that no stage stands on the leftovers of the one before."""

import ctypes

import pyarrow as pa


def give_back() -> None:
    """Let Arrow, and the C library where it can, return what they hold for later."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
