"""systemd is notified when the service is ready and stops; a container's orphans are reaped."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from mapshelf.service.service_manager import ServiceManager
from tests.cli.process import PATIENCE, Mapshelf, free_port, serving, status_of, wait_for
from tests.service.processes import children, workers

pytestmark = pytest.mark.process


@contextmanager
def manager(name: str) -> Iterator[socket.socket]:
    """Listen like systemd. A name that begins with ``@`` is an abstract socket without a file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + name[1:] if name.startswith("@") else name)
        listening.settimeout(PATIENCE)
        yield listening


def test_systemd_is_notified_of_readiness_and_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    with manager(name) as told:
        with serving(Mapshelf(tmp_path / "data")) as service:
            assert told.recv(100) == b"READY=1"
            assert status_of(f"{service.url}/healthz") == 200
            service.process.send_signal(signal.SIGTERM)
            assert told.recv(100) == b"STOPPING=1"
            assert service.process.wait(PATIENCE) == 0
        told.setblocking(False)
        with pytest.raises(BlockingIOError):
            told.recv(100)


def test_a_stopping_service_continues_for_a_while_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``test_data_folder_lock.py`` shows that a second signal ends it early."""
    name = f"@mapshelf-{uuid4().hex}"  # an abstract socket, which has no file
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    with manager(name) as told, serving(Mapshelf(tmp_path / "data"), "--drain", "2") as service:
        service.wait_until_ready()
        assert told.recv(100) == b"READY=1"
        assert status_of(f"{service.url}/readyz") == 200
        service.process.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        assert told.recv(100) == b"STOPPING=1"
        wait_for(lambda: status_of(f"{service.url}/readyz") == 503)
        assert service.total() == 0
        assert status_of(f"{service.url}/healthz") == 200
        assert service.process.wait(PATIENCE) == 0
        assert time.monotonic() - asked >= 2


def test_a_missing_service_manager_changes_nothing(tmp_path: Path) -> None:
    gone = ServiceManager.named_in({"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    gone.ready()
    gone.stopping()


def zombies(process: int) -> int:
    """Return how many children of a process are zombies."""
    states = (Path(f"/proc/{child}/stat").read_text() for child in all_children(process))
    return sum(state.rpartition(")")[2].split()[0] == "Z" for state in states)


def all_children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_the_first_process_of_a_container_collects_orphans(
    samples: Mapshelf, tmp_path: Path
) -> None:
    """When a worker is killed, the first process becomes the parent of its children."""
    unshare = shutil.which("unshare")
    apart = [unshare or "", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if not unshare or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system does not allow PID namespaces (unshare --pid)")
    mapshelf, port = samples.copied_to(tmp_path / "data"), free_port()
    with closing(mapshelf.store()) as store:
        (drawn,) = store.maps(0, 1)
    words = [*apart, *mapshelf.command("serve", "--port", str(port), "--workers", "1")]
    with subprocess.Popen(words) as outside:
        try:
            wait_for(lambda: status_of(f"http://127.0.0.1:{port}/readyz") == 200)
            (first,) = children(outside.pid)
            wait_for(lambda: status_of(f"http://127.0.0.1:{port}/thumbnails/{drawn.id}.png") == 200)
            (worker,) = workers(first)
            orphans = children(worker)
            assert orphans
            os.kill(worker, signal.SIGKILL)
            wait_for(lambda: not any(Path(f"/proc/{orphan}").exists() for orphan in orphans))
            wait_for(lambda: status_of(f"http://127.0.0.1:{port}/readyz") == 200)
            wait_for(lambda: not zombies(first))
            os.kill(first, signal.SIGTERM)
            assert outside.wait(PATIENCE) == 0
        finally:
            outside.kill()
