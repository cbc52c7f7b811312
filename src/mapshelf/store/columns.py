"""The columns that make values of the model, for both databases: each list is written once.

What is selected follows the fields of a class in ``model``, so that a row makes a value as it is.
What is written follows the columns of a table in ``tables``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

from mapshelf.model import Map, MapLink, Named, Source, Token, User
from mapshelf.store.tables import MAPS, SOURCES, Row

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def _columns(kind: type[Any], alias: str = "", others: Mapping[str, str] = _NONE) -> str:
    """Return what to select for the fields of a class.

    Args:
        kind: a dataclass of the model.
        alias: of the table that has columns of the same names as the fields, with its dot.
        others: what stands for fields that are not columns of this table.
    """
    names = [field.name for field in fields(kind)]
    return ", ".join(others.get(name, f"{alias}{name}") for name in names)


NAMED: Final = _columns(Named)
MAP: Final = _columns(Map, "m.", {"owner": "u.name", "software": "coalesce(s.name, '')"})
SOURCE: Final = _columns(Source)
USER: Final = _columns(User)
USER_OF_TOKEN: Final = _columns(User, "u.")
TOKEN: Final = _columns(Token, "t.", {"user": "u.name"})

FROM_MAPS: Final = (
    "maps AS m JOIN users AS u ON u.id = m.owner_id LEFT JOIN software AS s ON s.id = m.software_id"
)
"""The tables that ``MAP`` is selected from."""

FROM_TOKENS: Final = "tokens AS t JOIN users AS u ON u.id = t.user_id"
"""The tables that ``TOKEN`` and ``USER_OF_TOKEN`` are selected from."""


def link_rows(file_id: int, links: Iterable[MapLink]) -> list[Row]:
    """Return the rows of ``tables.LINKS`` for the links of this map."""
    return [(file_id, number, *link) for number, link in enumerate(links)]


def map_row(new: Map, owner_id: int, revision: int) -> Row:
    """Return the row of ``tables.MAPS`` for a map."""
    others = {"owner_id": owner_id, "revision": revision}
    return tuple(others[name] if name in others else getattr(new, name) for name in MAPS.columns)


def source_row(source: Source, file_id: int) -> Row:
    """Return the row of ``tables.SOURCES`` for a source of this map."""
    return tuple(
        file_id if name == "file_id" else getattr(source, name) for name in SOURCES.columns
    )
