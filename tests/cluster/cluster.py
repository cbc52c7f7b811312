"""A small cluster: a primary, its standby and two nodes, with functions to control them."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import orjson

from mapshelf.model import Map, MapDraft
from mapshelf.store import Store, open_store
from mapshelf.tokens import new_token, token_digest
from tests.cli.process import Mapshelf
from tests.cluster.load import Load, Tally
from tests.postgres import Server, standby_of
from tests.store.drafts import outline

MAPS: Final = int(os.environ.get("MAPSHELF_CLUSTER_MAPS", "10000"))
RATE: Final = 300
PATIENCE: Final = 300.0
USER: Final = "reader"


def say(what: str, *figures: str) -> None:
    """Print a line with measured figures."""
    print(f"\n  {what}: {', '.join(figures)}", end="", flush=True)


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def reads(tally: Tally) -> str:
    return f"{len(tally.failed)} of {tally.asked} reads failed (slowest {seconds(tally.slowest)})"


def until(condition: Callable[[], object], patience: float = PATIENCE) -> float:
    """Wait until ``condition`` holds; return how many seconds that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < patience, (
            f"the condition is false after {patience} seconds"
        )
        time.sleep(0.02)
    return time.monotonic() - began


@dataclass
class Node:
    """A ``mapshelf serve`` with its own data folder."""

    mapshelf: Mapshelf
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start the node in its own session, so that all its processes can be killed."""
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
        """Ask the node to stop, if it runs."""
        if self.process is not None:
            self.process.terminate()
            assert self.process.wait(30) == 0
            self.process = None

    def ask(self, path: str, token: str) -> tuple[int, Any, int]:
        """Send a request; return status, body and number of maps, 0 if there is no response."""
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
        """Return the private memory of the node's processes."""
        assert self.process is not None
        found = []
        for pid in descendants(self.process.pid):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
            kilobytes = next(x.split()[1] for x in rollup.splitlines() if "Private_Dirty" in x)
            found.append(f"{int(kilobytes) / 1000:.0f} MB")
        return found

    def shows(self, revision: int) -> bool:
        """Return whether the node shows all changes up to a revision."""
        status, body, _ = self.ask("/readyz", "")
        return status == 200 and body["snapshot"]["revision"] >= revision


def descendants(process: int) -> list[int]:
    """Return a process and its descendants."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    return [process] + [below for child in children for below in descendants(int(child))]


@dataclass
class Cluster:
    """A primary, its standby and two nodes, with functions to control them."""

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
        """Make the promoted standby the primary, and start a new standby."""
        old = self.primary
        self.primary = self.standby
        self.standby = self.ends.enter_context(standby_of(self.primary, old.port))
        self.level()

    def level(self) -> None:
        """Wait until the standby shows everything that the primary has."""
        ((there,),) = self.primary.execute("SELECT pg_current_wal_lsn()")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{there}'"
        until(lambda: self.standby.execute(query) == [(True,)])

    def load(self, tokens: Sequence[str] = ()) -> Load:
        """Return clients of both nodes."""
        return Load([node.port for node in self.nodes], tokens or [self.token], RATE)


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


def token_of(store: Store) -> str:
    token = new_token()
    store.add_token(USER, token_digest(token), label="", scopes="read", expires=None)
    return token


def show(cluster: Cluster, revision: int) -> bool:
    """Return whether all nodes show all changes up to a revision."""
    return all(node.shows(revision) for node in cluster.nodes)


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
