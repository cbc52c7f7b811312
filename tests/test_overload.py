"""The benchmarks of attacks and unusual requests run, and count from when requests were due."""

import asyncio
import socket
import sys
from threading import Thread

import pytest
from benchmarks import building, catalogue, fuzzing
from benchmarks.catalogue import Catalogue
from benchmarks.http1 import get_request
from benchmarks.overload import excess, measurement
from benchmarks.overload.excess_table import excess_table
from benchmarks.overload.load import offer
from benchmarks.overload.open_loop import Load, Sender

from tests.programs import installed

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    folder = tmp_path_factory.mktemp("overload")
    list(catalogue.prepare(200, folder))
    prepared = catalogue.prepared(200, folder)
    building.build(prepared, lambda _: None)
    return prepared


def test_clients_are_answered_beside_an_attack(made: Catalogue) -> None:
    scale = measurement.Scale(0.5, warming_up=0.1, branches=(3, 3, 3), bytes=1000)
    told = dict(measurement.measured(made, scale, ["half-sent"], None))
    assert told["half-sent: lists"]["asked"] == measurement.LISTS / 2
    assert told["half-sent: searches"]["outcomes"] == f"200={measurement.SEARCHES / 2:.0f}"
    assert told["half-sent: attackers"]["opened"] >= 1


def test_odd_requests_are_all_accounted_for(made: Catalogue) -> None:
    counts = dict(fuzzing.measured(made, 50))["requests"]
    del counts["own cpu seconds"]
    assert sum(counts.values()) == 50
    assert counts["200"] > 10


def test_a_request_that_must_wait_counts_from_when_it_was_due() -> None:
    async def asked() -> float:
        answering = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            await answering.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        asyncio.get_running_loop().call_later(0.5, answering.set)
        outcomes = await offer(port, [get_request("/")], rate=100, seconds=0.2)
        server.close()
        assert outcomes.counts() == {"200": 20}
        return min(outcomes.taken[200])

    assert asyncio.run(asked()) > 0.25  # the last was due after 0.19 s, all were answered at 0.5 s


def test_results_of_excess_requests_are_reported(made: Catalogue) -> None:
    told = dict(excess.measured(made, 0.4, ["lists", "uploads"], pause=0.0, waiting=(4, 4)))
    for name in ("lists", "uploads"):
        figures = told[name]
        assert figures["peak a second"] > 0
        assert figures["asked a second"] == pytest.approx(3 * figures["peak a second"], abs=0.1)
        counts = dict(one.rsplit("=") for one in figures["outcomes"].split(" ") if "=" in one)
        assert set(counts) <= {"200", "201", "503"}
        assert sum(map(int, counts.values())) == pytest.approx(
            0.4 * figures["asked a second"], abs=2
        )
    told["pages"] = {"failed": "OSError()"}
    lines = list(excess_table({"200": told}))
    assert lines[0].startswith("200 maps")
    assert [line.split(" | ")[0] for line in lines[4:7]] == ["| lists", "| uploads", "| pages"]
    assert {line.count("|") for line in lines[2:7]} == {11}


def test_an_excess_goes_through_nginx(made: Catalogue) -> None:
    installed("nginx")
    name = "lists-behind-nginx"
    figures = dict(excess.measured(made, 0.4, [name], pause=0.0, waiting=(4,)))[name]
    assert "failed" not in figures
    assert {one.split("=")[0] for one in figures["outcomes"].split()} <= {"200", "503"}


def test_at_a_rate_no_request_waits_for_another() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        answering = Thread(target=answer_the_last_first, args=(listener, 10))
        answering.start()
        load = Load(listener.getsockname()[1], [get_request("/")], 100.0, 0.1)
        answers = Sender(load).send()
        answering.join()
    assert answers.counts() == {"200": 9, "503": 1}
    # The first was due 90 ms before the last, which had to come before any was answered.
    assert max(answers.taken[200]) > 0.09
    assert answers.milliseconds([503])["count"] == 1


def answer_the_last_first(listener: socket.socket, count: int) -> None:
    connections = [listener.accept()[0] for _ in range(count)]
    for number, connection in enumerate(reversed(connections)):
        connection.recv(1000)
        status = "200 OK" if number else "503 Service Unavailable"
        connection.sendall(f"HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok".encode())
        connection.close()
