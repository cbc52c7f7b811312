"""The tables of a catalogue, which every store has: what it takes to move one row by row.

Both schemas name tables and columns alike, so that what is read from one can be written into the
other as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the column its rows are known by, and whether they belong to a map."""

    name: str
    columns: tuple[str, ...]
    key: str
    of_maps: bool = False

    def upsert(self, marks: Sequence[str], conflict: str = "") -> str:
        """Return the statement that writes a row, whether its key is there or not.

        Args:
            marks: what stands for the value of each column.
            conflict: what is unique, by default the key.
        """
        changed = ", ".join(f"{name} = excluded.{name}" for name in self.columns)
        return (
            f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({', '.join(marks)})"
            f" ON CONFLICT ({conflict or self.key}) DO UPDATE SET {changed}"
        )


@dataclass(frozen=True, slots=True)
class CatalogueCounters:
    """The one row of ``sequence``: identity, newest revision, last ``file_id``."""

    identity: str
    revision: int
    file_id: int


USERS: Final = Table("users", ("id", "name", "name_key", "registered", "disabled"), "id")
TOKENS: Final = Table(
    "tokens",
    ("id", "user_id", "digest", "label", "scopes", "created", "expires", "revoked", "last_used"),
    "id",
)
CATEGORIES: Final = Table("categories", ("id", "name", "name_key"), "id")
SOFTWARE: Final = Table("software", ("id", "name", "name_key"), "id")
LICENCE_TYPES: Final = Table("licence_types", ("id", "name"), "id")
MAPS: Final = Table(
    "maps",
    (
        "file_id",
        "id",
        "title",
        "description",
        "thumbs_up",
        "thumbs_down",
        "views",
        "downloads",
        "thumbnail",
        "url",
        "category_id",
        "category",
        "date_added",
        "owner_id",
        "size",
        "copyright",
        "licence_type_id",
        "software_id",
        "template",
        "revision",
    ),
    "file_id",
)
DELETED: Final = Table("deleted", ("file_id", "id", "revision"), "file_id")
OUTLINES: Final = Table("outlines", ("file_id", "outline"), "file_id", of_maps=True)
SOURCES: Final = Table(
    "sources", ("path", "file_id", "name", "size", "modified", "digest"), "path", of_maps=True
)
FILES: Final = Table("files", ("file_id", "digest", "content"), "file_id", of_maps=True)

SMALL_TABLES: Final = (CATEGORIES, SOFTWARE, LICENCE_TYPES, USERS, TOKENS)
TABLES_OF_MAPS: Final = (OUTLINES, SOURCES, FILES)
TABLES: Final = (*SMALL_TABLES, MAPS, *TABLES_OF_MAPS, DELETED)
"""In an order in which no row refers to one of a later table."""

NOT_TRANSFERRED: Final = ("visits", "salts", "tallies", "token_mark")
"""Tables that are left where they are: ``moving`` has the tallies applied first, visits and salts
are forgotten within hours, and every catalogue has a mark of its own."""

BOOLEANS: Final = ("disabled", "template")
"""Columns of truth values, which SQLite keeps as integers."""
