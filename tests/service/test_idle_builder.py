"""The builder of a small catalogue gives its memory back while nothing changes."""

import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import MapDraft
from mapshelf.service import build_loop, idle_builder
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.build_loop import build_until_idle
from mapshelf.service.idle_builder import wait_until_outdated
from mapshelf.service.upkeep import Upkeep
from mapshelf.settings import Settings
from mapshelf.snapshot.build import Builder
from tests.cli.process import PATIENCE, Mapshelf, serving, wait_for
from tests.service.processes import children, name_of
from tests.snapshot.world import World, world_in

MOMENT = 0.3
"""Seconds after which a wait that should have ended at once has not."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as made:
        made.put(MapDraft(id="1", title="1"))
        made.published()
        yield made


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_builder, "LISTEN_INTERVAL", 0.01)
    monkeypatch.setattr(build_loop, "LISTEN_INTERVAL", 0.01)
    monkeypatch.setattr(build_loop, "IDLE_AFTER", 0.02)


@contextmanager
def waiting(world: World) -> Iterator["Future[None]"]:
    """Wait in a thread until there is something to build."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        upkeep = Upkeep(world.store, Settings(world.directory.path, "", ""))
        yield pool.submit(wait_until_outdated, world.store, world.directory, upkeep, stop)
        stop.set()


def ends(waited: "Future[None]") -> bool:
    return bool(wait([waited], MOMENT).done)


@contextmanager
def building(world: World) -> Iterator["Future[None]"]:
    """Build in a thread until there is nothing more."""
    world.builder.close()
    stop, backoff = threading.Event(), LoggedBackoff("building")
    with ThreadPoolExecutor(1) as pool:
        upkeep = Upkeep(world.store, Settings(world.directory.path, "", ""))
        yield pool.submit(build_until_idle, world.store, world.directory, upkeep, stop, backoff)
        stop.set()
    world.builder = Builder(world.store, world.directory)


def test_a_change_ends_the_wait(world: World) -> None:
    with waiting(world) as waited:
        assert not ends(waited)
        world.put(MapDraft(id="2", title="2"))
        waited.result(PATIENCE)


def test_a_change_before_the_wait_ends_it(world: World) -> None:
    world.put(MapDraft(id="2", title="2"))
    with waiting(world) as waited:
        waited.result(PATIENCE)


def test_a_refused_snapshot_ends_the_wait(world: World) -> None:
    with waiting(world) as waited:
        assert not ends(waited)
        world.directory.refuse(world.directory.current())
        waited.result(PATIENCE)


def test_a_lost_snapshot_ends_the_wait(world: World) -> None:
    with waiting(world) as waited:
        assert not ends(waited)
        shutil.rmtree(world.directory.path)
        waited.result(PATIENCE)


def test_a_snapshot_whose_folder_alone_is_lost_gets_a_successor_with_another_name(
    world: World,
) -> None:
    """Workers that have the lost one open know it by its name, and would not open the next."""
    world.put(MapDraft(id="2", title="2"))
    world.published()
    lost = world.directory.current()
    with waiting(world) as waited:
        assert not ends(waited)
        shutil.rmtree(world.folder)
        waited.result(PATIENCE)
    world.restart()
    world.published()
    assert world.directory.current() > lost


def test_a_damaged_manifest_ends_the_wait(world: World) -> None:
    (world.folder / "manifest.json").write_bytes(b"{}")
    with waiting(world) as waited:
        waited.result(PATIENCE)


def test_the_snapshot_of_another_catalogue_ends_the_wait(world: World, tmp_path: Path) -> None:
    """It may have the same revision."""
    (tmp_path / "other").mkdir()
    with world_in(tmp_path / "other") as other:
        other.put(MapDraft(id="2", title="2"))
        other.published()
        assert other.store.revision() == world.store.revision()
        shutil.rmtree(world.directory.path)
        shutil.copytree(other.directory.path, world.directory.path)
    with waiting(world) as waited:
        waited.result(PATIENCE)


def test_large_catalogues_do_not_wait(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_builder, "SMALL", 0)
    with waiting(world) as waited:
        waited.result(PATIENCE)


def test_what_an_interrupted_builder_left_is_deleted(world: World) -> None:
    world.builder.close()
    unfinished = world.directory.new_folder(10**11)
    with waiting(world) as waited:
        assert not ends(waited)
    assert not unfinished.exists()
    world.builder = Builder(world.store, world.directory)
    world.put(MapDraft(id="2", title="2"))
    assert len(world.published()) == 2


def test_building_ends_when_nothing_changes(world: World) -> None:
    world.put(MapDraft(id="2", title="2"))
    with building(world) as built:
        built.result(PATIENCE)
    assert world.snapshot().revision == world.store.revision()


def test_building_goes_on_for_a_large_catalogue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_loop, "SMALL", 0)
    with building(world) as built:
        assert not ends(built)
        monkeypatch.setattr(build_loop, "SMALL", 1)
        built.result(PATIENCE)


def test_building_goes_on_without_the_store(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new builder would look less often whether the store has returned."""

    def fail() -> int:
        raise StoreUnavailable("the server does not answer")

    with building(world) as built:
        monkeypatch.setattr(world.store, "revision", fail)
        assert not ends(built)
        monkeypatch.delattr(world.store, "revision")
        built.result(PATIENCE)


@pytest.mark.process
def test_the_service_builds_only_when_something_changes(samples: Mapshelf, tmp_path: Path) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    with serving(mapshelf) as service:
        service.wait_until_ready()
    new = tmp_path / "new.md"
    new.write_text("# Zymurgy\n\n- hops\n")
    with serving(mapshelf) as service:
        service.wait_until_ready()
        wait_for(lambda: builder_of(service.process.pid))
        assert "numpy" not in loaded_by(builder_of(service.process.pid))
        before = service.total()
        mapshelf.run("import", new)
        wait_for(lambda: service.total() == before + 1)
        assert "numpy" in loaded_by(builder_of(service.process.pid))


def builder_of(service: int) -> int:
    """Return the builder, 0 if it has not been started yet."""
    return next((child for child in children(service) if name_of(child) == "builder"), 0)


def loaded_by(process: int) -> str:
    """Return the files that a process has mapped into memory."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("this system does not list the mapped files of processes")
    return Path(f"/proc/{process}/maps").read_text()
