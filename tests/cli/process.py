"""Runs ``mapshelf`` as scripts do, and sends requests to a running service."""

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Final
from unittest.mock import patch
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from mapshelf.cli import main
from mapshelf.importer.records import export_records
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.tokens import new_token, token_digest

REPOSITORY: Final = Path(__file__).parents[2]
CORPUS: Final = (REPOSITORY.parent / "shared" / "corpus").resolve()
EXAMPLES: Final = REPOSITORY / "examples"
PROGRAM: Final = (sys.executable, "-m", "mapshelf")
COMMAND: Final = len(PROGRAM)
"""Where the arguments of a command begin."""

LONGEST_PAUSE: Final = 0.15
"""Seconds between two looks at what is waited for."""

WRONG_USAGE: Final = 2
"""The exit code of a command that is called in a wrong way."""

PATIENCE: Final = 60.0
"""Seconds to wait for anything: far more than is ever needed, for slow machines."""


@dataclass(frozen=True, slots=True)
class Mapshelf:
    """The command line with a data folder, and a database URL if the database is elsewhere."""

    data: Path
    database: str = ""

    def command(self, *arguments: str | Path, placed: bool = True) -> list[str]:
        """Return the words of a command; if ``placed``, with the place of the catalogue."""
        words = [*PROGRAM, *map(str, arguments)]
        if placed:
            words += ["--data", str(self.data)]
        if placed and self.database:
            words += ["--database", self.database]
        return words

    def run(
        self, *arguments: str | Path, expect: int = 0, placed: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command in this process until it ends, which must be with this exit code.

        Starting Python and loading our modules takes longer than most commands. Tests about the
        process itself (signals, loaded modules, tracebacks) use ``run_apart``, and so do tests
        that serve, unless the command is refused as wrong usage.
        """
        serves = arguments[:1] == ("serve",)
        if serves and expect != WRONG_USAGE:
            return self.run_apart(*arguments, expect=expect, placed=placed)
        words = self.command(*arguments, placed=placed)
        output, errors = TextIOWrapper(BytesIO(), "utf-8"), StringIO()
        with redirect_stdout(output), redirect_stderr(errors), _not_serving():
            try:
                code = main(words[COMMAND:])
            except SystemExit as ended:  # raised by argparse for wrong usage
                code = int(ended.code or 0)
            output.flush()
        told = output.buffer.getvalue().decode()
        done = subprocess.CompletedProcess(words, code, told, errors.getvalue())
        assert code == expect, f"{arguments}: {code}\n{done.stderr}"
        return done

    def run_apart(
        self, *arguments: str | Path, expect: int = 0, placed: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command in a process of its own until it ends; see ``run``."""
        command = self.command(*arguments, placed=placed)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done

    def lines(self, *arguments: str | Path) -> list[str]:
        """Run a command and return the lines it printed."""
        return self.run(*arguments).stdout.splitlines()

    def store(self) -> Store:
        """Open the store. That is faster than a command."""
        return open_store(self.database or sqlite_url(self.data))

    def token(self, user: str = "alice") -> str:
        """Register ``user`` if necessary, and return a new token."""
        token = new_token()
        with closing(self.store()) as store:
            if user not in (known.name for known in store.users()):
                store.add_user(user)
            store.add_token(user, token_digest(token), label="", scopes="read", expires=None)
        return token

    def exported(self) -> list[dict[str, str]]:
        """Return all maps as the records that ``export`` writes."""
        written = BytesIO()
        with closing(self.store()) as store:
            export_records(store, written)
        return [json.loads(line) for line in written.getvalue().splitlines()]

    def copied_to(self, data: Path) -> "Mapshelf":
        """Return a copy of the catalogue, which must not be in use."""
        shutil.copytree(self.data, data)
        return Mapshelf(data)


@contextmanager
def _not_serving() -> Iterator[None]:
    """Prevent services from starting in this process, and restore logging at the end."""
    loggers = [logging.getLogger(name) for name in ("", "mapshelf", "python_multipart")]
    levels, handlers = [one.level for one in loggers], list(loggers[0].handlers)
    try:
        with patch("mapshelf.cli.serve.serve", side_effect=AssertionError("it would serve")):
            yield
    finally:
        loggers[0].handlers[:] = handlers
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


@dataclass(frozen=True, slots=True)
class Service:
    """A running ``mapshelf serve``."""

    process: "subprocess.Popen[bytes]"
    url: str
    token: str

    def get(self, path: str) -> tuple[Any, Mapping[str, str]]:
        """Send a request that must succeed; return the JSON and the headers of the response."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with urlopen(Request(self.url + path, headers=headers), timeout=10) as answer:
            return json.load(answer), dict(answer.headers)

    def total(self, path: str = "/maps?limit=0") -> int:
        """Return how many maps match."""
        return int(self.get(path)[1]["x-total-count"])

    def wait_until_ready(self) -> float:
        """Wait until the service answers from a snapshot; return how many seconds it took."""
        return wait_for(self._answers)

    def kill(self) -> None:
        """Kill the top process of the service without a chance to clean up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the service has ended"
        try:
            self.get("/maps?limit=0")
        except HTTPError as error:
            if error.code != 503:
                raise
            return False
        except (URLError, ConnectionError, TimeoutError):
            return False
        return True


@contextmanager
def serving(
    mapshelf: Mapshelf,
    *arguments: str | Path,
    token: str = "",
    workers: int = 1,
    under: Sequence[str] = (),
    log: int | BinaryIO | None = None,
) -> Iterator[Service]:
    """Run ``mapshelf serve`` on a free port, and stop it properly if it still runs at the end.

    Args:
        mapshelf: the catalogue.
        arguments: more arguments of the command.
        token: the token for requests, by default a new one.
        workers: how many workers to start.
        under: a command that runs the service, for example to limit it.
        log: the file for the standard error stream.
    """
    token = token or mapshelf.token()
    port = free_port()
    words = mapshelf.command("serve", *arguments, "--port", str(port))
    words += ["--workers", str(workers)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen([*under, *words], env=environment, stderr=log)
    try:
        yield Service(process, f"http://127.0.0.1:{port}", token)
    finally:
        if process.poll() is None:
            process.terminate()
            assert process.wait(PATIENCE) == 0


def status_of(url: str) -> int:
    """Return the status of the response, 0 if there is none."""
    try:
        with urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except (URLError, ConnectionError, TimeoutError):
        return 0


def wait_for(condition: Any) -> float:
    """Wait until ``condition()`` is true; return how many seconds it took.

    The pauses between checks grow, because checking takes processor time from the awaited work.
    """
    began = time.monotonic()
    pause = 0.02
    while not condition():
        assert time.monotonic() - began < PATIENCE, "it took too long"
        time.sleep(pause)
        pause = min(1.3 * pause, LONGEST_PAUSE)
    return time.monotonic() - began


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
