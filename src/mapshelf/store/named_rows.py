"""Look up and add programs and categories, which maps refer to by name, in both databases."""

import logging
from typing import Final

from mapshelf.model import LARGEST_ID, Named, name_key
from mapshelf.store.columns import NAMED
from mapshelf.store.publishing_queries import Read

log = logging.getLogger(__name__)

MOST_PROGRAMS: Final = 2000
"""Maximum number of programs. Their names come from files, so anybody who publishes can add some,
and they are read for each page of a map."""


class NamedRows:
    """The programs and categories of one transaction."""

    def __init__(self, read: Read) -> None:
        """Run statements with ``read``."""
        self._read = read

    def software(self, name: str) -> Named | None:
        """Return the program with this name, ignoring case; add it with the next id if missing.

        Return ``None`` if there are too many programs already.
        """
        query = f"SELECT {NAMED} FROM software WHERE name_key = ?"
        if found := self._find(query, name_key(name)):
            return found
        ((count,),) = self._read("SELECT count(*) FROM software", ())
        if count >= MOST_PROGRAMS:
            log.warning("maps of %r have no program: there are %d already", name[:80], count)
            return None
        return self._add(
            "INSERT INTO software (id, name, name_key)"
            " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM software), ?, ?)"
            f" RETURNING {NAMED}",
            (name.strip(), name_key(name)),
        )

    def category_with_id(self, category_id: int) -> Named | None:
        """Return the category with this id."""
        return self._find(f"SELECT {NAMED} FROM categories WHERE id = ?", category_id)

    def category_named(self, name: str) -> Named | None:
        """Return the first category with this name, ignoring case."""
        return self._find(
            f"SELECT {NAMED} FROM categories WHERE name_key = ? ORDER BY id LIMIT 1",
            name_key(name),
        )

    def add_category(self, category_id: int | None, name: str) -> Named:
        """Add a category; without an id it gets the next one below ``LARGEST_ID``."""
        # An imported category with the largest possible id must not exhaust the id range.
        following = "(SELECT max(id) + 1 FROM categories WHERE id < ?)"
        return self._add(
            "INSERT INTO categories (id, name, name_key)"
            f" VALUES (coalesce(CAST(? AS bigint), {following}), ?, ?) RETURNING {NAMED}",
            (category_id, LARGEST_ID, name.strip(), name_key(name)),
        )

    def _find(self, sql: str, key: str | int) -> Named | None:
        rows = self._read(sql, (key,))
        return Named(*rows[0]) if rows else None

    def _add(self, sql: str, values: tuple[int | str | None, ...]) -> Named:
        return Named(*self._read(sql, values)[0])
