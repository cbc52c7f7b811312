"""The cluster that all tests of this folder share, because starting it takes long."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from shutil import copytree

import pytest

from mapshelf.store import Store
from tests.cli.process import Mapshelf, free_port
from tests.cluster.cluster import (
    MAPS,
    USER,
    Cluster,
    Node,
    drafts,
    say,
    seconds,
    show,
    token_of,
    until,
)
from tests.postgres import both_urls, server, standby_of


@pytest.fixture(scope="session")
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
        first, second = cluster.nodes = [
            Node(Mapshelf(folder / name, cluster.url), free_port()) for name in ("one", "two")
        ]
        for node in cluster.nodes:
            ends.callback(node.end)
        newest = store.revision()
        first.start()
        say("a new node shows all of them", seconds(until(lambda: first.shows(newest))))
        first.end()
        copytree(first.mapshelf.data / "snapshots", second.mapshelf.data / "snapshots")
        for node in cluster.nodes:
            node.start()
        took = until(lambda: show(cluster, newest))
        say("a second one with a copy of its snapshot, too", seconds(took))
        ((size,),) = primary.execute(f"SELECT pg_database_size('{name}')")
        say("the database takes", f"{size / MAPS:.0f} bytes a map")
        say("the processes of a node have", *cluster.nodes[0].memory())
        yield cluster


@pytest.fixture
def store(cluster: Cluster) -> Store:
    return cluster.store()
