"""Facets are what a plain count over the maps gives, however the snapshot came about."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.errors import SnapshotDamaged
from mapshelf.model import Map, MapDraft
from mapshelf.query import FILTERS, MapQuery, owner_key
from mapshelf.snapshot.format.columns import (
    COLUMNS,
    Columns,
    Entry,
    column_file,
    load_codes,
    load_columns,
)
from mapshelf.snapshot.format.facet_codes import DICTIONARIES, Codes
from mapshelf.snapshot.format.records import encode_record
from mapshelf.snapshot.read.facets import MOST_VALUES, Facets, count_facets
from tests.examples import examples
from tests.snapshot.world import World, filtered

T = TypeVar("T", bound=Hashable)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = (
    (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
    for moment in (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))
)
BEGINNINGS_OF_YEARS = [
    (datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
    for year in (1, 1969, 1970, 1971, 2024, 2025)
]


def expected(maps: Sequence[Map]) -> Facets:
    """Return the facets of maps, in the order in which these are given."""

    def first(values: Sequence[T], key: Callable[[T], int]) -> list[tuple[T, int]]:
        counts = Counter(values)
        by_count = sorted(counts.items(), key=lambda item: (-item[1], key(item[0])))
        return by_count[:MOST_VALUES]

    names: dict[int, str] = {}
    for one in maps:
        names.setdefault(owner_key(one.owner), one.owner)
    owners = first([owner_key(one.owner) for one in maps], int)
    years = first([(EPOCH + timedelta(milliseconds=one.date_added)).year for one in maps], int)
    return Facets(
        total=len(maps),
        category=first([one.category_id for one in maps], int),
        software=first([one.software_id for one in maps if one.software_id is not None], int),
        licence=first(
            [one.licence_type_id for one in maps if one.licence_type_id is not None], int
        ),
        owner=[(names[key], count) for key, count in owners],
        year=[(f"{year:04d}", count) for year, count in sorted(years, reverse=True)],
    )


def _there_are(ids: Iterable[int | None]) -> list[int]:
    return [one for one in ids if one is not None]


# -- any values, any selection -----------------------------------------------------------------

FEW, MANY = st.integers(0, 4), st.integers(0, 200)
HUGE = st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**53, 2**63 - 1])
IDS = FEW | MANY | HUGE
DATES = (
    st.integers(FIRST, LAST)
    | st.sampled_from(BEGINNINGS_OF_YEARS)
    | st.sampled_from([start - 1 for start in BEGINNINGS_OF_YEARS[1:]])
)
OWNERS = st.sampled_from(["ann", "Ann", "ANN ", "bob", "çelik", "ÇELIK", "ß", "SS"]) | st.builds(
    "user {}".format, MANY
)


@st.composite
def catalogues(draw: st.DrawFn) -> list[Map]:
    """Draw maps: a few values of each kind, repeated as chance has it."""
    kinds = draw(
        st.lists(st.tuples(IDS, st.none() | IDS, st.none() | IDS, OWNERS, DATES), min_size=1)
    )
    chance = random.Random(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0, 1, 7, 60, 300, 3000]))
    return [_map(n, tuple(chance.choice(kinds)[i] for i in range(5))) for n in range(size)]


Kind = tuple[Any, ...]
"""Category, software, licence, owner and date."""


def _map(number: int, kind: Kind) -> Map:
    category, software, licence, owner, date = kind
    return Map(
        file_id=number,
        id=f"id{number}",
        title="tea",
        description="",
        thumbs_up=0,
        thumbs_down=0,
        views=0,
        downloads=0,
        thumbnail=None,
        url=None,
        category_id=category,
        category="",
        date_added=date,
        owner=owner,
        size=0,
        copyright="",
        licence_type_id=licence,
        software_id=software,
        software="",
        template=False,
    )


@contextmanager
def folders() -> Iterator[Callable[[], Path]]:
    with tempfile.TemporaryDirectory() as folder:
        yield lambda: Path(tempfile.mkdtemp(dir=folder))


def coded(maps: Sequence[Map], batches: Sequence[int], fresh: Callable[[], Path]) -> Codes:
    """Return codes as snapshots have them, built on by another process after each batch."""
    folder, done = fresh(), 0
    columns = Columns(folder)
    for size in (*batches, len(maps)):
        columns.append([Entry(one, 0, 0) for one in maps[done : done + size]])
        done = len(columns)
        published = fresh()
        lengths = {name: length for name, (length, _) in columns.link_to(published).items()}
        columns.append([Entry(_map(0, (77, 77, 77, "never published", 0)), 0, 0)])
        columns.close()
        folder = fresh()
        for name in (*map(column_file, COLUMNS), *DICTIONARIES):
            (folder / name).hardlink_to(published / name)
        columns = Columns(folder, done)
    columns.close()
    return load_codes(published, load_columns(published, done), lengths)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(maps=catalogues(), batches=st.lists(st.integers(0, 500), max_size=3), data=st.data())
def test_facets_are_those_of_a_plain_count(
    maps: list[Map], batches: list[int], data: st.DataObject
) -> None:
    with folders() as fresh:
        codes = coded(maps, batches, fresh)
        seed = data.draw(st.integers(0, 2**32))
        for share in (1.0, 0.5, 0.01):
            chance = random.Random(seed)
            slots = chance.sample(range(len(maps)), int(share * len(maps)))
            found = count_facets(
                codes, np.array(slots, "<u4"), lambda slot: encode_record(maps[slot])
            )
            assert found == expected([maps[slot] for slot in slots])


def test_facets_where_every_map_has_values_of_its_own() -> None:
    maps = [_map(n, (5000 - n, n, n, f"user {n}", n * 10**10)) for n in range(5000)]
    with folders() as fresh:
        codes = coded(maps, [1000], fresh)
        for slots in (list(range(5000)), [4999, 3, 77], []):
            found = count_facets(
                codes, np.array(slots, "<u4"), lambda slot: encode_record(maps[slot])
            )
            assert found == expected([maps[slot] for slot in slots])


@pytest.mark.parametrize("name", DICTIONARIES)
def test_values_that_are_cut_short_are_refused(name: str) -> None:
    maps = [_map(n, (n, n, n, f"user {n}", n * 10**10)) for n in range(9)]
    with folders() as fresh:
        folder = fresh()
        columns = Columns(folder)
        columns.append([Entry(one, 0, 0) for one in maps])
        lengths = {key: length for key, (length, _) in columns.link_to(fresh()).items()}
        columns.close()
        read = load_columns(folder, len(maps))
        load_codes(folder, read, lengths)
        with pytest.raises(SnapshotDamaged):
            load_codes(folder, read, {**lengths, name: lengths[name] - 4})
        with (folder / name).open("r+b") as file:
            file.truncate(lengths[name] - 4)
        with pytest.raises(SnapshotDamaged):
            load_codes(folder, read, lengths)


# -- a catalogue that changes ------------------------------------------------------------------


@pytest.mark.slow
def test_facets_of_a_catalogue_that_changes(world: World) -> None:
    """Through builders that end and begin, and a compaction."""
    chance = random.Random(12)
    keys = {row.name: row.key for row in FILTERS}
    for step in range(30):
        world.put(*(_draft(chance, f"m{chance.randrange(120)}") for _ in range(40)))
        world.store.delete_maps([f"m{chance.randrange(120)}" for _ in range(8)])
        if step % 7 == 3:
            world.restart()
        world.published()
        while step % 10 == 9 and world.builder.compact():
            pass
        snapshot = world.snapshot()
        maps = world.maps()
        some = chance.choice(maps)
        for names in ((), ("category",), ("software", "owner"), ("only_templates",)):
            filters = tuple((name, keys[name](some)) for name in names)
            want = expected(filtered(maps, filters))
            for order in ("date", "alpha"):  # asked again, it is what it was
                found = snapshot.facets(MapQuery(filters=filters, order=order))
                # Which of an owner's maps is looked at for the name is not promised.
                assert _spelt_alike(found) == _spelt_alike(want)


def _draft(chance: random.Random, public_id: str) -> MapDraft:
    return MapDraft(
        id=public_id,
        title="tea",
        category_id=chance.choice([1, 2, 3, 4]),
        software=chance.choice(["", "XMind", "FreeMind", f"program {chance.randrange(90)}"]),
        licence_type_id=chance.choice([None, 1, 2]),
        owner=chance.choice(["ann", "Ann", f"user {chance.randrange(90)}"]),
        date_added=chance.randrange(10**12, 2 * 10**12),
        template=chance.random() < 0.5,
    )


def _spelt_alike(facets: Facets) -> tuple[object, ...]:
    return (
        facets.total,
        facets.category,
        facets.software,
        facets.licence,
        [(name.casefold(), count) for name, count in facets.owner],
        facets.year,
    )
