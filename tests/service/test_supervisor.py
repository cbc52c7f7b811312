"""The supervisor, which is there as long as the service, stays small and leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from mapshelf.service.supervisor import Child, Supervisor
from tests.service.processes import descendants, runs

pytestmark = pytest.mark.process

PATIENCE: Final = 60.0
"""Seconds to wait for a process."""

STARTS_THE_SUPERVISOR: Final = """
import sys
from tests.service.test_supervisor import supervise
if __name__ == "__main__":
    supervise(*sys.argv[1:])
"""


def test_it_imports_nothing_that_only_its_children_need() -> None:
    code = "import sys, mapshelf.cli.serve; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    heavy = {"apsw", "asyncio", "granian", "http.client", "numpy", "rich", "ssl", "tantivy"}
    assert heavy.isdisjoint(output.split())


def supervise(note: str) -> None:
    """Run a supervisor of one process, which is killed soon if it does not stop."""
    child = Child("worker", "tests.service.test_supervisor:listen_in_grandchild", (note,))
    Supervisor([child], stop_timeout=0.5).run(lambda: True)


def listen_in_grandchild(note: str) -> None:
    """Let a child listen, as web workers do; write down its number; stop it and this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        code = "import time; time.sleep(600)"
        grandchild = subprocess.Popen([sys.executable, "-c", code], pass_fds=[listening.fileno()])
        grandchild.send_signal(signal.SIGSTOP)
        port = listening.getsockname()[1]
    part = Path(f"{note}.part")
    part.write_text(f"{grandchild.pid} {port}")
    part.rename(note)
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_what_a_killed_process_started_ends_with_it(tmp_path: Path, number: signal.Signals) -> None:
    """Stopped workers once kept the port, so that the service could not start again."""
    note = tmp_path / "grandchild"
    supervisor = subprocess.Popen([sys.executable, "-c", STARTS_THE_SUPERVISOR, str(note)])
    grandchild = 0
    try:
        wait_for(note)
        grandchild, port = map(int, note.read_text().split())
        supervisor.send_signal(number)
        assert supervisor.wait(PATIENCE) == 0
        deadline = time.monotonic() + PATIENCE
        while runs(grandchild) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not runs(grandchild)
        with socket.create_server(("127.0.0.1", port)):
            pass
    finally:
        for process in (*descendants(supervisor.pid), grandchild or supervisor.pid):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        supervisor.kill()
        supervisor.wait(PATIENCE)


@pytest.mark.parametrize("renews", [True, False])
def test_a_process_that_renews_itself_is_started_at_once(
    renews: bool, caplog: pytest.LogCaptureFixture
) -> None:
    child = Child("builder", "tests.service.test_supervisor:finish", (), renews=renews)
    child.start()
    assert child.process is not None
    child.process.join(PATIENCE)
    child.schedule_restart()
    assert (child.due <= time.monotonic()) == renews
    assert bool(caplog.records) != renews


def finish() -> None:
    """End at once, without a failure."""


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} is not there"
        time.sleep(0.02)
