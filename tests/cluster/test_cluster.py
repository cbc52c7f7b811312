"""The behaviour in failures that ``docs/scaling.md`` promises, on real servers and nodes.

Clients read from two nodes with a primary and a standby at 300 requests a second, and skip a node
that fails. Times are printed, not asserted, because they depend on the machine: a test fails only
if something hangs. ``MAPSHELF_CLUSTER_MAPS`` sets the number of maps; the figures in the document
are for 100,000.
"""

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.transfer import differences, export_digest, transfer_catalogue
from tests.cluster.cluster import (
    MAPS,
    RATE,
    USER,
    Cluster,
    Node,
    drafts,
    reads,
    say,
    seconds,
    show,
    token_of,
    until,
)
from tests.cluster.load import Load

pytestmark = pytest.mark.cluster

KILLS: Final = 3
TOKENS: Final = 20
WINDOW: Final = 20
"""Seconds for which statements are counted, with requests and without. Some are sent every two or
four seconds: in a shorter time, one more or less would count too much."""

HANGS: Final = 60.0
"""Seconds after which what should take a few is taken to hang."""

STATEMENT: Final = re.compile(r"mapshelf LOG:  (statement|execute [^:]+): ")


@contextmanager
def reading(cluster: Cluster, what: str) -> Iterator[Load]:
    """Read from both nodes in this context; no read may fail."""
    until(lambda: all(node.ask("/maps?limit=0", cluster.token)[0] == 200 for node in cluster.nodes))
    with cluster.load() as load:
        time.sleep(1)
        load.take()
        yield load
        time.sleep(1)
    tally = load.take()
    say(what, reads(tally))
    assert tally.failed == []
    assert tally.asked > RATE


def refused_after(call: Callable[[], object]) -> float:
    """Make a call that must fail as unavailable; return how many seconds it took."""
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        call()
    return time.monotonic() - began


def succeeds(call: Callable[[], object]) -> bool:
    try:
        call()
    except StoreUnavailable:
        return False
    return True


def write(store: Store) -> int:
    """Write a map; return the revision that shows it."""
    store.put_maps([MapDraft(title=f"Written at {time.time()}")])
    return store.revision()


def test_requests_cost_the_database_next_to_nothing(cluster: Cluster, store: Store) -> None:
    cluster.level()
    tokens = [cluster.token, *(token_of(store) for _ in range(TOKENS - 1))]
    with cluster.load(tokens) as load:
        time.sleep(3)
        load.take()
        with statements(cluster) as asked:
            time.sleep(WINDOW)
        tally = load.take()
    with statements(cluster) as idle:
        time.sleep(WINDOW)
    # Statements that a node sends without any request do not count.
    share = 100 * (len(asked) - len(idle)) / tally.asked
    say(
        f"statements at {RATE} requests a second with {TOKENS} tokens",
        f"{len(asked)} in {WINDOW} s, for {tally.asked} requests",
        f"{len(idle)} in {WINDOW} s without any: {share:.2f} more per hundred requests",
    )
    for what, count in Counter(line.partition("FROM ")[2].split(" ")[0] for line in asked).items():
        say(f"  of which from {what.strip() or 'nothing'}", str(count))
    assert tally.failed == []
    assert share < 1


@contextmanager
def statements(cluster: Cluster) -> Iterator[list[str]]:
    """Collect the statements that the nodes send to any server in this context."""
    servers = (cluster.primary, cluster.standby)
    for one in servers:
        one.execute("ALTER SYSTEM SET log_line_prefix = '%a '")
        one.execute("ALTER SYSTEM SET log_statement = 'all'")
        one.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    begun = [one.log.stat().st_size for one in servers]
    found: list[str] = []
    yield found
    for one, size in zip(servers, begun, strict=True):
        with one.log.open(encoding="utf-8") as log:
            log.seek(size)
            found += [line for line in log if STATEMENT.match(line)]
        one.execute("ALTER SYSTEM RESET log_statement")
        one.execute("SELECT pg_reload_conf()")


def test_a_change_shows_on_both_nodes(cluster: Cluster, store: Store) -> None:
    took = []
    for _ in range(10):
        newest = write(store)
        took.append(until(partial(show, cluster, newest)))
    say("a written map shows on both nodes after", f"at most {seconds(max(took))}")


def refuses(node: Node, secret: str) -> bool:
    return node.ask("/maps", secret)[0] == 401


def test_killing_the_standby(cluster: Cluster, store: Store) -> None:
    with reading(cluster, "standby killed"):
        cluster.standby.stop(signal.SIGQUIT)
        time.sleep(3)
        newest = write(store)
        took = until(lambda: show(cluster, newest))
    say("standby away: a written map shows after", seconds(took))
    cluster.standby.start()
    cluster.level()


def test_pausing_the_replay_of_the_standby(cluster: Cluster, store: Store) -> None:
    secrets = [token_of(store) for _ in range(8)]
    rows = store.tokens(USER)[-len(secrets) :]
    cluster.level()
    took = []
    with reading(cluster, "replay paused on the standby"):
        cluster.standby.execute("SELECT pg_wal_replay_pause()")
        time.sleep(1)
        for secret, row in zip(secrets, rows, strict=True):
            assert {node.ask("/maps", secret)[0] for node in cluster.nodes} == {200}
            store.revoke_token(row.id)
            revoked = time.monotonic()
            for node in cluster.nodes:
                until(partial(refuses, node, secret))
            took.append(time.monotonic() - revoked)
        newest = write(store)
        lag = until(lambda: show(cluster, newest))
    cluster.standby.execute("SELECT pg_wal_replay_resume()")
    cluster.level()
    say(
        "replay paused",
        f"a revoked token is refused on both nodes after at most {seconds(max(took))}",
        f"a written map shows after {seconds(lag)}",
    )
    assert max(took) < HANGS


def test_a_hanging_database(cluster: Cluster, store: Store) -> None:
    write(store)
    with reading(cluster, "primary stopped (SIGSTOP) for 8 s"):
        cluster.primary.freeze()
        frozen = time.monotonic()
        try:
            refused = refused_after(lambda: write(store))
            time.sleep(max(0.0, 8 - (time.monotonic() - frozen)))
        finally:
            cluster.primary.thaw()
        thawed = time.monotonic()
        until(lambda: succeeds(lambda: write(store)))
        recovered = time.monotonic() - thawed
        newest = store.revision()
        until(lambda: show(cluster, newest))
        caught_up = time.monotonic() - thawed
    say(
        "primary stopped",
        f"a write is refused after {seconds(refused)}",
        f"writes work {seconds(recovered)} after it goes on",
        f"the nodes show them {seconds(caught_up)} after",
    )
    assert refused < HANGS
    assert recovered < HANGS


def test_killing_the_primary(cluster: Cluster, store: Store) -> None:
    write(store)
    cluster.level()
    with reading(cluster, "primary killed, standby promoted"):
        cluster.primary.stop(signal.SIGQUIT)
        refused = max(refused_after(lambda: write(store)) for _ in range(2))
        time.sleep(1)
        promoted = time.monotonic()
        cluster.standby.execute("SELECT pg_promote()")
        until(lambda: succeeds(lambda: write(store)))
        working = time.monotonic() - promoted
        newest = store.revision()
        until(lambda: show(cluster, newest))
        caught_up = time.monotonic() - promoted
    cluster.replace_primary()
    say(
        "primary killed",
        f"a write is refused after {seconds(refused)}",
        f"writes work {seconds(working)} after the promotion",
        f"the nodes show them {seconds(caught_up)} after",
    )
    assert refused < HANGS
    assert working < HANGS


def test_killing_a_node(cluster: Cluster, store: Store) -> None:
    node = cluster.nodes[0]
    answered, caught_up = [], []
    with reading(cluster, f"node killed {KILLS} times"):
        for number in range(KILLS):
            node.kill()
            for some in drafts(1000, first=10_000_000 + 1000 * number):
                store.put_maps(some)
            newest = store.revision()
            time.sleep(1)
            node.start()
            began = time.monotonic()
            until(lambda: node.ask("/maps?limit=1", cluster.token)[0] == 200)
            answered.append(time.monotonic() - began)
            until(lambda newest=newest: node.shows(newest))  # type: ignore[misc]
            caught_up.append(time.monotonic() - began)
    say(
        f"node killed and started again ({MAPS} maps, 1000 new)",
        f"answers after {', '.join(map(seconds, answered))}",
        f"caught up after {', '.join(map(seconds, caught_up))}",
    )
    assert max(answered) < HANGS
    assert max(caught_up) < HANGS


def test_moving_there_and_back(cluster: Cluster, tmp_path: Path) -> None:
    there_url = cluster.primary.url(cluster.primary.new_database())
    with (
        opened(sqlite_url(tmp_path / "a")) as origin,
        opened(sqlite_url(tmp_path / "b")) as back,
        opened(there_url) as there,
    ):
        for some in drafts(MAPS):
            origin.put_maps(some)
        took = []
        for source, target in ((origin, there), (there, back)):
            began = time.monotonic()
            transfer_catalogue(source, target, lambda _: None)
            took.append(seconds(time.monotonic() - began))
        assert export_digest(origin) == export_digest(back)
        assert list(differences(origin, back)) == []
    say(f"{MAPS} maps moved to PostgreSQL and back", *took, "exports equal byte by byte")


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()
