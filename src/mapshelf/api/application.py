"""The application object: creates the parts of a worker, and starts and stops them.

Requests are handled in ``request_handler.py``.
"""

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

from mapshelf.api.auth import Authenticator
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
from mapshelf.errors import StoreError
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
        self._tasks.append(asyncio.create_task(self.measurements.follow()))
        self._tasks.append(asyncio.create_task(self._snapshot.follow()))
        self._tasks.append(await self.context.store.start(self._store_opened))

    async def stop(self) -> None:
        """Finish background work and close the store."""
        context = self.context
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, StoreError):
                await task
        context.render_worker.close()
        context.image_worker.close()
        context.formula_worker.close()
        context.upload_reader.close()
        context.documents.close()
        context.small_drawings.close()
        await context.queues.close()
        await context.bodies.close()
        await asyncio.to_thread(self._snapshot.close)
        await context.visits.stop()
        if self._authenticator:
            await asyncio.to_thread(self._authenticator.write_use)
        context.store.close()
        await asyncio.to_thread(self.measurements.stop)
        await asyncio.to_thread(self.handler.close)
        self._limits.close()

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
        self._tasks.append(asyncio.create_task(self._authenticator.note_use()))
        self._tasks.append(asyncio.create_task(self._withdrawals.follow(store)))
        self._tasks.append(asyncio.create_task(self.context.visits.follow()))
        await self.context.visits.begun()
