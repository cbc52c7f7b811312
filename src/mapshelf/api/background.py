"""Keeps tasks running that the service needs as long as it runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from mapshelf.panics import is_panic

log = logging.getLogger(__name__)

AGAIN_AFTER: Final = 1.0
"""Seconds after which a task that failed starts again."""


async def keep_running(task: Callable[[], Awaitable[None]]) -> None:
    """Run a task until it is cancelled, and start it again if the system lacked something.

    For instance, there may be no more threads or descriptors for a moment. If the task ended then,
    a worker would show what it showed at that time until the service is restarted.
    """
    while True:
        try:
            return await task()
        except BaseException as error:
            if not (isinstance(error, OSError | RuntimeError) or is_panic(error)):
                raise
            log.exception("%s failed, and is tried again", getattr(task, "__qualname__", task))
        await asyncio.sleep(AGAIN_AFTER)
