"""The tables of a catalogue, identical in both databases.

Rows read from one database can be written to the other unchanged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

Row = tuple[Any, ...]

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its primary key, and whether its rows are deleted with their map.

    ``transferred`` is the SQL condition for rows that a transfer copies. It deletes the others from
    its target, see ``all_access``.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    of_maps: bool = False
    transferred: str = "true"

    @property
    def keys(self) -> str:
        """The key columns as a comma-separated list for SQL."""
        return ", ".join(self.key)

    def key_of(self, row: Row) -> Row:
        """Return the key of a row."""
        return tuple(row[self.columns.index(name)] for name in self.key)

    def upsert(
        self,
        placeholder: str,
        *,
        others: Mapping[str, str] = _NONE,
        unique: str = "",
        fixed: Sequence[str] = (),
    ) -> str:
        """Return the statement that inserts or updates a row.

        Args:
            placeholder: the placeholder for the value of a column.
            others: SQL expressions for columns without a plain placeholder.
            unique: the conflict target, by default the key.
            fixed: columns that an update leaves unchanged.
        """
        values = (others.get(name, placeholder) for name in self.columns)
        written = [name for name in self.columns if name not in (*self.key, *fixed)]
        changed = ", ".join(f"{name} = excluded.{name}" for name in written)
        return (
            f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({', '.join(values)})"
            f" ON CONFLICT ({unique or self.keys}) DO"
            + (f" UPDATE SET {changed}" if changed else " NOTHING")
        )


@dataclass(frozen=True, slots=True)
class CatalogueCounters:
    """The one row of ``sequence``: identity, newest revision, highest ``file_id`` ever used.

    It includes the mark of that revision; see ``contract.ChangeFeed.lineage``.
    """

    identity: str
    revision: int
    file_id: int
    mark: str


@dataclass(frozen=True, slots=True)
class TransferNote:
    """What a transfer has left in a catalogue.

    Attributes:
        known: the numbers of all transfers whose results are part of the catalogue, newest last.
        number: the number of the last transfer that copied this catalogue, or wrote it; empty if
            there is none.
        revision: the revision of the catalogue then.
        mark: the mark of that revision; see ``contract.ChangeFeed.lineage``.
        contents: the digests of the tables then, by name, each with the columns it covers.
        begun_at: the last audit record when the transfer began, as from ``audit_position``;
            ``None`` if it has ended. While it has not, ``revision`` and ``mark`` are those that the
            catalogue will have, and there are no ``contents``.
    """

    known: tuple[str, ...] = ()
    number: str = ""
    revision: int = 0
    mark: str = ""
    contents: dict[str, tuple[tuple[str, ...], str]] | None = None
    begun_at: tuple[int, int] | None = None


USERS: Final = Table(
    "users",
    (
        "id",
        "name",
        "name_key",
        "registered",
        "disabled",
        "role",
        "password",
        "closed",
        "closing",
        "skeleton",
    ),
    ("id",),
)
TOKENS: Final = Table(
    "tokens",
    (
        "id",
        "user_id",
        "digest",
        "label",
        "scopes",
        "created",
        "expires",
        "revoked",
        "last_used",
        "kind",
    ),
    ("id",),
    transferred="kind NOT IN ('session', 'access')",
)
PROGRAMS: Final = Table(
    "programs", ("id", "name", "secret", "redirect_uris", "legacy", "created"), ("id",)
)
IDENTITIES: Final = Table(
    "identities", ("issuer", "subject", "user_id", "name", "created"), ("issuer", "subject")
)
PASSKEYS: Final = Table(
    "passkeys",
    ("id", "user_id", "public_key", "sign_count", "name", "created", "last_used"),
    ("id",),
)
COLLECTIONS: Final = Table(
    "collections",
    ("id", "owner_id", "title", "text", "visibility", "created", "changed", "pinned"),
    ("id",),
)
COLLECTION_DECISIONS: Final = Table(
    "collection_decisions",
    ("id", "collection_id", "kind", "visibility", "decided", "decided_by"),
    ("id",),
)
COLLECTION_REPORTS: Final = Table(
    "collection_reports",
    ("id", "collection_id", "user_id", "reason", "note", "created", "decision_id"),
    ("id",),
)
SAVED_SEARCHES: Final = Table(
    "saved_searches", ("id", "owner_id", "name", "parameters", "created", "changed"), ("id",)
)
CATEGORIES: Final = Table("categories", ("id", "name", "name_key"), ("id",))
SOFTWARE: Final = Table("software", ("id", "name", "name_key"), ("id",))
RENAMED_TAGS: Final = Table("renamed_tags", ("name_key", "name"), ("name_key",))
LICENCE_TYPES: Final = Table("licence_types", ("id", "name"), ("id",))
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
        "tags",
        "visibility",
        "set_by_people",
        "revision",
    ),
    ("file_id",),
)
DELETED: Final = Table("deleted", ("file_id", "id", "revision"), ("file_id",))
OUTLINES: Final = Table("outlines", ("file_id", "outline"), ("file_id",), of_maps=True)
SOURCES: Final = Table(
    "sources", ("path", "file_id", "name", "size", "modified", "digest"), ("path",), of_maps=True
)
FILES: Final = Table("files", ("file_id", "digest", "content"), ("file_id",), of_maps=True)
IMAGES: Final = Table(
    "images", ("file_id", "digest", "content"), ("file_id", "digest"), of_maps=True
)
LINKS: Final = Table(
    "links",
    ("file_id", "number", "topic", "target", "name"),
    ("file_id", "number"),
    of_maps=True,
)
OUTDATED: Final = Table("outdated", ("file_id",), ("file_id",), of_maps=True)
VERSIONS: Final = Table(
    "versions",
    ("file_id", "number", "name", "digest", "size", "created", "created_by", "content"),
    ("file_id", "number"),
    of_maps=True,
)
VOTES: Final = Table("votes", ("file_id", "user_id", "value"), ("file_id", "user_id"), of_maps=True)
REMOVED: Final = Table(
    "removed", ("file_id", "visibility", "removed", "removed_by"), ("file_id",), of_maps=True
)
MISSING: Final = Table("missing", ("file_id", "visibility", "since"), ("file_id",), of_maps=True)
INHERITED: Final = Table(
    "inherited", ("file_id", "original", "digest", "visibility"), ("file_id",), of_maps=True
)
ADDITIONS: Final = Table("additions", ("file_id", "added"), ("file_id",), of_maps=True)
FORMER_CONTENTS: Final = Table(
    "former_contents", ("file_id", "digest", "since"), ("file_id", "digest"), of_maps=True
)
FORMER_PLACES: Final = Table(
    "former_places", ("digest", "path", "file_id", "since"), ("digest", "file_id")
)
DECISIONS: Final = Table(
    "decisions",
    ("id", "file_id", "kind", "user_id", "visibility", "noted", "decided", "decided_by"),
    ("id",),
    of_maps=True,
)
REPORTS: Final = Table(
    "reports",
    ("id", "file_id", "user_id", "reason", "note", "created", "decision_id"),
    ("id",),
    of_maps=True,
)
COLLECTED_MAPS: Final = Table(
    "collected_maps",
    ("collection_id", "file_id", "position"),
    ("collection_id", "file_id"),
    of_maps=True,
)
SERVED_FOLDERS: Final = Table("served_folders", ("digest", "place"), ("digest",))
IMPORTED_FOLDERS: Final = Table("imported_folders", ("digest", "finished"), ("digest",))
REFUSALS: Final = Table(
    "refusals",
    ("digest", "path", "reason", "kind", "modified", "noted", "dismissed"),
    ("digest",),
)

OF_FOLDERS: Final = (SERVED_FOLDERS, IMPORTED_FOLDERS, REFUSALS)
"""What is known of folders and files without maps. Sources have canonical paths: unless it is known
where a served link led, their maps are not found again once it leads elsewhere."""

OF_PEOPLE: Final = (COLLECTIONS, COLLECTION_DECISIONS, COLLECTION_REPORTS, SAVED_SEARCHES)
"""Tables whose rows users add and delete without changing a map."""

SMALL_TABLES: Final = (
    *(CATEGORIES, SOFTWARE, LICENCE_TYPES, RENAMED_TAGS),
    *(USERS, TOKENS, PROGRAMS, IDENTITIES, PASSKEYS),
    *OF_PEOPLE,
    *OF_FOLDERS,
)
TABLES_OF_MAPS: Final = (
    *(OUTLINES, SOURCES, FILES, IMAGES, LINKS, OUTDATED),
    *(VERSIONS, VOTES, REMOVED, MISSING, INHERITED, FORMER_CONTENTS),
    ADDITIONS,
    *(DECISIONS, REPORTS),
    COLLECTED_MAPS,
)
TABLES: Final = (*SMALL_TABLES, MAPS, *TABLES_OF_MAPS, FORMER_PLACES, DELETED)
"""All tables that a transfer copies, ordered so that rows only refer to earlier tables.
``tests/store/test_transfer.py`` says why it leaves out the others."""

SIZES: Final = (
    "SELECT file_id, sum(size) FROM ("
    + " UNION ALL ".join(
        f"SELECT file_id, octet_length({column}) AS size FROM {table.name}"
        f" WHERE {column} IS NOT NULL AND {{0}}"
        for table, column in (
            (FILES, "content"),
            (VERSIONS, "content"),
            (IMAGES, "content"),
            (OUTLINES, "outline"),
        )
    )
    + ") AS contents GROUP BY file_id"
)
"""The sizes of what maps have; ``{0}`` stands for the condition, which is there four times."""

BOOLEANS: Final = ("disabled", "template", "legacy")
"""Boolean columns, which SQLite stores as integers."""
