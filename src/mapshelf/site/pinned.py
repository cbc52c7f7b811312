"""Show pinned collections on the front page of the library.

That page is cached with its snapshot, which does not contain collections. So they replace a
placeholder when the page is sent. They are reloaded after a second. A page waits only briefly for
that: while the store does not respond, the previous collections are shown.
"""

import asyncio
import time
from typing import Final

from mapshelf.api.compression import packable
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response, body_response, etag
from mapshelf.api.routes import Operation
from mapshelf.errors import Ending, Overloaded, StoreError
from mapshelf.site.collections_shown import collection_card
from mapshelf.site.page_maker import PageMaker
from mapshelf.site.responses import HTML

MARK: Final = b"<!--pinned-->"
"""Where they are put."""

KEPT_FOR: Final = 1.0
"""Seconds after which the store is asked again."""

PATIENCE: Final = 0.3
"""Seconds that pages wait for the store, from when it was asked."""

_OF_OTHERS: Final = frozenset((b"content-type", b"content-length", b"etag", b"vary"))
"""Headers that a changed page does not keep."""


class PinnedCollections:
    """Shows the pinned collections. For use in the event loop of its worker only."""

    def __init__(self, context: Context, maker: PageMaker) -> None:
        """Render with the templates of ``maker``."""
        self._context = context
        self._addresses = maker.addresses
        self._templates = maker.templates
        self._html = b""
        self._until = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._asked = 0.0
        self._last: tuple[Response, bytes, Response] | None = None

    def forget(self) -> None:
        """Ask the store again for the next page: something has changed."""
        self._until = 0.0

    def shown(self, answer: Operation) -> Operation:
        """Return ``answer`` with the pinned collections, on pages that have room for them."""

        async def operation(context: Context, request: Request) -> Response:
            response = await answer(context, request)
            if response.status != 200 or MARK not in response.body:
                return response
            html = await self._current()
            return self._changed(response, html) if html else response

        return operation

    def _changed(self, response: Response, html: bytes) -> Response:
        """Return a page with ``html`` at the placeholder; the last result is cached."""
        if self._last and self._last[0] is response and self._last[1] == html:
            return self._last[2]
        body = response.body.replace(MARK, html, 1)
        kept = (one for one in response.headers if one[0] not in _OF_OTHERS)
        changed = packable(body_response(200, HTML, body, (*kept, etag(body))))
        self._last = response, html, changed
        return changed

    async def _current(self) -> bytes:
        now = time.monotonic()
        if now < self._until:
            return self._html
        if self._asking is None:
            self._asked = now
            self._asking = asyncio.create_task(self._ask())
        await asyncio.wait({self._asking}, timeout=max(0.0, self._asked + PATIENCE - now))
        return self._html

    async def _ask(self) -> None:
        try:
            self._html = await self._context.queues.lookups.result("pinned", self._made)
        except (Ending, Overloaded, StoreError):
            pass  # reading goes on when the database is away
        finally:
            self._until = time.monotonic() + KEPT_FOR
            self._asking = None

    def _made(self) -> bytes:
        found = self._context.store.get().pinned_collections()
        if not found:
            return b""
        cards = [collection_card(one, self._addresses) for one in found]
        return self._templates.text("_pinned.html", {"collections": cards}).encode()
