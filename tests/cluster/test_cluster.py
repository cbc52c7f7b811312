"""What ``docs/scaling.md`` promises of each failure, measured on real servers and nodes.

A primary, a standby and two nodes, read at 300 requests a second by clients that pass over a node
that fails. ``MAPSHELF_CLUSTER_MAPS`` tells how many maps there are, ``MAPSHELF_CLUSTER_ROUNDS``
how often two importing nodes are killed.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import orjson
import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import Map, MapDraft
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.store.moving import differences, export_digest, move
from mapshelf.tokens import new_token, token_digest
from tests.cli.process import Mapshelf, free_port
from tests.cluster.load import Load, Tally
from tests.postgres import Server, both_urls, server, standby_of
from tests.store.child import acknowledged, start
from tests.store.drafts import outline
from tests.store.test_crash import Expected

pytestmark = pytest.mark.cluster

MAPS: Final = int(os.environ.get("MAPSHELF_CLUSTER_MAPS", "20000"))
ROUNDS: Final = int(os.environ.get("MAPSHELF_CLUSTER_ROUNDS", "10"))
RATE: Final = 300
PATIENCE: Final = 120.0
USER: Final = "reader"


def say(what: str, *figures: str) -> None:
    """Print a measured line."""
    print(f"\n  {what}: {', '.join(figures)}", end="", flush=True)


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def reads(tally: Tally) -> str:
    return f"{len(tally.failed)} of {tally.asked} reads failed (slowest {seconds(tally.slowest)})"


def until(condition: Callable[[], object], patience: float = PATIENCE) -> float:
    """Wait until ``condition`` holds; return how many seconds that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < patience, f"not so within {patience} seconds"
        time.sleep(0.02)
    return time.monotonic() - began


@dataclass
class Node:
    """A ``mapshelf serve`` of its own data folder."""

    mapshelf: Mapshelf
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start the node, in a session of its own, so that all of it can be killed."""
        words = self.mapshelf.command("serve", "--port", str(self.port), "--workers", "1")
        with (self.mapshelf.data.parent / f"{self.port}.log").open("ab") as log:
            self.process = subprocess.Popen(words, stderr=log, start_new_session=True)

    def kill(self) -> None:
        """Kill every process of the node."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def end(self) -> None:
        """Ask the node to end, if it runs."""
        if self.process is not None:
            self.process.terminate()
            assert self.process.wait(30) == 0
            self.process = None

    def ask(self, path: str, token: str) -> tuple[int, Any, int]:
        """Return status, body and number of maps; 0 if nobody answers."""
        request = Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {token}"}
        )
        try:
            with urlopen(request, timeout=10) as answer:
                total = int(answer.headers.get("x-total-count", 0))
                return answer.status, orjson.loads(answer.read()), total
        except HTTPError as error:
            return error.code, None, 0
        except (URLError, ConnectionError, TimeoutError):
            return 0, None, 0

    def memory(self) -> list[str]:
        """Return what the processes of the node hold for themselves alone."""
        assert self.process is not None
        found = []
        for pid in descendants(self.process.pid):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
            kilobytes = next(x.split()[1] for x in rollup.splitlines() if "Private_Dirty" in x)
            found.append(f"{int(kilobytes) / 1000:.0f} MB")
        return found

    def shows(self, revision: int) -> bool:
        """Tell whether the node shows all up to a revision."""
        status, body, _ = self.ask("/readyz", "")
        return status == 200 and body["snapshot"]["revision"] >= revision


def descendants(process: int) -> list[int]:
    """Return the processes below a process, and itself."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    return [process] + [below for child in children for below in descendants(int(child))]


@dataclass
class Cluster:
    """A primary, a standby that follows it, two nodes, and what is needed to drive them."""

    folder: Path
    ends: ExitStack
    primary: Server
    standby: Server
    url: str
    token: str = ""
    nodes: list[Node] = field(default_factory=list)

    def store(self) -> Store:
        """Open the store, as a third node would."""
        store = open_store(self.url)
        self.ends.callback(store.close)
        return store

    def replace_primary(self) -> None:
        """Let the promoted standby be the primary, with a new standby in place of the old one."""
        old = self.primary
        self.primary = self.standby
        self.standby = self.ends.enter_context(standby_of(self.primary, old.port))
        self.level()

    def level(self) -> None:
        """Wait until the standby shows all the primary has."""
        ((there,),) = self.primary.execute("SELECT pg_current_wal_lsn()")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{there}'"
        until(lambda: self.standby.execute(query) == [(True,)])

    def load(self, token: str = "") -> Load:
        """Return clients of both nodes."""
        return Load([node.port for node in self.nodes], token or self.token, RATE)


def drafts(count: int, first: int = 0) -> Iterator[list[MapDraft]]:
    """Yield batches of ordinary maps."""
    dice = random.Random(first)
    for start_ in range(first, first + count, 1000):
        yield [
            MapDraft(
                title=f"Map {number}",
                description="Some words about it, as people write them. " * 3,
                owner=f"owner {dice.randrange(500)}",
                views=dice.randrange(10_000),
                outline=outline(f"Map {number}", *(f"topic {dice.random()}" for _ in range(15))),
            )
            for number in range(start_, min(start_ + 1000, first + count))
        ]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as ends:
        primary = ends.enter_context(server())
        name = primary.new_database()
        standby = ends.enter_context(standby_of(primary))
        cluster = Cluster(folder, ends, primary, standby, both_urls(primary, standby, name))
        store = cluster.store()
        store.add_user(USER)
        cluster.token = token_of(store)
        began = time.monotonic()
        for some in drafts(MAPS):
            store.put_maps(some)
        say(f"{MAPS} maps written", seconds(time.monotonic() - began))
        for _ in range(2):
            node = Node(Mapshelf(folder / f"node-{len(cluster.nodes)}", cluster.url), free_port())
            node.start()
            ends.callback(node.end)
            cluster.nodes.append(node)
        newest = store.revision()
        took = until(lambda: show(cluster, newest))
        say("two new nodes show all of them", seconds(took))
        ((size,),) = primary.execute(f"SELECT pg_database_size('{name}')")
        say("the database takes", f"{size / MAPS:.0f} bytes a map")
        say("the processes of a node have", *cluster.nodes[0].memory())
        yield cluster


def token_of(store: Store) -> str:
    token = new_token()
    store.add_token(USER, token_digest(token), label="", scopes="read", expires=None)
    return token


@pytest.fixture
def store(cluster: Cluster) -> Store:
    return cluster.store()


@contextmanager
def reading(cluster: Cluster, what: str) -> Iterator[Load]:
    """Read from both nodes meanwhile, which must not fail once."""
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
    """Call what must be refused as unavailable; return how many seconds that took."""
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


def test_requests_cost_the_database_next_to_nothing(cluster: Cluster) -> None:
    query = (
        "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname LIKE 'test%'"
    )

    def transactions() -> int:
        time.sleep(1.5)  # sessions report now and then
        return sum(int(one.execute(query)[0][0]) for one in (cluster.primary, cluster.standby))

    before = transactions()
    with cluster.load() as load:
        time.sleep(20)
    tally = load.take()
    made = transactions() - before
    idle = transactions()
    time.sleep(20)
    idle = transactions() - idle
    say(
        f"statements at {RATE} requests a second",
        f"{made} for {tally.asked} requests ({100 * made / tally.asked:.2f} a hundred)",
        f"{idle} in as long without any",
    )
    assert tally.failed == []


def test_a_change_shows_on_both_nodes(cluster: Cluster, store: Store) -> None:
    took = []
    for _ in range(10):
        newest = write(store)
        took.append(until(partial(show, cluster, newest)))
    say("a written map shows on both nodes after", f"at most {seconds(max(took))}")


def show(cluster: Cluster, revision: int) -> bool:
    """Tell whether all nodes show all up to a revision."""
    return all(node.shows(revision) for node in cluster.nodes)


def refuses(node: Node, secret: str) -> bool:
    return node.ask("/maps", secret)[0] == 401


def test_a_standby_that_is_killed(cluster: Cluster, store: Store) -> None:
    with reading(cluster, "standby killed"):
        cluster.standby.stop(signal.SIGQUIT)
        time.sleep(3)
        newest = write(store)
        took = until(lambda: show(cluster, newest))
    say("standby away: a written map shows after", seconds(took))
    cluster.standby.start()
    cluster.level()


def test_a_replay_that_is_paused(cluster: Cluster, store: Store) -> None:
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
    assert max(took) < 5


def test_a_database_that_hangs(cluster: Cluster, store: Store) -> None:
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
    assert refused < 3
    assert recovered < 5


def test_a_primary_that_is_killed(cluster: Cluster, store: Store) -> None:
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
    assert refused < 2
    assert working < 10


def test_a_node_that_is_killed(cluster: Cluster, store: Store) -> None:
    first, _ = cluster.nodes
    with reading(cluster, "node killed"):
        first.kill()
        for some in drafts(1000, first=10_000_000):
            store.put_maps(some)
        newest = store.revision()
        time.sleep(1)
        first.start()
        began = time.monotonic()
        ready = until(lambda: first.ask("/maps?limit=1", cluster.token)[0] == 200)
        until(lambda: first.shows(newest))
        caught_up = time.monotonic() - began
    say(
        f"node killed and started again ({MAPS} maps, 1000 new)",
        f"ready after {seconds(ready)}",
        f"caught up after {seconds(caught_up)}",
    )


def test_two_importing_nodes_that_are_killed_lose_nothing(cluster: Cluster, store: Store) -> None:
    dice = random.Random(6)
    expected = Expected()
    acknowledged_writes = 0
    seeds = iter(range(1_000_000))
    for _ in range(ROUNDS):
        with ExitStack() as round_:
            pair = [(seed, start(cluster.url, seed, 10**6)) for seed in (next(seeds), next(seeds))]
            for _, writer in pair:
                round_.enter_context(writer)
            reports = [acknowledged(writer) for _, writer in pair]
            for some in reports:
                acknowledged_writes += expected.take([next(some)])
            time.sleep(dice.uniform(0, 0.4))
            for (_, writer), some in zip(pair, reports, strict=True):
                writer.kill()
                acknowledged_writes += expected.take(some)
        prove(expected, store, [seed for seed, _ in pair])
    newest = store.revision()
    until(lambda: show(cluster, newest))
    found = all_maps(store)
    assert len({one.id for one in found}) == len({one.file_id for one in found}) == len(found)
    for node in cluster.nodes:
        assert shown(node, cluster.token) == [
            (str(one.file_id), one.id, one.title) for one in found
        ]
    assert store.check() == []
    say(
        f"{ROUNDS} rounds of two importing nodes killed",
        f"{acknowledged_writes} acknowledged writes, none lost",
        f"both nodes show the {len(found)} maps of the database",
    )


def prove(expected: Expected, store: Store, killed: list[int]) -> None:
    """Compare what was acknowledged with what is there; a writer may have done one thing more."""
    found = {one.id: one for one in all_maps(store)}
    missing = expected.ids - expected.gone - set(found)
    for seed in killed:
        assert len([one for one in missing if one.startswith(f"s{seed}n")]) <= 1
    assert {one.partition("n")[0] for one in missing} <= {f"s{seed}" for seed in killed}
    expected.gone |= missing
    assert not expected.gone & set(found)
    assert all(found[one].views >= views for one, views in expected.views.items())
    assert all(store.find_credential(digest) for digest in expected.digests)


def all_maps(store: Store) -> list[Map]:
    found: list[Map] = []
    while some := store.maps(found[-1].file_id if found else 0, 5000):
        found += some
    return found


def shown(node: Node, token: str) -> list[tuple[str, str, str]]:
    """Return every map a node shows, in the order of File_ID."""
    found: list[tuple[str, str, str]] = []
    while True:
        _, some, total = node.ask(f"/maps?limit=50&offset={len(found)}", token)
        found += [(one["File_ID"], one["ID"], one["Title"]) for one in some]
        if len(found) >= total:
            return sorted(found, key=lambda one: int(one[0]))


def test_moving_there_and_back(cluster: Cluster, tmp_path: Path) -> None:
    with ExitStack() as ends:
        origin, back = (
            ends.enter_context(opened(sqlite_url(tmp_path / name))) for name in ("a", "b")
        )
        there = ends.enter_context(opened(cluster.primary.url(cluster.primary.new_database())))
        for some in drafts(MAPS):
            origin.put_maps(some)
        took = []
        for source, target in ((origin, there), (there, back)):
            began = time.monotonic()
            move(source, target, lambda _: None)
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
