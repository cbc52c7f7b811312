"""A few clients, malicious or not, cannot stop the service for all others."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.cli.process import Mapshelf, Service, serving, wait_for

pytestmark = pytest.mark.process

BRANCHES: Final = 40
TOPICS: Final = 150
NOTE: Final = "a note that makes the file large, and is read by nobody " * 20

ENOUGH: Final = 20.0
"""Seconds for what takes one at most: more than that is no answer."""

PATIENCE: Final = 55.0
"""Seconds for what a child of low priority makes, which gets little of a busy machine."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one worker and a map of 6,000 topics in a file of several megabytes."""
    folder = tmp_path_factory.mktemp("overload")
    mapshelf = Mapshelf(folder / "data")
    mapshelf.run("import", written(folder / "large.mm"))
    with serving(mapshelf, workers=1) as running:
        running.wait_until_ready()
        yield running


def written(path: Path) -> Path:
    note = f'<richcontent TYPE="NOTE"><html><body><p>{NOTE}</p></body></html></richcontent>'
    branches = "".join(
        f'<node TEXT="Branch {number}">'
        + "".join(f'<node TEXT="Topic {number} {n}">{note}</node>' for n in range(TOPICS))
        + "</node>"
        for number in range(BRANCHES)
    )
    path.write_text(f'<map version="1.0.1"><node TEXT="Large">{branches}</node></map>')
    return path


def connected(service: Service, path: str, *, signed: bool = False) -> socket.socket:
    """Send a request and return the connection without reading the response."""
    port = int(service.url.rpartition(":")[2])
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    token = f"Authorization: Bearer {service.token}\r\n" if signed else ""
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{token}\r\n".encode())
    return client


def memory(process: int) -> int:
    """Return the private memory of a process and its descendants, in bytes."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        kilobytes = next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    with open(f"/proc/{process}/task/{process}/children") as file:
        return kilobytes * 1024 + sum(memory(int(child)) for child in file.read().split())


def test_clients_that_read_nothing_take_little_memory_and_block_nobody(service: Service) -> None:
    (found,), _ = service.get("/maps")
    path = f"/maps/{found['ID']}/file"
    (whole,) = received_once_there_is_room(service, path, 1, signed=True)
    assert len(whole) > 5_000_000
    before = memory(service.process.pid)
    slow = [connected(service, path, signed=True) for _ in range(150)]
    try:
        time.sleep(4)
        # 150 files of seven megabytes are a gigabyte.
        assert memory(service.process.pid) - before < 100_000_000
        assert received_once_there_is_room(service, path, 1, signed=True) == [whole]
        assert service.total() == 1
    finally:
        for client in slow:
            client.close()


def received_once_there_is_room(
    service: Service, path: str, count: int, **how: bool
) -> list[bytes]:
    """Send requests at once, again while the service is busy, and return the bodies."""
    deadline = time.monotonic() + PATIENCE
    while True:
        clients = [connected(service, path, **how) for _ in range(count)]
        answers = [(client, *begun(client)) for client in clients]
        busy = [head for _, head, _ in answers if head.startswith(b"HTTP/1.1 503")]
        if not busy:
            return [ended(*answer) for answer in answers]
        for client in clients:
            client.close()
        assert all(b"retry-after: " in head for head in busy), busy
        assert time.monotonic() < deadline, "still busy"
        time.sleep(1)


def begun(client: socket.socket) -> tuple[bytes, bytes]:
    """Return the head of a response, and the part of its body that has arrived."""
    client.settimeout(PATIENCE)
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    return head, body


def ended(client: socket.socket, head: bytes, body: bytes) -> bytes:
    """Return the whole body of a response that has begun."""
    assert head.startswith(b"HTTP/1.1 200"), head
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    pieces = [body]
    left = length - len(body)
    while left:
        pieces.append(client.recv(1 << 20))
        assert pieces[-1], "the response is incomplete"
        left -= len(pieces[-1])
    client.close()
    return b"".join(pieces)


def test_clients_that_hang_up_leave_no_work_that_others_wait_for(service: Service) -> None:
    (found,), _ = service.get("/maps")
    page = found["URL"].removeprefix(service.url)
    costly = [f"/site/maps/{found['ID']}.json", page, f"{page}?embed=1"]
    costly += [f"{page}.{suffix}" for suffix in ("md", "opml", "mm", "mmd", "json", "txt")]
    for number in range(20):  # each has its own URL, so that they share no response
        for path in costly:
            separator = "&" if "?" in path else "?"
            connected(service, f"{path}{separator}unknown={number}").close()

    def is_found() -> bool:
        try:
            hits, _ = service.get("/search?query=topic")
        except HTTPError as error:
            if error.code == 503:  # other programs use the processors
                return False
            raise
        return bool(hits[0]["map"]["ID"] == found["ID"])

    assert wait_for(is_found) < ENOUGH


def test_responses_of_large_maps_are_made_once_for_all(service: Service) -> None:
    (found,), _ = service.get("/maps")
    path = f"/site/maps/{found['ID']}.json"
    made, *others = received_once_there_is_room(service, path, 12)
    assert len(json.loads(made)["sheets"][0]["topics"]) == 1 + BRANCHES + BRANCHES * TOPICS
    assert set(others) == {made}
    with urlopen(f"{service.url}{path}", timeout=PATIENCE) as answer:
        assert answer.headers["Content-Length"] == str(len(made))
        assert answer.read() == made
