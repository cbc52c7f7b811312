"""Overload: three times the peak throughput of the service, and how it recovers afterwards.

For each kind of request, we measure three loads. The first finds the peak throughput: a number of
clients each wait for their response. The second is three times the peak at a fixed rate,
independent of the responses (``open_loop.py``). The third, ten seconds later, is half of the peak;
by then, the service should be back to normal.

The service has one worker on one core, and the client has the other core. On shared cores, the
client could be late and so measure its own delays. All requests of a kind are different, so none is
answered from a cache, except for lists, of which 20,000 are repeated. Lists and searches are also
sent through nginx with the documented configuration (``proxy.py``).
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from benchmarks.catalogue import Catalogue, owner_name, owners_of, words_of
from benchmarks.http1 import ADDRESS, get_request, upload_request
from benchmarks.overload.attackers import library_paths
from benchmarks.overload.child import MEASURING, Child
from benchmarks.overload.open_loop import Load, sent
from benchmarks.overload.proxy import nginx_before
from benchmarks.processes import (
    CLIENT_CORE,
    SERVER_CORE,
    free_port,
    get,
    python,
    running,
    wait_until_ready,
)
from benchmarks.requests import listing_paths, search_paths
from benchmarks.serving import PAGE, Target
from mapshelf.store import open_store
from mapshelf.tokens import SCOPES, new_token, token_digest

OVERLOAD: Final = 3.0
"""Offered load as a multiple of the peak."""

CLIENTS: Final = (4, 16, 64)
"""Numbers of clients to find the peak with; the best result counts."""

MOST_REFUSED: Final = 0.001
"""Share of refused requests above which a result does not count."""

PAUSE: Final = 10.0
"""Seconds after which the service should be back to normal."""

RECOVERY: Final = 0.5
"""Load afterwards as a multiple of the peak."""

PAGE_SIZE: Final = 50
"""Maps per page of a list."""

UPLOADERS: Final = 20
"""Users who upload in turn."""

Requests = Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Testbed:
    """The service, and what requests to it need.

    Attributes:
        target: the service.
        catalogue: the catalogue that it serves.
        seconds: duration of each load.
        tokens: tokens of the users who upload.
    """

    target: Target
    catalogue: Catalogue
    seconds: float
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of request.

    Attributes:
        requests: yields different requests.
        most: more requests than a worker serves per second.
        behind_nginx: whether nginx is in front of the service.
    """

    requests: Callable[[Testbed], Requests]
    most: int
    behind_nginx: bool = False


def measured(
    catalogue: Catalogue,
    seconds: float,
    chosen: list[str] | None,
    pause: float = PAUSE,
    waiting: tuple[int, ...] = CLIENTS,
) -> Iterator[tuple[str, Any]]:
    """Yield the figures of each kind of request.

    Args:
        catalogue: the catalogue to serve; only a copy is changed.
        seconds: duration of each load.
        chosen: names of ``KINDS``, by default all.
        pause: seconds between the overload and the load that checks the recovery.
        waiting: numbers of clients to find the peak with.
    """
    place = catalogue.folder.with_name(f"{catalogue.folder.name}-excess")
    for name in chosen or KINDS:
        shutil.rmtree(place, ignore_errors=True)
        try:
            kind = KINDS[name]
            with _started(catalogue.copied_to(place), seconds, kind.behind_nginx) as testbed:
                found = _measured(testbed, kind, pause, waiting)
        except Exception as error:  # the other kinds take minutes, and are useful without it
            found = {"failed": repr(error)}
        finally:
            shutil.rmtree(place, ignore_errors=True)
        yield name, found


@contextmanager
def _started(catalogue: Catalogue, seconds: float, behind_nginx: bool) -> Iterator[Testbed]:
    tokens, port = _uploaders(catalogue), free_port()
    command = python("mapshelf", "serve", "--data", str(catalogue.folder), "--port", str(port))
    command += ["--workers", "1", "--base-url", f"http://{ADDRESS}:{port}"]
    command += ["--quota-maps", "1000000", "--uploads-per-hour", "1000000"]
    # At a high priority, so that other load on the machine affects the figures less.
    first = ["nice", "-n", str(MEASURING), *command] if os.geteuid() == 0 else command
    with ExitStack() as opened:
        log = catalogue.folder / "server.log"
        pid = opened.enter_context(running(first, log, core=SERVER_CORE))
        wait_until_ready(port, PAGE, tokens[0])
        if behind_nginx:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            port = opened.enter_context(nginx_before(port, folder, MEASURING))
            wait_until_ready(port, PAGE, tokens[0])
        yield Testbed(Target(port, pid, tokens[0]), catalogue, seconds, tokens)


def _uploaders(catalogue: Catalogue) -> tuple[str, ...]:
    """Register users; return a token for each."""
    store = open_store(catalogue.settings.database)
    tokens = tuple(new_token() for _ in range(UPLOADERS))
    for number, token in enumerate(tokens):
        name = f"uploader {number}"
        store.add_user(name)
        scopes = " ".join(SCOPES)
        store.add_token(name, token_digest(token), label="", scopes=scopes, expires=None)
    store.close()
    return tokens


def _measured(
    testbed: Testbed, kind: Kind, pause: float, waiting: tuple[int, ...]
) -> dict[str, Any]:
    """Return the figures of one kind of request as a flat dictionary, for a table row."""
    requests, peak, best = kind.requests(testbed), 0.0, 0
    for clients in waiting:
        taken = list(islice(requests, round(kind.most * testbed.seconds)))
        found = _sent(testbed, taken, None, clients)
        # If some are refused, the rest has a higher share of cheap requests.
        complete = found["refused"]["count"] <= MOST_REFUSED * found["served"]["count"]
        if found["served a second"] > peak and complete:
            peak, best = found["served a second"], clients
    excess = _offered(testbed, requests, OVERLOAD * peak)
    time.sleep(pause)
    after = _offered(testbed, requests, RECOVERY * peak)
    return {
        "peak a second": peak,
        "clients at the peak": best,
        "asked a second": round(OVERLOAD * peak, 1),
        "served a second": excess["served a second"],
        "of the peak": round(excess["served a second"] / peak, 2) if peak else 0.0,
        **_prefixed("served", excess["served"]),
        **_prefixed("refused", excess["refused"]),
        "sent late p99": excess["sent late p99"],
        "outcomes": _line(excess["outcomes"]),
        "client cpu seconds": excess["own cpu seconds"],
        "afterwards asked a second": round(RECOVERY * peak, 1),
        "afterwards served a second": after["served a second"],
        **_prefixed("afterwards served", after["served"]),
        "afterwards outcomes": _line(after["outcomes"]),
    }


def _offered(testbed: Testbed, requests: Requests, rate: float) -> dict[str, Any]:
    taken = list(islice(requests, max(1, round(rate * testbed.seconds))))
    return _sent(testbed, taken, max(rate, 1 / testbed.seconds), 0)


def _sent(
    testbed: Testbed, requests: list[bytes], rate: float | None, clients: int
) -> dict[str, Any]:
    load = Load(testbed.target.port, requests, rate, testbed.seconds, clients)
    with Child(sent, load, nice=MEASURING, core=CLIENT_CORE) as child:
        return child.result()


def _prefixed(what: str, times: dict[str, Any]) -> dict[str, Any]:
    return {f"{what} {name}": figure for name, figure in times.items()}


def _line(outcomes: dict[str, int]) -> str:
    return " ".join(f"{name}={many}" for name, many in outcomes.items())


# -- the kinds of requests ---------------------------------------------------------------------


def _lists(testbed: Testbed) -> Requests:
    token = testbed.target.token
    return _cycle([get_request(path, token) for path in listing_paths(testbed.catalogue)])


def _searches(testbed: Testbed) -> Requests:
    """Yield searches for words of the catalogue; a number makes each URL different."""
    token = testbed.target.token
    for number in count():
        for path in search_paths(testbed.catalogue):
            yield get_request(f"{path}&n={number}", token)


def _pages(testbed: Testbed) -> Requests:
    """Yield requests for pages of the library, of owners and of maps."""
    catalogue = testbed.catalogue
    words = words_of("Latin", catalogue.seed)[:500]
    owners = [owner_name(number, catalogue.seed) for number in range(owners_of(catalogue.size))]
    pages = [urlsplit(row["URL"]).path for row in _listed(testbed, 0)]
    return (get_request(path) for path in library_paths(words, owners, pages, "excess"))


def _kept_pictures(testbed: Testbed) -> Requests:
    """Yield requests for thumbnails that have been drawn before, as nearly all are."""
    paths = [f"/thumbnails/{row['ID']}.png" for row in _listed(testbed, 0)]
    for path in paths:
        while get(testbed.target.port, path, "").status == 503:
            time.sleep(0.5)
    return _cycle([get_request(path) for path in paths])


def _new_pictures(testbed: Testbed) -> Requests:
    """Yield requests for thumbnails that must be drawn: all maps in every size and theme."""
    sizes = [f"w={width}&theme={theme}" for width in (640, 320) for theme in ("light", "dark")]
    for size in sizes:
        for offset in range(0, testbed.catalogue.size, PAGE_SIZE):
            for row in _listed(testbed, offset):
                yield get_request(f"/thumbnails/{row['ID']}.png?{size}")
    yield from _cycle([get_request("/thumbnails/none0000.png")])


def _uploads(testbed: Testbed) -> Requests:
    """Yield uploads of different files with thirty topics each; the users alternate."""
    chance = random.Random("uploads")
    words = words_of("Latin", testbed.catalogue.seed)[:5000]
    for number in count():
        topics = "".join(
            f'<node TEXT="{" ".join(chance.choices(words, k=4))}"/>' for _ in range(30)
        )
        content = f'<map version="1.0.1"><node TEXT="Plan {number}">{topics}</node></map>'
        yield upload_request(content, testbed.tokens[number % len(testbed.tokens)])


def _listed(testbed: Testbed, offset: int) -> list[dict[str, str]]:
    path = f"/maps?limit={PAGE_SIZE}&order_by=views&offset={offset}"
    rows: list[dict[str, str]] = orjson.loads(
        get(testbed.target.port, path, testbed.target.token).body
    )
    return rows


def _cycle(requests: list[bytes]) -> Requests:
    while True:
        yield from requests


KINDS: Final[dict[str, Kind]] = {
    "lists": Kind(_lists, 20_000),
    "searches": Kind(_searches, 5000),
    "pages": Kind(_pages, 3000),
    "kept-pictures": Kind(_kept_pictures, 20_000),
    "new-pictures": Kind(_new_pictures, 150),
    "uploads": Kind(_uploads, 300),
    "lists-behind-nginx": Kind(_lists, 20_000, behind_nginx=True),
    "searches-behind-nginx": Kind(_searches, 5000, behind_nginx=True),
}
"""Kinds of requests by name."""
