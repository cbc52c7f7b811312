"""``make demo``: serve the sample maps, and print a token and a command to paste.

It runs the same commands that an operator would. All its files are in one folder, which you can
delete.
"""

import argparse
import json
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import Request, urlopen

ROOT: Final = Path(__file__).resolve().parent.parent
EXAMPLES: Final = ROOT / "examples"
USER: Final = "demo"
PATIENCE: Final = 60.0
"""Seconds to wait for the service."""


def main() -> int:
    """Set up the catalogue, serve it until interrupted, and print how to use it."""
    given = _arguments()
    # So that the service ends with the demo, however the demo ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _run(given.data, "import", EXAMPLES)
    if not any(line.split("\t")[1] == USER for line in _run(given.data, "user", "list")):
        _run(given.data, "user", "add", USER)
    (token,) = _run(given.data, "token", "create", USER, "--label", "make demo", "--expires", "7")
    port = _free_port(given.port)
    service = subprocess.Popen(_command(given.data, "serve", "--port", str(port)))
    try:
        _wait(service, f"http://127.0.0.1:{port}", token)
        _print_usage(f"http://127.0.0.1:{port}", token)
        return service.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        service.terminate()
        service.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / ".demo", help="folder to work in")
    parser.add_argument("--port", type=int, default=8000, help="or the next free one")
    return parser.parse_args()


def _command(data: Path, *arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "mapshelf", *map(str, arguments), "--data", str(data)]


def _run(data: Path, *arguments: str | Path) -> list[str]:
    """Run a command to its end; return the lines it printed."""
    command = _command(data, *arguments)
    return subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE
    ).stdout.splitlines()


def _free_port(port: int) -> int:
    while True:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                port += 1
            else:
                return port


def _wait(service: "subprocess.Popen[bytes]", url: str, token: str) -> None:
    """Wait until the response contains the sample maps."""
    deadline = time.monotonic() + PATIENCE
    request = Request(f"{url}/maps", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    while time.monotonic() < deadline and service.poll() is None:
        try:
            with urlopen(request, timeout=5) as answer:  # noqa: S310
                if json.load(answer):
                    return
        except (URLError, TimeoutError, ConnectionError):
            pass
        time.sleep(0.05)
    sys.exit("make demo: the service did not start")


def _print_usage(url: str, token: str) -> None:
    header = shlex.quote(f"Authorization: Bearer {token}")
    print(
        f"\nThe sample maps are served at {url}: open it in a browser.\n\n"
        "Programs ask, in another terminal:\n\n"
        f"  curl -H {header} '{url}/maps?query=water&limit=2'\n\n"
        "Press Ctrl-C to end.\n",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
