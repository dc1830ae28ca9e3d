"""Free memory back to the system, so that no stage stands on the leftovers of the one before."""

import pyarrow as pa


def give_back() -> None:
    """Let Arrow return what it holds for later."""
    pa.default_memory_pool().release_unused()
