"""From the path of a request to the operation that answers it.

Fixed paths need one look-up in a table; paths with variable parts are matched against a few
patterns. The router of a framework would do more than that for every request.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.render.render_request import FORMATS as PICTURES
from mapshelf.writers import WRITERS

Operation = Callable[[Context, Request], Awaitable[Response]]
"""Answers a request."""

VARYING: Final = {
    "id": "[^/]+",
    "format": "|".join(writer.suffix for writer in WRITERS),
    "digest": "[0-9a-f]{64}",
    "picture": "|".join(PICTURES),
    **dict.fromkeys(("name", "slug", "edition", "asset"), "[^/]+"),  # of pages
}
"""The variable parts of paths, with the regular expressions of their values."""


@dataclass(frozen=True, slots=True)
class Route:
    """An operation.

    Attributes:
        answer: answers a request.
        public: whether it needs no token.
        cached: whether the same request to the same snapshot gets the same response.
    """

    answer: Operation
    public: bool = False
    cached: bool = False


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

    def match(self, path: str) -> tuple[Route, dict[str, str]] | None:
        """Return the route of a path with variable parts, and its parts; ``None`` if none fits."""
        for pattern, route in self._varying:
            found = pattern.fullmatch(path)
            if found:
                return route, found.groupdict()
        return None


def _pattern(path: str) -> str:
    pieces = re.split(r"\{(\w+)\}", path)
    pieces[::2] = map(re.escape, pieces[::2])
    pieces[1::2] = [f"(?P<{name}>{VARYING[name]})" for name in pieces[1::2]]
    return "".join(pieces)
