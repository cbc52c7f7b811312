"""The orders of a catalogue as they lie in a snapshot: written whole, with few changes beside them.

Writing an order of a million maps takes about a tenth of a second, so it stays as it was written,
in files that snapshots share; what came and went since is noted beside it, and put together by
whoever reads.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format.columns import Array, load, save

BY_ID: Final = "id"
"""The order by the hashes of public ids, to find one map."""

NOWHERE: Final = (1 << 32) - 1
"""Stands for the rank of a slot without a map."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has become of an order since it was written.

    Attributes:
        fresh: the slots that came, in order.
        places: the rank that each of them goes before.
        gone: the ranks that no longer count, ascending.
    """

    fresh: Array
    places: Array
    gone: Array

    @classmethod
    def none(cls) -> "Changes":
        """Return no changes."""
        nothing = np.zeros(0, "<u4")
        return cls(nothing, nothing, nothing)

    @classmethod
    def load(cls, folder: Path, order: str) -> "Changes":
        """Read those of an order from the folder of a snapshot.

        Raises:
            SnapshotDamaged: they are missing or damaged.
        """
        numbers = load(folder, f"changes-{order}", "<u4")
        came = int(numbers[0]) if len(numbers) else 0
        if len(numbers) < 1 + 2 * came:
            raise SnapshotDamaged(f"the changes of order {order} are cut short")
        return cls(*np.split(numbers[1:], (came, 2 * came)))

    def save(self, folder: Path, order: str) -> None:
        """Write them into the folder of a snapshot."""
        came = np.array([len(self.fresh)], "<u4")
        save(folder, f"changes-{order}", np.concatenate((came, self.fresh, self.places, self.gone)))

    def __len__(self) -> int:
        return len(self.fresh) + len(self.gone)


class Order:
    """An order as it was written, in a folder of its own.

    Attributes:
        slots: the slot at each rank.
        ranks: the rank of each slot there was then, ``NOWHERE`` where no map was.

    Raises:
        SnapshotDamaged: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.slots = load(folder, "slots", "<u4")
        self.ranks = load(folder, "ranks", "<u4")

    def link_to(self, folder: Path) -> None:
        """Give its files names in another folder."""
        folder.mkdir()
        for path in self._folder.iterdir():
            (folder / path.name).hardlink_to(path)

    def remove(self) -> None:
        """Delete its folder; snapshots keep the files that they share."""
        shutil.rmtree(self._folder)


def order_folder(folder: Path, order: str) -> Path:
    """Return where in the folder of a snapshot an order is."""
    return folder / f"order-{order}"
