"""Speed: `make bench`. Ratios to a baseline of the same run, not tests."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "build/bench"
"""What a bench makes and keeps for the next time."""
DATA = Path(os.environ.get("FACTDRIFT_DATA", ROOT.parent / "shared" / "data"))
"""Real data; the samples stand in where there is none."""
