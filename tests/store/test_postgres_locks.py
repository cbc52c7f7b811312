"""The order in which the PostgreSQL store locks maps, which prevents deadlocks.

A session of the test holds the map with the lowest id. Whoever locks maps in the order of their ids
waits for it before locking any other map, in whatever order the caller names them.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import psycopg
import pytest

from mapshelf.errors import NotFound
from mapshelf.model import (
    LARGEST_ID,
    CollectionDetails,
    DecisionKind,
    LinkKind,
    MapDraft,
    MapsOfClosedAccount,
    Reason,
    ReparsedMap,
    Role,
    Verdict,
    Visibility,
)
from mapshelf.store.postgres.postgres_store import PostgresStore
from tests.store.drafts import outline, source

pytestmark = pytest.mark.postgres

PATIENCE: Final = 60.0
SOURCES: Final = (source("a.mm"), source("b.mm"), source("c.mm"))
"""The files of the three maps, which have the ids 1 to 3 and the names a, b and c."""

WAITING: Final = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def url(new_catalogue: Callable[[int], str]) -> str:
    return new_catalogue(0)


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(url)
    outcomes = store.put_maps(
        [
            MapDraft(
                id=name, file_id=number, title=name, source=one, owner="bob", outline=outline(name)
            )
            for number, (name, one) in enumerate(zip("abc", SOURCES, strict=True), 1)
        ]
    )
    assert [one.verdict for one in outcomes] == [Verdict.ADDED] * 3
    yield store
    store.close()


@pytest.fixture
def collection(store: PostgresStore) -> str:
    """The id of a collection of b and c."""
    ann = store.add_user("ann")
    return store.add_collection(ann.id, CollectionDetails(title="Java"), [2, 3]).id


@contextmanager
def transaction(url: str) -> "Iterator[psycopg.Connection[Any]]":
    """Yield a session with an open transaction, which ends without changing anything."""
    with psycopg.connect(url, options="-c search_path=mapshelf") as connection:
        yield connection
        connection.rollback()


def waits(url: str, work: "Future[Any]") -> None:
    """Return when a session waits for a lock."""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as connection:
        while not connection.execute(WAITING).fetchall():
            assert not work.done(), work.result()
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)


def waits_twice(url: str, work: "Future[Any]") -> None:
    """Return when two sessions wait for locks, or when the work is done without waiting."""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as connection:
        while len(connection.execute(WAITING).fetchall()) < 2 and not work.done():
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)


def unlocked(url: str, query: str) -> list[Any]:
    """Return the rows of a query that nobody has locked."""
    with transaction(url) as connection:
        rows = connection.execute(f"{query} FOR UPDATE SKIP LOCKED").fetchall()
        return sorted(row[0] for row in rows)


def outdate(url: str) -> None:
    """Store files of all maps, and note that they must be read again."""
    with psycopg.connect(url, options="-c search_path=mapshelf") as connection:
        connection.execute("INSERT INTO files SELECT file_id, 'd', '' FROM maps")
        connection.execute("INSERT INTO outdated SELECT file_id FROM maps ON CONFLICT DO NOTHING")


WRITERS: Final[dict[str, Callable[[PostgresStore], object]]] = {
    "records": lambda store: store.put_maps([MapDraft(id=name, views=5) for name in "cba"]),
    "deletions": lambda store: store.delete_maps("cba"),
    "missing files": lambda store: store.remove_sources([one.path for one in reversed(SOURCES)]),
    "outlines": lambda store: store.replace_outlines(
        [ReparsedMap(number, b"d", outline("new")) for number in (3, 2, 1)]
    ),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_writers_lock_maps_in_the_order_of_their_ids(
    store: PostgresStore, url: str, kind: str
) -> None:
    outdate(url)
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM maps WHERE file_id = 1 FOR KEY SHARE")
            writing = pool.submit(WRITERS[kind], store)
            waits(url, writing)
            assert unlocked(url, "SELECT file_id FROM maps") == [2, 3]
        assert writing.result()


CHANGES: Final[dict[str, Callable[[PostgresStore, str], object]]] = {
    "arranging": lambda store, collection: store.arrange(collection, [3, 2, 1]),
    "adding": lambda store, collection: store.collect(collection, [1]),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_of_collections_lock_maps_in_the_order_of_their_ids(
    store: PostgresStore, url: str, collection: str, kind: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM maps WHERE file_id = 1 FOR UPDATE")
            changing = pool.submit(CHANGES[kind], store, collection)
            waits(url, changing)
            assert unlocked(url, "SELECT file_id FROM maps") == [2, 3]
            assert unlocked(url, "SELECT file_id FROM collected_maps") == [2, 3]
        changing.result()
    assert len(store.collected_maps(collection)) == 3


ENDS: Final[dict[str, Callable[[PostgresStore, str], object]]] = {
    "emptying": lambda store, collection: store.take_out(collection, [3, 2]),
    "removing": lambda store, collection: store.remove_collection(collection),
}


@pytest.mark.parametrize("kind", ENDS)
def test_collections_lock_the_maps_that_they_lose_too(
    store: PostgresStore, url: str, collection: str, kind: str
) -> None:
    """Deleting the maps deletes the same rows, in another order."""
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM maps WHERE file_id = 2 FOR UPDATE")
            ending = pool.submit(ENDS[kind], store, collection)
            waits(url, ending)
            assert unlocked(url, "SELECT file_id FROM collected_maps") == [2, 3]
        ending.result()
    assert store.collected_maps(collection) == []


@pytest.mark.parametrize("kind", [LinkKind.PASSWORD, LinkKind.INVITATION])
def test_links_are_added_after_a_lock_of_their_users(
    store: PostgresStore, url: str, kind: LinkKind
) -> None:
    """Who ends the access of everybody locks users and then links, which may have expired."""
    ann = store.add_user("ann").id
    expired, added = b"1" * 32, b"2" * 32
    store.add_link(LinkKind.INVITATION, expired, None, 1, None)
    user = ann if kind is LinkKind.PASSWORD else None
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT id FROM users ORDER BY id FOR UPDATE")
            adding = pool.submit(store.add_link, kind, added, user, LARGEST_ID, ann)
            waits(url, adding)
            assert unlocked(url, "SELECT digest FROM one_time_links") == [expired]
        adding.result()
    assert unlocked(url, "SELECT digest FROM one_time_links") == [added]


def test_a_map_that_moves_to_its_copy_is_locked_first(store: PostgresStore, url: str) -> None:
    same = b"s" * 32
    moved, copy = source("moved/1.mm", digest=same), source("copy/1.mm", digest=same)
    for file, visibility in ((moved, Visibility.PRIVATE), (copy, None)):  # the copy inherits it
        draft = MapDraft(title="t", source=file, folder=b"/maps/", visibility=visibility)
        store.put_maps([draft])
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM maps WHERE file_id = 4 FOR KEY SHARE")
            adopting = pool.submit(store.adopt_copy, moved, [copy])
            waits(url, adopting)
            assert unlocked(url, "SELECT file_id FROM maps") == [1, 2, 3, 5]
        assert adopting.result() == copy


@pytest.mark.parametrize("table", ["sequence", "collections"])
def test_purging_decisions_waits_for_those_who_decide(
    store: PostgresStore, url: str, collection: str, table: str
) -> None:
    """Undoing a decision locks its reports first; deleting it, the decision."""
    bob = next(one for one in store.users() if one.name == "bob").id
    carl = store.add_user("carl", Role.ADMINISTRATOR).id
    store.report_map(1, carl, Reason.SPAM, "")
    store.decide(1, DecisionKind.DISMISS, carl)
    store.edit_collection(collection, CollectionDetails(visibility=Visibility.PUBLISHED))
    store.report_collection(collection, bob, Reason.SPAM, "")
    store.decide_about_collection(collection, DecisionKind.DISMISS, carl)
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute(f"SELECT 1 FROM {table} FOR UPDATE")
            purging = pool.submit(store.purge_decisions, LARGEST_ID)
            waits(url, purging)
            assert len(unlocked(url, "SELECT id FROM collection_decisions")) == 1
        assert purging.result() == 2


def test_undoing_a_hiding_publishes_nothing_that_its_owner_makes_private_meanwhile(
    store: PostgresStore, url: str, collection: str
) -> None:
    carl = store.add_user("carl", Role.ADMINISTRATOR).id
    store.edit_collection(collection, CollectionDetails(visibility=Visibility.PUBLISHED))
    hidden = store.decide_about_collection(collection, DecisionKind.HIDE, carl)
    with ThreadPoolExecutor(1) as pool:
        with psycopg.connect(url, options="-c search_path=mapshelf") as connection:
            connection.execute("SELECT 1 FROM collections FOR UPDATE")
            undoing = pool.submit(store.undo_collection_decision, hidden.id)
            waits(url, undoing)
            connection.execute("UPDATE collection_decisions SET visibility = 'private'")
        assert undoing.result().visibility is Visibility.PRIVATE


@contextmanager
def deleting(url: str, file_id: int) -> Iterator[None]:
    """Delete a map; the deletion is committed at the end."""
    with psycopg.connect(url, options="-c search_path=mapshelf") as connection:
        connection.execute("DELETE FROM maps WHERE file_id = %s", (file_id,))
        yield


def test_no_collection_gets_a_map_that_is_being_deleted(
    store: PostgresStore, url: str, collection: str
) -> None:
    with ThreadPoolExecutor(1) as pool, ExitStack() as until:
        until.enter_context(deleting(url, 1))
        changing = pool.submit(store.collect, collection, [1])
        waits(url, changing)
        until.close()
        with pytest.raises(NotFound):
            changing.result()
    assert [one.file_id for one in store.collected_maps(collection)] == [2, 3]


def test_a_collection_whose_map_is_being_deleted_keeps_the_others(
    store: PostgresStore, url: str, collection: str
) -> None:
    with ThreadPoolExecutor(1) as pool, ExitStack() as until:
        until.enter_context(deleting(url, 2))
        changing = pool.submit(store.arrange, collection, [3, 2, 1])
        waits(url, changing)
        until.close()
        changing.result()
    assert [one.file_id for one in store.collected_maps(collection)] == [3, 1]


def test_an_account_is_deleted_while_its_maps_are_collected(
    store: PostgresStore, url: str, collection: str
) -> None:
    """Each of its maps is deleted in the order of the ids, with its places in collections."""
    bob = next(one for one in store.users() if one.name == "bob")
    store.close_account(bob.id, MapsOfClosedAccount.REMOVE, None)
    with ThreadPoolExecutor(1) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM maps WHERE file_id = 1 FOR KEY SHARE")
            finishing = pool.submit(store.finish_closing)
            waits(url, finishing)
            assert unlocked(url, "SELECT file_id FROM maps") == [2, 3]
            assert unlocked(url, "SELECT file_id FROM collected_maps") == [2, 3]
        assert finishing.result()


@pytest.mark.parametrize("undoes", [False, True])
def test_disabling_by_name_stands_whatever_is_decided_at_the_same_moment(
    store: PostgresStore, url: str, undoes: bool
) -> None:
    """A decision that is made or undone waits for the reports of the map meanwhile."""
    administrator, reporter = store.add_user("eve").id, store.add_user("cat").id

    def decide() -> int:
        return store.decide(1, DecisionKind.DISABLE, administrator).id

    store.report_map(1, reporter, Reason.SPAM, "")
    earlier = decide()
    if not undoes:
        store.undo_decision(earlier)
    with ThreadPoolExecutor(2) as pool:
        with transaction(url) as held:
            held.execute("SELECT 1 FROM reports FOR UPDATE")
            deciding = pool.submit(lambda: store.undo_decision(earlier) if undoes else decide())
            waits(url, deciding)
            disabling = pool.submit(store.disable_user, "bob")
            waits_twice(url, disabling)
        decided = deciding.result()
        assert disabling.result().disabled
    if isinstance(decided, int):
        store.undo_decision(decided)
    assert [one.disabled for one in store.users() if one.name == "bob"] == [True]
