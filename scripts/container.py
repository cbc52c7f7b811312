"""Build the container, and test what the documentation says about it.

    python scripts/container.py [--own-base] [--no-build]

Needs podman, and root or a user who may run podman. ``--own-base`` builds from Debian packages
(with mmdebstrap, as root) instead of an image from a registry, for machines that cannot reach one.
``--no-build`` tests the existing image.

The container runs as in ``docs/installation.md``: read-only, without capabilities. The test checks
that it does not run as root, reads the samples, responds, draws, reports healthy, keeps its data
when it is replaced, collects orphaned processes, and ends at once with code 0 when asked to stop.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import Request, urlopen

REPOSITORY: Final = Path(__file__).parents[1]
IMAGE: Final = "localhost/mapshelf"
BASE: Final = "localhost/mapshelf-base"
NAME: Final = "mapshelf-try"
VOLUME: Final = "mapshelf-try"
PORT: Final = 18_765
SAMPLES: Final = 30
"""Minimum number of maps in our samples."""

PATIENCE: Final = 120.0
"""Seconds to wait for each step."""

UNIFIED: Final = Path("/sys/fs/cgroup/unified")
"""Where systems with both versions of control groups mount version 2, which crun rejects."""

NO_DOCUMENTS: Final = tuple(
    f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "man")
)


def main() -> int:
    """Build and test; return the exit code."""
    parser = argparse.ArgumentParser(description="Build the container image and test it.")
    parser.add_argument("--own-base", action="store_true", help="base image from Debian packages")
    parser.add_argument("--suite", default="trixie", help="Debian release; default: trixie")
    parser.add_argument("--no-build", action="store_true", help="test the existing image")
    given = parser.parse_args()
    if UNIFIED.is_mount():
        return _without_unified()
    if not given.no_build:
        _build(_own_base(given.suite) if given.own_base else "")
    _try()
    return 0


def _without_unified() -> int:
    """Do the same with version 2 of control groups hidden from this process only."""
    words = ["unshare", "--mount", "sh", "-c", 'umount --lazy "$0" && exec "$@"', str(UNIFIED)]
    return subprocess.run([*words, sys.executable, *sys.argv], check=False).returncode


def _limits() -> list[str]:
    """Return options that keep podman from raising limits, for which it may lack the permission."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return [f"--ulimit=nofile={files}:{files}", "--ulimit=nproc=4096:4096"]


def _own_base(suite: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "base.tar"
        words = ["mmdebstrap", "--quiet", "--variant=apt", *NO_DOCUMENTS, suite, str(archive)]
        subprocess.run([*words, "http://deb.debian.org/debian"], check=True)
        _podman("import", "--quiet", str(archive), BASE)
    return BASE


def _build(base: str) -> None:
    words = ["build", "--format=docker", f"--tag={IMAGE}", "--network=host", *_limits()]
    if base:
        words.append(f"--build-arg=BASE={base}")
    authorities = os.environ.get("SSL_CERT_FILE")
    if authorities:
        words.append(f"--volume={authorities}:/run/authorities.pem:ro")
        words.append("--build-arg=AUTHORITIES=/run/authorities.pem")
    subprocess.run(["podman", *words, str(REPOSITORY)], check=True)
    size = int(_podman("image", "inspect", "--format={{.Size}}", IMAGE))
    print(f"built {IMAGE}: {size / 1e6:.0f} MB")


def _try() -> None:
    _remove()
    try:
        _start()
        _check_confinement()
        token = _check_answers()
        _check_orphans()
        _check_end()
        _podman("rm", NAME)
        _start()
        user: dict[str, str] = json.loads(_fetched("/users/me", token))
        assert user["UserName"] == "alice", "the volume lost the catalogue"
        print("a new container with the same volume has the user alice")
    finally:
        _remove()


def _start() -> None:
    safely = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges"]
    folders = [f"--volume={VOLUME}:/data", f"--volume={REPOSITORY / 'examples'}:/maps:ro"]
    words = ["run", "--detach", f"--name={NAME}", "--network=host", *_limits(), *safely, *folders]
    # The health check uses port 8000, which may be taken on the host's network.
    check = f"urllib.request.urlopen('http://127.0.0.1:{PORT}/readyz', timeout=4)"
    health = f'--health-cmd=["python3", "-c", "import urllib.request; {check}"]'
    serve = ["serve", "/maps", "--host=127.0.0.1", f"--port={PORT}", "--workers=2"]
    _podman(*words, health, IMAGE, *serve)
    _wait_for_health()


def _wait_for_health() -> None:
    began = time.monotonic()
    while _run("healthcheck", "run", NAME).returncode:
        assert time.monotonic() - began < PATIENCE, _run("logs", NAME).stderr
        time.sleep(0.5)
    print(f"healthy after {time.monotonic() - began:.1f} s")


def _check_confinement() -> None:
    user = _inside("id", "-u").strip()
    assert user == "10001", f"the service runs as {user}"
    for place in ("/", "/opt/mapshelf/lib", "/etc", "/maps"):
        assert _run("exec", NAME, "touch", f"{place}/x").returncode, f"{place} is writable"
    status = dict(line.split(":\t", 1) for line in _inside("cat", "/proc/1/status").splitlines())
    assert int(status["CapBnd"], 16) == 0, "it has capabilities"
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), status
    print("not root, read-only, no capabilities, no new privileges, system calls are filtered")


def _check_answers() -> str:
    """Send requests to the service with a new token, and return the token."""
    _inside("mapshelf", "user", "add", "alice", "--admin")
    token = _inside("mapshelf", "token", "create", "alice").strip()
    began = time.monotonic()
    while len(found := json.loads(_fetched("/maps?limit=50", token))) < SAMPLES:
        assert time.monotonic() - began < PATIENCE, f"{len(found)} of {SAMPLES} samples are listed"
        time.sleep(0.5)
    for path in ("/thumbnails/{}.png", "/maps/{}/drawing.pdf"):
        assert len(_fetched(path.format(found[0]["ID"]), token)) > 1000, path
    print(f"{len(found)} samples are listed; a thumbnail and a PDF are drawn")
    return token


def _check_orphans() -> None:
    """Kill a worker that has children: they end, and the first process collects them."""
    find = "for p in /proc/[0-9]*; do read -r _ _ s rest < $p/stat; echo $s; done"
    (_, worker) = max(
        (len(_inside("cat", f"/proc/{one}/task/{one}/children").split()), one)
        for one in _inside("cat", "/proc/1/task/1/children").split()
    )
    _inside("sh", "-c", f"kill -KILL {worker}")
    began = time.monotonic()
    while "Z" in (states := _inside("sh", "-c", find).split()):
        assert time.monotonic() - began < PATIENCE, f"zombies: {states}"
        time.sleep(0.5)
    _wait_for_health()
    print("no zombies after a worker was killed")


def _check_end() -> None:
    began = time.monotonic()
    _podman("stop", "--time=60", NAME)
    took = time.monotonic() - began
    code = _podman("inspect", "--format={{.State.ExitCode}}", NAME).strip()
    assert code == "0", f"exit code {code}"
    print(f"stopped with code 0 after {took:.1f} s")


def _fetched(path: str, token: str) -> bytes:
    request = Request(
        f"http://127.0.0.1:{PORT}{path}", headers={"Authorization": f"Bearer {token}"}
    )
    began = time.monotonic()
    while True:
        try:
            with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - it is http
                return bytes(answer.read())
        except (URLError, ConnectionError):
            assert time.monotonic() - began < PATIENCE, f"no response for {path}"
            time.sleep(0.2)


def _inside(*words: str) -> str:
    return _podman("exec", NAME, *words)


def _remove() -> None:
    _run("rm", "--force", "--time=0", NAME)
    _run("volume", "rm", "--force", VOLUME)


def _podman(*words: str) -> str:
    done = _run(*words)
    assert done.returncode == 0, f"podman {' '.join(words)}: {done.stderr}"
    return done.stdout


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["podman", *words], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
