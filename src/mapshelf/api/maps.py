"""``GET /maps``: a page of the list of maps (``docs/api.md``), and what pages share."""

from urllib.parse import quote, urlencode

import xxhash

from mapshelf.api.http import CHECKED_EACH_TIME, Response, json_response
from mapshelf.query import MapQuery
from mapshelf.snapshot.read import Snapshot


def list_maps(snapshot: Snapshot, query: MapQuery, base_url: bytes) -> Response:
    """Return the page of maps that ``query`` asks for."""
    page = snapshot.page(query, base_url)
    address = f"{base_url.decode()}/maps"
    return list_response(page.body, query, page.total, page.corrected, address)


def list_response(
    body: bytes, query: MapQuery, total: int, corrected: str, address: str
) -> Response:
    """Return a page of a list at ``address``, with the headers that lists have."""
    headers = [
        (b"x-total-count", str(total).encode()),
        (b"etag", list_etag(body, total)),
        *CHECKED_EACH_TIME,
    ]
    if corrected:
        headers.append((b"x-corrected-query", quote(corrected).encode()))
    links = ", ".join(f'<{url}>; rel="{rel}"' for rel, url in _links(query, total, address))
    if links:
        headers.append((b"link", links.encode()))
    return json_response(200, body, headers)


def list_etag(body: bytes, total: int) -> bytes:
    """Return a validator for a page and its total, which shows in the headers."""
    return f'"{xxhash.xxh3_128_hexdigest(body, seed=total)}"'.encode()


def _links(query: MapQuery, total: int, address: str) -> list[tuple[str, str]]:
    """Return the addresses of other pages by relation (RFC 8288); none if pages are empty."""
    if query.limit == 0:
        return []
    last = max(0, (total - 1) // query.limit * query.limit)
    offsets = {"first": 0}
    if query.offset > 0:
        offsets["prev"] = min(max(0, query.offset - query.limit), last)
    if query.offset + query.limit < total:
        offsets["next"] = query.offset + query.limit
    offsets["last"] = last
    # Encoding is most of the work of a page, so what the addresses share is encoded once.
    given = urlencode((*query.given, ("limit", query.limit)))
    start = f"{address}?{given}&offset="
    return [(rel, f"{start}{offset}") for rel, offset in offsets.items()]
