"""The process that answers: Granian, set up to hold its ground, with our application inside."""

from functools import partial
from typing import Any, Final

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings

from mapshelf.service.process import end_with_parent, set_up_logging
from mapshelf.settings import Address, Settings

BACKLOG: Final = 16_384
"""Connections that may wait to be accepted."""

BACKPRESSURE: Final = 8192
"""Connections a worker holds at once. Slow ones count, so it is far above what is ever busy."""

HEADER_TIMEOUT: Final = 10_000
"""Milliseconds a client has to send the headers of a request."""

KILL_TIMEOUT: Final = 10
"""Seconds a worker has to finish its requests when the service ends."""


def answer(settings: Settings, address: Address) -> None:
    """Serve HTTP until asked to end."""
    set_up_logging()
    end_with_parent()
    Granian(
        "mapshelf.api",
        address=address.host,
        port=address.port,
        interface=Interfaces.RSGI,
        workers=address.workers,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=BACKPRESSURE,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT),
        respawn_failed_workers=True,
        workers_kill_timeout=KILL_TIMEOUT,
        log_enabled=False,
    ).serve(target_loader=partial(_load, settings), wrap_loader=False)


def _load(settings: Settings, *_: Any, **__: Any) -> Any:
    """Make the application, in a worker; the process over the workers has no use for it."""
    from mapshelf.api import create_app  # noqa: PLC0415
    from mapshelf.api.rsgi import RSGIApplication  # noqa: PLC0415
    from mapshelf.site import private_routes, site_routes  # noqa: PLC0415

    set_up_logging()
    end_with_parent()
    return RSGIApplication(
        create_app(settings, private_routes if settings.private else site_routes)
    )
