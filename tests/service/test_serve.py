"""The service starts, shows imported maps, and stops in order."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.cli.process import Mapshelf, Service, free_port, serving, wait_for
from tests.cli.test_commands import write_map
from tests.service.processes import children, descendants, runs, workers

pytestmark = pytest.mark.process


@pytest.fixture
def mapshelf(tmp_path: Path) -> Mapshelf:
    return Mapshelf(tmp_path / "data")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Mapshelf, Service]]:
    """A shared service with a base URL and two maps of ALICE's: add no maps.

    Its JSON log is next to its data folder.
    """
    folder = tmp_path_factory.mktemp("running")
    mapshelf = Mapshelf(folder / "data")
    write_map(folder / "maps" / "soil.mm", "Soil", topic="Regenwürmer lockern den Boden")
    write_map(folder / "maps" / "air.mm", "Air")
    mapshelf.run("import", folder / "maps", "--owner", "ALICE")
    options = ("--base-url", "https://maps.example.org/shelf/", "--log-format", "json")
    with (
        (folder / "log").open("wb") as log,
        serving(
            mapshelf, *options, "--access-log", token=mapshelf.token("ALICE"), log=log
        ) as service,
    ):
        service.wait_until_ready()
        yield mapshelf, service


def test_a_word_deep_inside_a_map_is_found(running: tuple[Mapshelf, Service]) -> None:
    (found,), _ = running[1].get("/maps?query=regenwurmer")
    assert found["Title"] == "Soil"


def test_profile_counts_the_maps_of_the_user(running: tuple[Mapshelf, Service]) -> None:
    profile, _ = running[1].get("/users/me")
    assert (profile["UserName"], profile["TotalMaps"]) == ("ALICE", "2")


def test_urls_begin_with_the_base_url(running: tuple[Mapshelf, Service]) -> None:
    (found,), headers = running[1].get("/maps?query=soil")
    assert found["URL"] == f"https://maps.example.org/shelf/mindmaps/{found['ID']}/soil"
    assert "<https://maps.example.org/shelf/maps?" in headers["link"]


def test_all_lines_of_the_log_are_objects(running: tuple[Mapshelf, Service]) -> None:
    mapshelf, service = running
    service.get("/categories")
    log = mapshelf.data.with_name("log")
    wait_for(lambda: b"/categories" in log.read_bytes())
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert any("Mapshelf answers at" in line["message"] for line in lines)
    (line,) = (line for line in lines if line.get("path") == "/categories")
    assert (line["status"], line["method"], line["address"]) == (200, "GET", "127.0.0.1")
    assert line["request_id"]


def test_a_token_is_refused_within_a_second_of_its_revocation(
    running: tuple[Mapshelf, Service],
) -> None:
    mapshelf, service = running
    service = replace(service, token=mapshelf.token("bob"))
    profile, _ = service.get("/users/me")
    assert profile["UserName"] == "bob"
    row = mapshelf.lines("token", "list", "bob")[0].split("\t")
    mapshelf.run("token", "revoke", row[0])
    time.sleep(1)

    with pytest.raises(HTTPError) as refused:
        service.get("/users/me")
    refused.value.close()
    assert refused.value.code == 401


def test_a_port_in_use_is_reported_in_a_line(
    mapshelf: Mapshelf, running: tuple[Mapshelf, Service]
) -> None:
    port = running[1].url.rpartition(":")[2]
    done = mapshelf.run("serve", "--port", port, expect=1)
    assert (
        done.stderr == f"mapshelf: cannot listen on 127.0.0.1 port {port}: Address already in use\n"
    )


def test_folders_given_are_imported_and_followed(mapshelf: Mapshelf, tmp_path: Path) -> None:
    folder = tmp_path / "maps"
    path = write_map(folder / "soil.mm", "Soil")

    with serving(mapshelf, folder) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() == 1)
        write_map(path, "Soil and water")
        wait_for(lambda: service.total("/maps?limit=0&query=water") == 1)
        write_map(folder / "air.mm", "Air")
        wait_for(lambda: service.total() == 2)


def test_imported_maps_appear_and_no_request_fails_meanwhile(
    mapshelf: Mapshelf, tmp_path: Path
) -> None:
    """The service listens on a host name, and its URLs begin with it."""
    with serving(mapshelf, "--host", "localhost") as service:
        service.wait_until_ready()
        done = threading.Event()
        failures: list[Exception] = []
        asked = 0

        def ask() -> None:
            nonlocal asked
            while not done.is_set():
                try:
                    service.get("/maps?limit=5")
                    asked += 1
                    time.sleep(0.01)  # leaves processor time to the others
                except Exception as error:
                    failures.append(error)

        readers = [threading.Thread(target=ask) for _ in range(3)]
        for reader in readers:
            reader.start()
        try:
            for number in range(5):
                mapshelf.run("import", write_map(tmp_path / f"{number}.mm", f"Map {number}"))
                wait_for(lambda number=number: service.total() == number + 1)
        finally:  # otherwise the readers would go on forever
            done.set()
            for reader in readers:
                reader.join()
        first = service.get("/maps")[0][0]

    assert not failures
    assert asked > 50
    port = service.url.rpartition(":")[2]
    assert first["URL"].startswith(f"http://localhost:{port}/")


def test_a_child_that_dies_is_replaced_and_none_is_left_when_the_parent_is_killed(
    samples: Mapshelf, tmp_path: Path
) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    with serving(mapshelf) as service:
        service.wait_until_ready()
        before = children(service.process.pid)
        for child in before:
            with suppress(ProcessLookupError):  # one child looks for old outlines, and ends
                os.kill(child, signal.SIGKILL)

        wait_for(lambda: not set(before) & set(children(service.process.pid)))
        service.wait_until_ready()
        mapshelf.run("user", "add", "bob")

        wait_for(lambda: len(descendants(service.process.pid)) >= 2)
        family = descendants(service.process.pid)
        service.kill()
        wait_for(lambda: not any(runs(process) for process in family))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("drain", ["0", "1"])
def test_an_interrupt_ends_the_service_quietly(
    mapshelf: Mapshelf, drain: str, number: signal.Signals
) -> None:
    """A terminal sends it to all processes; no worker ends before the supervisor says so."""
    command = mapshelf.command(
        "serve", "--port", str(free_port()), "--workers", "1", "--drain", drain
    )
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    lines = iter(process.stderr.readline, "")
    assert any("Mapshelf answers at" in line for line in lines)

    os.killpg(process.pid, number)

    assert process.wait(30) == 0
    rest = process.stderr.read()
    process.stderr.close()
    assert "Traceback" not in rest
    assert "exited with code" not in rest


def test_unusable_and_lost_snapshots_are_rebuilt_while_serving(
    samples: Mapshelf, tmp_path: Path
) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    with serving(mapshelf) as service:
        service.wait_until_ready()
        wait_for(lambda: service.total() > 10)
        folder = mapshelf.data / "snapshots" / current_snapshot(mapshelf)
        os.truncate(folder / "records.bin", 100)
        (worker,) = workers(service.process.pid)
        os.kill(worker, signal.SIGKILL)

        wait_for(lambda: current_snapshot(mapshelf) not in ("", folder.name))
        service.wait_until_ready()
        assert service.total() > 10

        before = current_snapshot(mapshelf)
        shutil.rmtree(mapshelf.data / "snapshots")

        wait_for(lambda: current_snapshot(mapshelf) not in ("", before))
        mapshelf.run("user", "add", "bob")
        wait_for(lambda: service.total() > 10)


def current_snapshot(mapshelf: Mapshelf) -> str:
    """Return the name of the current snapshot, empty if there is none."""
    try:
        return (mapshelf.data / "snapshots" / "current").read_text("ascii")
    except FileNotFoundError:
        return ""
