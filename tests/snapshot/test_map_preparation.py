"""Helper processes change the duration of a full build, not its result."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.formats.outline_size import LARGEST
from mapshelf.model import Change, MapDraft, Outline, Topic, sheets_of
from mapshelf.query import MapQuery
from mapshelf.sandbox.pool import ConfinedPool
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import (
    Builder,
    builder,
    change_applier,
    map_preparation,
    working_snapshot,
)
from mapshelf.snapshot.format.manifest import MANIFEST
from tests.snapshot.world import BASE, World, prove_lists, prove_searches
from tests.store.drafts import outline

pytestmark = pytest.mark.process

WORDS = ("tea", "Teapot", "Ärger", "日本語", "zoo")


@pytest.fixture
def filled(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A catalogue that counts as large."""
    monkeypatch.setattr(builder, "MANY_MAPS", 1)
    monkeypatch.setattr(change_applier, "BATCH", 40)
    monkeypatch.setattr(working_snapshot, "AT_ONCE", 3)
    world.put(
        *(
            MapDraft(
                id=f"m{number}",
                title=f"{WORDS[number % 5]} {number}",
                owner=("ann", "bob")[number % 2],
                outline=outline("root", *WORDS[: number % 5], f"only in {number}"),
            )
            for number in range(100)
        ),
    )
    return world


def built(world: World, folder: Path, helpers: int) -> dict[str, bytes]:
    """Return the files of a snapshot built from scratch, except those that contain times."""
    directory = SnapshotDirectory(folder)
    with closing(Builder(world.store, directory, helpers)) as made:
        made.advance()
    found = directory.folder(directory.current())
    return {
        path.name: path.read_bytes()
        for path in found.iterdir()
        if path.is_file() and path.name != MANIFEST
    }


def submitted_here(
    _: ConfinedPool, function: Callable[..., object], arguments: tuple[object, ...], __: float
) -> "Future[object]":
    """Run a task of a helper in this process."""
    future: Future[object] = Future()
    future.set_result(function(*arguments))
    return future


def test_files_are_equal_with_and_without_helpers(filled: World, tmp_path: Path) -> None:
    assert built(filled, tmp_path / "with", 2) == built(filled, tmp_path / "without", 0)


def test_a_snapshot_is_built_even_if_no_helper_can_be_started(
    filled: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance, because ``/dev/shm`` is full. The builder ended with an error."""
    expected = built(filled, tmp_path / "with", 2)

    def refused(*_: object) -> None:
        raise StoreUnavailable("no child process can be started")

    monkeypatch.setattr(ConfinedPool, "submit", refused)
    assert built(filled, tmp_path / "without", 2) == expected


def test_helpers_may_return_early_from_a_group_of_large_maps(
    filled: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_snapshot, "AT_ONCE", 10)
    with monkeypatch.context() as little:
        little.setattr(map_preparation, "MOST_RETURNED", 1)
        # Here, because helpers are new processes, which this does not reach.
        little.setattr(ConfinedPool, "submit", submitted_here)
        early = built(filled, tmp_path / "early", 2)
    assert early == built(filled, tmp_path / "at-once", 2)


@pytest.mark.parametrize("helpers", [0, 2])
@pytest.mark.parametrize("read", [1, 2, 3])
def test_maps_may_change_while_they_are_prepared(
    filled: World, monkeypatch: pytest.MonkeyPatch, helpers: int, read: int
) -> None:
    """The first and the last map, one that is removed, and a new one, after each batch."""
    original, calls = filled.store.changes, count(1)

    def changes(after: int, limit: int) -> list[Change]:
        if next(calls) == read:
            filled.put(MapDraft(id="m0", title="gnu"), MapDraft(id="m99", title="gnu"))
            filled.put(MapDraft(id="new", title="gnu"))
            filled.store.delete_maps(["m50"])
        return original(after, limit)

    monkeypatch.setattr(filled.store, "changes", changes)
    filled.builder.close()
    filled.builder = Builder(filled.store, filled.directory, helpers)
    filled.builder.advance()
    snapshot = filled.published()
    prove_lists(snapshot, filled.listed())
    prove_searches(snapshot, filled, ["tea", "gnu", "zoo"])


@pytest.mark.parametrize("helpers", [0, 2])
def test_a_store_that_fails_while_maps_are_prepared(
    filled: World, monkeypatch: pytest.MonkeyPatch, helpers: int
) -> None:
    original, calls = filled.store.changes, count(1)

    def changes(after: int, limit: int) -> list[Change]:
        if next(calls) == 2:
            raise StoreUnavailable("away for a moment")
        return original(after, limit)

    monkeypatch.setattr(filled.store, "changes", changes)
    filled.builder.close()
    filled.builder = Builder(filled.store, filled.directory, helpers)
    with pytest.raises(StoreUnavailable):
        filled.builder.advance()
    snapshot = filled.published()
    prove_lists(snapshot, filled.listed())
    prove_searches(snapshot, filled, ["tea", "root", "zoo"])


def test_lists_and_searches_are_right(filled: World) -> None:
    filled.builder.close()
    filled.builder = Builder(filled.store, filled.directory, helpers=2)
    snapshot = filled.published()
    prove_lists(snapshot, filled.listed())
    prove_searches(snapshot, filled, ["tea", "root", "zoo"])
    filled.put(MapDraft(id="m7", title="changed later"))
    prove_lists(filled.published(), filled.listed())


def test_a_damaged_outline_costs_only_its_topics(
    filled: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled.put(MapDraft(id="damaged", title="damaged map", outline=b"no outline"))
    assert built(filled, tmp_path / "with", 2) == built(filled, tmp_path / "without", 0)
    message = "the topics of map damaged are left out of the search"
    assert sum(message in one for one in caplog.messages) == 2


def test_a_map_that_is_too_large_costs_only_its_topics_and_is_logged_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """The builder has no memory limit, and earlier versions stored outlines of any size."""
    root = Topic("quokka", children=[Topic("x" * (1 << 20))] * (LARGEST >> 20))
    stored = encode_outline(Outline(sheets_of((root,))), 2 * LARGEST)
    huge = MapDraft(id="huge", title="numbat", outline=stored)
    for votes in range(2):
        world.put(replace(huge, thumbs_up=votes), MapDraft(id="other", title="ocelot"))
        world.builder.advance()
        for text, expected in (("numbat", 1), ("ocelot", 1), ("quokka", 0)):
            hits = world.snapshot().search(MapQuery(text=text), BASE, correct=False)
            assert len(hits.records) == expected
    message = "the topics of map huge are left out of the search: its texts together are larger"
    assert sum(message in one for one in caplog.messages) == 1
    world.put(replace(huge, outline=outline("quokka")))
    world.builder.advance()
    world.put(huge)
    world.builder.advance()
    assert sum(message in one for one in caplog.messages) == 2


def test_the_builder_takes_over_when_helpers_fail(
    filled: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(map_preparation, "HELPER_MEMORY", 1 << 12)
    limited = built(filled, tmp_path / "limited", helpers=2)
    assert "a helper of the builder failed" in caplog.text
    assert limited == built(filled, tmp_path / "without", 0)
