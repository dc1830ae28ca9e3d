"""The skeleton of somebody's dataset, in a package of her own."""

import re
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, disk_errors, resource
from factdrift.builders.recipes.datasets import BUILDERS

SKELETON = resource("builders/recipes/skeleton")


def write_skeleton(name: str, out: Path) -> Path:
    """Write the package of a dataset, `two-hop` say, to `out/NAME`; its folder.

    `UserError`: a name that no package can have, one of ours, a folder that is there already.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name in BUILDERS:
        hint = "small letters, digits and hyphens: two-hop; and no name of factdrift's own"
        raise UserError("not a name for a dataset", where=name, hint=hint)
    folder = out / name
    if folder.exists():
        raise UserError("is there already", where=folder, hint="name another folder: --out")
    words = name.split("-")
    names = {
        "my-dataset": name,
        "my_dataset": "_".join(words),
        "MyDataset": "".join(map(str.capitalize, words)),
        "My dataset": " ".join(words).capitalize(),
    }
    with disk_errors(folder), atomic_folder(folder) as staging:
        for path in sorted(SKELETON.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                place = staging / _renamed(path.relative_to(SKELETON).as_posix(), names)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(_renamed(path.read_text("utf-8"), names), encoding="utf-8")
    return folder


def _renamed(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text
