"""Several threads, stores and processes use one database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mapshelf.model import (
    SYSTEM_USER,
    MapDraft,
)
from mapshelf.store import Store
from tests.store.child import run_writers
from tests.store.contract.suite import (
    ADDED,
    ALL,
    CHANGED,
    Open,
    Suite,
    put,
    title,
    verdicts,
)


class ConcurrencyContract(Suite):
    """Concurrent reads and writes."""

    def test_threads_share_a_store(self, store: Store) -> None:
        stop = threading.Event()

        def write(worker: int) -> None:
            for n in range(20):
                name = f"{worker}x{n}"
                outcomes = store.put_maps([title(name, id=name), title(f"{name}b", owner="all")])
                assert verdicts(outcomes) == [ADDED, ADDED]
                store.add_token("all", name.ljust(32).encode(), label="", scopes="", expires=None)

        def follow() -> int:
            revision = seen = 0
            while not stop.is_set():
                changes = store.changes(revision, 10)
                # Maps are only added here: the feed must return each exactly once.
                assert [c.revision for c in changes] == list(
                    range(revision + 1, revision + 1 + len(changes))
                )
                seen += len(changes)
                revision = changes[-1].revision if changes else revision
                store.find_credentials([b"?" * 32])
            return revision

        with ThreadPoolExecutor(6) as pool:
            followers = [pool.submit(follow) for _ in range(2)]
            for written in [pool.submit(write, worker) for worker in range(4)]:
                written.result()
            stop.set()
            assert all(follower.result() <= 160 for follower in followers)
        assert len({found.file_id for found in store.maps(0, ALL)}) == 160
        assert store.revision() == 160
        assert len(store.tokens("ALL")) == 80
        assert [user.name for user in store.users()] == [SYSTEM_USER, "all"]
        assert store.check() == []

    def test_stores_of_one_database_see_each_others_writes(
        self, store: Store, reopen: Open
    ) -> None:
        other = reopen()
        for n in range(10):
            writer, reader = (store, other) if n % 2 else (other, store)
            found = put(writer, title(str(n), owner=f"owner {n}", software=f"program {n}"))
            assert reader.revision() == writer.revision()
            assert reader.changes(reader.revision() - 1, ALL)[0].map == found
            (outcome,) = reader.put_maps([MapDraft(id=found.id, views=1)])
            assert outcome.verdict is CHANGED
        assert [found.file_id for found in store.maps(0, ALL)] == list(range(1, 11))
        assert store.maps(0, ALL) == other.maps(0, ALL)

    def test_several_processes_may_open_a_new_database_at_once(self, reopen: Open) -> None:
        start = threading.Barrier(4)

        def first() -> Store:
            start.wait()
            return reopen()

        with ThreadPoolExecutor(4) as pool:
            stores = [job.result() for job in [pool.submit(first) for _ in range(4)]]
        for store in stores:
            assert [user.name for user in store.users()] == [SYSTEM_USER]
            assert store.check() == []

    @pytest.mark.process
    def test_two_processes_write_while_a_third_follows(self, url: str, store: Store) -> None:
        """After a change is visible, no change with a lower revision may appear."""
        revision, mirror = 0, {}
        for _ in run_writers(url, seeds=(1, 2), batches=25):
            changes = store.changes(revision, 7)
            assert [c.revision for c in changes] == sorted({c.revision for c in changes})
            for change in changes:
                assert change.revision > revision
                revision = change.revision
                mirror[change.file_id] = change.map
        while changes := store.changes(revision, ALL):
            revision = changes[-1].revision
            mirror.update({change.file_id: change.map for change in changes})
        found = [mirror[file_id] for file_id in sorted(mirror) if mirror[file_id]]
        assert found == store.maps(0, ALL)
        assert len(found) > 20
        assert store.check() == []

    def test_a_batch_is_seen_whole_or_not_at_all(self, store: Store, reopen: Open) -> None:
        reader = reopen()
        done = threading.Event()

        def write() -> None:
            for n in range(1, 60):
                store.put_maps([title("t", id=f"m{i}", views=n) for i in range(5)])
            done.set()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            while not done.is_set() and not writing.done():
                views = {found.views for found in reader.maps(0, ALL)}
                assert len(views) <= 1
            writing.result()

    def test_a_write_that_fails_midway_leaves_nothing(self, store: Store) -> None:
        """A store that fails in the middle of a batch must not keep the first half."""
        before = put(store, title("t", id="a"))
        unstorable: Any = object()
        with pytest.raises(Exception):  # noqa: B017, PT011 -- whatever the database's driver says
            store.put_maps(
                [
                    MapDraft(id="a", views=5),
                    title("n", owner="new"),
                    title("x", copyright=unstorable),
                ]
            )
        assert store.maps(0, ALL) == [before]
        assert store.revision() == 1
        assert [user.name for user in store.users()] == [SYSTEM_USER]
        assert verdicts(store.put_maps([MapDraft(id="a", views=5)])) == [CHANGED]
