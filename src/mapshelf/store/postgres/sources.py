"""Sources in PostgreSQL."""

from collections.abc import Collection, Sequence

from mapshelf.model import GONE, Source
from mapshelf.store.columns import KEEP_MISSING, SOURCE, UNPUBLISHED
from mapshelf.store.former_places import note_former_place
from mapshelf.store.inherited_visibility import hide_uncertain
from mapshelf.store.lost_files import LOST_WITHIN
from mapshelf.store.missing_maps import path_without_file
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.links import FILE_NAME
from mapshelf.store.tables import Row


class PostgresSources(DatabaseUser):
    """See ``contract.Sources``. Paths are indexed by SHA-256, because index keys are limited."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """See ``Store``."""
        rows = self._rows(
            f"SELECT {SOURCE} FROM sources WHERE sha256(path) IN"
            " (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)",
            (list(paths),),
        )
        return {row[0]: Source(*row) for row in rows}

    def sources_below(
        self, folder: bytes, after: bytes, limit: int, *, missing: bool = False
    ) -> list[Source]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between. The
        # index covers prefixes of paths, which sort like the paths.
        first, beyond = max(folder + b"/", after), folder + b"0"
        beginning = "substring(path FROM 1 FOR 1000)"
        rows = self._rows(
            f"SELECT {SOURCE} FROM sources WHERE path > %s AND path < %s"
            f" AND {beginning} >= %s AND {beginning} <= %s AND (modified <> {GONE} OR %s)"
            f" ORDER BY {beginning}, path LIMIT %s",
            (first, beyond, first[:1000], beyond[:1000], missing, limit),
        )
        return [Source(*row) for row in rows]

    def sources_of(self, digest: bytes) -> list[Source]:
        """See ``Store``."""
        rows = self._rows(
            f"SELECT {SOURCE} FROM sources WHERE digest = %s ORDER BY path", (digest,)
        )
        return [Source(*row) for row in rows]

    def unpublished_sources(self, paths: Sequence[bytes], *, missing: bool = False) -> set[bytes]:
        """See ``Store``."""
        rows = self._rows(
            f"{UNPUBLISHED.format(missing='%s')} AND sha256(s.path) IN"
            " (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)",
            (missing, list(paths)),
        )
        return {path for path, *_ in rows}

    def unpublished_named(self, names: Collection[str], limit: int) -> list[Source]:
        """See ``Store``."""
        unpublished = UNPUBLISHED.format(missing="g.since > %s")
        # Materialized, or the planner may read all maps for each name to find a few soon.
        rows = self._rows(
            f"WITH found AS MATERIALIZED ({unpublished} AND {FILE_NAME} = ANY(%s)) SELECT"
            f" {SOURCE} FROM (SELECT s.*, row_number() OVER (PARTITION BY {FILE_NAME}) AS number"
            " FROM found AS s) AS numbered WHERE number <= %s",
            (self._clock() - LOST_WITHIN, list(names), limit),
        )
        return [Source(*row) for row in rows]

    def move_source(self, old: bytes, new: Source, *, uncertain: bool = False) -> bool:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            at = "sha256(path) = sha256(%s)"

            def found(path: bytes) -> list[Row]:
                return link.rows(f"SELECT modified, file_id FROM sources WHERE {at}", (path,))

            taken = found(new.path) if new.path != old else []
            if not found(old) or (taken and taken[0][0] != GONE):
                return False
            for _, file_id in taken:
                given = path_without_file(new.path, found)
                link.execute(f"UPDATE sources SET path = %s WHERE {at}", (given, new.path))
                note_former_place(link.shared_rows, file_id, new.path, self._clock())
            moved = link.rows(
                "UPDATE sources SET path = %s, name = %s, size = %s, modified = %s, digest = %s"
                f" WHERE {at} RETURNING file_id",
                (new.path, new.name, new.size, new.modified, new.digest, old),
            )
            for (file_id,) in moved:
                note_former_place(link.shared_rows, file_id, old, self._clock())
                if uncertain:
                    hide_uncertain(link.shared_rows, file_id, new.digest)
                link.execute(
                    "UPDATE maps SET revision = %s WHERE file_id = %s",
                    (counters.next_revision(), file_id),
                )
            counters.write()
            return bool(moved)

    def remove_sources(self, paths: Sequence[bytes]) -> int:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            found = link.rows(
                f"UPDATE sources SET modified = {GONE} WHERE modified <> {GONE}"
                " AND sha256(path) IN (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)"
                " RETURNING file_id",
                (list(paths),),
            )
            rows = link.rows(
                "SELECT file_id FROM maps AS m WHERE file_id = ANY(%s) AND NOT EXISTS"
                f" (SELECT 1 FROM sources AS s WHERE s.file_id = m.file_id AND modified <> {GONE})"
                " ORDER BY file_id FOR UPDATE OF m",  # see ``counters.lock_maps``
                ([row[0] for row in found],),
            )
            missing = [row[0] for row in rows]
            keep = KEEP_MISSING.format(now="%s", maps="= ANY(%s)")
            link.execute(keep, (self._clock(), missing))
            link.execute(
                "UPDATE maps AS m SET visibility = 'removed', revision = one.revision"
                " FROM unnest(%s::bigint[], %s::bigint[]) AS one (file_id, revision)"
                " WHERE m.file_id = one.file_id",
                (missing, [counters.next_revision() for _ in missing]),
            )
            counters.write()
            return len(missing)
