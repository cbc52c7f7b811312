"""Time from a write to the store until the map is visible over HTTP, idle and under full load.

The service (web worker and builder) has one core, the clients have the other. So the builder
competes with the worker, which is the hardest case on a small machine.
"""

import threading
import time
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.catalogue import Catalogue
from benchmarks.measure import times_of
from benchmarks.processes import get
from benchmarks.requests import mixed_paths
from benchmarks.serving import CONNECTIONS, Target, service, wrk
from mapshelf.model import MapDraft
from mapshelf.store import open_store

MAPS: Final = 5
PAUSE: Final = 2.0
"""Seconds from when one map is visible until the next one is added."""

PATIENCE: Final = 60.0


def measured(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield the times until maps were visible, and the load's figures; changes ``catalogue``."""
    with service(catalogue) as (target, _):
        yield "without load", times_of(_shown(catalogue, target, "calm")).as_json()
        load = _Load(catalogue, target)
        load.start()
        yield "under load", times_of(_shown(catalogue, target, "busy")).as_json()
        load.join()
        yield "clients", load.result


class _Load(threading.Thread):
    """Clients that send mixed requests while maps are added."""

    def __init__(self, catalogue: Catalogue, target: Target) -> None:
        super().__init__()
        self._paths = mixed_paths(catalogue)
        self._target = target
        self.result: dict[str, Any] = {}

    def run(self) -> None:
        self.result = wrk(self._target, self._paths, 30, CONNECTIONS)


def _shown(catalogue: Catalogue, target: Target, name: str) -> list[float]:
    """Add maps one by one; return the seconds until each was visible."""
    store = open_store(catalogue.settings.database)
    taken = []
    for number in range(MAPS):
        time.sleep(PAUSE)
        (outcome,) = store.put_maps([MapDraft(title=f"{name} {number}")])
        began = time.perf_counter()
        _wait(target, outcome.id, began + PATIENCE)
        taken.append(time.perf_counter() - began)
    store.close()
    return taken


def _wait(target: Target, public_id: str, until: float) -> None:
    wanted = f'"ID":"{public_id}"'.encode()
    while wanted not in get(target.port, "/maps?limit=1", target.token).body:
        if time.perf_counter() > until:
            raise TimeoutError(f"map {public_id} was not visible within {PATIENCE} seconds")
        time.sleep(0.005)
