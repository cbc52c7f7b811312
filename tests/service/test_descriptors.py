"""With few open files allowed, the service uses what it gets, or refuses with a reason."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from mapshelf.descriptors import MIN_DESCRIPTORS
from tests.cli.process import PATIENCE, Mapshelf, Service, free_port, serving, wait_for
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process


def allowing(descriptors: int, at_first: int | None = None) -> list[str]:
    """Return a command prefix that limits descriptors, with a lower soft limit at first."""
    limits = f"ulimit -n {descriptors}"
    if at_first is not None:
        limits += f" && ulimit -S -n {at_first}"
    return ["sh", "-c", f'{limits} && exec "$@"', "sh"]


def test_too_few_descriptors_are_reported_in_a_line(tmp_path: Path) -> None:
    command = Mapshelf(tmp_path / "data").command("serve", "--port", str(free_port()))
    done = subprocess.run(
        [*allowing(MIN_DESCRIPTORS - 1), *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"mapshelf: {MIN_DESCRIPTORS - 1} file descriptors are too few,"
        f" {MIN_DESCRIPTORS} are needed:"
        " raise the limit (ulimit -n, or LimitNOFILE of systemd)\n"
    )


@pytest.mark.parametrize(("descriptors", "at_first"), [(MIN_DESCRIPTORS, None), (768, 36)])
def test_all_allowed_descriptors_are_used_and_connections_leave_some(
    samples: Mapshelf, tmp_path: Path, descriptors: int, at_first: int | None
) -> None:
    """The initial limit of 36 is not enough for anything."""
    mapshelf = samples.copied_to(tmp_path / "data")
    with serving(mapshelf, under=allowing(descriptors, at_first)) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() > 10)
        with keeping_asking(service) as total, idle(service, descriptors - 100):
            before = total()
            for number in range(3):
                mapshelf.run("import", write_map(tmp_path / f"{number}.mm", f"Map {number}"))
                wait_for(lambda number=number: total() == before + number + 1)

    assert not (mapshelf.data / "snapshots" / "refused").exists()


@contextmanager
def idle(service: Service, count: int) -> Iterator[None]:
    """Hold connections over which nothing is sent."""
    port = int(service.url.rpartition(":")[2])
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    try:
        yield
    finally:
        for one in held:
            one.close()


@contextmanager
def keeping_asking(service: Service) -> Iterator[Callable[[], int]]:
    """Yield a function that requests the number of maps, over an open connection."""
    connection = HTTPConnection(service.url.removeprefix("http://"), timeout=PATIENCE)

    def total() -> int:
        headers = {"Authorization": f"Bearer {service.token}"}
        connection.request("GET", "/maps?limit=0", headers=headers)
        answer = connection.getresponse()
        answer.read()
        return int(answer.headers["x-total-count"])

    try:
        total()
        yield total
    finally:
        connection.close()
