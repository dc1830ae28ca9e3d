"""Values of the commands' options, apart from the modules that need heavy libraries.

`scoring.commands` shows them in its help, and the modules that do the work take them.
"""

from typing import Literal

Baseline = Literal["bm25", "day", "newest", "guess", "embedding"]
"""How `factdrift search` ranks passages."""

MemoryName = Literal["last", "validity", "prose", "guess"]
"""The memories that `factdrift memory` runs."""

QUICK_ENDPOINT = "https://qlever.dev/api/wikidata"
"""The endpoint that `factdrift quick` asks: it answers whole relations, without an account."""

QUICK_RELATIONS = "P6,P35,P169,P286,P488,P54-club"
"""What `factdrift quick` asks about: heads, coaches, chairs and clubs; they change often, and
their statements are few enough for careful pages, too."""
