"""The program: `python -m factdrift`, and the console script `factdrift`."""

import sys


def main() -> None:
    """Run the command line of `builders.cli`; Ctrl-C is one line, even while that is loaded.

    Working processes import this module anew, so it imports nothing before it is called.
    """
    try:
        from factdrift.builders.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
