"""`python -m builders`: see `builders.cli`."""

from builders.cli import main

if __name__ == "__main__":
    main()
