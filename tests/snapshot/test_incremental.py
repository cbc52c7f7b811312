"""A snapshot that was updated step by step returns the same as one built from scratch.

The tests lower the limits at which a builder cleans up or switches its strategy, so that a few maps
cross all of them.
"""

import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.errors import HistoryLost
from mapshelf.model import Change, MapDetails, MapDraft, Visibility
from mapshelf.snapshot.build import builder, change_applier, records_file, working_snapshot
from mapshelf.snapshot.build import orders_writer as ordering
from mapshelf.snapshot.format import columns as arrays
from mapshelf.snapshot.format import posting_lists as postings
from mapshelf.snapshot.read import id_index as ids
from tests.examples import examples
from tests.snapshot.world import World, page, prove_ids, prove_lists, prove_searches, world_in
from tests.store.drafts import outline

pytestmark = pytest.mark.slow

WORDS = ["tea", "Teapot", "Ärger", "日本語", "zoo"]
CHANGES = st.builds(
    MapDraft,
    title=st.lists(st.sampled_from([*WORDS, "\x01", '"'])).map(" ".join),
    description=st.none() | st.sampled_from(WORDS),
    thumbs_up=st.integers(0, 3),
    thumbs_down=st.none() | st.integers(0, 3),
    views=st.none() | st.integers(0, 2),
    downloads=st.none() | st.integers(0, 2),
    date_added=st.none() | st.integers(-1, 1),
    category_id=st.none() | st.integers(0, 2),
    owner=st.none() | st.sampled_from(["ann", "bob"]),
    software=st.sampled_from([None, "", "FreeMind", "New"]),
    template=st.none() | st.booleans(),
    outline=st.none() | st.sampled_from([outline("zoo", word) for word in WORDS]),
    visibility=st.sampled_from([None, None, "published", "unlisted", "private"]).map(
        lambda one: Visibility(one) if one else None
    ),
)
MODULES = (builder, change_applier, working_snapshot, records_file, ordering, postings)
IDS = st.sampled_from([f"id{n}" for n in range(8)])
STEPS = st.one_of(
    st.lists(st.tuples(IDS, CHANGES), min_size=1, max_size=6),
    st.sets(IDS, min_size=1, max_size=7),
    st.sampled_from(["publish", "publish", "compact", "restart"]),
)


def deleted_files_open_in(folder: Path) -> list[str]:
    """Return the deleted files in ``folder`` that this process still has open or mapped."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the list itself was open
            found.append(os.readlink(one))
    return [path for path in found if path.startswith(f"{folder}/") and "(deleted)" in path]


@contextmanager
def lowered(**limits: int) -> Iterator[None]:
    """Lower limits in this context."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            (module,) = (each for each in MODULES if hasattr(each, name))
            patch.setattr(module, name, value)
        yield


@settings(max_examples=examples(25))
@given(
    steps=st.lists(STEPS, min_size=3, max_size=10),
    limit=st.sampled_from([1, 3, 1000]),
    posting=st.sampled_from([0, 1, 1024]),
    many=st.sampled_from([0, 3, 2048]),
    small=st.sampled_from([0, 32_768]),
)
def test_an_updated_snapshot_equals_a_rebuilt_one(
    steps: list[list[tuple[str, MapDraft]] | set[str] | str],
    limit: int,
    posting: int,
    many: int,
    small: int,
) -> None:
    with (
        lowered(SMALL_OUTLINE=small, SIZE_AT_ONCE=small),
        lowered(BATCH=limit, MINIMUM_MAPS=limit, MINIMUM_WORDS=limit, COMPACTION_BATCH=limit),
        lowered(MINIMUM_GARBAGE=limit * 100),
        lowered(ARRAY_LIMIT=posting, MANY_CHANGES=many, TOO_MANY_CHANGES=2 * many),
        tempfile.TemporaryDirectory() as folder,
        world_in(Path(folder)) as world,
    ):
        for step in steps:
            match step:
                case "publish":
                    world.builder.advance()
                case "compact":
                    world.builder.compact()
                case "restart":
                    world.restart()
                case set():
                    world.store.delete_maps(sorted(step))
                case list():
                    world.put(*(replace(draft, id=one) for one, draft in step))
        snapshot = world.published()
        prove_lists(snapshot, world.listed())
        prove_searches(snapshot, world, ["tea", "teapot", "ÄRGER", "日本", "zo"])
        assert not world.builder.advance()


@pytest.mark.slow
def test_many_changes_at_once_are_sorted_again(tmp_path: Path) -> None:
    """More than a thousand changes at once are not inserted one by one."""
    with world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"t{n % 7}", views=n % 5) for n in range(1100)))
        world.published()
        world.put(*(MapDraft(id=f"m{n}", views=n % 3) for n in range(1100)))
        changed = sum(n % 5 != n % 3 for n in range(1100))
        assert changed < 1000
        world.put(*(MapDraft(id=f"m{n}", downloads=1) for n in range(1001)))
        prove_lists(world.published(), world.listed())


def test_a_long_import_appears_step_by_step(tmp_path: Path) -> None:
    with lowered(BATCH=2, MINIMUM_MAPS=2, CHANGES_PER_SNAPSHOT=4), world_in(tmp_path) as world:
        world.put(*(MapDraft(title=str(n)) for n in range(10)))
        seen: list[int] = []
        world.builder.advance(seen.append)
        assert len(world.snapshot()) == 10  # rebuilt: all at once
        assert seen == [2, 4, 6, 8, 10]
        world.put(*(MapDraft(title=str(n)) for n in range(10)))
        sizes = []
        while world.builder.advance():
            sizes.append(len(world.snapshot()))
        assert sizes == [14, 18, 20]


@pytest.mark.parametrize("restart", [False, True])
def test_withdrawn_maps_disappear_before_many_other_changes(tmp_path: Path, restart: bool) -> None:
    with lowered(BATCH=2, MINIMUM_MAPS=2, CHANGES_PER_SNAPSHOT=4), world_in(tmp_path) as world:
        world.put(*(MapDraft(title=str(n), id=f"old{n}") for n in range(6)))
        world.published()
        world.put(*(MapDraft(title=str(n), id=f"new{n}") for n in range(9)))
        private = MapDetails(visibility=Visibility.PRIVATE)
        ids = {one.id: one.file_id for one in world.store.maps(0, 99)}
        for name in ("old1", "old4", "new8"):
            world.store.edit_map(ids[name], private)
        world.store.delete_maps(["old2"])
        if restart:
            world.restart()
        assert world.builder.advance()
        first = world.snapshot()
        assert {name for name in ids if first.find(name, b"")} == {"old0", "old3", "old5"}
        world.store.edit_map(ids["old1"], MapDetails(visibility=Visibility.PUBLISHED))
        while world.builder.advance():
            pass
        prove_lists(world.snapshot(), world.listed())


def test_a_map_that_is_withdrawn_during_an_import_disappears_with_the_next_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lowered(BATCH=2, MINIMUM_MAPS=2, SECONDS_OF_SMALL=0), world_in(tmp_path) as world:
        world.put(MapDraft(title="old", id="old"))
        world.published()
        world.put(*(MapDraft(title=str(n), id=f"new{n}") for n in range(9)))
        (old,) = (one for one in world.store.maps(0, 99) if one.id == "old")
        changes = world.store.changes

        def hiding(after: int, *limits: int) -> list[Change]:
            """Return changes; make the map private while the builder applies the first ones."""
            if old.visibility is Visibility.PUBLISHED:
                world.store.edit_map(old.file_id, MapDetails(visibility=Visibility.PRIVATE))
            return changes(after, *limits)

        monkeypatch.setattr(world.store, "changes", hiding)
        assert world.builder.advance()
        first = world.snapshot()
        assert first.find("old", b"") is None
        assert len(first) == 2
        monkeypatch.undo()
        while world.builder.advance():
            pass
        prove_lists(world.snapshot(), world.listed())


@pytest.mark.parametrize("restart", [False, True])
def test_a_withdrawn_map_is_not_taken_from_a_standby_that_lags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restart: bool
) -> None:
    """Withdrawals are read from the primary, other changes from a standby without the newest."""
    with lowered(BATCH=2, MINIMUM_MAPS=2, CHANGES_PER_SNAPSHOT=4), world_in(tmp_path) as world:
        world.put(*(MapDraft(title=str(n), id=f"old{n}") for n in range(3)))
        world.published()
        ids = {one.id: one.file_id for one in world.store.maps(0, 99)}
        world.store.edit_map(ids["old1"], MapDetails(title="plans"))
        world.put(*(MapDraft(title=str(n), id=f"new{n}") for n in range(12)))
        shown = list(world.store.changes(0, 99))
        world.store.edit_map(ids["old1"], MapDetails(visibility=Visibility.PRIVATE))
        changes = world.store.changes

        def lagging(after: int, limit: int) -> list[Change]:
            """Return what the standby has; what it lacks comes from the primary."""
            return [one for one in shown if one.revision > after][:limit] or changes(after, limit)

        monkeypatch.setattr(world.store, "changes", lagging)
        while world.builder.advance():
            assert world.snapshot().find("old1", b"") is None
            if restart:
                world.restart()
        monkeypatch.undo()
        prove_lists(world.snapshot(), world.listed())


@pytest.mark.parametrize("seconds", [0, 60])
def test_hiding_one_map_after_the_other_does_not_delay_other_changes(
    tmp_path: Path, seconds: int
) -> None:
    lower = lowered(BATCH=2, MINIMUM_MAPS=2, CHANGES_PER_SNAPSHOT=4, SECONDS_OF_SMALL=seconds)
    with lower, world_in(tmp_path) as world:
        world.put(*(MapDraft(title=str(n), id=f"old{n}") for n in range(12)))
        world.published()
        world.put(*(MapDraft(title=str(n), id=f"new{n}") for n in range(12)))
        ids = {one.id: one.file_id for one in world.store.maps(0, 99)}
        found: list[int] = []
        for number in range(12):
            world.store.edit_map(ids[f"old{number}"], MapDetails(visibility=Visibility.PRIVATE))
            assert world.builder.advance()
            shown = {name for name in ids if world.snapshot().find(name, b"")}
            found.append(len([name for name in shown if name.startswith("new")]))
            if not number % 2:
                assert f"old{number}" not in shown
        assert found == sorted(found)
        assert found[-1] == 12
        while world.builder.advance():
            pass
        prove_lists(world.snapshot(), world.listed())


@pytest.mark.parametrize("then", ["nothing", "restart", "lost", "lost before a restart"])
def test_changes_that_were_applied_ahead_are_not_forgotten(tmp_path: Path, then: str) -> None:
    large = MapDraft(title="large", outline=outline(*WORDS))
    with (
        lowered(SMALL_OUTLINE=0, SIZE_AT_ONCE=0, CHANGES_PER_SNAPSHOT=2),
        world_in(tmp_path) as world,
        pytest.MonkeyPatch.context() as patch,
    ):
        world.put(MapDraft(title="first"))
        world.published()
        world.put(*(replace(large, id=f"large{n}") for n in range(3)))
        world.put(MapDraft(id="small", title="small"))
        assert world.builder.advance()
        assert world.snapshot().find("small", b"") is not None
        ahead = world.store.revision()
        assert world.builder.revision < ahead
        if then == "lost":
            changes = world.store.changes

            def lost(after: int, *limits: int) -> list[Change]:
                if after >= ahead:
                    raise HistoryLost("a server without it has taken over")
                return changes(after, *limits)

            patch.setattr(world.store, "changes", lost)
            rebuilt: list[str] = []
            patch.setattr(world.builder, "_rebuild", rebuilt.append)
            with pytest.raises(HistoryLost):  # again, as nothing was rebuilt
                world.builder.advance()
            assert rebuilt
            return
        if then == "lost before a restart":
            lineage = world.store.lineage
            patch.setattr(
                world.store, "lineage", lambda one: "other" if one >= ahead else lineage(one)
            )
        if then != "nothing":
            world.restart()
            is_resumed = world.builder.revision > 0
            assert is_resumed == (then == "restart")
        while world.builder.advance():
            pass
        prove_lists(world.snapshot(), world.listed())


@pytest.mark.parametrize(
    ("topics", "limits"),
    [(WORDS, {"SMALL_OUTLINE": 0, "SIZE_AT_ONCE": 0}), (("tea " * 150_000,), {})],
    ids=["large", "large when it is unpacked"],
)
def test_large_maps_that_keep_changing_do_not_delay_others(
    tmp_path: Path, topics: Sequence[str], limits: dict[str, int]
) -> None:
    large = MapDraft(title="large", outline=outline(*topics))
    with lowered(SECONDS_OF_LARGE=-1, **limits), world_in(tmp_path) as world:
        world.put(MapDraft(id="secret", title="secret"))
        world.put(*(replace(large, id=f"large{n}") for n in range(5)))
        world.published()
        revision, views = world.store.revision, itertools.count(1)

        def busy() -> int:
            """Return the revision, after another change of a large map has arrived."""
            world.put(replace(large, id="large0", views=next(views)))
            return revision()

        world.put(*(replace(large, id=f"large{n}", title="changed") for n in range(5)))
        world.put(MapDraft(id="secret", visibility=Visibility.PRIVATE))
        world.put(MapDraft(id="small", title="small"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(world.store, "revision", busy)
            for turn in range(3):
                assert world.builder.advance()
                snapshot = world.snapshot()
                assert snapshot.find("secret", b"") is None
                assert snapshot.find("small", b"") is not None
                changed = snapshot.find(f"large{turn + 1}", b"")
                assert changed
                assert changed.title == "changed"
                assert world.builder.revision < revision()
        assert world.builder.advance()
        assert not world.builder.advance()
        prove_lists(world.snapshot(), world.listed())


@pytest.mark.slow
@pytest.mark.parametrize("count", [1023, 1024, 1025, 1100])
def test_postings_and_bitmaps_give_the_same_results(tmp_path: Path, count: int) -> None:
    """A value that ``count`` maps have, and one that few have, in every order."""
    with world_in(tmp_path) as world:
        world.put(
            *(
                MapDraft(
                    title=f"t{n % 91}",
                    views=n * 7919 % 1009,
                    category_id=2 if n < count else 3,
                    category="c",
                    owner="ann" if n % 2 else "bob",
                    template=n % 5 == 0,
                )
                for n in range(count + 30)
            )
        )
        snapshot = world.published()
        prove_lists(snapshot, world.listed())
        assert page(snapshot, filters=(("category", 2),)).total == count
        assert page(snapshot, filters=(("category", 3),)).total == 30
        assert snapshot.maps_of("ANN") == (count + 30) // 2


def test_records_are_rewritten_when_mostly_garbage(tmp_path: Path) -> None:
    with lowered(MINIMUM_GARBAGE=1000), world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"t{n}") for n in range(20)))
        world.published()
        sizes = []
        for views in range(1, 8):
            world.put(*(MapDraft(id=f"m{n}", views=views) for n in range(20)))
            world.published()
            sizes.append((world.folder / "records.bin").stat().st_size)
            if views == 4:
                world.restart()
        assert max(sizes) < 4 * min(sizes)
        assert any(later < earlier for earlier, later in itertools.pairwise(sizes))
        prove_lists(world.snapshot(), world.listed())


def test_titles_are_sorted_right_after_records_were_rewritten(tmp_path: Path) -> None:
    """Orders read titles with equal beginnings, even of deleted maps that they still contain."""
    with lowered(MINIMUM_GARBAGE=100), world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"beginning {n}") for n in range(30)))
        world.published()
        size = (world.folder / "records.bin").stat().st_size
        for edit in range(2):
            world.put(*(MapDraft(id=f"m{n}", title=f"beginning {edit}{n}") for n in range(20)))
            world.published()
        assert (world.folder / "records.bin").stat().st_size < 2 * size
        world.restart()
        world.put(*(MapDraft(id=f"n{n}", title=f"beginning {n}.") for n in range(30)))
        prove_lists(world.published(), world.listed())


def test_a_snapshot_of_mostly_removed_maps_is_rebuilt(tmp_path: Path) -> None:
    with lowered(BATCH=10, MINIMUM_MAPS=10), world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"t{n}") for n in range(40)))
        world.published()
        world.store.delete_maps([f"m{n}" for n in range(30)])
        world.published()
        while world.builder.compact():
            pass
        assert (world.folder / "column-length.bin").stat().st_size < 4 * 20
        prove_lists(world.published(), world.listed())
        assert not world.builder.compact()


@pytest.mark.parametrize("restarted", [False, True])
def test_a_dictionary_of_mostly_unused_words_is_rebuilt(tmp_path: Path, restarted: bool) -> None:
    """Otherwise, one large map would make corrections slow long after it was deleted."""
    similar = " ".join(map("".join, itertools.permutations("abcde")))
    with lowered(MINIMUM_WORDS=50), world_in(tmp_path) as world:
        world.put(MapDraft(id="kept", title="Photosynthesis"), MapDraft(id="long", title=similar))
        world.published()
        size = (world.folder / "words.bin").stat().st_size
        world.put(MapDraft(id="long", views=7))  # its words are still used
        world.published()
        assert not world.builder.compact()
        world.store.delete_maps(["long"])
        world.published()
        if restarted:
            world.restart()
        while world.builder.compact():
            pass
        assert (world.folder / "words.bin").stat().st_size < size / 20
        assert page(world.published(), text="fotosynthesis").corrected == "photosynthesis"
        assert not world.builder.compact()


def test_a_dictionary_of_used_words_is_kept(tmp_path: Path) -> None:
    """Also if maps are changed, so that other versions of them brought the words."""
    with lowered(MINIMUM_WORDS=5), world_in(tmp_path) as world:
        for step in range(4):
            world.put(*(MapDraft(id=f"m{n}", title=f"w{chr(97 + n) * 4}", views=step + n)
                        for n in range(20)))  # fmt: skip
            world.published()
            if step % 2:
                world.restart()
            assert not world.builder.compact()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is open")
def test_a_compaction_closes_the_old_files(tmp_path: Path) -> None:
    """At once: Python's garbage collection is so rare that many deleted files would stay open."""
    with lowered(BATCH=10, MINIMUM_MAPS=10), world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"same {n}") for n in range(40)))
        world.published()
        world.store.delete_maps([f"m{n}" for n in range(30)])
        gc.disable()
        try:
            while world.builder.advance():
                pass
            while world.builder.compact():
                pass
            assert deleted_files_open_in(tmp_path) == []
        finally:
            gc.enable()


def test_a_search_index_of_mostly_replaced_maps_is_rebuilt(tmp_path: Path) -> None:
    """Step by step, while the catalogue keeps changing and every change appears at once."""
    with world_in(tmp_path) as world:
        world.put(*(MapDraft(id=f"m{n}", title=f"t{n}") for n in range(40)))
        for first in range(0, 15, 5):
            world.put(*(MapDraft(id=f"m{n}", title=f"t{n} {first}") for n in range(first, 40)))
            world.builder.advance()
        slices = 0
        with lowered(BATCH=10, MINIMUM_MAPS=10, COMPACTION_BATCH=12):
            while world.builder.compact():
                slices += 1
                world.put(MapDraft(id=f"m{slices}", title="changed"), MapDraft(title="late"))
                snapshot = world.published()
                prove_lists(snapshot, world.listed())
                prove_searches(snapshot, world, ["changed", "t7", "late"])
        assert slices >= 3
        prove_searches(world.published(), world, ["changed", "t7", "late"])
        segments = orjson.loads((world.folder / "text" / "meta.json").read_bytes())["segments"]
        assert sum(segment["max_doc"] for segment in segments) < 2 * len(world.maps())


@pytest.mark.parametrize("key", [0, 2**64 - 1])
def test_ids_with_the_same_hash_are_distinguished(
    world: World, monkeypatch: pytest.MonkeyPatch, key: int
) -> None:
    for module in (arrays, ids):
        monkeypatch.setattr(module, "id_key", lambda public_id: key)
    world.put(*(MapDraft(id=f"m{n}", title=f"t{n}") for n in range(20)))
    world.published()
    world.store.delete_maps(["m3", "m4"])
    world.put(MapDraft(id="m5", title="changed"), MapDraft(id="late", title="late"))
    prove_ids(world.published(), world.listed(), ["m3", "m4", "m20", ""])
