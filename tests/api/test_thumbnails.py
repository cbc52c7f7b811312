"""``GET /thumbnails`` sends anybody a picture of every map, and draws it only once."""

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from PIL import Image as Pillow

from mapshelf.api import create_app, rsgi
from mapshelf.api.thumbnails import DEFAULT_WIDTH, DRAWN, MAXIMUM_AGE, PARAMETERS, SOURCES
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Image, MapDraft, Outline, Sheet, Source, Topic
from mapshelf.readers import Limits, read
from mapshelf.render.render_request import FORMATS, WIDTHS
from mapshelf.render.themes import THEMES
from tests.api.openapi import COMPONENTS
from tests.api.rsgi import Answer, Scope
from tests.harness import Service, Shelf, outline_of, serve, shelf_with
from tests.readers.samples import as_file, drawn, with_picture

pytestmark = pytest.mark.process


def carrying(picture: bytes) -> MapDraft:
    """Return a map read from a file that contains a thumbnail."""
    file = with_picture(picture)
    outline = encode_outline(read(file, Limits()))
    source = Source(b"/maps/c.xmind", "c.xmind", len(file), 1, b"c" * 32)
    return MapDraft(
        id="Carries0", title="C", outline=outline, source=source, content=zlib.compress(file)
    )


MAP = MapDraft(id="Q7xK2mZp", title="Plan", outline=outline_of("Plan", "one", "<script>two"))
CARD = MapDraft(id="Card0000", title="No topics", owner="ada", category="Science")
TYPES = {"png": "image/png", "svg": "image/svg+xml"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with shelf_with(tmp_path_factory.mktemp("maps"), MAP, CARD) as shelf, serve(shelf) as running:
        yield running


def get(service: Service, path: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.request("GET", path, headers=named, signed=False)


@pytest.mark.parametrize("public_id", ["Q7xK2mZp", "Card0000"])
@pytest.mark.parametrize("picture", FORMATS)
def test_anybody_gets_the_picture_of_any_map(
    service: Service, public_id: str, picture: str
) -> None:
    path = f"/thumbnails/{public_id}.{picture}"
    response = get(service, path)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == TYPES[picture]
    assert response.headers["Cache-Control"] == f"public, max-age={MAXIMUM_AGE}"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "Vary" not in response.headers
    again = get(service, path)
    assert (again.content, again.headers["ETag"]) == (response.content, response.headers["ETag"])
    known = get(service, path, If_None_Match=response.headers["ETag"])
    assert (known.status_code, known.content) == (304, b"")
    head = service.request("HEAD", path, signed=False)
    assert head.content == b""
    assert {**head.headers, "x-request-id": ""} == {**response.headers, "x-request-id": ""}
    assert service.request("OPTIONS", path, signed=False).status_code == 204
    assert service.request("POST", path, signed=False).status_code == 405


def test_the_address_in_lists_leads_to_the_picture(service: Service) -> None:
    for found in service.maps().json():
        assert get(service, found["Thumbnail"]).headers["Content-Type"] == "image/png"


@pytest.mark.parametrize("width", WIDTHS)
def test_sizes_of_thumbnails(service: Service, width: int) -> None:
    picture = get(service, f"/thumbnails/Q7xK2mZp.png?w={width}").content
    assert struct.unpack(">II", picture[16:24]) == (width, width * 3 // 4)
    text = get(service, f"/thumbnails/Q7xK2mZp.svg?w={width}").text
    assert f'width="{width}" height="{width * 3 // 4}"' in text
    default = get(service, "/thumbnails/Q7xK2mZp.png?w=&x=1&theme=").headers["ETag"]
    assert default == get(service, f"/thumbnails/Q7xK2mZp.png?w={DEFAULT_WIDTH}").headers["ETag"]


def test_themes_of_thumbnails(service: Service) -> None:
    tags = {
        get(service, f"/thumbnails/Q7xK2mZp.svg?theme={name}").headers["ETag"] for name in THEMES
    }
    assert len(tags) == len(THEMES)


@pytest.mark.parametrize(
    "query",
    [
        *("w=300", "w=0", "w=-320", "w=0320", "w=320.0", "w=%20320", "w=x", "w=1e3", "w=٣٢٠"),
        *("source=x", "source=File", "source=file&source=file"),
        *("theme=blue", "theme=Light", "w=320&w=320", "w=320&w=", "w=%FF", "w=%00"),
    ],
)
def test_other_thumbnail_parameters_are_refused(service: Service, query: str) -> None:
    response = get(service, f"/thumbnails/Q7xK2mZp.png?{query}")
    body = response.json()
    assert (response.status_code, body["code"], body["error"]) == (400, 400, "error")


@pytest.mark.parametrize("public_id", ["unknown0", "q7xk2mzp", "Q7xK2mZp.png", "%00", "..", "é"])
def test_unknown_maps_have_no_thumbnail(service: Service, public_id: str) -> None:
    for picture in FORMATS:
        response = get(service, f"/thumbnails/{public_id}.{picture}")
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    "path", ["/thumbnails", "/thumbnails/Q7xK2mZp", "/thumbnails/Q7xK2mZp.gif", "/thumbnails/.png"]
)
def test_other_thumbnail_addresses_are_not_found(service: Service, path: str) -> None:
    assert get(service, path).json()["error_description"] == "There is nothing at this address."


def test_an_svg_opened_by_itself_cannot_run_scripts(service: Service) -> None:
    response = get(service, "/thumbnails/Q7xK2mZp.svg")
    assert (
        response.headers["Content-Security-Policy"] == "default-src 'none'; img-src data:; sandbox"
    )
    assert "&lt;script&gt;two" in response.text
    assert "<script" not in response.text


def test_a_copy_of_the_picture_in_the_file(shelf: Shelf, live: Service) -> None:
    picture = as_file(drawn((1000, 500)))
    shelf.put(MAP, carrying(picture))
    shelf.publish()
    live.wait_until(lambda: get(live, "/maps/Carries0").status_code == 401 and bool(live.titles()))
    path = "/thumbnails/Carries0.png?source=file"
    for width in WIDTHS:
        response = get(live, f"{path}&w={width}")
        assert response.status_code == 200
        assert response.headers["Content-Type"] == "image/png"
        assert response.headers["Cache-Control"] == f"public, max-age={MAXIMUM_AGE}"
        size = struct.unpack(">II", response.content[16:24])
        assert size == (min(width, 1000), min(width, 1000) // 2)
        assert response.content != picture
        known = get(live, f"{path}&w={width}", If_None_Match=response.headers["ETag"])
        assert known.status_code == 304
    assert get(live, "/thumbnails/Carries0.png").headers["ETag"] != response.headers["ETag"]
    dark = get(live, f"{path}&theme=dark&w={WIDTHS[-1]}")
    assert dark.content == response.content
    none = get(live, "/thumbnails/Q7xK2mZp.png?source=file")
    assert (none.status_code, none.json()["error"]) == (404, "not_found")
    for kept in shelf.settings.thumbnails.rglob("*/*"):
        kept.unlink()
    assert get(live, path).status_code == 200, "it must be drawn again from the file"
    svg = get(live, "/thumbnails/Carries0.svg?source=file")
    assert svg.status_code == 404


def test_a_copy_needs_the_file_and_a_sound_picture(shelf: Shelf, live: Service) -> None:
    """Whatever the outline says about it. A failed copy is not tried again."""
    gone = replace(carrying(as_file(drawn())), id="FileGone", content=None, source=None)
    other = replace(carrying(as_file(drawn())), id="Another0", content=zlib.compress(b"no map"))
    shelf.put(gone, other)
    shelf.publish()
    live.wait_until(lambda: len(live.titles()) == 2)
    for public_id in ("FileGone", "Another0", "Another0"):
        response = get(live, f"/thumbnails/{public_id}.png?source=file")
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


def test_a_map_that_changes_gets_another_picture(shelf: Shelf, live: Service) -> None:
    shelf.put(MAP)
    shelf.publish()
    live.wait_until(lambda: get(live, "/thumbnails/Q7xK2mZp.svg").status_code == 200)
    before = get(live, "/thumbnails/Q7xK2mZp.svg")
    shelf.put(MapDraft(id="Q7xK2mZp", outline=outline_of("Plan", "three")))
    shelf.publish()
    etag = before.headers["ETag"]
    path = "/thumbnails/Q7xK2mZp.svg"
    live.wait_until(lambda: get(live, path, If_None_Match=etag).status_code == 200)
    after = get(live, path)
    assert after.headers["ETag"] != etag
    assert "three" in after.text


def test_a_picture_is_made_once_however_many_ask(shelf: Shelf, live: Service) -> None:
    shelf.put(MAP)
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/Q7xK2mZp").status_code == 200)
    folder = shelf.settings.thumbnails
    made = {get(live, "/thumbnails/Q7xK2mZp.png").content for _ in range(5)}
    assert len(made) == 1
    (kept,) = (path for path in folder.rglob("*") if path.is_file())
    written = kept.stat().st_mtime_ns
    get(live, "/thumbnails/Q7xK2mZp.png")
    assert kept.stat().st_mtime_ns == written
    kept.write_bytes(b"damaged")
    with serve(shelf) as other:  # this service has cached nothing yet
        assert {get(other, "/thumbnails/Q7xK2mZp.png").content} == made


def test_thumbnails_over_rsgi_are_the_same(tmp_path: Path) -> None:
    """Over RSGI, as Granian calls it."""
    with shelf_with(tmp_path, MAP) as shelf:
        application = create_app(shelf.settings)
        answer = Answer()

        async def ask() -> None:
            await application.start()
            await rsgi.RSGIApplication(application.application).__rsgi__(
                Scope("/thumbnails/Q7xK2mZp.svg", "w=640"), answer
            )
            await application.stop()

        with serve(shelf) as other:
            other.run(ask())
            assert answer.body == get(other, "/thumbnails/Q7xK2mZp.svg?w=640").content
    assert answer.status == 200
    assert ("content-type", "image/svg+xml") in answer.headers


def test_all_parameters_of_thumbnails_are_described() -> None:
    described = COMPONENTS["parameters"]
    assert described["w"]["schema"]["enum"] == list(WIDTHS)
    assert described["w"]["schema"]["default"] == DEFAULT_WIDTH
    assert described["theme"]["schema"]["enum"] == list(THEMES)
    assert described["source"]["schema"]["enum"] == list(SOURCES)
    assert described["source"]["schema"]["default"] == DRAWN
    assert described["picture"]["schema"]["enum"] == list(FORMATS)
    assert set(PARAMETERS) <= set(described)


def test_pictures_in_topics_are_shown(shelf: Shelf, live: Service) -> None:
    shown, broken = as_file(Pillow.new("RGB", (60, 40), "red")), b"\x89PNG\r\n\x1a\nno picture"
    red, lost = sha256(shown).hexdigest(), sha256(broken).hexdigest()
    pictures = (Image(red, 60, 40, "red"), Image(lost, 60, 40, "lost"))
    draft = MapDraft(
        id="Pictures",
        title="Pictures",
        outline=encode_outline(Outline((Sheet(Topic("Plan", images=pictures)),))),
        images={red: shown, lost: broken},
    )
    shelf.put(draft)
    shelf.publish()
    live.wait_until(lambda: get(live, "/thumbnails/Pictures.svg").status_code == 200)
    for width in WIDTHS:
        png = get(live, f"/thumbnails/Pictures.png?w={width}").content
        with Pillow.open(io.BytesIO(png)) as opened:
            colours = opened.convert("RGB").getcolors(9999) or []
        assert sum(count for count, colour in colours if colour == (255, 0, 0)) > width
        svg = get(live, f"/thumbnails/Pictures.svg?w={width}")
        assert svg.text.count("<image ") == 1, "a frame replaces the other picture"
        assert "img-src data:" in svg.headers["Content-Security-Policy"]
