"""Workers that die lose only the requests that they were answering."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.cli.process import PATIENCE, Mapshelf, Service, serving, wait_for
from tests.service.processes import workers as workers_of

pytestmark = pytest.mark.process


@pytest.fixture
def mapshelf(samples: Mapshelf, tmp_path: Path) -> Mapshelf:
    return samples.copied_to(tmp_path / "data")


def workers(service: Service) -> list[int]:
    """Return the worker processes."""
    return workers_of(service.process.pid)


def kill_one(service: Service, victim: int) -> int:
    """Kill a worker; return its replacement."""
    before = set(workers(service))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: set(workers(service)) - before and len(workers(service)) == len(before))
    (fresh,) = set(workers(service)) - before
    return fresh


def ask(service: Service) -> int:
    """Request a page over a new connection; return the status."""
    connection = HTTPConnection(service.url.removeprefix("http://"), timeout=PATIENCE)
    try:
        headers = {"Authorization": f"Bearer {service.token}"}
        connection.request("GET", "/maps?limit=3", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@contextmanager
def asking(service: Service, answers: list[int | Exception]) -> Iterator[None]:
    """Send one request after another in this context; record each status or error."""
    done = threading.Event()

    def go_on() -> None:
        while not done.is_set():
            try:
                answers.append(ask(service))
            except OSError as error:
                answers.append(error)
            time.sleep(0.005)  # leaves processor time to the service

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_worker_that_keeps_dying_leaves_the_others_alone(mapshelf: Mapshelf) -> None:
    answers: list[int | Exception] = []
    with serving(mapshelf, workers=2) as service:
        service.wait_until_ready()
        wait_for(lambda: len(workers(service)) == 2)
        steady, victim = workers(service)
        deaths = 3
        with asking(service, answers):
            for _ in range(deaths):
                victim = kill_one(service, victim)
        assert steady in workers(service)

    failed = [answer for answer in answers if answer != 200]
    # Only the request of the dying worker may fail: there is one request at a time.
    assert len(failed) <= deaths
    assert not any(isinstance(answer, ConnectionRefusedError) for answer in failed)
    assert len(answers) - len(failed) > deaths


def test_a_revoked_token_is_refused_by_every_worker_after_a_second(mapshelf: Mapshelf) -> None:
    with serving(mapshelf, workers=2) as service:
        service.wait_until_ready()
        wait_for(lambda: len(workers(service)) == 2)
        # Connections are spread over the workers, so each has cached the token.
        assert {ask(service) for _ in range(50)} == {200}
        token_id, *_ = mapshelf.lines("token", "list", "alice")[-1].split("\t")
        mapshelf.run("token", "revoke", token_id)
        time.sleep(1)
        assert {ask(service) for _ in range(50)} == {401}


def test_clients_wait_while_the_only_worker_is_replaced(
    mapshelf: Mapshelf,
) -> None:
    with serving(mapshelf, workers=1) as service:
        service.wait_until_ready()
        for _ in range(2):
            (worker,) = workers(service)
            os.kill(worker, signal.SIGKILL)
            # No worker runs now: clients may have to wait, but get a response.
            wait_for(lambda worker=worker: worker not in workers(service))
            assert ask(service) == 200
