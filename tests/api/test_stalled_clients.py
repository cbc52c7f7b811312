"""Clients that request large bodies and read nothing are disconnected, and no other client waits.

The tests use real connections to Granian.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.api.stalling import LARGE, LOOKING
from tests.api.test_real_server import free_port, wait_for
from tests.cli.process import wait_for as wait_until
from tests.harness import Shelf

pytestmark = pytest.mark.process

STALLED: Final = 4
"""Clients that take nothing: no more than there are threads on a machine with one processor."""

PATIENCE: Final = LOOKING / 2
"""Seconds after which a request is taken to wait for those who are being disconnected."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The service of ``tests/api/stalling.py``, with its data in ``tmp_path``."""
    shelf = Shelf(tmp_path)
    shelf.publish()
    token, database = shelf.token(), shelf.settings.database
    shelf.close()
    url, log = f"http://127.0.0.1:{free_port()}", tmp_path / "log"
    command = [sys.executable, "-m", "tests.api.stalling", str(tmp_path), url.rpartition(":")[2]]
    environment = {**os.environ, "DATABASE": database}
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    try:
        wait_for(url, token, log)
        yield url
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert "Traceback" not in log.read_text()


def stalled(url: str) -> socket.socket:
    """Request a large body, and read nothing of it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", int(url.rpartition(":")[2])))
    client.sendall(b"GET /test/large HTTP/1.1\r\nHost: x\r\n\r\n")
    return client


def taken(client: socket.socket) -> int:
    """Return how many bytes can be read until the connection ends."""
    count = 0
    try:
        while piece := client.recv(1 << 20):
            count += len(piece)
    except ConnectionResetError:
        pass
    return count


def test_stalled_clients_are_disconnected_and_others_answered_meanwhile(
    url: str, tmp_path: Path
) -> None:
    """Finding a connection among hundreds takes milliseconds; here, as long as the test wants."""
    with ExitStack() as opened, httpx.Client(base_url=url, timeout=PATIENCE) as other:
        clients = [opened.enter_context(stalled(url)) for _ in range(STALLED)]
        wait_until((tmp_path / "looking").exists)
        assert other.get("/healthz").status_code == 200
        assert len(other.get("/test/large").content) == LARGE
        assert not (tmp_path / "found").exists()
        (tmp_path / "found").touch()
        assert all(taken(client) < LARGE for client in clients)
