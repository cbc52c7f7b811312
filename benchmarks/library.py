"""Costs of folders, tags, languages, duplicates and similar maps.

Lists are measured as in ``listing``. Levels of folders, and similar maps, are requested as pages
request them. To measure what folders and tags add to a build, the same maps are built alternately
with and without them; the work for duplicates (twins) is measured separately. The memory of a
worker is measured after it has sent every kind of page.
"""

import gc
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import quote, urlencode

from benchmarks.catalogue import BATCH, Catalogue, drafts_of
from benchmarks.filing import INBOX, VERSIONS, levels_of
from benchmarks.in_process import InProcess
from benchmarks.listing import queries
from benchmarks.measure import best_of, timed, times_of
from benchmarks.processes import get, memory
from benchmarks.requests import FILED, Clients
from benchmarks.serving import service, worker_processes
from mapshelf.comparison.fingerprint import fingerprints, telling
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import MapDraft
from mapshelf.query import MapQuery
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.columns import load_columns
from mapshelf.snapshot.format.manifest import read_manifest
from mapshelf.snapshot.read import Snapshot
from mapshelf.snapshot.read.listing import Listing
from mapshelf.store import open_store

LEVELS: Final = 500
LIKE: Final = 1000
"""How many levels of folders, and how many maps, are requested."""

ROUNDS: Final = 4
"""How often each list is requested; the shortest time counts."""

FRESH: Final = 9
"""Newly opened snapshots, which have cached nothing."""

BUILT: Final = 2000
TURNS: Final = 16
"""How many maps are built with and without folders and tags, and how often. The speed of a shared
machine changes within seconds, so we compare successive builds and use the median of the ratios."""

RELATED: Final = 6
"""Similar maps on a map's page."""

VISITS: Final = 400
"""Requests of each kind before the memory of a worker is measured."""


def measured(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield each measurement with its figures."""
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    folder = directory.folder(directory.current())
    yield from _lists(catalogue, folder)
    yield from _levels(catalogue, folder)
    yield from _alike(catalogue, folder)
    yield from _requests(catalogue)
    yield "building", _building(catalogue)
    yield "memory of a worker", _memory(catalogue)


def _lists(catalogue: Catalogue, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the times of lists. Preparing the queries reads the files, so none comes from disk.

    The matches of a page are timed as in ``listing.py``, and then whole pages with their maps.
    """
    snapshot, columns = Snapshot(folder), load_columns(folder, read_manifest(folder)["slots"])
    everything: list[MapQuery] = []
    for names in ((), *FILED):  # all maps, too, to see what a filter adds
        requested = queries(catalogue, snapshot, names)
        everything += requested
        selected = _best([Listing(folder, columns).select for _ in range(ROUNDS)], requested)
        yield f"list {' + '.join(names) or 'all'}", selected
        yield f"page {' + '.join(names) or 'all'}", _pages(folder, requested)
    random.Random(catalogue.seed).shuffle(everything)
    yield "page, everything mixed, fresh", _pages(folder, everything)
    snapshot = Snapshot(folder)
    clients = Clients(catalogue, "facets of folders")
    requested = [MapQuery(filters=query.filters) for query in everything if query.offset == 0]
    chosen = clients.some(list(dict.fromkeys(requested)), LEVELS)
    yield "facets of a selection", timed(snapshot.facets, chosen).as_json()


def _pages(folder: Path, requested: list[MapQuery]) -> dict[str, Any]:
    """Return the times of pages in newly opened snapshots."""
    snapshots = [Snapshot(folder) for _ in range(ROUNDS)]
    return _best([partial(one.page, base_url=b"") for one in snapshots], requested)


def _best(calls: list[Callable[[MapQuery], object]], requested: list[MapQuery]) -> dict[str, Any]:
    return best_of(calls, requested).as_json()


def _levels(catalogue: Catalogue, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the times of levels of folders, including the top level, and of all tags."""
    paths = Clients(catalogue, "levels").some(levels_of(catalogue.size), LEVELS)
    snapshots = [Snapshot(folder) for _ in range(FRESH)]
    yield (
        "folders, first level of a snapshot",
        timed(lambda one: one.folders(""), snapshots).as_json(),
    )
    yield "folders, a level", timed(snapshots[0].folders, paths).as_json()
    widest = timed(snapshots[0].folders, [INBOX] * FRESH).as_json()
    yield "folders, the widest level", {**widest, "folders": len(snapshots[0].folders(INBOX))}
    yield "tags, all", timed(lambda one: one.tags(), snapshots).as_json()


def _alike(catalogue: Catalogue, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the times of duplicates and similar maps; one in three of the maps has versions."""
    snapshot, ids = Snapshot(folder), _ids(catalogue)
    times = timed(lambda one: snapshot.twins(one, b""), ids)
    with_twins = sum(bool(snapshot.twins(one, b"")) for one in ids)
    yield "twins of a map", {**times.as_json(), "share_with_twins": with_twins / len(ids)}
    times = timed(lambda one: snapshot.about_the_same(one, RELATED, b""), ids)
    yield "maps like one", times.as_json()
    began = time.perf_counter()
    groups = len(snapshot.duplicates)
    yield "all twins", {"seconds": round(time.perf_counter() - began, 3), "groups": groups}


def _requests(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield the times of complete requests in process, with JSON and pages, none from a cache."""
    clients = Clients(catalogue, "requests")
    levels = clients.some(levels_of(catalogue.size), LEVELS)
    wide = [f"{INBOX}{'/' * more}" for more in range(FRESH)]
    requested = {
        "GET /folders, a level": [f"/folders?below={quote(path, safe='')}" for path in levels],
        "GET /folders, the widest level": [f"/folders?below={quote(one, safe='')}" for one in wide],
        "GET /facets of a folder": [_path("/facets", clients, "folder") for _ in range(LEVELS)],
        "page of the library in a folder": [_path("/", clients, "folder") for _ in range(LEVELS)],
    }
    with InProcess(catalogue.settings) as application:
        application.request("/folders")
        for name, paths in requested.items():
            yield name, _timed_requests(application, list(dict.fromkeys(paths)))


def _timed_requests(application: InProcess, paths: Sequence[str]) -> dict[str, Any]:
    def request(path: str) -> None:
        sent = application.request(path)
        assert sent.status == 200, (path, sent)

    return timed(request, paths).as_json()


def _path(path: str, clients: Clients, *names: str) -> str:
    return f"{path}?{urlencode(clients.filters(names))}"


def _ids(catalogue: Catalogue) -> list[str]:
    """Return ids of maps from the first batches; about one in three has versions."""
    found: list[str] = []
    for batch in range(-(-catalogue.size // BATCH)):
        for i, draft in enumerate(drafts_of(catalogue.size, catalogue.seed, batch)):
            if i % VERSIONS in (1, 4, 8, VERSIONS // 2, VERSIONS - 2, VERSIONS - 1):
                assert draft.id is not None
                found.append(draft.id)
        if len(found) >= LIKE:
            break
    return found[:LIKE]


# -- building -----------------------------------------------------------------------------


def _building(catalogue: Catalogue) -> dict[str, Any]:
    """Return the build time per map with folders, tags and duplicates, and without."""
    drafts: list[MapDraft] = []
    for batch in range(-(-min(BUILT, catalogue.size) // BATCH)):
        drafts += drafts_of(catalogue.size, catalogue.seed, batch)
    plain = [replace(one, tags=(), source=None) for one in drafts]
    turns: list[tuple[float, float, float]] = []
    for turn in range(TURNS):
        first, second = (drafts, plain) if turn % 2 else (plain, drafts)
        taken = [_built(first), _built(second)]
        without, filed = reversed(taken) if turn % 2 else taken
        turns.append((filed, without, _compared(drafts)))
    filed, without, twins = (
        median(times) * 1e6 / len(drafts) for times in zip(*turns, strict=True)
    )
    slower = median(filed / (without - twins) for filed, without, twins in turns)
    return {
        "maps": len(drafts),
        "with_us_a_map": round(filed),
        "without_us_a_map": round(without - twins),
        "folders_and_tags_us_a_map": round(filed - without),
        "twins_us_a_map": round(twins),
        "slower_per_cent": round((slower - 1) * 100, 1),
    }


def _built(drafts: Sequence[MapDraft]) -> float:
    """Return the processor time of building a snapshot of these maps."""
    with tempfile.TemporaryDirectory() as name:
        store = open_store(f"sqlite:///{name}/catalogue.db")
        for start in range(0, len(drafts), BATCH):
            store.put_maps(drafts[start : start + BATCH])
        builder = Builder(store, SnapshotDirectory(Path(name, "snapshots")))
        taken = _processor(builder.advance)
        builder.close()
        store.close()
    return taken


def _compared(drafts: Sequence[MapDraft]) -> float:
    """Return the processor time of the fingerprints that find duplicates and similar maps."""
    outlines = [decode_outline(draft.outline or b"") for draft in drafts]
    trees = [[(depth, topic.text) for depth, topic in one.topics()] for one in outlines]
    counts = [
        [(word, 1) for word in {word for _, text in tree for word in text.split()}]
        for tree in trees
    ]

    def compare() -> None:
        for start in range(0, len(trees), BATCH):
            words = [telling(each) for each in counts[start : start + BATCH]]
            fingerprints(trees[start : start + BATCH], words)

    return _processor(compare)


def _processor(call: Callable[[], object]) -> float:
    gc.collect()
    before = time.process_time()
    call()
    return time.process_time() - before


# -- memory -------------------------------------------------------------------------------


def _memory(catalogue: Catalogue) -> dict[str, Any]:
    """Return the memory of a worker that has served folders, tags, searches and maps."""
    clients, ids = Clients(catalogue, "memory"), _ids(catalogue)[:VISITS]
    levels = clients.some(levels_of(catalogue.size), VISITS)
    paths = [f"/folders?below={quote(path, safe='')}" for path in levels]
    paths += [f"/folders?below={INBOX}", "/tags", "/browse/tags", "/", "/?order_by=alpha"]
    for names in FILED:
        paths += [_path("/", clients, *names) for _ in range(VISITS // len(FILED))]
        paths += [_path("/facets", clients, *names) for _ in range(VISITS // len(FILED))]
    paths += [f"/maps?{urlencode(clients.search())}" for _ in range(VISITS)]
    paths += [f"/mindmaps/{one}" for one in ids]
    random.Random(catalogue.seed).shuffle(paths)
    with service(catalogue) as (target, _):
        (worker, *_) = worker_processes(target)
        at_rest = memory(worker)
        times = []
        for path in paths:
            began = time.perf_counter()
            answer = get(target.port, path, target.token)
            times.append(time.perf_counter() - began)
            assert answer.status in (200, 301, 302, 303, 307, 308), (path, answer.status)
        after_load = memory(worker)
    return {
        "requests": len(paths),
        "at_rest_own_mb": at_rest["own_mb"],
        **after_load,
        "p99_ms": times_of(times).p99,
    }
