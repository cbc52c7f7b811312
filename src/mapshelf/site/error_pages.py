"""Render errors as HTML pages for browsers, instead of the Error object of the API.

The status and the headers are those of the API (``api/errors.py``). The texts come from
``messages``, so that they are translated with the pages.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from mapshelf.api.errors import FAULT, error_headers, error_row
from mapshelf.api.http import Headers, Response
from mapshelf.errors import (
    Conflict,
    CrossSiteRequest,
    Forbidden,
    InvalidParameter,
    InvalidRequest,
    InvalidToken,
    MalformedRequest,
    NotFound,
    Overloaded,
    SnapshotError,
    StoreUnavailable,
    TooManyRequests,
    UnknownPath,
)
from mapshelf.site.form_errors import failure, waiting
from mapshelf.site.messages import say
from mapshelf.site.responses import Templates

MOST_CACHED: Final = 100
"""Maximum number of cached error pages."""

_TEXTS: Final[Mapping[type[Exception], tuple[str, str | None]]] = {
    InvalidParameter: ("error.invalid", "error.invalid.hint"),
    MalformedRequest: ("error.invalid", "error.invalid.hint"),
    InvalidRequest: ("error.title", None),
    InvalidToken: ("error.private", "error.private.hint"),
    CrossSiteRequest: ("error.form", "error.form.hint"),
    UnknownPath: ("error.missing", "error.missing.hint"),
    NotFound: ("error.missing", "error.missing.hint"),
    SnapshotError: ("error.preparing", "error.again"),
    Overloaded: ("error.overloaded", "error.again"),
    TooManyRequests: ("error.many", None),
    StoreUnavailable: ("error.unavailable", "error.again"),
}
"""For each kind of error, the keys of the heading and of the message below it.

``None`` stands for the message of the API.
"""


class ErrorPages:
    """The error pages of one application. Each is rendered once and cached."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._pages: dict[tuple[int, str, str, Headers], asyncio.Future[Response]] = {}

    async def page(self, error: Exception) -> Response:
        """Return the page for an error, without waiting in a queue."""
        row = error_row(error)
        other = ("error.fault" if row is FAULT else "error.title", None)
        texts = (_TEXTS[kind] for kind in type(error).__mro__ if kind in _TEXTS)
        heading, hint = next(texts, other)
        message = say(hint) if hint else row.message or str(error)
        if isinstance(error, Forbidden | Conflict):
            message = failure(error, "failure.changed")
        elif isinstance(error, TooManyRequests):
            message = say("error.many.hint", wait=waiting(error.retry_after))
        key = (row.status, say(heading), message, error_headers(error))
        page = self._pages.get(key)
        if page is None:
            make = asyncio.to_thread(self._templates.error, *key)
            if len(self._pages) >= MOST_CACHED:
                self._pages.clear()
            page = self._pages[key] = asyncio.ensure_future(make)
        try:
            return await asyncio.shield(page)
        except Exception:
            self._pages.pop(key, None)
            raise
