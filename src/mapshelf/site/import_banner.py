"""Show the progress of a running import on the library pages.

These pages are cached with the snapshot they were made from. Progress changes more often, so the
banner replaces a placeholder when a page is sent, and only during an import. Scripts request the
progress separately.
"""

from typing import Final

import orjson

from mapshelf.api.compression import also_compressed
from mapshelf.api.context import Context
from mapshelf.api.http import NO_STORE, Request, Response, body_response
from mapshelf.api.routes import Operation
from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import HTML, data_response

MARK: Final = b"<!--importing-->"
"""The placeholder that is replaced by the banner."""

_OF_OTHERS: Final = frozenset((b"content-type", b"content-length", b"cache-control", b"etag"))
"""Headers that are dropped from a changed page."""


class ImportBanner:
    """Shows the progress of an import."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Render with the templates of ``resources``."""
        self._context = context
        self._templates = resources.templates
        self._file = StatusFile(context.settings.data)
        self._last: tuple[Response, bytes, Response] | None = None

    def status(self) -> ImportStatus | None:
        """Return the progress of the running import, ``None`` if there is none."""
        return self._file.read()

    async def show_status(self, request: Request) -> Response:
        """Answer the banner as HTML and the revision of the current snapshot, as JSON."""
        revision = self._context.snapshot.get().snapshot.revision
        body = orjson.dumps({"html": self._line(self.status()), "revision": revision})
        return data_response(b"application/json", body)

    def shown(self, answer: Operation) -> Operation:
        """Wrap ``answer`` to insert the banner into its pages during an import."""

        async def operation(context: Context, request: Request) -> Response:
            response = await answer(context, request)
            status = self.status()
            if status is None or response.status != 200 or MARK not in response.body:
                return response
            return self._changed(response, self._line(status).encode())

        return operation

    def _changed(self, response: Response, line: bytes) -> Response:
        """Return a page with ``line`` at the placeholder; the last result is cached."""
        if self._last and self._last[0] is response and self._last[1] == line:
            return self._last[2]
        body = response.body.replace(MARK, line, 1)
        kept = (one for one in response.headers if one[0] not in _OF_OTHERS)
        changed = also_compressed(body_response(200, HTML, body, (*kept, *NO_STORE)))
        self._last = response, line, changed
        return changed

    def _line(self, status: ImportStatus | None) -> str:
        if status is None:
            return ""
        return self._templates.text("_importing.html", {"importing": status}).rstrip()
