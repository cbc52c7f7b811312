"""Lists in process: all orders, combinations of filters, first and later pages.

Every call has other values, chosen as clients would. So sets are read from the file, as when a
worker sees a value for the first time, and pages are anywhere in the list.
"""

import random
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.catalogue import BASE_URL, Catalogue
from benchmarks.measure import timed
from benchmarks.requests import COMBINATIONS, Clients
from mapshelf.query import DEFAULT_LIMIT, ORDERS, MapQuery, parse_query
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.columns import load_columns
from mapshelf.snapshot.format.manifest import read_manifest
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.listing import Listing

QUERIES: Final = 400
"""Calls for each order and combination of filters, half of them for the first page."""


def measured(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield each measurement with its figures."""
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    folder = directory.folder(directory.current())
    columns = load_columns(folder, read_manifest(folder)["slots"])
    snapshot, listing = Snapshot(folder), Listing(folder, columns)
    everything: list[MapQuery] = []
    for names in COMBINATIONS:
        drawn = queries(catalogue, snapshot, names)
        everything += drawn
        yield f"list {' + '.join(names) or 'all'}", timed(listing.select, drawn).as_json()
    random.Random(catalogue.seed).shuffle(everything)
    listing = Listing(folder, columns)  # has cached nothing yet
    yield "list, everything mixed, fresh", timed(listing.select, everything).as_json()
    yield "list, everything mixed, again", timed(listing.select, everything).as_json()
    base_url = BASE_URL.encode()
    page = timed(lambda query: snapshot.page(query, base_url), everything)
    yield "page, everything mixed", page.as_json()


def queries(catalogue: Catalogue, snapshot: Snapshot, names: tuple[str, ...]) -> list[MapQuery]:
    """Return queries with these filters in every order; every second one is for a later page."""
    clients = Clients(catalogue, " ".join(names))
    chance = random.Random(" ".join(names))
    found = []
    for order in ORDERS:
        for number in range(QUERIES):
            given = clients.filters(names)
            text = urlencode(given)
            filters = parse_query(text.encode()).filters
            offset = 0
            if number % 2:
                total = snapshot.page(MapQuery(order=order, filters=filters, limit=0), b"").total
                offset = max(0, chance.randrange(total + 1) - DEFAULT_LIMIT)
            found.append(MapQuery(order=order, filters=filters, offset=offset))
    return found
