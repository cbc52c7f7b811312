"""Links between imported files lead to the same files as before."""

import zipfile
from pathlib import Path

import pytest

from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.reparsing import reparse_outlines
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import MapDraft, MapLink
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store import Store
from mapshelf.store.tables import OUTDATED
from tests.harness import outline_of

pytestmark = pytest.mark.process

LINKING = (
    '<map version="1.0.1"><node ID="ID_1" TEXT="r">'
    '<node ID="ID_2" TEXT="t" LINK="%s"/></node></map>'
)


def imported(store: Store, reader: SandboxedReader, *paths: Path) -> dict[str, int]:
    candidates = list(scan(paths, ImportReport(), reader.members))
    present = {one.path for one in candidates}
    lost = LostFiles(present, {}, SeenFolders(), store.unpublished_sources)
    import_maps(store, candidates, reader, Attribution(), ImportReport(), lost=lost)
    return {found.title: found.file_id for found in store.maps(0, 99)}


def test_links_are_kept_with_the_maps_of_files(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    folder.mkdir()
    file = folder / "a.mm"
    file.write_text(LINKING % "../B%20b.MM#ID_7")
    (file_id,) = imported(store, reader, folder).values()
    link = MapLink("ID_2", "../B%20b.MM#ID_7", "b b.mm")
    assert store.links_from(file_id) == [link]
    file.write_text(LINKING % "https://example.org/b.mm")
    imported(store, reader, folder)
    assert store.links_from(file_id) == []


def test_links_between_members_of_an_archive_are_kept(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "maps.zip", "w") as archive:
        archive.writestr("one/a.mm", LINKING % "../two/b.mm")
        archive.writestr("two/b.mm", LINKING % "https://example.org")
    imported(store, reader, tmp_path / "maps.zip")
    path = f"{tmp_path}/maps.zip/two/b.mm".encode()
    assert [file.path for file in store.files_at([path])] == [path]
    assert list(store.files_named(["b.mm"], 9)) == ["b.mm"]


def test_maps_that_an_older_version_read_get_their_links(
    store: Store, reader: SandboxedReader, tmp_path: Path
) -> None:
    (tmp_path / "a.mm").write_text(LINKING % "b.mm")
    (file_id,) = imported(store, reader, tmp_path / "a.mm").values()
    (found,) = store.maps(0, 9)
    store.put_maps([MapDraft(id=found.id, outline=outline_of("old"))])
    store.write_rows({OUTDATED: [(file_id,)]}, store.catalogue_counters())
    assert store.links_from(file_id) == []
    assert reparse_outlines(store, reader, [], lambda: False) == 1
    assert store.links_from(file_id) == [MapLink("ID_2", "b.mm", "b.mm")]
