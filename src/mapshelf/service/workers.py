"""The workers among the children of the supervisor, and what it knows of them."""

import os
import socket
import time
from functools import partial
from typing import Final

from mapshelf.descriptors import connection_limit
from mapshelf.metrics.count_files import count_refused_connections
from mapshelf.service.accept_queue import AcceptQueue
from mapshelf.service.backoff import Backoff
from mapshelf.service.supervisor import Child
from mapshelf.settings import Settings

NAME: Final = "worker"

MIN_LIFETIME: Final = 2.0
"""Seconds after which a worker counts as healthy. One that dies earlier may never have answered."""

SETTLED_AFTER: Final = 10.0
"""Seconds after which a worker surely accepts connections, if it can."""

FIRST_RESTART_DELAY: Final = 0.1
LONGEST_RESTART_DELAY: Final = 5.0
"""Seconds before a worker that died is restarted: less than for others, because clients wait."""


def new_workers(settings: Settings, listener: socket.socket, count: int) -> list[Child]:
    """Return the children that answer requests."""
    run = "mapshelf.service.worker_process:run_worker_process"
    return [
        Child(
            NAME,
            run,
            (settings, listener),
            backoff=Backoff(FIRST_RESTART_DELAY, LONGEST_RESTART_DELAY),
            min_lifetime=MIN_LIFETIME,
        )
        for _ in range(count)
    ]


def accept_queue_of(
    workers: list[Child], listener: socket.socket, settings: Settings
) -> AcceptQueue:
    """Return what refuses connections that the workers do not accept in time."""
    count_refused = partial(count_refused_connections, settings.counts)
    return AcceptQueue(
        listener, partial(_have_settled, workers), partial(_are_full, workers), count_refused
    )


def _have_settled(workers: list[Child]) -> bool:
    """Return whether there are workers that would accept connections if they had room."""
    settled = time.monotonic() - SETTLED_AFTER
    return any(one.process is not None and one.started < settled for one in workers)


def _are_full(workers: list[Child]) -> bool:
    """Return whether all workers are at their connection limit, if Linux reports that."""
    processes = [one.process for one in workers]
    limit = connection_limit()
    try:
        return all(
            process is not None and len(os.listdir(f"/proc/{process.pid}/fd")) >= limit
            for process in processes
        )
    except OSError:  # one of them has ended
        return False
