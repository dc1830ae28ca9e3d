"""The program: `python -m factdrift`, and the console script `factdrift`."""

import gc
import sys

# Rows and expressions are millions of objects without cycles. To look for some after each 700 of
# them, as Python does, took an eighth of a small release.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """Run the command line of `builders.cli`. Ctrl-C prints one line, even while it is imported.

    Working processes import this module again, so all imports are inside the function.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        from factdrift.builders.core.progress import escape_reports

        escape_reports()
        from factdrift.builders.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        sys.exit(130)  # the shell's status for a program that SIGINT ended


if __name__ == "__main__":
    main()
