"""A temporary lack of resources is not damage: a sound snapshot stays unchanged."""

import gc
import os
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.errors import SnapshotUnavailable
from mapshelf.model import MapDraft
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.checksums import verify
from mapshelf.snapshot.format.directory import WORK
from mapshelf.snapshot.read import Snapshot
from tests.harness import Shelf


@contextmanager
def descriptors_left(count: int) -> Iterator[None]:
    """Leave this process only ``count`` free descriptors in this context."""
    gc.collect(1)  # unused objects may hold some
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
    try:
        while True:
            try:
                held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        for _ in range(count):
            os.close(held.pop())
        yield
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def folder_of(shelf: Shelf) -> Path:
    directory = SnapshotDirectory(shelf.settings.snapshots)
    return directory.folder(directory.current())


def needed(shelf: Shelf) -> int:
    """Return how many descriptors a snapshot holds."""
    before = len(os.listdir("/dev/fd"))
    snapshot = Snapshot(folder_of(shelf))
    held = len(os.listdir("/dev/fd")) - before
    del snapshot
    return held


@pytest.fixture
def full(shelf: Shelf) -> Shelf:
    """A catalogue of a few maps."""
    gc.collect()  # objects of earlier tests may hold descriptors
    shelf.put(*(MapDraft(title=f"Map {number}") for number in range(20)))
    shelf.publish()
    return shelf


@pytest.mark.slow
def test_too_few_descriptors_do_not_count_as_damage(full: Shelf) -> None:
    folder, most = folder_of(full), needed(full) + 10
    opened = 0
    for count in range(most + 1):
        with descriptors_left(count), suppress(SnapshotUnavailable):
            Snapshot(folder)
            opened += 1
    assert 0 < opened < most


@pytest.mark.slow
def test_unreadable_checksums_do_not_count_as_wrong(full: Shelf) -> None:
    with descriptors_left(0), pytest.raises(SnapshotUnavailable):
        verify(folder_of(full))
    with descriptors_left(1):
        verify(folder_of(full))


@pytest.mark.slow
def test_a_worker_keeps_its_snapshot_until_it_can_open_the_next(
    full: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    directory = SnapshotDirectory(full.settings.snapshots)
    with closing(CurrentSnapshot(directory)) as catalogue:
        catalogue.refresh()
        old = catalogue.get().snapshot
        full.put(MapDraft(title="One more"))
        full.publish()
        for left in (0, 5):
            with descriptors_left(left):
                for _ in range(3):
                    catalogue.refresh()
                assert catalogue.get().snapshot is old
        assert not directory.is_refused(directory.current())
        assert caplog.text.count("Too many open files") == 1

        catalogue.refresh()
        assert len(catalogue.get().snapshot) == 21


@pytest.mark.slow
def test_a_builder_keeps_the_snapshot_and_continues_later(full: Shelf) -> None:
    before, directory = folder_of(full), SnapshotDirectory(full.settings.snapshots)
    for left in range(0, 12, 3):
        with descriptors_left(left), pytest.raises((SnapshotUnavailable, OSError)):
            Builder(full.store, directory)
        assert folder_of(full) == before
    builder = Builder(full.store, directory)
    try:
        assert builder.revision == full.store.revision()
        full.put(MapDraft(title="One more"))
        assert builder.advance()
    finally:
        builder.close()
    assert int(folder_of(full).name) == int(before.name) + 1


@pytest.mark.slow
def test_a_builder_that_cannot_start_leaves_no_file_open(full: Shelf) -> None:
    """It starts again every second, and garbage collection may be much later."""
    directory = SnapshotDirectory(full.settings.snapshots)
    failed = 0
    gc.collect()  # what other tests left must not be collected between the two looks
    for left in range(20, 70):
        before = open_below(directory.path / WORK)  # opened by the builder of the fixture
        with descriptors_left(left):
            gc.disable()
            try:
                Builder(full.store, directory).close()
            except (SnapshotUnavailable, OSError):
                failed += 1
        assert len(open_below(directory.path / WORK)) == len(before)
        gc.enable()
    assert 0 < failed < 50


def open_below(folder: Path) -> list[str]:
    """Return the files below a folder that this process has open."""
    names = (Path("/dev/fd") / name for name in os.listdir("/dev/fd"))
    files = (os.readlink(name) for name in names if name.is_symlink())
    return [file for file in files if Path(file).is_relative_to(folder)]
