"""Sends generated requests to the application in its own process, while maps change.

    python scripts/fuzz_requests.py [--requests 1000000] [--minutes N] [--seed 1] [--checked 10]
                                    [--slow 1] [--without-drawings]

The requests are those of ``benchmarks/fuzzing.py``: valid, unusual and invalid ones, with paths,
parameters, headers, methods and bodies of all kinds; only the network is left out. The exit code is
1 if a response was 5xx, if one contradicted the OpenAPI document (every ``--checked``-th response
of a documented operation is compared in full), or if one took over a second (``--slow``) twice.
Times are meaningful only on an idle machine.
"""

import argparse
import asyncio
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
import jsonschema
from benchmarks.catalogue import Catalogue
from benchmarks.fuzzing import Requests
from benchmarks.serving import Target
from tests.api.openapi import DOCUMENT, check, template_of
from tests.cli.process import EXAMPLES, Mapshelf
from tests.harness import Service, Shelf, serve

from mapshelf.model import MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.site import site_routes
from mapshelf.tokens import SCOPES

AT_A_TIME: Final = 8
CHANGED_EVERY: Final = 400
"""Requests between two changes of maps; each change is published."""

SHOWN: Final = 20
WARMING_UP: Final = (
    "/maps",
    "/thumbnails/{}.png",
    "/maps/{}/drawing.svg",
    "/maps/{}/drawing.pdf",
    "/maps/{}/outline.docx",
)
ALLOWED: Final = "/%:@!$&'()*+,;="
"""Characters that need no quoting in the path of a URL; generated paths contain others, too."""

TOLD_EVERY: Final = 2_000
PLAIN: Final = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z._-]*")
DRAWN: Final = re.compile(rb"/thumbnails/|/drawing|\.pdf|\.png|\.svg|/images/")


@dataclass(slots=True)
class Answer:
    """A response, and the seconds it took; the status is 0 if there was none."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    seconds: float = 0.0


@dataclass(slots=True)
class Found:
    """The results of all requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    checked: int = 0
    slowest: float = 0.0
    slow: int = 0
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str, request: bytes) -> None:
        """Record that something was wrong."""
        self.faults.append(f"{what}: {request[:300]!r}")
        if len(self.faults) <= SHOWN:
            print(self.faults[-1], flush=True)


def main() -> int:
    """Send the requests that the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, help="most minutes; default: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checked", type=int, default=10)
    parser.add_argument("--slow", type=float, default=1.0, help="seconds of a slow response")
    parser.add_argument(
        "--without-drawings",
        action="store_true",
        help="omit drawings, which time out on a busy machine",
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mapshelf-fuzz-") as name:
        found = sent(Path(name), given)
    print(
        f"{sum(found.statuses.values())} requests, {found.checked} compared with the document,"
        f" {len(found.faults)} faults, {found.slow} over {given.slow:g} s twice,"
        f" the slowest took {found.slowest:.2f} s;"
        f" {dict(sorted(found.statuses.items()))}"
    )
    return 1 if found.faults or found.slow else 0


def sent(folder: Path, given: argparse.Namespace) -> Found:
    """Send requests to a catalogue of our samples in ``folder``; return the results."""
    Mapshelf(folder).run("import", EXAMPLES)
    shelf, found = Shelf(folder, sqlite_url(folder)), Found()
    chance = random.Random(given.seed)  # noqa: S311 - the same each time
    try:
        shelf.publish()
        known = [(one.id, "x") for one in shelf.store.maps(0, 500)]
        requests = _drawn(shelf, known, given)
        with serve(shelf, site_routes) as service:
            if not given.without_drawings:
                _warm_up(service, known[0][0])
            end = math.inf if given.minutes is None else time.monotonic() + 60 * given.minutes
            for start in range(0, given.requests, CHANGED_EVERY):
                if time.monotonic() > end:
                    break
                some = list(islice(requests, min(CHANGED_EVERY, given.requests - start)))
                service.run(_send(service, some, found, given))
                _change(shelf, chance)
                if (start + CHANGED_EVERY) % TOLD_EVERY == 0:
                    print(start + CHANGED_EVERY, dict(sorted(found.statuses.items())), flush=True)
    finally:
        shelf.close()
    return found


def _drawn(
    shelf: Shelf, known: list[tuple[str, str]], given: argparse.Namespace
) -> Iterator[bytes]:
    """Yield requests endlessly."""
    token = shelf.token(scopes=" ".join(SCOPES))
    catalogue = Catalogue(len(known), given.seed, shelf.settings.data, {})
    requests = Requests(catalogue, Target(80, 0, token), known, DOCUMENT)
    while True:
        request, _ = requests.drawn()
        if not (given.without_drawings and DRAWN.search(request.partition(b"?")[0])):
            yield request


def _warm_up(service: Service, public_id: str) -> None:
    """Request each kind of drawing once, because the child processes take seconds to start."""
    for path in WARMING_UP:
        address = path.format(public_id)
        try:
            service.wait_until(partial(_answers, service, address), 300)
        except AssertionError:
            last = service.get(address)
            print(f"{address}: {last.status_code} {last.text[:300]}", flush=True)
            raise


def _answers(service: Service, address: str) -> bool:
    return service.get(address).status_code == 200


def _change(shelf: Shelf, chance: random.Random) -> None:
    maps = shelf.store.maps(0, 1000)
    one = chance.choice(maps)
    shelf.put(
        MapDraft(id=one.id, views=one.views + 1, description=f"changed {chance.random()}"),
        MapDraft(title=f"new {chance.random()}", owner="ann"),
    )
    extra = [found.id for found in maps if found.title.startswith("new ")]
    if len(extra) > 50:
        shelf.store.delete_maps(extra[:10])
    shelf.publish()


async def _send(
    service: Service, some: list[bytes], found: Found, given: argparse.Namespace
) -> None:
    requests = iter(some)

    async def send() -> None:
        for request in requests:
            answer = await _answer(service.application, request)
            if answer.seconds > given.slow:
                again = await _answer(service.application, request)
                found.slow += again.seconds > given.slow
            _judge(request, answer, found, given.checked)

    await asyncio.gather(*(send() for _ in range(AT_A_TIME)))


def _judge(request: bytes, answer: Answer, found: Found, checked: int) -> None:
    found.statuses[answer.status] += 1
    found.slowest = max(found.slowest, answer.seconds)
    if answer.status >= 500 or answer.status == 0:
        found.fault(f"{answer.status} {answer.body[:200]!r}", request)
    method, _, target = request.partition(b"\r\n")[0].rpartition(b" ")[0].partition(b" ")
    path = target.partition(b"?")[0].decode("latin-1")
    operations = DOCUMENT["paths"].get(template_of(path), {}) if _is_plain(path) else {}
    described = {"HEAD": "get"}.get(method.decode("latin-1"), method.decode("latin-1").lower())
    if sum(found.statuses.values()) % checked or described not in operations:
        return
    found.checked += 1
    try:
        check(
            httpx.Response(
                answer.status,
                headers=answer.headers,
                content=answer.body,
                request=httpx.Request(
                    method.decode("latin-1"), f"http://127.0.0.1{quote(path, safe=ALLOWED)}"
                ),
            )
        )
    except (AssertionError, KeyError, ValueError, jsonschema.ValidationError) as error:
        found.fault(f"not as documented, {answer.status}: {str(error)[:300]}", request)


def _is_plain(path: str) -> bool:
    """Return whether all parts of a path are ordinary: others match no route, and get a page."""
    if "/versions/0" in path:  # versions count from 1
        return False
    return all(PLAIN.fullmatch(part) for part in path[1:].split("/"))


async def _answer(application: Any, request: bytes) -> Answer:
    """Send a request as an HTTP server would pass it on."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, _, target = first.rpartition(b" ")[0].partition(b" ")
    path, _, query = target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method.decode("latin-1"),
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [_header(line) for line in lines if b":" in line],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 80),
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    answer, began = Answer(), time.perf_counter()
    pieces: list[bytes] = []

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            pieces.append(message.get("body", b""))

    await application(scope, receive, send)
    answer.seconds, answer.body = time.perf_counter() - began, b"".join(pieces)
    return answer


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name.lower(), value.strip()


if __name__ == "__main__":
    sys.exit(main())
