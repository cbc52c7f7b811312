"""Routing: maps the path of a request to the operation that answers it.

Fixed paths need one dictionary look-up; paths with variable parts are matched against a few
patterns. The router of a framework would do more work for every request.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from mapshelf.api.context import Context
from mapshelf.api.cors import own_preflight, preflight
from mapshelf.api.http import BodyRule, Request, Response
from mapshelf.api.rate_limits import Limit
from mapshelf.metrics.counts import OperationCounts
from mapshelf.render.render_request import DRAWING_FORMATS
from mapshelf.render.render_request import FORMATS as PICTURES
from mapshelf.settings import Budget
from mapshelf.tokens import MAPS
from mapshelf.writers import WRITERS

Operation = Callable[[Context, Request], Awaitable[Response]]
"""Answers a request."""

ErrorPage = Callable[[Exception], Awaitable[Response]]
"""Renders an error page for people."""

VARYING: Final = {
    "id": "[^/]+",
    "other": "[^/.]+",  # another map; no dot, because `….svg` is the drawing of a comparison
    "format": "|".join(writer.suffix for writer in WRITERS),
    "digest": "[0-9a-f]{64}",
    "map": "[^/]+",
    "number": "[1-9][0-9]{0,8}",
    "picture": "|".join(PICTURES),
    "drawing": "|".join(DRAWING_FORMATS),
    **dict.fromkeys(("name", "slug", "edition", "asset", "secret"), "[^/]+"),  # of pages
}
"""The variable parts of paths, with the regular expressions of their values."""

READING: Final = ("GET", "HEAD")
"""The methods of a read-only operation: HEAD is answered like GET, without the body."""

WRITING: Final = ("POST", "PUT", "PATCH", "DELETE")
"""The methods of operations that write."""


@dataclass(frozen=True, slots=True)
class Method:
    """The operation of a path for one method.

    Attributes:
        answer: answers a request.
        scope: the scope that a token needs; ``None`` if the operation needs no token.
        cached: whether equal requests of the same user get the same response from a snapshot.
        body: the body that the operation accepts, ``None`` if it accepts none.
        budget: the kind of its requests for rate limits; ``None`` if they are not counted.
        queue: the name of the queue (``Queues``) in which a request may have to wait, empty if it
            never has to.
        queued: what the query string contains if it has to.
    """

    answer: Operation
    scope: str | None = MAPS
    cached: bool = False
    body: BodyRule | None = None
    budget: Budget | None = Budget.API
    queue: str = ""
    queued: bytes = b""


class Route:
    """The operations of a path.

    Attributes:
        methods: the operation for each method except OPTIONS.
        allowed: the names of the methods, as in the Allow header.
        preflight: the response to OPTIONS.
        error_page: renders error pages for people, ``None`` for programs.
        shared: whether pages of other origins may read the responses.
        outages_as_text: whether errors that pass are text instead of Error objects.
        counts: the counters of each method (``measurements``).
        limits: the rate limit of each method, if it has one (``rate_limits``).
        refused_early: whether overload may refuse a GET unread (``rsgi``).
    """

    __slots__ = (
        "allowed",
        "counts",
        "error_page",
        "limits",
        "methods",
        "outages_as_text",
        "preflight",
        "refused_early",
        "shared",
    )

    def __init__(  # noqa: PLR0913 - the facts of one row of a table
        self,
        answer: Operation | None = None,
        *,
        scope: str | None = MAPS,
        cached: bool = False,
        error_page: ErrorPage | None = None,
        shared: bool = True,
        outages_as_text: bool = False,
        budget: Budget | None = Budget.API,
        queue: str = "",
        queued: bytes = b"",
        **writing: Method,
    ) -> None:
        """Describe a path.

        Args:
            answer: answers GET and HEAD, if the path supports them.
            scope: see ``Method``; for GET.
            cached: see ``Method``; for GET.
            error_page: see ``Route``.
            shared: see ``Route``.
            outages_as_text: see ``Route``.
            budget: see ``Method``; for GET.
            queue: see ``Method``; for GET.
            queued: see ``Method``; for GET.
            writing: the other methods by name.
        """
        assert set(writing) <= set(WRITING), writing
        self.error_page = error_page
        self.shared = shared
        self.outages_as_text = outages_as_text
        self.counts: dict[str, OperationCounts] = {}
        self.limits: dict[str, Limit] = {}
        reading = (
            Method(answer, scope, cached, budget=budget, queue=queue, queued=queued)
            if answer
            else None
        )
        # People get an error page, which takes longer. What has no budget shows that we are alive.
        programs = error_page is None and shared and budget is not None
        self.refused_early = programs and answer is not None
        self.methods: Mapping[str, Method] = {
            **(dict.fromkeys(READING, reading) if reading else {}),
            **writing,
        }
        self.allowed = (*self.methods, "OPTIONS")
        # A write without a token is authenticated by the cookie, so pages of other origins must not
        # send it.
        offered = (name for name, one in writing.items() if one.scope is not None)
        self.preflight = (
            preflight(
                self.allowed,
                (*(READING if reading else ()), *offered, "OPTIONS"),
                writing=bool(writing),
            )
            if shared
            else own_preflight(self.allowed)
        )

    def set_limits(self, limits: Mapping[Budget, Limit]) -> None:
        """Set the rate limit of each method by its budget, if there is one."""
        for name, method in self.methods.items():
            if method.budget is not None and method.budget in limits:
                self.limits[name] = limits[method.budget]


PageRoutes = Callable[[Context], Mapping[str, Route]]
"""Returns the routes of the pages."""


class Router:
    """Finds the route of a path.

    Attributes:
        fixed: the routes of paths without variable parts.
    """

    def __init__(self, table: Mapping[str, Route]) -> None:
        """Use the routes of ``table``, in whose paths ``{name}`` is a variable part."""
        self.fixed = {path: route for path, route in table.items() if "{" not in path}
        self._varying = [
            (re.compile(_pattern(path)), route) for path, route in table.items() if "{" in path
        ]

    def find(self, path: str) -> tuple[Route | None, dict[str, str]]:
        """Return the route of a path, if there is one, and the values of its variable parts."""
        route = self.fixed.get(path)
        if route is not None:
            return route, {}
        for pattern, route in self._varying:
            found = pattern.fullmatch(path)
            if found:
                return route, found.groupdict()
        return None, {}


def _pattern(path: str) -> str:
    pieces = re.split(r"\{(\w+)\}", path)
    pieces[::2] = map(re.escape, pieces[::2])
    pieces[1::2] = [f"(?P<{name}>{VARYING[name]})" for name in pieces[1::2]]
    return "".join(pieces)
