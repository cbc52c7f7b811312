"""Files whose reading was ended from outside are read again later, without a change."""

from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from time import monotonic

import pytest

from mapshelf.errors import ReadingEnded
from mapshelf.importer import retries
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.importer.retries import DELAYS, MOST_AT_ONCE, Retries
from mapshelf.model import MapDetails, Visibility
from mapshelf.readers.sandboxed_reader import FolderOf, RefusedFile, Result, SandboxedReader
from mapshelf.store import Store
from tests.importer.test_lost_files import old_map

pytestmark = pytest.mark.process


class Interrupted(SandboxedReader):
    """A reader whose processes are killed as often as ``kills`` says."""

    kills = 0
    reads = 0

    def read(self, paths: Iterable[str], folder_of: FolderOf, *rest: object) -> Iterator[Result]:  # type: ignore[override]
        for result in super().read(paths, folder_of):
            self.reads += 1
            killed = RefusedFile(result.path, "the process reading it was killed", ReadingEnded)
            yield killed if self.reads <= self.kills else result


def test_a_file_whose_reader_was_killed_is_read_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_map(tmp_path / "maps" / "plan.mm", "Plan")
    with Interrupted(workers=1) as reader:
        reader.kills = 2
        folder_sync = FolderSync(store, reader, [tmp_path / "maps"])
        folder_sync.sync()
        folder_sync.sync()
        assert reader.reads == 1, "it is not due yet"
        assert len(store.maps(0, 9)) == 0
        clock = DELAYS[0]
        monkeypatch.setattr(retries, "monotonic", lambda: monotonic() + clock)
        folder_sync.sync()
        assert reader.reads == 2
        folder_sync.sync()
        assert reader.reads == 2, "the second pause is longer"
        clock += DELAYS[1]
        folder_sync.sync()
        assert [one.title for one in store.maps(0, 9)] == ["Plan"]
        clock += DELAYS[-1]
        folder_sync.sync()
        assert reader.reads == 3


def test_a_copy_of_a_private_file_that_could_not_be_read_is_private(
    store: Store, tmp_path: Path
) -> None:
    """Its content is not known, so only its size tells that it may be one."""
    maps = tmp_path / "maps"
    old_map(maps / "plan.mm", "Plan")
    with Interrupted(workers=1) as reader:
        folder_sync = FolderSync(store, reader, [maps])
        folder_sync.sync()
        (plan,) = store.maps(0, 9)
        store.edit_map(plan.file_id, MapDetails(visibility=Visibility.PRIVATE))
        for name in ("plan", "copy"):
            old_map(maps / f"{name}.mm", "Plan with a secret")
        old_map(maps / "other.mm", "Another plan")
        reader.kills = reader.reads + 1
        folder_sync.sync()
        old_map(maps / "later.mm", "Plan with a secret")
        folder_sync.sync()
        found = {(one.title, one.visibility) for one in store.maps(0, 9)}
    assert found == {
        ("Plan", Visibility.PRIVATE),
        ("Plan with a secret", Visibility.PRIVATE),
        ("Another plan", Visibility.PUBLISHED),
    }


def test_a_moved_file_keeps_its_map_if_it_cannot_be_read_at_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    old_map(folders[0] / "plan.mm", "Plan")
    old_map(folders[1] / "other.mm", "Other")
    with Interrupted(workers=1) as reader:
        folder_sync = FolderSync(store, reader, folders)
        folder_sync.sync()
        before = {one.id for one in store.maps(0, 9)}
        (folders[0] / "plan.mm").rename(folders[1] / "plan.mm")
        reader.kills = reader.reads + 1
        folder_sync.sync()
        folder_sync.sync()
        clock = DELAYS[0]
        monkeypatch.setattr(retries, "monotonic", lambda: monotonic() + clock)
        folder_sync.sync()
        assert {one.id for one in store.maps(0, 9)} == before
        assert {path.name for path in tmp_path.rglob("*.mm")} == {"plan.mm", "other.mm"}
        (folders[1] / "plan.mm").unlink()
        folder_sync.sync()
        folder_sync.sync()
        shown = [one.title for one in store.maps(0, 9) if one.visibility is Visibility.PUBLISHED]
        assert shown == ["Other"], "a map whose file is gone is removed"


def test_maps_of_missing_files_do_not_wait_for_what_they_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor for long: a member may have files that the service may not read."""
    clock = 100.0
    monkeypatch.setattr(retries, "monotonic", lambda: clock)
    again = Retries()
    again.note(["known", "forbidden"], ["known", "forbidden"])
    assert again.waiting_since() == inf
    again.note(["new"], ["new"], ["new"])
    assert again.waiting_since() == 100.0
    again.note(["new"], ["new"], ["new"])
    assert again.waiting_since() == 100.0
    again.note(["new"], ["new"], ["new"])
    assert again.waiting_since() == inf, "it has been tried often enough"
    again.note(["late"], ["late"], ["late"])
    clock += retries.AWAITED_FOR
    assert again.waiting_since() == inf
    again.note(["newer"], ["newer"], ["newer"])
    assert again.waiting_since() == clock
    again.note(["newer"], [])
    assert again.waiting_since() == inf


def test_retries_are_ever_less_frequent_and_end_with_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 0.0
    monkeypatch.setattr(retries, "monotonic", lambda: clock)
    again, delays = Retries(), []
    for _ in range(len(DELAYS) + 2):
        again.note(["a", "b"], ["a"])
        began = clock
        while not again.due():
            clock += 60
        assert again.due() == {"a"}
        delays.append(clock - began)
    assert delays == [*DELAYS, DELAYS[-1], DELAYS[-1]]
    again.note(["a"], ["a"])
    again.forget_missing(["b"])
    clock += DELAYS[-1]
    assert again.due() == set()


def test_few_files_are_read_again_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(retries, "monotonic", lambda: clock)
    again, paths = Retries(), [str(number) for number in range(MOST_AT_ONCE + 3)]
    for path in paths:
        again.note([path], [path])
        clock += 1
    clock += DELAYS[0]
    assert again.due() == set(paths[:MOST_AT_ONCE])
    again.note(paths[:MOST_AT_ONCE], [])
    assert again.due() == set(paths[MOST_AT_ONCE:])
