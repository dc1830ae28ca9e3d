"""The house on one screen: what each package holds, and which packages it imports.

`make house` prints it. A row is a package, top down; a package may import only those below it.
"""

import ast
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
ROOTS = ("annotation", "builders", "filters", "reasoning", "scoring")


def package_of(module: str) -> str:
    """`builders.core` for `builders.core.files`; `filters` for all of `filters`."""
    parts = module.removeprefix("factdrift.").split(".")
    return ".".join(parts[:2]) if parts[0] == "builders" else parts[0]


def package_imports() -> dict[str, Counter[str]]:
    """How many modules of each package import something of each other package."""
    graph = grimp.build_graph("factdrift", cache_dir=None)
    graph.remove_import(importer="factdrift", imported="factdrift.api")  # it imports on demand
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for module in sorted(graph.modules):
        here = package_of(module)
        counts[here].update(
            {
                package_of(imported_module)
                for imported_module in graph.find_modules_directly_imported_by(module)
            }
            - {here}
        )
    return dict(counts)


def top_down(graph: dict[str, Counter[str]]) -> list[str]:
    """The packages, those that import nothing last; a circle is a `graphlib.CycleError`."""
    return [*TopologicalSorter(graph).static_order()][::-1]


def import_circles() -> list[str]:
    """Modules that import each other in a circle, also within a package: `a <- b <- a`.

    The layers of import-linter hold between packages alone. Each circle is named once, and its
    modules part before the next is looked for.
    """
    graph = grimp.build_graph("factdrift", cache_dir=None)
    graph.remove_import(importer="factdrift", imported="factdrift.api")  # it imports on demand
    imported = {
        module: graph.find_modules_directly_imported_by(module) - {module}
        for module in graph.modules
    }
    circles: list[str] = []
    while True:
        try:
            TopologicalSorter(imported).prepare()
            return sorted(circles)
        except CycleError as error:
            circle: list[str] = error.args[1]
            circles.append(" <- ".join(circle))
            for first, second in pairwise(circle):
                imported[second].discard(first)


def product_modules() -> list[Path]:
    """Every module of the product."""
    return [path for root in ROOTS for path in sorted((ROOT / root).rglob("*.py"))]


def package_sizes() -> dict[str, tuple[int, int]]:
    """Modules and lines of each package."""
    sizes: dict[str, tuple[int, int]] = {}
    for path in product_modules():
        parts = path.relative_to(ROOT).with_suffix("").parts
        here = package_of(".".join(part for part in parts if part != "__init__"))
        module_count, lines = sizes.get(here, (0, 0))
        sizes[here] = module_count + 1, lines + len(path.read_text("utf-8").splitlines())
    return sizes


def repeated_classes() -> dict[str, int]:
    """Class names that more than one module has."""
    names: Counter[str] = Counter()
    for path in product_modules():
        tree = ast.parse(path.read_text("utf-8"))
        names.update(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return {name: class_count for name, class_count in sorted(names.items()) if class_count > 1}


def main() -> None:
    """Print the table."""
    graph, measured = package_imports(), package_sizes()
    print(f"{'package':<24}{'modules':>8}{'lines':>8}  imports (modules that do)")
    for package in top_down(graph):
        module_count, lines = measured.get(package, (0, 0))
        below = sorted(
            graph[package].items(),
            key=lambda name_and_count: (-name_and_count[1], name_and_count[0]),
        )
        text = ", ".join(
            f"{name.removeprefix('builders.')} {import_count}" for name, import_count in below
        )
        print(f"{package:<24}{module_count:>8}{lines:>8}  {text}")
    module_count, lines = (sum(column) for column in zip(*measured.values(), strict=True))
    print(f"{'all':<24}{module_count:>8}{lines:>8}")
    twice = repeated_classes()
    print(f"class names that stand twice: {', '.join(twice) or 'none'}")


if __name__ == "__main__":
    main()
