"""The house on one screen: what each package holds, and which packages it imports.

`make house` prints it. A row is a package, top down; a package may import only those below it.
"""

import ast
from collections import Counter, defaultdict
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
ROOTS = ("annotation", "builders", "filters", "reasoning", "scoring")


def package_of(module: str) -> str:
    """`builders.core` for `builders.core.files`; `filters` for all of `filters`."""
    parts = module.removeprefix("factdrift.").split(".")
    return ".".join(parts[:2]) if parts[0] == "builders" else parts[0]


def imports() -> dict[str, Counter[str]]:
    """How many modules of each package import something of each other package."""
    graph = grimp.build_graph("factdrift", cache_dir=None)
    graph.remove_import(importer="factdrift", imported="factdrift.api")  # it imports on demand
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for module in sorted(graph.modules):
        here = package_of(module)
        found[here].update(
            {package_of(m) for m in graph.find_modules_directly_imported_by(module)} - {here}
        )
    return dict(found)


def ranks(graph: dict[str, Counter[str]]) -> dict[str, int]:
    """The height of each package above those that import nothing; a circle is a `ValueError`."""
    heights: dict[str, int] = {}
    while len(heights) < len(graph):
        ready = [p for p in graph if p not in heights and graph[p].keys() <= heights.keys()]
        if not ready:
            raise ValueError(f"circular imports among {sorted(graph.keys() - heights.keys())}")
        heights |= {p: 1 + max((heights[q] for q in graph[p]), default=-1) for p in ready}
    return heights


def sizes() -> dict[str, tuple[int, int]]:
    """Modules and lines of each package."""
    found: dict[str, tuple[int, int]] = {}
    for path in (p for root in ROOTS for p in sorted((ROOT / root).rglob("*.py"))):
        parts = path.relative_to(ROOT).with_suffix("").parts
        here = package_of(".".join(p for p in parts if p != "__init__"))
        modules, lines = found.get(here, (0, 0))
        found[here] = modules + 1, lines + len(path.read_text("utf-8").splitlines())
    return found


def repeated_classes() -> dict[str, int]:
    """Class names that more than one module has."""
    names: Counter[str] = Counter()
    for path in (p for root in ROOTS for p in sorted((ROOT / root).rglob("*.py"))):
        tree = ast.parse(path.read_text("utf-8"))
        names.update(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return {n: k for n, k in sorted(names.items()) if k > 1}


def main() -> None:
    """Print the table."""
    graph, measured = imports(), sizes()
    heights = ranks(graph)
    print(f"{'package':<24}{'modules':>8}{'lines':>8}  imports (modules that do)")
    for package in sorted(graph, key=lambda p: (-heights[p], p)):
        modules, lines = measured.get(package, (0, 0))
        below = sorted(graph[package].items(), key=lambda x: (-x[1], x[0]))
        text = ", ".join(f"{name.removeprefix('builders.')} {n}" for name, n in below)
        print(f"{package:<24}{modules:>8}{lines:>8}  {text}")
    modules, lines = (sum(column) for column in zip(*measured.values(), strict=True))
    print(f"{'all':<24}{modules:>8}{lines:>8}")
    twice = repeated_classes()
    print(f"class names that stand twice: {', '.join(twice) or 'none'}")


if __name__ == "__main__":
    main()
