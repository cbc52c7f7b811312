"""Replace the rows of a map's links in PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Final

from mapshelf.model import MapLink
from mapshelf.store.columns import link_rows
from mapshelf.store.postgres.link import Link
from mapshelf.store.tables import LINKS

_WRITE: Final = LINKS.upsert("%s")


def write_links(link: Link, links: Mapping[int, Sequence[MapLink]]) -> None:
    """Replace the links of each map."""
    if not links:
        return
    with link.cursor() as cursor:
        cursor.execute("DELETE FROM links WHERE file_id = ANY(%s)", (list(links),))
        rows = [row for file_id, some in links.items() for row in link_rows(file_id, some)]
        cursor.executemany(_WRITE, rows)
