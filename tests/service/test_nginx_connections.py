"""nginx, as in ``docs/deployment``, gives no client all connections."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SO_RCVBUF, SOL_SOCKET, socket
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.process import PATIENCE, wait_for
from tests.service.proxies import documented_nginx, trust

pytestmark = pytest.mark.process

ONE_EACH = (
    "limit_conn mapshelf_lists_of 32;",
    "limit_conn mapshelf_lists_of 1; set_real_ip_from 127.0.0.1; real_ip_header X-Client;",
)


LONG_LIST: Final = 3_000_000  # bytes


class Slow(BaseHTTPRequestHandler):
    """Answers lists and drawings once ``going_on`` is set, and lists of an owner at length."""

    going_on: threading.Event
    begun: threading.Semaphore

    def do_GET(self) -> None:
        if self.path == "/maps" or self.path.endswith("/drawing.png"):
            self.begun.release()
            self.going_on.wait(PATIENCE)
        body = bytes(LONG_LIST if "owner=" in self.path else 0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if body:
            self.begun.release()

    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def slow_service() -> Iterator[tuple[str, type[Slow]]]:
    class Handler(Slow):
        going_on = threading.Event()
        begun = threading.Semaphore(0)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", Handler
    finally:
        Handler.going_on.set()
        server.shutdown()
        thread.join()
        server.server_close()


def status_of_lists(address: str, client: str) -> int:
    return status_of("/maps", address, client)


def status_of(path: str, address: str, client: str) -> int:
    response = httpx.get(
        f"{address}{path}",
        headers={"X-Client": client},
        verify=trust(),
        timeout=PATIENCE,
        trust_env=False,
    )
    return response.status_code


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ("2001:db8:1:1::1", "2001:db8:1:1:a00:a0a:0:3", "2001:db8:1:2::1"),
        ("2001:db8:0:a::1", "2001:db8:0:a:ffff::a", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
    ],
)
def test_a_client_gets_a_part_of_the_connections_for_lists(
    first: str, same: str, other: str, tmp_path: Path
) -> None:
    """All addresses of a /64 network are one client."""
    with (
        slow_service() as (url, service),
        documented_nginx(url, tmp_path, ONE_EACH) as address,
        ThreadPoolExecutor(2) as requests,
    ):
        status = partial(status_of_lists, address)
        try:
            waiting = [requests.submit(status, first)]
            assert service.begun.acquire(timeout=PATIENCE)
            assert status(same) == 503
            waiting.append(requests.submit(status, other))
            assert service.begun.acquire(timeout=PATIENCE)
        finally:
            service.going_on.set()
        assert [one.result() for one in waiting] == [200, 200]


def test_requests_count_that_nginx_goes_on_with_after_a_client_has_left(tmp_path: Path) -> None:
    changes = (
        "limit_conn mapshelf_requests_of 128;",
        "limit_conn mapshelf_requests_of 2; set_real_ip_from 127.0.0.1; real_ip_header X-Client;",
    )
    status = partial(status_of, "/maps/Slow0003/drawing.png")
    with (
        slow_service() as (url, service),
        documented_nginx(url, tmp_path, changes) as address,
        ThreadPoolExecutor(1) as requests,
    ):
        for name in ("Slow0001", "Slow0002"):
            leave_early(address, f"/maps/{name}/drawing.png", "10.0.0.1")
            assert service.begun.acquire(timeout=PATIENCE)
        wait_for(lambda: status(address, "10.0.0.1") == 503)
        try:
            waiting = requests.submit(status, address, "10.0.0.2")
            assert service.begun.acquire(timeout=PATIENCE)
        finally:
            service.going_on.set()
        assert waiting.result() == 200
        wait_for(lambda: status(address, "10.0.0.1") == 200)


def leave_early(address: str, path: str, client: str) -> None:
    """Request something, and hang up without waiting for the response."""
    where = urlsplit(address)
    with socket() as leaving:
        leaving.settimeout(PATIENCE)
        leaving.connect((where.hostname, where.port))
        with trust().wrap_socket(leaving, server_hostname=where.hostname) as encrypted:
            headers = f"Host: maps.example.org\r\nX-Client: {client}\r\n\r\n"
            encrypted.sendall(f"GET {path} HTTP/1.1\r\n{headers}".encode())


def test_clients_that_do_not_read_occupy_no_connection_for_lists(tmp_path: Path) -> None:
    changes = (
        ("max_conns=64", "max_conns=1"),
        (" ssl;", " ssl sndbuf=65536;"),  # otherwise the system keeps megabytes for the client
    )
    with slow_service() as (url, service), documented_nginx(url, tmp_path, *changes) as address:
        where = urlsplit(address)
        service.going_on.set()
        with socket() as reader:
            reader.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
            reader.settimeout(PATIENCE)
            reader.connect((where.hostname, where.port))
            with trust().wrap_socket(reader, server_hostname=where.hostname) as stalled:
                stalled.sendall(b"GET /maps?owner=eve HTTP/1.1\r\nHost: maps.example.org\r\n\r\n")
                assert service.begun.acquire(timeout=PATIENCE), "nginx has not read the list"
                # It may not have read the end yet.
                wait_for(lambda: status_of_lists(address, "other") == 200)
                answer = stalled.makefile("rb").read(LONG_LIST)
                assert len(answer) == LONG_LIST
