"""The program: `python -m factdrift`, and the console script `factdrift`."""

import sys


def main() -> None:
    """Run the command line of `builders.cli`. Ctrl-C prints one line, even while it is imported.

    Working processes import this module again, so all imports are inside the function.
    """
    try:
        from factdrift.builders.core.collector import collect_seldom

        collect_seldom()
        from factdrift.builders.core.progress import escape_reports

        escape_reports()
        from factdrift.builders.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        sys.exit(130)  # the shell's status for a program that SIGINT ended


if __name__ == "__main__":
    main()
