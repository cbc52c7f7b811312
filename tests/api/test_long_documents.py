"""Documents that take long to make do not keep others from the pages and drawings of large maps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import pytest

from mapshelf.api import documents, topic_pictures
from mapshelf.disk_cache import DiskCache
from mapshelf.errors import Overloaded
from mapshelf.render import image_worker, render_worker
from mapshelf.render.image_worker import ImageRequest, ImageTime, ImageWorker
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.api.test_images import digest_of, illustrated
from tests.api.test_waiting_uploads import begin, context_of, statuses, wait_for, wait_for_long
from tests.harness import Service, Shelf, shelf_with

pytestmark = pytest.mark.process

ORDINARY: Final = [f"Topic number {number} of a long list" for number in range(2500)]
LARGE: Final = ORDINARY[:1000]
"""A thumbnail of these takes a tenth of the time of the expensive ones, or less."""

MIXED: Final = "\u202e\u05d0\u2067a\u0627" * 400
"""Letters of two directions, mixed: drawing two hundred such topics takes over four seconds."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("documents")) as shelf:
        yield shelf


@pytest.fixture
def people(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[People]:
    monkeypatch.setattr(documents, "QUICK_SECONDS", 2)
    monkeypatch.setattr(documents, "CPU_SECONDS", 4)
    monkeypatch.setattr(render_worker, "QUICK_SECONDS", 0.1)
    with Service(shelf.settings, "") as service:
        yield People(shelf, service)


def limit(monkeypatch: pytest.MonkeyPatch, quick: float, owner: float) -> None:
    """Set the seconds after which a document takes long, and very long."""
    monkeypatch.setattr(documents, "QUICK_SECONDS", quick)
    monkeypatch.setattr(documents, "OWNER_SECONDS", owner)
    monkeypatch.setattr(documents, "CPU_SECONDS", 60)


def expensive_map(people: People, name: str, topics: int = 200) -> str:
    return people.published(OTHER, plan(name, *(f"{number} {MIXED}" for number in range(topics))))


def open_fonts(people: People, name: str) -> None:
    """Draw a small map and a large one, so that the next get no extra time for opening fonts."""
    for topics in ([], LARGE):
        first = people.published(OWNER, plan(f"before {name}", *topics))
        assert people.get(OWNER, f"/thumbnails/{first}.svg").status_code == 200


@contextmanager
def long_work(people: People, kind: str) -> Iterator[None]:
    """Do work that takes long as another worker would, until the end of the ``with`` block."""
    with DiskCache(people.shelf.settings.documents, 1 << 20).turn(kind):
        yield


def test_a_drawing_that_takes_long_does_not_delay_others(people: People) -> None:
    ordinary = people.published(OTHER, plan(*ORDINARY))
    expensive = expensive_map(people, "first")
    long = begin(people, OWNER, "GET", f"/maps/{expensive}/drawing.png")
    wait_for_long(people, "long_documents", 0, long)
    drawing = people.get(OTHER, f"/maps/{ordinary}/drawing.svg")
    assert drawing.status_code == 200
    assert "Topic number 2499" in drawing.text
    assert not long.done()
    assert statuses(people, long) == [404]


@pytest.mark.parametrize("topics", [15, 200])
def test_a_thumbnail_that_takes_long_does_not_delay_others(people: People, topics: int) -> None:
    ordinary = people.published(OWNER, plan(f"ordinary {topics}"))
    large = people.published(OWNER, plan(f"large {topics}", *LARGE))
    expensive = expensive_map(people, f"thumbnail {topics}", topics)
    open_fonts(people, f"thumbnail {topics}")
    with long_work(people, "long drawings"):
        long = begin(people, OWNER, "GET", f"/thumbnails/{expensive}.png?w=1280")
        wait_for_long(people, "long_drawings", 0, long)
        other = begin(people, OWNER, "GET", f"/thumbnails/{expensive}.png?w=640")
        wait_for(people, "long_drawings", 1, long, other)
        for one in (ordinary, large):
            assert people.get(OWNER, f"/thumbnails/{one}.svg").status_code == 200
        body = {"title": "Empty", "visibility": "published"}
        empty = people.send(OTHER, "POST", "/collections", json=body).json()["id"]
        assert people.get(OTHER, f"/collections/{empty}/picture.png").status_code == 200
        assert not long.done()
    assert statuses(people, long, other) == [200, 200]


def test_a_collection_with_a_map_that_takes_long_has_a_picture(people: People) -> None:
    open_fonts(people, "collected")
    maps = [expensive_map(people, "collected", 15), people.published(OTHER, plan("collected"))]
    body = {"title": "Costly", "maps": maps}
    made = people.send(OTHER, "POST", "/collections", json=body).json()["id"]
    done = context_of(people).queues.long_drawings.counts.done
    picture = people.get(OTHER, f"/collections/{made}/picture.png?w=1280")
    assert picture.status_code == 200
    assert picture.headers["etag"]
    assert context_of(people).queues.long_drawings.counts.done == done + len(maps)


def test_a_complete_drawing_of_a_small_map_that_takes_long_does_not_delay_others(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, quick=1, owner=60)
    ordinary = people.published(OTHER, plan("ordinary"))
    expensive = expensive_map(people, "complete", 15)
    with long_work(people, "long"):
        long = begin(people, OWNER, "GET", f"/maps/{expensive}/drawing.png")
        wait_for_long(people, "long_documents", 0, long)
        assert people.get(OTHER, f"/maps/{ordinary}/drawing.svg").status_code == 200
        assert not long.done()
    assert statuses(people, long) == [200]


def test_only_documents_like_one_that_took_long_are_made_where_others_do(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are of the same kind and owner. Whoever requests them does not matter."""
    limit(monkeypatch, quick=1, owner=1)
    expensive = expensive_map(people, "blamed", 15)
    assert people.get(ADMINISTRATOR, f"/maps/{expensive}/drawing.png").status_code == 200
    ordinary = {name: people.published(name, plan(f"of {name}")) for name in (OWNER, OTHER)}
    counts = context_of(people).queues.long_documents.counts
    done = counts.done
    for name, drawing in ((OWNER, "png"), (OTHER, "svg")):
        path = f"/maps/{ordinary[name]}/drawing.{drawing}"
        assert people.get(ADMINISTRATOR, path).status_code == 200
    assert counts.done == done
    assert people.get(OWNER, f"/maps/{ordinary[OTHER]}/drawing.png").status_code == 200
    assert counts.done == done + 1


def test_a_document_that_takes_long_says_nothing_about_others_of_its_owner(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it takes very long: the PNGs of many maps in an ordinary gallery take long."""
    limit(monkeypatch, quick=1, owner=60)
    counts = context_of(people).queues.long_documents.counts
    done = counts.done
    expensive = expensive_map(people, "not blamed", 15)
    assert people.get(OTHER, f"/maps/{expensive}/drawing.png").status_code == 200
    assert counts.done == done + 1
    ordinary = people.published(OTHER, plan("not blamed either"))
    assert people.get(OTHER, f"/maps/{ordinary}/drawing.png").status_code == 200
    assert counts.done == done + 1


def test_a_drawing_that_takes_longer_than_is_quick_is_made(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, quick=0.01, owner=60)
    ordinary = people.published(OTHER, plan("slow machine", *ORDINARY))
    done = context_of(people).queues.long_documents.counts.done
    drawing = people.get(OWNER, f"/maps/{ordinary}/drawing.svg")
    assert drawing.status_code == 200
    assert context_of(people).queues.long_documents.counts.done == done + 1


def test_documents_whose_pictures_take_long_are_made_where_others_do(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a while, so are those with other pictures in maps of the same owner."""
    kept = [
        replace(illustrated(public_id, public_id, *names), owner=owner)
        for public_id, owner, names in (
            ("Heavy000", OWNER, ("png", "jpeg", "svg")),
            ("Heavy001", OWNER, ("grey", "palette", "cmyk")),
            ("Ordinary", OTHER, ("wide",)),
            ("Light000", OTHER, ("large",)),
        )
    ]
    people.shelf.store.put_maps(kept)
    with monkeypatch.context() as hurried:
        hurried.setattr(topic_pictures, "QUICK_SECONDS", 1e-9)
        assert made_where_long(people, "Ordinary") == [1, 1, 1]
        hurried.setattr(topic_pictures, "OWNER_SECONDS", 1e-9)
        assert made_where_long(people, "Heavy000") == [1, 1, 1]
    monkeypatch.setattr(topic_pictures, "QUICK_SECONDS", 60.0)
    assert made_where_long(people, "Heavy001") == [1, 1, 1]
    assert made_where_long(people, "Light000") == [0, 0, 0]


def test_pictures_that_only_waited_for_others_are_not_held_against_their_owner(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_pictures, "QUICK_SECONDS", 60.0)
    names = {"Waited00": ("high",), "Waited01": ("noise",)}
    for public_id, pictures in names.items():
        kept = replace(illustrated(public_id, public_id, *pictures), owner=ADMINISTRATOR)
        people.shelf.store.put_maps([kept])
    convert = ImageWorker.image

    def busy(
        worker: ImageWorker, request: ImageRequest, data: bytes, file_id: int, time: ImageTime
    ) -> object:
        if time.quick:
            raise Overloaded("other pictures take too long")
        return convert(worker, request, data, file_id, time)

    with monkeypatch.context() as others:
        others.setattr(ImageWorker, "image", busy)
        assert made_where_long(people, "Waited00") == [1, 1, 1]
    assert made_where_long(people, "Waited01") == [0, 0, 0]


def test_a_picture_that_takes_long_is_converted_where_others_do_not_wait(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So are other pictures in maps of this owner, for a while."""
    kept = [
        replace(illustrated(public_id, public_id, name), owner=owner)
        for public_id, owner, name in (
            ("Costly00", OTHER, "noise"),
            ("Costly01", OTHER, "bmp"),
            ("Quick000", OWNER, "tiff"),
        )
    ]
    people.shelf.store.put_maps(kept)
    people.service.wait_until(lambda: people.get(OWNER, "/maps/Quick000").status_code == 200)
    counts = context_of(people).queues.long_images.counts

    def is_made_where_long(public_id: str, name: str, width: int) -> bool:
        before = counts.done
        path = f"/maps/{public_id}/images/{digest_of(name)}.png?w={width}"
        assert people.get(ADMINISTRATOR, path).status_code == 200
        return counts.done > before

    with monkeypatch.context() as hurried:
        hurried.setattr(image_worker, "QUICK_SECONDS", 0.01)
        assert is_made_where_long("Costly00", "noise", 160)
    monkeypatch.setattr(image_worker, "QUICK_SECONDS", 60)
    assert is_made_where_long("Costly01", "bmp", 160)
    assert not is_made_where_long("Quick000", "tiff", 160)


def made_where_long(people: People, public_id: str) -> list[int]:
    """Return for three documents of a map whether they were made where others do not wait."""
    people.service.wait_until(lambda: people.get(OWNER, f"/maps/{public_id}").status_code == 200)
    found = []
    for path in ("/thumbnails/{}.svg", "/maps/{}/drawing.svg", "/maps/{}/outline.xmind"):
        queues = context_of(people).queues
        before = queues.long_drawings.counts.done + queues.long_documents.counts.done
        assert people.get(OWNER, path.format(public_id)).status_code == 200
        found.append(queues.long_drawings.counts.done + queues.long_documents.counts.done - before)
    return found
