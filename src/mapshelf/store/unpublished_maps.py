"""Read the unpublished maps of a user, of whom some have a hundred thousand, for both databases.

No index has them (``api/unpublished_maps.py``), so a list of them may need all. A statement for
each would take a minute over a network: these read hundreds at once.
"""

from collections.abc import Sequence
from typing import Final

from mapshelf.model import Map, Origin, Visibility
from mapshelf.store.columns import FROM_MAPS, MAP, ORIGIN, map_of_row
from mapshelf.store.shared_methods import SharedMethods

_UNPUBLISHED: Final = "m.owner_id = ? AND m.visibility <> 'published' AND m.visibility <> 'removed'"
"""The condition for the unlisted and private maps of a user."""

_COUNTS: Final = frozenset({"views", "downloads", "date_added"})
"""The fields of ``unpublished_counts``."""


class UnpublishedMapMethods(SharedMethods):
    """See ``contract.MapsOfPeople``."""

    def unpublished_ids(self, owner_id: int) -> list[tuple[int, Visibility]]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT m.file_id, m.visibility FROM maps AS m WHERE {_UNPUBLISHED}"
            " ORDER BY m.file_id",
            (owner_id,),
        )
        return [(file_id, Visibility(visibility)) for file_id, visibility in rows]

    def unpublished_counts(
        self, owner_id: int, field: str
    ) -> list[tuple[int, str, Visibility, int]]:
        """See ``Store``."""
        assert field in _COUNTS
        rows = self._read(
            f"SELECT m.file_id, m.id, m.visibility, m.{field} FROM maps AS m"
            f" WHERE {_UNPUBLISHED} ORDER BY m.file_id",
            (owner_id,),
        )
        return [(file_id, one, Visibility(shown), count) for file_id, one, shown, count in rows]

    def unpublished_maps(self, owner_id: int, file_ids: Sequence[int] | None = None) -> list[Map]:
        """See ``Store``."""
        among = "" if file_ids is None else f" AND m.file_id IN {_places(file_ids)}"
        rows = self._read(
            f"SELECT {MAP} FROM {FROM_MAPS} WHERE {_UNPUBLISHED}{among} ORDER BY m.file_id",
            (owner_id, *(file_ids or ())),
        )
        return [map_of_row(row) for row in rows]

    def origins(self, file_ids: Sequence[int]) -> dict[int, Origin]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT m.file_id, {ORIGIN} FROM maps AS m WHERE m.file_id IN {_places(file_ids)}",
            (*file_ids,),
        )
        return {file_id: Origin(*row) for file_id, *row in rows}

    def outline_sizes(self, file_ids: Sequence[int]) -> dict[int, int]:
        """See ``Store``. Neither database reads an outline to get its length."""
        sql = f"SELECT file_id, length(outline) FROM outlines WHERE file_id IN {_places(file_ids)}"
        return dict(self._read(sql, (*file_ids,)))

    def outlines(self, file_ids: Sequence[int]) -> dict[int, bytes]:
        """See ``Store``."""
        sql = f"SELECT file_id, outline FROM outlines WHERE file_id IN {_places(file_ids)}"
        return dict(self._read(sql, (*file_ids,)))


def _places(values: Sequence[object]) -> str:
    """Return a list of placeholders; without ``values``, one that nothing is in."""
    return f"({', '.join('?' * len(values)) or 'NULL'})"
