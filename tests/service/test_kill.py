"""No acknowledged write is lost, whichever process is killed at any time.

Importing, creating tokens and serving are killed together at a random moment. What had been
acknowledged by then (a token printed, a map seen over HTTP) must exist afterwards, the store must
be sound, and the service ready again.
``MAPSHELF_KILL_ROUNDS=200 make test ARGUMENTS=tests/service/test_kill.py`` runs more rounds than
the default, and prints how long starting took.
"""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

import pytest

from tests.cli.process import Mapshelf, Service, serving, wait_for
from tests.cli.test_commands import write_map

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("MAPSHELF_KILL_ROUNDS", "2"))
MAPS = 30
"""Maps that are being imported in a round."""


def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    moments = random.Random(20)
    mapshelf = Mapshelf(tmp_path / "data")
    tokens = [mapshelf.token()]
    starts = []
    maps = 0
    for number in range(ROUNDS):
        folder = tmp_path / f"round {number}"
        for place in range(MAPS):
            write_map(folder / f"{place}.mm", f"Round {number} map {place}")

        with serving(mapshelf, token=tokens[0]) as service:
            starts.append(service.wait_until_ready())
            seen = killed_at_work(mapshelf, service, folder, tokens, moments)

        assert "damaged" not in mapshelf.run("check").stderr
        assert len(mapshelf.exported()) >= max(maps, seen)
        mapshelf.run("import", folder)
        maps += MAPS
        assert len({record["Title"] for record in mapshelf.exported()}) == maps
        assert len(mapshelf.exported()) == maps

    with serving(mapshelf, token=tokens[0]) as service:
        starts.append(service.wait_until_ready())
        wait_for(lambda: service.total() == maps)
        for token in tokens:
            profile, _ = replace(service, token=token).get("/users/me")
            assert profile["UserName"] == "alice"
    print(f"{ROUNDS} rounds, {len(tokens)} tokens, ready after at most {max(starts):.2f} s")


def killed_at_work(
    mapshelf: Mapshelf, service: Service, folder: Path, tokens: list[str], moments: random.Random
) -> int:
    """Kill everything while it works; add the printed tokens, and return the maps seen."""
    seen = 0
    with running(mapshelf.command("import", folder)) as importing:
        end = moments.uniform(0.1, 1.2)
        took = 0.0
        while took < end:
            with running(mapshelf.command("token", "create", "alice")) as creating:
                try:
                    out, _ = creating.communicate(timeout=moments.uniform(0.05, 0.6))
                    tokens += out.decode().split()
                except subprocess.TimeoutExpired:
                    creating.send_signal(signal.SIGKILL)
                    # A printed token is acknowledged, even if the process was killed afterwards.
                    tokens += creating.communicate()[0].decode().split()
            took += 0.2
            try:
                seen = service.total()
            except (URLError, ConnectionError) as error:
                pytest.fail(f"a request failed: {error}")
        importing.send_signal(signal.SIGKILL)
        service.kill()
    return seen


@contextmanager
def running(command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command in the background, and kill it at the end."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        with process:
            yield process
    finally:
        if process.poll() is None:
            process.kill()
