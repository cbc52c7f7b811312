"""Test helpers: a catalogue in a folder, and the application that serves it.

Both are real (a database, a snapshot on disk, the ASGI application); only the network is left out.
The application's event loop runs only during a request, so tests are ordinary synchronous code.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx

from mapshelf.api import create_app
from mapshelf.api.routes import PageRoutes
from mapshelf.clock import milliseconds
from mapshelf.errors import SnapshotDamaged
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import DAY, MapDraft, Outline, Topic, Verdict, sheets_of
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import open_store
from mapshelf.tokens import ACCOUNT, MAPS, PREFIX, SESSION_PREFIX, new_token, token_digest
from tests.databases import KIND, copied_sqlite, database_url, give_back

# httpx tries to import sniffio for each request, and a failing import takes longer than most of the
# request.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

T = TypeVar("T")

BASE_URL: Final = "https://maps.example.org"
READER: Final = "reader"
"""The user whose token requests carry by default."""

PATIENCE: Final = 30.0
"""Seconds to wait for background work before a test fails."""


class Shelf:
    """A catalogue in ``folder``: its store, its snapshots, and a user who may read it.

    The store is the database at ``url``; by default, a new one for the folder.
    """

    def __init__(self, folder: Path, url: str = "") -> None:
        if not url and KIND == "sqlite":
            copied_sqlite(folder / "catalogue.db", milliseconds())
        url = url or database_url(folder)
        self.settings = Settings(data=folder, database=url, base_url=BASE_URL)
        self.store = open_store(self.settings.database)
        self._building: Builder | None = None
        if READER not in (user.name for user in self.store.users()):
            self.store.add_user(READER)

    def put(self, *drafts: MapDraft) -> list[str]:
        """Add or change maps; return their public ids."""
        outcomes = self.store.put_maps(drafts)
        refused = [outcome.reason for outcome in outcomes if outcome.verdict is Verdict.REFUSED]
        assert not refused, refused
        return [outcome.id for outcome in outcomes]

    def publish(self) -> None:
        """Publish a snapshot of the store, with a new builder if the snapshot is damaged."""
        try:
            self._builder.advance()
        except SnapshotDamaged:
            self.end_building()
            self._builder.advance()

    def end_building(self) -> None:
        """End the builder, as if its process had ended; a new one publishes the next snapshot."""
        if self._building:
            self._building.close()
        self._building = None

    @property
    def _builder(self) -> Builder:
        if self._building is None:
            directory = SnapshotDirectory(self.settings.snapshots)
            self._building = Builder(self.store, directory)
        return self._building

    def token(
        self,
        user: str = READER,
        *,
        expires: int | None = None,
        scopes: str = f"{ACCOUNT} {MAPS}",
        prefix: str = PREFIX,
    ) -> str:
        """Return a new token of ``user``, by default an API token."""
        token = new_token(prefix)
        self.store.add_token(
            user, token_digest(token), label="test", scopes=scopes, expires=expires
        )
        return token

    def session(self, user: str = READER, *, expires: int | None = None) -> str:
        """Return the secret of a new session of ``user``."""
        (user_id,) = (one.id for one in self.store.users() if one.name == user)
        secret = new_token(SESSION_PREFIX)
        end = milliseconds() + DAY if expires is None else expires
        self.store.add_session(user_id, token_digest(secret), "test", end, None)
        return secret

    def close(self) -> None:
        """Close all files."""
        self.end_building()
        self.store.close()


@contextmanager
def shelf_with(folder: Path, *drafts: MapDraft) -> Iterator[Shelf]:
    """Yield a catalogue with these maps, published; its database is released afterwards."""
    shelf = Shelf(folder)
    try:
        shelf.put(*drafts)
        shelf.publish()
        yield shelf
    finally:
        shelf.close()
        give_back(folder)


@contextmanager
def copied_shelf(folder: Path, *drafts: MapDraft) -> Iterator[Shelf]:
    """Yield a copy of such a catalogue, as if all its processes had ended; the original is cached.

    Making a catalogue takes a tenth of a second, copying it a hundredth.
    """
    if KIND != "sqlite":
        with shelf_with(folder, *drafts) as shelf:
            yield shelf
        return
    for name, content in _files_of(drafts).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    shelf = Shelf(folder)
    try:
        yield shelf
    finally:
        shelf.close()


@cache
def _files_of(drafts: tuple[MapDraft, ...]) -> dict[str, bytes]:
    """Return the files of a catalogue, without those that are valid in their own folder only."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shelf = Shelf(folder)
        shelf.put(*drafts)
        shelf.publish()
        shelf.close()
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not {"work", "sound", "verifying"} & {*path.parts}
        }


class Service:
    """The application for a catalogue; it runs inside the ``with`` block."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        pages: PageRoutes | None = None,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self.token = token
        self._runner = asyncio.Runner()
        self.application = create_app(settings, pages, clock)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.application), base_url=settings.base_url
        )

    def __enter__(self) -> Self:
        self.run(self.application.start())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self.run(self.client.aclose())
        self._runner.close()

    def stop(self) -> None:
        """Stop the application; later requests find its store closed."""
        self.run(self.application.stop())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` in the application's event loop."""
        return self._runner.run(work)

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        signed: bool = True,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Send one request, with the reader's token if ``signed``."""
        sent = {**self.authorization(signed=signed), **(headers or {})}
        return self.run(self.client.request(method, path, headers=sent, content=content))

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Send a GET with the reader's token; ``_`` in the name of a header stands for ``-``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request("GET", path, headers=named)

    def maps(self, **parameters: object) -> httpx.Response:
        """Request a list of maps."""
        return self.get(f"/maps?{httpx.QueryParams(_texts(parameters))}")

    def titles(self, **parameters: object) -> list[str]:
        """Return the titles of a list of maps, in order."""
        response = self.maps(**parameters)
        assert response.status_code == 200, response.text
        return [found["Title"] for found in response.json()]

    def authorization(self, *, signed: bool = True) -> dict[str, str]:
        """Return the header that carries the reader's token, if ``signed``."""
        return {"Authorization": f"Bearer {self.token}"} if signed else {}

    def wait_until(self, condition: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Let the application run until ``condition`` is true; fail after ``patience`` seconds."""
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f"not true within {patience} seconds"
            self.run(asyncio.sleep(0.02))


def serve(shelf: Shelf, pages: PageRoutes | None = None) -> Service:
    """Return the service for ``shelf``, with a token of its reader, and with pages if given."""
    return Service(shelf.settings, shelf.token(), pages)


@contextmanager
def full_queue(service: Service, name: str, tasks: int = 9) -> Iterator[None]:
    """Keep a queue of a service full inside the ``with`` block; ``tasks`` is its capacity.

    Each task has another owner, so that nobody makes room.
    """
    going_on = threading.Event()
    queue = service.application.application.context.queues.by_name()[name]

    async def fill() -> list[asyncio.Task[bool]]:
        make = partial(going_on.wait, PATIENCE)
        asked = [
            asyncio.create_task(queue.result(number, make, owner=partial(str, number)))
            for number in range(tasks)
        ]
        await asyncio.sleep(0)
        return asked

    asked = service.run(fill())
    try:
        yield
    finally:
        going_on.set()
        service.wait_until(lambda: all(one.done() for one in asked))
    assert all(one.result() for one in asked)


def outline_of(*topics: str, language: str = "") -> bytes:
    """Return an outline with one central topic and the others below it, encoded."""
    root, *others = topics
    children = [Topic(text=text) for text in others]
    central = Topic(text=root, children=children)
    return encode_outline(Outline(sheets=sheets_of((central,)), language=language))


def _texts(parameters: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in parameters.items()}
