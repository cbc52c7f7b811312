"""``GET /maps``: a page of the list of maps (specification, section 4.1)."""

from urllib.parse import urlencode

import xxhash

from mapshelf.api.http import CHECKED_EACH_TIME, Response, json_response
from mapshelf.query import MapQuery
from mapshelf.snapshot import Page, Snapshot


def list_maps(snapshot: Snapshot, query: MapQuery, base_url: bytes) -> Response:
    """Return the page of maps that ``query`` asks for."""
    page = snapshot.page(query, base_url)
    return json_response(200, page.body, _headers(query, page, base_url.decode()))


def _headers(query: MapQuery, page: Page, base_url: str) -> list[tuple[bytes, bytes]]:
    headers = [
        (b"x-total-count", str(page.total).encode()),
        (b"etag", _etag(page)),
        *CHECKED_EACH_TIME,
    ]
    links = ", ".join(f'<{url}>; rel="{rel}"' for rel, url in _links(query, page.total, base_url))
    if links:
        headers.append((b"link", links.encode()))
    return headers


def _etag(page: Page) -> bytes:
    """Return a validator for the page and its total, which shows in the headers."""
    digest = xxhash.xxh3_128_hexdigest(page.body, seed=page.total)
    return f'"{digest}"'.encode()


def _links(query: MapQuery, total: int, base_url: str) -> list[tuple[str, str]]:
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
    start = f"{base_url}/maps?{given}&offset="
    return [(rel, f"{start}{offset}") for rel, offset in offsets.items()]
