"""`python -m tests.rehearsal BATCH RESULTS`: as `factdrift rehearse`, which took its place."""

import sys

from factdrift.builders.cli import app

if __name__ == "__main__":
    app(["rehearse", *sys.argv[1:]])
