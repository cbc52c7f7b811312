"""``GET /users/me/maps``: the maps of the token's owner, whatever their visibility.

Published maps come from the snapshot, which has them in order. The others are read from the store,
and those that match are inserted: usually few, but all maps of a folder that is not published. In a
search by relevance they come last, because nothing ranks them.

Their topics are searched without an index (``unpublished_maps.py``), which may take seconds. So
this list and the page that shows it have a queue of their own, in which users take turns: one with
many large maps cannot block others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, Final

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.map_fields import VISIBILITIES
from mapshelf.api.map_writing import map_object, signed
from mapshelf.api.maps import list_response
from mapshelf.api.unpublished_maps import UnpublishedMaps
from mapshelf.errors import InvalidParameter
from mapshelf.formats.ndjson_records import parse_record
from mapshelf.model import ListedMap, Map, User, Visibility
from mapshelf.query import (
    SORT_ORDERS,
    MapQuery,
    owner_key,
    parse_query,
    read_parameters,
)
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store import Store
from mapshelf.text.normalize import normalize

VISIBILITY: Final = "visibility"

MAPS_AT_ONCE: Final = 500
"""Unpublished maps that are read by one statement."""

_ORDERS: Final = {row.name: row for row in SORT_ORDERS}
_COMPARED: Final = (
    "file_id",
    "title",
    "thumbs_up",
    "thumbs_down",
    "views",
    "downloads",
    "date_added",
)
"""The fields by which maps are sorted."""

_COUNTED: Final = {"date": "date_added", "views": "views", "downloads": "downloads"}
"""The orders by a field that is a number, the highest first."""


async def list_own_maps(context: Context, request: Request) -> Response:
    """Return a page of the user's own maps."""
    query = parse_query(request.query_string)
    wanted = read_visibility(request.query_string)
    if wanted is not None:
        query = replace(query, given=(*query.given, (VISIBILITY, wanted.value)))
    snapshot = context.snapshot.get().snapshot
    lister = OwnMaps(context.store.get(), snapshot, signed(request), context.base_url)
    make = partial(lister.page, query, wanted)
    return await context.queues.own_maps.result(
        object(), make, request.disconnection, owner=request.owner
    )


def read_visibility(query_string: bytes) -> Visibility | None:
    """Return the visibility that a request filters by, ``None`` for all.

    Raises:
        InvalidParameter: the value is not a visibility that people can choose.
    """
    value = read_parameters(query_string, (VISIBILITY,)).get(VISIBILITY)
    if value is None:
        return None
    if value not in VISIBILITIES:
        raise InvalidParameter(f"The visibility value must be one of {', '.join(VISIBILITIES)}.")
    return Visibility(value)


class OwnMaps:
    """The maps of one user."""

    def __init__(self, store: Store, snapshot: Snapshot, user: User, base_url: bytes) -> None:
        self._store = store
        self._snapshot = snapshot
        self._user = user
        self._base_url = base_url

    def page(self, query: MapQuery, wanted: Visibility | None) -> Response:
        """Return a page of the maps that match a query.

        Args:
            query: the query.
            wanted: the visibility to filter by, ``None`` for all.
        """
        bodies, total, corrected = self.bodies(query, wanted)
        body = b"[%b]" % b",".join(bodies)
        address = f"{self._base_url.decode()}/users/me/maps"
        return list_response(body, query, total, corrected, address)

    def bodies(self, query: MapQuery, wanted: Visibility | None) -> tuple[list[bytes], int, str]:
        """Return the Map objects of a page, how many maps match, and the corrected query text.

        Args:
            query: see ``page``.
            wanted: see ``page``.
        """
        if not query.text and not query.filters and query.order in _COUNTED:
            return self._counted(query, wanted, _COUNTED[query.order])
        if wanted is Visibility.PUBLISHED:
            total, corrected = self._published_total(query, correct=True)
            return self._bodies(_corrected(query, corrected), total, []), total, corrected
        with closing(self._unpublished(query, wanted)) as unpublished:
            others = unpublished.matching(query.text)
            total, corrected = 0, ""
            if wanted is None:
                total, corrected = self._published_total(query, correct=not others)
            if corrected:
                others = unpublished.matching(corrected)
        bodies = self._bodies(_corrected(query, corrected), total, others)
        return bodies, total + len(others), corrected

    def _counted(
        self, query: MapQuery, wanted: Visibility | None, field: str
    ) -> tuple[list[bytes], int, str]:
        """Return what ``bodies`` returns, of a list without filters that is sorted by a number.

        People look at this list most, and some have a hundred thousand maps: so only the numbers
        of all maps are read, and the other fields of those on the page.
        """
        others = [
            (-count, -file_id)
            for file_id, public_id, shown, count in self._counts(wanted, field)
            if wanted in (None, shown) and self._snapshot.find(public_id, self._base_url) is None
        ]
        is_open = wanted in (None, Visibility.PUBLISHED)
        total = self._published_total(query, correct=False)[0] if is_open else 0
        # As in ``_bodies``: the first published map of the page is here or later.
        start, first = query.offset, max(0, query.offset - len(others))
        hits = self._published(query, first, start + query.limit) if first < total else []
        placed = [
            *((_number(hit, field), hit.body) for hit in hits),
            *((one, b"") for one in others),
        ]
        if others:
            placed.sort(key=itemgetter(0))
        page = placed[start - first : start - first + query.limit]
        file_ids = [-file_id for (_, file_id), body in page if not body]
        found = self._store.unpublished_maps(self._user.id, file_ids) if file_ids else []
        own = {-one.file_id: map_object(one, self._base_url) for one in found}
        bodies = [body or own.get(file_id, b"") for (_, file_id), body in page]
        return [body for body in bodies if body], total + len(others), ""

    def _counts(
        self, wanted: Visibility | None, field: str
    ) -> list[tuple[int, str, Visibility, int]]:
        if wanted is Visibility.PUBLISHED:
            return []
        return self._store.unpublished_counts(self._user.id, field)

    def _published_total(self, query: MapQuery, *, correct: bool) -> tuple[int, str]:
        first = replace(self._own(query), limit=0, offset=0)
        found = self._snapshot.search(first, self._base_url, correct=correct)
        return found.total, found.corrected

    def _own(self, query: MapQuery) -> MapQuery:
        own = ("owner", owner_key(self._user.name))
        return replace(query, filters=tuple(dict.fromkeys((*query.filters, own))))

    def _unpublished(self, query: MapQuery, wanted: Visibility | None) -> UnpublishedMaps:
        """Return the maps that are not in the snapshot and pass the filters of a query."""
        ids = [
            file_id
            for file_id, visibility in self._store.unpublished_ids(self._user.id)
            if wanted in (None, visibility)
        ]
        return UnpublishedMaps(self._store, self._batches(ids), query)

    def _batches(self, ids: Sequence[int]) -> Iterator[list[Map]]:
        """Yield unpublished maps that are not in the snapshot, given the oldest first.

        The newest come first. Reading them in batches lets others read from the store meanwhile.
        """
        for end in range(len(ids), 0, -MAPS_AT_ONCE):
            batch = ids[max(0, end - MAPS_AT_ONCE) : end]
            yield [
                one
                for one in reversed(self._store.unpublished_maps(self._user.id, batch))
                # A map that was published a moment ago may still be here; do not list it twice.
                if self._snapshot.find(one.id, self._base_url) is None
            ]

    def _bodies(self, query: MapQuery, total: int, others: list[ListedMap]) -> list[bytes]:
        """Return the Map objects of a page.

        Args:
            query: the query.
            total: the number of matching published maps.
            others: the other matching maps.
        """
        start, end = query.offset, query.offset + query.limit
        order = query.order
        if order is None:
            others = sorted(others, key=place_in("date"))
            hits = self._published(query, start, end) if start < total else []
            rest = others[max(0, start - total) : max(0, end - total)]
            return [hit.body for hit in hits] + [self._encoded(one) for one in rest]
        if not others:
            return [hit.body for hit in self._published(query, start, end)] if total else []
        # At most all other maps precede the page, so its first published map is here or later.
        first = max(0, start - len(others))
        hits = self._published(query, first, end) if first < total else []
        placed: Iterable[tuple[ListedMap, bytes | None]] = (
            *((_compared(hit, others[0]), hit.body) for hit in hits),
            *((one, None) for one in others),
        )
        place = place_in(order)
        merged = sorted(placed, key=lambda pair: place(pair[0]))
        page = merged[start - first : end - first]
        return [self._encoded(one) if body is None else body for one, body in page]

    def _published(self, query: MapQuery, start: int, end: int) -> Sequence[Record]:
        part = replace(self._own(query), offset=start, limit=end - start)
        return self._snapshot.search(part, self._base_url, correct=False).records

    def _encoded(self, one: ListedMap) -> bytes:
        return map_object(one.map, self._base_url)


def _corrected(query: MapQuery, corrected: str) -> MapQuery:
    """Return a query with its corrected text, if there is one."""
    return replace(query, text=corrected) if corrected else query


def place_in(order: str) -> Callable[[ListedMap], tuple[Any, ...]]:
    """Return the sort key for an order (``sort_orders``)."""
    row = _ORDERS[order]
    if row.ties_by_title:
        return lambda one: (normalize(one.map.title), one.map.title, one.map.file_id)
    if row.ascending:
        return lambda one: (row.key(one), -one.map.file_id)
    return lambda one: (-row.key(one), -one.map.file_id)


def _compared(hit: Record, like: ListedMap) -> ListedMap:
    """Return a map with the sort fields of a record; its other fields come from ``like``."""
    draft = parse_record(hit.body)[0]
    found = replace(like.map, **{name: getattr(draft, name) for name in _COMPARED})
    return ListedMap(found, hit.details.edited or 0)


def _number(hit: Record, field: str) -> tuple[int, int]:
    """Return the place of a record in a list that is sorted by a number, the highest first."""
    draft = parse_record(hit.body)[0]
    return -getattr(draft, field), -hit.file_id
