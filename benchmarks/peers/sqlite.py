"""SQLite FTS5: maps in one table, their words in a contentless index, ranked by weighted bm25.

Texts are not stored twice: the index contains only words, and the table of maps stays narrow.
``unicode61`` folds case and accents. Chinese and Japanese are indexed with spaces between the
characters (see ``searchtext``). Prefixes of two and three letters have their own index. The
complete index is merged into one segment. SQLite is the current version, from ``apsw``. Each thread
has its own connection, with the file mapped into memory.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import apsw

from benchmarks.catalogue import Catalogue
from benchmarks.peers.database import TIME_LIMIT, Answer, Request, TooSlow
from benchmarks.peers.records import COLUMNS, NUMBERS, WEIGHTS, batches, documents
from benchmarks.peers.searchtext import CANDIDATES, QueryTerm, nearest, spaced, trigrams

CACHE_KIB: Final = 64 << 10
"""Page cache of each connection in KiB."""

MAPPED: Final = 16 << 30
"""Most bytes of the file to map: more than it has."""

STEPS: Final = 1000
"""Steps of SQLite's virtual machine between checks of the time limit."""

_ROW: Final = ", ".join(f"m.{column}" for column in COLUMNS)
_COLUMNS: Final = ", ".join(
    f"{column} {'integer' if column in NUMBERS else 'text'} not null"
    for column in COLUMNS
    if column != "file_id"
)
_BM25: Final = f"bm25(maps_fts, {', '.join(map(str, WEIGHTS.values()))})"
# "cross join" keeps SQLite from scanning the maps and querying the index for each.
_JOINED: Final = "maps_fts f cross join maps m on m.file_id = f.rowid"
_BEFORE: Final = f"""
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -{4 * CACHE_KIB};
create table maps (file_id integer primary key, {_COLUMNS});
create virtual table maps_fts using fts5 (
    {", ".join(WEIGHTS)},
    content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
insert into maps_fts (maps_fts, rank)
    values ('rank', 'bm25({", ".join(map(str, WEIGHTS.values()))})');
begin;
"""
_AFTER: Final = """
commit;
insert into maps_fts (maps_fts) values ('optimize');
create index maps_by_views on maps (views desc, file_id desc);
create index maps_by_downloads on maps (downloads desc, file_id desc);
create index maps_by_date on maps (date_added desc, file_id desc);
create index maps_by_title on maps (title, file_id);
create index maps_by_category on maps (category_id, views desc, file_id desc);
create virtual table temp.vocabulary using fts5vocab (main, maps_fts, row);
create table terms (id integer primary key, term text not null unique, maps integer not null);
insert into terms (term, maps) select term, doc from temp.vocabulary where length(term) > 2;
create virtual table terms_fts using fts5 (term, content = '', tokenize = 'trigram');
insert into terms_fts (rowid, term) select id, term from terms;
insert into terms_fts (terms_fts) values ('optimize');
drop table temp.vocabulary;
analyze;
"""


def build(catalogue: Catalogue, path: Path) -> None:
    """Create the database of a catalogue."""
    path.unlink(missing_ok=True)
    database = apsw.Connection(str(path))
    database.execute(_BEFORE).fetchall()
    row = f"insert into maps values ({', '.join('?' * len(COLUMNS))})"
    words = f"insert into maps_fts (rowid, {', '.join(WEIGHTS)}) values (?{', ?' * len(WEIGHTS)})"
    for batch in batches(documents(catalogue)):
        database.executemany(row, (document.row() for document in batch))
        texts = ((document.map.file_id, *map(spaced, document.texts())) for document in batch)
        database.executemany(words, texts)
    database.execute(_AFTER).fetchall()
    database.close()


def index_bytes(path: Path) -> int:
    """Return the bytes of the search index."""
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    size: int = database.execute(
        "select sum(pgsize) from dbstat where aggregate = true and name like 'maps_fts%'"
    ).get
    database.close()
    return size


def match(parts: Sequence[QueryTerm]) -> str:
    """Return a search in the query syntax of FTS5."""
    return " ".join(f'"{" ".join(part.words)}"{"*" if part.prefix else ""}' for part in parts)


class SqliteDatabase:
    """The database in the file ``address``."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._local = threading.local()

    def answer(self, request: Request) -> Answer:
        """Return the response to a request (see ``database.Database``)."""
        try:
            if request.parts:
                return self._found(request)
            return self._listed(request)
        except apsw.InterruptError as error:
            raise TooSlow from error

    def corrected(self, parts: Sequence[QueryTerm]) -> Sequence[QueryTerm]:
        """Return ``parts`` with known words (see ``database.Database``)."""
        return [replace(part, words=tuple(map(self._known, part.words))) for part in parts]

    def _found(self, request: Request) -> Answer:
        if request.category is not None and request.order is None:
            return self._best_in_category(request)
        where = "maps_fts match ?"
        values: list[Any] = [match(request.parts)]
        source = "maps_fts f"
        if request.category is not None:
            where, source = f"{where} and m.category_id = ?", _JOINED
            values = [*values, request.category]
        (total,) = self._run(f"select count(*) from {source} where {where}", values)[0]
        window = [*values, request.limit, request.offset]
        if request.order:
            page = f"select {_ROW} from {_JOINED} where {where} order by {request.order}"
            return total, self._run(f"{page} limit ? offset ?", window)
        # Find the best matches first, then read only their rows.
        best = f"select f.rowid as file_id, f.rank as rank from {source} where {where}"
        best += " order by f.rank limit ? offset ?"
        page = f"select {_ROW} from ({best}) f join maps m using (file_id) order by f.rank"
        return total, self._run(page, window)

    def _best_in_category(self, request: Request) -> Answer:
        # SQLite computes ``rank`` for every match before the join, but ``bm25`` only for those in
        # the category, and the same pass counts them. This is 2.6 times as fast for a word in half
        # of all maps.
        found = (
            f"with found as materialized (select f.rowid as file_id, {_BM25} as rank"
            f" from {_JOINED} where maps_fts match ? and m.category_id = ?)"
        )
        values = [match(request.parts), request.category]
        page = (
            f"{found} select (select count(*) from found), {_ROW} from"
            " (select * from found order by rank limit ? offset ?) f"
            " join maps m using (file_id) order by f.rank"
        )
        rows = self._run(page, [*values, request.limit, request.offset])
        if rows:
            return rows[0][0], [row[1:] for row in rows]
        return self._run(f"{found} select count(*) from found", values)[0][0], []

    def _listed(self, request: Request) -> Answer:
        where = ""
        values: list[Any] = []
        if request.category is not None:
            where, values = "where m.category_id = ?", [request.category]
        (total,) = self._run(f"select count(*) from maps m {where}", values)[0]
        page = f"select {_ROW} from maps m {where} order by {request.order} limit ? offset ?"
        return total, self._run(page, [*values, request.limit, request.offset])

    def _known(self, word: str) -> str:
        if self._run("select 1 from terms where term = ?", [word]) or len(word) < 4:
            return word
        any_of = " OR ".join(f'"{trigram}"' for trigram in trigrams(word))
        found = self._run(
            "select term, maps from (select rowid as id from terms_fts where terms_fts match ?"
            " order by rank limit ?) join terms using (id)",
            [any_of, CANDIDATES],
        )
        return nearest(word, found) or word

    def _run(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement on this thread's connection, with the time limit."""
        database = self._database()
        until = time.monotonic() + TIME_LIMIT
        database.set_progress_handler(lambda: time.monotonic() > until, STEPS)
        return list(database.execute(statement, values))

    def _database(self) -> apsw.Connection:
        database: apsw.Connection | None = getattr(self._local, "database", None)
        if database is None:
            database = apsw.Connection(self._address, apsw.SQLITE_OPEN_READONLY)
            database.execute(
                f"pragma cache_size = -{CACHE_KIB}; pragma mmap_size = {MAPPED}"
            ).fetchall()
            self._local.database = database
        return database
