"""Reparsed outlines in PostgreSQL."""

from collections.abc import Sequence

from mapshelf.model import OutdatedMap, ReparsedMap, format_tags
from mapshelf.store.columns import RENEWED_TAGS
from mapshelf.store.postgres.batch_rows import WRITE_OUTLINE
from mapshelf.store.postgres.counters import LockedCounters, lock_maps
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.image_rows import write_images
from mapshelf.store.postgres.link import Link
from mapshelf.store.postgres.link_rows import write_links


class PostgresReparsableOutlines(DatabaseUser):
    """See ``contract.ReparsableOutlines``."""

    def outdated(self, after: int, limit: int) -> list[OutdatedMap]:
        """See ``Store``."""
        rows = self._rows(
            "SELECT o.file_id, coalesce((SELECT s.path FROM sources AS s JOIN files AS f"
            " ON f.file_id = s.file_id AND f.digest = s.digest WHERE s.file_id = o.file_id"
            " ORDER BY s.path LIMIT 1), '') FROM outdated AS o WHERE o.file_id > %s"
            " ORDER BY o.file_id LIMIT %s",
            (after, limit),
        )
        return [OutdatedMap(*row) for row in rows]

    def replace_outlines(self, reparsed: Sequence[ReparsedMap]) -> int:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            wanted = [new.file_id for new in reparsed]
            rows = link.rows(
                "SELECT o.file_id, f.digest FROM outdated AS o"
                " LEFT JOIN files AS f ON f.file_id = o.file_id WHERE o.file_id = ANY(%s)",
                (wanted,),
            )
            digests: dict[int, bytes] = dict(rows)
            waiting = [new for new in reparsed if new.file_id in digests]
            made = [new for new in waiting if new.outline and digests[new.file_id] == new.digest]
            done = [new.file_id for new in waiting if new in made or new.outline is None]
            lock_maps(link, [new.file_id for new in made])
            _write(link, counters, made)
            link.execute("DELETE FROM outdated WHERE file_id = ANY(%s)", (done,))
            counters.write()
            return len(made)


def _write(link: Link, counters: LockedCounters, made: Sequence[ReparsedMap]) -> None:
    with link.cursor() as cursor:
        cursor.executemany(WRITE_OUTLINE, [(new.file_id, new.outline) for new in made])
        cursor.executemany(
            f"UPDATE maps SET revision = %s, {RENEWED_TAGS.replace('?', '%s')} WHERE file_id = %s",
            [(counters.next_revision(), format_tags(new.tags), new.file_id) for new in made],
        )
    write_links(link, {new.file_id: new.links for new in made})
    write_images(link, {new.file_id: new.images for new in made})
