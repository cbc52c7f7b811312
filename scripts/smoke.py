"""Test the package with each given Python: ``python scripts/smoke.py PYTHON…``.

For each, uv installs the wheel from ``make wheel`` into a new environment. Mapshelf must then
import ``--maps FOLDER`` (by default our samples), serve the maps, find a word, draw a thumbnail and
a PDF, pass ``mapshelf check``, and end with code 0.
"""

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

REPOSITORY: Final = Path(__file__).parents[1]
PATIENCE: Final = 300.0
"""Seconds to wait for the first response, and for the end."""


def main() -> int:
    """Test with each Python; return 1 if one fails."""
    parser = argparse.ArgumentParser(description="Test the package with each Python.")
    parser.add_argument("pythons", metavar="PYTHON", nargs="+")
    parser.add_argument("--maps", type=Path, default=REPOSITORY / "examples")
    given = parser.parse_args()
    wheels = sorted((REPOSITORY / "dist").glob("mapshelf-*.whl"), key=lambda it: it.stat().st_mtime)
    if not wheels:
        parser.error("there is no package in dist: run make wheel")
    failed = 0
    for python in given.pythons:
        try:
            print(f"{python}: {_tried(python, wheels[-1], given.maps)}", flush=True)
        except (AssertionError, subprocess.CalledProcessError, OSError) as error:
            print(f"{python}: FAILED: {error}", flush=True)
            failed += 1
    return int(failed > 0)


def _tried(python: str, wheel: Path, maps: Path) -> str:
    """Return a line that says what worked.

    Raises:
        AssertionError: something did not.
        CalledProcessError: a command failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment, data = Path(folder) / "environment", Path(folder) / "data"
        own = environment / "bin" / "python"
        uv = shutil.which("uv") or str(REPOSITORY / ".tools" / "bin" / "uv")
        subprocess.run([uv, "venv", "--quiet", f"--python={python}", environment], check=True)
        install = [
            uv,
            "pip",
            "install",
            "--quiet",
            "--no-build",
            "--compile-bytecode",
            f"--python={own}",
            str(wheel),
        ]
        subprocess.run(install, check=True)
        program, where = str(environment / "bin" / "mapshelf"), ("--data", str(data))
        # It exits with 1 if a file was refused, as some files of a corpus are.
        subprocess.run([program, "import", str(maps), *where], check=False, capture_output=True)
        _said(program, "user", "add", "alice", *where)
        token = _said(program, "token", "create", "alice", *where).strip()
        served = _serve([program, "serve", *where], token)
        _said(program, "check", *where)
        version = _said(str(own), "-c", "import sys; print(sys.version.split()[0])").strip()
        return f"Python {version}: {served}"


def _serve(words: list[str], token: str) -> str:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    with subprocess.Popen([*words, "--port", str(port), "--workers", "1"]) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            answer, headers = _fetched(f"{address}/maps?limit=1", token)
            found = json.loads(answer)
            assert found, "no map was imported"
            word = found[0]["Title"].split()[0]
            hits = json.loads(_fetched(f"{address}/search?query={_quoted(word)}", token)[0])
            assert hits, f"{word!r} is not found"
            for path in (
                f"/thumbnails/{found[0]['ID']}.png",
                f"/maps/{found[0]['ID']}/drawing.pdf",
            ):
                assert len(_fetched(address + path, token)[0]) > 500, f"{path} is empty"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0, "serve did not end with 0"
        finally:
            process.kill()
    return f"{headers['x-total-count']} maps are served, found and drawn"


def _fetched(url: str, token: str) -> tuple[bytes, Any]:
    began = time.monotonic()
    while True:
        try:
            request = Request(url, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
            with urlopen(request, timeout=60) as answer:  # noqa: S310 - it is http
                return answer.read(), answer.headers
        except (URLError, ConnectionError) as error:
            busy = not isinstance(error, HTTPError) or error.code == 503
            if not busy or time.monotonic() - began > PATIENCE:
                raise
            time.sleep(0.2)


def _quoted(word: str) -> str:
    return "".join(f"%{byte:02x}" for byte in word.encode())


def _said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
