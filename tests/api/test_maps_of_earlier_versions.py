"""Maps that no file can become any more, but that a store may have from earlier versions.

A small file could have topics at infinite places, which were stored as null, and texts of hundreds
of megabytes. Neither may break pages, pictures and exports, of other maps least of all.
"""

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from mapshelf.api import documents
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.formats.outline_size import LARGEST
from mapshelf.model import MapDraft, Outline, Sheet, Topic, sheets_of
from mapshelf.render.themes import THEMES
from mapshelf.sandbox.pool import ConfinedChild
from mapshelf.writers import WRITERS
from tests.api.publishing import OWNER, People
from tests.harness import Service, copied_shelf, outline_of, serve, shelf_with

FAR: Final = "FarAway0"
GOOD: Final = "Good0000"
HUGE: Final = "Huge0000"


def far_outline() -> bytes:
    """Return an outline with a floating topic at an infinite place, as it was stored."""
    topic = Topic("far", "f", position=(1.0, 300.0))
    stored = encode_outline(Outline((Sheet(Topic("root", "r"), floating=(topic,)),)))
    document = orjson.loads(zlib.decompress(stored))
    document["topics"][1][6]["position"][0] = None
    return zlib.compress(orjson.dumps(document))


def huge_outline() -> bytes:
    text = Topic("x" * (1 << 20))
    whole = Outline(sheets_of((Topic("root", "r", children=[text] * (LARGEST >> 20)),)))
    return encode_outline(whole, 2 * LARGEST)


PLACED: Final = (
    MapDraft(id=FAR, title="Far", owner=OWNER, outline=far_outline()),
    MapDraft(id=GOOD, title="Good", owner=OWNER, outline=outline_of("root", "topic")),
)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with (
        copied_shelf(tmp_path_factory.mktemp("placed"), *PLACED) as shelf,
        Service(shelf.settings, "") as service,
    ):
        yield People(shelf, service)


@pytest.mark.process
@pytest.mark.parametrize(
    "path",
    [
        *(f"/thumbnails/{FAR}.{suffix}" for suffix in ("png", "svg")),
        *(f"/maps/{FAR}/drawing.{suffix}?theme={theme}" for suffix in ("svg", "pdf", "png")
          for theme in THEMES),
        *(f"/maps/{FAR}/outline.{writer.suffix}" for writer in WRITERS),
        f"/maps/{GOOD}/diff/{FAR}",
    ],
)  # fmt: skip
def test_a_topic_at_an_infinite_place_is_shown(people: People, path: str) -> None:
    answer = people.get(OWNER, path)
    assert answer.status_code == 200
    if path.endswith((".svg", ".md", ".mm", ".json")):
        assert "far" in answer.text


@pytest.mark.process
def test_such_a_map_does_not_break_the_picture_of_its_collection(people: People) -> None:
    said = {"title": "Both", "visibility": "published", "maps": [GOOD, FAR]}
    made = people.send(OWNER, "POST", "/collections", json=said)
    assert people.get("", f"/collections/{made.json()['id']}/picture.png").status_code == 200


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_map_that_does_not_fit_into_memory_is_too_large_and_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[object] = []
    call = ConfinedChild.call

    def counted(self: ConfinedChild, *arguments: Any) -> Any:
        calls.append(arguments)
        return call(self, *arguments)

    monkeypatch.setattr(documents, "MEMORY", 300 << 20)
    huge = MapDraft(id=HUGE, title="Huge", outline=huge_outline())
    with shelf_with(tmp_path, huge) as shelf, serve(shelf) as service:
        assert service.titles() == ["Huge"]
        monkeypatch.setattr(ConfinedChild, "call", counted)
        for path in (f"/maps/{HUGE}/outline.md", f"/maps/{HUGE}/drawing.svg"):
            for _ in range(2):
                answer = service.get(path)
                assert answer.status_code == 404
                assert "too large to be shown so" in answer.json()["error_description"]
        assert len(calls) == 2
        for topic in ("r", "unknown"):
            answer = service.get(f"/maps/{HUGE}/drawing.svg?topic={topic}")
            assert answer.status_code == 404
        assert len(calls) == 2
    errors = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
    (error,) = errors
    assert error == (
        f"the topics of map {HUGE} are left out of the search: "
        "its texts together are larger than 32 MiB"
    )
