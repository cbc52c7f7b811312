"""From the path of a request to the operation that answers it.

Few and fixed paths need a look-up in a table, and those with parts that vary a match against a
handful of patterns; a router of a framework would do more than that for every request.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from mapshelf.api.http import Request, Response
from mapshelf.model import User


@dataclass(frozen=True, slots=True)
class Route:
    """An operation: what answers it, and whether anybody may ask."""

    answer: Callable[[Request, User | None], Awaitable[Response]]
    public: bool = False


class Routes:
    """The routes of the service by their paths."""

    def __init__(self, table: Mapping[str, Route], parts: Mapping[str, str]) -> None:
        """Prepare the routes of ``table``.

        Args:
            table: each route under its path, in which ``{name}`` stands for a part that varies.
            parts: by name, the regular expression of what may stand there.
        """
        self._fixed = {path: route for path, route in table.items() if "{" not in path}
        self._varying = [
            (re.compile(_pattern(path, parts)), route)
            for path, route in table.items()
            if "{" in path
        ]

    def find(self, path: str) -> tuple[Route, dict[str, str]] | None:
        """Return the route at ``path``, with the parts that vary; ``None`` if none is there."""
        route = self._fixed.get(path)
        if route is not None:
            return route, {}
        for pattern, route in self._varying:
            found = pattern.fullmatch(path)
            if found:
                return route, found.groupdict()
        return None


def _pattern(path: str, parts: Mapping[str, str]) -> str:
    pieces = re.split(r"\{(\w+)\}", path)
    pieces[::2] = map(re.escape, pieces[::2])
    pieces[1::2] = [f"(?P<{name}>{parts[name]})" for name in pieces[1::2]]
    return "".join(pieces)
