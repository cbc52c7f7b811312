"""Check the structure of the code: the sizes of files and classes, and circular imports.

    python scripts/structure.py

Every import counts, even inside functions and for type checking only. Also, the modules and
packages directly inside a package must not import each other in a circle, where a package includes
everything in it. ``request_path.py`` counts the files that a request runs through.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]

FOLDERS: Final = {"src": "src", "benchmarks": "", "tests": "", "scripts": "scripts"}
"""Where our modules are, and from which folder they are imported: scripts by their bare names."""

LONGEST_FILE: Final = 400  # lines
MOST_METHODS: Final = 20  # public ones of a class

Graph = Mapping[str, set[str]]
"""The modules of ours that each module imports, as dotted names; a package is its ``__init__``."""


def modules() -> dict[str, Path]:
    """Return all our modules by their dotted names."""
    found = {}
    for folder, base in FOLDERS.items():
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            parts = path.relative_to(REPOSITORY / base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def long_files(paths: Iterable[Path]) -> list[str]:
    """Return the files that are too long."""
    counts = ((path, len(path.read_text("utf-8").splitlines())) for path in paths)
    return [f"{_name(path)}: {count} lines" for path, count in counts if count > LONGEST_FILE]


def big_classes(paths: Iterable[Path]) -> list[str]:
    """Return the classes that define too many public methods."""
    found = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                count = sum(map(_is_public_method, node.body))
                if count > MOST_METHODS:
                    found.append(f"{_name(path)}: {node.name} has {count} public methods")
    return found


def import_graph(ours: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return which of our modules each one imports."""
    return {
        name: {target for one in _imported(path) for target in _targets(one, ours)} - {name}
        for name, path in ours.items()
    }


def file_cycle(graph: Graph) -> list[str]:
    """Return modules that import each other in a circle; empty if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(map(str, error.args[1]))
    return []


def package_cycles(graph: Graph) -> list[list[str]]:
    """Return a circle among the direct members of each package that has one."""
    packages = {name[:end] for name in graph for end, sign in enumerate(name) if sign == "."}
    siblings = (_siblings(package, graph) for package in ("", *sorted(packages)))
    return [cycle for cycle in map(file_cycle, siblings) if cycle]


def _siblings(package: str, graph: Graph) -> dict[str, set[str]]:
    """Return which of its siblings each direct member of a package imports."""
    collapsed: dict[str, set[str]] = {}
    for name, targets in graph.items():
        inside = _child(package, name)
        if inside:
            others = {_child(package, target) for target in targets} - {inside, ""}
            collapsed.setdefault(inside, set()).update(others)
    return collapsed


def _child(package: str, name: str) -> str:
    """Return the direct member of a package that contains this module, empty if none does."""
    start = f"{package}." if package else ""
    if not name.startswith(start):
        return ""
    return start + name[len(start) :].partition(".")[0]


def _imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each module that a file imports, and the name that it imports from it, if any."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, ""
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import"
            for name in node.names:
                yield node.module or "", name.name


def _targets(imported: tuple[str, str], ours: Mapping[str, Path]) -> Iterator[str]:
    module, name = imported
    if f"{module}.{name}" in ours:
        yield f"{module}.{name}"
    elif module in ours:
        yield module


def _is_public_method(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return not node.name.startswith("_")


def _name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def main() -> int:
    """Print the findings."""
    ours = modules()
    paths = [path for name, path in ours.items() if name.partition(".")[0] == "mapshelf"]
    graph = import_graph(ours)
    circles = [cycle for cycle in (file_cycle(graph), *package_cycles(graph)) if cycle]
    found = [*long_files(paths), *big_classes(paths), *(" -> ".join(one) for one in circles)]
    print(*found, f"{len(ours)} modules, {len(found)} findings", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
