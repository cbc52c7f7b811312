"""Maps that an older version parsed are parsed again, from their stored files."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.importer import reparsing
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.reparsing import reparse_outlines
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import Map, MapDraft, ReparsedMap
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store
from mapshelf.store.tables import OUTDATED
from tests.harness import outline_of
from tests.readers.illustrated import illustrated, illustrated_readers, picture, within

pytestmark = pytest.mark.process

RED, BLUE = picture("red"), picture("blue")


@pytest.fixture(scope="module")
def reader() -> Iterator[SandboxedReader]:
    with SandboxedReader(workers=1, readers=illustrated_readers) as reader:
        yield reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "beside.png").write_bytes(RED)
    (folder / "a.mm").write_bytes(illustrated("beside beside.png", within(BLUE)))
    return folder


def imported(store: Store, reader: SandboxedReader, folder: Path) -> list[Map]:
    found = list(scan([folder], ImportReport()))
    lost = LostFiles(set(), {}, SeenFolders(), store.unpublished_sources)
    import_maps(store, found, reader, Attribution(), ImportReport(), lost=lost)
    return store.maps(0, 99)


def age(store: Store, *maps: Map) -> None:
    """Change these maps as if an older version had parsed their files."""
    drafts = [MapDraft(id=one.id, outline=outline_of("old"), images={}) for one in maps]
    store.put_maps(drafts)
    rows = [(one.file_id,) for one in maps]
    store.write_rows({OUTDATED: rows}, store.catalogue_counters())


def on() -> bool:
    return False


def colours(store: Store, found: Map) -> list[str]:
    named = {"red": RED, "blue": BLUE}
    return [
        name
        for name, data in named.items()
        if store.image(found.file_id, sha256(data).hexdigest()) == data
    ]


def test_outline_and_pictures_are_renewed_and_nothing_else(
    store: Store, reader: SandboxedReader, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (found,) = imported(store, reader, folder)
    first = store.outline(found.file_id)
    draft = MapDraft(
        id=found.id, title="Mine", description="Said since", date_added=5, views=9, category="Art"
    )
    store.put_maps([draft])
    (said,) = store.maps(0, 9)
    age(store, found)
    with caplog.at_level(logging.INFO, "mapshelf"):
        assert reparse_outlines(store, reader, [folder], on) == 1
    assert [record.message for record in caplog.records] == [
        "reading maps again, in the background, because an older version read them",
        "read 1 map again",
    ]
    assert store.outline(found.file_id) == first
    assert colours(store, found) == ["red", "blue"]
    assert store.maps(0, 9) == [said]
    caplog.clear()
    revision = store.revision()
    assert reparse_outlines(store, reader, [folder], on) == 0
    assert caplog.records == []
    assert store.revision() == revision


def test_pictures_beside_a_file_are_read_where_it_still_is(
    store: Store, reader: SandboxedReader, folder: Path, tmp_path: Path
) -> None:
    (found,) = imported(store, reader, folder)
    for folders in ([], [tmp_path / "data"]):
        age(store, found)
        reparse_outlines(store, reader, folders, on)
        assert colours(store, found) == ["blue"], "the folder is not one that is imported"
    age(store, found)
    reparse_outlines(store, reader, [tmp_path / "data", tmp_path], on)
    assert colours(store, found) == ["red", "blue"]
    (folder / "a.mm").unlink()
    age(store, found)
    reparse_outlines(store, reader, [folder], on)
    assert colours(store, found) == ["blue"], "the file is gone, but a copy of it is stored"


def test_unreadable_maps_stay_unchanged_and_are_not_tried_again(
    store: Store, reader: SandboxedReader, folder: Path
) -> None:
    (folder / "b.mm").write_bytes(illustrated(within(RED)))
    first, second = imported(store, reader, folder)
    (record,) = store.put_maps([MapDraft(title="no file", outline=outline_of("said"))])
    third = next(one for one in store.maps(0, 9) if one.id == record.id)
    row = store.content(first.file_id)
    assert row is not None
    sources = list(store.sources_below(str(folder).encode(), b"", 9))
    broken = replace(sources[0], digest=b"broken".ljust(32))
    store.put_maps([MapDraft(id=first.id, source=broken, content=b"not zlib")])
    age(store, first, second, third)
    assert reparse_outlines(store, reader, [], on) == 1
    texts = [decode_outline(store.outline(one.file_id) or b"") for one in (first, second, third)]
    assert [one.roots[0].text for one in texts] == ["old", "root", "old"]
    assert store.outdated(0, 9) == []


def test_few_large_files_are_in_memory_at_a_time(
    store: Store, reader: SandboxedReader, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        (folder / f"{number}.mm").write_bytes(illustrated(within(picture(size=(1, number + 1)))))
    maps = imported(store, reader, folder)
    age(store, *maps)
    files = [store.content(one.file_id) for one in maps]
    monkeypatch.setattr(reparsing, "BATCH_BYTES", 2 * max(len(one.content) for one in files if one))
    written: list[int] = []
    replace_outlines = store.replace_outlines

    def counted(reparsed: Sequence[ReparsedMap]) -> int:
        written.append(len(reparsed))
        return replace_outlines(reparsed)

    monkeypatch.setattr(store, "replace_outlines", counted)
    assert reparse_outlines(store, reader, [folder], on) == len(maps)
    assert max(written) == 2
    assert sum(written) == len(maps)


def test_reparsing_continues_where_it_was_stopped(
    store: Store, reader: SandboxedReader, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        (folder / f"{number}.mm").write_bytes(illustrated(within(picture(size=(1, number + 1)))))
    maps = imported(store, reader, folder)
    age(store, *maps)
    monkeypatch.setattr(reparsing, "PAGE_SIZE", 4)
    for begin in (6, 0):
        monkeypatch.setattr("random.randrange", lambda _, begin=begin: begin)
        assert reparse_outlines(store, reader, [folder], lambda: True) == 4
    left = [one.file_id for one in store.outdated(0, 99)]
    assert left == [maps[4].file_id, maps[5].file_id], "the maps after the sixth must be done first"
    assert reparse_outlines(store, reader, [folder], on) == 2
    assert store.outdated(0, 99) == []
