"""List which of our files a request runs through, from the server's call to the response.

A request that runs through many files is hard to follow. This script lists and counts them:

    python scripts/request_path.py
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType
from typing import Any

import mapshelf
from mapshelf.api import Application
from mapshelf.api.rsgi import RSGIApplication
from mapshelf.model import MapDraft
from mapshelf.settings import Settings, sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import open_store
from mapshelf.tokens import new_token, token_digest

PACKAGE = Path(mapshelf.__file__).parent


class Headers:
    """The headers of a request, as Granian passes them."""

    def __init__(self, headers: dict[str, str]) -> None:
        self._headers = headers

    def get_all(self, name: str) -> list[str]:
        """Return the values of a header."""
        return [self._headers[name]] if name in self._headers else []

    def __contains__(self, name: str) -> bool:
        return name in self._headers


class Scope:
    """A request, as Granian passes it."""

    http_version = "1.1"
    method = "GET"
    client = "127.0.0.1:1"

    def __init__(self, path: str, query_string: str, token: str) -> None:
        self.path, self.query_string = path, query_string
        self.headers = Headers({"host": "x", "authorization": f"Bearer {token}"})


class Protocol:
    """Receives a response, as Granian does."""

    status = 0

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Receive a whole response."""
        self.status = status

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        """Receive a response with the path of its body."""
        raise NotImplementedError

    async def client_disconnect(self) -> None:
        """Wait for the client to disconnect, which this one never does."""
        await asyncio.Event().wait()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Return the pieces of the body, which no request here has."""
        raise NotImplementedError


async def files_passed(application: RSGIApplication, scope: Scope) -> list[str]:
    """Return the files whose code runs for one request, in the order of their first call."""
    passed: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            passed.setdefault(str(path.relative_to(PACKAGE)))

    protocol = Protocol()
    await asyncio.sleep(0)  # the event loop must not seem to be late
    sys.setprofile(note)
    try:
        await application.__rsgi__(scope, protocol)
    finally:
        sys.setprofile(None)
    assert protocol.status == 200, protocol.status
    return list(passed)


async def counted(folder: Path) -> dict[str, list[str]]:
    """Serve one map from ``folder``; return the files that each kind of request runs through."""
    settings = Settings(folder, sqlite_url(folder), "https://maps.example.org")
    store, token = open_store(settings.database), new_token()
    store.put_maps([MapDraft(title="One", owner="ann")])
    store.add_user("reader")
    store.add_token("reader", token_digest(token), label="", scopes="account maps", expires=None)
    builder = Builder(store, SnapshotDirectory(settings.snapshots))
    builder.advance()
    application = Application(settings)
    await application.start()
    served = RSGIApplication(application)
    for _ in range(2):  # the token is known from here on
        await served.__rsgi__(Scope("/maps", "", token), Protocol())
    kinds = {"uncached": "limit=7", "cached": "limit=7", "filtered": "owner=ann"}
    passed = {
        kind: await files_passed(served, Scope("/maps", query, token))
        for kind, query in kinds.items()
    }
    await application.stop()
    builder.close()
    store.close()
    return passed


def main() -> None:
    """Print the files of each kind of request."""
    with tempfile.TemporaryDirectory() as made:
        for kind, passed in asyncio.run(counted(Path(made))).items():
            print(f"GET /maps, {kind}: {len(passed)} files: {' '.join(passed)}")


if __name__ == "__main__":
    main()
