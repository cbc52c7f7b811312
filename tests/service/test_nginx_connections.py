"""nginx, as in ``docs/deployment``, gives no client all connections for lists."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.cli.process import PATIENCE
from tests.service.proxies import documented_nginx, trust

pytestmark = pytest.mark.process

ONE_EACH = (
    "limit_conn mapshelf_lists_of 32;",
    "limit_conn mapshelf_lists_of 1; set_real_ip_from 127.0.0.1; real_ip_header X-Client;",
)


class Slow(BaseHTTPRequestHandler):
    """Answers lists only once ``going_on`` is set."""

    going_on: threading.Event
    begun: threading.Semaphore

    def do_GET(self) -> None:
        if self.path == "/maps":
            self.begun.release()
            self.going_on.wait(PATIENCE)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

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

        def status(client: str) -> int:
            headers = {"X-Client": client}
            asked = httpx.get(
                f"{address}/maps",
                headers=headers,
                verify=trust(),
                timeout=PATIENCE,
                trust_env=False,
            )
            return asked.status_code

        try:
            waiting = [requests.submit(status, first)]
            assert service.begun.acquire(timeout=PATIENCE)
            assert status(same) == 503
            waiting.append(requests.submit(status, other))
            assert service.begun.acquire(timeout=PATIENCE)
        finally:
            service.going_on.set()
        assert [one.result() for one in waiting] == [200, 200]
