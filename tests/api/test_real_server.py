"""The service as operators run it: ``mapshelf serve`` over a socket, with generated requests.

Schemathesis generates valid and invalid requests from the OpenAPI document, and compares every
response with it. Requests that no HTTP client would send are written to the socket directly.
"""

import re
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from mapshelf.model import MapDraft, Source
from tests.api.openapi import COMPONENTS
from tests.examples import few
from tests.harness import Shelf, outline_of

pytestmark = pytest.mark.process

SEED = 20240229

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "positive_data_acceptance",
    "ignored_auth",
    "unsupported_method",
    "allow_header_conformance",
)


@dataclass(frozen=True)
class Server:
    """A running ``mapshelf serve``."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with one worker and a few maps."""
    folder = tmp_path_factory.mktemp("served")
    drafts = (
        MapDraft(title=f"Map {n}", description="some words", outline=outline_of("a", "b c"))
        for n in range(60)
    )
    one = MapDraft(
        id=COMPONENTS["parameters"]["ID"]["example"],
        title="The one of the examples",
        outline=outline_of("a", "b"),
        source=Source(b"/maps/a.mm", "a.mm", 3, 1, b"d" * 32),
        content=zlib.compress(b"<map"),
    )
    shelf = Shelf(folder)
    shelf.put(one, *drafts)
    shelf.publish()
    token, database = shelf.token(), shelf.settings.database
    shelf.close()
    port = free_port()
    command = [sys.executable, "-m", "mapshelf", "serve", "--data", str(folder)]
    command += ["--database", database]
    command += ["--port", str(port), "--workers", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}", token, folder / "log")
        yield Server(port, token)
    finally:
        process.terminate()
        assert process.wait(20) == 0
    assert "Traceback" not in (folder / "log").read_text()


def wait_for(url: str, token: str, log: Path) -> None:
    deadline = time.monotonic() + 30
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(headers=headers, timeout=60) as client:
        while True:
            with suppress(httpx.TransportError):
                if client.get(f"{url}/maps").status_code == 200:
                    return
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)


def test_generated_requests_get_documented_answers(server: Server, tmp_path: Path) -> None:
    """No response is a server error, and all are as the document says."""
    program = Path(sys.executable).with_name("schemathesis")
    result = subprocess.run(
        [
            program, "run", f"{server.url}/openapi.json",
            "--header", f"Authorization: Bearer {server.token}",
            "--checks", ",".join(CHECKS),
            "--phases", "examples,coverage,fuzzing",
            "--max-examples", str(few(50)),
            "--seed", str(SEED),
            "--request-timeout", "60",  # drawings are made at a low priority
            "--no-color",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    tested = re.search(r"(\d+) generated", result.stdout)
    assert tested, result.stdout
    assert int(tested[1]) > 200


def raw(server: Server, request: bytes) -> bytes:
    """Write ``request`` to the socket, and return everything that the server sends."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def head(server: Server, target: bytes = b"/maps", *extra: bytes) -> bytes:
    """Return a request as bytes."""
    lines = (b"GET %s HTTP/1.1" % target, b"Authorization: Bearer " + server.token.encode(), *extra)
    return b"\r\n".join((*lines, b"Connection: close", b"", b""))


HOST = b"Host: localhost"


def test_a_valid_request_over_a_raw_socket(server: Server) -> None:
    answer = raw(server, head(server, b"/maps?limit=0", HOST))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n[]")


@pytest.mark.parametrize("hosts", [(), (HOST, HOST)])
def test_no_host_or_two_is_refused(server: Server, hosts: tuple[bytes, ...]) -> None:
    assert raw(server, head(server, b"/maps", *hosts)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "target",
    [
        b"/maps?query=\xff",
        b"/maps?owner=\xc3\x28",
        b"/maps?limit=1&limit=1",
        b"/maps?query=%",
        b"/maps?query=%zz",
        b"/maps?query=\xc3\xa9",
        b"/maps?%FF=1",
        b"/m\xc3\xa4ps",
        b"/maps%00",
        b"/maps%2F",
        b"/%FF",
        b"/../maps",
        b"/maps?;",
        b"/maps?" + b"x" * 9000,
        b"/maps?" + b"x" * 60_000,
        b"http://elsewhere.example/maps",
        b"*",
    ],
)
def test_unusual_request_targets_do_no_harm(server: Server, target: bytes) -> None:
    answer = raw(server, head(server, target, HOST))
    status = answer.split(b" ", 2)[1]
    assert status in {b"200", b"400", b"404", b"414", b"431"}, answer[:200]
    assert raw(server, head(server, b"/maps?limit=0", HOST)).endswith(b"\r\n\r\n[]")


def test_the_longest_query_string_is_accepted(server: Server) -> None:
    target = b"/maps?limit=1&owner=" + b"x" * (8192 - len(b"limit=1&owner="))
    for longer, status in ((b"", b"200"), (b"x", b"414")):
        answer = raw(server, head(server, target + longer, HOST))
        assert answer.split(b" ", 2)[1] == status, answer


def test_head_and_304_have_no_body_on_the_wire(server: Server) -> None:
    sound = head(server, b"/maps", HOST)
    answer = raw(server, sound.replace(b"GET", b"HEAD", 1))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n")
    answer = raw(server, head(server, b"/maps", HOST, b"If-None-Match: *"))
    assert answer.startswith(b"HTTP/1.1 304 ")
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("size", [1, 10, 60_000, 65_537])
def test_a_body_that_nobody_needs_does_not_disturb_the_next_request(
    server: Server, size: int
) -> None:
    authorization = {"Authorization": f"Bearer {server.token}"}
    chunks = [b"x" * size]
    with httpx.Client(base_url=server.url, headers=authorization, timeout=60) as client:
        for content in (b"x" * size, (chunk for chunk in chunks)):
            response = client.request("GET", "/maps?limit=0", content=content)
            too_large = size > 65_536
            assert response.status_code == (413 if too_large else 200)
            assert ("Connection" in response.headers) == too_large
            following = client.get("/maps?limit=0")
            assert following.content == b"[]"
            assert "Connection" not in following.headers


@pytest.mark.parametrize(
    ("status", "request_line", "extra"),
    [
        (b"400", b"GET /maps HTTP/1.1", b"Content-Length: x"),
        (b"400", b"GET /maps HTTP/1.1", b"Transfer-Encoding: x"),
        (b"400", b"GET /maps HTTP/1.1", b"no header"),
        (b"400", b"hello", b"X: x"),
        (b"431", b"GET /maps?" + b"x" * 65_536 + b" HTTP/1.1", b"X: x"),
        (b"431", b"GET /maps HTTP/1.1", b"\r\n".join(b"X: %d" % n for n in range(100))),
        (b"431", b"GET /maps HTTP/1.1", b"X: " + b"x" * 65_536),
        (b"431", b"GET /maps HTTP/1.1", b"X: " + b"x" * 300_000),
    ],
    ids=["length", "encoding", "header", "line", "address", "headers", "long", "very long"],
)
def test_malformed_http_gets_a_response_without_a_body(
    server: Server, status: bytes, request_line: bytes, extra: bytes
) -> None:
    """As docs/api.md says. The application never gets these requests."""
    answer = raw(server, b"\r\n".join((request_line, HOST, extra, b"", b"")))
    assert answer.startswith(b"HTTP/1.1 %s " % status)
    assert b"connection: close" in answer
    assert answer.endswith(b"\r\n\r\n")
