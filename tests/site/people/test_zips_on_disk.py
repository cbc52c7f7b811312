"""Zip files that anybody can request: they neither fill the disk nor delay account exports."""

import asyncio
import os
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
import pytest

from mapshelf import disk_cache
from mapshelf.api import exports
from mapshelf.disk_cache import DiskCache
from mapshelf.disk_space import DiskSpace
from mapshelf.model import MapDraft, Source
from mapshelf.site import bulk_actions
from tests.harness import PATIENCE, Shelf, copied_shelf, full_queue, outline_of
from tests.person import Start, member

SIZE: Final = 16 << 10
CONTENT: Final = Random(1).randbytes(SIZE)
IDS: Final = tuple(f"zipmap0{number}" for number in range(4))
MAPS: Final = tuple(
    MapDraft(
        id=one,
        title=one,
        outline=outline_of(one, "a"),
        content=zlib.compress(CONTENT),
        source=Source(f"/{one}.mm".encode(), f"{one}.mm", SIZE, 1, one.encode() * 4),
    )
    for one in IDS
)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, *MAPS) as full:
        yield full


def selections() -> list[str]:
    """Return addresses that each make another zip file of the same maps."""
    return ["/download?" + "&".join(f"map={one}" for one in ids) for ids in permutations(IDS)]


def on_disk(shelf: Shelf) -> dict[Path, int]:
    """Return the size of each zip file on disk."""
    return {one: one.stat().st_size for one in shelf.settings.exports.rglob("0*/*")}


def test_zips_of_selections_have_their_own_disk_quota(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = 3 * len(IDS) * SIZE
    monkeypatch.setattr(exports, "ROOM_OF_SELECTIONS", room)
    monkeypatch.setattr(exports, "ROOM", room)
    site = start()
    assert member(site, shelf, "ann").fill("/account/export").status_code == 200
    (own,) = on_disk(shelf)
    for path in selections():
        assert site.request("GET", path, signed=False).status_code == 200
    left = on_disk(shelf)
    assert own in left, "the account export was deleted"
    assert sum(left.values()) - left[own] <= room


@pytest.mark.parametrize("total", [5 << 30, 1 << 40])
def test_zips_leave_free_disk_space_for_the_store(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, total: int
) -> None:
    disk = DiskSpace(total, 0)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
    site, paths = start(), iter(selections())
    ann = member(site, shelf, "ann")

    def statuses() -> tuple[int, int]:
        answer = site.request("GET", next(paths), signed=False)
        return answer.status_code, ann.fill("/account/export").status_code

    room = min(1 << 30, total // 10)
    disk = disk._replace(free=room // 2)
    assert statuses() == (503, 503)
    assert not on_disk(shelf), "a partial zip file was left"
    disk = disk._replace(free=room // 2 + (2 << 20))
    assert statuses() == (503, 200), "zips of selections leave some for account exports"
    disk = disk._replace(free=room + (2 << 20))
    assert statuses() == (200, 200)


def test_documents_make_room_for_account_exports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches: list[DiskCache] = []
    kept = exports.Exports(tmp_path / "exports", caches)
    documents = DiskCache(tmp_path / "documents", 1 << 30, 4, others=caches)
    caches.append(documents)
    document = "ab" * 16
    assert documents.put(document, bytes(1 << 20))
    disk = DiskSpace(1 << 40, exports.LEFT_FREE.size)
    monkeypatch.setattr(disk_cache, "disk_space", lambda _: disk)
    assert kept.account(1, [bytes(1 << 21)], 1 << 21) is None
    assert documents.find(document)
    assert kept.account(1, [b"zip"], 3)
    assert documents.find(document) is None


def test_a_user_has_one_account_export_on_disk(start: Start, shelf: Shelf) -> None:
    site = start()
    ann, bob = member(site, shelf, "ann"), member(site, shelf, "bob")
    for person in (ann, bob):
        assert person.fill("/account/export").status_code == 200
    before = on_disk(shelf)
    assert len(before) == 2
    assert ann.fill("/account/export").status_code == 200
    assert len(on_disk(shelf)) == 3, "the first was replaced before it could be received"
    for _ in range(3):
        assert ann.fill("/account/export").status_code == 200
        assert len(on_disk(shelf)) == 3
    for export in on_disk(shelf):
        os.utime(export, (time.time() - exports.BEGUN_WITHIN,) * 2)
    assert ann.fill("/account/export").status_code == 200
    left = on_disk(shelf)
    assert len(left) == 2
    assert len(left.keys() & before.keys()) == 1, "the export of bob was deleted"


def test_exports_do_not_wait_for_selections(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on, zipped = threading.Event(), bulk_actions.zipped

    def slowly(*given: Any) -> Iterable[bytes]:
        going_on.wait(PATIENCE)
        return zipped(*given)

    monkeypatch.setattr(bulk_actions, "zipped", slowly)
    site = start()
    ann = member(site, shelf, "ann")

    async def flood() -> list[asyncio.Task[httpx.Response]]:
        asked = [asyncio.create_task(site.client.get(path)) for path in selections()]
        await asyncio.sleep(0.1)
        return asked

    asked = site.run(flood())
    try:
        assert ann.fill("/account/export").status_code == 200
    finally:
        going_on.set()
    statuses = [site.run(_result(one)).status_code for one in asked]
    assert {*statuses} == {200, 503}, "the queue was not full"


def test_exports_do_not_wait_for_large_documents(start: Start, shelf: Shelf) -> None:
    site = start()
    ann = member(site, shelf, "ann")
    with full_queue(site, "documents"):
        assert ann.fill("/account/export").status_code == 200


async def _result(asked: asyncio.Task[httpx.Response]) -> httpx.Response:
    return await asked
