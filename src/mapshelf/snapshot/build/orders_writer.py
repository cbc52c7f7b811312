"""Maintain the stored orders as maps are added and removed.

Writing an order of a million maps with its posting lists takes about a tenth of a second, and a
snapshot has six. So a stored order is kept as it was written, in files that snapshots share. Later
changes are stored separately, and the reader merges them (``listing.py``). An order with many
changes is rewritten, usually only one per snapshot, so that no change waits for all six.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.lru_cache import LRUCache
from mapshelf.query import ORDERS, SORT_ORDERS
from mapshelf.snapshot.build.posting_lists_writer import PostingListsWriter
from mapshelf.snapshot.format.columns import Array, Columns, save
from mapshelf.snapshot.format.stored_order import (
    BY_ID,
    NO_RANK,
    OrderChanges,
    StoredOrder,
    order_folder,
)
from mapshelf.text.normalize import normalize

MANY_CHANGES: Final = 2048
"""Number of changes above which an order is rewritten if no other has more changes."""

TOO_MANY_CHANGES: Final = 4 * MANY_CHANGES
"""Number of changes above which an order is rewritten in any case: each change makes every list
slower."""

MOST_INSERTED: Final = 1000
"""Maximum number of added slots that are inserted one by one; in a large catalogue, a fiftieth of
its slots if that is more. If more slots are added at once, all orders are sorted again."""

TITLES_IN_MEMORY: Final = 1 << 14
"""Maximum number of cached titles. The binary search for a position in order ``alpha`` always reads
the same few titles first."""

_ASCENDING: Final = {BY_ID, *(row.name for row in SORT_ORDERS if row.ascending)}
_TIES_BY_TITLE: Final = {row.name for row in SORT_ORDERS if row.ties_by_title}

Titles = Callable[[Sequence[int]], list[str]]
"""Reads the titles of slots."""

TitleKey = tuple[str, str, int]
"""Sorts a slot by title: the title as compared, as written, and the file id."""


class OrdersWriter:
    """The orders of all maps (``SORT_ORDERS`` and ``BY_ID``) while snapshots are being built.

    The file id decides between equal maps, so every order is total.
    """

    def __init__(self, folder: Path, columns: Columns, titles: Titles) -> None:
        self._folder = folder
        self._folder_numbers = count()
        self._columns = columns
        self._posting_lists = PostingListsWriter(columns)
        self._titles = titles
        self._title_keys: LRUCache[int, TitleKey] = LRUCache(TITLES_IN_MEMORY)
        self._orders: dict[str, StoredOrder] = {}
        self._changes: dict[str, OrderChanges] = {}
        self._seen = 0  # slots that the orders cover

    def read_titles_from(self, titles: Titles) -> None:
        """Read titles with another function from now on."""
        self._titles = titles

    def resume(self, snapshot: Path) -> Array:
        """Continue from a snapshot that covers all slots; return the slots that hold a map."""
        for name in (*ORDERS, BY_ID):
            folder = self._new_folder(name)
            StoredOrder(order_folder(snapshot, name)).link_to(folder)
            self._orders[name] = StoredOrder(folder)
            self._changes[name] = OrderChanges.load(snapshot, name)
        self._seen = len(self._columns)
        return self._merged(BY_ID)

    def update(self, removed: Sequence[int]) -> None:
        """Add the new slots of the columns to all orders, and remove the ``removed`` ones.

        If this fails, it can be called again.
        """
        added = self._seen + np.flatnonzero(self._columns.live[self._seen :])
        if not self._orders or len(added) > max(MOST_INSERTED, len(self._columns) // 50):
            slots = np.flatnonzero(self._columns.live).astype("<u4")
            self._replace({name: self._sorted(name, slots) for name in (*ORDERS, BY_ID)})
        else:
            known = np.array([slot for slot in removed if slot < self._seen], "<u4")
            self._changes = {
                name: self._changed(name, known, added.astype("<u4")) for name in self._orders
            }
        self._seen = len(self._columns)
        self._replace({name: self._merged(name) for name in self._due()})

    def rewrite(self) -> None:
        """Rewrite all orders, so that none contains removed slots."""
        self._replace({name: self._merged(name) for name in self._orders})

    def write(self, folder: Path) -> None:
        """Link all orders into the folder of a snapshot, and write their changes there."""
        for name, order in self._orders.items():
            order.link_to(order_folder(folder, name))
            self._changes[name].save(folder, name)

    def _due(self) -> list[str]:
        """Return the orders to rewrite.

        These are one with the most changes, if it has more than ``MANY_CHANGES``, and all with more
        than ``TOO_MANY_CHANGES``.
        """
        changes = {name: len(found) for name, found in self._changes.items()}
        most = max(changes.values())
        first = [name for name, found in changes.items() if found == most > MANY_CHANGES][:1]
        return [
            name for name, found in changes.items() if found > TOO_MANY_CHANGES or name in first
        ]

    def _replace(self, permutations: dict[str, Array]) -> None:
        """Write new permutations of some orders, and then replace the old ones."""
        written = {name: self._written(name, slots) for name, slots in permutations.items()}
        for name, order in written.items():
            if name in self._orders:
                self._orders[name].remove()
            self._orders[name], self._changes[name] = order, OrderChanges.none()

    def _written(self, name: str, slots: Array) -> StoredOrder:
        folder = self._new_folder(name)
        folder.mkdir()
        ranks = np.full(len(self._columns), NO_RANK, "<u4")
        ranks[slots] = np.arange(len(slots), dtype="<u4")
        save(folder, "slots", slots)
        save(folder, "ranks", ranks)
        if name in ORDERS:
            self._posting_lists.write(folder, slots, ranks)
        return StoredOrder(folder)

    def _new_folder(self, name: str) -> Path:
        return self._folder / f"order-{name}-{next(self._folder_numbers)}"

    def _changed(self, name: str, removed: Array, added: Array) -> OrderChanges:
        """Return the changes to an order after these slots are also removed and added."""
        order, old = self._orders[name], self._changes[name]
        stays = ~np.isin(old.added, removed)
        kept, new = old.added[stays], self._sorted(name, added)
        at = self._places(name, kept, new)
        ranks = order.ranks[removed[removed < len(order.ranks)]]
        return OrderChanges(
            np.insert(kept, at, new),
            np.insert(old.ranks[stays], at, self._places(name, order.slots, new)),
            np.union1d(old.removed, ranks[ranks != NO_RANK]),
        )

    def _merged(self, name: str) -> Array:
        """Return an order with its changes applied, as one permutation of slots."""
        slots, changes = self._orders[name].slots, self._changes[name]
        places = changes.ranks - np.searchsorted(changes.removed, changes.ranks)
        return np.insert(np.delete(slots, changes.removed), places, changes.added)

    def _sorted(self, name: str, slots: Array) -> Array:
        keys, file_ids = self._keys(name, slots), self._columns["file_id"][slots]
        by_key = np.lexsort((-file_ids, keys))
        ordered = slots[by_key]
        if name in _TIES_BY_TITLE:
            equal = keys[by_key[1:]] == keys[by_key[:-1]]
            tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
            ordered[tied] = sorted(ordered[tied].tolist(), key=self._read_title_key)
        return ordered

    def _places(self, name: str, among: Array, slots: Array) -> Array:
        """Return, for each of ``slots``, how many of the sorted slots ``among`` come before it."""
        low, high = np.zeros(len(slots), "i8"), np.full(len(slots), len(among))
        while len(unplaced := np.flatnonzero(low < high)):
            middle = (low[unplaced] + high[unplaced]) // 2
            before = self._before(name, among[middle], slots[unplaced])
            low[unplaced[before]] = middle[before] + 1
            high[unplaced[~before]] = middle[~before]
        return low

    def _before(self, name: str, slots: Array, others: Array) -> Array:
        """Return, for each pair from ``slots`` and ``others``, whether the former comes first."""
        keys, other_keys = self._keys(name, slots), self._keys(name, others)
        before: Array = keys < other_keys
        tied = np.flatnonzero(keys == other_keys)
        if name in _TIES_BY_TITLE:
            pairs = zip(slots[tied].tolist(), others[tied].tolist(), strict=True)
            before[tied] = [self._title_key(one) < self._title_key(other) for one, other in pairs]
        else:
            file_ids = self._columns["file_id"]
            before[tied] = file_ids[slots[tied]] > file_ids[others[tied]]
        return before

    def _keys(self, name: str, slots: Array) -> Array:
        """Return the sort keys of slots, negated if the order is descending."""
        keys = self._columns[name][slots]
        return keys if name in _ASCENDING else -keys

    def _title_key(self, slot: int) -> TitleKey:
        """Return the key of a slot that the binary search compares with again and again."""
        key = self._title_keys.get(slot)
        if key is None:
            key = self._read_title_key(slot)
            self._title_keys.put(slot, key)
        return key

    def _read_title_key(self, slot: int) -> TitleKey:
        (title,) = self._titles([slot])
        return normalize(title), title, int(self._columns["file_id"][slot])
