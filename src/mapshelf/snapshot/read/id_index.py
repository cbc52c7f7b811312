"""Find the slot of a map by its public id, without the store.

A stored order sorts the slots by the hash of the public id. A binary search takes twenty steps for
a million maps, over arrays that all workers share. Hashes may collide, so the caller must compare
the id in the record.
"""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from pyroaring import BitMap

from mapshelf.snapshot.format.columns import Array, id_key
from mapshelf.snapshot.format.stored_order import BY_ID, OrderChanges, StoredOrder, order_folder


class IdIndex:
    """The index of one snapshot; ``keys`` is the column with the hash of each public id.

    Raises:
        SnapshotDamaged: a file is missing or damaged.
    """

    def __init__(self, folder: Path, keys: Array) -> None:
        changes = OrderChanges.load(folder, BY_ID)
        self._keys = keys.data
        self._slots = StoredOrder(order_folder(folder, BY_ID)).slots.data
        self._removed = BitMap(changes.removed)
        self._added = changes.added.data

    def __len__(self) -> int:
        return len(self._slots) - len(self._removed) + len(self._added)

    def candidates(self, public_id: str) -> Iterator[int]:
        """Yield the slots of all maps whose public id has the same hash as ``public_id``."""
        if not public_id.isascii():
            return
        wanted = id_key(public_id)
        yield from (self._added[place] for place in self._places(self._added, wanted))
        for rank in self._places(self._slots, wanted):
            if rank not in self._removed:
                yield self._slots[rank]

    def _places(self, slots: memoryview, wanted: int) -> Iterator[int]:
        """Yield the indexes of those ``slots`` that have the wanted hash; they are sorted by it."""
        place = bisect_left(slots, wanted, key=self._keys.__getitem__)
        while place < len(slots) and self._keys[slots[place]] == wanted:
            yield place
            place += 1
