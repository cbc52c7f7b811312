"""Users and operators who work on a catalogue on a disk, and mark each acknowledgement.

Each acknowledgement becomes a mark on the disk: ``upload~ann~3``, ``vote~ann~5``, ``import~2``,
``begin~1`` and ``backup~1``. Numbers count from 0, and a number always stands for the same work.
"""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import httpx

from mapshelf.model import MapDraft, Vote
from mapshelf.tokens import SCOPES, new_token, token_digest
from tests.api.publishing import plan
from tests.cli.process import Mapshelf, Service, serving
from tests.cli.test_commands import write_map

PEOPLE: Final = ("ann", "bob")
RATED: Final = "Rated000"
VOTES: Final = (Vote.UP, Vote.NONE, Vote.DOWN)
"""The votes that everybody casts in turn."""

MAPS_PER_IMPORT: Final = 3

PATIENCE: Final = 60.0

Tokens = dict[str, str]
Begun = dict[str, int]


def content_of(name: str, number: int) -> bytes:
    """Return the file that a user uploads as this number, which is unique."""
    return plan(f"{name} {number}")


def title_of(number: int, place: int) -> str:
    """Return the title of a map of an import."""
    return f"Import {number} map {place}"


def prepare(folder: Path) -> Tokens:
    """Create a catalogue with users and a map that they vote on; return their tokens."""
    (folder / "backups").mkdir(parents=True)
    tokens = {name: new_token() for name in PEOPLE}
    with closing(Mapshelf(folder / "data").store()) as store:
        for name, token in tokens.items():
            store.add_user(name)
            store.add_token(
                name, token_digest(token), label="", scopes=" ".join(SCOPES), expires=None
            )
        store.put_maps([MapDraft(id=RATED, title="Rated", owner="owner")])
    return tokens


class Ledger(Protocol):
    """Records each acknowledgement.

    Attributes:
        path: the disk that the catalogue is on.
    """

    @property
    def path(self) -> Path:
        """The disk that the catalogue is on."""

    def mark(self, name: str) -> None:
        """Note that something has been acknowledged."""


class _Ended(Exception):
    pass


class Work:
    """Users and operators who work until they are stopped, or something fails.

    They repeat a request that gets no response or is refused for the moment.
    """

    def __init__(self, ledger: Ledger, beside: Path, tokens: Tokens, begun: Begun) -> None:
        """Work on the catalogue in ``data`` on the disk of ``ledger``.

        Args:
            ledger: hears of what is acknowledged.
            beside: a folder elsewhere, for files to import.
            tokens: those of ``PEOPLE``.
            begun: the number that each work continues with; kept up to date.
        """
        self._ledger = ledger
        self._mapshelf = Mapshelf(ledger.path / "data")
        self._beside = beside
        self._tokens = tokens
        self.begun = begun
        self._ended = threading.Event()
        self.refused = 0
        """How often something had to be asked again."""

    @contextmanager
    def at(self, url: str) -> Iterator[None]:
        """Work while in the context, with the service at this address.

        Raises:
            ExceptionGroup: what was wrong.
        """
        faults: list[Exception] = []

        def run(work: Callable[[], None]) -> None:
            try:
                work()
            except _Ended:
                return
            except Exception as error:
                faults.append(error)

        works: list[Callable[[], None]] = [self._import, self._back_up]
        works += [partial(self._publish, url, name) for name in PEOPLE]
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join(PATIENCE)
                assert not thread.is_alive()
        if faults:
            raise ExceptionGroup("the work went wrong", faults)

    def _publish(self, url: str, name: str) -> None:
        headers = {"Authorization": f"Bearer {self._tokens[name]}"}
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as client:
            for number in self._numbers(name, 0.05):
                self._ask(
                    client.build_request(
                        "POST",
                        "/maps",
                        headers={"Idempotency-Key": f"{name}-{number}"},
                        files={"map": (f"{name}-{number}.mm", content_of(name, number))},
                    ),
                    client,
                )
                self._ledger.mark(f"upload~{name}~{number}")
                vote = VOTES[number % len(VOTES)].name.lower()
                self._ask(
                    client.build_request("PUT", f"/maps/{RATED}/vote", json={"vote": vote}), client
                )
                self._ledger.mark(f"vote~{name}~{number}")

    def _ask(self, request: httpx.Request, client: httpx.Client) -> None:
        request.read()
        while True:
            try:
                answer = client.send(request)
                if answer.status_code in (200, 201):
                    return
                told = f"{answer.status_code} {answer.text}"
                # A file whose reader was killed is refused as one that makes it crash.
                assert answer.status_code in (502, 503, 507) or "crashed" in told, told
            except httpx.TransportError:
                pass
            self._again()

    def _import(self) -> None:
        for number in self._numbers("import", 0.5):
            folder = self._beside / f"import {number}"
            for place in range(MAPS_PER_IMPORT):
                write_map(folder / f"{place}.mm", title_of(number, place))
            while not self._run("import", folder):
                self._again()
            self._ledger.mark(f"import~{number}")

    def _back_up(self) -> None:
        folder = self._ledger.path / "backups"
        for number in self._numbers("backup", 0.5):
            self._ledger.mark(f"begin~{number}")
            if self._run("backup", folder / str(number)):
                self._ledger.mark(f"backup~{number}")

    def _numbers(self, name: str, pause: float) -> Iterator[int]:
        """Yield the number of each piece of work until the end."""
        while not self._ended.wait(pause):
            yield self.begun.get(name, 0)
            self.begun[name] = self.begun.get(name, 0) + 1

    def _again(self) -> None:
        self.refused += 1
        if self._ended.wait(0.1):
            raise _Ended

    def _run(self, *words: str | Path) -> bool:
        """Run a command; return whether it succeeded; otherwise it must fail with one line."""
        command = self._mapshelf.command(*words)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while process.poll() is None:
                if self._ended.wait(0.02):
                    process.kill()
                    process.wait()
                    raise _Ended
            assert process.stderr is not None
            said = process.stderr.read().decode()
        assert process.returncode in (0, 1, -signal.SIGKILL), said
        assert "Traceback" not in said, said
        return process.returncode == 0


@contextmanager
def busy_service(
    ledger: Ledger,
    beside: Path,
    tokens: Tokens,
    begun: Begun | None = None,
    log: BinaryIO | None = None,
) -> Iterator[tuple[Service, Work]]:
    """Serve the catalogue on a disk while users and operators work; kill the service at the end."""
    work = Work(ledger, beside, tokens, {} if begun is None else begun)
    options = ("--uploads-per-hour", "1000000", "--quota-maps", "1000000")
    mapshelf = Mapshelf(ledger.path / "data")
    with serving(mapshelf, *options, token=tokens["ann"], log=log) as service:
        service.wait_until_ready()
        with ExitStack() as stack:
            stack.enter_context(work.at(service.url))
            stack.callback(service.kill)
            yield service, work
