"""A running service reparses the maps that an older version read, once, and logs that."""

from pathlib import Path

import pytest

from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store
from mapshelf.store.tables import OUTDATED
from tests.cli.process import Mapshelf, serving, wait_for
from tests.harness import outline_of
from tests.readers.samples import freemind
from tests.service.processes import children

pytestmark = pytest.mark.process


def test_maps_are_renewed_while_the_service_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.mm"
    path.write_bytes(freemind('<node TEXT="new"><node TEXT="child"/></node>'))
    mapshelf = Mapshelf(tmp_path / "data")
    mapshelf.run("import", path)
    with_store = open_store(sqlite_url(tmp_path / "data"))
    (found,) = with_store.maps(0, 9)
    with_store.put_maps([MapDraft(id=found.id, outline=outline_of("old"))])
    with_store.write_rows({OUTDATED: [(found.file_id,)]}, with_store.catalogue_counters())

    def root() -> str:
        return decode_outline(with_store.outline(found.file_id) or b"").roots[0].text

    log = tmp_path / "log"
    with log.open("wb") as file, serving(mapshelf, log=file) as service:
        service.wait_until_ready()
        wait_for(lambda: root() == "new")
        wait_for(lambda: len(children(service.process.pid)) == 2)
        outline, _ = service.get(f"/maps/{found.id}/outline.json")
        assert outline["sheets"][0]["root"]["text"] == "new"
    assert with_store.maps(0, 9) == [found]
    assert not with_store.outdated(0, 9), "the map would be reparsed at the next start, too"
    with_store.close()
    assert log.read_text().count(" again") == 2
