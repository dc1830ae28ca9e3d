"""The project's folder, and the files that a user names: paths, globs and folders."""

from collections.abc import Callable, Sequence
from glob import glob
from pathlib import Path

from builders.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: templates, samples, recipes and cards lie in it."""


def find_files(
    given: str | Path | Sequence[str | Path],
    taken: Callable[[str], bool],
    what: str,
    hint: str,
) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    Of a folder, the files whose name is `taken`. `UserError` where one names nothing; `what` is
    what there should be (a dump), `hint` how its files are named.
    """
    found: dict[Path, None] = {}
    for one in [given] if isinstance(given, str | Path) else given:
        path = Path(one)
        if path.is_dir():
            files = [p for p in path.iterdir() if p.is_file() and taken(p.name)]
            if not files:
                raise UserError(f"no {what} in this folder", where=path, hint=hint)
        elif path.is_file():
            files = [path]
        else:
            files = [Path(p) for p in glob(str(one)) if Path(p).is_file()]  # noqa: PTH207
            if not files:
                raise UserError("no such file", where=str(one))
        found.update(dict.fromkeys(sorted(files)))
    if not found:
        raise UserError(f"no {what} is given")
    return list(found)
