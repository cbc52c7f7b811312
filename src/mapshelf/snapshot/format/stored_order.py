"""Store the sort orders of a snapshot: permutations of slots, and the changes since.

Writing an order of a million maps takes about a tenth of a second. So an order is written once, to
files that successive snapshots share. The maps added and removed since then are stored separately
(``OrderChanges``), and the reader merges the two.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format.columns import Array, load, save

BY_ID: Final = "id"
"""The order by hash of the public id, for finding one map. Clients cannot request it."""

NO_RANK: Final = (1 << 32) - 1
"""The rank of a slot without a map."""


@dataclass(frozen=True, slots=True)
class OrderChanges:
    """The changes to an order since it was written.

    Attributes:
        added: the added slots, in order.
        ranks: for each added slot, the rank in the stored order before which it is inserted.
        removed: the ranks of removed maps, ascending.
    """

    added: Array
    ranks: Array
    removed: Array

    @classmethod
    def none(cls) -> "OrderChanges":
        """Return an empty set of changes."""
        nothing = np.zeros(0, "<u4")
        return cls(nothing, nothing, nothing)

    @classmethod
    def load(cls, folder: Path, order: str) -> "OrderChanges":
        """Read the changes to an order from the folder of a snapshot.

        Raises:
            SnapshotDamaged: they are missing or damaged.
        """
        numbers = load(folder, f"changes-{order}", "<u4")
        added = int(numbers[0]) if len(numbers) else 0
        if len(numbers) < 1 + 2 * added:
            raise SnapshotDamaged(f"the changes of order {order} are truncated")
        return cls(*np.split(numbers[1:], (added, 2 * added)))

    def save(self, folder: Path, order: str) -> None:
        """Write the changes to an order into the folder of a snapshot."""
        count = np.array([len(self.added)], "<u4")
        numbers = np.concatenate((count, self.added, self.ranks, self.removed))
        save(folder, f"changes-{order}", numbers)

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)


class StoredOrder:
    """An order as it was written, in a folder of its own, without later changes.

    Attributes:
        slots: the slot at each rank.
        ranks: the rank of each slot that existed when the order was written; ``NO_RANK`` for a
            slot without a live map.

    Raises:
        SnapshotDamaged: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.slots = load(folder, "slots", "<u4")
        self.ranks = load(folder, "ranks", "<u4")

    def link_to(self, folder: Path) -> None:
        """Hard-link its files into a new folder."""
        folder.mkdir()
        for path in self._folder.iterdir():
            (folder / path.name).hardlink_to(path)

    def remove(self) -> None:
        """Delete its folder. Snapshots keep their own hard links to the files."""
        shutil.rmtree(self._folder)


def order_folder(folder: Path, order: str) -> Path:
    """Return the folder of a stored order in the folder of a snapshot."""
    return folder / f"order-{order}"
