"""Refused files and first imports: the rules and SQL that both databases share."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from mapshelf.model import Map, NotedRefusal, Refusal, RefusalKind, name_key
from mapshelf.store.columns import FROM_MAPS, MAP, map_of_row
from mapshelf.store.publishing import Transaction
from mapshelf.store.publishing_queries import Read
from mapshelf.store.reserved_names import is_reserved, owner_in_place_of
from mapshelf.store.shared_methods import SharedMethods


class ImportMethods(SharedMethods):
    """See ``contract.Imports``; each method is one transaction."""

    def note_refusals(self, refusals: Sequence[Refusal]) -> list[Refusal]:
        """See ``Store``."""
        with self._adding() as database:
            return list(_note(database, refusals))

    def refusals_below(self, folder: str, after: str, limit: int) -> list[Refusal]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between.
        rows = self._read(
            "SELECT path, reason, kind, modified FROM refusals WHERE path > ?"
            " AND (path = ? OR (path > ? AND path < ?)) ORDER BY path LIMIT ?",
            (after, folder, f"{folder}/", f"{folder}0", limit),
        )
        return [
            Refusal(path, reason, RefusalKind(kind), modified)
            for path, reason, kind, modified in rows
        ]

    def forget_refusals(self, paths: Sequence[str]) -> None:
        """See ``Store``."""
        with self._adding() as database:
            for path in paths:
                database.execute("DELETE FROM refusals WHERE digest = ?", (_digest(path),))

    def open_refusals(self, kind: RefusalKind, limit: int) -> list[NotedRefusal]:
        """See ``Store``."""
        rows = self._read(
            "SELECT digest, path, reason, noted FROM refusals WHERE kind = ?"
            " AND dismissed IS NULL ORDER BY noted DESC, path LIMIT ?",
            (kind.value, limit),
        )
        return [
            NotedRefusal(bytes(digest), path, reason, noted) for digest, path, reason, noted in rows
        ]

    def count_open_refusals(self) -> dict[RefusalKind, int]:
        """See ``Store``."""
        rows = self._read(
            "SELECT kind, count(*) FROM refusals WHERE dismissed IS NULL GROUP BY kind", ()
        )
        found = {RefusalKind(kind): int(count) for kind, count in rows}
        return {kind: found.get(kind, 0) for kind in RefusalKind}

    def dismiss_refusal(self, digest: bytes) -> None:
        """See ``Store``."""
        with self._adding() as database:
            database.execute(
                "UPDATE refusals SET dismissed = ? WHERE digest = ? AND dismissed IS NULL",
                (database.now, digest),
            )

    def dismiss_refusals(self, kind: RefusalKind, until: int) -> int:
        """See ``Store``."""
        with self._adding() as database:
            rows = database.rows(
                "UPDATE refusals SET dismissed = ? WHERE kind = ? AND noted <= ?"
                " AND dismissed IS NULL RETURNING digest",
                (database.now, kind.value, until),
            )
            return len(rows)

    def begin_import(self, folder: bytes, *, has_maps: bool) -> bool:
        """See ``Store``."""
        with self._adding() as database:
            return _begin(database, folder, has_maps=has_maps)

    def finish_import(self, folder: bytes) -> None:
        """See ``Store``."""
        with self._adding() as database:
            database.execute(
                "INSERT INTO imported_folders (digest, finished) VALUES (?, ?) ON CONFLICT (digest)"
                " DO UPDATE SET finished = coalesce(imported_folders.finished, excluded.finished)",
                (_digest_of_folder(folder), database.now),
            )

    def place_of(self, folder: bytes) -> bytes | None:
        """See ``Store``."""
        query = "SELECT place FROM served_folders WHERE digest = ?"
        rows = self._read(query, (_digest_of_folder(folder),))
        return bytes(rows[0][0]) if rows else None

    def note_place(self, folder: bytes, place: bytes) -> None:
        """See ``Store``."""
        with self._adding() as database:
            database.execute(
                "INSERT INTO served_folders (digest, place) VALUES (?, ?)"
                " ON CONFLICT (digest) DO UPDATE SET place = excluded.place",
                (_digest_of_folder(folder), place),
            )

    def maps_attributed_otherwise(
        self, folder: bytes, owner: str | None, category: str | None, after: int, limit: int
    ) -> list[Map]:
        """See ``Store``."""
        return _attributed_otherwise(self._read, folder, (owner, category), after, limit)

    def is_reserved(self, name: str) -> bool:
        """See ``Store``."""
        return is_reserved(self._read, name)


def _note(database: Transaction, refusals: Sequence[Refusal]) -> Iterator[Refusal]:
    """Write refusals; yield those that are new."""
    for one in refusals:
        digest, said = _digest(one.path), (one.reason, one.kind.value, one.modified)
        known = database.rows(
            "SELECT reason, kind, modified FROM refusals WHERE digest = ?", (digest,)
        )
        if known == [said]:
            continue
        database.execute(
            "INSERT INTO refusals (digest, path, reason, kind, modified, noted, dismissed)"
            " VALUES (?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (digest) DO UPDATE SET"
            " reason = excluded.reason, kind = excluded.kind, modified = excluded.modified,"
            " noted = excluded.noted, dismissed = NULL",
            (digest, one.path, *said, database.now),
        )
        yield one


def _begin(database: Transaction, folder: bytes, *, has_maps: bool) -> bool:
    own = _digest_of_folder(folder)
    steps = folder.split(b"/")
    above = [_digest_of_folder(b"/".join(steps[:end])) for end in range(1, len(steps))]
    query = "SELECT finished FROM imported_folders WHERE digest = ?"
    known = [row for digest in (own, *above) for row in database.rows(query, (digest,))]
    if any(finished is not None for (finished,) in known):
        return False
    if database.rows(query, (own,)):
        return True
    database.execute(
        "INSERT INTO imported_folders (digest, finished) VALUES (?, ?)"
        " ON CONFLICT (digest) DO NOTHING",
        (own, database.now if has_maps else None),
    )
    return not has_maps


def _attributed_otherwise(
    read: Read, folder: bytes, attribution: tuple[str | None, str | None], after: int, limit: int
) -> list[Map]:
    owner, category = attribution
    differs, given = [], []
    if owner is not None:
        differs.append("u.name_key <> ?")
        given.append(name_key(owner_in_place_of(read, owner)))
    if category is not None:
        # psycopg reads %% as one percent sign; in a LIKE pattern, one and two mean the same.
        differs.append(
            "(m.set_by_people NOT LIKE '%%category%%' AND m.category_id <>"
            " coalesce((SELECT c.id FROM categories AS c WHERE c.name_key = ?), -1))"
        )
        given.append(name_key(category))
    if not differs:
        return []
    rows = read(
        f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.file_id > ? AND m.visibility <> 'removed'"
        " AND EXISTS (SELECT 1 FROM sources AS f WHERE f.file_id = m.file_id"
        f" AND f.path > ? AND f.path < ?) AND ({' OR '.join(differs)})"
        " ORDER BY m.file_id LIMIT ?",
        (after, folder + b"/", folder + b"0", *given, limit),
    )
    return [map_of_row(row) for row in rows]


def _digest(path: str) -> bytes:
    return sha256(path.encode()).digest()


def _digest_of_folder(path: bytes) -> bytes:
    return sha256(path.rstrip(b"/")).digest()
