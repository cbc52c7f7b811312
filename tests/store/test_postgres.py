"""Tests of the PostgreSQL store only: locks, migrations, lost connections, notifications."""

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from mapshelf import clock
from mapshelf.accounts.attempt_limits import AttemptLimit
from mapshelf.accounts.own_account import require_young
from mapshelf.api.shared_answer import SharedAnswer
from mapshelf.clock import milliseconds
from mapshelf.errors import (
    AlreadyExists,
    HistoryLost,
    InvalidSetting,
    NotFound,
    SessionTooOld,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    TooManyAttempts,
)
from mapshelf.model import (
    DAY,
    HOUR,
    LARGEST_ID,
    MINUTE,
    SYSTEM_USER,
    Failures,
    LinkKind,
    Map,
    MapDraft,
    Outcome,
    OutdatedMap,
    PasswordRecord,
    Role,
    TokenKind,
    User,
    Verdict,
    Visit,
    VisitKind,
)
from mapshelf.query import MapQuery
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import Store, open_store, scripts, seed
from mapshelf.store.postgres import connections as postgres_connections
from mapshelf.store.postgres import counters as postgres_counters
from mapshelf.store.postgres import link as postgres_link
from mapshelf.store.postgres import schema as postgres_schema
from mapshelf.store.postgres.connections import Connections
from mapshelf.store.postgres.counters import LEAP
from mapshelf.store.postgres.link import Link
from mapshelf.store.postgres.links import FILE_NAME
from mapshelf.store.postgres.postgres_store import PostgresStore
from mapshelf.store.postgres.schema import MIGRATIONS, Migration
from tests.postgres import KEPT, Server, server
from tests.store.drafts import outline, source

pytestmark = pytest.mark.postgres

ALL = 1_000_000
PATIENCE = 60.0


@pytest.fixture
def url(new_catalogue: Callable[[int], str]) -> str:
    """An empty catalogue. It is a copy, because creating one takes ten times as long."""
    return new_catalogue(0)


@pytest.fixture
def untouched(new_url: Callable[[], str]) -> str:
    """A database without any tables."""
    return new_url()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(url)
    yield store
    store.close()


@contextmanager
def session(url: str) -> Iterator["psycopg.Connection[Any]"]:
    """Yield a connection with no settings of ours except the schema."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=mapshelf") as connection:
        yield connection


def others(connection: "psycopg.Connection[Any]", more: str = "") -> list[int]:
    """Return the process ids of the other sessions of the database."""
    rows = connection.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        f" AND pid <> pg_backend_pid() AND application_name <> '{KEPT}' {more}"
    )
    return [row[0] for row in rows]


def terminate_all(url: str) -> int:
    """End every session of the database, as when the server restarts."""
    with session(url) as connection:
        found = others(connection)
        for pid in found:
            connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        return len(found)


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.01)


# -- the order of revisions -------------------------------------------------------------------


class Paused(list[MapDraft]):
    """Drafts whose second one is not available until the pause is over."""

    def __init__(self, *drafts: MapDraft) -> None:
        super().__init__(drafts)
        self.reached = threading.Event()
        self.over = threading.Event()
        self._looks = 0

    def __iter__(self) -> Iterator[MapDraft]:
        for number, draft in enumerate(super().__iter__()):
            # The store reads the drafts once for their references, before the transaction goes on.
            if number == 1 and self.in_transaction():
                self.reached.set()
                assert self.over.wait(PATIENCE)
            yield draft

    def in_transaction(self) -> bool:
        self._looks += 1
        return self._looks > 4


def test_the_second_of_two_writers_waits_and_no_change_is_missed(
    store: PostgresStore, url: str
) -> None:
    """The first has its revisions and commits late; the second's must not show before."""
    other = open_store(url)
    slow = Paused(*(MapDraft(title=name, id=name) for name in ("a", "b", "c")))
    quick = [MapDraft(title="q", id="q")]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(store.put_maps, slow)
        assert slow.reached.wait(PATIENCE)
        second = pool.submit(other.put_maps, quick)
        with session(url) as connection:
            wait_until(lambda: others(connection, "AND wait_event_type = 'Lock'"))
        assert not second.done()
        assert store.revision() == 0
        assert store.changes(0, ALL) == []
        slow.over.set()
        assert [outcome.verdict for outcome in first.result()] == [Verdict.ADDED] * 3
        assert second.result() == [Outcome(Verdict.ADDED, "q")]
    other.close()
    seen = [(one.revision, one.map and one.map.id) for one in store.changes(0, ALL)]
    assert seen == [(1, "a"), (2, "b"), (3, "c"), (4, "q")]


def test_interleaved_writers_of_every_kind_lose_no_change(store: PostgresStore, url: str) -> None:
    """Followers read the feed while writers add, change, move and delete maps."""
    writers = [open_store(url) for _ in range(3)]
    done = threading.Event()

    with ThreadPoolExecutor(5) as pool:
        followers = [pool.submit(follow, store, done) for _ in range(2)]
        writing = [pool.submit(write, *one) for one in enumerate(writers)]
        for written in writing:
            written.result()
        done.set()
        for follower in followers:
            assert follower.result() == {one.file_id: one for one in store.maps(0, ALL)}
    for writer in writers:
        writer.close()
    assert store.check() == []


def write(number: int, writer: Store) -> None:
    """Write in every possible way; ``shared`` is a map that other writers change, too."""
    for turn in range(25):
        one = f"w{number}t{turn}"
        own = source(f"{one}.mm")
        writer.put_maps([MapDraft(title=one, id=one, source=own)])
        writer.put_maps([MapDraft(id="shared", title="s", views=turn)])
        if turn % 3 == 1:
            assert writer.move_source(own.path, source(f"{one}-moved.mm"))
        if turn % 3 == 2:
            writer.delete_maps([one])


def follow(store: Store, done: threading.Event) -> dict[int, Map]:
    """Follow the feed until ``done`` is set; return the maps that exist then."""
    revision, mirror = 0, {}
    while True:
        ended = done.is_set()
        changes = store.changes(revision, 7)
        for change in changes:
            assert change.revision > revision
            revision = change.revision
            mirror[change.file_id] = change.map
        if ended and not changes:
            return {key: value for key, value in mirror.items() if value is not None}


def test_a_revocation_waits_for_no_import(store: PostgresStore, url: str) -> None:
    token = store.add_token(SYSTEM_USER, b"1" * 32, label="", scopes="", expires=None)
    slow = Paused(MapDraft(title="a"), MapDraft(title="b"))
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(store.put_maps, slow)
        assert slow.reached.wait(PATIENCE)
        assert store.revoke_token(token.id).revoked is not None
        store.touch_tokens({token.id: 5})
        store.disable_user(SYSTEM_USER)
        slow.over.set()
        importing.result()


# -- clocks that differ -----------------------------------------------------------------------


def test_revisions_rise_with_a_takeover_however_wrong_the_clock_is(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for clock_says in (0, 2**36, 0):
        monkeypatch.setattr(postgres_counters, "LEAPS_SO_FAR", f"SELECT {clock_says}::bigint")
        store.put_maps([MapDraft(title="before")])
        before = store.revision()
        with session(url) as connection:
            connection.execute("UPDATE sequence SET history = 'another'")
        store.put_maps([MapDraft(title="after")])
        leap = postgres_counters.LEAP
        assert store.revision() == max(clock_says, before // leap + 2) * leap + 1 > before
        assert store.revision() < 2**53
        with pytest.raises(HistoryLost):
            store.changes(before + 1, 1)
        assert [one.revision for one in store.changes(before, ALL)] == [store.revision()]


def test_a_node_far_ahead_forgets_nothing_that_others_have_counted(store: PostgresStore) -> None:
    now, (old, new, other) = milliseconds(), (bytes([n]) * 32 for n in range(3))
    store.note_failure([old], now - 2 * DAY)
    store.note_failure([new], now)
    assert store.note_failure([new, other], now + 400 * DAY) == {new: Failures(1, now)}
    assert store.failures([old, new], now + 400 * DAY) == {new: Failures(2, now + 400 * DAY)}
    assert set(store.failures([old, new, other], now)) == {new, other}
    # The day of these counts from the time of the database, too.
    assert store.failures([new, other], now + 2 * HOUR).keys() == {new, other}
    store.note_success(old, [], now)
    store.note_success(new, [], now + 400 * DAY)
    assert store.is_known_address(old, now)


@pytest.mark.parametrize("behind", [20 * MINUTE, 23 * HOUR, 25 * HOUR, 400 * DAY])
def test_a_node_far_behind_takes_nothing_that_others_have_counted_back(
    url: str, store: PostgresStore, behind: int
) -> None:
    now, key = milliseconds(), b"k" * 32
    for count in range(6):
        before = store.note_failure([key], now - (behind if count % 2 else 0))
        assert [one.count for one in before.values()] == [count] * (count > 0)
    with session(url) as database:
        ((first,),) = database.execute("SELECT first FROM sign_in_failures").fetchall()
    assert first >= now - 1


def test_attempts_that_the_database_counted_in_the_future_limit_nobody(
    url: str, store: PostgresStore
) -> None:
    limit, now = AttemptLimit(b"k" * 32, 2, TooManyAttempts(5)), milliseconds()
    for _ in range(5):
        limit.note(store, now)
    for behind in (0, 20 * MINUTE, 400 * DAY):  # a node that is behind does not begin again
        with pytest.raises(TooManyAttempts):
            limit.check(store, now - behind)
        with pytest.raises(TooManyAttempts):
            limit.count(store, now - behind)
    with session(url) as database:
        database.execute("UPDATE sign_in_failures SET first = %s", (now + 400 * DAY,))
    for _ in range(2):
        limit.check(store, now)
        limit.count(store, now)
    for attempt in (limit.check, limit.count):
        with pytest.raises(TooManyAttempts):
            attempt(store, now)


@contextmanager
def node(url: str, ahead: int, patch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """Yield the store of a node whose own clock is so many milliseconds ahead."""
    right = time.time_ns
    with patch.context() as patched:
        patched.setattr(time, "time_ns", lambda: right() + ahead * 1_000_000)
        patched.setattr(clock, "_followed", clock.Followed())
        assert milliseconds() == pytest.approx(right() / 1e6 + ahead, abs=5000)
        store = PostgresStore(url)
        yield store
        store.close()


WRONG = [-400 * DAY, -25 * HOUR, -20 * MINUTE, 20 * MINUTE, 25 * HOUR, 400 * DAY]


@pytest.mark.parametrize("ahead", WRONG)
def test_the_time_of_every_node_is_that_of_the_database(
    url: str, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    with node(url, ahead, monkeypatch) as store:
        assert milliseconds() == pytest.approx(right() * 1000, abs=5000)
        assert store.add_user("ann").registered == pytest.approx(right() * 1000, abs=5000)
        # Neither does it matter whether that clock is set while the node runs.
        with monkeypatch.context() as changed:  # undone before the clock of the node is
            changed.setattr(time, "time_ns", lambda: 0)
            assert milliseconds() == pytest.approx(right() * 1000, abs=5000)


@pytest.mark.parametrize("ahead", WRONG)
def test_a_session_is_as_old_on_every_node(
    url: str, store: PostgresStore, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = store.add_user("ann")
    store.add_session(user.id, b"s" * 32, "", milliseconds() + DAY, None)
    for age, is_young in ((10 * MINUTE, True), (20 * MINUTE, False)):
        with session(url) as database:
            began = milliseconds() - age
            database.execute("UPDATE tokens SET created = %s", (began,))
        with node(url, ahead, monkeypatch) as other:
            (found,) = other.sessions(user.id)
            with nullcontext() if is_young else pytest.raises(SessionTooOld):
                require_young(found, milliseconds())


@pytest.mark.parametrize("ahead", WRONG)
def test_no_node_deletes_what_others_have_just_made(
    url: str, store: PostgresStore, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, now = store.add_user("ann"), milliseconds()
    store.add_challenge(b"c" * 32, now, now + MINUTE)
    store.add_link(LinkKind.INVITATION, b"i" * 32, None, now + MINUTE, None)
    store.add_session(user.id, b"s" * 32, "", now + MINUTE, None)
    with node(url, ahead, monkeypatch) as other:
        there = milliseconds()
        other.add_challenge(b"d" * 32, there, there + MINUTE)
        other.add_link(LinkKind.INVITATION, b"j" * 32, None, there + MINUTE, None)
        other.add_session(user.id, b"t" * 32, "", there + MINUTE, None)
    for digest in (b"c" * 32, b"d" * 32):
        assert store.use_challenge(digest, milliseconds(), MINUTE)
    assert len(store.invitations(milliseconds())) == 2
    assert len(store.sessions(user.id)) == 2


def test_the_clock_is_compared_with_that_of_the_database(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ahead in (0, 1_200_000, -1_200_000):
        with node(url, ahead, monkeypatch) as store:
            assert store.clock_difference() == pytest.approx(ahead / 1000, abs=60)


# -- values of any size, as in SQLite ---------------------------------------------------------


def test_names_and_paths_of_any_length(store: PostgresStore) -> None:
    """An ordinary index would refuse values longer than 2,700 bytes."""
    dice = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(60_000))
    folder = b"/" + dice.encode()[:3000]
    paths = sorted(folder + b"/%d" % n for n in range(5))
    sources = [source(dice, path=path, digest=b"d" * 32) for path in paths]
    drafts = [MapDraft(title=dice, software=dice, category=dice, source=one) for one in sources]
    for _ in range(2):
        store.put_maps(drafts)
    assert len(store.maps(0, ALL)) == len(paths)
    assert [one.name for one in store.software()[20:]] == [dice]
    assert [one.path for one in store.sources_below(folder, b"", ALL)] == paths
    assert [one.path for one in store.sources_below(folder, paths[1], 2)] == paths[2:4]
    assert set(store.sources(paths)) == set(paths)
    assert store.move_source(paths[0], replace(sources[0], path=folder + b"/x"))
    assert store.remove_sources([folder + b"/x", *paths]) == 5


def test_values_that_text_cannot_store_are_refused(store: PostgresStore) -> None:
    with pytest.raises(StoreError):
        store.put_maps([MapDraft(title="fine"), MapDraft(title="a\0b")])
    assert store.maps(0, ALL) == []
    assert store.revision() == 0


def test_a_constraint_is_a_store_error(store: PostgresStore) -> None:
    store.add_token("system", b"1" * 32, label="", scopes="", expires=None)
    with pytest.raises(StoreError):
        store.add_token("system", b"1" * 32, label="", scopes="", expires=None)
    assert len(store.tokens("system")) == 1


def test_check_reports_inconsistent_rows(store: PostgresStore, url: str) -> None:
    store.put_maps([MapDraft(title="a", id="a"), MapDraft(title="b", id="b")])
    store.delete_maps(["b"])
    with session(url) as connection:
        connection.execute("UPDATE sequence SET revision = 1, file_id = 1")
        connection.execute("UPDATE deleted SET id = 'a'")
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE maps SET owner_id = 99")
    assert store.check() == [
        "the feed is at revision 1, and change 3 is beyond",
        "File_ID 1 is the last used, and 2 is beyond",
        "map a is there and deleted",
        "row 1 of maps refers to a row of users that is not there",
    ]


# -- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["postgresql://h:port/d", "postgresql://h/d?nonsense=1", "postgresql:///d?host=a,b,c&port=1,2", "postgresql://[x"],
)  # fmt: skip
def test_malformed_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidSetting):
        open_store(url)


def test_an_unreachable_server_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable):
        open_store("postgresql://127.0.0.1:1/d")


def test_a_missing_database_is_unavailable(postgres: Server) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist"):
        open_store(postgres.url("nobody_made_this"))


@pytest.mark.parametrize("owned", ["database", "schema"])
def test_an_ordinary_role_that_owns_its_database_or_schema_is_enough(
    postgres: Server, owned: str
) -> None:
    """As ``createuser`` and ``createdb --owner`` make it: no superuser, no grants."""
    postgres.execute("CREATE ROLE plain LOGIN")
    postgres.execute(
        f"CREATE DATABASE plain OWNER {'plain' if owned == 'database' else 'postgres'}"
    )
    if owned == "schema":
        with session(postgres.url("plain")) as connection:
            connection.execute("CREATE SCHEMA mapshelf AUTHORIZATION plain")
    store = open_store(postgres.url("plain").replace("postgres@", "plain@"))
    store.put_maps([MapDraft(title="t", id="t")])
    assert store.revision() == 1
    assert store.find_credentials([b"?"]) == {}
    listening(store, 1)
    assert store.check() == []
    store.close()
    postgres.execute("DROP DATABASE plain")
    postgres.execute("DROP ROLE plain")


def test_old_rules_for_strings_as_a_default_do_not_matter(untouched: str) -> None:
    name = untouched.rpartition("/")[2]
    with session(untouched) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET standard_conforming_strings TO off')
    store = open_store(untouched)
    store.add_token(SYSTEM_USER, b"digest", label="", scopes="", expires=None)
    assert set(store.find_credentials([b"digest"])) == {b"digest"}
    store.close()


def test_both_url_schemes_and_url_options_are_accepted(url: str) -> None:
    named = url.replace("postgresql:", "postgres:") + "?options=-c%20work_mem%3D5MB"
    store = open_store(f"{named}&application_name=other")
    store.put_maps([MapDraft(title="t")])
    with session(url) as connection:
        assert others(connection, "AND application_name = 'other'")
    store.close()


# -- the schema -------------------------------------------------------------------------------


def test_no_catalogue_is_created_unless_wanted(untouched: str) -> None:
    with pytest.raises(StoreMissing):
        open_store(untouched, create=False)
    with session(untouched) as connection:
        assert connection.execute("SELECT to_regnamespace('mapshelf')").fetchone() == (None,)
    open_store(untouched).close()
    open_store(untouched, create=False).close()


def test_opening_writes_nothing_to_a_catalogue_that_is_up_to_date(url: str) -> None:
    open_store(url).close()
    with session(url) as connection:
        before = connection.execute("SELECT pg_current_xact_id()").fetchone()
        assert before is not None
        open_store(url).close()
        assert connection.execute("SELECT pg_current_xact_id()").fetchone() == (
            str(int(before[0]) + 1),
        )


def _open(url: str, start: Any, names: Any) -> None:
    start.wait()
    store = open_store(url)
    names.put([user.name for user in store.users()])
    store.close()


def test_several_processes_may_migrate_a_new_database_at_once(untouched: str) -> None:
    context = multiprocessing.get_context("spawn")
    start, names = context.Barrier(4), context.Queue()
    nodes = [context.Process(target=_open, args=(untouched, start, names)) for _ in range(4)]
    for node in nodes:
        node.start()
    assert [names.get(timeout=PATIENCE) for _ in nodes] == [[SYSTEM_USER]] * 4
    for node in nodes:
        node.join()
    with session(untouched) as connection:
        had = connection.execute("SELECT count(*) FROM migrations").fetchone()
        assert had == (len(MIGRATIONS),)


def test_a_migration_waits_for_another_but_not_for_good(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(untouched) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (postgres_schema.LOCK,))
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(open_store, untouched)
            wait_until(lambda: others(connection, "AND wait_event = 'advisory'"))
            connection.execute("SELECT pg_advisory_unlock(%s)", (postgres_schema.LOCK,))
            opening.result().close()
        connection.execute("DROP SCHEMA mapshelf CASCADE")
        connection.execute("SELECT pg_advisory_lock(%s)", (postgres_schema.LOCK,))
        monkeypatch.setattr(postgres_schema, "TURN_TIMEOUT", "200ms")
        with pytest.raises(StoreUnavailable):
            open_store(untouched)


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed, "SOFTWARE", (None,))
    with pytest.raises(AttributeError):
        open_store(untouched)
    monkeypatch.undo()
    store = open_store(untouched)
    assert len(store.users()) == 1
    store.close()


PUBLISHED = (
    "d3138bafc05fa1c2424b71b40cd9709aaadc1de54cb1197a2141865d2f85de1b",
    "6fc650526f721253fa6a63d970f9aad1b9f20db91833a0f47d7098acd611e89a",
    "9e293442a6076bf96499659658e0be5559b48cf1b410c443e24e11245dd4dba8",
)
"""What databases in use know their schemas by."""


def test_the_schema_is_the_one_that_databases_in_use_have(url: str) -> None:
    """The wording of a script may change, as long as older and newer nodes work with both."""
    open_store(url).close()
    with session(url) as connection:
        rows = connection.execute("SELECT encode(digest, 'hex') FROM migrations ORDER BY number")
        assert tuple(row[0] for row in rows)[: len(PUBLISHED)] == PUBLISHED
        uncompressed = connection.execute(
            "SELECT c.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS c"
            " ON c.oid = a.attrelid WHERE c.relnamespace = 'mapshelf'::regnamespace"
            " AND c.relkind = 'r' AND a.attnum > 0 AND a.attstorage = 'e' ORDER BY 1"
        )
        assert uncompressed.fetchall() == [
            ("files", "content"),
            ("images", "content"),
            ("outlines", "outline"),
            ("versions", "content"),
        ]


@pytest.mark.parametrize("there", [False, True])
def test_a_server_that_is_too_old_is_refused(
    untouched: str, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        open_store(untouched).close()
    monkeypatch.setattr(postgres_schema, "MINIMUM_VERSION", 990_000)
    with pytest.raises(StoreError, match=r"has version \d\d; version 99 or newer is needed"):
        open_store(untouched)
    with session(untouched) as connection:
        made = connection.execute("SELECT to_regnamespace('mapshelf') IS NOT NULL").fetchone()
        assert made == (there,)


def test_a_catalogue_that_is_created_at_this_moment_is_opened(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process creates it, or a standby receives it."""
    look = Link.required_rows

    def too_early(link: Link, sql: str, *parameters: Any) -> Any:
        monkeypatch.undo()
        with pytest.raises(psycopg.errors.UndefinedTable) as missing:
            look(link, sql, *parameters)
        open_store(untouched).close()
        raise missing.value

    monkeypatch.setattr(Link, "required_rows", too_early)
    open_store(untouched).close()


def test_a_catalogue_that_is_being_restored_is_not_there_yet(untouched: str) -> None:
    open_store(untouched).close()
    with session(untouched) as connection:
        connection.execute("DELETE FROM migrations")
    with pytest.raises(StoreUnavailable):
        open_store(untouched)


def test_nothing_is_read_from_a_catalogue_that_is_being_restored(untouched: str) -> None:
    """``pg_restore`` fills ``sequence`` before ``users``, without whom no map is published."""
    with closing(PostgresStore(untouched)) as store, session(untouched) as connection:
        store.put_maps([MapDraft(title="t")])
        before = store.revision()
        store.put_maps([MapDraft(title="u")])
        assert store.revision() > before
        connection.execute("ALTER TABLE users RENAME TO users_of_then")
        connection.execute("CREATE TABLE users (LIKE users_of_then)")
        connection.execute("UPDATE sequence SET revision = %s, history = 'before'", (before,))
        assert store.wait(99, 0.1)  # the listener knows nothing either, and skips no revisions
        for read in (
            store.revision,
            store.tokens_version,
            partial(store.find_credentials, [b"a"]),
            partial(store.changes, 0, 9),
            partial(store.maps, 0, 9),
            partial(store.put_maps, [MapDraft(title="v")]),
        ):
            for _ in range(20):  # more often than there are connections
                with pytest.raises(StoreUnavailable, match="not complete"):
                    read()
        assert connection.execute("SELECT revision FROM sequence").fetchall() == [(before,)]
        connection.execute("DROP TABLE users")
        connection.execute("ALTER TABLE users_of_then RENAME TO users")
        wait_until(lambda: succeeds(store.revision))
        assert store.revision() > LEAP
        assert [change.map is None for change in store.changes(0, 9)] == [False, False, True]


def test_a_foreign_schema_is_refused_and_left_alone(untouched: str) -> None:
    with session(untouched) as connection:
        connection.execute("CREATE SCHEMA mapshelf")
        connection.execute("CREATE TABLE theirs (a integer)")
        with pytest.raises(StoreDamaged, match="something other than a catalogue"):
            open_store(untouched)
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'mapshelf'")
        assert tables.fetchall() == [("theirs",)]


WRITTEN_BEFORE = (
    "INSERT INTO users (name, name_key, registered) VALUES ('Ann', 'ann', 5)",
    "INSERT INTO tokens (user_id, digest, label, scopes, created) VALUES"
    " (2, 'old', '', 'read', 6), (2, 'odd', '', '', 7)",
    "INSERT INTO maps (file_id, id, title, description, thumbs_up, thumbs_down, views, downloads,"
    " category_id, category, date_added, owner_id, copyright, template, revision)"
    " VALUES (1, 'a', 't', '', 0, 0, 4, 0, 1, '', 0, 2, '', false, 1)",
    "UPDATE sequence SET revision = 1, file_id = 1",
)
"""What the first version wrote."""


@pytest.mark.parametrize("had", [1, 4])
def test_a_catalogue_of_a_version_before_is_brought_up_to_date(
    untouched: str, monkeypatch: pytest.MonkeyPatch, had: int
) -> None:
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", MIGRATIONS[:had])
    monkeypatch.setattr(
        postgres_schema,
        "insert_user",
        lambda link, name, now: link.execute(
            "INSERT INTO users (name, name_key, registered) VALUES (%s, %s, %s)", (name, name, now)
        ),
    )
    before = open_store(untouched)
    with session(untouched) as connection:
        for statement in WRITTEN_BEFORE:
            connection.execute(statement)
    monkeypatch.undo()
    after = open_store(untouched)
    (found,) = after.maps(0, 9)
    assert [change.map for change in after.changes(0, 9)] == [found], (
        "maps of older versions count as published"
    )
    after.count_visits([Visit(b"k", found.file_id, VisitKind.VIEW, 5)], 5 * HOUR, 9)
    after.apply_visit_counts(6 * HOUR)
    assert [one.views for one in before.maps(0, 9)] == [5]
    assert after.users()[1] == User(2, "Ann", 5, disabled=False, role=Role.MEMBER)
    assert after.password_of("ann") == PasswordRecord(after.users()[1], None)
    with pytest.raises(AlreadyExists):
        after.register(None, "\ua4ee\ua4e0\ua4e0", "encoded", 5)  # Lisu letters that look like ANN
    assert [token.scopes for token in after.tokens("ann")] == ["account maps", ""]
    assert {token.kind for token in after.tokens("ann")} == {TokenKind.PERSONAL}
    before.close()
    after.close()


def test_a_node_of_the_previous_version_can_still_add_users_and_tokens(
    store: PostgresStore, url: str
) -> None:
    """It writes only the columns that it knows, and the password is not one of them."""
    with session(url) as connection:
        for statement in WRITTEN_BEFORE[:2]:
            connection.execute(statement)
    store.add_session(2, b"s", "", LARGEST_ID, None)
    store.set_password(2, "encoded", keep=None)
    assert [token.scopes for token in store.tokens("ann")] == ["read", ""]
    with pytest.raises(AlreadyExists):
        store.register(None, "\ua4ee\ua4e0\ua4e0", "encoded", 5)  # Lisu letters that look like ANN


def test_outlines_that_an_older_node_writes_are_outdated(untouched: str) -> None:
    """Only nodes that set it in their session write outlines of the present format."""
    newer = open_store(untouched)
    newer.put_maps([MapDraft(title="t", id="t", source=source(), outline=outline("new"))])
    assert newer.outdated(0, 9) == []
    with session(untouched) as connection:
        for written in ("old", "older"):
            connection.execute(
                "INSERT INTO outlines VALUES (1, %s)"
                " ON CONFLICT (file_id) DO UPDATE SET outline = excluded.outline",
                (outline(written),),
            )
            assert [found.file_id for found in newer.outdated(0, 9)] == [1]
    newer.put_maps([MapDraft(id="t", outline=outline("newer"))])
    assert newer.outdated(0, 9) == []
    newer.close()


def test_names_are_compared_as_this_version_does(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    had = [migration.script for migration in MIGRATIONS].index("postgres_0025.sql")
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", MIGRATIONS[:had])
    store = open_store(untouched)
    store.register(None, "B\u1e9ao", "encoded", 5)
    store.close()
    monkeypatch.undo()
    with session(untouched) as connection:
        connection.execute("UPDATE users SET skeleton = 'ba''o' WHERE name LIKE 'B%'")
    store = open_store(untouched)
    with pytest.raises(AlreadyExists):
        store.register(None, "B\u1ea3o", "encoded", 5)
    store.close()


def test_a_schema_in_use_by_a_long_transaction_is_not_migrated(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    had = [migration.script for migration in MIGRATIONS].index("postgres_0031.sql")
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", MIGRATIONS[:had])
    open_store(untouched).close()
    monkeypatch.undo()
    with session(untouched) as connection:
        with connection.transaction():
            connection.execute("SELECT FROM token_mark")  # as pg_dump does
            with pytest.raises(StoreUnavailable, match="such as pg_dump; start Mapshelf again"):
                open_store(untouched)
        open_store(untouched).close()


UNDONE = (
    "DROP FUNCTION note_hiding CASCADE",
    "DROP TABLE hidings",
    "ALTER TABLE token_mark DROP COLUMN run",
    "DROP TABLE last_transfer",
    "DROP TABLE lost_files",
    "DROP TABLE former_places",
    "ALTER TABLE users DROP COLUMN skeleton",
    "DROP TABLE additions",
    "DROP TABLE served_folders",
    "DROP TABLE former_contents",
    "DROP TABLE inherited",
    "DROP TABLE missing",
    "DROP FUNCTION mark_revision CASCADE",
    "DROP TABLE marks",
    "DROP TABLE collection_reports",
    "DROP TABLE collection_decisions",
    "DROP TABLE saved_searches",
    "DROP TABLE collected_maps",
    "DROP TABLE collections",
    "DROP TABLE imported_folders",
    "DROP TABLE renamed_tags",
    "DROP TABLE refusals",
    "DROP TABLE identities, passkeys, passkey_challenges",
    "DROP TABLE reports, decisions, audit",
    "ALTER TABLE users DROP COLUMN closed, DROP COLUMN closing",
    "DROP TABLE programs, grants, authorization_codes, refresh_tokens, device_requests CASCADE",
    "ALTER TABLE tokens DROP COLUMN grant_id CASCADE",
    "DROP TABLE versions, votes, removed, uploads",
    "ALTER TABLE maps DROP COLUMN tags, DROP COLUMN visibility, DROP COLUMN set_by_people",
    "DROP TRIGGER roles_changed ON users",
    "ALTER TABLE users DROP COLUMN role, DROP COLUMN password",
    "ALTER TABLE tokens DROP COLUMN kind",
    "DROP TABLE one_time_links, sign_in_failures, known_addresses",
)
"""What undoes the migrations since the fifth, the newest first."""


def test_maps_from_files_of_the_version_before_are_outdated(untouched: str) -> None:
    with session(untouched) as connection:
        open_store(untouched).close()
        connection.execute("DROP TABLE images, links, outdated")
        connection.execute("DROP INDEX sources_file")
        connection.execute("DROP FUNCTION note_old_outline CASCADE")
        for statement in UNDONE:
            connection.execute(statement)
        connection.execute("DELETE FROM migrations WHERE number >= 4")
        connection.execute(
            "INSERT INTO maps (file_id, id, title, description, thumbs_up, thumbs_down, views,"
            " downloads, category_id, category, date_added, owner_id, copyright, template,"
            " revision) SELECT n, n, '', '', 0, 0, 0, 0, 1, '', 0, 1, '', false, n"
            " FROM generate_series(1, 2) AS n"
        )
        connection.execute("INSERT INTO sources VALUES ('/a', 1, 'a', 1, 1, 'd')")
    store = open_store(untouched)
    assert store.outdated(0, 9) == [OutdatedMap(1, b"")]
    store.close()


def test_maps_from_files_are_read_again_by_readers_that_find_more(untouched: str) -> None:
    store = open_store(untouched)
    store.put_maps([MapDraft(title="t", id="t", source=source(), outline=outline("old"))])
    store.close()
    with session(untouched) as connection:
        for statement in UNDONE:
            connection.execute(statement)
        connection.execute("DELETE FROM migrations WHERE number >= 5")
    store = open_store(untouched)
    assert store.outdated(0, 9) == [OutdatedMap(1, b"")]
    store.close()


def test_a_transaction_changes_the_mark_of_the_tokens_once(store: PostgresStore, url: str) -> None:
    """Once for every row took 40,000 sessions longer than a node waits for a statement."""
    for name in ("ann", "bob", "eve"):
        store.add_user(name)
        digest = name.encode().ljust(32, b"0")
        store.add_token(name, digest, label="", scopes="account", expires=None)
    marks = {store.tokens_version()}
    for _ in range(2):
        with session(url) as connection:  # its own, because its counters last longer
            with connection.transaction():
                connection.execute("SAVEPOINT begun")
                connection.execute("DELETE FROM tokens")
                connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                connection.execute("ROLLBACK TO SAVEPOINT begun")
                connection.execute("SET CONSTRAINTS ALL DEFERRED")
                connection.execute("UPDATE tokens SET revoked = 1")
                connection.execute("UPDATE tokens SET revoked = NULL")
                connection.execute("UPDATE users SET disabled = NOT disabled WHERE name = 'ann'")
                connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                changed = connection.execute(
                    "SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'token_mark'"
                ).fetchone()
                assert changed == (2,), "one of the two was rolled back"
                connection.execute("DELETE FROM tokens WHERE label = 'none'")
            marks.add(store.tokens_version())
    assert len(marks) == 3, "each transaction changes it"


def test_files_and_links_are_found_by_indexes(url: str) -> None:
    open_store(url).close()
    with session(url) as connection:
        connection.execute("SET enable_seqscan = off")
        for table, name in (("sources", FILE_NAME), ("links", "name")):
            plan = connection.execute(f"EXPLAIN SELECT 1 FROM {table} AS s WHERE {name} = 'x'")
            assert f"{table}_{'file' if table == 'sources' else 'name'}" in str(plan.fetchall())


@pytest.mark.parametrize(("more", "goes"), [(0, True), (1, False)])
def test_an_older_node_goes_on_as_long_as_the_schema_lets_it(
    untouched: str, monkeypatch: pytest.MonkeyPatch, more: int, goes: bool
) -> None:
    """A newer node has migrated. The migration says whether an older node may still start."""
    running = open_store(untouched)
    newer = (*MIGRATIONS, Migration("postgres_next.sql", needs=len(MIGRATIONS) + more))
    read = scripts.read_script
    for module in ("postgres.schema", "scripts"):
        monkeypatch.setattr(
            f"mapshelf.store.{module}.read_script",
            lambda name: (
                "ALTER TABLE maps ADD COLUMN language text;" if "next" in name else read(name)
            ),
        )
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", newer)
    open_store(untouched).close()
    monkeypatch.undo()
    assert running.put_maps([MapDraft(title="t")])[0].verdict is Verdict.ADDED
    running.close()
    if goes:
        older = open_store(untouched)
        assert older.put_maps([MapDraft(title="u")])[0].verdict is Verdict.ADDED
        older.close()
    else:
        with pytest.raises(StoreDamaged, match="newer version"):
            open_store(untouched)


def test_a_catalogue_with_the_schema_of_another_day_is_refused(
    untouched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = [replace(migration, digest="00" * 32) for migration in MIGRATIONS]
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", another)
    open_store(untouched).close()
    monkeypatch.undo()
    with pytest.raises(StoreDamaged, match="development version"):
        open_store(untouched)


# -- lost connections -------------------------------------------------------------------------


def test_ended_sessions_are_noticed_before_use(store: PostgresStore, url: str) -> None:
    for _ in range(3):
        store.put_maps([MapDraft(title="t")])
        assert store.revision()
        assert store.find_credentials([b"?"]) == {}
        assert terminate_all(url) >= 2
        store.put_maps([MapDraft(title="t")])
        assert store.revision()
        assert store.find_credentials([b"?"]) == {}
        assert terminate_all(url) >= 2
        assert store.users()
    assert len(store.maps(0, ALL)) == 6


def test_a_read_whose_session_ends_is_tried_once_more(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = postgres_link.Link.look
    ended: list[int] = []

    def look_and_lose(link: postgres_link.Link) -> None:
        looked(link)
        if not ended:
            ended.append(terminate_all(url))

    monkeypatch.setattr(postgres_link.Link, "look", look_and_lose)
    assert [user.name for user in store.users()] == [SYSTEM_USER]
    assert ended
    monkeypatch.undo()
    for ask in (store.revision, store.tokens_version):
        first = ask()
        assert terminate_all(url)
        assert ask() == first


def test_a_write_whose_session_ends_is_not_tried_again(store: PostgresStore, url: str) -> None:
    slow = Paused(MapDraft(title="a", id="a"), MapDraft(title="b", id="b"))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(store.put_maps, slow)
        assert slow.reached.wait(PATIENCE)
        terminate_all(url)
        slow.over.set()
        with pytest.raises(StoreUnavailable):
            writing.result()
    assert store.maps(0, ALL) == []
    assert store.put_maps([MapDraft(title="a", id="a")]) == [Outcome(Verdict.ADDED, "a")]


def test_a_node_that_hangs_in_a_write_does_not_block_others_forever(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_link.SETTINGS, "idle_in_transaction_session_timeout", "300ms")
    hanging = open_store(url)
    slow = Paused(MapDraft(title="a"), MapDraft(title="b"))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(hanging.put_maps, slow)
        assert slow.reached.wait(PATIENCE)
        assert store.put_maps([MapDraft(title="other")])[0].verdict is Verdict.ADDED
        slow.over.set()
        with pytest.raises(StoreUnavailable):
            writing.result()
    hanging.close()
    assert [one.title for one in store.maps(0, ALL)] == ["other"]


def test_a_write_that_waits_too_long_for_its_lock_is_unavailable(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connections, "WRITE_TIMEOUT", 0.3)
    store = open_store(url)
    with session(url) as connection, connection.transaction():
        connection.execute("SELECT 1 FROM sequence FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="timeout"):
            store.put_maps([MapDraft(title="t")])
        assert store.revision() == 0  # reads still work
    assert store.put_maps([MapDraft(title="t")])[0].verdict is Verdict.ADDED
    store.close()


def test_noting_the_use_of_tokens_does_not_wait_for_a_request_that_holds_one(
    url: str, store: PostgresStore
) -> None:
    """They lock rows in another order than requests, so waiting could be a deadlock."""
    held, free = (
        store.add_token("system", bytes([n]) * 32, label="", scopes="", expires=None)
        for n in (1, 2)
    )
    with session(url) as connection, connection.transaction():
        connection.execute("SELECT 1 FROM tokens WHERE id = %s FOR SHARE", (held.id,))
        store.touch_tokens({held.id: 5, free.id: 6})
    assert [one.last_used for one in store.tokens("system")] == [None, 6]


def test_a_missing_right_or_column_is_unavailable(
    url: str, postgres: Server, store: PostgresStore
) -> None:
    """The error names what is missing, for whoever reads the log."""
    store.put_maps([MapDraft(title="t")])
    with session(url) as connection:
        connection.execute("ALTER TABLE maps RENAME COLUMN title TO other")
        with pytest.raises(StoreUnavailable, match=r"lacks what this version needs: .*title"):
            store.maps(0, ALL)
        connection.execute("ALTER TABLE maps RENAME COLUMN other TO title")
    role = url.rpartition("/")[2] + "_limited"
    postgres.execute(f"CREATE ROLE {role} LOGIN")
    try:
        with session(url) as connection:
            connection.execute(f"GRANT USAGE ON SCHEMA mapshelf TO {role}")
            connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA mapshelf TO {role}")
            limited = open_store(url.replace("//postgres@", f"//{role}@"))
            assert len(limited.maps(0, ALL)) == 1
            connection.execute(f"REVOKE ALL ON maps FROM {role}")
            with pytest.raises(
                StoreUnavailable, match=r"lacks what this version needs: permission denied"
            ):
                limited.maps(0, ALL)
            connection.execute(f"REVOKE ALL ON SCHEMA mapshelf FROM {role}")
            with pytest.raises(
                StoreUnavailable, match=r"lacks what this version needs: .*does not exist"
            ):
                limited.maps(0, ALL)
            limited.close()
            connection.execute(f"DROP OWNED BY {role}")
    finally:
        postgres.execute(f"DROP ROLE {role}")


def test_a_read_only_server_is_unavailable_until_it_accepts_writes(
    store: PostgresStore, url: str, postgres: Server
) -> None:
    store.put_maps([MapDraft(title="t")])
    database = url.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    try:
        terminate_all(url)
        with pytest.raises(StoreUnavailable):
            store.put_maps([MapDraft(title="u")])
        assert len(store.maps(0, ALL)) == 1
    finally:
        postgres.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
    wait_until(lambda: succeeds(lambda: store.put_maps([MapDraft(title="u")])))


def succeeds(call: Callable[[], object]) -> bool:
    try:
        call()
    except StoreUnavailable:
        return False
    return True


def test_calls_beyond_the_queue_are_refused_at_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connections, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(postgres_connections, "MOST_WAITING", 2)
    store = open_store(url)
    slow = Paused(MapDraft(title="a"), MapDraft(title="b"))
    with ThreadPoolExecutor(8) as pool:
        writing = pool.submit(store.put_maps, slow)
        assert slow.reached.wait(PATIENCE)
        began = time.monotonic()
        more = [pool.submit(store.put_maps, [MapDraft(title="m")]) for _ in range(5)]
        errors = [one.exception() for one in more]
        assert time.monotonic() - began < PATIENCE
        assert [type(error) for error in errors] == [StoreUnavailable] * 5
        assert sum("too much waits" in str(error) for error in errors) == 3
        slow.over.set()
        writing.result()
    store.close()


def test_a_hanging_server_is_given_up_and_used_again_later() -> None:
    """The server's processes are stopped: it accepts connections, but does not respond."""
    with server() as own:
        url = own.url(own.new_database())
        store, fresh = open_store(url), open_store(url)
        store.put_maps([MapDraft(title="t")])
        store.revision()
        own.freeze()
        try:
            for call in (
                lambda: store.put_maps([MapDraft(title="u")]),
                store.revision,
                lambda: store.find_credentials([b"?"]),
                lambda: fresh.add_user("bob"),
            ):
                began = time.monotonic()
                with pytest.raises(StoreUnavailable):
                    call()
                assert time.monotonic() - began < PATIENCE
        finally:
            own.thaw()
        wait_until(lambda: succeeds(lambda: store.put_maps([MapDraft(title="u")])))
        wait_until(lambda: succeeds(store.revision))
        store.close()
        fresh.close()


def test_a_server_that_is_restarted_is_found_again() -> None:
    with server() as own:
        url = own.url(own.new_database())
        store = open_store(url)
        store.put_maps([MapDraft(title="t", id="t")])
        own.stop()
        with pytest.raises(StoreUnavailable):
            store.put_maps([MapDraft(title="u")])
        with pytest.raises(StoreUnavailable):
            store.maps(0, ALL)
        assert store.wait(1, 0.1)  # it does not know, so the caller must look
        own.start()
        wait_until(lambda: succeeds(lambda: store.put_maps([MapDraft(id="t", views=5)])))
        assert [one.views for one in store.maps(0, ALL)] == [5]
        store.close()


def test_tokens_are_looked_up_again_after_the_files_of_a_server_were_replaced() -> None:
    """Those that were made after the backup are gone, and nothing else may have changed."""
    with server() as own:
        store = open_store(own.url(own.new_database()))
        version = store.tokens_version()
        assert store.tokens_version() == version
        own.stop()  # an operator puts older files in place
        own.start()
        wait_until(lambda: succeeds(store.tokens_version))
        assert store.tokens_version() != version
        store.close()


def test_tokens_are_looked_up_again_although_the_server_refuses_writes(
    untouched: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be full. Workers share the version nevertheless, and do not wait for it each time."""
    store = open_store(untouched)
    version = store.tokens_version()
    name = untouched.rpartition("/")[2]
    with session(untouched) as connection:
        connection.execute("UPDATE token_mark SET run = 'before'")
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only TO on')
    terminate_all(untouched)
    wait_until(lambda: succeeds(store.tokens_version))
    monkeypatch.setattr(Connections, "writing", lambda _: pytest.fail("it tried again"))
    shared = SharedAnswer(store.tokens_version, 60.0, tmp_path / "note")
    answer = shared.current(60.0)
    assert answer.value != version
    assert shared.noted() == answer
    store.close()
    with session(untouched) as connection:
        connection.execute("SET default_transaction_read_only TO off")
        connection.execute(f'ALTER DATABASE "{name}" RESET ALL')
    terminate_all(untouched)


@pytest.mark.parametrize("table", ["token_mark", "tokens", "users"])
def test_tokens_are_looked_up_again_after_a_table_was_restored(untouched: str, table: str) -> None:
    with closing(open_store(untouched)) as store, session(untouched) as connection:
        version = store.tokens_version()  # then, as pg_restore --clean does:
        connection.execute(f"CREATE TABLE restored (LIKE {table} INCLUDING ALL)")
        connection.execute(f"INSERT INTO restored SELECT * FROM {table}")
        connection.execute(f"DROP TABLE {table} CASCADE")
        connection.execute(f"ALTER TABLE restored RENAME TO {table}")
        assert store.tokens_version() != version


def test_tokens_are_looked_up_again_after_they_were_truncated(
    store: PostgresStore, url: str
) -> None:
    store.add_user("ann")
    store.add_token("ann", b"a", label="", scopes="account", expires=None)
    version = store.tokens_version()
    with session(url) as connection:
        connection.execute("TRUNCATE tokens CASCADE")
    assert store.tokens_version() != version


# -- notifications ----------------------------------------------------------------------------


def listening(store: Store, revision: int) -> None:
    """Wait until the store listens, and has reported all changes."""
    wait_until(lambda: not store.wait(revision, 0.01))


def test_a_write_wakes_waiting_threads(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapshelf.store.postgres.listening.SILENCE", 10 * PATIENCE)
    writer = open_store(url)
    listening(store, 0)
    for number in range(1, 6):
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(store.wait, number - 1, PATIENCE)
            time.sleep(0.05)
            writer.put_maps([MapDraft(title="t")])
            assert waiting.result()
        assert store.revision() == number
        assert not store.wait(number, 0.01)
    writer.close()


def test_writes_without_effect_wake_nobody(store: PostgresStore) -> None:
    store.put_maps([MapDraft(title="t", id="t")])
    listening(store, 1)
    store.put_maps([MapDraft(title="t", id="t")])
    store.delete_maps(["unknown"])
    store.add_user("bob")
    assert not store.wait(1, 0.3)


def test_a_listener_reconnects_when_its_session_ends(store: PostgresStore, url: str) -> None:
    listening(store, 0)
    terminate_all(url)
    assert store.wait(0, 1)
    listening(store, 0)
    store.put_maps([MapDraft(title="t")])
    assert store.wait(0, 5)


def test_a_listener_notices_that_its_server_was_restored_to_an_earlier_moment(
    store: PostgresStore, url: str
) -> None:
    """What was announced before is more than the server has now."""
    store.put_maps([MapDraft(title="kept")])
    version = store.tokens_version()
    listening(store, 1)
    store.put_maps([MapDraft(id="lost", title="lost")])
    wait_until(lambda: store.wait(1, 0.1))
    with session(url) as connection:
        connection.execute("DELETE FROM maps WHERE id = 'lost'")
        connection.execute("UPDATE sequence SET revision = 1, history = 'before'")
    assert terminate_all(url)
    wait_until(lambda: store.wait(1, 0.1) and store.revision() > LEAP)
    assert [one.revision for one in store.changes(1, ALL)] == [store.revision()]
    assert store.tokens_version() != version


@pytest.mark.parametrize("written", ["a", "abc"])
def test_a_builder_notices_a_restored_backup_although_as_much_was_written_since(
    store: PostgresStore, url: str, tmp_path: Path, written: str
) -> None:
    directory = SnapshotDirectory(tmp_path)
    store.put_maps([MapDraft(id="kept", title="kept")])
    builder = Builder(store, directory)
    builder.advance()
    kept = store.revision()
    store.put_maps([MapDraft(id="lost", title="lost")])
    builder.advance()
    with session(url) as connection:
        connection.execute("DELETE FROM maps WHERE id = 'lost'")
        connection.execute(f"DELETE FROM marks WHERE revision > {kept}")
        connection.execute("ALTER TABLE sequence DISABLE TRIGGER sequence_mark")
        connection.execute(f"UPDATE sequence SET revision = {kept}")
        connection.execute("ALTER TABLE sequence ENABLE TRIGGER sequence_mark")
    for public_id in written:  # each is a transaction
        store.put_maps([MapDraft(id=public_id, title=public_id)])
    assert builder.advance()
    page = Snapshot(tmp_path / directory.current()).page(MapQuery(order="alpha"), b"")
    assert [one["ID"] for one in orjson.loads(page.body)] == [*written, "kept"]
    number = directory.current()
    store.put_maps([MapDraft(id="d", title="d")])
    assert builder.advance()
    assert len(Snapshot(tmp_path / directory.current())) == len(written) + 2
    assert directory.current() > number
    builder.close()


@pytest.mark.parametrize("ahead", [1, 1 << 50])
@pytest.mark.parametrize("way", ["found", "outline", "revision"])
def test_a_primary_that_has_just_taken_over_skips_what_it_lacks(
    store: PostgresStore, ahead: int, way: str
) -> None:
    """What is read of it later must not be taken for older. Clocks may be wrong by decades."""
    (outcome,) = store.put_maps([MapDraft(title="t", outline=outline("t"))])
    known = store.revision() + ahead
    store.require_revision(known)
    for _ in range(2):
        if way == "found":
            assert store.find_map(outcome.id)
        elif way == "outline":
            assert store.outline(1)
        assert known < store.revision() == max(one.revision for one in store.changes(0, ALL))
    assert len({store.revision() for _ in range(3)}) == 1
    assert store.open_ids([outcome.id])
    assert store.takeovers() == 1


def test_many_changes_are_no_takeover(store: PostgresStore, url: str) -> None:
    (outcome,) = store.put_maps([MapDraft(title="t")])
    for _ in range(3):
        with session(url) as connection:
            connection.execute(f"UPDATE sequence SET revision = revision + {LEAP - 1}")
        assert store.open_ids([outcome.id])
    assert store.takeovers() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.revision(),
        lambda store: store.identity(),
        lambda store: store.find_map("a"),
        lambda store: store.outline(1),
        lambda store: store.put_maps([MapDraft(title="t")]),
        lambda store: store.tokens_version(),
    ],
)
def test_while_a_backup_is_restored_the_store_is_unavailable(
    store: PostgresStore, url: str, call: Callable[[PostgresStore], object]
) -> None:
    """``pg_restore`` makes the tables first, and then fills one after another."""
    with session(url) as connection:
        for table in ("sequence", "token_mark"):
            connection.execute(f"CREATE TEMPORARY TABLE kept_{table} AS SELECT * FROM {table}")
            connection.execute(f"DELETE FROM {table}")
        assert store.wait(1, 0.1)
        with pytest.raises(StoreUnavailable):
            call(store)
        for table in ("sequence", "token_mark"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM kept_{table}")
    call(store)


def test_a_silent_listener_still_checks_for_changes(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapshelf.store.postgres.listening.SILENCE", 0.2)
    listening(store, 0)
    began = time.monotonic()
    wait_until(lambda: store.wait(0, 0.05))
    assert time.monotonic() - began > 0.1


def test_waiting_on_a_closed_store_ends(store: PostgresStore) -> None:
    listening(store, 0)
    store.close()
    assert store.wait(0, 0.1)
    with pytest.raises(StoreUnavailable):
        store.revision()


# -- large batches ----------------------------------------------------------------------------


def test_slow_reads_of_changes_use_smaller_batches(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_maps([MapDraft(title="t", outline=outline(str(n))) for n in range(40)])
    asked = []
    rows = postgres_link.Link.rows

    def slow(link: postgres_link.Link, sql: str, parameters: Any = ()) -> Any:
        if "WITH news" in sql:
            asked.append(parameters[2])
            if parameters[2] > 10:
                link.execute("SET statement_timeout = 1500")
                link.execute("SELECT pg_sleep(3)")
        return rows(link, sql, parameters)

    monkeypatch.setattr("mapshelf.store.postgres.change_feed.READ_TIMEOUT", 1.0)
    monkeypatch.setattr(postgres_link.Link, "rows", slow)
    assert len(store.changes(0, 40)) == 10
    assert asked == [40, 10]


def test_batches_of_a_thousand_take_few_statements(store: PostgresStore, url: str) -> None:
    """Over a network, round trips must not dominate the time of an import."""
    sent = []
    execute = postgres_link.Link.execute

    def counted(link: Any, sql: Any, *rest: Any, **more: Any) -> Any:
        sent.append(sql)
        return execute(link, sql, *rest, **more)

    drafts = [
        MapDraft(title=f"t{n}", owner="o", outline=outline(str(n)), source=source(f"{n}.mm"))
        for n in range(1000)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_link.Link, "execute", counted)
        assert len(store.put_maps(drafts)) == 1000
        first, sent[:] = len(sent), []
        assert {one.verdict for one in store.put_maps(drafts)} == {Verdict.UNCHANGED}
    assert first < 30
    assert len(sent) < 30


def test_unknown_tokens_differ_from_an_unreachable_store(store: PostgresStore) -> None:
    with pytest.raises(NotFound):
        store.revoke_token(99)
    store.close()
    with pytest.raises(StoreUnavailable):
        store.revoke_token(99)
