"""Request bodies over real connections to Granian, from well-behaved and broken clients."""

import hashlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import orjson
import pytest

from mapshelf.tokens import MAPS, MAPS_WRITE
from tests.api.test_real_server import free_port, wait_for
from tests.api.writing import FILE_MOST
from tests.harness import Shelf

pytestmark = pytest.mark.process

PATIENCE: Final = 20.0


@dataclass(frozen=True)
class Server:
    """A running server with the operations of ``tests/api/writing.py``."""

    port: int
    token: str
    process: "subprocess.Popen[bytes]"
    folder: Path

    def head(self, request: str, *more: str, token: str | None = None) -> bytes:
        """Return the head of a request."""
        lines = (f"{request} HTTP/1.1", "Host: x", *more)
        sent = f"Authorization: Bearer {self.token if token is None else token}"
        return "\r\n".join((*lines, sent, "", "")).encode()

    def connect(self) -> socket.socket:
        """Return a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def nameless_files(self) -> int:
        """Return how many nameless files it has open."""
        found = 0
        for one in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(OSError):  # it has just been closed
                target = os.readlink(one)
                found += str(self.folder) in target and "deleted" in target
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("wire")
    shelf = Shelf(folder)
    shelf.publish()
    token = shelf.token(scopes=f"{MAPS} {MAPS_WRITE}")
    database = shelf.settings.database
    shelf.close()
    port = free_port()
    command = [sys.executable, "-m", "tests.api.writing", str(folder), str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, "DATABASE": database}
        )
    try:
        wait_for(f"http://127.0.0.1:{port}", token, folder / "log")
        yield Server(port, token, process, folder)
    finally:
        process.terminate()
        assert process.wait(20) == 0
    assert "Traceback" not in (folder / "log").read_text()


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes


def answer_on(connection: socket.socket) -> Answer:
    """Read one response."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65_536) or pytest.fail(f"the connection ends: {received!r}")
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    return Answer(int(first.split()[1]), headers, body)


FORM_HEADERS: Final = ("Content-Type: application/x-www-form-urlencoded",)
BINARY: Final = "Content-Type: application/octet-stream"


def test_a_connection_goes_on_after_bodies_that_were_read(server: Server) -> None:
    with server.connect() as connection:
        for number in range(20):
            body = f"a={number}".encode()
            length = f"Content-Length: {len(body)}"
            connection.sendall(server.head("POST /test/form", length, *FORM_HEADERS) + body)
            answer = answer_on(connection)
            assert orjson.loads(answer.body) == {"fields": {"a": [str(number)]}}
            assert "connection" not in answer.headers
            wrong = server.head("PUT /test/refused", "Content-Length: 3", BINARY) + b"abc"
            connection.sendall(wrong)
            answer = answer_on(connection)
            assert answer.status == 400
            assert "connection" not in answer.headers


def test_pipelined_requests_are_separated(server: Server) -> None:
    one = server.head("POST /test/form", "Content-Length: 3", *FORM_HEADERS) + b"a=1"
    with server.connect() as connection:
        connection.sendall(one + server.head("GET /test/notes", "Connection: close"))
        received = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert b'{"fields":{"a":["1"]}}' in received
    assert received.endswith(b'{"shown":true}')


@pytest.mark.parametrize("size", [0, 1, 65_536, FILE_MOST])
def test_a_file_of_any_size_arrives_whole(server: Server, size: int) -> None:
    content = os.urandom(size)
    answer = httpx.put(
        f"http://127.0.0.1:{server.port}/test/file",
        content=content,
        headers={
            "Authorization": f"Bearer {server.token}",
            "Content-Type": "application/octet-stream",
        },
        timeout=PATIENCE,
    )
    assert answer.json() == {"size": size, "sha256": hashlib.sha256(content).hexdigest()}


def test_a_form_with_a_large_file(server: Server) -> None:
    content = os.urandom(FILE_MOST)
    answer = httpx.post(
        f"http://127.0.0.1:{server.port}/test/upload",
        data={"title": "Größe", "tags": ["a", "b"]},
        files={"map": ("plan.mm", content)},
        headers={"Authorization": f"Bearer {server.token}"},
        timeout=PATIENCE,
    )
    assert answer.json() == {
        "fields": {"title": ["Größe"], "tags": ["a", "b"]},
        "map": {
            "name": "plan.mm",
            "size": FILE_MOST,
            "sha256": hashlib.sha256(content).hexdigest(),
        },
    }
    assert server.nameless_files() == 0


def test_expect_100_continue_is_answered(server: Server) -> None:
    expecting = ("Content-Length: 3", "Expect: 100-continue", *FORM_HEADERS)
    with server.connect() as connection:
        connection.sendall(server.head("POST /test/form", *expecting))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"a=1")
        assert answer_on(connection).status == 200


@pytest.mark.parametrize(
    ("request_line", "headers", "token", "status"),
    [
        ("PUT /test/file", ("Content-Length: 9", BINARY), "wrong", 401),
        ("PUT /test/file", (f"Content-Length: {FILE_MOST + 1}", BINARY), None, 413),
        ("PUT /test/file", ("Content-Length: 9", "Content-Type: a/b"), None, 415),
        ("PUT /maps", ("Content-Length: 9", BINARY), None, 405),
    ],
)
def test_expect_100_continue_gets_the_refusal_at_once(
    server: Server, request_line: str, headers: tuple[str, ...], token: str | None, status: int
) -> None:
    with server.connect() as connection:
        head = server.head(request_line, *headers, "Expect: 100-continue", token=token)
        connection.sendall(head)
        answer = answer_on(connection)
        assert (answer.status, answer.headers["connection"]) == (status, "close")
        assert connection.recv(100) == b""


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [((BINARY,), "wrong", 401), (("Content-Type: a/b",), None, 415), ((BINARY,), None, 413)],
)
@pytest.mark.parametrize("attempt", range(3))
def test_a_client_that_sends_everything_first_gets_the_reason(
    server: Server, headers: tuple[str, ...], token: str | None, status: int, attempt: int
) -> None:
    """A client that does not read while it writes would otherwise lose the answer."""
    size = FILE_MOST + (attempt + 1 if status == 413 else 0)
    with server.connect() as connection:
        length = f"Content-Length: {size}"
        connection.sendall(server.head("PUT /test/file", length, *headers, token=token))
        connection.sendall(bytes(size))
        answer = answer_on(connection)
        assert answer.status == status
        assert "connection" not in answer.headers
        connection.sendall(server.head("GET /test/notes"))
        assert answer_on(connection).status == 200


@pytest.mark.parametrize("body", [b"5\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n", b"zz\r\n"])
def test_a_body_in_chunks_is_refused(server: Server, body: bytes) -> None:
    with server.connect() as connection:
        head = server.head("POST /test/form", "Transfer-Encoding: chunked", *FORM_HEADERS)
        connection.sendall(head + body)
        answer = answer_on(connection)
        assert (answer.status, answer.headers["connection"]) == (411, "close")
        assert orjson.loads(answer.body)["error"] == "length_required"


def test_clients_that_hang_up_half_way_leave_nothing(server: Server) -> None:
    before = set(server.folder.iterdir())
    upload = b'--x\r\nContent-Disposition: form-data; name="map"; filename="a"\r\n\r\n' + bytes(
        100_000
    )
    requests = {
        "PUT /test/file": (BINARY, bytes(300_000)),
        "POST /test/upload": ("Content-Type: multipart/form-data; boundary=x", upload),
    }
    for request, (media_type, sent) in requests.items():
        for _ in range(10):
            with server.connect() as connection:
                head = server.head(request, "Content-Length: 1000000", media_type)
                connection.sendall(head + sent)
                wait_until(lambda: server.nameless_files() >= 1)
            wait_until(lambda: server.nameless_files() == 0)
    assert set(server.folder.iterdir()) == before
    with server.connect() as connection:
        connection.sendall(server.head("GET /test/notes"))
        assert answer_on(connection).status == 200


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize(
    "header",
    [b"Cookie: mapshelf_session=\xff\xfe", b"Origin: \xff", b"Content-Type: \xff", b"Expect: \xff"],
)
@pytest.mark.parametrize("request_line", ["GET /test/session", "POST /test/form", "DELETE /maps"])
def test_headers_that_are_not_text_get_a_response(
    server: Server, header: bytes, request_line: str
) -> None:
    with server.connect() as connection:
        head = server.head(request_line, "Content-Length: 1")
        connection.sendall(head.replace(b"Host: x", b"Host: x\r\n" + header) + b"x")
        assert answer_on(connection).status in {200, 405, 415}
