"""A catalogue that is exported and imported elsewhere returns the same lists, byte by byte."""

import io
from pathlib import Path

import pytest

from mapshelf.importer.records import export_records, import_records
from mapshelf.importer.report import ImportReport
from mapshelf.model import MapDraft, Visibility
from tests.harness import Shelf, serve, shelf_with

ADDRESSES = (
    "/maps?limit=50",
    "/maps?limit=3&offset=4",
    *(f"/maps?limit=50&order_by={name}" for name in ("alpha", "date", "views", "downloads")),
    "/maps?limit=50&order_by=rating",
    "/maps?limit=50&order_by=edited",
    "/maps?limit=50&category=5",
    "/maps?limit=50&software=1",
    "/maps?limit=50&owner=zo%C3%AB",
    "/maps?limit=50&only_templates=true",
    "/maps?limit=50&tag=garden",
    "/maps?limit=50&query=teapot",
)


def drafts() -> list[MapDraft]:
    return [
        MapDraft(
            title=f"{('Teapot', 'Ärger', '日本語')[number % 3]} {number}",
            description="with <b>marks</b>\nand lines" if number % 2 else None,
            owner=("Zoë", "bob", None)[number % 3],
            category_id=number % 7,
            software=("FreeMind", "XMind", "A program of my own")[number % 3],
            template=number % 4 == 0,
            views=number * 3 % 11,
            downloads=number * 5 % 7,
            thumbs_up=number % 5,
            thumbs_down=number % 3,
            date_added=1_600_000_000_000 + number * 7_777_777,
            tags=("garden", "tea") if number % 2 else (),
            visibility=Visibility.PRIVATE if number == 11 else None,
        )
        for number in range(24)
    ]


def copied(origin: Shelf, other: Shelf, path: Path) -> None:
    records, report = io.BytesIO(), ImportReport()
    export_records(origin.store, records)
    path.write_bytes(records.getvalue())
    import_records(other.store, path, report)
    other.publish()


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_lists_are_the_same(tmp_path: Path, times: int) -> None:
    """Importing twice changes nothing."""
    with (
        shelf_with(tmp_path / "origin", *drafts()) as origin,
        shelf_with(tmp_path / "other") as other,
    ):
        for _ in range(times):
            copied(origin, other, tmp_path / "maps.ndjson")
        with serve(origin) as first, serve(other) as second:
            for address in ADDRESSES:
                want, found = first.get(address), second.get(address)
                assert want.status_code == found.status_code == 200
                assert want.json() != [], address
                assert found.content == want.content, address
                assert found.headers["X-Total-Count"] == want.headers["X-Total-Count"]
