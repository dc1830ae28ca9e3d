"""Values of the commands' options, apart from the modules that need heavy libraries.

`scoring.commands` shows them in its help, and the modules that do the work take them.
"""

from typing import Literal

Baseline = Literal["bm25", "day", "newest", "guess", "embedding"]
"""How `factdrift search` ranks passages."""

MemoryName = Literal["last", "validity", "prose", "guess"]
"""The memories that `factdrift memory` runs."""
