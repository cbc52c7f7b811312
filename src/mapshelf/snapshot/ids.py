"""From the public id of a map to its slot, without the store.

The slots, in ascending order of a hash of their maps' ids, are searched by halves: twenty steps
for a million maps, over arrays that all workers share. Two ids may have the same hash, so what is
found is a candidate, and the record itself says whether it is the one.
"""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mapshelf.snapshot.arrays import Columns, id_key, load, save


def write_ids(directory: Path, columns: Columns) -> None:
    """Write the order of ids into the folder of a snapshot."""
    slots = np.flatnonzero(columns["alive"]).astype("<u4")
    save(directory, "ids", slots[np.argsort(columns["id"][slots])])


class Ids:
    """The order of ids of one snapshot.

    Raises:
        SnapshotDamaged: it is missing or not an array.
    """

    def __init__(self, directory: Path) -> None:
        self._keys = load(directory, "column-id").data
        self._slots = load(directory, "ids").data

    def __len__(self) -> int:
        return len(self._slots)

    def candidates(self, public_id: str) -> Iterator[int]:
        """Yield the slots whose maps may have this id."""
        if not public_id.isascii():
            return
        wanted = id_key(public_id)
        place = bisect_left(self._slots, wanted, key=self._keys.__getitem__)
        while place < len(self._slots) and self._keys[self._slots[place]] == wanted:
            yield self._slots[place]
            place += 1
