"""``GET /maps``: a page of the list of maps (``docs/api.md``), and helpers for all lists."""

from functools import partial
from urllib.parse import quote, quote_plus

import xxhash

from mapshelf.api.context import Context
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response
from mapshelf.query import MapQuery, parse_query
from mapshelf.snapshot.read import Page, Snapshot


async def list_maps(context: Context, request: Request) -> Response:
    """Return the page of maps that a request asks for.

    Raises:
        InvalidParameter: a parameter has an invalid value.
    """
    current, query = context.snapshot.get(), parse_query(request.query_string)
    snapshot, base_url = current.snapshot, context.base_url
    page = snapshot.page_quickly(query, base_url)
    if page is None:  # in the event loop, it would delay other requests
        make = partial(_search, snapshot, query, base_url)
        return await current.response(request, context.queues.searches, make)
    response = _response(page, query, base_url)
    current.cache((request.path, request.query_string), response)
    return response


def _search(snapshot: Snapshot, query: MapQuery, base_url: bytes) -> Response:
    return _response(snapshot.page(query, base_url), query, base_url)


def _response(page: Page, query: MapQuery, base_url: bytes) -> Response:
    return list_response(page.body, query, page.total, page.corrected, f"{base_url.decode()}/maps")


def list_response(
    body: bytes, query: MapQuery, total: int, corrected: str, address: str
) -> Response:
    """Return a page of the list at ``address``, with the headers of lists."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-total-count", str(total).encode()),
        (b"etag", _list_etag(body, total)),
        *CHECKED_EACH_TIME,
    ]
    if corrected:
        headers.append((b"x-corrected-query", quote(corrected).encode()))
    links = ", ".join(f'<{url}>; rel="{rel}"' for rel, url in _links(query, total, address))
    if links:
        headers.append((b"link", links.encode()))
    return Response(200, tuple(headers), body)


def _list_etag(body: bytes, total: int) -> bytes:
    """Return an ETag for a page and for its total, which is sent in a header."""
    return f'"{xxhash.xxh3_128_hexdigest(body, seed=total)}"'.encode()


def _links(query: MapQuery, total: int, address: str) -> list[tuple[str, str]]:
    """Return the URLs of other pages by relation (RFC 8288); none if pages are empty."""
    if query.limit == 0:
        return []
    last = max(0, (total - 1) // query.limit * query.limit)
    offsets = {"first": 0}
    if query.offset > 0:
        offsets["prev"] = min(max(0, query.offset - query.limit), last)
    if query.offset + query.limit < total:
        offsets["next"] = query.offset + query.limit
    offsets["last"] = last
    # URL encoding would be most of the work of a page, so the common part is encoded once, and
    # other values only if they need it.
    given = "".join([f"{name}={_encoded(value)}&" for name, value in query.given])
    start = f"{address}?{given}limit={query.limit}&offset="
    return [(rel, f"{start}{offset}") for rel, offset in offsets.items()]


def _encoded(value: str) -> str:
    """Return a value as ``urlencode`` writes it."""
    return value if value.isascii() and value.isalnum() else quote_plus(value)
