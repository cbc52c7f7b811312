"""Counts of maps: ``GET /facets``, ``GET /categories`` and ``GET /software``."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response, etag, json_response
from mapshelf.model import Named
from mapshelf.query import MapQuery, parse_query
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.facets import Counts, NamedCounts
from mapshelf.store.contract import Maps
from mapshelf.store.seed import SOFTWARE

_WELL_KNOWN: Final = frozenset(one.id for one in SOFTWARE)


async def show_facets(context: Context, request: Request) -> Response:
    """Return counts of all maps that match a request, on all pages."""
    current, query = context.snapshot.get(), parse_query(request.query_string)
    make = partial(_facets, current.snapshot, context.store.get(), query)
    return await current.response(request, context.queues.searches, make)


async def show_categories(context: Context, request: Request) -> Response:
    """Return all categories, with the number of maps in each."""
    return await _table(context, request, "category", context.store.get().categories)


async def show_software(context: Context, request: Request) -> Response:
    """Return the programs that maps in lists were made with, and the well-known ones.

    Names of others may come from private files.
    """
    snapshot, store = context.snapshot.get().snapshot, context.store.get()
    return await _table(context, request, "software", partial(shown_programs, snapshot, store))


async def _table(
    context: Context, request: Request, name: str, rows: Callable[[], Iterable[Named]]
) -> Response:
    """Return the rows of a small table. They can change without a new snapshot: not cached."""
    current = context.snapshot.get()
    make = partial(_counted, current.snapshot, name, rows)
    key = (current, request.path)
    return await context.queues.searches.result(
        key, make, request.disconnection, owner=request.owner
    )


def shown_programs(snapshot: Snapshot, store: Maps) -> list[Named]:
    """Return the programs whose names everybody may see."""
    return [
        one
        for one in store.software()
        if one.id in _WELL_KNOWN or snapshot.count("software", one.id)
    ]


def _facets(snapshot: Snapshot, store: Maps, query: MapQuery) -> Response:
    facets = snapshot.facets(query)
    return _response(
        {
            "total": facets.total,
            "category": _with_names(facets.category, store.categories()),
            "software": _with_names(facets.software, store.software()),
            "owner": _named(facets.owner),
            "licence": _with_names(facets.licence, store.licence_types()),
            "year": _named(facets.year),
            "folder": [
                {"name": path.rpartition("/")[2], "count": count, "path": path}
                for path, count in facets.folder
            ],
            "tag": _named(facets.tag),
            "language": _named(facets.language),
            "size": _named(facets.size),
            "with_notes": _named(facets.with_notes),
            "with_tasks": _named(facets.with_tasks),
        }
    )


def _counted(snapshot: Snapshot, name: str, rows: Callable[[], Iterable[Named]]) -> Response:
    return _response(
        [{"id": row.id, "name": row.name, "count": snapshot.count(name, row.id)} for row in rows()]
    )


def _with_names(counts: Counts, rows: Iterable[Named]) -> list[dict[str, object]]:
    names = {row.id: row.name for row in rows}
    # Imported records may have a licence type that has no name in this catalogue.
    return [{"id": one, "name": names.get(one, ""), "count": count} for one, count in counts]


def _named(counts: NamedCounts) -> list[dict[str, object]]:
    return [{"name": name, "count": count} for name, count in counts]


def _response(found: object) -> Response:
    body = orjson.dumps(found)
    return json_response(200, body, [etag(body), *CHECKED_EACH_TIME])
