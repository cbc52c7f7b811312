"""Nodes work through PgBouncer with session pooling, as ``docs/scaling.md`` says.

It refuses connections that ask for settings of the server, so these are set afterwards.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from mapshelf.model import SYSTEM_USER, MapDraft
from mapshelf.store import open_store
from tests.postgres import Server, folder, free_port, unprivileged
from tests.programs import installed
from tests.store.test_postgres import listening, session, wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.process]


@contextmanager
def pooled(postgres: Server, url: str) -> Iterator[str]:
    """Run PgBouncer before a database; yield the URL at which it listens."""
    program, name, port = installed("pgbouncer"), url.rpartition("/")[2], free_port()
    with folder() as place:
        settings = place / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n{name} = host=127.0.0.1 port={postgres.port} user=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = any\npool_mode = session\npidfile = {place}/pid\n"
        )
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [program, settings], stdout=log, stderr=log, **unprivileged()
            )
        try:
            found = f"postgresql://postgres@127.0.0.1:{port}/{name}"
            wait_until(lambda: answers(found, process, place / "log"))
            yield found
        finally:
            process.kill()
            process.wait()


def answers(url: str, process: "subprocess.Popen[bytes]", log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_nodes_work_through_pgbouncer(postgres: Server, new_url: Callable[[], str]) -> None:
    direct = new_url()
    with pooled(postgres, direct) as url:
        store, other = open_store(url), open_store(url)
        store.put_maps([MapDraft(title="t", id="t")])
        store.add_token(SYSTEM_USER, b"digest", label="", scopes="", expires=None)
        assert set(other.find_credentials([b"digest"])) == {b"digest"}
        listening(other, 1)
        other.put_maps([MapDraft(title="u", id="u")])
        wait_until(lambda: store.revision() == 2)
        assert {one.title for one in store.maps(0, 10)} == {"t", "u"}
        assert store.check() == []
        store.close()
        other.close()
    with session(direct) as connection:
        found = connection.execute(
            "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
        )
        assert found.fetchall() == [("mapshelf",)]
