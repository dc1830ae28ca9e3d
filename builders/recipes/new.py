"""`factdrift new`: skeletons of extensions, each a package or a folder of its author."""

import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.extensions import ExtensionPoint
from factdrift.builders.core.files import atomic_folder, disk_errors, resource
from factdrift.builders.facts.relations import is_relation_name
from factdrift.builders.facts.template_files import SCHEMA, write_schema
from factdrift.builders.recipes.datasets import DATASETS

SKELETONS = resource("builders/recipes/skeletons")
"""Has a folder for each kind; `my-KIND`, `my_KIND`, `MyKind` and `My kind` in it are replaced."""

NEXT_STEPS = {
    "dataset": "pip install -e {folder}, then factdrift release {name}, and pytest {folder}",
    "filter": "pip install -e {folder}, then filter: {name} in a recipe, and pytest {folder}",
    "backend": "pip install -e {folder}, then backend: {name} in a recipe, and pytest {folder}",
    "platform": "pip install -e {folder}, then --platform {name}, and pytest {folder}",
    "task": "edit layout.yaml and task.html.j2, then factdrift layouts {folder}",
    "relation": "edit {file}, then factdrift templates --templates {folder}, "
    "and factdrift release RECIPE --templates {folder} with {name} in its relations",
}
"""The kinds of skeletons, each with the next step of its author."""
_PACKAGE_KINDS = ("dataset", "filter", "backend", "platform")


def write_skeleton(kind: str, name: str, out: Path) -> Path:
    """Write the skeleton of an extension called `name`, such as `two-hop`, to `out/NAME`.

    That of a relation, which is called as its property, is a file: `out/P3300.yaml`.
    Returns the folder or file that was written. `UserError`: there is no such kind, the name cannot
    be the name of a package or is taken, or the folder or file is there already.
    """
    if kind not in NEXT_STEPS:
        raise UserError(f"no kind {kind!r}", hint=f"there are {', '.join(NEXT_STEPS)}")
    if kind == "relation":
        return _write_relation(name, out)
    if name_problem := _name_problem(kind, name):
        raise UserError(
            f"not a name for a {kind}: {name_problem}",
            where=name,
            hint="small letters, digits and hyphens that name nothing else yet: two-hop",
        )
    folder = out / name
    if folder.exists():
        raise UserError("is there already", where=folder, hint="name another folder: --out")
    name_words = name.split("-")
    replacements = {
        f"my-{kind}": name,
        f"my_{kind}": "_".join(name_words),
        f"My{kind.capitalize()}": "".join(map(str.capitalize, name_words)),
        f"My {kind}": " ".join(name_words).capitalize(),
    }
    skeleton_folder = SKELETONS / kind
    with disk_errors(folder), atomic_folder(folder) as staging_folder:
        for path in sorted(skeleton_folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                relative_path = _replaced(
                    path.relative_to(skeleton_folder).as_posix(), replacements
                )
                target_path = staging_folder / relative_path
                target_path.parent.mkdir(parents=True, exist_ok=True)
                target_path.write_text(_replaced(path.read_text("utf-8"), replacements), "utf-8")
    return folder


def _write_relation(name: str, folder: Path) -> Path:
    """Write a relation template, and beside it the schema for editors where there is none."""
    if not is_relation_name(name):
        hint_text = "the property in Wikidata, or that and a word of yours: P3300, P3300-opera"
        raise UserError("not a name for a relation", where=name, hint=hint_text)
    template_path = folder / f"{name}.yaml"
    if template_path.exists():
        raise UserError("is there already", where=template_path, hint="name another folder: --out")
    skeleton_text = (SKELETONS / "relation" / "P0.yaml").read_text("utf-8")
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        template_path.write_text(
            skeleton_text.replace("relation: P0\n", f"relation: {name}\n"), "utf-8"
        )
        if not (folder / SCHEMA).exists():
            write_schema(folder)
    return template_path


def next_step(kind: str, written: Path) -> str:
    """Return what the author does next with a skeleton: a folder, or the file of a relation."""
    step_text = NEXT_STEPS[kind].format(
        folder=shlex.quote(str(written.parent if kind == "relation" else written)),
        file=written.name,
        name=written.stem if kind == "relation" else written.name,
    )
    return f"{written}: {step_text}"


def _name_problem(kind: str, name: str) -> str | None:
    """Return why a name cannot be used, or None if it can."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):  # `two-hop`; not `Two`, `two_hop`
        return "it has other characters, or does not begin with a letter"
    if kind not in _PACKAGE_KINDS:
        return None
    module_name = name.replace("-", "_")
    if keyword.iskeyword(module_name) or keyword.issoftkeyword(module_name):
        return "it is a word of Python"
    points = _extension_points()
    if kind in points and name in points[kind].names():
        return f"there is a {kind} of that name"
    # A package that shadows another module breaks whatever imports that one.
    if module_name in sys.stdlib_module_names or module_name in packages_distributions():
        return f"Python imports another module as {module_name!r}"
    try:
        distribution(name)
    except PackageNotFoundError:
        return None
    return "a package of that name is installed"


def _extension_points() -> Mapping[str, ExtensionPoint[Any]]:
    """Return the extension point of each kind of package."""
    from factdrift.builders.generate.backends import MODEL_POINT
    from factdrift.filters import FILTER_POINT

    # Recipes may not import annotation.platforms (layering), so a platform's name is only checked
    # when the platform is loaded.
    return {"dataset": DATASETS, "filter": FILTER_POINT, "backend": MODEL_POINT}


def _replaced(text: str, replacements: dict[str, str]) -> str:
    for placeholder, actual in replacements.items():
        text = text.replace(placeholder, actual)
    return text
