"""``GET /maps/{ID}/images`` sends the pictures in topics, decoded and encoded again."""

import io
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from PIL import Image as Pillow

from mapshelf.api.images import IMAGE_WIDTHS
from mapshelf.api.thumbnails import MAXIMUM_AGE
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Image, MapDraft, Outline, Topic, sheets_of
from mapshelf.render.image_worker import LARGEST_SIDE
from mapshelf.sandbox.pool import ConfinedChild
from tests.api import openapi
from tests.harness import BASE_URL, Service, Shelf, serve, shelf_with
from tests.readers.illustrated import picture
from tests.readers.samples import as_file

pytestmark = pytest.mark.process

ID = "Q7xK2mZp"


def moving(*colours: str, kind: str = "GIF") -> bytes:
    frames = [Pillow.new("RGB", (30, 20), colour) for colour in colours]
    return as_file(frames[0], kind, save_all=True, append_images=frames[1:], lossless=True)


def seen_through() -> bytes:
    glass = Pillow.new("RGBA", (30, 20), (0, 0, 0, 0))
    glass.paste((255, 0, 0, 255), (0, 0, 15, 20))
    return as_file(glass)


SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3000 1500" width="3000">'
    b'<rect width="3000" height="1500" fill="red"/><text x="9" y="900" font-size="800">W</text>'
    b"<script>alert(1)</script></svg>"
)


@cache
def pictures() -> dict[str, bytes]:
    """Return all pictures. They are drawn by the first test, not while tests are collected."""
    return {
        "png": picture("red", (30, 20)),
        "jpeg": picture("red", (30, 20), "JPEG"),
        "bmp": picture("red", (30, 20), "BMP"),
        "tiff": picture("red", (30, 20), "TIFF"),
        "ico": picture("red", (32, 32), "ICO"),
        "webp": picture("red", (30, 20), "WEBP"),
        "gif": moving("red", "blue"),
        "moving webp": moving("red", "blue", kind="WEBP"),
        "glass": seen_through(),
        "large": picture("red", (3000, 1500)),
        "wide": picture("red", (3000, 1)),
        "high": picture("red", (1, 3000)),
        "svg": SVG,
        "grey": as_file(Pillow.new("I;16", (30, 20), 65_535)),
        "palette": as_file(Pillow.new("RGB", (30, 20), "red").quantize(4)),
        "cmyk": as_file(Pillow.new("CMYK", (30, 20), (0, 255, 255, 0)), "JPEG"),
        "broken": picture("red", (30, 20))[:60],
        "noise": as_file(Pillow.effect_noise((1100, 1100), 90)),
    }


def digest_of(name: str) -> str:
    return sha256(pictures()[name]).hexdigest()


def illustrated(public_id: str, title: str, *names: str) -> MapDraft:
    images = tuple(Image(digest_of(name), 30, 20, name) for name in names)
    topics = [Topic("missing", images=(Image("", 1, 1, "gone"),))]
    outline = Outline(sheets_of((Topic(title, "r", children=topics, images=images),)))
    kept = {digest_of(name): pictures()[name] for name in names}
    return MapDraft(id=public_id, title=title, outline=encode_outline(outline), images=kept)


@cache
def plan() -> MapDraft:
    """Return a map with all of the pictures."""
    return illustrated(ID, "Plan", *pictures())


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    other = illustrated("Other000", "Other", "jpeg")
    with shelf_with(tmp_path_factory.mktemp("maps"), plan(), other) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def service(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf) as running:
        yield running


def get(service: Service, path: str, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.request("GET", path, headers=named, signed=False)


def address(name: str, query: str = "", public_id: str = ID) -> str:
    return f"/maps/{public_id}/images/{digest_of(name)}.png{query}"


def shown(response: httpx.Response) -> Pillow.Image:
    assert response.status_code == 200, response.text
    found = Pillow.open(io.BytesIO(response.content), formats=("PNG",))
    found.load()
    return found


@pytest.mark.parametrize(
    ("name", "size", "first"),
    [
        ("png", (30, 20), (255, 0, 0)),
        ("jpeg", (30, 20), (254, 0, 0)),
        ("bmp", (30, 20), (255, 0, 0)),
        ("webp", (30, 20), (255, 0, 0)),
        ("gif", (30, 20), (255, 0, 0)),
        ("moving webp", (30, 20), (255, 0, 0)),
        ("glass", (30, 20), (255, 0, 0)),
        ("large", (1600, 800), (255, 0, 0)),
        ("wide", (1600, 1), (255, 0, 0)),
        ("high", (1, 1600), (255, 0, 0)),
        ("svg", (1600, 800), (255, 0, 0)),
        ("grey", (30, 20), (255, 255, 255)),
        ("palette", (30, 20), (255, 0, 0)),
        ("cmyk", (30, 20), (255, 0, 0)),
    ],
)
def test_anybody_gets_a_picture_of_any_kind_as_png(
    service: Service, name: str, size: tuple[int, int], first: tuple[int, ...]
) -> None:
    response = get(service, address(name))
    openapi.check(response)
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["Cache-Control"] == f"public, max-age={MAXIMUM_AGE}"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "Vary" not in response.headers
    found = shown(response)
    assert found.size == size
    assert not getattr(found, "is_animated", False)
    pixel = found.convert("RGB").getpixel((0, 0))
    assert isinstance(pixel, tuple)
    assert max(abs(a - b) for a, b in zip(pixel, first, strict=True)) <= 3
    again = get(service, address(name))
    assert (again.content, again.headers["ETag"]) == (response.content, response.headers["ETag"])
    known = get(service, address(name), If_None_Match=response.headers["ETag"])
    assert (known.status_code, known.content) == (304, b"")


def test_transparency_is_kept(service: Service) -> None:
    found = shown(get(service, address("glass"))).convert("RGBA")
    assert found.getpixel((0, 0)) == (255, 0, 0, 255)
    right = found.getpixel((29, 0))
    assert isinstance(right, tuple)
    assert right[3] == 0


@pytest.mark.parametrize("width", IMAGE_WIDTHS)
def test_pictures_come_in_a_few_sizes(service: Service, width: int) -> None:
    for name in ("large", "svg"):
        found = shown(get(service, address(name, f"?w={width}")))
        assert found.size == (width, width // 2)
    assert shown(get(service, address("png", f"?w={width}"))).size == (30, 20)
    assert shown(get(service, address("high", f"?w={width}"))).size == (1, LARGEST_SIDE)


@pytest.mark.parametrize("query", ["?w=1", "?w=1601", "?w=x"])
def test_other_sizes_are_an_error(service: Service, query: str) -> None:
    response = get(service, address("png", query))
    openapi.check(response)
    assert response.status_code == 400


@pytest.mark.parametrize(
    "path_of",
    [
        lambda: address("broken"),
        lambda: address("png", public_id="Other000"),
        lambda: address("png", public_id="Unknown0"),
        lambda: f"/maps/{ID}/images/{'0' * 64}.png",
        lambda: f"/maps/{ID}/images/{'0' * 63}.png",
        lambda: f"/maps/{ID}/images/{digest_of('png').upper()}.png",
        lambda: f"/maps/{ID}/images/.png",
        lambda: address("png")[:-4] + ".svg",
    ],
)
def test_other_addresses_of_pictures_are_not_found(
    service: Service, path_of: Callable[[], str]
) -> None:
    get(service, address("png"))  # cached for one map, it must not be sent for others
    for _ in range(2):
        assert service.get(path_of()).status_code == 404


def test_large_pictures_are_sent_from_disk(service: Service) -> None:
    found = get(service, address("noise"))
    assert len(found.content) > 1_000_000
    assert int(found.headers["Content-Length"]) == len(found.content)
    assert shown(found).size == (1100, 1100)
    assert get(service, address("noise")).content == found.content


def test_the_outline_has_the_addresses(service: Service) -> None:
    outline = service.get(f"/maps/{ID}/outline.json").json()
    root = outline["sheets"][0]["root"]
    expected = [f"{BASE_URL}{address(name)}" for name in pictures()]
    assert [image["url"] for image in root["images"]] == expected
    assert "url" not in root["children"][0]["images"][0], "this picture is missing"
    assert get(service, expected[0]).status_code == 200


def test_the_outline_of_a_large_map_has_them_too(tmp_path: Path) -> None:
    draft = illustrated(ID, "Large", "png")
    topics = [Topic(f"topic {n}" * 9, str(n)) for n in range(2000)]
    topics[-1].images = (Image(digest_of("png")),)
    outline = encode_outline(Outline(sheets_of((Topic("Large", "r", children=topics),))))
    draft = MapDraft(id=ID, title="Large", outline=outline, images=draft.images)
    with shelf_with(tmp_path, draft) as shelf, serve(shelf) as service:
        found = service.get(f"/maps/{ID}/outline.json").json()["sheets"][0]["root"]["children"]
        assert found[-1]["images"][0]["url"] == BASE_URL + address("png")


def test_a_picture_that_a_map_lost_is_gone(tmp_path: Path) -> None:
    with shelf_with(tmp_path, plan()) as shelf, serve(shelf) as service:
        assert get(service, address("png")).status_code == 200
        shelf.put(MapDraft(id=ID, title="without", images={}))
        shelf.publish()
        service.wait_until(lambda: get(service, address("png")).status_code == 404)


def test_a_width_that_was_made_is_shown_after_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*_: object) -> bytes:
        raise TimeoutError

    path = f"/maps/{ID}/images/{digest_of('large')}.png"
    with shelf_with(tmp_path, plan()) as shelf, serve(shelf) as service:
        made = service.get(f"{path}?w=320")
        assert made.status_code == 200
        monkeypatch.setattr(ConfinedChild, "call", too_long)
        assert service.get(f"{path}?w=640").status_code == 404
        shelf.put(illustrated("Other000", "Other", "png"))
        shelf.publish()  # cached responses belong to a snapshot; the next one starts without any
        service.wait_until(lambda: "Other" in service.titles())
        again = service.get(f"{path}?w=320")
        assert again.status_code == 200
        assert again.content == made.content
