"""Lists from orders with separate changes equal lists from orders written from scratch.

The oracle is another path of the same code: all orders rewritten, without separate changes.
``test_incremental.py`` compares that path with plain Python.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.model import ListedMap, Map
from mapshelf.query import FILTERS, ORDERS, MapQuery
from mapshelf.snapshot.build import orders_writer as ordering
from mapshelf.snapshot.build.orders_writer import OrdersWriter
from mapshelf.snapshot.format import posting_lists as postings
from mapshelf.snapshot.format.columns import (
    COLUMNS,
    Array,
    Columns,
    Entry,
    column_file,
    load_columns,
)
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.keys import keys_of
from mapshelf.snapshot.read.id_index import IdIndex
from mapshelf.snapshot.read.listing import Listing
from tests.examples import examples, share

ALL = 10**9
TAGS = ("red", "Blue", "green")
FOLDERS = ("", "a/", "a/b/", "c/d/")
TITLES = ["tea", "Teapot with a lid", "teapot with a LID", "日本語のお茶", ""]


class Shelf:
    """Maps by their numbers, published into a new folder each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._work = folder / "work-0"
        self._work.mkdir()
        self._numbers = count(1)
        self._titles: list[str] = []
        self._gone: list[int] = []
        self.published = folder
        self.slots: dict[int, int] = {}
        self.columns = Columns(self._work)
        self.orders = OrdersWriter(self._work, self.columns, self.titles)

    def titles(self, slots: Sequence[int]) -> list[str]:
        return [self._titles[slot] for slot in slots]

    def put(self, number: int, title: str = "tea", category: int = 1, views: int = 0) -> None:
        self.remove(number)
        self.slots[number] = len(self.columns)
        self._titles.append(title)
        found = listed(made(number, title, category, views))
        self.columns.append([Entry(found, keys_of(found), 0, 0)])

    def remove(self, number: int) -> None:
        if number in self.slots:
            slot = self.slots.pop(number)
            self.columns.remove(slot)
            self._gone.append(slot)

    def publish(self) -> None:
        self.orders.update(self._gone)
        self._gone.clear()
        self.published = self._written(self.orders)

    def resume(self) -> None:
        """Publish, and continue like a new process."""
        self.publish()
        self.columns.close()
        self._work = self._new_folder("work")
        for name in (*map(column_file, COLUMNS), *DICTIONARIES):
            (self._work / name).hardlink_to(self.published / name)
        self.columns = Columns(self._work, len(self._titles))
        self.orders = OrdersWriter(self._work, self.columns, self.titles)
        self.columns.mark_live(self.orders.resume(self.published))

    def prove(self, chance: np.random.Generator) -> None:
        """Compare what was published with orders written from scratch."""
        scratch = self._new_folder("scratch")
        rewritten = OrdersWriter(scratch, self.columns, self.titles)
        rewritten.update([])
        published, oracle = (
            self._listing(folder) for folder in (self.published, self._written(rewritten))
        )
        assert len(published) == len(oracle) == len(self.slots)
        for query in share(list(queries(self.columns)), int(chance.integers(100))):
            prove_list(published, oracle, query, chance)
        ids = IdIndex(self.published, self._columns_of(self.published)["id"])
        assert len(ids) == len(self.slots)
        for number, slot in self.slots.items():
            assert list(ids.candidates(f"id{number}")) == [slot]
        assert not list(ids.candidates("id-of-none"))

    def close(self) -> None:
        self.columns.close()
        shutil.rmtree(self._folder)

    def _listing(self, folder: Path) -> Listing:
        return Listing(folder, self._columns_of(folder))

    def _columns_of(self, folder: Path) -> dict[str, Array]:
        return load_columns(folder, len(self._titles))

    def _written(self, orders: OrdersWriter) -> Path:
        folder = self._new_folder("snapshot")
        self.columns.link_to(folder)
        orders.write(folder)
        return folder

    def _new_folder(self, name: str) -> Path:
        folder = self._folder / f"{name}-{next(self._numbers)}"
        folder.mkdir()
        return folder


def made(number: int, title: str, category: int, views: int) -> Map:
    return Map(
        file_id=number,
        id=f"id{number}",
        title=title,
        description="",
        thumbs_up=views % 3,
        thumbs_down=views % 2,
        views=views,
        downloads=-views % 4,
        thumbnail=None,
        url=None,
        category_id=category,
        category="",
        date_added=views % 2,
        owner=f"owner{category % 2}",
        size=None,
        copyright="",
        licence_type_id=None,
        software_id=number % 2 or None,
        software="",
        template=category == 2,
    )


def listed(found: Map) -> ListedMap:
    """Return a map with folders and tags that depend on its numbers."""
    return ListedMap(
        replace(found, tags=TAGS[: found.views]),
        edited=found.views,
        source=f"{FOLDERS[found.category_id % 4]}{found.file_id}.mm",
        language=("", "de", "fr")[found.category_id % 3],
        topics=found.views * 40,
        notes=found.views > 1,
        tasks=found.views > 2,
    )


def queries(columns: Columns) -> Iterator[MapQuery]:
    """Yield every order with combinations of filter values, including former values.

    They are all combinations of a few filters, and each other filter with each of these.
    """
    values = {
        row.name: [
            *(None, 12345),
            *(
                columns.names(row.name).keys()
                if row.names
                else np.unique(columns[f"filter-{row.name}"])
            ).tolist()[:4],
        ]
        for row in FILTERS
    }
    names = ("category", "folder", "tag")
    combined = [
        [(name, key) for name, key in zip(names, keys, strict=True) if key is not None]
        for keys in product(*(values[name] for name in names))
    ]
    others = [(name, key) for name in values for key in values[name] if key is not None]
    combined += [[one] for one in others]
    combined += [[one, ("tag", key)] for one in others for key in values["tag"][2:4]]
    for order, filters in product(ORDERS, combined):
        yield MapQuery(order=order, filters=tuple(filters), limit=ALL)


def prove_list(
    published: Listing, oracle: Listing, query: MapQuery, chance: np.random.Generator
) -> None:
    whole = oracle.select(query)
    assert published.select(query) == whole
    assert sorted(published.all_matching(query).tolist()) == sorted(whole.slots)
    offsets = range(whole.total + 2)
    if whole.total > 20:
        offsets = chance.integers(0, whole.total + 2, 20).tolist()
    for offset in offsets:
        limit = int(chance.integers(0, 5))
        part = published.select(MapQuery("", query.order, query.filters, limit, offset))
        assert part.total == whole.total
        assert part.slots == whole.slots[offset : offset + limit]
    for name, key in query.filters if len(query.filters) == 1 else ():
        assert published.count(name, key) == whole.total
    some = chance.permutation(np.array(whole.slots, "<u4"))[: whole.total // 2]
    chosen = set(some.tolist())
    assert published.rank(query.order or "", some).tolist() == [
        slot for slot in whole.slots if slot in chosen
    ]


@contextmanager
def shelf_with(**limits: int) -> Iterator[Shelf]:
    """Yield an empty shelf, with changed limits in the code."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(postings if name == "ARRAY_LIMIT" else ordering, name, value)
        shelf = Shelf(Path(tempfile.mkdtemp()))
        try:
            yield shelf
        finally:
            shelf.close()


NUMBERS = st.integers(1, 9)
STEPS = st.one_of(
    st.tuples(
        st.just("put"), NUMBERS, st.sampled_from(TITLES), st.integers(0, 2), st.integers(0, 3)
    ),
    st.tuples(st.just("remove"), NUMBERS),
    st.sampled_from([("publish",), ("publish",), ("resume",), ("empty",)]),
)


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(
    steps=st.lists(STEPS, min_size=5, max_size=40),
    posting=st.sampled_from([0, 1, 2, 1024]),
    many=st.sampled_from([0, 4, 2048]),
    at_once=st.sampled_from([1, 3, 1000]),
    seed=st.integers(0, 100),
)
def test_after_any_changes_lists_are_as_written_from_scratch(
    steps: list[tuple[str | int, ...]], posting: int, many: int, at_once: int, seed: int
) -> None:
    with shelf_with(
        ARRAY_LIMIT=posting, MANY_CHANGES=many, TOO_MANY_CHANGES=3 * many, MOST_INSERTED=at_once
    ) as shelf:
        for name, *values in steps:
            match name:
                case "put":
                    shelf.put(*values)  # type: ignore[arg-type]
                case "remove":
                    shelf.remove(*values)  # type: ignore[arg-type]
                case "empty":
                    for number in list(shelf.slots):
                        shelf.remove(number)
                case "publish":
                    shelf.publish()
                case "resume":
                    shelf.resume()
        shelf.publish()
        shelf.prove(np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("resumed", [False, True])
def test_values_cross_the_limit_of_postings_both_ways(resumed: bool) -> None:
    """With the real limits and thousands of maps."""
    chance = np.random.default_rng(7)
    publish = Shelf.resume if resumed else Shelf.publish
    with shelf_with() as shelf:
        for number in range(1, 2600):
            shelf.put(number, f"t{number % 301}", 1 if number <= 1100 else 3, number * 7919 % 997)
        publish(shelf)
        for first, category in ((1000, 2), (1050, 1), (900, 4)):
            for number in range(first, first + 150):
                shelf.put(number, f"u{number % 7}", category, number % 11)
            for number in range(first + 1000, first + 1100):
                shelf.remove(number)
            publish(shelf)
            shelf.prove(chance)


def test_orders_are_rewritten_one_at_a_time() -> None:
    with shelf_with(MANY_CHANGES=10, TOO_MANY_CHANGES=100) as shelf:
        for number in range(1, 50):
            shelf.put(number, views=number)
        shelf.publish()
        before = written(shelf)
        for number in range(1, 12):
            shelf.put(number)
        for published in range(1, 8):
            shelf.publish()
            assert len(written(shelf) - before) == published
        shelf.publish()
        assert len(written(shelf) - before) == 7
        shelf.prove(np.random.default_rng(1))


def test_orders_with_too_many_changes_do_not_wait() -> None:
    with shelf_with(MANY_CHANGES=10, TOO_MANY_CHANGES=20) as shelf:
        for number in range(1, 50):
            shelf.put(number)
        shelf.publish()
        before = written(shelf)
        for number in range(1, 12):
            shelf.put(number, views=number)
        shelf.publish()
        assert not written(shelf) & before


def written(shelf: Shelf) -> set[int]:
    """Return values that identify the orders of the last snapshot."""
    return {path.stat().st_ino for path in shelf.published.glob("order-*/slots.bin")}
