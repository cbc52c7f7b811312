"""Imported files can be downloaded unchanged, and their outlines in every format."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mapshelf.formats.ndjson_records import format_size, size_of
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import Verdict
from mapshelf.readers import Limits, read
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader, read_file
from tests.harness import Service, Shelf, serve, shelf_with
from tests.readers.samples import freemind
from tests.writers.test_round_trips import CARRIED, expected, told

pytestmark = pytest.mark.process

EXAMPLES: Final = Path(__file__).parents[1] / "examples"


def imported(shelf: Shelf, *paths: Path) -> ImportReport:
    report = ImportReport()
    with SandboxedReader(workers=1) as reader:
        lost = LostFiles(set(), {}, SeenFolders(), shelf.store.unpublished_sources)
        found = scan(paths, ImportReport())
        import_maps(shelf.store, found, reader, Attribution(), report, lost=lost)
    return report


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shelf, Service]]:
    """A service with our sample maps."""
    with shelf_with(tmp_path_factory.mktemp("out")) as shelf:
        imported(shelf, EXAMPLES)
        shelf.publish()
        with serve(shelf) as service:
            yield shelf, service


def test_every_sample_is_downloaded_unchanged(examples: tuple[Shelf, Service]) -> None:
    _, service = examples
    there = {path.name: path.read_bytes() for path in EXAMPLES.rglob("*") if path.is_file()}
    maps = service.maps(limit=50).json()
    assert len(maps) > 20
    for found in maps:
        response = service.get(f"/maps/{found['ID']}/file")
        name = response.headers["Content-Disposition"]
        assert response.content in there.values(), name
        assert found["Size"] == format_size(size_of(len(response.content)))


@pytest.mark.parametrize("suffix", CARRIED)
def test_every_sample_is_read_again_from_every_format(
    examples: tuple[Shelf, Service], suffix: str
) -> None:
    _, service = examples
    for found in service.maps(limit=50).json():
        original = service.get(f"/maps/{found['ID']}/file")
        name = original.headers["Content-Disposition"].rpartition("''")[2]
        outline = read(original.content, Limits(), name=name)
        export = service.get(f"/maps/{found['ID']}/outline.{suffix}").content
        again = read(export, Limits())
        texts = [(depth, topic.text) for depth, topic in again.topics()]
        wanted = expected(suffix, outline)
        centre = [(depth, topic.text) for depth, topic in wanted.topics()]
        floating = [tree for sheet in outline.sheets for tree in sheet.trees()[1:]]
        beside = [topic.text for tree in floating for _, topic in tree.walk()]
        if beside:  # most formats have no place for floating topics
            found_texts = sorted(text for _, text in texts)
            assert found_texts == sorted([text for _, text in centre] + beside), found["Title"]
        else:
            assert texts == centre, found["Title"]
        assert len(list(told(again))) == len(list(told(wanted))) + len(beside)


def test_an_edited_file_replaces_the_stored_one(shelf: Shelf, tmp_path: Path) -> None:
    path = tmp_path / "maps" / "plan.mm"
    path.parent.mkdir()
    path.write_bytes(freemind('<node TEXT="Plan"/>'))
    assert imported(shelf, path).counts == {Verdict.ADDED: 1}
    (found,) = shelf.store.maps(0, 10)
    # Lists show no difference, but the file differs.
    path.write_bytes(freemind('<node TEXT="Plan" />'))
    assert imported(shelf, path).counts == {Verdict.CHANGED: 1}
    assert imported(shelf, path).counts == {Verdict.UNCHANGED: 1}
    kept = shelf.store.content(found.file_id)
    assert kept is not None
    assert (kept.name, zlib.decompress(kept.content)) == ("plan.mm", path.read_bytes())


@pytest.mark.parametrize(
    "sample", ["Science/The solar system.mm", "Food and Drink/Cocinar arroz.xmind"]
)
def test_a_file_is_compressed_by_its_reader(sample: str) -> None:
    path = EXAMPLES / sample
    found = read_file(str(path), Limits())
    assert isinstance(found, ReadFile)
    assert zlib.decompress(found.content) == path.read_bytes()
    assert len(found.content) < path.stat().st_size + 64
