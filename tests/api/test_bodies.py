"""Request bodies: their limits, refusals and timeouts, and that no temporary files remain.

These tests run in process, with clients whose timing the test controls;
``test_bodies_on_the_wire.py`` uses real connections.
"""

import asyncio
import contextlib
import gc
import hashlib
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import orjson
import pytest

from mapshelf.api import bodies, incoming, request_handler
from mapshelf.api.errors import TABLE
from mapshelf.api.http import MAXIMUM_BODY, Request
from mapshelf.tokens import MAPS_WRITE
from tests.api.writing import FILE_MOST, FORM_LIMITS, JSON_MOST, writing_routes
from tests.harness import Service, Shelf, shelf_with

JSON: Final = {"Content-Type": "application/json"}
BINARY: Final = {"Content-Type": "application/octet-stream"}
URL_ENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}

Message = MutableMapping[str, Any]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("bodies")) as shelf:
        yield shelf


@pytest.fixture
def service(shelf: Shelf) -> Iterator[Service]:
    with Service(shelf.settings, shelf.token(scopes=MAPS_WRITE), writing_routes) as running:
        yield running


@dataclass
class Answer:
    """Collects a response as an ASGI server receives it."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]

    def error(self) -> str:
        found: str = orjson.loads(self.body)["error"]
        return found


class Client:
    """A client that sends a body in the given chunks, and hangs up when there are no more."""

    def __init__(self, *pieces: bytes, waits: bool = False, address: str = "10.0.0.1") -> None:
        self.address = address
        self._pieces = list(pieces)
        self._waits = waits
        self.taken = 0
        self.more = asyncio.Event()

    def send(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.more.set()

    async def receive(self) -> Message:
        while not self._pieces:
            if not self._waits:
                return {"type": "http.disconnect"}
            self.more.clear()
            await self.more.wait()
        self.taken += 1
        return {"type": "http.request", "body": self._pieces.pop(0), "more_body": True}


async def ask(service: Service, method: str, path: str, client: Client, **headers: str) -> Answer:
    """Send a request whose body ``client`` sends."""
    named = {"host": "x", "authorization": f"Bearer {service.token}"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "client": (client.address, 1),
    }
    answer = Answer()
    await service.application(scope, client.receive, answer.send)
    return answer


# -- accepted and refused bodies --------------------------------------------------------------


def test_a_body_arrives_whole_and_the_connection_stays_open(service: Service) -> None:
    answer = service.request("POST", "/test/notes", headers=JSON, content=b"{}")
    assert answer.json() == {"received": "{}"}
    assert "Connection" not in answer.headers


def test_a_write_ignores_if_none_match(service: Service) -> None:
    headers = {**JSON, "If-None-Match": "*"}
    answer = service.request("POST", "/test/notes", headers=headers, content=b"{}")
    assert answer.status_code == 200
    assert "ETag" in answer.headers


def test_a_file_arrives_whole(service: Service) -> None:
    content = os.urandom(3 << 20)
    answer = service.request("PUT", "/test/file", headers=BINARY, content=content)
    digest = hashlib.sha256(content).hexdigest()
    assert answer.json() == {"size": len(content), "sha256": digest}


@pytest.mark.parametrize("path", ["/test/notes", "/test/form", "/test/upload"])
def test_no_body_is_an_empty_one(service: Service, path: str) -> None:
    answer = service.request("POST", path)
    empty: dict[str, object] = {"received": ""} if path == "/test/notes" else {"fields": {}}
    assert answer.json() == empty


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "headers", "status", "error"),
    [
        ("POST /test/notes", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ("POST /test/notes", {"Content-Type": "application/jsonx"}, 415, None),
        ("POST /test/notes", {"Content-Type": ""}, 415, None),
        ("POST /test/notes", {**JSON, "Content-Encoding": "gzip"}, 415, None),
        ("POST /test/notes", {**JSON, "Content-Encoding": "identity"}, 200, None),
        ("POST /test/notes", {"Content-Type": "Application/JSON; charset=utf-8"}, 200, None),
        ("POST /test/form", {"Content-Type": "text/plain"}, 415, None),
        ("POST /test/form", {"Content-Type": URL_ENCODED["Content-Type"] + ";" * 1024}, 415, None),
        ("POST /test/form", {"Content-Type": "multipart/form-data"}, 400, "error"),
        ("POST /test/upload", URL_ENCODED, 415, None),
        ("PUT /test/file", JSON, 415, None),
        ("POST /test/notes", {**JSON, "Content-Length": str(JSON_MOST + 1)}, 413, None),
        ("PUT /test/file", {**BINARY, "Content-Length": str(FILE_MOST + 1)}, 413, None),
        ("POST /test/notes", {**JSON, "Content-Length": "9" * 30}, 413, "content_too_large"),
        ("POST /test/notes", {**JSON, "Content-Length": "x"}, 411, "length_required"),
        ("POST /test/notes", {**JSON, "Transfer-Encoding": "chunked"}, 411, None),
        ("DELETE /test/notes", {"Content-Length": str(MAXIMUM_BODY + 1)}, 413, None),
        ("DELETE /test/notes", {"Content-Length": str(MAXIMUM_BODY)}, 200, None),
    ],
)
def test_requests_are_refused_by_their_headers(
    service: Service,
    asked: str,
    headers: dict[str, str],
    status: int,
    error: str | None,
) -> None:
    method, path = asked.split()
    largest = headers.get("Content-Length") == str(MAXIMUM_BODY)
    content = bytes(MAXIMUM_BODY) if largest else b"{}"
    answer = service.request(method, path, headers=headers, content=content)
    assert answer.status_code == status
    if status != 200:
        check_shape(answer)
        assert error in (None, answer.json()["error"])


def check_shape(answer: httpx.Response) -> None:
    body = answer.json()
    assert tuple(body) == ("code", "error", "error_description")
    assert body["code"] == answer.status_code
    assert body["error"] in {row.identifier for row in TABLE.values()}
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_body_is_checked_after_the_token_and_before_the_parameters(service: Service) -> None:
    headers = {"Content-Type": "text/plain"}
    for path, signed, status in (
        ("/test/nothing", False, 404),
        ("/test/file", False, 405),
        ("/test/notes?x=1", False, 401),
        ("/test/notes?x=1", True, 415),
    ):
        answer = service.request("POST", path, headers=headers, signed=signed, content=b"x")
        assert answer.status_code == status
    answer = service.request("POST", "/test/notes?x=1", headers=JSON, content=b"x")
    assert answer.status_code == 400


# -- bodies that do not arrive ---------------------------------------------------------------


def kept_files(folder: Path) -> list[Path]:
    """Return this process's open files in ``folder`` that are nameless or have a temporary name."""
    opened = (Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))
    targets = [os.readlink(one) for one in opened if one.is_symlink()]
    nameless = [Path(one) for one in targets if one.startswith(str(folder)) and "deleted" in one]
    return nameless + list(folder.glob("tmp*"))


@pytest.mark.parametrize("arrived", [0, 1, 500_000])
def test_a_client_that_hangs_up_half_way_leaves_no_file(
    shelf: Shelf, service: Service, arrived: int
) -> None:
    async def hang_up() -> Answer:
        client = Client(*([b"x" * arrived] if arrived else []))
        return await ask(
            service, "PUT", "/test/file", client,
            content_type="application/octet-stream", content_length="1000000",
        )  # fmt: skip

    answer = service.run(hang_up())
    assert answer.status == 503  # the client never reads it
    assert answer.headers["connection"] == "close"
    assert kept_files(shelf.settings.data) == []


@pytest.mark.parametrize("declared", [2, 1000])
def test_requests_are_freed_at_once(service: Service, declared: int) -> None:
    """A flood of them would fill the memory until the next garbage collection."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        client = Client(b"{}")
        service.run(ask(service, "PATCH", "/maps/abc", client, content_length=str(declared)))
        gc.collect()
        assert not [one for one in gc.garbage if isinstance(one, Request)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_a_file_has_no_name_while_it_arrives(shelf: Shelf, service: Service) -> None:
    async def look() -> tuple[list[Path], list[Path]]:
        client = Client(b"x" * 100_000, waits=True)
        before = set(shelf.settings.data.iterdir())
        task = asyncio.create_task(
            ask(
                service, "PUT", "/test/file", client,
                content_type="application/octet-stream", content_length="100001",
            )
        )  # fmt: skip
        await until(lambda: client.taken == 1 and bool(kept_files(shelf.settings.data)))
        kept = kept_files(shelf.settings.data)
        new = set(shelf.settings.data.iterdir()) - before
        named = [path for path in new if path.stat().st_size >= 100_000]
        client.send(b"y")
        assert (await task).status == 200
        return kept, named

    kept, named = service.run(look())
    assert len(kept) == 1
    assert named == []
    assert kept_files(shelf.settings.data) == []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("asked", "media_type"),
    [
        ("POST /test/notes", "application/json"),
        ("PUT /test/file", "application/octet-stream"),
        ("POST /test/form", "application/x-www-form-urlencoded"),
    ],
)
def test_a_client_that_stalls_gets_a_timeout(
    service: Service, monkeypatch: pytest.MonkeyPatch, asked: str, media_type: str
) -> None:  # fmt: skip
    monkeypatch.setattr(incoming, "STALLED_AFTER", 0.1)
    method, path = asked.split()

    async def stall() -> Answer:
        client = Client(b"x", waits=True)
        headers = {"content_type": media_type, "content_length": "10"}
        async with asyncio.timeout(5):
            return await ask(service, method, path, client, **headers)

    answer = service.run(stall())
    assert (answer.status, answer.error()) == (408, "request_timeout")
    assert answer.headers["connection"] == "close"
    assert kept_files(service.application.application.context.settings.data) == []


@pytest.mark.slow
def test_a_slow_client_that_keeps_sending_gets_no_timeout(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "STALLED_AFTER", 0.3)

    async def drip() -> Answer:
        client = Client(waits=True)
        headers = {"content_type": "application/json", "content_length": "5"}
        task = asyncio.create_task(ask(service, "POST", "/test/notes", client, **headers))
        for letter in b"hello":
            await asyncio.sleep(0.15)
            client.send(bytes([letter]))
        return await task

    answer = service.run(drip())
    assert orjson.loads(answer.body) == {"received": "hello"}


@pytest.mark.parametrize(
    ("asked", "media_type"),
    [
        ("PUT /test/file", "application/octet-stream"),
        ("POST /test/form", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_arrives_after_shutdown_gets_503(
    service: Service, asked: str, media_type: str
) -> None:  # fmt: skip
    method, path = asked.split()

    async def late() -> list[Answer]:
        client, headers = Client(waits=True), {"content_type": media_type, "content_length": "3"}
        begun = asyncio.create_task(ask(service, method, path, client, **headers))
        await asyncio.sleep(0.1)
        await service.application.application.context.bodies.close()
        client.send(b"a=b")
        new = await ask(service, method, path, Client(b"a=b"), **headers)
        return [await begun, new]

    for answer in service.run(late()):
        assert (answer.status, answer.error()) == (503, "temporarily_unavailable")
    assert kept_files(service.application.application.context.settings.data) == []


def test_a_body_longer_than_its_content_length_is_refused(service: Service) -> None:
    async def exceed() -> Answer:
        headers = {"content_type": "application/json", "content_length": "5"}
        return await ask(service, "POST", "/test/notes", Client(b"he", b"llo, world"), **headers)

    assert service.run(exceed()).status == 503


# -- bodies that no operation reads ------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "signed", "status"),
    [("/test/file", False, 401), ("/test/refused", True, 400), ("/test/file", True, 415)],
)
def test_a_refused_body_is_received_before_the_response(
    service: Service, path: str, signed: bool, status: int
) -> None:
    pieces = [b"x" * 65_536] * 16

    async def send() -> tuple[Answer, Client]:
        client = Client(*pieces)
        named = {"content_length": str(65_536 * 16), "content_type": "text/plain"}
        if not signed:
            named["authorization"] = ""
        return await ask(service, "PUT", path, client, **named), client

    answer, client = service.run(send())
    assert answer.status == status
    assert client.taken == len(pieces)
    assert "connection" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "more", "taken"),
    [
        ("PUT", "/test/file", {"expect": "100-continue"}, 0),
        ("PUT", "/test/file", {"content_length": str(incoming.DRAINED + 1)}, 0),
        ("PUT", "/test/file", {"transfer_encoding": "chunked"}, 0),
        ("PUT", "/test/file", {"content_length": str(incoming.DRAINED)}, 2),
        ("PUT", "/maps", {}, 0),
        ("PUT", "/nothing", {}, 0),
        ("DELETE", "/test/notes", {}, 0),
    ],
)
def test_a_body_that_is_not_received_ends_the_connection(
    service: Service, method: str, path: str, more: dict[str, str], taken: int
) -> None:
    async def send() -> tuple[Answer, Client]:
        client = Client(b"x", b"y")
        named = {"authorization": "", "content_length": "10", **more}
        return await ask(service, method, path, client, **named), client

    answer, client = service.run(send())
    assert answer.status in (401, 404, 405)
    assert client.taken == taken
    assert answer.headers["connection"] == "close"


@pytest.mark.slow
def test_discarding_a_body_has_a_time_limit(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "DRAINING", 0.2)

    async def drip() -> Answer:
        client = Client(waits=True)
        headers = {"authorization": "", "content_length": "1000000"}
        task = asyncio.create_task(ask(service, "PUT", "/test/file", client, **headers))
        while not task.done():
            client.send(b"x")
            await asyncio.sleep(0.01)
        return await task

    answer = service.run(asyncio.wait_for(drip(), 5))
    assert (answer.status, answer.headers["connection"]) == (401, "close")


def test_only_some_bodies_of_a_client_are_received_to_be_discarded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise clients that send the beginning of large ones occupy all connections."""
    monkeypatch.setattr(request_handler, "MOST_DRAINED", 2)

    async def send() -> Answer:
        headers = {"authorization": "", "content_length": "1000000"}
        tasks = [
            asyncio.create_task(ask(service, "PUT", "/test/file", Client(waits=True), **headers))
            for _ in range(3)
        ]
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert len(waiting) == 2
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return done.pop().result()

    answer = service.run(asyncio.wait_for(send(), 5))
    assert (answer.status, answer.headers["connection"]) == (401, "close")


def test_discarding_a_body_ends_if_nothing_arrives(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "STALLED_AFTER", 0.1)
    headers = {"authorization": "", "content_length": "1000000"}
    sent = ask(service, "PUT", "/test/file", Client(b"x", waits=True), **headers)
    answer = service.run(asyncio.wait_for(sent, 5))
    assert (answer.status, answer.headers["connection"]) == (401, "close")


# -- many bodies at once -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def senders(shelf: Shelf) -> list[str]:
    """Return the tokens of as many users as can send files at a time."""
    names = [f"sender{number}" for number in range(bodies.MOST_FILES)]
    for name in names:
        shelf.store.add_user(name)
    return [shelf.token(name, scopes=MAPS_WRITE) for name in names]


@contextlib.asynccontextmanager
async def crowd(
    service: Service,
    senders: list[str],
    *addresses: str,
    sent: bytes = b"x",
    one_user: bool = False,
) -> AsyncIterator[list[tuple[Client, "asyncio.Task[Answer]"]]]:
    """Have a client from each address keep a body half sent until the context ends.

    Each has a user of its own, unless there is ``one_user``.
    """
    found = []
    for number, address in enumerate(addresses):
        client = Client(sent, waits=True, address=address)
        named = {"content_type": "application/octet-stream", "content_length": "1000000"}
        named["authorization"] = f"Bearer {senders[0 if one_user else number]}"
        asking = asyncio.create_task(ask(service, "PUT", "/test/file", client, **named))
        found.append((client, asking))
    await until(lambda: all(client.taken for client, _ in found))
    try:
        yield found
    finally:
        for _, asking in found:
            asking.cancel()
        await asyncio.gather(*(asking for _, asking in found), return_exceptions=True)


def other_addresses(number: int) -> list[str]:
    return [f"10.1.0.{n}" for n in range(number)]


async def one_more(service: Service, address: str = "10.2.0.1", token: str = "") -> Answer:
    named = {"content_type": "application/octet-stream", "content_length": "1"}
    if token:
        named["authorization"] = f"Bearer {token}"
    return await ask(service, "PUT", "/test/file", Client(b"x", address=address), **named)


def test_too_many_bodies_at_once_get_503(service: Service, senders: list[str]) -> None:
    async def test() -> list[int]:
        async with crowd(service, senders, *other_addresses(bodies.MOST_FILES)):
            refused = await one_more(service)
        assert refused.headers["retry-after"] == "1"
        return [refused.status, (await one_more(service)).status]

    assert service.run(test()) == [503, 200]


def test_one_address_cannot_fill_all_places(service: Service, senders: list[str]) -> None:
    async def test() -> list[int]:
        async with crowd(service, senders, *["10.1.0.1"] * (bodies.MOST_FILES * 3 // 4)):
            return [
                (await one_more(service, address)).status for address in ("10.1.0.1", "10.1.0.2")
            ]

    assert service.run(test()) == [503, 200]


def test_one_user_with_many_addresses_cannot_fill_all_places(
    service: Service, senders: list[str]
) -> None:
    async def test() -> list[int]:
        many = other_addresses(bodies.MOST_FILES * 3 // 4)
        async with crowd(service, senders, *many, one_user=True):
            own = await one_more(service, token=senders[0])
            return [own.status, (await one_more(service)).status]

    assert service.run(test()) == [503, 200]


def test_the_slowest_body_makes_room(
    service: Service, senders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "SLOW_AFTER", 0.05)

    async def test() -> list[bool]:
        async with crowd(service, senders, *other_addresses(bodies.MOST_FILES)) as found:
            for number, (client, _) in enumerate(found):
                if number != 5:
                    client.send(b"y" * 1000)
            await asyncio.sleep(0.1)
            assert (await one_more(service)).status == 200
            slowest = await found[5][1]
            assert (slowest.status, slowest.headers["connection"]) == (503, "close")
            return [asking.done() for _, asking in found]

    assert service.run(test()) == [n == 5 for n in range(bodies.MOST_FILES)]


def test_a_fast_body_is_not_dropped_to_make_room(
    service: Service, senders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "SLOW_AFTER", 0.05)

    async def test() -> int:
        fast, many = b"x" * 500_000, other_addresses(bodies.MOST_FILES)
        async with crowd(service, senders, *many, sent=fast) as found:
            await asyncio.sleep(0.1)
            status = (await one_more(service)).status
            assert not any(asking.done() for _, asking in found)
            return status

    assert service.run(test()) == 503


def test_files_do_not_take_the_places_of_small_bodies(service: Service, senders: list[str]) -> None:
    async def test() -> int:
        named = {"content_type": "application/json", "content_length": "2"}
        async with crowd(service, senders, *other_addresses(bodies.MOST_FILES)):
            return (await ask(service, "POST", "/test/notes", Client(b"{}"), **named)).status

    assert service.run(test()) == 200


def test_a_disk_that_is_slow_does_not_delay_small_bodies(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, going_on = threading.Event(), threading.Event()
    new_file = tempfile.TemporaryFile

    def slow(**named: Any) -> Any:
        stuck.set()
        assert going_on.wait(10)
        return new_file(**named)

    async def test() -> int:
        monkeypatch.setattr(bodies, "TemporaryFile", slow)
        named = {"content_type": "application/x-www-form-urlencoded", "content_length": "3"}
        large = asyncio.create_task(one_more(service))
        await until(stuck.is_set)
        try:
            async with asyncio.timeout(5):
                answer = await ask(service, "POST", "/test/form", Client(b"a=b"), **named)
        finally:
            going_on.set()
        assert (await large).status == 200
        return answer.status

    assert service.run(test()) == 200


def test_a_full_disk_is_a_server_error(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(**_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bodies, "TemporaryFile", full)
    answer = service.run(one_more(service))
    assert (answer.status, answer.error()) == (503, "temporarily_unavailable")
    assert b"space" not in answer.body
    assert "No space left on device" in caplog.text
    assert "Traceback" not in caplog.text


def test_bodies_in_memory_are_bounded() -> None:
    assert bodies.MOST_IN_MEMORY * bodies.LARGEST_IN_MEMORY <= 32 << 20


def test_limits_of_forms_are_enforced(service: Service) -> None:
    def status(content: str) -> int:
        sent = content.encode()
        return service.request("POST", "/test/form", headers=URL_ENCODED, content=sent).status_code

    assert status("&".join("a=1" for _ in range(FORM_LIMITS.fields))) == 200
    assert status("&".join("a=1" for _ in range(FORM_LIMITS.fields + 1))) == 400
    assert status("a=" + "x" * (FORM_LIMITS.text - 1)) == 200
    assert status("a=" + "x" * FORM_LIMITS.text) == 413
