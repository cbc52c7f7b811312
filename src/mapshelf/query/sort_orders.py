"""The orders that ``order_by`` offers, one table row each.

ARCHITECTURE.md ("add a sort order") lists the other files to change for a new one.

A row gives each map two numbers. The column key sorts the lists. The search key sorts the first
pages of a search inside the search index, which holds unsigned 64-bit numbers only.

``alpha`` is the one order by text, and the one exception: its keys are the first bytes of the
title, so maps with different titles may have equal keys. The row says so (``ties_by_title``), and
the builder of snapshots then compares whole titles.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mapshelf.model import ListedMap
from mapshelf.query.rating import rating
from mapshelf.text.normalize import normalize

_HALF: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class SortOrder:
    """A value of ``order_by``.

    Maps with equal keys follow by file id: highest first, or lowest first if ties go by title.

    Attributes:
        name: the value.
        description: which maps it puts first, for the OpenAPI document.
        dtype: NumPy type of the column key; signed unless the order is ascending.
        key: the column key of a map.
        search_key: a number of 64 bits that never contradicts the order: of maps with different
            search keys, the higher (if ascending, the lower) comes first.
        ascending: whether the lowest key comes first, not the highest.
        ties_by_title: whether whole titles decide between equal keys.
        search_keys_differ: whether search keys are hardly ever equal, as they hold the file id.
    """

    name: str
    description: str
    dtype: str
    key: Callable[[ListedMap], float]
    search_key: Callable[[ListedMap], int]
    ascending: bool = False
    ties_by_title: bool = False
    search_keys_differ: bool = False


def _title_start(found: ListedMap) -> int:
    """Return the first bytes of the folded title as a number. UTF-8 sorts by code point."""
    return int.from_bytes(normalize(found.map.title).encode()[:8].ljust(8, b"\0"))


def _count_and_file_id(count: int, file_id: int) -> int:
    if count >= _HALF:
        return _HALF * _HALF - 1
    return count * _HALF + min(file_id, _HALF - 1)


def _rating(found: ListedMap) -> float:
    return rating(found.map.thumbs_up, found.map.thumbs_down)


def _rating_search_key(found: ListedMap) -> int:
    """Return a key for the rating or, if it is 0, for the file id."""
    value = _rating(found)
    if value == 0.0:
        return 1 + min(found.map.file_id, _HALF - 1)
    # As integers, the bits of positive floating-point numbers sort as the numbers do.
    bits: int = struct.unpack(">Q", struct.pack(">d", max(value, 0.0)))[0]
    return bits


SORT_ORDERS: Final = (
    SortOrder(
        "alpha",
        "by title from A to Z, without regard to case and accents; equal titles oldest first",
        "<u8",
        key=_title_start,
        search_key=_title_start,
        ascending=True,
        ties_by_title=True,
    ),
    SortOrder(
        "downloads",
        "most downloads first",
        "<i8",
        key=lambda found: found.map.downloads,
        search_key=lambda found: _count_and_file_id(found.map.downloads, found.map.file_id),
        search_keys_differ=True,
    ),
    SortOrder(
        "views",
        "most views first",
        "<i8",
        key=lambda found: found.map.views,
        search_key=lambda found: _count_and_file_id(found.map.views, found.map.file_id),
        search_keys_differ=True,
    ),
    SortOrder(
        "date",
        "newest `DateAdded` first",
        "<i8",
        key=lambda found: found.map.date_added,
        search_key=lambda found: found.map.date_added + (1 << 62),
    ),
    SortOrder(
        "rating",
        "best rated first, by the lower end of the 95 % Wilson interval for the share of votes "
        "in favour",
        "<f8",
        key=_rating,
        search_key=_rating_search_key,
    ),
    SortOrder(
        "edited",
        "last edited first: as the file says, else by the time of the file",
        "<i8",
        key=lambda found: found.edited,
        search_key=lambda found: found.edited + (1 << 62),
    ),
)
"""All orders. Their sequence is that of the columns and index fields of a snapshot."""

ORDERS: Final = tuple(row.name for row in SORT_ORDERS)
"""The values of ``order_by`` (``docs/api.md``)."""
