"""Files whose reading was ended from outside are read again later, without a change."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from mapshelf.errors import ReadingEnded
from mapshelf.importer import retries
from mapshelf.importer.folder_sync import FolderSync
from mapshelf.importer.retries import DELAYS, MOST_AT_ONCE, Retries
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
