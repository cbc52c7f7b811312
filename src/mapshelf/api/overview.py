"""What the catalogue is made of: ``GET /facets``, ``GET /categories`` and ``GET /software``."""

from collections.abc import Iterable
from dataclasses import asdict

import orjson

from mapshelf.api.http import CHECKED_EACH_TIME, Response, json_response
from mapshelf.api.maps import list_etag
from mapshelf.model import Named
from mapshelf.query import MapQuery
from mapshelf.snapshot import Snapshot, Value
from mapshelf.store import Store


def show_facets(snapshot: Snapshot, store: Store, query: MapQuery) -> Response:
    """Return how the maps that ``query`` is about divide, whatever page of them it asks for."""
    facets = snapshot.facets(query)
    programs = {row.name: row.id for row in store.software()}
    licences = {row.id: row.name for row in store.licence_types()}
    return _response(
        {
            "total": facets.total,
            "category": [asdict(value) for value in facets.category],
            "software": [{**asdict(one), "id": programs.get(one.name)} for one in facets.software],
            "owner": [_without_id(value) for value in facets.owner],
            "licence": [
                {**asdict(one), "name": licences.get(one.id or 0, "")} for one in facets.licence
            ],
            "year": [_without_id(value) for value in facets.year],
        }
    )


def show_categories(snapshot: Snapshot, store: Store) -> Response:
    """Return all categories, with how many maps are in each."""
    return _response(_counted(snapshot, "category", store.categories()))


def show_software(snapshot: Snapshot, store: Store) -> Response:
    """Return all programs, with how many maps were made with each."""
    return _response(_counted(snapshot, "software", store.software()))


def _counted(snapshot: Snapshot, name: str, rows: Iterable[Named]) -> list[dict[str, object]]:
    return [{"id": row.id, "name": row.name, "count": snapshot.count(name, row.id)} for row in rows]


def _without_id(value: Value) -> dict[str, object]:
    return {"name": value.name, "count": value.count}


def _response(found: object) -> Response:
    body = orjson.dumps(found)
    return json_response(200, body, [(b"etag", list_etag(body, 0)), *CHECKED_EACH_TIME])
