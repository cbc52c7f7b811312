"""Response times under a steady stream of changes: the same load without, and with 1,000 a minute.

Visitors of the library request only its first page, while a map is added each second: every visible
map changes that page.

The changes are typical of a catalogue in use: most update counters or titles of existing maps, some
add maps, some delete maps. They are written directly to the store, as an import does.
"""

import itertools
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from benchmarks.catalogue import Catalogue, drafts_of
from benchmarks.processes import get
from benchmarks.requests import mixed_paths
from benchmarks.serving import Target, service, wrk
from mapshelf.model import Map, MapDraft
from mapshelf.store import Store, open_store

PER_MINUTE: Final = 1000
AT_A_TIME: Final = 5
CONNECTIONS: Final = 8
CALM: Final = 120
"""Seconds of load without changes, at most: longer ones give the same figures."""

VISITORS: Final = 20
BROWSER: Final = ("Accept-Encoding: gzip",)

LOOKS: Final = 10
"""How often per minute we measure how long a change takes to become visible."""


def measured(catalogue: Catalogue, seconds: int) -> Iterator[tuple[str, Any]]:
    """Yield response times without changes and with them; changes ``catalogue``."""
    paths = mixed_paths(catalogue)
    with service(catalogue) as (target, _):
        wrk(target, paths, 5, CONNECTIONS)
        calm = wrk(target, paths, min(seconds, CALM), CONNECTIONS)
        yield "without changes", calm
        changes = _Changes(catalogue, target)
        changes.start()
        busy = wrk(target, paths, seconds, CONNECTIONS)
        changes.ended.set()
        changes.join()
        yield "with changes", busy
        yield "p99 with changes, times that without", round(busy["p99_ms"] / calm["p99_ms"], 2)
        yield "changes", {"made": changes.made, "per_minute": changes.per_minute}
        yield "seconds until one showed", {"worst": max(changes.lags, default=None)}
        yield from _visited(catalogue, target, min(seconds, CALM))


def _visited(catalogue: Catalogue, target: Target, seconds: int) -> Iterator[tuple[str, Any]]:
    """Yield response times of the library page without new maps and with one each second."""
    visitors = replace(target, headers=BROWSER)
    wrk(visitors, ["/"], 2, VISITORS)
    name = f"library page, {VISITORS} visitors"
    yield name, wrk(visitors, ["/"], seconds, VISITORS)
    maps = _MapEachSecond(catalogue)
    maps.start()
    yield f"{name}, a map added each second", wrk(visitors, ["/"], seconds, VISITORS)
    maps.ended.set()
    maps.join()


class _MapEachSecond(threading.Thread):
    """Adds a map each second until ``ended`` is set."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue
        self.ended = threading.Event()

    def run(self) -> None:
        store = open_store(self._catalogue.settings.database)
        for number in itertools.count():
            if self.ended.wait(1.0):
                break
            store.put_maps([MapDraft(title=f"another {number}")])
        store.close()


class Edits:
    """Random changes of a catalogue, mostly of counters and titles of existing maps."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._size = catalogue.size
        self._seed = catalogue.seed + 1
        self._chance = random.Random(catalogue.seed)
        self._fresh: Iterator[MapDraft] = iter(())
        self.made = 0

    def make(self, store: Store, count: int) -> None:
        """Change ``count`` successive maps, or fewer at the end of the catalogue."""
        found = store.maps(self._chance.randrange(self._size), count)
        kind = self._chance.random()
        if kind < 0.1:
            store.delete_maps(one.id for one in found)
        elif kind < 0.2:
            store.put_maps([self._new() for _ in found])
        else:
            store.put_maps([self._edited(one) for one in found])
        self.made += len(found)

    def _new(self) -> MapDraft:
        try:
            return next(self._fresh)
        except StopIteration:
            self._fresh = iter(drafts_of(10**9, self._seed, self.made))
            return next(self._fresh)

    def _edited(self, found: Map) -> MapDraft:
        views = found.views + self._chance.randrange(1, 50)
        title = f"{found.title} {self._chance.randrange(100)}"
        return MapDraft(id=found.id, views=views, title=title)


class _Changes(threading.Thread):
    """Changes the catalogue at a fixed rate until ``ended`` is set.

    Attributes:
        ended: set it to stop.
        lags: seconds until a change became visible, for a sample of them.
        per_minute: changes per minute, known at the end.
    """

    def __init__(self, catalogue: Catalogue, target: Target) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._target = target
        self._edits = Edits(catalogue)
        self.ended = threading.Event()
        self.lags: list[float] = []
        self.per_minute = 0
        self._looking: list[threading.Thread] = []
        self._began = 0.0

    @property
    def made(self) -> int:
        """Number of changes so far."""
        return self._edits.made

    def run(self) -> None:
        store = open_store(self._catalogue.settings.database)
        self._began = time.monotonic()
        while not self.ended.wait(self._until_next()):
            self._edits.make(store, AT_A_TIME)
            if self.made % (PER_MINUTE // LOOKS) < AT_A_TIME:
                self._look(store)
        self.per_minute = round(60 * self.made / (time.monotonic() - self._began))
        store.close()
        for look in self._looking:
            look.join()

    def _until_next(self) -> float:
        due = self._began + 60 * self.made / PER_MINUTE
        return max(0.0, due - time.monotonic())

    def _look(self, store: Store) -> None:
        """Add a map; measure in a thread how long it takes to become visible to a client."""
        (outcome,) = store.put_maps([MapDraft(title=f"seen {self.made}")])
        look = threading.Thread(target=self._await, args=(outcome.id, time.monotonic()))
        look.start()
        self._looking.append(look)

    def _await(self, public_id: str, began: float) -> None:
        while get(self._target.port, f"/maps/{public_id}", self._target.token).status != 200:
            time.sleep(0.02)
        self.lags.append(round(time.monotonic() - began, 2))
