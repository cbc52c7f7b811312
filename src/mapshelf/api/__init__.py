"""The HTTP API: the operations of ``docs/api.md``, answered mostly from a snapshot."""

from collections.abc import Callable

from mapshelf.api.application import Application
from mapshelf.api.asgi import ASGIApplication
from mapshelf.api.routes import PageRoutes
from mapshelf.clock import milliseconds
from mapshelf.settings import Settings

__all__ = ["Application", "create_app"]


def create_app(
    settings: Settings,
    pages: PageRoutes | None = None,
    clock: Callable[[], int] = milliseconds,
) -> ASGIApplication:
    """Return the ASGI application for an installation; see ``Application``."""
    return ASGIApplication(Application(settings, pages, clock))
