"""Twins and similar maps in a snapshot, while maps are added, changed and deleted."""

import random
from itertools import combinations

import pytest

from mapshelf.comparison.fingerprint import BANDS, NEAR, bands, outline_key
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Image, MapDraft, Outline, Topic, sheets_of
from tests.snapshot.world import World

WORDS = [f"{one}{other}" for one in ("moon", "river", "stone", "glass") for other in range(50)]


def draft(public_id: str, *topics: str, title: str = "A map") -> MapDraft:
    root = Topic("Root", children=[Topic(text) for text in topics])
    return MapDraft(id=public_id, title=title, outline=encode_outline(Outline(sheets_of((root,)))))


def twins(world: World, public_id: str) -> list[tuple[str, bool]]:
    return [(one.id, one.same) for one in world.published().twins(public_id, b"")]


def groups(world: World) -> list[list[str]]:
    snapshot = world.published()
    return [
        [record.body.split(b'"ID":"')[1][:8].decode() for record in snapshot.at(group, b"")]
        for group in snapshot.duplicates
    ]


@pytest.mark.slow
def test_twins_are_found_however_the_catalogue_came_to_be(world: World) -> None:
    topics = WORDS[:30]
    world.put(draft("Same0001", *topics), draft("Other001", *WORDS[40:70]))
    assert twins(world, "Same0001") == []
    world.put(draft("Same0002", *topics), draft("Nearly01", *topics[1:], "one more"))
    expected = [("Same0002", True), ("Nearly01", False)]
    assert twins(world, "Same0001") == expected
    world.restart()
    assert twins(world, "Same0001") == expected
    assert groups(world) == [["Same0001", "Same0002", "Nearly01"]]
    world.put(draft("Same0002", *WORDS[80:110]))
    assert twins(world, "Same0001") == [("Nearly01", False)]
    assert twins(world, "Same0002") == twins(world, "Gone0001") == []
    world.put(MapDraft(id="Bare0001", title="Bare"), MapDraft(id="Bare0002", title="Bare"))
    assert twins(world, "Bare0001") == []


def test_few_topics_make_twins_only_if_all_are_the_same(world: World) -> None:
    world.put(draft("Small001", "a"), draft("Small002", "a"), draft("Small003", "a", "b"))
    assert twins(world, "Small001") == [("Small002", True)]
    assert twins(world, "Small003") == []


def test_topics_without_text_are_compared_by_their_pictures(world: World) -> None:
    def pictured(public_id: str, *digests: str) -> MapDraft:
        topics = [Topic("", images=(Image(digest),)) for digest in digests]
        outline = Outline(sheets_of((Topic("", children=topics),)))
        return MapDraft(id=public_id, title=public_id, outline=encode_outline(outline))

    one, other = "1" * 64, "2" * 64
    world.put(
        pictured("Picture1", one, other),
        pictured("Picture2", one, other),
        pictured("Picture3", other, one),
        pictured("Missing1", ""),
        pictured("Missing2", ""),
    )
    assert groups(world) == [["Picture1", "Picture2"]]
    assert twins(world, "Picture1") == [("Picture2", True)]
    assert twins(world, "Picture3") == twins(world, "Missing1") == []


def test_maps_are_similar_by_rare_words_not_by_frequent_ones(world: World) -> None:
    world.put(
        *(draft(f"Filler{n:02}", f"something about {word}") for n, word in enumerate(WORDS[:40])),
        draft("Garden01", "something about tomatoes", "compost", "watering"),
        draft("Garden02", "something about compost", "tomatoes", "a greenhouse"),
        draft("Kitchen1", "something about ovens", "pans"),
    )
    snapshot = world.published()
    found = snapshot.about_the_same("Garden01", 6, b"")
    assert [one.body.split(b'"ID":"')[1][:8] for one in found] == [b"Garden02"]
    assert snapshot.about_the_same("Kitchen1", 6, b"") == []


def test_more_shared_topics_give_more_shared_bands() -> None:
    for number in range(30):
        seed = random.Random(number)
        size = seed.randint(20, 80)
        topics = [f"topic {place}" for place in range(size)]
        own = bands(topics)
        assert own == bands(seed.sample(topics, size)) == bands([*topics, *topics])
        assert equal(own, bands(f"other {place}" for place in range(size))) == 0
        half = [*topics[: size // 2], *(f"other {place}" for place in range(size // 2))]
        assert equal(own, bands(half)) < NEAR
        assert equal(own, bands([*topics, "one more"])) >= NEAR


def equal(one: object, other: object) -> int:
    return sum(left == right for left, right in zip(one, other, strict=True))  # type: ignore[call-overload]


def test_keys_distinguish_trees() -> None:
    trees = (
        [(0, "a"), (1, "b"), (1, "c")],
        [(0, "a"), (1, "b"), (2, "c")],
        [(0, "a"), (1, "c"), (1, "b")],
        [(0, "a"), (1, "b c")],
        [(0, "a b"), (1, "c")],
    )
    keys = [outline_key(tree) for tree in trees]
    assert all(one != other for one, other in combinations(keys, 2))
    assert outline_key([(0, " a\n b ")]) == outline_key([(0, "a b")])
    assert outline_key([]) == 0
    assert len(bands(["a", "b", "c", "d"])) == BANDS
