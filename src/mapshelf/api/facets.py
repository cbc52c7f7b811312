"""What the catalogue is made of: ``GET /facets``, ``GET /categories`` and ``GET /software``."""

from collections.abc import Iterable

import orjson

from mapshelf.api.http import CHECKED_EACH_TIME, Response, json_response
from mapshelf.api.maps import list_etag
from mapshelf.model import Named
from mapshelf.query import MapQuery
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.facets import Counts, NamedCounts
from mapshelf.store import Store


def show_facets(snapshot: Snapshot, store: Store, query: MapQuery) -> Response:
    """Return how the maps that ``query`` is about divide, whatever page of them it asks for."""
    facets = snapshot.facets(query)
    return _response(
        {
            "total": facets.total,
            "category": _with_names(facets.category, store.categories()),
            "software": _with_names(facets.software, store.software()),
            "owner": _named(facets.owner),
            "licence": _with_names(facets.licence, store.licence_types()),
            "year": _named(facets.year),
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


def _with_names(counts: Counts, rows: Iterable[Named]) -> list[dict[str, object]]:
    names = {row.id: row.name for row in rows}
    # Licence types come with records, which may have one that this catalogue has no name for.
    return [{"id": one, "name": names.get(one, ""), "count": count} for one, count in counts]


def _named(counts: NamedCounts) -> list[dict[str, object]]:
    return [{"name": name, "count": count} for name, count in counts]


def _response(found: object) -> Response:
    body = orjson.dumps(found)
    return json_response(200, body, [(b"etag", list_etag(body, 0)), *CHECKED_EACH_TIME])
