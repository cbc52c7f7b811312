"""From the public id of a map to its slot, without the store.

The slots, in ascending order of a hash of their maps' ids, are searched by halves: twenty steps
for a million maps, over arrays that all workers share. Two ids may have the same hash, so what is
found is a candidate, and the record itself says whether it is the one.
"""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from pyroaring import BitMap

from mapshelf.snapshot.format.columns import Array, id_key
from mapshelf.snapshot.format.orders import BY_ID, Changes, Order, order_folder


class Ids:
    """The order of ids of one snapshot, whose hashes are ``keys``.

    Raises:
        SnapshotDamaged: it is missing or not an array.
    """

    def __init__(self, folder: Path, keys: Array) -> None:
        changes = Changes.load(folder, BY_ID)
        self._keys = keys.data
        self._slots = Order(order_folder(folder, BY_ID)).slots.data
        self._gone = BitMap(changes.gone)
        self._fresh = changes.fresh.data

    def __len__(self) -> int:
        return len(self._slots) - len(self._gone) + len(self._fresh)

    def candidates(self, public_id: str) -> Iterator[int]:
        """Yield the slots whose maps may have this id."""
        if not public_id.isascii():
            return
        wanted = id_key(public_id)
        yield from (self._fresh[place] for place in self._places(self._fresh, wanted))
        for rank in self._places(self._slots, wanted):
            if rank not in self._gone:
                yield self._slots[rank]

    def _places(self, slots: memoryview, wanted: int) -> Iterator[int]:
        """Yield where among ``slots`` in order those with the wanted hash are."""
        place = bisect_left(slots, wanted, key=self._keys.__getitem__)
        while place < len(slots) and self._keys[slots[place]] == wanted:
            yield place
            place += 1
