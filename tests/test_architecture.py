"""The files, names and layers in ARCHITECTURE.md exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DOCUMENT = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")

NAMED = sorted(
    {
        path
        for path in re.findall(r"(?:[\w.-]+/)+(?:[\w.-]+\.(?:py|js|css|md|sql|toml))?", DOCUMENT)
        if "://" not in path
    }
)
"""Paths that include a folder."""

IN_TABLES = [
    folder + name
    for folder, rows in re.findall(r"^\| Module in `([\w/]+/)` .*\n((?:\|.*\n)+)", DOCUMENT, re.M)
    for cell in re.findall(r"^\|([^|]*)\|", rows, re.MULTILINE)
    for name in re.findall(r"`([\w.-]+)`", cell)
]
"""Files that a table names without their folder, which is in its header."""


def test_there_is_a_table_of_bare_file_names() -> None:
    assert len(IN_TABLES) > 5


@pytest.mark.parametrize("path", [*NAMED, *IN_TABLES])
def test_a_file_that_is_named_exists(path: str) -> None:
    assert (REPOSITORY / "src/mapshelf" / path).exists() or (REPOSITORY / path).exists()


def test_every_package_is_a_layer() -> None:
    layers = DOCUMENT.partition("## Layers")[2].partition("\n## ")[0]
    for package in (REPOSITORY / "src/mapshelf").iterdir():
        if (package / "__init__.py").exists():
            assert f"`{package.name}`" in layers, package.name


CONSTANTS = [
    (name, path)
    for names, path in re.findall(r"((?:`\w+`(?:,| and) )*`\w+`) in `([\w/]+\.py)`", DOCUMENT)
    for name in re.findall(r"\w+", names.replace(" and ", " "))
]
"""Names, and the files that are said to define them."""


def test_names_joined_by_and_are_all_seen() -> None:
    assert ("STALLED_AFTER", "api/streaming.py") in CONSTANTS
    assert ("SLOW_AFTER", "api/streaming.py") in CONSTANTS


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements and their classes define, without imports."""
    for statement in body:
        match statement:
            case ast.ClassDef():
                yield statement.name
                yield from _defined(statement.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield statement.name
            case ast.Assign():
                yield from (one.id for one in statement.targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name() as target):
                yield target.id


@pytest.mark.parametrize(("name", "path"), CONSTANTS)
def test_a_name_is_defined_where_the_document_says(name: str, path: str) -> None:
    source = (REPOSITORY / "src/mapshelf" / path).read_text("utf-8")
    assert name in _defined(ast.parse(source).body)
