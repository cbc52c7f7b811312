"""Programs and categories, to which maps refer by name: the statements of both databases."""

from mapshelf.model import LARGEST_ID, Named, name_key
from mapshelf.store.columns import NAMED
from mapshelf.store.publishing_queries import Read


class NamedRows:
    """The programs and categories that a transaction sees and adds."""

    def __init__(self, read: Read) -> None:
        """Run statements by ``read``."""
        self._read = read

    def software(self, name: str) -> Named:
        """Return the program with this name, in any case; add one with the next id if need be."""
        query = f"SELECT {NAMED} FROM software WHERE name_key = ?"
        return self._find(query, name_key(name)) or self._add(
            "INSERT INTO software (id, name, name_key)"
            " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM software), ?, ?)"
            f" RETURNING {NAMED}",
            (name.strip(), name_key(name)),
        )

    def category_with_id(self, category_id: int) -> Named | None:
        """Return the category with this id."""
        return self._find(f"SELECT {NAMED} FROM categories WHERE id = ?", category_id)

    def category_named(self, name: str) -> Named | None:
        """Return the first category with this name, in any case."""
        return self._find(
            f"SELECT {NAMED} FROM categories WHERE name_key = ? ORDER BY id LIMIT 1",
            name_key(name),
        )

    def add_category(self, category_id: int | None, name: str) -> Named:
        """Add a category; without an id it gets the next one below ``LARGEST_ID``."""
        # An imported category with the largest id of all must not use up those for others.
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
