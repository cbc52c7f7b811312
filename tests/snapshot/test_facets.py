"""Facets agree with a simple count over the maps, however the snapshot was built."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.errors import SnapshotDamaged
from mapshelf.model import ListedMap, Map, MapDraft, Source
from mapshelf.query import FILTERS, MapQuery, folder_key, owner_key, tag_key
from mapshelf.snapshot.format.columns import (
    COLUMNS,
    Columns,
    Entry,
    column_file,
    load_codes,
    load_columns,
)
from mapshelf.snapshot.format.facet_codes import DICTIONARIES, Codes
from mapshelf.snapshot.format.keys import keys_of
from mapshelf.snapshot.format.records import encode_record
from mapshelf.snapshot.read.facets import MOST_VALUES, Facets, SelectedMaps, count_facets
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


def expected(listed: Sequence[ListedMap], below: str = "") -> Facets:
    """Return the facets of maps, with values in the order of their first map."""
    maps = [one.map for one in listed]

    def first(values: Sequence[T], key: Callable[[T], Any]) -> list[tuple[T, int]]:
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
        language=first(
            [one.language for one in listed if one.language], lambda one: (len(one), one)
        ),
        size=_sizes([one.topics for one in listed]),
        with_notes=_true(one.notes for one in listed),
        with_tasks=_true(one.tasks for one in listed),
        folder=by_name(first(list(_folders(listed, below)), folder_key)),
        tag=by_name(first(list(_tags(listed)), tag_key)),
    )


def by_name(counts: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(counts, key=lambda one: (-one[1], one[0]))


def _sizes(topics: Sequence[int]) -> list[tuple[str, int]]:
    limits = (("small", 1, 30), ("medium", 31, 100), ("large", 101, 400), ("huge", 401, 10**9))
    counts = [(name, sum(low <= one <= high for one in topics)) for name, low, high in limits]
    return [(name, count) for name, count in counts if count]


def _true(values: Iterable[bool]) -> list[tuple[str, int]]:
    count = sum(values)
    return [("true", count)] if count else []


def _folders(listed: Sequence[ListedMap], below: str) -> Iterator[str]:
    """Yield for each map below a folder the subfolder that contains it."""
    beginning = f"{below}/" if below else ""
    for one in listed:
        folder = one.source.rpartition("/")[0] + "/"
        if folder.startswith(beginning) and (rest := folder.removeprefix(beginning)).strip("/"):
            yield beginning + rest.partition("/")[0]


def _tags(listed: Sequence[ListedMap]) -> Iterator[str]:
    # A tag has the spelling of most maps.
    spellings: dict[str, Counter[str]] = {}
    for one in listed:
        for tag in one.map.tags:
            spellings.setdefault(tag.casefold(), Counter())[tag] += 1
    for found in spellings.values():
        yield from [found.most_common(1)[0][0]] * found.total()


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
def catalogues(draw: st.DrawFn) -> list[ListedMap]:
    """Draw maps with a few values of each kind, repeated at random."""
    kinds = draw(
        st.lists(st.tuples(IDS, st.none() | IDS, st.none() | IDS, OWNERS, DATES), min_size=1)
    )
    chance = random.Random(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0, 1, 7, 60, 300, 3000]))
    return [
        _listed(_map(n, tuple(chance.choice(kinds)[i] for i in range(5))), chance)
        for n in range(size)
    ]


FOLDERS = ("", "a/", "a/b/", "a/b c/", "b/", "ä/ö/ü/")
TAGS = ("red", "blue", "green", "Grün", "BLUE", "Blue")


def _listed(found: Map, chance: random.Random) -> ListedMap:
    return ListedMap(
        replace(found, tags=_some_tags(chance)),
        edited=chance.randrange(10**12),
        source=f"{chance.choice(FOLDERS)}{found.id}.mm",
        language=chance.choice(("", "de", "fr", "en")),
        topics=chance.choice((0, 1, 30, 31, 100, 101, 400, 401, 10**6)),
        notes=chance.random() < 0.5,
        tasks=chance.random() < 0.1,
    )


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


def coded(maps: Sequence[ListedMap], batches: Sequence[int], fresh: Callable[[], Path]) -> Codes:
    """Return codes as in a snapshot, extended by another process after each batch."""
    folder, done = fresh(), 0
    columns = Columns(folder)
    for size in (*batches, len(maps)):
        columns.append([Entry(one, keys_of(one), 0, 0) for one in maps[done : done + size]])
        done = len(columns)
        published = fresh()
        lengths = {name: length for name, (length, _) in columns.link_to(published).items()}
        never = _map(0, (77, 77, 77, "never published", 0))
        unseen = ListedMap(replace(never, tags=("never",)), 0, "n/n.mm")
        columns.append([Entry(unseen, keys_of(unseen), 0, 0)])
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
def test_facets_agree_with_a_simple_count(
    maps: list[ListedMap], batches: list[int], data: st.DataObject
) -> None:
    with folders() as fresh:
        codes = coded(maps, batches, fresh)
        seed = data.draw(st.integers(0, 2**32))
        for share in (1.0, 0.5, 0.01):
            chance = random.Random(seed)
            slots = chance.sample(range(len(maps)), int(share * len(maps)))
            chosen = SelectedMaps(codes, np.array(slots, "<u4"))
            found = count_facets(chosen, codes, lambda slot: encode_record(maps[slot].map))
            want = expected([maps[slot] for slot in slots])
            assert _tags_alike(found) == _tags_alike(want)


@pytest.mark.slow
def test_facets_where_every_map_has_values_of_its_own() -> None:
    maps = [
        ListedMap(
            replace(_map(n, (5000 - n, n, n, f"user {n}", n * 10**10)), tags=(f"tag {n}",)),
            0,
            f"folder {n}/map.mm",
        )
        for n in range(5000)
    ]
    with folders() as fresh:
        codes = coded(maps, [1000], fresh)
        for slots in (list(range(5000)), [4999, 3, 77], []):
            chosen = SelectedMaps(codes, np.array(slots, "<u4"))
            found = count_facets(chosen, codes, lambda slot: encode_record(maps[slot].map))
            want = expected([maps[slot] for slot in slots])
            assert _tags_alike(found) == _tags_alike(want)


@pytest.mark.slow
@pytest.mark.parametrize("name", DICTIONARIES)
def test_truncated_values_are_refused(name: str) -> None:
    maps = [
        ListedMap(
            replace(_map(n, (n, n, n, f"user {n}", n * 10**10)), tags=(f"tag {n}",)),
            0,
            f"folder {n}/map.mm",
        )
        for n in range(9)
    ]
    with folders() as fresh:
        folder = fresh()
        columns = Columns(folder)
        columns.append([Entry(one, keys_of(one), 0, 0) for one in maps])
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
    """With restarts of the builder, and a compaction."""
    chance = random.Random(12)
    keys = {row.name: row.keys for row in FILTERS}
    for step in range(examples(80)):
        world.put(*(_draft(chance, f"m{chance.randrange(120)}") for _ in range(40)))
        world.store.delete_maps([f"m{chance.randrange(120)}" for _ in range(8)])
        if step % 7 == 3:
            world.restart()
        world.published()
        while step % 10 == 9 and world.builder.compact():
            pass
        snapshot = world.snapshot()
        maps = world.listed()
        some = chance.choice([one for one in maps if one.folders and one.map.tags])
        for names in (
            *((), ("category",), ("software", "owner"), ("only_templates",)),
            *(("folder",), ("tag", "year"), ("language", "size")),
        ):
            filters = tuple((name, keys[name](some)[-1]) for name in names)
            below = some.folders[-1] if "folder" in names else ""
            want = expected(filtered(maps, filters), below)
            for order in ("date", "alpha"):  # the second time from the cache
                found = snapshot.facets(MapQuery(filters=filters, order=order))
                # Which map of an owner gives the spelling of the name is not specified.
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
        tags=_some_tags(chance),
        source=_source(public_id, chance.choice(FOLDERS)),
    )


def _tags_alike(facets: Facets) -> Facets:
    """Return facets without the spelling of tags: as many maps may have another one."""
    return replace(facets, tag=sorted((name.casefold(), count) for name, count in facets.tag))


def _some_tags(chance: random.Random) -> tuple[str, ...]:
    """Return up to two different tags."""
    return tuple({one.casefold(): one for one in chance.sample(TAGS, chance.randrange(3))}.values())


def test_a_tag_is_shown_as_most_maps_have_it(world: World) -> None:
    """So it can be respelled, also in a snapshot that grows."""

    def shown() -> list[tuple[str, int]]:
        world.published()
        snapshot = world.snapshot()
        found = snapshot.facets(MapQuery()).tag
        assert [(one.name, one.count) for one in snapshot.tags()] == found
        filters = (("tag", tag_key("uSa")),)
        assert snapshot.facets(MapQuery(filters=filters)).tag[0] == found[0]
        assert snapshot.facets(MapQuery(filters=filters)).total == found[0][1]
        return found

    world.put(*(MapDraft(id=f"m{number}", title="t", tags=("usa",)) for number in range(5)))
    assert shown() == [("usa", 5)]
    world.put(MapDraft(id="other", title="t", tags=("Usa", "red")))
    assert shown() == [("usa", 6), ("red", 1)]
    world.store.rename_tag("usa", "USA")
    assert shown() == [("USA", 6), ("red", 1)]
    world.restart()
    world.put(*(MapDraft(id=f"m{number}", title="t", tags=("UsA",)) for number in range(3)))
    assert shown() == [("USA", 6), ("red", 1)], "of two that as many maps have, the older one stays"
    world.put(MapDraft(id="last", title="t", tags=("red",)))
    assert shown() == [("USA", 6), ("red", 2)]


def _source(public_id: str, folder: str) -> Source:
    path = f"{folder}{public_id}.mm"
    return Source(path.encode(), path, 1, 1, b"")


def _spelt_alike(facets: Facets) -> tuple[object, ...]:
    return (
        facets.total,
        facets.category,
        facets.software,
        facets.licence,
        [(name.casefold(), count) for name, count in facets.owner],
        facets.year,
        facets.language,
        facets.size,
        sorted(facets.folder),
        _tags_alike(facets).tag,
    )
