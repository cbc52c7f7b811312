"""Insert the pinned collections into the front page of the library.

That page is cached with its snapshot, which does not contain collections. So the page has a
placeholder, which is replaced by the collections when the page is sent. The collections are cached
for a second. A page waits only briefly while they are reloaded: until the store responds, the
previous collections are shown. If it fails, none are: any may have been hidden.
"""

import asyncio
import time
from typing import Final

from mapshelf.api.compression import also_compressed
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response, body_response, etag
from mapshelf.api.routes import Operation
from mapshelf.errors import Ending, Overloaded, StoreError
from mapshelf.site.collections_shown import collection_card
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import HTML

MARK: Final = b"<!--pinned-->"
"""The placeholder that is replaced by the pinned collections."""

KEPT_FOR: Final = 1.0
"""Seconds for which the collections are cached."""

PATIENCE: Final = 0.3
"""Maximum time in seconds that pages wait for the store, from when the query was started."""

_OF_OTHERS: Final = frozenset((b"content-type", b"content-length", b"etag", b"vary"))
"""Headers that are dropped from a changed page, and set anew."""


class PinnedCollections:
    """Inserts the pinned collections into pages. Not thread-safe: use it in the event loop only."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Render with the templates of ``resources``."""
        self._context = context
        self._addresses = resources.addresses
        self._templates = resources.templates
        self._html = b""
        self._until = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._asked = 0.0
        self._last: tuple[Response, bytes, Response] | None = None

    def forget(self) -> None:
        """Mark the cached collections as outdated, so that the next page reloads them."""
        self._until = 0.0

    def shown(self, answer: Operation) -> Operation:
        """Wrap ``answer`` to insert the pinned collections into pages with the placeholder."""

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
        changed = also_compressed(body_response(200, HTML, body, (*kept, etag(body))))
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
            self._html = await self._context.queues.lookups.result(("pinned",), self._made)
        except StoreError:
            self._html = b""
        except (Ending, Overloaded):
            pass
        finally:
            self._until = time.monotonic() + KEPT_FOR
            self._asking = None

    def _made(self) -> bytes:
        found = self._context.store.get().pinned_collections()
        if not found:
            return b""
        cards = [collection_card(one, self._addresses) for one in found]
        return self._templates.text("_pinned.html", {"collections": cards}).encode()
