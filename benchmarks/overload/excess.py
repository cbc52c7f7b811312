"""Three times as much as the service can do: what becomes of it, and of the service afterwards.

For each kind of request: how much is served a second when a number of clients each wait for their
answer (the peak), then three times that at a fixed schedule, whatever is answered
(``open_loop.py``), and ten seconds later half of the peak, as if nothing had been.

The service has one worker on one core, the client the other: a service on all cores would share
them with its client, and a client that is late measures itself. Every request of a kind is another
one, so that nothing is answered from what was kept, but for lists, of which 20,000 come again.
Lists and searches are also sent through nginx, as the docs set it up (``proxy.py``).
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

TIMES: Final = 3.0
"""How much more than the peak is asked for."""

WAITING: Final = (4, 16, 64)
"""Clients that wait for an answer, at the peak: the best of these counts."""

MOST_REFUSED: Final = 0.001
"""Share of refused requests with which it does not count."""

AFTERWARDS: Final = 10.0
"""Seconds after which everything is to be as before."""

HALF: Final = 0.5

LISTED: Final = 50
"""Maps that a list gives at a time."""

UPLOADERS: Final = 20
"""Users who upload, each in turn."""

Requests = Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Field:
    """What is asked.

    Attributes:
        target: the service.
        catalogue: what it serves.
        seconds: for how long each load is sent.
        tokens: of those who upload.
    """

    target: Target
    catalogue: Catalogue
    seconds: float
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of request.

    Attributes:
        requests: yields requests, each another one.
        most: more than a worker serves a second.
        behind_nginx: whether they are sent to nginx, which passes them on.
    """

    requests: Callable[[Field], Requests]
    most: int
    behind_nginx: bool = False


def measured(
    catalogue: Catalogue,
    seconds: float,
    chosen: list[str] | None,
    pause: float = AFTERWARDS,
    waiting: tuple[int, ...] = WAITING,
) -> Iterator[tuple[str, Any]]:
    """Yield what became of each kind of request.

    Args:
        catalogue: what to serve; it is not altered.
        seconds: for how long each load is sent.
        chosen: names of ``KINDS``, by default all.
        pause: seconds until it is asked whether everything is as before.
        waiting: how many clients wait for an answer, each time the peak is looked for.
    """
    place = catalogue.folder.with_name(f"{catalogue.folder.name}-excess")
    for name in chosen or KINDS:
        shutil.rmtree(place, ignore_errors=True)
        try:
            kind = KINDS[name]
            with _started(catalogue.copied_to(place), seconds, kind.behind_nginx) as field:
                found = _measured(field, kind, pause, waiting)
        except Exception as error:  # the other kinds take minutes, and are good without this one
            found = {"failed": repr(error)}
        finally:
            shutil.rmtree(place, ignore_errors=True)
        yield name, found


@contextmanager
def _started(catalogue: Catalogue, seconds: float, behind_nginx: bool) -> Iterator[Field]:
    tokens, port = _uploaders(catalogue), free_port()
    command = python("mapshelf", "serve", "--data", str(catalogue.folder), "--port", str(port))
    command += ["--workers", "1", "--base-url", f"http://{ADDRESS}:{port}"]
    command += ["--quota-maps", "1000000", "--uploads-per-hour", "1000000"]
    # Before all else on the machine, or its load would be measured, too.
    first = ["nice", "-n", str(MEASURING), *command] if os.geteuid() == 0 else command
    with ExitStack() as opened:
        log = catalogue.folder / "server.log"
        pid = opened.enter_context(running(first, log, core=SERVER_CORE))
        wait_until_ready(port, PAGE, tokens[0])
        if behind_nginx:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            port = opened.enter_context(nginx_before(port, folder, MEASURING))
            wait_until_ready(port, PAGE, tokens[0])
        yield Field(Target(port, pid, tokens[0]), catalogue, seconds, tokens)


def _uploaders(catalogue: Catalogue) -> tuple[str, ...]:
    """Register users; return a token of each."""
    store = open_store(catalogue.settings.database)
    tokens = tuple(new_token() for _ in range(UPLOADERS))
    for number, token in enumerate(tokens):
        name = f"uploader {number}"
        store.add_user(name)
        scopes = " ".join(SCOPES)
        store.add_token(name, token_digest(token), label="", scopes=scopes, expires=None)
    store.close()
    return tokens


def _measured(field: Field, kind: Kind, pause: float, waiting: tuple[int, ...]) -> dict[str, Any]:
    """Return what became of one kind of request: figures in one level, for a line of a table."""
    requests, peak, best = kind.requests(field), 0.0, 0
    for clients in waiting:
        taken = list(islice(requests, round(kind.most * field.seconds)))
        found = _sent(field, taken, None, clients)
        # Where some are refused, more of what is cheap is served than is asked for.
        complete = found["refused"]["count"] <= MOST_REFUSED * found["served"]["count"]
        if found["served a second"] > peak and complete:
            peak, best = found["served a second"], clients
    excess = _offered(field, requests, TIMES * peak)
    time.sleep(pause)
    after = _offered(field, requests, HALF * peak)
    return {
        "peak a second": peak,
        "clients at the peak": best,
        "asked a second": round(TIMES * peak, 1),
        "served a second": excess["served a second"],
        "of the peak": round(excess["served a second"] / peak, 2) if peak else 0.0,
        **_told("served", excess["served"]),
        **_told("refused", excess["refused"]),
        "sent late p99": excess["sent late p99"],
        "outcomes": _line(excess["outcomes"]),
        "client cpu seconds": excess["own cpu seconds"],
        "afterwards asked a second": round(HALF * peak, 1),
        "afterwards served a second": after["served a second"],
        **_told("afterwards served", after["served"]),
        "afterwards outcomes": _line(after["outcomes"]),
    }


def _offered(field: Field, requests: Requests, rate: float) -> dict[str, Any]:
    taken = list(islice(requests, max(1, round(rate * field.seconds))))
    return _sent(field, taken, max(rate, 1 / field.seconds), 0)


def _sent(field: Field, requests: list[bytes], rate: float | None, clients: int) -> dict[str, Any]:
    load = Load(field.target.port, requests, rate, field.seconds, clients)
    with Child(sent, load, nice=MEASURING, core=CLIENT_CORE) as child:
        return child.result()


def _told(what: str, times: dict[str, Any]) -> dict[str, Any]:
    return {f"{what} {name}": figure for name, figure in times.items()}


def _line(outcomes: dict[str, int]) -> str:
    return " ".join(f"{name}={many}" for name, many in outcomes.items())


# -- the kinds of requests ---------------------------------------------------------------------


def _lists(field: Field) -> Requests:
    token = field.target.token
    return _again([get_request(path, token) for path in listing_paths(field.catalogue)])


def _searches(field: Field) -> Requests:
    """Yield searches for words that are there, each with another page or another end."""
    token = field.target.token
    for number in count():
        for path in search_paths(field.catalogue):
            yield get_request(f"{path}&n={number}", token)


def _pages(field: Field) -> Requests:
    """Yield pages of the library, of owners and of maps."""
    catalogue = field.catalogue
    words = words_of("Latin", catalogue.seed)[:500]
    owners = [owner_name(number, catalogue.seed) for number in range(owners_of(catalogue.size))]
    pages = [urlsplit(row["URL"]).path for row in _listed(field, 0)]
    return (get_request(path) for path in library_paths(words, owners, pages, "excess"))


def _kept_pictures(field: Field) -> Requests:
    """Yield thumbnails that have been drawn before, as nearly all are."""
    paths = [f"/thumbnails/{row['ID']}.png" for row in _listed(field, 0)]
    for path in paths:
        while get(field.target.port, path, "").status == 503:
            time.sleep(0.5)
    return _again([get_request(path) for path in paths])


def _new_pictures(field: Field) -> Requests:
    """Yield thumbnails that nobody has asked for: all maps in every size and colour."""
    sizes = [f"w={width}&theme={theme}" for width in (640, 320) for theme in ("light", "dark")]
    for size in sizes:
        for offset in range(0, field.catalogue.size, LISTED):
            for row in _listed(field, offset):
                yield get_request(f"/thumbnails/{row['ID']}.png?{size}")
    yield from _again([get_request("/thumbnails/none0000.png")])


def _uploads(field: Field) -> Requests:
    """Yield files of thirty topics, each another one, of one user after the other."""
    chance = random.Random("uploads")
    words = words_of("Latin", field.catalogue.seed)[:5000]
    for number in count():
        topics = "".join(
            f'<node TEXT="{" ".join(chance.choices(words, k=4))}"/>' for _ in range(30)
        )
        content = f'<map version="1.0.1"><node TEXT="Plan {number}">{topics}</node></map>'
        yield upload_request(content, field.tokens[number % len(field.tokens)])


def _listed(field: Field, offset: int) -> list[dict[str, str]]:
    path = f"/maps?limit={LISTED}&order_by=views&offset={offset}"
    rows: list[dict[str, str]] = orjson.loads(get(field.target.port, path, field.target.token).body)
    return rows


def _again(requests: list[bytes]) -> Requests:
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
"""The kinds of requests by their names."""
