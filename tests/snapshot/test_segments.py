"""The number of segments of the search index. Every search reads each segment."""

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.model import MapDraft
from mapshelf.snapshot.build import text_index_writer as writer
from mapshelf.snapshot.format.manifest import TEXT
from tests.snapshot.world import World, page


def segments(world: World) -> list[int]:
    """Return how many maps each segment of the published index has."""
    meta = orjson.loads((world.folder / TEXT / "meta.json").read_bytes())
    return [segment["max_doc"] for segment in meta["segments"]]


def write_segments_of(monkeypatch: pytest.MonkeyPatch, documents: int) -> None:
    """Let new indexes be written in segments of so many documents at most: a multiple of eight."""
    monkeypatch.setattr(writer, "SAMPLE", documents // 8)
    monkeypatch.setattr(writer, "SHARE_OF_DOCUMENTS", 0.0)


def wait_for_merges(world: World) -> None:
    """Let the builder publish the index again when its segments have been merged."""
    until = time.monotonic() + 60
    while world.builder.is_merging and time.monotonic() < until:
        time.sleep(0.01)
        assert not world.builder.compact()


@pytest.mark.slow
@pytest.mark.parametrize("maps", [0, 1, 7, 8, 60, 64, 505, 512])
def test_an_index_written_at_once_has_one_segment(
    world: World, monkeypatch: pytest.MonkeyPatch, maps: int
) -> None:
    write_segments_of(monkeypatch, 8)
    world.put(*(MapDraft(title=f"map {number}") for number in range(maps)))
    world.restart()
    assert page(world.published(), text="map").total == maps
    wait_for_merges(world)
    assert page(world.published(), text="map").total == maps
    assert segments(world) == ([maps] if maps else [])


@pytest.mark.slow
def test_later_changes_go_into_a_second_segment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segments_of(monkeypatch, 8)
    world.put(*(MapDraft(title=f"map {number}") for number in range(60)))
    world.restart()
    world.published()
    wait_for_merges(world)
    world.put(*(MapDraft(title=f"later {number}") for number in range(7)))
    assert page(world.published(), text="later").total == 7
    assert segments(world) == [60, 7]


@pytest.mark.slow
def test_changes_are_published_while_segments_are_merged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segments_of(monkeypatch, 8)
    world.put(*(MapDraft(id=f"m{number}", title=f"map {number}") for number in range(60)))
    world.restart()
    world.published()
    world.put(MapDraft(id="m7", title="changed"), MapDraft(title="later"))
    world.store.delete_maps(["m8"])
    for _ in range(2):
        snapshot = world.published()
        assert [page(snapshot, text=text).total for text in ("map", "changed", "later")] == [
            58,
            1,
            1,
        ]
        wait_for_merges(world)


@pytest.mark.slow
def test_a_builder_that_ends_while_segments_are_merged_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segments_of(monkeypatch, 8)
    world.put(*(MapDraft(id=f"m{number}", title=f"map {number}") for number in range(512)))
    world.restart()
    world.published()
    world.restart()
    wait_for_merges(world)
    assert 2 * max(segments(world)) >= 512
    assert page(world.snapshot(), text="map").total == 512


@given(st.integers(1, 10**7), st.sampled_from([20_000, 50_000, 125_000]))
def test_portions_are_a_power_of_eight_and_never_too_large(expected: int, most: int) -> None:
    portion = writer.portion_of(expected, most)
    assert portion <= most
    assert -(-expected // portion) in (1, 8, 64, 512)
