"""The application object: creates the parts of a worker, and starts and stops them.

Requests are handled in ``request_handler.py``.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, AsyncExitStack
from functools import partial

from mapshelf.api.auth import Authenticator
from mapshelf.api.background import keep_running
from mapshelf.api.context import address_of, make_context
from mapshelf.api.cors import fixed_headers
from mapshelf.api.measurements import Measurements
from mapshelf.api.oauth import oauth_routes
from mapshelf.api.operations import api_routes
from mapshelf.api.rate_limits import RateLimits
from mapshelf.api.request_handler import RequestHandler
from mapshelf.api.routes import PageRoutes, Router
from mapshelf.api.streaming import Stream, Streams
from mapshelf.api.withdrawals import Withdrawals
from mapshelf.client_address import Sender
from mapshelf.clock import milliseconds
from mapshelf.errors import MapshelfError
from mapshelf.settings import Budget, Settings
from mapshelf.store import Store


class Application:
    """The service for one store and one directory of snapshots.

    Attributes:
        context: the objects that operations use.
        handler: answers requests.
        fixed_headers: the headers that every response has.
        measurements: the counters of this worker.
    """

    def __init__(
        self,
        settings: Settings,
        pages: PageRoutes | None = None,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        """Prepare the service.

        Args:
            settings: the settings of the installation.
            pages: the pages to serve in addition to the API, if any.
            clock: the clock for counting visits, in milliseconds since 1970-01-01 UTC.
        """
        self._settings = settings
        counting = settings.counting and pages is not None
        self.context = make_context(settings, clock, counting=counting)
        self._snapshot = self.context.snapshot
        own = pages(self.context) if pages else {}
        oauth = oauth_routes(self.context)
        routes = {**api_routes(private=settings.private), **oauth, **own}
        self._limits = RateLimits(settings)
        for route in routes.values():
            route.set_limits(self._limits.limits)
        self.measurements = Measurements(
            settings.counts, routes, self.context.queues, self._limits.refused
        )
        self.fixed_headers = fixed_headers(
            settings.cors_origin, limited=Budget.API in settings.rate_limits
        )
        self.handler = RequestHandler(self.context, Router(routes), self._limits, self.measurements)
        self._withdrawals = Withdrawals(self._snapshot, settings.last_withdrawal)
        self._streams = Streams()
        self._authenticator: Authenticator | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Prepare, open the store and the snapshot, and begin to follow published snapshots."""
        await asyncio.gather(
            self._snapshot.begin(),
            asyncio.to_thread(self.context.prepare),
            asyncio.to_thread(self.measurements.start),
        )
        self._keep_running(self.measurements.follow)
        self._keep_running(self._snapshot.follow)
        self._keep_running(self.context.exports.follow)
        self._tasks.append(await self.context.store.start(self._store_opened))

    async def stop(self) -> None:
        """Finish background work and close the store.

        If one part cannot be closed, the others still are; then its error is raised.
        """
        context = self.context
        async with AsyncExitStack() as closing:  # what is pushed last is closed first
            closing.callback(self._limits.close)
            closing.push_async_callback(asyncio.to_thread, self.handler.close)
            closing.push_async_callback(asyncio.to_thread, self.measurements.stop)
            closing.callback(context.store.close)
            if self._authenticator:
                closing.push_async_callback(asyncio.to_thread, self._authenticator.write_use)
            closing.push_async_callback(context.visits.stop)
            closing.push_async_callback(asyncio.to_thread, self._snapshot.close)
            closing.push_async_callback(context.bodies.close)
            closing.push_async_callback(context.queues.close)
            closing.callback(context.small_drawings.close)
            closing.callback(context.documents.close)
            closing.callback(context.former_outlines.close)
            closing.callback(context.upload_reader.close)
            closing.callback(context.formula_worker.close)
            closing.callback(context.image_worker.close)
            closing.callback(context.render_worker.close)
            await self._end_tasks()

    async def _end_tasks(self) -> None:
        """Cancel the background tasks; raise the error of one that failed, unless it was logged."""
        for task in self._tasks:
            task.cancel()
        for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(ended, Exception) and not isinstance(ended, MapshelfError):
                raise ended

    def sending(self, sender: Sender) -> AbstractContextManager[Stream]:
        """Count a large body as being sent to a client while in the context.

        Raises:
            Overloaded: too many are being sent.
        """
        return self._streams.sending(address_of(self._settings.trusted_proxies, sender))

    async def _store_opened(self, store: Store) -> None:
        self._authenticator = Authenticator(store, self._settings.tokens_version)
        self.measurements.lookups = self._authenticator.lookups
        self.context.sessions.begin(self._authenticator)
        self.handler.begin(self._authenticator)
        self._keep_running(self._authenticator.note_use)
        self._keep_running(partial(self._withdrawals.follow, store))
        self._keep_running(self.context.visits.follow)
        await self.context.visits.begun()

    def _keep_running(self, task: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(keep_running(task)))
