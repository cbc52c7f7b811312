"""A node whose database does not respond still answers reads, and refuses everything else.

The database is a PostgreSQL server of this module. Its processes are suspended, as if the machine
hung: it accepts connections, but does not respond.
"""

import asyncio
import fcntl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import httpx
import psycopg
import pytest

from mapshelf.api import auth, context, shared_answer
from mapshelf.api.auth import RETRIED_AFTER, TRUSTED_FOR, Authenticator
from mapshelf.api.node_health import NodeHealth
from mapshelf.api.shared_answer import SharedAnswer
from mapshelf.errors import InvalidToken, StoreUnavailable
from mapshelf.model import Credential, MapDraft, Token, User
from mapshelf.tokens import MAPS, new_token, token_digest
from tests.harness import READER, Service, Shelf, serve
from tests.postgres import Server, server
from tests.test_file_lock import no_locks

PATIENT: Final = 20.0
"""Seconds after which a request is taken to hang: it waits one for the database."""


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    with server() as running:
        yield running


ASKED_EVERY: Final = 0.05
"""Seconds between the questions of a node to its database, here."""


def ask_often(monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    """Make new nodes ask their database often, with this timeout."""
    health = partial(NodeHealth, asked_every=ASKED_EVERY, patience=patience)
    monkeypatch.setattr(context, "NodeHealth", health)


@pytest.fixture
def node(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Shelf, Service]]:
    """A service with a catalogue on a server that tests may suspend."""
    ask_often(monkeypatch, patience=0.3)
    shelf = Shelf(tmp_path, own_server.url(own_server.new_database()))
    try:
        shelf.put(MapDraft(title="One"))
        shelf.publish()
        with serve(shelf) as service:
            yield shelf, service
    finally:
        own_server.thaw()
        shelf.close()


def timed(service: Service, path: str = "/maps") -> tuple[int, float]:
    began = time.monotonic()
    return service.get(path).status_code, time.monotonic() - began


def test_known_tokens_can_still_read_and_others_get_503(
    node: tuple[Shelf, Service], own_server: Server
) -> None:
    shelf, service = node
    assert service.get("/maps").status_code == 200
    own_server.freeze()
    began = time.monotonic()
    waits = []
    while time.monotonic() - began < 4:
        status, took = timed(service)
        assert status == 200
        waits.append(took)
        service.run(asyncio.sleep(0.02))
    assert max(waits) < PATIENT
    assert sum(took > 0.7 for took in waits) < len(waits) / 2, "only the first requests may wait"
    known, service.token = service.token, new_token()
    status, took = timed(service)
    assert (status, took < PATIENT) == (503, True)

    own_server.thaw()
    service.wait_until(lambda: service.get("/maps").status_code == 401)
    service.token = known
    shelf.store.revoke_token(shelf.store.tokens(READER)[0].id)
    service.wait_until(lambda: service.get("/maps").status_code == 401)


def test_readiness_reports_an_unreachable_database(
    node: tuple[Shelf, Service], own_server: Server
) -> None:
    shelf, service = node
    ready = {
        "status": "ready",
        "snapshot": {"revision": 1, "age": 0.0},
        "database": {"reachable": True, "revision": 1},
    }
    service.wait_until(lambda: readiness(service, 1) == [ready])
    own_server.freeze()
    service.wait_until(lambda: not is_reachable(service))
    (told,) = readiness(service, 1)
    assert told["database"] == {"reachable": False, "revision": None}
    assert told["snapshot"]["age"] > 0
    assert service.request("GET", "/healthz", signed=False).json() == {"status": "alive"}
    own_server.thaw()
    service.wait_until(lambda: is_reachable(service))
    shelf.put(MapDraft(title="Two"))
    service.wait_until(lambda: readiness(service, 1)[0]["database"]["revision"] == 2)
    assert readiness(service, 1)[0]["snapshot"]["revision"] == 1


def readiness(service: Service, asking: int) -> list[dict[str, Any]]:
    """Return the readiness responses to ``asking`` simultaneous clients without a token."""

    async def ask() -> list[httpx.Response]:
        return await asyncio.gather(*(service.client.get("/readyz") for _ in range(asking)))

    responses = service.run(ask())
    assert [response.status_code for response in responses] == [200] * asking
    return [response.json() for response in responses]


def is_reachable(service: Service) -> bool:
    """Return whether the node reports its database as reachable."""
    (told,) = readiness(service, 1)
    return bool(told["database"]["reachable"])


@pytest.mark.slow
@pytest.mark.parametrize("asking", [2, 10, 100])
def test_simultaneous_clients_all_get_the_readiness(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, asking: int
) -> None:
    ask_often(monkeypatch, PATIENT)
    database = {"reachable": True, "revision": shelf.store.revision()}
    with serve(shelf) as service:
        for _ in range(2):
            for told in readiness(service, asking), readiness(service, asking):
                assert [one["database"] for one in told] == [database] * asking
            service.run(asyncio.sleep(2 * ASKED_EVERY))


def test_all_clients_get_the_readiness_while_the_database_hangs(
    node: tuple[Shelf, Service], own_server: Server
) -> None:
    _, service = node
    service.wait_until(lambda: is_reachable(service))
    own_server.freeze()
    service.wait_until(lambda: not is_reachable(service))
    for asking in (10, 2, 10):
        began = time.monotonic()
        told = readiness(service, asking)
        assert time.monotonic() - began < PATIENT
        unknown = {"reachable": False, "revision": None}
        assert [one["database"] for one in told] == [unknown] * asking
    own_server.thaw()
    service.wait_until(lambda: all(one["database"]["reachable"] for one in readiness(service, 10)))


def test_a_node_without_a_snapshot_is_alive_and_not_ready(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    with serve(shelf) as service:
        assert service.request("GET", "/healthz", signed=False).status_code == 200
        response = service.request("GET", "/readyz", signed=False)
        assert response.status_code == 503
        assert "Retry-After" in response.headers
    shelf.close()


def test_a_stopping_node_is_not_ready_but_answers(shelf: Shelf, live: Service) -> None:
    assert live.get("/readyz").status_code == 200
    shelf.settings.draining.touch()
    response = live.get("/readyz")
    assert response.status_code == 503
    assert response.json()["error"] == "temporarily_unavailable"
    assert live.get("/healthz").status_code == 200
    assert live.get("/maps").status_code == 200


def test_a_worker_that_starts_without_its_database_opens_it_later(
    own_server: Server, tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path, own_server.url(own_server.new_database()))
    shelf.publish()
    service = serve(shelf)
    shelf.close()
    own_server.stop()
    with service:
        assert service.get("/maps").status_code == 503
        assert service.get("/readyz").status_code == 200
        own_server.start()
        service.wait_until(lambda: service.get("/maps").status_code == 200)


class Told:
    """A fake store whose answers about tokens the test controls.

    Attributes:
        going: whether it answers; while it is not set, calls wait.
        known: digests of the known tokens, all if ``None``.
    """

    def __init__(self) -> None:
        self.tokens_version_age = 0.05
        self.asked = 0
        self.marks_asked = 0
        self.version = "a"
        self.delay = 0.0
        self.going = threading.Event()
        self.going.set()
        self.away = False
        self.expires: int | None = None
        self.revoked: int | None = None
        self.known: set[bytes] | None = None

    def tokens_version(self) -> str:
        """See ``Store``."""
        self.marks_asked += 1
        self._take_time()
        return self.version

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """See ``Store``."""
        self.asked += 1
        self._take_time()
        token = Token(1, "u", "", MAPS, 0, self.expires, self.revoked, None)
        known = [one for one in digests if self.known is None or one in self.known]
        return dict.fromkeys(known, Credential(token, User(1, "u", 0, disabled=False)))

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """See ``Store``."""

    def _take_time(self) -> None:
        time.sleep(self.delay)
        self.going.wait(PATIENT)
        if self.away:
            raise StoreUnavailable("away")


@dataclass
class Clock:
    """A clock whose seconds the test sets."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note"


TOKEN: Final = new_token()
HEADER: Final = b"Bearer " + TOKEN.encode()


@pytest.mark.slow
def test_a_token_is_looked_up_once_for_all_requests_that_wait(told: Told, note: Path) -> None:
    told.delay = 0.1

    async def many() -> None:
        authenticator = Authenticator(told, note)
        await asyncio.gather(*(authenticator.user(HEADER, MAPS) for _ in range(50)))

    asyncio.run(many())
    assert told.asked == told.marks_asked == 1


def test_a_token_is_looked_up_again_when_the_tokens_version_changes(
    told: Told, note: Path, clock: Clock
) -> None:
    async def used() -> None:
        authenticator = Authenticator(told, note, now=clock)
        for asked, version in ((1, "a"), (1, "a"), (2, "b"), (2, "b")):
            told.version = version
            clock.seconds += 2 * told.tokens_version_age
            await asyncio.gather(*(authenticator.user(HEADER, MAPS) for _ in range(5)))
            assert told.asked == asked
        assert told.marks_asked == 4
        told.version, told.revoked = "c", 1
        clock.seconds += 2 * told.tokens_version_age
        with pytest.raises(InvalidToken):
            await authenticator.user(HEADER, MAPS)

    asyncio.run(used())


@pytest.mark.slow
def test_the_workers_of_a_node_read_the_tokens_version_once(told: Told, note: Path) -> None:
    told.tokens_version_age, told.delay = 5, 0.1

    async def many() -> None:
        workers = [Authenticator(told, note) for _ in range(8)]
        await asyncio.gather(*(worker.user(HEADER, MAPS) for worker in workers))

    asyncio.run(many())
    assert (told.marks_asked, told.asked) == (1, 8)


@pytest.mark.parametrize("damage", ["", "soon a", "{later} a", "-1 a"])
def test_an_invalid_shared_note_is_ignored(told: Told, note: Path, damage: str) -> None:
    note.write_text(damage.format(later=time.monotonic() + 9))
    asyncio.run(Authenticator(told, note).user(HEADER, MAPS))
    assert told.marks_asked == 1


@pytest.mark.slow
def test_a_worker_that_stops_during_a_read_blocks_no_other(
    told: Told, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_answer, "TURN_AWAITED", 0.2)
    with note.with_name("note.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asyncio.run(Authenticator(told, note).user(HEADER, MAPS))


def test_workers_that_write_the_note_at_once_use_separate_files(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As without file locks, or after the timeout for a worker that hangs."""
    written: list[Path] = []
    both, replace = Barrier(2, timeout=30), Path.replace

    def replaced(self: Path, target: Path) -> Path:
        written.append(self)
        both.wait()
        return replace(self, target)

    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr(Path, "replace", replaced)
    workers = [SharedAnswer(lambda: "mark", 5, note) for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        answers = [*threads.map(SharedAnswer.current, workers)]
    assert {one.value for one in answers} == {"mark"}
    assert len({*written}) == 2
    noted = workers[0].noted()
    assert noted is not None
    assert noted in answers


def test_without_a_place_for_the_note_each_worker_reads_the_version(
    told: Told, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nothing" / "note"
    for _ in range(2):
        asyncio.run(Authenticator(told, nowhere).user(HEADER, MAPS))
    assert told.marks_asked == 2


async def crowd(authenticator: Authenticator, size: int) -> list[asyncio.Task[None]]:
    """Start ``size`` clients that keep sending invented tokens; each must be refused as invalid."""

    async def make_up() -> None:
        while True:
            with pytest.raises(InvalidToken):
                await authenticator.user(b"Bearer " + new_token().encode(), MAPS)

    return [asyncio.create_task(make_up()) for _ in range(size)]


async def disperse(clients: list[asyncio.Task[None]]) -> None:
    """Stop all clients; raise the errors of any."""
    for client in clients:
        client.cancel()
    for ended in await asyncio.gather(*clients, return_exceptions=True):
        if not isinstance(ended, asyncio.CancelledError):
            raise ended or AssertionError("a client that never ends did")


@pytest.mark.slow
def test_invented_tokens_do_not_keep_a_revoked_one_valid(
    told: Told, note: Path, clock: Clock
) -> None:
    """However many there are, known tokens are looked up as soon as always."""
    told.delay, told.known = 0.002, {token_digest(TOKEN)}

    async def flooded() -> None:
        authenticator = Authenticator(told, note, patience=PATIENT, now=clock)
        await authenticator.user(HEADER, MAPS)
        told.version, told.revoked = "b", 1
        clients = await crowd(authenticator, 300)
        while told.asked < 2:
            await asyncio.sleep(0.001)
        clock.seconds += 2 * told.tokens_version_age
        with pytest.raises(InvalidToken):
            await authenticator.user(HEADER, MAPS)
        await disperse(clients)

    asyncio.run(flooded())


@pytest.mark.slow
def test_invented_tokens_do_not_delay_first_uses_of_valid_ones(told: Told, note: Path) -> None:
    """With a slow store that answers one query after another."""
    told.tokens_version_age, told.delay = 1, 0.02
    fresh = [new_token() for _ in range(50)]
    told.known = {token_digest(token) for token in fresh}

    async def flooded() -> None:
        authenticator = Authenticator(told, note)
        clients = await crowd(authenticator, 300)
        await asyncio.sleep(0.1)
        began = told.asked
        for token in fresh:
            await asyncio.wait_for(authenticator.user(b"Bearer " + token.encode(), MAPS), PATIENT)
        # Each waits for at most one earlier query, however many clients wait.
        assert told.asked - began <= 2 * len(fresh) + 1
        await disperse(clients)

    asyncio.run(flooded())


@pytest.mark.slow
def test_only_clients_that_keep_sending_wrong_tokens_are_delayed(
    told: Told, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "REFUSALS_PER_SECOND", 20)
    told.tokens_version_age, told.known = 5, {token_digest(TOKEN)}
    wrong = (b"Bearer nothing", b"x" * 1000, b"Bearer " + new_token().encode())

    async def delay(authenticator: Authenticator, header: bytes) -> float:
        began = time.monotonic()
        with pytest.raises(InvalidToken):
            await authenticator.user(header, MAPS)
        return time.monotonic() - began

    async def many() -> None:
        authenticator = Authenticator(told, note)
        await authenticator.user(HEADER, MAPS)
        refused = [asyncio.create_task(delay(authenticator, wrong[n % 3])) for n in range(80)]
        await asyncio.sleep(0.01)
        for _ in range(100):
            await authenticator.user(HEADER, MAPS)
            await delay(authenticator, b"")
        assert not all(one.done() for one in refused), "other clients waited for the delayed ones"
        delays = sorted(await asyncio.gather(*refused))
        assert delays[40] > 0.9
        assert delays[-1] > auth.LONGEST_DELAY - 0.1

    asyncio.run(many())


def test_the_tokens_version_is_read_ahead_of_its_expiry(
    told: Told, note: Path, clock: Clock
) -> None:
    async def asked_twice() -> None:
        authenticator = Authenticator(told, note, now=clock)
        await authenticator.user(HEADER, MAPS)
        told.going.clear()
        clock.seconds += 0.8 * told.tokens_version_age
        # The version is still valid: this request does not wait, but starts a read for later ones.
        await authenticator.user(HEADER, MAPS)
        while told.marks_asked < 2:
            await asyncio.sleep(0.001)
        told.going.set()

    asyncio.run(asyncio.wait_for(asked_twice(), PATIENT))
    assert told.asked == 1


def test_an_unreachable_store_is_not_asked_for_each_request(
    told: Told, note: Path, clock: Clock
) -> None:
    async def many() -> None:
        authenticator = Authenticator(told, note, now=clock)
        await authenticator.user(HEADER, MAPS)
        idle = len(asyncio.all_tasks())
        told.away = True
        clock.seconds += 2 * told.tokens_version_age
        for marks_asked in (2, 3, 4):
            for _ in range(100):
                await authenticator.user(HEADER, MAPS)
            while told.marks_asked < marks_asked or len(asyncio.all_tasks()) > idle:
                # Until the failure is recorded, at the time of this round.
                await asyncio.sleep(0.001)
            for _ in range(100):
                await authenticator.user(HEADER, MAPS)
                await asyncio.sleep(0)
            assert told.marks_asked == marks_asked
            clock.seconds += 1.1 * RETRIED_AFTER

    asyncio.run(asyncio.wait_for(many(), PATIENT))


def test_cached_tokens_end_at_their_expiry_and_after_a_minute(
    told: Told, note: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def milliseconds() -> int:
        return round(1000 * clock.seconds)

    monkeypatch.setattr(auth, "milliseconds", milliseconds)

    async def trusted() -> None:
        authenticator = Authenticator(told, note, now=clock)
        told.expires = milliseconds() + 1500
        await authenticator.user(HEADER, MAPS)
        told.away = True
        clock.seconds += 1
        await authenticator.user(HEADER, MAPS)
        clock.seconds += 1
        with pytest.raises(InvalidToken):
            await authenticator.user(HEADER, MAPS)
        clock.seconds += TRUSTED_FOR
        with pytest.raises(StoreUnavailable):
            await authenticator.user(HEADER, MAPS)

    asyncio.run(trusted())


async def keep_asking(authenticator: Authenticator) -> None:
    while True:
        await authenticator.user(HEADER, MAPS)
        await asyncio.sleep(0.001)


def test_a_late_answer_of_the_store_still_counts(told: Told, note: Path, clock: Clock) -> None:
    async def slow() -> None:
        authenticator = Authenticator(told, note, patience=0.01, now=clock)
        await authenticator.user(HEADER, MAPS)
        told.going.clear()
        told.revoked, told.version = 1, "b"
        clock.seconds += 2 * told.tokens_version_age
        await authenticator.user(HEADER, MAPS)
        told.going.set()
        with pytest.raises(InvalidToken):
            await keep_asking(authenticator)

    asyncio.run(asyncio.wait_for(slow(), PATIENT))


@pytest.mark.slow
def test_more_lookups_than_the_store_can_handle_are_refused(
    told: Told, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "MOST_LOOKUPS", 3)
    told.delay = 0.2

    async def many() -> list[object]:
        authenticator = Authenticator(told, note)
        headers = [b"Bearer " + new_token().encode() for _ in range(5)]
        return await asyncio.gather(
            *(authenticator.user(header, MAPS) for header in headers), return_exceptions=True
        )

    answers = asyncio.run(many())
    assert [isinstance(answer, StoreUnavailable) for answer in answers] == [False] * 3 + [True] * 2


def test_a_request_that_needs_a_missing_column_may_be_repeated(
    node: tuple[Shelf, Service], own_server: Server
) -> None:
    """Another version may be changing the schema, or someone took away a right."""
    shelf, service = node
    (one,) = service.get("/maps").json()
    path = f"/maps/{one['ID']}/outline.md"
    usual = service.get(path).status_code
    with psycopg.connect(shelf.settings.database, autocommit=True) as connection:
        connection.execute("ALTER TABLE mapshelf.outlines RENAME COLUMN outline TO other")
        refused = service.get(path)
        connection.execute("ALTER TABLE mapshelf.outlines RENAME COLUMN other TO outline")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    assert service.get(path).status_code == usual
