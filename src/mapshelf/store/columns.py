"""Map database rows to model objects and back, with column lists shared by both databases.

Selected columns follow the fields of a class in ``model``, so that a row can be unpacked into an
object. Written columns follow a table in ``tables``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

from mapshelf.model import (
    GONE,
    Credential,
    Identity,
    LinkKind,
    Map,
    MapLink,
    Named,
    OneTimeLink,
    Passkey,
    Role,
    Source,
    Token,
    TokenKind,
    User,
    Visibility,
    format_tags,
)
from mapshelf.store.tables import MAPS, SOURCES, Row

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def _columns(kind: type[Any], alias: str = "", others: Mapping[str, str] = _NONE) -> str:
    """Return the SELECT list for the fields of a class.

    Args:
        kind: a dataclass of the model.
        alias: the alias of the table whose columns are named like the fields, with its dot.
        others: SQL expressions for fields that are not columns of this table.
    """
    names = [field.name for field in fields(kind)]
    return ", ".join(others.get(name, f"{alias}{name}") for name in names)


NAMED: Final = _columns(Named)
MAP: Final = _columns(Map, "m.", {"owner": "u.name", "software": "coalesce(s.name, '')"})
SOURCE: Final = _columns(Source)
USER: Final = _columns(User)
USER_OF_TOKEN: Final = _columns(User, "u.")
IDENTITY: Final = _columns(Identity)
PASSKEY: Final = _columns(Passkey)
PASSKEY_OF_USER: Final = _columns(Passkey, "p.")
TOKEN: Final = _columns(Token, "t.", {"user": "u.name"})

FROM_MAPS: Final = (
    "maps AS m JOIN users AS u ON u.id = m.owner_id LEFT JOIN software AS s ON s.id = m.software_id"
)
"""The tables that ``MAP`` is selected from."""

OPEN_SINCE: Final = (
    "SELECT coalesce(h.revision, 0) FROM maps AS m LEFT JOIN hidings AS h ON h.file_id = m.file_id"
    " WHERE m.id = {} AND m.visibility IN ('published', 'unlisted')"
)
"""Since which revision everybody may see a map."""

LINEAGE: Final = (
    "SELECT identity || ' ' || coalesce((SELECT mark FROM marks WHERE revision >= nullif({}, 0)"
    " ORDER BY revision LIMIT 1), '') FROM sequence"
)
"""The lineage as of a revision: the mark of the transaction that allocated it or a later one."""

COUNTERS: Final = (
    "SELECT identity, revision, file_id, coalesce("
    "(SELECT mark FROM marks WHERE marks.revision = sequence.revision), '') FROM sequence"
)
"""The columns of ``CatalogueCounters``."""

COUNT_PUBLISHED: Final = (
    "SELECT count(*) - (SELECT count(*) FROM maps WHERE visibility <> 'published') FROM maps"
)
"""The number of published maps, counted from indexes only."""

COUNT_VOTES: Final = (
    "SELECT file_id, sum(CASE WHEN value > 0 THEN 1 ELSE 0 END),"
    " sum(CASE WHEN value < 0 THEN 1 ELSE 0 END) FROM votes WHERE file_id {} GROUP BY file_id"
)
"""The votes for and against each map; ``{}`` is the condition for the maps."""

ORIGIN: Final = (
    "(SELECT coalesce(min(f.name), '') FROM sources AS f WHERE f.file_id = m.file_id),"
    " coalesce((SELECT max(f.modified) / 1000000 FROM sources AS f"
    " WHERE f.file_id = m.file_id AND f.modified NOT IN (-1, -2)),"
    " (SELECT max(v.created) FROM versions AS v WHERE v.file_id = m.file_id))"
)
"""The columns of ``Origin``: the name of a map's file, and when it was modified or uploaded. A file
that is about to be read again has the time -1, a missing one -2 (``GONE``)."""

UNPUBLISHED: Final = (
    f"SELECT {_columns(Source, 's.')} FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
    " LEFT JOIN removed AS r ON r.file_id = m.file_id"
    " LEFT JOIN missing AS g ON g.file_id = m.file_id"
    " WHERE (r.file_id IS NOT NULL OR coalesce(g.visibility, m.visibility) <> 'published')"
    f" AND (s.modified <> {GONE} OR {{missing}})"
)
"""Selects the sources of maps that are not published; ``{missing}`` is the condition for those that
are missing."""

KEEP_MISSING: Final = (
    "INSERT INTO missing SELECT m.file_id, coalesce(r.visibility, m.visibility), {now}"
    " FROM maps AS m LEFT JOIN removed AS r ON r.file_id = m.file_id WHERE m.file_id {maps}"
    " ON CONFLICT (file_id) DO NOTHING"
)
"""Records which visibility maps get back with their files; ``{now}`` is the placeholder of the
current time, ``{maps}`` the condition for the maps."""

SELECT_RENAMED_TAGS: Final = "SELECT name_key, name FROM renamed_tags"
"""See ``contract.Tags.renamed_tags``."""

FROM_TOKENS: Final = "tokens AS t JOIN users AS u ON u.id = t.user_id"
"""The tables that ``TOKEN`` and ``USER_OF_TOKEN`` are selected from."""


ONE_TIME_LINK: Final = "l.kind, l.digest, l.user_id, l.created, l.expires, a.name"
FROM_ONE_TIME_LINKS: Final = "one_time_links AS l LEFT JOIN users AS a ON a.id = l.created_by"
"""The columns for ``link_of_row``, and the tables they come from."""

MADE_RIGHTFULLY: Final = (
    "(l.created_by IS NULL OR a.role = 'administrator' AND a.disabled IS NOT TRUE)"
)
"""Condition: a command created a link, or somebody who is still an administrator, and enabled."""


RENEWED_TAGS: Final = (
    "tags = CASE WHEN tags <> '' OR ' ' || set_by_people || ' ' LIKE '%% tags %%'"
    " THEN tags ELSE ? END"
)
"""Gives a map without tags those of its file, unless users have removed them. psycopg reads %% as
one percent sign; in a LIKE pattern, one and two mean the same."""


def map_of_row(row: Sequence[Any]) -> Map:
    """Return the map in a row with the columns of ``MAP``."""
    tags, visibility, set_by_people = row[-3:]
    return Map(
        *(
            *row[:-4],
            bool(row[-4]),
            tuple(tags.split(", ")) if tags else (),
            Visibility(visibility),
            frozenset(set_by_people.split()),
        )
    )


def user_of_row(row: Row) -> User:
    """Return the user in a row with the columns of ``USER`` or ``USER_OF_TOKEN``."""
    user_id, name, registered, disabled, role = row
    return User(user_id, name, registered, bool(disabled), Role(role))


def token_of_row(row: Row) -> Token:
    """Return the token in a row with the columns of ``TOKEN``."""
    return Token(*(*row[:-1], TokenKind(row[-1])))


def credential_of_row(row: Row) -> Credential:
    """Return token and user from a row with the columns of ``USER_OF_TOKEN``, then ``TOKEN``."""
    size = len(fields(User))
    return Credential(token_of_row(row[size:]), user_of_row(row[:size]))


def link_of_row(row: Row, user: User | None) -> OneTimeLink:
    """Return the link in a row of ``ONE_TIME_LINK``, with ``user``, the user of its ``user_id``."""
    kind, digest, _, created, expires, created_by = row
    return OneTimeLink(LinkKind(kind), bytes(digest), user, created, expires, created_by)


def link_rows(file_id: int, links: Iterable[MapLink]) -> list[Row]:
    """Return the rows of ``tables.LINKS`` for the links of this map."""
    return [(file_id, number, *link) for number, link in enumerate(links)]


def map_row(new: Map, owner_id: int, revision: int) -> Row:
    """Return the row of ``tables.MAPS`` for a map."""
    others = {
        "owner_id": owner_id,
        "tags": format_tags(new.tags),
        "visibility": new.visibility.value,
        "set_by_people": " ".join(sorted(new.set_by_people)),
        "revision": revision,
    }
    return tuple(others[name] if name in others else getattr(new, name) for name in MAPS.columns)


def source_row(source: Source, file_id: int) -> Row:
    """Return the row of ``tables.SOURCES`` for a source of this map."""
    return tuple(
        file_id if name == "file_id" else getattr(source, name) for name in SOURCES.columns
    )
