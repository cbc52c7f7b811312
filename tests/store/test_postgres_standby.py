"""A primary and its standby: which reads go to which server, and what a failover changes."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import psycopg
import pytest
from psycopg_pool import TooManyRequests

from mapshelf import clock
from mapshelf.errors import HistoryLost, StoreUnavailable
from mapshelf.model import (
    LARGEST_ID,
    SYSTEM_USER,
    CollectionDetails,
    MapDetails,
    MapDraft,
    PasswordRecord,
    Role,
    Verdict,
    Visibility,
)
from mapshelf.query import MapQuery
from mapshelf.settings import sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import Store, open_store
from mapshelf.store.postgres import connections
from mapshelf.store.postgres.connections import Connections
from mapshelf.store.postgres.link import Link
from mapshelf.store.transfer import transfer_catalogue
from tests.postgres import Server, both_urls, server, standby_of
from tests.store.drafts import outline

pytestmark = pytest.mark.postgres

ALL = 1_000_000
PATIENCE = 60.0


class Pair(NamedTuple):
    """Two servers, and the URL that names both."""

    primary: Server
    standby: Server
    url: str

    def pause(self) -> None:
        """Let the standby receive changes without showing them."""
        self.standby.execute("SELECT pg_wal_replay_pause()")
        wait_until(
            lambda: self.standby.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)]
        )

    def go_on(self) -> None:
        """Let the standby show everything that it has received."""
        self.standby.execute("SELECT pg_wal_replay_resume()")
        wait_until(self.is_level)

    def is_level(self) -> bool:
        ((there,),) = self.primary.execute("SELECT pg_current_wal_lsn()")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{there}'"
        return self.standby.execute(query) == [(True,)]


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby:
            pair = Pair(primary, standby, both_urls(primary, standby, name))
            open_store(pair.url).close()
            wait_until(pair.is_level)
            yield pair


@pytest.fixture
def store(pair: Pair) -> Iterator[Store]:
    store = open_store(pair.url)
    yield store
    store.close()
    pair.go_on()


@pytest.fixture
def elsewhere(pair: Pair) -> Iterator[Store]:
    """The store of another node, which writes."""
    store = open_store(pair.url)
    yield store
    store.close()


def put(store: Store, text: str) -> int:
    """Add a map; return the revision that shows it."""
    (outcome,) = store.put_maps([MapDraft(title=text, outline=outline(text))])
    assert outcome.verdict is Verdict.ADDED
    return max(found.file_id for found in store.maps(0, ALL))


def draft(text: str, visibility: Visibility, public_id: str | None = None) -> MapDraft:
    return MapDraft(id=public_id, title=text, outline=outline(text), visibility=visibility)


def sessions(one: Server, database: str) -> int:
    rows = one.execute(
        "SELECT count(*) FROM pg_stat_activity"
        f" WHERE datname = '{database}' AND application_name = 'mapshelf'"
    )
    return int(rows[0][0])


def test_the_feed_and_look_ups_are_read_from_the_standby(pair: Pair, store: Store) -> None:
    database = pair.url.rpartition("/")[2]
    put(store, "t")
    wait_until(pair.is_level)
    store.changes(0, 1)
    store.find_credentials([b"?"])
    store.outline(1)
    assert sessions(pair.standby, database) == 1
    assert sessions(pair.primary, database) >= 1


def test_a_standby_is_read_whatever_the_default_isolation(pair: Pair) -> None:
    database = pair.url.rpartition("/")[2]
    changed = f"ALTER DATABASE {database} SET default_transaction_isolation TO"
    pair.primary.execute(f"{changed} serializable")
    wait_until(pair.is_level)
    store = open_store(pair.url)
    store.changes(0, 1)
    assert sessions(pair.standby, database) == 1
    store.close()
    pair.primary.execute(f"{changed} DEFAULT")


def test_the_clock_of_a_primary_counts(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: right() + 90_000 * 10**9)
    monkeypatch.setattr(clock, "_followed", clock.Followed())
    with closing(open_store(pair.url)) as store:
        store.revision()
        store.links_from(1)
        assert clock.milliseconds() == pytest.approx(right() / 1e6, abs=5000)
        # As if the host of the primary had been set, and that of the standby had not.
        clock.follow(5_000_000, clock.steady())
        store.revision()  # from the standby
        assert clock.milliseconds() == pytest.approx(5000, abs=2000)
        store.links_from(1)  # from the primary
        assert clock.milliseconds() == pytest.approx(right() / 1e6, abs=5000)


def test_a_change_that_the_standby_does_not_show_is_read_from_the_primary(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    put(store, "before")
    wait_until(pair.is_level)
    before = store.revision()
    wait_until(lambda: not store.wait(before, 0.05))
    pair.pause()
    put(elsewhere, "unseen")
    assert store.wait(before, PATIENCE)
    wait_until(lambda: store.revision() == before + 1)
    (change,) = store.changes(before, ALL)
    assert change.map is not None
    assert change.map.title == "unseen"
    assert store.outline(change.file_id) == outline("unseen")


@pytest.mark.parametrize("way", ["found", "in the snapshot"])
def test_a_map_is_never_shown_as_it_was_while_it_was_private(
    pair: Pair, store: Store, elsewhere: Store, way: str
) -> None:
    """Its owner has replaced its content and published it, but the standby does not show that."""
    outcome = elsewhere.put_maps([draft("secret", Visibility.PRIVATE)])[0]
    wait_until(pair.is_level)
    found = store.find_map(outcome.id)
    assert found
    pair.pause()
    elsewhere.put_maps([draft("harmless", Visibility.PUBLISHED, outcome.id)])
    if way == "found":
        assert store.find_map(outcome.id)
    else:
        store.require_revision(elsewhere.revision())
    assert store.outline(found.file_id) == outline("harmless")
    assert store.open_ids([outcome.id]) == {outcome.id}


def test_a_map_that_was_hidden_is_not_open_because_a_standby_says_so(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    outcome = elsewhere.put_maps([draft("harmless", Visibility.PUBLISHED)])[0]
    wait_until(pair.is_level)
    found = store.find_map(outcome.id)
    assert found
    pair.pause()
    assert store.outline(found.file_id) == outline("harmless"), "read from the standby"
    assert store.open_ids([outcome.id]) == {outcome.id}
    elsewhere.put_maps([draft("secret", Visibility.PRIVATE, outcome.id)])
    elsewhere.put_maps([draft("another", Visibility.PUBLISHED)])
    (another,) = (one for one in store.maps(0, ALL) if one.title == "another")
    assert store.outline(another.file_id) == outline("another"), "read from the primary"
    assert store.open_ids([outcome.id]) == frozenset()


def test_a_map_that_was_hidden_stays_so_while_the_primary_is_away(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    """This node has seen that it was hidden, but the standby has not."""
    outcome = elsewhere.put_maps([draft("shown", Visibility.PUBLISHED)])[0]
    wait_until(pair.is_level)
    revision = store.revision()
    pair.pause()
    elsewhere.put_maps([draft("hidden", Visibility.PRIVATE, outcome.id)])
    assert store.withdrawn(revision, ALL)
    pair.primary.freeze()
    try:
        for call in (store.find_map, lambda one: store.open_ids([one])):
            with pytest.raises(StoreUnavailable):
                call(outcome.id)
    finally:
        pair.primary.thaw()
    wait_until(lambda: not raises(store.tokens_version))


def test_nothing_older_is_read_than_the_changes_that_were_read(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    outcome = elsewhere.put_maps([draft("to be hidden", Visibility.PUBLISHED)])[0]
    wait_until(pair.is_level)
    pair.pause()
    before = elsewhere.revision()
    elsewhere.put_maps([draft("to be hidden", Visibility.PRIVATE, outcome.id)])
    assert store.revision() == before + 1
    assert [one.map for one in store.changes(before, ALL)] == [None]
    pair.primary.freeze()
    try:
        with pytest.raises(StoreUnavailable):
            store.find_map(outcome.id or "")
    finally:
        pair.primary.thaw()
    wait_until(lambda: not raises(store.tokens_version))


def test_collections_and_saved_searches_are_not_shown_while_the_primary_is_away(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    """Whether a standby has their newest state, only the primary could tell."""
    owner = elsewhere.add_user("owner")
    details = CollectionDetails(title="Shown", visibility=Visibility.PUBLISHED)
    found = elsewhere.add_collection(owner.id, details, [])
    saved = elsewhere.save_search(owner.id, "Saved", "query=a")
    wait_until(pair.is_level)
    store.revision()  # from the standby, whose connection is kept
    pair.primary.freeze()
    try:
        calls: list[Callable[[], object]] = [
            lambda: store.find_collection(found.id),
            store.pinned_collections,
            lambda: store.find_saved_search(saved.id),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailable):
                call()
    finally:
        pair.primary.thaw()
    wait_until(lambda: not raises(store.tokens_version))


def test_a_node_learns_from_a_standby_what_was_hidden_while_the_primary_is_away(
    pair: Pair, store: Store, elsewhere: Store, tmp_path: Path
) -> None:
    outcome = elsewhere.put_maps([draft("hidden soon", Visibility.PUBLISHED)])[0]
    wait_until(pair.is_level)
    builder = Builder(store, SnapshotDirectory(tmp_path))
    builder.advance()
    elsewhere.put_maps([draft("hidden now", Visibility.PRIVATE, outcome.id)])
    wait_until(pair.is_level)
    pair.primary.freeze()
    try:
        assert [public_id for *_, public_id in store.withdrawn(builder.revision, ALL)] == [
            outcome.id
        ]
        assert builder.advance()
        snapshot = Snapshot(tmp_path / SnapshotDirectory(tmp_path).current())
        assert snapshot.find(outcome.id or "", b"") is None
    finally:
        pair.primary.thaw()
        builder.close()
    wait_until(lambda: not raises(store.tokens_version))


def test_pages_do_not_wait_again_and_again_for_a_primary_that_is_away(
    pair: Pair, store: Store, elsewhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The standby has what is read, or it is known that there is nothing."""
    file_id = put(elsewhere, "without pictures")
    wait_until(pair.is_level)
    categories = store.categories()
    store.revision()  # from the standby, whose connection is kept
    reads = Counter[str]()
    read = Connections.read

    def counted(connections: Connections, work: Callable[[Link], Any]) -> Any:
        reads["primary"] += 1
        return read(connections, work)

    monkeypatch.setattr(Connections, "read", counted)
    pair.primary.freeze()
    try:
        assert store.image_digests(file_id) == []
        assert store.kept_file(file_id) is None
        assert store.categories() == categories
        assert reads["primary"] == 1
    finally:
        pair.primary.thaw()
    wait_until(lambda: not raises(store.tokens_version))
    assert store.categories() == categories
    assert reads["primary"] == 2, "it is asked again at once"


def test_an_overloaded_process_does_not_take_the_primary_for_away(
    pair: Pair, store: Store, elsewhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_until(pair.is_level)
    pair.pause()
    outcome = elsewhere.put_maps([draft("new", Visibility.PUBLISHED)])[0]

    def full(*_: object, **__: object) -> object:
        raise TooManyRequests

    with monkeypatch.context() as patched:
        patched.setattr(connections.Pool, "link", full)
        with pytest.raises(StoreUnavailable):
            store.tokens_version()
    assert store.find_map(outcome.id)


def test_nothing_older_is_read_while_the_primary_is_away(pair: Pair, store: Store) -> None:
    put(store, "alone")
    wait_until(pair.is_level)
    with closing(open_store(pair.standby.url(pair.url.rpartition("/")[2]))) as alone:
        (found,) = (one for one in store.maps(0, ALL) if one.title == "alone")
        assert alone.outline(found.file_id) == outline("alone")
        assert alone.find_map(found.id) == found
        alone.require_revision(store.revision() + 1)
        with pytest.raises(StoreUnavailable):
            alone.outline(found.file_id)
        with pytest.raises(StoreUnavailable):
            alone.find_map(found.id)


def test_a_catalogue_is_moved_however_far_the_standby_lags(
    pair: Pair, store: Store, tmp_path: Path
) -> None:
    put(store, "before")
    wait_until(pair.is_level)
    pair.pause()
    with closing(open_store(pair.url)) as source:
        put(store, "unseen")
        with closing(open_store(sqlite_url(tmp_path))) as target:
            transfer_catalogue(source, target, lambda _: None)
            assert "unseen" in {one.title for one in target.maps(0, ALL)}


def test_a_standby_that_lags_does_not_take_a_node_back(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    """A node that has seen a change must not get an older state."""
    pair.pause()
    put(store, "new")
    newest = elsewhere.revision()  # the first time, it asks the primary
    assert newest == store.revision() == elsewhere.revision()
    assert elsewhere.changes(newest, ALL) == []
    assert [change.revision for change in elsewhere.changes(newest - 1, ALL)] == [newest]


def test_a_standby_without_the_newest_withdrawal_does_not_take_a_node_back(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    """It looked as if the store had lost a change, so the builder began again, with the map."""
    put(store, "old")
    wait_until(pair.is_level)
    elsewhere.revision()
    pair.pause()
    before = store.revision()
    newest = store.maps(0, ALL)[-1]
    store.edit_map(newest.file_id, MapDetails(visibility=Visibility.PRIVATE))
    ((withdrawn, _, _),) = elsewhere.withdrawn(before, 9)
    assert elsewhere.revision() == withdrawn


def test_a_standby_without_the_catalogue_yet_is_skipped(pair: Pair) -> None:
    """The catalogue was just created on the primary, and a node asks the standby at once."""
    name = pair.primary.new_database()
    wait_until(pair.is_level)
    pair.pause()
    store = open_store(both_urls(pair.primary, pair.standby, name))
    try:
        put(store, "first")
        assert store.revision() > 0
        assert store.outline(1) == outline("first")
        assert [change.file_id for change in store.changes(0, ALL)] == [1]
    finally:
        store.close()
        pair.go_on()


def test_a_revoked_token_is_refused_however_far_the_standby_lags(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    digest = b"r" * 32
    token = elsewhere.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
    wait_until(pair.is_level)
    (found,) = store.find_credentials([digest]).values()
    assert found.token.revoked is None
    pair.pause()
    elsewhere.revoke_token(token.id)
    revoked = time.monotonic()

    def refused() -> bool:
        (credential,) = store.find_credentials([digest]).values()
        return credential.token.revoked is not None

    wait_until(refused)
    assert time.monotonic() - revoked < 10  # the standby would never report it
    elsewhere.add_token(SYSTEM_USER, b"n" * 32, label="", scopes="", expires=None)
    found_again = store.find_credentials([b"?" * 32, b"n" * 32, digest])
    assert set(found_again) == {b"n" * 32, digest}


def test_a_standby_with_the_current_tokens_version_may_accept_tokens(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    digest = b"b" * 32
    before = store.tokens_version()
    token = elsewhere.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
    wait_until(pair.is_level)
    pair.pause()
    elsewhere.revoke_token(token.id)
    after = store.tokens_version()
    assert after != before
    old, new = (store.find_credentials([digest], version)[digest] for version in (before, after))
    assert (old.token.revoked is None, new.token.revoked is None) == (True, False)


def test_lost_permissions_take_effect_however_far_the_standby_lags(
    pair: Pair, store: Store, elsewhere: Store
) -> None:
    """Each of these changes makes a new tokens version, which the standby does not have."""
    ann = elsewhere.add_user("ann", Role.ADMINISTRATOR)
    digest = b"s" * 32
    session = elsewhere.add_session(ann.id, digest, "", LARGEST_ID, None)
    wait_until(pair.is_level)
    assert store.find_credentials([digest], store.tokens_version())[digest].user == ann
    pair.pause()
    elsewhere.set_role("ann", Role.MEMBER)
    found = store.find_credentials([digest], store.tokens_version())
    assert found[digest].user.role is Role.MEMBER
    elsewhere.set_password(ann.id, "encoded", keep=session.id)
    assert digest in store.find_credentials([digest], store.tokens_version())
    assert store.password_of("ann") == PasswordRecord(found[digest].user, "encoded")
    elsewhere.end_session(ann.id, session.id)
    assert store.find_credentials([digest], store.tokens_version()) == {}


def test_a_standby_alone_cannot_accept_tokens(pair: Pair, store: Store) -> None:
    """Nobody knows how far behind the standby is. It still serves the feed."""
    put(store, "t")
    wait_until(pair.is_level)
    newest = store.revision()
    pair.primary.freeze()
    try:
        for call in (store.tokens_version, lambda: store.find_credentials([b"?"])):
            with pytest.raises(StoreUnavailable):
                call()
        assert store.revision() == newest
        assert store.changes(newest - 1, ALL)
        with pytest.raises(StoreUnavailable):
            store.put_maps([MapDraft(title="t")])
    finally:
        pair.primary.thaw()
    wait_until(lambda: not raises(store.tokens_version))


def test_a_primary_that_hung_for_long_is_used_again(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    """However many requests have waited for it in vain."""
    with closing(open_store(pair.url)) as store, ThreadPoolExecutor(40) as threads:
        pair.primary.freeze()
        try:
            for _ in range(2):
                assert all(threads.map(raises, [store.tokens_version] * 40))
            wait_until(lambda: "reconnection attempt" in caplog.text)  # and nothing tries again
        finally:
            pair.primary.thaw()
        wait_until(lambda: not raises(store.tokens_version))


def test_places_of_requests_that_waited_in_vain_are_given_up(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_ABANDONED", 40)
    with closing(open_store(pair.url)) as store, ThreadPoolExecutor(30) as threads:
        pair.primary.freeze()
        try:
            for _ in range(3):
                assert all(threads.map(raises, [store.tokens_version] * 30))
        finally:
            pair.primary.thaw()
        wait_until(lambda: not raises(store.tokens_version))
        assert not any(threads.map(raises, [store.tokens_version] * 30))


def raises(call: Callable[[], object]) -> bool:
    try:
        call()
    except StoreUnavailable:
        return True
    return False


def test_after_a_promotion_writes_go_to_the_new_primary() -> None:
    """The old primary is killed, and the node is not restarted."""
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby:
            url = both_urls(primary, standby, name)
            pair = Pair(primary, standby, url)
            store = open_store(url)
            put(store, "before")
            listening = store.revision()
            wait_until(lambda: not store.wait(listening, 0.05))
            wait_until(pair.is_level)
            primary.stop(signal.SIGQUIT)
            began = time.monotonic()
            with pytest.raises(StoreUnavailable):
                store.put_maps([MapDraft(title="lost")])
            assert time.monotonic() - began < 2
            assert store.revision() == listening
            standby.execute("SELECT pg_promote()")
            promoted = time.monotonic()
            wait_until(lambda: not raises(lambda: put(store, "after")))
            assert time.monotonic() - promoted < 10
            assert [found.title for found in store.maps(0, ALL)] == ["before", "after"]
            assert len(store.changes(listening, ALL)) == 1
            store.close()


@pytest.mark.parametrize("third", [False, True])
def test_a_node_is_told_of_changes_that_a_failover_lost(tmp_path: Path, third: bool) -> None:
    """The standby lacks the last two changes, and the new primary has others in their place.

    A third server may still show the former ones.
    """
    with ExitStack() as stack, server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby:
            url = both_urls(primary, standby, name)
            pair = Pair(primary, standby, url)
            if third:
                ahead = stack.enter_context(standby_of(primary))
                url = url.replace("@", f"@127.0.0.1:{ahead.port},")
            store = open_store(url)
            builder = Builder(store, SnapshotDirectory(tmp_path))
            put(store, "kept")
            wait_until(pair.is_level)
            standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
            standby.execute("SELECT pg_reload_conf()")
            followers = "SELECT count(*) FROM pg_stat_replication"
            wait_until(lambda: primary.execute(followers) == [(int(third),)])
            put(store, "lost")
            put(store, "lost too")
            if third:
                wait_until(Pair(primary, ahead, url).is_level)
            builder.advance()
            seen = builder.revision
            primary.stop(signal.SIGQUIT)
            standby.execute("SELECT pg_promote()")
            wait_until(lambda: not raises(lambda: put(store, "one")))
            put(store, "two")
            put(store, "three")
            store.wait(seen, PATIENCE)
            wait_until(lambda: store.revision() > seen)
            with pytest.raises(HistoryLost):
                store.changes(seen, ALL)
            assert store.changes(1, ALL)
            assert builder.advance()
            assert builder.revision == store.revision()
            page = Snapshot(tmp_path / SnapshotDirectory(tmp_path).current()).page(
                MapQuery(order="alpha"), b""
            )
            titles = [one["Title"] for one in orjson.loads(page.body)]
            assert titles == ["kept", "one", "three", "two"]
            put(store, "four")
            assert [change.revision for change in store.changes(builder.revision, ALL)] == [
                builder.revision + 1
            ]
            builder.close()
            store.close()


def test_servers_that_take_over_one_after_the_other_share_no_revisions(tmp_path: Path) -> None:
    """Neither standby has followed the other, and a node has seen the changes of the first."""
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as first, standby_of(primary) as second:
            url = both_urls(primary, first, name).replace("@", f"@127.0.0.1:{second.port},")
            pairs = [Pair(primary, one, url) for one in (first, second)]
            store = open_store(url)
            builder = Builder(store, SnapshotDirectory(tmp_path))
            put(store, "kept")
            wait_until(lambda: all(pair.is_level() for pair in pairs))
            primary.stop(signal.SIGQUIT)
            first.execute("SELECT pg_promote()")
            wait_until(lambda: not raises(lambda: put(store, "lost")))
            builder.advance()
            seen = builder.revision
            first.stop(signal.SIGQUIT)
            second.execute("SELECT pg_promote()")
            wait_until(lambda: not raises(lambda: put(store, "one")))
            put(store, "two")
            put(store, "three")
            with pytest.raises(HistoryLost):
                store.changes(seen, ALL)
            assert builder.advance()
            page = Snapshot(tmp_path / SnapshotDirectory(tmp_path).current()).page(
                MapQuery(order="alpha"), b""
            )
            titles = [one["Title"] for one in orjson.loads(page.body)]
            assert titles == ["kept", "one", "three", "two"]
            builder.close()
            store.close()


def test_a_node_is_told_of_lost_changes_although_nobody_writes(tmp_path: Path) -> None:
    """A third server still has them, and nobody has told it to follow the new primary."""
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby, standby_of(primary) as ahead:
            url = both_urls(primary, standby, name).replace("@", f"@127.0.0.1:{ahead.port},")
            store, worker = open_store(url), open_store(url)
            builder = Builder(store, SnapshotDirectory(tmp_path))
            put(store, "kept")
            wait_until(Pair(primary, standby, url).is_level)
            standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
            standby.execute("SELECT pg_reload_conf()")
            followers = "SELECT count(*) FROM pg_stat_replication"
            wait_until(lambda: primary.execute(followers) == [(1,)])
            lost = put(store, "lost")
            wait_until(Pair(primary, ahead, url).is_level)
            builder.advance()
            store.wait(builder.revision, 0.05)
            worker.require_revision(builder.revision)
            assert worker.outline(lost)
            primary.stop(signal.SIGQUIT)
            standby.execute("SELECT pg_promote()")

            def rebuilt() -> bool:
                store.wait(builder.revision, 0.2)
                with suppress(HistoryLost, StoreUnavailable):
                    builder.advance()
                shown = len(Snapshot(tmp_path / SnapshotDirectory(tmp_path).current()))
                return (shown, builder.revision) == (1, store.revision())

            wait_until(rebuilt)
            worker.require_revision(builder.revision)
            assert worker.outline(lost) is None
            before = store.revision()
            put(store, "after")
            assert [one.revision for one in store.changes(before, ALL)] == [before + 1]
            builder.close()
            store.close()
            worker.close()


def test_a_takeover_between_reading_a_map_and_asking_whether_it_is_open_is_noticed() -> None:
    """A third server has what was uploaded while the map was private, which the new one lacks."""
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby, standby_of(primary) as ahead:
            url = both_urls(primary, standby, name).replace("@", f"@127.0.0.1:{ahead.port},")
            store, worker = open_store(url), open_store(url)
            (outcome,) = store.put_maps([draft("harmless", Visibility.PUBLISHED)])
            (found,) = store.maps(0, ALL)
            wait_until(Pair(primary, standby, url).is_level)
            assert worker.open_ids([outcome.id])
            standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
            standby.execute("SELECT pg_reload_conf()")
            followers = "SELECT count(*) FROM pg_stat_replication"
            wait_until(lambda: primary.execute(followers) == [(1,)])
            store.put_maps([draft("secret", Visibility.PRIVATE, outcome.id)])
            wait_until(Pair(primary, ahead, url).is_level)
            before = worker.takeovers()

            def read() -> bool:
                with suppress(StoreUnavailable):
                    return worker.outline(found.file_id) == outline("secret")
                return False

            wait_until(read)
            primary.stop(signal.SIGQUIT)
            standby.execute("SELECT pg_promote()")
            wait_until(lambda: not raises(lambda: worker.find_map(outcome.id)))
            assert worker.open_ids([outcome.id]), "the new server lacks that it became private"
            assert worker.takeovers() > before
            before = worker.takeovers()
            assert worker.outline(found.file_id) == outline("harmless")
            assert worker.takeovers() == before
            store.close()
            worker.close()


@pytest.mark.parametrize("has_maps", [False, True])
def test_tokens_are_looked_up_again_after_a_failover(has_maps: bool) -> None:
    """The new primary may lack tokens that nodes know."""
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby:
            url = both_urls(primary, standby, name)
            store = open_store(url)
            if has_maps:
                put(store, "kept")
            version = store.tokens_version()
            store.wait(0, 0.05)
            wait_until(Pair(primary, standby, url).is_level)
            primary.stop(signal.SIGQUIT)
            standby.execute("SELECT pg_promote()")

            def changed() -> bool:
                store.wait(store.revision(), 0.2)
                with suppress(StoreUnavailable):
                    return store.tokens_version() != version
                return False

            wait_until(changed)
            store.close()


def test_a_standby_is_not_asked_for_tokens_that_a_restored_primary_lacks() -> None:
    with server() as primary:
        name = primary.new_database()
        with standby_of(primary) as standby:
            pair = Pair(primary, standby, both_urls(primary, standby, name))
            with closing(open_store(pair.url)) as store:
                digest = b"l" * 32
                store.tokens_version()
                store.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
                wait_until(pair.is_level)
                assert digest in store.find_credentials([digest], store.tokens_version())
                pair.pause()
                with psycopg.connect(primary.url(name), autocommit=True) as connection:
                    # Without triggers, as in a backup from before.
                    connection.execute("SET session_replication_role = replica")
                    connection.execute("DELETE FROM mapshelf.tokens")
                primary.stop()  # to put the files of the backup in place
                primary.start()
                wait_until(lambda: not raises(store.tokens_version))
                assert not store.find_credentials([digest], store.tokens_version())
