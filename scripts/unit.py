"""Test the unit in ``docs/deployment`` under a real systemd: ``python scripts/unit.py``, as root.

The script makes a small Debian 12 from packages (mmdebstrap) in ``--root FOLDER``, installs
Mapshelf into it as ``docs/installation.md`` says, and boots it with systemd-nspawn, so that systemd
is its first process. Then the service must start, read the samples in sandboxed child processes,
draw, hash passwords, follow a folder, make backups, and end properly, under all restrictions of the
unit. An existing folder is used again. The host needs no systemd.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx

REPOSITORY: Final = Path(__file__).parents[1]
DEPLOYMENT: Final = REPOSITORY / "docs" / "deployment"
PACKAGES: Final = "systemd,systemd-sysv,dbus,python3,python3-venv"
PORT: Final = 18_766
ADDRESS: Final = f"http://127.0.0.1:{PORT}"
SETTINGS: Final = Path("/etc/mapshelf/mapshelf.toml")
CATALOGUE: Final = Path("/var/lib/mapshelf")
SAMPLES: Final = 30
"""Minimum number of maps in our samples."""

PATIENCE: Final = 120.0
"""Seconds to wait for each step."""

OVERRIDE: Final = """[Service]
BindReadOnlyPaths=/home/ann/Maps
ReadWritePaths=/backups
"""
"""The settings that the documentation gives for maps in a home folder, and for backups."""

NSPAWN: Final = ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--directory")


def main() -> int:
    """Make the system, boot it, and test it; return the exit code."""
    parser = argparse.ArgumentParser(description="Test the unit under a real systemd.")
    parser.add_argument("--root", type=Path, default=Path("/var/tmp/mapshelf-unit"))  # noqa: S108
    root = parser.parse_args().root.absolute()
    if not (root / "usr" / "bin" / "python3").exists():
        words = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={PACKAGES}", "bookworm"]
        subprocess.run([*words, str(root), "http://deb.debian.org/debian"], check=True)
    _install(root)
    with _booted(root) as system, httpx.Client(base_url=ADDRESS, timeout=PATIENCE) as client:
        _check(System(system), client, root)
    return 0


class System:
    """The booted system."""

    def __init__(self, first: int) -> None:
        """Use the system whose first process has this id."""
        self._first = first

    def run(self, *words: str, expect: int = 0) -> str:
        """Run a command in it, which must exit with code ``expect``, and return its output."""
        enter = ["nsenter", f"--target={self._first}", "--all"]
        done = subprocess.run([*enter, *words], capture_output=True, text=True, check=False)
        assert done.returncode == expect, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def mapshelf(self, *words: str) -> str:
        """Run a ``mapshelf`` command as the user of the service, and return its output."""
        as_user = ("runuser", "--user", "mapshelf", "--", "/opt/mapshelf/bin/mapshelf")
        return self.run(*as_user, *words, "--config", str(SETTINGS))

    def main_process(self) -> int:
        """Return the process id of the service's main process, as the system numbers it."""
        return int(self.run("systemctl", "show", "--property=MainPID", "--value", "mapshelf"))

    def log(self) -> str:
        """Return the log of the service."""
        return self.run("journalctl", "--no-pager", "--unit=mapshelf", "--lines=30")


def _install(root: Path) -> None:
    """Install as the documentation says; commands with sudo run in the folder."""
    uv = shutil.which("uv") or str(REPOSITORY / ".tools" / "bin" / "uv")
    words = [*NSPAWN, str(root), f"--bind-ro={REPOSITORY}:/source", f"--bind-ro={uv}:/run/uv"]
    variables = {"UV_PROJECT_ENVIRONMENT": "/opt/mapshelf", "UV_PYTHON_DOWNLOADS": "never"}
    authorities = os.environ.get("SSL_CERT_FILE")
    if authorities:
        words.append(f"--bind-ro={authorities}:/run/authorities.pem")
        variables["SSL_CERT_FILE"] = "/run/authorities.pem"
    words += [f"--setenv={name}={value}" for name, value in variables.items()]
    options = ["--quiet", "--locked", "--no-dev", "--no-editable", "--compile-bytecode"]
    sync = [
        "/run/uv",
        "sync",
        *options,
        "--reinstall-package=mapshelf",
        "--python=/usr/bin/python3",
    ]
    subprocess.run([*words, "--chdir=/source", *sync], check=True)
    settings = (DEPLOYMENT / "mapshelf.toml").read_text("utf-8")
    changes = {
        "base-url": f'"{ADDRESS}"\nport = {PORT}',
        "folders": '["/srv/maps", "/home/ann/Maps"]',
    }
    for key, value in {**changes, "data": f'"{CATALOGUE}"\nbackup-dir = "/backups"'}.items():
        settings = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", settings)
    files = {
        SETTINGS: settings,
        Path("/etc/sysusers.d/mapshelf.conf"): (DEPLOYMENT / "mapshelf.sysusers").read_text(),
        Path("/etc/systemd/system/mapshelf.service"): (DEPLOYMENT / "mapshelf.service").read_text(),
        Path("/etc/systemd/system/mapshelf.service.d/override.conf"): OVERRIDE,
    }
    for path, text in files.items():
        inside = root / path.relative_to("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.write_text(text, "utf-8")
    for folder in (CATALOGUE, Path("/backups"), Path("/srv/maps"), Path("/home/ann")):
        shutil.rmtree(root / folder.relative_to("/"), ignore_errors=True)
    shutil.copytree(REPOSITORY / "examples", root / "srv" / "maps")
    (root / "home" / "ann" / "Maps").mkdir(parents=True)
    (root / "backups").mkdir()
    (root / "etc/systemd/system/multi-user.target.wants/mapshelf.service").unlink(missing_ok=True)


@contextmanager
def _booted(root: Path) -> Iterator[int]:
    """Boot the system; yield the id of its first process."""
    words = [*NSPAWN, str(root), "--boot", "--console=pipe"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as outside:
        try:
            first = 0
            tasks = Path(f"/proc/{outside.pid}/task/{outside.pid}/children")
            began = time.monotonic()
            while not first or subprocess.run(
                [
                    "nsenter",
                    f"--target={first}",
                    "--all",
                    "systemctl",
                    "is-system-running",
                    "--wait",
                ],
                capture_output=True,
                check=False,
            ).returncode not in (0, 1):
                assert time.monotonic() - began < PATIENCE, "it does not boot"
                time.sleep(0.5)
                first = int((tasks.read_text().split() or ["0"])[0])
            yield first
        finally:
            with suppress(ProcessLookupError):
                os.kill(first or outside.pid, 15 if not first else _POWEROFF)
            outside.wait(PATIENCE)


_POWEROFF: Final = 38  # SIGRTMIN+4 is what systemd powers off at


def _check(system: System, client: httpx.Client, root: Path) -> None:
    system.run("systemd-sysusers")
    system.run("chown", "mapshelf:", "/backups")
    began = time.monotonic()
    system.run("systemctl", "enable", "--now", "mapshelf")
    assert client.get("/healthz").status_code == 200, "systemctl returned too early"
    print(f"systemctl start returned after {time.monotonic() - began:.1f} s; the service responds")
    print(_overall(system.run("systemd-analyze", "security", "--no-pager", "mapshelf")))
    _check_confinement(system)
    _check_maps(system, client, root)
    _check_people(system, client)
    _check_backup(root)
    _check_ends(system, client)


def _overall(table: str) -> str:
    return next(line.strip("→ ") for line in table.splitlines() if "Overall" in line)


def _check_confinement(system: System) -> None:
    status = system.run("cat", f"/proc/{system.main_process()}/status")
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert facts["Uid"].split()[0] != "0", "it is root"
    assert int(facts["CapBnd"], 16) == 0, "it has capabilities"
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2"), status
    print("not root, no capabilities, system calls are filtered")


def _check_maps(system: System, client: httpx.Client, root: Path) -> None:
    """Check that child processes read, draw and write, and that folders are followed."""
    token = system.mapshelf("token", "create", "alice") if _has_alice(system) else ""
    client.headers["Authorization"] = f"Bearer {token.strip()}"
    _until(lambda: len(client.get("/maps?limit=50").json()) >= SAMPLES, system)
    found = client.get("/maps?limit=50").json()
    for path in ("/thumbnails/{}.png", "/maps/{}/drawing.pdf", "/maps/{}/drawing.png"):
        answer = client.get(path.format(found[0]["ID"]))
        assert answer.is_success, f"{path}: {answer.text}"
        assert len(answer.content) > 1000, path
    formula = '<map version="1.0.1"><node TEXT="\\latex $\\frac{a}{b}$"/></map>'
    (root / "home/ann/Maps/Followed.mm").write_text(formula)
    _until(lambda: client.get("/maps?query=followed&limit=1").json() != [], system)
    nice = system.run(
        "sh", "-c", "cat /proc/[0-9]*/stat | awk '$19 >= 10' | grep -c python"
    ).strip()
    assert int(nice) > 0, "no child gives way to others"
    log = system.log()
    assert "Operation not permitted" not in log, log
    assert "Traceback" not in log, log
    print(f"{len(found)} samples are listed, drawn as PNG and PDF; a folder in /home is watched")


def _has_alice(system: System) -> bool:
    return "alice" in system.mapshelf("user", "add", "alice", "--admin")


def _check_people(system: System, client: httpx.Client) -> None:
    """Check that passwords are hashed, and a file is uploaded."""
    link = system.mapshelf("user", "link", "alice").split()[-1]
    page = client.get(link)
    (form_token,) = re.findall(r'name="csrf_token" value="([^"]+)"', page.text)
    words = {"csrf_token": form_token, "new": "correct horse battery"}
    done = client.post(link, data={**words, "again": words["new"]})
    assert done.status_code == 303, done.text
    token = system.mapshelf("token", "create", "alice", "--scope", "maps:write", "--label", "w")
    content = '<map version="1.0.1"><node TEXT="Sent"><node TEXT="by hand"/></node></map>'
    sent = client.post(
        "/maps",
        files={"map": ("sent.mm", content.encode())},
        headers={"Authorization": f"Bearer {token.strip()}"},
    )
    assert sent.status_code == 201, sent.text
    print("alice has set a password and uploaded a map")


def _check_backup(root: Path) -> None:
    _until(lambda: any((root / "backups").iterdir()))
    print("a backup is in /backups")


def _check_ends(system: System, client: httpx.Client) -> None:
    before = system.main_process()
    system.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "mapshelf")
    _until(lambda: system.main_process() not in (0, before) and _answers(client), system)
    print("the service has restarted after it was killed")
    system.run("systemctl", "stop", "mapshelf")
    result = system.run("systemctl", "show", "--property=Result,ExecMainStatus", "mapshelf")
    assert set(result.split()) == {"Result=success", "ExecMainStatus=0"}, result + system.log()
    print("stopped with code 0")


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


def _until(condition: Callable[[], bool], system: System | None = None) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE, system.log() if system else "it took too long"
        time.sleep(0.3)


if __name__ == "__main__":
    sys.exit(main())
