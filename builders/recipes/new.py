"""`factdrift new`: skeletons of extensions, each in a package or folder of its author's own."""

import keyword
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.extensions import ExtensionPoint
from factdrift.builders.core.files import atomic_folder, disk_errors, resource
from factdrift.builders.recipes.datasets import DATASETS

SKELETONS = resource("builders/recipes/skeletons")
"""A folder for each kind; in it `my-KIND`, `my_KIND`, `MyKind` and `My kind` stand for the name."""

NEXT_STEPS = {
    "dataset": "pip install -e {folder}, then factdrift release {name}, and pytest {folder}",
    "filter": "pip install -e {folder}, then filter: {name} in a recipe, and pytest {folder}",
    "backend": "pip install -e {folder}, then backend: {name} in a recipe, and pytest {folder}",
    "platform": "pip install -e {folder}, then --platform {name}, and pytest {folder}",
    "task": "edit layout.yaml and task.html.j2, then factdrift layouts {folder}",
}
"""The kinds of skeleton, and what its author does next."""
_PACKAGE_KINDS = ("dataset", "filter", "backend", "platform")


def write_skeleton(kind: str, name: str, out: Path) -> Path:
    """Write the skeleton of an extension called `name`, such as `two-hop`, to `out/NAME`.

    Returns the folder that was written. `UserError`: there is no such kind, the name cannot be the
    name of a package or is taken, or the folder is there already.
    """
    if kind not in NEXT_STEPS:
        raise UserError(f"no kind {kind!r}", hint=f"there are {', '.join(NEXT_STEPS)}")
    if problem := _name_problem(kind, name):
        raise UserError(
            f"not a name for a {kind}: {problem}",
            where=name,
            hint="small letters, digits and hyphens that name nothing else yet: two-hop",
        )
    folder = out / name
    if folder.exists():
        raise UserError("is there already", where=folder, hint="name another folder: --out")
    words = name.split("-")
    replacements = {
        f"my-{kind}": name,
        f"my_{kind}": "_".join(words),
        f"My{kind.capitalize()}": "".join(map(str.capitalize, words)),
        f"My {kind}": " ".join(words).capitalize(),
    }
    skeleton = SKELETONS / kind
    with disk_errors(folder), atomic_folder(folder) as staging:
        for path in sorted(skeleton.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                relative = _replaced(path.relative_to(skeleton).as_posix(), replacements)
                target = staging / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_replaced(path.read_text("utf-8"), replacements), "utf-8")
    return folder


def next_step(kind: str, folder: Path) -> str:
    """What the author does with a skeleton that was just written."""
    return f"{folder}: {NEXT_STEPS[kind].format(folder=folder, name=folder.name)}"


def _name_problem(kind: str, name: str) -> str | None:
    """Why `name` cannot be used; None where it can."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):  # `two-hop`; not `Two`, `two_hop`
        return "it has other characters, or does not begin with a letter"
    if kind not in _PACKAGE_KINDS:
        return None
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        return "it is a word of Python"
    points = _extension_points()
    if kind in points and name in points[kind].names():
        return f"there is a {kind} of that name"
    # A package that shadows another module breaks whatever imports that one.
    if module in sys.stdlib_module_names or module in packages_distributions():
        return f"Python imports another module as {module!r}"
    try:
        distribution(name)
    except PackageNotFoundError:
        return None
    return "a package of that name is installed"


def _extension_points() -> Mapping[str, ExtensionPoint[Any]]:
    """The extension point of each kind of package."""
    from factdrift.builders.generate.backends import MODEL_POINT
    from factdrift.filters import FILTER_POINT

    # Platforms are above recipes in the order of imports: their names are compared when loaded.
    return {"dataset": DATASETS, "filter": FILTER_POINT, "backend": MODEL_POINT}


def _replaced(text: str, replacements: dict[str, str]) -> str:
    for placeholder, actual in replacements.items():
        text = text.replace(placeholder, actual)
    return text
