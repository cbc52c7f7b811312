"""The code stays easy to read: small files and classes, no import cycles, short call paths."""

import asyncio

import pytest

from request_path import counted
from structure import big_classes, file_cycle, import_graph, long_files, modules, package_cycles

pytestmark = pytest.mark.slow

MODULES = modules()
OURS = [path for name, path in MODULES.items() if name.partition(".")[0] == "mapshelf"]


def test_no_file_is_too_long() -> None:
    assert len(OURS) > 400
    assert not long_files(OURS)


def test_no_class_has_too_many_public_methods() -> None:
    assert not big_classes(OURS)


def test_there_are_no_import_cycles() -> None:
    graph = import_graph(MODULES)
    assert "mapshelf.store.contract" in graph["mapshelf.api.auth"]
    assert not file_cycle(graph)
    assert not package_cycles(graph)


def test_an_import_cycle_is_found() -> None:
    graph = {"a.b.one": {"a.c.two"}, "a.b.three": set(), "a.c.two": {"a.b.three"}}
    assert not file_cycle(graph)
    assert package_cycles(graph) == [["a.b", "a.c", "a.b"]]
    graph["a.b.three"] = {"a.b.one"}
    assert set(file_cycle(graph)) == set(graph)


@pytest.mark.parametrize(("kind", "most"), [("uncached", 8), ("filtered", 8), ("cached", 4)])
def test_a_list_passes_few_files(passed: dict[str, list[str]], kind: str, most: int) -> None:
    assert "api/rsgi.py" in passed[kind]
    assert len(passed[kind]) <= most, passed[kind]


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return asyncio.run(counted(tmp_path_factory.mktemp("path")))
