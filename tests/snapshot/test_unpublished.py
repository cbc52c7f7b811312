"""A snapshot contains nothing of an unpublished map until the map is published."""

from collections.abc import Iterator

import orjson
import pytest

from mapshelf.model import MapDetails, MapDraft, Visibility, Vote
from mapshelf.query import FILTERS, ORDERS, MapQuery, owner_key
from mapshelf.snapshot.read import Snapshot
from tests.harness import outline_of
from tests.snapshot.world import BASE, World, page, prove_lists, titles
from tests.store.drafts import upload

SECRETS = ("Quokkas", "wombatology", "Numbat", "Bilby", "potoroo", "quollish")
"""Words of the hidden map: in title, description, topics, category, owner and the file's name."""

SECRET = MapDraft(
    id="hidden01",
    title="Quokkas",
    description="on wombatology",
    outline=outline_of("Numbat", "a potoroo", language="en"),
    category="Bilby",
    owner="quollish",
    software="Dunnart",
    licence_type_id=77,
    template=True,
    date_added=0,
)
OPEN = MapDraft(
    id="open0001",
    title="Quiet plans",
    description="a number of words",
    outline=outline_of("Plan", "wallaby", language="en"),
    owner="ann",
    date_added=1_600_000_000_000,
)
UNPUBLISHED = [Visibility.UNLISTED, Visibility.PRIVATE, Visibility.REMOVED]


def hide(world: World, visibility: Visibility) -> None:
    found = world.store.find_map("hidden01")
    assert found
    if visibility is Visibility.REMOVED:
        world.store.remove_map(found.file_id, 1)
    else:
        world.store.edit_map(found.file_id, MapDetails(visibility=visibility))


def show(world: World) -> None:
    removed = world.store.removed_maps(None)
    for one in removed:
        world.store.undo_removal(one.map.file_id)
    found = world.store.find_map("hidden01")
    assert found
    world.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))


def typed() -> Iterator[str]:
    """Yield search texts for the hidden map: words, prefixes, misspellings."""
    for word in SECRETS:
        yield from (word, word[:5], f'"{word}"', word[:-1] + "x", word[1:], f"{word} plan")
    yield from ("hidden01", "hidden01.mm", "Dunnart")


def found_by(snapshot: Snapshot, text: str) -> set[str]:
    """Return the ids of all maps that a text finds in any kind of search."""
    ids = set()
    for order in (None, "date"):
        ids |= {one["ID"] for one in orjson.loads(page(snapshot, text=text, order=order).body)}
    return ids


def corrections(snapshot: Snapshot) -> dict[str, str]:
    return {text: page(snapshot, text=text, order=None).corrected for text in typed()}


def everything(snapshot: Snapshot) -> dict[str, object]:
    """Return everything that requests can get from a snapshot about the hidden map."""
    keys = {row.name: row.parse for row in FILTERS}
    return {
        "size": len(snapshot),
        "lists": {order: titles(snapshot, order=order) for order in ORDERS},
        "found": [found_by(snapshot, text) for text in typed()],
        "corrected": corrections(snapshot),
        "suggested": [snapshot.titled(MapQuery(text=text), 10) for text in typed()],
        "facets": snapshot.facets(MapQuery()),
        "facets of a search": [snapshot.facets(MapQuery(text=text)) for text in typed()],
        "by id": snapshot.find("hidden01", BASE),
        "of the owner": snapshot.maps_of("quollish"),
        "counts": {
            name: snapshot.count(name, key)
            for name, value in (("owner", "quollish"), ("only_templates", "1"))
            if (key := keys[name](value)) is not None
        },
        "filtered": page(snapshot, filters=(("owner", owner_key("quollish")),)),
    }


def assert_hidden(snapshot: Snapshot) -> None:
    said = everything(snapshot)
    assert said["size"] == 1
    assert said["lists"] == {order: ["Quiet plans"] for order in ORDERS}
    assert "'hidden01'" not in str(said["found"])
    for text, corrected in corrections(snapshot).items():
        shown = [word for word in SECRETS if word.lower() in corrected.lower()]
        assert not [word for word in shown if word.lower() not in text.lower()], (text, corrected)
    assert "Quokkas" not in str(said["suggested"])
    assert "quollish" not in str((said["facets"], said["facets of a search"]))
    facets = snapshot.facets(MapQuery())
    assert facets.total == 1
    assert all(sum(count for _, count in values) <= 1 for values in (
        facets.category, facets.software, facets.licence, facets.owner, facets.year
    ))  # fmt: skip
    assert said["by id"] is None
    assert said["of the owner"] == 0
    assert snapshot.find("open0001", BASE)
    assert said["counts"] == {"owner": 0, "only_templates": 0}


@pytest.mark.slow
@pytest.mark.parametrize("visibility", UNPUBLISHED)
def test_a_map_that_never_was_published_leaves_no_trace(
    world: World, visibility: Visibility
) -> None:
    """Not even in the bytes of the files, where deleted maps remain for a while."""
    world.put(OPEN, SECRET)
    hide(world, visibility)
    snapshot = world.published()
    assert_hidden(snapshot)
    prove_lists(snapshot, world.listed())
    for path in world.folder.rglob("*"):
        content = path.read_bytes().lower() if path.is_file() else b""
        for word in (*SECRETS, "hidden01"):
            assert word.lower().encode() not in content, path.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "restart"), [*((one, False) for one in UNPUBLISHED), (Visibility.PRIVATE, True)]
)
def test_a_hidden_map_disappears_and_returns(
    world: World, visibility: Visibility, restart: bool
) -> None:
    world.put(OPEN, SECRET)
    before = everything(world.published())
    hide(world, visibility)
    if restart:
        world.restart()
    assert_hidden(world.published())
    show(world)
    if restart:
        world.restart()
    snapshot = world.published()
    assert everything(snapshot) == before
    prove_lists(snapshot, world.listed())


@pytest.mark.slow
def test_the_checks_find_the_map_while_it_is_published(world: World) -> None:
    """The checks above can fail: each finds the map while it is published."""
    world.put(OPEN, SECRET)
    snapshot = world.published()
    for word in SECRETS:
        assert "hidden01" in found_by(snapshot, word), word
    said = everything(snapshot)
    assert "Quokkas" in str(said["suggested"])
    assert "quollish" in str(said["facets"])
    assert said["of the owner"] == 1
    assert said["counts"] == {"owner": 1, "only_templates": 1}
    assert [text for text, corrected in corrections(snapshot).items() if corrected]
    with pytest.raises(AssertionError):
        assert_hidden(snapshot)


@pytest.mark.slow
def test_a_compacted_snapshot_has_no_byte_of_a_hidden_map(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(OPEN, SECRET)
    world.published()
    hide(world, Visibility.PRIVATE)
    world.published()
    monkeypatch.setattr("mapshelf.snapshot.build.working_snapshot.MINIMUM_MAPS", 1)
    for views in range(1, 6):
        world.put(MapDraft(id="open0001", views=views))
        world.published()
    while world.builder.compact():
        pass
    assert (world.folder / "column-length.bin").stat().st_size < 4 * 20, (
        "the snapshot must be compacted"
    )
    for path in world.folder.rglob("*"):
        content = path.read_bytes().lower() if path.is_file() else b""
        assert not [word for word in SECRETS if word.lower().encode() in content], path.name


def test_a_new_map_appears_once_it_is_published(world: World) -> None:
    details = MapDetails(title="Quokkas", visibility=Visibility.PRIVATE)
    found, _ = world.store.publish(upload(), details, 1, None)
    assert titles(world.published()) == []
    world.store.set_vote(found.file_id, world.store.add_user("ann").id, Vote.UP)
    assert titles(world.published()) == []
    world.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
    assert titles(world.published()) == ["Quokkas"]
    assert titles(world.snapshot(), text="plan.mm") == ["Quokkas"], "a topic contains the text"
