"""Response times of normal clients without and with an attack.

For each attack, a new service is started on a copy of the same catalogue. A few normal ("calm")
clients send requests at a fixed rate, first without the attack, then during it.
"""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import orjson

import mapshelf
from benchmarks.catalogue import Catalogue, owner_name, owners_of, words_of
from benchmarks.http1 import get_request
from benchmarks.overload import attackers
from benchmarks.overload.attackers import SOURCE, AttackOptions, library_paths
from benchmarks.overload.child import ATTACKING, MEASURING, Child
from benchmarks.overload.files import BRANCHES, BYTES, MANY_BYTES, MANY_TOPICS, write_files
from benchmarks.overload.load import calm_clients
from benchmarks.overload.sockets import listeners, open_connections
from benchmarks.processes import (
    free_port,
    get,
    memory_of_all,
    python,
    running,
    tree,
    wait_until_ready,
)
from benchmarks.requests import listing_paths
from benchmarks.serving import PAGE, Target, new_token_in
from mapshelf.model import MAP_KEYS
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import open_store
from mapshelf.tokens import SCOPES

T = TypeVar("T")
Figures = Iterator[tuple[str, Any]]
Streams = dict[str, tuple[list[bytes], float]]
"""Requests and their rate per second, by name."""

WORKERS: Final = 2
LISTS: Final = 50.0
SEARCHES: Final = 20.0
"""Requests of the calm clients per second: a few per cent of the peak throughput."""

COMMON: Final = 20
"""How many of the most frequent words to search for; each is in many maps."""

WARMING_UP: Final = 3.0
COUNTED_AFTER: Final = 65.0
"""Seconds after which we count the slow readers that are still connected."""

SETTLING: Final = 5.0
"""Seconds from the end of an attack until memory is measured again."""

BURSTS: Final = 15
SAME_TIME: Final = 32
FRESH_TOKENS: Final = 50
FLOOD: Final = 200
ASKED_READY: Final = (10, 15, 1.2)
"""Clients that request ``/readyz`` at the same time, how often, and the seconds between.

A node caches the state of its store for one second; after that, it has to query the store.
"""


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a measurement; short ones are only for tests.

    Attributes:
        seconds: duration of each load of the calm clients.
        warming_up: duration of the warm-up.
        branches: children per topic on each level of the map with many topics.
        bytes: size of the large file.
    """

    seconds: float
    warming_up: float = WARMING_UP
    branches: tuple[int, int, int] = BRANCHES
    bytes: int = BYTES


@dataclass(frozen=True, slots=True)
class Testbed:
    """The service, its clients and its large maps.

    Attributes:
        target: the service.
        catalogue: the catalogue that it serves.
        calm: requests of the calm clients.
        seconds: duration of each load.
        topics: the map with many topics, as ``GET /maps`` returns it.
        large: the map with a large file.
    """

    target: Target
    catalogue: Catalogue
    calm: Streams
    seconds: float
    topics: dict[str, str]
    large: dict[str, str]

    @property
    def log(self) -> Path:
        """The log file of the service."""
        return self.catalogue.folder / "server.log"

    def options(self, *paths: str, count: int) -> AttackOptions:
        """Return the target and the size of an attack."""
        return AttackOptions(
            self.target.port, self.target.token, paths, count, seconds=self.seconds
        )

    def lines(self) -> int:
        """Return how many lines the log has."""
        return self.log.read_bytes().count(b"\n")

    def memory(self) -> dict[str, Any]:
        """Return the memory of all processes of the service."""
        return memory_of_all(self.target.processes())


def measured(
    catalogue: Catalogue, scale: Scale, chosen: list[str] | None, files: Path | None
) -> Figures:
    """Yield the response times of calm clients without and with each attack, and its outcome.

    Args:
        catalogue: the catalogue to serve; only a copy is changed.
        scale: the size of the measurement.
        chosen: names of ``ATTACKS``, by default all.
        files: a folder of further map files to serve.
    """
    yield "measured code", {"path": str(Path(mapshelf.__file__).parent)}
    place = catalogue.folder.with_name(f"{catalogue.folder.name}-overload")
    shutil.rmtree(place, ignore_errors=True)
    try:
        prepared = catalogue.copied_to(place / "prepared")
        yield "catalogue", _extended(prepared, scale, files)
        for name in chosen or ATTACKS:
            copy = prepared.copied_to(place / name)
            with _started(copy, scale) as testbed:
                for question, answer in ATTACKS[name](testbed):
                    yield f"{name}: {question}", answer
            shutil.rmtree(copy.folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _extended(catalogue: Catalogue, scale: Scale, files: Path | None) -> dict[str, Any]:
    """Import the large map files and those in ``files``; publish a snapshot with them."""
    made = catalogue.folder / "files"
    write_files(made, catalogue.seed, scale.branches, scale.bytes)
    command = python("mapshelf", "import", "--data", str(catalogue.folder), str(made))
    done = subprocess.run(
        [*command, *([str(files)] if files else [])], capture_output=True, text=True, check=False
    )
    store = open_store(catalogue.settings.database)
    builder = Builder(store, SnapshotDirectory(catalogue.settings.snapshots))
    builder.advance()
    builder.close()
    store.close()
    return {"import": done.stdout.strip().rpartition("\n")[2]}


@contextmanager
def _started(catalogue: Catalogue, scale: Scale) -> Iterator[Testbed]:
    """Run the service on all cores, and warm it up."""
    token, port = new_token_in(catalogue.settings.database), free_port()
    command = python("mapshelf", "serve", "--data", str(catalogue.folder), "--port", str(port))
    command += ["--workers", str(WORKERS), "--base-url", f"http://127.0.0.1:{port}"]
    with running(command, catalogue.folder / "server.log", core=None) as pid:
        wait_until_ready(port, PAGE, token)
        target = Target(port, pid, token)
        topics, large = (_found(target, title) for title in (MANY_TOPICS, MANY_BYTES))
        calm = _calm_requests(catalogue, token)
        with Child(calm_clients, port, calm, scale.warming_up, nice=MEASURING):
            pass
        yield Testbed(target, catalogue, calm, scale.seconds, topics, large)


def _found(target: Target, title: str) -> dict[str, str]:
    body = get(target.port, f"/maps?query={title.replace(' ', '+')}&limit=1", target.token).body
    found: list[dict[str, str]] = orjson.loads(body)
    assert [row["Title"] for row in found] == [title], body[:500]
    assert list(found[0]) == list(MAP_KEYS)
    return found[0]


def _calm_requests(catalogue: Catalogue, token: str) -> Streams:
    """Return the requests of calm clients: different lists, and searches for common words."""
    words = words_of("Latin", catalogue.seed)[:COMMON]
    offsets = range(0, 2000, 20)
    searches = [f"/maps?query={word}&offset={offset}" for offset in offsets for word in words]
    random.Random(catalogue.seed).shuffle(searches)
    return {
        "lists": ([get_request(path, token) for path in listing_paths(catalogue)], LISTS),
        "searches": ([get_request(path, token) for path in searches], SEARCHES),
    }


# -- measuring during an attack ----------------------------------------------------------------


@contextmanager
def _measured_during(
    testbed: Testbed, attack: AbstractContextManager[T], arriving: Streams | None = None
) -> Iterator[tuple[T, Figures]]:
    """Measure calm clients before and during ``attack``; yield it, and the comparison.

    ``arriving`` are streams of requests that are sent only during the attack.
    """
    calm = _sent(testbed, testbed.calm)
    written = testbed.memory()["kept_mb"]
    used, began, lines = testbed.target.cpu_seconds(), time.perf_counter(), testbed.lines()
    with attack as going_on:
        attacked = _sent(testbed, testbed.calm | (arriving or {}))
        seconds = time.perf_counter() - began
        used = testbed.target.cpu_seconds() - used
        answers = {name: _compared(calm[name], attacked[name]) for name in testbed.calm}
        answers |= {name: _flat(attacked[name]) for name in arriving or {}}
        answers["server"] = {
            "cpu seconds a second": round(used / seconds, 2),
            "kept mb before": written,
            "kept mb": testbed.memory()["kept_mb"],
            "log lines": testbed.lines() - lines,
        }
        yield going_on, iter(answers.items())


def _sent(testbed: Testbed, streams: Streams) -> dict[str, Any]:
    """Send ``streams`` from a separate process; return the figures."""
    with Child(
        calm_clients, testbed.target.port, streams, testbed.seconds, nice=MEASURING
    ) as child:
        return child.result()


def _compared(calm: dict[str, Any], attacked: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for figure in ("p50", "p99", "max"):
        result[f"calm {figure}"] = round(calm[figure], 2)
    for figure in ("p50", "p99", "max"):
        result[figure] = round(attacked[figure], 2)
    result["p99 ratio"] = round(attacked["p99"] / calm["p99"], 2)
    failed = attacked["calls"] - attacked["outcomes"].get("200", 0)
    result |= {"asked": attacked["calls"], "failed": failed}
    result["outcomes"] = " ".join(f"{name}={many}" for name, many in attacked["outcomes"].items())
    return result


def _flat(figures: dict[str, Any]) -> dict[str, Any]:
    """Return figures as a flat dictionary, for a table row."""
    plain: dict[str, Any] = {}
    for name, value in figures.items():
        inner = value if isinstance(value, dict) else {"": value}
        plain |= {f"{name} {key}".strip(): figure for key, figure in inner.items()}
    return plain


# -- the attacks -------------------------------------------------------------------------------


def _half_sent(testbed: Testbed) -> Figures:
    options = testbed.options(count=2000)
    half_sent = Child(attackers.half_sent, options, nice=ATTACKING)
    with _measured_during(testbed, half_sent) as (attack, answers):
        yield from answers
        still = open_connections(testbed.target.port, SOURCE)
        yield "attackers", {**attack.end(), "held at the end": still}


def _slow_readers(testbed: Testbed) -> Figures:
    large = testbed.large
    paths = (f"/maps/{large['ID']}/file", f"{urlsplit(large['URL']).path}/original")
    options = testbed.options(*paths, count=500)
    yield "memory before", testbed.memory()
    began = time.perf_counter() + testbed.seconds  # after the load without the attack
    readers = Child(attackers.slow_readers, options, nice=ATTACKING)
    with _measured_during(testbed, readers) as (attack, answers):
        yield from answers
        yield "memory under attack", _memory_and_connections(testbed)
        time.sleep(max(0.0, began + COUNTED_AFTER - time.perf_counter()))
        yield f"memory after {COUNTED_AFTER:.0f} s", _memory_and_connections(testbed)
        yield "attackers", attack.end()
    time.sleep(SETTLING)
    yield "memory afterwards", _memory_and_connections(testbed)


def _memory_and_connections(testbed: Testbed) -> dict[str, Any]:
    return {**testbed.memory(), "connections": open_connections(testbed.target.port, SOURCE)}


def _crawling_uploads(testbed: Testbed) -> Figures:
    token = new_token_in(testbed.catalogue.settings.database, " ".join(SCOPES))
    options = replace(testbed.options(count=100), token=token, pause=0.1)
    crawling = Child(attackers.crawling_uploads, options, nice=ATTACKING)
    with _measured_during(testbed, crawling) as (attack, answers):
        yield from answers
        yield "attackers", attack.end()


def _hang_ups(testbed: Testbed) -> Figures:
    options = testbed.options(*_costly_paths(testbed), count=50)
    hang_ups = Child(attackers.hang_ups, options, nice=ATTACKING)
    with _measured_during(testbed, hang_ups) as (attack, answers):
        yield from answers
        yield "attackers", attack.end()


def _cut_bodies(testbed: Testbed) -> Figures:
    cutting = Child(attackers.cut_bodies, testbed.options(count=1), nice=ATTACKING)
    with _measured_during(testbed, cutting) as (attack, answers):
        yield from answers
        yield "attackers", attack.end()


def _costly_paths(testbed: Testbed) -> list[str]:
    """Return the paths of all that is generated from the map with many topics."""
    document = orjson.loads(get(testbed.target.port, "/openapi.json", "").body)
    values = {
        name: parameter["schema"].get("enum", [])
        for name, parameter in document["components"]["parameters"].items()
    }
    public_id, page = testbed.topics["ID"], urlsplit(testbed.topics["URL"]).path
    pictures = [
        f"/thumbnails/{public_id}.{picture}?w={width}&theme={theme}"
        for picture in values["picture"]
        for width in values["w"]
        for theme in values["theme"]
    ]
    exports = [f"{page}.{suffix}" for suffix in values["format"]]
    return [page, f"/site/maps/{public_id}.json", *exports, *pictures]


def _invented_tokens(testbed: Testbed, pause: float) -> Figures:
    url = testbed.catalogue.settings.database
    fresh = [get_request(PAGE, new_token_in(url)) for _ in range(FRESH_TOKENS)]
    arriving = {"fresh tokens": (fresh, FRESH_TOKENS / testbed.seconds)}
    options = replace(testbed.options(count=300), pause=pause)
    strangers = Child(attackers.invented_tokens, options, nice=ATTACKING)
    with _measured_during(testbed, strangers, arriving) as (attack, answers):
        yield from answers
        yield "attackers", attack.end()


def _page_flood(testbed: Testbed) -> Figures:
    paths = islice(_pages(testbed, "flood"), round(FLOOD * testbed.seconds))
    options = testbed.options(*paths, count=FLOOD)
    flood = Child(attackers.page_flood, options, nice=ATTACKING)
    with _measured_during(testbed, flood) as (attack, answers):
        yield from answers
        figures = attack.result()
    for name in ("served", "refused with 503"):
        yield name, figures.pop(name)
    yield "attackers", _flat(figures)


def _pages(testbed: Testbed, seed: str) -> Iterator[str]:
    catalogue = testbed.catalogue
    words = words_of("Latin", catalogue.seed)[:500]
    owners = [owner_name(number, catalogue.seed) for number in range(owners_of(catalogue.size))]
    body = get(testbed.target.port, "/maps?limit=50&order_by=views", testbed.target.token).body
    pages = [urlsplit(row["URL"]).path for row in orjson.loads(body)]
    return library_paths(words, owners, pages, seed)


def _equal_pages(testbed: Testbed) -> Figures:
    """Yield the processor time for bursts of equal requests, and for single requests."""
    port, target = testbed.target.port, testbed.target
    spent: dict[int, float] = {}
    for count in (1, SAME_TIME):
        paths = [f"/?order_by=alpha&offset={20 * i}&n={count}" for i in range(1, BURSTS + 1)]
        used, began = target.cpu_seconds(), time.perf_counter()
        with Child(
            attackers.equal_requests, AttackOptions(port, "", tuple(paths), count), nice=0
        ) as child:
            figures = child.result()
        seconds = time.perf_counter() - began
        used = target.cpu_seconds() - used
        spent[count] = 1000 * used / BURSTS
        result = {
            "server cpu ms each": round(spent[count], 1),
            "ms each": round(1000 * seconds / BURSTS, 1),
        }
        yield f"{count} at once", result | figures
    yield "cpu ratio", round(spent[SAME_TIME] / spent[1], 2)


def _worker_kills(testbed: Testbed) -> Figures:
    with _measured_during(testbed, _Killer(testbed.target)) as (killer, answers):
        # The processor time of killed workers is unknown.
        yield from (answer for answer in answers if answer[0] in testbed.calm)
    yield "killed", {"workers": killer.killed, "none found": killer.missed}


def _readiness(testbed: Testbed) -> Figures:
    """Yield the statuses of ``/readyz`` for simultaneous requests."""
    at_once, rounds, pause = ASKED_READY
    options = AttackOptions(testbed.target.port, "", ("/readyz",) * rounds, at_once, pause=pause)
    with Child(attackers.equal_requests, options, nice=0) as child:
        yield "statuses", child.result()


class _Killer(Thread):
    """Kills workers, one after the other, until the context ends."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self._target = target
        self._chance = random.Random("kills")
        self._parents: set[int] = set()
        self._ended = Event()
        self.killed = 0
        self.missed = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(self._chance.uniform(0.6, 2.5)):
            workers = self._workers()
            if not workers:
                self.missed += 1
                continue
            subprocess.run(["kill", "-9", str(self._chance.choice(workers))], check=False)
            self.killed += 1

    def _workers(self) -> list[int]:
        """Return the processes that listen, without those that ever had a child that listens."""
        holders = set(listeners(self._target.port, self._target.processes()))
        self._parents |= {pid for pid in holders if holders & set(tree(pid)[1:])}
        return sorted(holders - self._parents)


ATTACKS: Final[dict[str, Callable[[Testbed], Figures]]] = {
    "half-sent": _half_sent,
    "slow-readers": _slow_readers,
    "crawling-uploads": _crawling_uploads,
    "hang-ups": _hang_ups,
    "cut-bodies": _cut_bodies,
    "invented-tokens": partial(_invented_tokens, pause=0.1),
    "token-flood": partial(_invented_tokens, pause=0.0),
    "page-flood": _page_flood,
    "equal-pages": _equal_pages,
    "worker-kills": _worker_kills,
    "readiness": _readiness,
}
"""Attacks by name."""
