"""The orders of a catalogue that changes: written whole now and then, with few changes beside them.

Writing an order of a million maps, with the sets of ranks that go with it, takes about a tenth of a
second, and a snapshot has six. So an order stays as it was written, in files that snapshots share;
what came and went since is noted beside it, and put together by whoever reads (``listing.py``).
Once that is much the order is written anew, mostly one at a time, so that no change has to wait for
all of them.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.query import ORDERS
from mapshelf.snapshot.format.columns import Array, Columns, save
from mapshelf.snapshot.format.orders import BY_ID, NOWHERE, Changes, Order, order_folder
from mapshelf.snapshot.format.posting_lists import SetsWriter
from mapshelf.text.normalize import normalize

ALPHA: Final = "alpha"
"""The one order that goes by text: titles decide where their beginnings are alike."""

MANY: Final = 2048
"""Changes beside an order from which it is worth writing anew, when its turn comes."""

TOO_MANY: Final = 4 * MANY
"""Changes beside an order from which it is written anew at once: each makes every list slower."""

MANY_AT_ONCE: Final = 1000
"""Slots that come at once up to which each is put in its place, however few maps there are."""

TITLES_IN_MEMORY: Final = 1 << 14
"""Titles kept at hand. A place in ``alpha`` is searched by halves: the first titles that are looked
at are mostly the same."""

Titles = Callable[[Sequence[int]], list[str]]
"""Gives the titles of slots."""


class Orders:
    """The orders of all maps while snapshots are being built.

    Each ends in the file id, so that it is total: the newest first, ``alpha`` the oldest.
    """

    def __init__(self, folder: Path, columns: Columns, titles: Titles) -> None:
        self._folder = folder
        self._numbers = count()
        self._columns = columns
        self._sets = SetsWriter(columns)
        self._titles = titles
        self._title_key = lru_cache(TITLES_IN_MEMORY)(self._read_title_key)
        self._orders: dict[str, Order] = {}
        self._changes: dict[str, Changes] = {}
        self._seen = 0  # slots taken into account so far

    def read_titles_from(self, titles: Titles) -> None:
        """Read titles in another way from now on."""
        self._titles = titles

    def take_up(self, snapshot: Path) -> Array:
        """Go on from a snapshot that has all slots there are; return those that are in order."""
        for name in (*ORDERS, BY_ID):
            folder = self._new_folder(name)
            Order(order_folder(snapshot, name)).link_to(folder)
            self._orders[name] = Order(folder)
            self._changes[name] = Changes.load(snapshot, name)
        self._seen = len(self._columns)
        return self._merged(BY_ID)

    def update(self, gone: Sequence[int]) -> None:
        """Take into account the slots that came, and of those there were before the ones ``gone``.

        Doing so again after a failure does no harm.
        """
        fresh = self._seen + np.flatnonzero(self._columns.alive[self._seen :])
        if not self._orders or len(fresh) > max(MANY_AT_ONCE, len(self._columns) // 50):
            slots = np.flatnonzero(self._columns.alive).astype("<u4")
            self._replace({name: self._sorted(name, slots) for name in (*ORDERS, BY_ID)})
        else:
            left = np.array([slot for slot in gone if slot < self._seen], "<u4")
            self._changes = {
                name: self._changed(name, left, fresh.astype("<u4")) for name in self._orders
            }
        self._seen = len(self._columns)
        self._replace({name: self._merged(name) for name in self._due()})

    def write_anew(self) -> None:
        """Write all orders anew, so that they no longer know of what is gone."""
        self._replace({name: self._merged(name) for name in self._orders})

    def write(self, folder: Path) -> None:
        """Put all orders into the folder of a snapshot."""
        for name, order in self._orders.items():
            order.link_to(order_folder(folder, name))
            self._changes[name].save(folder, name)

    def _due(self) -> list[str]:
        """Return the orders to write anew: one of those with many changes, all with too many."""
        changes = {name: len(found) for name, found in self._changes.items()}
        most = max(changes.values())
        first = [name for name, found in changes.items() if found == most > MANY][:1]
        return [name for name, found in changes.items() if found > TOO_MANY or name in first]

    def _replace(self, permutations: dict[str, Array]) -> None:
        """Write orders anew; they are replaced when all of them are there."""
        written = {name: self._written(name, slots) for name, slots in permutations.items()}
        for name, order in written.items():
            if name in self._orders:
                self._orders[name].remove()
            self._orders[name], self._changes[name] = order, Changes.none()

    def _written(self, name: str, slots: Array) -> Order:
        folder = self._new_folder(name)
        folder.mkdir()
        ranks = np.full(len(self._columns), NOWHERE, "<u4")
        ranks[slots] = np.arange(len(slots), dtype="<u4")
        save(folder, "slots", slots)
        save(folder, "ranks", ranks)
        if name in ORDERS:
            self._sets.write(folder, slots)
        return Order(folder)

    def _new_folder(self, name: str) -> Path:
        return self._folder / f"order-{name}-{next(self._numbers)}"

    def _changed(self, name: str, gone: Array, fresh: Array) -> Changes:
        """Return the changes of an order once these slots have gone and come."""
        order, old = self._orders[name], self._changes[name]
        stays = ~np.isin(old.fresh, gone)
        kept, new = old.fresh[stays], self._sorted(name, fresh)
        at = self._places(name, kept, new)
        ranks = order.ranks[gone[gone < len(order.ranks)]]
        return Changes(
            np.insert(kept, at, new),
            np.insert(old.places[stays], at, self._places(name, order.slots, new)),
            np.union1d(old.gone, ranks[ranks != NOWHERE]),
        )

    def _merged(self, name: str) -> Array:
        """Return an order with its changes, as one permutation."""
        slots, changes = self._orders[name].slots, self._changes[name]
        places = changes.places - np.searchsorted(changes.gone, changes.places)
        return np.insert(np.delete(slots, changes.gone), places, changes.fresh)

    def _sorted(self, name: str, slots: Array) -> Array:
        keys, file_ids = self._keys(name, slots), self._columns["file_id"][slots]
        by_key = np.lexsort((-file_ids, keys))
        ordered = slots[by_key]
        if name == ALPHA:
            alike = keys[by_key[1:]] == keys[by_key[:-1]]
            tied = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
            ordered[tied] = sorted(ordered[tied].tolist(), key=self._read_title_key)
        return ordered

    def _places(self, name: str, among: Array, slots: Array) -> Array:
        """Return how many of ``among``, slots in order, come before each of ``slots``."""
        low, high = np.zeros(len(slots), "i8"), np.full(len(slots), len(among))
        while len(open_ones := np.flatnonzero(low < high)):
            middle = (low[open_ones] + high[open_ones]) // 2
            before = self._before(name, among[middle], slots[open_ones])
            low[open_ones[before]] = middle[before] + 1
            high[open_ones[~before]] = middle[~before]
        return low

    def _before(self, name: str, slots: Array, others: Array) -> Array:
        """Tell of each slot whether it comes before the other one."""
        keys, other_keys = self._keys(name, slots), self._keys(name, others)
        before: Array = keys < other_keys
        tied = np.flatnonzero(keys == other_keys)
        if name == ALPHA:
            pairs = zip(slots[tied].tolist(), others[tied].tolist(), strict=True)
            before[tied] = [self._title_key(one) < self._title_key(other) for one, other in pairs]
        else:
            file_ids = self._columns["file_id"]
            before[tied] = file_ids[slots[tied]] > file_ids[others[tied]]
        return before

    def _keys(self, name: str, slots: Array) -> Array:
        """Return numbers that grow along an order."""
        keys = self._columns[name][slots]
        return keys if name in (ALPHA, BY_ID) else -keys

    def _read_title_key(self, slot: int) -> tuple[str, str, int]:
        (title,) = self._titles([slot])
        return normalize(title), title, int(self._columns["file_id"][slot])
