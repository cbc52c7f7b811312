"""Throughput over HTTP, compared with nginx sending the same bytes from a file.

Server and client have one core each. nginx sends the body and headers of Mapshelf's response. The
two are measured alternately in the same run, so noise affects both alike. Other load on the machine
reduces requests per second, but hardly affects requests per second of processor time.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.catalogue import BASE_URL, Catalogue
from benchmarks.processes import (
    CLIENT_CORE,
    Answer,
    children,
    cpu_seconds,
    free_port,
    get,
    memory,
    memory_of_all,
    name_of,
    precise_cpu_seconds,
    python,
    running,
    tree,
    wait_until_ready,
)
from benchmarks.requests import listing_paths, mixed_paths, search_paths
from mapshelf.errors import AlreadyExists
from mapshelf.store import open_store
from mapshelf.tokens import new_token, token_digest

PAGE: Final = "/maps?limit=20"
CONNECTIONS: Final = 32
SETTLING_SECONDS: Final = 10
IDLE_SECONDS: Final = 20
SCRIPT: Final = Path(__file__).with_name("load.lua")

# Headers that nginx writes by itself, so they must not be added again.
_OWN: Final = ("content-type", "content-length", "server", "date", "connection")

_NGINX: Final = """
daemon off;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  etag off;
  max_ranges 0;
  server_tokens off;
  keepalive_requests 1000000000;
  open_file_cache max=100 inactive=1h;
  open_file_cache_valid 1h;
  types {{ }}
  default_type application/json;
  server {{
    listen 127.0.0.1:{port} backlog=16384;
    location / {{
      root {folder};
      try_files /page.json =404;
      add_header last-modified "";
{headers}
    }}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A running server.

    Attributes:
        port: the port it listens on.
        pid: its main process.
        token: the access token for requests.
        behind: main processes of other servers that it needs, such as a database.
        headers: further headers that ``wrk`` sends with each request.
    """

    port: int
    pid: int
    token: str
    behind: tuple[int, ...] = ()
    headers: tuple[str, ...] = ()

    def processes(self) -> list[int]:
        """Return all processes of the server and of those behind it."""
        return [pid for first in (self.pid, *self.behind) for pid in tree(first)]

    def cpu_seconds(self) -> float:
        """Return the processor seconds of all these processes so far."""
        return sum(cpu_seconds(first) for first in (self.pid, *self.behind))


@contextmanager
def service(catalogue: Catalogue, workers: int = 1) -> Iterator[tuple[Target, float]]:
    """Run Mapshelf on a catalogue; yield it, and the seconds until its first response."""
    token, port = new_token_in(catalogue.settings.database), free_port()
    command = python("mapshelf", "serve", "--data", str(catalogue.folder), "--port", str(port))
    command += ["--workers", str(workers), "--base-url", BASE_URL]
    began = time.perf_counter()
    with running(command, catalogue.folder / "server.log") as pid:
        wait_until_ready(port, PAGE, token)
        yield Target(port, pid, token), time.perf_counter() - began


@contextmanager
def nginx(answer: Answer) -> Iterator[Target]:
    """Run nginx, which sends ``answer`` to every request."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="mapshelf-nginx-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "page.json").write_bytes(answer.body)
        headers = [
            f"      add_header {name} '{value}';"
            for name, value in answer.headers
            if name not in _OWN
        ]
        user = "user root;" if os.geteuid() == 0 else ""
        text = _NGINX.format(folder=folder, port=port, user=user, headers="\n".join(headers))
        (folder / "nginx.conf").write_text(text)
        command = ["nginx", "-p", name, "-c", f"{name}/nginx.conf"]
        with running(command, folder / "output.log") as pid:
            wait_until_ready(port, "/", "none")
            yield Target(port, pid, "none")


def wrk(
    target: Target,
    paths: Sequence[str],
    seconds: int,
    connections: int,
    core: int = CLIENT_CORE,
) -> dict[str, Any]:
    """Run ``wrk`` with these paths on one core; return its figures and the server's rates."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(paths) + "\n")
        file.flush()
        command = ["taskset", "-c", str(core), "wrk", "-t1", f"-c{connections}"]
        command += [f"-d{seconds}", "--timeout", "10", "-s", str(SCRIPT)]
        for header in (f"Authorization: Bearer {target.token}", *target.headers):
            command += ["-H", header]
        command += [f"http://127.0.0.1:{target.port}", "--", file.name]
        used = target.cpu_seconds()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        used = target.cpu_seconds() - used
    result: dict[str, Any] = json.loads(done.stdout.rsplit("\n{", 1)[1].join(("{", "")))
    result["requests_per_second"] = round(result["requests"] / result["seconds"])
    result["requests_per_cpu_second"] = round(result["requests"] / used) if used else 0
    return result


def measured(catalogue: Catalogue, seconds: int, rounds: int) -> Iterator[tuple[str, Any]]:
    """Yield each measurement with its figures."""
    with service(catalogue) as (target, ready):
        yield "ready_seconds", round(ready, 3)
        yield "memory_at_rest", memory(worker_processes(target)[0])
        yield "idle", _idle(target)
        yield from _against_nginx(target, seconds, rounds)
        questions = {
            "users/me": ["/users/me"],
            "many listings": listing_paths(catalogue),
            "many searches": search_paths(catalogue),
            "a mixture": mixed_paths(catalogue),
        }
        for name, paths in questions.items():
            runs = [wrk(target, paths, seconds, CONNECTIONS) for _ in range(rounds)]
            yield name, typical(runs)
        yield "memory_after_load", memory(worker_processes(target)[0])
    with service(catalogue, workers=2) as (target, _):
        wrk(target, mixed_paths(catalogue), seconds, CONNECTIONS)
        yield "memory_of_two_workers", [memory(pid) for pid in worker_processes(target)[:2]]


def _idle(target: Target) -> dict[str, Any]:
    """Return what an idle service costs: milliseconds of processor a second, and memory."""
    time.sleep(SETTLING_SECONDS)
    began, used = time.monotonic(), precise_cpu_seconds(target.pid)
    time.sleep(IDLE_SECONDS)
    used = precise_cpu_seconds(target.pid) - used
    milliseconds = used / (time.monotonic() - began) * 1000
    return {"cpu_ms_per_second": round(milliseconds, 1), **memory_of_all(target.processes())}


def typical(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure over several runs, and the sum of failures."""
    merged = {name: median(run[name] for run in runs) for name in runs[0]}
    merged["failed"] = sum(run["failed"] for run in runs)
    merged["runs"] = len(runs)
    return merged


def _against_nginx(target: Target, seconds: int, rounds: int) -> Iterator[tuple[str, Any]]:
    answer = get(target.port, PAGE, target.token)
    ours, theirs = [], []
    with nginx(answer) as other:
        copy = get(other.port, PAGE, "none")
        for _ in range(rounds):
            ours.append(wrk(target, [PAGE], seconds, CONNECTIONS))
            theirs.append(wrk(other, [PAGE], seconds, CONNECTIONS))
    yield "one page", typical(ours)
    yield (
        "nginx",
        {
            **typical(theirs),
            "same_body": copy.body == answer.body,
            "other_headers": sorted(_header_names(copy) ^ _header_names(answer)),
            "body_bytes": len(answer.body),
        },
    )
    yield "share_of_nginx", _share(ours, theirs, "requests_per_second")
    yield "share_of_nginx_by_cpu", _share(ours, theirs, "requests_per_cpu_second")


def _share(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], name: str) -> float:
    """Return the median ratio of the pairs; the runs of a pair are successive."""
    pairs = zip(ours, theirs, strict=True)
    return round(float(median(one[name] / other[name] for one, other in pairs)), 3)


def _header_names(answer: Answer) -> set[str]:
    return {name for name, _ in answer.headers} - {"connection"}


def worker_processes(target: Target) -> list[int]:
    """Return the worker processes: the children with this name."""
    return [pid for pid in children(target.pid) if name_of(pid) == "worker"]


def new_token_in(url: str, scopes: str = "account maps") -> str:
    """Create a token in the database at ``url`` and return it; it is not saved elsewhere."""
    store = open_store(url)
    with suppress(AlreadyExists):
        store.add_user("benchmark")
    token = new_token()
    store.add_token("benchmark", token_digest(token), label="", scopes=scopes, expires=None)
    store.close()
    return token
