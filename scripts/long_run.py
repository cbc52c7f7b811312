"""Serves a mixed load for hours, and checks whether anything grows or gets slower.

    python scripts/long_run.py --minutes 120 [--rate 20] [--maps 2000] [--at DIR] [--output FILE]
                               [--hurry 1] [--noted-every 60]

Programs request lists, searches and profiles, and people request pages and thumbnails, at a fixed
rate. Meanwhile a user uploads, votes and deletes, a folder is imported repeatedly, and backups are
made. Choose about half of the rate that the machine can serve. Every minute (``--noted-every``) and
at the end, the script records the memory and descriptors of all processes, the size of the
database's log and the number of files. The exit code is 1 if a response was 5xx or missing, if
memory, descriptors or log in the last quarter exceed those in the second by more than a tenth, or
if the 99th percentile of the last quarter exceeds 1.1 times that of the first. This last check is
meaningful only on an idle machine. With fewer than four records, as in ``tests/test_long_runs.py``,
quarters are not compared.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
from benchmarks import building
from benchmarks import catalogue as catalogues
from benchmarks.catalogue import Catalogue
from benchmarks.http1 import get_request
from benchmarks.overload.load import NO_ANSWER, offer
from benchmarks.processes import cpu_seconds, memory_of_all, tree
from benchmarks.requests import mixed_paths
from tests.api.publishing import plan
from tests.cli.process import Mapshelf, serving
from tests.cli.test_commands import write_map

from mapshelf.tokens import SCOPES, new_token, token_digest

UPLOADED_EVERY: Final = 3.0
IMPORTED_EVERY: Final = 30.0
BACKED_UP_EVERY: Final = 300.0
PATIENCE: Final = 120.0
"""Seconds to wait for anything that is not measured."""

KEPT: Final = 20
"""Uploads that exist at a time; older ones are deleted, so that their number does not grow."""

TRACEBACK_SHOWN: Final = 4000
"""Characters of the first traceback in the log that are reported; the log itself is deleted."""

QUARTERS: Final = 4
GROWTH: Final = 1.1
WATCHED: Final = ("kept_mb", "descriptors", "wal_mb")
"""What must not grow. Files are only reported, because cached pictures accumulate up to a limit."""


def main() -> int:
    """Serve as long as the options say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rate", type=float, default=20, help="requests a second")
    parser.add_argument("--maps", type=int, default=2000)
    parser.add_argument("--at", type=Path, help="existing folder for the catalogue")
    parser.add_argument("--output", type=Path, help="where to write the figures")
    parser.add_argument(
        "--hurry",
        type=float,
        default=1,
        help="factor by which uploads, imports and backups are more frequent",
    )
    parser.add_argument("--noted-every", type=float, default=60, help="seconds between samples")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mapshelf-long-run-", dir=given.at) as name:
        for _ in catalogues.prepare(given.maps, Path(name)):
            pass
        made = catalogues.prepared(given.maps, Path(name))
        building.build(made, lambda _: None)
        figures = _served(made, given)
    text = json.dumps(figures, indent=2)
    print(text)
    if given.output:
        given.output.write_text(text + "\n", "utf-8")
    for fault in figures["faults"]:
        print(fault, file=sys.stderr)
    return 1 if figures["faults"] else 0


def _served(made: Catalogue, given: argparse.Namespace) -> dict[str, Any]:
    seconds, rate = given.minutes * 60, given.rate
    mapshelf, token = Mapshelf(made.folder), new_token()
    with closing(mapshelf.store()) as store:
        store.add_user("ann")
        store.add_token("ann", token_digest(token), label="", scopes=" ".join(SCOPES), expires=None)
    samples: list[dict[str, Any]] = []
    faults: list[str] = []
    log = (made.folder / "server.log").open("wb")
    options = ("--uploads-per-hour", "1000000", "--quota-maps", "1000000")
    with log, serving(mapshelf, *options, token=token, workers=2, log=log) as service:
        service.wait_until_ready()
        port = int(service.url.rpartition(":")[2])
        works = (
            (UPLOADED_EVERY, _publisher(service.url, token)),
            (IMPORTED_EVERY, _importer(mapshelf, made.folder.with_name("maps"))),
            (BACKED_UP_EVERY, _backer(mapshelf, made.folder.with_name("backup"))),
            (
                given.noted_every * given.hurry,
                lambda: samples.append(_sample(service.process.pid, made.folder)),
            ),
        )
        before = cpu_seconds(service.process.pid)
        with _repeated(works, given.hurry, faults):
            quarters = [
                asyncio.run(offer(port, requests, rate, seconds / QUARTERS))
                for requests in [_requests(made, service.url, token)] * QUARTERS
            ]
        samples.append(_sample(service.process.pid, made.folder))
        spent = cpu_seconds(service.process.pid) - before
    answers: Counter[str] = Counter()
    times = []
    for quarter in quarters:
        answers.update(quarter.counts())
        times.append(quarter.times())
        wrong = [status for status in quarter.taken if status >= 500 or status == NO_ANSWER]
        faults += [f"{len(quarter.taken[status])} responses with {status}" for status in wrong]
    text = (made.folder / "server.log").read_text("utf-8", "replace")
    if "Traceback" in text:
        at = text.rfind("\n", 0, text.index("Traceback"))  # with the log line before it
        faults.append(f"the log has a traceback: {text[max(0, at - 500) : at + TRACEBACK_SHOWN]}")
    return {
        "minutes": seconds / 60,
        "rate": rate,
        "answers": dict(answers),
        "quarters": times,
        "processor seconds": round(spent, 1),
        "samples": samples,
        "faults": [
            *faults,
            *_growth(samples),
            *(_slower(times) if len(samples) >= QUARTERS else ()),
        ],
    }


def _growth(samples: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what has grown from the second quarter to the last; the first one fills caches."""
    part = len(samples) // QUARTERS
    if not part:
        return
    for name in WATCHED:
        second = statistics.median(row[name] for row in samples[part : 2 * part])
        last = statistics.median(row[name] for row in samples[-part:])
        if last > GROWTH * second + 1:
            yield f"{name} grew from {second} to {last}"


def _slower(times: list[dict[str, Any]]) -> Iterator[str]:
    first, last = times[0]["p99"], times[-1]["p99"]
    if last > GROWTH * first:
        yield f"the 99th percentile was {first} ms in the first quarter, {last} ms in the last"


def _sample(process: int, data: Path) -> dict[str, Any]:
    family = tree(process)
    wal = data / "catalogue.db-wal"
    return {
        "kept_mb": memory_of_all(family)["kept_mb"],
        "kept_mb_of_each": [memory_of_all([one])["kept_mb"] for one in family],
        "descriptors": sum(_descriptors(one) for one in family),
        "wal_mb": round(wal.stat().st_size / 1e6, 1) if wal.exists() else 0.0,
        "files": sum(len(names) for _, _, names in os.walk(data)),
        "processes": len(family),
    }


def _descriptors(process: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{process}/fd"))
    return 0


def _requests(made: Catalogue, url: str, token: str) -> list[bytes]:
    """Return the requests of programs and people, in order."""
    headers = {"Authorization": f"Bearer {token}"}
    rows = httpx.get(f"{url}/maps?limit=50", headers=headers, timeout=PATIENCE).json()
    _warm_up(f"{url}/thumbnails/{rows[0]['ID']}.png?w=320", headers)
    pages = cycle([row["URL"].partition("//")[2].partition("/")[2] for row in rows])
    pictures = cycle([f"thumbnails/{row['ID']}.png?w=320" for row in rows])
    requests = []
    for number, path in enumerate(mixed_paths(made)):
        requests.append(get_request(path, token))
        if number % 5 == 0:
            requests.append(get_request(f"/{next(pages)}"))
            requests.append(get_request("/"))
        if number % 10 == 0:
            requests.append(get_request(f"/{next(pictures)}", token))
    return requests


def _warm_up(url: str, headers: dict[str, str]) -> None:
    """Request a picture, because the child that draws takes seconds to start, longer under load."""
    began = time.monotonic()
    while httpx.get(url, headers=headers, timeout=PATIENCE).status_code != 200:
        assert time.monotonic() - began < PATIENCE, "no picture is drawn"
        time.sleep(0.2)


# -- background work -----------------------------------------------------------------------------


@contextmanager
def _repeated(
    works: tuple[tuple[float, Callable[[], object]], ...], hurry: float, faults: list[str]
) -> Iterator[None]:
    """Inside the ``with`` block, repeat each piece of work at its interval divided by ``hurry``."""
    ended = threading.Event()

    def repeat(pause: float, work: Callable[[], object]) -> None:
        while not ended.wait(pause / hurry):
            try:
                work()
            except Exception as error:
                faults.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=repeat, args=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _publisher(url: str, token: str) -> Callable[[], None]:
    client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    made: list[str] = []

    def publish() -> None:
        content = plan(f"Long run {time.time_ns()}", "water", "soil")
        answer = client.post("/maps", files={"map": ("plan.mm", content)})
        assert answer.status_code == 201, answer.text
        made.append(answer.json()["ID"])
        if len(made) > KEPT:
            answer = client.delete(f"/maps/{made.pop(0)}")
            assert answer.status_code == 204, answer.text

    return publish


def _importer(mapshelf: Mapshelf, folder: Path) -> Callable[[], None]:
    def again() -> None:
        for number in range(3):
            write_map(folder / f"{number}.mm", f"Imported {number} at {time.time_ns()}")
        subprocess.run(mapshelf.command("import", folder), check=True, capture_output=True)

    return again


def _backer(mapshelf: Mapshelf, file: Path) -> Callable[[], None]:
    def back_up() -> None:
        file.unlink(missing_ok=True)
        subprocess.run(mapshelf.command("backup", file), check=True, capture_output=True)

    return back_up


if __name__ == "__main__":
    sys.exit(main())
