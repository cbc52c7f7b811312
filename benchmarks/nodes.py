"""Throughput of two nodes with one PostgreSQL, each with one worker on its own core.

Nodes share only the database, so two should have twice the throughput of one. Elapsed time shows
this only if clients have their own cores, which takes four. With fewer cores, the client of one
node shares the core of the other node. Then we compare each node's requests per second of processor
time: alone, and with the other node under full load. Shared caches and memory slow down both nodes
in these figures, too.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.catalogue import BASE_URL, Catalogue
from benchmarks.processes import cpu_seconds, free_port, python, running, wait_until_ready
from benchmarks.requests import mixed_paths
from benchmarks.serving import CONNECTIONS, PAGE, Target, new_token_in, typical, wrk
from mapshelf.settings import snapshots_folder
from mapshelf.store import open_store
from mapshelf.store.transfer import transfer_catalogue

CORES: Final = (0, 1)
"""The cores of the two nodes."""


def measured(catalogue: Catalogue, seconds: int, rounds: int) -> Iterator[tuple[str, Any]]:
    """Yield the throughput of each node alone, of both at once, and the ratios."""
    from benchmarks.peers import postgres  # noqa: PLC0415 - needs PostgreSQL's binaries

    with tempfile.TemporaryDirectory(prefix="mapshelf-nodes-") as name, ExitStack() as ends:
        place = Path(name)
        place.chmod(0o755)
        database = ends.enter_context(postgres.server(place))
        url = _url(database.address)
        _fill(catalogue, url)
        nodes = [ends.enter_context(_node(catalogue, place, url, core)) for core in CORES]
        yield from _compared(nodes, mixed_paths(catalogue), seconds, rounds, database.pid)


def _compared(
    nodes: list[Target], paths: list[str], seconds: int, rounds: int, database: int
) -> Iterator[tuple[str, Any]]:
    apart = _client_cores()
    alone: list[list[dict[str, Any]]] = [[], []]
    both: list[list[dict[str, Any]]] = [[], []]
    shares = []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            for runs, node, core in zip(alone, nodes, apart, strict=True):
                runs.append(wrk(node, paths, seconds, CONNECTIONS, core))
            used = cpu_seconds(database)
            pending = [
                pool.submit(wrk, node, paths, seconds, CONNECTIONS, core)
                for node, core in zip(nodes, apart, strict=True)
            ]
            for runs, future in zip(both, pending, strict=True):
                runs.append(future.result())
            used = cpu_seconds(database) - used
            shares.append(used / sum(runs[-1]["requests"] for runs in both))
    for name, runs in zip(("first alone", "second alone"), alone, strict=True):
        yield name, typical(runs)
    for name, runs in zip(("first of both", "second of both"), both, strict=True):
        yield name, typical(runs)
    yield "two_to_one_by_cpu", _ratio(both, alone, "requests_per_cpu_second")
    if max(apart) not in CORES:
        yield "two_to_one_by_the_clock", _ratio(both, alone, "requests_per_second")
    yield "database_microseconds_a_request", round(1e6 * max(shares), 2)


def _ratio(
    both: list[list[dict[str, Any]]], alone: list[list[dict[str, Any]]], figure: str
) -> float:
    """Return the throughput of both nodes, divided by the mean of each alone."""
    together = sum(typical(runs)[figure] for runs in both)
    single = sum(typical(runs)[figure] for runs in alone) / len(alone)
    return round(float(together / single), 3)


def _client_cores() -> tuple[int, int]:
    """Return the cores of the clients: their own ones if there are enough."""
    return (2, 3) if (os.cpu_count() or 1) >= 4 else (CORES[1], CORES[0])


def _url(address: str) -> str:
    """Return the URL of a database from a connection string of libpq."""
    said = dict(part.split("=", 1) for part in address.split())
    return f"postgresql://{said['user']}@/{said['dbname']}?host={quote(said['host'], safe='')}"


def _fill(catalogue: Catalogue, url: str) -> None:
    source, target = open_store(catalogue.settings.database), open_store(url)
    try:
        transfer_catalogue(source, target, lambda _: None)
    finally:
        source.close()
        target.close()


@contextmanager
def _node(catalogue: Catalogue, place: Path, url: str, core: int) -> Iterator[Target]:
    """Run a node with a copy of the catalogue's snapshot, which is still valid there."""
    data, token, port = place / f"node-{core}", new_token_in(url), free_port()
    shutil.copytree(snapshots_folder(catalogue.folder), snapshots_folder(data))
    command = python("mapshelf", "serve", "--data", str(data), "--database", url)
    command += ["--port", str(port), "--workers", "1", "--base-url", BASE_URL]
    with running(command, place / f"node-{core}.log", core) as pid:
        wait_until_ready(port, PAGE, token)
        yield Target(port, pid, token)
