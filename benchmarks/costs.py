"""Processor time of each kind of request in microseconds, in process and over HTTP.

Processor time hardly depends on other load on the machine. In process, it covers our own code only.
Over HTTP, it is the time of the single worker, including the HTTP server. The floor is the time an
empty application on the same server takes to send the same page; both are measured alternately.

*Again* means that the worker has the response in its cache. *New* means the first request since the
snapshot was published; over HTTP, it is left out if the cache holds all of its URLs.
"""

import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import tantivy

from benchmarks.catalogue import BASE_URL, Catalogue, words_of
from benchmarks.changing import BROWSER
from benchmarks.in_process import InProcess
from benchmarks.processes import free_port, get, python, running, wait_until_ready
from benchmarks.requests import FILTERS, library_paths, listing_paths, search_paths
from benchmarks.serving import PAGE, Target, service, worker_processes, wrk
from mapshelf.query import MapQuery, parse_query
from mapshelf.search.query_parser import parse_query_text
from mapshelf.site.library import LibraryPages
from mapshelf.site.page_resources import PageResources
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import TEXT
from mapshelf.snapshot.format.records import record_ids
from mapshelf.snapshot.format.text_fields import schema
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.snapshot.read.text_queries import QueryBuilder
from mapshelf.store import open_store

CONNECTIONS: Final = 8
IN_PROCESS: Final = 2000
"""Requests of each kind in process; fewer for new pages."""

PICTURES: Final = 40
PAGES: Final = 500
"""Pages of more than 50 KB each: several times what the cache of a worker holds."""

TOPICS: Final = 100
LOOKED_AT: Final = 30_000
"""Maps searched for those with about ``TOPICS`` topics."""

PUBLICATIONS: Final = 25


class RequestKind(NamedTuple):
    """A kind of request.

    Attributes:
        name: its name in the results.
        paths: URL paths to request.
        again: whether to fill the cache with the responses first.
        headers: request headers, as browsers send them.
    """

    name: str
    paths: Sequence[str]
    again: bool = False
    headers: tuple[str, ...] = ()


def measured(catalogue: Catalogue, seconds: int, rounds: int) -> Iterator[tuple[str, Any]]:
    """Yield each question with its answer."""
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    folder = directory.folder(directory.current())
    kinds = _kinds(catalogue, Snapshot(folder))
    with InProcess(catalogue.settings) as application:
        inside = {one.name: _in_process(application, one) for one in kinds}
    with service(catalogue) as (target, _):
        worker = replace(target, pid=worker_processes(target)[0])
        yield from _against_floor(worker, seconds, rounds)
        for one in kinds:
            loaded = _over_http(worker, one, seconds, rounds)
            # A load repeats its addresses. Where the cache holds them all, it says nothing of new
            # responses.
            is_cached = not one.again and loaded["over_http"] < inside[one.name]["in_process"] / 2
            yield one.name, inside[one.name] | ({} if is_cached else loaded)
    yield "building the query of a search", _building(catalogue, folder)
    yield "library page, first after a publication", _first_pages(catalogue, folder)


def _kinds(catalogue: Catalogue, snapshot: Snapshot) -> list[RequestKind]:
    maps = _maps_of_size(snapshot)
    ids = [record_ids(one.body)[1] for one in maps]
    addresses = PageResources(BASE_URL).addresses
    pages = [addresses.map(key, one.title) for key, one in zip(ids, maps, strict=True)]
    shown = ids[:PICTURES]
    filtered = library_paths(catalogue, FILTERS, PAGES)
    pictures = [f"/thumbnails/{one}.png?w=320" for one in shown]
    return [
        RequestKind("page again", [PAGE], again=True),
        RequestKind("lists, all different", listing_paths(catalogue)),
        RequestKind("searches, all different", search_paths(catalogue)),
        RequestKind("searches with topics, all different", _searches(catalogue, "/search")),
        RequestKind("suggestions for a second word", _second_words(catalogue)),
        RequestKind("/users/me", ["/users/me"], again=True),
        RequestKind("/maps/{ID} again", [f"/maps/{one}" for one in shown], again=True),
        RequestKind("thumbnails again", pictures, True, BROWSER),
        RequestKind("library page again", ["/"], True, BROWSER),
        RequestKind("library page new", library_paths(catalogue, (), PAGES), False, BROWSER),
        RequestKind("library page new, other filters", filtered, False, BROWSER),
        RequestKind("page of a search, new", _searches(catalogue, "/")[:PAGES], False, BROWSER),
        RequestKind(f"map page new, {TOPICS} topics", pages, False, BROWSER),
    ]


def _searches(catalogue: Catalogue, path: str) -> list[str]:
    """Return searches for maps with their matching topics."""
    return [one.replace("/maps", path, 1) for one in search_paths(catalogue)]


def _second_words(catalogue: Catalogue) -> list[str]:
    """Return requests for suggestions while a user types the second word of a search."""
    words = words_of("Latin", catalogue.seed)[:IN_PROCESS]
    typed = (urlencode({"query": f"{a} {b[:3]}", "limit": 10}) for a, b in pairwise(words))
    return [f"/suggest?{parameters}" for parameters in typed]


def _maps_of_size(snapshot: Snapshot) -> list[Record]:
    """Return maps with about ``TOPICS`` topics from the start of the catalogue."""
    records = snapshot.at(list(range(min(len(snapshot), LOOKED_AT))), b"")
    return sorted(records, key=lambda one: abs(one.details.topics - TOPICS))[:PAGES]


# -- requests -----------------------------------------------------------------------------


def _in_process(application: InProcess, one: RequestKind) -> dict[str, Any]:
    sent = {name.lower(): value for name, _, value in (row.partition(": ") for row in one.headers)}
    paths = one.paths[:IN_PROCESS]
    if one.again:
        application.microseconds(paths, sent)
        paths = list(islice(cycle(paths), IN_PROCESS))
    return {"in_process": round(application.microseconds(paths, sent), 1)}


def _over_http(worker: Target, one: RequestKind, seconds: int, rounds: int) -> dict[str, Any]:
    if one.again:
        for path in one.paths:
            assert get(worker.port, path, worker.token).status == 200
    worker = replace(worker, headers=one.headers)
    runs = [_wrk(worker, one.paths, seconds) for _ in range(rounds)]
    failed = sum(run["failed"] for run in runs)
    return {
        "over_http": _typical(runs, "microseconds"),
        "p50_ms": _typical(runs, "p50_ms"),
        "p99_ms": _typical(runs, "p99_ms"),
        "addresses": len(one.paths),
        **({"failed": failed} if failed else {}),
    }


def _wrk(worker: Target, paths: Sequence[str], seconds: int) -> dict[str, Any]:
    run = wrk(worker, paths, seconds, CONNECTIONS)
    return {**run, "microseconds": 1e6 / run["requests_per_cpu_second"]}


def _typical(runs: Sequence[dict[str, Any]], name: str) -> float:
    return round(float(median(run[name] for run in runs)), 2)


def _against_floor(worker: Target, seconds: int, rounds: int) -> Iterator[tuple[str, Any]]:
    """Yield the cost of one page, and of only sending it; both are measured alternately."""
    ours, floor = [], []
    with _floor(worker) as empty:
        for _ in range(rounds):
            ours.append(_wrk(worker, [PAGE], seconds))
            floor.append(_wrk(empty, [PAGE], seconds))
    yield "floor: the same page, handed over", {"over_http": _typical(floor, "microseconds")}
    pairs = zip(floor, ours, strict=True)
    share = median(one["microseconds"] / other["microseconds"] for one, other in pairs)
    yield "page again, share of the floor", {"share": round(share, 3)}


@contextmanager
def _floor(worker: Target) -> Iterator[Target]:
    """Run an empty application that sends the response of ``worker`` for one page."""
    answer, port = get(worker.port, PAGE, worker.token), free_port()
    own = ("server", "date", "connection")
    headers = [(name, value) for name, value in answer.headers if name not in own]
    with tempfile.TemporaryDirectory(prefix="mapshelf-floor-") as name:
        file = Path(name, "page")
        file.write_bytes(pickle.dumps((headers, answer.body)))
        with running(python("benchmarks.floor", str(port), str(file)), Path(name, "log")) as pid:
            wait_until_ready(port, PAGE, "none")
            yield Target(port, pid, "none")


# -- parts of a request -------------------------------------------------------------------


def _building(catalogue: Catalogue, folder: Path) -> dict[str, Any]:
    """Return the processor time to build the query of a search from its parsed text."""
    index_schema, searcher = schema(), tantivy.Index.open(str(folder / TEXT)).searcher()
    builder = QueryBuilder(index_schema, searcher)
    queries = (parse_query(path.partition("?")[2].encode()) for path in search_paths(catalogue))
    terms = [parse_query_text(query.text) for query in islice(queries, IN_PROCESS)]
    return {"in_process": _microseconds(lambda one: builder.scored(one, ()), terms)}


def _first_pages(catalogue: Catalogue, folder: Path) -> dict[str, Any]:
    """Return the processor time of the first library page from a newly opened snapshot."""
    resources, store = PageResources(BASE_URL), open_store(catalogue.settings.database)
    resources.templates.load()

    pages = LibraryPages(resources.addresses)

    def page(snapshot: Snapshot) -> object:
        values = {"library": pages.page(MapQuery(), snapshot, store)}
        return resources.templates.page("library.html", values)

    page(Snapshot(folder))
    snapshots = [Snapshot(folder) for _ in range(PUBLICATIONS)]
    found = {"in_process": _microseconds(page, snapshots)}
    store.close()
    return found


def _microseconds(call: Callable[[Any], object], arguments: Sequence[Any]) -> float:
    began = time.process_time()
    for one in arguments:
        call(one)
    return round((time.process_time() - began) / len(arguments) * 1e6, 1)
